"""Group comparisons against written-out computations, and what they refuse."""

from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from eigengraphs.errors import InputError
from eigengraphs.inference import compare
from eigengraphs.inference.effects import bca


def quick(Lam, group, **options):
    return compare(Lam, group, **{"n_bootstrap": 50, "random_state": 0, **options})


def ols_squares(A, y):
    return float(((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2).sum())


def test_f_and_exact_p_of_two_groups_are_those_of_all_splits():
    rng = np.random.default_rng(0)
    Lam = rng.normal(size=(9, 2)) + np.array([[0.8, 0.0]]) * (np.arange(9) % 2)[:, None]
    group = np.array(["a", "b"])[np.arange(9) % 2]
    found = quick(Lam, group)
    assert found.exact
    assert found.n_permutations == 126
    for k in range(2):
        F, _ = stats.f_oneway(Lam[group == "a", k], Lam[group == "b", k])
        assert found.F[k] == pytest.approx(F)
        every = []
        for chosen in combinations(range(9), 4):
            mask = np.isin(np.arange(9), chosen)
            every.append(stats.f_oneway(Lam[mask, k], Lam[~mask, k])[0])
        assert found.p_values[k] == pytest.approx(np.mean(np.array(every) >= F * (1 - 1e-9)))
    assert np.allclose(found.p_fdr, stats.false_discovery_control(found.p_values))
    assert (found.p_family >= found.p_values).all()


def test_the_joint_test_of_two_groups_orders_splits_as_hotelling_does_without_shrinkage(
    monkeypatch,
):
    from eigengraphs.inference import statistics

    monkeypatch.setattr(
        statistics, "ledoit_wolf", lambda S, assume_centered: (S.T @ S / len(S), 0.0)
    )
    rng = np.random.default_rng(1)
    Lam = rng.normal(size=(8, 2)) @ np.array([[1.0, 0.9], [0.0, 0.3]])
    group = np.arange(8) % 2

    def hotelling(mask):
        a, b = Lam[mask], Lam[~mask]
        S = 3 * np.cov(a.T) + 3 * np.cov(b.T)
        return (a.mean(axis=0) - b.mean(axis=0)) @ np.linalg.solve(
            S, a.mean(axis=0) - b.mean(axis=0)
        )

    every = np.array([
        hotelling(np.isin(np.arange(8), chosen)) for chosen in combinations(range(8), 4)
    ])  # fmt: skip
    expected = np.mean(every >= hotelling(group == 0) * (1 - 1e-9))
    assert quick(Lam, group).joint_p == pytest.approx(expected)


def test_covariates_by_freedman_and_lane_written_out():
    rng = np.random.default_rng(2)
    m = 6
    group, age = np.array([0, 1, 0, 1, 0, 1]), rng.normal(size=m)
    Lam = rng.normal(size=(m, 2)) + age[:, None]
    found = quick(Lam, group, covariates={"age": age})
    assert found.exact
    assert found.n_permutations == 720
    Z = np.column_stack([np.ones(m), age])
    A = np.column_stack([Z, group])

    def F(y):
        full = ols_squares(A, y)
        return (ols_squares(Z, y) - full) / (full / (m - 3))

    for k in range(2):
        y = Lam[:, k]
        assert found.F[k] == pytest.approx(F(y))
        fitted = Z @ np.linalg.lstsq(Z, y, rcond=None)[0]
        every = [F(fitted + (y - fitted)[list(order)]) for order in permutations(range(m))]
        assert found.p_values[k] == pytest.approx(np.mean(np.array(every) >= F(y) * (1 - 1e-9)))


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


def test_mixed_designs_are_refused_with_the_subjects_named():
    group = ["a", "b", "a", "b", "a", "a", "b", "b"]
    who = ["s1", "s1", "s2", "s2", "s3", "s3", "s4", "s4"]
    with pytest.raises(InputError, match=r"varies within 2 subjects .* 2 others \(s3, s4\)"):
        quick(np.random.default_rng(0).normal(size=(8, 2)), group, subjects=who)


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


def test_bca_of_a_symmetric_bootstrap_without_skew_is_the_percentile_interval():
    drawn = np.linspace(-1, 1, 2001)[:, None]
    low, high = bca(np.zeros(1), drawn, np.linspace(-1, 1, 9)[:, None], np.zeros(9, int), 0.9)
    assert (low[0], high[0]) == pytest.approx((-0.9, 0.9), abs=1e-3)


def test_units_of_loadings_and_covariates_do_not_matter():
    rng = np.random.default_rng(8)
    Lam, age = rng.normal(size=(20, 3)), rng.normal(size=20)
    group = np.arange(20) % 2
    one = quick(Lam, group, covariates={"age": age}, n_permutations=200)
    other = quick(Lam * [1e-9, 1e9, -1], group, covariates={"age": age * 1e7 + 5e8},
                  n_permutations=200)  # fmt: skip
    assert np.allclose(one.p_values, other.p_values)
    assert one.joint_p == other.joint_p
    assert np.allclose(one.effect, other.effect * [1, 1, -1], rtol=1e-6)


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
    with pytest.raises(InputError, match="no component is left"):
        quick(Lam[:, 1:2], np.arange(12) % 2)


@pytest.mark.parametrize(
    ("group", "options", "words"),
    [
        (["a"] * 12, {}, "same for all graphs"),
        (np.arange(11), {}, "one value for each graph, 12"),
        (np.arange(12) % 2, {"covariates": {"site": np.arange(12) % 4 // 1 % 2}}, "told by site"),
        (np.arange(12) % 2, {"covariates": {"id": [f"p{i}" for i in range(12)]}}, "told by id"),
        (np.arange(12) % 2, {"covariates": np.random.default_rng(0).normal(size=(12, 10))},
         "too few"),
        (np.arange(12) % 2, {"n_permutations": 0}, "n_permutations"),
        (np.arange(12) % 2, {"confidence": 1.0}, "confidence"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_says_why(group, options, words):
    Lam = np.random.default_rng(11).normal(size=(12, 2))
    with pytest.raises(InputError, match=words):
        quick(Lam, group, **options)


def test_a_covariate_of_subjects_is_absorbed_within_them():
    rng = np.random.default_rng(12)
    who, when = np.repeat(np.arange(6), 2), np.tile(["pre", "post"], 6)
    found = quick(rng.normal(size=(12, 2)), when, subjects=who, covariates={"age": 20.5 + who})
    assert any("'age' adds nothing" in note for note in found.notes)
    assert found.n_permutations == 64


def test_more_components_than_graphs_leave_a_joint_test():
    rng = np.random.default_rng(13)
    group = np.arange(10) % 2
    Lam = rng.normal(size=(10, 30)) + 3.0 * group[:, None]
    assert quick(Lam, group).joint_p == pytest.approx(2 / 252)


def test_words_say_which_group_has_more():
    rng = np.random.default_rng(14)
    group = np.repeat(["control", "patient"], 10)
    Lam = rng.normal(size=(20, 2)) + 4.0 * np.outer(group == "patient", [0, -1])
    found = quick(Lam, group, name="diagnosis")
    text = " ".join(found.words)
    assert "je2 is largest in graphs of control (mean -0.136) and smallest in those of" in text
    assert "diagnosis (10 control, 10 patient)" in text
    assert len(found.rows) == 3
    assert all(len(row) == len(found.header) for row in found.rows)
    assert "random permutations" in found.methods


def test_a_refusal_says_what_was_left_out():
    group = ["n/a"] * 6 + ["ssri"] * 6
    with pytest.raises(InputError, match=r"nothing to compare \(6 of 12 graphs are left out"):
        compare(np.random.default_rng(0).normal(size=(12, 2)), group)


def test_a_group_that_is_the_same_for_all_is_refused_with_subjects_too():
    Lam = np.random.default_rng(0).normal(size=(12, 2))
    for group in (["same"] * 12, ["same"] * 6 + [None] * 6):
        with pytest.raises(InputError, match="nothing to compare"):
            compare(Lam, group, subjects=np.arange(12) // 2)
