"""Multiple adjacency spectral embedding: one space for the vertices of all graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.baselines.adjacency import adjacency_positions
from eigengraphs.baselines.estimator import Array, GraphBaseline
from eigengraphs.baselines.inputs import check_choice, check_dimension, rows, with_diagonal
from eigengraphs.baselines.spectra import leading
from eigengraphs.solvers.geometry import Symmetric
from eigengraphs.solvers.protocol import with_signs
from eigengraphs.stack import GraphStack

__all__ = ["MultipleASE"]


class MultipleASE(GraphBaseline):
    """Embed all graphs in the space that their own embeddings share (Arroyo et al. 2021).

    In the COSIE model, A_i is about V R_i V^T: V (n, d), orthonormal, is common, and the scores
    R_i (d, d), symmetric, are each graph's own. V holds the leading left singular vectors of the
    adjacency spectral embeddings of all graphs side by side, and R_i = V^T A_i V. The features are
    the d (d + 1) / 2 entries of R_i on and below the diagonal, row by row, those below times
    sqrt(2): Euclidean distances are then Frobenius distances of scores.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d, of the common space and of each graph's embedding.
    scaled : bool
        Scale each graph's eigenvectors by the roots of their eigenvalues, ``|S_i|^(1/2)``, so that
        directions count for as much as they explain.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    latent_positions_ : (n, d)
        V, orthonormal columns; the entry that is largest in magnitude is positive.
    scores_ : (m, d, d)
        R_i of the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> mase = eg.baselines.MultipleASE(2).fit(graphs)
    >>> mase.latent_positions_.shape, mase.scores_.shape, mase.transform(graphs).shape
    ((10, 2), (6, 2, 2), (6, 3))
    """

    latent_positions_: NDArray[np.float64]

    def __init__(
        self, n_components: int = 2, *, scaled: bool = True, diagonal: str = "observed"
    ) -> None:
        self.n_components = n_components
        self.scaled = scaled
        self.diagonal = diagonal

    def _check(self, stack: GraphStack) -> None:
        check_choice("scaled", self.scaled, (False, True))
        check_choice("diagonal", self.diagonal, ("observed", "filled"))
        check_dimension(self.n_components, stack.n_vertices, "the number of vertices")

    def _learn(self, stack: GraphStack) -> Array:
        d, graphs = int(self.n_components), with_diagonal(stack, self.diagonal)
        X = adjacency_positions(graphs, d, scaled=bool(self.scaled))
        self.latent_positions_ = _left_singular_vectors(np.hstack(list(X)), d)
        return self._packed_scores(graphs)

    def _embed(self, stack: GraphStack) -> Array:
        return self._packed_scores(with_diagonal(stack, self._settings["diagonal"]))

    def _packed_scores(self, graphs: GraphStack) -> Array:
        V = self.latent_positions_
        products: Any = rows(graphs) @ V
        R = V.T @ products.reshape(graphs.n_graphs, *V.shape)
        return Symmetric(V.shape[1]).pack((R + R.transpose(0, 2, 1)) / 2)

    @property
    def scores_(self) -> NDArray[np.float64]:
        """Scores R_i of the training graphs, (m, d, d)."""
        packed = self._embedded_graphs(None)
        return Symmetric(self.latent_positions_.shape[1]).unpack(packed)

    def _feature_names(self) -> list[str]:
        d = self.latent_positions_.shape[1]
        return [f"r{k + 1}_{j + 1}" for k in range(d) for j in range(k + 1)]


def _left_singular_vectors(Z: NDArray[np.float64], d: int) -> NDArray[np.float64]:
    """Return the d leading left singular vectors (n, d) of (n, k), by the smaller Gram matrix."""
    n, k = Z.shape
    if n <= k:
        return np.asarray(leading(Z @ Z.T, d, "value")[1])
    _, W = leading(Z.T @ Z, d, "value")
    # Columns of Z W are orthogonal, and zero beyond the rank: any completion does there.
    return with_signs(np.asarray(linalg.qr(Z @ W, mode="economic")[0]))
