"""Lines on standard error about a running fit."""

from __future__ import annotations

import sys

from eigengraphs.solvers.protocol import Progress, Watcher

__all__ = ["ProgressPrinter"]


class ProgressPrinter:
    """Print where a fit stands, and pass it on to a callback.

    A line a component, or a line a round when all components are searched at once
    (``verbose=1``); also one every 25 iterations of a component (``verbose=2``).
    """

    def __init__(self, n_components: int, verbose: int, callback: Watcher | None) -> None:
        self._d = n_components
        self._verbose = verbose
        self._callback = callback
        self._last: Progress | None = None

    @property
    def watcher(self) -> Watcher | None:
        """What a solver should call, if anything."""
        return self if self._verbose or self._callback is not None else None

    def __call__(self, progress: Progress) -> None:
        """Take note of one iteration."""
        last, self._last = self._last, progress
        if self._verbose:
            if progress.component is None:
                print(
                    f"round {progress.n_iter}: {progress.n_converged}/{self._d} components found, "
                    f"gradient {progress.stationarity:.1e}, {progress.n_passes} passes",
                    file=sys.stderr,
                )
            elif last is not None and last.component != progress.component:
                self._print(last, "found")
            elif self._verbose > 1 and progress.n_iter % 25 == 0:
                self._print(progress, "searching")
        if self._callback is not None:
            self._callback(progress)

    def close(self) -> None:
        """Print the last component."""
        if self._verbose and self._last is not None and self._last.component is not None:
            self._print(self._last, "found")

    def _print(self, progress: Progress, what: str) -> None:
        assert progress.component is not None
        print(
            f"component {progress.component + 1}/{self._d} {what}: iteration {progress.n_iter}, "
            f"gradient {progress.stationarity:.1e}",
            file=sys.stderr,
        )
