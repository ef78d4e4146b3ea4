"""All graphs in one file of NumPy or MATLAB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import savemat

from eigengraphs.errors import InputError
from eigengraphs.io.numpy_files import FLAT
from eigengraphs.stack import GraphStack

__all__ = ["write_mat", "write_npy", "write_npz"]


def write_npz(path: Path, stack: GraphStack) -> None:
    """Write graphs, names and direction; sparse graphs stay sparse."""
    parts: dict[str, Any] = {
        "graph_names": np.array(stack.graph_names),
        "directed": np.array(stack.is_directed),
    }
    if stack.has_vertex_names:
        parts["vertex_names"] = np.array(stack.vertex_names)
    if stack.is_sparse:
        flat = sparse.csr_array(sparse.vstack(list(stack), format="csr"))
        parts |= dict(zip(FLAT, (flat.data, flat.indices, flat.indptr), strict=True))
        parts["n_graphs"] = np.array(stack.n_graphs)
    else:
        parts["graphs"] = np.asarray(stack)
    np.savez_compressed(path, **parts)


def write_npy(path: Path, stack: GraphStack) -> None:
    """Write one array (m, n, n), which holds no names."""
    if stack.has_vertex_names or stack.graph_names != tuple(map(str, range(stack.n_graphs))):
        raise InputError("a .npy file holds no names, and these graphs have some; write .npz")
    np.save(path, _cube(stack), allow_pickle=False)


def write_mat(path: Path, stack: GraphStack) -> None:
    """Write ``graphs`` (n x n x m, or cells of sparse matrices) and names, version 5."""
    graphs: Any = np.moveaxis(_cube(stack), 0, -1) if not stack.is_sparse else None
    if graphs is None:
        graphs = np.empty((1, stack.n_graphs), dtype=object)
        for i, graph in enumerate(stack):
            graphs[0, i] = sparse.csc_array(graph)
    parts: dict[str, Any] = {
        "graphs": graphs,
        "graph_names": _cells(stack.graph_names),
        "directed": stack.is_directed,
    }
    if stack.has_vertex_names:
        parts["vertex_names"] = _cells(stack.vertex_names)
    savemat(path, parts, do_compression=True)
    with path.open("r+b") as file:  # instead of the time: equal graphs make equal files
        file.write(b"MATLAB 5.0 MAT-file, by eigengraphs".ljust(116))


def _cube(stack: GraphStack) -> NDArray[Any]:
    return np.asarray(stack.to_dense() if stack.is_sparse else stack)


def _cells(names: tuple[str, ...]) -> NDArray[Any]:
    cells = np.empty((1, len(names)), dtype=object)
    for i, name in enumerate(names):
        if any(ord(mark) > 0xFFFF for mark in name):
            raise InputError(
                f"the name {name!r} has a sign that MATLAB's text cannot hold; write a .npz file"
            )
        cells[0, i] = name
    return cells
