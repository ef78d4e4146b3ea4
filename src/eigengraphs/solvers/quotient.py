"""One component of the core problem: maximise f(y) = sum_i (y^T C_i y)^2 / q(y).

The rows of ``R`` are packed matrices C_i times sqrt(w_i), and q(y) = <h h^T, h h^T> for h = V y
over the entries that the loss counts. With all of them q = (y . y)^2 = 1. With the diagonal
unobserved q = (y . y)^2 - u for u = sum_s h_s^4, which vanishes at a single vertex, where f may
have no maximum. So q is bent upwards beyond u = 1/2: there, a component that would be a
vertex with its star stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.core_kernels import packed_curvature, raise_quotients, stay_on_tangent
from eigengraphs.solvers.eigen import eigen_small
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.remainder import Remainder

__all__ = ["BEND", "CONCENTRATED", "Quotient", "norm_curvature", "norm_gradient", "squared_norm"]

CONCENTRATED = 0.5  # of sum_s h_s^4, 1 being a single vertex and 1/2 two
_BEND = BEND = 100.0  # q turns upwards at sum_s h_s^4 = 1/2 + 1/(2 * _BEND)
_QUOTIENT_STEPS = 8
_NEWTON_STEPS = 60
_CURVED = 1e-5  # curvature over f of a direction that leads up from a stationary point
_SHORT = 1e-2  # step of Newton's method across which the curvature keeps its sign
_EPS = float(np.finfo(np.float64).eps)


def squared_norm(u: Array | float) -> Array:
    """Return q for unit vectors with u = sum_s h_s^4."""
    excess = np.maximum(np.asarray(u) - CONCENTRATED, 0.0)
    q: Array = 1.0 - np.asarray(u) + _BEND * excess**2
    return q


def norm_gradient(H: Array) -> Array:
    """Return the gradient of q / 4 at the unit columns of ``H`` (n, d), diagonal unobserved."""
    u = (H**4).sum(axis=0)
    excess = np.maximum(u - CONCENTRATED, 0.0)
    # q = N^2 - u + _BEND (u - N^2 / 2)^2 / N^2 with N = h . h, at N = 1.
    on_h = 1.0 - _BEND * excess * (1.0 + excess)
    gradient: Array = H * on_h - H**3 * (1.0 - 2.0 * _BEND * excess)
    return gradient


def norm_curvature(H: Array) -> Array:
    """Return vectors x_k, (n, d), such that bending adds about x_k x_k^T to the Hessian of q."""
    bent = (H**4).sum(axis=0) > CONCENTRATED
    vectors: Array = np.sqrt(2 * _BEND) * 4 * H**3 * bent
    return vectors


def _norm(x: Array) -> float:
    return float(np.sqrt(x @ x))  # a tenth of what scipy's takes on short vectors


def _along(y: Array, step: Array) -> Iterator[Array]:
    """Yield unit vectors nearer and nearer to y."""
    for length in (1.0, 0.5, 0.1, 0.01, 1e-3, 1e-4):
        trial = y + length * step
        yield trial / _norm(trial)


class Quotient:
    """The objective of one component, with ways up.

    Parameters
    ----------
    R : (r, p), or Remainder
        Packed weighted cores of what the earlier components left.
    packing
        Of s x s matrices.
    V : (n, s) or None
        The basis, if the diagonal is unobserved: then q depends on h and not on y alone.

    Attributes
    ----------
    forms : (r,)
        y^T C_i y at the last y that :meth:`maximise` or :meth:`measure` returned.
    """

    def __init__(self, R: Array | Remainder, packing: Packing, V: Array | None = None) -> None:
        self._cores = R if isinstance(R, Remainder) else Remainder(R)
        self._packing = packing
        self._V = V
        self.forms: Array = np.zeros(0)

    def numerators(self, Y: Array) -> Array:
        """Return sum_i (y^T C_i y)^2, roughly, of the rows of ``Y`` (b, s)."""
        T = self._cores.rough_forms(self._packing.rough_outer(Y))
        return np.asarray(np.einsum("br,br->b", T, T, dtype=np.float64))

    def norms(self, Y: Array) -> Array:
        """Return q of the unit rows of ``Y`` (b, s)."""
        if self._V is None:
            return np.ones(len(Y))
        return squared_norm(((Y @ self._V.T) ** 4).sum(axis=1))

    def climb(self, Y: Array, n_steps: int, *, exact: bool = False) -> Array:
        """Take steps from the unit rows of ``Y`` (b, s) towards the top eigenvector of S.

        The numerator is convex in z = y y^T, so that its linear model at z, <S, y y^T> with
        S = sum_i (y^T C_i y) C_i, bounds it from below: raising that raises f. Where the diagonal
        is unobserved, S gets what the component itself says of it; beyond u = 1/2, where q is
        bent, the step may lead down. It is done with the rough cores unless it must be ``exact``.
        """
        Y = Y.copy()
        cores, packing = self._cores, self._packing
        S: NDArray[Any]
        T: NDArray[Any]
        for _ in range(n_steps):
            if exact:
                T = cores.forms(packing.outer(Y))
                S = cores.sums(T)
            else:
                T = cores.rough_forms(packing.rough_outer(Y))
                S = cores.rough_sums(T)
            if self._V is not None:
                for place, y in enumerate(Y):
                    h2 = (self._V @ y) ** 2
                    f = (T[place] @ T[place]) / float(squared_norm(h2 @ h2))
                    S[place] += f * self._packing.pack(self._V.T @ (h2[:, None] * self._V))
            raise_quotients(S, Y, _QUOTIENT_STEPS)
        return Y

    def maximise(self, y: Array, tol: float) -> tuple[Array, float, float]:
        """Finish from ``y`` (s,) by Newton's method; return y, f and the relative gradient.

        Up to factors, f has the Hessian S + 2 sum_i (C_i y)(C_i y)^T - f q'' / 4 at a stationary
        point, on the tangent space. Where that bends upwards its eigenvalues are turned round,
        which leads away from saddle points.
        """
        y = np.ascontiguousarray(y)
        f, r, S, self.forms = self._state(y)
        if _norm(r) > f > 0:  # far from any maximum, where Newton's steps are short
            higher = self.climb(y[None], 4, exact=True)[0]
            if self._state(higher)[0] > f:
                y = higher
                f, r, S, self.forms = self._state(y)
        is_maximum = False
        for _ in range(_NEWTON_STEPS):
            small = _norm(r) <= tol * f
            if f == 0.0 or (small and (is_maximum or tol > 1e3 * _CURVED)):
                break
            step, concave = self._step(y, f, r, S, small)
            if step is None:
                break
            # Concave a short step before: so it is here, and need not be looked at again.
            is_maximum = concave and _norm(step) <= _SHORT
            for trial in self._trials(y, f, r, S, step):
                f_new, r_new, S_new, forms = self._state(trial)
                if f_new > f * (1 + 4 * _EPS):
                    break
                if f_new >= f * (1 - 100 * _EPS) and _norm(r_new) < 0.5 * _norm(r):
                    break  # at the rounding of f the gradient decides
            else:
                break
            y, f, r, S, self.forms = trial, f_new, r_new, S_new, forms
        return y, f, _norm(r) / f if f > 0 else 0.0

    def measure(self, y: Array, tol: float) -> tuple[Array, float, float]:  # noqa: ARG002
        """Return what :meth:`maximise` does, of ``y`` as it is."""
        y = np.ascontiguousarray(y)
        f, r, _, self.forms = self._state(y)
        return y, f, _norm(r) / f if f > 0 else 0.0

    def _trials(self, y: Array, f: float, r: Array, S: Array, step: Array) -> Iterator[Array]:
        """Yield points to go to: along the step, and where that does not lead up, other ways."""
        yield from _along(y, step)
        if self._V is not None:
            # A step across the bend, which it cannot see from below, is far too long.
            bent, _ = self._step(y, f, r, S, is_stationary=False, bent=True)
            if bent is not None:
                yield from _along(y, bent)
        yield self.climb(y[None], 1, exact=True)[0]  # slower

    def _state(self, y: Array) -> tuple[float, Array, Array, Array]:
        """Return f, the gradient of f q / 4 without its part along y, S, and y^T C_i y, (r,)."""
        S = np.empty((len(y), len(y)))
        f, forms = self._cores.state(y, S)
        if self._V is None:
            r = S @ y - f * y
        else:
            h = self._V @ y
            q = float(squared_norm((h**4).sum()))
            f /= q
            r = S @ y - f * (self._V.T @ norm_gradient(h[:, None])[:, 0])
            r /= q
        return f, r - (r @ y) * y, S, forms

    def _step(
        self, y: Array, f: float, r: Array, S: Array, is_stationary: bool, bent: bool = False
    ) -> tuple[Array | None, bool]:
        """Return the step to try, or None at a maximum, and whether f is concave here.

        ``bent`` as if q were bent already.
        """
        BtB = np.empty(S.shape, dtype=np.float32)
        packed_curvature(self._cores.rough_T, y.astype(np.float32), BtB)
        K = -2.0 * BtB - S  # minus the Hessian
        if self._V is None:
            K.flat[:: len(y) + 1] += f
        else:
            K += f * self._norm_curvature(y, bent)
            r = r * float(squared_norm(((self._V @ y) ** 4).sum()))
        stay_on_tangent(K, y, f)
        factor, info = linalg.lapack.dpotrf(K.T, lower=1)  # as symmetric, and in Fortran's order
        if info == 0:
            if is_stationary:
                return None, True
            return np.asarray(linalg.lapack.dpotrs(factor, r, lower=1)[0]), True
        values, vectors = eigen_small(K)
        if is_stationary:
            if values[0] >= -_CURVED * f:
                return None, False
            return 0.3 * np.asarray(vectors[:, 0]), False  # a saddle point, and the way up
        scale = np.maximum(np.abs(values), 1e-3 * f)
        return np.asarray(vectors @ ((vectors.T @ r) / scale)), False

    def _norm_curvature(self, y: Array, is_bent: bool = False) -> Array:
        """Return the Hessian of q / 4 on the tangent space, up to terms that are small there."""
        eye = np.eye(len(y))
        if self._V is None:
            return eye
        V = self._V
        h = V @ y
        excess = max(float((h**4).sum()) - CONCENTRATED, 0.0)
        bent = 1.0 - 2.0 * _BEND * excess
        curvature = (1.0 - _BEND * excess) * eye - 3 * bent * V.T @ ((h**2)[:, None] * V)
        if excess > 0 or is_bent:
            slope = 4 * (V.T @ h**3) - 2 * y
            curvature += _BEND / 2 * np.outer(slope, slope)
        return np.asarray(curvature)
