"""Embeddings of each graph by itself, against eigenvectors and rotations written out."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_graphs import random_symmetric
from scipy import sparse
from scipy.linalg import orthogonal_procrustes

from eigengraphs import GraphStack
from eigengraphs.baselines import (
    AdjacencySpectralEmbedding,
    LaplacianEigenmap,
    SpectralStatistics,
    eigenvectors,
    spectral_embeddings,
)
from eigengraphs.baselines.eigenvectors import leading
from eigengraphs.baselines.spectral_embeddings import procrustes_distances


def low_rank(A, order, d):
    """Return sum over the d leading eigenvalues of |lam| h h^T: positions X have X X^T."""
    values, vectors = np.linalg.eigh(A)
    first = np.argsort(-(np.abs(values) if order == "magnitude" else values))[:d]
    return vectors[:, first] * np.abs(values[first]) @ vectors[:, first].T


@pytest.fixture(scope="module")
def weighted():
    return random_symmetric(4, 12, seed=3)


def test_adjacency_positions_are_scaled_eigenvectors(weighted):
    X = AdjacencySpectralEmbedding(3).fit(weighted).positions_
    for A, x in zip(weighted, X, strict=True):
        assert x @ x.T == pytest.approx(low_rank(A, "magnitude", 3))
        assert np.diag(x.T @ x) == pytest.approx(np.sort(np.abs(np.linalg.eigvalsh(A)))[:-4:-1])


def test_a_filled_diagonal_holds_the_mean_of_its_row(weighted, storage):
    A = weighted.copy()
    for a in A:
        np.fill_diagonal(a, (a.sum(axis=1) - np.diag(a)) / 11)
    filled = AdjacencySpectralEmbedding(2, diagonal="filled")
    X = filled.fit(GraphStack(weighted, storage=storage)).positions_
    assert AdjacencySpectralEmbedding(2).fit(A).positions_ == pytest.approx(X)


@pytest.mark.parametrize("scaled", [True, False])
def test_laplacian_positions_are_eigenvectors_of_the_laplacian(scaled):
    G = nx.gnp_random_graph(15, 0.4, seed=1)
    L = nx.normalized_laplacian_matrix(G).toarray()
    values, U = np.linalg.eigh(L)  # rising: the first are the smallest
    U = U[:, :3] * (np.sqrt(np.abs(1 - values[:3])) if scaled else 1.0)
    x = LaplacianEigenmap(3, scaled=scaled).fit([G]).positions_[0]
    assert x @ x.T == pytest.approx(U @ U.T)


def test_a_vertex_without_edges_stays_at_the_origin(storage):
    G = nx.gnp_random_graph(10, 0.5, seed=0)
    A = np.zeros((12, 12))
    A[:10, :10] = nx.to_numpy_array(G)
    stack = GraphStack([A], storage=storage)
    for method in (LaplacianEigenmap(2), AdjacencySpectralEmbedding(2)):
        alone, whole = method.fit([G]).positions_[0], method.fit(stack).positions_[0]
        assert whole[10:] == pytest.approx(0.0, abs=1e-12)
        assert whole[:10] == pytest.approx(alone)


@pytest.mark.parametrize("method", [AdjacencySpectralEmbedding(2), LaplacianEigenmap(2)])
def test_an_empty_graph_is_at_the_origin_and_negative_weights_are_no_trouble(method):
    A = random_symmetric(3, 8, seed=0, hollow=True)
    A[1] = 0.0
    fit = method.fit(A)
    assert not fit.positions_[1].any()
    distances = fit.pairwise_distances()
    assert np.isfinite(distances).all()
    assert distances[1, 0] == pytest.approx(np.linalg.norm(fit.positions_[0]))


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("order", ["magnitude", "value"])
def test_lanczos_finds_what_all_eigenvectors_say(order, d, by_lanczos):
    A = random_symmetric(1, 60, seed=1, density=0.2)[0]
    values, U = leading(A, d, order)
    by_lanczos()
    for kind in (np.asarray, sparse.csr_array):
        for scale in (1.0, 2.0**-700, 2.0**700):
            found, V = leading(kind(A * scale), d, order)
            assert found / scale == pytest.approx(values)
            assert pytest.approx(U, abs=1e-8) == V


def test_lanczos_goes_on_beyond_the_rank(by_lanczos):
    by_lanczos()
    edge = np.zeros((40, 40))
    edge[3, 5] = edge[5, 3] = 2.0
    values, U = leading(sparse.csr_array(edge), 4)
    assert values == pytest.approx([2.0, -2.0, 0.0, 0.0])
    assert pytest.approx(np.eye(4)) == U.T @ U
    assert AdjacencySpectralEmbedding(4).fit([edge]).positions_[0, :, 2:] == pytest.approx(0.0)
    assert not leading(np.zeros((40, 40)), 3)[0].any()


@pytest.mark.parametrize("method", [AdjacencySpectralEmbedding(2), LaplacianEigenmap(3)])
def test_large_sparse_graphs_are_never_made_dense(method, by_lanczos, monkeypatch):
    graphs = [nx.to_scipy_sparse_array(nx.gnp_random_graph(60, 0.2, seed=s)) for s in range(3)]
    expected = method.fit(graphs).pairwise_distances()
    by_lanczos()
    monkeypatch.setattr(eigenvectors, "as_dense", None)
    assert method.fit(graphs).pairwise_distances() == pytest.approx(expected, abs=1e-6)


def test_all_eigenvalues_of_many_vertices_are_beyond_lanczos(by_lanczos):
    A = random_symmetric(1, 30, seed=0)
    by_lanczos()
    expected = np.linalg.eigvalsh(A)[:, ::-1]
    assert SpectralStatistics().fit_transform(A) == pytest.approx(expected)
    assert SpectralStatistics(1).fit_transform(A) == pytest.approx(expected[:, :1])  # by Lanczos
    assert SpectralStatistics(29).fit_transform(A) == pytest.approx(expected[:, :29])
    X = AdjacencySpectralEmbedding(30).fit(A).positions_[0]
    assert np.linalg.svd(X @ X.T)[1] == pytest.approx(np.sort(np.abs(expected[0]))[::-1])


# ------------------------------------------------------------------ Procrustes distances


def one_by_one(X, Y):
    def distance(a, b):
        Q, _ = orthogonal_procrustes(a, b)
        return np.linalg.norm(a @ Q - b)

    return np.array([[distance(a, b) for b in Y] for a in X])


def positions(m, n, d, seed):
    return np.random.default_rng(seed).standard_normal((m, n, d))


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_all_pairs_are_those_of_orthogonal_procrustes(d, monkeypatch):
    monkeypatch.setattr(spectral_embeddings, "_BLOCK_ENTRIES", 2 * d * d * 5)  # blocks of two rows
    X, Y = positions(7, 9, d, 0), positions(5, 9, d, 1)
    assert procrustes_distances(X, Y) == pytest.approx(one_by_one(X, Y))
    within = one_by_one(X, X)
    np.fill_diagonal(within, 0.0)
    assert procrustes_distances(X) == pytest.approx(within)


@given(seed=st.integers(0, 2**31), d=st.integers(1, 4), factor=st.floats(1e-3, 1e3))
def test_rotations_do_not_matter_and_scale_does(seed, d, factor):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3, 6, d))
    Q = np.linalg.qr(rng.standard_normal((3, d, d)))[0]
    D = procrustes_distances(X)
    assert procrustes_distances(X @ Q) == pytest.approx(D, abs=1e-6)
    # Equal up to rotation: rounding leaves no root of a negative number.
    assert procrustes_distances(X, X @ Q).diagonal() == pytest.approx(0.0, abs=1e-6)
    assert procrustes_distances(factor * X) == pytest.approx(factor * D)
