"""From a collection of graphs to the one array, dense or sparse, that a stack keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.graphs.align import (
    VertexRule,
    align_pieces,
    check_vertex_rule,
    refuse_nameless,
)
from eigengraphs.graphs.coerce import (
    Piece,
    as_piece,
    check_weight,
    is_one_graph,
    label,
    plain_numbers,
    some_of,
    unmasked,
)
from eigengraphs.graphs.flat_rows import row_numbers
from eigengraphs.labels import not_utf8
from eigengraphs.parallel import on_blocks, spans

__all__ = [
    "Storage",
    "StorageRule",
    "build",
    "check_dtype",
    "check_names",
    "check_storage",
    "flat_from_edges",
    "flatten",
    "read_names",
    "storage_for",
]

Storage: TypeAlias = "NDArray[Any] | sparse.csr_array"
StorageRule: TypeAlias = Literal["auto", "dense", "sparse"]

# Below this share of nonzeros one flat CSR matrix is smaller and faster to read than an array.
_SPARSE_BELOW = 0.1
_THREADS_PAY_FROM = 4_000_000  # stored entries
_ABSENT = ("nan", "<NA>", "NaT")  # how pandas and NumPy write values that are not there
_DENSE_IS_SMALL = 2**26  # bytes; a dense stack of this size is not worth converting


def build(
    graphs: Any,
    *,
    graph_names: Sequence[str] | None,
    vertex_names: Sequence[str] | None,
    weight: str | None,
    vertices: VertexRule,
    storage: StorageRule,
    dtype: DTypeLike | None,
    copy: bool,
    nan_for_masked: bool = False,
) -> tuple[Storage, tuple[str, ...] | None, tuple[str, ...] | None, NDArray[np.bool_] | None]:
    """Return the storage, graph names, vertex names, and who has which vertex; see ``GraphStack``.

    The last is (m, n), or None where every graph has every vertex. With ``nan_for_masked``, masked
    entries of numpy.ma arrays become nan, and a matrix may lack vertices.
    """
    check_storage(storage)
    check_vertex_rule(vertices)
    graph_names = None if graph_names is None else read_names(graph_names, "graph_names")
    if not isinstance(graphs, Iterable) and hasattr(graphs, "__array__"):
        graphs = np.asarray(graphs)
    if is_one_graph(graphs):
        raise InputError(
            f"expected a collection of graphs, got one {type(graphs).__name__}; "
            "for a stack of one graph, pass a list: GraphStack([graph])"
        )
    if isinstance(graphs, np.ndarray) and graphs.ndim == 3:
        if vertices != "same":
            refuse_nameless(vertices)
        cube = unmasked(graphs, "the array of graphs", nan_for_masked)
        cube, names = _from_cube(cube, vertex_names, dtype, copy)
        kept: Storage = cube
        if storage == "sparse":
            kept = flatten(list(cube), cube.dtype)
        return kept, check_names(graph_names, len(cube), "graph_names"), names, None

    pieces, graph_names = _pieces(graphs, graph_names, weight, nan_for_masked)
    order = None if vertex_names is None else read_names(vertex_names, "vertex_names")
    pieces, names, present = align_pieces(pieces, vertices, order, hide=nan_for_masked)
    n = pieces[0].n_vertices
    kind = _result_dtype([piece.matrix.dtype for piece in pieces], dtype)
    kept = _assemble(pieces, storage, kind)
    return (
        kept,
        check_names(graph_names, len(pieces), "graph_names"),
        check_names(names, n, "vertex_names"),
        present,
    )


def check_storage(storage: Any) -> None:
    """Raise an error for a way to keep graphs that does not exist."""
    if storage not in ("auto", "dense", "sparse"):
        raise InputError(f"storage must be 'auto', 'dense' or 'sparse', got storage={storage!r}")


def check_names(names: Iterable[Any] | None, size: int, what: str) -> tuple[str, ...] | None:
    """Return names as a tuple of unique strings of the right number, or None."""
    if names is None:
        return None
    texts = read_names(names, what)
    if len(texts) != size:
        raise InputError(f"{what} must hold {size} names, got {len(texts)}")
    if len(set(texts)) < size:
        repeated = next(name for place, name in enumerate(texts) if name in texts[:place])
        raise InputError(f"{what} must be unique; {repeated!r} stands more than once")
    return texts


def read_names(names: Any, what: str) -> tuple[str, ...]:
    """Return names as a tuple of strings."""
    if isinstance(names, str):
        raise InputError(f"{what} must be a sequence of names, got one string {names!r}")
    if not isinstance(names, Iterable):
        raise InputError(f"{what} must be a sequence of names, got {names!r}")
    texts = tuple(str(name) for name in names)
    wrong = not_utf8(texts)
    if wrong is not None:
        raise InputError(
            f"{what} must hold text that UTF-8 can encode; {wrong[:60]!r} has half a character "
            "(a surrogate): rename it"
        )
    return texts


def check_dtype(dtype: Any) -> np.dtype[Any]:
    """Return float32 or float64 as a type, or raise."""
    wanted: np.dtype[Any] | None = None
    with suppress(TypeError):
        wanted = np.dtype(dtype)
    if wanted is None or wanted not in (np.float32, np.float64):
        raise InputError(f"dtype must be float32 or float64, got {wanted or repr(dtype)}")
    return wanted


def _from_cube(
    cube: NDArray[Any], vertex_names: Sequence[str] | None, dtype: DTypeLike | None, copy: bool
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    m, n, columns = cube.shape
    cube = plain_numbers(cube)
    if cube.dtype.kind not in "biuf":
        raise InputError(f"graphs must hold real numbers, got an array of dtype {cube.dtype}")
    if n != columns:
        raise InputError(
            f"a three-dimensional array of graphs must have shape (m, n, n), one square matrix "
            f"after the other, got {cube.shape}"
            + ("; np.moveaxis(graphs, -1, 0) puts the graphs first" if m == n else "")
        )
    if m == 0 or n == 0:
        raise InputError(f"expected at least one graph with one vertex, got shape {cube.shape}")
    kind = _result_dtype([cube.dtype], dtype)
    kept = np.array(cube, dtype=kind, order="C", copy=True if copy else None)
    return kept, check_names(vertex_names, n, "vertex_names")


def _pieces(
    graphs: Any, graph_names: Sequence[str] | None, weight: str | None, nan_for_masked: bool
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
    check_weight(items, weight)
    names = graph_names if graph_names is not None else [None] * len(items)
    if graph_names is not None:
        check_names(graph_names, len(items), "graph_names")
    labels = [label(i, None if name is None else str(name)) for i, name in enumerate(names)]
    pieces: list[Any] = [None] * len(items)

    def work(lo: int, hi: int) -> None:
        for i in range(lo, hi):
            pieces[i] = as_piece(items[i], labels[i], weight, nan_for_masked)

    # Of other kinds, Python does most of the work, or other packages, which know no threads.
    large = all(map(sparse.issparse, items)) and sum(A.nnz for A in items) >= _THREADS_PAY_FROM
    on_blocks(work, spans(len(items), 1), threads=None if large else 1)
    return pieces, graph_names


def _result_dtype(kinds: Sequence[np.dtype[Any]], dtype: DTypeLike | None) -> np.dtype[Any]:
    """Return float32 if asked for or if nothing else came; float64 otherwise."""
    if dtype is not None:
        return check_dtype(dtype)
    small = all(kind.kind == "f" and kind.itemsize <= 4 for kind in kinds)
    return np.dtype(np.float32 if small else np.float64)


def _assemble(pieces: Sequence[Piece], rule: StorageRule, dtype: np.dtype[Any]) -> Storage:
    n = pieces[0].n_vertices
    if rule == "auto":
        rule = _choose(pieces, dtype)
    if rule == "sparse":
        return flatten([piece.matrix for piece in pieces], dtype)
    cube = np.empty((len(pieces), n, n), dtype=dtype)
    for A, piece in zip(cube, pieces, strict=True):
        A[...] = piece.matrix if isinstance(piece.matrix, np.ndarray) else piece.matrix.toarray()
    return cube


def _choose(pieces: Sequence[Piece], dtype: np.dtype[Any]) -> StorageRule:
    keep = any(piece.keep_sparse for piece in pieces)
    nonzeros = (
        0
        if keep
        else sum(
            np.count_nonzero(piece.matrix)
            if isinstance(piece.matrix, np.ndarray)
            else piece.matrix.nnz
            for piece in pieces
        )
    )
    return storage_for(len(pieces), pieces[0].n_vertices, int(nonzeros), keep, dtype)


def storage_for(
    n_graphs: int, n_vertices: int, nonzeros: int, keep_sparse: bool, dtype: np.dtype[Any]
) -> Literal["dense", "sparse"]:
    """Return how graphs with so many nonzero entries are kept."""
    if keep_sparse:
        return "sparse"
    entries = n_graphs * n_vertices * n_vertices
    if entries * dtype.itemsize <= _DENSE_IS_SMALL:
        return "dense"
    return "sparse" if nonzeros < _SPARSE_BELOW * entries else "dense"


def flatten(
    matrices: Sequence[NDArray[Any] | sparse.csr_array], dtype: np.dtype[Any]
) -> sparse.csr_array:
    """Return graphs (n, n) one below the other as one CSR matrix (m * n, n) in canonical form.

    Graph by graph into the final arrays: beside them, memory holds one graph at a time.
    """
    m, n = len(matrices), matrices[0].shape[0]
    room = sum(np.count_nonzero(A) if isinstance(A, np.ndarray) else int(A.nnz) for A in matrices)
    index = np.int32 if max(room, n) <= np.iinfo(np.int32).max else np.int64
    data, indices = np.empty(room, dtype), np.empty(room, index)
    indptr = np.zeros(m * n + 1, index)

    def put(i: int, A: sparse.csr_array, first: int) -> int:
        end = first + int(A.nnz)
        data[first:end], indices[first:end] = A.data, A.indices
        np.add(A.indptr[1:], first, out=indptr[i * n + 1 : (i + 1) * n + 1], casting="unsafe")
        return end

    ready = [A for A in matrices if isinstance(A, sparse.csr_array) and A.has_canonical_format]
    if len(ready) == m:
        starts = np.cumsum([0, *(int(A.nnz) for A in ready)]).tolist()
        filled = starts[-1]
        threads = None if room >= _THREADS_PAY_FROM else 1
        on_blocks(lambda i, _: put(i, ready[i], starts[i]), spans(m, 1), threads=threads)
    else:
        filled = 0
        for i, matrix in enumerate(matrices):
            A = sparse.csr_array(matrix)
            if not A.has_canonical_format:
                A = A.copy()  # sum_duplicates works in place, and the input is not ours
                A.sum_duplicates()
            filled = put(i, A, filled)
    flat = sparse.csr_array((data[:filled], indices[:filled], indptr), shape=(m * n, n))
    flat.has_canonical_format = True
    return flat


def flat_from_edges(
    table: Any,
    columns: Mapping[str, str | None],
    *,
    directed: bool,
    vertex_names: Sequence[str] | None,
) -> tuple[sparse.csr_array, tuple[str, ...] | None, tuple[str, ...]]:
    """Return graphs from one table of edges, and names; see ``GraphStack.from_edges``.

    ``columns`` has the names of the columns for source, target, graph and weight.
    """
    have = list(getattr(table, "columns", table))  # a frame of pandas or polars, or a dictionary
    columns = dict(columns)
    if columns["weight"] == "weight" and "weight" not in have:
        columns["weight"] = None
    for role, name in columns.items():
        if name is not None and name not in have:
            raise InputError(f"there is no column {name!r} for {role}=; columns are: {have}")
    found = {
        role: _column(table[name], f"{role} ({name!r})")
        for role, name in columns.items()
        if name is not None and role != "weight"
    }
    if columns["weight"] is not None:
        found["weight"] = plain_numbers(np.asarray(table[columns["weight"]]))
    lengths = {role: len(values) for role, values in found.items()}
    if len(set(lengths.values())) > 1 or lengths["source"] == 0:
        raise InputError(f"expected columns of one length, and an edge at least; got {lengths}")
    s = found["source"]
    vertex, ends = _codes([s, found["target"]], "source and target")
    names, graph = None, np.zeros(len(s), np.intp)
    if "graph" in found:
        texts, graph = _codes([found["graph"]], "graph")
        first = np.argsort(np.unique(graph, return_index=True)[1])  # in the order of the table
        names, graph = tuple(texts[k] for k in first), np.argsort(first)[graph]
    if vertex_names is not None:
        wanted = read_names(vertex_names, "vertex_names")
        at = {name: k for k, name in enumerate(wanted)}
        unknown = [name for name in vertex if name not in at]
        if unknown:
            raise InputError(f"vertex_names must name all ends of edges; not {some_of(unknown)}")
        ends, vertex = np.array([at[name] for name in vertex], np.intp)[ends], wanted
    n, m = len(vertex), 1 if names is None else len(names)
    weight = found.get("weight", np.ones(len(s)))
    if weight.dtype.kind not in "biuf":
        raise InputError(f"weight={columns['weight']!r} must be a column of numbers")
    parts = (weight.astype(np.float64), (graph * n + ends[: len(s)], ends[len(s) :]))
    flat = sparse.csr_array(sparse.coo_array(parts, shape=(m * n, n)))
    return flat if directed else _mirrored(flat, names, vertex), names, vertex


def _mirrored(
    flat: sparse.csr_array, names: tuple[str, ...] | None, vertex: tuple[str, ...]
) -> sparse.csr_array:
    """Return undirected graphs: an edge in one direction stands for both."""
    n, w = flat.shape[1], flat.data
    g, s = np.divmod(row_numbers(flat), n)
    low, high = np.minimum(s, flat.indices), np.maximum(s, flat.indices)
    key = (g * n + low) * n + high
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    one, other = order[twice], order[twice + 1]
    differ = one[(w[one] != w[other]) & ~(np.isnan(w[one]) & np.isnan(w[other]))]
    if differ.size:
        k = differ[0]
        where = "" if names is None else f" in graph {names[g[k]]!r}"
        raise InputError(
            f"the edge from {vertex[low[k]]!r} to {vertex[high[k]]!r}{where} has another weight "
            "than the one back; pass directed=True, and symmetrize() if graphs are undirected"
        )
    keep = np.ones(len(w), np.bool_)
    keep[other] = False
    g, low, high, w = g[keep], low[keep], high[keep], w[keep]
    off = low < high  # a loop is one entry, not two
    rows = np.r_[g * n + low, (g * n + high)[off]]
    parts = (np.r_[w, w[off]], (rows, np.r_[high, low[off]]))
    return sparse.csr_array(sparse.coo_array(parts, shape=flat.shape))


def _column(values: Any, what: str) -> NDArray[Any]:
    """Return names in a column of a table; numbers and texts in one list stay what they are."""
    if isinstance(values, list | tuple):
        values = np.array([*values, None], dtype=object)[:-1]
    array = np.asarray(values)
    gone: Any = array != array
    if array.dtype == object:
        gone = [x is None or (not isinstance(x, str) and str(x) in _ABSENT) for x in array]
    if np.any(gone):
        raise InputError(f"row {np.flatnonzero(gone)[0]} of the edges has no {what}")
    if array.dtype == object and any(isinstance(x, float) for x in array):
        array = plain_numbers(array)  # and not whole numbers alone, which may be of any length
    if array.dtype.kind == "f" and (np.abs(array) < 2**53).all() and not (array % 1).any():
        return array.astype(np.int64)  # names 1, 2, ... that came as 1.0, 2.0, ...
    return array


def _codes(columns: list[NDArray[Any]], what: str) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the different names in columns as texts, in order, and the place of each."""
    kinds = {column.dtype.kind in "UT" for column in columns if column.dtype != object}
    kinds |= {isinstance(x, str) for column in columns if column.dtype == object for x in column}
    if len(kinds) > 1:
        raise AlignmentError(f"{what} mix numbers and texts, such as 0 and '0'; use one kind")
    unique, codes = np.unique(np.concatenate(columns), return_inverse=True)
    return tuple(map(str, unique.tolist())), codes
