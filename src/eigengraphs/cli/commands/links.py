"""``eigengraphs links``: pairs of vertices that may have an edge, and how well this is known."""

from __future__ import annotations

from eigengraphs import inference
from eigengraphs.cli.command_options import Links
from eigengraphs.cli.input_files import gather
from eigengraphs.cli.terminal import Listener, Outcome, Table, counting, written
from eigengraphs.errors import InputError
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import replace_together, scratch_folder

__all__ = ["links"]

_ACCURACY = ("method", "graph", "average_precision", "average_precision_se", "auc", "auc_se")
_PAIRS = ("rank", "graph", "vertex", "vertex_2", "score", "known")
_SHOWN = 10


def links(asked: Links, listen: Listener) -> Outcome:
    """Score pairs, try the scores on pairs that are held out; write two tables."""
    output = asked.output
    if output.exists() and not output.is_dir():
        raise InputError(f"{str(output)!r} is a file; name a folder by --output")
    data = gather(asked.source, asked.study, listen)
    found = inference.predict_edges(
        Preprocessing.of(asked.embedding.transform).apply(data.graphs),
        max_components=asked.components, hidden=asked.hidden, repeats=asked.repeats,
        random_state=asked.embedding.seed, on_repeat=counting(listen, "predict", "repetition"),
    )  # fmt: skip
    accuracy, pairs = found.table(), found.ranking(asked.top)
    listen("write", f"writing {output}")
    output.parent.mkdir(parents=True, exist_ok=True)
    files = [output / "pairs.tsv", output / "accuracy.tsv"]
    with scratch_folder(output) as scratch:
        for file, header, rows in zip(files, (_PAIRS, _ACCURACY), (pairs, accuracy), strict=True):
            write_table(scratch / file.name, header, rows)
        output.mkdir(exist_ok=True)
        replace_together([(scratch / file.name, file) for file in files])
    facts = {
        "graphs": data.graphs.n_graphs, "hidden": asked.hidden, "repeats": asked.repeats,
        "accuracy": [dict(zip(_ACCURACY, row, strict=True)) for row in accuracy],
        "pairs": [dict(zip(_PAIRS, row, strict=True)) for row in pairs],
        "left_out": data.left_out, "problems": data.notes, "files": files,
    }  # fmt: skip
    tried = Table(
        ("method", "average precision", "AUC"),
        [(name, f"{ap:.3f} ({ap_se:.3f})", f"{auc:.3f} ({auc_se:.3f})")
         for name, graph, ap, ap_se, auc, auc_se in accuracy if graph is None],
    )  # fmt: skip
    best = Table(_PAIRS, [(*row[:4], f"{row[4]:.3f}", row[5]) for row in pairs[:_SHOWN]])
    how = (
        f"On pairs held out {asked.repeats} times, mean over graphs (standard errors over times); "
        f"by chance, average precision is {found.density.mean():.3f}."
    )
    shown: list[str | Table] = [how, tried] if accuracy else []
    return Outcome([*shown, best, written(files, data.left_out)], facts, data.notes)
