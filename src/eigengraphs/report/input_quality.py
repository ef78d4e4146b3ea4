"""The graphs of the input: density, weight, isolated vertices, and which graphs stand out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.io.file_graph import few
from eigengraphs.report.odd_graphs import FEWEST, compare_patterns, far_from_usual, pieces
from eigengraphs.report.records import GraphQuality, Level, Problem
from eigengraphs.stack import GraphStack
from eigengraphs.stack.mask import Mask
from eigengraphs.system.labels import count_of

__all__ = ["QualityTable", "describe_graphs", "missing_vertices"]

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
