"""What is worth knowing of each graph before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs import GraphStack

__all__ = ["GraphQuality", "Verdict", "judge_graphs"]

Verdict: TypeAlias = Literal["ok", "notice"]
#: Distance from the median, in units of the spread, from which on a graph is called unusual: of
#: 300 normal values, the furthest is at about 3.
UNUSUAL = 5.0


@dataclass(frozen=True)
class GraphQuality:
    """One graph as it was read."""

    id: str
    file: str
    verdict: Verdict
    edges: int
    density: float  # share of the pairs that have an edge
    total_weight: float  # each pair once
    isolated: int  # vertices without any edge
    loops: int
    negative: int  # edges with a weight below zero
    messages: tuple[str, ...] = ()


def judge_graphs(
    stack: GraphStack,
    files: Sequence[str] = (),
    messages: Mapping[int, Sequence[str]] | None = None,
) -> tuple[GraphQuality, ...]:
    """Describe each graph, and say which are unlike the others.

    Parameters
    ----------
    stack
        The graphs.
    files
        File of each graph; empty if they come from memory.
    messages
        What the reader said, by the place of the graph.
    """
    n = stack.n_vertices
    pairs = n * (n - 1) if stack.is_directed else n * (n - 1) // 2
    found = [_count(stack, i) for i in range(stack.n_graphs)]
    edges, weights, isolated, loops, negative = (
        np.array(part) for part in zip(*found, strict=True)
    )
    density = edges / max(pairs, 1)
    unusual = {
        "density": _unusual(density),
        "total weight": _unusual(np.log(np.maximum(np.abs(weights), 1e-300))),
        "number of isolated vertices": _unusual(isolated.astype(float)),
    }
    rows = []
    for i, name in enumerate(stack.graph_names):
        said = list((messages or {}).get(i, ()))
        if edges[i] == 0:
            said.append("it has no edge at all")
        for what, (distance, side) in unusual.items():
            if edges[i] and distance[i] > UNUSUAL:
                said.append(f"its {what} is far {side[i]} that of the others")
        rows.append(
            GraphQuality(
                str(name), files[i] if files else "", "notice" if said else "ok", int(edges[i]),
                float(density[i]), float(weights[i]), int(isolated[i]), int(loops[i]),
                int(negative[i]), tuple(said),
            )
        )  # fmt: skip
    return tuple(rows)


def _count(stack: GraphStack, i: int) -> tuple[int, float, int, int, int]:
    """Return edges, total weight, isolated vertices, loops and negative edges of a graph."""
    flat: Any = stack[i : i + 1].to_sparse().flat.tocoo()
    (s, t), w = flat.coords, flat.data
    real = w != 0
    s, t, w = s[real], t[real], w[real]
    once = (s != t) if stack.is_directed else (s < t)
    touched = np.zeros(stack.n_vertices, dtype=bool)
    off = s != t
    touched[s[off]] = touched[t[off]] = True
    weights = w[once].astype(np.float64)
    return (
        int(once.sum()), float(weights.sum()), int((~touched).sum()), int((s == t).sum()),
        int((weights < 0).sum()),
    )  # fmt: skip


def _unusual(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    """Return distances from the median over the spread, and on which side each value is."""
    middle = np.median(values)
    # Half of the graphs may be alike to the last digit: the spread is then that of the others.
    spread = 1.4826 * np.median(np.abs(values - middle))
    spread = max(float(spread), 0.05 * abs(float(middle)), 1e-12)
    side = ["above" if value > middle else "below" for value in values]
    return np.abs(values - middle) / spread, side
