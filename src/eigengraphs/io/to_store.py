"""``convert_to_store``: files of any kind into a store, with few graphs in memory at a time."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs import store as stores
from eigengraphs.errors import InputError, StoreError
from eigengraphs.io.file_graph import Notice, few
from eigengraphs.io.find_files import SourceLike, find_files
from eigengraphs.io.formats import HowToRead
from eigengraphs.io.one_stack import DirectedRule
from eigengraphs.io.reading import Survey, Watch, survey
from eigengraphs.io.tables_beside import LabelsLike, as_vertex_table
from eigengraphs.stack.build import StorageRule
from eigengraphs.store.file_access import Folder
from eigengraphs.store.parquet_tables import arrow, read_table, to_bytes
from eigengraphs.store.reader import Store
from eigengraphs.store.store_json import STORE_JSON, Batch
from eigengraphs.system.tables import short_repr


@dataclass(frozen=True)
class Stored:
    """What a conversion did.

    Attributes
    ----------
    n_graphs, n_vertices : int
        Of the whole store.
    n_new : int
        Graphs that this call wrote.
    n_there : int
        Graphs of this source that were there from a call that was stopped.
    notices : tuple of Notice
        What was done to graphs.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = eg.io.write(graphs, folder + "/graphs.npz")
    ...     stored = eg.io.convert_to_store(source, folder + "/graphs.egs")
    >>> stored
    Stored(n_graphs=3, n_vertices=6, n_new=3, n_there=0, notices=())
    """

    n_graphs: int
    n_vertices: int
    n_new: int
    n_there: int
    notices: tuple[Notice, ...]

    __repr__ = short_repr


def convert_to_store(
    source: SourceLike,
    target: str | os.PathLike[str],
    *,
    append: bool = False,
    labels: LabelsLike | None = None,
    storage: StorageRule = "auto",
    command: str | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Stored:
    """Put the graphs of files into a store, with few of them in memory at a time.

    Every file is read twice: first to find out the common vertices and whether graphs are directed.
    If the conversion is stopped, the same call continues after the last complete shard; if the last
    call with the same files and options was completed, nothing is added.

    Parameters
    ----------
    source, labels
        As in :func:`eigengraphs.read`; the source is not a store.
    target : str or path
        The store.
    append : bool
        Add the graphs to a finished store.
    storage : {"auto", "dense", "sparse"}
        How a new store keeps graphs.
    command : str, optional
        The command that continues, for messages.
    watch : callable, optional
        Called with the current step, how much is done, and the total.
    **options
        All other options of :func:`eigengraphs.read`: ``format``, ``key``, ``vertices`` and so on.

    Returns
    -------
    Stored
        Numbers of graphs, and a notice for each kind of change to graphs.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = eg.io.write(graphs, folder + "/graphs.npz")
    ...     stored = eg.io.convert_to_store(source, folder + "/graphs.egs")
    >>> stored.n_new, stored.n_vertices
    (3, 6)
    """
    how = HowToRead(**options)
    say: Watch = watch or (lambda *_: None)
    text = os.fspath(source) if isinstance(source, str | os.PathLike) else "a list of files"
    command = command or shlex.join(
        ["eigengraphs", "convert", text, os.fspath(target), *["--append"] * append]
    )
    asked = asdict(how) | {"storage": storage, "labels": _labels_in_words(labels)}
    del asked["max_bytes"]
    folder = Folder(target)
    if stores.is_store(source):
        raise InputError(
            f"{text} is a store already; write_store(NEW, [open_store({text!r})]) of "
            "eigengraphs.store writes it again, and append(OTHER, ...) adds it to another"
        )
    listing = _listing(source, how)
    there = Store(folder, unfinished=True) if folder.exists(STORE_JSON) else None
    resume = there is not None and not there.layout.finished
    if there is not None:
        layout, changed = there.layout, _changed(there, listing, asked)
        if resume and changed:
            raise StoreError(f"{folder} is not finished, and cannot be finished by this: {changed}")
        if not resume and not changed and append == (len(layout.batches) > 1):
            done = layout.n_graphs - layout.batches[-1].first
            return Stored(layout.n_graphs, layout.n_vertices, 0, done, ())
        if not resume and not append:
            raise StoreError(
                f"{folder} is a finished store of {layout.n_graphs} graphs; add to it with "
                "--append (append=True), remove it, or choose another name"
            )
    elif append:
        raise StoreError(f"there is no store at {folder} to add to; leave --append out")

    known = None if there is None else there.vertex_names
    graphs = survey(source, how, labels, for_store=True, storage=storage, known=known, watch=say)
    if there is not None and not resume:
        _refuse_misfit(there, graphs, how.directed)
    batches, total = 0 if there is None else len(there.layout.batches), len(graphs.names)
    name = f"sources/batch-{batches:06d}.parquet"
    if not resume:
        parts = map(list, zip(*listing, strict=True))
        table = arrow().table(dict(zip(("path", "bytes", "modified_ns"), parts, strict=True)))
        folder.write(name, to_bytes(table))
    writer = stores.StoreWriter(
        target,
        mode="resume" if resume else "append" if append else "new",
        storage=graphs.storage,
        directed=True if how.directed is True else None,
        batch=Batch(text, 0, total=total, command=command, listing=name, options=asked),
    )
    done = place = writer.done
    with writer:
        for block, columns in graphs.blocks(done):
            place += len(block)
            say("writing graphs", place, total)
            if writer.columns is not None:  # a store keeps the columns that its first graphs had
                columns = {k: v for k, v in columns.items() if k in writer.columns}
            writer.add(block, columns)
    layout = Store(folder).layout
    return Stored(layout.n_graphs, layout.n_vertices, total - done, done, graphs.notices)


def _refuse_misfit(store: Store, graphs: Survey, directed: DirectedRule) -> None:
    """Refuse what a store would not take later, when some of it is written."""
    layout = store.layout
    if layout.graph_names:
        shards = range(len(layout.shards))
        have = {name for k in shards for name in store.names_and_facts(k)[0]}
        again = [name for name in graphs.names if name in have]
        if again:
            raise InputError(
                f"{len(again)} graphs are in {store.folder} already, by name: {few(again, 5)}; "
                "leave their files out, or give them other names in a manifest (columns path, id)"
            )
    if layout.dtype == "float32" and graphs.dtype == np.float64:
        raise InputError(f"{store.folder} keeps float32, and these graphs are float64")
    if graphs.directed and not layout.directed and directed is not True:
        raise InputError(
            f"the graphs of {store.folder} are undirected, and some of these are directed; "
            "--directed (directed=True) lets them in, or make them symmetric first"
        )


def _labels_in_words(labels: Any) -> str | None:
    if labels is None or isinstance(labels, str | os.PathLike):
        return None if labels is None else os.fspath(labels)
    return f"{len(as_vertex_table(labels).names)} names"


# ---------------------------------------------------------------------- whether it is the same


def _listing(source: Any, how: HowToRead) -> list[tuple[str, int, int]]:
    """Return path, size and time of change of every file that graphs come from."""
    found = find_files(source, bids=how.format == "bids", notation=how.notation)
    paths = [file.path.absolute() for file in found.files]
    return [(str(path), info.st_size, info.st_mtime_ns) for path in paths if (info := path.stat())]


def _changed(store: Store, listing: Sequence[tuple[str, int, int]], options: dict[str, Any]) -> str:
    """Return what is not as when graphs were last written into a store; nothing if all is."""
    batch = store.layout.batches[-1]
    if batch.listing is None:
        return f"it was written from {batch.source}; remove it and start again"
    for name, was in batch.options.items():
        if was != options.get(name):
            now = options.get(name)
            return f"{name} was {was!r} and is {now!r} now; continue with: {batch.command}"
    table = read_table(store.folder.read(batch.listing), None, batch.listing)
    before = list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
    if before == listing:
        return ""
    changed = dict.fromkeys(Path(path).name for path, *_ in sorted({*before} ^ {*listing}))
    return (
        "since it was begun, files are new, gone, changed or in another order "
        f"({few([*changed] or ['the order'])}). Put them back, or remove {store.folder} and run "
        f"again: {batch.command}"
    )
