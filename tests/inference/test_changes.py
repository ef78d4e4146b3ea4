"""Change points and anomalies: exact cuts, false alarms, planted truth, months of flights."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import binom
from tests.inference.calibrate_anomalies import MARGINS, PLANTS, loadings, planted
from tests.inference.calibrate_changes import autoregression, false_alarm

import eigengraphs as eg
from eigengraphs.errors import DatasetError, InputError, ManyAnomaliesWarning
from eigengraphs.inference import anomalies, change_points
from eigengraphs.inference.changes_and_anomalies import largest_penalty, segment, segment_costs


def written_out(Y, cuts):
    edges = [0, *cuts, len(Y)]
    return sum(((Y[a:b] - Y[a:b].mean(axis=0)) ** 2).sum() for a, b in pairwise(edges))


def every_cutting(m, least):
    for count in range(m // least):
        for cuts in combinations(range(1, m), count):
            if np.diff([0, *cuts, m]).min() >= least:
                yield cuts


@pytest.mark.parametrize("seed", range(4))
def test_cuts_are_the_best_of_all_cuttings(seed):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(11, 2)) + np.repeat([0, 3, -1], [4, 3, 4])[:, None] + 100
    costs = segment_costs(Y[None], 2)
    ways = {cuts: written_out(Y, cuts) for cuts in every_cutting(11, 2)}
    for penalty in (0.5, 5.0, 50.0):
        best = min(ways, key=lambda cuts: ways[cuts] + penalty * len(cuts))
        cost, first = segment(costs, np.array([penalty]))
        assert tuple(np.flatnonzero(first[0])) == best
        assert cost[0] == pytest.approx(ways[best])
    gain = max((ways[()] - ways[cuts]) / len(cuts) for cuts in ways if cuts)
    assert largest_penalty(costs)[0] == pytest.approx(gain)


def test_a_change_is_found_exactly_when_p_is_at_most_the_level():
    found = [
        change_points(autoregression(np.random.default_rng([3, i]), 24, [0.0, 0.4]) + shift,
                      n_permutations=39, random_state=i)
        for i in range(20)
        for shift in (0.0, np.repeat([0.0, 1.5], 12)[:, None])
    ]  # fmt: skip
    assert len({bool(one.places) for one in found}) == 2
    assert all(bool(one.places) == (one.p_value <= 0.05) for one in found)
    assert all((one.gains > 1).all() for one in found)


def test_two_planted_changes_of_one_component_in_noise_that_remembers():
    rng = np.random.default_rng(5)
    Y = autoregression(rng, 120, [0.4, 0.2, 0.0])
    Y[:, 1] += 4.0 * np.repeat([0, 1, 0], [50, 30, 40])
    found = change_points(Y * [1, 1e6, 1e-6], n_permutations=199, random_state=0)
    assert len(found.places) == 2
    assert np.abs(np.array(found.places) - [50, 80]).max() <= 2
    assert found.levels[1, 1] > found.levels[0, 1]
    assert (np.bincount(found.segments) == np.diff([0, *found.places, 120])).all()
    assert found.p_value == pytest.approx(1 / 200)


@pytest.mark.parametrize(
    ("m", "rho", "noise", "rate"),
    [
        (40, (0.0, 0.0), "normal", 0.06),
        (40, (0.5, 0.5), "normal", 0.06),
        (80, (0.0, 0.0, 0.0), "doubled half-way", 0.08),  # permuted innovations gave 34 to 42 %
    ],
)
def test_false_alarms(m, rho, noise, rate):
    alarms = [false_alarm(np.random.default_rng([8, i]), m, rho, 39, noise) for i in range(60)]
    # The rate (measured: up to that) gives more than this once in ten thousand.
    assert sum(alarms) <= binom.ppf(1 - 1e-4, 60, rate)


def test_flights_change_in_spring_2020():
    try:
        data = eg.datasets.fetch_us_airports()
    except (DatasetError, ImportError) as error:
        pytest.skip(str(error))
    fit = eg.JointEmbedding(5, random_state=0).fit(data.graphs.log1p())
    found = change_points(fit.loadings_, n_permutations=199, random_state=0)
    clearest = found.places[int(found.gains.argmax())]
    assert str(data.months[clearest]) in {"2020-03", "2020-04"}
    assert str(data.months[found.places[0]]) in {"2020-03", "2020-04"}


def test_constant_components_are_left_out():
    Y = np.random.default_rng(0).normal(size=(30, 2))
    found = change_points(np.column_stack([Y, np.ones(30)]), n_permutations=19)
    assert found.components == ("je1", "je2")
    assert "je3" in found.notes[0]


def test_planted_anomalies_are_found_together_though_they_would_hide_each_other():
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(60, 3)) @ np.array([[2.0, 1.9, 0], [0, 0.5, 0], [0, 0, 1e-3]])
    Y[[4, 5, 6, 7, 8]] += [8.0, -8.0, 0.0]  # against the correlation, in a heap
    share = np.exp(rng.normal(-1, 0.1, 60))
    share[20] *= 2.0
    share[30] = np.nan
    found = anomalies(Y, share, n_simulations=199, random_state=0)
    assert {4, 5, 6, 7, 8, 20} <= set(found.found)
    assert len(found.found) <= 8  # of six discoveries at 5 %, three false ones are rare
    assert found.residuals[20] > 4
    assert np.isnan(found.residuals[30])


@pytest.mark.parametrize(("m", "d"), [(20, 2), (40, 8), (12, 6)])
def test_p_values_of_usual_graphs_are_uniform(m, d):
    mix = np.random.default_rng(2).normal(size=(d, d))
    p = np.array([
        anomalies(np.random.default_rng([9, i]).normal(size=(m, d)) @ mix, n_simulations=99,
                  random_state=i).p_distances
        for i in range(30)
    ])  # fmt: skip
    # Graphs of one sample are nearly independent; four standard errors.
    # Correlations are estimated, which costs some accuracy in the middle; tails are what is used.
    for level in (0.01, 0.05):
        error = np.sqrt(level * (1 - level) / p.size)
        assert abs((p <= level).mean() - level) < 4 * error + 0.01


def test_a_new_level_is_no_anomaly_in_its_own_segment():
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(40, 2))
    Y[38:] += 20.0
    assert set(anomalies(Y, n_simulations=99, random_state=0).found) == {38, 39}
    segments = np.repeat([0, 1], [38, 2])
    assert anomalies(Y, segments=segments, n_simulations=99, random_state=0).found == ()


@pytest.mark.parametrize("margin", MARGINS)
def test_few_anomalies_are_found_where_none_are_planted(margin):
    found = [
        len(anomalies(loadings(np.random.default_rng([4, i]), margin), n_simulations=49,
                      random_state=i).found)
        for i in range(10)
    ]  # fmt: skip
    # Measured: 0.0 to 0.5 on average (normal samples as the null found 0.1 to 50).
    assert np.mean(found) <= 1.5


@pytest.mark.parametrize("plant", PLANTS)
def test_an_odd_graph_is_found_by_its_fit(plant):
    found = [
        0 in anomalies(*planted(np.random.default_rng([2, i]), plant), random_state=i).found
        for i in range(10)
    ]
    assert sum(found) >= 9


def test_many_anomalies_are_said_to_be_rather_a_group():
    rng = np.random.default_rng(0)
    Y, share = rng.normal(size=(30, 2)), rng.lognormal(-1, 0.1, size=30)
    Y[:2] += 50.0
    share[2:4] = 20.0
    with pytest.warns(ManyAnomaliesWarning, match="4 of 30 graphs is more than a tenth"):
        found = anomalies(Y, share, n_simulations=99, random_state=0)
    assert "more than a tenth" in found.words()[1]
    assert "graph 1 (index 0)" in found.words()[0]


def test_series_with_ties_have_no_small_p():
    # Second differences are zero, and so are most innovations.
    steps = np.tile([0.0, 1.0], 20)
    for Y in (steps, steps + (np.arange(40) == 7), np.repeat([0.0, 1.0, 0.5, 2.0], 10)):
        try:
            found = change_points(Y, n_permutations=99, random_state=0)
        except InputError:
            continue
        assert found.p_value > 0.05
        assert found.places == ()
