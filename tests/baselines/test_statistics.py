"""Graph statistics, against networkx and counting by hand."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigengraphs import GraphStack
from eigengraphs.baselines import GraphStatistics, graph_statistics


def by_networkx(G):
    neighborhoods = [nx.ego_graph(G, s).number_of_edges() for s in G]
    lengths = [
        length
        for s, reached in nx.all_pairs_shortest_path_length(G)
        for t, length in reached.items()
        if s != t
    ]
    return [
        G.number_of_edges(),
        max(dict(G.degree).values()),
        np.linalg.eigvalsh(nx.to_numpy_array(G)).max(),
        max(neighborhoods),
        sum(nx.triangles(G).values()) // 3,
        nx.transitivity(G),
        np.mean(lengths) if lengths else 0.0,
    ]


def raw(graphs):
    return GraphStatistics(standardize=False).fit_transform(graphs)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (2, 1.0), (30, 0.05), (64, 0.1), (150, 0.06), (300, 0.012)]
)
@pytest.mark.parametrize("entries", [2**22, 700])  # in one block of vertices, and in several
def test_they_are_those_of_networkx(n, p, storage, entries, monkeypatch):
    monkeypatch.setattr(graph_statistics, "_BLOCK_ENTRIES", entries)
    graphs = [nx.gnp_random_graph(n, p, seed=s) for s in range(3)]
    expected = [by_networkx(G) for G in graphs]
    assert raw(GraphStack(graphs, storage=storage)) == pytest.approx(np.array(expected))


def test_known_graphs():
    complete, path, star = nx.complete_graph(5), nx.path_graph(5), nx.star_graph(4)
    Z = raw([complete, path, star, nx.empty_graph(5)])
    assert Z[0] == pytest.approx([10, 4, 4, 10, 10, 1, 1])
    assert Z[1] == pytest.approx([4, 2, 2 * np.cos(np.pi / 6), 2, 0, 0, 2])
    assert Z[2] == pytest.approx([4, 4, 2, 4, 0, 0, 1.6])
    assert not Z[3].any()


@settings(max_examples=30)  # networkx takes its time
@given(seed=st.integers(0, 2**31), n=st.integers(1, 70), p=st.floats(0, 1))
def test_any_graph_in_any_order_of_its_vertices(seed, n, p):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < p, 1).astype(float)
    A += A.T
    order = rng.permutation(n)
    Z = raw([A, A[np.ix_(order, order)]])
    assert Z[1] == pytest.approx(Z[0])
    assert Z[0] == pytest.approx(np.array(by_networkx(nx.from_numpy_array(A))))


def test_weights_and_loops_do_not_count(storage):
    rng = np.random.default_rng(0)
    A = nx.to_numpy_array(nx.gnp_random_graph(20, 0.3, seed=0))
    W = A * np.triu(rng.standard_normal((20, 20)))
    W = W + W.T + np.diag(rng.standard_normal(20))
    assert raw(GraphStack([W], storage=storage)) == pytest.approx(raw([A]))


def test_standardized_columns_have_mean_0_and_variance_1():
    graphs = [nx.gnp_random_graph(25, 0.2, seed=s) for s in range(12)]
    fit = GraphStatistics().fit(graphs)
    Z = fit.transform(graphs)
    assert Z.mean(axis=0) == pytest.approx(0.0, abs=1e-12)
    assert Z.std(axis=0) == pytest.approx(1.0)
    assert Z * fit.scale_ + fit.mean_ == pytest.approx(raw(graphs))
    few = GraphStatistics().fit(graphs[:5])  # new graphs as the training graphs
    assert few.transform(graphs[5:]) == pytest.approx((raw(graphs[5:]) - few.mean_) / few.scale_)
    same = GraphStatistics().fit(graphs[:1] * 3)  # nothing to divide by
    assert same.scale_ == pytest.approx(1.0)
    assert same.pairwise_distances() == pytest.approx(0.0, abs=1e-9)
