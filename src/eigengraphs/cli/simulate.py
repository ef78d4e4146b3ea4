"""``eigengraphs simulate``: graphs with a known truth, and the truth."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigengraphs import __version__
from eigengraphs.cli.shared_options import DESIGNS, OUTPUT_FORMATS, WEIGHTS, Json, among
from eigengraphs.cli.terminal import Listener, say, say_json, showing
from eigengraphs.errors import InputError
from eigengraphs.system.labels import count_of

if TYPE_CHECKING:
    from eigengraphs.models.simulation import Design
    from eigengraphs.stack import GraphStack

__all__ = ["simulate"]

MOST_ENTRIES = 100_000  # of true positions in a file; larger ones follow from the recipe
_ENTRIES = 2**24  # of graphs that are drawn at a time


def simulate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help=f"A recipe (.toml or .json), or one of {', '.join(DESIGNS)}.",
            autocompletion=among(DESIGNS),
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File or new folder to write.")],
    graphs: Annotated[
        int | None, typer.Option(min=1, help="Number of graphs; by default that of the model.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed; graph i depends only on the seed and on i.")
    ] = 0,
    file_format: Annotated[
        str,
        typer.Option(
            "--format",
            help="Format of OUT; usually told by its ending.",
            autocompletion=among(OUTPUT_FORMATS),
        ),
    ] = "auto",
    weights: Annotated[
        str,
        typer.Option(
            help="Edges: auto, binary, or counts with the same means.",
            autocompletion=among(WEIGHTS),
        ),
    ] = "auto",
    vertices: Annotated[
        int | None, typer.Option(min=1, help="Number of vertices, for weighted and sparse.")
    ] = None,
    mean_degree: Annotated[
        float | None, typer.Option(help="Mean degree, for weighted and sparse.")
    ] = None,
    loops: Annotated[bool, typer.Option("--loops", help="Draw self-loops too.")] = False,
    as_json: Json = False,
) -> None:
    """Draw graphs with a known truth; write them, a table of participants, and the truth.

    Example: eigengraphs simulate section5.2 study --graphs 40
    """
    with showing(as_json, "draw", f"reading {model}") as listen:
        from eigengraphs.models.simulation import read_design

        design = read_design(
            model, vertices=vertices, mean_degree=mean_degree, weights=weights, loops=loops
        )
        m = design.n_graphs if graphs is None else graphs
        into_store = file_format == "store" or (file_format == "auto" and output.suffix == ".egs")
        if into_store:
            stack, files = _into_store(design, output, m, seed, listen)
        else:
            stack, files = _into_files(design, output, m, seed, file_format, listen)
    if as_json:
        say_json(graphs=stack.n_graphs, vertices=stack.n_vertices, files=files)
        return
    names = [kind.name for kind in design.classes]
    classes = f" of classes {', '.join(names)}" if len(names) > 1 else ""
    say(
        f"{count_of(stack.n_graphs, 'graph')}{classes} on "
        f"{count_of(stack.n_vertices, 'vertex', 'vertices')}, density {stack.density:.3g}; "
        f"wrote {', '.join(map(str, files))}"
    )
    if into_store:  # whose labels are not predicted
        say(f"next: eigengraphs fit {files[0]} results")
    elif len(names) > 1:
        say(f"next: eigengraphs fit {files[0]} results --participants {files[1]} --label class")


def _into_files(
    design: Design, output: Path, m: int, seed: int, file_format: str, listen: Listener
) -> tuple[GraphStack, list[Path]]:
    """Draw graphs and write them, with the truth, whole or not at all."""
    from eigengraphs import io
    from eigengraphs.models.simulation import simulate_truth
    from eigengraphs.system.tables import write_table
    from eigengraphs.system.whole_files import replace_together, scratch_folder, whole_folder

    if file_format == "auto" and not output.suffix:
        file_format = "csv" if design.n_vertices <= 1000 else "edgelist"
    record = _record(design, m, seed)
    _check_output(output, record)
    stack = _draw(design, m, seed, listen)
    if "npy" in (file_format, output.suffix.lower().removeprefix(".")):
        stack = stack.with_names(graph_names=[str(i) for i in range(m)])
    truth = simulate_truth(design, 0, m, seed)
    listen("write", f"writing {output}")
    # Written beside its place and moved: whatever fails, nothing is half there.
    with scratch_folder(output) as scratch:
        kind: Any = file_format
        made = io.write(stack, scratch / output.name, format=kind)
        inside = made.is_dir()
        beside = "" if inside else f"{output.name.removesuffix(output.suffix)}_"
        folder, place = (made, output) if inside else (scratch, output.parent)
        table, truth_file = (
            folder / f"{beside}{name}" for name in ("participants.tsv", "truth.json")
        )
        write_table(
            table,
            ["participant_id", "class", *(f"lambda{k + 1}" for k in range(design.n_components))],
            ((name, design.classes[k].name, *map(float, lam)) for name, k, lam
             in zip(stack.graph_names, truth.classes, truth.loadings, strict=True)),
        )  # fmt: skip
        truth_file.write_text(record, encoding="utf-8")
        if inside:
            with whole_folder(output) as temporary:
                for file in made.iterdir():
                    file.replace(temporary / file.name)
        else:
            replace_together([(x, place / x.name) for x in (table, truth_file, made)])
    return stack, [output, place / table.name, place / truth_file.name]


def _into_store(
    design: Design, output: Path, m: int, seed: int, listen: Listener
) -> tuple[GraphStack, list[Path]]:
    """Fill a store a few graphs at a time; the table of the truth is part of it."""
    from eigengraphs.models.simulation import simulate_blocks, simulate_truth
    from eigengraphs.store import StoreWriter, is_store, open_store
    from eigengraphs.store.file_access import Folder
    from eigengraphs.store.reader import Store
    from eigengraphs.store.store_json import Batch
    from eigengraphs.system.whole_files import whole_file

    record = _record(design, m, seed)
    source = f"simulation {hashlib.sha256(record.encode()).hexdigest()}"
    truth_file = output.with_name(f"{output.stem}_truth.json")
    there = Store(Folder(output), unfinished=True).layout if is_store(output) else None
    resume = there is not None and there.batches[-1].source == source
    if resume and there is not None and there.finished:
        return open_store(output), [output, truth_file]
    if not resume and not _is_barely_begun(output):
        _check_output(output)
    names = [f"lambda{k + 1}" for k in range(design.n_components)]
    # First, so that a store which is finished has it.
    with whole_file(truth_file) as temporary:
        temporary.write_text(record, encoding="utf-8")
    mode: Any = "resume" if resume else "new"
    with StoreWriter(output, mode=mode, batch=Batch(source, 0, total=m)) as writer:
        for start, stop in _spans(design, writer.done, m, listen):
            truth = simulate_truth(design, start, stop, seed)
            classes = [design.classes[k].name for k in truth.classes]
            columns = dict(zip(names, truth.loadings.T, strict=True))
            writer.add(simulate_blocks(design, start, stop, seed), {"class": classes, **columns})
    return open_store(output), [output, truth_file]


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
    import numpy as np

    from eigengraphs.models.simulation import simulate_blocks
    from eigengraphs.stack import GraphStack

    blocks = [
        simulate_blocks(design, start, stop, seed) for start, stop in _spans(design, 0, m, listen)
    ]
    if len(blocks) == 1:
        return blocks[0]
    names = [name for block in blocks for name in block.graph_names]
    if any(block.is_sparse for block in blocks):
        return GraphStack([graph for block in blocks for graph in block], graph_names=names)
    A = np.concatenate([block.dense for block in blocks])
    return GraphStack(A, graph_names=names, storage="dense", copy=False)


def _record(design: Design, m: int, seed: int) -> str:
    """Return the truth as JSON: the recipe, the seed, and positions if they are not too many."""
    positions = design.positions
    small = positions is not None and positions.size <= MOST_ENTRIES
    record = {
        **design.source,
        "seed": seed,
        "graphs": m,
        "vertices": design.n_vertices,
        "classes": {kind.name: kind.weight for kind in design.classes},
        "positions": positions.tolist() if positions is not None and small else None,
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
    from eigengraphs.store.store_json import VERTICES

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
