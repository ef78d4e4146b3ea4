"""One component on cores whose loadings obey a rule: maximise f(y) = sum_i w_i [s(t_i)^2 - c_i]_+.

t_i = y^T C_i y, and s(t) is the loading that the rule gives a graph which the component alone must
fit: t itself, its positive part, or t shrunk towards zero. c_i is what the graph must give up for
a further nonzero loading. Each term is convex in t, so in y y^T, and its linear model bounds it
from below: a vector with a larger <S, y y^T>, S = sum_i w_i s(t_i) C_i over the graphs that take
part, has a larger f. That is the climb; Newton's method finishes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigengraphs.solvers.ascent_kernels import (
    climb_ruled,
    newton_ruled,
    ruled_curvature,
    ruled_state,
)
from eigengraphs.solvers.core_kernels import stay_on_tangent
from eigengraphs.solvers.eigen import eigen_small
from eigengraphs.solvers.left_cores import LeftCores
from eigengraphs.solvers.protocol import Array

__all__ = ["Ascent", "Shrink"]

_TURNS = 8  # products with S of a step that climbs
_NEWTON_STEPS, _ROUGH_STEPS = 60, 40
_CURVED = 1e-5  # curvature over theta of a direction that leads up from a stationary point
_RESOLVED = 1e-4  # relative gradient that float32 tells for sure,
_LITTLE = 1e-8  # where f is this much of the cores at least
_AFAR = 0.03  # relative gradient from which the first steps are in float32
_ROUGH = 1e-3  # relative gradient to which they lead
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Shrink:
    """s, the loading of a component alone: t less the penalty in magnitude, or zero."""

    nonnegative: bool
    penalty: float = 0.0

    def __call__(self, T: Array) -> Array:
        """Return s, entry by entry."""
        if self.nonnegative:
            return np.maximum(T - self.penalty, 0.0)
        if self.penalty == 0.0:
            return T
        return np.asarray(np.sign(T) * np.maximum(np.abs(T) - self.penalty, 0.0))


class Ascent:
    """The objective of one component, with ways up.

    Parameters
    ----------
    cores
        C_i, what the earlier components leave.
    weights : (m,)
        Weight of each graph.
    shrink
        s.
    costs : (m,)
        c_i, at least 0.
    """

    def __init__(self, cores: LeftCores, weights: Array, shrink: Shrink, costs: Array) -> None:
        self._cores, self._shrink = cores, shrink
        self._w, self._costs = weights, costs
        self._little = _LITTLE * float(weights @ cores.squares)

    def gains(self, T: Array) -> Array:
        """Return f of forms y^T C_i y, the rows of ``T`` (b, m)."""
        return np.asarray(np.maximum(self._shrink(T) ** 2 - self._costs, 0.0) @ self._w)

    def climb(self, Y: Array, n_eager: int, n_steps: int) -> tuple[Array, Array]:
        """Take steps from the unit rows of ``Y`` (b, s), roughly; return where to, and f there.

        f never falls in the last ``n_steps``. The first ``n_eager`` ignore thresholds and costs:
        where all graphs are below them, no way is up.
        """
        gains = np.zeros(len(Y))
        for factors in (self._cores.rough, self._cores.exact):
            climbed = np.array(Y, order="C")
            climb_ruled(
                *factors, self._w, self._costs, self._shrink.nonnegative, self._shrink.penalty,
                climbed, n_eager, n_steps, _TURNS, gains,
            )  # fmt: skip
            if (gains > self._little).any():
                break  # otherwise what float32 found may be its rounding
        return climbed, gains

    def maximise(self, y: Array, tol: float) -> tuple[Array, float, float]:
        """Finish from ``y`` (s,); return y, f and the relative gradient.

        From far away, the first steps are in float32, and all are where that tells gradients of
        ``tol``.
        """
        y = np.ascontiguousarray(y)
        if tol >= _RESOLVED:
            y, f, size, is_maximum = self._roughly(y, tol)
            if is_maximum and f > self._little:
                return y, f, size
        state = self._state(y)
        if tol < _RESOLVED and linalg.norm(state[2]) > _AFAR * state[1]:
            y = self._roughly(y, _ROUGH)[0]
            state = self._state(y)
        return self._newton(y, tol, state)

    def _roughly(self, y: Array, tol: float) -> tuple[Array, float, float, bool]:
        """Go on from y in float32; return y, f, the relative gradient, and if y is a maximum."""
        y = y.copy()
        f, size, is_maximum = newton_ruled(
            *self._cores.rough, self._w, self._costs, self._shrink.nonnegative,
            self._shrink.penalty, y, tol, _ROUGH_STEPS, _TURNS, _CURVED,
        )  # fmt: skip
        return y, f, size, is_maximum

    def _newton(
        self, y: Array, tol: float, state: tuple[float, float, Array, Array, Array]
    ) -> tuple[Array, float, float]:
        """Go from y, whose state is known, to a maximum; return y, f and the relative gradient.

        On the tangent space the Hessian is S + 2 sum_i w_i s'(t_i) (C_i y)(C_i y)^T - theta I, up
        to a factor. A Newton step that does not raise f gives way to the climb.
        """
        f, theta, r, S, t = state
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

    def _state(self, y: Array) -> tuple[float, float, Array, Array, Array]:
        """Return f, theta = sum_i w_i s(t_i) t_i, the gradient, S and s(t)."""
        t: Array = np.empty(len(self._w))
        S: Array = np.empty((len(y), len(y)))
        f, theta = ruled_state(
            *self._cores.exact, self._w, self._costs, self._shrink.nonnegative,
            self._shrink.penalty, y, S, t,
        )  # fmt: skip
        return f, theta, S @ y - theta * y, S, t

    def _trials(
        self, y: Array, theta: float, r: Array, S: Array, t: Array, small: bool
    ) -> Iterator[Array]:
        """Yield places to try: Newton's, or the climb's; none at a maximum."""
        K: Array = np.empty_like(S)  # minus the Hessian
        ruled_curvature(*self._cores.exact, self._w, t, y, K)
        K *= -2.0
        K -= S
        K.flat[:: len(y) + 1] += theta * (1.0 + _CURVED if small else 1.0)
        stay_on_tangent(K, y, theta)
        factor, info = linalg.lapack.dpotrf(K.T, lower=1)  # as symmetric, in Fortran's order
        if info == 0:
            if small:
                return
            newton = linalg.lapack.dpotrs(factor, r, lower=1)[0]
        else:
            values, vectors = eigen_small(K)
            if small:  # a saddle point: along its steepest way, to both sides
                for length in (0.3, -0.3, 0.03):
                    yield _unit(y + length * vectors[:, 0])
                return
            scale = np.maximum(np.abs(values), 1e-3 * theta)
            newton = vectors @ ((vectors.T @ r) / scale)
        yield _unit(y + newton)
        yield _unit(y + 0.3 * newton)
        top = eigen_small(S)[1][:, -1]
        yield np.ascontiguousarray(top if top @ y >= 0 else -top)
        yield _unit(y + 0.01 * newton)


def _unit(x: Array) -> Array:
    return np.asarray(x / linalg.norm(x))
