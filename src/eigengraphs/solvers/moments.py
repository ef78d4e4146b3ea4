"""What graphs on few vertices leave behind when they are gone: their mean and second moment.

Packed as vectors c_i of p = n (n + 1) / 2 entries
(:class:`~eigengraphs.solvers.geometry.Symmetric`), graphs with free loadings matter to the greedy
problem, and to its objective, through sum_i w_i c_i c_i^T alone. So rows whose outer products add
up to it stand for all graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.core import root_of_moment
from eigengraphs.solvers.geometry import Symmetric
from eigengraphs.solvers.solution import Array

__all__ = ["GraphMoments", "MomentsAbout", "StandIns"]


@dataclass(frozen=True)
class StandIns:
    """Packed graphs, each of weight 1, that stand for many; as an operator, as far as it goes."""

    R: Array  # (r, p)
    mean: Array  # (p,) of the many, times the root of their weights' sum
    lost: float  # what a gain may be for the rounding of a moment
    noise: float  # sum_i w_i times the squared norm that rounding may leave of A_i
    n_vertices: int
    directed: bool = False

    @property
    def n_graphs(self) -> int:
        """Number of rows."""
        return len(self.R)

    def squared_norms(self) -> Array:
        """Return squared norms of the rows, (r,)."""
        return np.asarray(np.einsum("rp,rp->r", self.R, self.R))

    def rounding(self) -> Array:
        """Return the squared norm that rounding may leave, spread over the rows, (r,)."""
        return np.full(len(self.R), self.noise / len(self.R))

    def forms(self, H: Array) -> Array:
        """Return the inner products of the rows with components, (r, d)."""
        return np.asarray(self.R @ Symmetric(self.n_vertices).outer(H.T).T)

    def filled(self) -> StandIns:
        """Return the same with the mean of its row in each diagonal entry, now zero."""
        n, geometry = self.n_vertices, Symmetric(self.n_vertices)
        half = np.einsum("su,t->sut", np.eye(n), np.ones(n)) / 2  # e_s 1^T / 2
        lines = geometry.pack(half + half.transpose(0, 2, 1))  # <A, e_s 1^T> for symmetric A

        def fill(Z: Array) -> Array:
            found = Z.copy()
            found[..., _diagonal(n)] = Z @ lines.T / max(n - 1, 1)
            return found

        return replace(self, R=fill(self.R), mean=fill(self.mean))


@dataclass(frozen=True)
class MomentsAbout:
    """Find sum_i w_i x_i x_i^T, a packed triangle, and sum_i w_i x_i, (p,), for x_i = c_i - center.

    A task for an operator. With the mean for a center, what differs from graph to graph keeps its
    digits beside a large mean.
    """

    center: Array  # (p,)

    def __call__(self, graphs: Any, weights: Array) -> tuple[Array, Array]:
        """Return the sums over these graphs."""
        on = weights > 0  # a graph that does not count may be of any size
        X = Symmetric(graphs.n_vertices).pack(graphs.written_out()[on]) - self.center
        total = weights[on] @ X
        X *= np.sqrt(weights[on])[:, None]
        M = X.T @ X
        return np.asarray(linalg.lapack.dtrttp(M, uplo="U")[0]), np.asarray(total)


@dataclass(frozen=True)
class GraphMoments:
    """Moments of graphs as they are, but for their unit; parts of a stream add up.

    The second moment is that about the mean. Nothing is then taken off a sum of squares: neither
    to center graphs, nor to add up parts.
    """

    triangle: Array  # (p (p + 1) / 2,) sum_i w_i (c_i - mean) (c_i - mean)^T, as LAPACK packs it
    mean: Array  # (p,)
    weight: float  # sum_i w_i
    noise: float  # sum_i w_i times the squared norm that rounding may leave of A_i
    scale: float  # what graphs were multiplied by
    unit: float  # what weights were divided by
    n_graphs: int
    n_vertices: int

    @classmethod
    def of(cls, graphs: Any, weights: Array, *, scale: float, unit: float) -> GraphMoments:
        """Read the graphs of an operator twice, for their mean and for what differs from it."""
        geometry, weight = Symmetric(graphs.n_vertices), float(weights.sum())
        mean: Any = graphs.mean(weights)
        mean = geometry.pack(mean if isinstance(mean, np.ndarray) else mean.toarray())
        triangle, left = graphs.total(MomentsAbout(mean), weights)
        triangle = linalg.blas.dspr(len(left), -1 / weight, left, triangle)  # but for rounding, 0
        noise = float(weights[weights > 0] @ graphs.rounding()[weights > 0])
        return cls(
            triangle, mean + left / weight, weight, noise, scale, unit, graphs.n_graphs,
            graphs.n_vertices,
        )  # fmt: skip

    def __add__(self, other: GraphMoments) -> GraphMoments:
        """Return the moments of both."""
        # Units as all graphs together would have them: of those parts that are not zero.
        parts = [part for part in (self, other) if part.noise > 0] or [self]
        scale, unit = min(part.scale for part in parts), max(part.unit for part in parts)
        a, b = self._in(scale, unit), other._in(scale, unit)
        weight, apart = a.weight + b.weight, b.mean - a.mean
        # As if one more vector lay between the two means.
        triangle = linalg.blas.dspr(
            len(apart), a.weight * b.weight / weight, apart, a.triangle + b.triangle, overwrite_ap=1
        )
        return GraphMoments(
            triangle, a.mean + b.weight / weight * apart, weight, a.noise + b.noise, scale, unit,
            a.n_graphs + b.n_graphs, self.n_vertices,
        )  # fmt: skip

    def _in(self, scale: float, unit: float) -> GraphMoments:
        """Return the same in other units."""
        size, share = scale / self.scale, self.unit / unit
        if size == share == 1:
            return self
        return replace(
            self, triangle=self.triangle * (size * size * share), mean=self.mean * size,
            weight=self.weight * share, noise=self.noise * (size * size * share), scale=scale,
            unit=unit,
        )  # fmt: skip

    def mean_graph(self) -> Array:
        """Return the mean of the graphs as they came, (n, n)."""
        return Symmetric(self.n_vertices).unpack(self.mean / self.scale)

    def stand_ins(self, *, hollow: bool, center: bool) -> StandIns:
        """Return graphs in the place of these: without a diagonal, and less their mean, or not."""
        p, n = len(self.mean), self.n_vertices
        upper: Any = linalg.lapack.dtpttr(p, self.triangle)[0]
        mean = self.mean
        if hollow:
            upper[_diagonal(n)] = upper[:, _diagonal(n)] = 0.0
            mean = mean.copy()
            mean[_diagonal(n)] = 0.0
        R = root_of_moment(upper)
        lost = 10 * p * float(np.finfo(np.float64).eps) * float(np.einsum("rp,rp->", R, R))
        row = np.zeros(p) if center else np.sqrt(self.weight) * mean
        return StandIns(np.vstack([row, R]), row, lost, self.noise, n)


def _diagonal(n: int) -> NDArray[np.intp]:
    """Return where packed matrices have their diagonals, (n,)."""
    return np.asarray(np.arange(1, n + 1).cumsum() - 1)
