"""``eigengraphs links``: pairs of vertices that may have an edge, and how well this is known."""

from __future__ import annotations

from eigengraphs import inference
from eigengraphs.cli.command_options import Links
from eigengraphs.cli.input_files import gather
from eigengraphs.cli.results_folder import check_folder, write_files
from eigengraphs.cli.terminal import Listener, Outcome, Table, counting, written
from eigengraphs.stack.preprocess import Preprocessing

_ACCURACY = ("method", "graph", "average_precision", "average_precision_se", "auc", "auc_se")
_PAIRS = ("rank", "graph", "vertex", "vertex_2", "score", "known")
_SHOWN = 10


def links(asked: Links, listen: Listener) -> Outcome:
    """Score pairs, try the scores on pairs that are held out; write two tables."""
    output = asked.output
    check_folder(output)
    data = gather(asked.source, asked.study, listen)
    found = inference.predict_edges(
        Preprocessing.of(asked.embedding.transform).apply(data.graphs),
        max_components=asked.components, hidden=asked.hidden, repeats=asked.repeats,
        random_state=asked.embedding.seed, on_repeat=counting(listen, "predict", "repetition"),
    )  # fmt: skip
    accuracy, pairs = found.table(), found.ranking(asked.top)
    listen("write", f"writing {output}")
    tables = {"pairs.tsv": (_PAIRS, pairs), "accuracy.tsv": (_ACCURACY, accuracy)}
    files = write_files(output, tables)
    facts = {
        "graphs": data.graphs.n_graphs, "hidden": asked.hidden, "repeats": asked.repeats,
        "accuracy": [dict(zip(_ACCURACY, row, strict=True)) for row in accuracy],
        "pairs": [dict(zip(_PAIRS, row, strict=True)) for row in pairs],
        "left_out": data.left_out, "problems": data.notes, "files": files,
    }  # fmt: skip
    means = [row for row in accuracy if row[1] is None]
    tried = Table.of(_ACCURACY, means, [name for name in _ACCURACY if name != "graph"])
    best = Table.of(_PAIRS, pairs[:_SHOWN], _PAIRS)
    how = (
        f"On pairs held out {asked.repeats} times, mean over graphs (standard errors over times); "
        f"by chance, average precision is {found.density.mean():.3f}."
    )
    shown: list[str | Table] = [how, tried] if accuracy else []
    return Outcome([*shown, best, written(files, data.left_out)], facts, data.notes)
