"""Arrays of NumPy: .npy, .npz, and sparse matrices as scipy saves them. Nothing is unpickled."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from eigengraphs.errors import ReadError
from eigengraphs.io.arrays import chosen, graphs_of_array, with_names_beside
from eigengraphs.io.raw import MatrixGraph
from eigengraphs.io.soundness import check_sparse
from eigengraphs.system.archives import BROKEN, npy_array, open_zip, zip_member
from eigengraphs.system.limits import DEFAULT, Cap

__all__ = ["FLAT", "flat_shape", "read_npy", "read_npz"]

# Keys of a sparse stack as eigengraphs writes it: one matrix (m * n, n) for all graphs.
FLAT = ("flat_data", "flat_indices", "flat_indptr")


def read_npy(path: Path, data: bytes, cap: Cap = DEFAULT) -> list[MatrixGraph]:
    """Read one graph (n, n), or several (m, n, n) or (n, n, m)."""
    if data[:2] == b"PK":
        return read_npz(path, data, None, cap)
    try:
        array = npy_array(path, data, cap)
    except ReadError:
        raise
    except BROKEN as error:
        if "pickle" in str(error):
            _refuse_pickle(path, "")
        _refuse_other(path, error)
    return list(graphs_of_array(path, array, "NumPy", graphs_first=True))


def read_npz(path: Path, data: bytes, key: str | None, cap: Cap = DEFAULT) -> list[MatrixGraph]:
    """Read graphs with their names as eigengraphs writes them, or one array of the file."""
    if data[:6] == b"\x93NUMPY":
        return read_npy(path, data, cap)
    arrays = _arrays(path, data, cap)
    if {"format", "shape", "data"} <= set(arrays):
        try:
            matrix = sparse.load_npz(_bundle(arrays))
        except BROKEN as error:
            raise ReadError(f"{path} is no sparse matrix that scipy can read: {error}") from None
        options: Any = {"graphs_first": True, "cap": cap, "held": len(data)}
        return list(graphs_of_array(path, matrix, "NumPy", **options))
    if key is None and set(FLAT) <= set(arrays) and "n_graphs" in arrays:
        return _flat(path, arrays)
    ours = key is None and "graphs" in arrays and "graph_names" in arrays
    if ours:
        return _with_names(_ours(path, arrays["graphs"]), arrays)
    graphs = list[MatrixGraph]()
    picked = chosen(path, arrays, key)
    for name, array in picked.items():
        found = graphs_of_array(path, array, "NumPy", graphs_first=True, where=f" ({name!r})")
        if len(picked) > 1:
            graphs += [
                replace(graph, key=_key(name, i, len(found))) for i, graph in enumerate(found)
            ]
        else:
            graphs += found
    return with_names_beside(graphs, arrays)


def _ours(path: Path, array: Any) -> list[MatrixGraph]:
    return graphs_of_array(path, array, "NumPy", graphs_first=True, sure=True)


def _arrays(path: Path, data: bytes, cap: Cap) -> dict[str, Any]:
    """Return the arrays of a bundle by name."""
    try:
        with open_zip(path, data, cap) as bundle:
            names = [name for name in bundle.namelist() if name.endswith(".npy")]
            return {
                name.removesuffix(".npy"): _entry(path, zip_member(bundle, name), name, cap, data)
                for name in names
            }
    except ReadError:
        raise
    except BROKEN as error:
        return _refuse_other(path, error)


def _bundle(arrays: dict[str, Any]) -> io.BytesIO:
    """Return arrays that were read as a bundle: NumPy takes members that were not, if it may."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    buffer.seek(0)
    return buffer


def _entry(path: Path, content: bytes, name: str, cap: Cap, data: bytes) -> Any:
    where = f", array {name.removesuffix('.npy')!r},"
    try:
        return npy_array(f"{path}{where}", content, cap, len(data))
    except ReadError:
        raise
    except BROKEN as error:
        if "pickle" in str(error):
            _refuse_pickle(path, where)
        raise ReadError(f"{path}{where} cannot be read: {error}; the file may be cut off") from None


def _refuse_other(path: Path, error: BaseException) -> NoReturn:
    raise ReadError(
        f"{path} is no file of NumPy, or not whole: {error}; write it again with np.save or "
        "np.savez"
    ) from None


def _refuse_pickle(path: Path, where: str) -> NoReturn:
    raise ReadError(
        f"{path}{where} holds Python objects, which are never read because they can run code; "
        "save plain numbers: np.save(path, np.asarray(graphs, dtype=float))"
    )


def _key(name: str, i: int, many: int) -> str:
    return name if many == 1 else f"{name}_{i}"


def _flat(path: Path, arrays: dict[str, Any]) -> list[MatrixGraph]:
    data, indices, indptr = (arrays[name] for name in FLAT)
    m, n = flat_shape(path, arrays["n_graphs"], indptr)
    try:
        flat = sparse.csr_array((data, indices, indptr), shape=(m * n, n))
    except BROKEN as error:
        raise ReadError(
            f"{path} does not hold the graphs that it says ({error}); write it again"
        ) from None
    check_sparse(str(path), flat)
    graphs: list[MatrixGraph] = [
        MatrixGraph(sparse.csr_array(flat[i * n : (i + 1) * n]), format="NumPy") for i in range(m)
    ]
    return _with_names(graphs, arrays)


def flat_shape(path: Path, n_graphs: Any, indptr: Any) -> tuple[int, int]:
    """Return how many graphs, and on how many vertices, a flat matrix holds."""
    if np.size(n_graphs) != 1 or np.asarray(n_graphs).dtype.kind not in "iu" or indptr.ndim != 1:
        raise ReadError(f"{path}: 'n_graphs' must be a whole number and {FLAT[2]!r} a list of them")
    m, rows = int(np.ravel(n_graphs)[0]), len(indptr) - 1
    if m < 1 or rows < m or rows % m:
        raise ReadError(f"{path} says that it holds {m} graphs, in {rows} rows: write it again")
    return m, rows // m


def _with_names(graphs: list[MatrixGraph], arrays: dict[str, Any]) -> list[MatrixGraph]:
    """Put names and direction on graphs, where they are beside them."""
    keys = arrays.get("graph_names")
    names = arrays.get("vertex_names")
    said = arrays.get("directed")
    directed = None if said is None or np.size(said) != 1 else bool(np.ravel(said)[0])
    return [
        replace(
            graph,
            key=str(keys[i]) if keys is not None and len(keys) == len(graphs) else graph.key,
            names=graph.names if names is None else tuple(map(str, names.tolist())),
            directed=directed,
        )
        for i, graph in enumerate(graphs)
    ]
