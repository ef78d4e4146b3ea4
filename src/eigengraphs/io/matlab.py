"""MATLAB files: version 5 by scipy, version 7.3 (HDF5) by h5py."""

from __future__ import annotations

import io
import itertools
import math
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

from eigengraphs.errors import ReadError
from eigengraphs.io.arrays import chosen, graphs_of_array, with_names_beside
from eigengraphs.io.matlab_guard import unpacked
from eigengraphs.io.matlab_tags import check_tags
from eigengraphs.io.optional import need
from eigengraphs.io.raw import MatrixGraph
from eigengraphs.system.limits import DEFAULT, Cap

__all__ = ["read_mat"]

_HDF5 = b"\x89HDF\r\n\x1a\n"
_DEFLATE, _SHUFFLE, _FLETCHER = 1, 2, 3  # filters of HDF5
_FILTERS = {_DEFLATE, _SHUFFLE, _FLETCHER}
_CHECKSUM = 4  # bytes that the last of them adds


def read_mat(path: Path, data: bytes, key: str | None, cap: Cap = DEFAULT) -> list[MatrixGraph]:
    """Read the only square matrix of a file, or that of ``key``; n x n x m are m graphs."""
    if _HDF5 in (data[:8], data[512:520]):
        arrays = _version_73(path, data, cap)
    else:
        arrays = _version_5(path, data, cap)
    ours = key is None and "graphs" in arrays and "graph_names" in arrays
    # MATLAB drops axes of length one, so that ours is told by its name.
    picked = {"graphs": _cube(arrays)} if ours else chosen(path, arrays, key)
    graphs = list[MatrixGraph]()
    for name, array in picked.items():
        found = graphs_of_array(
            path, array, "MATLAB", graphs_first=False, where=f" ({name!r})", sure=ours,
            cap=cap, held=len(data),
        )  # fmt: skip
        if len(picked) > 1:
            many = len(found) > 1
            found = [
                replace(graph, key=f"{name}_{i + 1}" if many else name)
                for i, graph in enumerate(found)
            ]
        graphs += found
    return _with_names(graphs, arrays) if ours else with_names_beside(graphs, arrays)


def _version_5(path: Path, data: bytes, cap: Cap) -> dict[str, Any]:
    plain = unpacked(path, data, cap)
    opened: Any = io.BytesIO(plain)  # which the stubs do not know to be allowed
    try:
        check_tags(plain)
        found = loadmat(opened)
    except Exception as error:  # scipy has no one kind of error for damaged files
        raise ReadError(
            f"{path} is no MATLAB file that can be read: {error}; in MATLAB, save it again with "
            "save(name, 'variable', '-v7')"
        ) from None
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _version_73(path: Path, data: bytes, cap: Cap) -> dict[str, Any]:
    h5py = need("h5py", "reading MATLAB files of version 7.3")
    arrays: dict[str, Any] = {}
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            reader = _Hdf5(h5py, file, path, cap, len(data))
            for name in file:
                if not name.startswith("#"):
                    value = reader.value(reader.item(file, name))
                    if value is not None:
                        arrays[name] = value
    except ReadError:
        raise
    except Exception as error:  # h5py has no one kind of error for damaged files
        raise ReadError(f"{path} is no MATLAB file of version 7.3, or not whole: {error}") from None
    return arrays


class _Hdf5:
    """Values of a file of version 7.3, as long as they are in it and within the cap."""

    def __init__(self, h5py: Any, file: Any, path: Path, cap: Cap, held: int) -> None:
        self._h5py, self._file, self._path = h5py, file, path
        self._cap, self._held = cap, held
        self._read = self._cells = 0  # bytes that were declared, and cells

    def item(self, group: Any, name: str) -> Any:
        """Return a member of a group, if it is in this very file."""
        if isinstance(group.get(name, getlink=True), self._h5py.ExternalLink):
            raise ReadError(
                f"{self._path}: {name!r} is a link to another file, which is not followed; save "
                "the variable itself"
            )
        return group[name]

    def attribute(self, item: Any, name: str) -> Any:
        """Return an attribute of a fixed length, or None.

        Values of no fixed length lie in a heap of the file, in which the HDF5 library goes round
        for ever if the heap is damaged. MATLAB writes what is read here with a fixed length.
        """
        if name not in item.attrs or item.attrs.get_id(name).dtype.hasobject:
            return None
        return item.attrs[name]

    def numbers(self, item: Any) -> NDArray[Any]:
        """Return the array of a data set, if it is in this very file and not too large."""
        if item.external is not None or item.is_virtual:
            raise ReadError(
                f"{self._path}: {item.name!r} lies in another file, which is not opened; save the "
                "variable itself"
            )
        # Chunks are unpacked whole, however little of them belongs to the array.
        chunks = item.chunks or (1,) * item.ndim
        size = math.prod(-(-a // b) * b for a, b in zip(item.shape, chunks, strict=True))
        self._read += size * max(item.dtype.itemsize, 1)
        self._cap.check(f"{self._path} ({item.name!r})", self._read, self._held)
        self._check_chunks(item)
        return np.asarray(item)

    def _check_chunks(self, item: Any) -> None:
        """Refuse chunks that unpack to more than their size: HDF5 unpacks whatever is in them."""
        about = item.id.get_create_plist()
        filters = [about.get_filter(k)[0] for k in range(about.get_nfilters())]
        if not set(filters) <= _FILTERS or filters.count(_DEFLATE) > 1:
            raise ReadError(
                f"{self._path}: {item.name!r} is compressed in a way that MATLAB does not use "
                f"(HDF5 filters {filters}); save it again with save(name, 'variable', '-v7.3') "
                "or with compression='gzip' of h5py"
            )
        if _DEFLATE not in filters:
            return
        most = math.prod(item.chunks) * item.dtype.itemsize + _CHECKSUM
        places = [range(0, a, b) for a, b in zip(item.shape, item.chunks, strict=True)]
        count = math.prod(map(len, places))
        if count > 100 + self._held // 8:  # a chunk takes more than eight bytes where it is listed
            raise ReadError(
                f"{self._path}: {item.name!r} has {count:,} chunks, more than a file of "
                f"{self._held:,} bytes can hold; save the variable again"
            )
        for place in itertools.product(*places):
            if item.id.get_chunk_info_by_coord(place).byte_offset is None:
                continue  # all of it is the fill value
            skipped, packed = item.id.read_direct_chunk(place)
            if skipped >> filters.index(_DEFLATE) & 1:
                continue
            if len(zlib.decompressobj().decompress(packed, most + 1)) > most:
                raise ReadError(
                    f"{self._path}: {item.name!r} has a chunk that unpacks to more than the "
                    f"{most - _CHECKSUM:,} bytes that it declares; save the variable again"
                )

    def value(self, item: Any, depth: int = 0) -> Any:
        """Return an array in MATLAB's order of axes, which HDF5 turns around."""
        h5py = self._h5py
        self._cells += 1
        # An object takes more than eight bytes: more cells than that are some again and again.
        if depth > 50 or self._cells > 100 + self._held // 8:
            raise ReadError(f"{self._path}: {item.name!r} has cells within cells without end")
        if isinstance(item, h5py.Group):
            rows = self.attribute(item, "MATLAB_sparse")
            if rows is None or "jc" not in item:
                return None  # a struct
            jc = self.numbers(self.item(item, "jc")).astype(np.int64)
            if "ir" not in item:
                self._cap.check(self._path, 8 * int(rows), self._held)
                return sparse.csr_array((int(rows), len(jc) - 1))
            ir = self.numbers(self.item(item, "ir")).astype(np.int64)
            parts = (self.numbers(self.item(item, "data")), ir, jc)
            return sparse.csc_array(parts, shape=(int(np.ravel(rows)[0]), len(jc) - 1))
        if not isinstance(item, h5py.Dataset):
            return None
        # By its mark: numpy takes all kinds of objects for equal.
        references = h5py.check_ref_dtype(item.dtype) is h5py.Reference
        if item.dtype.hasobject and not references:
            return None  # of no fixed length, which MATLAB does not write: see attribute()
        if self.attribute(item, "MATLAB_class") == b"char":
            units = self.numbers(item).T.ravel().astype("<u2")
            return np.array(units.tobytes().decode("utf-16-le", "replace"))
        if references:
            found = self.numbers(item).T
            cells = np.empty(found.shape, dtype=object)
            for place, reference in np.ndenumerate(found):
                cells[place] = self.value(self._file[reference], depth + 1)
            return cells
        return self.numbers(item).T


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
    flags = np.ravel(np.asarray(said)) if said is not None else np.zeros(0)
    directed = bool(flags[0]) if flags.size == 1 and flags.dtype.kind in "biuf" else None
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
