"""Methods that embed all graphs together: multiple ASE, omnibus, unfolded ASE."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from eigengraphs.baselines.eigenvectors import as_dense, leading, roots, rounding, sums_are_cheap
from eigengraphs.baselines.graph_baseline import GraphBaseline, PositionsBaseline, each_graph, rows
from eigengraphs.baselines.separate_embeddings import adjacency_positions
from eigengraphs.solvers.geometry import Symmetric
from eigengraphs.solvers.solution import Array, with_signs
from eigengraphs.stack import GraphStack

__all__ = ["MultipleASE", "Omnibus", "UnfoldedASE"]


def _products(graphs: GraphStack, X: Array) -> Array:
    """Return A_i X for all graphs, (m, n, d)."""
    return np.asarray(rows(graphs) @ X).reshape(graphs.n_graphs, *X.shape)


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

    def __init__(
        self, n_components: int = 2, *, scaled: bool = True, diagonal: str = "observed"
    ) -> None:
        self.n_components = n_components
        self.scaled = scaled
        self.diagonal = diagonal

    def _learn(self, stack: GraphStack) -> Array:
        d = self._fitted.n_components
        X = adjacency_positions(stack, d, scaled=self._fitted.scaled)
        U = np.linalg.svd(np.hstack(list(X)), full_matrices=False)[0]
        self.latent_positions_ = with_signs(U[:, :d])
        return self._embed(stack)

    def _embed(self, stack: GraphStack) -> Array:
        V = self.latent_positions_
        R = V.T @ _products(stack, V)
        return Symmetric(V.shape[1]).pack((R + R.transpose(0, 2, 1)) / 2)

    @property
    def scores_(self) -> Array:
        """Scores R_i of the training graphs, (m, d, d)."""
        packed = self._embedded_graphs(None)
        return Symmetric(self.latent_positions_.shape[1]).unpack(packed)

    def _feature_names(self) -> list[str]:
        d = self.latent_positions_.shape[1]
        return [f"r{k + 1}_{j + 1}" for k in range(d) for j in range(k + 1)]


class Omnibus(PositionsBaseline):
    """Embed all graphs together by the matrix of their pairwise means (Levin et al. 2017).

    The omnibus matrix M (m n, m n) has the blocks (A_i + A_j) / 2. With its eigenvalues S that are
    largest in magnitude and their eigenvectors U, block i of ``U |S|^(1/2)`` holds the positions
    X_i of the vertices in graph i. All are in one coordinate system: graphs are compared by
    ||X_i - X_j||_F, without rotation, and the features are the n d entries of X_i.

    The method says nothing about new graphs. Here they get the positions that follow from those of
    the training graphs by Nyström's extension, 1/2 sum_j (A + A_j) X_j S^(-1), which for a training
    graph is X_i. M itself is never formed: the problem is one of order 2 n. It holds the squares of
    differences of graphs, so directions in which they differ by less than about 1e-7 of the
    largest difference count as directions in which they do not differ.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    positions_ : (m, n, d)
        X_i of the training graphs; columns beyond the rank of M are zero.
    latent_positions_ : (n, d)
        Mean of the X_i.
    eigenvalues_ : (d,)
        S, with signs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> omnibus = eg.baselines.Omnibus(2).fit(graphs)
    >>> omnibus.positions_.shape, omnibus.transform(graphs).shape
    ((6, 10, 2), (6, 20))
    """

    # An eigenvector u = (u_1, ..., u_m) of M with eigenvalue lam has
    #
    #     lam u_i = (A_i s + t) / 2,      s = sum_j u_j,   t = sum_j A_j u_j,
    #
    # so that u_i is affine in A_i, and s decides it: summing over i gives m t = 2 lam s - m Ā s and
    #
    #     u_i = s / m + (A_i - Ā) s / (2 lam),      Ā = sum_i A_i / m.

    def _learn(self, stack: GraphStack) -> Array:
        m, n, _ = stack.shape
        cheap = sums_are_cheap(n, is_sparse=stack.is_sparse)
        solve = _reduced_omnibus if cheap else _omnibus_by_lanczos
        lam, s, mean_s = solve(stack, self._fitted.n_components)
        root, inverse = roots(lam, rounding(lam, m * n))
        # X_i = |lam|^(1/2) u_i = latent positions + (A_i - Ā) s |lam|^(1/2) / (2 lam).
        half = inverse * np.sign(lam) / 2
        self._projection = s * half
        self.latent_positions_ = s * root / m
        self._constant = self.latent_positions_ - mean_s * half
        self.eigenvalues_ = lam
        return self._embed(stack)

    def _embed(self, stack: GraphStack) -> Array:
        return np.asarray(_products(stack, self._projection) + self._constant)


def _reduced_omnibus(graphs: GraphStack, d: int) -> tuple[Any, Any, Any]:
    """Return eigenvalues lam (d,) of M, sums s (n, d) of its eigenvectors' blocks, and Ā s.

    s solves lam s = m Ā s + m G s / (4 lam), G = sum_i (A_i - Ā)^2; with G = R^T R that is the
    symmetric eigenproblem of [[m Ā, (sqrt(m) / 2) R^T], [(sqrt(m) / 2) R, 0]], (2 n, 2 n).
    """
    m, n, _ = graphs.shape
    mean = np.asarray(rows(graphs).reshape(m, n * n).sum(axis=0)).reshape(n, n) / m
    G = np.zeros((n, n))
    for A in each_graph(graphs):
        C = as_dense(A) - mean
        G += C @ C
    values, W = np.linalg.eigh(G)
    # What rounding leaves of a zero eigenvalue has a root that would pass for a small one of M.
    R = np.sqrt(np.where(values > rounding(values, n), values, 0.0))[:, None] * W.T
    R *= np.sqrt(m) / 2
    lam, Y = leading(np.block([[m * mean, R.T], [R, np.zeros((n, n))]]), d)
    s = np.sqrt(m) * with_signs(Y[:n])
    return lam, s, mean @ s


def _omnibus_by_lanczos(graphs: GraphStack, d: int) -> tuple[Any, Any, Any]:
    """Return the same by products with M."""
    F, (m, n, _) = rows(graphs), graphs.shape

    def multiply(u: Array) -> Array:
        u = u.ravel()
        return np.asarray((F @ u.reshape(m, n).sum(axis=0) + np.tile(F.T @ u, m)) / 2)

    M = LinearOperator((m * n, m * n), matvec=multiply, dtype=np.float64)
    lam, U = leading(M, d)
    s = with_signs(U.reshape(m, n, d).sum(axis=0))
    return lam, s, _products(graphs, s).mean(axis=0)


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

    def _learn(self, stack: GraphStack) -> Array:
        F, n = rows(stack), stack.n_vertices
        G: Any = LinearOperator((n, n), matvec=lambda v: F.T @ (F @ v), dtype=np.float64)
        if sums_are_cheap(n, is_sparse=stack.is_sparse):
            G = as_dense(F.T @ F)
        squares, U = leading(G, self._fitted.n_components, "value")
        S = np.sqrt(np.where(squares > rounding(squares, n), squares, 0.0))
        root, inverse = roots(S, 0.0)
        self.singular_values_, self.latent_positions_ = S, U * root
        self._projection = U * inverse
        return self._embed(stack)

    def _embed(self, stack: GraphStack) -> Array:
        return _products(stack, self._projection)
