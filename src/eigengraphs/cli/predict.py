"""Prediction on held-out graphs: the label of a fit, ``evaluate``, and ``contest`` of methods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigengraphs.cli.compare import NOBODY, file_name
from eigengraphs.cli.shared_options import (
    EmbeddingOptions,
    Json,
    MovedGraphs,
    Results,
    Source,
    Study,
    count_or_auto,
    covariate_names,
)
from eigengraphs.cli.terminal import (
    Listener,
    counting,
    say,
    say_json,
    say_notes,
    say_written,
    sentence,
    show_table,
    showing,
    silent,
)
from eigengraphs.errors import InputError
from eigengraphs.system.labels import are_quantity, count_of

if TYPE_CHECKING:
    from eigengraphs.cli.input_files import Inputs
    from eigengraphs.embedding import JointEmbedding
    from eigengraphs.report.records import Column, Prediction

__all__ = ["contest", "evaluate", "participants_for", "predict_label"]

FOLDS = 5  # of the prediction in a fit

Methods = Annotated[
    str,
    typer.Option(
        help="Methods to compare with, separated by commas: PCA,Omnibus; or all, or none."
    ),
]


@dataclass(frozen=True)
class HoldingOut:
    """How graphs are held out."""

    cv: Annotated[str, typer.Option(help="Number of folds, or loo: each graph or group alone.")] = (
        "5"
    )
    repeats: Annotated[
        int, typer.Option(min=1, help="How often the graphs are split into folds.")
    ] = 1
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column whose graphs stay together; by default the participants. none: no groups."
        ),
    ] = None
    folds: Annotated[
        str | None, typer.Option(help="Column with the fold of each graph, such as session.")
    ] = None
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes; each takes a fold.")] = 1

    def arguments(self, listen: Listener) -> dict[str, Any]:
        """Return the arguments of `evaluate` and `contest`, without columns."""
        return {
            "cv": int(self.cv) if self.cv.isdecimal() else self.cv,
            "repeats": self.repeats,
            "n_jobs": self.jobs,
            "on_fold": counting(listen, "predict", "fold"),
        }


def evaluate(
    folder: Results,
    target: Annotated[str, typer.Option(help="Column to predict: classes, or a quantity.")],
    how: HoldingOut,
    covariates: Annotated[
        str,
        typer.Option(help="Columns to regress out, learned in each fold: age,site."),
    ] = "",
    learn_from_one: Annotated[
        bool, typer.Option("--learn-from-one", help="Learn from one fold, hold out all others.")
    ] = False,
    methods: Methods = "all",
    components: Annotated[
        Any,
        typer.Option(
            "--components",
            "-d",
            help="Number of components, or auto; by default as in the fit.",
            metavar="N",
            parser=count_or_auto,
        ),
    ] = None,
    graphs: MovedGraphs = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the folds.")] = 0,
    as_json: Json = False,
) -> None:
    """Predict a column on held-out graphs: the whole pipeline is learned in every fold.

    Example: eigengraphs evaluate results --target sex --cv 5 --groups participant_id
    """
    with showing(as_json, "read", f"opening {folder}") as listen:
        from eigengraphs import inference
        from eigengraphs.cli.input_files import is_quantity
        from eigengraphs.cli.results_folder import FinishedFit
        from eigengraphs.inference.label_prediction import CHANCE
        from eigengraphs.inference.prediction_pipelines import quiet
        from eigengraphs.report.records import Finding, Intervals

        fit = FinishedFit(folder)
        column, y = fit.column(target, "--target"), fit.values(target, "--target")
        beside = covariate_names(covariates, target, "--target")
        groups: Sequence[Any] | None = None
        if how.groups not in (None, NOBODY):
            groups = fit.values(str(how.groups), "--groups")
        folds = None if how.folds is None else fit.values(how.folds, "--folds")
        settings = quiet(fit.embedding)
        if components is not None:
            settings = settings.set_params(n_components=components)
        data = fit.inputs(graphs, listen)
        if tuple(data.graphs.graph_names) != tuple(fit.summary.graph_names):
            raise InputError(
                "the graphs have other names than those of the fit; fit them, and use the results "
                "of that"
            )
        if how.groups is None:
            groups = participants_for(data.participants, y, folds)
        listen("predict", f"predicting {target} of held-out graphs")
        found = inference.evaluate(
            data.graphs, y, embedding=settings, methods=_method_names(methods), groups=groups,
            folds=folds, covariates={name: fit.values(name, "--covariates") for name in beside},
            task="quantity" if is_quantity(column) else "classes",
            learn_from="one" if learn_from_one else "others", seed=seed, **how.arguments(listen),
        )  # fmt: skip
        where = found.header.index(found.measure.replace(" ", "_"))
        named = [target, *(["by", how.folds] if how.folds else []), *beside]
        adjusted = f", adjusted for {', '.join(beside)}" if beside else ""
        by = f", folds by {how.folds}" if how.folds else ""
        n_units = f" of {found.n_units} groups" if found.n_units < found.n_graphs else ""
        chance = found.score(CHANCE).score
        axis = f"{found.measure} (held-out)"
        finding = Finding(
            key=" ".join(["evaluate", *named]),
            title=f"Prediction of {target}{adjusted}{by}",
            words=found.words(),
            header=found.header,
            rows=found.rows(),
            intervals=Intervals(where, where + 1, where + 2, chance, axis),
            notes=(
                sentence(found.protocol),
                f"{found.n_graphs} graphs{n_units}.",
                *(f"Warning: {text}" for text in found.warnings[:5]),
            ),
        )
        files = fit.add(finding, f"{file_name('-'.join(['evaluate', *named]))}.tsv")
    if as_json:
        say_json(
            target=target, kind=found.kind, measure=found.measure, graphs=found.n_graphs,
            groups=found.n_units,
            pipelines=[dict(zip(found.header, row, strict=True)) for row in found.rows()],
            not_offered=dict(found.not_offered), protocol=found.protocol, warnings=found.warnings,
            files=files,
        )  # fmt: skip
        return
    say_notes(found.warnings)
    say("\n".join(found.words()))
    rows = []
    for score in found.scores:
        versus = [""] * 4
        if score.difference is not None:
            value, low, high, _ = score.difference
            versus = [score.versus, f"{value:+.3f}", f"{low:+.3f} to {high:+.3f}",
                      f"{score.p_holm:.2g}"]  # fmt: skip
        interval = f"{score.low:.3f} to {score.high:.3f}"
        rows.append((score.name, f"{score.score:.3f}", interval, *versus))
    show_table(
        ("pipeline", found.measure, "interval", "minus", "difference", "interval", "p (Holm)"), rows
    )
    say(sentence(found.protocol))
    say_written(files)


def contest(
    source: Source,
    label: Annotated[str, typer.Option(help="Column to predict: classes, or a quantity.")],
    options: EmbeddingOptions,
    how: HoldingOut,
    study: Annotated[Study, "memory"],
    output: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for contest.tsv and contest.png.")
    ] = Path("contest"),
    methods: Methods = "Multiple ASE,Omnibus,Unfolded ASE,PCA,ASE",
    as_json: Json = False,
) -> None:
    """Compare joint embedding with other methods on your graphs: fit, prediction, time, size.

    Example: eigengraphs contest connectomes --participants participants.tsv --label group
    """
    with showing(as_json, "read", f"reading {source}") as listen:
        from eigengraphs import inference
        from eigengraphs.cli.input_files import column_values, gather, is_quantity
        from eigengraphs.plot.three_panels import contest_figure
        from eigengraphs.report.columns import make_column
        from eigengraphs.system.tables import write_table
        from eigengraphs.system.whole_files import replace_together, scratch_folder

        if output.exists() and not output.is_dir():
            raise InputError(f"{str(output)!r} is a file; name a folder by --output")
        data = gather(source, study, listen)
        column = make_column(label, data.column(label))
        y = column_values(column)
        folds = None if how.folds is None else data.column(how.folds, "use for --folds")
        groups: Sequence[Any] | None = None
        if how.groups is None:
            groups = participants_for(data.participants, y, folds)
        elif how.groups != NOBODY:
            groups = data.column(how.groups, "use for --groups")
        listen("predict", f"comparing methods on {count_of(data.graphs.n_graphs, 'graph')}")
        found = inference.contest(
            data.graphs, y, embedding=options.estimator(data.graphs),
            methods=_method_names(methods), groups=groups, folds=folds,
            task="quantity" if is_quantity(column) else "classes", seed=options.seed,
            **how.arguments(listen),
        )  # fmt: skip
        listen("write", f"writing {output}")
        figure = contest_figure(found, f"{data.graphs.n_graphs} graphs, {label}")
        output.parent.mkdir(parents=True, exist_ok=True)
        table, picture = files = [output / "contest.tsv", output / "contest.png"]
        with scratch_folder(output) as scratch:
            write_table(scratch / table.name, list(found.header), found.table())
            figure.savefig(scratch / picture.name, dpi=150, format="png")
            output.mkdir(exist_ok=True)
            replace_together([(scratch / file.name, file) for file in files])
    rows = [dict(zip(found.header, row, strict=True)) for row in found.table()]
    notes = [problem.text for problem in data.problems]
    if as_json:
        say_json(
            label=label, graphs=found.evaluation.n_graphs, methods=rows,
            not_offered=dict(found.not_offered), protocol=found.evaluation.protocol,
            notes=found.notes, left_out=data.left_out, problems=notes, files=files,
        )  # fmt: skip
        return
    say_notes([*notes, *found.evaluation.warnings])
    shown = [name for name in found.header if not name.endswith(("_low", "_high"))]
    show_table(
        [name.replace("_", " ") for name in shown],
        ([_cell(row, name) for name in shown] for row in rows),
    )
    for name, why in found.not_offered.items():
        say(f"Not offered: {name}, because {why}.")
    say("\n".join(found.notes))
    say_written(files, data.left_out)


def _cell(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if value is None or isinstance(value, str):
        return value or ""
    if f"{name}_low" in row:
        return f"{value:.3f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"
    return f"{value:,d}" if isinstance(value, int) else f"{value:.3g}"


def _method_names(text: str) -> Any:
    """Return what --methods names."""
    if text.strip() in ("all", "none"):
        return "all" if text.strip() == "all" else ()
    return [name.strip() for name in text.split(",") if name.strip()]


def participants_for(
    participants: Sequence[Any] | None, y: Sequence[Any], folds: Sequence[Any] | None
) -> Sequence[Any] | None:
    """Return whose graphs stay together where no groups were named.

    Folds by a column are used as they are. Participants count in intervals if the folds keep them
    together, or if the participants are what is predicted. The target may vary within participants
    (rest and task): then they may be in several folds.

    Raises
    ------
    InputError
        If a participant with the same value in all graphs is in several folds: recognizing the
        participant would be enough to predict it.
    """
    from eigengraphs.cli.input_files import one_to_one

    if participants is None:
        return None
    people = [("alone", i) if who is None else who for i, who in enumerate(participants)]
    if len(set(people)) == len(people):
        return None
    if folds is None or one_to_one(people, y):
        return people
    places, values = defaultdict(set), defaultdict(set)
    for who, value, fold in zip(people, y, folds, strict=True):
        if value is not None:
            places[who].add(fold)
            values[who].add(value)
    torn = [who for who in places if len(places[who]) > 1]
    if not torn:
        return people
    numbers = [x for some in values.values() for x in some if isinstance(x, float | int)]
    same = torn if are_quantity(numbers) else [who for who in torn if len(values[who]) == 1]
    if not same:
        return None
    others = f" and {count_of(len(same) - 1, 'other')}" if len(same) > 1 else ""
    raise InputError(
        f"graphs of one participant ({same[0]}{others}) are in several folds of --folds, so that "
        "recognizing participants would be enough to predict what is known of them; name folds "
        "that keep participants together, or leave --folds out (--groups none allows it)"
    )


# -------------------------------------------------------------------------- the label of a fit


def predict_label(
    embedding: JointEmbedding, data: Inputs, label: str, listen: Listener = silent
) -> Prediction | str:
    """Predict a label of held-out graphs; all is learned from the others, the embedding too.

    Parameters
    ----------
    embedding
        Settings of the embedding; the object itself is not changed.
    data
        The graphs, before any centering, and their columns. Graphs of one participant are never on
        both sides, unless the label is the participant.
    label
        Name of a column.
    listen
        Told after each fold.

    Returns
    -------
    Prediction or str
        The reason in words if it cannot be done.
    """
    import numpy as np

    from eigengraphs import inference
    from eigengraphs.cli.input_files import is_quantity
    from eigengraphs.inference.label_prediction import CHANCE, make_folds
    from eigengraphs.inference.prediction_pipelines import quiet
    from eigengraphs.report.columns import make_column
    from eigengraphs.report.records import MethodScore, Prediction
    from eigengraphs.stack.blocked import BlockedStack

    if embedding.directed:
        return "graphs are directed, and labels are predicted for undirected graphs only"
    if data.graphs.has_missing:
        return "graphs have missing entries, and labels are predicted for complete graphs only"
    if isinstance(data.graphs, BlockedStack):
        return (
            "this is done only for graphs in memory, since every fold is a fit of its own; "
            "loadings.tsv has the label beside the loadings"
        )
    column = make_column(label, data.column(label))
    known = [i for i, value in enumerate(column.values) if value is not None]
    if why_not := _no_label(column, known):
        return why_not
    quantity, d = is_quantity(column), embedding.n_components_
    told = [column.values[i] if quantity else column.text(i) for i in known]
    y = np.array(told, dtype=np.float64 if quantity else np.str_)
    groups = np.array(data.participants or data.graphs.graph_names)[known]
    try:
        splits = make_folds(y, cv=FOLDS, groups=groups.tolist()).splits
    except InputError as error:
        return str(error)
    if d > min(len(train) for train, _ in splits):
        return f"there are fewer graphs to learn from than the {d} components"
    listen("predict", f"predicting {label} of held-out graphs")
    found = inference.evaluate(
        data.graphs[known], y, embedding=quiet(embedding).set_params(n_components=d),
        methods=("PCA",), rules="linear", task="quantity" if quantity else "classes", cv=FOLDS,
        groups=groups, on_fold=counting(listen, "predict", "fold"),
    )  # fmt: skip
    notes = ""
    if len(np.unique(groups)) < len(y):
        torn = any(set(groups[train]) & set(groups[test]) for train, test in splits)
        notes = (
            " Each class is one participant, whose graphs are in different folds."
            if torn
            else " Graphs of one participant stay together."
        )
    if embedding.n_components == "auto":
        notes += " The number of components is the one chosen from all graphs."
    chance = found.score(CHANCE)
    return Prediction(
        label,
        tuple(
            # The standard error is that of independent folds, which they nearly are.
            MethodScore(way.method, way.score,
                        float(np.std(way.folds, ddof=1) / np.sqrt(len(way.folds))),
                        way.n_parameters, way.folds)
            for way in found.scores[:-1]
        ),
        chance=chance.score,
        protocol=f"{len(splits)}-fold cross-validation, "
        f"{'ridge' if quantity else 'logistic'} regression on standardized features, "
        f"{found.measure} on the held-out graphs; embedding and principal components are computed "
        f"without them.{notes}",
        classes=found.classes,
        kind="quantity" if quantity else "classes",
        n_graphs=len(y),
        chance_folds=chance.folds,
    )  # fmt: skip


def _no_label(column: Column, known: Sequence[int]) -> str:
    """Say why a column cannot be predicted; empty if it can."""
    from eigengraphs.report.columns import says_number
    from eigengraphs.system.labels import shortened

    if len(known) == 0:
        return "no graph has a value"
    if len({column.values[i] for i in known}) == 1:
        return f"all graphs have the same value, {shortened(column.text(known[0]))!r}"
    if column.kind == "number":
        return ""
    distinct = list(dict.fromkeys(column.text(i) for i in known))
    words = [text for text in distinct if not says_number(text)]
    numbers = len(distinct) - len(words)
    if words and numbers > max(len(words), FOLDS):
        some = ", ".join(repr(shortened(word)) for word in words[:3])
        return (
            f"it is neither a quantity nor classes: {numbers} of its values are numbers, and "
            f"{len(words)} {'is' if len(words) == 1 else 'are'} not ({some}). Write n/a where a "
            "value is not known"
        )
    if len(distinct) == len(known) and len(known) > 2:
        return (
            f"each of the {len(known)} graphs has a value of its own, as in a column of names, so "
            "that nothing can be learned from other graphs"
        )
    return ""
