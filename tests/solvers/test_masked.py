"""Components of graphs with hidden entries: certified, recovered, the known ones if complete."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric
from scipy import linalg
from solvers.solving import FREE, metric_of
from written_out import Counted, masked_objective, residuals, slope

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import DegenerateWarning
from eigengraphs.operators.observed import ObservedGraphs
from eigengraphs.solvers.full_space import full_space, refine_observed
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import Seen, component_gram
from eigengraphs.solvers.solution import with_signs


def pairs_at_random(m, n, share=0.2, seed=0):
    """Return pairs of vertices to hide, (m, n, n)."""
    return np.triu(np.random.default_rng(seed).random((m, n, n)) < share)


def absent(m, n, share=0.2, seed=0):
    """Return the entries of vertices that are absent from some graphs, (m, n, n)."""
    gone = np.random.default_rng(seed).random((m, n)) < share
    return gone[:, :, None] | gone[:, None, :]


HIDDEN = {
    "entries": pairs_at_random,
    "vertices": absent,
    "both": lambda m, n: pairs_at_random(m, n) | absent(m, n),
}
NOISE = GraphStack(random_symmetric(10, 24, seed=8)).hide(HIDDEN["both"](10, 24))


def solve(graphs, d, rule="observed", **settings):
    """Fit a stack, or an operator of one."""
    seen = ObservedGraphs(graphs, rule) if isinstance(graphs, GraphStack) else graphs
    defaults = {
        "weights": np.ones(seen.n_graphs), "seed": np.random.SeedSequence(0), "rule": FREE,
        "metric": metric_of(seen.hollow), "init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 500,
    }  # fmt: skip
    return full_space(seen, d, **{**defaults, **settings})


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
        for k, left in enumerate(expected.objective_path_):
            R = residuals(A, fit.H[:, :k], hollow=rule == "hollow")
            assert weights @ (R**2).sum(axis=(1, 2)) == pytest.approx(left, rel=1e-6)


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


@pytest.mark.parametrize("init", ["auto", "svd", "random"])
def test_passes_are_counted_as_they_are_taken(init):
    graphs = Counted(ObservedGraphs(NOISE))
    fit = solve(graphs, 3, init=init, n_init=2)
    assert fit.n_passes == graphs.n_reads


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


# ---------------------------------------------------------------------- recovery


@pytest.mark.parametrize("rule", ["observed", "hollow"])
@pytest.mark.parametrize("kind", HIDDEN)
def test_one_noiseless_component_is_recovered(kind, rule):
    known = noiseless(40, 25, 1, seed=1)
    stack = known.stack.hide(HIDDEN[kind](25, 40))
    assert stack.n_hidden > 0.15 * 25 * 40**2
    fit = solve(stack, 1, rule)
    assert column_errors(fit.H, known.H).max() < 1e-6
    graphs = ObservedGraphs(stack, rule)
    seen = Seen(component_gram(fit.H, hollow=graphs.hollow), graphs.observed())
    Lam = FREE.solve(graphs.grams(fit.H), graphs.forms(fit.H), seen=seen)
    assert np.abs(Lam - known.Lam).max() < 1e-6


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
        graphs, (greedy.H,), metric=metric_of(False), rule=FREE, weights=np.ones(25),
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
