"""The part of a summary that goes into the page, as JSON: rounded, and cut where it is too much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.report.records import Column
from eigengraphs.report.summary import Summary
from eigengraphs.report.worst_fits import block_size, sums_of_rows, symmetric_limit
from eigengraphs.system.labels import shortened

__all__ = ["LIMITS", "Limits", "page_payload"]


@dataclass(frozen=True)
class Limits:
    """How much a page holds; ``name`` is the number of characters of a name."""

    graphs: int = 4000
    vertices: int = 4000
    components: int = 40
    columns: int = 40
    worst: int = 3
    name: int = 200
    problems: int = 200


# The first that makes a page small enough is used.
LIMITS = (
    Limits(),
    Limits(graphs=2000, vertices=2000, components=20, columns=20, worst=1, name=100),
    Limits(graphs=500, vertices=500, components=12, columns=10, worst=0, name=60, problems=50),
)


def page_payload(summary: Summary, limits: Limits) -> dict[str, Any]:
    """Return what the page shows and its script reads; ``notes`` say what was left out, by section.

    Graphs, vertices and columns stay in input order.
    """
    m, n, d, most = summary.n_graphs, summary.n_vertices, summary.n_components, limits.name
    notes = {}
    graphs = np.arange(m)
    if m > limits.graphs:
        graphs = np.linspace(0, m - 1, limits.graphs).round().astype(np.intp)
        notes["loadings"] = (
            f"{limits.graphs} of {m} graphs are shown, at equal steps of the input order; all are "
            "in report.json."
        )
    vertices = np.arange(n)
    H, G = summary.positions, summary.positions_right
    if n > limits.vertices:
        # By the best component of each: a vertex may matter in one component alone.
        size = ((H if G is None else np.hstack([H, G])) ** 2).max(axis=1)
        vertices = np.sort(np.argsort(-size, kind="stable")[: limits.vertices])
        notes["vertices"] = (
            f"{limits.vertices} of {n} vertices are shown, those with the largest positions in any "
            "component; all are in report.json."
        )
    shown = min(d, limits.components)
    if shown < d:
        notes["components"] = f"The first {shown} of {d} components are shown."
    block = block_size(n)
    if block > 1:
        notes["maps"] = (
            f"There are {n} vertices: each cell of a heat map is the mean over {block} by {block} "
            "neighboring vertices in input order, so narrow patterns look paler than they are."
        )
    left_out = len(summary.columns) - limits.columns
    if left_out > 0:
        notes["columns"] = f"The first {limits.columns} columns are shown; {left_out} are left out."

    def names(all_names: tuple[str, ...], places: Any) -> list[str]:
        return [shortened(all_names[place], most) for place in places]

    def columns(given: tuple[Column, ...], places: NDArray[np.intp]) -> list[dict[str, Any]]:
        return [_column(column, places, most) for column in given[: limits.columns]]

    def by_component(X: NDArray[np.float64] | None) -> list[list[float | None]] | None:
        return None if X is None else [_rounded(x) for x in X.T[:shown]]

    # Block means of the positions: the block means of h h^T are their products.
    sizes = sums_of_rows(np.ones((n, 1)), block)
    left = sums_of_rows(H, block) / sizes
    right = None if G is None else sums_of_rows(G, block) / sizes
    cells = names(summary.vertex_names, range(0, n, block))
    if block > 1:
        lasts = names(summary.vertex_names, [min(lo + block, n) - 1 for lo in range(0, n, block)])
        cells = [f"{first} to {last}" for first, last in zip(cells, lasts, strict=True)]
    X = summary.coordinates
    if X is not None:
        X = np.where(np.isnan(X).any(axis=1, keepdims=True), np.nan, X)[vertices]
    return {
        "graphs": names(summary.graph_names, graphs),
        "columns": columns(summary.columns, graphs),
        "explained": [_round(part.explained) for part in summary.components[:shown]],
        "loadings": by_component(summary.loadings[graphs]),
        "residual": _rounded(1.0 - summary.explained_by_graph[graphs]),
        "vertices": names(summary.vertex_names, vertices),
        "vertexPlaces": vertices.tolist(),
        "vertexColumns": columns(summary.vertex_columns, vertices),
        "positions": by_component(H[vertices]),
        "right": None if G is None else by_component(G[vertices]),
        "coordinates": None if X is None else [_rounded(x) for x in X.T],
        "objective": _rounded(summary.objective),
        "cells": {
            "positions": by_component(left),
            "right": by_component(right),
            "limits": [
                _round(symmetric_limit(np.outer(h, g)))
                for h, g in zip(left.T[:shown], (left if right is None else right).T, strict=False)
            ],
            "names": cells,
        },
        "timeline": _timeline(summary, graphs),
        "worst": [
            {
                "name": shortened(summary.graph_names[worst.graph], most),
                "observed": vars(worst.observed),
                "reconstruction": vars(worst.reconstruction),
                "residual": vars(worst.residual),
            }
            for worst in summary.worst[: limits.worst]
        ],
        "notes": notes,
    }


def _timeline(summary: Summary, graphs: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return the time line of the graphs that are shown, by their places on the page."""
    line = summary.timeline
    if line is None:
        return None
    place = {graph: k for k, graph in enumerate(graphs.tolist())}
    kept = [(place[i], label) for i, label in zip(line.order, line.labels, strict=True)
            if i in place]  # fmt: skip
    return {
        "by": shortened(line.by, 60),
        "order": [k for k, _ in kept],
        "labels": [shortened(label, 40) for _, label in kept],
    }


def _column(column: Column, places: NDArray[np.intp], most: int) -> dict[str, Any]:
    values = [column.values[place] for place in places]
    name = shortened(column.name, most)
    if column.kind == "number":
        rounded = [None if value is None else _round(value, 7) for value in values]
        return {"name": name, "kind": "number", "values": rounded}
    # Categories of graphs that are not shown would only fill the legend.
    used = sorted({int(value) for value in values if value is not None})
    code = {c: k for k, c in enumerate(used)}
    return {
        "name": name,
        "kind": "category",
        "categories": [shortened(column.categories[c], most) for c in used],
        "values": [None if value is None else code[int(value)] for value in values],
    }


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [_round(value) for value in values.tolist()]


def _round(value: float, digits: int = 6) -> float | None:
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None
