"""One component on cores whose loadings obey a rule: maximise f(y) = sum_i w_i [s(t_i)^2 - c_i]_+.

t_i = y^T C_i y, and s(t) is the loading that the rule gives a graph which the component alone must
fit: t itself, its positive part, or t shrunk towards zero. c_i is what the graph must give up for
a further nonzero loading. Each term is convex in t, so in y y^T, and its linear model bounds it
from below: a vector with a larger <S, y y^T>, S = sum_i w_i s(t_i) C_i over the graphs that take
part, has a larger f. That is the climb; Newton's method finishes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy import linalg

from eigengraphs.solvers.ascent_kernels import packed_products
from eigengraphs.solvers.core_kernels import raise_quotients
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array

__all__ = ["Ascent", "Shrink"]

Shrink: TypeAlias = Callable[[Array], Array]

_QUOTIENT_STEPS = 8
_NEWTON_STEPS = 60
_CURVED = 1e-5  # curvature over theta of a direction that leads up from a stationary point
_EPS = float(np.finfo(np.float64).eps)


class Ascent:
    """The objective of one component, with ways up.

    Parameters
    ----------
    R : (m, p)
        Packed cores C_i of what the earlier components leave.
    weights : (m,)
        Weight of each graph.
    packing
        Of s x s matrices.
    shrink
        s, entry by entry, with slope 0 or 1.
    eager
        The same without its threshold, for the first steps of a climb: where all t_i are below
        the threshold, no way is up.
    costs : (m,)
        c_i, at least 0.
    """

    def __init__(
        self,
        R: Array,
        weights: Array,
        packing: Packing,
        shrink: Shrink,
        eager: Shrink,
        costs: Array,
    ) -> None:
        self._R, self._w, self._packing = R, weights, packing
        self._shrink, self._eager, self._costs = shrink, eager, costs

    def gains(self, Y: Array) -> Array:
        """Return f of the unit rows of ``Y`` (b, s)."""
        T = self._shrink(self._packing.outer(Y) @ self._R.T)
        return np.asarray(np.maximum(T**2 - self._costs, 0.0) @ self._w)

    def climb(self, Y: Array, n_steps: int) -> Array:
        """Take steps from the unit rows of ``Y`` (b, s).

        f never falls in the second half of them. The first half ignores thresholds and costs.
        """
        Y = Y.copy()
        for step in range(n_steps):
            T = self._packing.outer(Y) @ self._R.T
            if 2 * step < n_steps:
                T = self._eager(T)
            else:
                T = self._shrink(T)
                T = np.where(self._costs < T**2, T, 0.0)
            raise_quotients((T * self._w) @ self._R, Y, _QUOTIENT_STEPS)
        return Y

    def maximise(self, y: Array, tol: float) -> tuple[Array, float, float]:
        """Finish from ``y`` (s,); return y, f and the relative gradient.

        On the tangent space the Hessian is S + 2 sum_i w_i s'(t_i) (C_i y)(C_i y)^T - theta I, up
        to a factor. A Newton step that does not raise f gives way to the climb.
        """
        y = np.ascontiguousarray(y)
        f, theta, r, S, t = self._state(y)
        for _ in range(_NEWTON_STEPS):
            small = float(linalg.norm(r)) <= tol * theta
            if theta <= 0.0 or (small and tol > 1e3 * _CURVED):
                break
            for trial in self._trials(y, theta, r, S, t, small):
                state = self._state(trial)
                if state[0] > f * (1 + 4 * _EPS):
                    break
                flat = state[0] >= f * (1 - 100 * _EPS)
                if flat and linalg.norm(state[2]) < 0.5 * linalg.norm(r):
                    break  # at the rounding of f the gradient decides
            else:
                break
            y, (f, theta, r, S, t) = trial, state
        return y, f, float(linalg.norm(r)) / theta if theta > 0 else 0.0

    def measure(self, y: Array) -> tuple[Array, float, float]:
        """Return what :meth:`maximise` does, of ``y`` as it is."""
        y = np.ascontiguousarray(y)
        f, theta, r, _, _ = self._state(y)
        return y, f, float(linalg.norm(r)) / theta if theta > 0 else 0.0

    def _state(self, y: Array) -> tuple[float, float, Array, Array, Array]:
        """Return f, theta = sum_i w_i s(t_i) t_i, the gradient, S and s(t)."""
        t = self._shrink(self._R @ self._packing.outer(y[None])[0])
        t = np.where(t**2 > self._costs, t, 0.0)
        wt = self._w * t
        S = self._packing.unpack(wt @ self._R)
        Sy = S @ y
        theta = float(y @ Sy)
        f = float(wt @ t) - float(self._w @ np.where(t == 0.0, 0.0, self._costs))
        return f, theta, Sy - theta * y, S, t

    def _trials(
        self, y: Array, theta: float, r: Array, S: Array, t: Array, small: bool
    ) -> list[Array]:
        """Return places to try: Newton's, or the climb's; none at a maximum."""
        active = np.flatnonzero(t)
        B = np.empty((len(active), len(y)))
        packed_products(self._R, y, active, B)
        hessian = S + 2.0 * (B * self._w[active, None]).T @ B
        hessian[np.diag_indices(len(y))] -= theta
        # On the tangent space, and -theta along y, where nothing is asked.
        Hy = hessian @ y
        hessian -= np.outer(Hy, y) + np.outer(y, Hy) - (y @ Hy - theta) * np.outer(y, y)
        if small:
            hessian[np.diag_indices(len(y))] -= _CURVED * theta
        try:
            factor = linalg.cho_factor(-hessian, lower=True, check_finite=False)
        except linalg.LinAlgError:
            values, vectors = linalg.eigh(hessian, check_finite=False, driver="evd")
            if small:  # a saddle point: along its steepest way, to both sides
                steps = [0.3 * vectors[:, -1], -0.3 * vectors[:, -1], 0.03 * vectors[:, -1]]
                return [_unit(y + step) for step in steps]
            floor = np.maximum(np.abs(values), 1e-3 * theta)
            newton = vectors @ ((vectors.T @ r) / floor)
        else:
            if small:
                return []
            newton = linalg.cho_solve(factor, r, check_finite=False)
        top = linalg.eigh(S, check_finite=False, driver="evd")[1][:, -1]
        top = top if top @ y >= 0 else -top
        return [_unit(y + newton), _unit(y + 0.3 * newton), top, _unit(y + 0.01 * newton)]


def _unit(x: Array) -> Array:
    return np.asarray(x / linalg.norm(x))
