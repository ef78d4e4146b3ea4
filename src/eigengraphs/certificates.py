"""What a fit tells about itself: warnings when it did not go well, a summary to look at."""

from __future__ import annotations

import sys
import warnings
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from eigengraphs.errors import DegenerateWarning
from eigengraphs.solvers.protocol import Fit

__all__ = ["Described", "describe", "warn_of_bound", "warn_of_trouble"]


def warn_of_trouble(
    fit: Fit,
    degenerate: NDArray[np.bool_],
    rounding: NDArray[np.bool_],
    tol: float,
    max_iter: int,
    *,
    free: bool = True,
) -> None:
    """Warn of components that did not converge, or that mean nothing.

    ``rounding`` tells those that were found in what rounding had left of the graphs.
    ``free`` tells whether loadings may be what they like: then nothing is left to fit when no
    further component is found.
    """
    late = [k + 1 for k, stage in enumerate(fit.stages) if not stage.converged]
    if late and not fit.interrupted:
        worst = max(stage.stationarity for stage in fit.stages)
        stalled = any(stage.stop_reason == "stalled" for stage in fit.stages)
        why = "without further progress" if stalled else f"at max_iter={max_iter}"
        warnings.warn(
            f"component {_numbers(late)} stopped {why} with a relative gradient "
            f"of up to {worst:.1e} (tol={tol:.0e}); raise {'' if stalled else 'max_iter or '}tol",
            ConvergenceWarning,
            stacklevel=_levels_to_caller(),
        )
    empty = [k + 1 for k, active in enumerate(fit.active) if not active]
    if empty:
        fitted = f"the first {empty[0] - 1} components fit the graphs exactly"
        if empty[0] == 2:
            fitted = "the first component fits the graphs exactly"
        if empty[0] == 1:
            fitted = "the graphs (less their mean, if centred) are zero"
        if not free:
            fitted = "no direction is left that the loadings allowed here could fit"
        warnings.warn(
            f"{fitted}; component {_numbers(empty)} got an arbitrary direction and zero loadings: "
            "use fewer components",
            DegenerateWarning,
            stacklevel=_levels_to_caller(),
        )
    beyond = [int(k) + 1 for k in np.flatnonzero(rounding & fit.active)]
    if beyond:
        warnings.warn(
            f"the first {beyond[0] - 1} components explain all of the graphs but rounding; "
            f"components from {beyond[0]} on mean nothing (degenerate_ tells which): use "
            f"n_components={beyond[0] - 1} or fewer",
            DegenerateWarning,
            stacklevel=_levels_to_caller(),
        )
    tiny = [int(k) + 1 for k in np.flatnonzero(degenerate & fit.active & ~rounding)]
    if tiny:
        warnings.warn(
            f"component {_numbers(tiny)} sits on one or two vertices alone, where without the "
            "diagonal its loadings mean nothing (degenerate_ tells which); use fewer components, "
            "or another setting of diagonal",
            DegenerateWarning,
            stacklevel=_levels_to_caller(),
        )


def warn_of_bound(refinement: Any) -> None:
    """Warn of components that ran into each other while they were refined."""
    if refinement.bound_met:
        warnings.warn(
            "refined components ran towards each other, with loadings of opposite signs, until a "
            f"bound on the condition of their inner products stopped them (it is now "
            f"{refinement.condition:.0f}); use fewer components, or refine=False",
            DegenerateWarning,
            stacklevel=_levels_to_caller(),
        )


class Described:
    """What scikit-learn, pickle and a notebook see of :class:`~eigengraphs.JointEmbedding`."""

    missing: Any
    loadings: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "unobserved"
        tags.target_tags.required = self.loadings == "class"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __getstate__(self) -> dict[str, Any]:
        found: Any = super().__getstate__()
        state: dict[str, Any] = dict(found)
        if "_training" in state:
            state["_training"] = None  # a saved fit does not carry the data
        return state

    def _repr_html_(self) -> str:
        return describe(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:  # noqa: ARG002
        return {"text/plain": repr(self), "text/html": describe(self)}


def describe(embedding: Any) -> str:
    """Return an HTML table of a fit, or the settings of one that is not fitted yet."""
    if not hasattr(embedding, "loadings_"):
        return f"<pre>{escape(repr(embedding))}</pre>"
    m, d = embedding.loadings_.shape
    seen = getattr(embedding, "n_graphs_seen_", m)  # after partial_fit
    head = (
        f"{m} graphs{f' of {seen} seen' if seen > m else ''}, "
        f"{embedding.n_vertices_} vertices, {d} components; "
        f"explained {embedding.explained_ratio_.sum():.1%}; diagonal {embedding.diagonal_}; "
        f"{'converged' if embedding.converged_ else 'not converged'}, {embedding.n_passes_} passes"
    )
    unit = np.abs(embedding.loadings_).max() or 1.0  # squares of 1e200 are infinite
    names = embedding.get_feature_names_out()
    columns = zip(
        names,
        (f"{share:.2%}" for share in embedding.explained_ratio_),
        (f"{mean:.4g}" for mean in embedding.loadings_.mean(axis=0)),
        (f"{spread:.4g}" for spread in unit * (embedding.loadings_ / unit).std(axis=0)),
        embedding.stop_reason_,
        strict=True,
    )
    titles = ("component", "explained", "mean loading", "sd of loadings", "stopped")
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in columns
    )
    header = "".join(f"<th>{title}</th>" for title in titles)
    return (
        f"<table><caption>{escape(repr(embedding))}<br>{escape(head)}</caption>"
        f"<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _levels_to_caller() -> int:
    """Return the stack level, as warnings count them, of the first code that is not a library's.

    `fit_transform` and a pipeline are further from the user than `fit`.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        frame, level = frame.f_back, level + 1
        if frame.f_globals.get("__name__", "").partition(".")[0] not in ("eigengraphs", "sklearn"):
            break
    return level


def _numbers(components: list[int]) -> str:
    return ", ".join(map(str, components))
