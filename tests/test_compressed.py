"""Sparse matrices from strangers: no index leads out of its array."""

import numpy as np
import pytest
from scipy import sparse

from eigengraphs.system.archives import check_compressed


def matrix(indptr, indices=(0, 1, 2, 3), n=4):
    A = sparse.csr_array((n, n))
    A.data, A.indices = np.ones(len(indices)), np.asarray(indices, np.int32)
    A.indptr = np.asarray(indptr, np.int32)
    return A


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [
        ([0, 100, 100, 3, -(2**31)], (0, 1, 2, 3)),  # differences wrap around to rises
        ([0, 3, -(2**31), 3, 4], (0, 1, 2, 3)),
        ([0, 2, 1, 3, 4], (0, 1, 2, 3)),
        ([0, 1, 2, 3, 9], (0, 1, 2, 3)),
        ([0, 1, 2, 3, 4], (0, 1, 2, 4)),
        ([0, 1, 2, 3, 4], (0, 1, 2, -1)),
    ],
)
def test_what_leads_out_is_refused(indptr, indices):
    with pytest.raises(ValueError):
        check_compressed(matrix(indptr, indices))


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_what_fits_passes(form):
    check_compressed(sparse.random_array((6, 6), density=0.4, format=form, rng=0))
    check_compressed(matrix([0, 1, 2, 3, 4]))
