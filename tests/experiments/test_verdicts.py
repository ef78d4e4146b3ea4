"""Verdicts follow from the numbers: made-up results, and what must be said of them."""

import numpy as np
import pytest

from experiments import figure2, figure5, misaligned, section52, table1

SIZES = [16, 32, 64, 128, 256]


def bias_of(last, before):
    """Errors (repetitions, sizes, 3) that end as given for h_2 and h_3."""
    values = np.full((20, len(SIZES), 3), 0.5)
    values[:, -3, 1:], values[:, -1, 1:] = before, last
    return values + 1e-4 * np.random.default_rng(0).standard_normal(values.shape)


@pytest.mark.parametrize(
    ("last", "before", "verdict"),
    [
        ((0.10, 0.20), (0.10, 0.20), "reproduced"),  # a plateau where the paper has one
        ((0.03, 0.07), (0.06, 0.14), "better"),  # falling, and below it
        ((0.30, 0.60), (0.60, 1.20), "differs"),  # falling, not there yet
    ],
)
def test_a_plateau_is_judged_by_whether_errors_still_fall(last, before, verdict):
    bias = bias_of(last, before)
    found = figure2._findings("observed", SIZES, bias, np.ones((20, 4, 3)), bias)
    assert found[1].verdict == verdict
    assert found[0].verdict == "differs"  # differences that never fall do not converge


def test_falling_differences_converge():
    change = np.linspace(1.0, 0.1, 4)[None, :, None] * np.ones((20, 1, 3))
    found = figure2._findings(
        "observed", SIZES, bias_of((1, 1), (1, 1)), change, np.ones((20, 5, 3))
    )
    assert found[0].verdict == "reproduced"


def accuracies(**at_last):
    sizes = [4, 10, 15, 20, 60, 200]
    values = {name: np.full((30, 6), 0.7) for name in [*section52.METHODS, *section52.LATER]}
    values["JE"] = np.full((30, 6), 0.95)
    for name, value in at_last.items():
        values[name] = values[name].copy()
        values[name][:, -1] = value
    return sizes, values


def test_figure5_asks_for_every_m_above_ten():
    sizes, values = accuracies()
    assert figure5._findings("observed", values, sizes)[0].verdict == "reproduced"
    values["GS"] = values["GS"].copy()
    values["GS"][:, 2] = 0.96  # ahead at m = 15 alone
    found = figure5._findings("observed", values, sizes)[0]
    assert found.verdict == "differs"
    assert "m = 15" in found.reason


def test_figure5_says_who_rises():
    sizes, values = accuracies(PCA=0.95)
    assert figure5._findings("observed", values, sizes)[1].verdict == "reproduced"
    sizes, values = accuracies(ASE=0.9)
    found = figure5._findings("observed", values, sizes)[1]
    assert found.verdict == "differs"
    assert found.reason.startswith("ASE")


def starts(worse):
    rng = np.random.default_rng(1)
    truth = rng.normal(1400.0, 10.0, 40)
    made = {}
    for name in table1.section51.STARTS:
        more = worse * rng.random(40) if "random" in name else np.zeros(40)
        times = 10.0 if name == "best of 10 random" else 1.0
        made[name] = {
            "objective": truth + more, "training": truth, "seconds": np.full(40, times),
        }  # fmt: skip
    return made


def test_wilcoxon_is_asked_in_the_right_direction():
    assert [f.verdict for f in table1._findings("observed", starts(5.0))][:2] == ["reproduced"] * 2
    assert [f.verdict for f in table1._findings("observed", starts(-5.0))][:2] == ["differs"] * 2
    assert [f.verdict for f in table1._findings("observed", starts(0.0))][:2] == ["differs"] * 2
    assert table1._findings("observed", starts(5.0))[2].verdict == "reproduced"  # ten times as long


@pytest.mark.parametrize(("spread", "verdict"), [(0.1, "reproduced"), (0.7, "differs")])
def test_loadings_are_judged_beside_their_spread(spread, verdict):
    names = misaligned.Row.__dataclass_fields__
    values = {name: np.full(5, 0.1) for name in names} | {"over_spread": np.full(5, spread)}
    assert misaligned._findings("auto", values)[1].verdict == verdict
