"""The readers: how each is given bytes, what it does with them, and how they are changed."""

from __future__ import annotations

import shutil
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tools.fuzz.changes import change_bytes, change_json
from tools.fuzz.containers import (
    Change,
    change_gzip,
    change_hdf5,
    change_mat,
    change_model,
    change_npy,
    change_parquet,
    change_store,
    change_zip,
    unpack,
)
from tools.fuzz.seeds import SEEDS, journal_question

import eigengraphs as eg
from eigengraphs.errors import EigengraphsError

__all__ = ["READERS", "Reader", "UnnamedFile", "run"]


class UnnamedFile(Exception):
    """An error of the library's own that does not say which file it is about."""


@dataclass(frozen=True)
class Reader:
    """One thing that reads files.

    Attributes
    ----------
    file
        What the file is called.
    read
        Reads it, and does with the result what its first user would do.
    inside
        Changes what a container holds.
    folder
        Whether ``file`` is a folder, and inputs are zips of its files.
    """

    name: str
    file: str
    read: Callable[[Path, int], Any]
    inside: tuple[Change, ...] = ()
    folder: bool = False

    @property
    def seeds(self) -> list[bytes]:
        """Whole files."""
        return _seeds(self.name)

    def change(self, data: bytes, rng: Random) -> bytes:
        """Return a file that differs a little."""
        if self.inside and (self.folder or rng.random() < 0.8):
            try:
                return rng.choice(self.inside)(data, rng)
            except Exception:  # noqa: S110 # what cannot be taken apart any more is changed as bytes
                pass
        if self.folder:  # broken zips are not what a store is made of
            return self.inside[0](rng.choice(self.seeds), rng)
        if rng.random() < 0.1:
            other = rng.choice(self.seeds)
            return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]
        return change_bytes(data, rng)


@cache
def _seeds(name: str) -> list[bytes]:
    return SEEDS[name]()


def run(reader: Reader, data: bytes, home: Path) -> EigengraphsError | None:
    """Give a reader one file; return the error that it raised, if it is one that it may raise.

    Raises
    ------
    UnnamedFile
        The error does not name the file.
    BaseException
        Whatever else the reader let out.
    """
    path = home / reader.file
    if reader.folder:
        shutil.rmtree(path, ignore_errors=True)
        try:
            files = unpack(data)
        except Exception:  # no zip: not a folder, and nothing to read
            return None
        for name, content in files.items():
            target = path / name
            if ".." in target.parts or "\x00" in name:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    else:
        path.write_bytes(data)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            reader.read(path, zlib.crc32(data))
    except EigengraphsError as error:
        if home.name not in str(error):
            raise UnnamedFile(f"{type(error).__name__}: {error}") from error
        return error
    return None


# ------------------------------------------------------------------ files of graphs


def _graphs(path: Path, which: int) -> None:
    """Read one file; every third time beside a good one, every fourth time as a store would."""
    sources = [path]
    if which % 3 == 0:
        good = path.with_name(f"good{''.join(path.suffixes)}")
        if not good.exists():
            good.write_bytes(_seeds(_BY_FILE[path.name])[0])
        sources.append(good)
    if which % 4 == 0:
        _surveyed(sources)
    else:
        missing: Any = "unobserved" if which % 5 == 0 else "error"
        reading = eg.io.read_files(sources, missing=missing)
        assert reading.stack.n_graphs == len(reading.files)


def _surveyed(sources: list[Path]) -> None:
    from eigengraphs.io import formats, reading

    before, formats._LARGE = formats._LARGE, 0  # so that small files go the way of large ones
    try:
        found = reading.survey(sources, formats.HowToRead(), for_store=True)
        assert sum(stack.n_graphs for stack, _ in found.blocks()) == len(found.names)
    finally:
        formats._LARGE = before


def _manifest(path: Path, which: int) -> None:
    for name in ("good.csv", "other.csv"):
        if not (path.parent / name).exists():
            (path.parent / name).write_bytes(b"0,1,2\n1,0,3\n2,3,0\n")
    eg.io.read_files(path if which % 2 else path.parent)


# ------------------------------------------------------------------ tables


def _participants(path: Path, which: int) -> None:
    table = eg.io.read_participants(path)
    eg.io.join(["sub-01", "sub-02", "a"], table, missing="keep")


def _vertices(path: Path, which: int) -> None:
    eg.io.read_vertices(path, n=3 if which % 2 else None)


# ------------------------------------------------------------------ the library's own files


def _store(path: Path, which: int) -> None:
    if which % 4 == 0:
        eg.store.damages(path)
    stack = eg.open_store(path, memory="100M")
    for k in range(len(stack.spans)):
        stack.read_block(k)
    _ = stack.vertex_names, stack.graph_names, stack.columns


def _model(path: Path, which: int) -> None:
    model = eg.load(path)
    if which % 4 == 0:  # what is loaded can be used
        repr(model)
        with suppress(EigengraphsError):
            model.transform(np.zeros((1, model.n_vertices_, model.n_vertices_)))


def _report(path: Path, which: int) -> None:
    from eigengraphs.report import read_summary
    from eigengraphs.report.page import render

    render(read_summary(path))


def _recipe(path: Path, which: int) -> None:
    from eigengraphs.models.recipes import read_design

    read_design(path)


def _journal(path: Path, which: int) -> None:
    from eigengraphs.store.fit_journal import FitJournal

    journal = FitJournal(path, resume=True)
    answers: list[Any] = [(np.zeros(1), np.zeros(1))]
    list(journal.each(journal_question(), lambda: iter(answers)))


READERS = {
    reader.name: reader
    for reader in (
        Reader("matrix", "graph.csv", _graphs),
        Reader("edgelist", "graph.edgelist", _graphs),
        Reader("gzip", "graph.csv.gz", _graphs, (change_gzip,)),
        Reader("npy", "graph.npy", _graphs, (change_npy,)),
        Reader("npz", "graph.npz", _graphs, (change_zip,)),
        Reader("mat5", "graph.mat", _graphs, (change_mat,)),
        Reader("mat73", "graph73.mat", _graphs, (change_hdf5,)),
        Reader("graphml", "graph.graphml", _graphs),
        Reader("parquet", "graph.parquet", _graphs, (change_parquet,)),
        Reader("participants", "participants.tsv", _participants),
        Reader("vertices", "vertices.tsv", _vertices),
        Reader("manifest", "manifest.tsv", _manifest),
        Reader("store", "graphs.egs", _store, (change_store,), folder=True),
        Reader("model", "model.eg", _model, (change_model,)),
        Reader("report", "report.json", _report, (change_json,)),
        Reader("recipe-toml", "recipe.toml", _recipe),
        Reader("recipe-json", "recipe.json", _recipe, (change_json,)),
        Reader("journal", "journal", _journal, (change_zip,), folder=True),
    )
}
_BY_FILE = {reader.file: reader.name for reader in READERS.values()}
