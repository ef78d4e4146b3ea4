"""Graphs in files that any version of NumPy can read, for all processes alike.

An .npy file holds an array (m, n, n), an .npz file the CSR matrix of all graphs one below the
other, (m n, n). This module is imported in the peers' environment too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["load_graphs", "open_graphs", "save_flat"]


def save_flat(path: Path, flat: sparse.csr_array, m: int) -> None:
    """Write the m graphs of a flat matrix to an .npz file."""
    np.savez(
        path,
        data=flat.data,
        indices=flat.indices.astype(np.int32),
        indptr=flat.indptr.astype(np.int32),
        n_graphs=m,
    )


def open_graphs(source: Path) -> Any:
    """Return the graphs of a file: an array (m, n, n) left on disk, or a flat csr_array."""
    if source.suffix == ".npy":
        return np.load(source, mmap_mode="r")
    with np.load(source) as file:
        m = int(file["n_graphs"])
        n = (len(file["indptr"]) - 1) // m
        parts = (file["data"], file["indices"], file["indptr"])
        return sparse.csr_array(parts, shape=(m * n, n))


def load_graphs(source: Path) -> Any:
    """Return what a user would hold: an array (m, n, n) in memory, or a list of csr_arrays."""
    if source.suffix == ".npy":
        return np.load(source)
    flat = open_graphs(source)
    n = flat.shape[1]
    return [flat[lo : lo + n] for lo in range(0, flat.shape[0], n)]
