"""From a collection of graphs of any kind to the single array, dense or sparse, of a stack.

Each graph becomes a square matrix, with vertex names if it has them; then all of them are put on
one vertex set, by name if they have names, by index otherwise.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Real
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.stack.flat_matrix import Storage, canonical, flatten, n_stored
from eigengraphs.stack.names import (
    check_names,
    label,
    read_names,
    some_of,
    spelling,
    unlike_names,
    unlike_sizes,
)

StorageRule: TypeAlias = Literal["auto", "dense", "sparse"]
VertexRule: TypeAlias = Literal["same", "intersection", "union"]

# Below this share of nonzeros one flat CSR matrix is smaller and faster to read than an array.
_SPARSE_BELOW = 0.1
_DENSE_IS_SMALL = 2**26  # bytes; a dense stack of this size is not worth converting


@dataclass(frozen=True)
class Piece:
    """One graph on its way into a stack."""

    matrix: NDArray[Any] | sparse.csr_array
    names: tuple[str, ...] | None
    keep_sparse: bool  # came as a scipy sparse matrix, so it must never be made dense
    where: str  # for error messages: graphs[3] ('sub-04')

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.matrix.shape[0])


def build(
    graphs: Any,
    graph_names: Sequence[str] | None,
    vertex_names: Sequence[str] | None,
    weight: str | None,
    vertices: VertexRule,
    storage: StorageRule,
    dtype: DTypeLike | None,
    copy: bool,
    *,
    hide: bool,
) -> tuple[Storage, tuple[str, ...] | None, tuple[str, ...] | None, NDArray[np.bool_] | None]:
    """Return storage, graph names, vertex names, and which graph has which vertex.

    See ``GraphStack``. The last is (m, n), or None if every graph has every vertex. With ``hide``,
    the caller hides what is unknown: masked entries of numpy.ma arrays become nan, and a matrix may
    lack vertices.
    """
    graph_names = None if graph_names is None else read_names(graph_names, "graph_names")
    if not isinstance(graphs, Iterable) and hasattr(graphs, "__array__"):
        graphs = np.asarray(graphs)
    if is_one_graph(graphs):
        raise InputError(
            f"expected a collection of graphs, got one {type(graphs).__name__}; "
            "for a stack of one graph, pass a list: GraphStack([graph])"
        )
    kept: Storage
    present: NDArray[np.bool_] | None = None
    names: Sequence[str] | None = vertex_names
    if isinstance(graphs, np.ndarray) and graphs.ndim == 3:
        if vertices != "same":
            refuse_nameless(vertices)
        cube = _numeric_cube(_unmasked(graphs, "the array of graphs", hide))
        kind = _result_dtype([cube.dtype], dtype)
        m, n, _ = cube.shape
        kept = np.array(cube, dtype=kind, order="C", copy=True if copy else None)
        if storage == "sparse":
            kept = flatten(list(kept), kind)
    else:
        pieces, graph_names = _pieces(graphs, graph_names, weight, hide)
        order = None if vertex_names is None else read_names(vertex_names, "vertex_names")
        pieces, names, present = _aligned(pieces, vertices, order, hide)
        m, n = len(pieces), pieces[0].n_vertices
        kept = _assembled(pieces, storage, dtype)
    graph_names = check_names(graph_names, m, "graph_names")
    return kept, graph_names, check_names(names, n, "vertex_names"), present


def check_choice(name: str, value: Any, *choices: str) -> None:
    """Raise an error for a setting that is not one of its choices."""
    if value not in choices:
        *most, last = map(repr, choices)
        raise InputError(f"{name} must be {', '.join(most)} or {last}, got {name}={value!r}")


def check_dtype(dtype: Any) -> np.dtype[Any]:
    """Return float32 or float64 as a type, or raise."""
    wanted: np.dtype[Any] | None = None
    with suppress(TypeError):
        wanted = np.dtype(dtype)
    if wanted is None or wanted not in (np.float32, np.float64):
        raise InputError(f"dtype must be float32 or float64, got {wanted or repr(dtype)}")
    return wanted


def _numeric_cube(cube: NDArray[Any]) -> NDArray[Any]:
    m, n, columns = cube.shape
    cube = plain_numbers(cube)
    if cube.dtype.kind not in "biuf":
        raise InputError(f"graphs must hold real numbers, got an array of dtype {cube.dtype}")
    if n != columns:
        raise InputError(
            f"a three-dimensional array of graphs must have shape (m, n, n), one square matrix "
            f"per graph, got {cube.shape}"
            + ("; np.moveaxis(graphs, -1, 0) puts the graphs first" if m == n else "")
        )
    if m == 0 or n == 0:
        raise InputError(f"expected at least one graph with one vertex, got shape {cube.shape}")
    return cube


def _pieces(
    graphs: Any, graph_names: Sequence[str] | None, weight: str | None, hide: bool
) -> tuple[list[Piece], Sequence[str] | None]:
    if isinstance(graphs, Mapping):
        if graph_names is None:
            graph_names = [str(name) for name in graphs]
        graphs = graphs.values()
    no_items = isinstance(graphs, np.ndarray) and graphs.ndim == 0
    if isinstance(graphs, str | bytes) or not isinstance(graphs, Iterable) or no_items:
        raise InputError(
            "graphs must be a list of graphs, a dictionary of named graphs, or an array (m, n, n); "
            f"got {type(graphs).__name__}"
        )
    items = list(graphs)
    if not items:
        raise InputError("expected at least one graph, got an empty collection")
    _check_weight(items, weight)
    names = check_names(graph_names, len(items), "graph_names") or [None] * len(items)
    pieces = [
        _as_piece(item, label(i, name), weight, hide)
        for i, (item, name) in enumerate(zip(items, names, strict=True))
    ]
    return pieces, graph_names


def _result_dtype(kinds: Iterable[np.dtype[Any]], dtype: DTypeLike | None) -> np.dtype[Any]:
    """Return float32 if requested or if all input is float32; float64 otherwise."""
    if dtype is not None:
        return check_dtype(dtype)
    small = all(kind.kind == "f" and kind.itemsize <= 4 for kind in kinds)
    return np.dtype(np.float32 if small else np.float64)


def _assembled(pieces: Sequence[Piece], rule: StorageRule, dtype: DTypeLike | None) -> Storage:
    """Return the matrices of all graphs, which are on one vertex set, as one array."""
    matrices, n = [piece.matrix for piece in pieces], pieces[0].n_vertices
    kind = _result_dtype([A.dtype for A in matrices], dtype)
    if rule == "auto":
        keep = any(piece.keep_sparse for piece in pieces)
        nonzeros = 0 if keep else sum(map(n_stored, matrices))
        rule = storage_for(len(pieces), n, nonzeros, keep, kind)
    if rule == "sparse":
        return flatten(matrices, kind)
    cube = np.empty((len(pieces), n, n), dtype=kind)
    for graph, A in zip(cube, matrices, strict=True):
        graph[...] = A if isinstance(A, np.ndarray) else A.toarray()
    return cube


def storage_for(
    n_graphs: int, n_vertices: int, nonzeros: int, keep_sparse: bool, dtype: np.dtype[Any]
) -> Literal["dense", "sparse"]:
    """Return how graphs with this number of nonzero entries are stored."""
    if keep_sparse:
        return "sparse"
    entries = n_graphs * n_vertices * n_vertices
    is_small = entries * dtype.itemsize <= _DENSE_IS_SMALL
    return "dense" if is_small or nonzeros >= _SPARSE_BELOW * entries else "sparse"


# ---------------------------------------------------------------------- one graph


def is_one_graph(graphs: Any) -> bool:
    """Tell whether ``graphs`` is a single graph, where a collection was expected."""
    return (
        sparse.issparse(graphs)
        or any(_is_instance(graphs, module) for module in _KINDS)
        or (isinstance(graphs, np.ndarray) and graphs.ndim == 2 and graphs.dtype != object)
    )


_KINDS = {"networkx": "Graph", "igraph": "Graph", "pandas": "DataFrame"}


def _is_instance(thing: Any, module: str) -> bool:
    """Tell whether it is a graph, or a table, of this package."""
    # Whoever made such an object has imported its package; nobody else should pay for it.
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(thing, getattr(loaded, _KINDS[module], ()))


def _as_piece(graph: Any, where: str, weight: str | None, hide: bool) -> Piece:
    """Turn one graph of any supported kind into a :class:`Piece`."""
    if isinstance(graph, Piece):
        return graph  # of a reader of files, which has checked it
    if sparse.issparse(graph):
        return _from_scipy(graph, where)
    if _is_instance(graph, "pandas"):
        return _from_pandas(graph, where)
    if _is_instance(graph, "networkx"):
        return _from_networkx(graph, where, weight)
    if _is_instance(graph, "igraph"):
        return _from_igraph(graph, where, weight)
    graph = _unmasked(graph, where, hide)
    try:
        matrix = np.asarray(graph)
    except ValueError:  # rows of unequal length
        matrix = np.asarray(None)
    return Piece(_numeric(matrix, where, type(graph)), None, keep_sparse=False, where=where)


def _check_weight(graphs: Iterable[Any], weight: str | None) -> None:
    """Raise an error for an edge attribute that no edge has, unless it is the usual "weight"."""
    if weight in (None, "weight"):
        return
    n_edges, found = 0, set[str]()
    for graph in graphs:
        if _is_instance(graph, "networkx"):
            n_edges += graph.number_of_edges()
            for *_, attributes in graph.edges(data=True):
                found.update(attributes)
        elif _is_instance(graph, "igraph"):
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


def _unmasked(graph: Any, where: str, hide: bool) -> Any:
    """Return nan for masked entries, or refuse them: they would be treated as data."""
    if not isinstance(graph, np.ma.MaskedArray) or not np.ma.is_masked(graph):
        return graph
    if not hide:
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
    return Piece(canonical(graph), None, keep_sparse=True, where=where)


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
    return Piece(matrix, rows, keep_sparse=False, where=where)


def _from_networkx(graph: Any, where: str, weight: str | None) -> Piece:
    nx: Any = import_module("networkx")
    _check_square((len(graph), len(graph)), where)
    names = _unique_names(graph, where, "nodes")
    try:
        matrix = nx.to_scipy_sparse_array(graph, weight=weight, dtype=np.float64)
    except (TypeError, ValueError):
        edges = graph.edges(data=weight)
        culprit = next(((u, v, w) for u, v, w in edges if not _is_number(w)), None)
        raise InputError(
            f"{where}: edge attribute {weight!r} must be a real number on every edge that has it; "
            f"found {culprit}; pass weight=None to ignore weights"
        ) from None
    return replace(_from_scipy(matrix, where), names=names, keep_sparse=False)


def _from_igraph(graph: Any, where: str, weight: str | None) -> Piece:
    n = graph.vcount()
    names = None
    # from_networkx puts the nodes into _nx_name.
    known = [key for key in ("name", "_nx_name") if key in graph.vs.attributes()]
    if known:
        names = _unique_names(graph.vs[known[0]], where, "vertex names")
    if weight not in graph.es.attributes():
        weight = None
    elif not all(map(_is_number, graph.es[weight])):
        raise InputError(
            f"{where}: edge attribute {weight!r} must be a real number on every edge; "
            "pass weight=None to ignore weights"
        )
    matrix = sparse.csr_array((n, n))
    if graph.ecount():  # of which igraph makes no matrix
        matrix = graph.get_adjacency_sparse(weight)
    return replace(_from_scipy(matrix, where), names=names, keep_sparse=False)


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


# ---------------------------------------------------------------------- one vertex set


def _aligned(
    pieces: list[Piece], vertices: VertexRule, order: tuple[str, ...] | None, hide: bool
) -> tuple[list[Piece], tuple[str, ...] | None, NDArray[np.bool_] | None]:
    """Return the graphs on one vertex set, the names of its vertices, and which graphs have them.

    The last is an array (m, n), or None where every graph has every vertex.

    Parameters
    ----------
    pieces
        The graphs.
    vertices
        ``"same"``: every named graph must have the same names. ``"intersection"``: keep the
        names that all of them have. ``"union"``: keep every name; a vertex that a graph does not
        have gets no edges there, which is refused of a matrix unless such vertices are hidden.
    order
        Names to use: their order for named graphs, the names themselves for unnamed ones.
    hide
        Whether the caller hides the vertices that a graph does not have.
    """
    named = [(piece, piece.names) for piece in pieces if piece.names is not None]
    if not named:
        _same_size(pieces, hint="name the vertices and pass vertices='intersection'")
        if vertices != "same":
            refuse_nameless(vertices)
        return pieces, order, None

    reference = named[0][1]
    target = reference
    if vertices == "intersection":
        common = set(reference).intersection(*(names for _, names in named))
        target = tuple(name for name in reference if name in common)
        if not target:
            raise AlignmentError("no vertex name is common to all graphs")
    elif vertices == "union":
        target = tuple(dict.fromkeys(name for _, names in named for name in names))
        for piece, names in named:
            # A matrix states every pair of its vertices, and nothing about others.
            states_all = piece.keep_sparse or isinstance(piece.matrix, np.ndarray)
            if states_all and len(names) < len(target) and not hide:
                refuse_absent(piece.where, names, target)
    else:
        if any(set(names) != set(reference) for _, names in named):
            odd = unlike_names([names for _, names in named], [piece.where for piece, _ in named])
            raise AlignmentError(
                f"{odd}; align by name with vertices='intersection' or vertices='union'"
            )
    if order is not None:
        if set(order) != set(target):
            differ = sorted(set(order) ^ set(target))
            raise AlignmentError(
                "vertex_names must hold the names that the graphs have; "
                f"only in one of the two: {some_of(differ)}{spelling(differ, differ)}"
            )
        target = order

    if len(named) < len(pieces):
        # An unnamed matrix can only be meant in the order of the named ones.
        if vertices != "same":
            raise AlignmentError(
                f"vertices={vertices!r} aligns by vertex names, but some graphs have none; "
                "name them all, or use vertices='same'"
            )
        _same_size(pieces, hint="name the vertices of all graphs")
    present = None
    if vertices == "union":
        sets = [set(names) for _, names in named]
        present = np.array([[name in names for name in target] for names in sets])
    return [_placed(piece, target, reference) for piece in pieces], target, present


def refuse_absent(where: str, names: Iterable[str], target: Sequence[str]) -> NoReturn:
    """Say that the vertices that a matrix lacks were not measured: zeros would count as data."""
    have = set(names)
    lacking = [name for name in target if name not in have]
    raise AlignmentError(
        f"{where} is a matrix that lacks {len(lacking)} of the {len(target)} vertices "
        f"({some_of(lacking)}): they were not measured, and zeros would say that they have no "
        "edges; pass missing='unobserved' to hide them there, or vertices='intersection' for the "
        "vertices that all graphs have"
    )


def refuse_nameless(vertices: VertexRule) -> NoReturn:
    """Say that graphs without names cannot be aligned by name."""
    raise AlignmentError(
        f"vertices={vertices!r} aligns by vertex names, and these graphs have none; "
        "use pandas DataFrames or networkx graphs, or leave vertices='same'"
    )


def _placed(piece: Piece, target: tuple[str, ...], reference: tuple[str, ...]) -> Piece:
    """Return a graph on the vertices ``target``, in their order."""
    names, A = piece.names, piece.matrix
    if names is None:
        # Vertices called 0, 1, ... in whatever order are the rows 0, 1, ... of an array.
        numbers = tuple(map(str, range(piece.n_vertices)))
        names = numbers if set(numbers) == set(reference) else reference
    if names == target:
        return piece
    where = {name: s for s, name in enumerate(names)}
    if all(name in where for name in target):
        keep = [where[name] for name in target]
        return replace(piece, matrix=A[keep][:, keep])
    # Union: a vertex that this graph does not have gets no edges, or is hidden by the caller.
    matrix = sparse.csr_array(moved(A, names, target))
    return replace(piece, matrix=matrix.toarray() if isinstance(A, np.ndarray) else matrix)


def moved(entries: Any, names: Iterable[str], target: Sequence[str]) -> sparse.coo_array:
    """Return the entries of a graph with its vertices at their places among those of ``target``."""
    place, n = {name: s for s, name in enumerate(target)}, len(target)
    move = np.array([place[name] for name in names], dtype=np.intp)
    entries = sparse.coo_array(entries)
    s, t = entries.coords
    return sparse.coo_array((entries.data, (move[s], move[t])), shape=(n, n))


def _same_size(pieces: Sequence[Piece], hint: str) -> None:
    odd = unlike_sizes([piece.n_vertices for piece in pieces], [piece.where for piece in pieces])
    if odd:
        raise AlignmentError(f"{odd}; all graphs must be on one vertex set: {hint}")
