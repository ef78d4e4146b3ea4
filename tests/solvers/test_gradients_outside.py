"""Gradients in the full space against differences of the objective; graphs in several places."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric
from scipy import linalg
from written_out import objective, residuals, slope

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.blocks import make_job
from eigengraphs.solvers.core import Search
from eigengraphs.solvers.deflated import DeflatedGraphs
from eigengraphs.solvers.loadings import component_gram, solve_loadings
from eigengraphs.solvers.subspace import subspace
from eigengraphs.solvers.symmetric import SymmetricSpace

M, N = 6, 10
WEIGHTS = np.linspace(0.5, 2, M)


def space(hollow, n_frozen, cache=True, A=None, inside=None):
    A = random_symmetric(M, N, 0, hollow=hollow) if A is None else A
    rng = np.random.default_rng(1)
    frozen = rng.standard_normal((N, n_frozen))
    frozen /= np.linalg.norm(frozen, axis=0)
    view = StackView(GraphStack(A), "hollow" if hollow else "observed")
    job = make_job(
        view, weights=WEIGHTS, init="auto", n_init=1, tol=1e-8, max_iter=9, cache=cache, wide=None,
        moments=False, hollow=hollow, watch=None,
    )  # fmt: skip
    Lam = solve_loadings(component_gram(frozen, hollow=hollow), view.quadratic_forms(frozen))
    graphs = DeflatedGraphs(view, frozen, Lam, hollow) if n_frozen else view
    found = SymmetricSpace(graphs, job, frozen, float(job.sizes.sum()))
    columns = rng.standard_normal((N, 6))
    if inside is not None:
        columns[:, : inside.shape[1]] = inside
    found._basis.append(np.linalg.qr(columns)[0])
    return found, A, frozen


def search(s=6, d=3):
    random = np.random.default_rng(0).standard_normal((d, 8, s))
    random /= np.linalg.norm(random, axis=2, keepdims=True)
    return Search(np.zeros((s, 0)), False, True, 2, random)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("n_frozen", [0, 2])
@pytest.mark.parametrize("hollow", [False, True])
def test_gradients_are_slopes_of_the_objective_on_what_is_left(hollow, n_frozen, cache):
    found, A, frozen = space(hollow, n_frozen, cache)
    fit = found.solve(3, search(), np.full(3, 1e-6))
    r, sizes = found.look_outside(fit)
    H = found.components(fit.Y)
    assert np.allclose(np.linalg.norm(H, axis=0), 1)
    both = np.column_stack([frozen, H])
    for k in range(3):
        R = residuals(A, both[:, : n_frozen + k], hollow=hollow)
        f = objective(R, WEIGHTS, H[:, k], hollow=hollow)
        expected = slope(lambda x, R=R: objective(R, WEIGHTS, x, hollow=hollow), H[:, k]) / 4
        assert fit.gains[k] == pytest.approx(f)
        assert np.allclose(r[:, k], expected, atol=1e-6 * f)
        assert sizes[k] == pytest.approx(linalg.norm(r[:, k]) / f, rel=1e-6)
        assert sizes[k] > 1e-3  # there is something outside
    before = residuals(A, frozen, hollow=hollow)
    assert np.allclose(found.forms(fit.Y), np.einsum("sk,ist,tk->ik", H, before, H))


def test_of_what_is_nothing_the_gradient_is_nothing():
    known = noiseless(N, M, 1, seed=0)
    found, _, _ = space(False, 0, A=known.stack.dense, inside=known.H)
    fit = found.solve(3, search(), np.full(3, 1e-9))
    assert np.array_equal(fit.gains > 0, [True, False, False])
    r, sizes = found.look_outside(fit)
    assert r.shape == (N, 3)
    assert sizes[0] < 1e-8
    assert not r[:, 1:].any()
    assert not sizes[1:].any()


class Split:
    """Graphs in two places."""

    def __init__(self, A, rule):
        self._view = StackView(GraphStack(A), rule)
        self._parts = [StackView(GraphStack(A[:7]), rule), StackView(GraphStack(A[7:]), rule)]

    def total(self, task, weights):
        sums = [
            task(part, w) for part, w in zip(self._parts, (weights[:7], weights[7:]), strict=True)
        ]
        if isinstance(sums[0], tuple):
            return tuple(a + b for a, b in zip(*sums, strict=True))
        return sums[0] + sums[1]

    def __getattr__(self, name):
        return getattr(self._view, name)


@pytest.mark.parametrize("pays", [False, True])
@pytest.mark.parametrize("hollow", [False, True])
def test_second_moments_alone_find_what_the_graphs_do(hollow, pays, monkeypatch):
    monkeypatch.setattr("eigengraphs.solvers.subspace.whole_pays", lambda m, n: pays)
    n = 24
    known = noiseless(n, 15, 3, seed=1)
    Lam = np.linalg.qr(np.random.default_rng(0).standard_normal((15, 3)))[0] * [9.0, 6.0, 4.0]
    A = np.einsum("sk,ik,tk->ist", known.H, Lam, known.H) + 0.01 * random_symmetric(15, n, 2)
    rule = "observed"
    if hollow:
        A, rule = A * (1 - np.eye(n)), "hollow"
    settings = {
        "weights": np.linspace(0.5, 1, 15), "init": "auto", "n_init": 1, "tol": 1e-8,
        "max_iter": 99, "seed": np.random.SeedSequence(0), "cache": False, "hollow": hollow,
    }  # fmt: skip
    graphs = Split(A, rule)
    plain, first = subspace(graphs, 3, **settings), subspace(graphs, 2, moments=True, **settings)
    assert column_errors(first.H, plain.H[:, :2]).max() < 1e-5
    # The third on graphs that still hold the first two.
    third = subspace(
        graphs, 3, moments=True, resume=type(first)(
            first.H, first.Psi, first.stages, first.n_passes, ((0, 2),)
        ), **settings
    )  # fmt: skip
    assert column_errors(third.H, plain.H).max() < 1e-5
    assert np.allclose(third.Psi, plain.Psi, atol=1e-5)
    gains = [stage.gain for stage in plain.stages]
    assert np.allclose([stage.gain for stage in third.stages], gains, rtol=1e-6)
