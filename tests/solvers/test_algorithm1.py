"""Algorithm 1 against a transcription that builds every residual matrix."""

import numpy as np
import pytest
from known_graphs import column_errors, random_symmetric, section_5_1
from scipy import linalg

from eigengraphs import GraphStack
from eigengraphs.operators.treated import TreatedGraphs
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.rules import component_gram, solve_loadings
from eigengraphs.solvers.solution import Progress


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
    defaults = {
        "weights": np.ones(len(A)), "init": "svd", "n_init": 1, "tol": 1e-9, "max_iter": 5000,
        "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    return algorithm1(TreatedGraphs(GraphStack(A)), d, **{**defaults, **settings})


@pytest.mark.parametrize("seed", range(2))
def test_it_finds_what_the_transcription_finds(seed):
    # So many that the last component has one maximum near its start: steps are of other lengths.
    A = section_5_1(200, seed, loops=True).stack.dense
    H, Lam = transcription(A, 3)
    fit = solve(A, 3)
    assert column_errors(fit.H, H).max() < 1e-5
    found = solve_loadings(component_gram(fit.H * fit.active), fit.Psi)
    assert np.abs(found - Lam).max() < 1e-4
    assert all(stage.stop_reason == "stationary" for stage in fit.stages)
    assert all(stage.start == "svd" for stage in fit.stages)


def test_the_objective_falls_with_every_iteration_and_most_take_one_pass():
    A = random_symmetric(6, 30, seed=0)
    # What a fit stopped after j iterations explains.
    settings = {"init": "random", "tol": 1e-14}
    fits = [
        solve(A, 1, max_iter=j, seed=np.random.SeedSequence(3), **settings) for j in range(1, 25)
    ]
    assert (np.diff([fit.stages[0].gain for fit in fits]) >= 0).all()
    assert np.median(np.diff([fit.n_passes for fit in fits])) == 1


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


# ------------------------------------------------------------------------------------ saddles


@pytest.mark.parametrize("n", [2, 5, 30])
def test_a_saddle_point_is_left_for_the_maximum(n):
    # Multiples of one spectrum: all eigenvectors but the first are saddles.
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    A = np.array([1.0, -2.0, 1.5])[:, None, None] * ((V * np.linspace(3, 0.5, n)) @ V.T)
    for k in range(n):
        fit = solve(A, 1, init=V[:, [k]])
        assert fit.stages[0].stop_reason == "stationary"
        assert column_errors(fit.H, V[:, :1]).max() < 1e-6
        assert (fit.stages[0].n_iter == 0) == (k == 0)


@pytest.mark.parametrize(("excess", "left"), [(1e-6, False), (1e-2, True)])
def test_what_hardly_bends_up_counts_as_a_maximum(excess, left):
    fit = solve(np.diag([1.0, 1.0 + excess, 0.2])[None], 1, init=np.eye(3)[:, [0]])
    assert (fit.stages[0].n_iter > 0) == left
