"""Lines on standard error about a running fit."""

from __future__ import annotations

import sys

__all__ = ["ProgressPrinter"]


class ProgressPrinter:
    """Print a line a component (``verbose=1``), and one every 25 iterations (``verbose=2``)."""

    def __init__(self, n_components: int, verbose: int) -> None:
        self._d = n_components
        self._verbose = verbose
        self._last: tuple[int, int, float] | None = None

    def __call__(self, k: int, n_iter: int, stationarity: float) -> None:
        """Take note of one iteration."""
        if self._last is not None and self._last[0] != k:
            self._print("found")
        self._last = (k, n_iter, stationarity)
        if self._verbose > 1 and n_iter % 25 == 0:
            self._print("searching")

    def close(self) -> None:
        """Print the last component."""
        if self._last is not None:
            self._print("found")

    def _print(self, what: str) -> None:
        assert self._last is not None
        k, n_iter, stationarity = self._last
        print(
            f"component {k + 1}/{self._d} {what}: iteration {n_iter}, gradient {stationarity:.1e}",
            file=sys.stderr,
        )
