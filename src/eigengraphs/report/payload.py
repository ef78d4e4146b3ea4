"""The part of a summary that goes into the page: rounded, and cut where there is too much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.report.records import Column
from eigengraphs.report.summary import Summary
from eigengraphs.report.worst_fits import block_size, indicator, symmetric_limit
from eigengraphs.system.labels import shortened

__all__ = ["LIMITS", "Limits", "Shown", "choose_shown", "page_data"]


@dataclass(frozen=True)
class Limits:
    """How much a page holds."""

    graphs: int = 4000
    vertices: int = 4000
    components: int = 40
    columns: int = 40
    worst: int = 3
    name: int = 200  # letters
    problems: int = 200


# The first that makes a page small enough is taken.
LIMITS = (
    Limits(),
    Limits(graphs=2000, vertices=2000, components=20, columns=20, worst=1, name=100),
    Limits(graphs=500, vertices=500, components=12, columns=10, worst=0, name=60, problems=50),
)


@dataclass(frozen=True)
class Shown:
    """Which graphs, vertices and components a page shows, and what it says of the others."""

    graphs: NDArray[np.intp]
    vertices: NDArray[np.intp]
    components: int
    columns: tuple[Column, ...]
    vertex_columns: tuple[Column, ...]
    limits: Limits
    notes: dict[str, str]
    """By section: what was left out."""


def choose_shown(summary: Summary, limits: Limits) -> Shown:
    """Choose what is shown, in input order, and say what is not."""
    m, n, d = summary.n_graphs, summary.n_vertices, summary.n_components
    notes = {}
    graphs = np.arange(m)
    if m > limits.graphs:
        graphs = np.linspace(0, m - 1, limits.graphs).round().astype(np.intp)
        notes["loadings"] = (
            f"Of {m} graphs, {limits.graphs} at equal steps of the input order are shown; all are "
            "in report.json."
        )
    vertices = np.arange(n)
    if n > limits.vertices:
        H = summary.positions if summary.positions_right is None else np.hstack(
            [summary.positions, summary.positions_right]
        )  # fmt: skip
        size = (H**2).max(axis=1)  # in its best component: a vertex that one component needs
        vertices = np.sort(np.argsort(-size, kind="stable")[: limits.vertices])
        notes["vertices"] = (
            f"Of {n} vertices, the {limits.vertices} with the largest positions in some component "
            "are shown; all are in report.json."
        )
    shown = min(d, limits.components)
    if shown < d:
        notes["components"] = f"The first {shown} of {d} components are shown."
    block = block_size(n)
    if block > 1:
        notes["maps"] = (
            f"There are {n} vertices: a cell of a heat map is the mean over {block} by {block} "
            "neighbouring vertices in input order, and narrow patterns look paler than they are."
        )
    left = len(summary.columns) - limits.columns
    if left > 0:
        notes["columns"] = f"The first {limits.columns} columns are shown, {left} are left out."
    return Shown(
        graphs,
        vertices,
        shown,
        _cut_columns(summary.columns, limits, graphs),
        _cut_columns(summary.vertex_columns, limits, vertices),
        limits,
        notes,
    )


def page_data(summary: Summary, shown: Shown) -> dict[str, Any]:
    """Return what the page's script reads."""
    i, s, d, most = shown.graphs, shown.vertices, shown.components, shown.limits.name
    right = summary.positions_right
    return {
        "graphs": [shortened(summary.graph_names[place], most) for place in i],
        "columns": [_column(column) for column in shown.columns],
        "explained": [_round(part.explained) for part in summary.components[:d]],
        "loadings": _by_component(summary.loadings[i], d),
        "residual": _rounded(1.0 - summary.explained_by_graph[i]),
        "vertices": [shortened(summary.vertex_names[place], most) for place in s],
        "vertexPlaces": s.tolist(),
        "vertexColumns": [_column(column) for column in shown.vertex_columns],
        "positions": _by_component(summary.positions[s], d),
        "right": None if right is None else _by_component(right[s], d),
        "coordinates": _coordinates(summary, s),
        "objective": _rounded(summary.objective),
        "cells": _cells(summary, d, most),
        "timeline": _timeline(summary, i),
        "worst": [
            {
                "name": shortened(summary.graph_names[worst.graph], most),
                **{
                    name: vars(getattr(worst, name))
                    for name in ("observed", "reconstruction", "residual")
                },
            }
            for worst in summary.worst[: shown.limits.worst]
        ],
    }


def _cells(summary: Summary, d: int, most: int) -> dict[str, Any]:
    """Return block means of the positions: the block means of h h^T are their products."""
    n = summary.n_vertices
    block = block_size(n)
    P = indicator(n, block)
    sizes = np.asarray(P.sum(axis=1)).reshape(-1, 1)
    left = (P @ summary.positions[:, :d]) / sizes
    right = summary.positions_right
    other = left if right is None else (P @ right[:, :d]) / sizes
    firsts = range(0, n, block)
    names = [shortened(summary.vertex_names[first], most) for first in firsts]
    if block > 1:
        lasts = [summary.vertex_names[min(first + block, n) - 1] for first in firsts]
        names = [
            f"{name} to {shortened(last, most)}" for name, last in zip(names, lasts, strict=True)
        ]
    limits = [symmetric_limit(np.outer(left[:, k], other[:, k])) for k in range(d)]
    return {
        "positions": _by_component(left, d),
        "right": None if right is None else _by_component(other, d),
        "limits": [_round(limit) for limit in limits],
        "names": names,
    }


def _timeline(summary: Summary, i: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return the time line of the graphs that are shown, by their places on the page."""
    line = summary.timeline
    if line is None:
        return None
    place = {int(graph): k for k, graph in enumerate(i)}
    kept = [(place[graph], label) for graph, label in zip(line.order, line.labels, strict=True)
            if graph in place]  # fmt: skip
    return {
        "by": shortened(line.by, 60),
        "order": [k for k, _ in kept],
        "labels": [shortened(label, 40) for _, label in kept],
    }


def _coordinates(summary: Summary, s: NDArray[np.intp]) -> list[list[float | None]] | None:
    if summary.coordinates is None:
        return None
    X = summary.coordinates[s]
    X = np.where(np.isnan(X).any(axis=1, keepdims=True), np.nan, X)
    return [_rounded(column) for column in X.T]


def _cut_columns(
    columns: tuple[Column, ...], limits: Limits, kept: NDArray[np.intp]
) -> tuple[Column, ...]:
    return tuple(
        Column(
            shortened(column.name, limits.name),
            column.kind,
            tuple(column.values[place] for place in kept),
            tuple(shortened(name, limits.name) for name in column.categories),
        )
        for column in columns[: limits.columns]
    )


def _column(column: Column) -> dict[str, Any]:
    values = column.values
    if column.kind == "number":
        return {
            "name": column.name,
            "kind": "number",
            "values": [None if v is None else _round(v, 7) for v in values],
        }
    used = dict.fromkeys(int(v) for v in values if v is not None)
    # Categories of graphs that are not shown would only fill the legend.
    place = {c: k for k, c in enumerate(sorted(used))}
    return {
        "name": column.name,
        "kind": "category",
        "categories": [column.categories[c] for c in sorted(used)],
        "values": [None if v is None else place[int(v)] for v in values],
    }


def _by_component(matrix: NDArray[np.float64], d: int) -> list[list[float | None]]:
    return [_rounded(matrix[:, k]) for k in range(d)]


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [_round(value) for value in values.tolist()]


def _round(value: float, digits: int = 6) -> float | None:
    if not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e9 else rounded
