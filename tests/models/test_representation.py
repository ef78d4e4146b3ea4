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
@pytest.mark.parametrize("m", [1, 5000])
def test_any_distribution_on_graphs_is_an_eigen_graph_model(loops, m):
    graphs, probabilities = distribution_with_dependent_edges(loops)
    model = MREG.from_distribution(graphs, probabilities)
    assert model.n_components == 15
    np.testing.assert_allclose(
        model.expected_adjacency(loadings=model.loadings.points), graphs, atol=1e-12
    )
    stack, latent = model.sample(m, 1, loops=loops, return_latent=True)
    assert np.array_equal(stack.dense, graphs[latent.labels])
    if m > 1:
        counts = np.bincount(latent.labels, minlength=12)
        assert (m * probabilities).min() > 20
        assert stats.chisquare(counts, m * probabilities).pvalue > RATE


@pytest.mark.parametrize("loops", [False, True])
def test_its_likelihood_is_the_given_distribution(loops):
    graphs, probabilities = distribution_with_dependent_edges(loops)
    model = MREG.from_distribution(graphs, probabilities)
    np.testing.assert_allclose(
        np.exp(model.log_likelihood(graphs, loops=loops)), probabilities, rtol=1e-9
    )
    other = np.zeros((1, 5, 5))
    other[0, 0, 1] = other[0, 1, 0] = 1
    assert not (graphs == other).all(axis=(1, 2)).any()
    assert model.log_likelihood(other, loops=loops) == -np.inf


def test_the_same_graph_twice_adds_up():
    A = np.array([[0, 1], [1, 0]])
    model = MREG.from_distribution([A, 0 * A, A], [0.25, 0.5, 0.25])
    np.testing.assert_allclose(model.log_likelihood([A]), np.log(0.5))


def test_sparse_graphs_give_the_same_model():
    graphs, probabilities = distribution_with_dependent_edges(loops=True)
    dense = MREG.from_distribution(graphs, probabilities)
    sparse = MREG.from_distribution(GraphStack(graphs, storage="sparse"), probabilities)
    assert np.array_equal(dense.loadings.points, sparse.loadings.points)


def test_distributions_that_cannot_be_are_refused():
    A = np.array([[0, 1], [1, 0]])
    with pytest.raises(InputError, match=r"sum to 1, it sums to 0\.9; divide"):
        MREG.from_distribution([A, 0 * A], [0.5, 0.4])
    with pytest.raises(InputError, match="2 entries, got 1"):
        MREG.from_distribution([A, 0 * A], [1.0])
    with pytest.raises(InputError, match="binarize"):
        MREG.from_distribution([2 * A], [1.0])
    with pytest.raises(InputError, match="symmetrize"):
        MREG.from_distribution([np.triu(A)], [1.0])


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


def test_bad_families_are_refused():
    B = random_block_matrices(3, 2)
    wrong = B.copy()
    wrong[1, 0, 1] = 1.5
    with pytest.raises(InputError, match=r"B\[1, 0, 1\] is 1.5, outside \[0, 1\]"):
        MREG.from_block_models([0, 1], wrong)
    wrong[1, 0, 1] = B[1, 0, 1] / 2
    with pytest.raises(InputError, match=r"B\[1\] is not symmetric: entry \(0, 1\)"):
        MREG.from_block_models([0, 1], wrong)
    with pytest.raises(InputError, match=r"labels\[1\] is 2, expected 0 to 1"):
        MREG.from_block_models([0, 2], B)
    with pytest.raises(InputError, match=r"\(n_graphs, n_blocks, n_blocks\)"):
        MREG.from_block_models([0, 1], B[0])
