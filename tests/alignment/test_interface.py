"""References, seeds, names, seeds of random numbers, and what is refused."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from known_graphs import correlated_blocks, partly_shuffled
from scipy import sparse

import eigengraphs as eg
from eigengraphs.errors import AlignmentError, InputError, SelectionError

N = 40
A, B = correlated_blocks(N, 0.95, 0)
ORDER, _ = partly_shuffled(N, 0.2, 0)
SHUFFLED = B[np.ix_(ORDER, ORDER)]
NAMES = [f"v{s}" for s in range(N)]
STACK = eg.GraphStack([A, SHUFFLED], graph_names=["one", "two"], vertex_names=NAMES)


def put_back(found, i=1):
    return np.array_equal(ORDER[found.permutations[i]], np.arange(N))


@pytest.mark.parametrize("reference", [0, "one", -2, A, A.tolist(), sparse.coo_array(A)])
def test_a_reference_by_place_name_or_graph(reference):
    found = eg.align(STACK, reference, random_state=0)
    assert put_back(found)
    assert np.array_equal(found.stack[1], B)
    assert np.array_equal(found.stack[0], A)
    assert found.stack.vertex_names == tuple(NAMES)
    assert found.stack.graph_names == ("one", "two")


def test_any_graph_can_be_the_reference_and_one_from_outside_serves_one_graph():
    found = eg.align(STACK, "two", random_state=0)
    assert np.array_equal(found.permutations, [ORDER, np.arange(N)])
    assert put_back(eg.align([SHUFFLED], A, random_state=0), 0)
    for reference in (0, "mean"):
        with pytest.raises(InputError, match="one graph alone has nothing"):
            eg.align([A], reference)


def test_names_of_the_reference_are_those_of_the_result():
    other = pd.DataFrame(A, index=[f"w{s}" for s in range(N)], columns=[f"w{s}" for s in range(N)])
    s = int(np.flatnonzero(np.arange(N) == ORDER)[0])
    found = eg.align(STACK, other, seeds=[(f"w{s}", f"v{s}")], random_state=0)
    assert found.stack.vertex_names == tuple(other.index)
    assert put_back(found)


def test_a_reference_with_the_names_of_the_stack_goes_by_them():
    backwards = nx.relabel_nodes(nx.from_numpy_array(A[::-1, ::-1]), dict(enumerate(NAMES[::-1])))
    found = eg.align(STACK, backwards, seeds=["v1"], random_state=0)
    assert found.stack.vertex_names == tuple(NAMES)
    assert put_back(found)


def test_seeds_are_the_same_by_place_by_name_and_as_pairs():
    fixed = [s for s in range(N) if ORDER[s] == s][:5]
    ways = [
        fixed,
        np.array(fixed),
        [NAMES[s] for s in fixed],
        np.stack([fixed, fixed], axis=1),
        [(NAMES[s], NAMES[s]) for s in fixed],
        {"two": fixed},
        np.isin(np.arange(N), fixed),
    ]
    found = [eg.align(STACK, seeds=way, random_state=0) for way in ways]
    assert all(put_back(one) for one in found)
    assert all(np.array_equal(one.confidence, found[0].confidence) for one in found)


def test_all_vertices_as_seeds_in_any_sequence():
    pairs = np.stack([np.arange(N), np.argsort(ORDER)], axis=1)[::-1]
    found = eg.align(STACK, seeds={1: pairs}, random_state=0)
    assert put_back(found)
    assert (found.confidence == 1).all()


def test_one_seed_one_result_and_every_graph_has_its_own_stream():
    graphs = [A, *(correlated_blocks(N, 0.5, seed)[1] for seed in range(3))]
    one = eg.align(graphs, random_state=7)
    again = eg.align(graphs, random_state=7)
    fewer = eg.align(graphs[:3], random_state=7)
    assert np.array_equal(one.permutations, again.permutations)
    assert np.array_equal(one.confidence, again.confidence)
    assert np.array_equal(one.permutations[:3], fewer.permutations)


@pytest.mark.parametrize("reference", [0, "mean"])
def test_graphs_with_nothing_to_go_by_stay_as_they_are(reference):
    empty, full = np.zeros((N, N)), np.ones((N, N))
    found = eg.align([empty, full, empty], reference, random_state=0)
    assert not found.moved.any()
    assert not found.score.any()
    assert found.confidence[1:].max() == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_vertices(n):
    path = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    found = eg.align([path, path], random_state=0)
    assert np.array_equal(found.stack[1], path)


BAD = {
    "vertices": ({"reference": np.ones((5, 5))}, AlignmentError, "has 5 vertices, the graphs have"),
    "no such graph": ({"reference": 7}, SelectionError, "graph 7 does not exist"),
    "no graph": ({"reference": None}, InputError, "reference must be a graph.*NoneType"),
    "two graphs": ({"reference": STACK}, InputError, "must be one graph, got a stack of 2"),
    "seed out of range": ({"seeds": [3, N]}, SelectionError, "vertex of the reference 40 does not"),
    "partner out of range": ({"seeds": [(3, N)]}, SelectionError, "vertex 40 does not exist"),
    "seed of no name": ({"seeds": ["v3", "w3"]}, SelectionError, "is called 'w3'"),
    "seed twice": ({"seeds": [3, 4, 3]}, InputError, "reference 'v3' more than once"),
    "partner twice": ({"seeds": [(3, 5), (4, 5)]}, InputError, "the vertex 'v5' more than once"),
    "short mask": ({"seeds": [True, False]}, SelectionError, "one entry .*vertex.*, 40; got 2"),
    "triples": ({"seeds": np.ones((2, 3), int)}, InputError, r"pairs \(k, 2\).*shape \(2, 3\)"),
    "a number": ({"seeds": 3}, InputError, "seeds must be None, a list.*got 3"),
    "half vertices": ({"seeds": [0.5]}, InputError, "numbers of type float64"),
    "init": ({"init": "identity"}, InputError, "'order' or 'spectral', got init='identity'"),
    "max_vertices": ({"max_vertices": 30}, InputError, "40 vertices, more than max_vertices=30"),
    "preprocess": ({"preprocess": "logs"}, InputError, "a step of preprocess must be one of"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    options, error, text = BAD[case]
    with pytest.raises(error, match=text):
        eg.align(STACK, **options)


def test_a_graph_called_mean():
    stack = STACK.with_names(graph_names=["mean", "other"])
    with pytest.raises(InputError, match="one graph has that name"):
        eg.align(stack, "mean")
    assert put_back(eg.align(stack, 0, random_state=0))
