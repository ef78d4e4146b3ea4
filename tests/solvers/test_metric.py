"""Inner products of components, and their derivatives, against matrices written out."""

import numpy as np
import pytest
from solvers.solving import metric_of, units
from written_out import norm_without_diagonal, outer_products, slope

from eigengraphs.solvers.ascent import Core, curvature, squared_norm
from eigengraphs.solvers.geometry import geometry_of

N = 7
CASES = [(n_sides, hollow) for n_sides in (1, 2) for hollow in (False, True)]
every_case = pytest.mark.parametrize(("n_sides", "hollow"), CASES)
# The share of the diagonal, sum_s h_s^2 g_s^2, lies between these.
PLACES = {"spread": (0.0, 0.4), "concentrated": (0.5, 0.9), "single": (0.9, 1.0)}


def in_basis(n_sides, hollow, widths=(5, 4)):
    """Return bases, which hold e_0 nearly, with the geometry and the metric in them."""
    rng = np.random.default_rng(0)
    bases = []
    for s in widths[:n_sides]:
        columns = np.column_stack([np.eye(N)[0], rng.standard_normal((N, s - 1))])
        columns[:, 0] += 0.05 * rng.standard_normal(N)
        bases.append(np.linalg.qr(columns)[0])
    geometry = geometry_of(tuple(V.shape[1] for V in bases))
    return tuple(bases), geometry, metric_of(hollow).in_basis(geometry, tuple(bases))


def core_of(geometry, metric):
    """Return a core without rows, of which the metric alone matters."""
    none, right = np.zeros((0, geometry.n_entries)), geometry.widths[1:]
    return Core(
        none, none[:, :0], none, np.zeros(0), np.zeros(0), -np.inf, np.inf, 0.0,
        geometry.widths[0], right[0] if right else 0, metric.kind, metric.left, metric.right,
        np.zeros(0, np.int64), np.zeros(0),
    )  # fmt: skip


def point(bases, place):
    """Return a point whose component is spread over vertices, or more and more at one."""
    rng = np.random.default_rng(3)
    h = rng.standard_normal(N)
    h[0] = {"spread": 0.5, "concentrated": 3.5, "single": 40.0}[place]
    return np.concatenate([units(V.T @ h) for V in bases])


def sides_of(bases, x):
    parts = np.split(x, np.cumsum([V.shape[1] for V in bases])[:-1])
    return [V @ part for V, part in zip(bases, parts, strict=True)]


def tangent(bases, x):
    """Return orthonormal directions that keep all sides of norm 1, (size, size - sides)."""
    ends = np.cumsum([V.shape[1] for V in bases])
    normals = np.zeros((len(x), len(bases)))
    for j, (last, V) in enumerate(zip(ends, bases, strict=True)):
        part = slice(last - V.shape[1], last)
        normals[part, j] = x[part]
    return np.linalg.qr(np.column_stack([normals, np.eye(len(x))]))[0][:, len(bases) : len(x)]


@every_case
def test_inner_products_are_those_of_the_matrices(n_sides, hollow):
    bases, geometry, metric = in_basis(n_sides, hollow)
    rng = np.random.default_rng(1)
    sides = tuple(units(rng.standard_normal((N, 3))) for _ in bases)  # outside of the bases
    E = outer_products(sides[0], sides[-1], hollow=hollow)
    assert np.allclose(metric_of(hollow).gram(sides), np.einsum("jst,kst->jk", E, E))
    x, y = point(bases, "spread"), point(bases, "concentrated")
    S, T = (np.outer(sides_of(bases, z)[0], sides_of(bases, z)[-1]) for z in (x, y))
    known = metric_of(hollow).known(geometry, bases, sides)
    assert np.allclose(known @ geometry.outer(x[None])[0], np.einsum("jst,st->j", E, S))
    off = 1 - np.eye(N) if hollow else np.ones((N, N))
    zx, zy = geometry.outer(np.array([x, y]))
    assert metric.image(x, zx) @ zy == pytest.approx((S * T * off).sum())
    inside = tuple(side[:, None] for side in sides_of(bases, x))
    assert np.allclose(metric_of(hollow).known(geometry, bases, inside)[0], metric.image(x, zx))


@every_case
@pytest.mark.parametrize("place", PLACES)
def test_squared_norms_and_their_derivatives(n_sides, hollow, place):
    bases, geometry, metric = in_basis(n_sides, hollow)
    core = core_of(geometry, metric)
    x, c = point(bases, place), 2 if n_sides == 1 else 1
    sides = sides_of(bases, x)
    assert PLACES[place][0] < (sides[0] ** 2 * sides[-1] ** 2).sum() < PLACES[place][1]

    def q(z):
        """Extend the norm to points of any length, as the square of a component's length."""
        sides = sides_of(bases, z)
        lengths = [np.linalg.norm(side) for side in sides]
        h, g = sides[0] / lengths[0], sides[-1] / lengths[-1]
        return (norm_without_diagonal(h, g) if hollow else 1.0) * (lengths[0] * lengths[-1]) ** 2

    (found, gradients), directions = squared_norm(core, x), tangent(bases, x)
    assert found == pytest.approx([q(x)])
    assert np.allclose(directions.T @ (slope(q, x) / (2 * c) - gradients[0]), 0, atol=1e-7)
    K = np.zeros((len(x), len(x)))
    curvature(core, x, np.array([0.4, 0.6]), K)  # the shares of two graphs
    hessian = np.array([
        slope(lambda z, v=v: slope(q, z, 1e-4) @ v, x, 1e-4) for v in directions.T
    ]) / (2 * c)  # fmt: skip
    assert np.allclose(hessian @ directions, directions.T @ K @ directions, atol=1e-4)
