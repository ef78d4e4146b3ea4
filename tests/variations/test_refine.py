"""refine=True in the estimator."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg

from eigengraphs import JointEmbedding
from eigengraphs.errors import DegenerateWarning, InputError


def overlapping(n=30, m=20, d=3, cosine=0.3, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    root = linalg.cholesky(np.full((d, d), cosine) + (1 - cosine) * np.eye(d), lower=True)
    H = linalg.qr(rng.standard_normal((n, d)), mode="economic")[0] @ root.T
    A = np.einsum("sk,ik,tk->ist", H, rng.uniform(1, 3, (m, d)), H)
    return A + noise * random_symmetric(m, n, seed), H


@pytest.mark.parametrize("directed", [False, True])
def test_overlapping_components_are_recovered_where_greedy_ones_are_not(directed):
    (A, H), (_, G) = overlapping(seed=0), overlapping(seed=1)
    if directed:
        A = np.einsum("sk,ik,tk->ist", H, np.random.default_rng(2).uniform(1, 3, (20, 3)), G)
    settings = {"directed": directed, "diagonal": "observed", "random_state": 0}
    greedy = JointEmbedding(3, **settings).fit(A)
    refined = JointEmbedding(3, refine=True, **settings).fit(A)

    def sides(je):
        found = [je.latent_positions_] + ([je.latent_positions_right_] if directed else [])
        return [X / linalg.norm(X, axis=0) for X in found]

    def least(je):
        cosines = [np.abs(truth.T @ X) for truth, X in zip((H, G), sides(je), strict=False)]
        return np.prod(cosines, axis=0).max(axis=1).min()

    assert least(greedy) < 0.95
    assert least(refined) > 1 - 1e-9
    report = refined.refinement_
    kept = (report.greedy_positions, report.greedy_positions_right)
    for mine, X in zip(kept, sides(greedy), strict=False):
        assert np.allclose(mine, X)
    assert report.objective_greedy == pytest.approx(greedy.objective_path_[-1], rel=1e-9)
    assert report.gain > 0.99
    assert np.allclose(refined.transform(A), refined.loadings_)


def test_graphs_without_a_best_fit_are_warned_of():
    a, b = np.eye(8)[:2]
    A = np.array([np.outer(a, b) + np.outer(b, a), np.outer(a, a)])
    A += 1e-3 * random_symmetric(2, 8, seed=0)
    with pytest.warns(DegenerateWarning, match="became nearly collinear"):
        je = JointEmbedding(2, refine=True, diagonal="observed", random_state=0).fit(A)
    assert je.refinement_.bound_met
    assert np.isfinite(je.loadings_).all()


def test_refined_components_extend_and_do_not_truncate():
    A, _ = overlapping(noise=0.05)
    je = JointEmbedding(2, diagonal="observed", refine=True, random_state=0).fit(A)
    longer = je.extend(3)
    direct = JointEmbedding(3, diagonal="observed", refine=True, random_state=0).fit(A)
    assert np.allclose(longer.latent_positions_, direct.latent_positions_, atol=1e-5)
    with pytest.raises(InputError, match="do not nest"):
        longer.truncate(2)


def test_nothing_is_left_of_an_older_fit():
    A, y = random_symmetric(6, 8, seed=0), [0, 1, 2] * 2
    je = JointEmbedding(2, random_state=0)
    for settings in ({"loadings": "class"}, {"loadings": "shared"}, {"loadings": "nonnegative"},
                     {"loadings": "free", "directed": True}, {"directed": False}):  # fmt: skip
        je.set_params(**settings).fit(A, y)
    optional = {"class_loadings_", "classes_", "cluster_", "shared_loadings_", "refinement_",
                "latent_positions_right_"}  # fmt: skip
    assert not optional & set(vars(je))


def test_transform_replays_what_was_fitted_and_not_what_was_set_since():
    A = np.abs(random_symmetric(6, 8, seed=0))
    je = JointEmbedding(2, preprocess="log1p", random_state=0).fit(A)
    expected = je.transform(A)
    je.set_params(preprocess=None, directed=True)
    assert np.array_equal(je.transform(A), expected)
