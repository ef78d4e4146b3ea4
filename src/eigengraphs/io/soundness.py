"""What a reader made of a file, before anything trusts it: sizes, places and names that fit.

Files come from strangers. An index of a sparse matrix that points beyond its end would be followed
by compiled code, which does not look; so every graph goes through here when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigengraphs.errors import EigengraphsError, ReadError
from eigengraphs.io.raw import EdgeGraph, MatrixGraph, RawGraph
from eigengraphs.system.archives import check_compressed
from eigengraphs.system.labels import not_utf8

__all__ = ["check_sparse", "each_sound", "reading_of", "sound"]


@contextmanager
def reading_of(path: Path) -> Iterator[None]:
    """Say which file it was whatever the parsers of other packages raise at damaged ones.

    Their errors are of all kinds, struct.error and tokenize.TokenError among them, and change from
    version to version. The error itself stays the cause of the new one.
    """
    try:
        yield
    except EigengraphsError:
        raise
    except MemoryError as error:
        raise ReadError(
            f"{path} says that it holds more than there is memory for ({_first_line(error)}); if "
            "it is small, it is damaged: write it again, or leave it out"
        ) from error
    except Exception as error:
        raise ReadError(
            f"{path} cannot be read: it is damaged, or not what its ending says "
            f"({type(error).__name__}: {_first_line(error)}); write it again, or leave it out"
        ) from error


def each_sound(path: Path, graphs: Iterable[RawGraph]) -> Iterator[RawGraph]:
    """Yield graphs that are read one by one, each checked."""
    with reading_of(path):
        source = iter(graphs)
    while True:
        with reading_of(path):
            graph = next(source, None)
            if graph is None:
                return
            graph = sound(path, graph)
        yield graph


def sound(path: Path, graph: RawGraph) -> RawGraph:
    """Return a graph whose parts fit each other, or say what does not."""
    where = f"{path}" + (f", graph {graph.key!r}" if graph.key is not None else "")
    n = _edges(where, graph) if isinstance(graph, EdgeGraph) else 0
    if not isinstance(graph, EdgeGraph):
        graph = replace(graph, matrix=_matrix(where, graph))
        n = int(graph.matrix.shape[0])
    names = graph.names
    wrong = not_utf8([graph.key or "", *(names or ())])
    if wrong is not None:
        raise ReadError(
            f"{where} has the name {wrong[:60]!r}, which is no text in UTF-8 (it holds half a "
            "character): rename it in the file"
        )
    if names is None:
        return graph
    if len(names) != n:
        raise ReadError(f"{where} has {n} vertices and {len(names)} names of vertices: mend it")
    if len(set(names)) < n:
        twice = next(name for s, name in enumerate(names) if name in names[:s])
        raise ReadError(
            f"{where} has two vertices with the name {twice!r}: give each a name of its own"
        )
    return graph


def _edges(where: str, graph: EdgeGraph) -> int:
    n = len(graph.names)
    ends = np.concatenate([graph.source, graph.target])
    if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < n:
        raise ReadError(f"{where} has an edge of a vertex that it does not have: write it again")
    return n


def _matrix(where: str, graph: MatrixGraph) -> Any:
    matrix: Any = graph.matrix
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ReadError(
            f"{where} is {' x '.join(map(str, matrix.shape))}; a graph is a square matrix with a "
            "row and a column for each vertex: see whether it is whole, or leave it out"
        )
    kind = matrix.dtype
    if kind.kind not in "biuf":
        raise ReadError(f"{where} holds {kind}, and weights are real numbers; save it as numbers")
    if sparse.issparse(matrix):
        check_sparse(where, matrix)
    if kind.kind == "f" and kind.itemsize not in (4, 8):  # half, or longer than a float
        with np.errstate(over="ignore"):
            matrix = matrix.astype(np.float32 if kind.itemsize == 2 else np.float64)
    if not kind.isnative:
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    return matrix


def check_sparse(where: str, matrix: Any) -> None:
    """Refuse a sparse matrix whose parts do not fit; to be called before scipy converts it."""
    if not hasattr(matrix, "check_format"):  # of coordinates, which scipy checks itself; diagonals
        return
    try:
        check_compressed(matrix)
    except ValueError as error:
        raise ReadError(
            f"{where} is no sparse matrix that fits its shape ({error}): write it again"
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
