"""A journal of a fit: the results of every pass over the graphs, so that a stopped fit continues.

A fit is a function of its settings, its seed and the results of its passes, and only passes take
long. So a fit that starts again with the journal of an earlier one makes the same requests, finds
the results there, and reaches the point where the earlier one stopped, with the same numbers: no
solver needs to know how to stop in the middle. If the settings or the graphs differ, a request has
another digest, and is answered from the graphs.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.blocked import JOURNAL
from eigengraphs.system.archives import check_compressed, npy_array, zip_member
from eigengraphs.system.limits import DEFAULT, open_regular, read_json, read_regular
from eigengraphs.system.whole_files import whole_file

_FORMAT = 3
_OURS = re.compile(r"journal\.json|[0-9a-f]{32}\.npz|\.(journal|[0-9a-f]{32})-.*")


class FitJournal:
    """Answers in a folder, one file per question; see :meth:`keeping`.

    Parameters
    ----------
    folder : str or Path
        Folder of the answers. It is created if it does not exist.
    resume : bool
        Continue from the existing answers; otherwise they are removed.

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
        there = [path.name for path in self._folder.iterdir()] if self._folder.exists() else []
        if not all(map(_OURS.fullmatch, there)):
            raise InputError(f"{self._folder} is not a journal of a fit, and is left as it is")
        head = json.dumps({"what": "journal of a fit", "format": _FORMAT})
        known = read_regular(about).decode("utf-8", "replace") if about.is_file() else head
        if self._folder.exists() and not (resume and known == head):
            shutil.rmtree(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        with whole_file(about) as temporary:
            temporary.write_text(head, encoding="utf-8")
        self.n_found = self.n_asked = 0

    @contextmanager
    def keeping(self) -> Iterator[None]:
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
        token = JOURNAL.set(self)
        try:
            yield
        finally:
            JOURNAL.reset(token)

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
        path, given = self._folder / f"{_digest(question)}.npz", 0
        try:
            for answer in _answers(path) if path.exists() else ():
                yield answer
                given += 1
        except Exception:
            # Damaged, as by a disk; numpy, zipfile and json have errors of their own. What is left
            # is asked again, and comes out the same.
            path.unlink()
        if path.exists():
            self.n_found += 1
            return
        self.n_asked += 1
        with whole_file(path) as temporary, ZipFile(temporary, "w") as kept:
            for k, answer in enumerate(ask()):
                arrays: list[Any] = []
                shape = _flatten(answer, arrays)
                for j, array in enumerate(arrays):
                    with kept.open(f"{k}.{j}.npy", "w", force_zip64=True) as file:
                        npy.write_array(file, array, allow_pickle=False)
                kept.writestr(ZipInfo(f"{k}.json"), json.dumps(shape))
                if k >= given:
                    yield answer

    @property
    def n_kept(self) -> int:
        """Number of passes that are complete."""
        return sum(1 for _ in self._folder.glob("[!.]*.npz"))

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


def _answers(path: Path) -> Iterator[Any]:
    """Yield the answers in a file, up to the first that is damaged, at which it raises an error."""
    with open_regular(path) as file, ZipFile(file) as kept:
        members = kept.infolist()
        if any(member.compress_type != ZIP_STORED for member in members):
            raise ValueError("answers are not compressed")
        DEFAULT.check(path, sum(member.file_size for member in members), path.stat().st_size)

        def array(j: int) -> Any:
            return npy_array(path, zip_member(kept, f"{k}.{j:d}.npy"))

        for k in range(sum(member.filename.endswith(".json") for member in members)):
            yield _build(read_json(zip_member(kept, f"{k}.json")), array)


def _flatten(answer: Any, arrays: list[Any]) -> Any:
    """Put the arrays of an answer into a list; return how they hang together."""
    if isinstance(answer, tuple):
        return [_flatten(part, arrays) for part in answer]
    if isinstance(answer, sparse.csr_array):
        parts = (answer.data, answer.indices, answer.indptr)
        return {"csr": _flatten(parts, arrays), "shape": answer.shape}
    arrays.append(np.asarray(answer))
    return len(arrays) - 1


def _build(shape: Any, array: Callable[[int], Any]) -> Any:
    """Return the answer whose arrays hang together like that."""
    if isinstance(shape, list):
        return tuple(_build(part, array) for part in shape)
    if isinstance(shape, dict):
        matrix = sparse.csr_array(_build(shape["csr"], array), shape=tuple(shape["shape"]))
        check_compressed(matrix)
        return matrix
    return array(shape)
