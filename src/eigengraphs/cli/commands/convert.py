"""``eigengraphs convert``: graphs from one format to another, or into a store."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from eigengraphs import io
from eigengraphs.cli.command_options import Convert
from eigengraphs.cli.input_files import gather
from eigengraphs.cli.terminal import Listener, Outcome, files_left_out, noting
from eigengraphs.errors import InputError
from eigengraphs.io.file_graph import left_out
from eigengraphs.system.labels import count_of


def convert(asked: Convert, listen: Listener) -> Outcome:
    """Write graphs in another format, or into a store."""
    output = asked.output
    to: Any = asked.to
    if to == "store" or (to == "auto" and output.rstrip("/").endswith(".egs")):
        facts = _into_store(asked, listen)
    elif asked.append:
        raise InputError("--append adds to a store; OUT must end in .egs, or pass --to store")
    else:
        data = gather(asked.source, asked.study, listen)
        io.write(data.graphs, output, format=to)
        facts = {"graphs": data.graphs.n_graphs, "vertices": data.graphs.n_vertices,
                 "notices": data.notes, "left_out": data.left_out}  # fmt: skip
    new = facts.get("new", facts["graphs"])
    some = f" ({new} new)" if new < facts["graphs"] else ""
    wrote = f"wrote {output}" if new else f"{output} has them already"
    said = (
        f"{count_of(facts['graphs'], 'graph')}{some} on {count_of(facts['vertices'], 'vertex')}; "
        f"{wrote}{files_left_out(facts['left_out'])}"
    )
    return Outcome([said], {"output": output, **facts}, facts["notices"])


def _into_store(asked: Convert, listen: Listener) -> dict[str, Any]:
    """Convert into a store, with few graphs in memory at a time."""
    study = asked.study
    storage: Any = asked.storage
    labels = None if study.vertices is None else io.read_vertices(study.vertices, **study.marks)
    how = {key: value for key, value in study.arguments.items() if key != "id_pattern"}

    def watch(what: str, done: int, total: int) -> None:
        stage = "read" if what.startswith("looking") else "write"
        listen(stage, f"{what}, {done} of {total}", done, total)

    with noting(lambda: "the same command continues where it was stopped"):
        done = io.convert_to_store(
            asked.source, asked.output, append=asked.append, labels=labels, storage=storage,
            command=shlex.join(["eigengraphs", *sys.argv[1:]]), watch=watch, **how,
        )  # fmt: skip
    return {
        "graphs": done.n_graphs, "vertices": done.n_vertices, "new": done.n_new,
        "resumed_at": done.n_there,
        "notices": [str(notice) for notice in done.notices if notice.loud],
        "left_out": left_out(done.notices),
    }  # fmt: skip
