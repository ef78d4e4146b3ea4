"""What a file may declare: the cap on what is unpacked or allocated because a file says so.

A few bytes can declare terabytes. Every reader therefore checks a `Cap` before it allocates what a
file declares, and refuses in the same words. The reasons for the numbers are in ``SECURITY.md``.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

import numpy as np

from eigengraphs.errors import InputError, ReadError

MaxBytes: TypeAlias = "str | int | None"

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_MOST = 2**31  # no small file declares more by default
_FREE = 2**26  # so much may come out of any file, however small
_RATIO = 200  # beyond that, so many times what the file holds: honest data shrink less
_HONEST = 8  # and so many times in any case: a large file of numbers that were compressed
_PIECE = 2**20


@dataclass(frozen=True)
class Cap:
    """How much one file may declare.

    Attributes
    ----------
    max_bytes : int, optional
        Exact limit. By default 64 MiB, or 200 times the size of the file if that is more, but at
        most 2 GiB; and always 8 times the size of the file.
    """

    max_bytes: int | None = None

    @classmethod
    def of(cls, max_bytes: MaxBytes) -> Cap:
        """Return the cap that a user set: a number of bytes, a text such as "4G", or None."""
        if max_bytes is None:
            return DEFAULT
        size = size_of(max_bytes)
        if size < 1:
            raise InputError(
                "max_bytes must be a number of bytes >= 1 or a text such as '512M' or '4G', got "
                f"max_bytes={max_bytes!r}"
            )
        return cls(size)

    def allowed(self, held: int) -> int:
        """Return how much a file that holds ``held`` bytes may declare."""
        if self.max_bytes is not None:
            return self.max_bytes
        return max(_HONEST * held, min(_MOST, max(_FREE, _RATIO * held)))

    def check(self, what: object, declared: int, held: int) -> None:
        """Refuse a file, or a part of one, that declares more than is allowed.

        Parameters
        ----------
        what
            The file, and perhaps which part of it.
        declared, held
            Bytes that it says it stands for, and bytes that the file has.
        """
        if declared > self.allowed(held):
            self.refuse(what, f"{declared:,}", held)

    def refuse(self, what: object, declared: str, held: int) -> None:
        """Refuse a file that declares so many bytes."""
        raise ReadError(
            f"{what} declares {declared} bytes, more than the cap of {self.allowed(held):,} for a "
            f"file that holds {held:,}; if you trust the file, raise the cap with max_bytes="
        )


DEFAULT = Cap()


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file for reading; raise OSError for a FIFO or a device, which may never end."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))  # a FIFO would wait for a writer

    file = open(path, "rb", opener=opener)  # noqa: SIM115 # Path.open takes no opener
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return file


def read_regular(path: Path) -> bytes:
    """Return the bytes of a regular file; raise OSError for anything else."""
    with open_regular(path) as file:
        return file.read()


def size_of(text: Any) -> int:
    """Return the bytes of a number, or of a text such as "512M" or "1.5 GB"; -1 if it is none."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if isinstance(text, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", text.lower())
        with suppress(ValueError, OverflowError):
            return int(float(found[1]) * _UNITS[found[2]]) if found else -1
    return -1


def gunzip(what: object, data: bytes, cap: Cap = DEFAULT) -> bytes:
    """Return what is in a gzip file, and never unpack more than is allowed."""
    most = cap.allowed(len(data))
    out = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while piece := file.read(min(_PIECE, most + 1 - len(out))):
                out += piece
                if len(out) > most:
                    cap.refuse(what, f"more than {most:,}", len(data))
    except (OSError, EOFError, zlib.error) as error:
        raise ReadError(f"{what} is not a gzip file, or is incomplete: {error}") from None
    return bytes(out)


def read_json(text: str | bytes) -> Any:
    """Return what a JSON text says; whatever is wrong with it is a ValueError.

    Texts nested too deeply, and whole numbers of thousands of digits, end in errors of several
    classes otherwise. Halves of characters, which JSON may write and UTF-8 cannot, are wrong, too.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")  # json itself would let halves of characters through
    try:
        found = json.loads(text)
        if "\\ud" in text.lower():
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return found


_BOOL = bool | np.bool_
_NUMBERS: dict[Any, Any] = {bool: _BOOL, int: int | np.integer, float: int | float | np.number}


def is_of(kind: Any, value: Any) -> bool:
    """Tell whether a value from a file is of a declared type, such as that of a dataclass's field.

    Arrays by their dtype, tuples and dictionaries by what they hold; a bool is not a number.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(is_of(one, value) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is np.ndarray:
        wanted = get_args(inner[1])[0]
        return (
            isinstance(value, np.ndarray)
            and value.dtype.isnative
            and (wanted is Any or value.dtype == wanted)
        )
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = inner[:1] * len(value) if inner[-1] is ... else inner
        return len(kinds) == len(value) and all(map(is_of, kinds, value))
    if origin is dict:
        return isinstance(value, dict) and all(is_of(inner[1], item) for item in value.values())
    if origin is Callable:
        return False  # a file holds none
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind]) and (kind is bool) is isinstance(value, _BOOL)
    return isinstance(value, kind)
