"""MATLAB files: version 5 by scipy, version 7.3 (HDF5) by h5py; both are checked before.

Scipy believes what a file of version 5 says: it unpacks what is compressed, makes room for as many
cells as are declared, and takes numbers of the file as places in its own tables. So the file is
first unpacked up to the cap and its elements are walked through.
"""

from __future__ import annotations

import io
import itertools
import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

from eigengraphs.errors import ReadError
from eigengraphs.io.array_files import graphs_by_key, graphs_of_array, labeled
from eigengraphs.io.file_graph import MatrixGraph
from eigengraphs.system.extras import need
from eigengraphs.system.limits import DEFAULT, Cap

__all__ = ["read_mat", "unpack_version_5"]

_DEEPEST = 50  # cells within cells
_ITEM = 8  # bytes that a cell, or a field of a struct, takes at least, in a file and in memory

# Version 5: types of elements, and classes of variables.
_HEADER = 128  # bytes
_INT8, _UINT8, _INT32, _UINT32, _MATRIX, _COMPRESSED, _UTF8 = 1, 2, 5, 6, 14, 15, 16
_NUMBERS = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13})
_TEXTS = frozenset({16, 17, 18})
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_CLASSES = range(1, 19)
_COMPLEX = 0x800

# Version 7.3: HDF5.
_HDF5 = b"\x89HDF\r\n\x1a\n"
_DEFLATE, _SHUFFLE, _FLETCHER = 1, 2, 3  # filters
_CHECKSUM = 4  # bytes that the last of them adds


def read_mat(path: Path, data: bytes, key: str | None, cap: Cap = DEFAULT) -> list[MatrixGraph]:
    """Read the only square matrix of a file, or that of ``key``; n x n x m are m graphs."""
    if _HDF5 in (data[:8], data[512:520]):
        arrays = _version_73(path, data, cap)
    else:
        arrays = _version_5(path, data, cap)
    options: Any = {"format": "MATLAB", "graphs_first": False, "cap": cap, "held": len(data)}
    if key is not None or "graphs" not in arrays or "graph_names" not in arrays:
        return graphs_by_key(path, arrays, key, count_from=1, **options)
    graphs = arrays["graphs"]
    keys, names = _texts(arrays["graph_names"]), _texts(arrays.get("vertex_names"))
    if not sparse.issparse(graphs) and np.asarray(graphs).dtype != object:
        # MATLAB drops axes of length one.
        n, m = len(np.atleast_1d(graphs)), np.size(arrays["graph_names"])
        if graphs.size == n * n * m:
            graphs = np.moveaxis(graphs.reshape(n, n, m), -1, 0)
    found = graphs_of_array(path, graphs, where=" ('graphs')", sure=True, **options)
    return labeled(found, keys, names, arrays.get("directed"))


def _texts(cells: Any) -> tuple[str, ...] | None:
    """Return names from cells of text."""
    if cells is None:
        return None
    return tuple("".join(map(str, np.ravel(cell))) for cell in np.ravel(cells))


# ---------------------------------------------------------------------- version 5


def _version_5(path: Path, data: bytes, cap: Cap) -> dict[str, Any]:
    opened: Any = io.BytesIO(unpack_version_5(path, data, cap))  # the stubs know paths alone
    try:
        found = loadmat(opened)
    except Exception as error:  # scipy has no one kind of error for damaged files
        raise _unreadable(path, str(error)) from None
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _unreadable(path: Path, why: str) -> ReadError:
    return ReadError(
        f"{path} is not a MATLAB file that can be read: {why}; in MATLAB, save it again with "
        "save(name, 'variable', '-v7')"
    )


def unpack_version_5(path: Path, data: bytes, cap: Cap) -> bytes:
    """Return a file of version 5 without compression, or refuse it; other files as they are."""
    if len(data) < _HEADER or 0 in data[:4]:
        return data  # version 4, which is not compressed, or no MATLAB file at all
    if data[126:128] not in (b"IM", b"MI"):
        raise _unreadable(path, "it does not say in which order bytes are")
    order, held = "<" if data[126:128] == b"IM" else ">", len(data)
    out, at = bytearray(data[:_HEADER]), _HEADER
    while at + 8 <= held:
        kind, size = struct.unpack_from(f"{order}II", data, at)
        end = at + 8 + size
        if end > held:
            cap.check(path, size, held)
            raise _unreadable(path, f"an element at byte {at} says it has {size:,} bytes")
        if kind == _COMPRESSED:
            room = max(cap.allowed(held) - len(out), 0)
            out += _inflated(path, data[at + 8 : end], order, cap, held, room)
        else:
            out += data[at:end]
        at = end
    plain = bytes(out) + data[at:]
    _Elements(path, plain, order, cap, held).check()
    return plain


def _inflated(path: Path, part: bytes, order: str, cap: Cap, held: int, room: int) -> bytes:
    """Return a compressed element, unless there is no room for it."""
    try:
        found = zlib.decompressobj().decompress(part, room + 1)
    except zlib.error as error:
        raise _unreadable(path, str(error)) from None
    if len(found) > room:
        cap.refuse(path, f"more than {cap.allowed(held):,}", held)
    size = 8 + struct.unpack_from(f"{order}I", found, 4)[0] if len(found) >= 8 else 8
    if size > len(found):
        cap.check(path, size, held)
        raise _unreadable(path, "a compressed element is cut off")
    return found[:size]


class _Elements:
    """The elements of an unpacked file: each lies within the one around it, and has its parts."""

    def __init__(self, path: Path, data: bytes, order: str, cap: Cap, held: int) -> None:
        self._path, self._data, self._order = path, data, order
        self._cap, self._held = cap, held

    def check(self) -> None:
        """Refuse a file whose elements do not fit into each other."""
        at = _HEADER
        while at < len(self._data):
            kind, start, stop, _ = self._tag(at, len(self._data))
            if kind != _MATRIX:
                raise _unreadable(self._path, f"the element at byte {at} is not a variable")
            self._check_variable(start, stop, 0)
            at = stop

    def _tag(self, at: int, end: int) -> tuple[int, int, int, int]:
        """Return the type of an element, where its data begin and end, and where the next is."""
        if at + 8 > end:
            raise _unreadable(self._path, f"it ends within an element, at byte {at}")
        first, size = struct.unpack_from(f"{self._order}II", self._data, at)
        small = first >> 16
        stop = at + 8 + size
        if small > 4 or (not small and stop > end):
            raise _unreadable(self._path, f"an element at byte {at} says it has {size:,} bytes")
        if small:  # both in four bytes, and up to four bytes of data
            return first & 0xFFFF, at + 4, at + 4 + small, at + 8
        return first, at + 8, stop, min(stop + -size % 8, end)

    def _parts(self, at: int, end: int) -> Iterator[tuple[int, int, int]]:
        while at < end:
            kind, start, stop, after = self._tag(at, end)
            if kind not in _NUMBERS | _TEXTS | {_MATRIX}:
                raise _unreadable(self._path, f"the element at byte {at} has the type {kind}")
            yield kind, start, stop
            at = after

    def _integers(self, part: tuple[int, int, int]) -> tuple[int, ...]:
        _, start, stop = part
        return struct.unpack_from(f"{self._order}{(stop - start) // 4}i", self._data, start)

    def _check_variable(self, start: int, stop: int, depth: int) -> None:
        """See that a variable has the parts that scipy will read."""

        def check(holds: bool, what: str) -> None:
            if not holds:
                raise _unreadable(self._path, f"the variable at byte {start} {what}")

        check(depth <= _DEEPEST, f"has cells within cells, more than {_DEEPEST} deep")
        if stop == start:
            return  # an empty cell
        parts = list(self._parts(start, stop))
        kinds = [kind for kind, *_ in parts]
        check(kinds[0] == _UINT32 and parts[0][2] - parts[0][1] == 8, "does not begin with flags")
        flags = self._integers(parts[0])[0]
        own = flags & 0xFF
        check(own in _CLASSES, f"has the unknown class {own}")
        if own == _OPAQUE:  # names and one variable; scipy passes it on unread
            check(len(parts) == 5, "is opaque and does not have its parts")
            return
        check(kinds[1:2] == [_INT32] and len(parts) > 2, "has no sizes")
        width = parts[1][2] - parts[1][1]
        check(width % 4 == 0 and 8 <= width <= 128, "has no sizes")
        sizes = self._integers(parts[1])
        check(min(sizes) >= 0, "has a negative size")
        check(kinds[2] in (_INT8, _UINT8, _UTF8), "has no name")
        count, kinds, parts = math.prod(sizes), kinds[3:], parts[3:]
        if own in (_STRUCT, _OBJECT):  # an object has the name of its class; then fields
            ahead = own - _STRUCT
            check(kinds[ahead : ahead + 2] == [_INT32, _INT8], "has no names of fields")
            check(parts[ahead][2] - parts[ahead][1] == 4, "has no names of fields")
            (longest,) = self._integers(parts[ahead])
            _, a, b = parts[ahead + 1]
            fields = (b - a) // longest if longest > 0 else 0
            self._cap.check(self._path, _ITEM * count * max(fields, 1), self._held)
            count, kinds, parts = count * fields, kinds[ahead + 2 :], parts[ahead + 2 :]
        elif own == _FUNCTION:
            count = 1
        if own in (_CELL, _STRUCT, _OBJECT, _FUNCTION):
            self._cap.check(self._path, _ITEM * count, self._held)
            check(kinds == [_MATRIX] * count, f"has {len(kinds)} of its {count:,} cells")
            for _, a, b in parts:
                self._check_variable(a, b, depth + 1)
            return
        if own == _CHAR:  # scipy fills a text without letters with blanks
            self._cap.check(self._path, 4 * count, self._held)
        if own == _SPARSE:
            check(kinds[:2] == [_INT32, _INT32], "is sparse and has no places")
            kinds = kinds[2:]
        values = 2 if flags & _COMPLEX and own != _CHAR else 1
        check(len(kinds) == values and _MATRIX not in kinds, "has not the parts that it declares")
        check(own == _CHAR or not _TEXTS & set(kinds), "holds text in place of numbers")


# ---------------------------------------------------------------------- version 7.3


def _version_73(path: Path, data: bytes, cap: Cap) -> dict[str, Any]:
    h5py = need("h5py", "io", "reading MATLAB files of version 7.3")
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            reader = _Hdf5(h5py, file, path, cap, len(data))
            names = [name for name in file if not name.startswith("#")]
            values = {name: reader.value(reader.item(file, name)) for name in names}
    except ReadError:
        raise
    except Exception as error:  # h5py has no one kind of error for damaged files
        raise ReadError(
            f"{path} is not a MATLAB file of version 7.3, or not whole: {error}"
        ) from None
    return {name: value for name, value in values.items() if value is not None}


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

        Values of no fixed length lie in a heap of the file, in which the HDF5 library loops for
        ever if the heap is damaged. MATLAB writes what is read here with a fixed length.
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
        if not {_DEFLATE, _SHUFFLE, _FLETCHER}.issuperset(filters) or filters.count(_DEFLATE) > 1:
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
        if count > 100 + self._held // _ITEM:  # each is listed somewhere
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
        """Return an array in MATLAB's order of axes, which HDF5 reverses."""
        h5py = self._h5py
        self._cells += 1
        if depth > _DEEPEST or self._cells > 100 + self._held // _ITEM:
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
        found = self.numbers(item).T
        if not references:
            return found
        cells = np.empty(found.shape, dtype=object)
        for place, reference in np.ndenumerate(found):
            cells[place] = self.value(self._file[reference], depth + 1)
        return cells
