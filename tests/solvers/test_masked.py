"""Components of graphs with hidden entries: nested, and the known ones if complete."""

import numpy as np
import pytest
from hidden_graphs import HIDDEN, path, solve
from known_graphs import column_errors, noiseless, random_symmetric
from scipy import linalg
from written_out import Counted, masked_objective, residuals, slope

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import DegenerateWarning
from eigengraphs.operators.means import mean_graph
from eigengraphs.operators.observed import ObservedGraphs
from eigengraphs.solvers.full_space import refine_observed
from eigengraphs.solvers.metric import AllEntries
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import FreeLoadings, component_gram, condition
from eigengraphs.solvers.solution import first_components, with_signs

# ---------------------------------------------------------------------- the known components


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [25, 105])
@pytest.mark.parametrize("rule", ["observed", "hollow", "filled"])
def test_complete_graphs_have_the_components_of_the_subspace_solver(n, rule, directed):
    known = noiseless(n, 20, 3, seed=6)
    Lam = known.Lam * [40, 20, 10]
    right = known.H[::-1] if directed else known.H
    A = np.einsum("sk,ik,tk->ist", known.H, Lam, right) + 0.2 * random_symmetric(20, n, seed=7)
    stack, weights = GraphStack(A), np.linspace(0.5, 2, 20)
    diagonal = "unobserved" if rule == "hollow" else rule
    expected = JointEmbedding(3, diagonal=diagonal, directed=directed, tol=1e-9, random_state=0)
    expected.fit(stack, sample_weight=weights)
    graphs = ObservedGraphs(stack, rule, directed=directed)
    fit = solve(graphs, 3, weights=weights, tol=1e-9)
    assert column_errors(with_signs(fit.H), expected.latent_positions_).max() < 1e-6
    if not directed and rule != "filled":
        assert np.allclose(path(graphs, fit, weights), expected.objective_path_, rtol=1e-6)


def test_a_component_that_would_be_a_star_stops_where_it_does_in_the_subspace_solver():
    A = np.zeros((3, 14, 14))
    A[:, 0, 1:] = np.random.default_rng(0).uniform(0.5, 1, (3, 13))
    A += A.transpose(0, 2, 1)
    with pytest.warns(DegenerateWarning):
        expected = JointEmbedding(1, diagonal="unobserved", random_state=0).fit(A).latent_positions_
    fit = solve(GraphStack(A), 1, "hollow")
    assert (expected**4).sum() > 0.5
    assert column_errors(with_signs(np.abs(fit.H)), np.abs(expected)).max() < 1e-5


@pytest.mark.parametrize("rule", ["observed", "hollow"])
def test_reported_gradients_and_gains_are_those_of_the_objective_written_out(rule):
    A, weights = random_symmetric(8, 18, seed=1), np.linspace(0.5, 2, 8)
    stack = GraphStack(A).hide(HIDDEN["both"](8, 18))
    seen = stack.mask.toarray() * (1 - np.eye(18) * (rule == "hollow"))
    floors = DEFAULTS.fades * seen.mean(axis=(1, 2))
    fit = solve(stack, 4, rule, weights=weights, tol=1e-3)
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", fit.H, A * seen, fit.H))
    for k, stage in enumerate(fit.stages):
        E = np.einsum("sk,tk->kst", fit.H[:, :k], fit.H[:, :k])
        R = A * seen
        for i in range(8):
            X = (E * seen[i]).reshape(k, 18**2).T
            R[i] -= (X @ linalg.lstsq(X, R[i].ravel())[0]).reshape(18, 18) if k else 0.0

        def objective(h, R=R):
            return masked_objective(R, seen, weights, floors, h, hollow=rule == "hollow")

        h = fit.H[:, k]
        assert stage.gain == pytest.approx(objective(h), rel=1e-9)
        # Short differences: the objective bends at sum_s h_s^4 = 1/2, near which components stop.
        gradient = linalg.norm(slope(objective, h, step=1e-7)) / 4 / stage.gain
        assert abs(stage.stationarity - gradient) < 1e-6
        assert stage.stationarity <= 1e-3
        assert stage.stop_reason == "stationary"


def test_a_saddle_point_is_left():
    u = np.full(6, 6**-0.5)
    E = np.outer(u, u)
    A = np.array([linalg.block_diag(3 * E, E), linalg.block_diag(E, 3 * E)])
    between = np.concatenate([u, u])[:, None] / np.sqrt(2)  # stationary, by symmetry
    fit = solve(GraphStack(A), 1, init=between)
    assert fit.stages[0].gain == pytest.approx(10)
    assert fit.stages[0].start == "given"
    assert min(linalg.norm(fit.H[:6]), linalg.norm(fit.H[6:])) < 1e-6


# ---------------------------------------------------------------------- nesting and the like


NOISE = GraphStack(random_symmetric(10, 24, seed=8)).hide(HIDDEN["both"](10, 24))


def test_the_first_components_do_not_depend_on_how_many_follow():
    fits = [solve(NOISE, d) for d in (1, 3, 5)]  # noise has many optima to end in
    for fit in fits[:-1]:
        d = fit.H.shape[1]
        assert np.array_equal(fit.H, fits[-1].H[:, :d])
        assert fit.stages == fits[-1].stages[:d]


def test_a_resumed_fit_goes_on_as_one_that_was_never_stopped():
    whole = solve(NOISE, 5)
    for k in (1, 3, 5):
        fit = solve(NOISE, 5, resume=first_components(whole, k))
        assert np.array_equal(fit.H[:, :k], whole.H[:, :k])
        assert column_errors(fit.H, whole.H).max() < 1e-6
        assert np.allclose(fit.Psi, whole.Psi)


def test_the_objective_never_rises():
    graphs = ObservedGraphs(NOISE)
    fit = solve(graphs, 6)
    falls = -np.diff(path(graphs, fit, np.ones(10)))
    gains = np.array([stage.gain for stage in fit.stages])
    assert (falls >= gains * (1 - 1e-9)).all()  # all loadings solved again take off no less


@pytest.mark.parametrize("rule", ["observed", "hollow", "filled"])
def test_sparse_is_dense(rule):
    stack = GraphStack(random_symmetric(10, 24, seed=9, density=0.4)).hide(HIDDEN["both"](10, 24))
    mean = mean_graph(stack, np.ones(10))
    for center in (None, mean):
        dense = solve(ObservedGraphs(stack, rule, center), 2)
        sparse = solve(ObservedGraphs(stack.to_sparse(), rule, center), 2)
        assert column_errors(dense.H, sparse.H).max() < 1e-5
        assert np.allclose(dense.Psi, sparse.Psi, atol=1e-5)


def test_float32_is_nearly_float64():
    known = noiseless(30, 20, 2, seed=4)
    A = 10 * known.stack.dense * 1.0 + 0.1 * random_symmetric(20, 30, seed=5)
    stack = GraphStack(A).hide(HIDDEN["both"](20, 30))
    exact, rough = solve(stack, 2), solve(stack.astype(np.float32), 2, tol=1e-5)
    assert column_errors(exact.H, rough.H).max() < 1e-4
    assert all(stage.converged for stage in rough.stages)


def test_a_weight_counts_as_copies_and_none_as_absence():
    stack = NOISE[[0, 0, 1, 2, 3]]
    twice = solve(stack, 2)
    weighted = solve(NOISE[:5], 2, weights=np.array([2.0, 1, 1, 1, 0]))
    graphs = ObservedGraphs(stack)
    assert twice.stages[0].gain == pytest.approx(weighted.stages[0].gain, rel=1e-6)
    assert path(graphs, twice, np.ones(5))[0] == pytest.approx(
        path(ObservedGraphs(NOISE[:5]), weighted, np.array([2.0, 1, 1, 1, 0]))[0]
    )


@pytest.mark.parametrize("init", ["auto", "svd", "random"])
def test_passes_are_counted_as_they_are_taken(init):
    graphs = Counted(ObservedGraphs(NOISE))
    fit = solve(graphs, 3, init=init, n_init=2)
    assert fit.n_passes == graphs.total


def test_starts():
    direction = np.random.default_rng(0).standard_normal((24, 1))
    fit = solve(NOISE, 2, init=direction, max_iter=0)
    assert column_errors(fit.H[:, :1], direction / linalg.norm(direction)).max() < 1e-12
    assert fit.stages[0].stop_reason == "max_iter"
    assert fit.stages[0].start == "given"
    assert np.isnan(fit.stages[0].agreement)
    assert fit.stages[1].start in ("svd", "squares", "random")
    assert solve(NOISE, 1, init="svd").stages[0].start == "svd"
    many = solve(NOISE, 1, n_init=12).stages[0]
    assert many.gain >= solve(NOISE, 1).stages[0].gain * (1 - 1e-9)
    assert 0 < many.agreement <= 1
    centered = ObservedGraphs(NOISE, "observed", mean_graph(NOISE, np.ones(10)))
    assert solve(centered, 1, init="svd").stages[0].start == "squares"  # the mean is nothing


def test_a_start_where_nobody_sees_it_is_replaced():
    known = noiseless(12, 6, 1, seed=0)
    gone = np.zeros((12, 12), dtype=bool)
    gone[4] = True
    fit = solve(known.stack.hide(gone), 1, init=np.eye(12)[:, 4:5])
    assert fit.stages[0].stop_reason == "stationary"
    assert fit.H[4, 0] == 0


def test_nothing_left_to_fit():
    known = noiseless(20, 10, 1, seed=0)
    stack = known.stack.hide(HIDDEN["both"](10, 20))
    fit = solve(stack, 3)
    assert [stage.stop_reason for stage in fit.stages] == ["stationary", "exhausted", "exhausted"]
    assert np.allclose(linalg.norm(fit.H, axis=0), 1)
    everything = GraphStack(np.ones((2, 4, 4))).hide(np.ones((4, 4), dtype=bool))
    assert not solve(everything, 2).active.any()


def test_one_side_of_bipartite_graphs_is_no_end():
    A = np.zeros((1, 8, 8))
    A[:, :4, 4:] = A[:, 4:, :4] = 1.0
    one_side = np.repeat([1.0, 0.0], 4)[:, None]  # h^T A h = 0 there
    fit = solve(GraphStack(A), 1, init=one_side)
    assert fit.stages[0].gain == pytest.approx(16)


def test_an_interruption_keeps_the_finished_components():
    whole = solve(NOISE, 3)

    def stop(progress):
        assert progress.n_passes > 0
        if progress.component == 2 and progress.n_iter == 2:
            raise KeyboardInterrupt

    fit = solve(NOISE, 3, watch=stop)
    assert fit.interrupted
    assert np.array_equal(fit.H, whole.H[:, :2])
    assert fit.stages == whole.stages[:2]
    resumed = solve(NOISE, 3, resume=fit)
    assert column_errors(resumed.H, whole.H).max() < 1e-6

    def at_once(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(NOISE, 2, watch=at_once)


def test_refining_stops_components_that_run_into_each_other_at_the_bound():
    # x x^T and x y^T + y x^T: (x + e y)(x + e y)^T and (x - e y)(x - e y)^T fit both the better,
    # the smaller e is, with loadings that cancel.
    x, y = np.eye(5)[0], np.eye(5)[1]
    A = np.array([np.outer(x, x), np.outer(x, y) + np.outer(y, x)])
    graphs = ObservedGraphs(GraphStack(A))
    greedy = solve(graphs, 2)
    fit = refine_observed(
        graphs, (greedy.H,), metric=AllEntries(), rule=FreeLoadings(), weights=np.ones(2),
        tol=1e-12, max_iter=2000,
    )  # fmt: skip
    assert fit.n_passes > 10
    assert fit.bound_met
    assert fit.condition == condition(component_gram(fit.sides[0])) <= 1e4
    left = [(residuals(A, H) ** 2).sum() for H in (greedy.H, fit.sides[0])]
    assert [fit.objective_before, fit.objective_after] == pytest.approx(left, rel=1e-6)
    assert left[1] < 0.1 * left[0]  # and no more is lost by it
