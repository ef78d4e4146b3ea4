"""Refining by every road, and stopped on the way."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st
from known_graphs import column_errors, random_symmetric, stored
from refining import LARGE, RULES, greedy, improve, operator_of, skewed
from written_out import Counted

from eigengraphs import GraphStack
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import FreeLoadings, NonnegativeLoadings, SparseLoadings

both_geometries = pytest.mark.parametrize("directed", [False, True])
NEVER_WHOLE = replace(DEFAULTS, whole=0, whole_most=0)


def errors(found, others):
    """Return the largest distance of any column of any side."""
    return max(column_errors(a, b).max() for a, b in zip(found.sides, others.sides, strict=True))


# -------------------------------------------------------------------------------------- every road


@pytest.mark.parametrize("rule", [FreeLoadings(), SparseLoadings(2, nonnegative=True)], ids=str)
@both_geometries
def test_storage_and_what_is_kept_change_nothing(rule, directed):
    A = 4 * random_symmetric(6, LARGE, seed=2, density=0.3)
    A += 40 * skewed(LARGE, 6, 3, 0, directed=directed)[0]
    stack = GraphStack(A)
    start = greedy(operator_of(stack, directed=directed), 3)
    found = [
        improve(operator_of(stored(stack, storage), directed=directed), start, rule, keep=keep)
        for storage in ("dense", "sparse")
        for keep in ("products", "cores")
    ]
    assert found[0].objective_after < found[0].objective_before
    for other in found[1:]:
        assert errors(other, found[0]) < 1e-5
        assert other.objective_after == pytest.approx(found[0].objective_after, rel=1e-11)


@pytest.mark.parametrize(("rule", "n"), [*((rule, 12) for rule in RULES), (RULES[0], LARGE)])
@both_geometries
def test_twice_the_same_is_the_same(rule, n, directed):
    graphs = operator_of(4 * skewed(n, 8, 3, 5, noise=0.1, directed=directed)[0], directed=directed)
    start = greedy(graphs, 3)
    once, again = improve(graphs, start, rule), improve(graphs, start, rule)
    assert all(np.array_equal(a, b) for a, b in zip(once.sides, again.sides, strict=True))
    assert np.array_equal(once.Lam, again.Lam)


@both_geometries
def test_the_shortcut_on_few_vertices_ends_where_the_general_way_does(directed):
    graphs = operator_of(skewed(40, 8, 3, 5, noise=0.1, directed=directed)[0], directed=directed)
    start = greedy(graphs, 3)
    short = improve(graphs, start)
    general = improve(graphs, start, options=NEVER_WHOLE)
    assert short.n_passes == 2  # the norms and the graphs
    assert general.n_passes > 3
    assert errors(short, general) < 1e-6


@given(st.integers(-60, 60), st.integers(0, 50))
@given_settings(max_examples=15)
def test_scale_changes_loadings_alone(exponent, seed):
    A = skewed(10, 5, 2, seed, noise=0.1)[0]
    start = greedy(operator_of(A), 2)
    plain, scaled = (improve(operator_of(B), start) for B in (A, A * 2.0**exponent))
    assert np.array_equal(plain.sides, scaled.sides)
    assert np.array_equal(plain.Lam * 2.0**exponent, scaled.Lam)


@pytest.mark.parametrize(
    "rule", [FreeLoadings(), SparseLoadings(2), NonnegativeLoadings()], ids=str
)
def test_weights_are_repetitions(rule):
    A = skewed(12, 4, 3, 5, noise=0.1)[0]
    start = greedy(operator_of(A), 3)
    weighted = improve(operator_of(A), start, rule, weights=np.array([1.0, 2.0, 0.0, 3.0]))
    repeated = improve(operator_of(A[[0, 1, 1, 3, 3, 3]]), start, rule)
    assert errors(weighted, repeated) < 1e-5
    assert weighted.objective_after == pytest.approx(repeated.objective_after, rel=1e-9)


def test_many_graphs_are_summed_up_and_lose_nothing():
    graphs = operator_of(skewed(25, 3000, 2, 1, noise=0.05)[0])
    start = greedy(graphs, 2)
    free = improve(graphs, start, options=NEVER_WHOLE)
    assert free.converged
    # Its loadings are all positive: the rule that needs every graph finds the same.
    assert (free.Lam > 0).all()
    positive = improve(graphs, start, NonnegativeLoadings(), options=NEVER_WHOLE)
    assert errors(positive, free) < 1e-6


@both_geometries
def test_float32_graphs_stop_at_their_precision(directed):
    A = skewed(LARGE, 10, 3, 1, noise=0.1, directed=directed)[0].astype(np.float32)
    graphs = operator_of(A, directed=directed)
    found = improve(graphs, greedy(graphs, 3, tol=1e-4), tol=1e-12)
    assert found.stop_reason == "precision"
    assert found.stationarity.max() < 1e-4


# ---------------------------------------------------------------------------------- running, input


@pytest.mark.parametrize("keep", ["cores", "products"])
@both_geometries
def test_passes_and_progress_are_counted(keep, directed):
    plain = operator_of(skewed(LARGE, 8, 3, 5, noise=0.1, directed=directed)[0], directed=directed)
    counted = Counted(plain)
    seen = []
    found = improve(counted, greedy(plain, 3), keep=keep, watch=seen.append)
    assert found.n_passes == counted.total
    assert [p.n_iter for p in seen] == list(range(found.n_iter + 1))
    assert seen[-1].n_passes == found.n_passes
    assert seen[-1].n_converged == 3
    assert seen[-1].stationarity == found.stationarity.max()


def test_an_interruption_keeps_the_last_round():
    graphs = operator_of(skewed(LARGE, 8, 3, 5, noise=0.1)[0])
    start = greedy(graphs, 3)

    def stop(progress):
        if progress.n_iter == 2:
            raise KeyboardInterrupt

    found = improve(graphs, start, watch=stop)
    assert found.stop_reason == "interrupted"
    assert not found.converged
    assert found.n_iter == 2
    assert found.objective_after == improve(graphs, start, max_iter=2).objective_after


def test_graphs_of_zero_and_unused_components():
    zero = improve(operator_of(np.zeros((3, 8, 8))), (np.eye(8)[:, :2],))
    assert np.array_equal(zero.sides[0], np.eye(8)[:, :2])
    assert not zero.Lam.any()
    A = skewed(8, 3, 2, 0)[0]
    # As many components as there are entries fit everything, whatever they are.
    rng = np.random.default_rng(0)
    for directed, d in ((False, 36), (True, 64)):
        sides = tuple(rng.standard_normal((8, d)) for _ in range(1 + directed))
        full = improve(operator_of(A, directed=directed), sides)
        assert (full.stop_reason, full.n_iter) == ("exhausted", 0)
        assert full.converged
    # One graph, one loading: three of four components are used by no graph.
    unused = improve(operator_of(A[:1]), greedy(operator_of(A), 2), SparseLoadings(1))
    assert unused.objective_after <= unused.objective_before
    assert unused.converged
