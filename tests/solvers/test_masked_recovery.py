"""What is known to be there is found, though some entries are hidden."""

import numpy as np
import pytest
from hidden_graphs import HIDDEN, loadings, pairs_at_random, solve
from known_graphs import column_errors, noiseless, random_symmetric, stored
from scipy import linalg

from eigengraphs import GraphStack
from eigengraphs.operators.observed import ObservedGraphs
from eigengraphs.solvers.full_space import refine_observed
from eigengraphs.solvers.metric import AllEntries
from eigengraphs.solvers.rules import FreeLoadings
from eigengraphs.solvers.solution import with_signs


@pytest.mark.parametrize("rule", ["observed", "hollow"])
@pytest.mark.parametrize("kind", HIDDEN)
def test_one_noiseless_component_is_recovered(kind, rule):
    known = noiseless(40, 25, 1, seed=1)
    stack = known.stack.hide(HIDDEN[kind](25, 40))
    assert stack.n_hidden > 0.15 * 25 * 40**2
    fit = solve(stack, 1, rule)
    assert column_errors(fit.H, known.H).max() < 1e-6
    assert np.abs(loadings(stack, fit.H, rule) - known.Lam).max() < 1e-6


@pytest.mark.parametrize("kind", HIDDEN)
def test_so_are_several_that_do_not_overlap(kind):
    rng = np.random.default_rng(0)
    H = linalg.block_diag(*rng.uniform(0.5, 1, (3, 15, 1)))
    H /= linalg.norm(H, axis=0)
    Lam = rng.uniform(0.5, 1, (25, 3)) * [9, 3, 1]
    stack = GraphStack(np.einsum("sk,ik,tk->ist", H, Lam, H)).hide(HIDDEN[kind](25, 45))
    fit = solve(stack, 3)
    assert column_errors(with_signs(fit.H), with_signs(H)).max() < 1e-6
    assert np.abs(loadings(stack, fit.H) - Lam).max() < 1e-6


@pytest.mark.parametrize("kind", HIDDEN)
def test_components_that_overlap_are_recovered_when_all_are_fitted_together(kind):
    rng = np.random.default_rng(1)
    H = linalg.qr(rng.standard_normal((40, 3)), mode="economic")[0]
    Lam = rng.uniform(0.5, 1, (25, 3)) * [4, 2, 1]
    stack = GraphStack(np.einsum("sk,ik,tk->ist", H, Lam, H)).hide(HIDDEN[kind](25, 40))
    graphs = ObservedGraphs(stack)
    greedy = solve(graphs, 3)
    # A component carries a trace of those after it, which hidden entries keep from cancelling.
    assert 1e-4 < column_errors(greedy.H, H).max() < 0.2
    fit = refine_observed(
        graphs, (greedy.H,), metric=AllEntries(), rule=FreeLoadings(), weights=np.ones(25),
        tol=1e-10, max_iter=500,
    )  # fmt: skip
    assert column_errors(fit.sides[0], H).max() < 1e-6
    assert np.abs(fit.Lam - Lam).max() < 1e-5
    assert fit.stationarity.max() < 1e-7


def test_a_vertex_that_few_graphs_have():
    known = noiseless(30, 20, 1, seed=2)
    gone = np.zeros((20, 30, 30), dtype=bool)
    gone[3:, 7] = gone[3:, :, 7] = True  # three have it
    gone[:, 9] = gone[:, :, 9] = True  # and this one, none
    stack = known.stack.hide(gone)
    fit = solve(stack, 1, init="random", n_init=2)
    expected = np.where(np.arange(30) == 9, 0.0, known.H[:, 0])
    assert column_errors(fit.H, (expected / linalg.norm(expected))[:, None]).max() < 1e-6
    assert fit.H[9, 0] == 0


def test_a_graph_of_which_nothing_is_observed(storage):
    A = random_symmetric(8, 15, seed=3)
    gone = np.zeros((8, 15, 15), dtype=bool)
    gone[2] = True
    stack = stored(GraphStack(A).hide(gone), storage)
    fit = solve(stack, 2)
    Lam = loadings(stack, fit.H)
    assert np.array_equal(Lam[2], [0, 0])
    others = np.arange(8) != 2
    without = solve(stored(GraphStack(A[others]), storage), 2)
    assert column_errors(fit.H, without.H).max() < 1e-6
    assert np.allclose(Lam[others], loadings(GraphStack(A[others]), without.H), atol=1e-6)


def test_hidden_entries_that_equal_the_fit_change_nothing():
    known = noiseless(30, 20, 1, seed=4)
    A = 10 * known.stack.dense + 0.3 * random_symmetric(20, 30, seed=5)
    hidden = pairs_at_random(20, 30, 0.25)
    stack = GraphStack(A).hide(hidden)
    fit = solve(stack, 1, tol=1e-10)
    Lam = loadings(stack, fit.H)
    full = np.where(stack.mask.toarray(), A, np.einsum("sk,ik,tk->ist", fit.H, Lam, fit.H))
    complete = solve(GraphStack(full), 1, tol=1e-10)
    assert column_errors(complete.H, fit.H).max() < 1e-6
    assert np.abs(loadings(GraphStack(full), complete.H) - Lam).max() < 1e-6
    again = solve(GraphStack(full).hide(hidden), 1, tol=1e-10)
    assert column_errors(again.H, complete.H).max() < 1e-6
