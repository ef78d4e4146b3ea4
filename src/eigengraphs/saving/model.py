"""``save`` of a fit, and reading one back: a zip of one JSON text and plain arrays."""

from __future__ import annotations

import json
import os
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigengraphs.dimension import DimensionChoice
from eigengraphs.errors import InputError
from eigengraphs.graphs.mask import Mask
from eigengraphs.graphs.preprocess import Preprocessing
from eigengraphs.graphs.treatment import Treatment
from eigengraphs.plan import Groups, Plan
from eigengraphs.projection import BatchProjection, MaskedProjection, Projection
from eigengraphs.randomness import seed_sequence
from eigengraphs.refinement import Refinement
from eigengraphs.saving.tree import Arrays, decode, encode
from eigengraphs.solvers.graph_moments import GraphMoments
from eigengraphs.solvers.protocol import Fit, Stage
from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    PenalisedLoadings,
    SparseLoadings,
    SupportLoadings,
)
from eigengraphs.whole_files import whole_file

__all__ = ["SavedFits", "read_model"]

FORMAT = 1  # to be raised when older versions of the library could not read the file
_TEXT = "model.json"
_CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        BatchProjection, DimensionChoice, Fit, FreeLoadings, GraphMoments, Groups, Mask,
        MaskedProjection, NonnegativeLoadings, PenalisedLoadings, Plan, Preprocessing, Projection,
        Refinement, SparseLoadings, Stage, SupportLoadings, Treatment,
    )
}  # fmt: skip


class SavedFits:
    """``save`` of :class:`~eigengraphs.JointEmbedding`; ``eg.load`` is the way back."""

    __getstate__: Any

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fit to a file, without the training graphs; read it by ``eg.load(path)``.

        The file is a zip of one JSON text and NumPy arrays. It holds no code, so it can be passed
        on and read without fear. ``callback`` is left out, as are the training graphs, which
        ``extend`` then needs again. A ``random_state`` that is a generator becomes the seed that
        the fit drew from it.

        Parameters
        ----------
        path
            Name of the file, by custom with the ending ``.eg``.

        Returns
        -------
        Path
            The file.
        """
        check_is_fitted(self)
        state: dict[str, Any] = dict(self.__getstate__())
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


def read_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the state of a fit from its file.

    Raises
    ------
    InputError
        The file is absent, damaged, of a later format, or something else altogether.
    """
    source = Path(path)
    try:
        with zipfile.ZipFile(source) as archive:
            tree = json.loads(archive.read(_TEXT))
            if not isinstance(tree, dict) or not isinstance(tree.get("format"), int):
                raise KeyError("format")
            if tree["format"] > FORMAT:
                raise InputError(
                    f"{str(source)!r} was written by a later version of eigengraphs (format "
                    f"{tree['format']}, known are those up to {FORMAT}); update eigengraphs"
                )
            arrays = {
                name.removesuffix(".npy"): _array(archive.read(name))
                for name in archive.namelist()
                if name.endswith(".npy")
            }
            state = decode(tree["state"], arrays, _CLASSES)
    except FileNotFoundError:
        raise InputError(f"there is no model file {str(source)!r}") from None
    except OSError as error:
        raise InputError(f"cannot read {str(source)!r}: {error.strerror or error}") from None
    except InputError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError) as error:
        raise InputError(
            f"{str(source)!r} is not a whole model file of eigengraphs ({error}); write it again "
            "with JointEmbedding.save or `eigengraphs fit`"
        ) from None
    if not isinstance(state, dict):
        raise InputError(f"{str(source)!r} holds no fit")
    return state


def _write(target: Path, text: str, arrays: Arrays) -> None:
    with whole_file(target) as path, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        # One date for all: equal fits make equal files.
        archive.writestr(_member(_TEXT), text)
        for name, array in arrays.items():
            buffer = BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
            archive.writestr(_member(f"{name}.npy"), buffer.getvalue())


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _array(content: bytes) -> Any:
    return np.lib.format.read_array(BytesIO(content), allow_pickle=False)
