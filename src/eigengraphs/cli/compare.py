"""What loadings say about graphs: which groups differ, when levels change, which graphs are odd."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from eigengraphs.cli.shared_options import Json, Results, covariate_names
from eigengraphs.cli.terminal import (
    say,
    say_json,
    say_notes,
    say_written,
    sentence,
    show_table,
)

if TYPE_CHECKING:
    from eigengraphs.cli.results_folder import FinishedFit

__all__ = ["NOBODY", "changes", "compare", "file_name"]

NOBODY = "none"  # instead of a column: every graph is of another participant
_CLASSES = (
    "The components were found with the classes of the label (loadings of classes): graphs are "
    "then not exchangeable, and p values for that label are too small."
)


def compare(
    folder: Results,
    group: Annotated[
        str, typer.Option(help="Column of the graphs: groups, or a quantity such as age.")
    ],
    covariates: Annotated[
        str, typer.Option(help="Columns to adjust for, separated by commas: age,sex,site.")
    ] = "",
    subject: Annotated[
        str | None,
        typer.Option(
            help="Column with the participant of each graph; by default that of the table. none: "
            "treat every graph as a different participant."
        ),
    ] = None,
    permutations: Annotated[
        int, typer.Option(min=99, help="Number of random permutations, if all are too many.")
    ] = 9999,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random permutations.")] = 0,
    as_json: Json = False,
) -> None:
    """Compare the loadings of groups: permutation tests, effect sizes, false discovery rate.

    Example: eigengraphs compare results --group group --covariates age
    """
    from eigengraphs import inference
    from eigengraphs.cli.results_folder import FinishedFit
    from eigengraphs.report.records import Finding, Intervals

    fit = FinishedFit(folder)
    beside = covariate_names(covariates, group, "--group")
    usual = _participants_for(fit, group)
    subject = usual if subject is None else subject
    whose = None if subject in (None, NOBODY) else subject
    found = inference.compare(
        fit.summary.loadings,
        fit.values(group, "--group"),
        covariates={name: fit.values(name, "--covariates") for name in beside},
        subjects=None if whose is None else fit.values(whose, "--subject"),
        components=fit.component_names,
        leave_out=fit.degenerate,
        name=group,
        n_permutations=permutations,
        random_state=seed,
    )
    if whose is not None and whose == usual:
        note = f"graphs with the same {whose} are taken together"
        found = replace(found, notes=(note, *found.notes))
    notes = [
        "A larger loading on a component means more of its pattern in the graph; the patterns are "
        "described under the components.",
        f"Intervals cover {found.confidence:.0%}. p (FDR) controls the share of false discoveries "
        "among components, p (family) the probability of any.",
        *map(sentence, found.notes),
        found.methods,
    ]
    if fit.summary.label is not None and fit.embedding.get_params().get("loadings") == "class":
        notes.insert(0, _CLASSES)
    # Other participants than usual are another question, with a table of its own.
    named = [group, *beside, *([] if whose == usual else ["of", whose or NOBODY])]
    adjusted = f", adjusted for {', '.join(beside)}" if beside else ""
    together = f", graphs of one {whose} together" if whose else ""
    finding = Finding(
        key=" ".join(["compare", *named]),
        title=f"Loadings by {group}{adjusted}{together}",
        words=found.words,
        header=found.header,
        rows=tuple(
            tuple(cell if isinstance(cell, str) else _finite(cell) for cell in row)
            for row in found.rows
        ),
        intervals=Intervals(1, 2, 3, 0.0, found.effect_name),  # 0: no difference
        notes=tuple(notes),
        column=group,
    )
    files = fit.add(finding, f"{file_name('-'.join(['compare', *named]))}.tsv")
    if as_json:
        names = ("component", "F", "p", "p_fdr", "p_family", "effect", "low", "high")
        columns = (found.F, found.p_values, found.p_fdr, found.p_family, found.effect,
                   found.effect_low, found.effect_high)  # fmt: skip
        rows = zip(found.components, *(column.tolist() for column in columns), strict=True)
        say_json(
            group=group, kind=found.kind, design=found.design, graphs=found.n_graphs,
            units=found.n_units, levels=found.levels,
            joint={"F": found.joint_F, "p": found.joint_p},
            components=[dict(zip(names, row, strict=True)) for row in rows],
            effect=found.effect_name, permutations=found.n_permutations, exact=found.exact,
            notes=found.notes, methods=found.methods, files=files,
        )  # fmt: skip
        return
    say_notes(found.notes)
    say("\n".join(found.words))
    shown = [
        (name, f"{size:.3g}", found.interval(k, ".3g"), f"{F:.3g}", *(f"{x:.2g}" for x in p))
        for k, (name, size, _, _, F, *p) in enumerate(row[:8] for row in found.rows[:-1])
    ]
    shown.append(("all", "", "", f"{found.joint_F:.3g}", f"{found.joint_p:.2g}", "", ""))
    interval = f"{found.confidence:.0%} interval"
    show_table(("component", found.effect_name, interval, "F", "p", "p (FDR)", "p (family)"), shown)
    say(f"Methods: {found.methods}")
    say_written(files)


def changes(
    folder: Results,
    order: Annotated[
        str | None,
        typer.Option(
            help="Column with the time of each graph, or input; by default the order of the "
            "report's time line, or else of the input."
        ),
    ] = None,
    smallest: Annotated[int, typer.Option(min=2, help="Fewest graphs between two changes.")] = 3,
    permutations: Annotated[
        int, typer.Option(min=99, help="Number of series without a change.")
    ] = 999,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the permutations.")] = 0,
    as_json: Json = False,
) -> None:
    """Find changes of level and anomalous graphs in ordered graphs, from their loadings.

    Example: eigengraphs changes results --order age
    """
    from eigengraphs import inference
    from eigengraphs.cli.results_folder import FinishedFit
    from eigengraphs.errors import ManyAnomaliesWarning
    from eigengraphs.report.columns import time_line
    from eigengraphs.report.records import Finding

    fit = FinishedFit(folder)
    summary = fit.summary
    line = summary.timeline
    if order is not None or line is None:
        by = None if order in (None, "input") else order
        columns = {} if by is None else {by: fit.values(by, "--order")}
        line = time_line(by or True, columns, summary.graph_names)
    assert line is not None
    rows = list(line.order)
    names = [summary.graph_names[i] for i in rows]
    found = inference.change_points(
        summary.loadings[rows], components=fit.component_names, leave_out=fit.degenerate,
        smallest=smallest, n_permutations=permutations, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManyAnomaliesWarning)  # said in words
        odd = inference.anomalies(
            summary.loadings[rows], summary.residual_with_mean[rows], segments=found.segments,
            leave_out=fit.degenerate, random_state=seed,
        )  # fmt: skip
    named = names
    if line.by:  # graphs by name, with the value that put them in order
        pairs = zip(names, line.labels, strict=True)
        named = [f"{name} ({line.by} {label})" for name, label in pairs]
    words = (*found.words(named), *odd.words(named))
    finding = Finding(
        key="changes",
        title=f"Changes and anomalies, in the order of {line.by or 'the input'}",
        words=words,
        header=("graph", "when", "segment", "change", "distance", "residual score", "p (FDR)"),
        rows=tuple(
            (name, label, float(found.segments[i] + 1), "yes" if i in found.places else "",
             float(odd.distances[i]), _finite(odd.residuals[i]), float(odd.p_fdr[i]))
            for i, (name, label) in enumerate(zip(names, line.labels, strict=True))
        ),
        notes=(
            "Graphs are compared with the level of their own segment, so that graphs after a "
            "change are not anomalies for that reason. The distance is that of the loadings, the "
            "residual score that of the logarithm of the residual of the whole graph; both are in "
            "robust standard deviations, corrected for skewness and heavy tails of most graphs.",
            *map(sentence, found.notes),
            found.methods,
            odd.methods,
        ),
    )  # fmt: skip
    files = fit.add(finding, "changes.tsv", timeline=line)
    methods = f"{found.methods} {odd.methods}"
    if as_json:
        say_json(
            order=line.by or "input", p=found.p_value,
            changes=[
                {"graph": names[place], "when": line.labels[place], "gain": gain}
                for place, gain in zip(found.places, found.gains.tolist(), strict=True)
            ],
            autocorrelation=dict(
                zip(found.components, found.autocorrelation.tolist(), strict=True)
            ),
            anomalies=[
                {"graph": names[i], "when": line.labels[i], "distance": float(odd.distances[i]),
                 "p_fdr": float(odd.p_fdr[i])}
                for i in odd.found
            ],
            notes=found.notes, methods=methods, files=files,
        )  # fmt: skip
        return
    say_notes(found.notes)
    say("\n".join(words))
    say(f"Methods: {methods}")
    say_written(files)


def _participants_for(fit: FinishedFit, group: str) -> str | None:
    """Return the column of participants if some have several graphs, unless it is the groups."""
    from eigengraphs.cli.input_files import one_to_one

    name = fit.participants
    if name in (None, group):
        return None
    # Where participants themselves are compared, every graph is one of many of its group.
    groups, participants = fit.values(group, "--group"), fit.values(name, "--subject")
    return None if one_to_one(groups, participants) else name


def _finite(value: float) -> float | None:
    """Return a number for a table, None for one that is not finite."""
    return float(value) if abs(value) < float("inf") else None


def file_name(text: str) -> str:
    """Return a name that every file system takes."""
    return re.sub(r"[^\w.-]+", "_", text)[:100]
