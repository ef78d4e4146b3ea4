"""The engine that draws graphs from the means of their edges.

Dense graphs: every pair is drawn, in blocks over rows and graphs.

Sparse graphs: an edge is a small number of events of a Poisson process, whose rate is the
mean itself for a Poisson weight and -log(1 - p) for a Bernoulli edge (one event or more
happens with probability p). Vertices come in groups with a common bound on the means; the
events of all pairs of two groups are drawn together at the bound's rate, at uniform pairs, and
an event at (s, t) stays with probability rate(mean_st) / rate(bound). Repeated events at one
pair then add up (Poisson) or count once (Bernoulli). The cost is the number of events, and the
distribution is exact. Gaps drawn geometrically over the pairs would do for Bernoulli edges
alone, and would need one sweep for each pair of groups.

Where a bound is large, events at one pair repeat too often, and those pairs are drawn one by
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from eigengraphs.models.edge_laws import EdgeLaw, EventLaw
from eigengraphs.models.edge_means import BLOCK_ENTRIES, Bins, Means
from eigengraphs.models.validation import Floats, Ints
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import spans

# Above this share of the pairs, drawing every pair costs less than drawing events.
_EVENT_DENSITY = 0.05
# Graphs this small are drawn whole, many at a time.
_SMALL_GRAPH = 64
# Pairs with a larger rate than this (about one chance in two of an edge) are drawn one by one.
_HEAVY_RATE = 0.7
# Results above this density, or with fewer entries than this, are stored as arrays.
_DENSE_DENSITY = 0.1
_DENSE_ENTRIES = 2**22
# Means that were drawn along with the graphs are checked on every pair up to this many.
_CHECKED_ENTRIES = 2**27

_Places: TypeAlias = npt.NDArray[Any]


def sample_stack(
    means: Means, m: int, law: EdgeLaw, rng: np.random.Generator, *, loops: bool, directed: bool
) -> GraphStack:
    """Draw m graphs and return them as one stack.

    Parameters
    ----------
    means : Means
        With ``n_distinct`` above 1, as many as graphs.
    m : int
    law : EdgeLaw
    loops, directed : bool
    rng : numpy.random.Generator
    """
    n, density = means.n_vertices, means.density()
    all_pairs = not isinstance(law, EventLaw)
    as_array = all_pairs or density > _DENSE_DENSITY or m * n * n <= _DENSE_ENTRIES
    sink = _DenseSink(m, n) if as_array else _SparseSink(m, n)
    draw = _Draw(law, directed, rng, sink)
    if all_pairs or n <= _SMALL_GRAPH or density > _EVENT_DENSITY:
        draw.every_pair(means, m)
    else:
        if not means.checked and means.n_distinct * n * n <= _CHECKED_ENTRIES:
            means.check_pairs()
        if means.n_distinct == 1:
            draw.events(means, 0, range(m))
        else:
            for i in range(m):
                draw.events(means, i, range(i, i + 1))
    if loops:
        draw.loops(means, m)
    return sink.stack(law, directed)


@dataclass(frozen=True)
class _Draw:
    """What stays the same during one call: the law, the randomness and where edges go."""

    law: EdgeLaw
    directed: bool
    rng: np.random.Generator
    sink: _DenseSink | _SparseSink

    def every_pair(self, means: Means, m: int) -> None:
        """Draw m graphs, pair by pair."""
        for lo, hi, r0, r1, c0 in means.tiles(self.directed):
            mean = means.block(lo, hi, r0, r1, c0)
            s, t = np.ogrid[r0:r1, c0 : means.n_vertices]
            allowed = s != t if self.directed else s < t
            for start, stop in _steps(m, mean[0].size) if means.n_distinct == 1 else [(lo, hi)]:
                values = self.law.draw(self.rng, mean, (stop - start, *mean.shape[1:])) * allowed
                self.sink.add_tile(start, r0, c0, values)

    def loops(self, means: Means, m: int) -> None:
        """Draw the loops of m graphs."""
        n = means.n_vertices
        for lo, hi in _steps(m, n):
            mean = means.diagonal(0, 1) if means.n_distinct == 1 else means.diagonal(lo, hi)
            self.sink.add_loops(lo, self.law.draw(self.rng, mean, (hi - lo, n)))

    def events(self, means: Means, i: int, graphs: range) -> None:
        """Draw some graphs from the means of graph i, at the cost of their events."""
        assert isinstance(self.law, EventLaw)
        bins = means.bins(i)
        possible = bins.bounds > 0
        a, b = np.nonzero(possible if self.directed else np.triu(possible))
        held = (bins.sizes[a] > 0) & (bins.sizes[b] > 0)
        a, b = a[held], b[held]
        rate = self.law.rate(bins.bounds[a, b])
        heavy = rate > _HEAVY_RATE
        # Between groups a[j] and b[j] with many events, every pair is drawn.
        for s, t, same in _pairs_between(bins, a[heavy], b[heavy]):
            keep = s != t if self.directed else ~same | (s < t)
            s, t = s[keep], t[keep]
            mean = means.at(i, s, t)
            for lo, hi in _steps(len(graphs), len(s)):
                values = self.law.draw(self.rng, mean, (hi - lo, len(s)))
                graph, e = np.nonzero(values)
                self.sink.add_edges(graphs[lo] + graph, s[e], t[e], values[graph, e])
        # Between the others, events are drawn at rate[j] a pair, and thinned. Within one group both
        # orders of a pair are drawn, so each gets half of the rate.
        a, b, rate = a[~heavy], b[~heavy], rate[~heavy]
        share = np.where((a == b) & (not self.directed), 0.5, 1.0)
        ends = np.cumsum(rate * share * bins.sizes[a] * bins.sizes[b])
        for lo, hi in _steps(len(graphs), int(ends[-1])) if len(ends) else ():
            # All pairs of groups are one process: an event is one of theirs by its share.
            graph = np.repeat(graphs[lo:hi], self.rng.poisson(ends[-1], hi - lo))
            kind = np.searchsorted(ends[:-1], self.rng.random(len(graph)) * ends[-1], side="right")
            s = bins.order[bins.starts[a][kind] + self.rng.integers(0, bins.sizes[a][kind])]
            t = bins.order[bins.starts[b][kind] + self.rng.integers(0, bins.sizes[b][kind])]
            keep = s != t
            if not bins.exact:
                graph, s, t, kind = graph[keep], s[keep], t[keep], kind[keep]
                keep = self.rng.random(len(s)) * rate[kind] < self.law.rate(means.at(i, s, t))
            self.sink.add_edges(graph[keep], s[keep], t[keep], np.ones(int(keep.sum())))


def _steps(count: int, entries: int) -> list[tuple[int, int]]:
    """Split ``count`` graphs with ``entries`` each into runs of about one block."""
    return spans(count, BLOCK_ENTRIES // max(1, entries))


def _pairs_between(
    bins: Bins, a: Ints, b: Ints
) -> Iterator[tuple[Ints, Ints, npt.NDArray[np.bool_]]]:
    """Yield every (s, t) with s in group a[j] and t in group b[j], and whether a[j] = b[j]."""
    ends = np.cumsum(bins.sizes[a] * bins.sizes[b])
    total = int(ends[-1]) if len(ends) else 0
    for lo in range(0, total, BLOCK_ENTRIES):
        place = np.arange(lo, min(lo + BLOCK_ENTRIES, total))
        j = np.searchsorted(ends, place, side="right")
        width = bins.sizes[b][j]
        u, v = np.divmod(place - ends[j] + bins.sizes[a][j] * width, width)
        yield bins.order[bins.starts[a][j] + u], bins.order[bins.starts[b][j] + v], a[j] == b[j]


# Where edges go. Undirected edges are given once, in either order, and mirrored at the end: whole
# blocks (`add_tile`) and diagonals of the graphs from number ``first`` on, and single edges.


class _DenseSink:
    def __init__(self, m: int, n: int) -> None:
        self.A = np.zeros((m, n, n))
        self.diagonals: list[tuple[int, Floats]] = []

    def add_tile(self, first: int, r0: int, c0: int, values: Floats) -> None:
        count, rows, columns = values.shape
        self.A[first : first + count, r0 : r0 + rows, c0 : c0 + columns] = values

    def add_loops(self, first: int, values: Floats) -> None:
        self.diagonals.append((first, values))

    def add_edges(self, graph: Ints, s: Ints, t: Ints, weights: Floats) -> None:
        np.add.at(self.A, (graph, s, t), weights)

    def stack(self, law: EdgeLaw, directed: bool) -> GraphStack:
        n = self.A.shape[1]
        for lo, hi in _steps(len(self.A), n * n):
            A = self.A[lo:hi]
            if not directed:
                A += A.transpose(0, 2, 1).copy()
            if isinstance(law, EventLaw):
                A[...] = law.from_events(A)
        for first, values in self.diagonals:
            s = np.arange(n)
            self.A[first : first + len(values), s, s] = values
        return GraphStack(self.A, storage="dense", copy=False)


class _SparseSink:
    def __init__(self, m: int, n: int) -> None:
        self.m, self.n = m, n
        self.index: type[np.int32 | np.int64] = np.int32 if m * n < 2**31 else np.int64
        self.pairs: list[tuple[_Places, _Places, Floats]] = []  # row, column, weight
        self.diagonals: list[tuple[_Places, _Places, Floats]] = []
        self.add_tile(0, 0, 0, np.zeros((1, 1, 1)))  # there may be no edges

    def add_tile(self, first: int, r0: int, c0: int, values: Floats) -> None:
        graph, s, t = np.nonzero(values)
        self.add_edges(first + graph, r0 + s, c0 + t, values[graph, s, t])

    def add_loops(self, first: int, values: Floats) -> None:
        graph, s = np.nonzero(values)
        self.add_edges(first + graph, s, s, values[graph, s])
        self.diagonals.append(self.pairs.pop())

    def add_edges(self, graph: Ints, s: Ints, t: Ints, weights: Floats) -> None:
        rows = (graph * self.n + s).astype(self.index)
        self.pairs.append((rows, t.astype(self.index), weights))

    def stack(self, law: EdgeLaw, directed: bool) -> GraphStack:
        assert isinstance(law, EventLaw)
        parts, n = self.pairs + self.diagonals, self.n
        if not directed:
            parts += [(rows - rows % n + t, rows % n, weights) for rows, t, weights in self.pairs]
        self.pairs, self.diagonals = [], []
        rows, columns, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        del parts
        flat = sparse.coo_array((weights, (rows, columns)), shape=(self.m * n, n)).tocsr()
        flat.sum_duplicates()
        flat.data[:] = law.from_events(flat.data)
        return GraphStack.from_flat(flat, self.m)
