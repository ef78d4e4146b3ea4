"""``eigengraphs power``: how many participants a study needs, by simulation from a pilot fit."""

from __future__ import annotations

from typing import Any

from eigengraphs import inference
from eigengraphs.cli.command_options import Power
from eigengraphs.cli.results_folder import FinishedFit, file_name
from eigengraphs.cli.terminal import Listener, Outcome, Table, counting, sentence, written
from eigengraphs.errors import InputError
from eigengraphs.inference.studies.planned_studies import SHARES, TESTS
from eigengraphs.report.records import Finding, Intervals
from eigengraphs.system.labels import component_name


def power(asked: Power, listen: Listener) -> Outcome:
    """Simulate studies of several sizes from the loadings of a fit, and test each."""
    fit, group = FinishedFit(asked.folder), asked.group
    effect: Any = asked.effect
    if effect != "pilot":
        effect = _number(effect, "--effect takes a number, or pilot")
    sizes = [_number(size, "--sizes takes numbers") for size in asked.sizes.split(",")]
    whose = None if fit.participants in (None, group) else fit.participants
    covariates = fit.covariates(asked.covariates, group, "--group")
    found = inference.power(
        fit.summary.loadings,
        fit.values(group, "--group"),
        effect=effect,
        component=None if asked.component is None else component_name(asked.component - 1),
        sizes=sizes,
        covariates=covariates,
        subjects=None if whose is None else fit.values(whose, "--group"),
        components=list(fit.components),
        leave_out=fit.degenerate,
        name=group,
        level=asked.level,
        n_studies=asked.studies,
        n_permutations=asked.permutations,
        random_state=asked.seed,
        on_study=counting(listen, "simulate", "study"),
    )
    if asked.test not in found.tests:
        raise InputError(f"--test must be one of {', '.join(found.tests)}, got {asked.test!r}")
    words = found.words(asked.test)
    place = found.header.index(asked.test)
    on = [] if asked.component is None else [f"je{asked.component}"]
    named = ["power", group, asked.effect, *on, *covariates]
    finding = Finding(
        key=" ".join(named),
        title=f"Power to find {found.origin}",
        words=words,
        header=found.header,
        rows=found.rows,
        intervals=Intervals(place, place + 2, place + 3, SHARES[0], f"power ({asked.test})"),
        notes=(*map(sentence, found.notes), found.methods),
    )
    files = fit.add(finding, file_name(*named))
    needed = {f"{share:g}": {test: found.size(share, test)._asdict() for test in found.tests}
              for share in SHARES}  # fmt: skip
    facts = {
        "group": group, "effects": dict(zip(found.components, found.effects, strict=True)),
        "level": found.level, "studies": found.n_studies, "sizes": finding.cells,
        "participants_per_group": needed, "tests": TESTS, "methods": found.methods,
        "notes": found.notes, "files": files,
    }  # fmt: skip
    shown = [
        (str(n), *(f"{p:.3f} ± {se:.3f}" for p, se in zip(*pair, strict=True)))
        for n, *pair in zip(found.sizes, found.power, found.standard_errors, strict=True)
    ]
    table = Table(("participants per group", *found.tests), shown)
    return Outcome([*words, table, f"Methods: {found.methods}", written(files)], facts, found.notes)


def _number(text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{expected}; got {text!r}") from None
