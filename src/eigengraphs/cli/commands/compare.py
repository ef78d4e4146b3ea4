"""``eigengraphs compare``: whether loadings differ between groups, or change with a quantity."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigengraphs import inference
from eigengraphs.cli.command_options import NOBODY, Compare
from eigengraphs.cli.input_files import one_to_one
from eigengraphs.cli.results_folder import FinishedFit, file_name
from eigengraphs.cli.several_sites import harmonizing
from eigengraphs.cli.terminal import Listener, Outcome, Table
from eigengraphs.errors import InputError
from eigengraphs.report.records import Intervals

_CLASSES = (
    "The components were found with the classes of the label (loadings of classes): graphs are "
    "then not exchangeable, and p values for that label are too small."
)

_MARKS = {"*": " by ", ":": " x ", " - ": " minus ", "T.": ""}


def compare(asked: Compare, _: Listener) -> Outcome:
    """Test the loadings of a fit for differences between groups, or for terms of a formula."""
    fit = FinishedFit(asked.folder)
    given, question = read_question(fit, asked)
    found = inference.compare(
        fit.summary.loadings, components=list(fit.components), leave_out=fit.degenerate, **given
    )
    found = replace(found, notes=(*question.notes, *found.notes))
    notes = [
        "A larger loading on a component means more of its pattern in the graph; the patterns are "
        "described under the components.",
        f"Intervals cover {found.confidence:.0%}. p_fdr controls the share of false discoveries "
        "among components, p_family the probability of any.",
    ]
    if fit.summary.label is not None and fit.embedding.get_params().get("loadings") == "class":
        notes.insert(0, _CLASSES)
    spelled = question.table("compare", found.group)
    stem = spelled.removesuffix(".tsv")
    estimated, rows = _estimates(fit, found), fit.in_tables(found.rows)
    columns = {name: [row[name] for row in estimated] for name in estimated[0]}
    facts = {
        "group": found.group, "formula": asked.formula, "kind": found.kind, "design": found.design,
        "graphs": found.n_graphs, "units": found.n_units, "levels": found.levels,
        "joint": {"F": found.joint_F, "p": found.joint_p},
        "components": [dict(zip(found.header, row, strict=True)) for row in rows[:-1]],
        "estimates": estimated, "effect": found.effect_name, "permutations": found.n_permutations,
        "exact": found.exact,
    }  # fmt: skip
    interval = f"{found.confidence:.0%} interval"
    shown = Table.of(found.header, found.rows, found.header[:8], interval)
    return fit.answer(
        question.named("compare", found.group), f"Loadings by {found.group}{question.adjusted}",
        found.words, found.header, rows, facts, shown=[shown, *_means(found)], notes=notes,
        careful=found.notes, methods=found.methods, column=found.group, table=spelled,
        intervals=Intervals(1, 2, 3, 0.0, found.effect_name),  # 0: no difference
        more={f"{stem}.coefficients.tsv": columns} if asked.formula else None,
    )  # fmt: skip


def _estimates(fit: FinishedFit, found: inference.Comparison) -> list[dict[str, Any]]:
    """Return one row for each component and coefficient, contrast or adjusted mean."""
    tested = () if set(found.contrasts.names) <= set(found.coefficients.names) else (
        ("contrast", found.contrasts),)  # fmt: skip
    kinds = (("coefficient", found.coefficients), *tested, ("adjusted mean", found.adjusted))
    return [
        {"component": fit.components[component], "kind": kind, "name": name,
         "estimate": float(of.values[i, k]), "se": float(of.errors[i, k]),
         "low": float(of.low[i, k]), "high": float(of.high[i, k])}
        for k, component in enumerate(found.components)
        for kind, of in kinds for i, name in enumerate(of.names)
    ]  # fmt: skip


def _means(found: inference.Comparison) -> list[Table]:
    """Return a table of adjusted means with intervals, if there are any."""
    of = found.adjusted
    if not of.names or np.isnan(of.values).all():
        return []
    rows = [
        (
            component,
            *(
                f"{of.values[i, k]:.3g} ({of.interval(i, k) or 'no interval'})"
                for i in range(len(of.names))
            ),
        )
        for k, component in enumerate(found.components)
    ]
    what = "adjusted mean" if found.covariates else "mean"
    return [Table(("component", *(f"{what} of {level}" for level in of.names)), rows)]


@dataclass(frozen=True)
class Question:
    """What is asked of groups, by the options of ``compare``: its names, and what it notes."""

    formula: str | None
    covariates: tuple[str, ...]
    whose: str | None
    of: tuple[str, ...]  # what is not as usual, in names of tables
    over: str | None
    notes: tuple[str, ...]

    @property
    def adjusted(self) -> str:
        """What is held constant, and who is taken together, in a title."""
        adjusted = f", adjusted for {', '.join(self.covariates)}" if self.covariates else ""
        adjusted = f" in {self.formula}" if self.formula else adjusted
        adjusted += f", harmonized over {self.over}" if self.over else ""
        return adjusted + (f", graphs of one {self.whose} together" if self.whose else "")

    def named(self, command: str, group: str, *more: str) -> list[str]:
        """Return words by which an answer is known."""
        model = [group, "in", self.formula] if self.formula else [group, *self.covariates]
        return [command, *model, *more, *self.of]

    def table(self, *words: str) -> str:
        """Return the name of a table, from the same."""
        named = self.named(*words)
        return file_name(*(_spelled(name) for name in named) if self.formula else named)


def read_question(fit: FinishedFit, asked: Compare) -> tuple[dict[str, Any], Question]:
    """Return arguments of ``inference.compare`` and the like, and what was asked."""
    if (asked.group is None) == (asked.formula is None):
        raise InputError("name a column by --group, or a linear model by --formula; one of them")
    covariates, usual = dict[str, Any](), fit.participants
    if asked.formula is None:
        if asked.test:
            raise InputError("--test says what of a --formula is tested; leave it out, or name one")
        group = asked.group or ""
        covariates = fit.covariates(asked.covariates, group, "--group")
        usual = _participants_for(fit, group)
        values: Any = fit.values(group, "--group")
    else:
        if asked.covariates:
            raise InputError("--covariates are terms of the formula; write them there")
        group, columns = asked.formula, {x.name: x.known for x in fit.summary.columns}
        values = inference.Formula(asked.formula, columns, asked.test or None)
    sites = fit.harmonizing(asked.sites)
    over = harmonizing(replace(sites, controls=None), fit.values)
    subject = usual if asked.subject is None else asked.subject
    whose = None if subject in (None, NOBODY) else subject
    together = whose is not None and whose == usual
    question = Question(
        asked.formula, tuple(covariates), whose,
        # Other participants than usual are another question, with a table of its own.
        (*(() if whose == usual else ("of", whose or NOBODY)),
         *(("over", str(sites.harmonize)) if over else ())),
        sites.harmonize if over else None,
        (f"graphs with the same {whose} are taken together",) if together else (),
    )  # fmt: skip
    return {
        "group": values, "covariates": covariates or None,
        "subjects": None if whose is None else fit.values(whose, "--subject"), "name": group,
        "n_permutations": asked.permutations, "random_state": asked.seed, **over,
    }, question  # fmt: skip


def _spelled(text: str) -> str:
    """Return a formula or a contrast as words that a file name may hold."""
    for mark, word in _MARKS.items():
        text = text.replace(mark, word)
    return re.sub(r"[^\w.]+", "-", text).strip("-")


def _participants_for(fit: FinishedFit, group: str) -> str | None:
    """Return the column of participants if some have several graphs, unless it is the groups."""
    name = fit.participants
    if name in (None, group):
        return None
    # Where participants themselves are compared, every graph is one of many of its group.
    groups, participants = fit.values(group, "--group"), fit.values(name, "--subject")
    return None if one_to_one(groups, participants) else name
