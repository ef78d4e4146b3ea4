"""MATLAB files of version 5, looked through before scipy reads them.

Scipy believes what a file says: it unpacks what is compressed, makes room for as many cells as are
declared, and goes down into cells within cells without end. Here the file is unpacked up to the
cap, and its elements are walked through: each must lie within the one around it, and there must be
as many as are declared.
"""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path

from eigengraphs.errors import ReadError
from eigengraphs.system.limits import Cap

__all__ = ["unpacked"]

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _OBJECT, _TEXT, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_COMPLEX = 0x800
_DEEPEST = 50  # cells within cells
_ITEM = 8  # bytes that a cell, or a field of a struct, takes in memory at least


def unpacked(path: Path, data: bytes, cap: Cap) -> bytes:
    """Return a file of version 5 without compression, or refuse it; other files as they are."""
    if len(data) < _HEADER or 0 in data[:4]:
        return data  # version 4, which is not compressed, or none at all
    if data[126:128] not in (b"IM", b"MI"):
        raise _broken(path, "it does not say in which order bytes are")
    order = "<" if data[126:128] == b"IM" else ">"
    out, at = bytearray(data[:_HEADER]), _HEADER
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        end = at + 8 + size
        if end > len(data):
            cap.check(path, size, len(data))
            raise _broken(path, f"an element at byte {at} says it has {size:,} bytes")
        if kind == _COMPRESSED:
            out += _inflated(path, data[at + 8 : end], order, cap, len(data), len(out))
        else:
            out += data[at:end]
        at = end
    plain, at = bytes(out), _HEADER
    while at + 8 <= len(plain):
        kind, size = struct.unpack_from(f"{order}II", plain, at)
        if kind != _MATRIX:
            raise _broken(path, f"there is no array at byte {at}")
        _walk(path, plain, order, (at, at + 8 + size), cap, len(data))
        at += 8 + size
    return plain


def _inflated(path: Path, part: bytes, order: str, cap: Cap, held: int, before: int) -> bytes:
    """Return a compressed element, unless all elements are more than is allowed."""
    room = max(cap.allowed(held) - before, 0)
    machine = zlib.decompressobj()
    try:
        found = machine.decompress(part, room + 1)
    except zlib.error as error:
        raise _broken(path, str(error)) from None
    if len(found) > room:
        cap.refuse(path, f"more than {cap.allowed(held):,}", held)
    size = 8 + struct.unpack_from(f"{order}I", found, 4)[0] if len(found) >= 8 else 8
    if size > len(found):
        cap.check(path, size, held)
        raise _broken(path, "a compressed element is cut off")
    return found[:size]


def _walk(path: Path, data: bytes, order: str, span: tuple[int, int], cap: Cap, held: int) -> None:
    """Go through an array, and those within it."""
    todo = [(*span, 0)]
    while todo:
        at, end, depth = todo.pop()
        if depth > _DEEPEST:
            raise _broken(path, f"it has cells within cells, more than {_DEEPEST} deep")
        while at < end:
            kind, start, stop, at = _tag(path, data, order, at, end)
            if kind != _MATRIX:
                raise _broken(path, f"there is no array at byte {start}, where one is declared")
            if stop > start:
                inner = _matrix(path, data, order, start, stop, cap, held)
                todo += [(*inner, depth + 1)] if inner else []


def _matrix(
    path: Path, data: bytes, order: str, start: int, stop: int, cap: Cap, held: int
) -> tuple[int, int] | None:
    """Return where the arrays within an array are; its parts must be those that scipy will read."""
    _, a, b, at = _tag(path, data, order, start, stop)
    if b - a < 8:
        raise _broken(path, f"an array at byte {start} has no kind")
    flags = struct.unpack_from(f"{order}I", data, a)[0]
    kind = flags & 0xFF
    if kind == _OPAQUE:
        parts, arrays = 3, 1  # names, and what they name
    else:
        _, a, b, at = _tag(path, data, order, at, stop)
        lengths = struct.unpack_from(f"{order}{(b - a) // 4}i", data, a)
        if min(lengths, default=0) < 0:
            raise _broken(path, f"an array at byte {start} has a negative length")
        *_, at = _tag(path, data, order, at, stop)  # its name
        parts, arrays = 1 + 2 * (kind == _SPARSE) + bool(flags & _COMPLEX), 0
        if kind in (_CELL, _STRUCT, _OBJECT):
            parts, arrays = 0, math.prod(lengths)
        elif kind == _FUNCTION:
            parts, arrays = 0, 1
        elif kind == _TEXT:  # scipy fills a text without letters with blanks
            cap.check(path, 4 * math.prod(lengths), held)
    if kind == _OBJECT:
        *_, at = _tag(path, data, order, at, stop)
    if kind in (_STRUCT, _OBJECT):
        _, a, b, at = _tag(path, data, order, at, stop)
        longest = struct.unpack_from(f"{order}i", data, a)[0] if b - a >= 4 else 0
        _, a, b, at = _tag(path, data, order, at, stop)
        fields = (b - a) // longest if longest > 0 else 0
        cap.check(path, _ITEM * arrays * max(fields, 1), held)
        arrays *= fields
    cap.check(path, _ITEM * arrays, held)
    for _ in range(parts):
        *_, at = _tag(path, data, order, at, stop)
    first, found = at, 0
    while at < stop and found < arrays:
        *_, at = _tag(path, data, order, at, stop)
        found += 1
    if found < arrays or at < stop:
        raise _broken(path, f"an array at byte {start} does not have the parts that it declares")
    return (first, at) if found else None


def _tag(path: Path, data: bytes, order: str, at: int, end: int) -> tuple[int, int, int, int]:
    """Return the kind of an element, where its data begin and end, and where the next one is."""
    if at + 8 > end:
        raise _broken(path, f"it ends within an element, at byte {at}")
    first, size = struct.unpack_from(f"{order}II", data, at)
    small = first >> 16
    if small:  # both in four bytes, and up to four bytes of data
        if small > 4:
            raise _broken(path, f"an element at byte {at} is wrong")
        return first & 0xFFFF, at + 4, at + 4 + small, at + 8
    stop = at + 8 + size
    if stop > end:
        raise _broken(path, f"an element at byte {at} says it has {size:,} bytes")
    return first, at + 8, stop, min(stop + -size % 8, end)


def _broken(path: Path, why: str) -> ReadError:
    return ReadError(
        f"{path} is no MATLAB file that can be read: {why}; in MATLAB, save it again with "
        "save(name, 'variable', '-v7')"
    )
