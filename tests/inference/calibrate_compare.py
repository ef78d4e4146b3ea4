"""How often tests reject where nothing differs, and where something does.

``python -m tests.inference.calibrate_compare`` (from the root of the repository) takes some
minutes on one core and writes calibration-compare.md beside this file. Default tests run smaller
samples of the same functions.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import eigengraphs as eg
from eigengraphs.inference import compare

RESULTS = Path(__file__).with_name("calibration-compare.json")
LEVEL = 0.05


def section_5_2(rng, per_group, share):
    """Return loadings (m, 2) of a fit to all graphs, and their groups.

    ``share`` of the paper's difference between the classes is there; 0 is none.
    """
    first, second = (np.array(eg.models.paper.LOADINGS_5_2[i]) for i in (1, 2))
    group = rng.permutation(np.repeat([0, 1], per_group))
    Lam = first + share * np.outer(group, second - first)
    model = eg.models.MultipleRandomEigenGraphs(eg.models.paper.SECTION_5_2, Lam)
    graphs = model.sample(random_state=rng)
    return eg.JointEmbedding(2, random_state=0).fit(graphs).loadings_, group


def rejections(found):
    """Return whether the joint test, component 1, any by FDR, and any by the family reject."""
    return (
        found.joint_p <= LEVEL,
        bool(found.p_values[0] <= LEVEL),
        bool((found.p_fdr <= LEVEL).any()),
        bool((found.p_family <= LEVEL).any()),
    )


def tested(rng, Lam, group, **options):
    """Compare groups, and return what is rejected."""
    options |= {"n_permutations": 999, "n_bootstrap": 1, "random_state": rng}
    return rejections(compare(Lam, group, **options))


def of_graphs(rng, per_group, share):
    """Compare the groups of section 5.2."""
    return tested(rng, *section_5_2(rng, per_group, share))


def with_covariates(rng):
    """Compare groups that differ in age and site alone, which loadings follow; heavy tails."""
    m, group = 20, np.repeat([0, 1], 10)
    age = rng.normal(size=m) + group
    site = np.concatenate([rng.permutation(list(x)) for x in ("aaaaabbbcc", "aabbbccccc")])
    Lam = rng.standard_t(3, size=(m, 4)) + 1.5 * np.outer(age, [1, 1, -1, 0])
    Lam += 2.0 * np.outer(site == "b", [0, 1, 1, 0])
    return tested(rng, Lam, group, covariates={"age": age, "site": site})


def repeated(rng, design, subjects=12, scans=4):
    """Compare scans of subjects who differ by twice the noise; nothing else does.

    "naive": between subjects, but as if all scans were of different people.
    """
    who = np.repeat(np.arange(subjects), scans)
    Lam = 2 * rng.normal(size=(subjects, 3))[who] + rng.normal(size=(len(who), 3))
    group = np.tile(np.arange(scans) % 2, subjects) if design == "within" else who % 2
    names = None if design == "naive" else [f"s{i}" for i in who]
    return tested(rng, Lam, group, subjects=names)


def unequal(rng, sizes, sds, covariates=False, which=4):
    """Compare groups of one mean and unequal spreads, in the first ``which`` of four components."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    Lam = rng.normal(size=(len(group), 4))
    Lam[:, :which] *= np.repeat(sds, sizes)[:, None]
    table = None
    if covariates:
        table = {"age": rng.normal(size=len(group)) + 0.5 * group,
                 "site": rng.choice(["x", "y"], len(group))}  # fmt: skip
        Lam += 2.0 * np.outer(table["age"], [1, 1, -1, 0])
    return tested(rng, Lam, [f"g{i}" for i in group], covariates=table)


def unequal_slope(rng, graphs):
    """Compare with a quantity that loadings do not follow, but their spread does."""
    age = rng.normal(size=graphs)
    return tested(rng, rng.normal(size=(graphs, 4)) * (1 + 2 * np.abs(age))[:, None], age)


def power(rng, sizes, means, d=4):
    """Tell what is found of a difference in component 1 between groups of one spread.

    After the rates of :func:`rejections`, those of component 1 and of the family by permutations of
    the F statistic that takes spreads to be equal.
    """
    group = np.repeat(np.arange(len(sizes)), sizes)
    Lam = rng.normal(size=(len(group), d))
    Lam[:, 0] += np.repeat(means, sizes)
    found = tested(rng, Lam, [f"g{i}" for i in group])
    members = np.eye(len(sizes))[group] / np.sqrt(sizes)
    Lam -= Lam.mean(axis=0)
    orders = np.vstack([np.arange(len(group)), [rng.permutation(len(group)) for _ in range(999)]])
    between = ((members.T @ Lam[orders]) ** 2).sum(axis=1) / (Lam**2).sum(axis=0)  # orders as F
    p = (between[:, 0] >= between[0, 0] * (1 - 1e-9)).mean()
    family = (between.max(axis=1) >= between[0].max() * (1 - 1e-9)).mean()
    return (*found, p <= LEVEL, family <= LEVEL)


def mice_loadings():
    """Return loadings of 32 mice on 8 components, and their genotypes."""
    mice = eg.datasets.load_mice()
    fit = eg.JointEmbedding(8, center=True, random_state=0).fit(mice.graphs.log1p())
    return fit.loadings_, mice.genotypes


def shuffled_mice(rng, loadings, genotypes):
    """Compare genotypes that were dealt out at random."""
    return tested(rng, loadings, rng.permutation(genotypes))


def covered(rng, per_group, g):
    """Tell whether the interval around Hedges' g holds the truth."""
    group = np.repeat([0, 1], per_group)
    Lam = rng.normal(size=(2 * per_group, 1)) + g * group[:, None]
    found = compare(Lam, group, n_permutations=1, n_bootstrap=999, random_state=rng)
    return bool(found.effect_low[0] <= g <= found.effect_high[0])


def cases():
    """Return what is measured: a name, how many data sets, what is done with each."""
    mice = mice_loadings()
    return {
        "no difference: section 5.2, 5 graphs a group": (1000, of_graphs, (5, 0.0)),
        "no difference: section 5.2, 40 graphs a group": (1000, of_graphs, (40, 0.0)),
        "no difference but for age and site (adjusted), heavy tails": (3000, with_covariates, ()),
        "no difference: 12 subjects x 4 scans, groups of subjects": (3000, repeated, ("between",)),
        "no difference: 12 subjects x 4 scans, within subjects": (3000, repeated, ("within",)),
        "the same, subjects ignored (what not to do)": (1000, repeated, ("naive",)),
        "mice, shuffles of the genotypes": (500, shuffled_mice, mice),
        "spreads differ: 5 graphs of sd 4, 20 of sd 1": (1000, unequal, ((5, 20), (4, 1))),
        "spreads differ: the same, adjusted for age and site": (
            1000, unequal, ((5, 20), (4, 1), True)),
        "spreads differ: the same, in component 1 alone": (
            1000, unequal, ((5, 20), (4, 1), False, 1)),
        "spreads differ: 5 graphs of sd 2, 20 of sd 1": (1000, unequal, ((5, 20), (2, 1))),
        "spreads differ: 20 graphs of sd 4, 5 of sd 1": (1000, unequal, ((20, 5), (4, 1))),
        "spreads differ: 5 graphs of sd 4, 10 of sd 2, 20 of sd 1": (
            1000, unequal, ((5, 10, 20), (4, 2, 1))),
        "spreads differ: the same three, adjusted for age and site": (
            1000, unequal, ((5, 10, 20), (4, 2, 1), True)),
        "no slope: spread grows with the distance from the mean, 40 graphs": (
            1000, unequal_slope, (40,)),
        "difference of 1.4 sd, 10 graphs against 10": (1000, power, ((10, 10), (0, 1.4))),
        "differences of 0.8 and 1.6 sd, 3 x 8 graphs": (1000, power, ((8, 8, 8), (0, 0.8, 1.6))),
        "difference of 1.6 sd, 5 graphs against 20": (1000, power, ((5, 20), (0, 1.6))),
        "difference of 1.4 sd, 5 graphs against 20, one component": (
            1000, power, ((5, 20), (0, 1.4), 1)),
        "difference of section 5.2, 5 graphs a group": (1000, of_graphs, (5, 1.0)),
        "a fifth of it, 40 graphs a group": (1000, of_graphs, (40, 0.2)),
        "interval holds the truth: 5 a group, g = 0.8": (1000, covered, (5, 0.8)),
        "interval holds the truth: 20 a group, g = 0": (1000, covered, (20, 0.0)),
        "interval holds the truth: 20 a group, g = 0.8": (1000, covered, (20, 0.8)),
        "interval holds the truth: 40 a group, g = 2": (1000, covered, (40, 2.0)),
    }  # fmt: skip


def write(found):
    """Write the table of all that was measured."""
    lines = [
        "# How often group comparisons reject", "",
        f"Level {LEVEL}; `python -m tests.inference.calibrate_compare` wrote this. The standard "
        "error of a rate of 5 % is 0.7 % over 1,000 data sets and 0.4 % over 3,000.", "",
        "The last two columns are what permutations of the F statistic find that takes all spreads "
        "to be equal, where they are.", "",
        "| data | data sets | joint | component 1 | any, FDR | any, family | component 1, F | any, "
        "family, F |", "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for name, (count, rates) in found.items():
        shown = [f"{rate:.1%}" for rate in rates] + [""] * (6 - len(rates))
        lines.append(f"| {name} | {count:,} | {' | '.join(shown)} |")
    RESULTS.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Run all, or the cases of these numbers, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", type=int, nargs="*", help="of the cases, from 0; all if none")
    numbers = parser.parse_args().numbers
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    every = cases()
    for number, (name, (count, run, given)) in enumerate(every.items()):
        if numbers and number not in numbers:
            continue
        start = time.process_time()
        rates = np.mean([
            np.atleast_1d(run(np.random.default_rng([number, i]), *given)) for i in range(count)
        ], axis=0)  # fmt: skip
        known[name] = (count, rates.tolist())
        print(name, count, rates, f"{time.process_time() - start:.0f} s", file=sys.stderr)
        known = {name: known[name] for name in every if name in known}
        RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        write(known)


if __name__ == "__main__":
    main()
