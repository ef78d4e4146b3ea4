"""Compiled distances against NumPy."""

import numpy as np
from known_graphs import random_symmetric
from scipy import sparse

from eigengraphs.graphs.kernels import flat_distances


def test_distances_from_a_sparse_mean():
    A, M = random_symmetric(4, 9, seed=0, density=0.5), random_symmetric(1, 9, seed=1, density=0.5)
    flat, mean, squares = sparse.csr_array(A.reshape(-1, 9)), sparse.csr_array(M[0]), np.empty(4)
    rows = (flat.data, flat.indices, flat.indptr)
    flat_distances(*rows, mean.data, mean.indices, mean.indptr, 3.0, squares)
    off = (A - M) * (1 - np.eye(9))
    assert np.allclose(squares, 9 * (off**2).sum(axis=(1, 2)))
