"""The methods of a stack that make a new stack with other weights, or keep them in another way."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.graphs import transforms
from eigengraphs.graphs.build import check_dtype, flatten
from eigengraphs.graphs.mask import make_mask
from eigengraphs.graphs.missing import (
    one_sided,
    pairs_to_hide,
    without_loops,
    zero_hidden,
    zero_there,
)
from eigengraphs.graphs.stack_parts import StackParts

__all__ = ["StackTransforms"]


class StackTransforms(StackParts):
    """Transforms of the weights of :class:`~eigengraphs.GraphStack`, and of how they are kept."""

    __slots__ = ()

    def symmetrize(self, how: transforms.SymmetrizeRule = "mean") -> Self:
        """Return undirected graphs: the "mean", "max", "min" or "sum" of A_st and A_ts.

        Where one of the two is hidden the other stands for both; a sum with it is hidden.

        Parameters
        ----------
        how : {"mean", "max", "min", "sum"}
            What becomes of A_st and A_ts.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 3], [1, 0]]]).symmetrize("max")[0].tolist()
        [[0.0, 3.0], [3.0, 0.0]]
        """
        storage = transforms.symmetrize(self._storage, how)
        mask = self._mask
        if mask is None or mask.is_symmetric.all():
            return self._changed(storage, mask)
        return self._changed(*one_sided(self._storage, storage, mask, fill=how != "sum"))

    def binarize(self, threshold: float = 0.0) -> Self:
        """Return unweighted graphs with an edge where the weight is above ``threshold``.

        Parameters
        ----------
        threshold : float
            Weights above it become 1, all others 0.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 3], [3, 0]], [[0, 1], [1, 0]]]).binarize(2).dense[:, 0, 1]
        array([1., 0.])
        """
        storage = transforms.binarize(self._storage, threshold)
        if self._mask is not None and isinstance(storage, np.ndarray) and threshold < 0:
            storage = zero_hidden(storage, self._mask)
        return self._changed(storage, self._mask)

    def log1p(self) -> Self:
        """Return the graphs with log(1 + weight) for weight; weights must be above -1.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 9], [9, 0]]]).log1p()[0].round(2).tolist()
        [[0.0, 2.3], [2.3, 0.0]]
        """
        return self._changed(transforms.log1p(self._storage), self._mask)

    def signed_log1p(self) -> Self:
        """Return the graphs with ``sign(weight) log(1 + |weight|)`` for weight.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, -9], [-9, 0]]]).signed_log1p()[0].round(2).tolist()
        [[0.0, -2.3], [-2.3, 0.0]]
        """
        return self._changed(transforms.signed_log1p(self._storage), self._mask)

    def fisher_z(self) -> Self:
        """Return graphs of correlations with z = arctanh(correlation) for weight.

        The diagonal is set to zero: that of a correlation matrix, all 1, is no data and has no
        finite z. Weights off the diagonal must lie in (-1, 1), by more than rounding.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[1, 0.5], [0.5, 1]]]).fisher_z()[0].round(2).tolist()
        [[0.0, 0.55], [0.55, 0.0]]
        """
        bad = transforms.not_correlation(self._storage)
        if bad is not None:
            i, s, t, value = bad
            raise InputError(
                f"{self._label(i)} has {value:.17g} at {self._entry(s, t)}; fisher_z needs "
                "correlations, strictly between -1 and 1 off the diagonal: leave out one of two "
                "vertices that are copies of each other, or shrink the correlations a little"
            )
        return self._changed(
            transforms.fisher_z(self._storage, self._facts.is_symmetric), self._mask
        )

    def rank(self) -> Self:
        """Return the graphs with ranks for weights ("pass to ranks").

        Within each graph, the nonzero weights off the diagonal, A_st and A_ts each counted, are
        replaced by average rank / (their number + 1), which lies in (0, 1) and does not depend
        on the scale. Absent edges stay absent, symmetric graphs stay symmetric. Loops are
        ranked in the same way among themselves. Negative weights get the lowest ranks, which are
        above the 0 of an absent edge: for signed weights take :meth:`signed_rank`.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> path = eg.GraphStack([[[0, 7, 0], [7, 0, 90], [0, 90, 0]]])
        >>> path.rank()[0].round(2).tolist()
        [[0.0, 0.3, 0.0], [0.3, 0.0, 0.7], [0.0, 0.7, 0.0]]
        """
        symmetric = self._facts.is_symmetric
        return self._changed(transforms.rank(self._storage, symmetric, signed=False), self._mask)

    def signed_rank(self) -> Self:
        """Return the graphs with sign(weight) times the rank of ``|weight|``; see :meth:`rank`.

        The same as :meth:`rank` where no weight is negative.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> path = eg.GraphStack([[[0, 7, 0], [7, 0, -90], [0, -90, 0]]])
        >>> path.signed_rank()[0].round(2).tolist()
        [[0.0, 0.3, 0.0], [0.3, 0.0, -0.7], [0.0, -0.7, 0.0]]
        """
        symmetric = self._facts.is_symmetric
        return self._changed(transforms.rank(self._storage, symmetric, signed=True), self._mask)

    def unit_norm(self) -> Self:
        """Return the graphs divided by their own Frobenius norms; a zero graph stays zero.

        Loops count in the norm: drop them first if the diagonal is no data.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[3, 0], [0, 4]]]).unit_norm()[0].tolist()
        [[0.6, 0.0], [0.0, 0.8]]
        """
        return self._changed(transforms.unit_norm(self._storage), self._mask)

    def drop_loops(self) -> Self:
        """Return the graphs with zero diagonals; those of hidden loops, too, are then known.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[3, 1], [1, 4]]]).drop_loops()[0].tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        mask = None if self._mask is None else without_loops(self._mask)
        return self._changed(transforms.drop_loops(self._storage), mask)

    def hide(self, pairs: Any) -> Self:
        """Return the graphs with more entries hidden, for example to hold them out.

        Costs a copy of the graphs, and five bytes an entry and graph.

        Parameters
        ----------
        pairs : array of bool (n, n) or (m, n, n), or sparse array (n, n) or (m * n, n)
            True where an entry is to be hidden, in all graphs or in each. In undirected graphs an
            entry takes its mirror image with it.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1], [1, 0]], [[0, 2], [2, 0]]])
        >>> stack.hide([[False, True], [False, False]])[1].tolist()
        [[0.0, nan], [nan, 0.0]]
        """
        m, n, _ = self.shape
        more = pairs_to_hide(pairs, m, n, self._facts.is_symmetric)
        if more.nnz == 0:
            return self
        mask = make_mask(None, more) if self._mask is None else self._mask.hiding(more)
        return self._changed(zero_there(self._storage, more), mask)

    def astype(self, dtype: DTypeLike) -> Self:
        """Return the graphs with float32 or float64 weights.

        Parameters
        ----------
        dtype : float32 or float64
            Type of the weights.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 1], [1, 0]]]).astype("float32").dtype
        dtype('float32')
        """
        wanted = check_dtype(dtype)
        if isinstance(self._storage, np.ndarray):
            return self._changed(self._storage.astype(wanted), self._mask)
        return self._changed(sparse.csr_array(self._storage.astype(wanted)), self._mask)

    def to_dense(self) -> Self:
        """Return the same graphs as one array; needs 8 m n^2 bytes (4 in float32).

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 1], [1, 0]]], storage="sparse").to_dense().dense.shape
        (1, 2, 2)
        """
        if isinstance(self._storage, np.ndarray):
            return self
        kept = self._storage.toarray().reshape(self.shape)
        return self._make(kept, self._facts, self._graph_names, self._vertex_names, self._mask)

    def to_sparse(self) -> Self:
        """Return the same graphs as one flat CSR matrix.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 1], [1, 0]]]).to_sparse().flat.shape
        (2, 2)
        """
        if not isinstance(self._storage, np.ndarray):
            return self
        flat = flatten(list(self._storage), self._storage.dtype)
        return self._make(flat, self._facts, self._graph_names, self._vertex_names, self._mask)
