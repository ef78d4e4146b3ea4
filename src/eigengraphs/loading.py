"""``load``: a fit from its file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.graphs.preprocess import Preprocessing
from eigengraphs.io.labels import VertexTable
from eigengraphs.limits import MaxBytes
from eigengraphs.plan import Plan
from eigengraphs.projection import MaskedProjection, Projection
from eigengraphs.saving import read_model
from eigengraphs.solvers.protocol import Fit

__all__ = ["keep_vertex_table", "load", "vertex_table"]

# Parameters that the first models did not have; they get the default.
_ADDED = {"deterministic"}
_KINDS: dict[str, Any] = {
    "_fit": Fit, "_greedy": Fit, "_plan": Plan, "_steps": Preprocessing,
    "_projection": Projection | MaskedProjection, "n_vertices_": Integral,
    "n_components_": Integral, "vertex_names_": Sequence,
}  # fmt: skip
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
    missing = set(fresh.get_params()) - set(state) - _ADDED
    if missing or "_fit" not in state:
        raise InputError(f"{str(path)!r} holds no fit of JointEmbedding")
    wrong = _unlike(state)
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
    """Return the name of something that cannot be of a fit: anybody can seal a file."""
    for name, kind in _KINDS.items():
        if not isinstance(state.get(name), kind):
            return name
    for name in state:
        if callable(getattr(JointEmbedding, name, None)):  # a method, which it would hide
            return repr(name[:60])
    n, d = state["n_vertices_"], state["n_components_"]
    if len(state["vertex_names_"]) != n or not all(type(x) is str for x in state["vertex_names_"]):
        return "vertex_names_"
    if state["_plan"].directed is True and state["_fit"].G is None:
        return "_fit.G"
    places = {"latent_positions_": state.get("latent_positions_"), "_fit.H": state["_fit"].H}
    places |= {"_fit.G": state["_fit"].G} if state["_fit"].G is not None else {}
    for name, array in places.items():
        if np.shape(array) != (n, d) or getattr(array, "dtype", None) not in _REAL:
            return name
    if not _is_table(state.get("_vertex_table")):
        return "_vertex_table"
    loadings: Any = state.get("loadings_")
    if np.ndim(loadings) != 2 or np.shape(loadings)[1] != d:
        return "loadings_"
    return None


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
