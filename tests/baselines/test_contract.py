"""What every baseline keeps to, whatever it computes."""

import networkx as nx
import numpy as np
import pytest
from known_graphs import random_directed, random_symmetric, section_5_2
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
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


def test_shapes_and_names(method, graphs, new_graphs):
    with pytest.raises(NotFittedError):
        method.pairwise_distances()
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


def test_features_that_are_handed_out_are_the_callers(method, graphs):
    method.fit_transform(graphs)[...] = 0.0
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


def test_the_order_of_the_vertices_does_not_matter(method, graphs):
    D = method.fit(graphs).pairwise_distances()
    order = np.random.default_rng(0).permutation(10)
    turned = graphs[:, order][:, :, order]
    assert method.fit(turned).pairwise_distances() == pytest.approx(D, rel=1e-5)


POWER = {
    "AdjacencySpectralEmbedding": 0.5,
    "DegreeCorrectedMASE": 1.0,
    "GraphStatistics": 0.0,
    "LaplacianEigenmap": 0.0,
    "MultipleASE": 1.0,
    "Omnibus": 0.5,
    "SpectralStatistics": 1.0,
    "SumOfSquares": 1.0,
    "SummedGraphs": 1.0,
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


def test_bad_graphs_are_refused_with_a_remedy_and_an_older_fit_stays(method, graphs):
    hidden, directed = GraphStack(graphs).hide(np.eye(10) > 0), random_directed(2, 10, seed=0)
    Z = method.fit(graphs).transform(graphs)
    for call in (method.fit, method.transform, method.pairwise_distances):
        with pytest.raises(InputError, match=r"not symmetric.*symmetrize"):
            call(directed)
        with pytest.raises(InputError, match=r"hidden.*fill the entries"):
            call(hidden)
    with pytest.raises(AlignmentError, match="9 vertices, expected 10"):
        method.pairwise_distances(graphs[:, :9, :9])
    assert np.array_equal(method.transform(graphs), Z)


def test_bad_settings_are_refused(method, graphs):
    for name in method.get_params():
        wrong = (0, 1.5, "auto", 56) if name == "n_components" else ("yes", 1, None)
        for value in wrong:
            with pytest.raises(InputError, match=f"{name}.*got|n_components=56 is more than"):
                clone(method).set_params(**{name: value}).fit(graphs)


def test_nearest_neighbors_follow_in_a_pipeline_and_tables_have_graph_names(method):
    known = section_5_2(24, seed=0, loops=True)
    y = known.Lam[:, 0] > 24
    metric = "precomputed" if isinstance(method, OF_DISTANCES) else "euclidean"
    model = make_pipeline(clone(method), KNeighborsClassifier(1, metric=metric))
    fitted = model.fit(known.stack[:16], y[:16])
    D = clone(method).fit(known.stack[:16]).pairwise_distances(known.stack[16:], known.stack[:16])
    assert np.array_equal(fitted.predict(known.stack[16:]), y[:16][D.argmin(axis=1)])
    named = known.stack.with_names(graph_names=[f"g{i}" for i in range(24)])
    tables = method.set_output(transform="pandas").fit(named)
    assert list(tables.transform(named[3:5]).index) == ["g3", "g4"]
    assert list(tables.fit_transform(named).index) == list(named.graph_names)
