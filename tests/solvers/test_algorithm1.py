"""Algorithm 1 against a transcription that builds every residual matrix."""

import numpy as np
import pytest
from known_graphs import column_errors, random_symmetric, section_5_1
from scipy import linalg
from written_out import Counted, objective_path

from eigengraphs import GraphStack
from eigengraphs.operators.treated import TreatedGraphs
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.rules import (
    active_gram,
    component_gram,
    solve_loadings,
)
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
    graphs = TreatedGraphs(A if isinstance(A, GraphStack) else GraphStack(A))
    defaults = {
        "weights": np.ones(graphs.n_graphs),
        "init": "svd",
        "n_init": 1,
        "tol": 1e-9,
        "max_iter": 5000,
        "seed": np.random.SeedSequence(0),
    }
    return algorithm1(graphs, d, **{**defaults, **settings})


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


def test_the_objective_falls_with_every_iteration_and_most_take_one_pass():
    A = random_symmetric(6, 30, seed=0)
    graphs = TreatedGraphs(GraphStack(A))
    # What a fit stopped after j iterations explains, for j = 0, 1, 2, ...
    gains, passes = [], []
    for j in range(1, 25):
        fit = algorithm1(
            graphs, 1, weights=np.ones(6), init="random", n_init=1, tol=1e-14, max_iter=j,
            seed=np.random.SeedSequence(3),
        )  # fmt: skip
        gains.append(fit.stages[0].gain)
        passes.append(fit.n_passes)
    assert (np.diff(gains) >= 0).all()
    assert np.median(np.diff(passes)) == 1


@pytest.mark.parametrize("init", ["auto", "svd", "random"])
def test_passes_are_counted_as_they_are_taken(init):
    graphs = Counted(TreatedGraphs(GraphStack(random_symmetric(5, 15, seed=0))))
    fit = algorithm1(
        graphs, 3, weights=np.ones(5), init=init, n_init=2, tol=1e-6, max_iter=500,
        seed=np.random.SeedSequence(0),
    )  # fmt: skip
    assert fit.n_passes == graphs.total


def test_theta_is_what_a_component_takes_off_the_objective():
    A = random_symmetric(5, 12, seed=4)
    fit = solve(A, 2)
    Psi = TreatedGraphs(GraphStack(A)).forms(fit.H)
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


# ------------------------------------------------------------------------------------- starts


def first_start(A, init, **settings):
    """Return the name of the start, and where it is (n,)."""
    fit = solve(A, 1, init=init, max_iter=0, **settings)
    return fit.stages[0].start, fit.H[:, 0]


@pytest.mark.parametrize("n", [6, 12])
def test_the_svd_start_is_the_top_of_the_weighted_mean(n):
    A, weights = random_symmetric(5, n, 3), np.array([1.0, 2.0, 0.5, 1.5, 0.7])
    values, vectors = linalg.eigh(np.tensordot(weights, A, axes=1))
    name, h = first_start(A, "svd", weights=weights)
    assert name == "svd"
    assert abs(h @ vectors[:, np.argmax(np.abs(values))]) == pytest.approx(1)


@pytest.mark.parametrize("n", [8, 30])
def test_the_better_of_mean_and_squares_is_taken_and_the_mean_if_they_are_equal(n):
    e = np.eye(n)
    shared, apart = np.outer(e[0], e[0]), np.outer(e[1], e[1])
    alone = np.array([2.0, -1.0, 3.0, -4.0, 0.0])[:, None, None]  # nothing of it is in the mean
    for strength, init, name, place in (
        (9.0, "auto", "squares", 1), (0.1, "auto", "svd", 0), (9.0, "svd", "svd", 0),
    ):  # fmt: skip
        found, h = first_start(shared + strength * alone * apart, init)
        assert found == name
        assert abs(h[place]) == pytest.approx(1)
    assert first_start(random_symmetric(1, n, 0), "auto")[0] == "svd"


@pytest.mark.parametrize("init", ["svd", "auto"])
@pytest.mark.parametrize("n", [6, 40])
def test_a_mean_that_is_rounding_is_not_asked(init, n):
    B = random_symmetric(1, n, 0)[0]
    name, h = first_start(np.stack([B, -B * (1 - 1e-6)]), init)
    assert name == "squares"
    assert h @ B @ B @ h > 0.9 * linalg.norm(B, 2) ** 2
    # A mean of a hundredth still speaks.
    assert first_start(np.stack([B, -B * (1 - 1e-2)]), "svd")[0] == "svd"


def test_a_given_start_may_have_any_length():
    A, h = random_symmetric(4, 12, 1), np.random.default_rng(0).standard_normal((12, 1))
    one, other = solve(A, 1, init=h), solve(A, 1, init=4 * h)
    assert one.stages[0].start == "given"
    assert np.array_equal(one.H, other.H)


def test_the_best_of_several_starts_is_kept():
    A = random_symmetric(4, 14, 2)
    given = np.random.default_rng(0).standard_normal((12, 14, 1))
    fits = sorted((solve(A, 1, init=h) for h in given), key=lambda fit: fit.stages[0].gain)
    low, high = fits[0], fits[-1]
    assert high.stages[0].gain > 1.1 * low.stages[0].gain
    kept = solve(A, 1, init=low.H, n_init=12).stages[0]
    assert kept.start == "random"
    assert kept.gain > 1.05 * low.stages[0].gain
    assert solve(A, 1, init=high.H, n_init=3).stages[0].gain >= high.stages[0].gain * (1 - 1e-12)


# -------------------------------------------------------------------------------------- stops


@pytest.mark.parametrize("place", ["one side", "no edge"])
def test_a_start_at_which_every_loading_is_zero_is_left_for_a_random_one(place):
    B = np.zeros((1, 9, 9))
    B[0, :4, 4:8] = np.random.default_rng(0).random((4, 4))
    B[0] += B[0].T
    h = np.eye(9)[:, [8]] if place == "no edge" else np.append(np.ones(4), np.zeros(5))[:, None]
    stage = solve(B, 1, init=h).stages[0]
    assert stage.start == "random"
    assert stage.stop_reason == "stationary"
    assert stage.gain == pytest.approx(linalg.norm(B[0], 2) ** 2)


def test_nothing_left_is_exhausted_from_the_component_on_at_which_it_is():
    h = np.ones(6) / np.sqrt(6)
    fit = solve(np.outer(h, h)[None] * 3.0, 3)
    assert [stage.stop_reason for stage in fit.stages] == ["stationary", "exhausted", "exhausted"]
    assert [stage.gain for stage in fit.stages] == [pytest.approx(9), 0.0, 0.0]
    assert [stage.n_iter for stage in fit.stages[1:]] == [0, 0]
    assert np.allclose(linalg.norm(fit.H, axis=0), 1)
    assert np.array_equal(fit.active, [True, False, False])


def test_where_rounding_is_all_that_is_left_the_search_ends():
    stage = solve(random_symmetric(4, 10, 0), 1, init="random", tol=1e-30).stages[0]
    assert stage.stop_reason == "precision"
    assert stage.stationarity < 1e-12
    assert stage.n_iter < 400


@pytest.mark.parametrize("most", [0, 1, 7])
def test_iterations_are_no_more_than_allowed(most):
    stage = solve(random_symmetric(4, 10, 0), 1, init="random", max_iter=most).stages[0]
    assert (stage.stop_reason, stage.n_iter) == ("max_iter", most)


def test_a_gradient_of_just_the_tolerance_is_enough():
    stage = solve(np.diag([2.0, 1.0, 0.5])[None], 1, init=np.eye(3)[:, [0]], tol=0.0).stages[0]
    assert (stage.stop_reason, stage.stationarity, stage.n_iter) == ("stationary", 0.0, 0)


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


def test_a_vertex_apart_is_a_saddle_where_others_gain_more():
    A = np.zeros((3, 9, 9))
    A[:, 1:, 1:] = random_symmetric(3, 8, 0)
    A[:, 0, 0] = [0.2, 0.3, -0.1]
    stage = solve(A, 1, init=np.eye(9)[:, [0]]).stages[0]
    assert stage.stop_reason == "stationary"
    assert stage.gain > 10 * (A[:, 0, 0] ** 2).sum()
