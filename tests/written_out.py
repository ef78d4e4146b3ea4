"""The definitions with every matrix written out, to hold the solvers' shortcuts against."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.graphs.view import StackView

Array = NDArray[np.float64]

READS = (
    "multiply", "sum_multiply", "quadratic_forms", "mean", "squared_norms", "products", "project",
    "weighted_multiply", "sketch",
)  # fmt: skip


def outer_products(H: Array, *, hollow: bool = False) -> Array:
    """Return h_k h_k^T, (d, n, n), without its diagonal if that does not count."""
    E = np.einsum("sk,tk->kst", H, H)
    return E * (1 - np.eye(len(H))) if hollow else E


def residuals(A: Array, H: Array, *, hollow: bool = False) -> Array:
    """Return what least squares on all h_k h_k^T leave of symmetric matrices A (m, n, n)."""
    if hollow:
        A = A * (1 - np.eye(A.shape[1]))
    E = outer_products(H, hollow=hollow).reshape(H.shape[1], A[0].size).T
    B = A.reshape(len(A), -1).T
    return np.asarray(B - E @ linalg.lstsq(E, B)[0] if H.shape[1] else B).T.reshape(A.shape)


def norm_without_diagonal(h: Array) -> float:
    """Return ||h h^T||^2 off the diagonal for a unit vector, bent upwards beyond sum h^4 = 1/2."""
    u = float((h**4).sum())
    return 1 - u + 100 * max(u - 0.5, 0.0) ** 2


def objective(R: Array, weights: Array, h: Array, *, hollow: bool = False) -> float:
    """Return sum_i w_i <R_i, h h^T>^2 / ||h h^T||^2 at h / ||h||."""
    h = h / linalg.norm(h)
    forms = np.einsum("s,ist,t->i", h, R, h)
    return float(weights @ forms**2) / (norm_without_diagonal(h) if hollow else 1.0)


def slope(function: Any, x: Array, step: float = 1e-5) -> Array:
    """Return the gradient by central differences, (n,)."""
    return np.array([
        (function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))
    ])  # fmt: skip


def stationarity(A: Array, H: Array, weights: Array) -> Array:
    """Return ||sum_i w_i lam_i R_i h_k - theta h_k|| / theta on the residuals of each stage."""
    sizes = []
    for k, h in enumerate(H.T):
        R = residuals(A, H[:, :k])
        lam = np.einsum("s,ist,t->i", h, R, h)
        theta = weights @ lam**2
        r = np.tensordot(weights * lam, R, axes=1) @ h - theta * h
        sizes.append(linalg.norm(r) / theta)
    return np.array(sizes)


def hollow_stationarity(A: Array, H: Array, weights: Array) -> Array:
    """Return the same with the diagonal unobserved, by differences of the objective."""
    sizes = []
    for k, h in enumerate(H.T):
        R = residuals(A, H[:, :k], hollow=True)
        gradient = slope(lambda x, R=R: objective(R, weights, x, hollow=True), h)
        sizes.append(linalg.norm(gradient) / 4 / objective(R, weights, h, hollow=True))
    return np.array(sizes)


class Counted:
    """A view that counts how often the graphs are read."""

    def __init__(self, view: StackView) -> None:
        self._view = view
        self.calls: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """Number of reads."""
        return self.calls.total()

    def __getattr__(self, name: str) -> Any:
        if name in READS:
            self.calls[name] += 1
        return getattr(self._view, name)
