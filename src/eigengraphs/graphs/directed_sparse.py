"""Products of sparse directed graphs: one flat CSR matrix of the graphs, one of their transposes.

A product with A_i^T could also be scattered from the rows of A_i. That was measured at four to
five times a product that is gathered (12 against 2.7 ns an entry, 16 columns), because every entry
reads and writes a line of the result. So the transposes are made once, for about a pass and the
memory of the stack again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.columns import Columns
from eigengraphs.graphs.directed_columns import BothSides, Receiver
from eigengraphs.graphs.kernels import flat_transpose
from eigengraphs.graphs.view_sparse import SparseProducts
from eigengraphs.parallel import on_blocks, spans

__all__ = ["DirectedSparse", "transposes"]

_BLOCK_ENTRIES = 2**20  # of graphs that one thread takes at a time


class DirectedSparse:
    """Products of a flat matrix in canonical form; ``ones`` says that every stored value is 1."""

    def __init__(self, flat: sparse.csr_array, ones: bool) -> None:
        self._right = SparseProducts(flat, ones)  # A_i B
        self._left = SparseProducts(transposes(flat, ones), ones)  # A_i^T B

    def products(self, columns: BothSides, left: Receiver, right: Receiver) -> None:
        """Hand out (A_i^T B)^T for the columns of the left, (A_i B)^T for those of the right."""
        for products, one, receiver in (
            (self._left, columns.left, left), (self._right, columns.right, right)
        ):  # fmt: skip
            if one.B.shape[1]:
                products.products(one, receiver.consume, receiver.out)

    def project(
        self, U: NDArray[np.float64], V: NDArray[np.float64], columns: BothSides
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return [U B_left]^T A_i B_right, and V^T A_i^T B_left."""
        B = columns.left.B
        onto_left = _cross(self._right, (U, B), columns.right)
        return onto_left, _cross(self._left, (V,), columns.left)

    def weighted_multiply(
        self, W: NDArray[np.float64], H: NDArray[Any], G: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum_i W_ik A_i g_k and sum_i W_ik A_i^T h_k, (n, d), without treatment."""
        return self._right.weighted_multiply(W, G), self._left.weighted_multiply(W, H)

    def square_multiply(
        self, columns: BothSides, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], ...]:
        """Return sums over the graphs of P_i = A_i^T B_left and of Q_i = A_i B_right, (n, b).

        They are sum_i w_i (A_i + Diag(D_i)) P_i, sum_i w_i P_i, sum_i w_i (A_i + Diag(D_i))^T Q_i
        and sum_i w_i Q_i.
        """
        of_left = self._left.square_multiply(columns.left, weights, back=self._right)
        return *of_left, *self._right.square_multiply(columns.right, weights, back=self._left)

    def bilinear_forms(self, H: NDArray[Any], G: NDArray[Any]) -> NDArray[np.float64]:
        """Return h_k^T A_i g_k, (m, d), without treatment."""
        return self._right.bilinear_forms(H, G)

    def line_sums(self) -> NDArray[np.float64]:
        """Return the mean of the sums of row s and of column s, (m, n)."""
        return (self._left.row_sums() + self._right.row_sums()) / 2


def transposes(flat: sparse.csr_array, ones: bool) -> sparse.csr_array:
    """Return A_i^T, graph after graph, as one CSR matrix (m * n, n) in canonical form.

    With ``ones`` its values are those of ``flat``, which are all 1.
    """
    n = int(flat.shape[1])
    m = flat.shape[0] // n
    values = flat.data[:0] if ones else flat.data
    data = np.empty_like(values)
    indices, indptr = np.empty_like(flat.indices), np.empty_like(flat.indptr)
    indptr[-1] = flat.nnz

    def work(lo: int, hi: int) -> None:
        flat_transpose(values, flat.indices, flat.indptr, n, lo, hi, data, indices, indptr)

    on_blocks(work, spans(m, _BLOCK_ENTRIES * m // max(flat.nnz, 1)))
    found = sparse.csr_array((flat.data if ones else data, indices, indptr), shape=flat.shape)
    for part in (found.data, found.indices, found.indptr):
        part.flags.writeable = False  # as of a stack: kernels are compiled for such arrays
    return found


def _cross(
    products: SparseProducts, Z: tuple[NDArray[Any], ...], columns: Columns
) -> NDArray[np.float64]:
    m, z = products.n_graphs, sum(part.shape[1] for part in Z)
    if z == 0 or columns.B.shape[1] == 0:
        return np.zeros((m, z, columns.B.shape[1]))
    return products.cross(Z, columns)
