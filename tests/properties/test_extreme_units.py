"""Weights whose squares no number can hold: everything that a fit tells stays finite."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs import GraphStack, JointEmbedding, select_dimension
from eigengraphs.embedding import FitView
from eigengraphs.report.worst_fits import graph_fits

FACTORS = [2.0**515, 2.0**-515, 2.0**700, 2.0**-700]  # 1e155, 1e-155, 1e210, 1e-210


@pytest.fixture(scope="module")
def A():
    return random_symmetric(6, 8, seed=1)


def fit(A, **settings):
    return JointEmbedding(2, random_state=0, **settings).fit(A, np.arange(6) % 2)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.filterwarnings("ignore:refined components became nearly collinear")
@pytest.mark.parametrize("settings", [{}, {"loadings": "class"}, {"refine": True}], ids=str)
def test_the_objective_is_told_in_a_unit_of_its_own(A, factor, settings):
    one, other = fit(A, **settings), fit(factor * A, **settings)
    assert one.objective_scale_ == 1.0
    unit = other.objective_scale_ / factor
    assert other.objective_path_ * unit * unit == pytest.approx(one.objective_path_, rel=1e-12)
    assert np.array_equal(one.explained_ratio_, other.explained_ratio_)
    assert other.truncate(2).objective_scale_ == other.objective_scale_
    if settings.get("refine"):
        assert other.refinement_.gain == pytest.approx(one.refinement_.gain, rel=1e-12)
        assert other.refinement_.objective_refined == other.objective_path_[-1]


@pytest.mark.parametrize("factor", FACTORS)
def test_models_summaries_and_reports_of_such_graphs(A, factor):
    one, other = fit(A), fit(factor * A)
    expected = one.to_mreg("gaussian").noise_scale
    assert other.to_mreg("gaussian").noise_scale / factor == pytest.approx(expected)
    assert "inf" not in other._repr_html_()
    assert "nan" not in other._repr_html_()
    fits = [graph_fits(FitView.of(je), GraphStack(B)) for je, B in ((one, A), (other, factor * A))]
    assert fits[0].residual_with_mean == pytest.approx(fits[1].residual_with_mean, rel=1e-12)
    assert fits[0].explained == pytest.approx(fits[1].explained, abs=1e-12)
    assert select_dimension(factor * A, random_state=0).n_components == (
        select_dimension(A, random_state=0).n_components
    )


@pytest.mark.parametrize("factor", FACTORS)
def test_batches_of_such_graphs(A, factor):
    one, other = (JointEmbedding(2, random_state=0) for _ in range(2))
    for first in (0, 3):
        one.partial_fit(A[first : first + 3])
        other.partial_fit(factor * A[first : first + 3])
    assert np.array_equal(one.latent_positions_, other.latent_positions_)
    assert np.array_equal(factor * one.transform(A), other.transform(factor * A))
    assert np.isfinite(other.objective_path_).all()
    assert (other.objective_path_ > 0).all()


@pytest.mark.parametrize("weight", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loadings": "nonnegative"},
        {"loadings": "sparse", "max_nonzeros": 1},
        {"directed": True},
    ],
    ids=str,
)
def test_weights_of_graphs_of_any_size(A, weight, settings):
    shares = np.array([1.0, 2, 1, 1, 0.5, 1])
    one, other = (
        JointEmbedding(2, random_state=0, **settings).fit(A, sample_weight=unit * shares)
        for unit in (1.0, weight)
    )
    assert np.abs(one.latent_positions_ - other.latent_positions_).max() < 1e-6
    assert np.allclose(one.loadings_, other.loadings_, atol=1e-6)
    told = np.log(other.objective_path_) + np.log(other.objective_scale_**2)
    assert told == pytest.approx(np.log(one.objective_path_) + np.log(weight))
    if not settings:
        assert np.abs(one.latent_positions_ - other.latent_positions_).max() < 1e-12
        expected = one.to_mreg("gaussian").noise_scale
        assert other.to_mreg("gaussian").noise_scale == pytest.approx(expected)
