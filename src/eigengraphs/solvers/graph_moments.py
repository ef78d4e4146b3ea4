"""What graphs on few vertices leave behind when they are gone: their mean and second moment.

Packed as vectors c_i of p = n (n + 1) / 2 entries (:mod:`packing`), graphs with free loadings
matter to the greedy problem, and to its objective, through sum_i w_i c_i c_i^T alone. So rows whose
outer products add up to it stand for all graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from eigengraphs.solvers.old_core import root_of_moment
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.second_moment import CentredSum, moment_rounding

__all__ = ["GraphMoments", "StandIns"]


@dataclass(frozen=True)
class StandIns:
    """Packed graphs, each of weight 1, that stand for many."""

    R: Array  # (r, p)
    mean: Array  # (p,) of the many, times the root of their weights' sum
    rounding: float  # what a gain may be for the rounding of a moment
    noise: float  # sum_i w_i times the squared norm that rounding may leave of A_i
    order: int  # n

    def filled(self) -> StandIns:
        """Return the same with the mean of its row in each diagonal entry, now zero."""
        packing = Packing(self.order)
        return replace(self, R=_filled(self.R, packing), mean=_filled(self.mean, packing))


@dataclass(frozen=True)
class GraphMoments:
    """Moments of graphs as they are, but for their unit; parts of a stream add up.

    The second moment is that about the mean. Nothing is then taken off a sum of squares: neither
    to centre graphs, nor to add up parts.
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
    def of(
        cls, total: CentredSum, noise: float, *, scale: float, unit: float, n_graphs: int, n: int
    ) -> GraphMoments:
        """Return the moments of graphs that were summed up."""
        return cls(total.triangle(), total.mean, total.weight, noise, scale, unit, n_graphs, n)

    def __add__(self, other: GraphMoments) -> GraphMoments:
        """Return the moments of both."""
        # Units as all graphs together would have them: of those parts that are not zero.
        parts = [part for part in (self, other) if part.noise > 0] or [self]
        scale, unit = min(part.scale for part in parts), max(part.unit for part in parts)
        a, b = self._in(scale, unit), other._in(scale, unit)
        weight = a.weight + b.weight
        apart = b.mean - a.mean
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
        return Packing(self.n_vertices).unpack(self.mean / self.scale)

    def stand_ins(self, *, hollow: bool, center: bool) -> StandIns:
        """Return graphs in the place of these: without a diagonal, and less their mean, or not."""
        p = len(self.mean)
        upper, mean = linalg.lapack.dtpttr(p, self.triangle)[0], self.mean
        if hollow:
            diagonal = Packing(self.n_vertices).diagonal
            upper[diagonal] = upper[:, diagonal] = 0.0
            mean = mean.copy()
            mean[diagonal] = 0.0
        R = root_of_moment(upper)
        rounding = moment_rounding(R)
        row = np.zeros(p) if center else np.sqrt(self.weight) * mean
        return StandIns(np.vstack([row, R]), row, rounding, self.noise, self.n_vertices)


def _filled(Z: Array, packing: Packing) -> Array:
    """Return packed matrices ``Z`` (..., p), zero on the diagonal, with that filled."""
    n = packing.order
    half = np.einsum("su,t->sut", np.eye(n), np.ones(n)) / 2  # e_s 1^T / 2
    lines = packing.pack(half + half.transpose(0, 2, 1))  # <A, e_s 1^T> for symmetric A
    filled = Z.copy()
    filled[..., packing.diagonal] = Z @ lines.T / max(n - 1, 1)
    return filled
