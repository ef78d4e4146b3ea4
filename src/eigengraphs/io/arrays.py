"""Arrays with keys, as NumPy and MATLAB keep them: which are graphs, and how many each holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import ReadError
from eigengraphs.io.notices import Notice
from eigengraphs.io.raw import MatrixGraph
from eigengraphs.io.soundness import check_sparse
from eigengraphs.system.archives import check_compressed
from eigengraphs.system.limits import DEFAULT, Cap

__all__ = ["chosen", "graphs_of_array", "is_graph_array", "with_names_beside"]

# Variables that hold names of vertices: CONN has names, nilearn's users save labels.
_NAMES = ("vertex_names", "names", "labels", "region_names", "roi_names", "node_names",
          "region_labels", "roi_labels", "node_labels", "regions", "rois")  # fmt: skip


def is_graph_array(array: Any) -> bool:
    """Tell whether an array may hold graphs: numbers, square in two of its two or three axes."""
    given: Any = array
    if sparse.issparse(array):
        return bool(given.ndim == 2 and given.shape[0] == given.shape[1] > 1)
    if not isinstance(array, np.ndarray):
        return False
    if array.dtype == object:  # cells of MATLAB
        items = array.ravel()
        return items.size > 0 and all(is_graph_array(item) for item in items)
    if array.dtype.kind not in "biuf" or array.ndim not in (2, 3):
        return False
    shape: tuple[int, ...] = array.shape
    if array.ndim == 2:
        return shape[0] == shape[1] > 1
    return (shape[1] == shape[2] > 1) or (shape[0] == shape[1] > 1)


def chosen(path: Path, arrays: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """Return the array that holds the graphs, by its key or because there is no other.

    ``key="all"`` takes every array that may be a graph.
    """
    candidates = {name: array for name, array in arrays.items() if is_graph_array(array)}
    listed = ", ".join(f"{name!r} ({_shape(array)})" for name, array in arrays.items())
    if key == "all" and candidates:
        return candidates
    if key is not None:
        if key not in arrays:
            raise ReadError(f"{path} has no array {key!r}; it has: {listed or 'nothing'}")
        if not is_graph_array(arrays[key]) and np.ndim(arrays[key]) not in (2, 3):
            raise ReadError(
                f"{path}: {key!r} is {_shape(arrays[key])}, and a graph is a square matrix; the "
                f"file has: {listed}"
            )
        return {key: arrays[key]}
    if len(candidates) == 1:
        return candidates
    if not candidates:
        raise ReadError(
            f"{path} holds no square matrix; it has: {listed or 'nothing'}. A graph is a matrix "
            "n x n, and several are an array m x n x n or n x n x m"
        )
    names = ", ".join(f"{name!r} ({_shape(array)})" for name, array in candidates.items())
    raise ReadError(
        f"{path} holds {len(candidates)} matrices that could be the graph: {names}; choose one "
        f"with key={next(iter(candidates))!r}, or take each as a graph with key='all'"
    )


def with_names_beside(graphs: list[MatrixGraph], arrays: Mapping[str, Any]) -> list[MatrixGraph]:
    """Return graphs with the names that lie beside them: as many different texts as vertices.

    A text for the background, as atlases of nilearn begin, is none. With as many graphs as
    vertices, the names could be of the graphs.
    """
    sizes = {int(graph.matrix.shape[0]) for graph in graphs}
    n = max(sizes, default=0)
    if len(sizes) != 1 or len(graphs) == n:
        return graphs
    for key in _NAMES:
        names = texts(arrays.get(key))
        if len(names) == n + 1 and names[0].lower() == "background":
            names = names[1:]
        if len(names) == len(set(names)) == n and all(names):
            return [replace(graph, names=names) for graph in graphs]
    return graphs


def texts(cells: Any) -> tuple[str, ...]:
    """Return texts of an array or of MATLAB's cells; none if there is anything else."""
    found = list[str]()
    for cell in np.ravel(np.asarray(cells)):
        one: Any = cell
        if isinstance(cell, np.ndarray):  # a cell of MATLAB, which holds an array with one text
            one = cell.item() if cell.size == 1 else None
        if isinstance(one, bytes):
            one = one.decode("utf-8", "replace")
        if not isinstance(one, str):
            return ()
        found.append(str(one).rstrip(" "))  # as rows of a matrix of letters are filled
    return tuple(found)


def graphs_of_array(
    path: Path,
    array: Any,
    format: str,
    *,
    graphs_first: bool,
    where: str = "",
    sure: bool = False,
    cap: Cap = DEFAULT,
    held: int = 0,
) -> list[MatrixGraph]:
    """Return the graphs of a matrix, of an array of three axes, or of cells.

    Parameters
    ----------
    graphs_first
        Whether graphs are along the first axis where all axes are equally long and the graphs'
        symmetry does not tell: so it is in NumPy, and not in MATLAB.
    sure
        Whether graphs are known to be along the first axis.
    cap, held
        What the file may declare, and the bytes that it holds: a sparse matrix may have far more
        rows than entries.
    """
    given: Any = array
    if sparse.issparse(array):
        check_sparse(f"{path}{where}", given)
        return [MatrixGraph(_checked(path, given, where, cap, held), format=format)]
    array = np.asarray(array)
    if array.dtype == object:
        graphs = list[MatrixGraph]()
        for item in array.ravel():
            graphs += graphs_of_array(
                path, item, format, graphs_first=graphs_first, where=where, cap=cap, held=held
            )
        return graphs
    if array.dtype.kind not in "biuf":
        raise ReadError(
            f"{path}{where} holds {_what(array)}, and weights are real numbers; save it as numbers"
        )
    if array.ndim == 2:
        _check_square(path, array.shape, where)
        return [MatrixGraph(array, format=format)]
    if array.ndim != 3:
        raise ReadError(
            f"{path}{where} has {array.ndim} axes ({_shape(array)}); a graph is a matrix n x n, "
            "and several are an array m x n x n or n x n x m"
        )
    axis, notices = ("first", ()) if sure else _graph_axis(path, array, graphs_first)
    cube = np.moveaxis(array, -1, 0) if axis == "last" else array
    if cube.shape[0] == 0:
        raise ReadError(f"{path}{where} holds no graphs: its shape is {_shape(array)}")
    _check_square(path, cube.shape[1:], where)
    return [MatrixGraph(A, format=format, notices=notices) for A in cube]


def _checked(path: Path, matrix: Any, where: str, cap: Cap, held: int) -> sparse.csr_array:
    """Return a sparse matrix whose entries are all within it: products do not look."""
    if matrix.dtype.kind not in "biuf":
        raise ReadError(f"{path}{where} must hold real numbers, got {matrix.dtype}")
    _check_square(path, matrix.shape, where)
    cap.check(f"{path}{where}", 8 * (matrix.shape[0] + 1), held)
    try:
        if hasattr(matrix, "indptr"):
            check_compressed(matrix)
        flat = sparse.csr_array(matrix)
        check_compressed(flat)
    except (ValueError, IndexError, TypeError) as error:
        raise ReadError(f"{path}{where} is no sparse matrix: {error}; write it again") from None
    return flat


def _graph_axis(
    path: Path, array: NDArray[Any], graphs_first: bool
) -> tuple[Literal["first", "last"], tuple[Notice, ...]]:
    a, b, c = array.shape
    if b == c and a != b:
        return "first", ()
    if a == b and b != c:
        return "last", ()
    first = bool(np.array_equal(array, array.transpose(0, 2, 1), equal_nan=array.dtype.kind == "f"))
    last = bool(np.array_equal(array, array.transpose(1, 0, 2), equal_nan=array.dtype.kind == "f"))
    axis: Literal["first", "last"] = "first" if graphs_first else "last"
    if first != last:
        axis = "first" if first else "last"
    if a == 1:
        return axis, ()
    text = f"is {_shape(array)}: graphs were taken along the {axis} axis"
    return axis, (Notice("axis", text, path, loud=first == last),)


def _check_square(path: Path, shape: tuple[int, ...], where: str) -> None:
    if shape[0] != shape[1] or shape[0] == 0:
        raise ReadError(
            f"{path}{where} is {' x '.join(map(str, shape))}; a graph is a square matrix with a "
            "row and a column for each vertex: see whether it is whole, or leave it out"
        )


def _shape(array: Any) -> str:
    given: Any = array
    if sparse.issparse(array):
        return " x ".join(map(str, given.shape)) + " sparse"
    if isinstance(array, np.ndarray) and array.dtype.kind not in "biuf":
        return f"{' x '.join(map(str, array.shape))} {_what(array)}".lstrip()
    return " x ".join(map(str, np.shape(array))) or "one value"


def _what(array: NDArray[Any]) -> str:
    kinds = {"U": "text", "S": "text", "O": "cells", "c": "complex numbers", "V": "structs"}
    return kinds.get(array.dtype.kind, str(array.dtype))
