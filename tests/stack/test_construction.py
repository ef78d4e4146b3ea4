"""From every kind of graph to one stack, aligned by name where there are names."""

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from known_graphs import random_symmetric
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.errors import AlignmentError, InputError

FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]
A = random_symmetric(3, 6, seed=0, density=0.5)


def as_networkx(matrix, names, order=None):
    graph = nx.Graph()
    graph.add_nodes_from(order or names)
    for s, t in zip(*np.nonzero(np.triu(matrix)), strict=True):
        graph.add_edge(names[s], names[t], weight=matrix[s, t])
    return graph


def as_igraph(matrix, names=None):
    s, t = np.nonzero(np.triu(matrix))
    graph = igraph.Graph(n=len(matrix), edges=list(zip(s.tolist(), t.tolist(), strict=True)))
    graph.es["weight"] = matrix[s, t].tolist()
    if names:
        graph.vs["name"] = names
    return graph


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix], ids=["array", "matrix"])
@pytest.mark.parametrize("kind", FORMATS)
def test_scipy_of_every_format_stays_sparse(kind, make):
    stack = GraphStack([make(a).asformat(kind) for a in A])
    assert stack.is_sparse
    assert np.array_equal(stack.to_dense().dense, A)


def test_arrays_in_a_list_in_a_cube_and_from_a_generator_are_the_same():
    for graphs in (A, list(A), tuple(A), (a for a in A), A.tolist()):
        assert np.array_equal(GraphStack(graphs).dense, A)
    assert GraphStack(A).graph_names == tuple("012")
    assert GraphStack(A).vertex_names == tuple("012345")


@pytest.mark.parametrize(
    ("given", "kept"),
    [(np.float32, np.float32), (np.float16, np.float32), (np.float64, np.float64),
     (np.int8, np.float64), (bool, np.float64)],
)  # fmt: skip
def test_types(given, kept):
    graphs = np.rint(A).astype(given)
    assert GraphStack(graphs).dtype == kept
    assert GraphStack(list(graphs)).dtype == kept
    assert GraphStack([graphs[0], A[1]]).dtype == np.float64
    assert GraphStack(graphs, dtype=np.float32).dtype == np.float32
    if given in (np.float32, np.float64, np.int8, bool):
        assert GraphStack([sparse.csr_array(g) for g in graphs]).dtype == kept


def test_a_mixture_is_aligned_by_name():
    names = list("abcdef")
    order = [3, 0, 5, 1, 4, 2]
    shuffled = [names[s] for s in order]
    frame = pd.DataFrame(A[1], index=names, columns=names).loc[shuffled, names]
    mixed = GraphStack(
        [
            as_networkx(A[0], names),
            frame,
            as_igraph(A[2][np.ix_(order, order)], shuffled),
            sparse.coo_array(A[0]),  # unnamed: in the order of the first that has names
            A[1],
        ]
    )
    assert mixed.vertex_names == tuple(names)
    assert mixed.is_sparse  # a scipy matrix is among them
    assert np.array_equal(mixed.to_dense().dense, A[[0, 1, 2, 0, 1]])
    reordered = GraphStack([as_networkx(A[0], names)], vertex_names=shuffled)
    assert np.array_equal(reordered.dense[0], A[0][np.ix_(order, order)])


def test_unnamed_graphs_among_numbered_ones_go_by_number():
    path = nx.Graph([(2, 0), (0, 1)])  # nodes come as 2, 0, 1
    array = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])  # the same graph by place
    stack = GraphStack([path, array])
    assert np.array_equal(stack[0], stack[1])


def test_networkx_kinds():
    directed = nx.DiGraph([("a", "b"), ("b", "c")])
    assert GraphStack([directed]).is_directed
    multi = nx.MultiGraph()
    multi.add_edge("a", "b", weight=2.0)
    multi.add_edge("a", "b", weight=3.0)
    multi.add_edge("a", "a")
    assert np.array_equal(GraphStack([multi])[0], [[1, 5], [5, 0]])
    assert np.array_equal(GraphStack([multi], weight=None)[0], [[1, 2], [2, 0]])


def test_igraph_loops_are_one_entry_and_direction_is_kept():
    graph = igraph.Graph(n=3, edges=[(0, 0), (0, 1), (1, 2)])
    assert np.array_equal(GraphStack([graph])[0], [[1, 1, 0], [1, 0, 1], [0, 1, 0]])
    directed = igraph.Graph(n=3, edges=[(0, 1), (1, 2)], directed=True)
    assert np.array_equal(GraphStack([directed])[0], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert GraphStack([igraph.Graph(n=2)]).density == 0


def test_intersection_and_union_of_vertices():
    first = nx.Graph([("a", "b"), ("b", "c")])
    second = nx.Graph([("b", "c"), ("c", "d")])
    both = GraphStack([first, second], vertices="intersection")
    assert both.vertex_names == ("b", "c")
    assert np.array_equal(both.dense, np.array([[[0, 1], [1, 0]]] * 2))
    union = GraphStack([first, second], vertices="union")
    assert union.vertex_names == ("a", "b", "c", "d")
    assert union[1][0].sum() == 0
    assert union[1][1, 2] == union[1][2, 3] == 1


def test_a_dictionary_names_the_graphs():
    stack = GraphStack({"sub-01": A[0], "sub-02": A[1]})
    assert stack.graph_names == ("sub-01", "sub-02")
    assert np.array_equal(stack["sub-02"], A[1])
    assert GraphStack(list(A), graph_names=(f"s{i}" for i in range(3))).graph_names[2] == "s2"


def test_storage_is_chosen_by_size_and_can_be_asked_for(monkeypatch):
    rng = np.random.default_rng(0)
    thin = rng.random((2, 50, 50)) < 0.01
    assert not GraphStack(list(thin)).is_sparse  # small: not worth converting
    monkeypatch.setattr("eigengraphs.stack.build._DENSE_IS_SMALL", 1000)
    assert GraphStack(list(thin)).is_sparse
    assert not GraphStack(list(rng.random((2, 50, 50)))).is_sparse
    assert GraphStack([nx.path_graph(100)]).is_sparse
    assert not GraphStack([nx.complete_graph(30)]).is_sparse
    assert GraphStack(thin, storage="sparse").is_sparse
    assert not GraphStack([sparse.csr_array(t) for t in thin], storage="dense").is_sparse


@pytest.mark.parametrize("make", [sparse.coo_array, sparse.csr_array])
def test_duplicates_are_summed_and_stored_zeros_do_not_count(make):
    if make is sparse.coo_array:
        matrix = make(([1.0, 2.0, 3.0, 0.0], ([0, 0, 1, 1], [1, 1, 0, 1])), shape=(2, 2))
    else:  # neither sorted nor summed
        matrix = make(([1.0, 2.0, 0.0, 3.0], [1, 1, 1, 0], [0, 2, 4]), shape=(2, 2))
    stack = GraphStack([matrix])
    assert np.array_equal(stack.to_dense().dense[0], [[0, 3], [3, 0]])
    assert not stack.is_directed
    assert stack.is_hollow
    assert stack.facts.n_nonzero[0] == 2
    assert matrix.nnz == 4  # the input is left alone


def test_a_stack_of_a_stack_can_be_named_and_kept_in_another_way():
    stack = GraphStack(A, graph_names=list("xyz"))
    other = GraphStack(stack, vertex_names=list("abcdef"), storage="sparse", dtype=np.float32)
    assert other.is_sparse
    assert other.dtype == np.float32
    assert other.graph_names == tuple("xyz")
    assert other.vertex_names == tuple("abcdef")
    # Names of a stack that has names give their order, as for any graphs with names.
    turned = GraphStack(other, vertex_names=list("fedcba"))
    assert np.array_equal(turned.to_dense().dense, other.to_dense().dense[:, ::-1, ::-1])
    assert turned.vertex_names == tuple("fedcba")
    assert np.shares_memory(GraphStack(stack).dense, stack.dense)
    with pytest.raises(AlignmentError, match="these graphs have none"):
        GraphStack(stack, vertices="union")


def test_copy_false_shares_the_array_and_copy_true_does_not():
    cube = A.copy()
    shared, own = GraphStack(cube, copy=False), GraphStack(cube)
    assert np.shares_memory(shared.dense, cube)
    assert not np.shares_memory(own.dense, cube)
    assert cube.flags.writeable  # the caller's array stays theirs


def test_numbers_in_arrays_of_objects_are_numbers():
    A = np.arange(8.0).reshape(2, 2, 2)
    A += A.transpose(0, 2, 1)
    for graphs in (A.astype(object), list(A.astype(object))):
        assert np.array_equal(GraphStack(graphs).dense, A)
    texts = A.astype(object)
    texts[0, 0, 0] = "0"  # float("0") would be a number; a text in a matrix is a mistake
    with pytest.raises(InputError, match="real numbers"):
        GraphStack(texts)


def test_what_turns_into_an_array_is_one():
    class Made:
        def __array__(self, dtype=None, copy=None):
            return np.ones((3, 2, 2), dtype=dtype)

    assert GraphStack(Made()).shape == (3, 2, 2)


@pytest.mark.parametrize("kind", ["networkx", "igraph", "mixed"])
def test_an_attribute_that_no_edge_has_is_refused(kind):
    graph = nx.Graph([(0, 1), (1, 2)])
    graph.edges[0, 1]["count"] = 3.0
    graphs = {
        "networkx": [nx.empty_graph(3), graph],
        "igraph": [igraph.Graph.from_networkx(g) for g in (nx.empty_graph(3), graph)],
        "mixed": [np.eye(3), graph],
    }[kind]
    with pytest.raises(InputError, match="no edge of any graph has the attribute weight='cuont'"):
        GraphStack(graphs, weight="cuont")
    with pytest.raises(InputError, match="they have: 'count'"):
        GraphStack(graphs, weight="cuont")
    if kind != "igraph":  # which puts None on the edge without it
        assert GraphStack(graphs, weight="count")[1].tolist() == [[0, 3, 0], [3, 0, 1], [0, 1, 0]]
    assert not GraphStack(graphs).is_weighted  # the usual name may be absent
    assert GraphStack([nx.empty_graph(3)], weight="count").density == 0  # no edge, no mistake


def test_a_number_and_a_text_are_not_one_vertex():
    graph = nx.Graph([(0, "0"), ("0", 1)])
    frame = pd.DataFrame(np.eye(2), index=[0, "0"], columns=[0, "0"])
    other = igraph.Graph(n=2)
    other.vs["name"] = [0, "0"]
    for one in (graph, frame, other):
        with pytest.raises(AlignmentError, match="0 and '0' have the same text"):
            GraphStack([one])
    numbers, texts = nx.Graph([(0, 1)]), nx.Graph([("0", "1")])
    assert GraphStack([numbers, texts]).vertex_names == ("0", "1")  # names are texts


def test_igraph_keeps_the_names_of_networkx():
    graph = nx.Graph([("c", "a"), ("a", "b")])
    stack = GraphStack([nx.Graph([("a", "b"), ("b", "c")]), igraph.Graph.from_networkx(graph)])
    assert stack.vertex_names == ("a", "b", "c")
    assert stack[1].tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]


EDGES = {
    "from": [3, 1, 2, 1, 2],
    "to": [1, 2, 2, 3, 10],
    "year": [2001, 2001, 2001, 1999, 1999],
    "kg": [1.5, 2.0, 3.0, 4.0, 5.0],
}
COLUMNS = {"source": "from", "target": "to", "graph": "year", "weight": "kg"}


def as_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, as_polars])
def test_a_table_of_edges_is_what_networkx_makes_of_it(kind):
    stack = GraphStack.from_edges(kind(EDGES), **COLUMNS)
    assert stack.graph_names == ("2001", "1999")  # as they come
    assert stack.vertex_names == ("1", "2", "3", "10")
    frame = pd.DataFrame(EDGES)
    for name, edges in frame.groupby("year"):
        graph = nx.from_pandas_edgelist(edges, "from", "to", "kg")
        graph.add_nodes_from([1, 2, 3, 10])
        expected = GraphStack([graph], weight="kg", vertex_names=stack.vertex_names)
        assert np.array_equal(stack[str(name)], expected[0])
    directed = GraphStack.from_edges(kind(EDGES), **COLUMNS, directed=True)
    assert np.array_equal(directed["1999"] + directed["1999"].T, stack["1999"])
    names = ["10", "x", "3", "2", "1"]
    wide = GraphStack.from_edges(kind(EDGES), **COLUMNS, vertex_names=names)
    assert np.array_equal(wide.select_vertices(stack.vertex_names).dense, stack.dense)
    assert not wide.dense[:, 1].any()


def test_edges_of_a_table_once_twice_and_in_both_directions():
    rows = {"source": ["a", "a", "b"], "target": ["b", "b", "c"]}
    (graph,) = GraphStack.from_edges(rows, graph=None)
    assert graph.tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]  # two rows, two edges
    rows = {"source": ["a", "b", "c"], "target": ["b", "a", "c"], "weight": [4, 4, 2]}
    (graph,) = GraphStack.from_edges(rows, graph=None)
    assert graph.tolist() == [[0, 4, 0], [4, 0, 0], [0, 0, 2]]
    rows["weight"] = [4, 5, 2]
    with pytest.raises(InputError, match="from 'a' to 'b' has another weight than its reverse"):
        GraphStack.from_edges(rows, graph=None)
    rows["weight"] = [np.nan, np.nan, 2]
    assert GraphStack.from_edges(rows, graph=None, missing="unobserved").n_hidden == 2
    mixed = {"source": [1.0, 2], "target": [2, 3]}
    assert GraphStack.from_edges(mixed, graph=None).vertex_names == ("1", "2", "3")
    large = {"source": [2**60, 2**60 + 1], "target": [5, 5], "weight": [1e300, 1.0]}
    stack = GraphStack.from_edges(large, graph=None)
    assert stack.vertex_names == ("5", str(2**60), str(2**60 + 1))
    assert stack[0][0].tolist() == [0, 1e300, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": "g"}, r"no column 'g' for weight=; columns are: \['from', 'to', 'year', 'kg'"),
        ({"source": "start"}, "no column 'start' for source="),
        ({"vertex_names": ["1", "2"]}, "vertex_names must name every vertex; missing: '3', '10'"),
        ({"graph": "hole"}, r"row 1 of the edges has no graph \('hole'\)"),
        ({"target": "mixed"}, "source and target mix numbers and texts"),
        ({"weight": "mixed"}, "weight='mixed' must be a column of numbers"),
        ({"target": "short"}, "expected columns of equal length"),
    ],
)
def test_a_table_of_edges_that_does_not_fit_is_refused(change, message):
    more = {"hole": [1, None, 1, 2, 2], "mixed": ["1", "2", "2", "3", "10"], "short": [1]}
    with pytest.raises(InputError, match=message):
        GraphStack.from_edges({**EDGES, **more}, **{**COLUMNS, **change})
