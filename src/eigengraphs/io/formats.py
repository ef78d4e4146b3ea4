"""Formats of files, told by ending and content: one door to all readers of one file.

A new format needs a reader that returns graphs of `file_graph`, a line in ``_ENDINGS`` and in
``_graphs`` here, and its ending in `find_files`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from eigengraphs.errors import EigengraphsError, InputError, ReadError
from eigengraphs.io.array_files import read_npy, read_npz, stream_numpy
from eigengraphs.io.edge_files import read_networkx, read_parquet, stream_parquet
from eigengraphs.io.file_graph import FileGraph, Notice, check_each, check_graph, naming_file
from eigengraphs.io.find_files import NETWORKX, ending
from eigengraphs.io.matlab_files import read_mat
from eigengraphs.io.text_files import (
    AUTO,
    Notation,
    TextFile,
    open_text,
    read_edges,
    read_matrix,
    text_kind,
)
from eigengraphs.system.limits import DEFAULT, Cap, gunzip, read_regular

__all__ = ["Format", "HowToRead", "IsTable", "read_file"]

Format: TypeAlias = Literal[
    "auto", "matrix", "edgelist", "graphml", "gml", "pajek", "numpy", "matlab", "parquet", "bids"
]

_LARGE = 2**25  # bytes; smaller files are read whole
_ENDINGS = {".npy": "numpy", ".npz": "numpy", ".mat": "matlab", ".parquet": "parquet",
            ".pq": "parquet"} | {end: name.lower() for end, name in NETWORKX.items()}  # fmt: skip
_BY_NETWORKX = {name.lower(): name for name in NETWORKX.values()}


class IsTable(ReadError):
    """A text file is a table of something else than a graph."""


@dataclass(frozen=True)
class HowToRead:
    """How one file is read: what a user says of it, and what it may declare."""

    format: Format = "auto"
    key: str | None = None
    notation: Notation = AUTO
    cap: Cap = DEFAULT

    def __post_init__(self) -> None:
        known = get_args(Format)
        if self.format not in known:
            names = ", ".join(map(repr, known))
            raise InputError(f"format must be one of {names}; got {self.format!r}")
        self.notation.checked()


def read_file(path: Path, how: HowToRead, *, whole: bool = True) -> tuple[str, Iterator[FileGraph]]:
    """Return the hash of a file and its graphs, each checked.

    Where the file need not be ``whole`` in memory, large files of NumPy, as eigengraphs or
    ``np.save`` write them, and tables of edges that are sorted by graph give one graph at a time,
    and have the hash ''.
    """
    try:
        if not whole and path.stat().st_size >= _LARGE:
            found = _stream(path, how)
            if found is not None:
                return "", check_each(path, found)
        data = read_regular(path)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    if not data:
        raise ReadError(f"{path} is empty (0 bytes): leave it out, or write it again")
    with naming_file(path):
        graphs = [check_graph(path, graph) for graph in _graphs(path, data, how)]
    if not graphs:
        raise ReadError(f"{path} holds no graphs: leave it out, or write it again")
    return hashlib.sha256(data).hexdigest(), iter(graphs)


def _reader(path: Path, format: Format) -> str:
    return _ENDINGS.get(ending(path), format) if format in ("auto", "bids") else format


def _stream(path: Path, how: HowToRead) -> Iterator[Any] | None:
    reader = _reader(path, how.format)
    try:
        if path.suffix.lower() == ".gz" or reader not in ("numpy", "parquet"):
            return None
        if reader == "parquet":
            return stream_parquet(path, how.cap) if how.key is None else None
        if ending(path) == ".npz" and how.key is not None:
            return None
        return stream_numpy(path, ending(path), how.cap)
    except (OSError, EigengraphsError):
        raise
    except Exception:  # of a damaged file; the reader of whole files says what is wrong with it
        return None


def _graphs(path: Path, data: bytes, how: HowToRead) -> list[Any]:
    if path.name.lower().endswith(".gz"):
        data = gunzip(path, data, how.cap)
    reader = _reader(path, how.format)
    if reader in _BY_NETWORKX:
        return [read_networkx(path, data, _BY_NETWORKX[reader], how.key)]
    if reader == "numpy" and ending(path) == ".npy":
        return read_npy(path, data, how.cap)
    if reader == "numpy":
        return read_npz(path, data, how.key, how.cap)
    if reader == "matlab":
        return read_mat(path, data, how.key, how.cap)
    if reader == "parquet":
        return read_parquet(path, data, how.key, how.cap)
    return [_read_text(open_text(path, data, how.notation), how.format)]


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
    graph: FileGraph = read_matrix(text) if kind == "matrix" else read_edges(text)
    if not ambiguous:
        return graph
    width = len(text.lines)
    said = f"is a table of {width} x {width} numbers, which could be a matrix or an edge list; "
    said += f"read as {'a matrix' if kind == 'matrix' else 'an edge list'} (format= says which)"
    return replace(graph, notices=(*graph.notices, Notice("ambiguous", said, text.path)))
