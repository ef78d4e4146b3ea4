"""Let one call after the other fail, as on a full disk, a broken one, or without memory.

The calls are those of this process that a command makes for files in one folder: an operation is
run with the first of them failing, then with the second, until it ends without meeting the fault.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import eigengraphs.system.whole_files as whole_files


class Fault:
    """The ``at``-th call fails; with ``lasting`` all behind it that take room, too.

    Attributes
    ----------
    calls : list of str
        What was called, up to the fault or the end.
    met : bool
        Whether the fault was reached.
    """

    def __init__(self, folder: Path, at: int, number: int = errno.EIO, lasting: bool = False):
        self._folder = os.fspath(folder)
        self._at, self._number, self._lasting = at, number, lasting
        self.calls: list[str] = []

    @property
    def met(self) -> bool:
        return len(self.calls) > self._at

    def call(self, name: str, path: Any, takes_room: bool = True) -> None:
        """Count a call, and fail if it is the one."""
        if self.met and not (self._lasting and takes_room):
            return
        self.calls.append(f"{name} {os.fspath(path)}")
        if self.met:
            raise OSError(self._number, os.strerror(self._number), os.fspath(path))

    def concerns(self, path: Any) -> bool:
        """Tell whether a path is in the folder."""
        if isinstance(path, int):
            return False
        text = os.fspath(path)
        return isinstance(text, str) and os.path.abspath(text).startswith(self._folder)  # noqa: PTH100

    @contextmanager
    def injected(self) -> Iterator[None]:
        """Let calls pass through here."""
        before: list[tuple[Any, str, Any]] = []

        def put(place: Any, name: str, function: Any) -> None:
            before.append((place, name, getattr(place, name)))
            setattr(place, name, function)

        try:
            for name, room in (("replace", False), ("rename", False), ("mkdir", True),
                               ("link", True), ("chmod", False)):  # fmt: skip
                put(os, name, self._counted(name, getattr(os, name), room))
            put(os, "open", self._open_handle(os.open))
            put(os, "fsync", self._fsync(os.fsync))
            put(whole_files, "_exchange", self._counted("exchange", whole_files._exchange, False))
            opened = self._open(io.open)
            put(io, "open", opened)
            put(builtins, "open", opened)
            yield
        finally:
            for place, name, function in reversed(before):
                setattr(place, name, function)

    def _counted(self, name: str, real: Callable[..., Any], room: bool) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **options: Any) -> Any:
            if self.concerns(path):
                self.call(name, path, room)
            return real(path, *args, **options)

        return call

    def _open_handle(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *args: Any, **options: Any) -> int:
            if self.concerns(path) and flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                self.call("os.open", path)
            return real(path, flags, *args, **options)

        return call

    def _fsync(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def call(handle: int) -> None:
            path = Path(f"/proc/self/fd/{handle}").readlink()
            if self.concerns(path):
                self.call("fsync", path)
            real(handle)

        return call

    def _open(self, real: Callable[..., Any]) -> Callable[..., Any]:
        fault = self

        class Raw(io.FileIO):
            def write(self, data: Any, /) -> int:
                fault.call("write", str(self.name))
                return super().write(data)

        def call(
            path: Any, mode: str = "r", buffering: int = -1, encoding: Any = None,
            errors: Any = None, newline: Any = None, *rest: Any, **options: Any,
        ) -> Any:  # fmt: skip
            if not fault.concerns(path) or not set(mode) & set("wxa+"):
                return real(path, mode, buffering, encoding, errors, newline, *rest, **options)
            fault.call("open", path)
            raw = Raw(os.fspath(path), mode.replace("b", "").replace("t", ""))
            if buffering == 0:
                return raw
            binary: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return binary if "b" in mode else io.TextIOWrapper(binary, encoding, errors, newline)

        return call


class Shortage:
    """The ``at``-th array of some size cannot be had."""

    _MAKERS = ("empty", "zeros", "ones", "concatenate", "ascontiguousarray", "stack", "full",
               "empty_like", "zeros_like", "array")  # fmt: skip

    def __init__(self, at: int, least: int) -> None:
        self._at, self._least = at, least
        self.calls: list[str] = []

    @property
    def met(self) -> bool:
        return len(self.calls) > self._at

    @contextmanager
    def injected(self) -> Iterator[None]:
        """Let large arrays pass through here."""
        before = {name: getattr(np, name) for name in self._MAKERS}
        try:
            for name, real in before.items():
                setattr(np, name, self._counted(name, real))
            yield
        finally:
            for name, real in before.items():
                setattr(np, name, real)

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            made = real(*args, **options)
            if made.nbytes >= self._least and not self.met:
                self.calls.append(f"{name} {made.shape}")
                if self.met:
                    raise MemoryError(f"Unable to allocate an array of shape {made.shape}")
            return made

        return call
