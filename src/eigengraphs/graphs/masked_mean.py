"""The mean of what is observed, and the graphs that it is subtracted from where they are."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.columns import Columns
from eigengraphs.graphs.mask_products import weighted_hidden, weighted_mask
from eigengraphs.graphs.view import mean_graph, weighted_sum
from eigengraphs.graphs.view_sparse import SparseProducts
from eigengraphs.stack.flat_matrix import row_numbers
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.stack import GraphStack

__all__ = ["MaskedMean", "masked_mean"]

Floats: TypeAlias = NDArray[np.float64]
MeanGraph: TypeAlias = "NDArray[np.float64] | sparse.csr_array"

_PAIRS = 2**20  # entries of a sparse mean that are divided at a time


def masked_mean(stack: GraphStack, weights: Floats) -> MeanGraph:
    """Return the weighted mean of each entry over the graphs that observe it, (n, n).

    Dense or sparse as the graphs are; 0 where no graph of positive weight observes an entry. One
    read of the graphs and of their mask.
    """
    mask = stack.mask
    if mask is None:
        return mean_graph(stack, weights)
    weights = weights / weights.max()
    total = weighted_sum(stack, weights)
    floor = 1e-12 * float(weights[weights > 0].min())  # counts are sums with rounding
    if isinstance(total, np.ndarray):
        counts = weighted_mask(mask, weights)
        return np.asarray(np.divide(total, counts, out=np.zeros_like(total), where=counts > floor))
    groups, group = np.unique(mask.present, axis=0, return_inverse=True)
    of_group = np.bincount(group.ravel(), weights=weights, minlength=len(groups))
    gone = weighted_hidden(mask, weights)
    s, t = row_numbers(total), total.indices
    for lo in range(0, len(s), _PAIRS):
        part = slice(lo, lo + _PAIRS)
        together = groups[:, s[part]] & groups[:, t[part]]
        counts = of_group @ together - _entries_at(gone, s[part], t[part])
        values = total.data[part]
        values[...] = np.divide(values, counts, out=np.zeros_like(values), where=counts > floor)
    total.eliminate_zeros()
    return total


class MaskedMean:
    """The graphs M_i o M, one mean graph M where each graph is observed: p_i p_i^T o M - N_i o M.

    The first term is the same for graphs with the same vertices, and found once for them; the
    second is kept, eight bytes (and places) a hidden entry.

    Parameters
    ----------
    mask
        What is observed.
    M : (n, n)
        Mean graph, dense or sparse.
    """

    def __init__(self, mask: Mask, M: MeanGraph) -> None:
        self._mask, self._M = mask, M
        groups, group = np.unique(mask.present, axis=0, return_inverse=True)
        self._groups, self._group = groups.astype(np.float64), group.ravel()
        flat, n = mask.hidden, mask.n_vertices
        s, t = row_numbers(flat) % n, flat.indices
        parts = (_entries_at(M, s, t), flat.indices, flat.indptr)
        self._hidden = sparse.csr_array(parts, shape=flat.shape)
        self._hidden.data.flags.writeable = False
        self._raw = SparseProducts(self._hidden, ones=False) if flat.nnz else None

    @property
    def diagonals(self) -> Floats:
        """The diagonals of M_i o M, (m, n)."""
        return np.asarray(self._mask.diagonal * np.asarray(self._M.diagonal()))

    def _of_groups(self, S: Floats) -> Floats:
        """Return p_g o (M (p_g o S_g)), (g, n, b), for ``S`` (g, n, b)."""
        g, n, b = S.shape
        P = self._groups[:, :, None]
        columns = (P * S).transpose(1, 0, 2).reshape(n, g * b)
        found = np.asarray(self._M @ columns).reshape(n, g, b)
        return np.asarray(P * found.transpose(1, 0, 2))

    def subtract(self, B: Floats, out: Floats) -> None:
        """Take (M_i o M) B off ``out`` (m, b, n), ``B`` being (n, b)."""
        found = self._of_groups(np.broadcast_to(B, (len(self._groups), *B.shape)))
        rows = found.transpose(0, 2, 1)
        for i, g in enumerate(self._group):
            out[i] -= rows[g]
        if self._raw is None:
            return

        def add(lo: int, hi: int, P: Floats) -> None:
            out[lo:hi] += P

        self._raw.products(Columns(np.ascontiguousarray(B), None, None), add, None)

    def forms(self, H: Floats, G: Floats) -> Floats:
        """Return h_k^T (M_i o M) g_k, (m, d)."""
        found = self._of_groups(np.broadcast_to(G, (len(self._groups), *G.shape)))
        forms: Floats = np.einsum("gsk,sk->gk", found, H)[self._group]
        if self._raw is not None:
            forms -= self._raw.bilinear_forms(np.ascontiguousarray(H), np.ascontiguousarray(G))
        return forms


def _entries_at(
    matrix: NDArray[Any] | sparse.csr_array, s: NDArray[Any], t: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the entries (s, t) of one matrix, dense or sparse, (k,)."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix[s, t], dtype=np.float64)
    if len(s) == 0:  # scipy makes something else of it
        return np.zeros(0)
    return np.asarray(sparse.csr_matrix(matrix)[s, t], dtype=np.float64).ravel()
