"""Arrays of NumPy (.npy, .npz, sparse matrices of scipy), and which arrays of a file are graphs.

Nothing is unpickled.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import ReadError
from eigengraphs.io.file_graph import FileGraph, Notice, check_sparse, check_square
from eigengraphs.system.archives import npy_array, npy_header, open_zip, zip_member
from eigengraphs.system.limits import Cap, open_regular

# Keys of a sparse stack as eigengraphs writes it: one matrix (m * n, n) for all graphs.
FLAT = ("flat_data", "flat_indices", "flat_indptr")
# Variables that hold names of vertices: CONN has names, nilearn's users save labels.
_NAMES = ("vertex_names", "names", "labels", "region_names", "roi_names", "node_names",
          "region_labels", "roi_labels", "node_labels", "regions", "rois")  # fmt: skip
_KINDS = {"U": "text", "S": "text", "O": "cells", "c": "complex numbers", "V": "structs"}


# ---------------------------------------------------------------------- which arrays are graphs


def graphs_by_key(
    path: Path, arrays: Mapping[str, Any], key: str | None, format: str, cap: Cap, held: int
) -> list[FileGraph]:
    """Return the graphs of the array called ``key``, or of the only one that may hold graphs.

    ``key="all"`` takes every array that may. Graphs of several arrays are named by key and place,
    counted from 0, or from 1 in MATLAB.
    """
    if key is None and {"graphs", "graph_names"} <= set(arrays):
        cube = arrays["graphs"]
        dense = isinstance(cube, np.ndarray) and cube.dtype != object
        if dense and cube.ndim == 3 and format == "MATLAB":
            cube = np.moveaxis(cube, -1, 0)
        where = " ('graphs')"
        found = graphs_of_array(path, cube, format, cap, held, where=where, sure=dense)
        return _as_written(found, arrays)
    picked = _chosen(path, arrays, key)
    graphs = list[FileGraph]()
    for name, array in picked.items():
        found = graphs_of_array(path, array, format, cap, held, where=f" ({name!r})")
        for i, graph in enumerate(found, int(format == "MATLAB")):
            own = f"{name}_{i}" if len(found) > 1 else name
            graphs.append(replace(graph, key=own if len(picked) > 1 else None))
    return _with_names_beside(graphs, arrays)


def _is_graph_array(array: Any) -> bool:
    """Tell whether an array may hold graphs: numbers, square in two of its two or three axes."""
    if not sparse.issparse(array):
        if not isinstance(array, np.ndarray):
            return False
        if array.dtype == object:  # cells of MATLAB
            return array.size > 0 and all(_is_graph_array(item) for item in array.flat)
        if array.dtype.kind not in "biuf":
            return False
    shape: tuple[int, ...] = array.shape
    if len(shape) == 3 and shape[1] == shape[2] > 1:
        return True
    return len(shape) in (2, 3) and shape[0] == shape[1] > 1


def _chosen(path: Path, arrays: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    candidates = {name: array for name, array in arrays.items() if _is_graph_array(array)}
    listed = _listed(arrays) or "nothing"
    if key == "all" and candidates:
        return candidates
    if key is not None:
        if key not in arrays:
            raise ReadError(f"{path} has no array {key!r}; it has: {listed}")
        if key not in candidates and np.ndim(arrays[key]) not in (2, 3):
            raise ReadError(
                f"{path}: {key!r} is {_shape(arrays[key])}, and a graph is a square matrix; the "
                f"file has: {listed}"
            )
        return {key: arrays[key]}
    if len(candidates) == 1:
        return candidates
    if not candidates:
        raise ReadError(
            f"{path} holds no square matrix; it has: {listed}. A graph is a matrix n x n, and "
            "several are an array m x n x n or n x n x m"
        )
    raise ReadError(
        f"{path} holds {len(candidates)} matrices that could be the graph: {_listed(candidates)}; "
        f"choose one with key={next(iter(candidates))!r}, or take each as a graph with key='all'"
    )


def _with_names_beside(graphs: list[FileGraph], arrays: Mapping[str, Any]) -> list[FileGraph]:
    """Return graphs with the names that lie beside them: as many different texts as vertices.

    A text for the background, as atlases of nilearn begin, is not one. With as many graphs as
    vertices, the names could be those of the graphs.
    """
    sizes = {graph.n_vertices for graph in graphs}
    n = max(sizes, default=0)
    if len(sizes) != 1 or len(graphs) == n:
        return graphs
    for key in _NAMES:
        # Rows of a matrix of letters are filled with blanks.
        names = tuple(name.rstrip(" ") for name in texts(arrays.get(key)))
        if len(names) == n + 1 and names[0].lower() == "background":
            names = names[1:]
        if len(names) == len(set(names)) == n and all(names):
            return [replace(graph, names=names) for graph in graphs]
    return graphs


def texts(cells: Any) -> tuple[str, ...]:
    """Return the texts of an array or of MATLAB's cells; none if there is anything else."""
    found = list[str]()
    for cell in np.ravel(np.asarray(cells)):
        one: Any = cell
        if isinstance(cell, np.ndarray):  # a cell of MATLAB, which holds an array with one text
            one = cell.item() if cell.size == 1 else None
        if isinstance(one, bytes):
            one = one.decode("utf-8", "replace")
        if not isinstance(one, str):
            return ()
        found.append(str(one))
    return tuple(found)


def graphs_of_array(
    path: Path, array: Any, format: str, cap: Cap, held: int, *, where: str = "", sure: bool = False
) -> list[FileGraph]:
    """Return the graphs of a matrix, of an array of three axes, or of cells.

    Parameters
    ----------
    sure
        Whether graphs are known to be along the first axis. Else, where all axes are equally long
        and the graphs' symmetry does not tell, they are along the last one in MATLAB.
    cap, held
        What the file may declare, and the bytes that it holds: a sparse matrix may have far more
        rows than entries.
    """
    what = f"{path}{where}"
    if sparse.issparse(array):
        flat: Any = array  # whose kind the stubs want to know
        check_sparse(what, flat)
        check_square(what, flat.shape)
        cap.check(what, 8 * (flat.shape[0] + 1), held)
        return [FileGraph(sparse.csr_array(flat), format=format)]
    array = np.asarray(array)
    if array.dtype == object:
        cells = (graphs_of_array(path, x, format, cap, held, where=where) for x in array.flat)
        return [graph for found in cells for graph in found]
    if array.ndim == 2:
        check_square(what, array.shape)
        return [FileGraph(array, format=format)]
    if array.ndim != 3:
        raise ReadError(
            f"{what} has {array.ndim} axes ({_shape(array)}); a graph is a matrix n x n, and "
            "several are an array m x n x n or n x n x m"
        )
    along, notices = True, tuple[Notice, ...]()
    if not sure:
        along, notices = _graphs_are_first(path, array, format != "MATLAB")
    cube = array if along else np.moveaxis(array, -1, 0)
    if cube.shape[0] == 0:
        raise ReadError(f"{what} holds no graphs: its shape is {_shape(array)}")
    check_square(what, cube.shape[1:])
    return [FileGraph(A, format=format, notices=notices) for A in cube]


def _graphs_are_first(
    path: Path, array: NDArray[Any], graphs_first: bool
) -> tuple[bool, tuple[Notice, ...]]:
    a, b, c = array.shape
    if (a == b) != (b == c):
        return b == c, ()
    real = array.dtype.kind == "f"
    first = bool(np.array_equal(array, array.transpose(0, 2, 1), equal_nan=real))
    last = bool(np.array_equal(array, array.transpose(1, 0, 2), equal_nan=real))
    taken = graphs_first if first == last else first
    if a == 1:
        return taken, ()
    axis = "first" if taken else "last"
    text = f"is {_shape(array)}: graphs were taken along the {axis} axis"
    return taken, (Notice("axis", text, path, loud=first == last),)


def _listed(arrays: Mapping[str, Any]) -> str:
    return ", ".join(f"{name!r} ({_shape(array)})" for name, array in arrays.items())


def _shape(array: Any) -> str:
    lengths = " x ".join(map(str, np.shape(array)))
    if sparse.issparse(array):
        return f"{lengths} sparse"
    if isinstance(array, np.ndarray) and array.dtype.kind not in "biuf":
        return f"{lengths} {_KINDS.get(array.dtype.kind, array.dtype)}".lstrip()
    return lengths or "one value"


def _as_written(graphs: Iterable[FileGraph], arrays: Mapping[str, Any]) -> list[FileGraph]:
    """Return graphs with the names and the direction that eigengraphs wrote beside them."""
    said = np.ravel(np.asarray(arrays.get("directed")))
    directed = bool(said[0]) if said.size == 1 and said.dtype.kind in "biuf" else None
    names = texts(arrays["vertex_names"]) if "vertex_names" in arrays else None
    found, keys = list(graphs), texts(arrays["graph_names"])
    known = keys if len(keys) == len(found) else [None] * len(found)
    return [
        replace(graph, key=key, names=names, directed=directed)
        for graph, key in zip(found, known, strict=True)
    ]


# ---------------------------------------------------------------------- files of NumPy


def read_numpy(path: Path, data: bytes, key: str | None, cap: Cap) -> Iterator[FileGraph]:
    """Yield the graphs of an array, or of a bundle of arrays, whatever the file's ending says."""
    held = len(data)
    if data[:2] != b"PK":
        yield from graphs_of_array(path, npy_array(path, data, cap), "NumPy", cap, held)
        return
    with open_zip(path, data, cap) as bundle:
        names = [x.removesuffix(".npy") for x in bundle.namelist() if x.endswith(".npy")]
        arrays = {
            name: npy_array(path, zip_member(bundle, f"{name}.npy"), cap, held) for name in names
        }
    if key is None and {*FLAT, "n_graphs", "graph_names"} <= set(arrays):
        yield from _as_written(_of_flat(path, arrays), arrays)
    elif {"format", "shape", "data"} <= set(arrays):  # a sparse matrix of scipy
        checked = io.BytesIO()
        np.savez(checked, allow_pickle=False, **arrays)
        checked.seek(0)
        yield from graphs_of_array(path, sparse.load_npz(checked), "NumPy", cap, held)
    else:
        yield from graphs_by_key(path, arrays, key, "NumPy", cap, held)


def mapped(path: Path) -> NDArray[Any] | None:
    """Return an array (m, n, n) of numbers that stays on the disk; None if a file holds another."""
    with open_regular(path) as file:
        try:
            shape, fortran, dtype = npy_header(file)
        except ValueError:
            return None
        if len(shape) != 3 or fortran or dtype.kind not in "biuf" or 0 in shape:
            return None
        if shape[1] != shape[2] or shape[0] == shape[1]:
            return None  # graphs may be along any axis
        return np.memmap(file, dtype, "r", file.tell(), shape)


def _of_flat(path: Path, arrays: Mapping[str, Any]) -> list[FileGraph]:
    """Return the graphs of a flat matrix (m * n, n)."""
    data, indices, indptr = (arrays[name] for name in FLAT)
    m, rows = arrays["n_graphs"], len(indptr) - 1
    if m.size != 1 or m.dtype.kind not in "iu" or int(m) < 1 or rows < m or rows % int(m):
        raise ReadError(f"{path} says that it holds {m} graphs, in {rows} rows: write it again")
    n = rows // int(m)
    flat = sparse.csr_array((data, indices, indptr), shape=(rows, n))
    check_sparse(str(path), flat)
    return [FileGraph(flat[lo : lo + n], format="NumPy") for lo in range(0, rows, n)]
