"""Algorithm 1 of the paper in plain NumPy, with the residual graphs built as arrays.

What a careful reader of the paper would write: explicit residuals, a gradient step with Armijo
backtracking, the exact update of lam, and all loadings solved again after each component. Two
savings that such a reader would find are in it: at the exact lam the objective is
sum_i ||R_i||^2 - sum_i lam_i^2, and the products R_i h of an accepted trial serve the next
gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["TextbookFit", "textbook_algorithm1"]

# Share of the promised decrease that a step must deliver. The usual 1e-4 lets steps of twice the
# right length pass, on which the search zigzags for thousands of iterations.
_ARMIJO = 0.4
_NEGLIGIBLE = 1e-4  # a mean residual smaller than this beside the residuals is rounding


@dataclass(frozen=True)
class TextbookFit:
    """Components, loadings, and what finding them took."""

    H: NDArray[np.float64]  # (n, d)
    Lam: NDArray[np.float64]  # (m, d)
    n_passes: int  # how often all graphs, or all residuals, were read
    converged: bool


def textbook_algorithm1(
    A: NDArray[np.float64], d: int, *, tol: float, max_iter: int
) -> TextbookFit:
    """Find d components of the graphs ``A`` (m, n, n) greedily.

    Parameters
    ----------
    A
        Symmetric matrices.
    d
        Number of components.
    tol
        Stop a component when its gradient is at most ``4 tol theta``, theta = sum_i lam_i^2.
    max_iter
        Most iterations for a component.
    """
    m, n, _ = A.shape
    H, Lam, R = np.zeros((n, 0)), np.zeros((m, 0)), A
    n_passes, converged = 0, True
    for _ in range(d):
        h, passes, done = _component(R, tol, max_iter)
        H = np.column_stack([H, h])
        Gamma = (H.T @ H) ** 2
        Psi = np.einsum("isk,sk->ki", (A.reshape(m * n, n) @ H).reshape(m, n, -1), H)
        Lam = linalg.solve(Gamma, Psi, assume_a="pos").T
        R = A - np.matmul(Lam[:, None, :] * H, H.T)
        n_passes += passes + 2
        converged &= done
    return TextbookFit(H, Lam, n_passes, converged)


def _component(
    R: NDArray[np.float64], tol: float, max_iter: int
) -> tuple[NDArray[np.float64], int, bool]:
    """Return the unit vector h, the passes it took, and whether its gradient is small."""
    m, n, _ = R.shape
    rows = R.reshape(m * n, n)
    h, n_passes = _start(R)
    Y = (rows @ h).reshape(m, n)  # R_i h
    n_passes += 1
    lam = Y @ h
    theta = float(lam @ lam)
    step = 1.0 / (8 * theta)  # doubled below: the first trial is a power iteration
    for _ in range(max_iter):
        gradient = -4 * (lam @ Y - theta * h)
        squared = float(gradient @ gradient)
        if np.sqrt(squared) <= 4 * tol * theta:
            return h, n_passes, True
        step *= 2
        while True:
            trial = h - step * gradient
            trial /= linalg.norm(trial)
            Y_trial = (rows @ trial).reshape(m, n)
            n_passes += 1
            lam_trial = Y_trial @ trial
            theta_trial = float(lam_trial @ lam_trial)
            # The objective falls by what theta rises.
            if theta_trial - theta >= _ARMIJO * step * squared:
                break
            step /= 2
            if step * theta < 1e-12:  # rounding is all that is left
                return h, n_passes, np.sqrt(squared) <= 400 * tol * theta
        h, Y, lam, theta = trial, Y_trial, lam_trial, theta_trial
    return h, n_passes, False


def _start(R: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return the top singular vector of the mean residual, and the passes it took.

    The mean of centered graphs is rounding; the sum of squares takes its place there.
    """
    m, n, _ = R.shape
    values, vectors = linalg.eigh(R.mean(axis=0))
    top = int(np.argmax(np.abs(values)))
    if abs(values[top]) > _NEGLIGIBLE * linalg.norm(R.ravel()) / np.sqrt(m):
        return vectors[:, top], 2
    rows = R.reshape(m * n, n)
    squares = rows.T @ rows  # sum_i R_i^2: the R_i are symmetric
    last = linalg.eigh(squares, subset_by_index=[n - 1, n - 1])[1]
    return last[:, 0], 3
