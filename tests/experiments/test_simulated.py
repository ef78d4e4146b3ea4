"""Experiments on drawn graphs: what steps measure is what they say, and verdicts follow from it."""

import numpy as np
import pytest
from experiments.figure1_nesting import DRAWS, GAPS
from experiments.refined import cases, compare
from experiments.section_5_2_classification import LATER, METHODS

import eigengraphs as eg
from experiments import figure1_nesting as nesting
from experiments import misaligned, theorems
from experiments import section_5_1_recovery as recovery
from experiments import section_5_2_classification as classification

# ------------------------------------------------------------------------------- Figure 1


def test_a_wrong_conversion_would_be_seen(monkeypatch):
    monkeypatch.setattr(
        eg.models.StochasticBlockModel, "to_ier", lambda m: eg.models.ErdosRenyi(m.n_vertices, 0.5)
    )
    monkeypatch.setattr(nesting, "ARROWS", (nesting.Arrow("SBM", "", "to_ier", lambda *_: False),))
    found = nesting.arrow(np.random.default_rng(0), which=0, draws=3)
    assert min(found["probability"]) > 0.01
    assert min(found["likelihood"]) > 0.01
    assert found["kept"] == 0


@pytest.mark.parametrize("which", range(len(GAPS)))
def test_the_least_distance_is_zero_for_members_of_the_target_and_below_any_of_them(which):
    # Members: what the target's own draws give. Distances to them from the source are above it.
    rng = np.random.default_rng(which)
    gap = GAPS[which]
    members = {
        "ER": lambda n: np.full((n, n), rng.uniform()),
        "RDPG": lambda n: _dot_products(rng, n),
        "SBM, fewer than n blocks": lambda n: _blocks(rng, n),
        "MREG, d < n / 2": lambda n: _low_rank(rng, n),
    }[gap.target]
    for _ in range(20):
        assert gap.least(members(24)) < 1e-12
        P = DRAWS[gap.source](rng).edge_probabilities()
        nearest = np.abs(P - members(len(P)))[np.triu_indices_from(P, 1)].max()
        assert gap.least(P) <= nearest
    found = nesting.gap(rng, which=which, draws=5)
    assert all(found["refused"])
    assert max(found["least"]) > 1e-4


def _dot_products(rng, n):
    X = rng.uniform(size=(n, 3))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    return X @ X.T


def _blocks(rng, n):
    labels = rng.permutation(np.append(np.arange(n - 1), 0))
    B = rng.uniform(size=(n - 1, n - 1))
    return ((B + B.T) / 2)[np.ix_(labels, labels)]


def _low_rank(rng, n):
    X = rng.uniform(size=(n, n // 2 - 1))
    P = X @ X.T
    return P / P.max()


def test_an_indefinite_block_model_may_be_a_dot_product_graph_once_its_diagonal_is_free():
    # n = 2: vectors at an angle with cosine 0.5, whatever the (zero) diagonal of P says.
    small, large = (nesting.freed(np.random.default_rng(0), size=size, draws=20)
                    for size in (2, 30))  # fmt: skip
    assert small["count"] > large["count"]
    assert small["error"] < 1e-12


@pytest.mark.parametrize("K", [2, 3])
def test_a_family_of_block_models_needs_more_than_k_components(K):
    found = nesting.family(np.random.default_rng(K), K=K, repetition=0)
    full = K * (K + 1) // 2
    assert found["dimension"] == found["components"] == full
    assert max(found["exact"], found["planted"]) < 1e-14
    # No fit with K goes below the bound (which leaves the diagonal out, so compare loosely).
    assert found["least"] > 0.01
    assert found["fitted"][str(K)] > 0.5 * found["least"]
    assert found["fitted"][str(full)] < 1e-6 < found["last"]


# ------------------------------------------------------------------------------- section 5.1

SIZES = [16, 32, 64, 128, 256]


def bias_findings(last, before, change=1.0):
    """Judge errors (repetitions, sizes, 3) that end as given for h_2 and h_3."""
    bias = np.full((20, len(SIZES), 3), 0.5)
    bias[:, -3, 1:], bias[:, -1, 1:] = before, last
    bias += 1e-4 * np.random.default_rng(0).standard_normal(bias.shape)
    changes = np.broadcast_to(np.linspace(1.0, change, 4)[None, :, None], (20, 4, 3))
    values = {solver: {"bias": bias, "change": changes} for solver in recovery.SOLVERS}
    return recovery._bias_findings("observed", SIZES, values)


@pytest.mark.parametrize(
    ("last", "before", "verdict"),
    [
        ((0.10, 0.20), (0.10, 0.20), "reproduced"),  # a plateau where the paper has one
        ((0.03, 0.07), (0.06, 0.14), "better"),  # falling, and below it
        ((0.30, 0.60), (0.60, 1.20), "differs"),  # falling, not there yet
    ],
)
def test_a_plateau_is_judged_by_whether_errors_still_fall(last, before, verdict):
    found = bias_findings(last, before)
    assert found[1].verdict == verdict
    assert found[0].verdict == "differs"  # differences that never fall do not converge
    assert bias_findings(last, before, change=0.1)[0].verdict == "reproduced"


def starts(worse):
    rng = np.random.default_rng(1)
    truth = rng.normal(1400.0, 10.0, 40)
    made = {}
    for name in recovery.STARTS:
        more = worse * rng.random(40) if "random" in name else np.zeros(40)
        times = np.full(40, 10.0 if name == "best of 10 random" else 1.0)
        made[name] = {"objective": truth + more, "training": truth, "seconds": times}
    return [finding.verdict for finding in recovery._start_findings("observed", made)]


def test_wilcoxon_is_asked_in_the_right_direction():
    assert starts(5.0) == [*3 * ["reproduced"], "new"]  # the third: ten times as long
    assert starts(-5.0)[:2] == starts(0.0)[:2] == 2 * ["differs"]


# ------------------------------------------------------------------------------- section 5.2


def test_a_graph_is_no_neighbor_of_itself():
    D = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 4.0, 0.0]])
    assert classification.accuracy(D, np.array([1, 1, 2])) == pytest.approx(2 / 3)
    assert (np.diagonal(D) == 0).all()  # the caller's matrix is left as it was


@pytest.mark.parametrize("diagonal", ["observed", "filled"])
def test_joint_embedding_classifies_best_with_enough_graphs(diagonal):
    rng = np.random.default_rng(5)
    found = classification.classify(rng, repetition=0, diagonal=diagonal, sizes=[20, 100])
    assert set(found) == set(METHODS) | set(LATER)
    assert found["JE"][1] >= 0.97
    assert found["JE"][1] >= max(found[name][1] for name in METHODS)
    assert found["LE"][1] < 0.85


def test_the_design_is_the_papers():
    graphs, classes = classification.draw(400, np.random.default_rng(0), loops=False)
    for y, inside in ((1, 0.3), (2, 0.25)):
        mean = graphs.dense[classes == y].mean(axis=0)
        assert mean[:50, :50].sum() / (50 * 49) == pytest.approx(inside, abs=0.005)
        assert mean[:50, 50:].mean() == pytest.approx(0.2, abs=0.005)


def figure5_findings(**at):
    """Judge accuracies of 0.7, joint embedding's of 0.95, but for ``name=(size, accuracy)``."""
    sizes = [4, 10, 15, 20, 60, 200]
    values = {name: np.full((30, 6), 0.7) for name in [*METHODS, *LATER]}
    values["JE"][:] = 0.95
    for name, (m, value) in at.items():
        values[name][:, sizes.index(m)] = value
    return classification._findings("observed", values, sizes)


def test_figure5_asks_for_every_m_above_ten_and_says_who_rises():
    assert figure5_findings()[0].verdict == "reproduced"
    ahead = figure5_findings(GS=(15, 0.96))[0]
    assert (ahead.verdict, "m = 15" in ahead.reason) == ("differs", True)
    assert figure5_findings(PCA=(200, 0.95))[1].verdict == "reproduced"
    rises = figure5_findings(ASE=(200, 0.9))[1]
    assert (rises.verdict, rises.reason[:3]) == ("differs", "ASE")


# ------------------------------------------------------------------------------- theorems


def test_frequencies_of_another_distribution_are_told_apart():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    assert theorems._pvalue(np.array([400, 800, 1200, 1600]), p) > 0.99
    assert theorems._pvalue(np.array([1000, 1000, 1000, 1000]), p) < 1e-6
    assert theorems._pvalue(np.array([1, 2]), np.array([1.0, 0.0])) == 0


def test_a_slope_is_that_of_logarithms():
    m = [16, 32, 64]
    np.testing.assert_allclose(theorems.slopes(np.outer([1.0, 3.0], np.sqrt(m)) ** -1, m), -0.5)


# ------------------------------------------------------------------------------- the others


@pytest.mark.parametrize(("spread", "verdict"), [(0.1, "reproduced"), (0.7, "differs")])
def test_loadings_are_judged_beside_their_spread(spread, verdict):
    values = {name: np.full(5, 0.1) for name in misaligned.COLUMNS}
    values["over_spread"] = np.full(5, spread)
    assert misaligned._findings("auto", values)[1].verdict == verdict


def test_overlapping_components_need_refining_and_orthogonal_ones_do_not():
    by_name = {case.name: case for case in cases(quick=True, seed=3)}
    apart = compare(by_name["planted, cosines 0"])
    overlapping = compare(by_name["planted, cosines 0.3"])
    assert apart["gain"] < 0.01 < 0.05 < overlapping["gain"]
    assert overlapping["positions"][1] < 0.1 < 0.3 < overlapping["positions"][0]
