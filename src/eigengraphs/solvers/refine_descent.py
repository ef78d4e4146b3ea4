"""Descent of all columns at once, each on its sphere.

L-BFGS whose first guess of the Hessian is that of Gauss and Newton with the loadings eliminated.
For graphs that the components fit well it is exact; what residuals add is learnt from the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.refine_objective import Point, tangent

__all__ = ["descend"]

_MEMORY = 10  # steps that the Hessian is learnt from
_DAMPING = 0.01  # of the curvature of each component alone
_SUPPORTS = 32  # of which it is known how the loadings follow
_NOTHING = 1e-10  # of the largest: a component that carries so little
_ARMIJO = 1e-4
_SHORTEST = 1e-8  # step length that is still tried
_EPS = float(np.finfo(np.float64).eps)


def descend(
    objective: Callable[[Array], Point],
    start: Point,
    tol: float,
    max_iter: int,
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
    """
    point, history = start, list[tuple[Array, Array]]()
    for _ in range(max_iter):
        if point.stationarity.max(initial=0.0) <= tol:
            break
        hessian = _GaussNewton(point)
        direction = tangent(point.Y, _two_loops(hessian, 4 * point.r, history))
        if (direction * point.r).sum() <= 0:
            history = []
            direction = tangent(point.Y, _two_loops(hessian, 4 * point.r, history))
        after, length = _search(objective, point, direction)
        if after is None:
            if not history:
                break  # no way down that rounding leaves visible
            history = []
            continue
        step = tangent(after.Y, length * direction)
        change = 4 * (tangent(after.Y, point.r) - after.r)
        history = [(tangent(after.Y, a), tangent(after.Y, b)) for a, b in history]
        if (step * change).sum() > 1e-10 * linalg.norm(step) * linalg.norm(change):
            history = [*history[-_MEMORY + 1 :], (step, change)]
        point = after
    return point


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


def _by_support(point: Point) -> Iterator[tuple[NDArray[np.bool_], Array]]:
    """Yield supports (d,) of loadings, the most common ones, and M of the graphs that have each."""
    used = point.Lam != 0
    if used.all():
        yield used[0], point.M
        return
    codes = used @ 2.0 ** np.arange(min(used.shape[1], 1000))
    _, first, place, counts = np.unique(
        codes, return_index=True, return_inverse=True, return_counts=True
    )
    for common in np.argsort(-counts, kind="stable")[:_SUPPORTS]:
        support, here = used[first[common]], place == common
        if support.any():
            yield support, point.weighted[here].T @ point.Lam[here]


class _GaussNewton:
    """The Hessian B of Gauss and Newton at a point, damped.

    With M_kl = sum_i w_i Lam_ik Lam_il,

        (B X)_k / 4 = sum_l M_kl ((h_k . h_l) x_l + h_l (h_k . x_l))
                      - 2 sum_ljm M_kl (h_k . h_j) (h_l . h_m) (G^2)^-1_jm h_j (h_m . x_l),

    with G^2 the squares of h_k . h_l. The second sum is what the loadings follow: if some are zero
    and stay so, it is one for each support. Outside of span H only the first term is left, one
    (d, d) matrix for all; inside there are d^2 numbers.

    Parameters
    ----------
    point
        Where.
    """

    def __init__(self, point: Point) -> None:
        Y = point.Y
        d = Y.shape[1]
        alone = np.diagonal(point.M)
        # What carries nothing moves for the bend's sake alone, and not far.
        largest = max(float(alone.max()), 1e-300)
        scale = 1 / np.sqrt(np.where(alone > _NOTHING * largest, alone, largest))
        M = point.M * np.outer(scale, scale)  # a unit diagonal: then damping is the same for all
        G = Y.T @ Y
        Q, P = linalg.qr(Y, mode="economic")  # h_k = Q p_k
        q = len(P)
        inner = (M * G)[:, None, :, None] * np.eye(q)[:, None, :]
        inner += M[:, None, :, None] * (P.T[None, None].transpose(0, 3, 2, 1) * P.T[:, None, None])
        follow = (G[:, None, :] * P).reshape(d * q, d)  # (h_k . h_j) p_j
        for support, M_S in _by_support(point):
            # All entries, though some may take no part: the sums must belong together. And a
            # little more than G^2: its inverse is less, and the difference stays positive.
            F, G2 = follow[:, support], G[np.ix_(support, support)] ** 2
            inverse = linalg.inv(G2 + 1e-8 * np.eye(len(G2)), check_finite=False)
            M_S = M_S * np.outer(scale, scale)
            inner -= 2 * M_S[:, None, :, None] * (F @ inverse @ F.T).reshape(d, q, d, q)
        # Along h_k itself there is no curvature, and no way to go.
        inner[range(d), :, range(d), :] += P.T[:, :, None] * P.T[:, None, :]
        inner = inner.reshape(d * q, d * q)
        inner[np.diag_indices(d * q)] += _DAMPING
        outer = M * G
        outer[np.diag_indices(d)] += _DAMPING
        self._scale, self._Q = scale, Q
        self._inner = linalg.cho_factor(inner, overwrite_a=True, check_finite=False)
        self._outer = linalg.cho_factor(outer, overwrite_a=True, check_finite=False)
        # What bends, by the formula of Sherman, Morrison and Woodbury.
        U = point.bent
        BU = np.array([self._unbent(x) for x in U]).reshape(U.shape)
        within = np.eye(len(U)) + np.einsum("esk,fsk->ef", U, BU)
        self._U, self._BU = U, BU
        if len(U):
            flat = BU.reshape(len(U), -1)
            self._BU = linalg.cho_solve(linalg.cho_factor(within), flat).reshape(U.shape)

    def solve(self, X: Array) -> Array:
        """Return Z, (s, d), with B Z = X."""
        Z = self._unbent(X)
        return np.asarray(Z - np.tensordot(np.einsum("esk,sk->e", self._U, Z), self._BU, axes=1))

    def _unbent(self, X: Array) -> Array:
        """Return the same for the Hessian without what bending adds."""
        X = X * self._scale / 4
        inside = self._Q.T @ X
        solved = linalg.cho_solve(self._inner, inside.T.ravel()).reshape(inside.T.shape).T
        rest = linalg.cho_solve(self._outer, (X - self._Q @ inside).T).T
        return np.asarray((self._Q @ solved + rest) * self._scale)
