"""What every baseline keeps to, whatever it computes."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from known_graphs import random_directed, random_symmetric, section_5_2
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from eigengraphs import GraphStack, baselines
from eigengraphs.errors import AlignmentError, InputError

METHODS = [getattr(baselines, name) for name in baselines.__all__]
OF_DISTANCES = (baselines.AdjacencySpectralEmbedding, baselines.LaplacianEigenmap)
WITH_DIAGONAL = [method for method in METHODS if "diagonal" in method().get_params()]


@pytest.fixture(params=METHODS, ids=lambda method: method.__name__)
def method(request):
    """One class after the other, with its default settings."""
    return request.param()


@pytest.fixture(scope="module")
def graphs():
    return random_symmetric(7, 10, seed=0, density=0.5)


@pytest.fixture(scope="module")
def new_graphs():
    return random_symmetric(3, 10, seed=1, density=0.5)


def test_clones_have_the_same_parameters(method):
    copy = clone(method)
    assert copy is not method
    assert copy.get_params() == method.get_params()


def test_it_must_be_fitted_first(method, graphs):
    for call in (method.transform, method.pairwise_distances, method.get_feature_names_out):
        with pytest.raises(NotFittedError):
            call(graphs)


def test_shapes_and_names(method, graphs, new_graphs):
    fit = method.fit(graphs, y=np.zeros(7))
    assert fit is method
    Z = fit.transform(new_graphs)
    assert Z.shape == (3, len(fit.get_feature_names_out()))
    assert len(set(fit.get_feature_names_out())) == Z.shape[1]
    assert fit.pairwise_distances().shape == (7, 7)
    assert fit.pairwise_distances(new_graphs).shape == (3, 3)
    assert fit.pairwise_distances(new_graphs, graphs).shape == (3, 7)
    assert fit.pairwise_distances(None, new_graphs).shape == (7, 3)
    assert (fit.n_vertices_, fit.vertex_names_[3]) == (10, "3")


def test_fit_transform_is_fit_and_transform(method, graphs):
    Z = method.fit_transform(graphs)
    assert method.transform(graphs) == pytest.approx(Z, abs=1e-6)  # Procrustes: a root of rounding
    Z[...] = 0.0  # what is handed out is the caller's
    assert method.fit_transform(graphs).any()


def test_distances_are_symmetric_and_zero_on_the_diagonal(method, graphs):
    D = method.fit(graphs).pairwise_distances()
    assert np.array_equal(D, D.T)
    assert not D.diagonal().any()
    assert (D[np.triu_indices(7, 1)] > 0).all()
    assert method.pairwise_distances(graphs) == pytest.approx(D)
    assert method.pairwise_distances(graphs[:4], graphs[4:]) == pytest.approx(D[:4, 4:])


def test_distances_are_those_of_the_features(method, graphs, new_graphs):
    fit = method.fit(graphs)
    Z, Z_new = fit.transform(graphs), fit.transform(new_graphs)
    apart = np.sqrt(((Z_new[:, None] - Z) ** 2).sum(axis=2))
    expected = Z_new if isinstance(method, OF_DISTANCES) else apart
    assert fit.pairwise_distances(new_graphs, graphs) == pytest.approx(expected)


@pytest.mark.parametrize("make", [list, lambda A: list(map(sparse.csr_matrix, A)), GraphStack])
def test_any_kind_of_graphs_gives_the_same(method, graphs, new_graphs, make):
    D = method.fit(graphs).pairwise_distances(new_graphs, graphs)
    other = method.fit(make(graphs))
    assert other.pairwise_distances(new_graphs, graphs) == pytest.approx(D)
    assert other.pairwise_distances(make(new_graphs), make(graphs)) == pytest.approx(D)


def test_the_same_every_time_and_the_graphs_stay_as_they_were(method, graphs, new_graphs):
    before = graphs.copy()
    first, second = clone(method).fit(graphs), clone(method).fit(graphs)
    assert np.array_equal(first.transform(new_graphs), second.transform(new_graphs))
    assert np.array_equal(first.pairwise_distances(), second.pairwise_distances())
    assert np.array_equal(graphs, before)


def test_a_saved_fit_is_the_same(method, graphs, new_graphs):
    fit = method.fit(graphs)
    again = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(again.transform(new_graphs), fit.transform(new_graphs))
    assert np.array_equal(again.pairwise_distances(), fit.pairwise_distances())


def test_the_order_of_the_vertices_does_not_matter(method, graphs):
    D = method.fit(graphs).pairwise_distances()
    order = np.random.default_rng(0).permutation(10)
    turned = graphs[:, order][:, :, order]
    assert method.fit(turned).pairwise_distances() == pytest.approx(D, rel=1e-5)


POWER = {
    "AdjacencySpectralEmbedding": 0.5,
    "GraphStatistics": 0.0,
    "LaplacianEigenmap": 0.0,
    "MultipleASE": 1.0,
    "Omnibus": 0.5,
    "SpectralStatistics": 1.0,
    "UnfoldedASE": 0.5,
    "VectorizedPCA": 1.0,
}


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_weights_of_any_size(method, graphs, factor):
    D = method.fit(graphs).pairwise_distances()
    scaled = method.fit(factor * graphs).pairwise_distances()
    assert scaled == pytest.approx(factor ** POWER[type(method).__name__] * D, rel=1e-5)


def test_float32_graphs_differ_by_their_rounding_alone(method, graphs):
    fit = method.fit(graphs.astype(np.float32))
    expected = clone(method).fit(graphs.astype(np.float32).astype(np.float64))
    assert np.array_equal(fit.pairwise_distances(), expected.pairwise_distances())


def test_vertex_names_order_new_graphs(method, graphs, new_graphs):
    names = [f"v{s}" for s in range(10)]
    fit = method.fit(GraphStack(graphs, vertex_names=names))
    expected = fit.transform(new_graphs)
    order = np.random.default_rng(0).permutation(10)
    frames = [pd.DataFrame(A, names, names).iloc[order, order] for A in new_graphs]
    assert fit.transform(frames) == pytest.approx(expected)
    other = [f"w{s}" for s in range(10)]
    with pytest.raises(AlignmentError, match="only in one of the two"):
        fit.transform(GraphStack(new_graphs, vertex_names=other))


def test_one_graph_empty_graphs_and_graphs_in_pieces(method):
    pieces = nx.to_numpy_array(nx.disjoint_union(nx.path_graph(4), nx.complete_graph(4)))
    assert np.isfinite(method.fit_transform(pieces[None])).all()
    assert method.pairwise_distances() == pytest.approx(np.zeros((1, 1)))
    empty = np.zeros((2, 8, 8))
    assert np.isfinite(method.transform(empty)).all()
    assert np.isfinite(method.fit_transform(empty)).all()
    assert method.pairwise_distances() == pytest.approx(np.zeros((2, 2)))
    assert np.isfinite(method.pairwise_distances(pieces[None], empty)).all()


def test_what_was_fitted_decides_and_not_later_parameters(graphs, new_graphs):
    for cls in METHODS:
        fit = cls().fit(graphs)
        Z = fit.transform(new_graphs)
        others = {"n_components": 1, "scaled": False, "diagonal": "filled", "standardize": False}
        fit.set_params(**{k: v for k, v in others.items() if k in fit.get_params()})
        assert np.array_equal(fit.transform(new_graphs), Z)


def test_a_refused_fit_leaves_the_older_one(method, graphs, new_graphs):
    Z = method.fit(graphs).transform(new_graphs)
    with pytest.raises(InputError):
        method.fit(random_directed(2, 10, seed=0))
    assert np.array_equal(method.transform(new_graphs), Z)


def test_a_fit_that_fails_leaves_the_older_one(method, graphs, new_graphs, monkeypatch):
    Z = method.fit(graphs).transform(new_graphs)
    learn = type(method)._learn

    def learn_and_fail(self, stack):
        learn(self, stack)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(method), "_learn", learn_and_fail)
        others = {"n_components": 1, "diagonal": "filled"}
        method.set_params(**{k: v for k, v in others.items() if k in method.get_params()})
        with pytest.raises(KeyboardInterrupt):
            method.fit(new_graphs)
    assert np.array_equal(method.transform(new_graphs), Z)


def test_bad_graphs_are_refused_with_a_remedy(method, graphs):
    hidden = GraphStack(graphs).hide(np.eye(10) > 0)
    with pytest.raises(InputError, match=r"not symmetric.*symmetrize"):
        method.fit(random_directed(2, 10, seed=0))
    with pytest.raises(InputError, match=r"hidden.*fill the entries"):
        method.fit(hidden)
    with pytest.raises(InputError, match="finite"):
        method.fit(np.where(np.eye(10) > 0, np.nan, graphs))
    with pytest.raises(InputError):
        method.fit([])
    fit = method.fit(graphs)
    for call in (fit.transform, fit.pairwise_distances):
        with pytest.raises(InputError, match=r"hidden.*fill the entries"):
            call(hidden)
        with pytest.raises(InputError, match="not symmetric"):
            call(random_directed(2, 10, seed=0))
        with pytest.raises(AlignmentError, match="9 vertices, expected 10"):
            call(graphs[:, :9, :9])


@pytest.mark.parametrize("cls", METHODS)
@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_bad_settings_are_refused(cls, wrong, graphs):
    for name in cls().get_params():
        if name == "n_components":
            continue
        with pytest.raises(InputError, match=f"{name} must be one of"):
            cls(**{name: wrong}).fit(graphs)


@pytest.mark.parametrize("cls", [cls for cls in METHODS if "n_components" in cls().get_params()])
def test_bad_numbers_of_components_are_refused(cls, graphs):
    for wrong in (0, 1.5, "auto", 56):
        with pytest.raises(InputError, match="n_components"):
            cls(wrong).fit(graphs)


@pytest.mark.parametrize("cls", WITH_DIAGONAL)
def test_filling_ignores_what_the_diagonal_holds(cls, graphs, new_graphs, storage):
    def looped(A):
        return GraphStack(A + np.diag(np.arange(10.0)), storage=storage)

    plain, filled = cls(diagonal="filled").fit(graphs), cls(diagonal="filled").fit(looped(graphs))
    expected = plain.pairwise_distances(new_graphs, graphs)
    found = filled.pairwise_distances(looped(new_graphs), looped(graphs))
    assert found == pytest.approx(expected)
    observed = cls().fit(graphs).pairwise_distances(new_graphs, graphs)
    assert observed != pytest.approx(expected)


def test_pipelines_cross_validation_and_tables(method):
    known = section_5_2(24, seed=0, loops=True)
    y = known.Lam[:, 0] > 24
    metric = "precomputed" if isinstance(method, OF_DISTANCES) else "euclidean"
    model = make_pipeline(method, KNeighborsClassifier(1, metric=metric))
    scores = cross_val_score(model, known.stack, y, cv=3, error_score="raise")
    assert scores.shape == (3,)
    table = clone(method).set_output(transform="pandas").fit_transform(known.stack)
    named = known.stack.with_names(graph_names=[f"g{i}" for i in range(24)])
    of_named = clone(method).set_output(transform="pandas").fit(named)
    assert list(of_named.transform(named[3:5]).index) == ["g3", "g4"]
    assert list(of_named.fit_transform(named).index) == list(named.graph_names)
    assert list(table.columns) == list(clone(method).fit(known.stack).get_feature_names_out())
