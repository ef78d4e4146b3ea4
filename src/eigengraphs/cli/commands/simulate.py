"""``eigengraphs simulate``: simulated graphs, and the parameters they were drawn from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eigengraphs import __version__, io
from eigengraphs.cli.command_options import Simulate
from eigengraphs.cli.results_folder import write_columns
from eigengraphs.cli.terminal import Listener, Outcome, written
from eigengraphs.errors import InputError
from eigengraphs.models.simulation import Design, read_design, simulate_blocks, simulate_truth
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import joined
from eigengraphs.store import StoreWriter, is_store, open_store
from eigengraphs.store.file_access import Folder
from eigengraphs.store.reader import Store
from eigengraphs.store.store_json import VERTICES, Batch
from eigengraphs.system.labels import count_of
from eigengraphs.system.whole_files import (
    replace_together,
    scratch_folder,
    whole_file,
    whole_folder,
)

MOST_ENTRIES = 100_000  # of true positions in a file; larger ones follow from the recipe
_ENTRIES = 2**24  # of graphs that are drawn at a time


def simulate(asked: Simulate, listen: Listener) -> Outcome:
    """Draw graphs; write them, and what is true of them."""
    design = read_design(
        asked.model, vertices=asked.vertices, mean_degree=asked.mean_degree, weights=asked.weights,
        loops=asked.loops,
    )  # fmt: skip
    m, kind, output = asked.graphs or design.n_graphs, asked.file_format, asked.output
    into_store = kind == "store" or (kind == "auto" and output.suffix == ".egs")
    if into_store:
        stack, files = _into_store(design, output, m, asked.seed, listen)
    else:
        stack, files = _into_files(design, output, m, asked.seed, kind, listen)
    names = [kind.name for kind in design.classes]
    classes = f" of classes {', '.join(names)}" if len(names) > 1 else ""
    text = [
        f"{count_of(stack.n_graphs, 'graph')}{classes} on {count_of(stack.n_vertices, 'vertex')}, "
        f"density {stack.density:.3g}; {written(files)}"
    ]
    if into_store:  # whose labels are not predicted
        text.append(f"next: eigengraphs fit {files[0]} results")
    elif len(names) > 1:
        with_classes = f"--participants {files[1]} --label class"
        text.append(f"next: eigengraphs fit {files[0]} results {with_classes}")
    facts = {"graphs": stack.n_graphs, "vertices": stack.n_vertices, "files": files}
    return Outcome(text, facts)


def _into_files(
    design: Design, output: Path, m: int, seed: int, file_format: Any, listen: Listener
) -> tuple[GraphStack, list[Path]]:
    """Draw graphs and write them, with the truth, whole or not at all."""
    if file_format == "auto" and not output.suffix:
        file_format = "csv" if design.n_vertices <= 1000 else "edgelist"
    record = _record(design, m, seed)
    _check_output(output, record)
    stack = _draw(design, m, seed, listen)
    if "npy" in (file_format, output.suffix.lower().removeprefix(".")):
        stack = stack.with_names(graph_names=[str(i) for i in range(m)])
    listen("write", f"writing {output}")
    # Written beside its place and moved: whatever fails, nothing is half there.
    with scratch_folder(output) as scratch:
        made = io.write(stack, scratch / output.name, format=file_format)
        inside = made.is_dir()
        beside = "" if inside else f"{output.name.removesuffix(output.suffix)}_"
        folder, place = (made, output) if inside else (scratch, output.parent)
        names = [f"{beside}participants.tsv", f"{beside}truth.json"]
        table = _truth(design, 0, m, seed)
        write_columns(folder / names[0], {"participant_id": stack.graph_names, **table})
        (folder / names[1]).write_text(record, encoding="utf-8")
        if inside:
            with whole_folder(output) as temporary:
                for file in made.iterdir():
                    file.replace(temporary / file.name)
        else:
            moved = [*names, made.name]
            replace_together([(scratch / name, place / name) for name in moved])
    return stack, [output, *(place / name for name in names)]


def _into_store(
    design: Design, output: Path, m: int, seed: int, listen: Listener
) -> tuple[GraphStack, list[Path]]:
    """Fill a store a few graphs at a time; the table of the truth is part of it."""
    record = _record(design, m, seed)
    source = f"simulation {hashlib.sha256(record.encode()).hexdigest()}"
    truth_file = output.with_name(f"{output.stem}_truth.json")
    there = Store(Folder(output), unfinished=True).layout if is_store(output) else None
    resume = there is not None and there.batches[-1].source == source
    if resume and there is not None and there.finished:
        return open_store(output), [output, truth_file]
    if not resume and not _is_barely_begun(output):
        _check_output(output)
    # First, so that a store which is finished has it.
    with whole_file(truth_file) as temporary:
        temporary.write_text(record, encoding="utf-8")
    mode: Any = "resume" if resume else "new"
    with StoreWriter(output, mode=mode, batch=Batch(source, 0, total=m)) as writer:
        for start, stop in _spans(design, writer.done, m, listen):
            blocks = simulate_blocks(design, start, stop, seed)
            writer.add(blocks, _truth(design, start, stop, seed))
    return open_store(output), [output, truth_file]


def _truth(design: Design, start: int, stop: int, seed: int) -> dict[str, Any]:
    """Return class and true loadings of some graphs, as columns of a table."""
    truth = simulate_truth(design, start, stop, seed)
    names = [f"lambda{k + 1}" for k in range(design.n_components)]
    loadings = dict(zip(names, truth.loadings.T, strict=True))
    return {"class": [design.classes[k].name for k in truth.classes], **loadings}


def _spans(design: Design, done: int, m: int, listen: Listener) -> Iterator[tuple[int, int]]:
    """Yield the first and the last graph of each block, and say how far it is."""
    step = max(1, min(500, _ENTRIES // design.n_vertices**2))
    listen("draw", f"drawing {count_of(m, 'graph')} on {design.n_vertices} vertices", 0, m)
    for start in range(done, m, step):
        stop = min(start + step, m)
        yield start, stop
        listen("draw", f"{stop} of {m} graphs", stop, m)


def _draw(design: Design, m: int, seed: int, listen: Listener) -> GraphStack:
    """Draw all graphs; how they are cut into blocks changes no graph."""
    blocks = [
        simulate_blocks(design, start, stop, seed) for start, stop in _spans(design, 0, m, listen)
    ]
    if any(block.is_sparse for block in blocks):
        blocks = [block.to_sparse() for block in blocks]
    return joined(blocks, tuple(name for block in blocks for name in block.graph_names), None)


def _record(design: Design, m: int, seed: int) -> str:
    """Return the truth as JSON: the recipe, the seed, and positions if they are not too many."""
    H = design.positions
    record = {
        **design.source,
        "seed": seed,
        "graphs": m,
        "vertices": design.n_vertices,
        "classes": {kind.name: kind.weight for kind in design.classes},
        "positions": None if H is None or H.size > MOST_ENTRIES else H.tolist(),
        "eigengraphs": __version__,
    }
    return json.dumps(record, indent=1, ensure_ascii=False, default=_json) + "\n"


def _json(value: Any) -> Any:
    """Return what JSON cannot hold: arrays as lists, dates of TOML as texts."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else str(value)


def _is_barely_begun(output: Path) -> bool:
    """Tell a folder with nothing but what is written before ``store.json``."""
    names = [item.name for item in output.iterdir()] if output.is_dir() else []
    return all(name == VERTICES or name.startswith((".vertices-", ".store-")) for name in names)


def _check_output(output: Path, record: str = "") -> None:
    """Refuse a path that cannot be written before anything is drawn."""
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {output.parent} to write {output.name} into; make it")
    truth = output / "truth.json"
    same = truth.is_file() and truth.read_text(encoding="utf-8", errors="replace") == record
    if output.is_dir() and any(output.iterdir()) and not same:
        raise InputError(f"{output} exists and is not empty; name a new folder")
