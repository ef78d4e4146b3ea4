"""``eigengraphs compare``: whether loadings differ between groups, or change with a quantity."""

from __future__ import annotations

from dataclasses import replace

from eigengraphs import inference
from eigengraphs.cli.command_options import NOBODY, Compare
from eigengraphs.cli.input_files import one_to_one
from eigengraphs.cli.results_folder import FinishedFit, file_name
from eigengraphs.cli.several_sites import harmonizing
from eigengraphs.cli.terminal import Listener, Outcome, Table, sentence, written
from eigengraphs.report.records import Finding, Intervals

__all__ = ["compare"]

_CLASSES = (
    "The components were found with the classes of the label (loadings of classes): graphs are "
    "then not exchangeable, and p values for that label are too small."
)


def compare(asked: Compare, _: Listener) -> Outcome:
    """Test the loadings of a fit for differences between groups."""
    fit, group = FinishedFit(asked.folder), asked.group
    covariates = fit.covariates(asked.covariates, group, "--group")
    sites = fit.harmonizing(asked.sites)
    over = harmonizing(replace(sites, controls=None), fit.values)
    usual = _participants_for(fit, group)
    subject = usual if asked.subject is None else asked.subject
    whose = None if subject in (None, NOBODY) else subject
    found = inference.compare(
        fit.summary.loadings,
        fit.values(group, "--group"),
        covariates=covariates,
        subjects=None if whose is None else fit.values(whose, "--subject"),
        components=list(fit.components),
        leave_out=fit.degenerate,
        name=group,
        n_permutations=asked.permutations,
        random_state=asked.seed,
        **over,
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
    named = ["compare", group, *covariates, *([] if whose == usual else ["of", whose or NOBODY]),
             *(["over", str(sites.harmonize)] if over else [])]  # fmt: skip
    adjusted = f", adjusted for {', '.join(covariates)}" if covariates else ""
    adjusted += f", harmonized over {sites.harmonize}" if over else ""
    together = f", graphs of one {whose} together" if whose else ""
    finding = Finding(
        key=" ".join(named),
        title=f"Loadings by {group}{adjusted}{together}",
        words=found.words,
        header=found.header,
        rows=tuple((fit.components.get(str(name), name), *row) for name, *row in found.rows),
        intervals=Intervals(1, 2, 3, 0.0, found.effect_name),  # 0: no difference
        notes=tuple(notes),
        column=group,
    )
    files = fit.add(finding, file_name(*named))
    names = ("component", "effect", "low", "high", "F", "p", "p_fdr", "p_family")
    facts = {
        "group": group, "kind": found.kind, "design": found.design, "graphs": found.n_graphs,
        "units": found.n_units, "levels": found.levels,
        "joint": {"F": found.joint_F, "p": found.joint_p},
        "components": [dict(zip(names, row, strict=False)) for row in finding.rows[:-1]],
        "effect": found.effect_name, "permutations": found.n_permutations, "exact": found.exact,
        "notes": found.notes, "methods": found.methods, "files": files,
    }  # fmt: skip
    shown = [
        (name, f"{size:.3g}", found.interval(k, ".3g"), f"{F:.3g}", *(f"{x:.2g}" for x in p))
        for k, (name, size, _, _, F, *p) in enumerate(row[:8] for row in found.rows[:-1])
    ]
    shown.append(("all", "", "", f"{found.joint_F:.3g}", f"{found.joint_p:.2g}", "", ""))
    interval = f"{found.confidence:.0%} interval"
    header = ("component", found.effect_name, interval, "F", "p", "p (FDR)", "p (family)")
    methods = f"Methods: {found.methods}"
    return Outcome(
        [*found.words, Table(header, shown), methods, written(files)], facts, found.notes
    )


def _participants_for(fit: FinishedFit, group: str) -> str | None:
    """Return the column of participants if some have several graphs, unless it is the groups."""
    name = fit.participants
    if name in (None, group):
        return None
    # Where participants themselves are compared, every graph is one of many of its group.
    groups, participants = fit.values(group, "--group"), fit.values(name, "--subject")
    return None if one_to_one(groups, participants) else name
