"""Messages of a fit: lines of progress, warnings at its end, and an HTML table."""

from __future__ import annotations

import sys
import warnings
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from eigengraphs.errors import DegenerateWarning
from eigengraphs.solvers.solution import Fit, Progress, Watcher


class ProgressPrinter:
    """Print the progress of a fit to standard error, and pass it on to a callback.

    One line per component, or one line per round when all components are searched at once
    (``verbose=1``); also one line every 25 iterations of a component (``verbose=2``).
    """

    def __init__(self, n_components: int, verbose: int, callback: Watcher | None) -> None:
        self._d, self._verbose, self._callback = n_components, verbose, callback
        self._last: Progress | None = None

    @property
    def watcher(self) -> Watcher | None:
        """What a solver should call, if anything."""
        return self if self._verbose or self._callback is not None else None

    def __call__(self, progress: Progress) -> None:
        """Take note of one iteration."""
        last, self._last = self._last, progress
        if progress.component is None:
            self._print(
                f"round {progress.n_iter}: {progress.n_converged}/{self._d} components found, "
                f"gradient {progress.stationarity:.1e}, {progress.n_passes} passes"
            )
        elif last is not None and last.component != progress.component:
            self._tell(last, "found")
        elif self._verbose > 1 and progress.n_iter % 25 == 0:
            self._tell(progress, "searching")
        if self._callback is not None:
            self._callback(progress)

    def close(self) -> None:
        """Print the last component."""
        if self._last is not None and self._last.component is not None:
            self._tell(self._last, "found")

    def _tell(self, progress: Progress, what: str) -> None:
        self._print(
            f"component {(progress.component or 0) + 1}/{self._d} {what}: iteration "
            f"{progress.n_iter}, gradient {progress.stationarity:.1e}"
        )

    def _print(self, text: str) -> None:
        if self._verbose:
            print(text, file=sys.stderr)


def warn_of_trouble(
    fit: Fit,
    degenerate: NDArray[np.bool_],
    rounding: NDArray[np.bool_],
    tol: float,
    max_iter: int,
    *,
    free: bool,
) -> None:
    """Warn of components that did not converge, or that mean nothing.

    Parameters
    ----------
    fit
        The components.
    degenerate, rounding : (d,)
        Components that mean nothing, and those found in what rounding left of the graphs.
    tol, max_iter
        Of the search.
    free
        Whether loadings are free: then nothing is left to fit when no further component is found.
    """
    late = [k for k, stage in enumerate(fit.stages) if not stage.converged]
    if late and not fit.interrupted:
        worst = max(stage.stationarity for stage in fit.stages)
        stalled = any(stage.stop_reason == "stalled" for stage in fit.stages)
        why = "without further progress" if stalled else f"at max_iter={max_iter}"
        _warn(
            f"{_numbers(late)} stopped {why} with a relative gradient "
            f"of up to {worst:.1e} (tol={tol:.0e}); raise {'' if stalled else 'max_iter or '}tol",
            ConvergenceWarning,
        )
    empty = np.flatnonzero(~fit.active)
    if empty.size:
        fitted = f"the first {empty[0]} components fit the graphs exactly"
        if empty[0] == 1:
            fitted = "the first component fits the graphs exactly"
        if empty[0] == 0:
            fitted = "the graphs (less their mean, if centered) are zero"
        if not free:
            fitted = "no direction is left that the loadings allowed here could fit"
        _warn(
            f"{fitted}; {_numbers(empty)} got an arbitrary direction and zero loadings: "
            "use fewer components"
        )
    beyond = np.flatnonzero(rounding & fit.active)
    if beyond.size:
        k = beyond[0]
        _warn(
            f"the first {k} components explain the graphs up to rounding; components from {k + 1} "
            f"on mean nothing (degenerate_ tells which): use n_components={k} or fewer"
        )
    tiny = np.flatnonzero(degenerate & fit.active & ~rounding)
    if tiny.size:
        _warn(
            f"only one or two vertices carry {_numbers(tiny)}, where loadings mean nothing without "
            "the diagonal (degenerate_ tells which); use fewer components, or another setting of "
            "diagonal"
        )


def warn_of_bound(condition: float) -> None:
    """Warn of components that became collinear, up to a bound, while they were refined."""
    _warn(
        "refined components became nearly collinear, with loadings of opposite signs, until a "
        "bound on the condition number of their inner products stopped them (now "
        f"{condition:.0f}); use fewer components, or refine=False"
    )


def describe(embedding: Any) -> str:
    """Return an HTML table of a fit, or the settings of one that is not fitted yet."""
    if not hasattr(embedding, "loadings_"):
        return f"<pre>{escape(repr(embedding))}</pre>"
    Lam, explained = embedding.loadings_, embedding.explained_ratio_
    m, d = Lam.shape
    seen = getattr(embedding, "n_graphs_seen_", m)  # after partial_fit
    head = (
        f"{m} graphs{f' of {seen} seen' if seen > m else ''}, "
        f"{embedding.n_vertices_} vertices, {d} components; "
        f"explained {explained.sum():.1%}; diagonal {embedding.diagonal_}; "
        f"{'converged' if embedding.converged_ else 'not converged'}, {embedding.n_passes_} passes"
    )
    unit = np.abs(Lam).max() or 1.0  # squares of 1e200 are infinite
    columns = {
        "component": embedding.get_feature_names_out(),
        "explained": [f"{share:.2%}" for share in explained],
        "mean loading": [f"{mean:.4g}" for mean in Lam.mean(axis=0)],
        "sd of loadings": [f"{spread:.4g}" for spread in unit * (Lam / unit).std(axis=0)],
        "stopped": embedding.stop_reason_,
    }
    header = "".join(f"<th>{title}</th>" for title in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    return (
        f"<table><caption>{escape(repr(embedding))}<br>{escape(head)}</caption>"
        f"<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>"
    )


def explained_of(centered: bool) -> str:
    """Return what shares are of wherever something is "explained", in words."""
    return "the sum of squares around the mean graph" if centered else "the sum of squares"


def _warn(text: str, kind: type[Warning] = DegenerateWarning) -> None:
    """Warn at the first line of code outside of the library and scikit-learn.

    `fit_transform` and a pipeline add levels to those of `fit`.
    """
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None:
        frame, level = frame.f_back, level + 1
        if frame.f_globals.get("__name__", "").partition(".")[0] not in ("eigengraphs", "sklearn"):
            break
    warnings.warn(text, kind, stacklevel=level)


def _numbers(components: Any) -> str:
    """Return "component 3" or "components 1, 2" from indices, which begin at 0."""
    return f"component{'s' * (len(components) > 1)} {', '.join(str(k + 1) for k in components)}"
