"""From whatever a user calls a graph to one square matrix, with vertex names where it has them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.stack.names import some_of

__all__ = [
    "Piece", "as_piece", "check_weight", "is_one_graph", "plain_numbers", "unmasked",
]  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """One graph on its way into a stack."""

    matrix: NDArray[Any] | sparse.csr_array
    names: tuple[str, ...] | None
    keep_sparse: bool  # came as a scipy sparse matrix, so it must never be made dense
    where: str  # for error messages: graphs[3] ('sub-04')
    given: Any = None  # the names as they came, perhaps numbers; None: texts

    @property
    def states_all(self) -> bool:
        """Whether it came as a matrix, which states every pair, and not as a list of edges."""
        return self.keep_sparse or isinstance(self.matrix, np.ndarray)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.matrix.shape[0])

    def take(self, order: NDArray[np.intp]) -> Piece:
        """Return the graph on some of its vertices, or on all of them in another order."""
        names = None if self.names is None else tuple(self.names[s] for s in order)
        if np.array_equal(order, np.arange(self.n_vertices)):
            return replace(self, names=names)
        if isinstance(self.matrix, np.ndarray):
            return replace(self, matrix=self.matrix[np.ix_(order, order)], names=names)
        return replace(self, matrix=self.matrix[order][:, order], names=names)


def is_one_graph(graphs: Any) -> bool:
    """Tell whether ``graphs`` is a single graph, where a collection was expected."""
    return (
        sparse.issparse(graphs)
        or _is_instance(graphs, "networkx", "Graph")
        or _is_instance(graphs, "igraph", "Graph")
        or _is_instance(graphs, "pandas", "DataFrame")
        or (isinstance(graphs, np.ndarray) and graphs.ndim == 2 and graphs.dtype != object)
    )


def as_piece(graph: Any, where: str, weight: str | None, nan_for_masked: bool) -> Piece:
    """Turn one graph of any supported kind into a :class:`Piece`.

    Masked entries of a numpy.ma array are refused, or become nan.
    """
    if isinstance(graph, Piece):
        return graph  # of a reader of files, which has checked it
    if sparse.issparse(graph):
        return _from_scipy(graph, where)
    if _is_instance(graph, "pandas", "DataFrame"):
        return _from_pandas(graph, where)
    if _is_instance(graph, "networkx", "Graph"):
        return _from_networkx(graph, where, weight)
    if _is_instance(graph, "igraph", "Graph"):
        return _from_igraph(graph, where, weight)
    graph = unmasked(graph, where, nan_for_masked)
    try:
        matrix = np.asarray(graph)
    except ValueError:  # rows of unequal length
        matrix = np.asarray(None)
    return Piece(_numeric(matrix, where, type(graph)), None, keep_sparse=False, where=where)


def check_weight(graphs: Iterable[Any], weight: str | None) -> None:
    """Raise an error for an edge attribute that no edge has, unless it is the usual "weight"."""
    if weight in (None, "weight"):
        return
    n_edges, found = 0, set[str]()
    for graph in graphs:
        if _is_instance(graph, "networkx", "Graph"):
            n_edges += graph.number_of_edges()
            for *_, attributes in graph.edges(data=True):
                found.update(attributes)
        elif _is_instance(graph, "igraph", "Graph"):
            n_edges += graph.ecount()
            found.update(graph.es.attributes() if graph.ecount() else ())
        if weight in found:
            return
    if n_edges > 0:
        known = f"they have: {some_of(sorted(map(str, found)))}" if found else "they have none"
        raise InputError(
            f"no edge of any graph has the attribute weight={weight!r}; {known}. Pass the name of "
            "an attribute, or weight=None to count every edge as 1"
        )


def _is_instance(thing: Any, module: str, name: str) -> bool:
    # Whoever made such an object has imported its package; nobody else should pay for it.
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(thing, getattr(loaded, name, ()))


def unmasked(graph: Any, where: str, nan_for_masked: bool) -> Any:
    """Return nan for what a masked array hides, or refuse it: it would be taken for data."""
    if not isinstance(graph, np.ma.MaskedArray) or not np.ma.is_masked(graph):
        return graph
    if not nan_for_masked:
        raise InputError(
            f"{where} is a masked array with masked entries; fill them with .filled(value), or "
            "leave out the vertices that they belong to, or pass missing='unobserved'"
        )
    if graph.dtype.kind not in "biuf":
        return graph  # refused with the others of its type
    kind: Any = graph.dtype if graph.dtype.kind == "f" else np.float64
    return np.where(np.ma.getmaskarray(graph), np.nan, graph.data).astype(kind)


def plain_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in an array of objects as numbers; texts, and what else there is, stay."""
    if array.dtype != object or not all(isinstance(x, Real) for x in array.flat):
        return array
    return array.astype(np.float64)


def _numeric(matrix: NDArray[Any], where: str, kind: type) -> NDArray[Any]:
    matrix = plain_numbers(matrix)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2:
        got = f"an array of shape {matrix.shape} and dtype {matrix.dtype}"
        if matrix.dtype == object or matrix.ndim == 0:
            got = f"a {kind.__name__} that is not a rectangular table of numbers"
        raise InputError(
            f"{where} must be a square matrix of real numbers (array, scipy sparse), "
            f"a networkx or igraph graph, or a pandas DataFrame; got {got}"
        )
    _check_square(matrix.shape, where)
    return matrix


def _check_square(shape: tuple[int, ...], where: str) -> None:
    if shape[0] != shape[1]:
        raise InputError(
            f"{where} has shape {shape[0]} x {shape[1]}, expected a square adjacency matrix; rows "
            "and columns must be the same vertices (a bipartite table B becomes one as "
            "[[0, B], [B.T, 0]])"
        )
    if shape[0] == 0:
        raise InputError(f"{where} has no vertices; leave it out")


def _from_scipy(graph: Any, where: str) -> Piece:
    if graph.dtype.kind not in "biuf":
        raise InputError(f"{where} must hold real numbers, got sparse dtype {graph.dtype}")
    if graph.ndim != 2:
        raise InputError(f"{where} must be a square matrix, got a sparse array of {graph.shape}")
    _check_square(graph.shape, where)
    matrix = sparse.csr_array(graph)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # sum_duplicates works in place, and the input is the user's
        matrix.sum_duplicates()
    if np.any(matrix.data == 0):
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return Piece(matrix, None, keep_sparse=True, where=where)


def _from_pandas(frame: Any, where: str) -> Piece:
    _check_square(frame.shape, where)
    rows = _unique_names(frame.index, where, "row names")
    columns = _unique_names(frame.columns, where, "column names")
    if set(rows) != set(columns):
        only = sorted(set(rows) ^ set(columns))
        raise AlignmentError(
            f"{where}: rows and columns of the DataFrame must name the same vertices; "
            f"these are on one axis only: {some_of(only)}"
        )
    matrix = frame.to_numpy()
    if matrix.dtype == object:  # as pandas' nullable types come
        with suppress(TypeError, ValueError):
            matrix = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    matrix = _numeric(matrix, where, type(frame))
    if rows != columns:
        place = {name: t for t, name in enumerate(columns)}
        matrix = matrix[:, [place[name] for name in rows]]
    return Piece(matrix, rows, keep_sparse=False, where=where, given=frame.index)


def _from_networkx(graph: Any, where: str, weight: str | None) -> Piece:
    nx: Any = import_module("networkx")
    if len(graph) == 0:
        raise InputError(f"{where} has no vertices; leave it out")
    names = _unique_names(graph, where, "nodes")
    try:
        matrix = sparse.csr_array(nx.to_scipy_sparse_array(graph, weight=weight, dtype=np.float64))
    except (TypeError, ValueError):
        culprit = next(
            ((u, v, w) for u, v, w in graph.edges(data=weight) if not _is_number(w)), None
        )
        raise InputError(
            f"{where}: edge attribute {weight!r} must be a real number on every edge that has it; "
            f"found {culprit}; pass weight=None to ignore weights"
        ) from None
    return replace(_from_scipy(matrix, where), names=names, keep_sparse=False, given=list(graph))


def _from_igraph(graph: Any, where: str, weight: str | None) -> Piece:
    n = graph.vcount()
    if n == 0:
        raise InputError(f"{where} has no vertices; leave it out")
    names = given = None
    # from_networkx puts the nodes into _nx_name.
    known = [key for key in ("name", "_nx_name") if key in graph.vs.attributes()]
    if known:
        given = graph.vs[known[0]]
        names = _unique_names(given, where, "vertex names")
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    values: list[Any] = [1.0] * len(ends)
    if weight is not None and weight in graph.es.attributes():
        values = graph.es[weight]
        if not all(map(_is_number, values)):
            raise InputError(
                f"{where}: edge attribute {weight!r} must be a real number on every edge; "
                "pass weight=None to ignore weights"
            )
    data = np.asarray(values, dtype=np.float64)
    s, t = ends.T
    if not graph.is_directed():
        off = s != t  # a loop is one entry, not two
        s, t, data = np.r_[s, t[off]], np.r_[t, s[off]], np.r_[data, data[off]]
    matrix = sparse.coo_array((data, (s, t)), shape=(n, n))
    return replace(_from_scipy(matrix, where), names=names, keep_sparse=False, given=given)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating | np.bool_)


def _unique_names(names: Any, where: str, what: str) -> tuple[str, ...]:
    texts = tuple(str(name) for name in names)
    repeated = [name for name, count in Counter(texts).items() if count > 1]
    if repeated:
        same = [own for own, text in zip(names, texts, strict=True) if text == repeated[0]]
        how = f" ({same[0]!r} and {same[1]!r} have the same text)" if same[0] != same[1] else ""
        raise AlignmentError(f"{where}: {what} must be unique; repeated: {some_of(repeated)}{how}")
    return texts
