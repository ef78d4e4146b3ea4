"""A journal of a fit: what every pass over the graphs returned, so that a stopped fit goes on.

A fit is a function of its settings, its seed and what passes return, and passes are all that
takes long. So a fit that begins again with the journal of an earlier one asks the same questions,
finds the answers there, and comes to where the earlier one stopped, with the same numbers: no
solver needs to know how to stop in the middle. A question that is not the same, because the
settings or the graphs are not, has another digest, and is answered from the graphs.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.passes import journaled
from eigengraphs.system.archives import check_compressed, npy_array, open_zip, zip_member
from eigengraphs.system.limits import read_json, read_regular
from eigengraphs.system.whole_files import to_disk, whole_file

__all__ = ["FitJournal"]

_FORMAT = 2


class FitJournal:
    """Answers in a folder, one file each; see :meth:`keeping`.

    Parameters
    ----------
    folder : str or Path
        Where the answers are. It is made if it does not exist.
    resume : bool
        Go on from the answers that are there; otherwise they are removed.

    Attributes
    ----------
    n_found, n_asked : int
        Passes that were answered from the journal, and those that read the graphs.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> je = eg.JointEmbedding(1, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = eg.open_store(eg.store.write_store(folder + "/graphs.egs", [graphs]))
    ...     for resume in (False, True):
    ...         journal = eg.store.FitJournal(folder + "/journal", resume=resume)
    ...         with journal.keeping():
    ...             _ = je.fit(store)
    ...         print(journal.n_found > 0, journal.n_asked > 0)
    False True
    True False
    """

    def __init__(self, folder: str | Path, *, resume: bool = False) -> None:
        self._folder = Path(folder)
        about = self._folder / "journal.json"
        if self._folder.exists() and not all(map(_is_ours, self._folder.iterdir())):
            raise InputError(f"{self._folder} is not a journal of a fit, and is left as it is")
        head = json.dumps({"what": "journal of a fit", "format": _FORMAT})
        there = read_regular(about).decode("utf-8", "replace") if about.is_file() else head
        if self._folder.exists() and not (resume and there == head):
            shutil.rmtree(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        with whole_file(about) as temporary:
            temporary.write_text(head, encoding="utf-8")
        self.n_found = self.n_asked = 0

    def keeping(self) -> AbstractContextManager[None]:
        """Keep what passes return: ``with journal.keeping(): je.fit(store)``.

        Examples
        --------
        >>> import tempfile
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
        >>> je = eg.JointEmbedding(1, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = eg.open_store(eg.store.write_store(folder + "/graphs.egs", [graphs]))
        ...     journal = eg.store.FitJournal(folder + "/journal")
        ...     with journal.keeping():
        ...         _ = je.fit(store)
        ...     journal.n_kept == journal.n_asked
        True
        """
        return journaled(self)

    def total(self, question: tuple[Any, ...], ask: Callable[[], Any]) -> Any:
        """Return the answer that is kept, or ask and keep it.

        Parameters
        ----------
        question : tuple
            What is asked; it can be pickled.
        ask : function
            Returns the answer, from the graphs.

        Examples
        --------
        >>> import tempfile
        >>> import eigengraphs as eg
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     journal = eg.store.FitJournal(folder + "/journal")
        ...     first = journal.total(("sum",), lambda: 3.0)
        ...     second = journal.total(("sum",), lambda: 4.0)
        >>> float(first), float(second), journal.n_found
        (3.0, 3.0, 1)
        """
        (found,) = self.each((*question, "total"), lambda: iter([ask()]))
        return found

    def each(self, question: tuple[Any, ...], ask: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        """Yield the answers that are kept, or ask and keep them when they are complete.

        Parameters
        ----------
        question : tuple
            What is asked; it can be pickled.
        ask : function
            Returns the answers, one after the other, from the graphs.

        Examples
        --------
        >>> import tempfile
        >>> import eigengraphs as eg
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     journal = eg.store.FitJournal(folder + "/journal")
        ...     [int(answer) for answer in journal.each(("parts",), lambda: iter([1, 2]))]
        [1, 2]
        """
        name = _digest(question)
        complete = self._folder / name
        given = 0
        if complete.is_dir():
            for answer in _answers(complete):
                yield answer
                given += 1
            if (complete / f"{given:06d}.end").is_file():
                self.n_found += 1
                return
            # Damaged, as by a disk: what is left is asked again, and comes out the same.
            shutil.rmtree(complete)
        self.n_asked += 1
        partial = self._folder / f"{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        written = 0
        for answer in ask():
            _write(partial / f"{written:06d}.npz", answer)
            if written >= given:
                yield answer
            written += 1
        (partial / f"{written:06d}.end").touch()
        # On the disk before it gets the name that counts, so that a power cut leaves no gap.
        for file in partial.iterdir():
            to_disk(file)
        to_disk(partial)
        partial.replace(complete)
        to_disk(self._folder)

    @property
    def n_kept(self) -> int:
        """Number of passes that are complete."""
        return sum(path.is_dir() and path.suffix != ".partial" for path in self._folder.iterdir())

    def close(self) -> None:
        """Remove the folder: the fit is finished and written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import eigengraphs as eg
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     eg.store.FitJournal(folder + "/journal").close()
        ...     Path(folder, "journal").exists()
        False
        """
        shutil.rmtree(self._folder, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    """Tell what a journal holds, also one whose process was killed as it began or ended."""
    return (
        re.fullmatch(r"journal\.json|\.journal-.*|[0-9a-f]{32}(\.partial)?", path.name) is not None
    )


def _digest(question: tuple[Any, ...]) -> str:
    """Return a name for a question; protocol and order of its parts are fixed."""
    digest = hashlib.sha256()
    for part in question:
        # Only made, never read: what is in the folder cannot bring code along. Arrays go into the
        # digest as they are in memory: a basis of many vertices is half of what there is.
        arrays = list[pickle.PickleBuffer]()
        written = io.BytesIO()
        pickler = pickle.Pickler(written, protocol=5, buffer_callback=arrays.append)
        # Whether equal parts are one object is no part of the question: types of arrays that
        # came from another process are not the ones that there are here.
        pickler.fast = True
        pickler.dump(part)
        digest.update(written.getbuffer())
        for array in arrays:
            digest.update(array.raw())
    return digest.hexdigest()[:32]


def _write(path: Path, answer: Any) -> None:
    arrays: dict[str, Any] = {}
    shape = _flatten(answer, arrays)
    arrays["shape"] = np.frombuffer(json.dumps(shape).encode(), dtype=np.uint8)
    with path.open("wb") as file:  # a copy in memory may be as large as all else
        np.savez(file, **arrays)


def _answers(folder: Path) -> Iterator[Any]:
    """Yield what can be read, up to the first answer that is not there or damaged."""
    for k in count():
        path = folder / f"{k:06d}.npz"
        try:
            with open_zip(path, read_regular(path)) as kept:
                arrays = {
                    name.removesuffix(".npy"): npy_array(path, zip_member(kept, name))
                    for name in kept.namelist()
                }
            answer = _build(read_json(arrays["shape"].tobytes()), arrays)
        except Exception:  # numpy, zipfile and json have errors of their own
            return
        yield answer


def _flatten(answer: Any, arrays: dict[str, Any]) -> Any:
    """Put the arrays of an answer into a table; return how they hang together."""
    if isinstance(answer, tuple):
        return [_flatten(part, arrays) for part in answer]
    name = f"a{len(arrays)}"
    if isinstance(answer, sparse.csr_array):
        arrays |= {f"{name}.data": answer.data, f"{name}.indices": answer.indices,
                   f"{name}.indptr": answer.indptr}  # fmt: skip
        return {"sparse": name, "shape": answer.shape}
    arrays[name] = np.asarray(answer)
    return name


def _build(shape: Any, arrays: Any) -> Any:
    if isinstance(shape, list):
        return tuple(_build(part, arrays) for part in shape)
    if isinstance(shape, dict):
        name = shape["sparse"]
        parts = (arrays[f"{name}.data"], arrays[f"{name}.indices"], arrays[f"{name}.indptr"])
        matrix = sparse.csr_array(parts, shape=tuple(shape["shape"]))
        check_compressed(matrix)
        return matrix
    return arrays[shape]
