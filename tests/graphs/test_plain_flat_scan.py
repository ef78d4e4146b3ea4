"""The quick scan of sparse graphs against the careful one, and what it must leave to that."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import sparse

from eigengraphs.graphs.facts import _marks, _scan_flat
from eigengraphs.graphs.kernels import SCAN_FIELDS, scan_flat
from eigengraphs.graphs.plain_flat_scan import scan_plain_flat

kinds = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def probes(n):
    return np.random.default_rng(0).integers(-(2**31), 2**31, n, dtype=np.int32) | 1


def carefully(A, first=0):
    flat, n = sparse.csr_array(A.reshape(-1, A.shape[1])), A.shape[1]
    out = np.empty((len(A) - first, len(SCAN_FIELDS)))
    scan_flat(flat.data, flat.indices, flat.indptr, n, first, out)
    return out


def quickly(A, first=0):
    out = np.empty((len(A) - first, len(SCAN_FIELDS)))
    _scan_flat(sparse.csr_array(A.reshape(-1, A.shape[1])), first, probes(A.shape[1])[None], out)
    return out


def left_to_the_other(A):
    """Which graphs the quick scan alone has no answer for."""
    flat, n = sparse.csr_array(A.reshape(-1, A.shape[1])), A.shape[1]
    marks, out = _marks(A.dtype), np.empty((len(A), len(SCAN_FIELDS)))
    scan_plain_flat(
        flat.data, flat.data.view(marks.dtype), flat.indices, flat.indptr, n, 0, marks, probes(n),
        out,
    )  # fmt: skip
    return np.isnan(out).all(axis=1)


@kinds
@pytest.mark.parametrize("n", [1, 2, 7, 20, 70])
def test_both_scans_find_the_same(n, dtype):
    A = random_symmetric(8, n, seed=n, density=0.5).astype(dtype)
    A[1] = 0
    A[2] = A[2] != 0
    A[3] *= -1e5
    A[4, range(n), range(n)] = 0
    A[5] = A[5] != 0
    A[5, range(n), range(n)] = 0
    A[6] = A[6] != 0
    A[6, range(n), range(n)] = 1
    A[7, range(n), range(n)] = -3
    assert not left_to_the_other(A).any()
    for first in (0, 3):
        assert np.allclose(quickly(A, first), carefully(A, first), rtol=1e-12)


@kinds
@pytest.mark.parametrize("values", [(0,), (0, 2, -1, 1 + 1e-3)])
def test_every_single_entry_without_its_mirror_image_is_seen(dtype, values):
    A = np.tile(np.ones((9, 9), dtype=dtype), (81, 1, 1))
    for place, graph in enumerate(A):
        graph[place // 9, place % 9] = values[place % len(values)]
    assert (left_to_the_other(A).reshape(9, 9) == ~np.eye(9, dtype=bool)).all()
    assert np.array_equal(quickly(A), carefully(A))


@kinds
def test_arcs_that_go_round_are_seen(dtype):
    A = np.zeros((1, 12, 12), dtype=dtype)
    A[0, range(12), np.roll(range(12), -1)] = 1
    assert left_to_the_other(A).all()
    assert quickly(A)[0, SCAN_FIELDS.index("asymmetry")] == 1


@kinds
def test_counts_that_differ_by_one_among_millions_are_seen(dtype):
    A = np.full((3, 50, 50), 2.0**23, dtype=dtype)
    A[1, 3, 40] += 1
    assert left_to_the_other(A).tolist() == [False, True, False]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found_where_it_is(bad):
    A = random_symmetric(3, 12, seed=0)
    A[1, 4, 7] = A[1, 7, 4] = bad
    assert quickly(A)[:, SCAN_FIELDS.index("bad")].tolist() == [-1, 4 * 12 + 7, -1]


def test_entries_whose_bits_are_alike_are_told_apart():
    # Bits that are each other's complement, and halves that cancel when put over each other.
    for pair in (
        np.array([1.0, -3.9999998], np.float32),
        np.array([0x3FF0000000000000, 0x3FF0000100000001]).view(np.float64),
    ):
        A = np.zeros((1, 6, 6), dtype=pair.dtype)
        A[0, 1, 4], A[0, 4, 1] = pair
        assert left_to_the_other(A).all()
