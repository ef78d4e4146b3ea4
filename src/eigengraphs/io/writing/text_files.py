"""Matrices and edge lists as text. Numbers keep all their digits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from eigengraphs.io.writing.one import OneGraph, check_texts
from eigengraphs.system.tables import guarded

__all__ = ["cell", "write_csv", "write_edges", "write_tsv"]

_MARKS = frozenset('",;\t{')  # what a reader that looks for the delimiter may take for it


def write_csv(path: Path, graph: OneGraph) -> None:
    """Write a matrix with commas."""
    _write_matrix(path, graph, ",")


def write_tsv(path: Path, graph: OneGraph) -> None:
    """Write a matrix with tabs."""
    _write_matrix(path, graph, "\t")


def write_edges(path: Path, graph: OneGraph) -> None:
    """Write an edge list with tabs, and all vertices in a comment: some may have no edges."""
    check_texts(graph.names, "vertex", "an edge list")
    s, t, weight = graph.edges()
    names = [cell(name, "\t") for name in graph.names]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"# vertices: {json.dumps(graph.names, ensure_ascii=False)}\n")
        file.write(f"# directed: {str(graph.directed).lower()}\n")
        for source, target, value in zip(s.tolist(), t.tolist(), weight.tolist(), strict=True):
            file.write(f"{names[source]}\t{names[target]}\t{value!r}\n")


def _write_matrix(path: Path, graph: OneGraph, delimiter: str) -> None:
    check_texts(graph.names, "vertex", "a text file")
    matrix = graph.matrix if isinstance(graph.matrix, np.ndarray) else graph.matrix.toarray()
    names = [cell(name, delimiter) for name in graph.names]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        if graph.directed:
            file.write("# directed: true\n")
        if graph.has_names:
            file.write(delimiter.join(["vertex", *names]) + "\n")
        for name, row in zip(names, matrix.tolist(), strict=True):
            numbers = delimiter.join(map(repr, row))
            file.write((name + delimiter if graph.has_names else "") + numbers + "\n")


def cell(text: str, delimiter: str) -> str:
    """Return a text with quotes where a reader would take it for something else.

    An apostrophe stands before what a spreadsheet would run as a formula.
    """
    text = guarded(text)
    plain = text == text.strip() and text and text[0] not in "#%"
    if plain and not set(text) & {delimiter, *_MARKS}:
        return text
    return '"' + text.replace('"', '""') + '"'
