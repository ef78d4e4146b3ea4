"""The graphs as they came: density, weight, isolated vertices, and which stand out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs import GraphStack
from eigengraphs.graphs.blocked import BlockedStack
from eigengraphs.report.parts import GraphQuality

__all__ = ["describe_graphs", "isolated_vertices", "outlying"]

_FAR = 5.0  # robust standard deviations from the middle; of normal values, one in two million


def describe_graphs(
    stack: GraphStack,
    files: Sequence[str] = (),
    said: Mapping[int, Sequence[str]] | None = None,
) -> tuple[GraphQuality, ...]:
    """Describe every graph of a stack, and say which are unlike the others.

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
    weight, isolated = _in_blocks(stack, _total_weights), _in_blocks(stack, isolated_vertices)
    if not stack.is_directed:
        weight /= 2.0  # an edge stands twice in its matrix; among directed graphs it is two
    odd_density, odd_weight = outlying(density), outlying(weight)
    rows = []
    for i, name in enumerate(stack.graph_names):
        messages = list((said or {}).get(i, ()))
        if odd_density[i]:
            messages.append(f"density far from the usual {np.median(density):.3g}")
        if odd_weight[i]:
            messages.append(f"total weight far from the usual {np.median(weight):.4g}")
        if isolated[i] and isolated[i] > n // 10:
            messages.append(f"{isolated[i]} of {n} vertices have no edge")
        rows.append(
            GraphQuality(
                name,
                files[i] if files else "",
                verdict="notice" if messages else "ok",
                density=float(density[i]),
                total_weight=float(weight[i]),
                isolated=int(isolated[i]),
                messages=tuple(messages),
            )
        )
    return tuple(rows)


def _in_blocks(stack: GraphStack, count: Callable[[GraphStack], NDArray[Any]]) -> NDArray[Any]:
    """Return a number for each graph, of a stack that may come in blocks."""
    if not isinstance(stack, BlockedStack):
        return count(stack)
    return np.concatenate([count(block.graphs) for block in stack.blocks()])


def isolated_vertices(stack: GraphStack) -> NDArray[np.int64]:
    """Count the vertices of each graph without an edge to another vertex, (m,)."""
    m, n = stack.n_graphs, stack.n_vertices
    out = np.empty(m, dtype=np.int64)
    for i in range(m):
        touched = np.zeros(n, dtype=bool)
        if stack.is_sparse:
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
