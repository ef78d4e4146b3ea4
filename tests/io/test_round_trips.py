"""What is written is read back: values to all digits, names and isolated vertices exactly."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import eigengraphs as eg

ONE_FILE = ["npz", "mat", "parquet"]
FOLDER = ["csv", "tsv", "edgelist", "graphml"]

# Everything that is no control character, with what text files use for themselves.
_SIGNS = st.characters(exclude_categories=("Cc", "Cs", "Cn"), max_codepoint=0xFFFF)
_NAMES = st.one_of(
    st.text(_SIGNS, min_size=1, max_size=12),
    st.text(_SIGNS, min_size=60, max_size=150),
    st.integers(0, 200).map(str),
    st.sampled_from(["007", " a b ", "#1", "% x", "a,b", "a;b", "nan", "n/a", "i", "j", "vertex"]),
    st.sampled_from(
        ["=1+1", "@SUM(1)", "+cmd", "-1+2", "'=1", "''@x", "= 1", "＝1", "it's", "'q'"]
    ),
    st.sampled_from(["{1}", "x\u2028y", "'", "source", "target", "path", "id", "1.0", "1e5", "-3"]),
)
# Not of every size in one graph: what is nothing beside the largest weight has no direction.
_WEIGHTS = st.one_of(st.floats(1e-3, 1e3), st.floats(-1e3, -1e-3), st.integers(1, 999).map(float))


def matrices(n, directed):
    return st.lists(
        st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), _WEIGHTS), max_size=12
    ).map(lambda edges: _fill(n, edges, directed))


def _fill(n, edges, directed):
    A = np.zeros((n, n))
    for s, t, w in edges:
        A[s, t] = w
        if not directed:
            A[t, s] = w
    return A


@st.composite
def stacks(draw, forbidden=""):
    names = _NAMES.filter(lambda name: not set(name) & set(forbidden))
    n, m = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    directed = draw(st.booleans())
    scale = draw(st.sampled_from([1.0, 1.0, 1e-200, 1e22, 1e200]))
    graphs = [scale * draw(matrices(n, directed)) for _ in range(m)]
    vertex_names = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    graph_names = draw(st.lists(names, min_size=m, max_size=m, unique=True))
    storage = draw(st.sampled_from(["dense", "sparse"]))
    return eg.GraphStack(
        graphs, graph_names=graph_names, vertex_names=vertex_names, storage=storage
    )


def there_and_back(stack, kind, **settings):
    with tempfile.TemporaryDirectory() as folder:
        target = f"graphs.{kind}" if kind in [*ONE_FILE, "npy"] else "graphs"
        path = eg.io.write(stack, Path(folder) / target, kind)
        with warnings.catch_warnings():
            # A file of two or three vertices may be taken for an edge list, and says so.
            warnings.simplefilter("ignore", eg.errors.ReadNotice)
            back = eg.read(path, **settings)
        assert sorted(item.name for item in Path(folder).iterdir()) == [target]
    return back


def assert_same(back, stack):
    assert back.graph_names == stack.graph_names
    assert back.vertex_names == stack.vertex_names
    np.testing.assert_allclose(
        np.asarray(back.to_dense()), np.asarray(stack.to_dense()), rtol=1e-12
    )


@pytest.mark.parametrize("kind", [*ONE_FILE, *FOLDER])
@settings(max_examples=25)
@given(data=st.data())
def test_graphs_with_names_come_back(kind, data):
    # What a kind cannot hold is refused when it is written; see below.
    forbidden = {"graphml": "\ufffe\uffff"}.get(kind, "")
    stack = data.draw(stacks(forbidden))
    note(f"{stack.vertex_names}, {stack.graph_names}")
    assert_same(there_and_back(stack, kind), stack)


@pytest.mark.parametrize("kind", [*ONE_FILE, *FOLDER, "npy"])
def test_graphs_without_names_without_edges_and_with_arcs_on_one_side_come_back(kind):
    A = np.random.default_rng(5).gamma(1, 1, (3, 5, 5))
    edge, arcs = np.zeros((2, 3, 4, 4))
    edge[0, 1, 2] = edge[0, 2, 1] = 0.1
    arcs[:, 0, 1:] = [1.5, 2.5, 3.5]
    stacks = [eg.GraphStack(A + A.transpose(0, 2, 1))]
    if kind != "npy":  # which holds no names
        stacks += [
            eg.GraphStack(edge, vertex_names=list("dcba"), graph_names=["z", "y", "x"]),
            eg.GraphStack(arcs, vertex_names=list("abcd")),
        ]
    for stack in stacks:
        assert_same(there_and_back(stack, kind), stack)


@pytest.mark.parametrize("kind", [*ONE_FILE, *FOLDER])
def test_what_is_hidden_comes_back_hidden(kind):
    r = np.random.default_rng(3)
    A = r.gamma(1, 1, (2, 5, 5))
    A += A.transpose(0, 2, 1)
    A[1, 2, 3] = A[1, 3, 2] = np.nan
    stack = eg.GraphStack(A, vertex_names=list("abcde"), missing="unobserved")
    back = there_and_back(stack, kind, missing="unobserved")
    assert back.n_hidden == 2
    np.testing.assert_allclose(np.asarray(back), np.asarray(stack), rtol=1e-12)


@pytest.mark.parametrize("kind", ["npz", "mat"])
def test_sparse_graphs_stay_sparse(kind):
    graphs = eg.models.ErdosRenyi(60, 0.02).sample(3, random_state=0).to_sparse()
    back = there_and_back(graphs, kind)
    assert back.is_sparse
    assert_same(back, graphs)


def test_what_a_format_cannot_hold_is_refused_and_nothing_is_left(tmp_path):
    stack = eg.GraphStack(np.ones((2, 2, 2)), vertex_names=["a\nb", "c"])
    for kind in FOLDER:
        with pytest.raises(eg.errors.InputError, match="cannot hold"):
            eg.io.write(stack, tmp_path / "graphs", kind)
    with pytest.raises(eg.errors.InputError, match="holds no names"):
        eg.io.write(stack, tmp_path / "graphs.npy")
    emoji = eg.GraphStack(np.ones((1, 2, 2)), vertex_names=["\U0001f600", "b"])
    with pytest.raises(eg.errors.InputError, match="MATLAB"):
        eg.io.write(emoji, tmp_path / "graphs.mat")
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_fails_half_way_leaves_nothing(tmp_path, monkeypatch):
    stack = eg.datasets.load_mice().graphs[:3]
    calls = []

    def broken(self, i):
        calls.append(i)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(self, i)

    original = eg.GraphStack.__getitem__
    monkeypatch.setattr(eg.GraphStack, "__getitem__", broken)
    with pytest.raises(KeyboardInterrupt):
        eg.io.write(stack, tmp_path / "mice", "csv")
    assert list(tmp_path.iterdir()) == []


def test_an_older_file_is_replaced_and_a_folder_is_not(tmp_path):
    stack = eg.GraphStack(np.ones((1, 3, 3)))
    (tmp_path / "one.npz").write_text("old")
    assert eg.read(eg.io.write(stack, tmp_path / "one.npz")).n_graphs == 1
    for _ in range(2):  # the same once more, as after a kill, is no harm
        eg.io.write(stack, tmp_path / "many", "tsv")
    before = {path.name: path.read_bytes() for path in (tmp_path / "many").iterdir()}
    for other in (stack.with_names(graph_names=["a"]), eg.GraphStack(np.zeros((1, 3, 3)))):
        with pytest.raises(eg.errors.InputError, match="not empty"):
            eg.io.write(other, tmp_path / "many", "tsv")
    assert {path.name: path.read_bytes() for path in (tmp_path / "many").iterdir()} == before
    assert len(list(tmp_path.iterdir())) == 2


def test_one_graph_goes_into_one_file(tmp_path):
    mouse = eg.datasets.load_mice().graphs[:1]
    back = eg.read(eg.io.write(mouse, tmp_path / "sub-54776.csv"))
    assert_same(back, mouse)
    with pytest.raises(
        eg.errors.InputError, match=r"holds one graph, and there are 2.*format='csv'"
    ):
        eg.io.write(eg.datasets.load_mice().graphs[:2], tmp_path / "mice.csv")


def test_bad_requests_say_what_there_is(tmp_path):
    stack = eg.GraphStack(np.ones((1, 3, 3)))
    with pytest.raises(eg.errors.InputError, match=r"format= one of 'csv'"):
        eg.io.write(stack, tmp_path / "graphs")
    with pytest.raises(eg.errors.InputError, match="format='xlsx'"):
        eg.io.write(stack, tmp_path / "graphs", "xlsx")
    with pytest.raises(eg.errors.InputError, match="GraphStack"):
        eg.io.write(np.ones((1, 3, 3)), tmp_path / "graphs.npz")
    with pytest.raises(eg.errors.InputError, match="no folder"):
        eg.io.write(stack, tmp_path / "none" / "graphs.npz")
