"""Say that kernels are compiled, which the first fit of a kind of graphs spends seconds on."""

from __future__ import annotations

import sys
from typing import Any

from numba.core import event

__all__ = ["announce_compiling"]


class _Announcer(event.Listener):
    """Print one line when the first kernel of this package is compiled; cached ones are silent."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, event: Any) -> None:
        """Take note of a compilation that begins."""
        module = getattr(event.data["dispatcher"].py_func, "__module__", "")
        if not self._said and module.startswith("eigengraphs."):
            self._said = True
            print(
                "eigengraphs: compiling kernels for this kind of graphs, once (half a minute at "
                "most)",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        """Take note of a compilation that ends."""


_announcer: _Announcer | None = None


def announce_compiling() -> None:
    """Have the first compilation of a kernel in this process announced."""
    global _announcer
    if _announcer is None:
        _announcer = _Announcer()
        event.register("numba:compile", _announcer)  # type: ignore[no-untyped-call] # numba has no types
