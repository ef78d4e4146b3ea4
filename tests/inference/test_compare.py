"""Group comparisons against written-out computations, and what they refuse."""

from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from eigengraphs.inference import compare


def quick(Lam, group, **options):
    return compare(Lam, group, **{"n_bootstrap": 50, "random_state": 0, **options})


def welch(y, A, group):
    """Return the tail of Welch's F of the last column of A, and F, with variances moderated."""
    P = np.linalg.pinv(A)
    e, free = y - A @ (P @ y), 1 - np.diag(A @ P)
    groups = [group == one for one in np.unique(group)]
    freedom = np.array([free[g].sum() for g in groups])
    s2 = np.array([(e[g] ** 2).sum() for g in groups]) / freedom
    pooled = freedom @ s2 / freedom.sum()
    bartlett = freedom @ np.log(pooled / s2)
    usual = len(groups) - 1 + ((1 / freedom).sum() - 1 / freedom.sum()) / 3
    share = min(1.0, 0.4 * usual / bartlett)
    s2 = (1 - share) * s2 + share * pooled
    rough = np.maximum((1 - share) * 2 / freedom + share / freedom.sum(), 1 / freedom.sum())
    parts = np.array([(P[-1, g] ** 2).sum() for g in groups]) * s2
    F = (P[-1] @ y) ** 2 / parts.sum()
    return stats.f.sf(F, 1, 1 / ((parts / parts.sum()) ** 2 @ rough)), F


@pytest.mark.parametrize("sds", [(1, 1), (5, 1)])
def test_f_and_exact_p_of_two_groups_are_those_of_all_splits(sds):
    rng = np.random.default_rng(0)
    group = np.arange(9) % 2
    y = rng.normal(size=9) * np.array(sds)[group] + 0.8 * group
    found = quick(y[:, None], np.array(["a", "b"])[group])
    assert found.exact
    assert found.n_permutations == 126
    tail, F = welch(y, np.column_stack([np.ones(9), group]), group)
    assert found.F[0] == pytest.approx(F)
    every = []
    for chosen in combinations(range(9), 4):
        mask = np.isin(np.arange(9), chosen).astype(int)
        every.append(welch(y, np.column_stack([np.ones(9), mask]), mask)[0])
    assert found.p_values[0] == pytest.approx(np.mean(np.array(every) <= tail * (1 + 1e-9)))
    assert found.joint_p == found.p_family[0] == found.p_fdr[0] == found.p_values[0]


def test_f_is_that_of_equal_spreads_where_they_are_and_welchs_where_they_are_not():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=12), rng.normal(size=12)
    a, b = ((x - x.mean()) / x.std() for x in (a, b))
    group = np.repeat(["a", "b"], [12, 24])
    alike = quick(np.concatenate([a, b, b])[:, None] + 0.5 * (group == "b")[:, None], group)
    assert alike.F[0] == pytest.approx(stats.f_oneway(a, np.tile(b + 0.5, 2)).statistic)
    unlike = quick(np.concatenate([1e4 * a + 1e3, b, b])[:, None], group)
    t = stats.ttest_ind(1e4 * a + 1e3, np.tile(b, 2), equal_var=False).statistic
    assert unlike.F[0] == pytest.approx(t**2, rel=0.05)


def test_covariates_by_freedman_and_lane_written_out():
    rng = np.random.default_rng(2)
    m = 6
    group, age = np.array([0, 1, 0, 1, 0, 1]), rng.normal(size=m)
    y = rng.normal(size=m) + age
    found = quick(y[:, None], group, covariates={"age": age})
    assert found.exact
    assert found.n_permutations == 720
    Z = np.column_stack([np.ones(m), age])
    A = np.column_stack([Z, group])
    tail, F = welch(y, A, group)
    assert found.F[0] == pytest.approx(F)
    left = y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]
    every = [welch(left[list(order)], A, group)[0] for order in permutations(range(m))]
    assert found.p_values[0] == pytest.approx(np.mean(np.array(every) <= tail * (1 + 1e-9)))


def test_subjects_of_one_group_are_one_unit_each():
    rng = np.random.default_rng(3)
    who = rng.permutation(np.repeat(np.arange(8), 3))
    names = np.array([f"s{i}" for i in range(8)])[who]
    Lam = rng.normal(size=(24, 2))
    group = np.array(["x", "y"])[who % 2]
    found = quick(Lam, group, subjects=names)
    means = np.array([Lam[who == i].mean(axis=0) for i in range(8)])
    same = quick(means, np.array(["x", "y"])[np.arange(8) % 2])
    assert found.design == "between"
    assert found.counts == (4, 4)
    assert found.n_permutations == 70
    assert np.allclose(found.p_values, same.p_values)
    assert np.allclose(found.effect, same.effect)
    assert "means of the 24 graphs" in found.methods


def test_within_subjects_signs_are_flipped_as_in_a_paired_test():
    rng = np.random.default_rng(4)
    who, when = np.repeat(np.arange(6), 2), np.tile(["pre", "post"], 6)
    Lam = 3 * rng.normal(size=(6, 2))[who] + rng.normal(size=(12, 2))
    Lam[when == "post", 0] += 1.0
    found = quick(Lam, when, subjects=who)
    assert found.design == "within"
    assert found.n_permutations == 64
    for k in range(2):
        change = Lam[when == "post", k] - Lam[when == "pre", k]
        t = stats.ttest_1samp(change, 0).statistic
        assert found.F[k] == pytest.approx(t**2)
        every = [
            stats.ttest_1samp(change * signs, 0).statistic ** 2
            for signs in product([1, -1], repeat=6)
        ]
        assert found.p_values[k] == pytest.approx(np.mean(np.array(every) >= t**2 * (1 - 1e-9)))
    assert found.means[0, 0] - found.means[1, 0] == pytest.approx(
        (Lam[when == "post", 0] - Lam[when == "pre", 0]).mean()
    )


def test_random_permutations_within_subjects_stay_there_and_agree_with_all():
    rng = np.random.default_rng(5)
    who, when = np.repeat(np.arange(5), 4), np.tile([0, 1, 0, 1], 5)
    Lam = 3 * rng.normal(size=(5, 1))[who] + rng.normal(size=(20, 1)) + 0.7 * when[:, None]
    exact = quick(Lam, when, subjects=who)  # 6^5 = 7776
    assert exact.n_permutations == 7776
    drawn = quick(Lam, when, subjects=who, n_permutations=4000)
    assert not drawn.exact
    # Four standard errors.
    p = exact.p_values[0]
    assert abs(drawn.p_values[0] - p) < 4 * np.sqrt(p * (1 - p) / 4000) + 1 / 4000


def test_sizes_of_effects_written_out():
    rng = np.random.default_rng(6)
    Lam = rng.normal(size=(12, 1)) + (np.arange(12) % 3)[:, None]
    two = np.array(["a", "b"])[np.arange(12) % 2]
    a, b = Lam[two == "a", 0], Lam[two == "b", 0]
    pooled = np.sqrt((5 * a.var(ddof=1) + 5 * b.var(ddof=1)) / 10)
    found = quick(Lam, two)
    # Hedges' factor by its usual approximation, 1 - 3 / (4 df - 1).
    assert found.effect[0] == pytest.approx((b.mean() - a.mean()) / pooled * (1 - 3 / 39), rel=1e-3)
    assert np.allclose(found.means[:, 0], [a.mean(), b.mean()])
    three = np.array(list("abc"))[np.arange(12) % 3]
    groups = [Lam[three == g, 0] for g in "abc"]
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    total = ((Lam - Lam.mean()) ** 2).sum()
    omega = (total - within - 2 * within / 9) / (total + within / 9)
    assert quick(Lam, three).effect[0] == pytest.approx(omega)
    age = rng.normal(size=12)
    found = quick(Lam, age, name="age")
    assert found.kind == "quantity"
    assert found.effect[0] == pytest.approx(np.corrcoef(age, Lam[:, 0])[0, 1])
    assert found.slopes[0] == pytest.approx(np.polyfit(age, Lam[:, 0], 1)[0])


def test_bootstrap_intervals_are_those_of_scipy():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=30), rng.gamma(1.0, size=30)
    found = compare(y[:, None], x, n_permutations=1, n_bootstrap=9999, random_state=0)
    theirs = stats.bootstrap(
        (x, y), lambda x, y: np.corrcoef(x, y)[0, 1], paired=True, vectorized=False,
        n_resamples=4999, rng=1,
    ).confidence_interval  # fmt: skip
    assert found.effect_low[0] == pytest.approx(theirs.low, abs=0.03)
    assert found.effect_high[0] == pytest.approx(theirs.high, abs=0.03)


def test_a_statistic_that_is_nan_is_no_evidence(monkeypatch):
    from eigengraphs.inference.studies import permutation_tests

    monkeypatch.setattr(permutation_tests, "fdtrc", lambda q, df, F: np.full_like(F, np.nan))
    Lam = np.random.default_rng(0).normal(size=(8, 2))
    for most in (9999, 9):  # all arrangements, and some
        found = quick(Lam, np.arange(8) % 2, n_permutations=most)
        assert (found.p_values == 1).all()
        assert (found.p_family == 1).all()
        assert found.joint_p == 1


def test_a_component_that_a_covariate_tells_altogether_does_not_differ():
    rng = np.random.default_rng(0)
    age = rng.normal(size=12)
    Lam = np.column_stack([3 * age + 1, rng.normal(size=12)])
    found = quick(Lam, np.arange(12) % 2, covariates={"age": age}, n_permutations=99)
    assert found.p_values[0] == 1


@pytest.mark.parametrize("group", [list("aaaabbbbbb"), list("aaaabbbccc"), list(range(10))])
def test_perfect_separation_is_said_in_words(group):
    exact = np.unique(group, return_inverse=True)[1].astype(float)
    Lam = np.column_stack([exact, np.random.default_rng(0).normal(size=10)])
    found = quick(Lam, group)
    told = " ".join((*found.words, *found.notes, found.methods, repr(found)))
    assert "perfect separation" in told or "perfect fit" in told
    assert "nan" not in told
    assert "inf" not in told
    assert found.interval(0) == ""
    assert found.interval(1) != ""
    assert 0 < found.p_values[0] < 0.05
    if group[0] == "a":
        assert found.F[0] > 1e6


def test_missing_values_are_left_out_and_counted():
    rng = np.random.default_rng(9)
    Lam = rng.normal(size=(20, 2))
    group = ["a", "b"] * 9 + [None, "n/a"]
    age = pd.array([pd.NA, *range(19)], dtype="Int64")
    table = pd.DataFrame({"age": age, "site": ["x", "y", "x", "x"] * 5})
    found = quick(Lam, group, covariates=table, n_permutations=99)
    assert found.n_graphs == 17
    assert "3 of 20 graphs are left out: 2 without group, 1 without age" in found.notes
    assert found.covariates == ("age", "site")


def test_constant_and_degenerate_components_are_not_tested():
    rng = np.random.default_rng(10)
    Lam = rng.normal(size=(12, 4))
    Lam[:, 1] = 3.0
    found = quick(Lam, np.arange(12) % 2, leave_out=[False, False, True, False])
    assert found.components == ("je1", "je4")
    assert "not tested, because loadings are degenerate: je3" in found.notes


def test_a_covariate_of_subjects_is_absorbed_within_them():
    rng = np.random.default_rng(12)
    who, when = np.repeat(np.arange(6), 2), np.tile(["pre", "post"], 6)
    found = quick(rng.normal(size=(12, 2)), when, subjects=who, covariates={"age": 20.5 + who})
    assert "of no use to the model: age is constant within participants" in found.notes
    assert found.n_permutations == 64


def test_more_components_than_graphs_leave_a_joint_test_and_adjusted_p_values():
    rng = np.random.default_rng(13)
    group = np.arange(10) % 2
    found = quick(rng.normal(size=(10, 30)) + 3.0 * group[:, None], group)
    assert found.joint_p == pytest.approx(2 / 252)
    assert (found.p_family >= found.p_values).all()
    assert np.allclose(found.p_fdr, stats.false_discovery_control(found.p_values))


def test_words_say_which_group_has_more():
    rng = np.random.default_rng(14)
    group = np.repeat(["control", "patient"], 10)
    Lam = rng.normal(size=(20, 2)) + 4.0 * np.outer(group == "patient", [0, -1])
    found = quick(Lam, group, name="diagnosis")
    text = " ".join(found.words)
    assert "je2 is largest in the group control (mean -0.136, 95% interval" in text
    assert "diagnosis (10 control, 10 patient)" in text
    assert len(found.rows) == 3
    assert all(len(row) == len(found.header) for row in found.rows)
    assert "random permutations" in found.methods
