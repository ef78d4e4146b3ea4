"""Transforms of weights that belong to the model: learned on nothing, replayed on new graphs."""

import numpy as np
import pytest
from known_graphs import random_symmetric, stored

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import InputError


def counts(m=12, n=14, seed=0):
    rng = np.random.default_rng(seed)
    A = np.triu(np.floor(rng.lognormal(2, 2, (m, n, n))), 1)
    return A + A.transpose(0, 2, 1)


@pytest.mark.parametrize(
    "step", ["log1p", "rank", "unit_norm", "laplacian", ["log1p", "unit_norm"]]
)
def test_a_step_inside_equals_the_transform_outside(step, storage):
    A, new = stored(GraphStack(counts()), storage), stored(GraphStack(counts(4, seed=1)), storage)
    inside = JointEmbedding(2, preprocess=step, center=True, random_state=0).fit(A)

    def outside(stack):
        for name in [step] if isinstance(step, str) else step:
            stack = getattr(stack, name)()
        return stack

    by_hand = JointEmbedding(2, center=True, random_state=0).fit(outside(A))
    assert np.array_equal(inside.latent_positions_, by_hand.latent_positions_)
    assert np.allclose(inside.transform(new), by_hand.transform(outside(new)))
    assert inside.score(new) == pytest.approx(by_hand.score(outside(new)))
    assert np.allclose(inside.extend(3).loadings_, by_hand.extend(3).loadings_)


def test_correlations_by_fisher():
    rng = np.random.default_rng(0)
    A = np.array([np.corrcoef(rng.standard_normal((8, 50))) for _ in range(6)])
    je = JointEmbedding(2, preprocess="fisher_z", random_state=0).fit(A)
    z = A.copy()
    z[:, range(8), range(8)] = 0
    by_hand = JointEmbedding(2, random_state=0).fit(np.arctanh(z))
    assert np.allclose(je.loadings_, by_hand.loadings_)


def test_signed_and_large_weights():
    A = random_symmetric(8, 10, seed=0) * 1e200
    je = JointEmbedding(2, preprocess="signed_log1p", random_state=0).fit(A)
    assert np.isfinite(je.loadings_).all()
    raw = JointEmbedding(2, random_state=0).fit(A)
    assert np.isfinite(raw.loadings_).all()
    assert raw.converged_


def test_nothing_of_the_test_graphs_is_learned():
    A = counts(20)
    je = JointEmbedding(2, preprocess="rank", center=True, random_state=0).fit(A[:15])
    alone = je.transform(A[15:16])
    assert np.allclose(je.transform(A[15:])[:1], alone)  # whatever comes along with it


def test_an_unknown_step_is_refused_before_anything_is_done():
    with pytest.raises(InputError, match=r"'log1p'.*got 'log2p'"):
        JointEmbedding(2, preprocess="log2p").fit(counts())
