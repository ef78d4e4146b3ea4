"""The definitions with every matrix written out, to hold the solvers' shortcuts against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[np.float64]

READS = (
    "squared_norms", "mean", "mean_residual", "products", "project", "combine", "forms", "sketch",
    "total",
)  # fmt: skip


def outer_products(H: Array, G: Array | None = None, *, hollow: bool = False) -> Array:
    """Return h_k h_k^T, or h_k g_k^T, (d, n, n), without its diagonal if that does not count."""
    E = np.einsum("sk,tk->kst", H, H if G is None else G)
    return E * (1 - np.eye(len(H))) if hollow else E


def residuals(A: Array, H: Array, G: Array | None = None, *, hollow: bool = False) -> Array:
    """Return what least squares on all h_k h_k^T, or h_k g_k^T, leave of A (m, n, n)."""
    if hollow:
        A = A * (1 - np.eye(A.shape[1]))
    E = outer_products(H, G, hollow=hollow).reshape(H.shape[1], A[0].size).T
    B = A.reshape(len(A), -1).T
    return np.asarray(B - E @ linalg.lstsq(E, B)[0] if H.shape[1] else B).T.reshape(A.shape)


def bend(u):
    """Return what bends the squared norm upwards beyond 1/2."""
    excess = max(u - 0.5, 0.0)
    return 100 * excess**3 / (excess + 0.005)


def norm_without_diagonal(h: Array, g: Array | None = None) -> float:
    """Return ||h g^T||^2 off the diagonal for unit vectors, bent upwards beyond sum h^2 g^2 = 1/2.

    Without g, it is h.
    """
    u = float((h**4).sum() if g is None else (h**2 * g**2).sum())
    return 1 - u + bend(u)


def objective(
    R: Array, weights: Array, h: Array, g: Array | None = None, *, hollow: bool = False
) -> float:
    """Return sum_i w_i <R_i, h g^T>^2 / ||h g^T||^2 at unit vectors; without g, it is h."""
    h = h / linalg.norm(h)
    g = None if g is None else g / linalg.norm(g)
    forms = np.einsum("s,ist,t->i", h, R, h if g is None else g)
    return float(weights @ forms**2) / (norm_without_diagonal(h, g) if hollow else 1.0)


def masked_objective(
    R: Array, seen: Array, weights: Array, floors: Array, h: Array, *, hollow: bool = False
) -> float:
    """Return sum_i w_i <R_i, h h^T>^2 / ||M_i o h h^T||^2 at h / ||h||, M_i being ``seen``.

    A squared norm below the floor fades, and all are bent upwards as above if ``hollow``.
    """
    h = h / linalg.norm(h)
    E = np.outer(h, h)
    t, q = (R * E).sum(axis=(1, 2)), (seen * E**2).sum(axis=(1, 2))
    size = np.where(q < floors, (q**2 + floors**2) / (2 * floors), q)
    if hollow:
        size = size + bend(float((h**4).sum()))
    return float(weights @ (t**2 / size))


def slope(function: Any, x: Array, step: float = 1e-5) -> Array:
    """Return the gradient by central differences, (n,)."""
    return np.array([
        (function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))
    ])  # fmt: skip


class Counted:
    """An operator that counts how often the graphs are read."""

    def __init__(self, graphs: Any) -> None:
        self._graphs, self.n_reads = graphs, 0

    def __getattr__(self, name: str) -> Any:
        self.n_reads += name in READS
        return getattr(self._graphs, name)
