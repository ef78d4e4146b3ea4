"""One component of the core problem: maximise f(y, z) = sum_i (y^T C_i z)^2 / q over unit y and z.

The rows of ``R`` are packed matrices C_i (s, t) times sqrt(w_i), and q = <h g^T, h g^T> for h = U y
and g = V z over the entries that the loss counts. With all of them q = 1. With the diagonal
unobserved q = 1 - u for u = sum_s h_s^2 g_s^2, which vanishes at a single loop, h = g = e_s, where
f may have no maximum. So q is bent upwards beyond u = 1/2, as in
:mod:`~eigengraphs.solvers.quotient`.

A point x is y above z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.directed.kernels import minus_hessian, raise_pairs
from eigengraphs.solvers.directed.pairs import PairPacking, unit_pairs
from eigengraphs.solvers.directed.remainder import PairRemainder
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.quotient import (
    BEND,
    CONCENTRATED,
    QUOTIENT_STEPS,
    Quotient,
    squared_norm,
)

__all__ = ["PairQuotient", "pair_norm_gradient"]

_FINAL = 1e-2  # relative gradient at which finalists are compared, diagonal unobserved


def pair_norm_gradient(H: Array, G: Array) -> Array:
    """Return the gradient of q / 2 by h at unit columns (n, d), diagonal unobserved.

    With H and G exchanged it is the gradient by g.
    """
    excess = np.maximum((H**2 * G**2).sum(axis=0) - CONCENTRATED, 0.0)
    # q = N - u + BEND (u - N / 2)^2 / N with N = (h . h) (g . g), at N = 1.
    on_h = 1.0 - BEND * excess * (1.0 + excess)
    gradient: Array = H * on_h - H * G**2 * (1.0 - 2.0 * BEND * excess)
    return gradient


class PairQuotient(Quotient):
    """The objective of one component, with ways up: those of :class:`quotient.Quotient`.

    On the tangent spaces of both spheres half the Hessian of f at a stationary point is, up to
    the factor q, sum_i b_i b_i^T + [[0, S], [S^T, 0]] - f q'' / 2 with b_i = (C_i z, C_i^T y) and
    S = sum_i (y^T C_i z) C_i. The numerator is convex in y z^T, too, and <S, y z^T> bounds it from
    below.

    Parameters
    ----------
    R : (r, p), or PairRemainder
        Packed weighted cores of what the earlier components left.
    packing
        Of s x t matrices.
    bases : ((n, s), (n, t)) or None
        U and V, if the diagonal is unobserved: then q depends on h and g.
    room
        How many components may be taken off.

    Attributes
    ----------
    forms : (r,)
        y^T C_i z at the last point that :meth:`maximise` or :meth:`measure` returned.
    """

    def __init__(
        self,
        R: Array | PairRemainder,
        packing: PairPacking,
        bases: tuple[Array, Array] | None = None,
        room: int = 0,
    ) -> None:
        cores = R if isinstance(R, PairRemainder) else PairRemainder(R, packing)
        self._begin(cores, packing, bases is not None, room)
        self._bases, self._pairs = bases, packing

    def norms(self, Y: Array) -> Array:
        """Return q of the rows of ``Y`` (b, s + t)."""
        if self._bases is None:
            return np.ones(len(Y))
        H, G = self._vectors(Y)
        return squared_norm((H**2 * G**2).sum(axis=1))

    def cosines(self, Y: Array, y: Array) -> Array:
        """Return how alike pairs are, (b,): the geometric mean of the |cosines| of both sides."""
        found: Array = np.sqrt(np.abs(self._pairs.cosines(Y, y[None])[:, 0]))
        return found

    def unit(self, y: Array) -> Array:
        """Return the pair, (s + t,), that ``y`` is but for the lengths of its halves."""
        return unit_pairs(y, self._pairs.s)

    def approach(self, Y: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return where pairs lead to, and which are maxima; see :meth:`Quotient.approach`.

        Where the diagonal is unobserved they go to rough maxima of all cores: some steps alone
        chose the wrong one now and then.
        """
        if not self._hollow:
            return super().approach(Y)
        found = np.array([self.maximise(x, _FINAL, exact=False)[0] for x in Y])
        return found, np.zeros(len(Y), dtype=bool)

    def _raise(self, S: NDArray[Any], Y: Array) -> None:
        raise_pairs(S, Y, self._pairs.s, QUOTIENT_STEPS)

    def _vectors(self, X: Array) -> tuple[Array, Array]:
        """Return h and g, (..., n), of points (..., s + t)."""
        assert self._bases is not None
        U, V = self._bases
        s = self._pairs.s
        return X[..., :s] @ U.T, X[..., s:] @ V.T

    def _on_diagonals(self, Y: Array, f: Array) -> Array:
        """Return f times the diagonals of h g^T in the bases, packed, (b, p)."""
        assert self._bases is not None
        U, V = self._bases
        found: Array = np.empty((len(Y), self._pairs.size))
        for place, (h, g) in enumerate(zip(*self._vectors(Y), strict=True)):
            found[place] = f[place] * self._pairs.pack(U.T @ ((h * g)[:, None] * V))
        return found

    def _state(self, y: Array, rough: bool = False) -> tuple[float, Array, Array, Array]:
        """Return f, the gradient of f / 2 on the tangent spaces, S, and y^T C_i z, (r,)."""
        x, s = y, self._pairs.s
        S = np.empty((s, self._pairs.t))
        f, forms = (self._cores.rough_state if rough else self._cores.state)(x, S)
        r = np.concatenate([S @ x[s:], x[:s] @ S])
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
        r[:s] -= (r[:s] @ x[:s]) * x[:s]
        r[s:] -= (r[s:] @ x[s:]) * x[s:]
        return f, r, S, forms

    def _minus_hessian(self, y: Array, f: float, S: Array, bent: bool) -> Array:
        K = np.empty((len(y), len(y)))
        on_norm = np.zeros((0, 0)) if self._bases is None else self._norm_curvature(y, bent)
        minus_hessian(self._cores.curvature(y), S, y, f, on_norm, K)
        return K

    def _norm_curvature(self, y: Array, is_bent: bool = False) -> Array:
        """Return half the Hessian of q on the tangent spaces, up to terms that are small there."""
        assert self._bases is not None
        U, V = self._bases
        h, g = self._vectors(y)
        excess = max(float(h**2 @ g**2) - CONCENTRATED, 0.0)
        bent = 1.0 - 2.0 * BEND * excess
        cross = 2 * U.T @ ((h * g)[:, None] * V)
        of_u = np.block([
            [U.T @ ((g**2)[:, None] * U), cross],
            [cross.T, V.T @ ((h**2)[:, None] * V)],
        ])  # fmt: skip
        curvature = (1.0 - BEND * excess) * np.eye(len(y)) - bent * of_u
        if excess > 0 or is_bent:
            slope = 2 * np.concatenate([U.T @ (h * g**2), V.T @ (h**2 * g)])
            curvature += BEND * np.outer(slope, slope)
        return np.asarray(curvature)
