"""Components as points, cores as packed vectors: consistent in both geometries."""

import numpy as np
import pytest
from written_out import slope

from eigengraphs.solvers.ascent import turn
from eigengraphs.solvers.geometry import Pair, Symmetric, unit_points

GEOMETRIES = [Symmetric(1), Symmetric(2), Symmetric(7), Pair(1, 1), Pair(3, 6), Pair(6, 2)]
every_geometry = pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)


def cores(geometry, m=4, seed=0):
    s, t = geometry.widths[0], geometry.widths[-1]
    C = np.random.default_rng(seed).standard_normal((m, s, t))
    return C + C.transpose(0, 2, 1) if geometry.n_sides == 1 else C


def points(geometry, b=5, seed=1):
    X = np.random.default_rng(seed).standard_normal((b, geometry.size))
    return unit_points(X, geometry.widths)


def form(geometry, C, x):
    """Return <C, y z^T>; z is y in the symmetric geometry."""
    parts = np.split(x, np.cumsum(geometry.widths)[:-1])
    return parts[0] @ C @ parts[-1]


@every_geometry
def test_packed_cores_come_back_and_give_inner_products_and_forms(geometry):
    C, D, X = cores(geometry), cores(geometry, seed=2), points(geometry)
    Z = geometry.pack(C)
    assert Z.shape == (4, geometry.n_entries)
    assert np.allclose(geometry.unpack(Z), C, atol=1e-15)
    assert np.allclose(Z @ geometry.pack(D).T, np.einsum("ist,jst->ij", C, D))
    assert geometry.pack(C.astype(np.float32)).dtype == np.float32
    assert np.allclose(geometry.pack(C[0]), Z[0])
    expected = [[form(geometry, core, x) for x in X] for core in C]
    assert np.allclose(Z @ geometry.outer(X).T, expected)
    assert np.allclose((geometry.outer(X) ** 2).sum(axis=1), 1)


@every_geometry
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pulls_are_gradients_of_forms_over_c(geometry, dtype):
    C, x = cores(geometry), points(geometry)[0]
    U = geometry.pull(geometry.pack(C).astype(dtype), x)
    expected = [slope(lambda y, c=core: form(geometry, c, y), x) / geometry.c for core in C]
    assert np.allclose(U, expected, atol=1e-5 if dtype == np.float32 else 1e-9)
    first = geometry.widths[0]
    assert np.allclose(U[:, :first] @ x[:first], [form(geometry, core, x) for core in C], atol=1e-5)


@every_geometry
@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_turns_never_fall_and_end_at_the_top(geometry, scale):
    S, X = scale * cores(geometry, 5), points(geometry)
    before = [form(geometry, core, x) for core, x in zip(S, X, strict=True)]
    for n_turns in (1, 1, 2, 200):
        for z, x in zip(geometry.pack(S), X, strict=True):
            turn(z, x, geometry.widths[0], sum(geometry.widths[1:]), n_turns)
        assert np.allclose(X, unit_points(X, geometry.widths), atol=1e-12)
        after = [form(geometry, core, x) for core, x in zip(S, X, strict=True)]
        assert (np.array(after) >= np.array(before) - 1e-11 * scale).all()
        before = after
    if geometry.n_sides == 1:
        top = np.linalg.eigvalsh(S)[:, -1]
    else:
        top = np.linalg.svd(S, compute_uv=False)[:, 0]
    assert np.allclose(before, top, rtol=1e-3, atol=0)
