"""How entries count: the inner product of components and graphs that the loss is made of.

A metric gives Gamma_i[j, k] = <S_j, S_k>_i and psi_i[k] = <A_i, S_k>_i. In a basis it is known by
what it makes of a component: its image, which stands for <S, .>_i, and q_i = <S, S>_i with its
gradient and curvature. A new metric is a class like those below, and a branch in the metric's part
of :mod:`ascent`.

With the diagonal unobserved q = 1 - u, u = sum_s h_s^2 g_s^2, vanishes at a single vertex, where
the objective may have no maximum. So q is bent upwards beyond u = 1/2: there, what would become a
vertex with its star stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.operators.degrees import DEGREE_ROWS, Members, degree_grams
from eigengraphs.solvers.ascent import CONCENTRATED, Entries, bend
from eigengraphs.solvers.core import InBasis
from eigengraphs.solvers.geometry import Geometry, geometry_of, sides_of
from eigengraphs.solvers.rules import component_gram
from eigengraphs.solvers.solution import Array, Sides
from eigengraphs.system.parallel import on_blocks, spans

__all__ = [
    "CONCENTRATED", "AllEntries", "ByDegrees", "Metric", "OffDiagonal", "bend", "bent_norm",
    "bent_pushes",
]  # fmt: skip


class Metric:
    """An inner product of matrices on n vertices; here one of plain entries, for all graphs."""

    hollow: bool = False
    """Whether pairs s = t take no part."""
    degrees: Sides | None
    """Degrees D_i, (w, n) for each side, where every graph has inner products of its own."""

    def gram(self, sides: Sides) -> Array:
        """Return Gamma of components with sides (n, d), (d, d); of each row, (r, d, d)."""
        return component_gram(sides[0], sides[-1], hollow=self.hollow)

    def known(self, geometry: Geometry, bases: Sides, sides: Sides) -> Array:
        """Return images of components with sides (n, k), in the span of the bases or not."""
        points = [V.T @ side for V, side in zip(bases, sides, strict=True)]
        E = geometry.outer(np.concatenate(points).T)
        if self.hollow:
            for k, on in enumerate((sides[0] * sides[-1]).T):
                E[k] -= geometry.pack(bases[0].T @ (on[:, None] * bases[-1]))
        return E

    def in_basis(self, geometry: Geometry, bases: Sides, cores: Sides = ()) -> InBasis:
        """Return the metric in bases, (n, s) for each side.

        ``cores`` (w, s, s) for each side are V^T D_i V where the metric has ``degrees``.
        """
        del cores
        if not self.hollow:  # the same in orthonormal bases
            return InBasis(geometry, Entries.ALL)
        left, right = (np.ascontiguousarray(V) for V in (bases[0], bases[-1]))
        return InBasis(geometry, Entries.OFF_DIAGONAL, left, right)

    def on(self, rows: NDArray[np.bool_]) -> Metric:
        """Return the metric of some of the rows."""
        del rows
        return self

    def take_off(self, r: Sides, known: Sides, N: Any, sides: Sides, own: Any) -> Sides:
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
        own : (d,)
            sum_i W_ik lam_ik with its own; both as :meth:`core.InBasis.pulls` returns them.
        """
        found, slopes = [], bent_slopes(*sides) if self.hollow else sides
        for j, (mine, slope) in enumerate(zip(sides, slopes, strict=True)):
            other = sides[-1 - j]
            gradient = r[j] - known[j] @ (N.T * (known[-1 - j].T @ other)) - own * slope
            if self.hollow:  # the diagonal is given back
                gradient += (known[0] * known[-1]) @ N.T * other
            found.append(_tangent(gradient, mine))
        return tuple(found)


class AllEntries(Metric):
    """Every entry counts alike: q = 1."""

    degrees = None


class OffDiagonal(Metric):
    """Pairs of different vertices count: q = 1 - sum_s h_s^2 g_s^2, bent."""

    hollow, degrees = True, None


@dataclass(frozen=True)
class ByDegrees(Metric):
    """Entries count by the degrees of each graph: <S, T>_i = <D_i S E_i, T>.

    So Gamma_i[j, k] = (h_j^T D_i h_k)(g_j^T E_i g_k). Rows are graphs, or groups that share their
    loadings, whose inner products are the means of their members'.

    Parameters
    ----------
    degrees : (w, n) for each side
        D_i and, of directed graphs, E_i: all above zero, and their mean over graphs about 1.
    members
        Which rows they belong to.
    """

    degrees: Sides
    members: Members

    def gram(self, sides: Sides) -> Array:
        """Return Gamma of each row, (r, d, d)."""
        return self.members.means(degree_grams(self.degrees, sides))

    def on(self, rows: NDArray[np.bool_]) -> ByDegrees:
        """Return the metric of some of the rows."""
        if rows.all():
            return self
        members, kept = self.members.on(rows)
        return ByDegrees(tuple(D[kept] for D in self.degrees), members)

    def known(self, geometry: Geometry, bases: Sides, sides: Sides) -> Array:
        """Return V^T D_i h_j beside the same on the right, (k, w, size)."""
        found = np.empty((sides[0].shape[1], len(self.degrees[0]), geometry.size))
        for D, V, H, part in zip(
            self.degrees, bases, sides, sides_of(found, geometry.widths), strict=True
        ):
            for k, h in enumerate(H.T):
                part[k] = D @ (V * h[:, None])
        return found

    def in_basis(self, geometry: Geometry, bases: Sides, cores: Sides = ()) -> InBasis:
        """Return the metric with W_i = V^T D_i V."""
        del bases
        packed = [geometry_of(W.shape[1:2]).pack(W) for W in cores]
        return InBasis(geometry, Entries.BY_DEGREES, packed[0], packed[-1], self.members)

    def take_off(self, r: Sides, known: Sides, N: Any, sides: Sides, own: Any) -> Sides:
        """Return r less sum_i N_kij D_i h_j and own_ki D_i h_k, tangent to the spheres."""
        found = []
        for j, (D, H, mine) in enumerate(zip(self.degrees, known, sides, strict=True)):
            # Pairs of a component and one that it meets, itself first.
            met = [np.flatnonzero(rows.any(axis=0)) for rows in N[j]]
            pairs = [(own[j][k], *N[j][k][:, places].T) for k, places in enumerate(met)]
            factors = np.array([row for rows in pairs for row in rows], dtype=D.dtype)
            columns = np.column_stack([X for k, places in enumerate(met)
                                       for X in (mine[:, k], H[:, places])])  # fmt: skip
            begins = np.cumsum([0, *map(len, pairs)])[:-1]
            gradient = _less_degrees(r[j], D, factors, columns, begins)
            found.append(_tangent(gradient, mine))
        return tuple(found)


def _less_degrees(
    r: Array, D: Array, factors: Array, columns: Array, begins: NDArray[np.intp]
) -> Array:
    """Return r (n, d) less sums of (factors_p D) columns_p over the pairs p of each component.

    Parameters
    ----------
    r : (n, d)
        From which they are taken.
    D : (w, n)
        Degrees.
    factors, columns : (p, w), (n, p)
        Of each pair, component after component.
    begins : (d,)
        The first pair of each component.
    """
    found = np.array(r)

    def work(s0: int, s1: int) -> None:
        taken = (factors @ D[:, s0:s1]) * columns[s0:s1].T
        found[s0:s1] -= np.add.reduceat(taken, begins, axis=0).T

    if len(begins):
        on_blocks(work, spans(len(r), DEGREE_ROWS))
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


def _tangent(r: Array, side: Array) -> Array:
    """Return columns without what would change the length of those of ``side``."""
    return np.asarray(r - side * np.einsum("sk,sk->k", side, r))
