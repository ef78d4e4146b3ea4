"""Views of stacks in blocks: every product is that of the same stack in memory."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest
from blocked_graphs import InBlocks

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.graphs.blocked import Block
from eigengraphs.graphs.blocked_tasks import Ask, Sum
from eigengraphs.graphs.blocked_view import BlockedDirectedView, BlockedView
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.graphs.group_means import group_means
from eigengraphs.graphs.ordering import add_up
from eigengraphs.graphs.view import StackView, mean_graph

M, N, S = 11, 9, 4


def some_graphs(directed: bool, storage: str) -> GraphStack:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((M, N, N)) * (rng.random((M, N, N)) < 0.6)
    if not directed:
        A = A + A.transpose(0, 2, 1)
    stack = GraphStack(A)
    return stack.to_sparse() if storage == "sparse" else stack


def both(directed, storage, rule, centred):
    stack = some_graphs(directed, storage)
    mean = mean_graph(stack, np.ones(M)) if centred else None
    plain, blocked = (DirectedView, BlockedDirectedView) if directed else (StackView, BlockedView)
    in_blocks = InBlocks(stack, 4)
    return plain(stack, rule, mean, 0.5), blocked(in_blocks, rule, mean, 0.5), in_blocks


def same(a, b):
    if isinstance(a, tuple):
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    a, b = (x.toarray() if hasattr(x, "toarray") else x for x in (a, b))
    return np.allclose(a, b, atol=1e-12 * max(1.0, np.abs(a).max()))


CASES = pytest.mark.parametrize("storage", ["dense", "sparse"])
RULES = pytest.mark.parametrize("rule", ["observed", "filled", "hollow"])
CENTRED = pytest.mark.parametrize("centred", [False, True])


@CASES
@RULES
@CENTRED
def test_undirected_products(storage, rule, centred):
    plain, blocked, stack = both(False, storage, rule, centred)
    rng = np.random.default_rng(0)
    V, B, W = rng.standard_normal((N, 3)), rng.standard_normal((N, S)), rng.random((M, S))
    weights, v = rng.random(M), rng.standard_normal(N)
    for ask in (
        lambda view: view.multiply(v),
        lambda view: view.project(V, B),
        lambda view: view.weighted_multiply(W, B),
        lambda view: view.sketch(B, weights),
        lambda view: view.quadratic_forms(B),
        lambda view: view.mean(weights),
    ):
        before = stack.n_passes
        assert same(ask(plain), ask(blocked))
        assert stack.n_passes == before + 1
    assert same(plain.squared_norms(), blocked.squared_norms())
    assert same(plain.rounding(), blocked.rounding())
    assert same(plain.diagonal_forms(B), blocked.diagonal_forms(B))
    check_products(plain, blocked, (B,))


@CASES
@RULES
@CENTRED
def test_directed_products(storage, rule, centred):
    plain, blocked, stack = both(True, storage, rule, centred)
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((2, N, 3))
    B, C = rng.standard_normal((2, N, S))
    W, weights = rng.random((M, S)), rng.random(M)
    for ask in (
        lambda view: view.project(U, V, B, C),
        lambda view: view.weighted_multiply(W, B, C),
        lambda view: view.sketch(B, weights),
        lambda view: view.bilinear_forms(B, C),
    ):
        before = stack.n_passes
        assert same(ask(plain), ask(blocked))
        assert stack.n_passes == before + 1
    assert same(plain.squared_norms(), blocked.squared_norms())
    assert same(plain.diagonal_forms(B, C), blocked.diagonal_forms(B, C))
    check_products(plain, blocked, (B, C))


def check_products(plain, blocked, columns):
    found = []
    for view in (plain, blocked):
        for with_out in (False, True):
            parts = [np.zeros((M, B.shape[1], N)) for B in columns]
            out = [np.zeros((M, B.shape[1], N)) for B in columns] if with_out else []

            def consumer(part):
                def consume(lo, hi, P):
                    part[lo:hi] = P

                return consume

            view.products(*columns, *(consumer(part) for part in parts), *out)
            found.append(tuple(parts))
            if with_out:
                assert same(tuple(parts), tuple(out))
    assert all(same(found[0], other) for other in found[1:])


@pytest.mark.parametrize("directed", [False, True])
def test_forms_are_kept_up_to_signs(directed):
    plain, blocked, stack = both(directed, "dense", "filled", False)
    rng = np.random.default_rng(0)
    sides = [rng.standard_normal((N, 2)) for _ in range(1 + directed)]
    ask = "bilinear_forms" if directed else "quadratic_forms"
    getattr(blocked, ask)(*sides)
    before = stack.n_passes
    sides[-1] = sides[-1] * [1.0, -1.0]
    assert same(getattr(plain, ask)(*sides), getattr(blocked, ask)(*sides))
    assert same(plain.diagonal_forms(*sides), blocked.diagonal_forms(*sides))
    assert stack.n_passes == before
    sides[0] = sides[0] + 1.0
    assert same(getattr(plain, ask)(*sides), getattr(blocked, ask)(*sides))
    assert stack.n_passes == before + 1


@CASES
def test_means(storage):
    stack = some_graphs(False, storage)
    weights, groups = np.arange(1.0, M + 1), np.arange(M) % 3
    in_blocks = InBlocks(stack, 4)
    assert same(mean_graph(stack, weights), mean_graph(in_blocks, weights))
    one, other = (group_means(s, groups, weights, 3) for s in (stack, in_blocks))
    assert same(np.asarray(one.to_dense()), np.asarray(other.to_dense()))


def test_tasks_travel_and_carry_the_rows_of_their_block_alone():
    rows = np.arange(22.0).reshape(11, 2)
    ask = Ask(rows, 0, "weighted_multiply", (np.ones((N, 2)),))
    part = pickle.loads(pickle.dumps(ask.part(4, 8)))
    assert part.rows.shape == (4, 2)
    _, blocked, stack = both(False, "dense", "observed", False)

    block = Block(stack.read_block(1), 4, 8)
    assert np.array_equal(part(block, blocked._look), ask(block, blocked._look))
    assert Sum(None, 0, _count).part(4, 8)(block, blocked._look) == 4.0
    again = pickle.loads(pickle.dumps(block))
    assert again.memo == {}
    assert again.lo == 4


def _count(view, weights):
    return weights.sum()


def test_results_are_added_up():
    total = add_up((np.ones(2), (np.zeros(1), np.ones(1))), (np.ones(2), (np.ones(1), np.ones(1))))
    assert total[0].tolist() == [2, 2]
    assert total[1][0].tolist() == [1]


def test_all_graphs_are_loaded_only_within_the_budget():
    stack = some_graphs(False, "dense")
    assert np.array_equal(InBlocks(stack, 4).dense, stack.dense)
    tight = InBlocks(stack, 4, memory=100)
    with pytest.raises(InputError, match="all 11 graphs in memory"):
        _ = tight.dense
    assert np.array_equal(tight[7], stack[7])


@pytest.mark.parametrize("directed", [False, True])
def test_a_view_goes_when_nobody_holds_it(directed):
    # Without waiting for Python to look for cycles: blocks would fill the memory.
    plain, _, _ = both(directed, "dense", "filled", True)
    plain.squared_norms()
    gone = weakref.ref(plain)
    gc.disable()
    try:
        del plain
        assert gone() is None
    finally:
        gc.enable()
