"""PCA by inner products of graphs, against scikit-learn's on vectors of length n^2."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import sparse
from sklearn.decomposition import PCA

from eigengraphs import GraphStack
from eigengraphs.baselines import VectorizedPCA
from eigengraphs.errors import InputError


def up_to_signs(Z, expected):
    signs = np.sign((Z * expected).sum(axis=0))
    return Z * signs


@pytest.mark.parametrize(("m", "n"), [(9, 7), (40, 5)])  # fewer graphs than pairs, and more
def test_it_is_scikit_learns_on_vectorized_graphs(m, n, storage):
    A, new = random_symmetric(m, n, seed=0), random_symmetric(4, n, seed=1)
    A += 3.0  # a mean worth subtracting
    sklearns = PCA(4, svd_solver="full").fit(A.reshape(m, -1))
    fit = VectorizedPCA(4).fit(GraphStack(A, storage=storage))
    for graphs in (A, new):
        expected = sklearns.transform(graphs.reshape(-1, n * n))
        assert up_to_signs(fit.transform(graphs), expected) == pytest.approx(expected, abs=1e-10)
    assert fit.explained_variance_ == pytest.approx(sklearns.explained_variance_)
    assert fit.explained_variance_ratio_ == pytest.approx(sklearns.explained_variance_ratio_)
    mean = fit.mean_.toarray() if storage == "sparse" else fit.mean_
    assert mean == pytest.approx(A.mean(axis=0))


def test_components_are_orthonormal_matrices_and_make_the_scores(storage):
    A = random_symmetric(8, 6, seed=2, density=0.5)
    fit = VectorizedPCA(3).fit(GraphStack(A, storage=storage))
    C = fit.components_
    if storage == "sparse":
        C = np.array([c.toarray() for c in C])
    assert np.einsum("kst,lst->kl", C, C) == pytest.approx(np.eye(3))
    assert pytest.approx(C.transpose(0, 2, 1)) == C
    scores = np.einsum("ist,kst->ik", A - A.mean(axis=0), C)
    assert fit.transform(A) == pytest.approx(scores)


def test_without_centering_it_is_a_singular_value_decomposition(storage):
    A = random_symmetric(6, 5, seed=0)
    _, S, Vt = np.linalg.svd(A.reshape(6, -1), full_matrices=False)
    fit = VectorizedPCA(3, center=False).fit(GraphStack(A, storage=storage))
    expected = A.reshape(6, -1) @ Vt[:3].T
    assert up_to_signs(fit.transform(A), expected) == pytest.approx(expected)
    assert fit.explained_variance_ == pytest.approx(S[:3] ** 2 / 6)
    assert fit.explained_variance_ratio_ == pytest.approx(S[:3] ** 2 / (S**2).sum())
    mean = fit.mean_
    assert not (mean.toarray() if storage == "sparse" else mean).any()


def test_all_components_give_the_graphs_back(storage):
    A = random_symmetric(5, 6, seed=0, density=0.6)
    fit = VectorizedPCA(4).fit(GraphStack(A, storage=storage))
    assert fit.inverse_transform(fit.transform(A)) == pytest.approx(A)
    fewer = VectorizedPCA(2).fit(GraphStack(A, storage=storage))
    Z = fewer.transform(A)
    assert fewer.transform(fewer.inverse_transform(Z)) == pytest.approx(Z)
    with pytest.raises(InputError, match=r"shape \(m, 2\)"):
        fewer.inverse_transform(np.ones((3, 4)))
    with pytest.raises(InputError, match="numbers"):
        fewer.inverse_transform([["a", "b"]])


def test_a_pair_that_no_training_graph_joins_has_no_say():
    A = np.zeros((3, 4, 4))
    A[0, 0, 1] = A[0, 1, 0] = A[1, 1, 2] = A[1, 2, 1] = 1.0
    new = A[:1].copy()
    new[0, 3, 2] = new[0, 2, 3] = new[0, 3, 3] = 7.0
    fit = VectorizedPCA(2).fit(list(map(sparse.csr_array, A)))
    assert fit.transform([sparse.csr_array(new[0])]) == pytest.approx(fit.transform(A[:1]))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_components_beyond_the_rank_are_zero(m, storage):
    A = random_symmetric(m, 5, seed=0) + 10.0
    copies = np.concatenate([A, A])  # of rank m - 1 when centered
    fit = VectorizedPCA(4).fit(GraphStack(copies, storage=storage))
    assert fit.rank_ == m - 1
    assert fit.n_components_ == 4
    assert not fit.transform(copies)[:, m - 1 :].any()
    assert not fit.explained_variance_[m - 1 :].any()
    assert fit.explained_variance_ratio_.sum() == pytest.approx(min(m - 1, 1))
    assert fit.inverse_transform(fit.transform(copies)) == pytest.approx(copies)


@pytest.mark.parametrize("seed", range(5))
def test_copies_of_one_graph_have_no_components_but_rounding(seed, storage):
    A = random_symmetric(1, 6, seed=seed) + 10.0
    for m in (3, 7, 11):  # the mean is not exactly the graph
        fit = VectorizedPCA(2).fit(GraphStack(np.repeat(A, m, axis=0), storage=storage))
        assert fit.rank_ == 0
        assert not fit.transform(A).any()


def test_the_largest_score_of_each_component_is_positive(storage):
    Z = VectorizedPCA(4).fit_transform(GraphStack(random_symmetric(9, 6, seed=3), storage=storage))
    assert (Z[np.abs(Z).argmax(axis=0), range(4)] > 0).all()
