"""Peak memory of one call; in a fresh process nothing before it counts."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

__all__ = ["peak", "peak_growth", "start_peak"]


def peak_growth(function: Callable[..., Any], warm_up: tuple[Any, ...], *args: Any) -> int:
    """Return by how many bytes the resident memory grows at most during ``function(*args)``.

    Parameters
    ----------
    function
        A function of a module; it is run in a process of its own.
    warm_up
        Arguments of a small call beforehand, so that imports and compiled code do not count.
    *args
        Arguments of the call that is measured.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_grow, function, warm_up, args).result()


def _grow(function: Callable[..., Any], warm_up: tuple[Any, ...], args: tuple[Any, ...]) -> int:
    function(*warm_up)
    before = start_peak()
    answer = function(*args)
    growth = peak() - before
    del answer  # alive until here: the peak holds the answer too
    return growth


_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def start_peak() -> int:
    """Forget the peak so far where the system can, and return the memory held now."""
    if not _STATUS.exists():
        return peak()
    _CLEAR.write_text("5")
    return _status("VmRSS")


def peak() -> int:
    """Return the most memory that was held since ``start_peak``, or ever where it cannot forget."""
    if _STATUS.exists():
        return _status("VmHWM")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def _status(field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    assert found is not None
    return 1024 * int(found[1])
