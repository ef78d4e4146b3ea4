"""Designs by formula: the numbers of statsmodels, and answers to designs that cannot be."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from eigengraphs.errors import InputError
from eigengraphs.inference import Formula, compare

RNG = np.random.default_rng(5)
M = 48
TABLE = pd.DataFrame({
    "group": RNG.permutation(np.repeat(["a", "b", "c"], M // 3)), "age": RNG.normal(50, 9, M),
    "sex": RNG.choice(["f", "m"], M), "site": np.arange(M) % 3 + 1, "one": "x",
    "two": RNG.integers(0, 2, M) * 5, "my iq": RNG.normal(100, 15, M),
})  # fmt: skip
TABLE["months"], TABLE["ids"] = 12 * TABLE.age + 3, [f"p{i}" for i in range(M)]
TABLE["visit"], TABLE["copy"] = np.arange(M) % 4, np.where(TABLE.sex == "f", "X", "Y")
TABLE["arm"] = np.where(np.arange(M) // 4 % 2, "drug", "none")
TABLE["hole"] = ["u", "v", None, "u"] * (M // 4)
WHO = np.arange(M) // 4
LAM = RNG.normal(size=(M, 2)) + 0.1 * np.outer(TABLE.age * (TABLE.group == "c"), [1, 0])


def ask(text, test=None, data=TABLE, **options):
    settings = {"n_permutations": 99, "n_bootstrap": 50, "random_state": 0}
    return compare(LAM, Formula(text, data, test), **settings | options)


def test_a_formula_without_interactions_is_the_comparison_with_covariates():
    for by in ("group", "two", "age"):
        others = [name for name in ("age", "sex", "two") if name != by]
        plain = compare(LAM, TABLE[by], covariates=TABLE[others], name=by, n_permutations=99,
                        n_bootstrap=50, random_state=0)  # fmt: skip
        found = ask(f"~ {' + '.join([by, *others])}", by)
        for name in ("F", "p_values", "p_family", "joint_p", "effect", "effect_low", "means",
                     "slopes"):  # fmt: skip
            one, other = getattr(found, name), getattr(plain, name)
            assert np.array_equal(one, other, equal_nan=True), name
        assert found.words == plain.words


@pytest.mark.parametrize("text", ["group * age + sex", "group + center(age) * sex + C(site)"])
def test_coefficients_contrasts_and_errors_are_those_of_statsmodels(text):
    found = ask(f"~ {text}", "group[T.b] - group[T.c]")
    for k in range(2):
        fit = smf.ols(f"y ~ {text}", TABLE.assign(y=LAM[:, k])).fit(cov_type="HC2")
        names = list(found.coefficients.names)
        assert np.allclose(found.coefficients.values[:, k], fit.params[names], rtol=0, atol=1e-8)
        assert np.allclose(found.coefficients.errors[:, k], fit.bse[names], rtol=0, atol=1e-8)
        t = fit.t_test("group[T.b] - group[T.c] = 0")
        assert found.contrasts.values[0, k] == pytest.approx(t.effect.item(), abs=1e-8)
        assert found.contrasts.errors[0, k] == pytest.approx(t.sd.item(), abs=1e-8)
        for g, level in enumerate(found.levels):
            moved = fit.predict(TABLE.assign(group=level)).mean()
            assert found.means[g, k] == pytest.approx(moved, abs=1e-8)


def test_the_mean_of_a_group_has_the_error_and_the_interval_of_its_own_graphs():
    found = ask("~ group", confidence=0.9)
    for g, level in enumerate(found.levels):
        own = LAM[TABLE.group == level]
        error = own.std(axis=0, ddof=1) / np.sqrt(len(own))
        assert np.allclose(found.adjusted.errors[g], error)
        assert np.allclose(found.adjusted.high[g] - found.means[g], error * 1.7530503557)  # 15 df


def test_the_coding_of_a_term_does_not_matter():
    plain = ask("~ group * age", "age : group")
    for text, test in (("group * center(age)", "group:center(age)"),
                       ("C(group, contr.sum) * age", "C(group, contr.sum):age"),
                       ("0 + group + group:age",
                        ["group[a]:age - group[b]:age", {"group[b]:age": 2, "group[c]:age": -2}]),
                       ("group * age", np.eye(6)[[4, 5]])):  # fmt: skip
        found = ask(f"~ {text}", test)
        assert np.allclose(found.F, plain.F)
        assert np.array_equal(found.p_family, plain.p_family)
    assert ask("~ C(sex, contr.sum)").effect == pytest.approx(ask("~ sex").effect)


def test_an_interaction_with_time_is_tested_within_subjects_whatever_group_is_the_reference():
    found = [ask("~ arm * visit", "arm:visit", subjects=WHO, data=TABLE.assign(arm=arm))
             for arm in (TABLE.arm, TABLE.arm.map({"drug": "z", "none": "a"}))]  # fmt: skip
    assert {one.design for one in found} == {"within"}
    assert np.allclose(found[0].F, found[1].F)
    assert np.allclose(found[0].slopes, -found[1].slopes)
    dummies = smf.ols("y ~ C(who) + visit + arm:visit", TABLE.assign(y=LAM[:, 0], who=WHO)).fit()
    assert found[0].slopes[0] == pytest.approx(dummies.params["arm[T.none]:visit"], abs=1e-8)
    between = ask("~ arm + visit", "arm", subjects=WHO)
    assert (between.design, between.n_units, between.counts) == ("between", 12, (6, 6))


def test_rows_without_a_value_are_left_out_and_pandas_order_of_levels_is_kept():
    levels = pd.Categorical(TABLE.group, categories=["c", "a", "b"])
    found = ask("~ group + hole", "group", TABLE.assign(group=levels))
    assert found.levels == ("c", "a", "b")
    assert found.notes[0] == "12 of 48 graphs are left out: 12 without hole"
    assert "only one graph in odd b" in " ".join(
        ask("~ odd + age", "odd", TABLE.assign(odd=["a"] * 47 + ["b"])).notes
    )


@pytest.mark.parametrize(
    ("text", "test", "said"),
    [
        ("~ age + months + sex", "age", r"determined by months \(months = 12 age \+ 3\)"),
        ("~ sex + copy", "sex", r"determined by copy \(copy\[T.Y\] = sex\[T.m\]\)"),
        ("~ ids + sex", "sex", r"48 graphs are too few for 49 coefficients \(47 of ids"),
        ("~ group + age", "weight", "'weight' is neither a term nor a contrast .* are: group, age"),
        ("~ group + age", "grupp", "did you mean 'group'"),
        ("~ group + agee", "group", "'agee', which is no column .* did you mean 'age'"),
        ("~ group +* age", "group", "cannot be read"),
        ("~ np.log(age - 99)", None, "not finite for graph 1"),
        ("je1 ~ group", None, r"left side \(je1\)"),
        ("~ group | age", None, "several parts"),
        ("~ 1", None, "names no column"),
        ("~ group + age", None, r"say by --test \(test= in Python\) which term .* group, age"),
        ("~ group + one", "group", "'one' has only one level, 'x'"),
        ("~ 0 + group", "group", "no intercept beside what is tested"),
        ("~ 0 + age", "age", "no intercept"),
        ("~ group", "group[T.b] = 3", "one contrast that is tested against zero"),
        ("~ group", [0, 1], r"one weight for each of 3 .*, got 2"),
        ("~ group", ["group", "group[T.b]"], "not independent"),
        ("~ group * C(site) * hole", "group:C(site):hole", "cannot be estimated: .* is 0 in all"),
    ],
)
def test_a_design_that_cannot_be_names_its_columns(text, test, said):
    data = TABLE.assign(hole=np.where((TABLE.group == "b") & (TABLE.site == 2), "u", TABLE.hole))
    with pytest.raises(InputError, match=said):
        ask(text, test, data)


def test_what_is_collinear_and_not_tested_is_a_note():
    assert "of no use to the model: months = 12 age + 3" in ask("~ sex + age + months", "sex").notes
    assert "group is also part of group:age" in ask("~ group * age", "group").notes[0]
    with pytest.raises(InputError, match="terms of the formula"):
        ask("~ group", covariates={"age": TABLE.age})
