"""The quick scans against the careful one, and what they must leave to that."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs import GraphStack
from eigengraphs.graphs import facts
from eigengraphs.graphs.facts import _scan_dense
from eigengraphs.graphs.kernels import SCAN_FIELDS, scan_dense
from eigengraphs.graphs.small_scan import SMALL


@pytest.fixture(autouse=True, params=[0, SMALL], ids=["by rows", "small"])
def both_scans(request, monkeypatch):
    """Every test is of both: where graphs are small is a matter of speed alone."""
    monkeypatch.setattr(facts, "SMALL", request.param)


def carefully(A):
    out = np.empty((len(A), len(SCAN_FIELDS)))
    scan_dense(A, out)
    return out


def quickly(A):
    out = np.empty((len(A), len(SCAN_FIELDS)))
    probes = np.random.default_rng(0).integers(-(2**31), 2**31, (2, A.shape[1]), dtype=np.int32)
    _scan_dense(A, probes, out)
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 7, 20, 33, 70, 81])
def test_both_scans_find_the_same(n, dtype):
    A = random_symmetric(6, n, seed=n, density=0.5).astype(dtype)
    A[1] = 0
    A[2] = A[2] > 0
    A[3] *= -1e5
    A[4, range(n), range(n)] = 0
    assert np.allclose(quickly(A), carefully(A), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_single_entry_without_its_mirror_image_is_seen(dtype):
    A = np.tile(np.ones((9, 9), dtype=dtype), (81, 1, 1))
    for place, graph in enumerate(A):
        graph[place // 9, place % 9] = [0, 2, -1, 1 + 1e-3][place % 4]
    asymmetry = quickly(A)[:, SCAN_FIELDS.index("asymmetry")].reshape(9, 9)
    assert ((asymmetry > 0) == ~np.eye(9, dtype=bool)).all()
    assert np.array_equal(quickly(A), carefully(A))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_that_differ_by_one_among_millions_are_seen(dtype):
    A = np.full((3, 50, 50), 2.0**23, dtype=dtype)
    A[1, 3, 40] += 1
    assert (quickly(A)[:, SCAN_FIELDS.index("asymmetry")] > 0).tolist() == [False, True, False]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found_where_it_is(bad):
    A = random_symmetric(3, 12, seed=0)
    A[1, 4, 7] = A[1, 7, 4] = bad
    assert quickly(A)[:, SCAN_FIELDS.index("bad")].tolist() == [-1, 4 * 12 + 7, -1]


def test_negative_zeros_are_zeros():
    A = np.zeros((1, 4, 4))
    A[0, 1, 2] = -0.0
    assert np.array_equal(quickly(A), carefully(A))


def test_entries_whose_bits_are_alike_are_told_apart():
    # Bits that are each other's complement, and halves that cancel when put over each other.
    for pair in (
        np.array([1.0, -3.9999998], np.float32),
        np.array([0x3FF0000000000000, 0x3FF0000100000001]).view(np.float64),
    ):
        A = np.zeros((1, 6, 6), dtype=pair.dtype)
        A[0, 1, 4], A[0, 4, 1] = pair
        assert quickly(A)[0, SCAN_FIELDS.index("asymmetry")] > 0


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("power", [515, 700, -515, -700])
def test_the_unit_of_weights_changes_no_digit_of_norms(power, storage):
    for seed in range(5):
        A = random_symmetric(4, 9, seed=seed, density=0.6)
        one = GraphStack(A, storage=storage).facts
        other = GraphStack(np.ldexp(A, power), storage=storage).facts
        assert np.array_equal(other.norm, np.ldexp(one.norm, power))
        assert np.array_equal(other.off_norm, np.ldexp(one.off_norm, power))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 64, 65, 200])
def test_small_graphs_of_ones_are_scanned_by_their_bits(m, dtype):
    A = (random_symmetric(m, 9, seed=m, density=0.4) != 0).astype(dtype)
    A[0, range(9), range(9)] = 1  # loops everywhere
    A[-1, range(9), range(9)] = 0
    assert np.array_equal(quickly(A), carefully(A))
    A[m // 2] = 0
    assert np.array_equal(quickly(A), carefully(A))


@pytest.mark.parametrize("entry", [2.0, -1.0, 0.5, 1 + 1e-6, 1e-40, 1e30, np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 70, 129])
def test_one_weight_among_ones_is_seen(entry, place):
    A = (random_symmetric(130, 5, seed=1, density=0.5) != 0).astype(float)
    A[place, 1, 3] = A[place, 3, 1] = entry
    assert np.array_equal(quickly(A), carefully(A), equal_nan=True)


@pytest.mark.parametrize("entry", [0.0, 3.0])
@pytest.mark.parametrize("place", [(0, 1), (6, 79), (39, 40), (78, 79)])
def test_one_entry_is_seen_wherever_it_is(entry, place):
    A = np.ones((3, 80, 80), dtype=np.float32)
    A[(1, *place)] = A[(1, *place[::-1])] = entry
    assert np.array_equal(quickly(A), carefully(A))
    A[(1, *place)] = 1  # a direction
    assert np.array_equal(quickly(A), carefully(A))


def test_many_small_graphs_of_ones_keep_the_bits_of_the_scan(monkeypatch):
    m, n = 300, 6
    A = (random_symmetric(m, n, seed=2, density=0.5) != 0).astype(float)
    monkeypatch.setattr(facts, "_THREADS_PAY_FROM", 4 * n * n * 8)  # several blocks
    expected = np.zeros((n * (n + 1) // 2, -(-m // 64)), dtype=np.uint64)
    for i, graph in enumerate(A):
        there = graph[np.tril_indices(n)] != 0
        expected[:, i // 64] |= there.astype(np.uint64) << np.uint64(i % 64)
    found = GraphStack(A).entry_bits
    if facts.SMALL == 0:
        assert found is None
        return
    assert np.array_equal(found, expected)
    assert GraphStack(A[:84]).entry_bits is None  # few
    assert GraphStack(A)[:200].entry_bits is None  # others than those that were scanned
    A[299, 0, 0] = 2
    assert GraphStack(A).entry_bits is None
    A[299, 0, 0], A[150, 1, 4] = 1, 1 - A[150, 1, 4]
    assert GraphStack(A).entry_bits is None  # a direction
