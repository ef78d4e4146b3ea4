"""Products with the masks M_i = p_i p_i^T - N_i of a stack, which read the hidden entries alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.columns import Columns, Consumer
from eigengraphs.graphs.mask_kernels import subtract_hidden
from eigengraphs.graphs.view_sparse import SparseProducts
from eigengraphs.parallel import spans
from eigengraphs.stack.flat_matrix import row_numbers
from eigengraphs.stack.mask import Mask

__all__ = ["MaskProducts", "weighted_hidden", "weighted_mask"]


class MaskProducts:
    """The products with a mask that a solver asks for."""

    def __init__(self, mask: Mask) -> None:
        self.mask = mask
        self._raw = SparseProducts(mask.hidden, ones=True, dtype=np.dtype(np.float64))
        self._P = mask.present.astype(np.float64)

    def products(
        self, B: NDArray[np.float64], consume: Consumer, shift: NDArray[np.float64] | None = None
    ) -> None:
        """Call ``consume(lo, hi, Q)`` with Q_i = (M_i B)^T for lo <= i < hi, block by block.

        Parameters
        ----------
        B : (n, b)
            Columns.
        consume
            Called in threads, in no order; Q is (hi - lo, b, n) and the consumer's to keep.
        shift : (m, n), optional
            Diagonals to add to the M_i.
        """
        sums = self._P @ B  # (m, b)

        def turn(lo: int, hi: int, P: NDArray[np.float64]) -> None:
            np.negative(P, out=P)
            P += sums[lo:hi, :, None] * self._P[lo:hi, None, :]
            consume(lo, hi, P)

        self._raw.products(Columns(B, None if shift is None else -shift, None), turn, None)

    def sum_multiply(self, Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sum_i M_i^T Y_i, (n, b), for ``Y`` (m, n, b), one block of columns a graph."""
        m, n, b = Y.shape
        sums = np.einsum("is,isb->ib", self._P, Y)
        gone = self.mask.hidden.T @ Y.reshape(m * n, b)
        return np.asarray(self._P.T @ sums - gone)

    def forms(
        self, X: NDArray[np.float64], shift: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return x_k^T M_i x_k, (m, c), for ``X`` (n, c); ``shift`` as in :meth:`products`."""
        found: NDArray[np.float64] = (self._P @ X) ** 2
        if shift is not None:
            found += shift @ X**2
        if self.mask.hidden.nnz == 0:
            return found
        if self.mask.is_symmetric.all():
            return found - self._raw.quadratic_forms(X)

        def subtract(lo: int, hi: int, P: NDArray[np.float64]) -> None:
            found[lo:hi] -= np.einsum("iks,sk->ik", P, X)

        self._raw.products(Columns(X, None, None), subtract, None)
        return found

    def grams(
        self, H: NDArray[np.float64], shift: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return Gamma_i,jk = <M_i o h_j h_j^T, h_k h_k^T> = x^T M_i x, x = h_j o h_k, (m, d, d).

        Reads the hidden entries once for every eight of the d (d + 1) / 2 columns x.
        """
        d = H.shape[1]
        j, k = np.triu_indices(d)
        found = np.empty((self.mask.n_graphs, len(j)))
        for lo, hi in spans(len(j), 64):
            found[:, lo:hi] = self.forms(H[:, j[lo:hi]] * H[:, k[lo:hi]], shift)
        Gammas = np.empty((self.mask.n_graphs, d, d))
        Gammas[:, j, k] = Gammas[:, k, j] = found
        return Gammas


def weighted_mask(mask: Mask, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_i c_i M_i, (n, n)."""
    P = mask.present.astype(np.float64)
    total: NDArray[np.float64] = (P.T * weights) @ P
    subtract_hidden(mask.hidden.indices, mask.hidden.indptr, weights, total)
    return total


def weighted_hidden(mask: Mask, weights: NDArray[np.float64]) -> sparse.csr_array:
    """Return sum_i c_i N_i, (n, n), without what absent vertices hide."""
    flat, n = mask.hidden, mask.n_vertices
    graph, s = np.divmod(row_numbers(flat), n)
    total = sparse.coo_array((weights[graph], (s, flat.indices)), shape=(n, n))
    return sparse.csr_array(total)
