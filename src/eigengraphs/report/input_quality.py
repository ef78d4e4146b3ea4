"""The graphs as they came: density, weight, isolated vertices, and which stand out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import eq
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.report.odd_graphs import FEWEST, compare_patterns, far_from_usual
from eigengraphs.report.records import GraphQuality, Level, Problem
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.stack.mask import Mask
from eigengraphs.system.labels import count_of

__all__ = [
    "QualityTable",
    "describe_graphs",
    "first_names",
    "isolated_vertices",
    "missing_vertices",
]

_EVEN = 0.4  # of the graphs: a group that is larger is one of two, and not apart from the rest
_NEARLY = 0.05  # of the graphs: so many may be in another group than a column says
_RARE = 0.01  # of the weights: so few negative ones are mistakes and no signs


class QualityTable(Sequence[GraphQuality]):
    """The quality of every graph, a :class:`GraphQuality` each, made when it is asked for.

    It is there while graphs are fitted, and of very many graphs the records would take more room
    than all else that is kept of them.

    Parameters
    ----------
    names, files
        Of the graphs; None for names that are places, and no files for graphs from memory.
    density, total_weight, isolated, correlation : (m,)
        As of :class:`GraphQuality`.
    messages
        By the place of the graph, for those of which there is something to say.
    problems
        The same for all graphs, the gravest first.
    explained
        What was found and has a reason that is known, such as groups that a column tells.
    """

    __slots__ = (
        "_files", "_messages", "_names", "correlation", "density", "explained", "isolated",
        "problems", "total_weight",
    )  # fmt: skip

    def __init__(
        self,
        names: Sequence[str] | None,
        files: Sequence[str],
        density: NDArray[np.float64],
        total_weight: NDArray[np.float64],
        isolated: NDArray[np.int64],
        correlation: NDArray[np.float64],
        messages: Mapping[int, tuple[str, ...]],
        problems: tuple[Problem, ...] = (),
        explained: tuple[Problem, ...] = (),
    ) -> None:
        self._names, self._files, self._messages = names, files, messages
        self.density, self.total_weight, self.isolated = density, total_weight, isolated
        self.correlation, self.problems, self.explained = correlation, problems, explained

    def __len__(self) -> int:
        return len(self.density)

    @overload
    def __getitem__(self, which: int) -> GraphQuality: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[GraphQuality, ...]: ...
    def __getitem__(self, which: int | slice) -> GraphQuality | tuple[GraphQuality, ...]:
        if isinstance(which, slice):
            return tuple(self._row(i) for i in range(*which.indices(len(self))))
        return self._row(range(len(self))[which])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"QualityTable({len(self)} graphs, {len(self._messages)} with messages)"

    def name(self, i: int) -> str:
        """Return the name of a graph."""
        return str(i) if self._names is None else self._names[i]

    def _row(self, i: int) -> GraphQuality:
        messages = self._messages.get(i, ())
        return GraphQuality(
            self.name(i),
            self._files[i] if self._files else "",
            verdict="notice" if messages else "ok",
            density=float(self.density[i]),
            total_weight=float(self.total_weight[i]),
            isolated=int(self.isolated[i]),
            correlation=None if np.isnan(self.correlation[i]) else float(self.correlation[i]),
            messages=messages,
        )


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
        What is known of the graphs, a value each; may tell the groups into which they fall.
    """
    m, n = stack.n_graphs, stack.n_vertices
    pairs = np.full(m, n * (n - 1), dtype=np.float64)
    if stack.mask is not None:
        pairs = stack.mask.counts(diagonal=False).astype(np.float64)
    pairs = np.maximum(pairs, 1.0)
    density = (stack.facts.n_nonzero - stack.facts.n_loops) / pairs
    weight, isolated, n_negative = _counted(stack)
    if not stack.is_directed:
        weight /= 2.0  # an edge stands twice in its matrix; among directed graphs it is two
    patterns = compare_patterns(stack, mirror)
    messages = {i: list(texts) for i, texts in (said or {}).items() if texts}
    table = QualityTable(stack._graph_names, files, density, weight, isolated,
                         patterns.correlation, {})  # fmt: skip
    problems = list[Problem]()

    def note(
        level: Level,
        which: NDArray[np.bool_],
        short: str,
        what: str,
        text: str | Callable[[int], str],
        name: Callable[[int], str] = table.name,
    ) -> None:
        """Say something of some graphs: ``text`` of each, and ``what`` of all of them.

        Wrong data first, then odd graphs: within a level, what is said stays in this order.
        """
        places = np.flatnonzero(which).tolist()
        for i in places:
            messages.setdefault(i, []).append(text if isinstance(text, str) else text(i))
        if places:
            count = count_of(len(places), "graph")
            one, many = (
                ("is", "are") if what.startswith(("unlike", "apart", "more")) else ("has", "have")
            )
            names = first_names([name(i) for i in places[:6]], len(places))
            said = f"{count} {one if len(places) == 1 else many} {what}: {names}"
            problems.append(Problem(level, said, f"{short} ({count})"))

    missing = np.zeros(m, dtype=np.int64)
    if stack.mask is not None:
        missing = missing_vertices(stack.mask).sum(axis=1)
    for i in np.flatnonzero(missing).tolist():  # one notice of all graphs names the vertices
        messages.setdefault(i, []).append(f"{missing[i]} of {n} vertices are missing")
    empty = isolated == n - missing
    note(
        "warning",
        empty,
        "no edges",
        "no edges at all (see whether the file is complete, or leave it out)",
        "no edges at all",
    )
    correlation = patterns.correlation
    note(
        "warning",
        patterns.unlike,
        "odd pattern",
        "unlike the others in the pattern of edges (are the vertices in another order?)",
        lambda i: (
            f"pattern unlike the others: correlation {correlation[i]:.2f} with them, usual "
            f"{_median(correlation):.2f}"
        ),
    )
    note(
        "warning",
        patterns.swapped,
        "swapped hemispheres",
        "more like the others with left and right swapped (are the hemispheres swapped?)",
        "left and right look swapped",
    )
    if stack.is_weighted:  # else it is the density once more
        size = patterns.scale
        note(
            "warning",
            far_from_usual(size, 2.0),
            "odd scale",
            "unlike the others in the scale of the weights (another unit, or transformed before?)",
            lambda i: f"scale of the weights {size[i]:.3g}, far from the usual {_median(size):.3g}",
        )
    note(
        "notice",
        _rare_negatives(stack, n_negative),
        "negative weights",
        "negative weights, which others have not",
        lambda i: _negative_weight(stack, i),
        lambda i: f"{files[i] if files else table.name(i)} ({_negative_weight(stack, i)})",
    )
    note(
        "notice",
        far_from_usual(density, 1.2),
        "odd density",
        "unlike the others in density",
        f"density far from the usual {_median(density):.3g}",
    )
    # Few graphs have nothing usual; and where vertices without edges are usual, they are no notice.
    least = n // 10 + (float(np.median(isolated)) if m >= FEWEST else 0.0)
    note(
        "notice",
        (isolated > least) & ~empty,
        "isolated vertices",
        f"no edges at many of the {n} vertices",
        lambda i: f"{isolated[i]} of {n - missing[i]} vertices have no edge",
    )
    if patterns.apart.any():
        places = np.flatnonzero(patterns.apart).tolist()
        even = len(places) > _EVEN * m
        text = (
            f"the graphs fall into two groups of {len(places)} and {m - len(places)}"
            if even
            else f"{len(places)} graphs are apart from the others, and like each other"
        )
        column = _told_by(patterns.apart, columns or {})
        why = column or "another scanner, site or group?"
        names = first_names([table.name(i) for i in places[:6]], len(places))
        short = f"two groups ({len(places)} and {m - len(places)} graphs)"
        found = Problem("notice", f"{text} ({why}): {names}", short)
        if column:
            table.explained = (found,)
        else:
            problems.append(found)
            where = "in one of two groups" if even else "apart from most graphs"
            others = f"{where}, together with {len(places) - 1} others"
            for i in places:
                messages.setdefault(i, []).append(others)
    table._messages = {i: tuple(texts) for i, texts in messages.items()}
    table.problems = tuple(problems)
    return table


def first_names(names: Sequence[str], count: int | None = None) -> str:
    """Return the first names, and how many more there are of all ``count``."""
    more = (len(names) if count is None else count) - 5
    return ", ".join(names[:5]) + (f" and {more} more" if more > 0 else "")


def _told_by(group: NDArray[np.bool_], columns: Mapping[str, Sequence[Any]]) -> str:
    """Say which value of a column the graphs of a group have, (m,), and hardly any others."""
    best, said = _NEARLY * len(group), ""
    for name, values in columns.items():
        inside = Counter(x for x, mine in zip(values, group, strict=True) if mine and x is not None)
        for value, count in inside.most_common(1):
            wrong = group.sum() + sum(x == value for x in values) - 2 * count
            if wrong < best or (wrong == best and not said):
                best = wrong
                said = f"{'nearly ' * bool(wrong)}the graphs with {name} = {value}"
    return f"these are {said}" if said else ""


def _median(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else np.nan


def _rare_negatives(stack: GraphStack, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell graphs with negative weights, (m,), where these are mistakes.

    They are few, and in few graphs or among whole numbers. Correlations have many, in all.
    """
    few = counts.sum() < _RARE * stack.facts.n_nonzero.sum()
    odd = few and (2 * np.count_nonzero(counts) < len(counts) or _whole(stack))
    return (counts > 0) & bool(odd)


def _whole(stack: GraphStack) -> bool:
    return all((weights == np.floor(weights)).all() for weights in _weights(stack))


def _weights(stack: GraphStack) -> Iterator[NDArray[Any]]:
    parts = (b.graphs for b in stack.blocks()) if isinstance(stack, BlockedStack) else [stack]
    for part in parts:
        yield from [part.flat.data] if part.is_sparse else part.dense


def _negative_weight(stack: GraphStack, i: int) -> str:
    """Say where the first negative weight of a graph is."""
    graph = stack._graph(i)
    entries = sparse.coo_array(graph)
    s, t = entries.coords
    wrong = np.flatnonzero((entries.data < 0) & (s != t))
    s, t, values = s[wrong], t[wrong], entries.data[wrong]
    if stack.facts.is_symmetric[i]:
        s, t, values = s[s < t], t[s < t], values[s < t]
    names = stack.vertex_names
    more = f", and {len(s) - 1} more" if len(s) > 1 else ""
    return f"negative weight {values[0]:g} from {names[s[0]]!r} to {names[t[0]]!r}{more}"


def _counted(
    stack: GraphStack,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return total weight, isolated vertices and negative entries of each graph, each (m,)."""
    if isinstance(stack, BlockedStack):
        weights, isolated, negative = zip(
            *(_counted(block.graphs) for block in stack.blocks()), strict=True
        )
        return np.concatenate(weights), np.concatenate(isolated), np.concatenate(negative)
    return _total_weights(stack), isolated_vertices(stack), _negative_entries(stack)


def _negative_entries(stack: GraphStack) -> NDArray[np.int64]:
    """Count the negative entries off the diagonal, (m,)."""
    found = (stack.diagonals() < 0).sum(axis=1)
    return np.array([
        np.count_nonzero((x.data if stack.is_sparse else x) < 0) - found[i]
        for i, x in enumerate(map(stack._graph, range(stack.n_graphs)))
    ], dtype=np.int64)  # fmt: skip


def isolated_vertices(stack: GraphStack) -> NDArray[np.int64]:
    """Count the vertices of each graph without an edge to another vertex, (m,).

    A vertex that is missing in a graph does not count: its edges are not known.
    """
    m, n = stack.n_graphs, stack.n_vertices
    missing = None if stack.mask is None else missing_vertices(stack.mask)
    out = np.empty(m, dtype=np.int64)
    for i in range(m):
        touched = np.zeros(n, dtype=bool)
        if stack.is_sparse and stack.is_hollow:  # without a copy: it may be a very large graph
            flat = stack.flat
            ends = flat.indptr[i * n : (i + 1) * n + 1]
            np.greater(ends[1:], ends[:-1], out=touched)
            touched[flat.indices[ends[0] : ends[-1]]] = True
        elif stack.is_sparse:
            rows = stack.flat[i * n : (i + 1) * n].tocoo()
            s, t = rows.coords
            other = s != t
            touched[s[other]] = touched[t[other]] = True
        else:
            joined = stack.dense[i] != 0
            np.fill_diagonal(joined, False)
            touched = joined.any(axis=0) | joined.any(axis=1)
        out[i] = n - np.count_nonzero(touched if missing is None else touched | missing[i])
    return out


def missing_vertices(mask: Mask) -> NDArray[np.bool_]:
    """Tell the vertices of each graph of which no pair with another vertex is observed, (m, n)."""
    return np.asarray(mask.row_counts() == mask.diagonal)


def _total_weights(stack: GraphStack) -> NDArray[np.float64]:
    """Return the sum of the weights off the diagonal, (m,)."""
    m, n = stack.n_graphs, stack.n_vertices
    if stack.is_sparse:
        per_row = np.asarray(stack.flat.sum(axis=1), dtype=np.float64).reshape(m, n)
        sums = per_row.sum(axis=1)
    else:
        sums = stack.dense.sum(axis=(1, 2), dtype=np.float64)
    return np.asarray(sums - stack.diagonals().sum(axis=1), dtype=np.float64)
