"""What eigen graph models can represent: Theorem 2.1, and families of block models."""

import numpy as np
import pytest
from scipy import stats

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.models import MultipleRandomEigenGraphs as MREG

RATE = 1e-6  # of false alarms, each check


def random_block_matrices(m, K, seed=0):
    B = np.random.default_rng(seed).uniform(size=(m, K, K))
    return (B + B.transpose(0, 2, 1)) / 2


EDGE = np.array([[0, 1], [1, 0]])
LABELS = np.array([0, 2, 1, 1, 0, 2, 2, 2, 0, 1, 0])


def distribution_with_dependent_edges(loops):
    rng = np.random.default_rng(0)
    graphs = np.triu(rng.integers(0, 2, size=(12, 5, 5)), 0 if loops else 1)
    graphs = np.maximum(graphs, graphs.transpose(0, 2, 1))
    graphs[0], graphs[1] = 0, 1
    if not loops:
        graphs[:, np.arange(5), np.arange(5)] = 0
    assert len(np.unique(graphs, axis=0)) == 12
    return graphs, rng.dirichlet(np.full(12, 4.0))


@pytest.mark.parametrize("loops", [False, True])
def test_any_distribution_on_graphs_is_an_eigen_graph_model(loops, storage):
    graphs, p = distribution_with_dependent_edges(loops)
    model = MREG.from_distribution(GraphStack(graphs, storage=storage), p)
    assert model.n_components == 15
    points = model.expected_adjacency(loadings=model.loadings.points)
    np.testing.assert_allclose(points, graphs, atol=1e-12)
    for m in (1, 5000):
        stack, latent = model.sample(m, 1, loops=loops, return_latent=True)
        assert np.array_equal(stack.dense, graphs[latent.labels])
    assert (m * p).min() > 20
    assert stats.chisquare(np.bincount(latent.labels, minlength=12), m * p).pvalue > RATE
    likelihood = np.exp(model.log_likelihood(graphs, loops=loops))
    np.testing.assert_allclose(likelihood, p, rtol=1e-9)
    other = np.zeros((1, 5, 5))
    other[0, 0, 1] = other[0, 1, 0] = 1
    assert not (graphs == other).all(axis=(1, 2)).any()
    assert model.log_likelihood(other, loops=loops) == -np.inf


def test_the_same_graph_twice_adds_up():
    model = MREG.from_distribution([EDGE, 0 * EDGE, EDGE], [0.25, 0.5, 0.25])
    np.testing.assert_allclose(model.log_likelihood([EDGE]), np.log(0.5))


@pytest.mark.parametrize("K", [1, 2, 3])
def test_block_models_with_common_blocks(K):
    B = random_block_matrices(20, K)
    labels = LABELS % K
    model = MREG.from_block_models(labels, B)
    assert model.n_components == K * (K + 1) // 2
    assert model.n_graphs == 20
    np.testing.assert_allclose(model.edge_probabilities(), B[:, labels][:, :, labels], atol=1e-12)


def test_certain_and_impossible_blocks_stay_so():
    B = np.random.default_rng(0).integers(0, 2, size=(10, 3, 3)).astype(float)
    B = np.maximum(B, B.transpose(0, 2, 1))
    model = MREG.from_block_models(LABELS, B)
    A = B[:, LABELS][:, :, LABELS] * (1 - np.eye(len(LABELS)))
    assert np.array_equal(model.sample(random_state=0).dense, A)
    assert np.array_equal(model.log_likelihood(A), np.zeros(10))


def test_unused_blocks_take_no_components():
    model = MREG.from_block_models([0, 2, 2, 0], random_block_matrices(4, 3))
    assert model.n_components == 3


def changed(value):
    B = random_block_matrices(3, 2)
    B[1, 0, 1] = value * B[1, 0, 1]
    return B


REFUSED = [
    (MREG.from_distribution, [EDGE, 0 * EDGE], [0.5, 0.4], r"sum to 1, it sums to 0\.9; divide"),
    (MREG.from_distribution, [EDGE, 0 * EDGE], [1.0], "2 entries, got 1"),
    (MREG.from_distribution, [np.triu(EDGE)], [1.0], "symmetrize"),
    (MREG.from_block_models, [0, 1], changed(9.0), r"B\[1, 0, 1\] is \d.*, outside \[0, 1\]"),
    (MREG.from_block_models, [0, 1], changed(0.5), r"B\[1\] is not symmetric: entry \(0, 1\)"),
]


@pytest.mark.parametrize(("make", "first", "second", "text"), REFUSED)
def test_distributions_and_families_that_cannot_be_are_refused(make, first, second, text):
    with pytest.raises(InputError, match=text):
        make(first, second)
