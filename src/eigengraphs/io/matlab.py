"""MATLAB files: version 5 by scipy, version 7.3 (HDF5) by h5py."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from eigengraphs.errors import ReadError
from eigengraphs.io.arrays import chosen, graphs_of_array
from eigengraphs.io.optional import need
from eigengraphs.io.raw import MatrixGraph

__all__ = ["read_mat"]

_HDF5 = b"\x89HDF\r\n\x1a\n"


def read_mat(path: Path, data: bytes, key: str | None) -> list[MatrixGraph]:
    """Read the only square matrix of a file, or that of ``key``; n x n x m are m graphs."""
    if _HDF5 in (data[:8], data[512:520]):
        arrays = _version_73(path, data)
    else:
        arrays = _version_5(path, data)
    ours = key is None and "graphs" in arrays and "graph_names" in arrays
    # MATLAB drops axes of length one, so that ours is told by its name.
    picked = {"graphs": _cube(arrays)} if ours else chosen(path, arrays, key)
    graphs = list[MatrixGraph]()
    for name, array in picked.items():
        found = graphs_of_array(
            path, array, "MATLAB", graphs_first=False, where=f" ({name!r})", sure=ours
        )
        if len(picked) > 1:
            many = len(found) > 1
            found = [
                replace(graph, key=f"{name}_{i + 1}" if many else name)
                for i, graph in enumerate(found)
            ]
        graphs += found
    return _with_names(graphs, arrays) if ours else graphs


def _version_5(path: Path, data: bytes) -> dict[str, Any]:
    opened: Any = io.BytesIO(data)  # which the stubs do not know to be allowed
    try:
        found = loadmat(opened)
    except (ValueError, TypeError, NotImplementedError, MatReadError, OSError, EOFError) as error:
        raise ReadError(
            f"{path} is no MATLAB file that can be read: {error}; in MATLAB, save it again with "
            "save(name, 'variable', '-v7')"
        ) from None
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _version_73(path: Path, data: bytes) -> dict[str, Any]:
    h5py = need("h5py", "reading MATLAB files of version 7.3")
    arrays: dict[str, Any] = {}
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            for name in file:
                if not name.startswith("#"):
                    value = _hdf5_value(h5py, file, file[name])
                    if value is not None:
                        arrays[name] = value
    except (OSError, RuntimeError, KeyError) as error:
        raise ReadError(f"{path} is no MATLAB file of version 7.3, or not whole: {error}") from None
    return arrays


def _hdf5_value(h5py: Any, file: Any, item: Any) -> Any:
    """Return an array in MATLAB's order of axes, which HDF5 turns around."""
    if isinstance(item, h5py.Group):
        rows = item.attrs.get("MATLAB_sparse")
        if rows is None or "jc" not in item:
            return None  # a struct
        jc = np.asarray(item["jc"], dtype=np.int64)
        if "ir" not in item:
            return sparse.csr_array((int(rows), len(jc) - 1))
        parts = (np.asarray(item["data"]), np.asarray(item["ir"], dtype=np.int64), jc)
        return sparse.csc_array(parts, shape=(int(rows), len(jc) - 1))
    kind = item.attrs.get("MATLAB_class", b"")
    if kind == b"char":
        return np.array("".join(map(chr, np.asarray(item).T.ravel().tolist())))
    if item.dtype == h5py.ref_dtype:
        references = np.asarray(item).T
        cells = np.empty(references.shape, dtype=object)
        for place, reference in np.ndenumerate(references):
            cells[place] = _hdf5_value(h5py, file, file[reference])
        return cells
    return np.asarray(item).T


def _cube(arrays: dict[str, Any]) -> NDArray[Any]:
    graphs = arrays["graphs"]
    m = np.size(arrays["graph_names"])
    if sparse.issparse(graphs) or np.asarray(graphs).dtype == object:
        return graphs  # type: ignore[no-any-return]
    array = np.asarray(graphs)
    n = array.shape[0]
    return np.moveaxis(array.reshape(n, n, m), -1, 0) if array.size == n * n * m else array


def _with_names(graphs: list[MatrixGraph], arrays: dict[str, Any]) -> list[MatrixGraph]:
    keys, names = _texts(arrays["graph_names"]), _texts(arrays.get("vertex_names"))
    said = arrays.get("directed")
    directed = None if said is None else bool(np.ravel(said)[0])
    return [
        replace(
            graph,
            key=keys[i] if keys is not None and len(keys) == len(graphs) else None,
            names=graph.names if names is None else names,
            directed=directed,
        )
        for i, graph in enumerate(graphs)
    ]


def _texts(cells: Any) -> tuple[str, ...] | None:
    """Return names from cells of text."""
    if cells is None:
        return None
    return tuple("".join(map(str, np.ravel(cell))) for cell in np.ravel(cells))
