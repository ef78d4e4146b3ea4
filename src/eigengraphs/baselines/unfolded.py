"""Unfolded adjacency spectral embedding: all graphs side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from eigengraphs.baselines.estimator import Array, PositionsBaseline
from eigengraphs.baselines.inputs import check_choice, check_dimension, rows, with_diagonal
from eigengraphs.baselines.spectra import as_dense, leading, roots, rounding, sums_are_cheap
from eigengraphs.stack import GraphStack

__all__ = ["UnfoldedASE"]


class UnfoldedASE(PositionsBaseline):
    """Embed the graphs side by side, [A_1 ... A_m] (Gallagher, Jones and Rubin-Delanchy 2021).

    With the truncated singular value decomposition U S W^T of that (n, m n) matrix, the common
    positions are U S^(1/2), and the positions in graph i are Y_i = A_i U S^(-1/2), the rows of
    W S^(1/2) that belong to it. The same formula gives positions in new graphs. Graphs are
    compared by ||Y_i - Y_j||_F, and the features are the n d entries of Y_i.

    U and S^2 come from sum_i A_i^2, so singular values below about 1e-7 of the largest count as
    zero; so do their columns.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    latent_positions_ : (n, d)
        U S^(1/2).
    positions_ : (m, n, d)
        Y_i of the training graphs.
    singular_values_ : (d,)
        S.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> unfolded = eg.baselines.UnfoldedASE(2).fit(graphs)
    >>> unfolded.latent_positions_.shape, unfolded.positions(graphs[:3]).shape
    ((10, 2), (3, 10, 2))
    """

    latent_positions_: NDArray[np.float64]
    singular_values_: NDArray[np.float64]

    def __init__(self, n_components: int = 2, *, diagonal: str = "observed") -> None:
        self.n_components = n_components
        self.diagonal = diagonal

    def _check(self, stack: GraphStack) -> None:
        check_choice("diagonal", self.diagonal, ("observed", "filled"))
        check_dimension(self.n_components, stack.n_vertices, "the number of vertices")

    def _learn(self, stack: GraphStack) -> Array:
        graphs, n = with_diagonal(stack, self.diagonal), stack.n_vertices
        squares, U = leading(_sum_of_squares(graphs), int(self.n_components), "value")
        S = np.sqrt(np.where(squares > rounding(squares, n), squares, 0.0))
        root, inverse = roots(S, 0.0)
        self.singular_values_, self.latent_positions_ = S, U * root
        self._projection = U * inverse
        return self._positions(graphs)

    def _embed(self, stack: GraphStack) -> Array:
        return self._positions(with_diagonal(stack, self._settings["diagonal"]))

    def _positions(self, graphs: GraphStack) -> Array:
        products: Any = rows(graphs) @ self._projection
        return np.asarray(products.reshape(graphs.n_graphs, *self._projection.shape))


def _sum_of_squares(graphs: GraphStack) -> Any:
    """Return sum_i A_i^2, (n, n)."""
    F: Any = rows(graphs)
    n = graphs.n_vertices
    if sums_are_cheap(n, is_sparse=graphs.is_sparse):
        return as_dense(F.T @ F)
    return LinearOperator((n, n), matvec=lambda v: F.T @ (F @ v), dtype=np.float64)
