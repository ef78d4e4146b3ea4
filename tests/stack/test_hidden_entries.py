"""Hidden entries: the mask, where it comes from, what carries it; nothing takes it for data."""

import copy
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from known_graphs import random_symmetric, stored
from scipy import sparse
from tests.stack.test_construction import as_igraph, as_networkx

from eigengraphs import GraphStack
from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.stack.graph_facts import find_facts

M, N = 5, 9


def seen_entries(symmetric=True, seed=0):
    """Which entries are observed, (m, n, n): some vertices absent, some entries hidden."""
    rng = np.random.default_rng(seed)
    gone = rng.random((M, N, N)) < 0.2
    if symmetric:
        gone |= gone.transpose(0, 2, 1)
    there = rng.random((M, N)) < 0.8
    there[3] = False  # a graph without anything
    gone[1], there[1] = False, True  # and a complete one
    gone[2, 4] = gone[2, :, 4] = True  # a vertex that is absent, said entry by entry
    return ~gone & there[:, :, None] & there[:, None, :]


def flat(places):
    return sparse.csr_array(places.reshape(-1, places.shape[-1]))


def values(graphs):
    """A stack as an array, nan where it is hidden."""
    return np.asarray(graphs.to_dense())


def same(found, expected):
    return np.array_equal(values(found), expected, equal_nan=True)


@pytest.fixture
def graphs(storage):
    """A stack with hidden entries, and the array that it is."""
    A = np.where(seen_entries(), random_symmetric(M, N, seed=1, density=0.6), np.nan)
    stack = GraphStack(
        A, missing="unobserved", graph_names=list("vwxyz"), vertex_names=list("abcdefghi")
    )
    return stored(stack, storage), A


# ---------------------------------------------------------------------- where it comes from


def with_nan():
    A = random_symmetric(1, 4, seed=3)[0]
    A[0, 2] = A[2, 0] = A[3, 3] = np.nan
    return A


KINDS = {
    "array": lambda A: A,
    "float32": lambda A: A.astype(np.float32),
    "nested lists": lambda A: A.tolist(),
    "masked array": lambda A: np.ma.masked_invalid(A),
    "masked by hand": lambda A: np.ma.masked_array(np.nan_to_num(A, nan=7.0), np.isnan(A)),
    "frame": lambda A: pd.DataFrame(A),
    "nullable frame": lambda A: pd.DataFrame(A).convert_dtypes(),
    "csr": lambda A: sparse.csr_array(A),
    "coo": lambda A: sparse.coo_matrix(A),
    "networkx": lambda A: as_networkx(A, range(4)),
    "igraph": as_igraph,
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_missing_entries(kind, storage):
    A = with_nan()
    stack = GraphStack([KINDS[kind](A)] * 2, missing="unobserved", storage=storage)
    assert stack.has_missing
    assert stack.n_hidden == 6
    assert np.array_equal(stack.mask.toarray()[0], ~np.isnan(A))
    assert np.allclose(values(stack)[1], A, equal_nan=True)
    raw = stack.to_dense().dense[0]
    assert np.allclose(raw, np.nan_to_num(A))
    what = "masked" if "masked" in kind else "nan at entry"
    with pytest.raises(InputError, match=rf"{what}.*or pass missing='unobserved'"):
        GraphStack([KINDS[kind](A)])


def test_an_array_of_graphs_is_not_changed():
    A = random_symmetric(2, 4, seed=0)
    A[1, 0, 3] = A[1, 3, 0] = np.nan
    before = A.copy()
    for share in (True, False):
        stack = GraphStack(A, missing="unobserved", copy=not share)
        assert stack.dense[1, 0, 3] == 0
        assert np.array_equal(A, before, equal_nan=True)
    with pytest.raises(ValueError, match="read-only"):
        stack.dense[0, 0, 0] = 1


def test_flat_matrices():
    A = np.array([with_nan()] * 2)
    stack = GraphStack.from_flat(flat(A), 2, missing="unobserved")
    assert same(stack, A)
    with pytest.raises(InputError, match="missing='unobserved'"):
        GraphStack.from_flat(flat(A), 2)


def test_complete_graphs_have_no_mask_and_are_read_once(monkeypatch, storage):
    A = random_symmetric(3, 5, seed=0)
    reads = []
    for module in ("mask", "stack"):
        monkeypatch.setattr(
            f"eigengraphs.stack.{module}.find_facts", lambda A: reads.append(1) or find_facts(A)
        )
    stack = GraphStack(A, missing="unobserved", storage=storage)
    assert stack.mask is None
    assert not stack.has_missing
    assert stack.n_hidden == 0
    assert len(reads) == 1
    assert repr(stack) == repr(GraphStack(A, storage=storage))


def test_infinite_entries_are_refused_all_the_same(storage):
    A = np.array([with_nan()] * 2)
    A[1, 1, 2] = A[1, 2, 1] = -np.inf
    with pytest.raises(InputError, match=r"graphs\[1\] has -inf at entry \(1, 2\)") as caught:
        GraphStack(A, missing="unobserved", storage=storage)
    assert "unobserved" not in str(caught.value)


def test_other_words_for_missing_are_refused():
    with pytest.raises(InputError, match="missing must be 'error' or 'unobserved', got"):
        GraphStack([np.eye(3)], missing="ignore")


def test_the_known_side_of_an_undirected_pair_stands_for_both(storage):
    A = random_symmetric(2, 4, seed=0)
    expected = A.copy()
    A[0, 0, 1] = A[0, 2, 3] = A[0, 3, 2] = A[1, 3, 0] = np.nan
    expected[0, 2, 3] = expected[0, 3, 2] = np.nan
    stack = GraphStack(A, missing="unobserved", storage=storage)
    assert same(stack, expected)
    assert not stack.is_directed


def test_directed_graphs_hide_one_side(storage):
    A = np.random.default_rng(0).random((2, 4, 4))
    A[1] += A[1].T
    A[0, 0, 1] = A[1, 0, 1] = np.nan
    expected = A.copy()
    expected[1, 0, 1] = A[1, 1, 0]
    stack = GraphStack(A, missing="unobserved", storage=storage)
    assert same(stack, expected)
    assert np.array_equal(stack.facts.is_symmetric, [False, True])
    with pytest.raises(InputError, match=r"graphs\[0\] is directed: it hides entries"):
        stack.require_undirected("do something")


def test_vertices_that_a_graph_lacks_in_a_union(storage):
    frames = [pd.DataFrame(np.ones((len(x), len(x))), list(x), list(x)) for x in ("abc", "cbd")]
    stack = GraphStack(frames, vertices="union", missing="unobserved", storage=storage)
    assert stack.vertex_names == tuple("abcd")
    there = np.array([[1, 1, 1, 0], [0, 1, 1, 1]], dtype=bool)
    assert np.array_equal(stack.mask.present, there)
    assert stack.mask.hidden.nnz == 0
    assert stack.n_hidden == 14
    assert stack.density == 1
    assert stack.constant_diagonal == 1
    # A DataFrame states every pair of its vertices, and nothing about others.
    message = r"graphs\[0\] is a matrix that lacks 1 of the 4 vertices \('d'\).*'unobserved'"
    with pytest.raises(AlignmentError, match=message):
        GraphStack(frames, vertices="union", storage=storage)
    edges = [nx.from_pandas_adjacency(frame) for frame in frames]
    isolated = GraphStack(edges, vertices="union", storage=storage)
    assert isolated.mask is None
    assert isolated.density == 0.5
    frames[0].loc["a", "b"] = frames[0].loc["b", "a"] = np.nan
    stack = GraphStack(frames, vertices="union", missing="unobserved", storage=storage)
    assert stack.n_hidden == 16
    with pytest.raises(AlignmentError, match="have none"):
        GraphStack([np.eye(2)], vertices="union", missing="unobserved")


def test_networkx_graphs_in_a_union():
    one, two = nx.path_graph(3), nx.path_graph(4)
    stack = GraphStack([one, two], vertices="union", missing="unobserved")
    assert np.array_equal(stack.mask.present, [[1, 1, 1, 0], [1, 1, 1, 1]])


# ---------------------------------------------------------------------- what carries it


def test_one_graph_shows_nan_where_it_is_hidden(graphs):
    stack, A = graphs
    for i in range(M):
        graph = stack[i]
        assert sparse.issparse(graph) == stack.is_sparse
        graph = graph.toarray() if stack.is_sparse else graph
        assert np.array_equal(graph, A[i], equal_nan=True)
    again = GraphStack(list(stack), missing="unobserved")
    assert same(again, A)
    with pytest.raises(InputError, match="nan at entry"):
        GraphStack(list(stack))
    with pytest.raises(ValueError, match="only by a copy"):
        np.asarray(stack.to_dense(), copy=False)


@pytest.mark.parametrize(
    "which",
    [slice(1, 4), [3, 1], np.arange(5) % 2 == 0, ["w", "v"], slice(None, None, -1)],
    ids=str,
)
def test_slices(graphs, which):
    stack, A = graphs
    chosen = [1, 0] if isinstance(which, list) and which == ["w", "v"] else which
    part = stack[which]
    assert same(part, A[chosen])
    fresh = GraphStack(A[chosen], missing="unobserved")
    for fact in ("norm", "off_norm", "n_nonzero", "n_loops", "is_binary", "is_symmetric"):
        assert np.allclose(getattr(part.facts, fact), getattr(fresh.facts, fact)), fact
    assert part.mask == fresh.mask
    assert stack[1:2].mask is None  # the complete one


def test_vertices_are_chosen_and_put_in_order(graphs):
    stack, A = graphs
    keep = [7, 2, 4, 0]
    assert same(stack.select_vertices(keep), A[:, keep][:, :, keep])
    order = np.random.default_rng(0).permutation(N)
    names = [stack.vertex_names[s] for s in order]
    assert same(stack.in_order_of(names), A[:, order][:, :, order])
    assert same(GraphStack(stack, vertex_names=names), A[:, order][:, :, order])


def test_changes_of_form_keep_the_mask(graphs):
    stack, A = graphs
    others = [
        stack.to_dense(),
        stack.to_sparse(),
        stack.with_names(graph_names=list("stuvw")),
        GraphStack(stack),
        GraphStack(stack, missing="unobserved", storage="sparse"),
        pickle.loads(pickle.dumps(stack)),
        copy.deepcopy(stack),
    ]
    for other in others:
        assert same(other, A)
        assert other.mask == stack.mask
        assert other.n_hidden == np.isnan(A).sum()
    small = stack.astype(np.float32)
    assert small.dtype == np.float32
    assert np.allclose(values(small), A, equal_nan=True)


def test_entries_change_and_hidden_ones_stay_hidden(graphs):
    stack, A = graphs
    assert np.allclose(values(stack.symmetrize("max")), A, equal_nan=True)
    positive = GraphStack(np.abs(A), missing="unobserved")
    assert np.allclose(values(positive.log1p()), np.log1p(np.abs(A)), equal_nan=True)
    found = stack.binarize(0.3)
    assert np.array_equal(values(found), np.where(np.isnan(A), np.nan, A > 0.3), equal_nan=True)
    assert not found.is_weighted


def test_a_threshold_below_zero_makes_no_edges_of_hidden_entries(graphs):
    stack, A = graphs
    found = stack.to_dense().binarize(-0.5)
    assert np.array_equal(values(found), np.where(np.isnan(A), np.nan, A > -0.5), equal_nan=True)
    assert not found.dense[np.isnan(A)].any()


def test_dropped_loops_are_known(graphs):
    stack, A = graphs
    expected = A.copy()
    i, s = np.nonzero(~np.isnan(A).all(axis=2))  # vertices that are there
    expected[i, s, s] = 0
    found = stack.drop_loops()
    assert same(found, expected)
    assert found.constant_diagonal == 0


@pytest.mark.parametrize("how", ["mean", "max", "min", "sum"])
def test_symmetrizing_with_one_side_hidden(storage, how):
    A = np.random.default_rng(1).random((3, 6, 6)) - 0.5
    A[np.random.default_rng(2).random(A.shape) < 0.3] = np.nan
    A[0, 3] = A[0, :, 3] = np.nan
    stack = stored(GraphStack(A, missing="unobserved"), storage)
    assert stack.is_directed
    mirror = A.transpose(0, 2, 1)
    expected = {
        "mean": (A + mirror) / 2, "max": np.maximum(A, mirror), "min": np.minimum(A, mirror),
        "sum": A + mirror,
    }[how]  # fmt: skip
    if how != "sum":
        expected = np.where(np.isnan(A), mirror, np.where(np.isnan(mirror), A, expected))
    found = stack.symmetrize(how)
    assert np.allclose(values(found), expected, equal_nan=True)
    assert not found.is_directed
    assert not found.to_dense().dense[np.isnan(expected)].any()


# ---------------------------------------------------------------------- hiding more


@pytest.mark.parametrize("form", ["all", "each", "sparse", "flat"])
def test_hiding_pairs(graphs, form):
    stack, A = graphs
    rng = np.random.default_rng(5)
    pairs = np.triu(rng.random((M, N, N) if form in ("each", "flat") else (N, N)) < 0.2)
    given = pairs
    if form == "sparse":
        given = sparse.coo_array(pairs)
    if form == "flat":
        given = flat(pairs)
    hidden = pairs | np.swapaxes(pairs, -1, -2)  # a pair has no direction
    expected = np.where(hidden, np.nan, A)
    found = stack.hide(given)
    assert same(found, expected)
    assert np.array_equal(found.mask.toarray(), ~np.isnan(expected))
    assert found.graph_names == stack.graph_names
    fresh = GraphStack(expected, missing="unobserved")
    assert found.mask == fresh.mask
    assert np.allclose(found.facts.norm, fresh.facts.norm)
    assert same(stack, A)


def test_hiding_entries_of_directed_graphs(storage):
    A = np.random.default_rng(0).random((2, 5, 5))
    A[1] += A[1].T
    stack = stored(GraphStack(A), storage)
    pairs = np.zeros((5, 5), dtype=bool)
    pairs[0, 3] = True
    expected = A.copy()
    expected[:, 0, 3] = expected[1, 3, 0] = np.nan
    assert same(stack.hide(pairs), expected)


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        (np.eye(3), "must be an array of bool.*got dtype float64"),
        (np.ones((2, 3), dtype=bool), r"must have shape \(3, 3\), .* or \(2, 3, 3\); got \(2, 3\)"),
        (sparse.csr_array((4, 3)), r"got \(4, 3\)"),
    ],
)
def test_bad_pairs(pairs, text):
    with pytest.raises(InputError, match=text):
        GraphStack(np.ones((2, 3, 3))).hide(pairs)


# ---------------------------------------------------------------------- what is said of it


def test_facts_are_of_what_is_observed(graphs):
    stack, A = graphs
    known = np.nan_to_num(A)
    off = known * (1 - np.eye(N))
    assert np.allclose(stack.facts.norm, np.linalg.norm(known, axis=(1, 2)))
    assert np.allclose(stack.facts.off_norm, np.linalg.norm(off, axis=(1, 2)))
    seen = ~np.isnan(A) & ~np.eye(N, dtype=bool)
    assert stack.density == pytest.approx((off != 0).sum() / seen.sum())
    assert not stack.is_directed
    assert f"{100 * np.isnan(A).mean():.3g} % hidden" in repr(stack)
    assert "% hidden" in stack._repr_html_()
    plain = GraphStack(known, storage="sparse" if stack.is_sparse else "dense")
    assert stack.nbytes == plain.nbytes + stack.mask.nbytes
    assert plain.mask is None


def test_a_diagonal_is_constant_where_it_is_observed(storage):
    A = np.ones((2, 3, 3))
    A[0, 1, 1] = np.nan
    assert stored(GraphStack(A, missing="unobserved"), storage).constant_diagonal == 1
    A[0, 0, 0] = 2
    assert stored(GraphStack(A, missing="unobserved"), storage).constant_diagonal is None
    A[:, range(3), range(3)] = np.nan
    assert stored(GraphStack(A, missing="unobserved"), storage).constant_diagonal == 0


def test_what_cannot_do_without_an_entry_says_so():
    stack = GraphStack(np.ones((2, 3, 3))).hide(np.eye(3, dtype=bool))
    text = r"6 entries are hidden, most of them \(3\) in graphs\[0\]; fill them"
    with pytest.raises(InputError, match=text):
        stack.require_complete("fill them")
    GraphStack(np.ones((2, 3, 3))).require_complete("fill them")
