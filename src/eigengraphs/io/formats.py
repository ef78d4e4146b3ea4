"""Formats of files, detected by ending and content: one function for all readers.

A new format needs a reader that yields a `FileGraph` for every graph, a line in ``_READERS`` here,
and its ending in `find_files`.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Literal, TypeAlias, get_args

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.array_files import read_numpy
from eigengraphs.io.edge_files import read_networkx, read_parquet
from eigengraphs.io.file_graph import FileGraph, Notice, check_graph, naming_file
from eigengraphs.io.find_files import ENDINGS, ending
from eigengraphs.io.matlab_files import read_mat
from eigengraphs.io.one_stack import DirectedRule, VerticesRule
from eigengraphs.io.text_files import (
    AUTO,
    Notation,
    TextFile,
    open_text,
    read_edges,
    read_matrix,
    text_kind,
)
from eigengraphs.stack.build import check_choice
from eigengraphs.stack.mask import MissingRule
from eigengraphs.system.limits import DEFAULT, Cap, gunzip, open_regular, read_regular

__all__ = ["Format", "HowToRead", "IsTable", "read_file"]

Format: TypeAlias = Literal[
    "auto", "matrix", "edgelist", "graphml", "gml", "pajek", "numpy", "matlab", "parquet", "bids"
]
Reader: TypeAlias = Callable[[Path, IO[bytes], str | None, Cap, bool], Iterable[FileGraph]]

_LARGE = 2**25  # bytes; smaller files are read whole
# What each format but text is called, and its reader.
_READERS: dict[str, tuple[str, Reader]] = {
    "numpy": ("NumPy", read_numpy),
    "matlab": ("MATLAB", read_mat),
    "parquet": ("Parquet", read_parquet),
    **{name.lower(): (name, partial(read_networkx, name)) for name in ("GraphML", "GML", "Pajek")},
}
_STREAMED = ("numpy", "parquet")


class IsTable(ReadError):
    """A text file is a table, but not of a graph."""


@dataclass(frozen=True)
class HowToRead:
    """How files are read: the user's settings, and limits on what files may declare."""

    format: Format = "auto"
    key: str | None = None
    notation: Notation = AUTO
    cap: Cap = DEFAULT
    vertices: VerticesRule = "auto"
    directed: DirectedRule = "auto"
    missing: MissingRule = "error"

    def __post_init__(self) -> None:
        check_choice("format", self.format, *get_args(Format))
        check_choice("vertices", self.vertices, *get_args(VerticesRule))
        check_choice("missing", self.missing, *get_args(MissingRule))
        if self.directed != "auto" and not isinstance(self.directed, bool):
            raise InputError(f"directed must be 'auto', True or False, got {self.directed!r}")


def read_file(path: Path, how: HowToRead, *, whole: bool = True) -> tuple[str, Iterator[FileGraph]]:
    """Return the hash of a file and its graphs, each checked.

    Where the file need not be ``whole`` in memory, large files of NumPy and Parquet have the hash
    '' and, as eigengraphs or ``np.save`` write them, give one graph at a time.
    """
    format = ENDINGS.get(ending(path), "text") if how.format in ("auto", "bids") else how.format
    packed = path.name.lower().endswith(".gz")
    try:
        if not whole and format in _STREAMED and not packed and path.stat().st_size >= _LARGE:
            return "", _graphs(path, None, format, how)
        data = read_regular(path)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    if not data:
        raise ReadError(f"{path} is empty (0 bytes): leave it out, or write it again")
    content = gunzip(path, data, how.cap) if packed else data
    graphs = list(_graphs(path, content, format, how))
    if not graphs:
        raise ReadError(f"{path} holds no graphs: leave it out, or write it again")
    return hashlib.sha256(data).hexdigest(), iter(graphs)


def _graphs(path: Path, data: bytes | None, format: str, how: HowToRead) -> Iterator[FileGraph]:
    """Yield the graphs in the bytes of a file, or, without them, in the file as it is read."""
    if format not in _READERS:
        with naming_file(path, "text"):
            text = open_text(path, data or b"", how.notation)
            yield check_graph(path, _read_text(text, how.format))
        return
    name, read = _READERS[format]
    with naming_file(path, name), open_regular(path) if data is None else io.BytesIO(data) as file:
        for graph in read(path, file, how.key, how.cap, data is not None):
            yield check_graph(path, graph)


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
