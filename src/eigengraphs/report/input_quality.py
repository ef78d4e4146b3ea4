"""The graphs of the input: density, weight, isolated vertices, and which graphs stand out."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.io.file_graph import few
from eigengraphs.report.records import GraphQuality, Level, Problem
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.stack.mask import Mask
from eigengraphs.system.labels import count_of

_EVEN = 0.4  # of the graphs: a group that is larger is one of two, and not apart from the rest
_NEARLY = 0.05  # of the graphs: so many may be in another group than a column says
_NAMED = 5  # graphs in a message
_RARE = 0.01  # of the weights: negative ones that are rarer are mistakes


@dataclass(eq=False, repr=False)
class QualityTable(Sequence[GraphQuality]):
    """The quality of every graph, one :class:`GraphQuality` each, made when it is asked for.

    It is kept while graphs are fitted, and for very many graphs the records would take more room
    than everything else that is kept about them.

    Attributes
    ----------
    names, files
        Of the graphs; None for names that are places, and no files for graphs from memory.
    density, total_weight, isolated, correlation : (m,)
        As in :class:`GraphQuality`.
    messages
        By the place of the graph, for those about which there is something to say.
    problems
        The same for all graphs together, the gravest first.
    explained
        What was found and has a known reason, such as groups that a column tells.
    """

    names: Sequence[str] | None
    files: Sequence[str]
    density: NDArray[np.float64]
    total_weight: NDArray[np.float64]
    isolated: NDArray[np.int64]
    correlation: NDArray[np.float64]
    messages: Mapping[int, Sequence[str]]
    problems: tuple[Problem, ...] = ()
    explained: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.density)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            return tuple(self[i] for i in range(*which.indices(len(self))))
        i = range(len(self))[which]
        messages = tuple(self.messages.get(i, ()))
        return GraphQuality(
            self.name(i),
            self.files[i] if self.files else "",
            verdict="notice" if messages else "ok",
            density=float(self.density[i]),
            total_weight=float(self.total_weight[i]),
            isolated=int(self.isolated[i]),
            correlation=None if np.isnan(self.correlation[i]) else float(self.correlation[i]),
            messages=messages,
        )

    def name(self, i: int) -> str:
        """Return the name of a graph."""
        return str(i) if self.names is None else self.names[i]


def describe_graphs(
    stack: GraphStack,
    files: Sequence[str] = (),
    said: Mapping[int, Sequence[str]] | None = None,
    mirror: NDArray[np.intp] | None = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
) -> QualityTable:
    """Describe every graph of a stack, and say which are unlike the others.

    Parameters
    ----------
    stack
        The graphs.
    files
        File of each graph; none for graphs that come from memory.
    said
        What the reader of the files said, by the place of the graph.
    mirror : (n,), optional
        For each vertex, the one in the other hemisphere; finds graphs whose sides are swapped.
    columns
        What is known about the graphs, one value each; may tell the groups into which they fall.
    """
    m, n = stack.n_graphs, stack.n_vertices
    pairs = np.full(m, n * (n - 1), dtype=np.float64)
    if stack.mask is not None:
        pairs = stack.mask.counts(diagonal=False).astype(np.float64)
    density = (stack.facts.n_nonzero - stack.facts.n_loops) / np.maximum(pairs, 1.0)
    weight, *counts = _counted(stack)
    isolated, missing, n_negative = (count.astype(np.int64) for count in counts)
    if not stack.is_directed:
        weight /= 2.0  # an edge stands twice in its matrix; in directed graphs these are two
    found = compare_patterns(stack, mirror)
    messages = {i: list(texts) for i, texts in (said or {}).items() if texts}
    table = QualityTable(stack._graph_names, files, density, weight, isolated,
                         found.correlation, messages)  # fmt: skip
    for i in np.flatnonzero(missing).tolist():  # one notice about all graphs names the vertices
        messages.setdefault(i, []).append(f"{missing[i]} of {n} vertices are missing")
    empty = isolated == n - missing
    # Few graphs have nothing usual; and where isolated vertices are usual, they are no notice.
    least = n // 10 + (float(np.median(isolated)) if m >= FEWEST else 0.0)
    usual_correlation, usual_scale = _median(found.correlation), _median(found.scale)
    odd_scale = far_from_usual(found.scale, 2.0) & stack.is_weighted  # else it is the density again
    # Wrong data first, then odd graphs: the level, which graphs, in a few words, as the end of a
    # sentence on all of them, and what is said of each.
    checks: list[tuple[Level, NDArray[np.bool_], str, str, Callable[[int], str]]] = [
        ("warning", empty, "no edges",
         "have no edges at all (check whether the file is complete, or leave it out)",
         lambda _: "no edges at all"),
        ("warning", found.unlike, "odd pattern",
         "are unlike the others in the pattern of edges (are the vertices in another order?)",
         lambda i: f"pattern unlike the others: correlation {found.correlation[i]:.2f} with them, "
         f"usual {usual_correlation:.2f}"),
        ("warning", found.swapped, "swapped hemispheres",
         "are more like the others with left and right swapped (are the hemispheres swapped?)",
         lambda _: "left and right look swapped"),
        ("warning", odd_scale, "odd scale",
         "are unlike the others in the scale of the weights (another unit, or already "
         "transformed?)",
         lambda i: f"scale of the weights {found.scale[i]:.3g}, far from the usual "
         f"{usual_scale:.3g}"),
        ("notice", _rare_negatives(stack, n_negative), "negative weights",
         "have negative weights, which are rare here",
         lambda i: _negative_weight(stack, i)),
        ("notice", far_from_usual(density, 1.2), "odd density",
         "are unlike the others in density",
         lambda _: f"density far from the usual {_median(density):.3g}"),
        ("notice", (isolated > least) & ~empty, "isolated vertices",
         f"have no edges at many of the {n} vertices",
         lambda i: f"{isolated[i]} of {n - missing[i]} vertices have no edge"),
    ]  # fmt: skip
    for level, which, short, what, text in checks:
        said_of = {i: text(i) for i in np.flatnonzero(which).tolist()}
        for i, words in said_of.items():
            messages.setdefault(i, []).append(words)
        if said_of:
            names = [table.name(i) for i in said_of]
            if short == "negative weights":
                names = [f"{files[i] if files else table.name(i)} ({words})"
                         for i, words in said_of.items()]  # fmt: skip
            count, (verb, rest) = count_of(len(said_of), "graph"), what.split(" ", 1)
            verb = {"are": "is", "have": "has"}[verb] if len(said_of) == 1 else verb
            whole = f"{count} {verb} {rest}: {few(names, _NAMED)}"
            table.problems += (Problem(level, whole, f"{short} ({count})"),)
    places = np.flatnonzero(found.apart).tolist()
    if places:
        even, sizes = len(places) > _EVEN * m, f"{len(places)} and {m - len(places)}"
        what = f"{len(places)} graphs are apart from the others, and like each other"
        if even:
            what = f"the graphs fall into two groups of {sizes}"
        column = _told_by(found.apart, columns or {})
        first = few([table.name(i) for i in places], _NAMED)
        whole = f"{what} ({column or 'another scanner, site or group?'}): {first}"
        groups = Problem("notice", whole, f"two groups ({sizes} graphs)")
        if column:
            table.explained = (groups,)
            return table
        table.problems += (groups,)
        where = "in one of two groups" if even else "apart from most graphs"
        for i in places:
            others = f"{where}, together with {len(places) - 1} others"
            messages.setdefault(i, []).append(others)
    return table


def missing_vertices(mask: Mask) -> NDArray[np.bool_]:
    """Mark the vertices of each graph of which no pair with another vertex is observed, (m, n)."""
    return np.asarray(mask.row_counts() == mask.diagonal)


def _told_by(group: NDArray[np.bool_], columns: Mapping[str, Sequence[Any]]) -> str:
    """Say which value of a column the graphs of a group have, (m,), and hardly any others."""
    best, said = _NEARLY * len(group), ""
    for name, values in columns.items():
        inside = Counter(x for x, mine in zip(values, group, strict=True) if mine and x is not None)
        for value, count in inside.most_common(1):
            wrong = group.sum() + sum(x == value for x in values) - 2 * count
            if wrong < best or (wrong == best and not said):
                best = wrong
                said = f"these are {'nearly ' * bool(wrong)}the graphs with {name} = {value}"
    return said


def _median(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else np.nan


def _counted(stack: GraphStack) -> NDArray[np.float64]:
    """Return total weight, isolated and missing vertices, and negative entries, each (m,).

    All without the diagonal. The edges of a missing vertex are unknown, so it is not isolated.
    """
    rows, n = [], stack.n_vertices
    for block in pieces(stack):
        absent = np.zeros((block.n_graphs, n), dtype=bool)
        if block.mask is not None:
            absent = missing_vertices(block.mask)
        for i in range(block.n_graphs):
            A = block._graph(i)
            loops = A.diagonal()
            if isinstance(A, np.ndarray):
                weights = A
                degrees = np.count_nonzero(A, axis=0) + np.count_nonzero(A, axis=1)
            else:  # no copy of its entries: it may be a very large graph
                weights = A.data
                degrees = np.diff(A.indptr) + np.bincount(A.indices, minlength=n)
            alone = (degrees == 2 * (loops != 0)) & ~absent[i]
            total = weights.sum(dtype=np.float64) - loops.sum(dtype=np.float64)
            negative = np.count_nonzero(weights < 0) - np.count_nonzero(loops < 0)
            rows.append((total, alone.sum(), absent[i].sum(), negative))
    return np.array(rows, dtype=np.float64).T


def _rare_negatives(stack: GraphStack, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark graphs with negative weights, (m,), where these are mistakes.

    They are few, and in few graphs or among whole numbers. Correlations have many, in all graphs.
    """
    few = 0 < counts.sum() < _RARE * stack.facts.n_nonzero.sum()
    odd = few and (2 * np.count_nonzero(counts) < len(counts) or _all_whole(stack))
    return (counts > 0) & bool(odd)


def _all_whole(stack: GraphStack) -> bool:
    return all(
        (weights == np.floor(weights)).all()
        for block in pieces(stack)
        for weights in ([block.flat.data] if block.is_sparse else block.dense)
    )


def _negative_weight(stack: GraphStack, i: int) -> str:
    """Say where the first negative weight of a graph is."""
    entries = sparse.coo_array(stack._graph(i))
    s, t = entries.coords
    keep = (entries.data < 0) & ((s < t) if stack.facts.is_symmetric[i] else (s != t))
    s, t, values = s[keep], t[keep], entries.data[keep]
    names = stack.vertex_names
    more = f", and {len(s) - 1} more" if len(s) > 1 else ""
    return f"negative weight {values[0]:g} from {names[s[0]]!r} to {names[t[0]]!r}{more}"


# --------------------------------------------------------------------- patterns of graphs, compared


FEWEST = 5  # graphs; among fewer it is unclear which one is odd
_FAR = 5.0  # robust standard deviations; of many normal values, one in two million
_ROBUST = 1.4826  # times the median distance from the median: a standard deviation, if normal
_REFERENCES = 256  # graphs that each is compared with: the median of so many moves no more
_CELLS = 2**16  # pairs of vertices: a correlation over so many is known to 0.004
_AT_ONCE = 64  # graphs
_ENTRIES = 2**20  # of sparse references, among which the pairs are chosen
_NOISE = 3.0  # standard errors of a correlation over all pairs of vertices
_SIDES = ("hemisphere", "hemi", "side")  # columns of vertices
_SIDE_WORDS = {"l", "left", "lh", "r", "right", "rh"}
_GROUPS_FROM = 10  # graphs: the spread of fewer around one pattern often looks like two groups


@dataclass(frozen=True, eq=False)
class Patterns:
    """How each of m graphs compares with the others, all (m,).

    Attributes
    ----------
    correlation
        Median of the correlations with the other graphs; nan where there is nothing to compare.
    scale
        Square of the mean square root of the weights, which a few large ones do not decide.
    unlike
        Whether the graph shows another pattern than the others, also once its sides are right.
    apart
        Whether it is in the smaller of two groups of graphs, each with a pattern of its own; of
        groups of one size, in that of the first graph. Swapped graphs are in neither.
    swapped
        Whether its left is the right of the others; never without the mirror images of vertices.
    """

    correlation: NDArray[np.float64]
    scale: NDArray[np.float64]
    unlike: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    swapped: NDArray[np.bool_]


def compare_patterns(stack: GraphStack, mirror: NDArray[np.intp] | None = None) -> Patterns:
    """Compare the pattern of every graph with those of the others.

    Weights are compared as log(1 + weight / u), u the graph's own median weight, so that neither
    the unit nor the few largest weights decide.

    Parameters
    ----------
    stack
        The graphs; hidden entries are ignored.
    mirror : (n,), optional
        For each vertex, the one on the other side of the brain, or itself.
    """
    m = stack.n_graphs
    nobody = np.zeros(m, dtype=bool)
    if m < FEWEST:
        return Patterns(np.full(m, np.nan), np.zeros(m), nobody, nobody, nobody)
    chosen = np.unique(np.linspace(0, m - 1, min(m, _REFERENCES)).astype(np.intp))
    references = list(pieces(stack[chosen]))
    cells, n_zero = _cells(references, mirror, directed=stack.is_directed)
    values, scale = map(np.concatenate, zip(*(_values(x, cells) for x in references), strict=True))
    noise = _NOISE / np.sqrt(max(len(cells) + n_zero, 1))
    to_all = _Table(values, n_zero)
    aside, sides = None, None
    if mirror is not None:
        aside = np.searchsorted(cells, _mirrored(cells, mirror, directed=stack.is_directed))
        sides = _Table(values - values[:, aside], 0.0)
    among = to_all.correlations(values)
    np.fill_diagonal(among, np.nan)
    groups = _Groups.of(among, noise)
    correlation, score, side = np.full(m, np.nan), np.zeros(m), np.full(m, np.nan)
    mirrored = np.full(m, np.nan)
    scales = np.empty(m)
    every = [(values, scale)] if m == len(chosen) else (_values(x, cells) for x in pieces(stack))
    lo = 0
    for X, scale in every:
        hi = lo + len(X)
        scales[lo:hi] = scale
        itself = np.arange(lo, hi)[:, None] == chosen
        found = np.where(itself, np.nan, to_all.correlations(X))
        correlation[lo:hi] = _medians(found)
        score[lo:hi] = groups.scores(found)
        if sides is not None:
            found = np.where(itself, np.nan, sides.correlations(X - X[:, aside]))
            side[lo:hi] = _medians(found)
            back = np.flatnonzero(side[lo:hi] < 0)
            found = np.where(itself[back], np.nan, to_all.correlations(X[back][:, aside]))
            mirrored[lo + back] = _medians(found)
        lo = hi
    usual = float(np.nanmedian(side)) if np.isfinite(side).any() else 0.0
    # The difference of the two sides changes its sign with them, and nothing else about it.
    swapped = (side < -usual / 2) & (usual > noise)
    unlike = _unlike(np.where(swapped, mirrored, correlation), noise)
    apart = groups.smaller(score)
    size = 2 * int(apart.sum())
    if size > m or (size == m and not apart[0]):
        apart = ~apart
    apart &= ~swapped
    return Patterns(correlation, scales, unlike, apart & (apart.sum() > 1), swapped)


def mirror_images(
    names: Sequence[str], known: Sequence[str], columns: Mapping[str, Any]
) -> NDArray[np.intp] | None:
    """Return the vertex in the other hemisphere for each vertex, (n,), or itself; None if unknown.

    Parameters
    ----------
    names
        Of the n vertices.
    known, columns
        Names of vertices in a table, and its columns. One says the side, as left or R; others are
        neither. Regions are paired by name without the side, or else by their order in each.
    """
    side = next((column for name, column in columns.items() if name.lower() in _SIDES), None)
    place = {name: k for k, name in enumerate(known)}
    if side is None or not all(name in place for name in names):
        return None
    letters = [str(side[place[name]])[:1].lower() for name in names]
    left, right = ([s for s, x in enumerate(letters) if x == letter] for letter in "lr")
    if not left or len(left) != len(right):
        return None

    def region(s: int) -> tuple[str, ...]:
        words = re.split(r"[\W_]+", names[s])
        return tuple(word for word in words if word.lower() not in _SIDE_WORDS)

    partner = {region(s): s for s in right}
    if len(partner) == len(right) and {region(s) for s in left} == set(partner):
        right = [partner[region(s)] for s in left]
    mirror = np.arange(len(names))
    mirror[left], mirror[right] = right, left
    return mirror


def far_from_usual(values: NDArray[np.float64], factor: float) -> NDArray[np.bool_]:
    """Mark positive values that differ from the median of all by a factor, and by far, (m,).

    By far is in robust standard deviations of the logarithms. Three are enough for ten times or a
    tenth, as those of few graphs are known badly.
    """
    some = values > 0
    if np.count_nonzero(some) < FEWEST:
        return np.zeros(len(values), dtype=bool)
    logs = np.log(np.where(some, values, 1.0))
    away = np.abs(logs - np.median(logs[some]))
    spread = _ROBUST * float(np.median(away[some]))
    by_far = (away > np.log(factor)) & (away > _far(int(some.sum())) * spread)
    return np.asarray(some & (by_far | ((away > np.log(10)) & (away > 3 * spread))))


def _far(count: int) -> float:
    """Return how many robust standard deviations are far.

    In one of a hundred sets of normal values, be they six or a thousand, one is called far.
    """
    return _FAR * (1 + 40 / count**2)


def _unlike(correlation: NDArray[np.float64], noise: float) -> NDArray[np.bool_]:
    """Mark correlations far below the usual one: two thirds lost, or a third and by far the least.

    As Fisher's z, in which the spread of correlations does not depend on their size.
    """
    z = np.arctanh(np.clip(correlation, -1 + 1e-9, 1 - 1e-9))
    known = z[np.isfinite(z)]
    if len(known) < FEWEST:
        return np.zeros(len(z), dtype=bool)
    usual = float(np.median(known))
    lost = usual - z
    # Graphs that show the common pattern weakly spread downwards alone, and may be many.
    below = usual - known[known <= usual]
    away = lost / max(_ROBUST * float(np.median(below)), 1e-9)
    nearly_all = (lost > 2 / 3 * usual) & (away > 3)
    by_far = (lost > 1 / 3 * usual) & (away > _far(len(below)))
    return np.asarray((nearly_all | by_far) & (lost > noise))


def _medians(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the medians of rows, of what is known of them; nan where nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of rows of nan
        return np.asarray(np.nanmedian(found, axis=1))


class _Table:
    """Values of graphs, (r, p), to correlate others with; nan is hidden.

    ``n_zero`` further values are 0 in every graph, and not kept.
    """

    def __init__(self, values: NDArray[np.float32], n_zero: float) -> None:
        self._n_zero = n_zero
        self._parts = self._centered(values)

    def _centered(self, values: NDArray[np.float32]) -> tuple[Any, Any, Any]:
        seen = np.isfinite(values)
        count = seen.sum(axis=1, keepdims=True) + self._n_zero
        mean = np.nansum(values, axis=1, keepdims=True, dtype=np.float64) / np.maximum(count, 1)
        around = np.where(seen, values - mean, 0.0).astype(np.float32)
        return around, mean, None if seen.all() else seen.astype(np.float32)

    def correlations(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return correlations over what both observe, (b, r); nan where a graph is constant."""
        (X, a, U), (Y, b, V) = self._centered(values), self._parts
        products = X @ Y.T + self._n_zero * a * b.T
        squares = (X**2).sum(axis=1, keepdims=True) if V is None else X**2 @ V.T
        others = (Y**2).sum(axis=1) if U is None else U @ (Y**2).T
        norms = np.sqrt(
            (squares + self._n_zero * a**2) * (others + self._n_zero * b.T**2)
        )  # fmt: skip
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(norms > 1e-12, products / norms, np.nan).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Two groups of reference graphs, if there are two: what one common pattern leaves."""

    common: NDArray[np.float64]  # (r,), how much each has of the pattern that all share
    direction: NDArray[np.float64]  # (r,), along which the groups differ; 0 if there are none
    cut: float = 0.0  # between the groups, of scores
    fewer_below: bool = False

    @classmethod
    def of(cls, among: NDArray[np.float64], noise: float) -> _Groups:
        """Look for two groups in correlations, (r, r), whose diagonal is nan.

        With one pattern for all and noise of any size, the correlation of i and j is q_i q_j. What
        is left beyond that has one large eigenvalue where there are two groups; several of about
        the same size where there are more groups, as strains or people; and none that stands out
        where there are none.
        """
        r = len(among)
        C = np.nan_to_num(among)
        none = cls(np.zeros(r), np.zeros(r))
        if r < _GROUPS_FROM:
            return none
        q = np.zeros(r)
        for _ in range(20):  # the diagonal is found along with q; it settles in a few rounds
            np.fill_diagonal(C, q**2)
            values, vectors = np.linalg.eigh(C)
            q = np.clip(np.sqrt(max(values[-1], 0.0)) * vectors[:, -1], -1, 1)
        left = C - np.outer(q, q)
        np.fill_diagonal(left, 0.0)
        values, vectors = np.linalg.eigh(left)
        v = vectors[:, -1]
        x = np.sort(v)
        k = np.arange(1, r)
        sums = np.cumsum(x)[:-1]
        between = (sums - k * x.mean()) ** 2 * r / (k * (r - k))  # squares, by the place of the cut
        best = int(np.argmax(between))
        low, high = v <= x[best], v > x[best]
        few = low if best + 1 <= r / 2 else high
        gap = np.median(left[np.ix_(few, few)]) - np.median(left[np.ix_(few, ~few)])
        stands_out = values[-1] > 2.5 * values[-2]  # without groups 1.4 is usual, of 44 graphs 1.1
        gap /= 1 - min(float(np.median(q)) ** 2, 0.99)  # large correlations vary less
        splits = between[best] > 0.9 * ((x - x.mean()) ** 2).sum()  # a normal variable: 0.64
        if not (stands_out and splits and gap > noise and 2 <= best + 1 <= r - 2):
            return none
        cut = float((x[: best + 1].mean() + x[best + 1 :].mean()) / 2) * values[-1]
        return cls(q, v, cut, few is low)

    def scores(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where graphs lie between the groups, (b,), by correlations (b, r)."""
        known, q = ~np.isnan(found), self.common
        C = np.where(known, found, 0.0)
        own = C @ q / np.maximum(known @ q**2, 1e-12)
        return np.asarray((C - known * np.outer(own, q)) @ self.direction)

    def smaller(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mark the graphs of the smaller group, (m,)."""
        if not self.direction.any():
            return np.zeros(len(scores), dtype=bool)
        return scores < self.cut if self.fewer_below else scores > self.cut


def pieces(stack: GraphStack) -> Iterator[GraphStack]:
    """Yield the graphs, some at a time, in memory."""
    if isinstance(stack, BlockedStack):
        yield from (block.graphs for block in stack.blocks())
        return
    for lo in range(0, stack.n_graphs, _AT_ONCE):
        yield stack[lo : lo + _AT_ONCE]


def _cells(
    pieces: list[GraphStack], mirror: NDArray[np.intp] | None, *, directed: bool
) -> tuple[NDArray[np.int64], float]:
    """Choose pairs of vertices, as s * n + t in order, and tell how many more are 0 everywhere.

    All pairs of dense graphs, and the edges of sparse ones; evenly spaced ones of too many. Pairs
    without an edge may be hidden: where that is so, and there are not too many, all are taken.
    """
    n = pieces[0].n_vertices
    n_zero = 0.0
    some_hidden = any(piece.has_missing for piece in pieces)
    if pieces[0].is_sparse and not (some_hidden and n * (n - 1) <= _CELLS):
        entries = sum(piece.flat.nnz for piece in pieces)
        rows = np.unique(np.linspace(0, n - 1, int(n * min(1.0, _ENTRIES / max(entries, 1))) or 1)
                         .astype(np.intp))  # fmt: skip
        found = [piece._graph(i)[rows].tocoo() for piece in pieces for i in range(piece.n_graphs)]
        edges = np.unique(np.concatenate([rows[g.row] * n + g.col for g in found]))
        s, t = np.divmod(edges, n)
        edges = edges[(s != t) if directed else (s < t)]
        total = len(rows) * (n - 1) / (1 if directed else 2)
        step = -(-len(edges) // _CELLS) or 1
        cells, n_zero = edges[::step], max(total - len(edges), 0.0) / step
    else:
        total = n * (n - 1) if directed else n * (n - 1) // 2
        step = -(-total // _CELLS) or 1
        off = ~np.eye(n, dtype=bool) if directed else np.triu(np.ones((n, n), dtype=bool), 1)
        cells = np.flatnonzero(off)[::step]
    if mirror is not None:
        cells = np.unique(np.concatenate([cells, _mirrored(cells, mirror, directed=directed)]))
    return cells.astype(np.int64), n_zero


def _mirrored(
    cells: NDArray[np.int64], mirror: NDArray[np.intp], *, directed: bool
) -> NDArray[np.int64]:
    """Return the pairs on the other side of the brain."""
    n = len(mirror)
    s, t = mirror[cells // n].astype(np.int64), mirror[cells % n].astype(np.int64)
    return s * n + t if directed else np.minimum(s, t) * n + np.maximum(s, t)


def _values(
    stack: GraphStack, cells: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return compressed weights at some pairs, (b, p), nan where hidden, and the scales, (b,)."""
    out = np.zeros((stack.n_graphs, len(cells)), dtype=np.float32)
    scales, places = np.zeros(stack.n_graphs), np.divmod(cells, stack.n_vertices)
    for i, row in enumerate(out):
        x, n_seen = np.asarray(stack._graph(i)[places], dtype=np.float64), len(cells)
        size = np.abs(x)
        if (weights := size[size > 0]).size:
            # Near 1 first: the unit is no reason to leave the range of numbers.
            most = weights.max()
            row[:] = np.sign(x) * np.log1p(size / most / np.median(weights / most))
        if stack.mask is not None:
            hidden = np.asarray(stack.mask.hidden_of(i)[places], dtype=bool)
            row[hidden] = np.nan
            n_seen -= int(hidden.sum())
        scales[i] = (np.sqrt(size).sum() / max(n_seen, 1)) ** 2
    return out, scales
