"""Eigenvectors of one graph: which way they are found, in what order, and what is reported."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers import spectral as solver
from eigengraphs.solvers.spectral import spectral

SEED = np.random.SeedSequence(0)


def solve(A, d, **settings):
    return spectral(StackView(GraphStack(A[None])), d, **{"tol": 1e-8, "seed": SEED, **settings})


def with_spectrum(values, seed=0):
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    return (V * values) @ V.T, V


@pytest.fixture
def by_lanczos(monkeypatch):
    """How many eigenvectors are asked of Lanczos' method; none up to 20 vertices."""
    monkeypatch.setattr(solver, "_DENSE", 20)
    asked, real = [], solver.eigsh

    def eigsh(operator, k, **settings):
        asked.append(k)
        assert settings["which"] == "LM"
        return real(operator, k, **settings)

    monkeypatch.setattr(solver, "eigsh", eigsh)
    return asked


@pytest.mark.parametrize(("n", "d", "blocks"), [(20, 5, []), (21, 5, [12]), (40, 13, [12, 12])])
def test_on_many_vertices_twelve_are_found_at_a_time(n, d, blocks, by_lanczos):
    A, V = with_spectrum(np.linspace(5, 1, n) * (-1.0) ** np.arange(n))
    fit = solve(A, d)
    assert by_lanczos == blocks
    assert np.allclose(np.abs((fit.H * V[:, :d]).sum(axis=0)), 1)
    assert np.allclose(fit.Psi[0], np.diag(V.T @ A @ V)[:d])


@pytest.mark.parametrize(("n", "blocks"), [(13, []), (14, [12, 2])])
def test_almost_all_of_a_block_are_found_without_lanczos(n, blocks, by_lanczos, monkeypatch):
    monkeypatch.setattr(solver, "_DENSE", 5)
    A, V = with_spectrum(np.linspace(5, 1, n))
    fit = solve(A, n - (n == 13))
    assert by_lanczos == blocks
    assert np.allclose(np.abs((fit.H * V[:, : fit.H.shape[1]]).sum(axis=0)), 1)


def test_what_is_reported_of_each():
    A, _ = with_spectrum(np.array([3.0, -2.0, 1.0, 0, 0, 0]))
    fit = solve(A, 5)
    found = fit.stages
    assert [stage.stop_reason for stage in found] == ["stationary"] * 3 + ["exhausted"] * 2
    assert np.allclose([stage.gain for stage in found], [9, 4, 1, 0, 0])
    assert all(stage.stationarity < 1e-12 for stage in found)
    assert [stage.stationarity for stage in found[3:]] == [0.0, 0.0]
    assert [stage.start for stage in found] == ["spectral"] * 3 + ["random"] * 2
    assert {stage.n_iter for stage in found} == {1}
    assert fit.n_passes == 1
    assert np.allclose(np.linalg.norm(fit.H, axis=0), 1)
    strict = solve(A, 1, tol=0.0).stages[0]
    assert strict.stop_reason == ("stationary" if strict.stationarity == 0 else "precision")


def test_a_fit_goes_on_behind_what_is_kept_and_not_behind_what_is_nothing():
    A, V = with_spectrum(np.array([3.0, -2.0, 1.0, 0, 0, 0]))
    first = solve(A, 2)
    fit = solve(A, 5, resume=first)
    assert np.array_equal(fit.H[:, :2], first.H)
    assert np.allclose(np.abs((fit.H[:, :3] * V[:, :3]).sum(axis=0)), 1)
    again = solve(A, 6, resume=fit)
    assert np.array_equal(again.H[:, :3], fit.H[:, :3])
    assert [stage.stop_reason for stage in again.stages] == ["stationary"] * 3 + ["exhausted"] * 3
    shorter = solve(A, 1, resume=first)
    assert shorter.H.shape == (6, 1)
    assert len(shorter.stages) == 1


def test_more_components_than_vertices_are_random_ones():
    fit = solve(random_symmetric(1, 3, 0)[0], 5)
    assert fit.H.shape == (3, 5)
    assert [stage.stop_reason for stage in fit.stages[3:]] == ["exhausted"] * 2


def test_the_residual_is_relative_to_the_eigenvalue(monkeypatch):
    A = np.diag([4.0, 2.0, 0.0])
    h = np.array([0.8, 0.6, 0.0])
    monkeypatch.setattr(solver, "_leading", lambda *_: (np.array([4.0]), h[:, None]))
    stage = solve(A, 1).stages[0]
    assert stage.stationarity == pytest.approx(np.linalg.norm(A @ h - 4 * h) / 4)
    assert (stage.stop_reason, stage.gain) == ("precision", 16.0)
