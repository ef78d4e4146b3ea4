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

    def forms(
        self,
        X: NDArray[np.float64],
        Z: NDArray[np.float64],
        shift: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return x_k^T M_i z_k, (m, c), for ``X`` and ``Z`` (n, c); ``shift`` as above."""
        found: NDArray[np.float64] = (self._P @ X) * (self._P @ Z)
        if shift is not None:
            found += shift @ (X * Z)
        if self.mask.hidden.nnz == 0:
            return found
        if Z is X and self.mask.is_symmetric.all():
            return found - self._raw.quadratic_forms(X)
        return found - self._raw.bilinear_forms(X, Z)

    def grams(
        self,
        H: NDArray[np.float64],
        G: NDArray[np.float64],
        shift: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return Gamma_i,jk = <M_i o h_j g_j^T, h_k g_k^T>, (m, d, d).

        It is x^T M_i z with x = h_j o h_k and z = g_j o g_k. Reads the hidden entries once for
        every eight of the d (d + 1) / 2 columns x.
        """
        d = H.shape[1]
        j, k = np.triu_indices(d)
        found = np.empty((self.mask.n_graphs, len(j)))
        for lo, hi in spans(len(j), 64):
            X = H[:, j[lo:hi]] * H[:, k[lo:hi]]
            Z = X if G is H else G[:, j[lo:hi]] * G[:, k[lo:hi]]
            found[:, lo:hi] = self.forms(X, Z, shift)
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
