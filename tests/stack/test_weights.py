"""Transforms of weights against their definitions written out, entry by entry."""

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
CORRELATIONS = np.stack([np.corrcoef(rng.standard_normal((N, 20))) for _ in range(M)])


def written_out(A, weight_of):
    """Apply a rule to every nonzero entry: weight_of(value, its loops or its other weights)."""
    out = np.zeros_like(A)
    n = len(A)
    loops = [A[s, s] for s in range(n) if A[s, s] != 0]
    others = [A[s, t] for s in range(n) for t in range(n) if s != t and A[s, t] != 0]
    for s in range(n):
        for t in range(n):
            if A[s, t] != 0:
                out[s, t] = weight_of(A[s, t], loops if s == t else others)
    return out


def average_rank(value, peers):
    below = sum(other < value for other in peers)
    equal = sum(other == value for other in peers)
    return (below + (equal + 1) / 2) / (len(peers) + 1)


def signed_rank(value, peers):
    return np.sign(value) * average_rank(abs(value), [abs(other) for other in peers])


RULES = {
    "rank": average_rank,
    "signed_rank": signed_rank,
    "signed_log1p": lambda value, _: np.sign(value) * np.log(1 + abs(value)),
}


@pytest.mark.parametrize("graphs", [SIGNED, WHOLE, np.abs(SIGNED)], ids=["both", "digraph", "plus"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_is_its_definition(storage, name, graphs, dtype):
    stack = stored(GraphStack(graphs, dtype=dtype), storage)
    after = getattr(stack, name)()
    expected = np.stack([written_out(A, RULES[name]) for A in graphs])
    tolerance = 4 * np.finfo(dtype).eps
    assert np.allclose(after.to_dense().dense, expected, rtol=tolerance, atol=0)
    assert after.dtype == dtype
    assert after.is_sparse == stack.is_sparse
    assert np.array_equal(after.facts.n_nonzero, stack.facts.n_nonzero)
    assert np.array_equal(after.facts.is_symmetric, stack.facts.is_symmetric)
    assert np.array_equal(stack.to_dense().dense, graphs)  # the old stack is as it was


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


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-300, 1e-310])
def test_unit_norm_is_division_by_the_norm(storage, scale):
    graphs = np.concatenate([SIGNED, np.zeros((1, N, N))])
    after = stored(GraphStack(graphs * scale), storage).unit_norm().to_dense().dense
    norms = np.array([np.sqrt(sum(a * a for a in A.ravel())) for A in graphs])
    tolerance = 1e-13 if scale > 1e-308 else 1e-9  # subnormal weights have few digits
    assert np.allclose(after[:M], SIGNED / norms[:M, None, None], rtol=tolerance, atol=0)
    assert not after[M].any()


def test_unit_norm_where_squares_are_beyond_all_numbers(storage):
    after = stored(GraphStack(np.full((1, 5, 5), 3e307)), storage).unit_norm()
    assert np.allclose(after.to_dense().dense, 0.2, rtol=1e-14)
    float32 = stored(GraphStack(np.full((1, 5, 5), 3e38, dtype=np.float32)), storage).unit_norm()
    assert np.allclose(float32.to_dense().dense, 0.2, rtol=1e-6)


HUGE_AND_TINY = np.array([[0.0, 1e300, -1e-300], [1e300, 2.0, 5e-324], [-1e-300, 5e-324, 0.0]])


def test_huge_tiny_and_signed_weights(storage):
    stack = stored(GraphStack([HUGE_AND_TINY]), storage)

    def got(change):
        return change(stack).to_dense().dense[0]

    logs = got(GraphStack.signed_log1p)
    assert logs[0, 1] == pytest.approx(300 * np.log(10))
    assert logs[0, 2] == -1e-300
    assert logs[1, 2] == 5e-324
    ranks = got(GraphStack.rank)  # two each of -1e-300, 5e-324, 1e300
    assert np.allclose(ranks[0, 1:], [5.5 / 7, 1.5 / 7])
    assert ranks[1, 2] == 3.5 / 7
    signed = got(GraphStack.signed_rank)
    assert np.allclose(signed[0, 1:], [5.5 / 7, -3.5 / 7])
    assert ranks[1, 1] == signed[1, 1] == 0.5  # the only loop


@given(seed=st.integers(0, 2**20), exponent=st.integers(-900, 900))
def test_ranks_and_unit_norms_do_not_depend_on_scale(seed, exponent):
    graphs = random_symmetric(2, 6, seed, density=0.6)
    scaled = graphs * 2.0**exponent  # exact, so ties and order stay
    for kept in ("dense", "sparse"):
        one, other = stored(GraphStack(graphs), kept), stored(GraphStack(scaled), kept)
        for name in ("rank", "signed_rank"):
            pair = [getattr(stack, name)().to_dense().dense for stack in (one, other)]
            assert np.array_equal(*pair)
        pair = [stack.unit_norm().to_dense().dense for stack in (one, other)]
        assert np.allclose(*pair, rtol=1e-14, atol=0)


@given(seed=st.integers(0, 2**20))
def test_once_is_enough_for_ranks_and_unit_norms(seed):
    stack = GraphStack(random_symmetric(2, 6, seed, density=0.6)).to_sparse()
    once = stack.rank()
    assert np.array_equal(once.flat.data, once.rank().flat.data)
    signed = stack.signed_rank()
    assert np.array_equal(signed.flat.data, signed.signed_rank().flat.data)
    unit = stack.unit_norm()
    assert np.allclose(unit.flat.data, unit.unit_norm().flat.data, rtol=1e-15)
    positive = GraphStack(np.abs(stack.to_dense().dense))
    assert np.array_equal(positive.rank().dense, positive.signed_rank().dense)


def test_graphs_that_are_symmetric_up_to_rounding_stay_undirected(storage):
    graph = CORRELATIONS[0] * 0.5 + 0.5  # all correlations towards 1
    graph[0, 1] = graph[1, 0] = 1 - 1e-12
    uneven = graph.copy()
    uneven[np.triu_indices(N, 1)] *= 1 - 2.0**-52  # mirror images differ in the last digit
    directed = WHOLE[0] / 4
    stack = stored(GraphStack([uneven, directed, graph]), storage)
    assert list(stack.facts.is_symmetric) == [True, False, True]
    for name in ("rank", "signed_rank", "fisher_z"):
        after = getattr(stack, name)()
        assert list(after.facts.is_symmetric) == [True, False, True]
        dense = after.to_dense().dense
        assert np.array_equal(dense[0], dense[0].T)
        alone = getattr(stored(GraphStack([directed]), storage), name)()
        assert np.array_equal(dense[1], alone.to_dense().dense[0])


@pytest.mark.parametrize("value", [1.0, -1.0, 1.5, 1 - 2**-53, -1 + 2**-52])
def test_what_is_no_correlation_is_named(storage, value):
    graphs = CORRELATIONS.copy()
    graphs[1, 2, 5] = graphs[1, 5, 2] = value
    names = list("abcdefg")
    stack = stored(GraphStack(graphs, vertex_names=names, graph_names=["x", "y", "z"]), storage)
    with pytest.raises(InputError, match=r"graphs\[1\] \('y'\) has -?[01].*\(2, 5\), 'c' to 'f'"):
        stack.fisher_z()
    unnamed = stored(GraphStack(graphs), storage)
    with pytest.raises(InputError, match=r"graphs\[1\] has .* entry \(2, 5\); fisher_z needs"):
        unnamed.fisher_z()


def test_fisher_z_knows_the_rounding_of_its_type(storage):
    graphs = CORRELATIONS.copy()
    graphs[0, 0, 1] = graphs[0, 1, 0] = 1 - 1e-7
    stack = stored(GraphStack(graphs), storage)
    assert stack.fisher_z().to_dense().dense[0, 0, 1] == pytest.approx(0.5 * np.log(2e7), rel=1e-6)
    with pytest.raises(InputError, match="fisher_z needs correlations"):
        stack.astype(np.float32).fisher_z()


def test_log1p_names_the_way_out():
    with pytest.raises(InputError, match="smallest is -3; for signed weights there is signed_log"):
        GraphStack(SIGNED).log1p()
