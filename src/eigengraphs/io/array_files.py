"""Arrays of NumPy (.npy, .npz, sparse matrices of scipy), and which arrays of a file are graphs.

Nothing is unpickled. Large files are read one graph at a time.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import ReadError
from eigengraphs.io.file_graph import FileGraph, Notice, check_sparse, check_square
from eigengraphs.system.archives import check_members, npy_array, npy_header, open_zip, zip_member
from eigengraphs.system.limits import Cap

__all__ = ["FLAT", "graphs_by_key", "graphs_of_array", "labeled", "read_numpy", "texts"]

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
    if array.dtype.kind not in "biuf":
        raise ReadError(f"{what} holds {_kind(array)}, and weights are real numbers; save it as "
                        "numbers")  # fmt: skip
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
        return f"{lengths} {_kind(array)}".lstrip()
    return lengths or "one value"


def _kind(array: NDArray[Any]) -> str:
    return _KINDS.get(array.dtype.kind, str(array.dtype))


def labeled(
    graphs: Iterable[FileGraph], m: int, keys: Any, names: Any, directed: Any
) -> Iterator[FileGraph]:
    """Yield graphs with names of graphs and vertices, and the direction, that eigengraphs wrote.

    Parameters
    ----------
    m
        Number of graphs.
    keys, names
        Names of graphs, used where there are as many as graphs, and of vertices; or None.
    directed
        An array with one value; anything else tells nothing.
    """
    said = np.ravel(np.asarray(directed))
    sure = bool(said[0]) if said.size == 1 and said.dtype.kind in "biuf" else None
    vertices = None if names is None else tuple(map(str, names))
    known = [None] * m if keys is None or len(keys) != m else list(map(str, keys))
    for graph, key in zip(graphs, known, strict=True):
        yield replace(graph, key=key, names=vertices, directed=sure)


# ---------------------------------------------------------------------- files of NumPy


def read_numpy(
    path: Path, file: IO[bytes], key: str | None, cap: Cap, whole: bool
) -> Iterator[FileGraph]:
    """Yield the graphs of an array, or of a bundle of arrays, whatever the file's ending says.

    Where the file need not be read ``whole``, one graph at a time is in memory of what eigengraphs
    writes, and of an array (m, n, n) as ``np.save`` writes it.
    """
    held = file.seek(0, os.SEEK_END)
    file.seek(0)
    magic = file.read(2)
    file.seek(0)
    if magic == b"PK":
        with open_zip(path, file.read(), cap) if whole else zipfile.ZipFile(file) as bundle:
            check_members(path, bundle)
            yield from _of_bundle(path, bundle, key, cap, held)
        return
    m, n, graphs = _cube(path, file, held)
    if m == n:  # graphs may be along any axis, or it is no cube
        file.seek(0)
        array = _array(path, file.read(), cap, held)
        graphs = graphs_of_array(path, array, "NumPy", cap, held)
    yield from graphs


def _of_bundle(
    path: Path, bundle: zipfile.ZipFile, key: str | None, cap: Cap, held: int
) -> Iterator[FileGraph]:
    """Yield graphs with their names as eigengraphs writes them, or those of one array."""
    sizes = {member.filename.removesuffix(".npy"): member.file_size
             for member in bundle.infolist() if member.filename.endswith(".npy")}  # fmt: skip

    def array(name: str) -> Any:
        what = f"{path}, array {name!r},"
        cap.check(what, sizes[name], held)
        return _array(what, zip_member(bundle, f"{name}.npy"), cap, held)

    flat = {*FLAT, "n_graphs"} <= set(sizes)
    if key is not None or not (flat or {"graphs", "graph_names"} <= set(sizes)):
        cap.check(path, sum(sizes.values()), held)
        arrays = {name: array(name) for name in sizes}
        if {"format", "shape", "data"} <= set(arrays):  # a sparse matrix of scipy
            checked = io.BytesIO()
            np.savez(checked, allow_pickle=False, **arrays)
            checked.seek(0)
            yield from graphs_of_array(path, sparse.load_npz(checked), "NumPy", cap, held)
        else:
            yield from graphs_by_key(path, arrays, key, "NumPy", cap, held)
        return
    beside = ("graph_names", "vertex_names", "directed")
    known = [array(name) if name in sizes else None for name in beside]
    if flat:
        indptr = array(FLAT[2])
        m, n = _flat_shape(path, array("n_graphs"), indptr)
        with bundle.open(f"{FLAT[0]}.npy") as data, bundle.open(f"{FLAT[1]}.npy") as indices:
            parts = ((data, sizes[FLAT[0]]), (indices, sizes[FLAT[1]]))
            yield from labeled(_of_flat(path, parts, indptr.astype(np.int64), n), m, *known)
        return
    with bundle.open("graphs.npy") as file:
        m, _, cube = _cube(path, file, sizes["graphs"])
        if not m:
            cube = graphs_of_array(path, array("graphs"), "NumPy", cap, held, sure=True)
            m = len(cube)
        yield from labeled(cube, m, *known)


def _array(what: object, content: bytes, cap: Cap, held: int) -> NDArray[Any]:
    try:
        return npy_array(what, content, cap, held)
    except ReadError:
        raise
    except ValueError as error:
        if "pickle" in str(error):
            raise ReadError(
                f"{what} holds Python objects, which are never read because they can run code; "
                "save plain numbers: np.save(path, np.asarray(graphs, dtype=float))"
            ) from None
        raise ReadError(f"{what} cannot be read: {error}; the file may be cut off") from None


# What comes graph by graph.


def _cube(path: Path, file: IO[bytes], size: int) -> tuple[int, int, Iterable[FileGraph]]:
    """Return m, n and the graphs of an array (m, n, n) in ``size`` bytes; 0, 0 if it is another."""
    shape, fortran, dtype = npy_header(file)
    plain = len(shape) == 3 and shape[1] == shape[2] and min(shape) > 0 and not fortran
    whole = file.tell() + math.prod(shape) * dtype.itemsize == size
    if not (plain and whole and dtype.kind in "biuf"):
        return 0, 0, ()
    m, n, _ = shape
    matrices = (_numbers(path, file, n * n, dtype).reshape(n, n) for _ in range(m))
    return m, n, (FileGraph(A, format="NumPy") for A in matrices)


def _flat_shape(path: Path, n_graphs: Any, indptr: Any) -> tuple[int, int]:
    """Return how many graphs, and on how many vertices, a flat matrix holds."""
    if np.size(n_graphs) != 1 or np.asarray(n_graphs).dtype.kind not in "iu" or indptr.ndim != 1:
        raise ReadError(f"{path}: 'n_graphs' must be a whole number and {FLAT[2]!r} a list of them")
    m, rows = int(np.ravel(n_graphs)[0]), len(indptr) - 1
    if m < 1 or rows < m or rows % m:
        raise ReadError(f"{path} says that it holds {m} graphs, in {rows} rows: write it again")
    return m, rows // m


def _of_flat(
    path: Path, parts: Sequence[tuple[IO[bytes], int]], indptr: NDArray[np.int64], n: int
) -> Iterator[FileGraph]:
    """Yield the graphs of a flat matrix; ``parts`` are its values and places, with their sizes."""
    types = list[np.dtype[Any]]()
    for file, size in parts:
        shape, _, dtype = npy_header(file)
        types.append(dtype)
        if shape != (indptr[-1],) or file.tell() + shape[0] * dtype.itemsize != size:
            raise ReadError(f"{path} does not hold the graphs that it declares; write it again")
    for at in range(0, len(indptr) - 1, n):
        rows = indptr[at : at + n + 1] - indptr[at]
        count = min(max(int(rows[-1]), 0), int(indptr[-1]))
        values, places = (
            _numbers(path, file, count, dtype)
            for (file, _), dtype in zip(parts, types, strict=True)
        )
        yield FileGraph(sparse.csr_array((values, places, rows), shape=(n, n)), format="NumPy")


def _numbers(path: Path, file: IO[bytes], count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    data = file.read(count * dtype.itemsize)
    if len(data) < count * dtype.itemsize:
        raise ReadError(f"{path} is cut off: it ends within an array; write it again")
    return np.frombuffer(bytearray(data), dtype)
