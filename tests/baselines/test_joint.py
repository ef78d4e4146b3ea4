"""Methods that embed graphs together, against their definitions written out."""

import numpy as np
import pytest
from known_graphs import random_directed, random_symmetric
from scipy.spatial.distance import cdist

from eigengraphs import GraphStack
from eigengraphs.baselines import (
    DegreeCorrectedMASE,
    MultipleASE,
    Omnibus,
    SummedGraphs,
    SumOfSquares,
    UnfoldedASE,
)

JOINT = [MultipleASE, Omnibus, UnfoldedASE]


def cosie(m, n, d, seed):
    """Draw V R_i V^T, with V (n, d) orthonormal and symmetric R_i (m, d, d)."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((n, d)))[0]
    R = random_symmetric(m, d, seed=seed) + np.diag(np.arange(d) + 2.0)
    return V @ R @ V.T, V, R


def omnibus_matrix(A):
    m, n, _ = A.shape
    M = (A[:, None] + A[None]) / 2  # block (i, j)
    return M.transpose(0, 2, 1, 3).reshape(m * n, m * n)


@pytest.mark.parametrize("d", [1, 3])
def test_omnibus_is_the_embedding_of_its_matrix(d, storage, way):
    A = random_symmetric(5, 11, seed=4)
    values, U = np.linalg.eigh(omnibus_matrix(A))
    first = np.argsort(-np.abs(values))[:d]
    expected = U[:, first] * np.sqrt(np.abs(values[first]))
    fit = Omnibus(d).fit(GraphStack(A, storage=storage))
    X = fit.positions_.reshape(-1, d)
    assert fit.eigenvalues_ == pytest.approx(values[first])
    assert X * np.sign((X * expected).sum(axis=0)) == pytest.approx(expected, abs=1e-8)
    assert fit.latent_positions_ == pytest.approx(fit.positions_.mean(axis=0))


@pytest.mark.parametrize("method", JOINT)
def test_both_ways_agree_in_signs_too(method, by_lanczos):
    graphs = [random_symmetric(3, 11, seed=seed) for seed in range(8)]
    whole = [method(2).fit_transform(A) for A in graphs]
    by_lanczos()
    for A, expected in zip(graphs, whole, strict=True):
        assert method(2).fit_transform(A) == pytest.approx(expected, abs=1e-6)


def test_omnibus_positions_of_new_graphs_follow_by_nystroms_extension():
    A, new = random_symmetric(5, 11, seed=4), random_symmetric(1, 11, seed=5)[0]
    fit = Omnibus(3).fit(A)
    X = fit.positions_
    expected = sum((new + a) / 2 @ x for a, x in zip(A, X, strict=True)) / fit.eigenvalues_
    assert fit.positions([new])[0] == pytest.approx(expected)


def test_unfolded_is_the_decomposition_of_graphs_side_by_side(storage, way):
    A = random_symmetric(5, 11, seed=4)
    U, S, Wt = np.linalg.svd(np.hstack(list(A)), full_matrices=False)
    fit = UnfoldedASE(3).fit(GraphStack(A, storage=storage))
    signs = np.sign((U[:, :3] * fit.latent_positions_).sum(axis=0)) * np.sqrt(S[:3])
    assert fit.singular_values_ == pytest.approx(S[:3])
    assert fit.latent_positions_ == pytest.approx(U[:, :3] * signs, abs=1e-8)
    assert fit.positions_ == pytest.approx(Wt[:3].T.reshape(5, 11, 3) * signs, abs=1e-8)
    # Nothing but the singular vectors: the product is the best approximation of the graphs.
    both = fit.latent_positions_ @ fit.positions_.transpose(0, 2, 1)
    assert np.hstack(list(both)) == pytest.approx(U[:, :3] * S[:3] @ Wt[:3], abs=1e-8)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(("m", "n"), [(5, 11), (2, 30)])  # more and fewer columns than vertices
def test_multiple_ase_is_the_common_space_of_embeddings(m, n, scaled, storage, way):
    A, d = random_symmetric(m, n, seed=4), 3
    each = []
    for a in A:
        values, U = np.linalg.eigh(a)
        first = np.argsort(-np.abs(values))[:d]
        each.append(U[:, first] * (np.sqrt(np.abs(values[first])) if scaled else 1.0))
    V = np.linalg.svd(np.hstack(each))[0][:, :d]
    fit = MultipleASE(d, scaled=scaled).fit(GraphStack(A, storage=storage))
    signs = np.sign((V * fit.latent_positions_).sum(axis=0))
    assert fit.latent_positions_ == pytest.approx(V * signs, abs=1e-7)
    R = (V * signs).T @ A @ (V * signs)
    assert fit.scores_ == pytest.approx(R, abs=1e-6)
    lower = [(k, j) for k in range(d) for j in range(k + 1)]
    Z = np.stack([R[:, k, j] * (1 if k == j else np.sqrt(2)) for k, j in lower], axis=1)
    assert fit.transform(A) == pytest.approx(Z, abs=1e-6)
    distances = cdist(R.reshape(m, -1), R.reshape(m, -1))
    assert fit.pairwise_distances() == pytest.approx(distances, abs=1e-6)


@pytest.mark.parametrize(("method", "rank"), [(MultipleASE, 2), (UnfoldedASE, 2), (Omnibus, 4)])
def test_dimensions_beyond_the_rank_are_zero_and_add_nothing(method, rank, way):
    A, _, _ = cosie(6, 20, 2, seed=0)  # the omnibus matrix has twice the rank
    enough, more = method(rank).fit(A), method(6).fit(A)
    D = enough.pairwise_distances()
    assert more.pairwise_distances() == pytest.approx(D, abs=1e-6)
    if method is not MultipleASE:
        assert more.positions_.any(axis=(0, 1)).tolist() == [k < rank for k in range(6)]
        assert not more.latent_positions_[:, rank:].any()
    assert not method(3).fit(np.zeros((3, 20, 20))).transform(np.zeros((2, 20, 20))).any()


def of_one_space(method, V, A, storage):
    """Hold a method to an orthonormal V (n, d) that is known up to signs."""
    fit = method(V.shape[1]).fit(GraphStack(A, storage=storage))
    V = V * np.sign((V * fit.latent_positions_).sum(axis=0))
    assert fit.latent_positions_ == pytest.approx(V, abs=1e-7)
    assert fit.scores_ == pytest.approx(V.T @ A @ V, abs=1e-6)


def top(M, d):
    values, U = np.linalg.eigh(M)
    return U[:, np.argsort(-np.abs(values))[:d]]


def test_the_sum_of_graphs(storage, way):
    A = random_symmetric(5, 11, seed=4)
    of_one_space(SummedGraphs, top(A.sum(axis=0), 3), A, storage)


def test_sums_of_squares_leave_the_diagonal_of_squares_out(storage, way):
    A = random_symmetric(5, 11, seed=4)
    total = sum(a @ a - np.diag(np.diag(a @ a)) for a in A)
    of_one_space(SumOfSquares, np.linalg.eigh(total)[1][:, :-4:-1], A, storage)


def test_degree_corrected_mase_joins_rows_of_unit_length(storage, way):
    A, d, each = random_symmetric(5, 11, seed=4), 3, []
    for a in A:
        values, U = np.linalg.eigh(a)
        first = np.argsort(-np.abs(values))[:d]
        X = U[:, first] * np.sqrt(np.abs(values[first]))
        each.append(X / np.linalg.norm(X, axis=1, keepdims=True))
    of_one_space(DegreeCorrectedMASE, np.linalg.svd(np.hstack(each))[0][:, :d], A, storage)


def test_directed_multiple_ase(storage, way):
    A, d = random_directed(5, 11, seed=4), 3
    left, right = [], []
    for a in A:
        U, S, Wt = np.linalg.svd(a)
        left.append(U[:, :d] * np.sqrt(S[:d]))
        right.append(Wt[:d].T * np.sqrt(S[:d]))
    V, W = (np.linalg.svd(np.hstack(side))[0][:, :d] for side in (left, right))
    fit = MultipleASE(d, directed=True).fit(GraphStack(A, storage=storage))
    V = V * np.sign((V * fit.latent_positions_).sum(axis=0))
    W = W * np.sign((W * fit.latent_positions_right_).sum(axis=0))
    assert fit.latent_positions_ == pytest.approx(V, abs=1e-6)
    assert fit.latent_positions_right_ == pytest.approx(W, abs=1e-6)
    assert fit.scores_ == pytest.approx(V.T @ A @ W, abs=1e-5)
    assert fit.transform(A) == pytest.approx((V.T @ A @ W).reshape(5, -1), abs=1e-5)


def test_directed_omnibus(storage, way):
    A, d = random_directed(4, 9, seed=4), 2
    U, S, Wt = np.linalg.svd(omnibus_matrix(A))
    left, right = U[:, :d] * np.sqrt(S[:d]), Wt[:d].T * np.sqrt(S[:d])
    fit = Omnibus(d, directed=True).fit(GraphStack(A, storage=storage))
    assert fit.eigenvalues_ == pytest.approx(S[:d])
    expected = np.concatenate([left.reshape(4, 9, d), right.reshape(4, 9, d)], axis=1)
    signs = np.sign((expected * fit.positions_).sum(axis=(0, 1)))
    assert fit.positions_ == pytest.approx(expected * signs, abs=1e-6)
    assert fit.positions(A[:2]) == pytest.approx(expected[:2] * signs, abs=1e-6)


def test_directed_unfolded_ase(storage, way):
    A, d = random_directed(4, 9, seed=4), 2
    U, S, Wt = np.linalg.svd(np.hstack(list(A)), full_matrices=False)
    fit = UnfoldedASE(d, directed=True).fit(GraphStack(A, storage=storage))
    signs = np.sign((U[:, :d] * fit.latent_positions_).sum(axis=0)) * np.sqrt(S[:d])
    assert fit.latent_positions_ == pytest.approx(U[:, :d] * signs, abs=1e-6)
    assert fit.positions_ == pytest.approx(Wt[:d].T.reshape(4, 9, d) * signs, abs=1e-6)
