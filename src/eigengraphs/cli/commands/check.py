"""``eigengraphs check``: read graphs and say what is in them, without a fit."""

from __future__ import annotations

import time
from collections import Counter

from eigengraphs.cli.command_options import Check
from eigengraphs.cli.input_files import gather
from eigengraphs.cli.terminal import (
    Listener,
    Outcome,
    Table,
    counting,
    described,
    files_left_out,
    visible,
)
from eigengraphs.errors import StoreError
from eigengraphs.store import damages, is_store, open_store
from eigengraphs.system.labels import count_of, size_in_words

SHOWN = 20  # rows and values; --json shows all


def check(asked: Check, listen: Listener) -> Outcome:
    """Read graphs, and return what is in them, worst first."""
    if is_store(asked.source):
        return _check_store(asked.source, listen)
    data = gather(asked.source, asked.study, listen)
    label, reading = asked.label, data.reading
    values = () if label is None else data.column(label)
    counts = Counter("missing" if x is None else str(x) for x in values).most_common()
    facts = {
        "graphs": data.graphs.n_graphs, "vertices": data.graphs.n_vertices,
        "columns": list(data.columns), "seconds": round(reading.seconds, 3),
        "left_out": data.left_out, "hidden": data.graphs.n_hidden, "problems": data.notes,
        "noticed": data.problems, "label": None if label is None else dict(counts),
        "quality": list(data.quality),
    }  # fmt: skip
    kinds = Counter(file.format for file in reading.files)
    read = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
    text: list[str | Table] = [
        f"{described(data.graphs)} ({read}), read in {reading.seconds:.1f} s"
        f"{files_left_out(data.left_out)}",
        f"columns: {', '.join(data.columns) or 'none'}",
    ]
    if label is not None:
        more = f", and {len(counts) - SHOWN} more values" if len(counts) > SHOWN else ""
        some = ", ".join(f"{value} {count}" for value, count in counts[:SHOWN])
        text.append(f"{label}: {some}{more}")
    odd = [row for row in data.quality if row.verdict != "ok"]
    listed = odd or list(data.quality)
    numbers = ("density", "total\nweight", "isolated", "correlation")
    # Names and numbers are whole at 80 columns, and messages are folded.
    short_names = max(len(visible(row.id)) for row in listed[:SHOWN]) <= 36
    text.append(Table(
        ("graph", *numbers, "messages"),
        [(row.id, f"{row.density:.3f}", f"{row.total_weight:.6g}", row.isolated,
          "" if row.correlation is None else f"{row.correlation:.3f}", "; ".join(row.messages))
         for row in listed[:SHOWN]],
        whole=("graph", *numbers) if short_names else numbers,
    ))  # fmt: skip
    if len(listed) > SHOWN:
        text.append(f"and {len(listed) - SHOWN} more; --json shows all")
    ok = len(data.quality) - len(odd)
    if odd and ok:
        be = "is" if ok == 1 else "are"
        text.append(f"{count_of(ok, 'graph')} that {be} ok {be} not shown")
    noticed = [problem.name or problem.text for problem in data.problems]  # whole texts are notes
    worst = ", worst first" if len(noticed) > 1 else ""
    said = f"{len(noticed)} noticed{worst}: {', '.join(noticed)}"
    return Outcome([*text, said if noticed else "nothing unusual"], facts, data.notes)


def _check_store(source: str, listen: Listener) -> Outcome:
    """Compare graphs and tables of a store with their hashes, and say what is in it."""
    start = time.perf_counter()
    wrong = damages(source, watch=counting(listen, "check", "graph"))
    if wrong:
        what = f"{count_of(len(wrong), 'file')} of the store {'is' if len(wrong) == 1 else 'are'}"
        raise StoreError("\n".join([f"{what} damaged:", *map(str, wrong)]))
    stack = open_store(source)
    empty = int((stack.facts.n_nonzero == stack.facts.n_loops).sum())
    kept = f"{'sparse' if stack.is_sparse else 'dense'} {stack.dtype}"
    seconds = time.perf_counter() - start
    text = (
        f"{described(stack)} (a store, {kept}, {size_in_words(stack.nbytes)} in memory), "
        f"all files checked in {seconds:.1f} s\n"
        f"columns: {', '.join(stack.columns) or 'none'}\n"
        f"density {stack.density:.4g}, {count_of(empty, 'graph')} without edges"
    )
    facts = {
        "graphs": stack.n_graphs, "vertices": stack.n_vertices, "kept": kept,
        "directed": stack.is_directed, "weighted": stack.is_weighted, "bytes": stack.nbytes,
        "columns": list(stack.columns), "empty": empty, "seconds": round(seconds, 3), "text": text,
    }  # fmt: skip
    return Outcome([text], facts)
