"""Harmonization over sites, for ``fit``, ``evaluate``, ``compare`` and ``contest``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigengraphs import inference
from eigengraphs.cli.command_options import NOBODY, Harmonizing
from eigengraphs.errors import InputError
from eigengraphs.report.records import Finding
from eigengraphs.system.labels import component_column, count_of

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
    place = np.unique([str(site) for site in sites], return_inverse=True)[1]
    S = np.eye(place.max() + 1)[place]

    def told(Lam: Any) -> tuple[Any, Any]:
        """Return the share of variance between sites, and the ratio of spreads, (d,) each."""
        means = (S.T @ Lam) / S.sum(axis=0)[:, None]
        left = Lam - S @ means
        total = ((Lam - Lam.mean(axis=0)) ** 2).sum(axis=0)
        spreads = np.sqrt((S.T @ left**2) / S.sum(axis=0)[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - (left**2).sum(axis=0) / total, spreads.max(axis=0) / spreads.min(axis=0)

    (share, ratio), (share_after, ratio_after) = told(before), told(after)
    name, counts = step.site_name_, zip(step.sites_, step.counts_, strict=True)
    kept = f"; what {', '.join(step.covariates_)} explain is kept" if step.covariates_ else ""
    return Finding(
        key=f"harmonize {name}",
        title=f"Harmonization over {name}",
        words=(
            f"Loadings were harmonized over {name} by ComBat (Johnson et al., 2007), as learned "
            f"from {count_of(sum(step.counts_), 'graph')} "
            f"({', '.join(f'{n} of {site}' for site, n in counts)}){kept}. {name} explained "
            f"{np.nanmin(share):.0%} to {np.nanmax(share):.0%} of the variance of single "
            f"components before, and {np.nanmin(share_after):.0%} to {np.nanmax(share_after):.0%} "
            "after.",
        ),
        header=("component", "explained by site", "after", "ratio of spreads", "after it"),
        rows=tuple(
            (component_column(k), *map(float, row))
            for k, row in enumerate(zip(share, share_after, ratio, ratio_after, strict=True))
        ),
        notes=(
            "Harmonized loadings are in harmonized.tsv; loadings.tsv, the model and the figures "
            "have the loadings as they were fitted. Ratio of spreads: the largest standard "
            "deviation within a site over the smallest.",
            "Groups were not known to it: where sites have unequal shares of a group, a part of "
            "the group's effect is gone with the sites. compare --harmonize tests groups with the "
            "site as a covariate.",
            *step.notes_,
        ),
    )
