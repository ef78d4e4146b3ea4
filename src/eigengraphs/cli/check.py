"""``eigengraphs check``: read and look, fit nothing."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from eigengraphs.cli.options import (
    Align,
    Decimal,
    Delimiter,
    Directed,
    Format,
    IdPattern,
    Json,
    Key,
    MaxBytes,
    Missing,
    Participants,
    Source,
    Thousands,
    Vertices,
    input_settings,
)  # fmt: skip
from eigengraphs.cli.wording import files_left_out, say, say_notes, table_width, visible
from eigengraphs.job.events import Event, Listener
from eigengraphs.system.labels import count_of

__all__ = ["check"]

SHOWN = 20  # rows and values; --json shows all


def check(
    source: Source,
    label: Annotated[
        str | None, typer.Option(help="Column that the study is about; its values are counted.")
    ] = None,
    participants: Participants = None,
    vertices: Vertices = None,
    file_format: Format = "auto",
    key: Key = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    id_pattern: IdPattern = None,
    align: Align = "auto",
    directed: Directed = False,
    allow_missing: Missing = False,
    max_bytes: MaxBytes = None,
    as_json: Json = False,
) -> None:
    """Read graphs and say what is in them; write nothing.

    Example: eigengraphs check connectomes --participants participants.tsv
    """
    from eigengraphs.cli.progress import showing

    with showing(as_json, Event("read", f"reading {source}")) as listen:
        from eigengraphs.job.inputs import gather
        from eigengraphs.store import is_store

        if is_store(source):
            said = _check_store(source, listen)
            say(json.dumps(said) if as_json else said["text"])
            return

        how: Any = input_settings(
            participants,
            vertices,
            file_format,
            key,
            delimiter,
            align,
            directed,
            allow_missing,
            max_bytes=max_bytes,
            decimal=decimal,
            thousands=thousands,
            id_pattern=id_pattern,
        )
        data = gather(source, how, listen)
        values = None if label is None else data.column(label)
    if as_json:
        say(json.dumps({
            "event": "done", "graphs": data.graphs.n_graphs, "vertices": data.graphs.n_vertices,
            "columns": list(data.columns), "seconds": round(data.seconds, 3),
            "left_out": data.left_out, "hidden": data.graphs.n_hidden,
            "problems": [problem.text for problem in data.problems],
            "noticed": [asdict(problem) for problem in data.problems],
            "label": None if values is None else _counts(values),
            "quality": [asdict(row) for row in data.quality],
        }))  # fmt: skip
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    say_notes(problem.text for problem in data.problems)
    graphs = data.graphs
    kinds = Counter(file.format for file in data.files)
    read = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
    weights = "weighted" if graphs.is_weighted else "unweighted"
    direction = "directed" if graphs.is_directed else "undirected"
    say(f"{count_of(graphs.n_graphs, f'{direction} {weights} graph')} on "
          f"{count_of(graphs.n_vertices, 'vertex', 'vertices')} "
          f"({read}), read in {data.seconds:.1f} s{files_left_out(data.left_out)}")  # fmt: skip
    say(f"columns: {', '.join(data.columns) or 'none'}")
    if values is not None:
        counts = _counts(values)
        most = [f"{value} {count}" for value, count in list(counts.items())[:SHOWN]]
        more = f", and {len(counts) - SHOWN} more values" if len(counts) > SHOWN else ""
        say(f"{label}: {', '.join(most)}{more}")
    # As narrow as can be: names and numbers are whole at 80 columns, and messages wrap.
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    odd = [row for row in data.quality if row.verdict != "ok"]
    shown = (odd or data.quality)[:SHOWN]
    longest = max(len(visible(row.id)) for row in shown)
    table.add_column("graph", no_wrap=longest <= 36, overflow="fold")
    for name in ("density", "total\nweight", "isolated", "correlation"):
        table.add_column(name, no_wrap=True)
    table.add_column("messages", overflow="fold")
    for row in shown:
        table.add_row(
            visible(row.id), f"{row.density:.3f}", f"{row.total_weight:.6g}",
            str(row.isolated), "" if row.correlation is None else f"{row.correlation:.3f}",
            visible("; ".join(row.messages)),
        )  # fmt: skip
    # Names are shown as they are, even such as [bold].
    Console(markup=False, emoji=False, highlight=False, width=table_width()).print(table)
    hidden = len(odd or data.quality) - SHOWN
    if hidden > 0:
        say(f"and {hidden} more; --json shows all")
    ok = len(data.quality) - len(odd)
    if odd and ok:
        say(f"{count_of(ok, 'graph')} that {'is' if ok == 1 else 'are'} ok "
            f"{'is' if ok == 1 else 'are'} not shown")  # fmt: skip
    noticed = [
        problem.name or problem.text for problem in data.problems
    ]  # the whole texts are above
    worst = ", worst first" if len(noticed) > 1 else ""
    say(f"{len(noticed)} noticed{worst}: {', '.join(noticed)}" if noticed else "nothing unusual")


def _counts(values: Sequence[Any]) -> dict[str, int]:
    """Return how many graphs have each value, the most frequent first."""
    return dict(Counter("missing" if x is None else str(x) for x in values).most_common())


def _check_store(source: str, listen: Listener) -> dict[str, Any]:
    """Read graphs and tables of a store against their hashes, and say what is in it."""
    from eigengraphs.errors import StoreError
    from eigengraphs.store import damages, open_store

    def watch(done: int, total: int) -> None:
        listen(Event("check", f"{done} of {count_of(total, 'graph')}", done, total))

    start = time.perf_counter()
    wrong = damages(source, watch=watch)
    if wrong:
        more = "".join(f"\n{error}" for error in wrong[1:])
        what = f"{count_of(len(wrong), 'file')} of the store {'is' if len(wrong) == 1 else 'are'}"
        raise StoreError(f"{what} damaged:\n{wrong[0]}{more}")
    stack = open_store(source)
    facts = stack.facts
    empty = int((facts.n_nonzero == facts.n_loops).sum())
    weights = "weighted" if stack.is_weighted else "unweighted"
    direction = "directed" if stack.is_directed else "undirected"
    kept = f"{'sparse' if stack.is_sparse else 'dense'} {stack.dtype}"
    seconds = time.perf_counter() - start
    text = (
        f"{count_of(stack.n_graphs, f'{direction} {weights} graph')} on "
        f"{count_of(stack.n_vertices, 'vertex', 'vertices')} (a store, {kept}, "
        f"{stack.nbytes / 1e9:.3g} GB in memory), every file checked in {seconds:.1f} s\n"
        f"columns: {', '.join(stack.columns) or 'none'}\n"
        f"density {stack.density:.4g}, {count_of(empty, 'graph')} without an edge"
    )
    return {
        "event": "done", "graphs": stack.n_graphs, "vertices": stack.n_vertices, "kept": kept,
        "directed": stack.is_directed, "weighted": stack.is_weighted, "bytes": stack.nbytes,
        "columns": list(stack.columns), "empty": empty, "seconds": round(seconds, 3), "text": text,
    }  # fmt: skip
