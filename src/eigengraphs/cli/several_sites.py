"""Harmonization over sites, for ``fit``, ``evaluate``, ``compare`` and ``contest``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigengraphs import inference
from eigengraphs.cli.command_options import NOBODY, Harmonizing
from eigengraphs.errors import InputError
from eigengraphs.report.records import Column, Finding
from eigengraphs.report.sentences import between_groups
from eigengraphs.system.labels import component_column, count_of, listed

Values = Callable[[str, str], Sequence[Any]]  # of a column, for an option


def names_in(text: str) -> list[str]:
    """Return the names that an option lists."""
    return [name.strip() for name in text.split(",") if name.strip()]


def harmonizing(asked: Harmonizing, values: Values) -> dict[str, Any]:
    """Return the arguments by which `inference.evaluate` and `contest` harmonize; none without."""
    site = asked.harmonize
    if site in (None, NOBODY):
        if asked.controls or asked.location_only or asked.unseen_sites != "error":
            raise InputError(
                "--controls, --unseen-sites and --location-only say how to harmonize: name the "
                "column of sites by --harmonize"
            )
        return {}
    settings: Any = {"unseen": asked.unseen_sites, "mean_only": asked.location_only}
    found = {
        "harmonize": {site: values(site, "--harmonize")},
        "harmonizer": inference.Harmonize(**settings),
    }
    if asked.controls is not None:
        found["controls"] = _controls(asked.controls, values)
    return found


def _controls(text: str, values: Values) -> list[bool]:
    """Return which graphs have the value, from COLUMN=VALUE."""
    column, equals, wanted = text.partition("=")
    if not equals:
        raise InputError(f"--controls must be COLUMN=VALUE (diagnosis=control), got {text!r}")
    known = values(column, "--controls")
    told = [None if x is None else f"{x:g}" if isinstance(x, float) else str(x) for x in known]
    if wanted not in told:
        there = ", ".join(dict.fromkeys(text for text in told if text is not None))
        raise InputError(f"no graph has {wanted!r} in {column!r}, for --controls; it has: {there}")
    return [text == wanted for text in told]


def harmonize_fit(
    loadings: Any, asked: Harmonizing, keep: Sequence[str], values: Values
) -> tuple[Any, Any]:
    """Return loadings of a fit, harmonized as learned from all of them, and the step."""
    given = harmonizing(asked, values)
    beside = {"site": given["harmonize"], "covariates": {x: values(x, "--keep") for x in keep}}
    if asked.harmonize in keep:
        raise InputError(f"{asked.harmonize!r} is named by --harmonize and by --keep")
    step = given["harmonizer"].fit(loadings, controls=given.get("controls"), **beside)
    return step.transform(loadings, **beside), step


def harmonization_finding(
    before: Any, after: Any, step: inference.Harmonize, sites: Sequence[Any]
) -> Finding:
    """Return what harmonization did to each component, as a table of a report."""
    name, codes = step.site_name_, np.unique([str(x) for x in sites], return_inverse=True)[1]
    column = Column(name, "category", tuple(codes.tolist()))
    shares = np.nan_to_num([between_groups(Lam, column) for Lam in (before, after)]).T
    counts = zip(step.sites_, step.counts_, strict=True)
    kept = f", with the effects of {listed(step.covariates_)} kept" if step.covariates_ else ""
    (low, low_after), (high, high_after) = shares.min(axis=0), shares.max(axis=0)
    return Finding(
        key=f"harmonize {name}",
        title=f"Harmonization over {name}",
        words=(
            f"Loadings were harmonized over {name} by ComBat (Johnson et al., 2007), as learned "
            f"from {count_of(sum(step.counts_), 'graph')} "
            f"({', '.join(f'{n} of {site}' for site, n in counts)}){kept}. {name} explained "
            f"{low:.0%} to {high:.0%} of the variance of single components before, and "
            f"{low_after:.0%} to {high_after:.0%} after.",
        ),
        header=("component", "variance explained before", "after"),
        rows=tuple((component_column(k), *row) for k, row in enumerate(shares.tolist())),
        notes=(
            "Harmonized loadings are in harmonized.tsv; loadings.tsv, the model and the figures "
            "have the loadings as they were fitted.",
            "Groups were not known to it: where sites have unequal shares of a group, a part of "
            "the group's effect is gone with the sites. compare --harmonize tests groups with the "
            "site as a covariate.",
            *step.notes_,
        ),
    )
