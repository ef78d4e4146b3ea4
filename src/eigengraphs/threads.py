"""One BLAS thread for the time of a solver, also when several fits run at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits  # scikit-learn requires it, so it is there

__all__ = ["one_blas_thread"]

_lock = Lock()
_inside = 0
_limits: threadpool_limits | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of the fits that run now is done.

    The limit holds for the whole process. Were each fit to restore what it found, one that
    began inside another would put the limit back for good.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = threadpool_limits(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None
