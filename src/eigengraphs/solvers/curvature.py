"""Tell a maximum from a saddle point, and the way up from the latter."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.residuals import Residuals

__all__ = ["ascent_direction"]

_STEPS = 10  # Lanczos steps, a pass each; a saddle that matters shows in fewer
_CURVED = 1e-5  # curvature over theta that is more than the gradient's own rounding


def ascent_direction(
    residuals: Residuals,
    h: Array,
    Y: Array,
    lam: Array,
    theta: float,
    weights: Array,
    rng: np.random.Generator,
) -> Array | None:
    """Return a unit tangent vector (n,) along which the objective bends up, or None.

    At a stationary point of F(h) = sum_i w_i (h^T R_i h)^2 on the sphere, F / 4 has the Hessian
    sum_i w_i lam_i R_i + 2 sum_i w_i (R_i h)(R_i h)^T - theta I on the tangent space. The Ritz
    vector of its largest Ritz value after a few Lanczos steps has just that curvature.

    Parameters
    ----------
    residuals
        The residual graphs R_i.
    h, Y, lam, theta
        Stationary point, R_i h (m, n), h^T R_i h (m,), and F(h).
    weights : (m,)
        Weight of each graph.
    rng
        Source of the first vector.
    """
    n = len(h)
    Q, HQ = np.zeros((n, 0)), np.zeros((n, 0))
    q = rng.standard_normal(n)
    for _ in range(min(_STEPS, n - 1)):
        for _ in range(2):  # orthogonal to h and to all that came before
            q = q - h * (h @ q) - Q @ (Q.T @ q)
        size = float(linalg.norm(q))
        if size <= 1e-10 * theta:  # the vectors span all that the Hessian can reach
            break
        q /= size
        Hq = (weights * lam) @ residuals.multiply(q) + 2 * (weights * (Y @ q)) @ Y - theta * q
        Q, HQ = np.column_stack([Q, q]), np.column_stack([HQ, Hq])
        q = Hq
    if Q.shape[1] == 0:
        return None
    T = Q.T @ HQ
    values, vectors = linalg.eigh((T + T.T) / 2, driver="evd")
    if values[-1] <= _CURVED * theta:
        return None
    direction: Array = Q @ vectors[:, -1]
    return direction
