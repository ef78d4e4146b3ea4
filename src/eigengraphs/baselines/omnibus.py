"""Omnibus embedding: one matrix of all pairs of graphs, which is never made.

With M of blocks (A_i + A_j) / 2, an eigenvector u = (u_1, ..., u_m) of eigenvalue lam has

    lam u_i = (A_i s + t) / 2,      s = sum_j u_j,   t = sum_j A_j u_j,

so that u_i is affine in A_i, and s decides it: summing over i gives m t = 2 lam s - m Ā s and

    u_i = s / m + (A_i - Ā) s / (2 lam),      Ā = sum_i A_i / m.

Hence s solves lam s = m Ā s + m G s / (4 lam), G = sum_i (A_i - Ā)^2; with G = R^T R that is the
symmetric eigenproblem of [[m Ā, (sqrt(m) / 2) R^T], [(sqrt(m) / 2) R, 0]], (2 n, 2 n).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from eigengraphs.baselines.estimator import Array, PositionsBaseline
from eigengraphs.baselines.inputs import (
    check_choice,
    check_dimension,
    each_graph,
    rows,
    with_diagonal,
)
from eigengraphs.baselines.spectra import as_dense, leading, roots, rounding, sums_are_cheap
from eigengraphs.solvers.protocol import with_signs
from eigengraphs.stack import GraphStack

__all__ = ["Omnibus"]


class Omnibus(PositionsBaseline):
    """Embed all graphs together by the matrix of their pairwise means (Levin et al. 2017).

    The omnibus matrix M (m n, m n) has the blocks (A_i + A_j) / 2. With its eigenvalues S that are
    largest in magnitude and their eigenvectors U, block i of ``U |S|^(1/2)`` holds the positions
    X_i of the vertices in graph i. All are in one coordinate system: graphs are compared by
    ||X_i - X_j||_F, without rotation, and the features are the n d entries of X_i.

    The method says nothing about new graphs. Here they get the positions that follow from those of
    the training graphs by Nyström's extension, 1/2 sum_j (A + A_j) X_j S^(-1), which for a training
    graph is X_i. M itself is never made: the problem is one of order 2 n. It holds the squares of
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

    latent_positions_: NDArray[np.float64]
    eigenvalues_: NDArray[np.float64]

    def __init__(self, n_components: int = 2, *, diagonal: str = "observed") -> None:
        self.n_components = n_components
        self.diagonal = diagonal

    def _check(self, stack: GraphStack) -> None:
        check_choice("diagonal", self.diagonal, ("observed", "filled"))
        check_dimension(self.n_components, stack.n_vertices, "the number of vertices")

    def _learn(self, stack: GraphStack) -> Array:
        graphs, d = with_diagonal(stack, self.diagonal), int(self.n_components)
        m, n, _ = graphs.shape
        if sums_are_cheap(n, is_sparse=graphs.is_sparse):
            mean = _mean(graphs)
            lam, s = _reduced_problem(graphs, mean, d)
            mean_s = mean @ s
        else:
            F = rows(graphs)
            lam, U = leading(_omnibus_operator(F, m, n), d)
            s = with_signs(U.reshape(m, n, d).sum(axis=0))
            mean_s = (F @ s).reshape(m, n, d).mean(axis=0)
        root, inverse = roots(lam, rounding(lam, m * n))
        # X_i = |lam|^(1/2) u_i = latent positions + (A_i - Ā) s |lam|^(1/2) / (2 lam).
        self._projection = s * inverse * np.sign(lam) / 2
        self.latent_positions_ = s * root / m
        self._constant = self.latent_positions_ - mean_s * inverse * np.sign(lam) / 2
        self.eigenvalues_ = lam
        return self._positions(graphs)

    def _embed(self, stack: GraphStack) -> Array:
        return self._positions(with_diagonal(stack, self._settings["diagonal"]))

    def _positions(self, graphs: GraphStack) -> Array:
        products: Any = rows(graphs) @ self._projection
        return np.asarray(products.reshape(graphs.n_graphs, *self._constant.shape) + self._constant)


def _mean(graphs: GraphStack) -> NDArray[np.float64]:
    total = np.zeros(graphs.shape[1:])
    for A in each_graph(graphs):
        total += as_dense(A)
    return total / graphs.n_graphs


def _reduced_problem(graphs: GraphStack, mean: NDArray[np.float64], d: int) -> tuple[Any, Any]:
    """Return eigenvalues lam (d,) of M and sums s (n, d) of the blocks of its unit eigenvectors."""
    m, n, _ = graphs.shape
    G = np.zeros((n, n))
    for A in each_graph(graphs):
        C = as_dense(A) - mean
        G += C @ C
    values, W = np.linalg.eigh(G)
    # What rounding leaves of a zero eigenvalue has a root that would pass for a small one of M.
    R = np.sqrt(np.where(values > rounding(values, n), values, 0.0))[:, None] * W.T
    problem = np.zeros((2 * n, 2 * n))
    problem[:n, :n] = m * mean
    problem[n:, :n] = np.sqrt(m) / 2 * R
    problem[:n, n:] = problem[n:, :n].T
    lam, Y = leading(problem, d)
    return lam, np.sqrt(m) * with_signs(Y[:n])


def _omnibus_operator(F: Any, m: int, n: int) -> LinearOperator:
    """Return M for graphs below each other, (m n, n)."""

    def multiply(u: NDArray[np.float64]) -> NDArray[np.float64]:
        u = u.ravel()
        return np.asarray((F @ u.reshape(m, n).sum(axis=0) + np.tile(F.T @ u, m)) / 2)

    return LinearOperator((m * n, m * n), matvec=multiply, dtype=np.float64)
