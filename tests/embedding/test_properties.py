"""What must hold for every stack, with both solvers; what Hypothesis draws is in properties/."""

import numpy as np
import pytest
from known_graphs import column_errors, random_symmetric, section_5_1

from eigengraphs import JointEmbedding


def fit(A, d, **options):
    return JointEmbedding(d, random_state=0, **options).fit(A)


@pytest.mark.parametrize("options", [{}, {"center": True}, {"init": "random", "n_init": 3}])
def test_the_first_components_of_a_longer_fit_are_the_shorter_fit(options):
    stack = section_5_1(64, 1, loops=False).stack
    five, three = fit(stack, 5, **options), fit(stack, 3, **options)
    assert np.array_equal(five.latent_positions_[:, :3], three.latent_positions_)
    shorter = five.truncate(3)
    assert np.abs(shorter.loadings_ - three.loadings_).max() < 1e-8
    assert np.allclose(shorter.objective_path_, three.objective_path_, rtol=1e-10)
    assert shorter.n_components == 3
    assert five.loadings_.shape == (64, 5)  # truncate makes a new fit and leaves the old one
    longer = three.extend(5)
    assert np.array_equal(longer.latent_positions_[:, :3], three.latent_positions_)
    assert column_errors(longer.latent_positions_, five.latent_positions_).max() < 1e-5
    assert np.abs(longer.loadings_ - five.loadings_).max() < 1e-4
    again = five.truncate(2).extend(5)
    assert column_errors(again.latent_positions_, five.latent_positions_).max() < 1e-5


def test_more_starts_never_explain_less():
    for seed in range(5):
        A = random_symmetric(10, 25, seed=seed)
        one = fit(A, 1, init="random")
        ten = fit(A, 1, init="random", n_init=10)
        assert ten.objective_path_[-1] <= one.objective_path_[-1] * (1 + 1e-12)
