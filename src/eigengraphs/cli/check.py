"""``eigengraphs check``: read graphs and say what is in them, without a fit."""

from __future__ import annotations

import time
from collections import Counter
from typing import Annotated, Any

import typer

from eigengraphs.cli.shared_options import Json, Source, Study
from eigengraphs.cli.terminal import (
    Listener,
    described,
    files_left_out,
    say,
    say_json,
    say_notes,
    show_table,
    showing,
    visible,
)
from eigengraphs.system.labels import count_of

__all__ = ["check"]

SHOWN = 20  # rows and values; --json shows all


def check(
    source: Source,
    study: Annotated[Study, "memory"],
    label: Annotated[
        str | None, typer.Option(help="Column that the study is about; its values are counted.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read graphs and say what is in them; write nothing.

    Example: eigengraphs check connectomes --participants participants.tsv
    """
    with showing(as_json, "read", f"reading {source}") as listen:
        from eigengraphs.cli.input_files import gather
        from eigengraphs.store import is_store

        if is_store(source):
            told = _check_store(source, listen)
            if as_json:
                say_json(**told)
            else:
                say(told["text"])
            return
        data = gather(source, study, listen)
        values = () if label is None else data.column(label)
    counts = Counter("missing" if x is None else str(x) for x in values).most_common()
    if as_json:
        say_json(
            graphs=data.graphs.n_graphs, vertices=data.graphs.n_vertices,
            columns=list(data.columns), seconds=round(data.seconds, 3), left_out=data.left_out,
            hidden=data.graphs.n_hidden, problems=[problem.text for problem in data.problems],
            noticed=data.problems, label=None if label is None else dict(counts),
            quality=list(data.quality),
        )  # fmt: skip
        return
    say_notes(problem.text for problem in data.problems)
    kinds = Counter(file.format for file in data.files)
    read = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
    say(
        f"{described(data.graphs)} ({read}), read in {data.seconds:.1f} s"
        f"{files_left_out(data.left_out)}"
    )
    say(f"columns: {', '.join(data.columns) or 'none'}")
    if label is not None:
        more = f", and {len(counts) - SHOWN} more values" if len(counts) > SHOWN else ""
        say(f"{label}: {', '.join(f'{value} {count}' for value, count in counts[:SHOWN])}{more}")
    odd = [row for row in data.quality if row.verdict != "ok"]
    listed = odd or list(data.quality)
    numbers = ("density", "total\nweight", "isolated", "correlation")
    # Names and numbers are whole at 80 columns, and messages are folded.
    short_names = max(len(visible(row.id)) for row in listed[:SHOWN]) <= 36
    show_table(
        ("graph", *numbers, "messages"),
        ((row.id, f"{row.density:.3f}", f"{row.total_weight:.6g}", row.isolated,
          "" if row.correlation is None else f"{row.correlation:.3f}", "; ".join(row.messages))
         for row in listed[:SHOWN]),
        whole=("graph", *numbers) if short_names else numbers,
    )  # fmt: skip
    if len(listed) > SHOWN:
        say(f"and {len(listed) - SHOWN} more; --json shows all")
    ok = len(data.quality) - len(odd)
    if odd and ok:
        be = "is" if ok == 1 else "are"
        say(f"{count_of(ok, 'graph')} that {be} ok {be} not shown")
    noticed = [problem.name or problem.text for problem in data.problems]  # whole texts are above
    worst = ", worst first" if len(noticed) > 1 else ""
    say(f"{len(noticed)} noticed{worst}: {', '.join(noticed)}" if noticed else "nothing unusual")


def _check_store(source: str, listen: Listener) -> dict[str, Any]:
    """Compare graphs and tables of a store with their hashes, and say what is in it."""
    from eigengraphs.errors import StoreError
    from eigengraphs.store import damages, open_store

    def watch(done: int, total: int) -> None:
        listen("check", f"{done} of {count_of(total, 'graph')}", done, total)

    start = time.perf_counter()
    wrong = damages(source, watch=watch)
    if wrong:
        what = f"{count_of(len(wrong), 'file')} of the store {'is' if len(wrong) == 1 else 'are'}"
        raise StoreError("\n".join([f"{what} damaged:", *map(str, wrong)]))
    stack = open_store(source)
    empty = int((stack.facts.n_nonzero == stack.facts.n_loops).sum())
    kept = f"{'sparse' if stack.is_sparse else 'dense'} {stack.dtype}"
    seconds = time.perf_counter() - start
    text = (
        f"{described(stack)} (a store, {kept}, {stack.nbytes / 1e9:.3g} GB in memory), all files "
        f"checked in {seconds:.1f} s\n"
        f"columns: {', '.join(stack.columns) or 'none'}\n"
        f"density {stack.density:.4g}, {count_of(empty, 'graph')} without edges"
    )
    return {
        "graphs": stack.n_graphs, "vertices": stack.n_vertices, "kept": kept,
        "directed": stack.is_directed, "weighted": stack.is_weighted, "bytes": stack.nbytes,
        "columns": list(stack.columns), "empty": empty, "seconds": round(seconds, 3), "text": text,
    }  # fmt: skip
