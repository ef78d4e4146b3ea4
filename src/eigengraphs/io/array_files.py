"""Arrays of NumPy (.npy, .npz, sparse matrices of scipy), and which arrays of a file are graphs.

Nothing is unpickled. Large files give one graph at a time.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import ReadError
from eigengraphs.io.file_graph import MatrixGraph, Notice, check_sparse, check_square
from eigengraphs.system.archives import (
    BROKEN,
    check_compressed,
    check_members,
    npy_array,
    npy_header,
    open_zip,
    zip_member,
)
from eigengraphs.system.limits import DEFAULT, Cap, open_regular

__all__ = [
    "FLAT", "graphs_by_key", "graphs_of_array", "labeled", "read_npy", "read_npz", "stream_numpy",
]  # fmt: skip

# Keys of a sparse stack as eigengraphs writes it: one matrix (m * n, n) for all graphs.
FLAT = ("flat_data", "flat_indices", "flat_indptr")
# Variables that hold names of vertices: CONN has names, nilearn's users save labels.
_NAMES = ("vertex_names", "names", "labels", "region_names", "roi_names", "node_names",
          "region_labels", "roi_labels", "node_labels", "regions", "rois")  # fmt: skip
_KINDS = {"U": "text", "S": "text", "O": "cells", "c": "complex numbers", "V": "structs"}


# ---------------------------------------------------------------------- which arrays are graphs


def graphs_by_key(
    path: Path, arrays: Mapping[str, Any], key: str | None, *, count_from: int, **options: Any
) -> list[MatrixGraph]:
    """Return the graphs of the array called ``key``, or of the only one that may hold graphs.

    ``key="all"`` takes every array that may. Graphs of several arrays are named by key and place,
    which is counted from ``count_from``. ``options`` are those of `graphs_of_array`.
    """
    picked = _chosen(path, arrays, key)
    graphs = list[MatrixGraph]()
    for name, array in picked.items():
        found = graphs_of_array(path, array, where=f" ({name!r})", **options)
        if len(picked) > 1:
            many = len(found) > 1
            found = [
                replace(graph, key=f"{name}_{i}" if many else name)
                for i, graph in enumerate(found, count_from)
            ]
        graphs += found
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


def _with_names_beside(graphs: list[MatrixGraph], arrays: Mapping[str, Any]) -> list[MatrixGraph]:
    """Return graphs with the names that lie beside them: as many different texts as vertices.

    A text for the background, as atlases of nilearn begin, is not one. With as many graphs as
    vertices, the names could be those of the graphs.
    """
    sizes = {graph.n_vertices for graph in graphs}
    n = max(sizes, default=0)
    if len(sizes) != 1 or len(graphs) == n:
        return graphs
    for key in _NAMES:
        names = _texts(arrays.get(key))
        if len(names) == n + 1 and names[0].lower() == "background":
            names = names[1:]
        if len(names) == len(set(names)) == n and all(names):
            return [replace(graph, names=names) for graph in graphs]
    return graphs


def _texts(cells: Any) -> tuple[str, ...]:
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
        found.append(str(one).rstrip(" "))  # as rows of a matrix of letters are filled
    return tuple(found)


def graphs_of_array(
    path: Path,
    array: Any,
    *,
    format: str = "NumPy",
    graphs_first: bool = True,
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
    what = f"{path}{where}"
    if sparse.issparse(array):
        return [MatrixGraph(_checked_sparse(what, array, cap, held), format=format)]
    array = np.asarray(array)
    if array.dtype == object:
        options: Any = {"format": format, "graphs_first": graphs_first, "where": where}
        cells = (graphs_of_array(path, x, cap=cap, held=held, **options) for x in array.flat)
        return [graph for found in cells for graph in found]
    if array.dtype.kind not in "biuf":
        raise ReadError(f"{what} holds {_kind(array)}, and weights are real numbers; save it as "
                        "numbers")  # fmt: skip
    if array.ndim == 2:
        check_square(what, array.shape)
        return [MatrixGraph(array, format=format)]
    if array.ndim != 3:
        raise ReadError(
            f"{what} has {array.ndim} axes ({_shape(array)}); a graph is a matrix n x n, and "
            "several are an array m x n x n or n x n x m"
        )
    first, notices = (True, ()) if sure else _graphs_are_first(path, array, graphs_first)
    cube = array if first else np.moveaxis(array, -1, 0)
    if cube.shape[0] == 0:
        raise ReadError(f"{what} holds no graphs: its shape is {_shape(array)}")
    check_square(what, cube.shape[1:])
    return [MatrixGraph(A, format=format, notices=notices) for A in cube]


def _checked_sparse(what: str, matrix: Any, cap: Cap, held: int) -> sparse.csr_array:
    """Return a sparse matrix whose entries are all within it: products do not look."""
    check_sparse(what, matrix)
    if matrix.dtype.kind not in "biuf":
        raise ReadError(f"{what} must hold real numbers, got {matrix.dtype}")
    check_square(what, matrix.shape)
    cap.check(what, 8 * (matrix.shape[0] + 1), held)
    try:
        flat = sparse.csr_array(matrix)
        check_compressed(flat)
    except (ValueError, IndexError, TypeError) as error:
        raise ReadError(f"{what} is not a sparse matrix: {error}; write it again") from None
    return flat


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
    graphs: Sequence[MatrixGraph], keys: Any, names: tuple[str, ...] | None, directed: Any
) -> list[MatrixGraph]:
    """Return graphs with names of graphs and vertices, and the direction, that eigengraphs wrote.

    Parameters
    ----------
    keys
        Names of graphs, used where there are as many as graphs; or None.
    directed
        An array with one value; anything else tells nothing.
    """
    said = np.ravel(np.asarray(directed))
    sure = bool(said[0]) if said.size == 1 and said.dtype.kind in "biuf" else None
    known = keys is not None and len(keys) == len(graphs)
    return [
        replace(
            graph,
            key=str(keys[i]) if known else graph.key,
            names=graph.names if names is None else names,
            directed=sure,
        )
        for i, graph in enumerate(graphs)
    ]


# ---------------------------------------------------------------------- files of NumPy


def read_npy(path: Path, data: bytes, cap: Cap = DEFAULT) -> list[MatrixGraph]:
    """Read one graph (n, n), or several (m, n, n) or (n, n, m)."""
    if data[:2] == b"PK":
        return read_npz(path, data, None, cap)
    try:
        array = npy_array(path, data, cap)
    except ReadError:
        raise
    except BROKEN as error:
        _refuse_pickle(path, error)
        _refuse_damaged(path, error)
    return graphs_of_array(path, array)


def read_npz(path: Path, data: bytes, key: str | None, cap: Cap = DEFAULT) -> list[MatrixGraph]:
    """Read graphs with their names as eigengraphs writes them, or one array of the file."""
    if data[:6] == b"\x93NUMPY":
        return read_npy(path, data, cap)
    arrays = _arrays(path, data, cap)
    if {"format", "shape", "data"} <= set(arrays):
        bundle = io.BytesIO()  # of arrays that were checked
        np.savez(bundle, allow_pickle=False, **arrays)
        bundle.seek(0)
        try:
            matrix = sparse.load_npz(bundle)
        except BROKEN as error:
            raise ReadError(f"{path} is not a sparse matrix of scipy: {error}") from None
        return graphs_of_array(path, matrix, cap=cap, held=len(data))
    graphs: list[MatrixGraph]
    if key is None and set(FLAT) <= set(arrays) and "n_graphs" in arrays:
        graphs = _graphs_of_flat(path, arrays)
    elif key is None and "graphs" in arrays and "graph_names" in arrays:
        graphs = graphs_of_array(path, arrays["graphs"], sure=True)
    else:
        return graphs_by_key(path, arrays, key, count_from=0)
    return labeled(graphs, arrays.get("graph_names"), _vertices(arrays), arrays.get("directed"))


def _vertices(arrays: Mapping[str, Any]) -> tuple[str, ...] | None:
    names = arrays.get("vertex_names")
    return None if names is None else tuple(map(str, names.tolist()))


def _arrays(path: Path, data: bytes, cap: Cap) -> dict[str, Any]:
    """Return the arrays of a bundle by name."""
    arrays: dict[str, Any] = {}
    try:
        with open_zip(path, data, cap) as bundle:
            for member in bundle.namelist():
                if member.endswith(".npy"):
                    name = member.removesuffix(".npy")
                    content = zip_member(bundle, member)
                    arrays[name] = _entry(f"{path}, array {name!r},", content, cap, len(data))
    except ReadError:
        raise
    except BROKEN as error:
        _refuse_damaged(path, error)
    return arrays


def _entry(what: str, content: bytes, cap: Cap, held: int) -> NDArray[Any]:
    try:
        return npy_array(what, content, cap, held)
    except ReadError:
        raise
    except BROKEN as error:
        _refuse_pickle(what, error)
        raise ReadError(f"{what} cannot be read: {error}; the file may be cut off") from None


def _refuse_damaged(path: Path, error: BaseException) -> NoReturn:
    raise ReadError(
        f"{path} is not a file of NumPy, or not whole: {error}; write it again with np.save or "
        "np.savez"
    ) from None


def _refuse_pickle(what: object, error: BaseException) -> None:
    if "pickle" in str(error):
        raise ReadError(
            f"{what} holds Python objects, which are never read because they can run code; save "
            "plain numbers: np.save(path, np.asarray(graphs, dtype=float))"
        )


def _graphs_of_flat(path: Path, arrays: Mapping[str, Any]) -> list[MatrixGraph]:
    data, indices, indptr = (arrays[name] for name in FLAT)
    m, n = _flat_shape(path, arrays["n_graphs"], indptr)
    try:
        flat = sparse.csr_array((data, indices, indptr), shape=(m * n, n))
    except BROKEN as error:
        raise ReadError(
            f"{path} does not hold the graphs that it says ({error}); write it again"
        ) from None
    check_sparse(str(path), flat)
    rows = (flat[i * n : (i + 1) * n] for i in range(m))
    return [MatrixGraph(sparse.csr_array(part), format="NumPy") for part in rows]


def _flat_shape(path: Path, n_graphs: Any, indptr: Any) -> tuple[int, int]:
    """Return how many graphs, and on how many vertices, a flat matrix holds."""
    if np.size(n_graphs) != 1 or np.asarray(n_graphs).dtype.kind not in "iu" or indptr.ndim != 1:
        raise ReadError(f"{path}: 'n_graphs' must be a whole number and {FLAT[2]!r} a list of them")
    m, rows = int(np.ravel(n_graphs)[0]), len(indptr) - 1
    if m < 1 or rows < m or rows % m:
        raise ReadError(f"{path} says that it holds {m} graphs, in {rows} rows: write it again")
    return m, rows // m


# ---------------------------------------------------------------------- large files


def stream_numpy(path: Path, ending: str, cap: Cap) -> Iterator[MatrixGraph] | None:
    """Return the graphs of a file one after the other; None if it must be read whole.

    So can be read what ``np.save`` writes of an array (m, n, n), and what eigengraphs writes.
    """
    if ending == ".npy":
        with open_regular(path) as file:
            plain = _is_plain_cube(file, path.stat().st_size)
        return _stream_cube(path, None, {}) if plain else None
    with open_regular(path) as file, zipfile.ZipFile(file) as bundle:
        check_members(path, bundle)
        members = {Path(name).stem for name in bundle.namelist()}
        wanted = {"graph_names", "vertex_names", "directed", "n_graphs"} & members
        if "graph_names" not in members:
            return None
        beside = {name: _member(path, bundle, name, cap) for name in wanted}
        if set(FLAT) <= members and "n_graphs" in members:
            return _stream_flat(path, beside, cap)
        if "graphs" in members:
            with bundle.open("graphs.npy") as member:
                if _is_plain_cube(member, bundle.getinfo("graphs.npy").file_size):
                    return _stream_cube(path, "graphs.npy", beside)
    return None


def _is_plain_cube(file: IO[bytes], size: int) -> bool:
    """Tell whether a file of ``size`` bytes holds graphs that can be read one by one."""
    try:
        shape, fortran, dtype = npy_header(file)
    except ValueError:
        return False  # the reader of whole files says what is wrong
    plain = len(shape) == 3 and shape[1] == shape[2] != shape[0] and not fortran and min(shape) > 0
    whole = file.tell() + math.prod(shape) * dtype.itemsize == size
    return plain and whole and dtype.kind in "biuf"


def _member(path: Path, bundle: zipfile.ZipFile, name: str, cap: Cap) -> NDArray[Any]:
    held = path.stat().st_size
    cap.check(f"{path}, array {name!r},", bundle.getinfo(f"{name}.npy").file_size, held)
    return npy_array(path, zip_member(bundle, f"{name}.npy"), cap, held)


def _one_labeled(matrix: Any, beside: Mapping[str, Any], i: int) -> MatrixGraph:
    keys = beside.get("graph_names")
    graph = MatrixGraph(matrix, format="NumPy")
    key = None if keys is None else [keys[i]]
    return labeled([graph], key, _vertices(beside), beside.get("directed"))[0]


def _stream_cube(
    path: Path, member: str | None, beside: Mapping[str, Any]
) -> Iterator[MatrixGraph]:
    """Yield the graphs of an array (m, n, n), in a file of its own or in a bundle."""
    with ExitStack() as opened:
        file: Any = opened.enter_context(open_regular(path))
        if member is not None:
            bundle = opened.enter_context(zipfile.ZipFile(file))
            file = opened.enter_context(bundle.open(member))
        (m, n, _), _, dtype = npy_header(file)
        for i in range(m):
            yield _one_labeled(_numbers(path, file, n * n, dtype).reshape(n, n), beside, i)


def _stream_flat(path: Path, beside: Mapping[str, Any], cap: Cap) -> Iterator[MatrixGraph]:
    """Yield the graphs of a flat matrix."""
    with open_regular(path) as file, zipfile.ZipFile(file) as bundle:
        indptr = _member(path, bundle, FLAT[2], cap)
        m, n = _flat_shape(path, beside["n_graphs"], indptr)
        indptr = indptr.astype(np.int64)  # differences of 32 bits wrap around
        most = bundle.getinfo(f"{FLAT[0]}.npy").file_size
        with bundle.open(f"{FLAT[0]}.npy") as data, bundle.open(f"{FLAT[1]}.npy") as indices:
            (*_, value_type), (*_, index_type) = npy_header(data), npy_header(indices)
            for i in range(m):
                rows = indptr[i * n : (i + 1) * n + 1]
                count = int(rows[-1] - rows[0])
                if not 0 <= count <= most:
                    raise ReadError(f"{path} does not hold the graphs that it says; write it again")
                values = _numbers(path, data, count, value_type)
                places = _numbers(path, indices, count, index_type)
                A = sparse.csr_array((values, places, rows - rows[0]), shape=(n, n))
                check_sparse(f"{path}, graph {i + 1} (index {i}),", A)
                yield _one_labeled(A, beside, i)


def _numbers(path: Path, file: IO[bytes], count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    data = file.read(count * dtype.itemsize)
    if len(data) < count * dtype.itemsize:
        raise ReadError(f"{path} is cut off: it ends within an array; write it again")
    return np.frombuffer(bytearray(data), dtype)
