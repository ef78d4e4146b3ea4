"""The mean of every edge, in the two forms that the models have.

The sampling engine and the likelihood see the models only through `Means`: means at single pairs,
in blocks of rows, summed over pairs, and bounded over groups of vertices. Nothing of size n x n is
built, except where the model itself is such a matrix.
"""

# ruff: noqa: ARG002 - means that all graphs share do not ask which graph is meant

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from eigengraphs.errors import InputError
from eigengraphs.models.edge_laws import BERNOULLI, EdgeLaw
from eigengraphs.models.validation import TOLERANCE, Floats, Ints

# Entries of one temporary block: 8 MB of floats, which stays near the processor's cache.
BLOCK_ENTRIES = 2**20

# Classes of vertices by powers of two stop this far below the largest.
_OCTAVES = 40


@dataclass(frozen=True)
class Bins:
    """Vertices grouped so that the means between two groups share one bound.

    Attributes
    ----------
    labels : ndarray, shape (n,)
        Group of each vertex.
    bounds : ndarray, shape (n_bins, n_bins)
        No mean between the two groups is larger.
    exact : bool
        Whether every mean between two groups equals its bound.
    """

    labels: Ints
    bounds: Floats
    exact: bool

    @cached_property
    def order(self) -> Ints:
        """The vertices, group after group, (n,)."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def sizes(self) -> Ints:
        """Number of vertices in each group, (n_bins,)."""
        return np.bincount(self.labels, minlength=len(self.bounds))

    @cached_property
    def starts(self) -> Ints:
        """Where each group begins in ``order``, (n_bins,)."""
        starts: Ints = np.cumsum(self.sizes) - self.sizes
        return starts


class Means(ABC):
    """The means of the edges of one graph, or of ``n_distinct`` graphs with means of their own.

    Pairs s = t take part only in `at`, `loops` and `diagonal`: they matter only where loops count.
    """

    n_vertices: int
    n_distinct: int = 1
    # Whether the pairs were checked when the model was made.
    checked: bool = True

    @abstractmethod
    def at(self, i: int | Ints, s: Ints, t: Ints) -> Floats:
        """Return the means of the pairs (s, t) in graph i, shape (n_pairs,)."""

    @abstractmethod
    def block(self, lo: int, hi: int, r0: int, r1: int, c0: int) -> Floats:
        """Return a new array of the means of rows r0 to r1 and the columns from c0 on.

        Shape (hi - lo, r1 - r0, n - c0), for the graphs lo to hi; pairs s = t are zero.
        """

    @abstractmethod
    def loops(self, lo: int, hi: int) -> Floats:
        """Return what the parameters say of the loops of the graphs lo to hi, (hi - lo, n)."""

    @abstractmethod
    def diagonal(self, lo: int, hi: int) -> Floats:
        """Return the same, checked to be means that loops can have."""

    @abstractmethod
    def bins(self, i: int) -> Bins:
        """Return groups of vertices with bounds on the means of graph i."""

    def matrices(self) -> Floats:
        """Return all means, (n_distinct, n, n), with those of the loops as they are."""
        n, m = self.n_vertices, self.n_distinct
        values = np.empty((m, n, n))
        for i in range(m):
            values[i] = self.block(i, i + 1, 0, n, 0)[0]
        np.einsum("iss->is", values)[...] = self.loops(0, m)
        return values

    def total(self) -> Floats:
        """Return the sum over ordered pairs s != t, (n_distinct,), before any clipping."""
        return self.pair_sum(lambda values: values, directed=True)

    def density(self) -> float:
        """Return about the mean over pairs s != t, each graph's at most 1; to choose a way only."""
        pairs = max(1, self.n_vertices * (self.n_vertices - 1))
        return float(np.minimum(self.total() / pairs, 1.0).mean())

    def check_pairs(self) -> None:  # noqa: B027 - most models check their parameters instead
        """Raise if a pair has no valid mean, as far as the cost of looking allows."""

    def tiles(self, directed: bool) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield (lo, hi, r0, r1, c0), arguments of `block` that cover every pair.

        Undirected graphs need the columns from r0 on: c0 = r0.
        """
        n, m = self.n_vertices, self.n_distinct
        rows = max(1, min(n, BLOCK_ENTRIES // n))
        graphs = max(1, BLOCK_ENTRIES // (rows * n))
        for r0 in range(0, n, rows):
            for lo in range(0, m, graphs):
                yield lo, min(lo + graphs, m), r0, min(r0 + rows, n), 0 if directed else r0

    def pair_sum(self, f: Callable[[Floats], Floats], directed: bool) -> Floats:
        """Return the sum of ``f(mean)`` over the pairs s != t, shape (n_distinct,).

        ``f`` must vanish at zero, because the pairs s = t come as zeros.
        """
        sums = np.zeros(self.n_distinct)
        for lo, hi, r0, r1, c0 in self.tiles(directed):
            values = f(self.block(lo, hi, r0, r1, c0))
            sums[lo:hi] += (values if directed else np.triu(values, 1)).sum(axis=(1, 2))
        return sums


def hollowed(values: Floats, r0: int, r1: int, c0: int) -> Floats:
    """Set the pairs s = t of a block to zero, in place."""
    s = np.arange(max(r0, c0), r1)
    values[:, s - r0, s - c0] = 0.0
    return values


class BlockMeans(Means):
    """One mean for each pair of blocks; one block is an Erdos-Renyi graph.

    Where every vertex is a block, B is the matrix of an inhomogeneous Erdos-Renyi model.
    """

    def __init__(self, B: Floats, labels: Ints, name: str = "B") -> None:
        self.name = name
        self.sizes = np.bincount(labels, minlength=len(B))
        self.labels = labels
        self.n_vertices = len(labels)
        self.loop_means = np.diagonal(B)
        # A block of one vertex holds no pair, and its entry of B may be no probability.
        alone = np.flatnonzero(self.sizes < 2)
        self.B = B.copy()
        self.B[alone, alone] = 0.0

    def at(self, i: int | Ints, s: Ints, t: Ints) -> Floats:
        """See `Means.at`."""
        values = self.B[self.labels[s], self.labels[t]]
        loops = np.flatnonzero(s == t)
        values[loops] = np.clip(self.loop_means[self.labels[s[loops]]], 0.0, 1.0)
        return values

    def block(self, lo: int, hi: int, r0: int, r1: int, c0: int) -> Floats:
        """See `Means.block`."""
        values = self.B[np.ix_(self.labels[r0:r1], self.labels[c0:])][None]
        return hollowed(values, r0, r1, c0)

    def loops(self, lo: int, hi: int) -> Floats:
        """See `Means.loops`."""
        return self.loop_means[None, self.labels]

    def diagonal(self, lo: int, hi: int) -> Floats:
        """See `Means.diagonal`."""
        loops = self.loop_means
        bad = ((loops < -TOLERANCE) | (loops > 1 + TOLERANCE)) & (self.sizes > 0)
        if bad.any():
            s, name = int(np.argmax(bad)), self.name
            raise InputError(
                f"{name}[{s}, {s}] is {loops[s]:.6g}, outside [0, 1]; with loops=True the diagonal "
                f"of {name} holds the probabilities of loops: correct it, or leave loops out"
            )
        return np.clip(loops, 0.0, 1.0)[None, self.labels]

    def bins(self, i: int) -> Bins:
        """See `Means.bins`."""
        return Bins(self.labels, self.B, exact=True)

    def pair_sum(self, f: Callable[[Floats], Floats], directed: bool) -> Floats:
        """See `Means.pair_sum`; costs the number of blocks squared."""
        sizes = self.sizes.astype(np.float64)
        pairs = np.outer(sizes, sizes) - np.diag(sizes)
        # Undirected: B is symmetric, and each unordered pair was counted twice.
        sums = np.where(pairs > 0, f(self.B) * pairs, 0.0).sum()
        return np.array([sums if directed else sums / 2])


# Up to this many vertices every pair is checked; above, see `LowRankMeans.check_pairs`.
EXACT_VERTICES = 10_000

# A mean this close to 0 or 1 is that number up to the rounding of the sum over k.
_ROUNDING = 1e-13


@dataclass(eq=False)
class LowRankMeans(Means):
    """Means H diag(lam_i) H^T.

    Parameters
    ----------
    H : ndarray, shape (n, d)
    Lam : ndarray, shape (n_distinct, d)
    remedy : str
        What an error tells the caller to do.
    name : str
        Name of graph i in an error, with ``{}`` for i; empty for the only one.
    law : EdgeLaw
        Its limits are the limits of the means.
    clip : bool
        Whether means beyond the limits are clipped, or an error.
    checked : bool
        Whether `check_pairs` was passed before, or the loadings are fresh.
    """

    H: Floats
    Lam: Floats
    remedy: str
    name: str = ""
    law: EdgeLaw = BERNOULLI
    clip: bool = False
    checked: bool = True

    def __post_init__(self) -> None:
        self.n_vertices, self.n_distinct = len(self.H), len(self.Lam)

    def at(self, i: int | Ints, s: Ints, t: Ints) -> Floats:
        """See `Means.at`."""
        values = np.empty(len(s))
        step = max(1, BLOCK_ENTRIES // self.H.shape[1])
        for e in range(0, len(s), step):
            pairs = slice(e, e + step)
            lam = self.Lam[i] if isinstance(i, int) else self.Lam[i[pairs]]
            values[pairs] = np.einsum("ek,ek->e", self.H[s[pairs]] * lam, self.H[t[pairs]])
        return self._valid(values, i, s, t)

    def block(self, lo: int, hi: int, r0: int, r1: int, c0: int) -> Floats:
        """See `Means.block`."""
        values = self._raw_block(lo, hi, r0, r1, c0)
        return self._valid(values, *np.ogrid[lo:hi, r0:r1, c0 : self.n_vertices])

    def loops(self, lo: int, hi: int) -> Floats:
        """See `Means.loops`; clipped where means are."""
        values: Floats = self.Lam[lo:hi] @ (self.H**2).T
        return np.clip(values, self.law.lower, self.law.upper) if self.clip else values

    def diagonal(self, lo: int, hi: int) -> Floats:
        """See `Means.diagonal`."""
        i, s = np.ogrid[lo:hi, : self.n_vertices]
        return self._valid(self.loops(lo, hi), i, s, s)

    def _raw_block(self, lo: int, hi: int, r0: int, r1: int, c0: int) -> Floats:
        """Return `block` without limits on the means."""
        scaled = self.Lam[lo:hi, None, :] * self.H[r0:r1]
        values = scaled.reshape(-1, scaled.shape[2]) @ self.H[c0:].T
        return hollowed(values.reshape(hi - lo, r1 - r0, -1), r0, r1, c0)

    def total(self) -> Floats:
        """See `Means.total`."""
        total: Floats = self.Lam @ (self.H.sum(axis=0) ** 2 - (self.H**2).sum(axis=0))
        return total

    def n_out_of_range(self) -> int:
        """Count the unordered pairs s < t, over all graphs, whose mean breaks the limits."""
        tiles = self.tiles(directed=False)
        return sum(
            int(np.count_nonzero(np.triu(self._outside(self._raw_block(*tile)), 1)))
            for tile in tiles
        )

    def bins(self, i: int) -> Bins:
        """See `Means.bins`.

        By Cauchy-Schwarz |P_st| <= q_s q_t with q_s^2 = sum_k |lam_k| h_ks^2. Vertices whose
        q lies between the same powers of two form a group.
        """
        q = self._sizes(i)
        exponent = np.frexp(np.maximum(q, q.max() * 2.0**-_OCTAVES))[1]
        exponent[q == 0] = exponent.min() - 1
        labels = np.unique(exponent, return_inverse=True)[1].astype(np.int64)
        largest = np.zeros(int(labels.max()) + 1)
        np.maximum.at(largest, labels, q)
        bounds = np.minimum(np.outer(largest, largest) * (1 + 1e-9), self.law.upper)
        return Bins(labels, bounds, exact=False)

    def check_pairs(self) -> None:
        """Raise if a pair has no valid mean.

        Exact for up to `EXACT_VERTICES` vertices. Above, pairs that can exceed the upper
        limit by Cauchy-Schwarz are checked (if there are as few vertices among them), and
        negative means are found only when sampling or a likelihood comes across them.
        """
        if self.clip or self.law.lower == -np.inf:
            return
        for i in range(self.n_distinct):
            vertices = np.arange(self.n_vertices)
            if self.n_vertices > EXACT_VERTICES or self._certainly_nonnegative(i):
                q = self._sizes(i)
                vertices = np.flatnonzero(q * q.max() > self.law.upper)
            if len(vertices) <= EXACT_VERTICES:
                self._check_rows(i, vertices)

    def _check_rows(self, i: int, vertices: Ints) -> None:
        """Check the pairs of graph i among the given vertices."""
        other = self.H[vertices]
        scaled = other * self.Lam[i]
        rows = max(1, BLOCK_ENTRIES // max(1, len(vertices)))
        for r0 in range(0, len(vertices), rows):
            values = (scaled[r0 : r0 + rows] @ other[r0:].T)[None]
            hollowed(values, 0, values.shape[1], 0)
            self._valid(values, i, vertices[r0 : r0 + rows, None], vertices[r0:])

    def _sizes(self, i: int) -> Floats:
        q: Floats = np.sqrt(self.H**2 @ np.abs(self.Lam[i]))
        return q

    def _certainly_nonnegative(self, i: int) -> bool:
        active = self.Lam[i] != 0
        one_sign = (self.H[:, active] >= 0).all(axis=0) | (self.H[:, active] <= 0).all(axis=0)
        return bool((self.Lam[i] >= 0).all() and one_sign.all())

    def _outside(self, values: Floats) -> npt.NDArray[np.bool_]:
        return (values < self.law.lower - TOLERANCE) | (values > self.law.upper + TOLERANCE)

    def _valid(self, values: Floats, i: Any, s: Any, t: Any) -> Floats:
        """Return the means with rounding removed, or raise at one that breaks the limits.

        Graph ``i`` and pair ``(s, t)`` of the means broadcast to their shape.
        """
        lower, upper = self.law.lower, self.law.upper
        if lower == -np.inf:
            return values
        low, high = values.min(initial=0.0), values.max(initial=0.0)
        if not self.clip and (low < lower - TOLERANCE or high > upper + TOLERANCE):
            first = tuple(np.argwhere(self._outside(values))[0])
            where = (int(np.broadcast_to(x, values.shape)[first]) for x in (i, s, t))
            self._refuse(float(values[first]), *where)
        np.clip(values, lower, upper, out=values)
        values[values < _ROUNDING] = 0.0
        if upper == 1.0:
            values[values > 1.0 - _ROUNDING] = 1.0
        return values

    def _refuse(self, value: float, i: int, s: int, t: int) -> None:
        graph = self.name.format(i)
        what, limits = (
            ("edge probability", "[0, 1]") if self.law.upper == 1.0 else ("mean weight", "[0, inf)")
        )
        raise InputError(
            f"{graph + ': ' if graph else ''}the {what} of the pair (s, t) = ({s}, {t}) is "
            f"{value:.6g}, outside {limits}; {self.remedy}"
        )
