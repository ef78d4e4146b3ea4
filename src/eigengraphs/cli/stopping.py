"""Ctrl-C and its like: the first lets a command keep what it has, the second ends it at once."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Stopped", "stoppable"]

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal is gone"}


class Stopped(BaseException):
    """Raised where a command is when the first signal comes.

    Not a KeyboardInterrupt: a fit answers that with what it has found so far, which takes another
    pass over the graphs, and a command has no use for half of a fit.

    Attributes
    ----------
    code : int
        Exit code, 128 and the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(_WORDS[signal.Signals(number).name])
        self.code = 128 + number


class _Signals:
    """Counts signals, in the main thread or, while that is in a long call, in one of its own."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._came = 0
        self._numbers = [getattr(signal, name) for name in _WORDS if hasattr(signal, name)]
        self._before: dict[int, Any] = {}

    def install(self) -> None:
        for number in self._numbers:
            before = signal.getsignal(number)
            # One that is ignored, as by nohup, stays so.
            if before in (signal.SIG_DFL, signal.default_int_handler):
                self._before[number] = signal.signal(number, self._handle)
        # Python calls handlers between two of its own instructions, which a kernel may keep it
        # from for long; the byte is written at once.
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        self._wakeup = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._listen, name="signals", daemon=True).start()

    def remove(self) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, before in self._before.items():
            signal.signal(number, before)
        self._mouth.close()  # which ends the thread

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if os.getpid() != self._owner:  # a fork of ours, with our handlers: as if it had none
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self._came += 1
        if self._came > 1:
            _leave(number)
        raise Stopped(number)

    def _listen(self) -> None:
        came = 0
        with self._ear:
            while heard := self._ear.recv(16):
                for number in heard:
                    came += number in self._before
                    if came > 1 and number in self._before:
                        _leave(number)


def _leave(number: int) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")  # a progress bar hides the cursor
    os._exit(128 + number)


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise :class:`Stopped` at the first signal in the ``with`` block; leave at the second."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = _Signals()
    signals.install()
    try:
        yield
    finally:
        signals.remove()
