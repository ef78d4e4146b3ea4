"""``load``: a fit from its file."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from eigengraphs.dimension import DimensionChoice
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.plan import Plan
from eigengraphs.fitting.projection import MaskedProjection, Projection
from eigengraphs.fitting.settings import FIXED_BY_FIT, check_settings
from eigengraphs.fitting.solve import Refinement
from eigengraphs.io.vertex_tables import VertexTable
from eigengraphs.saving import read_model
from eigengraphs.solvers.moments import GraphMoments
from eigengraphs.solvers.protocol import Fit
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.system.limits import MaxBytes

__all__ = ["keep_vertex_table", "load", "vertex_table"]

# Parameters that the first models did not have; they get the default.
_ADDED = {"deterministic"}
_KINDS: dict[str, Any] = {
    "_fit": Fit, "_greedy": Fit, "_plan": Plan, "_steps": Preprocessing,
    "_projection": Projection | MaskedProjection, "n_vertices_": Integral,
    "n_components_": Integral, "vertex_names_": tuple, "_graph_names": tuple | None,
    "_has_vertex_names": bool, "_is_weighted": bool, "_dtype": np.dtype, "_fitted_with": dict,
    "_seed": np.random.SeedSequence,
}  # fmt: skip
_OF_SOME: dict[str, Any] = {
    "_moments": GraphMoments | None, "dimension_choice_": DimensionChoice,
    "n_graphs_seen_": Integral, "refinement_": Refinement,
}  # fmt: skip
_OUTPUT = [{"transform": kind} for kind in ("default", "pandas", "polars")]
_REAL = (np.dtype(np.float64), np.dtype(np.float32))


def load(path: str | os.PathLike[str], *, max_bytes: MaxBytes = None) -> JointEmbedding:
    """Read a fit that :meth:`JointEmbedding.save` wrote.

    Parameters
    ----------
    path : str or path
        The model file. Files of every older version are read; those that were changed, cut off or
        made by something else are refused.
    max_bytes : int or str, optional
        What a compressed file may say that it holds, such as "4G"; see ``SECURITY.md``.

    Returns
    -------
    JointEmbedding
        With all that the fit had but the training graphs: ``transform`` gives the same, ``extend``
        wants the graphs again.

    Examples
    --------
    >>> import tempfile, eigengraphs as eg
    >>> graphs = eg.datasets.load_mice().graphs.log1p()
    >>> path = tempfile.mkdtemp() + "/mice.eg"
    >>> je = eg.JointEmbedding(3, random_state=0).fit(graphs)
    >>> again = eg.load(je.save(path))
    >>> bool((again.transform(graphs) == je.transform(graphs)).all())
    True
    """
    state = read_model(path, max_bytes)
    fresh = JointEmbedding()
    if set(fresh.get_params()) - set(state) - _ADDED or "_fit" not in state:
        raise InputError(f"{str(path)!r} holds no fit of JointEmbedding")
    try:
        wrong = _unlike(state)
        if wrong is None:
            derived = _derived(state)
            state = derived | state  # what the first models did not keep
            wrong = next((x for x in derived if not _alike(state[x], derived[x])), None)
    except Exception as error:  # of parts that do not go together: anybody can seal a file
        wrong = f"a part ({type(error).__name__}: {error})"
    if wrong:
        raise InputError(
            f"{str(path)!r} holds no fit of JointEmbedding: {wrong} is not what a fit has; take "
            "the file from whom you trust, or fit again"
        )
    fresh.__dict__.update(state)
    fresh._training = None
    return fresh


def keep_vertex_table(embedding: JointEmbedding, table: VertexTable | None) -> None:
    """Let a fit keep what files may call its vertices: it is saved with the model."""
    if table is not None:
        # Plain values: older versions read the file, too.
        kept = {"names": table.names, "ids": table.ids, "colours": table.colours}
        embedding._vertex_table = kept


def vertex_table(embedding: JointEmbedding) -> VertexTable | None:
    """Return the table of vertices that a fit keeps, if it does."""
    kept = getattr(embedding, "_vertex_table", None)
    return None if kept is None else VertexTable(**kept)


def _unlike(state: dict[str, Any]) -> str | None:
    """Return the name of a part that has the wrong kind or does not fit the others in size."""
    for name, kind in _KINDS.items():
        if not isinstance(state.get(name), kind) or isinstance(state[name], bool) > (kind is bool):
            return name
    for name in state:
        if callable(getattr(JointEmbedding, name, None)):  # a method, which it would hide
            return repr(name[:60])
    for name, kind in _OF_SOME.items():
        if name in state and not isinstance(state[name], kind):
            return name
    if not _is_table(state.get("_vertex_table")):
        return "_vertex_table"
    settings = JointEmbedding().get_params() | state
    check_settings(settings)
    check_settings(settings | {name: state["_fitted_with"][name] for name in FIXED_BY_FIT})
    Preprocessing.of(state["_steps"].steps)
    plan, fit, names = state["_plan"], state["_fit"], state["vertex_names_"]
    n, d, m = state["n_vertices_"], state["n_components_"], len(plan.weights)
    if len(names) != n or not all(type(x) is str for x in names) or len(set(names)) < n:
        return "vertex_names_"
    graphs = state["_graph_names"]
    if graphs is not None and (len(graphs) != m or not all(type(x) is str for x in graphs)):
        return "_graph_names"
    if state["_dtype"] not in _REAL or d < 1:
        return "_dtype" if d > 0 else "n_components_"
    if plan.directed is not (fit.G is not None):
        return "_fit.G"
    if state.get("_sklearn_output_config", _OUTPUT[0]) not in _OUTPUT:
        return "_sklearn_output_config"
    for name, (array, shape) in _shapes(state, n, d, m).items():
        if array is None:
            continue
        same = len(array.shape) == len(shape)
        if not same or any(b not in (a, None) for a, b in zip(array.shape, shape, strict=True)):
            return name
        values: Any = array.data if sparse.issparse(array) else array  # type: ignore[attr-defined]
        if values.dtype != np.float64 or not np.isfinite(values).all():
            return name
    treatment = plan.treatment
    if not 0 < treatment.scale < np.inf or not 0 < plan.largest_weight < np.inf:
        return "_plan"
    if any(len(fit.stages) != d for fit in (fit, state["_greedy"])):
        return "_fit.stages"
    groups = plan.groups
    if groups is not None and (groups.codes.shape != (m,) or groups.labels.ndim != 1):
        return "_plan.groups"
    return None


def _shapes(state: dict[str, Any], n: int, d: int, m: int) -> dict[str, tuple[Any, Any]]:
    """Return arrays of a fit with the shapes that they must have; None is any length."""
    plan, known = state["_plan"], state["_projection"]
    shapes: dict[str, tuple[Any, Any]] = {
        "_plan.weights": (plan.weights, (m,)),
        "_plan.treatment.mean": (plan.treatment.mean, (n, n)),
        "_projection.Gammas": (getattr(known, "Gammas", None), (m, d, d)),
        "_projection.observed": (getattr(known, "observed", None), (m,)),
    }
    for name in ("_fit", "_greedy"):
        shapes |= {f"{name}.H": (state[name].H, (n, d)), f"{name}.G": (state[name].G, (n, d)),
                   f"{name}.Psi": (state[name].Psi, (None, d))}  # fmt: skip
    parts = {"_projection": (known, m), "_projection.rows": (getattr(known, "rows", None), None)}
    for name, (part, count) in parts.items():
        if part is not None:
            shapes |= {f"{name}.Gamma": (part.Gamma, (d, d)), f"{name}.Psi": (part.Psi, (count, d)),
                       f"{name}.squared_norms": (part.squared_norms, (count,))}  # fmt: skip
    moments = state.get("_moments")
    if moments is not None:
        p = n * (n + 1) // 2
        shapes |= {"_moments.mean": (moments.mean, (p,)),
                   "_moments.triangle": (moments.triangle, (p * (p + 1) // 2,))}  # fmt: skip
    return shapes


def _derived(state: dict[str, Any]) -> dict[str, Any]:
    """Return the results that follow from the components and inner products of a fit."""
    again = JointEmbedding()
    again.__dict__.update({name: state[name] for name in ("_plan", "_dtype", "_fitted_with")})
    before = set(vars(again))
    again._store(state["_fit"], state["_projection"])
    return {name: value for name, value in vars(again).items() if name not in before}


def _alike(value: Any, wanted: Any) -> bool:
    """Tell whether a value is of the kind and the size of another, and finite where it is."""
    if isinstance(wanted, np.ndarray):
        same = isinstance(value, np.ndarray) and value.dtype.kind == wanted.dtype.kind
        if not same or value.shape != wanted.shape:
            return False
        return wanted.dtype.kind != "f" or bool((np.isfinite(value) >= np.isfinite(wanted)).all())
    if isinstance(wanted, tuple):
        return (
            isinstance(value, tuple)
            and len(value) == len(wanted)
            and all(map(_alike, value, wanted))
        )
    if isinstance(wanted, bool | int | float):
        return isinstance(value, type(wanted)) and isinstance(value, bool) is isinstance(
            wanted, bool
        )
    return sparse.issparse(value) if sparse.issparse(wanted) else isinstance(value, type(wanted))


def _is_table(kept: Any) -> bool:
    """Whether a value is what :func:`keep_vertex_table` stores, or None."""
    if kept is None:
        return True
    if not isinstance(kept, dict) or set(kept) != {"names", "ids", "colours"}:
        return False
    columns = [kept["names"]] if kept["ids"] is None else [kept["names"], kept["ids"]]
    return isinstance(kept["colours"], bool) and all(
        isinstance(column, tuple)
        and all(type(x) is str for x in column)
        and len(set(column)) == len(columns[0])
        for column in columns
    )
