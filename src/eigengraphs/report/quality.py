"""The graphs as they came: density, weight, isolated vertices, and which stand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import eq
from typing import overload

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs import GraphStack
from eigengraphs.graphs.blocked import BlockedStack
from eigengraphs.report.parts import GraphQuality

__all__ = ["QualityTable", "describe_graphs", "isolated_vertices", "outlying"]

_FAR = 5.0  # robust standard deviations from the middle; of normal values, one in two million


class QualityTable(Sequence[GraphQuality]):
    """The quality of every graph, a :class:`GraphQuality` each, made when it is asked for.

    It is there while graphs are fitted, and of very many graphs the records would take more room
    than all else that is kept of them.

    Parameters
    ----------
    names, files
        Of the graphs; None for names that are places, and no files for graphs from memory.
    density, total_weight, isolated : (m,)
        As of :class:`GraphQuality`.
    messages
        By the place of the graph, for those of which there is something to say.
    """

    __slots__ = ("_files", "_messages", "_names", "density", "isolated", "total_weight")

    def __init__(
        self,
        names: Sequence[str] | None,
        files: Sequence[str],
        density: NDArray[np.float64],
        total_weight: NDArray[np.float64],
        isolated: NDArray[np.int64],
        messages: Mapping[int, tuple[str, ...]],
    ) -> None:
        self._names, self._files, self._messages = names, files, messages
        self.density, self.total_weight, self.isolated = density, total_weight, isolated

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

    @property
    def unlike(self) -> list[int]:
        """Places of the graphs far from the others in density or total weight."""
        return [
            i for i, said in sorted(self._messages.items()) if any("far from" in x for x in said)
        ]

    def _row(self, i: int) -> GraphQuality:
        messages = self._messages.get(i, ())
        return GraphQuality(
            self.name(i),
            self._files[i] if self._files else "",
            verdict="notice" if messages else "ok",
            density=float(self.density[i]),
            total_weight=float(self.total_weight[i]),
            isolated=int(self.isolated[i]),
            messages=messages,
        )


def describe_graphs(
    stack: GraphStack,
    files: Sequence[str] = (),
    said: Mapping[int, Sequence[str]] | None = None,
) -> QualityTable:
    """Describe every graph of a stack, and say which are unlike the others: one pass.

    Parameters
    ----------
    stack
        The graphs.
    files
        File of each graph; none for graphs that come from memory.
    said
        What the reader of the files said, by the place of the graph.
    """
    m, n = stack.n_graphs, stack.n_vertices
    pairs = np.full(m, n * (n - 1), dtype=np.float64)
    if stack.mask is not None:
        pairs = stack.mask.counts(diagonal=False).astype(np.float64)
    density = (stack.facts.n_nonzero - stack.facts.n_loops) / np.maximum(pairs, 1.0)
    weight, isolated = _counted(stack)
    if not stack.is_directed:
        weight /= 2.0  # an edge stands twice in its matrix; among directed graphs it is two
    messages = {i: list(texts) for i, texts in (said or {}).items() if texts}
    for values, text in (
        (density, f"density far from the usual {np.median(density):.3g}"),
        (weight, f"total weight far from the usual {np.median(weight):.4g}"),
    ):
        for i in np.flatnonzero(outlying(values)).tolist():
            messages.setdefault(i, []).append(text)
    for i in np.flatnonzero(isolated > n // 10).tolist():
        messages.setdefault(i, []).append(f"{isolated[i]} of {n} vertices have no edge")
    told = {i: tuple(texts) for i, texts in messages.items()}
    return QualityTable(stack._graph_names, files, density, weight, isolated, told)


def _counted(stack: GraphStack) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the total weight of each graph, and its isolated vertices, each (m,)."""
    if not isinstance(stack, BlockedStack):
        return _total_weights(stack), isolated_vertices(stack)
    parts = [
        (_total_weights(block.graphs), isolated_vertices(block.graphs)) for block in stack.blocks()
    ]
    weights, isolated = zip(*parts, strict=True)
    return np.concatenate(weights), np.concatenate(isolated)


def isolated_vertices(stack: GraphStack) -> NDArray[np.int64]:
    """Count the vertices of each graph without an edge to another vertex, (m,)."""
    m, n = stack.n_graphs, stack.n_vertices
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
        out[i] = n - np.count_nonzero(touched)
    return out


def outlying(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell values far from the median, in robust standard deviations; none of fewer than 5."""
    if len(values) < 5:
        return np.zeros(len(values), dtype=bool)
    away = np.abs(values - np.median(values))
    spread = 1.4826 * float(np.median(away))
    # Where most values are one number, whatever differs by rounding alone is not far.
    least = 1e-9 * float(np.abs(values).max())
    return np.asarray(away > max(_FAR * spread, least))


def _total_weights(stack: GraphStack) -> NDArray[np.float64]:
    """Return the sum of the weights off the diagonal, (m,)."""
    m, n = stack.n_graphs, stack.n_vertices
    if stack.is_sparse:
        per_row = np.asarray(stack.flat.sum(axis=1), dtype=np.float64).reshape(m, n)
        sums = per_row.sum(axis=1)
    else:
        sums = stack.dense.sum(axis=(1, 2), dtype=np.float64)
    return np.asarray(sums - stack.diagonals().sum(axis=1), dtype=np.float64)
