"""Transforms of weights that belong to the model: learned on nothing, replayed on new graphs."""

import numpy as np
import pytest
from known_graphs import stored

from eigengraphs import GraphStack, JointEmbedding


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
