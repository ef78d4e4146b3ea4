"""What holds of every fit, to whatever graphs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from property_stacks import noisy

from eigengraphs.solvers.solution import column_signs, with_signs

pytestmark = [
    pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@given(noisy())
def test_positions_have_unit_norm_and_settled_signs(case):
    je = case.fit()
    H = je.latent_positions_
    assert np.abs(np.linalg.norm(H, axis=0) - 1).max() < 1e-12
    if not case.settings.get("directed"):
        assert np.array_equal(with_signs(H), H)
        size = np.abs(H)
        # Of entries that are the same to a millionth the first counts.
        first = (size >= (1 - 1e-6) * size.max(axis=0)).argmax(axis=0)
        assert (H[first, range(2)] > 0).all()
        return
    G = je.latent_positions_right_
    assert np.abs(np.linalg.norm(G, axis=0) - 1).max() < 1e-12
    assert (column_signs(H) == 1).all()


values = st.floats(-1, 1) | st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.0, -1.0])
columns = arrays(np.float64, (4, 3), elements=values)


@given(columns)
def test_settling_signs_again_changes_nothing(H):
    once = with_signs(H)
    assert np.array_equal(with_signs(once), once)
    assert np.array_equal(with_signs(-H), once)
    assert np.array_equal(np.abs(once), np.abs(H))


def left(case, je, Lam):
    """Return the squared residuals, written out, over the entries that the loss counts."""
    A = case.A - np.nanmean(case.A, axis=0) if case.settings.get("center") else case.A
    H = je.latent_positions_
    G = getattr(je, "latent_positions_right_", H)
    R = A - np.einsum("sk,ik,tk->ist", H, Lam, G)
    if je.diagonal_ != "observed":
        R[:, range(R.shape[1]), range(R.shape[1])] = 0.0
    return np.nansum(R**2)


@given(noisy())
def test_the_objective_never_rises_and_is_what_the_loadings_leave(case):
    je = case.fit(d=3)
    path = je.objective_path_
    assert path.shape == (4,)
    assert np.isfinite(je.loadings_).all()
    assert (np.diff(path) <= 1e-9 * path[0]).all()
    Lam = je.loadings_
    if case.name == "shared":
        Lam = np.tile(je.shared_loadings_, (len(Lam), 1))
    elif case.name == "classes":
        Lam = je.class_loadings_[case.y]
    near = 1e-8 * max(path[0], 1e-12)
    assert path[0] == pytest.approx(left(case, je, np.zeros_like(Lam)), abs=near)
    assert path[-1] == pytest.approx(left(case, je, Lam), abs=near)
    if path[0] > 0:
        assert je.explained_ratio_ == pytest.approx(-np.diff(path) / path[0], abs=1e-12)


@given(noisy())
def test_transform_of_the_training_graphs_gives_their_loadings(case):
    je = case.fit()
    size = np.sqrt(np.nansum(case.A**2, axis=(1, 2))).max()
    # Nearly dependent components, as two of three vertices may have without their diagonals, make
    # of a rounding in h^T A h one in the loadings that is the condition of Gamma times as large.
    near = max(1e-8, 4 * np.finfo(float).eps * je.gamma_condition_)
    assert np.abs(je.transform(case.A) - je.loadings_).max() <= near * max(size, 1)
    if case.name not in ("shared", "classes"):
        assert je.score(case.A) == pytest.approx(je.explained_ratio_.sum(), abs=1e-9)
    shares = je.residuals(case.A)
    assert ((shares >= 0) & (shares <= 1 + 1e-9)).all()
