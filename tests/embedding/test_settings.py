"""Settings and input that are refused, each with what to do about it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from known_graphs import random_symmetric, stored
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import InputError

A = random_symmetric(3, 5, seed=0)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"n_components": 0}, "n_components must be a whole number >= 1, got n_components=0"),
        ({"n_components": 2.5}, "whole number >= 1"),
        ({"n_components": True}, "whole number >= 1"),
        ({"n_components": 16}, r"n_components=16 is more than 15, .* on 5 vertices"),
        (
            {"diagonal": "zero"},
            "diagonal must be one of 'auto', 'filled', 'observed', 'unobserved'",
        ),
        ({"solver": "magic"}, "solver must be one of 'subspace', 'algorithm1', got"),
        ({"loadings": "many"}, "loadings must be one of 'free'"),
        ({"center": "yes"}, "center must be one of False, True"),
        ({"init": "best"}, "init must be one of 'auto', 'svd', 'random' or an array"),
        ({"init": np.ones((5, 1))}, r"shape \(5, 2\), one column per component; got \(5, 1\)"),
        ({"init": np.zeros((5, 2))}, "column 0 of init has norm 0"),
        ({"n_init": 0}, "n_init must be a whole number >= 1"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1"),
        ({"tol": 0}, "tol must be 'auto' or a positive number, got tol=0"),
        ({"verbose": -1}, "verbose must be a whole number >= 0"),
        ({"random_state": "seed"}, "random_state must be"),
    ],
    ids=str,
)
def test_bad_settings(settings, text):
    with pytest.raises(InputError, match=text):
        JointEmbedding(**settings).fit(A)


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([1, 2], r"must have shape \(3,\), one per graph; got \(2,\)"),
        ([1, -1, 1], r"sample_weight\[1\] is -1"),
        ([1, np.nan, 1], r"sample_weight\[1\] is nan"),
        ([0, 0, 0], "zero for every graph"),
        (["a", "b", "c"], "one number per graph"),
    ],
)
def test_bad_weights(weights, text):
    with pytest.raises(InputError, match=text):
        JointEmbedding().fit(A, sample_weight=weights)


@pytest.mark.parametrize(
    ("graphs", "weights"),
    [([*A, 1e80 * A[0]], [1, 1, 1, 0]), ([*A, 0 * A[0]], [1e-200, 1e-200, 1e-200, 1])],
    ids=["huge graph without weight", "zero graph with weight"],
)
def test_graphs_that_do_not_matter_do_not_set_the_scale(graphs, weights):
    je = JointEmbedding(2, random_state=0).fit(graphs, sample_weight=weights)
    alone = JointEmbedding(2, random_state=0).fit(A)
    assert np.allclose(je.latent_positions_, alone.latent_positions_, atol=1e-6)


@pytest.mark.parametrize("factor", [1e-36, 1e36])
def test_float32_that_would_leave_its_range_is_refused(factor):
    stack = GraphStack((A * factor).astype(np.float32))
    with pytest.raises(InputError, match=r"leave the range of float32.*dtype='float64'"):
        JointEmbedding(1).fit(stack)
    assert JointEmbedding(1).fit(stack.astype(np.float64)).converged_


def test_extend_refuses_settings_that_changed():
    je = JointEmbedding(1, random_state=0).fit(A)
    with pytest.raises(InputError, match="solver must be"):
        je.set_params(solver="nonsense").extend(2)
    with pytest.raises(InputError, match="changed since the fit"):
        je.set_params(solver="algorithm1", center=True).extend(2)


def test_a_graph_without_weight_does_not_decide_on_the_diagonal():
    hollow = random_symmetric(3, 5, seed=0, hollow=True)
    hollow[2, 0, 0] = 1.0
    assert JointEmbedding(1).fit(hollow).diagonal_ == "observed"
    assert JointEmbedding(1).fit(hollow, sample_weight=[1, 1, 0]).diagonal_ == "filled"


def test_warnings_point_at_the_code_that_called():
    for call in ("fit", "fit_transform"):
        je = JointEmbedding(1, max_iter=1, init="random", random_state=0, solver="algorithm1")
        with pytest.warns(ConvergenceWarning) as caught:
            getattr(je, call)(A)
        assert caught[0].filename == __file__


def test_fits_in_several_threads_leave_the_thread_limits_as_they_were():
    def limits():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(limits=2, user_api="blas"):
        before = limits()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: JointEmbedding(2, random_state=0).fit(A), range(12)))
        assert limits() == before


def test_directed_graphs_are_refused_with_the_entry_named(storage):
    B = A.copy()
    B[1, 2, 4] += 1.0
    stack = GraphStack(B, graph_names=["x", "y", "z"], vertex_names=list("abcde"))
    with pytest.raises(InputError, match=r"graphs\[1\] \('y'\) is not symmetric: entry \(2, 4\), "
                       r"'c' to 'e' is .*symmetrize\(\)"):  # fmt: skip
        JointEmbedding().fit(stored(stack, storage))


def test_wrong_loadings_for_the_inverse():
    je = JointEmbedding(2).fit(A)
    with pytest.raises(InputError, match=r"shape \(m, 2\), got \(3,\)"):
        je.inverse_transform([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="array of numbers"):
        je.inverse_transform([["a", "b"]])
    with pytest.raises(InputError, match="must be finite"):
        je.inverse_transform([[np.nan, 1.0]])
