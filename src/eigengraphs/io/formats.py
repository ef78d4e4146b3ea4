"""Formats by the endings of files, and one door to all readers of one file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.dense_text import read_dense
from eigengraphs.io.edge_list import read_edges
from eigengraphs.io.kinds import kind_of
from eigengraphs.io.matlab import read_mat
from eigengraphs.io.networkx_files import read_networkx
from eigengraphs.io.notices import Notice
from eigengraphs.io.numpy_files import read_npy, read_npz
from eigengraphs.io.parquet import read_parquet
from eigengraphs.io.raw import RawGraph
from eigengraphs.io.soundness import reading_of, sound
from eigengraphs.io.text import Notation, TextFile, open_text
from eigengraphs.system.limits import DEFAULT, Cap, gunzip

__all__ = [
    "TEXT_ENDINGS",
    "Format",
    "IsTable",
    "check_format",
    "ending",
    "is_known",
    "read_one",
]

Format: TypeAlias = Literal[
    "auto", "matrix", "edgelist", "graphml", "gml", "pajek", "numpy", "matlab", "parquet", "bids"
]

# Endings that hold a matrix, an edge list or a table of something else.
TEXT_ENDINGS = frozenset({".csv", ".tsv", ".txt", ".dat", ".asc"})
_EDGES = frozenset({".edgelist", ".edges", ".ssv", ".el"})
_NETWORKX = {".graphml": "GraphML", ".gml": "GML", ".net": "Pajek", ".paj": "Pajek"}
_OTHER = frozenset({".npy", ".npz", ".mat", ".parquet", ".pq"})
_BY_NAME = {"graphml": "GraphML", "gml": "GML", "pajek": "Pajek"}
_FORMATS = ("auto", "matrix", "edgelist", *_BY_NAME, "numpy", "matlab", "parquet", "bids")


class IsTable(ReadError):
    """A text file is a table of something else than a graph."""


def check_format(format: str) -> None:
    """Raise an error for a format that does not exist."""
    if format not in _FORMATS:
        raise InputError(f"format must be one of {', '.join(map(repr, _FORMATS))}; got {format!r}")


def ending(path: Path) -> str:
    """Return the ending of a name in lower case, without ``.gz``."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def is_known(path: Path) -> bool:
    """Tell whether the ending is one of a format."""
    known = ending(path)
    return known in TEXT_ENDINGS | _EDGES | _OTHER or known in _NETWORKX


def read_one(
    path: Path,
    data: bytes,
    *,
    format: Format,
    key: str | None,
    notation: Notation,
    cap: Cap = DEFAULT,
) -> list[RawGraph]:
    """Read every graph of one file, whose bytes are given; it may declare as much as ``cap``."""
    if not data:
        raise ReadError(f"{path} is empty (0 bytes): leave it out, or write it again")
    with reading_of(path):
        found = _graphs(path, data, format, key, notation, cap)
        if not found:
            raise ReadError(f"{path} holds no graphs: leave it out, or write it again")
        return [sound(path, graph) for graph in found]


def _graphs(
    path: Path, data: bytes, format: Format, key: str | None, notation: Notation, cap: Cap
) -> list[RawGraph]:
    if path.name.lower().endswith(".gz"):
        data = gunzip(path, data, cap)
    kind = ending(path)
    if format in _BY_NAME or (format in ("auto", "bids") and kind in _NETWORKX):
        known = _BY_NAME.get(format) or _NETWORKX[kind]
        return [read_networkx(path, data, known, key)]
    if format == "numpy" or (format in ("auto", "bids") and kind in (".npy", ".npz")):
        return list(read_npy(path, data, cap) if kind == ".npy" else read_npz(path, data, key, cap))
    if format == "matlab" or (format in ("auto", "bids") and kind == ".mat"):
        return list(read_mat(path, data, key, cap))
    if format == "parquet" or (format in ("auto", "bids") and kind in (".parquet", ".pq")):
        return read_parquet(path, data, key, cap)
    return [_read_text(open_text(path, data, notation), format)]


def _read_text(text: TextFile, format: Format) -> RawGraph:
    if format == "matrix":
        return read_dense(text)
    if format == "edgelist":
        return read_edges(text)
    kind, ambiguous = kind_of(text)
    if kind == "table":
        header = ", ".join(text.cells(0, 1)[0][:5])
        raise IsTable(
            f"{text.path} is neither a matrix nor an edge list: it has words below its header "
            f"({header[:60]}); leave it out, or pass format='matrix' or format='edgelist' to "
            "see which line is wrong"
        )
    graph: RawGraph = read_dense(text) if kind == "matrix" else read_edges(text)
    if not ambiguous:
        return graph
    width = len(text.lines)
    said = f"is a table of {width} x {width} numbers, which could be a matrix or an edge list; "
    said += f"read as {'a matrix' if kind == 'matrix' else 'an edge list'} (format= says which)"
    return replace(graph, notices=(*graph.notices, Notice("ambiguous", said, text.path)))
