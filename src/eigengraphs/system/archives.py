"""Arrays, sparse matrices and zip archives from untrusted files.

Nothing is unpickled or unpacked to the disk, and memory is allocated only for what is there.
"""

from __future__ import annotations

import ast
import io
import math
import re
import stat
import zipfile
from pathlib import PurePosixPath
from typing import IO, Any, NoReturn

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eigengraphs.errors import ReadError
from eigengraphs.system.limits import DEFAULT, Cap

_MOST_MEMBERS = 10_000  # of an archive: each takes time, however small it is
_MOST_EMPTY = 2**20  # parts of an array that holds nothing
_LONGEST_HEADER = 10_000  # bytes; NumPy's own limit for files that are not trusted


def npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order (True for Fortran's) and type of an array; ValueError if it is none."""
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(io.BytesIO(_header_text(file, 2 if version == (1, 0) else 4)))
    except (RecursionError, MemoryError, TypeError, OverflowError, SyntaxError) as error:
        raise ValueError(f"its header cannot be read: {type(error).__name__}") from None
    if any(isinstance(length, bool) or length < 0 for length in shape):
        raise ValueError(f"{str(shape)[:60]} is not a shape")
    return shape, fortran, dtype


def _header_text(file: IO[bytes], width: int) -> bytes:
    """Return the header and its length, if it is a table of Python's, as it must be.

    NumPy would tokenize anything else, to repair headers of Python 2, and takes minutes for a
    few thousand blanks.
    """
    head = file.read(width)
    size = int.from_bytes(head, "little")
    text = file.read(min(size, _LONGEST_HEADER + 1))
    if len(text) < size or size > _LONGEST_HEADER:
        raise ValueError(f"its header has {len(text)} of {size} bytes")
    ast.literal_eval(re.sub(r"(?<=[0-9])L\b", "", text.decode("latin-1").strip()))
    return head + text


def npy_array(
    what: object, data: bytes, cap: Cap = DEFAULT, held: int | None = None
) -> NDArray[Any]:
    """Return the array of the bytes of a ``.npy`` file; they must be its size, neither more.

    Parameters
    ----------
    what
        The file, and perhaps which part of it.
    held
        Bytes of the file that the array is a part of, if not ``data``.

    Raises
    ------
    ValueError
        It is not an array, holds Python objects ("pickle"), or is incomplete.
    ReadError
        It declares more than it holds, and more than is allowed.
    """
    file = io.BytesIO(data)
    shape, fortran, dtype = npy_header(file)
    declared, there = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never read because they can run code")
    # Nothing, a thousand million times, is a list of that length all the same.
    if not declared and math.prod(shape[: shape.index(0) if 0 in shape else None]) > _MOST_EMPTY:
        raise ValueError(f"it has shape {str(shape)[:60]} and holds nothing")
    if declared != there:
        cap.check(what, declared, len(data) if held is None else held)
        raise ValueError(f"its header declares {declared:,} bytes, and {there:,} are there")
    if not declared:
        return np.zeros(shape, dtype)
    array = np.frombuffer(data, dtype, offset=file.tell())
    return array.reshape(shape, order="F" if fortran else "C").copy(order="K")


def open_zip(what: object, data: bytes, cap: Cap = DEFAULT) -> zipfile.ZipFile:
    """Open an archive whose members are plain files and declare no more than is allowed.

    The directory of an archive is binding: a member is never unpacked beyond its declared size.
    """
    if data.count(b"PK\x01\x02") > 2 * _MOST_MEMBERS:  # before zipfile makes a list of them
        _refuse_many(what)
    archive = zipfile.ZipFile(io.BytesIO(data))
    cap.check(what, sum(member.file_size for member in archive.infolist()), len(data))
    check_members(what, archive)
    return archive


def check_members(what: object, archive: zipfile.ZipFile) -> None:
    """Refuse an archive with many members, links, a name twice, or names that lead out of it.

    Members must be stored or deflated: for other compressions, zipfile unpacks everything
    before it checks the declared size.
    """
    if len(archive.infolist()) > _MOST_MEMBERS:
        _refuse_many(what)
    names = set[str]()
    for member in archive.infolist():
        name = member.filename
        parts = PurePosixPath(name.replace("\\", "/")).parts
        outside = not parts or ".." in parts or parts[0].startswith("/") or ":" in parts[0]
        if outside or name in names:
            raise ReadError(
                f"{what} is an archive with a member called {name[:60]!r}, which would lie outside "
                "of it or occurs twice: no honest program writes that; leave it out"
            )
        if stat.S_ISLNK(member.external_attr >> 16):
            raise ReadError(
                f"{what} is an archive with a link, {name[:60]!r}: write it again with the file"
            )
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ReadError(
                f"{what} is an archive with a member, {name[:60]!r}, that is compressed in a way "
                "which NumPy does not use: write it again with np.savez_compressed"
            )
        names.add(name)


def _refuse_many(what: object) -> NoReturn:
    raise ReadError(
        f"{what} is an archive of more than {_MOST_MEMBERS:,} members: write the graphs as one "
        "array (m, n, n), or as several files"
    )


def zip_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member, whole and as its checksum says, or raise an error."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as file:
        content = file.read(size)  # not all: zipfile would unpack 2 GB before it counts
    if len(content) != size:
        raise ValueError(f"{name!r} has {len(content):,} of {size:,} bytes")
    return content


def check_compressed(matrix: Any) -> None:
    """Raise a ValueError unless all parts of a CSR, CSC or BSR matrix fit each other.

    scipy's check takes differences of ``indptr``, which wrap around in 32 bits: 11, -2147483648
    would rise. Compared as they are, they cannot.
    """
    indptr = np.asarray(matrix.indptr)
    if indptr.ndim == 1 and (indptr[1:] < indptr[:-1]).any():
        raise ValueError("index pointer values must form a non-decreasing sequence")
    matrix.check_format(full_check=True)
