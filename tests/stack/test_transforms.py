"""Transforms make new stacks, the same for dense and sparse ones: their definitions written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_graphs import random_symmetric, stored

from eigengraphs import GraphStack
from eigengraphs.errors import InputError

rng = np.random.default_rng(7)
M, N = 3, 7
# Ties, zeros, loops, both signs; undirected and directed.
WHOLE = rng.integers(-3, 4, (M, N, N)).astype(float)
SIGNED = np.triu(WHOLE) + np.triu(WHOLE, 1).transpose(0, 2, 1)
GRAPHS = {"signed": SIGNED, "digraph": WHOLE, "counts": np.abs(WHOLE)}
CORRELATIONS = np.stack([np.corrcoef(rng.standard_normal((N, 20))) for _ in range(M)])


def written_out(weight_of):
    """Apply a rule to every nonzero entry: weight_of(value, its loops or its other weights)."""

    def change(graphs):
        out = np.zeros_like(graphs)
        for i, s, t in zip(*graphs.nonzero(), strict=True):
            A = graphs[i]
            peers = A.diagonal() if s == t else A[~np.eye(N, dtype=bool)]
            out[i, s, t] = weight_of(A[s, t], peers[peers != 0])
        return out

    return change


def average_rank(value, peers):
    below, equal = (peers < value).sum(), (peers == value).sum()
    return (below + (equal + 1) / 2) / (len(peers) + 1)


def signed_rank(value, peers):
    return np.sign(value) * average_rank(abs(value), np.abs(peers))


def mirror(A):
    return A.transpose(0, 2, 1)


def normalized(graphs):
    sums = np.abs(graphs).sum(axis=2), np.abs(graphs).sum(axis=1)
    mu = sums[0].mean(axis=1, keepdims=True)
    rows, columns = (np.sqrt(d / mu + 0.25) for d in sums)
    return graphs / mu[:, :, None] / rows[:, :, None] / columns[:, None, :]


EXPECTED = {
    "mean": (lambda s: s.symmetrize(), lambda A: (A + mirror(A)) / 2),
    "max": (lambda s: s.symmetrize("max"), lambda A: np.maximum(A, mirror(A))),
    "min": (lambda s: s.symmetrize("min"), lambda A: np.minimum(A, mirror(A))),
    "sum": (lambda s: s.symmetrize("sum"), lambda A: A + mirror(A)),
    "binary": (lambda s: s.binarize(), lambda A: (A > 0) * 1.0),
    "above 1": (lambda s: s.binarize(1), lambda A: (A > 1) * 1.0),
    "log1p": (lambda s: s.log1p(), np.log1p),
    "signed_log1p": (lambda s: s.signed_log1p(), lambda A: np.sign(A) * np.log(1 + np.abs(A))),
    "rank": (lambda s: s.rank(), written_out(average_rank)),
    "signed_rank": (lambda s: s.signed_rank(), written_out(signed_rank)),
    "laplacian": (lambda s: s.laplacian(), normalized),
    "hollow": (lambda s: s.drop_loops(), lambda A: A * (1 - np.eye(N))),
    "vertices": (lambda s: s.select_vertices([4, -1]), lambda A: A[:, [4, 6]][..., [4, 6]]),
    "by name": (lambda s: s.select_vertices(["e", "a"]), lambda A: A[:, [4, 0]][..., [4, 0]]),
    "by mask": (lambda s: s.select_vertices(np.arange(N) > 2), lambda A: A[:, 3:, 3:]),
    "by slice": (lambda s: s.select_vertices(slice(1, 3)), lambda A: A[:, 1:3, 1:3]),
}  # fmt: skip


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_is_its_definition(storage, name, kind, dtype):
    (change, rule), graphs = EXPECTED[name], GRAPHS[kind]
    if name == "log1p" and kind != "counts":
        graphs = np.abs(graphs)
    names = {"graph_names": list("xyz"), "vertex_names": list("abcdefg")}
    before = stored(GraphStack(graphs, dtype=dtype, **names), storage)
    after, expected = change(before), rule(graphs)
    found = after.to_dense().dense
    assert np.allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=0)
    assert after.dtype == dtype
    assert after.is_sparse == before.is_sparse
    assert after.graph_names == tuple("xyz")
    assert np.array_equal(before.to_dense().dense, graphs)  # the old stack is as it was
    fresh = GraphStack(expected)
    for fact in ("n_nonzero", "n_loops", "is_symmetric"):
        assert np.array_equal(getattr(after.facts, fact), getattr(fresh.facts, fact))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fisher_z_is_arctanh_off_the_diagonal_and_zero_on_it(storage, dtype):
    after = stored(GraphStack(CORRELATIONS, dtype=dtype), storage).fisher_z()
    expected = CORRELATIONS.astype(dtype).astype(float)
    expected[:, range(N), range(N)] = 0.0
    expected = 0.5 * np.log((1 + expected) / (1 - expected))
    # Rounding of r near 1 counts 1 / (1 - r^2) times in z.
    assert np.allclose(after.to_dense().dense, expected, rtol=20 * np.finfo(dtype).eps, atol=1e-15)
    assert after.is_hollow
    assert not after.is_directed


@pytest.mark.parametrize("value", [1.0, -1.0, 1.5, 1 - 2**-53, -1 + 2**-52])
def test_what_is_no_correlation_is_named(storage, value):
    graphs = CORRELATIONS.copy()
    graphs[1, 2, 5] = graphs[1, 5, 2] = value
    names = {"vertex_names": list("abcdefg"), "graph_names": ["x", "y", "z"]}
    with pytest.raises(InputError, match=r"graphs\[1\] \('y'\) has -?[01].*\(2, 5\), 'c' to 'f'"):
        stored(GraphStack(graphs, **names), storage).fisher_z()


def test_log1p_names_the_way_out():
    with pytest.raises(InputError, match="smallest is -3; for signed weights there is signed_log"):
        GraphStack(SIGNED).log1p()


def test_laplacian_of_isolated_vertices_no_edges_and_hidden_entries(storage):
    graphs = np.ones((3, N, N))
    graphs[0, 2] = graphs[0, :, 2] = graphs[1] = 0
    found = stored(GraphStack(graphs), storage).laplacian().to_dense().dense
    rest = (N - 1) ** 2 / N  # mean degree of graphs[0]; others have the degree N - 1
    expected = 1 / (N - 1 + rest / 4) * (graphs[0] > 0)
    assert np.allclose(found[:2], [expected, graphs[1]], rtol=1e-14)
    # What is hidden changes the degrees of a graph in which all weights are equal by nothing.
    hide = np.random.default_rng(0).random((3, N, N)) < [[[0]], [[0]], [[0.5]]]
    hide[2, 4] = hide[2, :, 4] = True
    part = stored(GraphStack(graphs).hide(hide), storage).laplacian()
    assert np.allclose(part[2][part.mask.toarray()[2]], found[2, 0, 0], rtol=1e-14)


def test_huge_tiny_and_signed_weights(storage):
    graph = np.array([[0.0, 1e300, -1e-300], [1e300, 2.0, 5e-324], [-1e-300, 5e-324, 0.0]])
    stack = stored(GraphStack([graph]), storage)
    logs = stack.signed_log1p().to_dense().dense[0]
    assert logs[0, 1:].tolist() == [pytest.approx(300 * np.log(10)), -1e-300]
    assert logs[1, 2] == 5e-324
    ranks = stack.rank().to_dense().dense[0]  # two each of -1e-300, 5e-324, 1e300
    assert np.allclose(ranks[0, 1:], [5.5 / 7, 1.5 / 7])
    assert ranks[1, 2] == 3.5 / 7
    signed = stack.signed_rank().to_dense().dense[0]
    assert np.allclose(signed[0, 1:], [5.5 / 7, -3.5 / 7])
    assert ranks[1, 1] == signed[1, 1] == 0.5  # the only loop


@given(seed=st.integers(0, 2**20), exponent=st.integers(-900, 900))
def test_ranks_and_unit_norms_do_not_depend_on_scale(seed, exponent):
    graphs = random_symmetric(2, 6, seed, density=0.6)
    scaled = graphs * 2.0**exponent  # exact, so ties and order stay
    for kept in ("dense", "sparse"):
        one, other = stored(GraphStack(graphs), kept), stored(GraphStack(scaled), kept)
        for name in ("rank", "signed_rank", "unit_norm", "laplacian"):
            pair = [getattr(stack, name)().to_dense().dense for stack in (one, other)]
            assert np.allclose(*pair, rtol=0 if "rank" in name else 1e-14, atol=0)


def test_graphs_that_are_symmetric_up_to_rounding_stay_undirected(storage):
    graph = CORRELATIONS[0] * 0.5 + 0.5  # all correlations towards 1
    graph[0, 1] = graph[1, 0] = 1 - 1e-12
    uneven = graph.copy()
    uneven[np.triu_indices(N, 1)] *= 1 - 2.0**-52  # mirror images differ in the last digit
    directed = WHOLE[0] / 4
    stack = stored(GraphStack([uneven, directed, graph]), storage)
    for name in ("rank", "signed_rank", "fisher_z"):
        after = getattr(stack, name)()
        for each in (stack, after):
            assert list(each.facts.is_symmetric) == [True, False, True]
        dense = after.to_dense().dense
        assert np.array_equal(dense[0], dense[0].T)
        alone = getattr(stored(GraphStack([directed]), storage), name)()
        assert np.array_equal(dense[1], alone.to_dense().dense[0])
