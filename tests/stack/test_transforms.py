"""Transforms make new stacks, the same for dense and sparse ones."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_graphs import stored

from eigengraphs import GraphStack
from eigengraphs.errors import InputError

rng = np.random.default_rng(0)
DIRECTED = rng.poisson(0.7, size=(4, 6, 6)).astype(float)
NAMES = list("abcdef")


@pytest.fixture
def stack(storage):
    return stored(GraphStack(DIRECTED, vertex_names=NAMES, graph_names=list("wxyz")), storage)


MIRROR = DIRECTED.transpose(0, 2, 1)
EXPECTED = {
    "mean": (lambda s: s.symmetrize(), (DIRECTED + MIRROR) / 2),
    "max": (lambda s: s.symmetrize("max"), np.maximum(DIRECTED, MIRROR)),
    "min": (lambda s: s.symmetrize("min"), np.minimum(DIRECTED, MIRROR)),
    "sum": (lambda s: s.symmetrize("sum"), DIRECTED + MIRROR),
    "binary": (lambda s: s.binarize(), (DIRECTED > 0) * 1.0),
    "above 1": (lambda s: s.binarize(1), (DIRECTED > 1) * 1.0),
    "log1p": (lambda s: s.log1p(), np.log1p(DIRECTED)),
    "hollow": (lambda s: s.drop_loops(), DIRECTED * (1 - np.eye(6))),
    "vertices": (lambda s: s.select_vertices([4, 0, -1]), DIRECTED[:, [4, 0, 5]][:, :, [4, 0, 5]]),
    "by name": (lambda s: s.select_vertices(["e", "a"]), DIRECTED[:, [4, 0]][:, :, [4, 0]]),
    "by mask": (lambda s: s.select_vertices(np.arange(6) > 2), DIRECTED[:, 3:, 3:]),
    "by slice": (lambda s: s.select_vertices(slice(1, 3)), DIRECTED[:, 1:3, 1:3]),
}


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_transform(stack, name, dtype):
    change, expected = EXPECTED[name]
    before = stack.astype(dtype)
    after = change(before)
    assert np.allclose(after.to_dense().dense, expected, rtol=1e-6)
    assert after.dtype == dtype
    assert after.is_sparse == before.is_sparse
    assert after.graph_names == tuple("wxyz")
    assert np.array_equal(before.to_dense().dense, DIRECTED)  # the old stack is as it was
    fresh = GraphStack(expected)
    assert after.is_directed == fresh.is_directed
    assert after.is_hollow == fresh.is_hollow
    assert np.array_equal(after.facts.n_nonzero, fresh.facts.n_nonzero)


def test_each_graph_in_its_own_order(stack):
    orders = np.array([rng.permutation(6) for _ in range(4)])
    after = stack.reorder(orders)
    expected = [A[np.ix_(order, order)] for A, order in zip(DIRECTED, orders, strict=True)]
    assert np.array_equal(after.to_dense().dense, expected)
    assert after.is_sparse == stack.is_sparse
    assert after.vertex_names == tuple("abcdef")  # names of places
    assert np.array_equal(after.facts.n_loops, stack.facts.n_loops)
    back = after.reorder(np.argsort(orders, axis=1))
    assert np.array_equal(back.to_dense().dense, DIRECTED)
    same = stack.reorder(orders[0])
    assert np.array_equal(same.to_dense().dense, stack.select_vertices(orders[0]).to_dense().dense)
    with pytest.raises(InputError, match=r"orders\[1\] must hold each of 0 ... 5 once"):
        stack.reorder(np.array([[0, 1, 2, 3, 4, 5], [0, 0, 2, 3, 4, 5]] * 2))
    with pytest.raises(InputError, match=r"for each of 4 graphs; got an array of shape \(4, 5\)"):
        stack.reorder(np.zeros((4, 5), dtype=int))


@pytest.mark.parametrize(
    ("which", "text"),
    [
        (["a", "q"], "no vertex is called 'q'"),
        ([0, 6], "vertex 6 does not exist; there are 6"),
        ([True, False], "a mask must have one entry a vertex, 6; got 2"),
        ([], "holds no vertex"),
        ([1, 1], "more than once"),
        ([[1, 2]], r"an array of shape \(1, 2\)"),
        ([0.5], "numbers of type float64"),
        ("a", "list of places or names; got 'a'"),
    ],
)
def test_bad_vertices(stack, which, text):
    with pytest.raises(InputError, match=text):
        stack.select_vertices(which)


def brute_force_common_component(graphs):
    """Largest vertex set on which each graph is connected, by trying all of them."""
    n = graphs.shape[1]
    best = []
    for code in range(1, 2**n):
        keep = [s for s in range(n) if code >> s & 1]
        connected = all(nx.is_connected(nx.from_numpy_array(A[np.ix_(keep, keep)])) for A in graphs)
        if connected and (len(keep) > len(best) or (len(keep) == len(best) and keep < best)):
            best = keep
    return best


@given(seed=st.integers(0, 2**20), density=st.sampled_from([0.25, 0.4, 0.6]))
def test_largest_common_component_against_all_subsets(seed, density):
    random = np.random.default_rng(seed)
    upper = np.triu(random.random((3, 6, 6)) < density, 1)
    graphs = (upper | upper.transpose(0, 2, 1)).astype(float)
    stack = GraphStack(graphs, vertex_names=[str(s) for s in range(6)])
    expected = brute_force_common_component(graphs)
    for kept in (stack, stack.to_sparse()):
        found = [int(name) for name in kept.largest_common_component().vertex_names]
        assert found == expected
