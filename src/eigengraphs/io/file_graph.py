"""One graph as a file holds it, checked, and notices of what a reader did to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import EigengraphsError, ReadError
from eigengraphs.system.archives import check_compressed
from eigengraphs.system.labels import not_utf8

Matrix: TypeAlias = "NDArray[Any] | sparse.csr_array"
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)

LEFT_OUT = ("left out", "table")  # kinds of notices

# What one file does, or [one|several]. All but those in _QUIET are worth a warning.
_KINDS = {
    "triangle": "[holds|hold] one triangle; mirrored",
    "triangle kept": "[holds|hold] one triangle; left as [it is|they are], because other graphs "
    "are directed",
    "rounding": "[is|are] symmetric up to rounding; made symmetric",
    "direction": "[is|are] not symmetric: some weights differ by direction, so all graphs are "
    "treated as directed; if that is not intended, make [it|them] symmetric or leave [it|them] out",
    "diagonal": "[has|have] nan or infinity on the whole diagonal, which was left out",
    "columns": "[names its|name their] columns in another order than [its|their] rows; put in the "
    "order of the rows",
    "order": "[names its|name their] vertices in another order than the first file; aligned by "
    "name",
    "numbered": "[has|have] a row or column of running numbers, taken as vertex names",
    "ambiguous": "could be [a matrix or an edge list|matrices or edge lists]",
    "repeated": "[names|name] pairs of vertices more than once; their weights were added",
    "one way": "[names|name] each pair once, in varying order; read as undirected (directed=True "
    "keeps the direction)",
    "pairs once": "[names|name] each pair once; read as undirected",
    "decimal commas": "[has|have] decimal commas, read as points",
    "no edges": "[has|have] a header and no edges",
    "encoding": "[is|are] not in UTF-8; read as Windows text",
    "attribute": "[has|have] no edge attribute 'weight'; the only numeric attribute was used",
    "case": "[has|have] a BIDS key in another case, such as Sub-; taken as sub-",
    "table": "[is a table and not a graph|are tables and not graphs]; left out",
}
_QUIET = {"pairs once"}
# How a damaged file is written again.
_AGAIN = {
    "MATLAB": "in MATLAB, save it again with save(name, 'variable', '-v7')",
    "NumPy": "write it again with np.save or np.savez",
}


@dataclass(frozen=True)
class Notice:
    """One thing that a reader did.

    Attributes
    ----------
    kind : str
        Equal for notices that can be said in one sentence, such as ``"triangle"``.
    text : str
        What was done, without the name of the file.
    path : Path or None
        The file; None for what concerns all files.
    loud : bool
        Whether ``eigengraphs.read`` issues it as a warning.
    count : int
        Number of files concerned.

    Examples
    --------
    >>> from pathlib import Path
    >>> from eigengraphs.io import Notice
    >>> notice = Notice("copies", "is a copy of b.csv", Path("a.csv"), loud=False)
    >>> str(notice)
    'a.csv is a copy of b.csv'
    """

    kind: str
    text: str
    path: Path | None = None
    loud: bool = True
    count: int = 1

    @classmethod
    def of(cls, kind: str, path: Path, more: str = "") -> Notice:
        """Make a notice of a kind that many files may share.

        Parameters
        ----------
        kind : str
            Such as "table".
        path : Path
            The file.
        more : str
            What is added to the usual text.

        Returns
        -------
        Notice

        Examples
        --------
        >>> from pathlib import Path
        >>> from eigengraphs.io import Notice
        >>> str(Notice.of("table", Path("ages.csv")))
        'ages.csv is a table and not a graph; left out'
        """
        return cls(kind, _said(kind, several=False) + more, path, kind not in _QUIET)

    def __str__(self) -> str:
        return self.text if self.path is None else f"{self.path.name} {self.text}"


def _said(kind: str, *, several: bool) -> str:
    return re.sub(r"\[(.*?)\|(.*?)\]", r"\2" if several else r"\1", _KINDS[kind])


def summarize(notices: Iterable[Notice]) -> list[Notice]:
    """Return one notice for each kind, such as "17 files hold one triangle; mirrored"."""
    summary = []
    for kind, group in grouped(notices, lambda notice: notice.kind).items():
        paths = list(dict.fromkeys(notice.path for notice in group if notice.path is not None))
        if len(paths) > 1 and kind in _KINDS:
            listed = few([path.name for path in paths])
            text = f"{len(paths)} files {_said(kind, several=True)} ({listed})"
            loud = any(notice.loud for notice in group)
            summary.append(Notice(kind, text, None, loud, len(paths)))
        else:
            text = "; ".join(dict.fromkeys(map(str, group)))
            count = len(paths) or sum(notice.count for notice in group)
            summary.append(Notice(kind, text, None, group[0].loud, count))
    return summary


def left_out(notices: Iterable[Notice]) -> int:
    """Return how many files of a folder were not read, though they could have been graphs."""
    return sum(notice.count for notice in notices if notice.kind in LEFT_OUT)


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return the items of each key, in the order in which keys and items come."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that are there more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


# ---------------------------------------------------------------------- graphs


@dataclass(frozen=True)
class FileGraph:
    """A graph, with names of its vertices where the file has them."""

    matrix: Any  # (n, n), dense or sparse; a list of edges as `of_edges` makes it
    names: tuple[str, ...] | None = None
    directed: bool | None = None  # what the file says; None if it says nothing
    key: str | None = None  # what the file calls this graph, where it holds several
    notices: tuple[Notice, ...] = ()
    format: str = "matrix"
    is_list: bool = False  # of edges
    names_all: bool = True  # its vertices; a list of edges may lack those that have none

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.matrix.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the file holds a sparse matrix, which is never made dense."""
        return not self.is_list and not isinstance(self.matrix, np.ndarray)


def of_edges(s: Any, t: Any, weight: Any, names: tuple[str, ...], **more: Any) -> FileGraph:
    """Return a graph from edges as the file has them: once or twice, in one order or the other.

    Parameters
    ----------
    s, t
        Places in ``names`` of the two vertices of each edge.
    more
        Further fields of `FileGraph`.
    """
    n = len(names)
    edges = sparse.coo_array((weight, (s, t)), shape=(n, n))  # which adds nothing up
    return FileGraph(edges, names, is_list=True, **more)


@contextmanager
def naming_file(path: Path, kind: str) -> Iterator[None]:
    """Name the file in whatever error the parsers of other packages raise at damaged ones.

    Their errors are of all kinds, struct.error and tokenize.TokenError among them, and change from
    version to version. The error itself stays the cause of the new one.
    """
    try:
        yield
    except EigengraphsError:
        raise
    except Exception as error:
        said = (str(error).strip().splitlines() or [""])[0][:200].rstrip(".")
        if isinstance(error, MemoryError):
            raise ReadError(
                f"{path} declares more data than fits in memory ({said}); if it is small, it is "
                "damaged: write it again, or leave it out"
            ) from error
        if not said or not isinstance(error, ValueError):
            said = f"{type(error).__name__}: {said}"
        again = _AGAIN.get(kind, "write it again")
        raise ReadError(
            f"{path} is not a {kind} file, or it is incomplete: {said}; {again}, or leave it out"
        ) from error


def check_graph(path: Path, graph: FileGraph) -> FileGraph:
    """Return a graph whose parts fit each other, or refuse it."""
    where = f"{path}" + (f", graph {graph.key!r}" if graph.key is not None else "")
    matrix, names, n = graph.matrix, graph.names, graph.n_vertices
    kind = matrix.dtype
    if kind.kind not in "biuf":
        raise ReadError(f"{where} holds {kind}, and weights are real numbers; save it as numbers")
    if sparse.issparse(matrix):
        check_sparse(where, matrix)
    if kind.kind == "f" and kind.itemsize not in (4, 8):  # half precision, or extended
        with np.errstate(over="ignore"):
            matrix = matrix.astype(np.float32 if kind.itemsize == 2 else np.float64)
    if not kind.isnative:
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    wrong = not_utf8([graph.key or "", *(names or ())])
    if wrong is not None:
        raise ReadError(
            f"{where} has the name {wrong[:60]!r}, which is not valid UTF-8 text (it holds half a "
            "character): rename it in the file"
        )
    if names is not None and len(names) != n:
        raise ReadError(f"{where} has {n} vertices and {len(names)} names of vertices: correct it")
    if twice := repeated(names or ()):
        raise ReadError(
            f"{where} has two vertices with the name {twice[0]!r}: give each a name of its own"
        )
    return replace(graph, matrix=matrix)


def check_square(where: str, shape: tuple[int, ...]) -> None:
    """Refuse what is not a square matrix with at least one vertex."""
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ReadError(
            f"{where} is {' x '.join(map(str, shape))}; a graph is a square matrix with a row and "
            "a column for each vertex: check that the file is complete, or leave it out"
        )


def check_sparse(where: str, matrix: Any) -> None:
    """Refuse a sparse matrix whose parts do not fit; to be called before scipy converts it."""
    if not hasattr(matrix, "check_format"):  # COO, which scipy checks itself; diagonals
        return
    try:
        check_compressed(matrix)
    except ValueError as error:
        raise ReadError(
            f"{where} is not a sparse matrix that fits its shape ({error}): write it again"
        ) from None
