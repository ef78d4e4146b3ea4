"""The model file: a fit on disk, without pickle. Its layout is in ``docs/guide/model-file.md``.

A file is a zip archive of one JSON text and plain arrays. Its last bytes, which are the archive's
comment, are its seal: the SHA-256 of every byte before them. So no bit can change, and no byte be
lost or added, without the file being refused. Anybody can seal a file, however. So a file can name
only the classes listed here, and every part is checked against the others before it is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias, cast, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.fitting.plan import Groups, Plan, Treatment
from eigengraphs.fitting.projection import BatchProjection, MaskedProjection, Projection
from eigengraphs.fitting.settings import FIXED_BY_FIT, check_settings
from eigengraphs.fitting.solve import Refinement
from eigengraphs.io.tables_beside import VertexTable
from eigengraphs.solvers.moments import GraphMoments
from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    PenalizedLoadings,
    SparseLoadings,
    SupportLoadings,
)
from eigengraphs.solvers.solution import Fit, Stage
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.system.archives import check_compressed, npy_array, open_zip, zip_member
from eigengraphs.system.limits import Cap, MaxBytes, is_of, read_json, read_regular
from eigengraphs.system.randomness import seed_sequence
from eigengraphs.system.whole_files import whole_file

Arrays: TypeAlias = dict[str, NDArray[Any]]
Classes: TypeAlias = Mapping[str, type]

FORMAT = 2  # to be raised when older versions of the library could not read the file
_UNSEALED = 1  # the format that had no seal
_TEXT = "model.json"
_JSON_GROWS = 20  # at most so many times its size in memory, as lists of nothing do
_SEAL = b"eigengraphs model, SHA-256 of all before: "
_SEALED = re.compile(re.escape(_SEAL) + rb"([0-9a-f]{64})\Z")
_SEAL_LENGTH = len(_SEAL) + 64
# What a fit is made of.
_CLASSES = (
    BatchProjection, Fit, FreeLoadings, GraphMoments, Groups, Mask, MaskedProjection,
    NonnegativeLoadings, PenalizedLoadings, Plan, Preprocessing, Projection, Refinement,
    SparseLoadings, Stage, SupportLoadings, Treatment,
)  # fmt: skip
_OLD_NAMES = {"PenalisedLoadings": PenalizedLoadings}  # as files of 0.1 have them


def write_model(path: str | os.PathLike[str], state: dict[str, Any], more: Classes) -> Path:
    """Write the state of a fit to a file, and return the file.

    Parameters
    ----------
    path
        Name of the file.
    state
        The attributes of a fitted :class:`~eigengraphs.JointEmbedding`. The training graphs and
        ``callback`` are left out.
    more
        Attributes that some fits have, whose dataclasses are of layers above this one.
    """
    state = dict(state)
    version = state.pop("_sklearn_version", None)
    state.pop("_training", None)
    state["callback"] = None
    if not isinstance(state["random_state"], int | np.integer | type(None)):
        state["random_state"] = seed_sequence(state["_seed"])
    arrays: Arrays = {}
    tree = {
        "format": FORMAT,
        "written_by": {"scikit-learn": version, "numpy": np.__version__},
        "state": encode(state, arrays, _by_name(more), "fit"),
    }
    target = Path(path)
    try:
        _write(target, json.dumps(tree, indent=1), arrays)
    except OSError as error:
        raise InputError(
            f"cannot write the model file {str(target)!r}: {error.strerror or error}; choose "
            "another place"
        ) from None
    return target


def read_model(
    path: str | os.PathLike[str], blank: Any, max_bytes: MaxBytes, more: Classes
) -> dict[str, Any]:
    """Return the state of a fit from its file; every part of it fits the others.

    Parameters
    ----------
    path
        The file, of this format or an older one.
    blank
        An estimator that is not fitted, of the class that wrote the file.
    max_bytes
        What the file may declare to hold; see `eigengraphs.system.limits`. Only files of
        format 1 are compressed.
    more
        As for `write_model`.

    Raises
    ------
    InputError
        The file is absent, damaged, of a later format, or something else altogether.
    """
    source, cap = Path(path), Cap.of(max_bytes)
    try:
        data = read_regular(source)
    except FileNotFoundError:
        raise InputError(f"there is no model file {str(source)!r}") from None
    except OSError as error:
        raise InputError(f"cannot read {str(source)!r}: {error.strerror or error}") from None
    try:
        state: dict[str, Any] = _read(source, data, cap, _by_name(more))
    except InputError:
        raise
    except Exception as error:  # zipfile, zlib, tokenize and numpy each have errors of their own
        raise InputError(
            f"{str(source)!r} is not a complete model file of eigengraphs ({error}); write it "
            "again with JointEmbedding.save or `eigengraphs fit`"
        ) from None
    if not isinstance(state, dict) or not {*blank.get_params(), "_fit"} - _ADDED <= state.keys():
        raise InputError(f"{str(source)!r} does not hold a fit of JointEmbedding")
    if isinstance(held := state.get("_fitted_with"), dict):
        added = {name: value for name, value in blank.get_params().items() if name in _ADDED}
        state["_fitted_with"] = added | held
    try:
        wrong = _unlike(state, blank, more)
        if wrong is None:
            state |= _derived(state, blank)
    except Exception as error:  # parts that do not match fail in many ways
        wrong = f"a part ({type(error).__name__}: {error})"
    if wrong:
        raise InputError(
            f"{str(source)!r} does not hold a fit of JointEmbedding: {wrong} is not what a fit "
            "has; get the file from a source that you trust, or fit again"
        )
    return state


def keep_vertex_table(embedding: Any, table: VertexTable | None) -> None:
    """Let a fit keep what files may call its vertices: it is saved with the model."""
    if table is not None:
        # Plain values under the first names: older versions read the file, too.
        kept = {"names": table.names, "ids": table.ids, "colours": table.color_table}
        embedding._vertex_table = kept


def vertex_table(embedding: Any) -> VertexTable | None:
    """Return the table of vertices that a fit keeps, if it does."""
    kept = getattr(embedding, "_vertex_table", None)
    if kept is None:
        return None
    return VertexTable(kept["names"], kept["ids"], color_table=kept["colours"])


# ---------------------------------------------------------------------- the archive


def _by_name(more: Classes) -> dict[str, type]:
    return _OLD_NAMES | {kind.__name__: kind for kind in (*_CLASSES, *more.values())}


def _read(source: Path, data: bytes, cap: Cap, classes: Classes) -> Any:
    sealed = _SEALED.search(data[-_SEAL_LENGTH:])
    if sealed is not None and _digest(data[:-64]) != sealed[1]:
        raise ValueError("its SHA-256 shows that it was changed after it was written")
    with open_zip(source, data, cap) as archive:
        if sealed is not None and any(member.compress_type for member in archive.infolist()):
            raise ValueError("its parts are compressed, which `save` does not do")
        cap.check(source, _JSON_GROWS * archive.getinfo(_TEXT).file_size, len(data))
        tree = read_json(zip_member(archive, _TEXT))
        if not isinstance(tree, dict) or type(tree.get("format")) is not int:
            raise KeyError("format")
        if tree["format"] > FORMAT:
            raise InputError(
                f"{str(source)!r} was written by a later version of eigengraphs (format "
                f"{tree['format']}, known are those up to {FORMAT}); update eigengraphs"
            )
        if sealed is None and tree["format"] != _UNSEALED:
            raise ValueError("its end is damaged, where the SHA-256 should be")
        arrays = {
            name.removesuffix(".npy"): npy_array(source, zip_member(archive, name), cap, len(data))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    return decode(tree["state"], arrays, classes)


def _write(target: Path, text: str, arrays: Arrays) -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        # Uncompressed: numbers hardly shrink, and what is declared is then what is there. One date
        # for all: equal fits make equal files.
        archive.writestr(_member(_TEXT), text)
        for name, array in arrays.items():
            part = BytesIO()
            np.lib.format.write_array(part, np.asarray(array), allow_pickle=False)
            archive.writestr(_member(f"{name}.npy"), part.getvalue())
        archive.comment = _SEAL + b"0" * 64
    unsealed = buffer.getbuffer()[:-64]
    with whole_file(target) as path, path.open("wb") as file:
        file.write(unsealed)
        file.write(_digest(unsealed))


def _digest(data: bytes | memoryview) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o644 << 16
    return info


# ---------------------------------------------------------------------- values as JSON and arrays

_PLAIN = (bool, int, str, type(None))
_CSR = ("data", "indices", "indptr")


def encode(value: Any, arrays: Arrays, classes: Classes, place: str = "model") -> Any:
    """Return a value as JSON can hold it; arrays go to ``arrays``, which is filled.

    Parameters
    ----------
    value
        Plain values, arrays, sparse matrices, dtypes, seeds, tuples, lists, dictionaries by
        text, and dataclasses of ``classes``.
    arrays
        Arrays by the names that the result refers to.
    classes
        Dataclasses that may be stored, by name.
    place
        Where the value stands, for messages.
    """

    def inner(items: Any, mark: str) -> dict[Any, Any]:
        return {k: encode(x, arrays, classes, place + mark.format(k)) for k, x in items}

    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}  # exactly, also inf and nan
    if isinstance(value, np.generic):
        return {"scalar": _put(np.asarray(value), arrays, place)}
    if isinstance(value, np.ndarray):
        return {"array": _put(value, arrays, place)}
    if sparse.issparse(value):
        flat = cast(Any, value).tocsr()
        parts = {part: _put(getattr(flat, part), arrays, place) for part in _CSR}
        return {"sparse": parts, "shape": list(flat.shape)}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, np.random.SeedSequence):
        entropy = value.entropy
        numbers = list(entropy) if isinstance(entropy, list | tuple) else entropy
        return {"seed": numbers, "spawn_key": list(value.spawn_key)}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [*inner(enumerate(value), "[{}]").values()]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": inner(value.items(), ".{}")}
    name = type(value).__name__
    if is_dataclass(value) and classes.get(name) is type(value):
        held = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {"object": name, "fields": inner(held, ".{}")}
    raise InputError(
        f"cannot store {place} = {value!r}: a model file holds only numbers, texts and arrays, no "
        "functions; use named steps and settings, or pickle the fit yourself"
    )


def decode(tree: Any, arrays: Mapping[str, NDArray[Any]], classes: Classes) -> Any:
    """Return what `encode` was given, or raise ValueError."""

    def inner(items: dict[str, Any]) -> dict[str, Any]:
        return {key: decode(item, arrays, classes) for key, item in items.items()}

    if isinstance(tree, _PLAIN):
        return tree
    match tree:
        case {"float": str(text)}:
            return float.fromhex(text)
        case {"scalar": str(name)}:
            return arrays[name][()]
        case {"array": str(name)}:
            return arrays[name]
        case {"sparse": dict(parts), "shape": [rows, columns]}:
            data, indices, indptr = (arrays[parts[part]] for part in _CSR)
            matrix = sparse.csr_array((data, indices, indptr), shape=(rows, columns))
            check_compressed(matrix)  # or products would read beyond their arrays
            return matrix
        case {"dtype": str(text)}:
            return np.dtype(text)
        case {"seed": entropy, "spawn_key": list(spawn)}:
            return np.random.SeedSequence(entropy, spawn_key=tuple(spawn))
        case {"tuple": list(items)}:
            return tuple(decode(item, arrays, classes) for item in items)
        case {"list": list(items)}:
            return [decode(item, arrays, classes) for item in items]
        case {"dict": dict(items)}:
            return inner(items)
        case {"object": str(name), "fields": dict(held)} if name in classes:
            values, hints = inner(held), _hints(classes[name])
            for key, value in values.items():
                if key not in hints or not is_of(hints[key], value):
                    raise ValueError(f"{key!r:.60} of {name} is not of the kind that it should be")
            return classes[name](**values)
    raise ValueError(f"a model file cannot hold {str(tree)[:80]!r}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _put(array: NDArray[Any], arrays: Arrays, place: str) -> str:
    if array.dtype == object:
        if not all(isinstance(item, str) for item in array.flat):
            raise InputError(f"cannot store {place}: an array of objects other than texts")
        array = array.astype(np.str_)
    name = f"array{len(arrays)}"
    arrays[name] = array
    return name


# ---------------------------------------------------------------------- parts against each other

# Parameters that the first models did not have; they get the default.
_ADDED = {"degree_corrected", "degree_regularization", "deterministic"}
_Names: TypeAlias = tuple[str, ...]
_KINDS: dict[str, Any] = {
    "_fit": Fit, "_greedy": Fit, "_plan": Plan, "_steps": Preprocessing,
    "_projection": Projection, "n_vertices_": int, "n_components_": int,
    "vertex_names_": _Names, "_graph_names": _Names | None, "_has_vertex_names": bool,
    "_is_weighted": bool, "_dtype": np.dtype, "_fitted_with": dict,
    "_seed": np.random.SeedSequence,
}  # fmt: skip
_OF_SOME: dict[str, Any] = {
    "_moments": GraphMoments | None, "mean_degrees_": np.ndarray, "n_graphs_seen_": int,
    "refinement_": Refinement,
}  # fmt: skip
_OUTPUT = [{"transform": kind} for kind in ("default", "pandas", "polars")]


def _unlike(state: dict[str, Any], blank: Any, more: Classes) -> str | None:
    """Return the name of a part that has the wrong kind or does not fit the others in size."""
    some = _OF_SOME | {**more}
    kinds = _KINDS | {name: kind for name, kind in some.items() if name in state}
    for name, kind in kinds.items():
        if not is_of(kind, state.get(name)):
            return name
    for name in state:
        if callable(getattr(type(blank), name, None)):  # a method, which it would hide
            return repr(name[:60])
    settings = blank.get_params() | state
    check_settings(settings)
    check_settings(settings | {name: state["_fitted_with"][name] for name in FIXED_BY_FIT})
    Preprocessing.of(state["_steps"].steps)
    plan, fit, names = state["_plan"], state["_fit"], state["vertex_names_"]
    n, d, m = state["n_vertices_"], state["n_components_"], len(plan.weights)
    graphs, groups = state["_graph_names"], plan.groups
    for name, sound in {
        "_vertex_table": _is_vertex_table(state.get("_vertex_table")),
        "vertex_names_": len(names) == n == len(set(names)),
        "_graph_names": graphs is None or len(graphs) == m,
        "_dtype": state["_dtype"] in (np.float64, np.float32),
        "n_components_": d >= 1,
        "_fit.G": plan.directed is (fit.G is not None),
        "_sklearn_output_config": state.get("_sklearn_output_config", _OUTPUT[0]) in _OUTPUT,
        "_plan": 0 < plan.treatment.scale < np.inf and 0 < plan.largest_weight < np.inf,
        "_fit.stages": len(fit.stages) == len(state["_greedy"].stages) == d,
        "_plan.groups": groups is None or (groups.codes.shape == (m,) and groups.labels.ndim == 1),
    }.items():
        if not sound:
            return name
    for name, (array, shape) in _shapes(state, n, d, m).items():
        if array is None:
            continue
        same = len(array.shape) == len(shape)
        if not same or any(b not in (a, None) for a, b in zip(array.shape, shape, strict=True)):
            return name
        values: Any = array.data if sparse.issparse(array) else array  # type: ignore[attr-defined]
        if values.dtype != np.float64 or not np.isfinite(values).all():
            return name
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
    if plan.treatment.regularization is not None:
        one_way = (2, n) if plan.directed else (n,)
        shapes["mean_degrees_"] = (state.get("mean_degrees_", np.zeros(0)), one_way)
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


def _derived(state: dict[str, Any], blank: Any) -> dict[str, Any]:
    """Return the results that follow from the components and inner products of a fit."""
    again = type(blank)()
    again.__dict__.update({name: state[name] for name in ("_plan", "_dtype", "_fitted_with")})
    before = set(vars(again))
    again._store(state["_fit"], state["_projection"])
    return {name: value for name, value in vars(again).items() if name not in before}


def _is_vertex_table(kept: Any) -> bool:
    """Whether a value is what :func:`keep_vertex_table` stores, or None."""
    if kept is None:
        return True
    if not isinstance(kept, dict) or kept.keys() != {"names", "ids", "colours"}:
        return False
    names, ids = kept["names"], kept["names"] if kept["ids"] is None else kept["ids"]
    return isinstance(kept["colours"], bool) and all(
        is_of(_Names, column) and len(set(column)) == len(names) for column in (names, ids)
    )
