"""A stack as a sequence of samples that cannot be changed and knows what it holds."""

import copy
import pickle

import numpy as np
import pytest
from known_graphs import random_symmetric, stored
from scipy import sparse
from sklearn.model_selection import train_test_split

from eigengraphs import GraphStack
from eigengraphs.errors import InputError

NAMES = [f"sub-{i}" for i in range(6)]
A = random_symmetric(6, 5, seed=1, density=0.6)


@pytest.fixture
def stack(storage):
    return stored(GraphStack(A, graph_names=NAMES, vertex_names=list("abcde")), storage)


def array(graph):
    return graph.toarray() if sparse.issparse(graph) else graph


def test_iteration_and_length(stack):
    assert len(stack) == stack.n_graphs == 6
    assert stack.shape == (6, 5, 5)
    assert all(np.array_equal(array(graph), a) for graph, a in zip(stack, A, strict=True))


@pytest.mark.parametrize("i", [0, 3, -1, np.int64(2)])
def test_a_place_gives_a_graph(stack, i):
    assert np.array_equal(array(stack[i]), A[i])
    assert np.array_equal(array(stack[i, ...]), A[i])


@pytest.mark.parametrize(
    "which",
    [slice(1, 4), slice(None, None, 2), slice(None, None, -1), [3, 1], np.array([5, -6, 2]),
     np.array([True, False, True, True, False, False]), [False, True] * 3, range(2),
     ["sub-4", "sub-0"]],
    ids=str,
)  # fmt: skip
def test_slices_masks_and_places_give_stacks(stack, which):
    if isinstance(which, list) and isinstance(which[0], str):
        places = [NAMES.index(name) for name in which]
    else:
        places = np.arange(6)[which if isinstance(which, slice) else np.asarray(which)]
    for part in (stack[which], stack[which, ...]):
        assert isinstance(part, GraphStack)
        assert part.is_sparse == stack.is_sparse
        assert np.array_equal(part.to_dense().dense, A[places])
        assert part.graph_names == tuple(NAMES[i] for i in places)
        assert part.vertex_names == tuple("abcde")
        fresh = GraphStack(A[places])
        assert np.allclose(part.facts.norm, fresh.facts.norm)
        assert np.array_equal(part.facts.n_nonzero, fresh.facts.n_nonzero)


def test_places_of_small_integer_types():
    many = GraphStack(np.ones((300, 2, 2)))
    assert len(many[np.array([1, -1], dtype=np.int8)]) == 2
    assert len(many[np.array([200], dtype=np.uint8)]) == 1


def test_scikit_learn_splits_a_stack(stack):
    train, test, y_train, y_test = train_test_split(stack, np.arange(6), random_state=0)
    assert np.array_equal(train.to_dense().dense, A[y_train])
    assert np.array_equal(test.to_dense().dense, A[y_test])


@pytest.mark.parametrize(
    ("which", "error", "text"),
    [
        (6, IndexError, "graph 6 does not exist; there are 6"),
        ([0, 7], IndexError, "graph 7 does not exist"),
        ("sub-9", InputError, "no graph is called 'sub-9'"),
        ((0, 1), InputError, "indexed by graph alone.*select_vertices"),
        ([True, False], IndexError, "a mask must have one entry a graph, 6; got 2"),
        (slice(0, 0), InputError, "holds no graph"),
        ([], InputError, "holds no graph"),
        ([0.5], InputError, "chosen by place or name.*numbers of type float64"),
        ([[0, 1]], InputError, r"an array of shape \(1, 2\)"),
        (None, InputError, "got None"),
        (1.0, InputError, "got 1.0"),
    ],
)
def test_bad_indices(stack, which, error, text):
    with pytest.raises(error, match=text):
        stack[which]


def test_nothing_about_a_stack_can_be_changed(stack):
    with pytest.raises(AttributeError, match="cannot be changed"):
        stack.graph_names = ()
    with pytest.raises(AttributeError, match="cannot be"):
        del stack._storage
    data = stack.flat.data if stack.is_sparse else stack.dense
    with pytest.raises(ValueError, match="read-only"):
        data[0] = 1.0
    graph = stack[0].data if stack.is_sparse else stack[0]
    with pytest.raises(ValueError, match="read-only"):
        graph[0] = 1.0


def test_pickle_and_copy(stack):
    for other in (pickle.loads(pickle.dumps(stack)), copy.deepcopy(stack), copy.copy(stack)):
        assert np.array_equal(other.to_dense().dense, A)
        assert other.graph_names == stack.graph_names
        assert repr(other) == repr(stack)
        storage = other.flat.data if other.is_sparse else other.dense
        assert not storage.flags.writeable


def test_facts_of_kinds():
    triangle = np.ones((3, 3)) - np.eye(3)
    plain = GraphStack([triangle])
    assert (plain.is_directed, plain.is_weighted, plain.is_hollow) == (False, False, True)
    assert plain.density == 1
    assert plain.constant_diagonal == 0
    assert GraphStack([np.triu(triangle)]).is_directed
    assert GraphStack([2 * triangle]).is_weighted
    assert not GraphStack([triangle + np.diag([1, 0, 0])]).is_hollow
    assert GraphStack([triangle + np.eye(3)]).constant_diagonal == 1
    assert GraphStack([triangle, triangle + np.eye(3)]).constant_diagonal is None
    assert GraphStack([triangle, np.zeros((3, 3))]).density == 0.5


def test_rounding_is_not_direction():
    correlations = np.corrcoef(np.random.default_rng(0).standard_normal((20, 50)))
    correlations[0, 1] += 1e-14
    assert not GraphStack([correlations]).is_directed
    correlations[0, 1] += 1e-5
    assert GraphStack([correlations]).is_directed


@pytest.mark.parametrize(("dtype", "large"), [(np.float32, 2e6), (np.float64, 2e10)])
def test_one_count_among_millions_is_direction(dtype, large, storage):
    counts = np.zeros((1, 4, 4), dtype=dtype)
    counts[0, 0, 1] = counts[0, 1, 0] = large
    counts[0, 2, 3] = 1
    assert stored(GraphStack(counts), storage).is_directed


@pytest.mark.parametrize(
    ("graphs", "text"),
    [
        (
            np.ones((2, 4, 4), dtype=np.float32),
            "GraphStack(2 graphs, 4 vertices, undirected, unweighted, with loops, density 1, "
            "dense float32, 128 B)",
        ),
        (
            [sparse.csr_array(np.array([[0, 2.0], [0, 0]]))],
            "GraphStack(1 graph, 2 vertices, directed, weighted, hollow, density 0.5, "
            "sparse float64, 24 B)",
        ),
    ],
)
def test_repr_tells_all_on_one_line(graphs, text):
    assert repr(GraphStack(graphs)) == text


def test_notebook_repr_escapes():
    assert "<td>2 graphs</td>" in GraphStack(np.ones((2, 3, 3)))._repr_html_()


def test_arrays_come_back_from_dense_stacks_only():
    assert np.array_equal(np.asarray(GraphStack(A)), A)
    with pytest.raises(InputError, match="this stack is sparse"):
        np.asarray(GraphStack(A).to_sparse())
    with pytest.raises(InputError, match="this stack is dense"):
        _ = GraphStack(A).flat


@pytest.mark.parametrize("extreme", [1e-300, 1e200])
def test_norms_of_extreme_weights(extreme, storage):
    stack = stored(GraphStack(A * extreme), storage)
    expected = np.linalg.norm(A, axis=(1, 2))
    assert np.allclose(stack.facts.norm / extreme, expected, rtol=1e-12)
    off = np.linalg.norm(A * (1 - np.eye(5)), axis=(1, 2))
    assert np.allclose(stack.facts.off_norm / extreme, off, rtol=1e-12)
