"""From a collection of graphs to the one array, dense or sparse, that a stack keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.common_vertices import (
    VertexRule,
    align_pieces,
    check_vertex_rule,
    refuse_nameless,
)
from eigengraphs.stack.flat_matrix import THREADS_PAY_FROM, flatten
from eigengraphs.stack.names import check_names, label, read_names
from eigengraphs.stack.one_graph import (
    Piece,
    as_piece,
    check_weight,
    is_one_graph,
    plain_numbers,
    unmasked,
)
from eigengraphs.system.parallel import on_blocks, spans

__all__ = ["Storage", "StorageRule", "build", "check_dtype", "check_storage", "storage_for"]

Storage: TypeAlias = "NDArray[Any] | sparse.csr_array"
StorageRule: TypeAlias = Literal["auto", "dense", "sparse"]

# Below this share of nonzeros one flat CSR matrix is smaller and faster to read than an array.
_SPARSE_BELOW = 0.1
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
    large = all(map(sparse.issparse, items)) and sum(A.nnz for A in items) >= THREADS_PAY_FROM
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
