"""Graphs of zeros and ones as bits, against NumPy and against the same graphs as numbers."""

import pickle

import numpy as np
import pytest
from known_graphs import random_directed, random_symmetric

from eigengraphs import GraphStack, JointEmbedding, open_store, select_dimension
from eigengraphs.graphs import bits, view
from eigengraphs.graphs.bit_kernels import NARROW, WIDE, WORD, multiply_words, table_rows
from eigengraphs.graphs.bits import mirrored, pack
from eigengraphs.graphs.blocked_products import Project
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.graphs.kernels import SCAN_FIELDS, scan_dense
from eigengraphs.graphs.masked_view import MaskedView
from eigengraphs.graphs.view import StackView, mean_graph
from eigengraphs.graphs.view_bits import BitProducts
from eigengraphs.graphs.view_dense import DenseProducts
from eigengraphs.graphs.word_kernels import column_counts, scan_words
from eigengraphs.scale import write_store

SIZES = [1, 2, 31, 32, 33, 64, 70, 131]  # fewer vertices than a word has bits, as many, and more


def drawn(m, n, dtype=np.float64, *, directed=True, hollow=False, seed=0):
    make = random_directed if directed else random_symmetric
    return (make(m, n, seed=seed, density=0.4, hollow=hollow) != 0).astype(dtype)


def written_out(A):
    """The words of graphs, by NumPy's own packing."""
    m, n, _ = A.shape
    padded = np.zeros((m, -(-n // WORD) * WORD, n), dtype=bool)
    padded[:, :n] = A != 0
    by_word = padded.reshape(m, -1, WORD, n).transpose(0, 1, 3, 2)
    return np.packbits(by_word, axis=3, bitorder="little").view("<u4")[..., 0]


@pytest.fixture
def all_in_bits(monkeypatch):
    """Bits for small graphs, too."""
    monkeypatch.setattr(bits, "_ROW_BYTES", 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_words_are_those_of_numpy(n, dtype):
    A = drawn(3, n, dtype)
    assert np.array_equal(pack(A), written_out(A))
    assert np.array_equal(mirrored(pack(A)), written_out(A.transpose(0, 2, 1)))
    assert np.array_equal(column_counts(pack(A)), A.sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("other", [2.0, -1.0, 0.5, 1 + 1e-6, 1e-30, 1e-45, -1e20, np.nan, np.inf])
def test_any_other_entry_is_seen_wherever_it_is(other, dtype):
    for place in [(0, 0), (3, 32), (34, 5), (32, 34), (31, 7), (34, 34)]:
        A = drawn(2, 35, dtype)
        A[1][place] = other
        assert pack(A) is None, place


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_facts_are_those_of_the_careful_scan(n, directed):
    A = drawn(5, n, directed=directed)
    A[1], A[2] = 0, 1
    A[3, range(n), range(n)] = 0
    A[4, range(n), range(n)] = 1
    found, expected = np.full((2, 5, len(SCAN_FIELDS)), np.nan)
    scan_words(pack(A), found)
    scan_dense(A, expected)
    assert np.array_equal(found, expected)


def test_every_single_entry_without_its_mirror_image_is_seen():
    n = 35
    A = np.tile(drawn(1, n, directed=False), (n * n, 1, 1))
    for place, graph in enumerate(A):
        graph[place // n, place % n] = 1 - graph[place // n, place % n]
    found = np.empty((len(A), len(SCAN_FIELDS)))
    scan_words(pack(A), found)
    asymmetry = found[:, SCAN_FIELDS.index("asymmetry")].reshape(n, n)
    assert (asymmetry == ~np.eye(n, dtype=bool)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("b", [1, 3, 8, 9, 16, 17, 40])
def test_products_are_those_of_numpy(b, n, dtype):
    rng = np.random.default_rng(1000 * n + b)
    A, BT = drawn(5, n, dtype), rng.standard_normal((b, n)).astype(dtype)
    exact, sizes = np.matmul(BT.astype(float), A.astype(float)), np.matmul(abs(BT), A)
    # A term goes through the sums of a table, those of a word in three steps, and that of words.
    roundings = 8 + 3 + n / WORD + 2
    products = BitProducts(A, pack(A))
    for lo, hi in [(0, 5), (1, 4), (2, 3)]:
        off = np.abs(products.times(BT, lo, hi) - exact[lo:hi])
        assert (off <= roundings * np.finfo(dtype).eps * sizes[lo:hi]).all()
    P = rng.standard_normal((3, b, n)).astype(dtype)
    assert np.allclose(
        products.times_each(P, 1, 4), np.matmul(P.astype(float), A[1:4]), atol=1e-4 * np.sqrt(n)
    )


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_graphs_that_are_multiplied_together_change_nothing(width):
    A, BT = drawn(7, 40, np.float32), np.ones((3, 40), dtype=np.float32)
    BT[1] = np.linspace(0, 1, 40)
    found = []
    for few in (1, 2, 7):
        rows = (64, table_rows(width), few * 40)
        scratch = [np.full((count, width // 4), np.nan, "f4") for count in rows]
        out = np.full((7, 3, 40), np.nan, "f4")
        multiply_words(pack(A), BT, *scratch, out)
        found.append(out)
    assert np.allclose(found[0], BT @ A, rtol=1e-6)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def asked(one, rng, m, n):
    """Everything that a solver asks of undirected graphs."""
    H, V, W = rng.standard_normal((n, 4)), rng.standard_normal((n, 19)), rng.random((m, 4))
    P = np.full((m, 19, n), np.nan, dtype=one.dtype)
    one.products(V, lambda lo, hi, part: P[lo:hi].__setitem__(slice(None), part))
    return [
        P, one.quadratic_forms(H), one.project(V, H), one.weighted_multiply(W, H),
        *one.sketch(V, np.where(rng.random(m) < 0.5, 0.0, 1.5)), one.squared_norms(),
    ]  # fmt: skip


def asked_of_directed(one, rng, m, n):
    """Everything that a solver asks of directed graphs."""
    H, G, W = rng.standard_normal((n, 4)), rng.standard_normal((n, 4)), rng.random((m, 4))
    sides = [np.full((m, b, n), np.nan, dtype=one.dtype) for b in (4, 3)]
    keep = [lambda lo, hi, P, side=side: side[lo:hi].__setitem__(slice(None), P) for side in sides]
    one.products(H, G[:, :3], *keep)
    pairs = (
        one.project(H, G, H, G), one.weighted_multiply(W, H, G),
        *one.sketch(H, rng.random(m)),
    )  # fmt: skip
    return [*sides, one.bilinear_forms(H, G), *(part for pair in pairs for part in pair)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("rule", ["observed", "filled", "hollow"])
@pytest.mark.parametrize("kind", ["undirected", "directed"])
def test_views_are_those_of_the_same_graphs_as_numbers(
    kind, rule, center, dtype, all_in_bits, monkeypatch
):
    m, n = 9, 40
    make, ask = {
        "undirected": (StackView, asked), "directed": (DirectedView, asked_of_directed)
    }[kind]  # fmt: skip
    answers = []
    for in_bits in (True, False):
        monkeypatch.setattr(bits, "_ROW_BYTES", 0 if in_bits else 2**30)
        stack = GraphStack(drawn(m, n, dtype, directed=kind == "directed"))
        assert (stack.words is not None) == in_bits
        mean = mean_graph(stack, np.arange(1.0, m + 1)) if center else None
        one = make(stack, rule, mean, scale=2.0)
        answers.append(ask(one, np.random.default_rng(1), m, n))
    tolerance = 1e-11 if dtype == np.float64 else 1e-4
    for found, expected in zip(*answers, strict=True):
        assert np.allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


def test_hidden_entries_are_zeros_as_bits(all_in_bits, monkeypatch):
    A = drawn(6, 40, directed=False)
    A[2, 3, 4] = A[2, 4, 3] = np.nan
    H = np.random.default_rng(0).standard_normal((40, 3))
    answers = []
    for least in (0, 2**30):
        monkeypatch.setattr(bits, "_ROW_BYTES", least)
        stack = GraphStack(A, missing="unobserved")
        assert (stack.words is not None) == (least == 0)
        answers.append(MaskedView(stack, "filled").products(H)[0])
    assert np.allclose(*answers, rtol=1e-12)


def test_which_stacks_have_bits(all_in_bits):
    A = drawn(4, 20, directed=False)
    stack = GraphStack(A)
    assert np.array_equal(stack.words, pack(A))
    assert GraphStack(2 * A).words is None
    assert stack.to_sparse().words is None
    mixed = A.copy()
    mixed[3, 0, 1] = mixed[3, 1, 0] = 0.5
    assert GraphStack(mixed).words is None
    assert np.array_equal(GraphStack(mixed)[:3].words, pack(A[:3]))  # found when they are asked for
    mixed[3, 0, 1] = mixed[3, 1, 0] = -0.0
    assert np.array_equal(GraphStack(mixed).words, pack(mixed))
    for places in (slice(1, 3), [3, 0], np.array([True, False, False, True])):
        assert np.array_equal(stack[places].words, pack(A[places]))
    for same in (
        GraphStack(stack),
        pickle.loads(pickle.dumps(stack)),
        stack.with_names(graph_names=list("abcd")),
    ):
        assert np.array_equal(same.words, stack.words)
    turned = stack.reorder(np.tile(np.arange(20)[::-1], (4, 1)))
    assert np.array_equal(turned.words, pack(A[:, ::-1, ::-1]))
    assert np.array_equal(stack.astype(np.float32).words, stack.words)


def test_small_graphs_have_none():
    assert GraphStack(drawn(4, 20)).words is None
    assert GraphStack(drawn(2, 255, np.float32)).words is None
    assert GraphStack(drawn(2, 256, np.float32)).words is not None
    assert GraphStack(drawn(2, 128)).words is not None


@pytest.mark.parametrize("settings", [{}, {"center": True}, {"diagonal": "unobserved"}])
def test_a_fit_is_that_of_the_same_graphs_as_numbers(settings, monkeypatch):
    rng = np.random.default_rng(3)
    groups = np.repeat([0, 1], 70)
    A = np.empty((12, 140, 140))
    for graph in A:
        p = rng.uniform(0.1, 0.6, (2, 2))
        upper = np.triu(rng.random((140, 140)) < ((p + p.T) / 2)[np.ix_(groups, groups)])
        graph[:] = upper | upper.T
    by_bits = JointEmbedding(2, tol=1e-8, random_state=0, **settings).fit(A)
    asked_for = []
    monkeypatch.setattr(
        view, "dense_products", lambda stack: asked_for.append(stack) or DenseProducts(stack.dense)
    )
    by_numbers = JointEmbedding(2, tol=1e-8, random_state=0, **settings).fit(A)
    assert asked_for
    assert by_bits.converged_
    assert np.allclose(by_bits.loadings_, by_numbers.loadings_, rtol=1e-6)


def test_few_blocks_without_noise_converge_in_float32():
    rng = np.random.default_rng(2)
    blocks = np.eye(3)[rng.integers(3, size=600)]
    A = np.einsum("sk,ik,tk->ist", blocks, rng.random((6, 3)) < 0.6, blocks)
    for graphs in (A, 3 * A):
        fit = JointEmbedding(3, diagonal="observed", tol=1e-7, random_state=0)
        assert fit.fit(graphs.astype(np.float32)).converged_


def test_few_graphs_are_summed_up_in_their_type(monkeypatch):
    monkeypatch.setattr("eigengraphs.graphs.view_dense._CACHE_BYTES", 12 * 40 * 4 * 8)
    A = np.tile(drawn(1, 40, np.float32, directed=False), (600, 1, 1))
    products, dense = BitProducts(A, pack(A)), DenseProducts(A)
    assert [hi - lo for lo, hi in products.steps(0, 20)] == [8, 8, 4]
    assert list(products.steps(0, 20)) == list(dense.steps(0, 20))


def test_a_stack_in_blocks_has_the_bits_of_what_it_loads(all_in_bits, tmp_path):
    A = drawn(6, 40, directed=False)
    write_store(tmp_path / "graphs.egs", GraphStack(A))
    stored = open_store(tmp_path / "graphs.egs")
    assert np.array_equal(stored.words, pack(A))
    assert np.array_equal(stored[2:4].words, pack(A[2:4]))
    assert np.array_equal(GraphStack(stored).words, pack(A))
    chosen = [select_dimension(graphs, method="pairs", random_state=0) for graphs in (A, stored)]
    assert chosen[0].n_components == chosen[1].n_components


def test_a_task_travels_without_what_it_found_on_the_way():
    task = Project(np.eye(40)[:, :2], np.eye(40)[:, 2:5])
    alone = pickle.dumps(task)
    assert task._both.shape == (40, 5)
    assert pickle.dumps(task) == alone
    assert np.array_equal(pickle.loads(alone)._both, task._both)
