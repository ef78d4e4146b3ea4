"""Every command that writes, and what it leaves: the table that faults are injected by."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import eigengraphs as eg
from eigengraphs.errors import EigengraphsError

#: Commands that write no file.
READING = {"check", "info", "plan"}


@dataclass(frozen=True)
class Operation:
    """A command, or a call from Python, in a folder that :func:`prepare` filled."""

    words: tuple[str, ...] = ()
    call: Callable[[], object] | None = None
    outputs: tuple[str, ...] = ("out",)
    at_once: bool = False  # a folder that is all old or all new, even after a kill


def _model() -> Any:
    return eg.load("results/model.eg")


def _summary() -> Any:
    return eg.report.read_summary("results/report.json")


def _journaled() -> None:
    with eg.store.FitJournal("out", resume=True).keeping():
        eg.JointEmbedding(2, random_state=0).fit(eg.open_store("graphs.egs"))


OPERATIONS = {
    "fit": Operation(("fit", "graphs.npz", "out", "-d", "2"), at_once=True),
    "fit over others": Operation(
        ("fit", "graphs.npz", "results", "-d", "1"), outputs=("results",), at_once=True
    ),
    "fit of a store": Operation(
        ("fit", "graphs.egs", "out", "-d", "2", "--json"), outputs=("out", "out.unfinished"),
        at_once=True,
    ),
    "fit of a store over others": Operation(
        ("fit", "graphs.egs", "results", "-d", "1"), outputs=("results", "results.unfinished"),
        at_once=True,
    ),
    "transform": Operation(("transform", "results", "graphs.npz", "old.tsv"), outputs=("old.tsv",)),
    "report": Operation(("report", "results", "--title", "new"), outputs=("results",)),
    "compare": Operation(
        ("compare", "results", "--group", "group", "--permutations", "99"), outputs=("results",)
    ),
    "effects": Operation(
        ("effects", "results", "--group", "group", "--permutations", "99"), outputs=("results",)
    ),
    "trajectories": Operation(
        ("trajectories", "results", "--time", "years", "--subject", "who"), outputs=("results",)
    ),
    "power": Operation(
        ("power", "results", "--group", "group", "--sizes", "4", "--studies", "10",
         "--permutations", "19"),
        outputs=("results",)
    ),
    "read": Operation(("read", "results", "--splits", "1"), outputs=("results",)),
    "uncertainty": Operation(
        ("uncertainty", "results", "--resamples", "10"), outputs=("results",)
    ),
    "cluster": Operation(("cluster", "results", "--clusters", "2"), outputs=("results",)),
    "evaluate": Operation(
        ("evaluate", "results", "--target", "group", "--cv", "2", "--methods", "PCA"),
        outputs=("results",)
    ),
    "contest": Operation(
        ("contest", "graphs.npz", "--output", "out", "--label", "group", "--participants",
         "participants.tsv", "-d", "1", "--cv", "2", "--methods", "PCA"),
    ),
    "links": Operation(
        ("links", "unweighted.npz", "--output", "out", "-d", "1", "--repeats", "0")
    ),
    "changes": Operation(("changes", "results", "--permutations", "99"), outputs=("results",)),
    "convert to a file": Operation(("convert", "graphs.npz", "old.npz"), outputs=("old.npz",)),
    "convert to a .mat": Operation(("convert", "graphs.npz", "out.mat"), outputs=("out.mat",)),
    "convert to a .npy": Operation(("convert", "plain.npy", "out.npy"), outputs=("out.npy",)),
    "convert to a table": Operation(
        ("convert", "graphs.npz", "out.parquet"), outputs=("out.parquet",)
    ),
    "convert to a folder": Operation(("convert", "graphs.npz", "out", "--to", "csv"), at_once=True),
    "convert to GraphML": Operation(
        ("convert", "graphs.npz", "out", "--to", "graphml"), at_once=True
    ),
    "convert to a store": Operation(
        ("convert", "graphs.npz", "out.egs"), outputs=("out.egs",)
    ),
    "convert --append": Operation(
        ("convert", "more", "graphs.egs", "--append"), outputs=("graphs.egs",)
    ),
    "simulate": Operation(
        ("simulate", "section5.1", "old.npz", "--graphs", "3"),
        outputs=("old.npz", "old_participants.tsv", "old_truth.json"),
    ),
    "simulate a folder": Operation(
        ("simulate", "section5.1", "out", "--graphs", "3"), at_once=True
    ),
    "simulate a store": Operation(
        ("simulate", "section5.1", "out.egs", "--graphs", "3"),
        outputs=("out.egs", "out_truth.json"),
    ),
    "demo": Operation(("demo", "--output", "out", "--components", "2")),
    "demo --files": Operation(("demo", "--files", "out"), at_once=True),
    "save": Operation(call=lambda: _model().save("old.eg"), outputs=("old.eg",)),
    "write_report": Operation(call=lambda: eg.report.write_report(_summary(), "out")),
    "journal": Operation(call=_journaled),
}  # fmt: skip


def prepare(folder: Path) -> None:
    """Fill a folder with graphs, a store, results, and files that are to be replaced."""
    rng = np.random.default_rng(0)
    A = rng.random((12, 8, 8))
    stack = eg.GraphStack(A + A.transpose(0, 2, 1), graph_names=[f"g{i}" for i in range(12)])
    eg.io.write(stack, folder / "graphs.npz")
    np.save(folder / "plain.npy", np.asarray(stack))
    some = eg.GraphStack((A + A.transpose(0, 2, 1) > 1).astype(float))
    eg.io.write(some, folder / "unweighted.npz")
    eg.store.write_store(folder / "graphs.egs", [stack], shard_bytes=2 * 8 * 8 * 8)
    other = stack.with_names(graph_names=[f"h{i}" for i in range(12)])
    eg.io.write(other[:3], folder / "more", format="csv")
    for name in ("old.tsv", "old.npz", "old.eg", "old_participants.tsv", "old_truth.json"):
        (folder / name).write_text(f"this is {name}, of last week\n")
    rows = [f"g{i}\t{'ab'[i % 2]}\t{'uvwx'[i // 3]}\t{i % 3}\n" for i in range(12)]
    table = folder / "participants.tsv"
    table.write_text("".join(["participant_id\tgroup\twho\tyears\n", *rows]))
    run_command("fit", folder / "graphs.npz", folder / "results", "-d", 2, "--participants", table)


def quick_evaluate() -> Any:
    """Return a stand-in for `evaluate` in the demo, which takes long and writes nothing."""
    mice = eg.datasets.load_mice()
    je = eg.JointEmbedding(2, center=True, random_state=0)
    found = eg.inference.evaluate(
        mice.graphs.log1p(), mice.genotypes, embedding=je, methods="PCA", rules="1-NN", cv=2
    )
    return lambda *_, **__: found


def run_operation(operation: Operation) -> int:
    """Run an operation in this process, and return its exit code."""
    if operation.call is None:
        return run_command(*operation.words)
    try:
        operation.call()
    except (EigengraphsError, OSError) as error:
        print(f"eigengraphs: {error}")
        return 3
    return 0


def run_command(*words: object) -> int:
    """Run a command in this process, and return its exit code."""
    from eigengraphs.cli import main

    sys.argv = ["eigengraphs", *map(str, words)]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def copy(source: Path, target: Path) -> None:
    """Make a folder the same as another."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


def is_finished(folder: Path, outputs: tuple[str, ...]) -> bool:
    """Tell whether nothing in the outputs says that it is on the way."""
    stores = [folder / name / "store.json" for name in outputs if name.endswith(".egs")]
    said = [json.loads(path.read_bytes())["finished"] for path in stores if path.exists()]
    return all(said) and len(said) == len(stores)
