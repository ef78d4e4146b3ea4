"""Both solvers from the same start: one problem, two ways, one answer."""

import numpy as np
import pytest
from known_graphs import column_errors, random_symmetric, stored

from eigengraphs import GraphStack, JointEmbedding


@pytest.fixture(scope="module", autouse=True)
def default_solver():
    """Each test names the solvers."""


def planted(n):
    """The components of section 5.1, of clearly different strength, and noise."""
    s = np.arange(n)
    H = np.stack([np.ones(n), (-1.0) ** s, (-1.0) ** (s // 2)], axis=1) / np.sqrt(n)
    assert np.allclose(H.T @ H, np.eye(3))
    Lam = np.random.default_rng(3).uniform(0.5, 1.5, (15, 3)) * [120, 60, 30]
    A = np.einsum("sk,ik,tk->ist", H, Lam, H)
    return GraphStack(A + 0.3 * random_symmetric(15, n, seed=4)), H


def both(stack, d, **settings):
    return (
        JointEmbedding(d, solver=solver, random_state=0, **settings).fit(stack)
        for solver in ("subspace", "algorithm1")
    )


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("diagonal", ["filled", "observed"])
@pytest.mark.parametrize("n", [24, 112])
def test_where_the_optimum_is_unique_the_answer_is_one(n, diagonal, center, storage):
    stack, H = planted(n)
    ours, paper = both(stored(stack, storage), 3, diagonal=diagonal, center=center, init=H)
    assert np.allclose(ours.objective_path_, paper.objective_path_, rtol=1e-4)
    # The objective is that off the diagonal, of components that are optimal with it filled: their
    # errors of 1e-8 show in it to first order.
    assert np.allclose(ours.objective_path_[-1], paper.objective_path_[-1], rtol=1e-7)
    assert column_errors(ours.latent_positions_, paper.latent_positions_).max() < 1e-5
    assert np.allclose(ours.loadings_, paper.loadings_, atol=1e-4)
    assert ours.n_passes_ < paper.n_passes_
