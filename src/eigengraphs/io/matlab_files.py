"""MATLAB files: version 5 as it is, version 7.3 (HDF5) by h5py, version 4 by scipy.

scipy's reader trusts files of version 5: it allocates as many cells as a file declares, and uses
numbers of the file as indices into its own tables. Here, sizes are checked against the bytes in the
file; structs, objects and functions are skipped.
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

from eigengraphs.io.array_files import graphs_by_key
from eigengraphs.io.file_graph import FileGraph
from eigengraphs.system.extras import need
from eigengraphs.system.limits import Cap

_DEEPEST = 50  # cells within cells
_ITEM = 8  # bytes that a cell takes at least, in a file and in memory

# Version 5: types of elements, and classes of variables.
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8",
            13: "u8"}  # fmt: skip
_LETTERS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _CHAR, _SPARSE, _ARRAYS, _OPAQUE = 1, 4, 5, range(6, 16), 17
_COMPLEX, _LOGICAL = 0x800, 0x200  # flags

# Version 7.3: HDF5.
_HDF5 = b"\x89HDF\r\n\x1a\n"
_DEFLATE, _SHUFFLE, _FLETCHER = 1, 2, 3  # filters
_CHECKSUM = 4  # bytes that the last of them adds


def read_mat(path: Path, data: bytes, key: str | None, cap: Cap) -> list[FileGraph]:
    """Yield the only square matrix of a file, or that of ``key``; n x n x m are m graphs."""
    if _HDF5 in (data[:8], data[512:520]):
        arrays = _version_73(path, data, cap)
    elif 0 in data[:4]:
        opened: Any = io.BytesIO(data)  # the stubs know paths alone
        arrays = loadmat(opened)
        arrays = {name: value for name, value in arrays.items() if not name.startswith("__")}
    else:
        arrays = version_5(path, data, cap)
    return graphs_by_key(path, arrays, key, "MATLAB", cap, len(data))


# ---------------------------------------------------------------------- version 5


def version_5(path: Path, data: bytes, cap: Cap) -> dict[str, Any]:
    """Return the variables of a file by name, and unpack no more than the cap allows."""
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise ValueError("it does not say in which order bytes are")
    found: dict[str, Any] = {}
    held = len(data)
    room = cap.allowed(held)
    for kind, part in _elements(memoryview(data)[128:], order):
        if kind == _COMPRESSED:
            machine = zlib.decompressobj()
            part = memoryview(machine.decompress(part, room + 1))
            if len(part) > room:
                cap.refuse(path, f"more than {cap.allowed(held):,}", held)
            if not machine.eof:
                raise ValueError("a compressed variable is cut off")
            room -= len(part)
            kind, part = next(_elements(part, order))
        if kind != _MATRIX:
            raise ValueError(f"it holds an element of the type {kind} instead of a variable")
        name, value = _variable(part, order)
        if name:  # else what belongs to functions
            found[name] = value
    return found


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield type and content of each element."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise ValueError("it ends within an element")
        kind, size = struct.unpack_from(f"{order}II", data, at)
        start, after = at + 8, at + 8 + size + (-size % 8 if kind != _COMPRESSED else 0)
        if kind >> 16:  # type and size in four bytes, and up to four bytes of content
            kind, size, start, after = kind & 0xFFFF, min(kind >> 16, 4), at + 4, at + 8
        if start + size > len(data):
            raise ValueError(f"an element says it has {size:,} bytes, and there are fewer")
        yield kind, data[start : start + size]
        at = after


def _variable(data: memoryview, order: str, depth: int = 0) -> tuple[str, Any]:
    """Return the name and the value of a variable, numbers of the type in which they are kept."""
    if depth > _DEEPEST:
        raise ValueError(f"its cells are nested more than {_DEEPEST} deep")
    if not data:
        return "", np.zeros((0, 0))  # an empty cell
    parts = _elements(data, order)
    head = [bytes(part) for _, part in itertools.islice(parts, 3)]
    if len(head) < 3 or len(head[0]) != 8:
        raise ValueError("a variable does not begin with flags, sizes and a name")
    flags = struct.unpack(f"{order}II", head[0])[0]
    own = flags & 0xFF
    if own == _OPAQUE:  # which has no sizes
        return head[1].decode("utf-8", "replace"), np.zeros((), "V1")
    shape = struct.unpack(f"{order}{len(head[1]) // 4}i", head[1])
    name, count = head[2].decode("utf-8", "replace"), math.prod(shape)
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"{name!r} has the sizes {shape}")
    if own == _CELL:
        values = [_variable(part, order, depth + 1)[1] for _, part in parts]
        if len(values) != count:
            raise ValueError(f"{name!r} has {len(values)} of its {count:,} cells")
        cells = np.empty(count, dtype=object)
        for i, value in enumerate(values):
            cells[i] = value
        return name, cells.reshape(shape, order="F")
    if own not in (_CHAR, _SPARSE, *_ARRAYS):  # a struct, an object or a function
        return name, np.broadcast_to(np.zeros((), "V1"), shape)
    rest = list(itertools.islice(parts, 5))
    is_complex = bool(flags & _COMPLEX) and own != _CHAR
    if len(rest) != 1 + 2 * (own == _SPARSE) + is_complex:
        raise ValueError(f"{name!r} does not have the parts that it declares")
    if own == _CHAR:
        return name, _letters(*rest[0], order, shape)
    kinds = [_NUMBERS.get(kind, "") for kind, _ in rest]
    if "" in kinds:
        raise ValueError(f"{name!r} holds text instead of numbers")
    if own == _SPARSE and flags & _LOGICAL:
        kinds[2] = "?"  # whatever is said
    both = zip(kinds, rest, strict=True)
    numbers = [np.frombuffer(part, order + kind) for kind, (_, part) in both]
    values = numbers[2 * (own == _SPARSE)]
    if is_complex:
        values = values.astype(complex)  # to be refused
    if own == _SPARSE:
        places, ends = numbers[:2]
        return name, sparse.csc_array((values[: ends[-1]], places[: ends[-1]], ends), shape=shape)
    return name, values.reshape(shape, order="F")


def _letters(kind: int, part: memoryview, order: str, shape: tuple[int, ...]) -> NDArray[np.str_]:
    """Return the rows of a matrix of letters as texts, with a shape without its last axis."""
    codec = _LETTERS[kind] + ("-le" if order == "<" else "-be") * (kind in (4, 17, 18))
    text, rows = bytes(part).decode(codec, "replace"), math.prod(shape[:-1])
    if rows < 2 or not text:
        return np.array([text])
    if len(text) != math.prod(shape):
        raise ValueError(f"a text has {len(text):,} of its {math.prod(shape):,} letters")
    return np.array([text[i::rows] for i in range(rows)]).reshape(shape[:-1], order="F")


# ---------------------------------------------------------------------- version 7.3


def _version_73(path: Path, data: bytes, cap: Cap) -> dict[str, Any]:
    h5py = need("h5py", "io", "reading MATLAB files of version 7.3")
    with h5py.File(io.BytesIO(data), "r") as file:
        reader = _Hdf5(h5py, file, path, cap, len(data))
        names = [name for name in file if not name.startswith("#")]
        values = {name: reader.value(reader.item(file, name)) for name in names}
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
            raise ValueError(f"{name!r} is a link to another file, which is not followed")
        return group[name]

    def attribute(self, item: Any, name: str) -> Any:
        """Return an attribute of a fixed length, or None.

        Values of variable length are in a heap of the file, in which the HDF5 library loops forever
        if the heap is damaged. MATLAB writes the attributes that are read here with a fixed length.
        """
        if name not in item.attrs or item.attrs.get_id(name).dtype.hasobject:
            return None
        return item.attrs[name]

    def numbers(self, item: Any) -> NDArray[Any]:
        """Return the array of a data set, if it is in this very file and not too large."""
        if item.external is not None or item.is_virtual:
            raise ValueError(f"{item.name!r} lies in another file, which is not opened")
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
            raise ValueError(
                f"{item.name!r} is compressed in a way that MATLAB does not use (HDF5 filters "
                f"{filters}); h5py has compression='gzip'"
            )
        if _DEFLATE not in filters:
            return
        most = math.prod(item.chunks) * item.dtype.itemsize + _CHECKSUM
        places = [range(0, a, b) for a, b in zip(item.shape, item.chunks, strict=True)]
        count = math.prod(map(len, places))
        if count > 100 + self._held // _ITEM:  # each is listed somewhere
            raise ValueError(f"{item.name!r} has {count:,} chunks, more than the file can hold")
        for place in itertools.product(*places):
            if item.id.get_chunk_info_by_coord(place).byte_offset is None:
                continue  # all of it is the fill value
            skipped, packed = item.id.read_direct_chunk(place)
            if skipped >> filters.index(_DEFLATE) & 1:
                continue
            if len(zlib.decompressobj().decompress(packed, most + 1)) > most:
                raise ValueError(
                    f"{item.name!r} has a chunk that unpacks to more than the "
                    f"{most - _CHECKSUM:,} bytes that it declares"
                )

    def value(self, item: Any, depth: int = 0) -> Any:
        """Return an array in MATLAB's order of axes, which HDF5 reverses."""
        h5py = self._h5py
        self._cells += 1
        if depth > _DEEPEST or self._cells > 100 + self._held // _ITEM:
            raise ValueError(f"{item.name!r} has cells that are nested without end")
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
