"""Descent of all columns at once, each on its sphere.

L-BFGS whose first guess of the Hessian is that of Gauss and Newton with the loadings eliminated.
For graphs that the components fit well it is exact; what residuals add is learnt from the steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.refine_objective import Point

__all__ = ["descend"]

_MEMORY = 10  # steps that the Hessian is learnt from
_DAMPING = 0.01  # of the curvature of each component alone
_ARMIJO = 1e-4
_SHORTEST = 1e-8  # step length that is still tried
_EPS = float(np.finfo(np.float64).eps)


def descend(
    objective: Callable[[Array], Point],
    start: Point,
    tol: float,
    max_iter: int,
    *,
    eliminate: bool,
) -> Point:
    """Return a point that is lower, with relative gradients of ``tol`` if steps suffice.

    Parameters
    ----------
    objective
        Value and gradient at unit columns.
    start
        Where to begin.
    tol
        Stop when every ||r_k|| <= tol * theta_k.
    max_iter
        Most steps.
    eliminate
        Loadings are free to follow the components, and the first Hessian takes account of it.
    """
    point, history = start, list[tuple[Array, Array]]()
    for _ in range(max_iter):
        if point.stationarity.max(initial=0.0) <= tol:
            break
        hessian = _GaussNewton(point, eliminate)
        direction = _tangent(point.Y, _two_loops(hessian, 4 * point.r, history))
        if (direction * point.r).sum() <= 0:
            history = []
            direction = _tangent(point.Y, _two_loops(hessian, 4 * point.r, history))
        after, length = _search(objective, point, direction)
        if after is None:
            if not history:
                break  # no way down that rounding leaves visible
            history = []
            continue
        step = _tangent(after.Y, length * direction)
        change = 4 * (_tangent(after.Y, point.r) - after.r)
        history = [(_tangent(after.Y, a), _tangent(after.Y, b)) for a, b in history]
        if (step * change).sum() > 1e-10 * linalg.norm(step) * linalg.norm(change):
            history = [*history[-_MEMORY + 1 :], (step, change)]
        point = after
    return point


def _tangent(Y: Array, X: Array) -> Array:
    """Return X without what would change the lengths of the columns."""
    return np.asarray(X - Y * (Y * X).sum(axis=0))


def _two_loops(hessian: _GaussNewton, q: Array, history: list[tuple[Array, Array]]) -> Array:
    """Return the direction of L-BFGS from the steps and changes of the gradient before."""
    shares: list[float] = []
    for step, change in reversed(history):
        shares.append(float((step * q).sum() / (step * change).sum()))
        q = q - shares[-1] * change
    q = hessian.solve(q)
    for (step, change), share in zip(history, reversed(shares), strict=True):
        q = q + (share - float((change * q).sum() / (step * change).sum())) * step
    return q


def _search(
    objective: Callable[[Array], Point], point: Point, direction: Array
) -> tuple[Point | None, float]:
    """Return the first point along the direction that is low enough, and the step's length."""
    descent = 4 * float((point.r * direction).sum())
    # Of loadings that cancel, the value is a small difference.
    rounding = 10 * _EPS * max(abs(point.value), float(np.trace(point.M)))
    length = 1.0
    while length > _SHORTEST:
        Y = point.Y + length * direction
        after = objective(Y / np.sqrt((Y**2).sum(axis=0)))
        if after.value <= point.value - _ARMIJO * length * descent:
            return after, length
        # Where differences of values are rounding, the gradient tells (Hager and Zhang).
        further = 4 * float((after.r * direction).sum())
        if after.value <= point.value + rounding and -further <= (1 - 2 * _ARMIJO) * descent:
            return after, length
        length *= 0.4
    return None, 0.0


class _GaussNewton:
    """The Hessian B of Gauss and Newton at a point, damped.

    With M_kl = sum_i w_i Lam_ik Lam_il,

        (B X)_k / 4 = sum_l M_kl ((h_k . h_l) x_l + h_l (h_k . x_l))
                      - 2 sum_ljm M_kl (h_k . h_j) (h_l . h_m) (G^2)^-1_jm h_j (h_m . x_l),

    with G^2 the squares of h_k . h_l; the second sum is what the loadings follow. Outside of span H
    only the first term is left, one (d, d) matrix for all; inside there are d^2 numbers.

    Parameters
    ----------
    point
        Where.
    eliminate
        Loadings follow.
    """

    def __init__(self, point: Point, eliminate: bool) -> None:
        Y = point.Y
        d = Y.shape[1]
        alone = np.diagonal(point.M)
        scale = 1 / np.sqrt(np.maximum(alone, max(1e-12 * float(alone.max()), 1e-300)))
        M = point.M * np.outer(scale, scale)  # a unit diagonal: then damping is the same for all
        G = Y.T @ Y
        Q, P = linalg.qr(Y, mode="economic")  # h_k = Q p_k
        q = len(P)
        inner = (M * G)[:, None, :, None] * np.eye(q)[:, None, :]
        inner += M[:, None, :, None] * (P.T[None, None].transpose(0, 3, 2, 1) * P.T[:, None, None])
        if eliminate:
            # All entries, though some may take no part: the two sums must belong together.
            follow = (G[:, None, :] * P).reshape(d * q, d)  # (h_k . h_j) p_j
            # A little more than G^2: its inverse is less, and the difference stays positive.
            inverse = linalg.inv(G**2 + 1e-8 * np.eye(d), check_finite=False)
            through = (follow @ inverse @ follow.T).reshape(d, q, d, q)
            inner -= 2 * M[:, None, :, None] * through
        # Along h_k itself there is no curvature, and no way to go.
        inner[range(d), :, range(d), :] += P.T[:, :, None] * P.T[:, None, :]
        inner = inner.reshape(d * q, d * q)
        for v in point.bent.T:
            turn = 2 * scale * (P @ (np.outer(v, v) * G))  # half of d/dH v^T Gamma v, in Q
            inner += np.outer(turn.T, turn.T)
        inner[np.diag_indices(d * q)] += _DAMPING
        outer = M * G
        outer[np.diag_indices(d)] += _DAMPING
        self._scale, self._Q = scale, Q
        self._inner = linalg.cho_factor(inner, overwrite_a=True, check_finite=False)
        self._outer = linalg.cho_factor(outer, overwrite_a=True, check_finite=False)

    def solve(self, X: Array) -> Array:
        """Return Z, (s, d), with B Z = X."""
        X = X * self._scale / 4
        inside = self._Q.T @ X
        solved = linalg.cho_solve(self._inner, inside.T.ravel()).reshape(inside.T.shape).T
        rest = linalg.cho_solve(self._outer, (X - self._Q @ inside).T).T
        return np.asarray((self._Q @ solved + rest) * self._scale)
