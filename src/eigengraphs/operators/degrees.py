"""Graphs as the degree-corrected metric sees them: divided by their mean degrees.

With degrees d_i of graph i (sums of absolute weights; directed: out-degrees, and in-degrees e_i),
mu_i their mean and tau the regularization, the model and its metric are

    A_i / mu_i  ~  D_i H Lam_i G^T E_i,      D_i = Diag(d_i / mu_i + tau),  E_i likewise,
    <S, T>_i = <D_i S E_i, T>,               ||A_i||_i^2 = sum_st (A_ist / mu_i)^2 / (D_is E_it),

least squares with weights 1 / (D_is E_it). The search takes y = B^(1/2) h for h, B being the mean
of D_i over graphs: it then meets the graphs B^(-1/2) A_i B'^(-1/2) and degrees whose mean is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from eigengraphs.operators.protocol import Array, Operator

__all__ = ["DEGREE_ROWS", "DegreeGraphs", "Members", "degree_grams"]

DEGREE_ROWS = 4096  # vertices of one product with degrees, summed in their type


@dataclass(frozen=True)
class DegreeGraphs:
    """Products of graphs, or of means over groups of them, divided by their mean degrees.

    Parameters
    ----------
    graphs
        The graphs as they are, or mean graphs of groups.
    factors : (r,)
        What each of these is multiplied by: 1 / mu_i, or 0 for a graph without edges.
    degrees : (w, n) for each side
        Diagonals of D_i and E_i of every graph.
    norms : (r,)
        ||A_i||_i^2, or their mean over a group.
    regularization
        tau.
    means : (w,)
        mu_i of every graph.
    base : (n,) for each side, optional
        B, where graphs and degrees are scaled for a search.
    mixing : (r, w), optional
        Weight of each graph in the mean of its group, where loadings are shared.
    """

    graphs: Any
    factors: Array
    degrees: tuple[Array, ...]
    norms: Array
    regularization: float
    means: Array
    base: tuple[Array, ...] | None = None
    mixing: Array | None = None

    @classmethod
    def of(cls, graphs: Operator, regularization: float) -> Self:
        """Read graphs twice: for their degrees, and for their norms."""
        sums = graphs.degrees()
        means = np.mean([side.mean(axis=1) for side in sums], axis=0)
        factors = np.divide(1.0, means, out=np.zeros_like(means), where=means > 0)
        degrees = tuple(factors[:, None] * side + regularization for side in sums)
        # A^2 / mu^2 has one factor 1 / mu on each side, where squares may overflow.
        scales = np.hstack([factors[:, None] / side for side in degrees])
        norms = graphs.scaled_squares(scales)
        return cls(graphs, factors, degrees, norms, regularization, means)

    # ------------------------------------------------------------------ where components are found

    def grouped(self, means: Operator, mixing: Array) -> DegreeGraphs:
        """Return the same for groups of graphs that share their loadings.

        Parameters
        ----------
        means
            Mean graphs of the groups, by weights in proportion to ``mixing`` times ``factors``.
        mixing : (c, m)
            Weight of each graph in the mean of its group; rows sum to 1.
        """
        norms, factors = mixing @ self.norms, mixing @ self.factors
        return replace(self, graphs=means, factors=factors, norms=norms, mixing=mixing)

    def scaled(self, weights: Array) -> DegreeGraphs:
        """Return the graphs to search components on; ``weights`` (w,) are of all graphs."""
        base = tuple(weights @ D / weights.sum() for D in self.degrees)
        scaled = (D / B for D, B in zip(self.degrees, base, strict=True))
        return replace(self, degrees=tuple(D.astype(self.dtype) for D in scaled), base=base)

    def unscaled(self) -> DegreeGraphs:
        """Return the graphs as they were before they were scaled."""
        if self.base is None:
            return self
        degrees = tuple(D * B for D, B in zip(self.degrees, self.base, strict=True))
        return replace(self, degrees=degrees, base=None)

    def mean_degrees(self, weights: Array) -> Array:
        """Return the mean of d_i / mu_i over graphs, times that of mu_i, (sides, n).

        Its own D, by the formula above, is B. ``weights`` (w,) are of all graphs.
        """
        assert self.base is not None
        mu = weights @ self.means / weights.sum()
        return np.asarray(mu * (np.array(self.base) - self.regularization))

    def searched(self, sides: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return what components h, (n, d) for each side, are in the search: y / ||y||."""
        assert self.base is not None
        found = (np.sqrt(B)[:, None] * H for B, H in zip(self.base, sides, strict=True))
        return tuple(y / np.sqrt((y**2).sum(axis=0)) for y in found)

    def found(self, sides: tuple[Array, ...]) -> tuple[tuple[Array, ...], Array]:
        """Return unit h of unit y, (n, d) each, and what divides forms, (d,)."""
        assert self.base is not None
        short = [Y / np.sqrt(B)[:, None] for B, Y in zip(self.base, sides, strict=True)]
        lengths = [np.sqrt((H**2).sum(axis=0)) for H in short]
        divided = lengths[0] * lengths[-1]
        return tuple(H / size for H, size in zip(short, lengths, strict=True)), divided

    # ------------------------------------------------------------------ what is asked

    @property
    def n_graphs(self) -> int:
        """Number of graphs or groups, r."""
        return len(self.factors)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return int(self.graphs.n_vertices)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the graphs, and of products with them."""
        dtype: np.dtype[Any] = self.graphs.dtype
        return dtype

    @property
    def directed(self) -> bool:
        """Whether components have two sides."""
        return bool(self.graphs.directed)

    @cached_property
    def _roots(self) -> tuple[Array, ...]:
        """B^(-1/2), (n,) for each side."""
        if self.base is None:
            return tuple(np.ones(self.n_vertices) for _ in self.degrees)
        return tuple(1 / np.sqrt(B) for B in self.base)

    def _in(self, columns: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return columns of each side as the graphs take them."""
        return tuple(r[:, None] * B for r, B in zip(self._roots, columns, strict=True))

    def products(self, *columns: Array) -> tuple[NDArray[Any], ...]:
        """Return B^T A_i, (r, b, n); directed: left^T A_i and right^T A_i^T."""
        found = self.graphs.products(*self._in(columns))
        for P, root in zip(found, reversed(self._roots), strict=True):
            P *= root.astype(P.dtype)
            P *= self.factors[:, None, None].astype(P.dtype)
        products: tuple[NDArray[Any], ...] = found
        return products

    def project(self, bases: tuple[Array, ...], columns: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return [V B]^T A_i B; directed: [U left]^T A_i right, and V^T A_i^T left."""
        found: tuple[Array, ...] = self.graphs.project(self._in(bases), self._in(columns))
        return tuple(cores * self.factors[:, None, None] for cores in found)

    def combine(self, W: Array, *sides: Array) -> tuple[Array, ...]:
        """Return sum_i W_ik A_i h_k; directed: sum_i W_ik A_i g_k and sum_i W_ik A_i^T h_k."""
        found = self.graphs.combine(self.factors[:, None] * W, *self._in(sides))
        return self._in(found)

    def forms(self, *sides: Array) -> Array:
        """Return h_k^T A_i g_k, (r, d)."""
        return np.asarray(self.factors[:, None] * self.graphs.forms(*self._in(sides)))

    def sketch(self, Omega: Array, weights: Array) -> tuple[tuple[Array, Array], ...]:
        """Return sums of w_i T_i T_i' Omega and w_i T_i Omega, with T_i = D_i^-1 A_i, T_i' of E_i.

        A component that graphs share is an eigenvector of all T_i, however their degrees differ.
        Of groups, T_i has mean graphs and mean degrees.
        """
        plain = np.hstack([D / r**2 for D, r in zip(self.degrees, self._roots, strict=True)])
        plain = plain if self.mixing is None else self.mixing @ plain
        scales = self.factors[:, None] / plain
        found = self.graphs.sketch(self._roots[0][:, None] * Omega, weights, scales)
        sides = zip(found, self._roots, strict=True)
        return tuple((a / r[:, None], b / r[:, None]) for (a, b), r in sides)

    def squared_norms(self) -> Array:
        """Return ||A_i||_i^2, (r,)."""
        return self.norms

    def rounding(self) -> Array:
        """Return the squared norm that rounding alone may leave of each graph, (r,)."""
        return np.asarray((4 * float(np.finfo(self.dtype).eps)) ** 2 * self.norms)

    def grams(self, *sides: Array) -> Array:
        """Return (h_j^T D_i h_k)(g_j^T E_i g_k) of every graph, (w, d, d)."""
        return degree_grams(self.degrees, sides)


def degree_grams(degrees: tuple[Array, ...], sides: tuple[Array, ...]) -> Array:
    """Return (h_j^T D_i h_k)(g_j^T E_i g_k), (w, d, d), for degrees (w, n) of each side."""
    d = sides[0].shape[1]
    forms = []
    for D, H in zip(degrees, sides, strict=True):
        form = np.empty((len(D), d, d))
        for k in range(d):
            form[:, k] = D @ (H * H[:, k : k + 1])
        forms.append(form)
    return np.asarray(forms[0] * forms[-1])


@dataclass(frozen=True)
class Members:
    """Graphs with inner products of their own, and the rows that they belong to.

    A row is a graph, or a group of graphs that share their loadings.
    """

    of_row: NDArray[np.int64]  # (w,)
    share: Array  # (w,) weight in the mean of its row
    n_rows: int

    @classmethod
    def alone(cls, m: int) -> Members:
        """Return m graphs, each a row."""
        return cls(np.arange(m, dtype=np.int64), np.ones(m), m)

    @cached_property
    def _each_alone(self) -> bool:
        return np.array_equal(self.of_row, np.arange(self.n_rows))

    def means(self, values: Array) -> Array:
        """Return the mean of each row, (r, ...), of values (w, ...)."""
        if self._each_alone:
            return values
        found = np.zeros((self.n_rows, *values.shape[1:]))
        np.add.at(found, self.of_row, self.share.reshape(-1, *[1] * (values.ndim - 1)) * values)
        return found

    def on(self, rows: NDArray[np.bool_]) -> tuple[Members, NDArray[np.bool_]]:
        """Return what belongs to some of the rows, and which of the graphs that are, (w,)."""
        kept = rows[self.of_row]
        places = np.cumsum(rows) - 1
        return Members(places[self.of_row[kept]], self.share[kept], int(rows.sum())), kept
