"""Check the settings of a ``JointEmbedding`` before any work is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._set_output import _get_output_config

from eigengraphs.errors import InputError
from eigengraphs.stack.preprocess import Preprocessing

# What a fit that is continued must share with its beginning.
FIXED_BY_FIT = (
    "center", "degree_corrected", "degree_regularization", "diagonal", "directed", "l1_penalty",
    "loadings", "max_nonzeros", "missing", "preprocess", "refine",
)  # fmt: skip
CHOICES: dict[str, tuple[Any, ...]] = {
    "solver": ("subspace", "algorithm1"),
    "loadings": ("free", "shared", "class", "nonnegative", "sparse"),
    "directed": (False, True),
    "degree_corrected": (False, True),
    "diagonal": ("auto", "filled", "observed", "unobserved"),
    "missing": ("error", "unobserved"),
    "refine": (False, True),
    "center": (False, True),
    "deterministic": (False, True),
}
_STARTS = ("auto", "svd", "random")


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise an error for a setting that is wrong; none is ignored."""
    for name, allowed in CHOICES.items():
        value = settings[name]
        known = isinstance(value, bool | np.bool_ if allowed[0] is False else str)
        if not known or value not in allowed:
            raise InputError(f"{name} must be one of {_listed(allowed)}, got {name}={value!r}")
    _check_sparsity(settings)
    if not _is_positive(settings["degree_regularization"]):
        raise InputError(
            "degree_regularization must be a positive number, the share of the mean degree that is "
            f"added to every degree; got {settings['degree_regularization']!r}"
        )
    refused = refusal(settings)
    if refused is not None:
        raise InputError(refused)
    callback = settings["callback"]
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be None or a function, got callback={callback!r}")
    for name in ("n_init", "max_iter"):
        check_count(name, settings[name])
    verbose = settings["verbose"]
    if not isinstance(verbose, int | np.integer) or verbose < 0:
        raise InputError(f"verbose must be a whole number >= 0, got verbose={verbose!r}")
    tol = settings["tol"]
    if not _is_positive(tol) and not (isinstance(tol, str) and tol == "auto"):
        raise InputError(f"tol must be 'auto' or a positive number, got tol={tol!r}")


def _check_sparsity(settings: Mapping[str, Any]) -> None:
    loadings, k, penalty = (settings[x] for x in ("loadings", "max_nonzeros", "l1_penalty"))
    if k is not None:
        check_count("max_nonzeros", k)
    if penalty is not None and not _is_positive(penalty):
        raise InputError(f"l1_penalty must be None or a positive number, got {penalty!r}")
    if k is not None and penalty is not None:
        raise InputError("max_nonzeros and l1_penalty are two ways to the same end; give one")
    if loadings == "sparse" and k is None and penalty is None:
        raise InputError(
            "loadings='sparse' needs max_nonzeros=k (at most k nonzero loadings per graph) or "
            "l1_penalty"
        )
    if loadings not in ("sparse", "nonnegative") and (k is not None or penalty is not None):
        name = "max_nonzeros" if k is not None else "l1_penalty"
        raise InputError(
            f"{name} belongs to loadings='sparse' or 'nonnegative', got loadings={loadings!r}"
        )


def refusal(settings: Mapping[str, Any], *, has_missing: bool = False) -> str | None:
    """Return why settings cannot be combined, and what to do; None if they can.

    Parameters
    ----------
    settings
        Of the estimator.
    has_missing
        Whether the graphs have entries that are not observed.
    """
    loadings, diagonal = settings["loadings"], settings["diagonal"]
    corrected, center = settings["degree_corrected"], settings["center"]
    missing = "missing='unobserved' with missing entries"
    if loadings == "shared" and center:
        return (
            "loadings='shared' with center=True leaves nothing to fit: the mean graph is all that "
            "shared loadings see, and centering takes it away; use center=False"
        )
    by_degrees = {
        "center=True": (center, "the mean graph has other degrees than the graphs it is subtracted "
                        "from; use center=False"),
        f"diagonal={diagonal!r}": (diagonal in ("filled", "unobserved"), "degrees are sums of the "
                                   "entries as they are; use diagonal='auto'"),
        missing: (has_missing, "degrees of what is observed are not those of the graph; fill the "
                  "entries first"),
        "preprocess='laplacian'": ("laplacian" in Preprocessing.of(settings["preprocess"]).names,
                                   "it divides by the same degrees first; use one of the two"),
    }  # fmt: skip
    for what, (asked, why) in by_degrees.items() if corrected else ():
        if asked:
            return f"{what} has no meaning with degree_corrected=True: {why}"
    beyond = {
        f"loadings={loadings!r}": loadings in ("nonnegative", "sparse"),
        "directed=True": settings["directed"],
        "degree_corrected=True": corrected,
        "diagonal='unobserved'": diagonal == "unobserved",
        "refine=True": settings["refine"],
        missing: has_missing,
    }
    for what, asked in beyond.items() if settings["solver"] == "algorithm1" else ():
        if asked:
            return f"{what} is not available with solver='algorithm1'; use solver='subspace'"
    return None


def refuse_batches(settings: Mapping[str, Any]) -> None:
    """Raise an error for settings under which graphs cannot be summed up and forgotten."""
    loadings = settings["loadings"]
    beyond = {
        f"loadings={loadings!r}": (loadings != "free", "needs more of the graphs than moments"),
        "directed=True": (settings["directed"], "has components that these moments do not show"),
        "degree_corrected=True": (settings["degree_corrected"], "needs the degrees of each graph"),
        "refine=True": (settings["refine"], "goes back to all graphs"),
        "solver='algorithm1'": (settings["solver"] == "algorithm1", "goes back to all graphs"),
        "n_components='auto'": (
            isinstance(settings["n_components"], str),
            "splits all graphs; choose the number with select_dimension on some of them",
        ),
    }
    for what, (asked, why) in beyond.items():
        if asked:
            raise InputError(
                f"partial_fit is not offered with {what}, which {why}; fit all graphs together, "
                "or use free loadings of undirected graphs and a number of components"
            )


def check_unchanged(settings: Mapping[str, Any], before: Mapping[str, Any], what: str) -> None:
    """Raise an error where settings differ from those before; ``what`` ends the sentence."""
    changed = [name for name in FIXED_BY_FIT if settings[name] != before[name]]
    if changed:
        raise InputError(f"{' and '.join(changed)} changed since {what}")


def check_n_components(value: Any, n_vertices: int, *, directed: bool = False) -> int:
    """Return the number of components if matrices on n vertices can have as many."""
    if isinstance(value, str) and value != "auto":
        raise InputError(
            f"n_components must be a whole number >= 1 or 'auto', got {value!r}"
            + ("; inner folds need labels: 'cv' is for evaluate and contest" * (value == "cv"))
        )
    check_count("n_components", value)
    most = n_vertices**2 if directed else n_vertices * (n_vertices + 1) // 2
    if value > most:
        raise InputError(
            f"n_components={value} is more than {most}, the number "
            f"{'n^2' if directed else 'n(n+1)/2'} of linearly independent components on "
            f"{n_vertices} vertices"
        )
    return int(value)


def check_weights(sample_weight: Any, n_graphs: int) -> NDArray[np.float64]:
    """Return one nonnegative weight per graph, (m,)."""
    if sample_weight is None:
        return np.ones(n_graphs)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold one number per graph") from None
    if weights.shape != (n_graphs,):
        raise InputError(
            f"sample_weight must have shape ({n_graphs},), one per graph; got {weights.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        i = wrong[0]
        raise InputError(
            f"sample_weight must be finite and >= 0; sample_weight[{i}] is {weights[i]}"
        )
    if not weights.any():
        raise InputError("sample_weight is zero for every graph; at least one must count")
    return weights


def given_start(init: Any, n_vertices: int, n_components: int, *, directed: bool = False) -> Any:
    """Return the name of a start, or an array (n, d), directed (2, n, d), of given starts."""
    if isinstance(init, str):
        if init not in _STARTS:
            raise InputError(f"init must be one of {_listed(_STARTS)} or an array, got {init!r}")
        return init
    try:
        start = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"init must be one of {_listed(_STARTS)} or an array of numbers") from None
    sides = (2,) if directed else ()
    right = start.ndim == len(sides) + 2 and start.shape[:-1] == (*sides, n_vertices)
    if not right or start.shape[-1] < n_components:
        raise InputError(
            f"an array of starts must have shape {(*sides, n_vertices, n_components)}, one column "
            f"per component{' of H and of G' if directed else ''}; got {start.shape}"
        )
    norms = np.sqrt((start**2).sum(axis=-2)).reshape(-1, start.shape[-1])
    wrong = np.argwhere(~np.isfinite(norms) | (norms == 0))
    if wrong.size:
        side, column = wrong[0]
        raise InputError(f"column {column} of init has norm {norms[side, column]}: no direction")
    return start


def tolerance(tol: Any, dtype: np.dtype[Any]) -> float:
    """Return the tolerance; "auto" stays above what products in the graphs' type can resolve."""
    if isinstance(tol, str):
        return 1e-5 if dtype == np.float32 else 1e-8
    return float(tol)


def name_rows(estimator: Any, values: NDArray[Any], names: Sequence[str] | None) -> Any:
    """Return what ``transform`` found; as a table by graph name where set_output asks for pandas.

    scikit-learn, which makes tables of what ``transform`` returns, keeps the index of a table.
    """
    if names is None or _get_output_config("transform", estimator)["dense"] != "pandas":
        return values
    import pandas as pd

    return pd.DataFrame(values, index=list(names))


def check_count(name: str, value: Any) -> None:
    """Raise an error for what is not a whole number >= 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} must be a whole number >= 1, got {name}={value!r}")


def _is_positive(value: Any) -> bool:
    number = isinstance(value, float | int | np.number) and not isinstance(value, bool)
    return number and bool(0 < value < np.inf)


def _listed(values: tuple[Any, ...]) -> str:
    return ", ".join(map(repr, values))
