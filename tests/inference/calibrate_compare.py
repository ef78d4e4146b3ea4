"""How often tests reject where nothing differs, and where something does.

``python -m tests.inference.calibrate_compare`` (from the root of the repository) takes some
minutes on one core and writes CALIBRATION-compare.md beside this file. Default tests run smaller
samples of the same functions.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import eigengraphs as eg
from eigengraphs.inference import compare

RESULTS = Path(__file__).with_name("CALIBRATION-compare.md")
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


def of_graphs(rng, per_group, share):
    """Compare the groups of section 5.2."""
    Lam, group = section_5_2(rng, per_group, share)
    return rejections(compare(Lam, group, n_permutations=999, n_bootstrap=1, random_state=rng))


def with_covariates(rng, per_group=10):
    """Compare groups that differ in age and site alone, which loadings follow; heavy tails."""
    m = 2 * per_group
    group = np.repeat([0, 1], per_group)
    age = rng.normal(size=m) + group
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    site = np.array([rng.choice(list("abc"), p=shares[one]) for one in group])
    Lam = rng.standard_t(3, size=(m, 4)) + 1.5 * np.outer(age, [1, 1, -1, 0])
    Lam += 2.0 * np.outer(site == "b", [0, 1, 1, 0])
    return rejections(
        compare(Lam, group, covariates={"age": age, "site": site}, n_permutations=999,
                n_bootstrap=1, random_state=rng)
    )  # fmt: skip


def repeated(rng, design, subjects=12, scans=4):
    """Compare scans of subjects who differ by twice the noise; nothing else does."""
    who = np.repeat(np.arange(subjects), scans)
    Lam = 2 * rng.normal(size=(subjects, 3))[who] + rng.normal(size=(len(who), 3))
    group = who % 2 if design == "between" else np.tile(np.arange(scans) % 2, subjects)
    return rejections(
        compare(Lam, group, subjects=[f"s{i}" for i in who], n_permutations=999, n_bootstrap=1,
                random_state=rng)
    )  # fmt: skip


def naive_repeated(rng, subjects=12, scans=4):
    """As ``repeated`` between subjects, but as if all scans were of different people."""
    who = np.repeat(np.arange(subjects), scans)
    Lam = 2 * rng.normal(size=(subjects, 3))[who] + rng.normal(size=(len(who), 3))
    return rejections(compare(Lam, who % 2, n_permutations=999, n_bootstrap=1, random_state=rng))


def mice_loadings():
    """Return loadings of 32 mice on 8 components, and their genotypes."""
    mice = eg.datasets.load_mice()
    fit = eg.JointEmbedding(8, center=True, random_state=0).fit(mice.graphs.log1p())
    return fit.loadings_, mice.genotypes


def shuffled_mice(rng, loadings, genotypes):
    """Compare genotypes that were dealt out at random."""
    return rejections(
        compare(loadings, rng.permutation(genotypes), n_permutations=999, n_bootstrap=1,
                random_state=rng)
    )  # fmt: skip


def covered(rng, per_group, g):
    """Tell whether the interval around Hedges' g holds the truth."""
    group = np.repeat([0, 1], per_group)
    Lam = rng.normal(size=(2 * per_group, 1)) + g * group[:, None]
    found = compare(Lam, group, n_permutations=1, n_bootstrap=999, random_state=rng)
    return bool(found.effect_low[0] <= g <= found.effect_high[0])


def main() -> None:
    """Run all, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    mice = mice_loadings()
    cases = {
        "no difference: section 5.2, 5 graphs a group": (runs, of_graphs, (5, 0.0)),
        "no difference: section 5.2, 40 graphs a group": (runs, of_graphs, (40, 0.0)),
        "no difference but for age and site (adjusted), heavy tails": (runs, with_covariates, ()),
        "no difference: 12 subjects x 4 scans, groups of subjects": (runs, repeated, ("between",)),
        "no difference: 12 subjects x 4 scans, within subjects": (runs, repeated, ("within",)),
        "the same, subjects ignored (what not to do)": (runs, naive_repeated, ()),
        "mice, 500 shuffles of the genotypes": (min(runs, 500), shuffled_mice, mice),
        "difference of section 5.2, 5 graphs a group": (runs, of_graphs, (5, 1.0)),
        "a fifth of it, 40 graphs a group": (runs, of_graphs, (40, 0.2)),
    }
    lines = [
        "# How often group comparisons reject", "",
        f"Level {LEVEL}; `python -m tests.inference.calibrate_compare` wrote this. Standard error "
        "of a rate of 5 % over 1,000 data sets: 0.7 %.", "",
        "| data | data sets | joint | component 1 | any, FDR | any, family |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for number, (name, (count, run, given)) in enumerate(cases.items()):
        start = time.process_time()
        rates = np.mean([
            run(np.random.default_rng([number, i]), *given) for i in range(count)
        ], axis=0)  # fmt: skip
        lines.append(f"| {name} | {count:,} | " + " | ".join(f"{r:.1%}" for r in rates) + " |")
        print(lines[-1], f"{time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
    lines += ["", "| 95 % intervals of Hedges' g that hold the truth | data sets | share |",
              "|---|---|---|"]  # fmt: skip
    for number, (per_group, g) in enumerate([(5, 0.8), (20, 0.0), (20, 0.8), (40, 2.0)]):
        held = [covered(np.random.default_rng([100 + number, i]), per_group, g)
                for i in range(runs)]  # fmt: skip
        lines.append(f"| {per_group} a group, g = {g} | {runs:,} | {np.mean(held):.1%} |")
    genotype = compare(*mice, name="genotype", random_state=0)
    found, tested = len(genotype.significant()), len(genotype.components)
    lines += [
        "",
        f"Mice, genotype: joint p = {genotype.joint_p:.2g}, {found} of {tested} components at a "
        "false discovery rate of 5 %.",
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
