"""The elements of a MATLAB file of version 5, looked at before scipy's compiled reader sees them.

That reader takes numbers of the file as places in its own tables: a damaged file ends the process.
"""

from __future__ import annotations

import math
import struct
import zlib

__all__ = ["check_tags"]

_NUMBERS = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13})
_TEXTS = frozenset({16, 17, 18})
_MATRIX, _COMPRESSED = 14, 15
_CLASSES = range(1, 19)
_DEEPEST = 50  # cells in cells


def check_tags(data: bytes) -> None:
    """Raise ValueError where the elements of a file do not fit into each other."""
    if len(data) < 128 or 0 in data[:4]:  # version 4 has no tags; too short is said elsewhere
        return
    order = "<" if data[126:128] == b"IM" else ">"
    at = 128
    while at < len(data):
        kind, size = _tag(data, at, order)
        body = data[at + 8 : at + 8 + size]
        if len(body) < size:
            raise ValueError(f"the element at byte {at} has {len(body)} of its {size} bytes")
        start, at = at, at + 8 + size
        if kind == _COMPRESSED:
            body = zlib.decompress(body)
            kind, size = _tag(body, 0, order)
            body = body[8:]
            if len(body) < size:
                raise ValueError(f"the compressed element at byte {start} is not whole")
        if kind != _MATRIX:
            raise ValueError(f"the element at byte {start} is of kind {kind}, and no variable")
        _check_matrix(body[:size], order, 0)


def _tag(data: bytes, at: int, order: str) -> tuple[int, int]:
    if len(data) < at + 8:
        raise ValueError(f"the file ends within a tag at byte {at}")
    kind, size = struct.unpack_from(f"{order}II", data, at)
    return int(kind), int(size)


def _elements(body: bytes, order: str) -> list[tuple[int, bytes]]:
    """Return kind and contents of every element of a variable."""
    found, at = list[tuple[int, bytes]](), 0
    while at < len(body):
        kind, size = _tag(body, at, order)
        if kind >> 16:  # a small one: its size and its contents are in the tag
            kind, size = kind & 0xFFFF, kind >> 16
            if size > 4:
                raise ValueError(f"a small element of {size} bytes")
            found.append((kind, body[at + 4 : at + 4 + size]))
            at += 8
        else:
            found.append((kind, body[at + 8 : at + 8 + size]))
            if len(found[-1][1]) < size:
                raise ValueError(f"an element has {len(found[-1][1])} of its {size} bytes")
            at += 8 + size + -size % 8
        if kind not in _NUMBERS | _TEXTS | {_MATRIX}:
            raise ValueError(f"an element of the unknown kind {kind}")
    return found


def _check_matrix(body: bytes, order: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError(f"cells within cells, more than {_DEEPEST} deep")
    if not body:
        return  # an empty cell
    parts = _elements(body, order)
    if parts[0][0] != 6 or len(parts[0][1]) != 8:
        raise ValueError("a variable does not begin with its flags")
    (flags,) = struct.unpack_from(f"{order}I", parts[0][1])
    if flags & 0xFF not in _CLASSES:
        raise ValueError(f"a variable of the unknown class {flags & 0xFF}")
    if flags & 0xFF == 17:  # opaque: no sizes, and scipy passes it on unread
        return
    held = parts[1][1] if len(parts) > 2 and parts[1][0] == 5 else b""
    if len(held) % 4 or not 8 <= len(held) <= 128:
        raise ValueError("a variable without its sizes")
    sizes = struct.unpack(f"{order}{len(held) // 4}i", held)
    if min(sizes) < 0:
        raise ValueError(f"a variable of size {' x '.join(map(str, sizes))}")
    if parts[2][0] not in (1, 2, 16):
        raise ValueError("a variable without a name")
    _check_parts(flags, math.prod(sizes), parts[3:])
    for kind, inner in parts[3:]:
        if kind == _MATRIX:
            _check_matrix(inner, order, depth + 1)


def _check_parts(flags: int, count: int, parts: list[tuple[int, bytes]]) -> None:
    """See that a variable has the parts that are read of one of its class."""
    kinds = [kind for kind, _ in parts]
    of_class, values = flags & 0xFF, 2 if flags & 0x800 else 1  # complex numbers are two parts
    head, matrices = 0, 0
    if of_class in (1, 16):  # cells; a function
        matrices = count if of_class == 1 else 1
    elif of_class in (2, 3):  # structs and objects: lengths and names of fields before the values
        head = of_class - 1
        if kinds[head - 1 : head + 1] != [5, 1] or len(parts[head - 1][1]) != 4:
            raise ValueError("a struct without the names of its fields")
        (length,) = struct.unpack("<i", parts[head - 1][1])
        head, matrices = head + 1, len(kinds) - head - 1
        if length and matrices % max(1, count):
            raise ValueError(f"a struct of {count} with {matrices} values")
    elif of_class == 5:
        if kinds[:2] != [5, 5]:
            raise ValueError("a sparse matrix without its places")
        head = 2
    if of_class in (1, 2, 3, 16):
        if kinds[head:] != [_MATRIX] * matrices:
            raise ValueError(f"a variable of {matrices} cells has {len(kinds) - head} of them")
        return
    values = 1 if of_class == 4 else values
    if len(kinds) != head + values or _MATRIX in kinds or (of_class != 4 and {*kinds} & _TEXTS):
        raise ValueError(f"a variable of class {of_class} has {len(kinds)} parts, and not {values}")
