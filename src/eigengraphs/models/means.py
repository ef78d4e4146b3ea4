"""The mean of every edge, in the three forms that the models have.

The engine that samples and the likelihood see the models only through `Means`: means at
single pairs, in blocks of rows, summed over pairs, and bounded over groups of vertices.
Nothing of size n x n is built, except where the model itself is such a matrix.
"""

# ruff: noqa: ARG002 - means that all graphs share do not ask which graph is meant

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eigengraphs.errors import InputError
from eigengraphs.models.validation import TOLERANCE, Floats, Ints

__all__ = [
    "BLOCK_ENTRIES",
    "Bins",
    "BlockMeans",
    "DenseMeans",
    "Means",
    "bins_of_labels",
    "hollowed",
    "octaves",
]

# Entries of one temporary block: 8 MB of floats, which stays near the processor's cache.
BLOCK_ENTRIES = 2**20

# Classes of vertices by powers of two stop this far below the largest.
_OCTAVES = 40


@dataclass(frozen=True)
class Bins:
    """Vertices grouped so that the means between two groups share one bound.

    Attributes
    ----------
    order : ndarray, shape (n,)
        The vertices, group after group.
    starts, sizes : ndarray, shape (n_bins,)
        Where each group begins in ``order``, and its length.
    bounds : ndarray, shape (n_bins, n_bins)
        No mean between the two groups is larger.
    exact : bool
        Whether every mean between two groups equals its bound.
    """

    order: Ints
    starts: Ints
    sizes: Ints
    bounds: Floats
    exact: bool


class Means(ABC):
    """The means of the edges of one graph, or of ``n_distinct`` graphs with means of their own.

    Pairs s = t take part only in `at` and `diagonal`: they matter only where loops are asked.
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
    def diagonal(self, lo: int, hi: int) -> Floats:
        """Return the means of the loops of the graphs lo to hi, (hi - lo, n), checked."""

    @abstractmethod
    def bins(self, i: int) -> Bins:
        """Return groups of vertices with bounds on the means of graph i."""

    @abstractmethod
    def total(self) -> Floats:
        """Return the sum over ordered pairs s != t, (n_distinct,), before any clipping."""

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
            if not directed:
                values = np.triu(values, 1)
            sums[lo:hi] += values.sum(axis=(1, 2))
        return sums


def bins_of_labels(labels: Ints, bounds: Floats, *, exact: bool) -> Bins:
    """Group the vertices by ``labels``, which index the rows of ``bounds``."""
    sizes = np.bincount(labels, minlength=len(bounds))
    return Bins(
        order=np.argsort(labels, kind="stable"),
        starts=np.cumsum(sizes) - sizes,
        sizes=sizes,
        bounds=bounds,
        exact=exact,
    )


def octaves(sizes: Floats) -> Ints:
    """Label positive numbers by powers of two, 0 for zeros; labels have no gaps."""
    largest = sizes.max(initial=0.0)
    if largest == 0:
        return np.zeros(len(sizes), dtype=np.int64)
    exponent = np.frexp(np.maximum(sizes, largest * 2.0**-_OCTAVES))[1]
    exponent[sizes == 0] = exponent.min() - 1
    return np.unique(exponent, return_inverse=True)[1].astype(np.int64)


class BlockMeans(Means):
    """One mean for each pair of blocks; one block is an Erdos-Renyi graph."""

    def __init__(self, B: Floats, labels: Ints) -> None:
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
        values[loops] = self.loop_means[self.labels[s[loops]]]
        return values

    def block(self, lo: int, hi: int, r0: int, r1: int, c0: int) -> Floats:
        """See `Means.block`."""
        values = self.B[np.ix_(self.labels[r0:r1], self.labels[c0:])][None]
        return hollowed(values, r0, r1, c0)

    def diagonal(self, lo: int, hi: int) -> Floats:
        """See `Means.diagonal`."""
        return _loop_probabilities(self.loop_means, "B", self.sizes > 0)[self.labels][None]

    def bins(self, i: int) -> Bins:
        """See `Means.bins`."""
        return bins_of_labels(self.labels, self.B, exact=True)

    def total(self) -> Floats:
        """See `Means.total`."""
        return self.pair_sum(lambda values: values, directed=True)

    def pair_sum(self, f: Callable[[Floats], Floats], directed: bool) -> Floats:
        """See `Means.pair_sum`; costs the number of blocks squared."""
        sizes = self.sizes.astype(np.float64)
        pairs = np.outer(sizes, sizes) - np.diag(sizes)
        # Undirected: B is symmetric, and each unordered pair was counted twice.
        sums = np.where(pairs > 0, f(self.B) * pairs, 0.0).sum()
        return np.array([sums if directed else sums / 2])


class DenseMeans(Means):
    """The means are a matrix, as in the inhomogeneous Erdos-Renyi model."""

    def __init__(self, P: Floats) -> None:
        self.P = P
        self.n_vertices = len(P)

    def at(self, i: int | Ints, s: Ints, t: Ints) -> Floats:
        """See `Means.at`."""
        return np.clip(self.P[s, t], 0.0, 1.0)

    def block(self, lo: int, hi: int, r0: int, r1: int, c0: int) -> Floats:
        """See `Means.block`."""
        return hollowed(self.P[None, r0:r1, c0:].copy(), r0, r1, c0)

    def diagonal(self, lo: int, hi: int) -> Floats:
        """See `Means.diagonal`."""
        return _loop_probabilities(np.diagonal(self.P), "P")[None]

    def bins(self, i: int) -> Bins:
        """See `Means.bins`."""
        n = self.n_vertices
        largest = np.zeros(n)
        for _, _, r0, r1, c0 in self.tiles(directed=True):
            rows = self.block(0, 1, r0, r1, c0)[0]
            np.maximum(largest, rows.max(axis=0), out=largest)
            largest[r0:r1] = np.maximum(largest[r0:r1], rows.max(axis=1))
        labels = octaves(largest)
        n_bins = int(labels.max()) + 1
        bounds = np.zeros((n_bins, n_bins))
        bins = bins_of_labels(labels, bounds, exact=False)
        for _, _, r0, r1, c0 in self.tiles(directed=True):
            rows = self.block(0, 1, r0, r1, c0)[0][:, bins.order]
            by_column = np.maximum.reduceat(rows, bins.starts, axis=1)
            np.maximum.at(bounds, labels[r0:r1], by_column)
        return bins

    def total(self) -> Floats:
        """See `Means.total`."""
        return np.array([self.P.sum() - np.trace(self.P)])


def hollowed(values: Floats, r0: int, r1: int, c0: int) -> Floats:
    """Set the pairs s = t of a block to zero, in place."""
    s = np.arange(max(r0, c0), r1)
    values[:, s - r0, s - c0] = 0.0
    return values


def _loop_probabilities(
    loops: Floats, name: str, used: npt.NDArray[np.bool_] | bool = True
) -> Floats:
    bad = ((loops < -TOLERANCE) | (loops > 1 + TOLERANCE)) & used
    if bad.any():
        s = int(np.argmax(bad))
        raise InputError(
            f"{name}[{s}, {s}] is {loops[s]:.6g}, outside [0, 1]; with loops=True the diagonal of "
            f"{name} holds the probabilities of loops: correct it, or leave loops out"
        )
    return np.clip(loops, 0.0, 1.0)
