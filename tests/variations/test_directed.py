"""Directed graphs: components h_k g_k^T."""

import pickle

import numpy as np
import pytest
from known_graphs import column_errors, stored
from scipy import linalg

from eigengraphs import GraphStack, JointEmbedding, match_components
from eigengraphs.errors import InputError


def orthonormal_pairs(n=40, m=20, d=4, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    H, G = (linalg.qr(rng.standard_normal((n, d)), mode="economic")[0] for _ in range(2))
    Lam = rng.uniform(0.5, 3.0, (m, d)) * np.linspace(2, 1, d)
    A = np.einsum("sk,ik,tk->ist", H, Lam, G) + noise * rng.standard_normal((m, n, n))
    return A, H, G, Lam


@pytest.mark.parametrize("d", [1, 3, 5])
def test_noiseless_graphs_come_back(storage, d):
    A, H, G, Lam = orthonormal_pairs(d=d)
    je = JointEmbedding(d, directed=True, diagonal="observed", random_state=0)
    je.fit(stored(GraphStack(A), storage))
    match = np.abs(H.T @ je.latent_positions_).argmax(axis=1)
    assert column_errors(je.latent_positions_[:, match], H).max() < 1e-6
    assert column_errors(je.latent_positions_right_[:, match], G).max() < 1e-6
    assert np.abs(np.abs(je.loadings_[:, match]) - Lam).max() < 1e-6
    assert np.abs(je.inverse_transform(je.loadings_) - A).max() < 1e-6


def test_shared_directed_loadings_are_the_singular_values_of_the_mean():
    A, *_ = orthonormal_pairs(noise=0.1)
    je = JointEmbedding(3, loadings="shared", directed=True, diagonal="observed", random_state=0)
    values = linalg.svdvals(A.mean(axis=0))
    assert je.fit(A).shared_loadings_ == pytest.approx(values[:3], rel=1e-7)


def test_directed_fits_nest_and_survive_a_pickle():
    A, *_ = orthonormal_pairs(noise=0.1)
    long = JointEmbedding(6, directed=True, random_state=0).fit(A)
    short = JointEmbedding(3, directed=True, random_state=0).fit(A)
    for other in (long.truncate(3), short.extend(6).truncate(3)):
        assert np.allclose(other.latent_positions_right_, short.latent_positions_right_, atol=1e-9)
    back = pickle.loads(pickle.dumps(short))
    assert np.array_equal(back.transform(A), short.transform(A))
    assert match_components(long.truncate(3), short).similarity > 1 - 1e-9


def test_positions_of_a_graph_give_it_back():
    A, *_ = orthonormal_pairs()
    je = JointEmbedding(4, directed=True, diagonal="observed", random_state=0).fit(A)
    X, signs, Y = je.graph_positions(3)
    assert np.abs((X * signs) @ Y.T - A[3]).max() < 1e-6


def test_what_is_refused():
    A, *_ = orthonormal_pairs(m=4)
    with pytest.raises(InputError, match=r"not symmetric.*directed=True"):
        JointEmbedding(2).fit(A)
    with pytest.raises(InputError, match="directed=True"):
        JointEmbedding(2, directed=True, solver="algorithm1").fit(A)
    with pytest.raises(InputError, match="components are symmetric"):
        JointEmbedding(2, directed=True).fit(A).to_mreg(law="gaussian")
    with pytest.raises(InputError, match=r"shape \(2, 40, 2\)"):
        JointEmbedding(2, directed=True, init=np.ones((40, 2))).fit(A)
