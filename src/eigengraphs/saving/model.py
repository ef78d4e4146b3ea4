"""``save`` of a fit, and reading one back: a sealed zip of one JSON text and plain arrays.

The layout is in ``docs/guide/model-file.md``. The last bytes of the file, which are the archive's
comment, are its seal: the SHA-256 of every byte before them. So no bit can change, and no byte be
lost or added, without the file being refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.dimension import DimensionChoice
from eigengraphs.errors import InputError
from eigengraphs.fitting.plan import Groups, Plan
from eigengraphs.fitting.projection import BatchProjection, MaskedProjection, Projection
from eigengraphs.fitting.solve import Refinement
from eigengraphs.operators.treatment import Treatment
from eigengraphs.saving.tree import Arrays, decode, encode
from eigengraphs.solvers.moments import GraphMoments
from eigengraphs.solvers.protocol import Fit, Stage
from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    PenalizedLoadings,
    SparseLoadings,
    SupportLoadings,
)
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.system.archives import npy_array, open_zip, zip_member
from eigengraphs.system.limits import Cap, MaxBytes, read_json, read_regular
from eigengraphs.system.randomness import seed_sequence
from eigengraphs.system.whole_files import whole_file

__all__ = ["read_model", "save_fit"]

FORMAT = 2  # to be raised when older versions of the library could not read the file
_UNSEALED = 1  # the format that had no seal
_TEXT = "model.json"
_JSON_GROWS = 20  # at most so many times its size in memory, as lists of nothing do
_SEAL = b"eigengraphs model, SHA-256 of all before: "
_SEALED = re.compile(re.escape(_SEAL) + rb"([0-9a-f]{64})\Z")
_SEAL_LENGTH = len(_SEAL) + 64
_CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        BatchProjection, DimensionChoice, Fit, FreeLoadings, GraphMoments, Groups, Mask,
        MaskedProjection, NonnegativeLoadings, PenalizedLoadings, Plan, Preprocessing, Projection,
        Refinement, SparseLoadings, Stage, SupportLoadings, Treatment,
    )
}  # fmt: skip
_CLASSES["PenalisedLoadings"] = PenalizedLoadings  # its name in files of 0.1


def save_fit(state: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write the state of a fit to a file, and return the file.

    Parameters
    ----------
    state
        The attributes of a fitted :class:`~eigengraphs.JointEmbedding`. The training graphs and
        ``callback`` are left out.
    path
        Name of the file.
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
        "state": encode(state, arrays, _CLASSES, "fit"),
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


def read_model(path: str | os.PathLike[str], max_bytes: MaxBytes = None) -> dict[str, Any]:
    """Return the state of a fit from its file.

    Parameters
    ----------
    path
        The file, of this format or an older one.
    max_bytes
        What the file may declare to hold; see `eigengraphs.system.limits`. Only files of
        format 1 are compressed.

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
        state = _state(source, data, cap)
    except InputError as error:
        if str(source) in str(error):
            raise
        raise InputError(f"{str(source)!r}: {error}") from error
    except Exception as error:  # zipfile, zlib, tokenize and numpy each have errors of their own
        raise InputError(
            f"{str(source)!r} is not a whole model file of eigengraphs ({error}); write it again "
            "with JointEmbedding.save or `eigengraphs fit`"
        ) from None
    if not isinstance(state, dict):
        raise InputError(f"{str(source)!r} holds no fit")
    return state


def _state(source: Path, data: bytes, cap: Cap) -> Any:
    sealed = _SEALED.search(data[-_SEAL_LENGTH:])
    if sealed is not None and _digest(data[:-64]) != sealed[1]:
        raise ValueError("it was changed after it was written, by its SHA-256")
    with open_zip(source, data, cap) as archive:
        if sealed is not None and any(member.compress_type for member in archive.infolist()):
            raise ValueError("its parts are compressed, and `save` does not compress them")
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
    try:
        return decode(tree["state"], arrays, _CLASSES)
    except InputError as error:  # which does not know the file
        raise ValueError(str(error)) from None


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
