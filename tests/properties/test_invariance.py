"""What must not change a fit: order, unit, storage, precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_graphs import column_errors
from property_stacks import SETTINGS, noisy, planted

from eigengraphs import GraphStack, open_store
from eigengraphs.store import write_store

pytestmark = [
    pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
# Two searches that take different ways stop this far from one another, each within its tol.
SAME = 1e-5
ONE_ANSWER = tuple(name for name in SETTINGS if name not in ("nonnegative", "sparse", "shared"))
# The others differ from these in what is done with forms that have been read.
READS = (
    "plain", "centered", "filled", "no diagonal", "directed", "directed and centered", "shared",
    "classes", "algorithm 1",
)  # fmt: skip
QUICK = tuple(name for name in SETTINGS if name not in ("nonnegative", "sparse"))


def apart(one, other, *, rows=slice(None)):
    """Return how far positions are apart, column by column up to sign."""
    sides = [x for x in ("latent_positions_", "latent_positions_right_") if hasattr(one, x)]
    mine = np.vstack([getattr(one, side)[rows] for side in sides])
    return column_errors(mine, np.vstack([getattr(other, side) for side in sides])).max()


def largest(A):
    return np.sqrt(np.nansum(A**2, axis=(1, 2))).max()


@given(planted(ONE_ANSWER), st.integers(0, 2**20))
def test_another_order_of_vertices_and_graphs_gives_the_same_fit(case, seed):
    rng = np.random.default_rng(seed)
    places, order = rng.permutation(case.A.shape[1]), rng.permutation(len(case.A))
    one = case.fit()
    for other, rows, graphs in (
        (case.fit(case.A[:, places][:, :, places]), places, slice(None)),
        (case._replace(y=case.y[order]).fit(case.A[order]), slice(None), order),
    ):
        assert apart(one, other, rows=rows) < SAME
        assert np.abs(one.loadings_[graphs] - other.loadings_).max() < SAME * largest(case.A)
        assert one.explained_ratio_ == pytest.approx(other.explained_ratio_, abs=SAME)


@given(noisy(QUICK), st.integers(-498, 498))
def test_a_power_of_two_changes_the_unit_and_no_digit(case, exponent):
    factor = 2.0**exponent  # 1e-150 to 1e150
    one, other = case.fit(), case.fit(factor * case.A)
    assert np.array_equal(one.latent_positions_, other.latent_positions_)
    assert np.array_equal(factor * one.loadings_, other.loadings_)
    assert np.array_equal(factor * one.transform(case.A), other.transform(factor * case.A))
    # Norms of very large and very small weights are summed in another way, to the last digit.
    assert one.explained_ratio_ == pytest.approx(other.explained_ratio_, abs=1e-14)
    assert one.residuals(case.A) == pytest.approx(other.residuals(factor * case.A), abs=1e-14)
    assert one.score(case.A) == pytest.approx(other.score(factor * case.A), abs=1e-14)
    _require_told_objective(one, other, factor)


@given(planted(QUICK), st.floats(-150, 150), st.sampled_from(["dense", "sparse"]))
def test_any_unit_from_1e_150_to_1e150_gives_the_same_fit(case, exponent, storage):
    factor = 10.0**exponent
    missing = case.settings.get("missing", "error")
    scaled = GraphStack(factor * case.A, storage=storage, missing=missing)
    one, other = case.fit(), case.fit(scaled)
    assert apart(one, other) < SAME
    size = largest(case.A)
    for a, b in (
        (one.loadings_, other.loadings_),
        (one.transform(case.A), other.transform(scaled)),
        (one.inverse_transform(one.loadings_), other.inverse_transform(other.loadings_)),
    ):
        assert np.isfinite(b).all()
        assert np.abs(a - b / factor).max() < SAME * size
    assert one.explained_ratio_ == pytest.approx(other.explained_ratio_, abs=SAME)
    assert one.score(case.A) == pytest.approx(other.score(scaled), abs=SAME)
    assert one.residuals(case.A) == pytest.approx(other.residuals(scaled), abs=SAME)
    assert one.stop_reason_ == other.stop_reason_ or other.converged_
    _require_told_objective(one, other, factor)


def _require_told_objective(one, other, factor):
    path = other.objective_path_
    assert np.isfinite(path).all()
    assert other.objective_scale_ > 0
    # In logarithms: the objective itself may lie beyond what a number can be.
    expected = np.log(one.objective_path_[0]) + 2 * np.log(factor)
    assert np.log(path[0]) + 2 * np.log(other.objective_scale_) == pytest.approx(expected)


@given(case=planted(READS))
def test_dense_sparse_and_stored_graphs_give_the_same_fit(case, tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "graphs.egs"  # every example has its own
    dense = GraphStack(case.A, storage="dense")
    directed = bool(case.settings.get("directed"))
    write_store(path, [dense[:2], dense[2:]], directed=directed)
    one = case.fit(dense)
    for graphs in (GraphStack(case.A, storage="sparse"), open_store(path)):
        other = case.fit(graphs)
        assert apart(one, other) < SAME
        assert np.abs(one.loadings_ - other.loadings_).max() < SAME * largest(case.A)
        assert one.objective_path_ == pytest.approx(other.objective_path_, abs=SAME)
        loadings = one.transform(graphs)
        assert np.abs(one.transform(case.A) - loadings).max() < 1e-12 * largest(case.A)


@given(planted(QUICK))
def test_float32_graphs_differ_by_their_rounding_alone(case):
    small = case.A.astype(np.float32)
    one, other = case.fit(small.astype(np.float64)), case.fit(small)
    assert other.loadings_.dtype == other.latent_positions_.dtype == np.float32
    # tol="auto" is 1e-5 for float32: the search ends where the gradient is 1e-5 of the eigenvalue,
    # and the second component's is a sixteenth of the first's.
    assert apart(one, other) < 1e-3
    assert np.abs(one.loadings_ - other.loadings_).max() < 1e-4 * largest(case.A)
    assert one.explained_ratio_ == pytest.approx(other.explained_ratio_, abs=1e-4)
