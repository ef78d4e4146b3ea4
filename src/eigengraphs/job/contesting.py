"""A contest of methods on graphs in files: a table and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eigengraphs.errors import InputError
from eigengraphs.inference.method_contest import CONTESTANTS, Contest, contest
from eigengraphs.inference.prediction_pipelines import MethodsLike
from eigengraphs.job.analysis import FitSettings
from eigengraphs.job.evaluating import HoldingOut, people_for
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.job.inputs import Inputs, InputSettings, gather
from eigengraphs.job.people import NOBODY
from eigengraphs.job.prediction import tells_quantity
from eigengraphs.report.columns import make_column
from eigengraphs.system.labels import count_of
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import replace_together, scratch_folder

__all__ = ["hold_contest"]


def hold_contest(
    source: Any,
    label: str,
    output: Path,
    inputs: InputSettings | None = None,
    settings: FitSettings | None = None,
    how: HoldingOut | None = None,
    *,
    methods: MethodsLike = CONTESTANTS,
    listen: Listener = silent,
) -> tuple[Contest, list[Path], Inputs]:
    """Read graphs, let methods meet on them, and write ``contest.tsv`` and ``contest.png``.

    Parameters
    ----------
    source, inputs
        The graphs, and how they are read.
    label
        Column to predict.
    output
        Folder for the two files; made if it is not there.
    settings
        Of the joint embedding; its transforms hold for all methods.
    how
        How graphs are held out.

    Returns
    -------
    Contest
    list of Path
        What was written.
    Inputs
        What was read.
    """
    settings, how = settings or FitSettings(), how or HoldingOut()
    if output.exists() and not output.is_dir():
        raise InputError(f"{str(output)!r} is a file; name a folder by --output")
    data = gather(source, inputs, listen)
    column = make_column(label, data.column(label))
    y = [None if value is None else value if column.kind == "number" else column.text(i)
         for i, value in enumerate(column.values)]  # fmt: skip
    folds = None if how.folds is None else data.column(how.folds, "use for --folds")
    groups: Sequence[Any] | None = None
    if how.groups is None:
        groups = people_for(data.participants, y, folds)
    elif how.groups != NOBODY:
        groups = data.column(how.groups, "use for --groups")
    listen(Event("predict", f"methods meet {count_of(data.graphs.n_graphs, 'graph')}"))
    found = contest(
        data.graphs, y, embedding=settings.estimator(data), methods=methods, groups=groups,
        folds=folds, task="quantity" if tells_quantity(column) else "classes",
        on_fold=lambda done, total: listen(
            Event("predict", f"fold {done} of {total}", done, total)
        ),
        **how.options(),
    )  # fmt: skip
    listen(Event("write", f"writing {output}"))
    from eigengraphs.plot.contest import contest_figure

    figure = contest_figure(found, f"{data.graphs.n_graphs} graphs, {label}")
    output.parent.mkdir(parents=True, exist_ok=True)
    names = ("contest.tsv", "contest.png")
    with scratch_folder(output) as scratch:
        write_table(scratch / names[0], list(found.header), found.table())
        figure.savefig(scratch / names[1], dpi=150, format="png")
        output.mkdir(exist_ok=True)
        replace_together([(scratch / name, output / name) for name in names])
    return found, [output / name for name in names], data
