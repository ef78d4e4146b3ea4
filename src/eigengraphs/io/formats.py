"""Formats of files, detected by ending and content: one function for all readers.

A new format needs a reader that yields a `FileGraph` for every graph, a line in ``_READERS`` here,
and its ending in `find_files`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.array_files import mapped, read_numpy
from eigengraphs.io.edge_files import read_graphml, read_parquet
from eigengraphs.io.file_graph import FileGraph, Notice, check_graph, naming_file
from eigengraphs.io.find_files import ENDINGS, ending
from eigengraphs.io.matlab_files import read_mat
from eigengraphs.io.one_stack import DirectedRule, VerticesRule
from eigengraphs.io.text_files import (
    Notation,
    TextFile,
    open_text,
    read_edges,
    read_matrix,
    text_kind,
)
from eigengraphs.stack.build import check_choice
from eigengraphs.stack.mask import MissingRule
from eigengraphs.system.limits import Cap, MaxBytes, gunzip, read_regular

Format: TypeAlias = Literal[
    "auto", "matrix", "edgelist", "graphml", "numpy", "matlab", "parquet", "bids"
]
Reader: TypeAlias = Callable[[Path, bytes, str | None, Cap], Iterable[FileGraph]]

_LARGE = 2**25  # bytes; smaller arrays are read whole
# What each format but text is called, and its reader.
_READERS: dict[str, tuple[str, Reader]] = {
    "numpy": ("NumPy", read_numpy),
    "matlab": ("MATLAB", read_mat),
    "parquet": ("Parquet", read_parquet),
    "graphml": ("GraphML", read_graphml),
}


class IsTable(ReadError):
    """A text file is a table, but not of a graph."""


@dataclass(frozen=True)
class HowToRead:
    """How files are read: the user's settings, and limits on what files may declare."""

    format: Format = "auto"
    key: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    vertices: VerticesRule = "auto"
    directed: DirectedRule = "auto"
    missing: MissingRule = "error"
    max_bytes: MaxBytes = None

    @cached_property
    def notation(self) -> Notation:
        """How cells and numbers of text files are written."""
        return Notation(self.delimiter, self.decimal, self.thousands)

    @cached_property
    def cap(self) -> Cap:
        """What one file may declare."""
        return Cap.of(self.max_bytes)

    def __post_init__(self) -> None:
        _ = self.notation, self.cap
        check_choice("format", self.format, *get_args(Format))
        check_choice("vertices", self.vertices, *get_args(VerticesRule))
        check_choice("missing", self.missing, *get_args(MissingRule))
        if self.directed != "auto" and not isinstance(self.directed, bool):
            raise InputError(f"directed must be 'auto', True or False, got {self.directed!r}")


def read_file(path: Path, how: HowToRead, *, whole: bool = True) -> tuple[str, Iterator[FileGraph]]:
    """Return the hash of a file and its graphs, each checked.

    Where the file need not be ``whole`` in memory, a large array (m, n, n) of NumPy stays on the
    disk, and has the hash ''.
    """
    format = ENDINGS.get(ending(path), "text") if how.format in ("auto", "bids") else how.format
    packed = path.name.lower().endswith(".gz")
    try:
        if not whole and format == "numpy" and path.stat().st_size >= _LARGE:
            cube = mapped(path)
            if cube is not None:
                return "", (check_graph(path, FileGraph(A, format="NumPy")) for A in cube)
        data = read_regular(path)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    if not data:
        raise ReadError(f"{path} is empty (0 bytes): leave it out, or write it again")
    content = gunzip(path, data, how.cap) if packed else data
    name, read = _READERS.get(format, ("text", None))
    with naming_file(path, name):
        if read is None:
            found = iter([_read_text(open_text(path, content, how.notation), how.format)])
        else:
            found = iter(read(path, content, how.key, how.cap))
        graphs = [check_graph(path, graph) for graph in found]
    if not graphs:
        raise ReadError(f"{path} holds no graphs: leave it out, or write it again")
    return hashlib.sha256(data).hexdigest(), iter(graphs)


def _read_text(text: TextFile, format: Format) -> FileGraph:
    kind, ambiguous = text_kind(text)
    if format in ("matrix", "edgelist"):
        kind, ambiguous = "matrix" if format == "matrix" else "edge list", False
    if kind == "table":
        header = ", ".join(text.cells(0, 1)[0][:5])
        raise IsTable(
            f"{text.path} is neither a matrix nor an edge list: it has words below its header "
            f"({header[:60]}); leave it out, or pass format='matrix' or format='edgelist' to "
            "see which line is wrong"
        )
    graph = read_matrix(text) if kind == "matrix" else read_edges(text)
    if not ambiguous:
        return graph
    width = len(text.lines)
    said = f"is a table of {width} x {width} numbers, which could be a matrix or an edge list; "
    said += f"read as {'a matrix' if kind == 'matrix' else 'an edge list'} (format= says which)"
    return replace(graph, notices=(*graph.notices, Notice("ambiguous", said, text.path)))
