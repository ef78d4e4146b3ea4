"""Slopes over time within people: known models, singular ones, and what is refused."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from statsmodels.regression.mixed_linear_model import MixedLM

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import trajectories

RNG = np.random.default_rng(4)
WHO, VISIT = np.repeat(np.arange(60), 4), np.tile(np.arange(4.0), 60)
ARM, FIRST = np.array(["drug", "none"])[WHO % 2], np.repeat(RNG.uniform(20, 60, 60), 4)


def drawn(slopes, sds, noise=0.5):
    """Return loadings (m, 1): slopes of arms, and sds of people's intercepts and slopes."""
    u = RNG.normal(size=(60, 2)) * sds
    y = u[WHO, 0] + (u[WHO, 1] + np.array(slopes)[WHO % 2]) * VISIT
    return (y + noise * RNG.normal(size=len(WHO)))[:, None]


def test_slopes_differences_and_slopes_of_people_are_recovered():
    Lam = np.hstack([drawn((0.2, 1.0), (1, 0.4)), drawn((0.3, 0.3), (1, 0.4))])
    found = trajectories(Lam, VISIT, WHO, ARM, name="visit", group_name="arm")
    assert found.slopes.names == ("drug", "none", "none - drug")
    assert (found.random[0], found.counts, found.df) == ("intercept and slope", (30, 30), 58)
    truth = np.array([[0.2, 0.3], [1.0, 0.3], [0.8, 0.0]])
    assert (np.abs(found.slopes.values - truth) < 3.5 * found.slopes.errors).all()
    # The variance of a mean slope of 30 people: that of slopes, and of errors around 4 visits.
    assert found.slopes.errors[0] == pytest.approx(np.sqrt((0.16 + 0.25 / 5) / 30), rel=0.25)
    assert found.significant() == ("je1",)
    assert "je1 changes with visit differently in groups of arm" in found.words[0]
    own = [np.polyfit(VISIT[:4], Lam[i == WHO, 0], 1)[0] for i in range(60)]
    assert np.corrcoef(own, found.person_slopes[:, 0])[0, 1] > 0.95
    assert np.var(found.person_slopes[:, 0]) < np.var(own)  # drawn towards the mean of the group


def test_estimates_and_errors_are_those_of_statsmodels():
    y = drawn((0.2, 0.5), (1, 0.5))
    found = trajectories(y, VISIT, WHO)
    X = np.column_stack([np.ones(240), VISIT - 1.5])
    fit = MixedLM(y[:, 0], X, WHO, X).fit(reml=True)
    assert found.slopes.values[0, 0] == pytest.approx(fit.fe_params[1], abs=1e-4)
    assert found.slopes.errors[0, 0] == pytest.approx(fit.bse_fe[1], rel=0.02)


@pytest.mark.parametrize(("sds", "random"), [((2, 0), "intercept"), ((0, 2), "slope"),
                                             ((0, 0), "none")])  # fmt: skip
def test_a_singular_model_falls_back_and_says_so(sds, random):
    y = drawn((0, 0), sds)[:, 0]
    within = VISIT - 1.5
    for i in range(60):  # take away all that is told of intercepts or slopes
        mine = i == WHO
        if sds[0] == 0:
            y[mine] -= y[mine].mean()
        if sds[1] == 0:
            y[mine] -= within[mine] * (within[mine] @ y[mine]) / (within[mine] @ within[mine])
    found = trajectories(y, VISIT, WHO)
    assert found.random == (random,)
    assert any(
        note.startswith(f"random effects of participants: {random} in je1") for note in found.notes
    )
    assert np.isfinite(found.slopes.errors).all()


def test_differences_between_people_of_other_ages_are_no_slopes():
    y = drawn((0, 0), (0.5, 0.1)) + 0.3 * FIRST[:, None]
    found = trajectories(y, FIRST + VISIT, WHO, covariates={"site": WHO % 3 // 2, "twice": WHO % 3})
    assert abs(found.slopes.values[0, 0]) < 0.15
    held = trajectories(y, FIRST + VISIT, WHO, covariates={"a": WHO % 5, "b": 2 * (WHO % 5)})
    assert "covariates: b" in held.notes[0]
    times, means, low, high = found.line(0)
    assert times[0, -1] - times[0, 0] == pytest.approx(3.0)  # as long as people were followed
    assert ((low < means) & (means < high)).all()


def test_three_groups_have_a_test_of_equal_slopes_and_missing_rows_are_left_out():
    y = drawn((0, 0), (1, 0.3)) + 1.0 * (WHO % 3 == 2)[:, None] * VISIT[:, None]
    time = np.where(np.arange(240) == 7, np.nan, VISIT)
    found = trajectories(1e150 * y, time, WHO, np.array(list("abc"))[WHO % 3], name="visit")
    assert found.slopes.names[-1] == "all slopes are equal"
    assert found.p_values[-1, 0] < 1e-6
    assert found.notes[0] == "1 of 240 graphs are left out: 1 without visit"
    assert found.slopes.values[2, 0] == pytest.approx(1e150, rel=0.3)
    axes = eg.plot.trajectories(found, ax=Figure().subplots())
    assert len(axes.get_lines()) == 63
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"group": np.array(["x", "y"])[VISIT.astype(int) % 2]}, "differs between graphs of one"),
        ({"subjects": np.arange(240)}, "0 participants with graphs at several values of 'time'"),
        ({"group": np.where(WHO < 1, "x", "y")}, "1 participant of 'x' with graphs at several"),
        ({"time": ["2020-01-01"] * 240}, "needs numbers"),
        ({"loadings": VISIT[:, None]}, "on lines exactly"),
    ],
)
def test_what_cannot_be_done_says_why(given, said):
    usual = {"loadings": drawn((0, 0), (1, 0.3)), "time": VISIT, "subjects": WHO}
    with pytest.raises(InputError, match=said):
        trajectories(**(usual | given))
