"""Algorithm 1 against a transcription that builds every residual matrix."""

import numpy as np
import pytest
from known_graphs import column_errors, random_symmetric, section_5_1
from scipy import linalg
from written_out import Counted

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.loadings import (
    active_gram,
    component_gram,
    objective_path,
    solve_loadings,
)
from eigengraphs.solvers.protocol import Progress


def transcription(A, d, max_iter=20_000, tol=1e-7):
    """Algorithm 1 as printed: explicit residuals, gradient (3), loadings (4), all re-solved."""
    n = A.shape[1]
    H, R = np.zeros((n, 0)), A.copy()
    for _ in range(d):
        values, vectors = linalg.eigh(R.mean(axis=0))
        h = vectors[:, np.argmax(np.abs(values))]
        lam = np.einsum("s,ist,t->i", h, R, h)
        step = 1.0 / (4 * lam @ lam)
        for _ in range(max_iter):
            E = R - lam[:, None, None] * np.outer(h, h)
            gradient = -4 * np.einsum("i,ist,t->s", lam, E, h)
            if linalg.norm(gradient) <= 4 * tol * (lam @ lam):
                break
            before = np.sum(E**2)
            step *= 2
            while True:
                trial = h - step * gradient
                trial /= linalg.norm(trial)
                new = np.einsum("s,ist,t->i", trial, R, trial)
                after = np.sum((R - new[:, None, None] * np.outer(trial, trial)) ** 2)
                if after <= before - 1e-4 * step * gradient @ gradient or step < 1e-30:
                    break
                step /= 2
            h, lam = trial, new
        H = np.column_stack([H, h])
        Gamma = (H.T @ H) ** 2
        Psi = np.einsum("sk,ist,tk->ki", H, A, H)
        Lam = linalg.solve(Gamma, Psi).T
        R = A - np.einsum("sk,ik,tk->ist", H, Lam, H)
    return H, Lam


def solve(A, d, **settings):
    view = StackView(A if isinstance(A, GraphStack) else GraphStack(A))
    defaults = {
        "weights": np.ones(view.n_graphs),
        "init": "svd",
        "n_init": 1,
        "tol": 1e-9,
        "max_iter": 5000,
        "seed": np.random.SeedSequence(0),
    }
    return algorithm1(view, d, **{**defaults, **settings})


@pytest.mark.parametrize("seed", range(2))
def test_it_finds_what_the_transcription_finds(seed):
    # So many that the last component has one maximum near its start: steps are of other lengths.
    A = section_5_1(200, seed, loops=True).stack.dense
    H, Lam = transcription(A, 3)
    fit = solve(A, 3)
    assert column_errors(fit.H, H).max() < 1e-5
    found = solve_loadings(active_gram(fit.H, fit.active), fit.Psi)
    assert np.abs(found - Lam).max() < 1e-4
    assert all(stage.stop_reason == "stationary" for stage in fit.stages)
    assert all(stage.start == "svd" for stage in fit.stages)


def test_the_objective_falls_with_every_iteration_and_one_pass_does_one_iteration():
    A = random_symmetric(6, 30, seed=0)
    view = StackView(GraphStack(A))
    # What a fit stopped after j iterations explains, for j = 0, 1, 2, ...
    gains, passes = [], []
    for j in range(1, 25):
        fit = algorithm1(
            view, 1, weights=np.ones(6), init="random", n_init=1, tol=1e-14, max_iter=j,
            seed=np.random.SeedSequence(3),
        )  # fmt: skip
        gains.append(fit.stages[0].gain)
        passes.append(fit.n_passes)
    assert (np.diff(gains) >= 0).all()
    assert (np.diff(passes) == 1).all()


@pytest.mark.parametrize("init", ["auto", "svd", "random"])
def test_passes_are_counted_as_they_are_taken(init):
    view = Counted(StackView(GraphStack(random_symmetric(5, 15, seed=0))))
    fit = algorithm1(
        view, 3, weights=np.ones(5), init=init, n_init=2, tol=1e-6, max_iter=500,
        seed=np.random.SeedSequence(0),
    )  # fmt: skip
    assert fit.n_passes == view.total


def test_theta_is_what_a_component_takes_off_the_objective():
    A = random_symmetric(5, 12, seed=4)
    fit = solve(A, 2)
    Psi = StackView(GraphStack(A)).quadratic_forms(fit.H)
    path = objective_path(component_gram(fit.H), Psi, (A**2).sum(axis=(1, 2)), np.ones(5))
    assert path[0] - path[1] == pytest.approx(fit.stages[0].gain)
    # Re-solving all loadings can only take off more.
    assert path[1] - path[2] >= fit.stages[1].gain * (1 - 1e-9)


def test_a_resumed_fit_keeps_its_components():
    A = random_symmetric(5, 15, seed=6)
    two = solve(A, 2)
    four = solve(A, 4, resume=two)
    assert np.array_equal(four.H[:, :2], two.H)
    assert four.stages[:2] == two.stages


def test_dependent_components_get_the_shortest_loadings():
    h = np.ones((4, 1)) / 2
    H = np.column_stack([h, h])
    Lam = solve_loadings(component_gram(H), np.array([[3.0, 3.0]]))
    assert np.allclose(Lam, [[1.5, 1.5]])


def test_hollow_gram_is_the_inner_product_off_the_diagonal():
    rng = np.random.default_rng(0)
    H = rng.standard_normal((7, 3))
    outer = np.einsum("sk,tk->kst", H, H) * (1 - np.eye(7))
    assert np.allclose(component_gram(H, hollow=True), np.einsum("jst,kst->jk", outer, outer))
    outer = np.einsum("sk,tk->kst", H, H)
    assert np.allclose(component_gram(H), np.einsum("jst,kst->jk", outer, outer))


def test_every_iteration_is_told_to_the_watcher():
    seen = []
    fit = solve(random_symmetric(4, 10, seed=1), 2, watch=seen.append)
    assert all(isinstance(progress, Progress) for progress in seen)
    assert [progress.component for progress in seen] == sorted(p.component for p in seen)
    for k, stage in enumerate(fit.stages):
        mine = [progress for progress in seen if progress.component == k]
        assert [progress.n_iter for progress in mine] == list(range(stage.n_iter + 1))
        assert mine[-1].stationarity == stage.stationarity
        assert {progress.n_converged for progress in mine} == {k}


class Interrupting:
    """Raise KeyboardInterrupt in component k."""

    def __init__(self, k):
        self.k = k

    def __call__(self, progress):
        if progress.component == self.k and progress.n_iter == 1:
            raise KeyboardInterrupt


def test_an_interruption_keeps_the_components_that_are_found():
    A = random_symmetric(4, 10, seed=1)
    whole = solve(A, 3)
    fit = solve(A, 3, watch=Interrupting(2))
    assert fit.interrupted
    assert not whole.interrupted
    assert np.array_equal(fit.H, whole.H[:, :2])
    assert np.array_equal(fit.Psi, whole.Psi[:, :2])
    assert fit.stages == whole.stages[:2]
    resumed = solve(A, 3, resume=fit)
    assert column_errors(resumed.H, whole.H).max() < 1e-6


def test_an_interruption_of_the_first_component_leaves_nothing():
    with pytest.raises(KeyboardInterrupt):
        solve(random_symmetric(4, 10, seed=1), 3, watch=Interrupting(0))
