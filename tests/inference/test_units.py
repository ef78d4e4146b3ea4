"""Findings do not depend on the unit of weights, loadings, quantities or covariates."""

import numpy as np
import pytest
from tests.inference.calibrate_changes import autoregression
from tests.inference.test_evaluate import planted

import eigengraphs as eg
from eigengraphs import inference

RNG = np.random.default_rng(8)
LAM, AGE, PLACE = RNG.normal(size=(20, 3)), RNG.normal(size=20), np.arange(20)
SERIES, SHARE = autoregression(RNG, 50, [0.3, 0.0]), RNG.lognormal(-1, 0.1, 50)
SERIES[30:] += 4.0
SERIES[9] = 30.0
CLOUDS = np.concatenate([RNG.normal(size=(20, 2)), RNG.normal(8, 1, size=(10, 2))])
GRAPHS = planted()[0]


def compared(unit, group, who=None):
    plain = unit == 1.0
    scale, by = (np.ones(3), 1.0) if plain else (np.array([unit, -1e-9, 1e3]), unit)
    found = inference.compare(
        LAM * scale, group * by if group.dtype == float else group, subjects=who,
        covariates={"age": AGE if plain else (AGE + 50) * 1e200}, n_permutations=200,
        n_bootstrap=50, random_state=0,
    )  # fmt: skip
    effect = found.effect * (1.0 if len(found.levels) == 3 else np.sign(scale))
    p = found.p_values, found.p_fdr, found.p_family, found.joint_p
    return *p, effect, found.means / scale, found.slopes * by / scale


def changed(unit):
    found = inference.change_points(SERIES * unit, n_permutations=99, random_state=0)
    odd = inference.anomalies(
        SERIES * unit, SHARE, segments=found.segments, n_simulations=99, random_state=0
    )
    assert (found.places, odd.found) == ((30,), (9,))
    return found.p_value, found.levels / unit, odd.p_fdr, odd.p_distances


def clustered(unit, method, standardize):
    found = inference.cluster_graphs(CLOUDS * unit, most=3, method=method, standardize=standardize)
    return found.n_clusters, found.labels


def evaluated(unit):
    y, je = GRAPHS[:, 0, 1] * unit, eg.JointEmbedding(2, random_state=0)
    found = inference.evaluate(GRAPHS * unit, y, methods=[], cv=2, embedding=je)
    return tuple((score.score, score.low, score.high) for score in found.scores)


def with_intervals(unit, cross_fit):
    je = eg.JointEmbedding(1, random_state=0).fit(GRAPHS[:8] * unit)
    found = inference.loading_intervals(
        je, GRAPHS[:8] * unit, n_folds=2, n_splits=1, cross_fit=cross_fit
    )
    return found.low / unit, found.high / unit, found.standard_errors / unit


def adjusted(unit):
    step = inference.CovariateAdjustment()
    return (step.fit_transform(LAM, covariates={"age": AGE * unit}),)


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.WeakPositionsWarning")
@pytest.mark.parametrize("unit", [1e160, 1e-200])
@pytest.mark.parametrize(
    ("find", "given"),
    [
        (compared, (PLACE % 2,)), (compared, (np.array(list("abc"))[PLACE % 3],)),
        (compared, (AGE**2,)), (compared, (PLACE % 2, PLACE // 4)), (changed, ()),
        (evaluated, ()), (adjusted, ()), (with_intervals, (True,)), (with_intervals, (False,)),
        *((clustered, (how, x)) for how in ("mixture", "kmeans") for x in (True, False)),
    ],
)  # fmt: skip
def test_units_do_not_matter(find, given, unit):
    one, other = find(1.0, *given), find(unit, *given)
    assert all(
        np.allclose(a, b, rtol=1e-6, equal_nan=True) for a, b in zip(one, other, strict=True)
    )
