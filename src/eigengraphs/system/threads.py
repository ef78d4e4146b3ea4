"""One BLAS thread for the time of a solver, also when several fits run at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController  # scikit-learn requires it, so it is there

__all__ = ["one_blas_thread"]

_lock = Lock()
_inside = 0
_limits: Any = None


@cache
def _controller() -> Any:
    """Return the BLAS libraries of this process; finding them takes longer than a small fit."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of the fits that run now is done.

    The limit holds for the whole process. Were each fit to restore what it found, one that
    began inside another would put the limit back for good.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = _controller().limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None
