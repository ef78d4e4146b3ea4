"""The way up from a point where the gradient is zero, against the eigenvectors of the Hessian."""

from types import SimpleNamespace

import numpy as np
import pytest

from eigengraphs.solvers.curvature import ascent_direction

WEIGHTS = np.array([1.0, 2.0, 0.5])


def graphs_of(spectrum):
    """Graphs with the same eigenvectors, each a multiple of the same spectrum."""
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((len(spectrum), len(spectrum))))[0]
    A = np.array([1.0, -2.0, 1.5])[:, None, None] * ((V * spectrum) @ V.T)
    return A, V


def at(A, h):
    """Return what the function is told of a point."""
    Y = A @ h
    lam = Y @ h
    residuals = SimpleNamespace(multiply=lambda q: A @ q)
    return ascent_direction(
        residuals, h, Y, lam, float(WEIGHTS @ lam**2), WEIGHTS, np.random.default_rng(1)
    )


def test_from_a_saddle_it_is_the_steepest_way_up():
    A, V = graphs_of(np.array([3.0, 2.0, 1.0, 0.5, 0.1]))
    for k in (1, 2, 3):  # all but the first are saddles, and the first component is the way up
        direction = at(A, V[:, k])
        assert direction is not None
        assert np.linalg.norm(direction) == pytest.approx(1.0)
        assert abs(direction @ V[:, k]) < 1e-10
        assert abs(direction @ V[:, 0]) == pytest.approx(1.0, abs=1e-8)


def test_from_a_maximum_there_is_none():
    A, V = graphs_of(np.array([3.0, 2.0, 1.0, 0.5, 0.1]))
    assert at(A, V[:, 0]) is None


def test_two_vertices_have_one_direction():
    A, V = graphs_of(np.array([2.0, 1.0]))
    assert at(A, V[:, 0]) is None
    assert abs(at(A, V[:, 1]) @ V[:, 0]) == pytest.approx(1.0)


def test_one_vertex_has_none():
    A, V = graphs_of(np.array([2.0]))
    assert at(A, V[:, 0]) is None
