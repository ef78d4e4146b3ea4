"""Rejection rates: a sample of what ``python -m tests.inference.calibrate_compare`` measures.

The bounds of each count have a false-alarm rate below one in ten thousand.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from tests.inference.calibrate_compare import (
    mice_loadings,
    of_graphs,
    power,
    repeated,
    shuffled_mice,
    unequal,
    unequal_slope,
    with_covariates,
)

from eigengraphs.inference import compare

TAIL = 1e-5  # each side; there are up to four tests in a case


def within_bounds(found, rate=0.05):
    counts, runs = np.sum(found, axis=0), len(found)
    assert (counts <= binom.ppf(1 - TAIL, runs, rate)).all(), counts
    return counts


def run(function, count, *given):
    return [function(np.random.default_rng([77, i]), *given) for i in range(count)]


@pytest.mark.parametrize(
    ("function", "given", "count"),
    [(of_graphs, (5, 0.0), 40), (with_covariates, (), 150), (repeated, ("between",), 150),
     (repeated, ("within",), 150)],
)  # fmt: skip
def test_nothing_is_found_more_often_than_the_level_where_nothing_is(function, given, count):
    within_bounds(run(function, count, *given))


@pytest.mark.parametrize(
    ("function", "given"),
    [(unequal, ((5, 20), (4, 1))), (unequal, ((5, 20), (4, 1), True)),
     (unequal, ((5, 20), (4, 1), False, 1)), (unequal, ((5, 10, 20), (4, 2, 1))),
     (unequal, ((20, 5), (4, 1))), (unequal_slope, (40,))],
)  # fmt: skip
def test_spreads_that_differ_are_no_difference_of_means(function, given):
    within_bounds(run(function, 120, *given), 0.09)


@pytest.mark.parametrize(
    ("given", "loss"),
    [(((10, 10), (0, 1.4)), 0.05), (((8, 8, 8), (0, 0.8, 1.6)), 0.05), (((5, 20), (0, 1.6)), 0.1)],
)
def test_power_is_nearly_that_of_equal_spreads_where_they_are(given, loss):
    _, one, _, family, one_F, family_F = np.array(run(power, 120, *given), dtype=int).T
    for found, by_F in ((one, one_F), (family, family_F)):
        lost = by_F - found  # pairs: one data set, two tests
        assert lost.mean() <= loss + 4 * lost.std() / np.sqrt(len(lost))


@pytest.mark.parametrize(("per_group", "share", "count"), [(5, 1.0, 20), (40, 0.2, 12)])
def test_power_in_the_design_of_section_5_2(per_group, share, count):
    found = run(of_graphs, count, per_group, share)
    # With a power of 0.99 (measured: more) fewer happen once in ten thousand.
    assert np.sum(found, axis=0)[0] >= binom.ppf(1e-4, count, 0.99)


def test_genotypes_of_mice_differ_and_shuffled_ones_do_not():
    loadings, genotypes = mice_loadings()
    found = compare(loadings, genotypes, n_bootstrap=100, random_state=0)
    assert found.significant()
    within_bounds(run(shuffled_mice, 60, loadings, genotypes))


@pytest.mark.parametrize(
    ("sizes", "means", "truth"),
    [
        ((20, 20), (0.0, 0.8), 0.8),
        ((2, 20), (0.0, 0.8), 0.8),
        ((1, 20), (0.0, 0.8), 0.8),
        ((2, 3), (0.0, 0.8), 0.8),
        ((10, 10, 10), (0.0, 0.0, 0.0), 0.0),
        ((10, 10, 10), (0.0, 0.5, 1.0), 1 / 7),
        ((2,) * 12, tuple(np.linspace(0, 2, 12)), 0.2845),
    ],
)
def test_intervals_cover(sizes, means, truth):
    rng = np.random.default_rng(0)
    group = np.repeat([f"g{i:02d}" for i in range(len(sizes))], sizes)
    held = []
    for seed in range(8):
        # Components of their own are data sets of their own.
        Lam = rng.normal(size=(len(group), 50)) + np.repeat(means, sizes)[:, None]
        found = compare(Lam, group, n_permutations=9, n_bootstrap=1000, random_state=seed)
        low, high = found.effect_low, found.effect_high
        held.append((low <= truth) & (truth <= high))
        if len(sizes) > 2:
            assert low.min() >= 0
        assert np.mean((low <= found.effect) & (found.effect <= high)) > 0.97
    assert np.mean(held) > 0.9


def test_recorded_designs_keep_their_level_and_slopes_their_intervals():
    text = Path(__file__).with_name("calibration-designs.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if " | 1,000 | " in line]
    rates, covered = ([[float(cell.strip("%")) for cell in row[2:]] for row in rows
                       if len(row) == size] for size in (6, 5))  # fmt: skip
    assert (len(rates), len(covered)) == (8, 5)
    assert 3.5 <= np.min(rates) <= np.max(rates) <= 6.5
    assert 93 <= np.min(covered) <= np.max(covered) <= 97
