"""Refining by every road, stopped on the way, and with input that makes no sense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st
from known_graphs import column_errors, random_symmetric, stored
from refining import LARGE, RULES, greedy, improve, skewed, view_of
from written_out import Counted

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.solvers.rules import FreeLoadings, NonnegativeLoadings, SparseLoadings

# -------------------------------------------------------------------------------------- every road


@pytest.mark.parametrize("rule", [FreeLoadings(), SparseLoadings(2, nonnegative=True)], ids=str)
def test_storage_and_cache_change_nothing(rule):
    A = 4 * random_symmetric(6, LARGE, seed=2, density=0.3)
    A += 40 * skewed(LARGE, 6, 3, 0)[0]
    stack = GraphStack(A)
    H = greedy(view_of(stack), 3)
    found = [
        improve(view_of(stored(stack, storage)), H, rule, cache=cache)
        for storage in ("dense", "sparse")
        for cache in (True, False)
    ]
    assert found[0].objective_after < found[0].objective_before
    for other in found[1:]:
        assert column_errors(other.H, found[0].H).max() < 1e-5
        assert other.objective_after == pytest.approx(found[0].objective_after, rel=1e-11)


@pytest.mark.parametrize(("rule", "n"), [*((rule, 12) for rule in RULES), (RULES[0], LARGE)])
def test_twice_the_same_is_the_same(rule, n):
    A = 4 * skewed(n, 8, 3, 5, noise=0.1)[0]
    H = greedy(view_of(A), 3)
    once, again = improve(view_of(A), H, rule), improve(view_of(A), H, rule)
    assert np.array_equal(once.H, again.H)
    assert np.array_equal(once.Lam, again.Lam)


def test_the_shortcut_on_few_vertices_ends_where_the_general_way_does(monkeypatch):
    A = skewed(40, 8, 3, 5, noise=0.1)[0]
    H = greedy(view_of(A), 3)
    short = improve(view_of(A), H)
    monkeypatch.setattr("eigengraphs.solvers.refine.whole_pays", lambda m, n: False)
    general = improve(view_of(A), H)
    assert short.n_passes == 2  # the norms and the graphs
    assert general.n_passes > 3
    assert column_errors(short.H, general.H).max() < 1e-6


@given(st.integers(-60, 60), st.integers(0, 50))
@given_settings(max_examples=15)
def test_scale_changes_loadings_alone(exponent, seed):
    A = skewed(10, 5, 2, seed, noise=0.1)[0]
    H = greedy(view_of(A), 2)
    plain, scaled = improve(view_of(A), H), improve(view_of(A * 2.0**exponent), H)
    assert np.array_equal(plain.H, scaled.H)
    assert np.array_equal(plain.Lam * 2.0**exponent, scaled.Lam)


def test_weights_are_repetitions():
    A = skewed(12, 4, 3, 5, noise=0.1)[0]
    H = greedy(view_of(A), 3)
    weighted = improve(view_of(A), H, weights=np.array([1.0, 2.0, 0.0, 3.0]))
    repeated = improve(view_of(A[[0, 1, 1, 3, 3, 3]]), H)
    assert column_errors(weighted.H, repeated.H).max() < 1e-5
    assert weighted.objective_after == pytest.approx(repeated.objective_after, rel=1e-9)


def test_many_graphs_are_summed_up_and_lose_nothing(monkeypatch):
    monkeypatch.setattr("eigengraphs.solvers.refine.whole_pays", lambda m, n: False)
    A, _ = skewed(25, 3000, 2, 1, noise=0.05)
    view = view_of(A)
    H = greedy(view, 2)
    free = improve(view, H)
    assert free.converged
    # Its loadings are all positive: the rule that needs every graph finds the same.
    assert (free.Lam > 0).all()
    positive = improve(view, H, NonnegativeLoadings())
    assert column_errors(positive.H, free.H).max() < 1e-6


def test_float32_graphs_stop_at_their_precision():
    A = skewed(LARGE, 10, 3, 1, noise=0.1)[0].astype(np.float32)
    view = view_of(A)
    found = improve(view, greedy(view, 3, tol=1e-4), tol=1e-12)
    assert found.stop_reason == "precision"
    assert found.stationarity.max() < 1e-4


# ---------------------------------------------------------------------------------- running, input


@pytest.mark.parametrize("cache", [False, True])
def test_passes_and_progress_are_counted(cache):
    plain = view_of(skewed(LARGE, 8, 3, 5, noise=0.1)[0])
    H, view = greedy(plain, 3), Counted(plain)
    seen = []
    found = improve(view, H, cache=cache, watch=seen.append)
    assert found.n_passes == view.total
    assert [p.n_iter for p in seen] == list(range(found.n_iter + 1))
    assert seen[-1].n_passes == found.n_passes
    assert seen[-1].n_converged == 3
    assert seen[-1].stationarity == found.stationarity.max()


def test_an_interruption_keeps_the_last_round():
    view = view_of(skewed(LARGE, 8, 3, 5, noise=0.1)[0])
    H = greedy(view, 3)

    def stop(progress):
        if progress.n_iter == 2:
            raise KeyboardInterrupt

    found = improve(view, H, watch=stop)
    assert found.stop_reason == "interrupted"
    assert not found.converged
    assert found.n_iter == 2
    assert found.objective_after == improve(view, H, max_iter=2).objective_after


def test_graphs_of_zero_no_components_and_unused_ones():
    zero = improve(view_of(np.zeros((3, 8, 8))), np.eye(8)[:, :2])
    assert np.array_equal(zero.H, np.eye(8)[:, :2])
    assert not zero.Lam.any()
    A = skewed(8, 3, 2, 0)[0]
    nothing = improve(view_of(A), np.zeros((8, 0)))
    assert nothing.objective_after == pytest.approx((A**2).sum())
    assert nothing.H.shape == (8, 0)
    # As many components as there are entries fit everything, whatever they are.
    H = np.random.default_rng(0).standard_normal((8, 36))
    full = improve(view_of(A), H)
    assert (full.stop_reason, full.n_iter) == ("exhausted", 0)
    assert full.converged
    # One graph, one loading: three of four components are used by no graph.
    unused = improve(view_of(A[:1]), greedy(view_of(A), 2), SparseLoadings(1))
    assert unused.objective_after <= unused.objective_before
    assert unused.converged


def test_input_that_makes_no_sense_is_refused():
    view = view_of(random_symmetric(3, 8, seed=0))
    with pytest.raises(InputError, match=r"shape \(7, 2\), expected \(8, d\)"):
        improve(view, np.ones((7, 2)))
    with pytest.raises(InputError, match="component 1 is zero"):
        improve(view, np.eye(8)[:, :2] * [1.0, 0.0])
    with pytest.raises(InputError, match="7 components on 3 vertices are dependent, at most 6"):
        improve(view_of(random_symmetric(3, 3, seed=0)), np.ones((3, 7)))
    with pytest.raises(InputError, match="max_condition must be above 1, got 1"):
        improve(view, np.eye(8)[:, :2], max_condition=1)
