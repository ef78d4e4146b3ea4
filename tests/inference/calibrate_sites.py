"""What harmonization does to tests of groups, and to what tells sites and groups.

``python -m tests.inference.calibrate_sites`` (from the root of the repository) takes about twenty
minutes on one core and writes calibration-sites.md beside this file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from eigengraphs.inference import Harmonize, compare

LEVEL, D = 0.05, 4
DIFFERENT, EQUAL = (1.0, 2.0, 0.5, 1.5), (1.0, 1.0, 1.0, 1.0)
#: Controls and patients of each site, scales of the noise, and whether age differs by site and
#: group, with heavy tails.
DESIGNS = {
    "4 sites, 10 and 10 of each group": ([(10, 10)] * 4, DIFFERENT, False),
    "4 sites, 18:2, 2:18, 15:5, 5:15, one scale": (
        [(18, 2), (2, 18), (15, 5), (5, 15)], EQUAL, False),
    "the same, scales 1, 2, 0.5, 1.5": ([(18, 2), (2, 18), (15, 5), (5, 15)], DIFFERENT, False),
    "the same, age beside, t noise": ([(18, 2), (2, 18), (15, 5), (5, 15)], DIFFERENT, True),
    "2 sites, 38:2 and 2:38": ([(38, 2), (2, 38)], DIFFERENT, False),
    "3 sites, 8:2, 2:8, 3:7": ([(8, 2), (2, 8), (3, 7)], DIFFERENT, False),
}  # fmt: skip
WAYS = ("site ignored", "site a covariate", "ComBat, group kept", "ComBat, group unknown",
        "`harmonize`")  # fmt: skip


def study(rng, sizes, scales, with_age, effect=0.0):
    """Return loadings with a location and a scale of each site, groups, sites, and covariates.

    ``effect`` is that of the group on component 1, in standard deviations within sites.
    """
    k = np.repeat(np.arange(len(sizes)), [sum(pair) for pair in sizes])
    group = np.concatenate([np.repeat([0, 1], pair) for pair in sizes])
    noise = rng.standard_t(4, size=(len(k), D)) / np.sqrt(2) if with_age else rng.normal(
        size=(len(k), D))  # fmt: skip
    scale = np.array(scales)[: len(sizes), None] * np.exp(rng.normal(0, 0.2, (len(sizes), D)))
    noise[:, 0] += effect * group
    Lam = rng.normal(0, 1.5, (len(sizes), D))[k] + scale[k] * noise
    age = rng.normal(size=len(k)) + 0.5 * group + 0.3 * k
    covariates = {"age": age} if with_age else {}
    return Lam + with_age * np.outer(age, [1, 1, -1, 0]), group, k, covariates


def p_values(Lam, group, k, covariates):
    """Return joint p, p of component 1 and the smallest family-wise p, by every way, (ways, 3)."""
    group, site = np.array(["control", "patient"])[group], np.array(list("abcd"))[k]
    beside = {"site": site, **covariates}
    kept = Harmonize().fit_transform(Lam, site=site, covariates={"group": group, **covariates})
    unknown = Harmonize().fit_transform(Lam, site=site, covariates=covariates)
    found = [
        compare(Y, group, covariates=table or None, n_permutations=499, n_bootstrap=1,
                random_state=0, **more)
        for Y, table, more in ((Lam, covariates, {}), (Lam, beside, {}), (kept, covariates, {}),
                               (unknown, covariates, {}), (Lam, covariates, {"harmonize": site}))
    ]  # fmt: skip
    return np.array([(one.joint_p, one.p_values[0], one.p_family.min()) for one in found])


def rates(rng, design, studies, effect):
    """Return the shares of studies that reject, (ways, 3)."""
    drawn = (study(rng, *design, effect) for _ in range(studies))
    return np.mean([p_values(*one) <= LEVEL for one in drawn], axis=0)


def told(rng, locations, scales):
    """Return how well quadratic discriminants tell the site and the group of held-out graphs.

    Three sites of 40 graphs: before harmonization, after it, and with locations alone taken out;
    the group also in sites that were held out as a whole, before and with them estimated.
    """
    k, group = np.repeat(np.arange(3), 40), np.arange(120) % 2
    scale = np.array([1.0, 2.0, 0.5] if scales else [1.0] * 3)[k]
    Lam = rng.normal(size=(120, D))
    Lam[:, 0] += 2.0 * group
    Lam = scale[:, None] * Lam + (locations * rng.normal(0, 1.5, (3, D)))[k]
    rule, X = QuadraticDiscriminantAnalysis(), np.column_stack([Lam, k])
    steps = [Harmonize(site=D), Harmonize(site=D, mean_only=True)]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    row = []
    for y in (k, group):
        row.append(cross_val_score(rule, Lam, y, cv=folds).mean())
        row += [cross_val_score(make_pipeline(step, rule), X, y, cv=folds).mean() for step in steps]
    new, sites = make_pipeline(Harmonize(site=D, unseen="estimate"), rule), GroupKFold(3)
    row.append(cross_val_score(rule, Lam, group, cv=sites, groups=k).mean())
    return [*row, cross_val_score(new, X, group, cv=sites, groups=k).mean()]


def main(studies=1000, few=200) -> None:
    """Run everything and write the tables."""
    lines = [
        "# What harmonization over sites does to tests and predictions", "",
        f"`python -m tests.inference.calibrate_sites` wrote this. Level {LEVEL}, {studies:,} "
        f"studies a cell without an effect (standard error of 5 %: "
        f"{np.sqrt(0.0475 / studies):.1%}) and {few} with one. Sites have a "
        "location in each of four components, and a scale; numbers are graphs of each group in a "
        "site. ComBat with the group kept or unknown is followed by a test without the site; "
        "`harmonize` is `compare(harmonize=site)`: group unknown, site a covariate.",
    ]  # fmt: skip
    found = {
        effect: {name: rates(np.random.default_rng(i), design, count, effect)
                 for i, (name, design) in enumerate(DESIGNS.items())}
        for effect, count in ((0.0, studies), (0.8, few))
    }  # fmt: skip
    for title, effect, which in (
        ("No effect: all components together", 0.0, 0),
        ("No effect: any component, family-wise", 0.0, 2),
        ("Component 1 differs by 0.8 standard deviations: found", 0.8, 1),
    ):
        lines += ["", f"## {title}", "", f"| design | {' | '.join(WAYS)} |",
                  "|---" * (len(WAYS) + 1) + "|"]  # fmt: skip
        for name, shares in found[effect].items():
            lines.append(f"| {name} | {' | '.join(f'{share:.1%}' for share in shares[:, which])} |")
    lines += [
        "", "## What tells sites and groups of held-out graphs", "",
        f"Accuracy of quadratic discriminants, which see scales as well as locations; {few} "
        "studies of three sites with 40 graphs (chance: 33 % for the site, 50 % for the group). "
        "Locations alone: `mean_only=True`, shrunk as in the published code. New sites: each site "
        "held out as a whole, and estimated without labels.", "",
        "| sites differ by | site: before | after | locations alone | group: before | after | "
        "locations alone | in new sites: before | estimated |", "|---" * 9 + "|",
    ]  # fmt: skip
    kinds = {"location": (True, False), "scale": (False, True), "both": (True, True),
             "nothing": (False, False)}  # fmt: skip
    for name, kind in kinds.items():
        rng = np.random.default_rng(7)
        means = np.mean([told(rng, *kind) for _ in range(few)], axis=0)
        lines.append(f"| {name} | {' | '.join(f'{share:.0%}' for share in means)} |")
    Path(__file__).with_name("calibration-sites.md").write_text(
        "\n".join(lines) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
