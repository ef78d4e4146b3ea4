"""How entries count: the inner product of components and graphs that the loss is made of.

A metric gives Gamma_i[j, k] = <S_j, S_k>_i and psi_i[k] = <A_i, S_k>_i. In a basis it is known by
what it makes of a component: E, the core that stands for <S, .>_i, and q_i = <S, S>_i with its
gradient and curvature. A new metric is a class like those below.

With the diagonal unobserved q = 1 - u, u = sum_s h_s^2 g_s^2, vanishes at a single vertex, where
the objective may have no maximum. So q is bent upwards beyond u = 1/2: there, what would become a
vertex with its star stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eigengraphs.solvers.geometry import Geometry
from eigengraphs.solvers.protocol import Array, Sides

__all__ = [
    "CONCENTRATED", "AllEntries", "CoreMetric", "Metric", "Norm", "OffDiagonal", "bend",
    "bent_norm", "bent_pushes", "bent_slopes",
]  # fmt: skip

CONCENTRATED = 0.5  # of sum_s h_s^2 g_s^2, 1 being a single vertex and 1/2 two
_BEND, _BEND_WIDTH = 100.0, 0.005  # how steeply q turns upwards beyond, and how far that begins


@dataclass(frozen=True)
class Norm:
    """q at a point, with derivatives over 2 c on the tangent space; see :mod:`geometry`."""

    q: Array | float  # (r,) or one for all
    slope: Array | None  # (r, size) or (size,); None for zero
    curvature: Array | None  # (size, size) for one q; None for q times the unit matrix


class CoreMetric(Protocol):
    """A metric in a basis."""

    def component(self, x: Array) -> Array:
        """Return E, (p,), or (r, p) where it differs by graph, of the point ``x``."""
        ...

    def norms(self, X: Array) -> Array:
        """Return q of points ``X`` (b, size), (b, 1) or (b, r)."""
        ...

    def norm(self, x: Array) -> Norm:
        """Return q and its derivatives at the point ``x``."""
        ...

    def lift(self, X: Array, b: Array) -> Array | None:
        """Return what q adds to the climb at points ``X``, (b, p); b = sum w_i s_i tau_i / q_i."""
        ...


class Metric(Protocol):
    """An inner product of matrices on n vertices."""

    @property
    def hollow(self) -> bool:
        """Whether pairs s = t take no part."""
        ...

    def gram(self, sides: Sides) -> Array:
        """Return Gamma of components with sides (n, d), (d, d)."""
        ...

    def known(self, geometry: Geometry, bases: Sides, sides: Sides) -> Array:
        """Return E of components with sides (n, k), in the span of the bases or not, (k, p)."""
        ...

    def in_basis(self, geometry: Geometry, bases: Sides) -> CoreMetric:
        """Return the metric in bases, (n, s) for each side."""
        ...

    def take_off(self, r: Sides, known: Sides, N: Array, sides: Sides, theta: Array) -> Sides:
        """Return gradients in full space from sum_i W_ik A_i g_k, (n, d) for each side.

        Parameters
        ----------
        r
            sum_i W_ik A_i g_k, and the same of the transposes; W holds loadings over sqrt(q).
        known : (n, j) for each side
            All components, the frozen ones first.
        N : (d, j)
            sum_i W_ik lam_ij with the loadings that component k meets.
        sides : (n, d) for each side
            The components that are searched.
        theta : (d,)
            sum_i w_i s_i tau_i.
        """
        ...


class AllEntries:
    """Every entry counts alike: q = 1."""

    hollow = False

    def gram(self, sides: Sides) -> Array:
        """Return (h_j . h_k)^2, or (h_j . h_k)(g_j . g_k)."""
        return np.asarray((sides[0].T @ sides[0]) * (sides[-1].T @ sides[-1]))

    def known(self, geometry: Geometry, bases: Sides, sides: Sides) -> Array:
        """Return V^T S_j V, packed, (k, p)."""
        return np.asarray(geometry.outer(_in_bases(bases, sides)))

    def in_basis(self, geometry: Geometry, bases: Sides) -> CoreMetric:
        """Return the metric of orthonormal bases, which is the same there."""
        del bases
        return _Plain(geometry)

    def take_off(self, r: Sides, known: Sides, N: Array, sides: Sides, theta: Array) -> Sides:
        """Return r less N_kj S_j g_k and theta_k h_k, tangent to the spheres."""
        found = []
        for j, mine in enumerate(sides):
            other = sides[-1 - j]
            taken = N.T * (known[-1 - j].T @ other)
            found.append(_tangent(r[j] - known[j] @ taken - theta * mine, mine))
        return tuple(found)


class _Plain:
    """All entries, in a basis."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry

    def component(self, x: Array) -> Array:
        return np.asarray(self._geometry.outer(x[None])[0])

    def norms(self, X: Array) -> Array:
        return np.ones((len(X), 1))

    def norm(self, x: Array) -> Norm:
        del x
        return Norm(1.0, None, None)

    def lift(self, X: Array, b: Array) -> None:
        del X, b


class OffDiagonal:
    """Pairs of different vertices count: q = 1 - sum_s h_s^2 g_s^2, bent."""

    hollow = True

    def gram(self, sides: Sides) -> Array:
        """Return the inner products without the pairs s = t."""
        on_diagonal = sides[0] * sides[-1]
        return np.asarray(AllEntries().gram(sides) - on_diagonal.T @ on_diagonal)

    def known(self, geometry: Geometry, bases: Sides, sides: Sides) -> Array:
        """Return V^T S_j V without its diagonal, packed, (k, p)."""
        E = geometry.outer(_in_bases(bases, sides))
        for k, on in enumerate((sides[0] * sides[-1]).T):
            E[k] -= geometry.pack(bases[0].T @ (on[:, None] * bases[-1]))
        return E

    def in_basis(self, geometry: Geometry, bases: Sides) -> CoreMetric:
        """Return the metric in bases, where q depends on h = V y."""
        return _Hollow(geometry, bases)

    def take_off(self, r: Sides, known: Sides, N: Array, sides: Sides, theta: Array) -> Sides:
        """Return gradients as for all entries, with what the diagonal gives back."""
        q = bent_norm((sides[0] ** 2 * sides[-1] ** 2).sum(axis=0))
        back = (known[0] * known[-1]) @ N.T
        slopes = bent_slopes(*sides)
        found = []
        for j, mine in enumerate(sides):
            other = sides[-1 - j]
            taken = N.T * (known[-1 - j].T @ other)
            gradient = r[j] - known[j] @ taken + back * other - theta / q * slopes[j]
            found.append(_tangent(gradient, mine))
        return tuple(found)


class _Hollow:
    """Off the diagonal, in a basis."""

    def __init__(self, geometry: Geometry, bases: Sides) -> None:
        self._geometry, self._bases = geometry, bases

    def _sides(self, X: Array) -> list[Array]:
        """Return V y for points (b, size), (b, n) on each side."""
        return [part @ V.T for part, V in zip(_split(X, self._bases), self._bases, strict=True)]

    def component(self, x: Array) -> Array:
        sides = self._sides(x[None])
        on = (sides[0] * sides[-1])[0]
        plain = self._geometry.outer(x[None])[0]
        diagonal = self._bases[0].T @ (on[:, None] * self._bases[-1])
        return np.asarray(plain - self._geometry.pack(diagonal))

    def norms(self, X: Array) -> Array:
        sides = self._sides(X)
        return bent_norm((sides[0] ** 2 * sides[-1] ** 2).sum(axis=1))[:, None]

    def norm(self, x: Array) -> Norm:
        sides = [side[0] for side in self._sides(x[None])]
        h, g = sides[0], sides[-1]
        u = float((h**2 * g**2).sum())
        q, curved = float(bent_norm(np.array(u))), 1.0 - float(bend(np.array(u))[1])
        slopes = bent_slopes(*(side[:, None] for side in sides))
        slope = np.concatenate(
            [V.T @ part[:, 0] for V, part in zip(self._bases, slopes, strict=True)]
        )
        U, V = self._bases[0], self._bases[-1]
        K = (q + curved * u) * np.eye(len(x))  # as q is of fourth order in its point
        # Of u, over 2 c: 3 h^2 on the diagonal if symmetric; g^2, h^2 and twice h g if a pair.
        if len(self._bases) == 1:
            K -= 3 * curved * (V.T @ ((h**2)[:, None] * V))
        else:
            s = U.shape[1]
            K[:s, :s] -= curved * (U.T @ ((g**2)[:, None] * U))
            K[s:, s:] -= curved * (V.T @ ((h**2)[:, None] * V))
            cross = 2 * curved * (U.T @ ((h * g)[:, None] * V))
            K[:s, s:] -= cross
            K[s:, :s] -= cross.T
        if u > CONCENTRATED:
            pushed = bent_pushes(*(side[:, None] for side in sides))
            push = np.concatenate([V.T @ part for V, part in zip(self._bases, pushed, strict=True)])
            K += push @ push.T
        return Norm(q, slope, K)

    def lift(self, X: Array, b: Array) -> Array:
        sides, found = self._sides(X), np.empty((len(X), self._geometry.n_entries))
        for place, on in enumerate(sides[0] * sides[-1]):
            diagonal = self._bases[0].T @ (on[:, None] * self._bases[-1])
            found[place] = b[place] * self._geometry.pack(diagonal)
        return found


def bent_norm(u: Array) -> Array:
    """Return q for unit vectors with u = sum_s h_s^2 g_s^2."""
    return np.asarray(1.0 - u + bend(u)[0])


def bent_slopes(*sides: Array) -> list[Array]:
    """Return the gradient of q over 2 c on each side, (n, d), at unit columns (n, d)."""
    h, g = sides[0], sides[-1]
    u = (h**2 * g**2).sum(axis=0)
    curved = 1.0 - bend(u)[1]
    along = bent_norm(u) + curved * u  # so that the slope along the point is q
    pairs = ((h, g), (g, h))[: len(sides)]
    return [mine * along - mine * other**2 * curved for mine, other in pairs]


def bent_pushes(*sides: Array) -> list[Array]:
    """Return x, (n, d) on each side: the bend adds x x^T to the Hessian of q over 2 c."""
    h, g = sides[0], sides[-1]
    curvature = bend((h**2 * g**2).sum(axis=0))[2]
    size = np.sqrt((4 if len(sides) == 1 else 2) * curvature)
    return [size * mine * other**2 for mine, other in ((h, g), (g, h))[: len(sides)]]


def bend(u: Array) -> tuple[Array, Array, Array]:
    """Return what is added to q, and its first and second derivatives by u.

    _BEND e^3 / (e + width) for e = u - 1/2: a square but for its beginning, where its curvature
    begins at zero. With a jump there, Newton's steps from below are far too long.
    """
    c, e = _BEND_WIDTH, np.maximum(u - CONCENTRATED, 0.0)
    value = e**3 / (e + c)
    slope, curvature = e**2 * (2 * e + 3 * c) / (e + c) ** 2, 2 - 2 * (c / (e + c)) ** 3
    return _BEND * value, _BEND * slope, _BEND * curvature


def _in_bases(bases: Sides, sides: Sides) -> Array:
    """Return V^T h of every component, its sides one behind the other, (d, size)."""
    return np.concatenate([V.T @ side for V, side in zip(bases, sides, strict=True)]).T


def _split(X: Array, bases: Sides) -> list[Array]:
    """Return the parts of points (b, size) that belong to each basis."""
    return np.split(X, np.cumsum([V.shape[1] for V in bases])[:-1], axis=1)


def _tangent(r: Array, side: Array) -> Array:
    """Return columns without what would change the length of those of ``side``."""
    return np.asarray(r - side * np.einsum("sk,sk->k", side, r))
