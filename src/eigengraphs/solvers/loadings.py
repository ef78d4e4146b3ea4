"""Loadings by least squares for given components, and the objective that they leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.protocol import Array

__all__ = [
    "active_gram",
    "component_gram",
    "condition",
    "objective_path",
    "rounding_share",
    "solve_loadings",
]


def component_gram(H: Array, G: Array | None = None, *, hollow: bool = False) -> Array:
    """Return Gamma_jk = <h_j h_j^T, h_k h_k^T> = (h_j . h_k)^2, (d, d).

    With ``G``, components are h_k g_k^T and Gamma_jk = (h_j . h_k) (g_j . g_k). With ``hollow``,
    the pairs s = t take no part: Gamma_jk - sum_s h_js g_js h_ks g_ks, g = h where there is no G.
    """
    Gamma: Array = (H.T @ H) ** 2 if G is None else (H.T @ H) * (G.T @ G)
    if hollow:
        on_diagonal = H**2 if G is None else H * G
        Gamma -= on_diagonal.T @ on_diagonal
    return Gamma


def active_gram(
    H: Array, active: NDArray[np.bool_], *, hollow: bool = False, G: Array | None = None
) -> Array:
    """Return Gamma with zero rows and columns for the components that are nothing."""
    return np.where(np.outer(active, active), component_gram(H, G, hollow=hollow), 0.0)


def condition(Gamma: Array) -> float:
    """Return the largest over the smallest eigenvalue; infinity for dependent components."""
    if Gamma.size == 0:
        return 1.0
    values = np.linalg.eigvalsh(Gamma)  # scipy's takes ten times as long on a few rows
    return float(values[-1] / values[0]) if values[0] > 0 else float("inf")


def rounding_share(n: int) -> float:
    """Return the share of the graphs' squared norm below which what is left is rounding."""
    return 100 * n * float(np.finfo(np.float64).eps)


def solve_loadings(Gamma: Array, Psi: Array) -> Array:
    """Solve Gamma Lam^T = Psi^T (the paper's update of all loadings) for Lam, (m, d).

    Directions that the components do not span to working precision get no loading, so
    dependent components share theirs and a component that is nothing (zero row) gets zero.

    Parameters
    ----------
    Gamma : (d, d)
        Inner products of the components.
    Psi : (m, d)
        Inner products <A_i, h_k h_k^T>, or <A_i, h_k g_k^T>.
    """
    if Gamma.shape[0] == 0:
        return np.zeros_like(Psi)
    values, vectors = np.linalg.eigh(Gamma)
    keep = values > 10 * len(values) * np.finfo(np.float64).eps * max(values[-1], 1e-300)
    inverse = vectors[:, keep] / values[keep]
    solution: Array = (Psi @ vectors[:, keep]) @ inverse.T
    return solution


def objective_path(Gamma: Array, Psi: Array, squared_norms: Array, weights: Array) -> Array:
    """Return sum_i w_i ||A_i - sum_{k<=j} Lam_ik h_k h_k^T||^2 for j = 0, ..., d, (d + 1,).

    Each with its own least-squares loadings, by ||residual||^2 = ||A_i||^2 - Lam_i . Psi_i.
    """
    path = [weights @ squared_norms]
    for j in range(1, Gamma.shape[0] + 1):
        Lam = solve_loadings(Gamma[:j, :j], Psi[:, :j])
        explained = np.einsum("ik,ik->i", Lam, Psi[:, :j])
        path.append(weights @ np.maximum(squared_norms - explained, 0.0))
    return np.array(path)
