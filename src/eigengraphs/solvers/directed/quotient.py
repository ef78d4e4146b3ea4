"""One component of the core problem: maximise f(y, z) = sum_i (y^T C_i z)^2 / q over unit y and z.

The rows of ``R`` are packed matrices C_i (s, t) times sqrt(w_i), and q = <h g^T, h g^T> for h = U y
and g = V z over the entries that the loss counts. With all of them q = 1. With the diagonal
unobserved q = 1 - u for u = sum_s h_s^2 g_s^2, which vanishes at a single loop, h = g = e_s, where
f may have no maximum. So q is bent upwards beyond u = 1/2, as in
:mod:`~eigengraphs.solvers.quotient`.

A point x is y above z.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.directed.kernels import (
    keep_tangents,
    pair_curvature,
    pair_state,
    raise_pairs,
)
from eigengraphs.solvers.directed.pairs import PairPacking, unit_pairs
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.quotient import BEND, CONCENTRATED, squared_norm

__all__ = ["PairQuotient", "pair_norm_gradient"]

_QUOTIENT_STEPS = 8
_NEWTON_STEPS = 60
_CURVED = 1e-5  # curvature over f of a direction that leads up from a stationary point
_EPS = float(np.finfo(np.float64).eps)


def pair_norm_gradient(H: Array, G: Array) -> Array:
    """Return the gradient of q / 2 by h at unit columns (n, d), diagonal unobserved.

    With H and G exchanged it is the gradient by g.
    """
    excess = np.maximum((H**2 * G**2).sum(axis=0) - CONCENTRATED, 0.0)
    # q = N - u + BEND (u - N / 2)^2 / N with N = (h . h) (g . g), at N = 1.
    on_h = 1.0 - BEND * excess * (1.0 + excess)
    gradient: Array = H * on_h - H * G**2 * (1.0 - 2.0 * BEND * excess)
    return gradient


class _State(NamedTuple):
    """The objective at a point."""

    x: Array  # (s + t,)
    f: float
    r: Array  # (s + t,) gradient of f / 2, orthogonal to y and to z
    S: Array  # (s, t) sum_i (y^T C_i z) C_i

    @property
    def slope(self) -> float:
        """Length of the gradient."""
        return float(np.sqrt(self.r @ self.r))


class PairQuotient:
    """The objective of one component, with ways up.

    Parameters
    ----------
    R : (r, p)
        Packed weighted cores of what the earlier components left.
    packing
        Of s x t matrices.
    bases : ((n, s), (n, t)) or None
        U and V, if the diagonal is unobserved: then q depends on h and g.
    rough : (p, r), float32
        R again, laid out as the Hessian wants it: does for that and for starts, at half the cost.
    """

    def __init__(
        self,
        R: Array,
        packing: PairPacking,
        bases: tuple[Array, Array] | None = None,
        rough: NDArray[np.float32] | None = None,
    ) -> None:
        self._R = np.ascontiguousarray(R)  # kernels are compiled for one layout
        self._rough = np.ascontiguousarray(R.T, dtype=np.float32) if rough is None else rough
        self._packing, self._bases = packing, bases

    def numerators(self, X: Array) -> Array:
        """Return sum_i (y^T C_i z)^2, roughly, of the rows of ``X`` (b, s + t)."""
        T = self._packing.outer(X).astype(np.float32) @ self._rough
        return np.asarray(np.einsum("br,br->b", T, T, dtype=np.float64))

    def norms(self, X: Array) -> Array:
        """Return q of the rows of ``X`` (b, s + t)."""
        if self._bases is None:
            return np.ones(len(X))
        H, G = self._vectors(X)
        return squared_norm((H**2 * G**2).sum(axis=1))

    def _vectors(self, X: Array) -> tuple[Array, Array]:
        """Return h and g, (..., n), of points (..., s + t)."""
        assert self._bases is not None
        U, V = self._bases
        s = self._packing.s
        return X[..., :s] @ U.T, X[..., s:] @ V.T

    def climb(self, X: Array, n_steps: int, *, exact: bool = False) -> Array:
        """Take steps from the rows of ``X`` (b, s + t) towards the top singular pair of S.

        The numerator is convex in y z^T, so that its linear model, <S, y z^T> with
        S = sum_i (y^T C_i z) C_i, bounds it from below: raising that raises f. Where the diagonal
        is unobserved, S gets what the component itself says of it. It is done with the rough
        cores unless it must be ``exact``.
        """
        X = X.copy()
        RT: NDArray[Any] = self._R.T if exact else self._rough
        for _ in range(n_steps):
            T = self._packing.outer(X).astype(RT.dtype, copy=False) @ RT
            Z = (T @ RT.T).astype(np.float64)
            if self._bases is not None:
                U, V = self._bases
                for place, x in enumerate(X):
                    h, g = self._vectors(x)
                    f = (T[place] @ T[place]) / float(squared_norm(h**2 @ g**2))
                    Z[place] += f * self._packing.pack(U.T @ ((h * g)[:, None] * V))
            raise_pairs(np.ascontiguousarray(Z), X, self._packing.s, _QUOTIENT_STEPS)
        return X

    def maximise(self, x: Array, tol: float) -> tuple[Array, float, float]:
        """Finish from ``x`` (s + t,) by Newton's method; return x, f and the relative gradient.

        On the tangent spaces of both spheres half the Hessian of f at a stationary point is, up to
        the factor q, sum_i b_i b_i^T + [[0, S], [S^T, 0]] - f q'' / 2 with b_i = (C_i z, C_i^T y).
        Where that bends upwards its eigenvalues are turned round, which leads away from saddle
        points.
        """
        now = self._state(np.ascontiguousarray(x))
        if now.slope > now.f > 0:  # far from any maximum, where Newton's steps are short
            higher = self._state(self.climb(now.x[None], 4, exact=True)[0])
            now = higher if higher.f > now.f else now
        for _ in range(_NEWTON_STEPS):
            small = now.slope <= tol * now.f
            if now.f == 0.0 or (small and tol > 1e3 * _CURVED):
                break
            step = self._step(now, small)
            if step is None:
                break
            for trial in self._trials(now, step):
                new = self._state(trial)
                if new.f > now.f * (1 + 4 * _EPS):
                    break
                if new.f >= now.f * (1 - 100 * _EPS) and new.slope < 0.5 * now.slope:
                    break  # at the rounding of f the gradient decides
            else:
                break
            now = new
        return now.x, now.f, now.slope / now.f if now.f > 0 else 0.0

    def measure(self, x: Array, tol: float) -> tuple[Array, float, float]:  # noqa: ARG002
        """Return what :meth:`maximise` does, of ``x`` as it is."""
        now = self._state(np.ascontiguousarray(x))
        return now.x, now.f, now.slope / now.f if now.f > 0 else 0.0

    def _along(self, x: Array, step: Array) -> Iterator[Array]:
        """Yield pairs of unit vectors nearer and nearer to x."""
        for length in (1.0, 0.5, 0.1, 0.01, 1e-3, 1e-4):
            yield unit_pairs(x + length * step, self._packing.s)

    def _trials(self, now: _State, step: Array) -> Iterator[Array]:
        """Yield points to go to: along the step, and where that does not lead up, other ways."""
        yield from self._along(now.x, step)
        if self._bases is not None:
            # A step across the bend, which it cannot see from below, is far too long.
            bent = self._step(now, is_stationary=False, bent=True)
            if bent is not None:
                yield from self._along(now.x, bent)
        yield self.climb(now.x[None], 1, exact=True)[0]  # slower

    def _state(self, x: Array) -> _State:
        s = self._packing.s
        y, z = x[:s], x[s:]
        S = np.empty((s, self._packing.t))
        f = pair_state(self._R, y, z, S)
        r = np.concatenate([S @ z, S.T @ y])
        if self._bases is None:
            r = r - f * x
        else:
            h, g = self._vectors(x)
            U, V = self._bases
            q = float(squared_norm(h**2 @ g**2))
            f /= q
            by_h = U.T @ pair_norm_gradient(h[:, None], g[:, None])[:, 0]
            by_g = V.T @ pair_norm_gradient(g[:, None], h[:, None])[:, 0]
            r = (r - f * np.concatenate([by_h, by_g])) / q
        r[:s] -= (r[:s] @ y) * y
        r[s:] -= (r[s:] @ z) * z
        return _State(x, f, r, S)

    def _step(self, now: _State, is_stationary: bool, bent: bool = False) -> Array | None:
        """Return the step to try, or None at a maximum; ``bent`` as if q were bent already."""
        x, f, r, S = now
        s = self._packing.s
        y, z = x[:s].astype(np.float32), x[s:].astype(np.float32)
        K = np.empty((len(x), len(x)))
        pair_curvature(self._rough, y, z, S, K)
        np.negative(K, out=K)  # minus the Hessian
        if self._bases is None:
            K.flat[:: len(x) + 1] += f
        else:
            K += f * self._norm_curvature(x, bent)
            h, g = self._vectors(x)
            r = r * float(squared_norm(h**2 @ g**2))
        # On the tangent spaces alone: y and z get an eigenvalue of their own, above all others.
        keep_tangents(K, x, s, 4.0 * f)
        factor, info = linalg.lapack.dpotrf(K.T, lower=1, clean=0)
        if info == 0:
            return (
                None if is_stationary else np.asarray(linalg.lapack.dpotrs(factor, r, lower=1)[0])
            )
        # The default driver, evr, may fail where many eigenvalues are equal.
        values, vectors = linalg.eigh(K, check_finite=False, driver="evd")
        if is_stationary:
            if values[0] >= -_CURVED * f:
                return None
            return 0.3 * np.asarray(vectors[:, 0])  # a saddle point, and the way up
        scale = np.maximum(np.abs(values), 1e-3 * f)
        return np.asarray(vectors @ ((vectors.T @ r) / scale))

    def _norm_curvature(self, x: Array, is_bent: bool) -> Array:
        """Return half the Hessian of q on the tangent spaces, up to terms that are small there."""
        assert self._bases is not None
        U, V = self._bases
        h, g = self._vectors(x)
        excess = max(float(h**2 @ g**2) - CONCENTRATED, 0.0)
        bent = 1.0 - 2.0 * BEND * excess
        cross = 2 * U.T @ ((h * g)[:, None] * V)
        of_u = np.block([
            [U.T @ ((g**2)[:, None] * U), cross],
            [cross.T, V.T @ ((h**2)[:, None] * V)],
        ])  # fmt: skip
        curvature = (1.0 - BEND * excess) * np.eye(len(x)) - bent * of_u
        if excess > 0 or is_bent:
            slope = 2 * np.concatenate([U.T @ (h * g**2), V.T @ (h**2 * g)])
            curvature += BEND * np.outer(slope, slope)
        return np.asarray(curvature)
