"""From a design to files: graphs, the table of their classes and loadings, and the truth."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs import __version__, io
from eigengraphs.errors import InputError
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.simulation import Design, Truth, simulate_blocks, simulate_truth
from eigengraphs.stack import GraphStack
from eigengraphs.store import StoreWriter, is_store, open_store
from eigengraphs.store.file_access import Folder
from eigengraphs.store.reader import Store
from eigengraphs.store.store_json import VERTICES, Batch
from eigengraphs.system.labels import count_of
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import (
    replace_together,
    scratch_folder,
    whole_file,
    whole_folder,
)

__all__ = ["simulate_to"]

#: True positions with more entries than this are left out: the recipe gives them back.
MOST_ENTRIES = 100_000
# Graphs drawn between two words on how far it is.
_ENTRIES = 2**24


def simulate_to(
    design: Design,
    output: Path,
    n_graphs: int | None = None,
    seed: int = 0,
    file_format: str = "auto",
    listen: Listener = silent,
) -> tuple[GraphStack, list[Path]]:
    """Draw graphs and write them, with the truth, whole or not at all.

    Parameters
    ----------
    design
        What to draw from.
    output
        A file or a new folder, as `eigengraphs.io.write` takes it. Without an ending, a folder of
        matrices, or of edge lists if graphs are large.
    n_graphs
        By default as many as the design says.
    seed
        Of all random streams.
    file_format
        Of ``output``; "auto" goes by its ending.
    listen
        Told of every step.

    Returns
    -------
    GraphStack, list of Path
        The graphs; and what was written: graphs, table and truth.
    """
    m = design.n_graphs if n_graphs is None else n_graphs
    if file_format == "store" or (file_format == "auto" and output.suffix == ".egs"):
        return _into_store(design, output, m, seed, listen)
    if file_format == "auto" and not output.suffix:
        file_format = "csv" if design.n_vertices <= 1000 else "edgelist"
    _check_output(output, _record_text(design, m, seed))
    stack = _draw(design, m, seed, listen)
    if "npy" in (file_format, output.suffix.lower().removeprefix(".")):
        stack = stack.with_names(graph_names=[str(i) for i in range(m)])
    truth = simulate_truth(design, 0, m, seed)
    listen(Event("write", f"writing {output}"))
    # Written beside its place and moved: whatever fails, nothing is half there.
    with scratch_folder(output) as scratch:
        kind: Any = file_format
        made = io.write(stack, scratch / output.name, format=kind)
        inside = made.is_dir()
        beside = "" if inside else f"{output.name.removesuffix(output.suffix)}_"
        folder = made if inside else scratch
        participants, record = folder / f"{beside}participants.tsv", folder / f"{beside}truth.json"
        _write_participants(participants, design, stack.graph_names, truth)
        _write_record(record, design, m, seed)
        place = output if inside else output.parent
        if inside:
            with whole_folder(output) as temporary:
                for file in made.iterdir():
                    file.replace(temporary / file.name)
        else:
            replace_together([(x, place / x.name) for x in (participants, record, made)])
    return stack, [output, place / participants.name, place / record.name]


def _into_store(
    design: Design, output: Path, m: int, seed: int, listen: Listener
) -> tuple[GraphStack, list[Path]]:
    """Fill a store a few graphs at a time; the table of the truth is part of it."""
    source = f"simulation {_digest(design, m, seed)}"
    record = output.with_name(f"{output.stem}_truth.json")
    there = Store(Folder(output), unfinished=True).layout if is_store(output) else None
    resume = there is not None and there.batches[-1].source == source
    if resume and there is not None and there.finished:
        return open_store(output), [output, record]
    if not resume and not _is_barely_begun(output):
        _check_output(output)
    step = max(1, min(500, _ENTRIES // design.n_vertices**2))
    names = [f"lambda{k + 1}" for k in range(design.n_components)]
    listen(Event("draw", f"drawing {count_of(m, 'graph')} on {design.n_vertices} vertices", 0, m))
    # First, so that a store which is finished has it.
    _write_record(record, design, m, seed)
    with StoreWriter(
        output, mode="resume" if resume else "new", batch=Batch(source, 0, total=m)
    ) as writer:
        for start in range(writer.done, m, step):
            stop = min(start + step, m)
            truth = simulate_truth(design, start, stop, seed)
            classes = [design.classes[k].name for k in truth.classes]
            columns = dict(zip(names, truth.loadings.T, strict=True))
            graphs = simulate_blocks(design, start, stop, seed)
            writer.add(graphs, {"class": classes, **columns})
            listen(Event("draw", f"{stop} of {m} graphs", stop, m))
    return open_store(output), [output, record]


def _digest(design: Design, m: int, seed: int) -> str:
    text = json.dumps(_record(design, m, seed), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_barely_begun(output: Path) -> bool:
    """Tell a folder with nothing but what is written before ``store.json``."""
    names = [item.name for item in output.iterdir()] if output.is_dir() else []
    return all(name == VERTICES or name.startswith((".vertices-", ".store-")) for name in names)


def _draw(design: Design, m: int, seed: int, listen: Listener) -> GraphStack:
    """Draw in blocks, which say how far it is; which blocks changes no graph."""
    small = design.n_vertices**2 * m <= _ENTRIES
    step = m if small else max(1, min(500, _ENTRIES // design.n_vertices**2))
    listen(Event("draw", f"drawing {count_of(m, 'graph')} on {design.n_vertices} vertices", 0, m))
    blocks = []
    for start in range(0, m, step):
        stop = min(start + step, m)
        blocks.append(simulate_blocks(design, start, stop, seed))
        listen(Event("draw", f"{stop} of {m} graphs", stop, m))
    return _joined(blocks)


def _joined(blocks: list[GraphStack]) -> GraphStack:
    if len(blocks) == 1:
        return blocks[0]
    names = [name for block in blocks for name in block.graph_names]
    if all(not block.is_sparse for block in blocks):
        A = np.concatenate([block.dense for block in blocks])
        return GraphStack(A, graph_names=names, storage="dense", copy=False)
    return GraphStack([graph for block in blocks for graph in block], graph_names=names)


def _write_participants(path: Path, design: Design, names: tuple[str, ...], truth: Truth) -> None:
    header = ["participant_id", "class", *(f"lambda{k + 1}" for k in range(design.n_components))]
    write_table(
        path,
        header,
        ((name, design.classes[k].name, *map(float, lam))
         for name, k, lam in zip(names, truth.classes, truth.loadings, strict=True)),
    )  # fmt: skip


def _write_record(path: Path, design: Design, m: int, seed: int) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(_record_text(design, m, seed), encoding="utf-8")


def _record_text(design: Design, m: int, seed: int) -> str:
    record = _record(design, m, seed)
    return json.dumps(record, indent=1, ensure_ascii=False, default=_plain) + "\n"


def _record(design: Design, m: int, seed: int) -> dict[str, Any]:
    positions = design.positions
    small = positions is not None and positions.size <= MOST_ENTRIES
    return {
        **design.source,
        "seed": seed,
        "graphs": m,
        "vertices": design.n_vertices,
        "classes": {kind.name: kind.weight for kind in design.classes},
        "positions": positions.tolist() if positions is not None and small else None,
        "eigengraphs": __version__,
    }


def _plain(value: Any) -> Any:
    """Return what JSON has no word for: arrays as lists, dates of TOML as texts."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else str(value)


def _check_output(output: Path, record: str = "") -> None:
    """Refuse a place that cannot be written before anything is drawn."""
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {output.parent} to write {output.name} into; make it")
    truth = output / "truth.json"
    same = truth.is_file() and truth.read_text(encoding="utf-8", errors="replace") == record
    if output.is_dir() and any(output.iterdir()) and not same:
        raise InputError(f"{output} is there and not empty; name a new folder")
