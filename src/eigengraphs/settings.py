"""Check the settings of a ``JointEmbedding`` before any work is done."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError, NotAvailableError

__all__ = [
    "check_count",
    "check_n_components",
    "check_settings",
    "check_weights",
    "given_start",
    "tolerance",
]

# Settings that the interface names and a later version brings; value -> what it will be.
_LATER: dict[str, dict[Any, str]] = {
    "loadings": {
        "shared": "loadings shared by all graphs (Variation 1 of the paper)",
        "class": "loadings shared within classes (Variation 2 of the paper)",
        "nonnegative": "nonnegative loadings (Variation 3 of the paper)",
        "sparse": "sparse loadings (Variation 3 of the paper)",
    },
    "directed": {True: "components h g^T for directed graphs"},
    "refine": {True: "refinement of all components together"},
}
_NOW: dict[str, tuple[Any, ...]] = {
    "solver": ("subspace", "algorithm1"),
    "loadings": ("free",),
    "directed": (False,),
    "diagonal": ("auto", "filled", "observed", "unobserved"),
    "refine": (False,),
    "center": (False, True),
}


def check_settings(settings: dict[str, Any]) -> None:
    """Raise an error for a setting that is wrong, or not there yet; none is ignored."""
    for name, allowed in _NOW.items():
        value = settings[name]
        known = isinstance(value, str | bool | np.bool_)
        if known and value in _LATER.get(name, {}):
            raise NotAvailableError(
                f"{name}={value!r} ({_LATER[name][value]}) is not in this version; "
                f"use {name}={allowed[0]!r}"
            )
        if not known or value not in allowed:
            one_of = "" if len(allowed) == 1 else "one of "
            raise InputError(f"{name} must be {one_of}{_listed(allowed)}, got {name}={value!r}")
    if settings["max_nonzeros"] is not None:
        raise NotAvailableError(
            "max_nonzeros belongs to loadings='sparse', which is not in this version; "
            "leave max_nonzeros=None"
        )
    if settings["diagonal"] == "unobserved" and settings["solver"] == "algorithm1":
        raise InputError(
            "diagonal='unobserved' is beyond solver='algorithm1', the paper's; "
            "use solver='subspace', or diagonal='filled'"
        )
    callback = settings["callback"]
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be None or a function, got callback={callback!r}")
    for name in ("n_init", "max_iter"):
        check_count(name, settings[name])
    verbose = settings["verbose"]
    if not isinstance(verbose, int | np.integer) or verbose < 0:
        raise InputError(f"verbose must be a whole number >= 0, got verbose={verbose!r}")
    tol = settings["tol"]
    positive = isinstance(tol, float | int | np.number) and not isinstance(tol, bool) and tol > 0
    if not positive and not (isinstance(tol, str) and tol == "auto"):
        raise InputError(f"tol must be 'auto' or a positive number, got tol={tol!r}")


def check_n_components(value: Any, n_vertices: int) -> int:
    """Return the number of components if symmetric matrices on n vertices can have as many."""
    if isinstance(value, str) and value == "auto":
        raise NotAvailableError(
            "n_components='auto' (choosing the number of components) is not in this version; "
            "give a number, and look where objective_path_ flattens out"
        )
    check_count("n_components", value)
    most = n_vertices * (n_vertices + 1) // 2
    if value > most:
        raise InputError(
            f"n_components={value} is more than {most}, the number n(n+1)/2 of linearly "
            f"independent components on {n_vertices} vertices"
        )
    return int(value)


def check_weights(sample_weight: Any, n_graphs: int) -> NDArray[np.float64]:
    """Return one nonnegative weight a graph, (m,)."""
    if sample_weight is None:
        return np.ones(n_graphs)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold one number a graph") from None
    if weights.shape != (n_graphs,):
        raise InputError(
            f"sample_weight must have shape ({n_graphs},), one a graph; got {weights.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        raise InputError(
            f"sample_weight must be finite and >= 0; sample_weight[{wrong[0]}] is "
            f"{weights[wrong[0]]}"
        )
    if not weights.any():
        raise InputError("sample_weight is zero for every graph; at least one must count")
    return weights


def given_start(init: Any, n_vertices: int, n_components: int) -> Any:
    """Return the name of a start, or an array (n, d) of given starts."""
    names = ("auto", "svd", "random")
    if isinstance(init, str):
        if init not in names:
            raise InputError(f"init must be one of {_listed(names)} or an array, got {init!r}")
        return init
    try:
        start = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"init must be one of {_listed(names)} or an array of numbers") from None
    if start.ndim != 2 or start.shape[0] != n_vertices or start.shape[1] < n_components:
        raise InputError(
            f"an array of starts must have shape ({n_vertices}, {n_components}), one column a "
            f"component; got {start.shape}"
        )
    norms = np.sqrt((start**2).sum(axis=0))
    wrong = np.flatnonzero(~np.isfinite(norms) | (norms == 0))
    if wrong.size:
        raise InputError(f"column {wrong[0]} of init has norm {norms[wrong[0]]}, so no direction")
    return start


def tolerance(tol: Any, dtype: np.dtype[Any]) -> float:
    """Return the tolerance; "auto" stays above what products in the graphs' type can resolve."""
    if isinstance(tol, str):
        return 1e-5 if dtype == np.float32 else 1e-8
    return float(tol)


def check_count(name: str, value: Any) -> None:
    """Raise an error for what is not a whole number >= 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} must be a whole number >= 1, got {name}={value!r}")


def _listed(values: tuple[Any, ...]) -> str:
    return ", ".join(map(repr, values))
