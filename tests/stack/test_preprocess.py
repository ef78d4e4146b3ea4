"""A preprocessing is a sequence of steps that treats each graph on its own, wherever it is."""

import pickle

import numpy as np
import pytest
from known_graphs import random_symmetric, stored

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.stack.preprocess import STEPS, Preprocessing

GRAPHS = 0.2 * random_symmetric(5, 6, 3, density=0.7)  # all within (-1, 1), so every step can do


def halved(stack):
    dense = GraphStack(stack.to_dense().dense / 2)
    return dense.to_sparse() if stack.is_sparse else dense


def centered(stack):
    dense = stack.to_dense().dense
    return GraphStack(dense - dense.mean(axis=0))


def noisy(stack):
    return GraphStack(stack.to_dense().dense + np.random.default_rng().random(stack.shape))


def test_steps_come_one_after_the_other(storage):
    stack = stored(GraphStack(GRAPHS), storage)
    steps = Preprocessing.of(["signed_log1p", halved, "unit_norm"])
    assert steps.names == ("signed_log1p", "halved", "unit_norm")
    logs = np.sign(GRAPHS) * np.log1p(np.abs(GRAPHS)) / 2
    expected = logs / np.linalg.norm(logs, axis=(1, 2), keepdims=True)
    assert np.allclose(steps.apply(stack).to_dense().dense, expected, rtol=1e-13)
    assert steps.apply(stack).is_sparse == stack.is_sparse


def test_a_function_that_forgets_names_does_not_lose_them(storage):
    names = {"vertex_names": list("abcdef"), "graph_names": list("vwxyz")}
    after = Preprocessing.of(halved).apply(stored(GraphStack(GRAPHS, **names), storage))
    assert after.vertex_names == tuple("abcdef")
    assert after.graph_names == tuple("vwxyz")


def test_none_is_no_step_and_changes_nothing():
    stack = GraphStack(GRAPHS)
    assert Preprocessing.of(None).names == Preprocessing.of([]).names == ()
    assert Preprocessing.of(None).apply(stack) is stack


def test_a_named_step_is_kept_as_its_name():
    assert pickle.loads(pickle.dumps(Preprocessing.of("rank"))) == Preprocessing.of(["rank"])
    with pytest.raises(AttributeError):
        Preprocessing.of("rank").steps = ()


@pytest.mark.parametrize("wrong", ["zscore", ["log1p", "zscore"], 3, [None], [["log1p"]], True])
def test_what_is_no_step_is_told_what_exists(wrong):
    with pytest.raises(InputError, match=r"'binarize', .*'log1p', 'rank', .*; got ") as raised:
        Preprocessing.of(wrong)
    assert all(repr(name) in str(raised.value) for name in STEPS)


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (lambda stack: stack.to_dense().dense, "'<lambda>' must return a GraphStack, got ndarray"),
        (lambda stack: stack[1:], "it made 4 graphs on 6 vertices from 5 on 6"),
        (lambda stack: stack.select_vertices([0, 1]), "5 graphs on 2 vertices from 5 on 6"),
        (lambda stack: stack.select_vertices(list("fedcba")), "changed the order"),
        (centered, "'centered' gives the first graph different weights .* learns across graphs"),
        (noisy, "'noisy' .* or is random"),
    ],
)
def test_functions_that_do_what_no_step_may(step, text, storage):
    stack = stored(GraphStack(GRAPHS, vertex_names=list("abcdef")), storage)
    with pytest.raises(InputError, match=text):
        Preprocessing.of(step).apply(stack)
