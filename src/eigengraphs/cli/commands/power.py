"""``eigengraphs power``: how many participants a study needs, by simulation from a pilot fit."""

from __future__ import annotations

from typing import Any

from eigengraphs import inference
from eigengraphs.cli.command_options import Power
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.cli.terminal import Listener, Outcome, Table, counting
from eigengraphs.errors import InputError
from eigengraphs.inference.studies.planned_studies import SHARES, TESTS
from eigengraphs.report.records import Intervals
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
    loadings, said = fit.loadings
    found = inference.power(
        loadings,
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
    place = found.header.index(asked.test)
    on = [] if asked.component is None else [f"je{asked.component}"]
    needed = {f"{share:g}": {test: found.size(share, test)._asdict() for test in found.tests}
              for share in SHARES}  # fmt: skip
    facts = {
        "group": group, "effects": dict(zip(found.components, found.effects, strict=True)),
        "level": found.level, "studies": found.n_studies,
        "sizes": [dict(zip(found.header, row, strict=True)) for row in found.rows],
        "participants_per_group": needed, "tests": TESTS,
    }  # fmt: skip
    shown = [name for name in found.header if not name.endswith("_se")]
    return fit.answer(
        ["power", group, asked.effect, *on, *covariates], f"Power to find {found.origin}",
        found.words(asked.test), found.header, found.rows, facts,
        shown=[Table.of(found.header, found.rows, shown)],
        careful=(*said, *found.notes), methods=" ".join([*said, found.methods]),
        intervals=Intervals(place, place + 2, place + 3, SHARES[0], f"power ({asked.test})"),
    )  # fmt: skip


def _number(text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{expected}; got {text!r}") from None
