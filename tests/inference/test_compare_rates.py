"""Rejection rates: a sample of what ``python -m tests.inference.calibrate_compare`` measures.

The bounds of each count have a false-alarm rate below one in ten thousand.
"""

import numpy as np
import pytest
from scipy.stats import binom
from tests.inference.calibrate_compare import (
    covered,
    mice_loadings,
    naive_repeated,
    of_graphs,
    repeated,
    shuffled_mice,
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


def test_scans_of_one_person_taken_as_many_people_are_found_out_by_the_rates():
    counts = np.sum(run(naive_repeated, 60), axis=0)
    assert counts[0] > binom.ppf(1 - TAIL, 60, 0.05)  # what the restriction is for


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


def test_intervals_cover():
    held = run(covered, 60, 20, 0.8)
    # Of the measured coverage; fewer happen once in ten thousand.
    assert np.sum(held) >= binom.ppf(1e-4, 60, 0.94)
