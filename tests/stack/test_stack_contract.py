"""What every stack does, wherever its graphs are: in memory, in blocks, in a store on disk."""

import copy
import pickle

import numpy as np
import pytest
from blocked_graphs import InBlocks
from scipy import sparse
from sklearn.model_selection import KFold, train_test_split

from eigengraphs import GraphStack, open_store
from eigengraphs.errors import InputError
from eigengraphs.stack import blocked as lazy
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.store import write_store

M, N = 11, 6
NAMES = [f"sub-{i}" for i in range(M)]
VERTICES = ["a", "b", "ç", "d", "東", "f"]


def correlations(directed, seed=3):
    """Graphs of weights within (-1, 1), some absent, with loops; graph 4 has no edge at all."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(-0.9, 0.9, (M, N, N)) * (rng.random((M, N, N)) < 0.6)
    if not directed:
        A = np.triu(A) + np.triu(A, 1).transpose(0, 2, 1)
    A[4] = 0
    return A


KINDS = [
    f"{where}-{form}-{direction}"
    for where in ("memory", "blocks", "stored")
    for form in ("dense", "sparse")
    for direction in ("undirected", "directed")
]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the graphs in memory and, where they are stored, their store, by kind; made once."""
    folder, known = tmp_path_factory.mktemp("stores"), {}

    def make(kind):
        if kind not in known:
            A = correlations(kind.endswith("-directed"))
            plain = GraphStack(A, graph_names=NAMES, vertex_names=VERTICES)
            plain = plain.to_sparse() if "sparse" in kind else plain
            path = folder / f"{kind}.egs"
            if kind.startswith("stored"):
                blocks = [plain[:3], plain[3:10], plain[10:]]
                write_store(path, blocks, shard_bytes=2 * N * N * 8)
            known[kind] = plain, path
        return known[kind]

    return make


@pytest.fixture
def plain(kind, made):
    """Return the graphs in memory."""
    return made(kind)[0]


@pytest.fixture
def A(kind):
    """Return the graphs as an array."""
    return correlations(kind.endswith("-directed"))


@pytest.fixture
def stack(kind, made, monkeypatch):
    plain, path = made(kind)
    if kind.startswith("memory"):
        return plain
    if kind.startswith("blocks"):
        return InBlocks(plain, 4)
    monkeypatch.setattr(lazy, "_MOST", 5 * N * N * 8)  # bytes: several blocks, some of two shards
    return open_store(path, memory=2**20)


def same(found, expected):
    """Assert that two stacks tell the same of themselves and hold the same graphs."""
    assert repr(found) == repr(expected)
    assert found.shape == expected.shape
    assert len(found) == found.n_graphs == expected.n_graphs
    assert found.dtype == expected.dtype
    assert found.is_sparse == expected.is_sparse
    assert found.graph_names == expected.graph_names
    assert found.vertex_names == expected.vertex_names
    assert found.has_vertex_names == expected.has_vertex_names
    for name in ("norm", "off_norm", "n_nonzero", "n_loops", "diagonal_low", "diagonal_high",
                 "is_binary", "is_symmetric", "first_bad"):  # fmt: skip
        ours, theirs = getattr(found.facts, name), getattr(expected.facts, name)
        assert ours.dtype == theirs.dtype
        # A norm that was found when the graphs were dense was added up in another order.
        assert np.allclose(ours, theirs, rtol=1e-14 if "norm" in name else 0, atol=0), name
    assert found.nbytes == expected.nbytes
    assert np.array_equal(array(found), array(expected))


def array(stack):
    return np.stack([one(graph) for graph in stack])


def one(graph):
    return graph.toarray() if sparse.issparse(graph) else graph


def test_it_tells_the_same_of_itself(stack, plain, kind, A):
    assert isinstance(stack, GraphStack)
    assert isinstance(stack, BlockedStack) != kind.startswith("memory")
    same(stack, plain)
    assert stack._repr_html_() == plain._repr_html_()
    assert np.array_equal(array(stack), A)
    assert np.array_equal(stack.diagonals(), np.einsum("iss->is", A))
    assert np.array_equal(stack[2:9].log1p().diagonals(), plain[2:9].log1p().diagonals())
    for what in ("is_directed", "is_weighted", "is_hollow", "constant_diagonal", "density", "ndim",
                 "mask", "has_missing", "n_hidden"):  # fmt: skip
        assert getattr(stack, what) == getattr(plain, what)


def test_blocks_are_all_graphs_in_order(stack, plain):
    if not isinstance(stack, BlockedStack):
        return
    assert len(stack.spans) > 1
    assert [lo for lo, _ in stack.spans] == [0, *[hi for _, hi in stack.spans[:-1]]]
    for block in stack.blocks():
        assert type(block.graphs) is GraphStack
        same(block.graphs, plain[block.lo : block.hi])


def test_one_graph(stack, plain, A):
    for i, place in ((0, 0), (4, 4), (-1, -1), (np.int64(7), 7), ("sub-9", 9)):
        assert np.array_equal(one(stack[i]), A[place])
        assert type(stack[i]) is type(plain[i])
        assert np.array_equal(one(stack[i, ...]), A[place])


CHOICES = [
    slice(1, 6), slice(None), slice(None, None, 3), slice(None, None, -1), [3, 1], [2, 2, 0],
    [0, 9, 10], np.array([5, -9, 2]), np.arange(M) % 3 == 1, [False, True] * 5 + [True], range(2),
    ["sub-4", "sub-10"], ["sub-7", "sub-0"],
]  # fmt: skip


@pytest.mark.parametrize("which", CHOICES, ids=str)
def test_some_graphs(stack, plain, which, A):
    named = isinstance(which, list) and isinstance(which[0], str)
    places = np.array([NAMES.index(name) for name in which]) if named else which
    fresh = GraphStack(A[places if isinstance(which, slice) else np.asarray(places)])
    assert np.array_equal(array(stack[which]), fresh.dense)
    assert np.allclose(stack[which].facts.norm, fresh.facts.norm)
    assert np.array_equal(stack[which].facts.n_nonzero, fresh.facts.n_nonzero)
    same(stack[which], plain[which])
    assert repr(stack[which, ...]) == repr(plain[which])


def test_some_of_some_graphs(stack, plain):
    same(stack[2:][::2][[0, 2]], plain[2:][::2][[0, 2]])
    same(stack[np.arange(M) != 4][[True, False] * 5], plain[np.arange(M) != 4][[True, False] * 5])


BAD = [
    (M, "graph 11 does not exist; there are 11"),
    ([0, 70], "graph 70 does not exist"),
    ("sub-99", "no graph is called 'sub-99'"),
    (["sub-1", "x"], "no graph is called 'x'"),
    ((0, 1), "indexed by graph only.*select_vertices"),
    ([True, False], "a mask must have one entry per graph, 11; got 2"),
    (slice(0, 0), "holds no graph"),
    ([], "holds no graph"),
    ([0.5], "chosen by index or name.*numbers of type float64"),
    ([[0, 1]], r"an array of shape \(1, 2\)"),
    (None, "got None"),
    (1.0, "got 1.0"),
    (slice("a", "c"), "chosen by index or name"),
]


def test_bad_indices(stack):
    for which, text in BAD:
        with pytest.raises(InputError, match=text) as caught:
            stack[which]
        if "graph 11" in text or "graph 70" in text or "a mask" in text:
            assert isinstance(caught.value, IndexError)


TRANSFORMS = {
    "log1p": lambda s: s.log1p(),
    "signed_log1p": lambda s: s.signed_log1p(),
    "fisher_z": lambda s: s.fisher_z(),
    "rank": lambda s: s.rank(),
    "signed_rank": lambda s: s.signed_rank(),
    "unit_norm": lambda s: s.unit_norm(),
    "laplacian": lambda s: s.laplacian(),
    "binarize": lambda s: s.binarize(),
    "binarize above": lambda s: s.binarize(0.25),
    "drop_loops": lambda s: s.drop_loops(),
    "mean": lambda s: s.symmetrize(),
    "max": lambda s: s.symmetrize("max"),
    "sum": lambda s: s.symmetrize("sum"),
    "vertices": lambda s: s.select_vertices([4, 0, -1]),
    "vertices by name": lambda s: s.select_vertices(["東", "a"]),
    "order": lambda s: s.in_order_of(VERTICES[::-1]),
    "same order": lambda s: s.in_order_of(VERTICES),
    "float32": lambda s: s.astype(np.float32),
    "float64": lambda s: s.astype(np.float64),
    "dense": lambda s: s.to_dense(),
    "sparse": lambda s: s.to_sparse(),
    "graph names": lambda s: s.with_names(graph_names=[f"g{i}" for i in range(M)]),
    "vertex names": lambda s: s.with_names(vertex_names=list("uvwxyz")),
    "made again": lambda s: GraphStack(s, dtype=np.float32, storage="sparse"),
    "one after the other": lambda s: (
        s.with_names(vertex_names=list("uvwxyz"), graph_names=[str(-i) for i in range(M)])
        .drop_loops()[1:]
        .to_sparse()
        .select_vertices(["w", "u", "y"])
        .symmetrize("max")
        .astype(np.float32)[[1, 3, 8]]
        .to_dense()
        .select_vertices([0, 2])
        .rank()
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(stack, plain, name):
    same(TRANSFORMS[name](stack), TRANSFORMS[name](plain))
    assert repr(stack) == repr(plain)  # as it was


def test_what_a_graph_lacks_is_hidden(stack, plain):
    for change in (
        lambda s: s.among([*VERTICES, "new"]),
        lambda s: s.hide(np.eye(N, k=1, dtype=bool)),
    ):
        found, expected = change(stack), change(plain)
        assert repr(found) == repr(expected)
        assert found.n_hidden == expected.n_hidden > 0
        assert found.mask == expected.mask


def test_bad_transforms(stack):
    for change, text in (
        (lambda s: s.symmetrize("median"), "how must be"),
        (lambda s: s.binarize("a"), "threshold must be a number"),
        (lambda s: s.to_sparse().binarize(-1), "every absent edge of a sparse stack"),
        (lambda s: s.astype(int), "dtype must be"),
        (lambda s: s.astype("foo"), "dtype must be"),
        (lambda s: s.select_vertices(["q"]), "no vertex is called 'q'"),
        (lambda s: s.select_vertices([1, 1]), "more than once"),
        (lambda s: s.in_order_of(["a"]), "only in one of the two"),
        (lambda s: s.with_names(graph_names=["x"]), "must hold 11 names, got 1"),
        (lambda s: s.with_names(vertex_names=["x"] * N), "must be unique"),
    ):
        with pytest.raises(InputError, match=text):
            change(stack)


def test_arrays_come_from_dense_stacks(stack, plain):
    if stack.is_sparse:
        with pytest.raises(InputError, match="this stack is sparse"):
            np.asarray(stack)
        assert np.array_equal(stack.flat.toarray(), plain.flat.toarray())
    else:
        assert np.array_equal(np.asarray(stack), plain.dense)
        with pytest.raises(InputError, match="this stack is dense"):
            _ = stack.flat


def test_nothing_can_be_changed(stack):
    with pytest.raises(AttributeError, match="cannot be changed"):
        stack.graph_names = ()
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del stack._vertex_names
    copies = (pickle.loads(pickle.dumps(stack)), copy.copy(stack), copy.deepcopy(stack))
    for graphs in (stack, stack[2:5], stack.drop_loops(), *copies):
        data = graphs.flat.data if graphs.is_sparse else graphs.dense
        with pytest.raises(ValueError, match="read-only"):
            data[0] = 1.0
        graph = graphs[0].data if graphs.is_sparse else graphs[0]
        with pytest.raises(ValueError, match="read-only"):
            graph[0] = 1.0


def test_pickles_and_copies(stack, plain):
    for made, expected in ((stack, plain), (stack[1:9:2].log1p(), plain[1:9:2].log1p())):
        for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
            same(other, expected)


def test_scikit_learn_takes_samples(stack, plain):
    train, test, y_train, y_test = train_test_split(stack, np.arange(M), random_state=0)
    same(train, plain[y_train])
    same(test, plain[y_test])
    for train, test in KFold(3).split(stack):
        same(stack[train], plain[train])
        same(stack[test], plain[test])


def test_it_says_which_graph_has_a_direction(stack, plain, kind):
    if kind.endswith("-directed"):
        with pytest.raises(InputError, match=r"'sub-0'.* is not symmetric"):
            stack.require_undirected("so")
    else:
        stack.require_undirected("so")
    stack.require_complete("so")
