"""Clusters of vertices and of graphs: planted ones are found, their number too."""

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import cluster_graphs, cluster_vertices

BLOCKS = np.repeat([0, 1, 2], 20)


def block_graphs(degrees=None, m=20, between=0.1):
    P = np.where(BLOCKS[:, None] == BLOCKS, np.array([0.5, 0.4, 0.6])[BLOCKS], between)
    if degrees is not None:
        P = P * np.outer(degrees, degrees)
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((m, 60, 60)) < P, 1).astype(float)
    return A + A.transpose(0, 2, 1)


@pytest.mark.parametrize("method", ["mixture", "kmeans"])
def test_blocks_and_their_number_are_found(method):
    je = eg.JointEmbedding(3, random_state=0).fit(block_graphs())
    found = cluster_vertices(je, method=method, truth=BLOCKS)
    assert (found.n_clusters, found.ari, found.purity) == (3, 1.0, 1.0)
    assert min(found.bic, key=found.bic.get) == 3
    assert found.sizes.tolist() == [20, 20, 20]
    again = cluster_vertices(je, method=method)
    assert np.array_equal(found.labels, again.labels)


def test_blocks_of_uneven_degrees_need_the_correction():
    degrees = np.random.default_rng(1).uniform(0.2, 1.0, 60)
    je = eg.JointEmbedding(3, random_state=0).fit(block_graphs(degrees, m=100, between=0.25))
    corrected = cluster_vertices(je, method="kmeans", truth=BLOCKS, normalize_rows=True, most=6)
    assert (corrected.n_clusters, corrected.ari) == (3, 1.0)
    # Without it, a block is a ray from zero, which takes several round clusters.
    assert cluster_vertices(je, method="kmeans", most=6).n_clusters > 3
    with pytest.warns(FutureWarning, match="degree_corrected .* normalize_rows"):
        again = cluster_vertices(je, method="kmeans", degree_corrected=True, most=6)
    assert np.array_equal(again.points, corrected.points)


def test_hubs_that_change_need_degree_corrected_fits():
    rng = np.random.default_rng(0)
    hubs = np.where(rng.random((12, 60)) < 0.5, 0.3, 1.3)
    P = np.where(BLOCKS[:, None] == BLOCKS, 0.5, 0.15) * hubs[:, :, None] * hubs[:, None, :]
    A = np.triu(rng.random(P.shape) < P, 1).astype(float)
    A += A.transpose(0, 2, 1)
    je = eg.JointEmbedding(3, degree_corrected=True, random_state=0).fit(A)
    found = cluster_vertices(je, truth=BLOCKS)
    assert (found.n_clusters, found.ari) == (3, 1.0)
    # Positions are the space that the columns of H span, whatever basis of it they are.
    assert np.allclose(found.points.T @ found.points, np.eye(3))
    H = je.latent_positions_
    assert np.allclose(found.points @ (found.points.T @ H), H)


def test_stability_is_high_for_planted_blocks_and_low_for_noise():
    noise = eg.models.ErdosRenyi(60, 0.4).sample(12, random_state=0)
    for graphs, least, most in ((block_graphs(m=12), 0.99, 1.0), (noise, -0.5, 0.5)):
        je = eg.JointEmbedding(3, random_state=0).fit(graphs)
        found = cluster_vertices(je, n_clusters=3, graphs=graphs, n_boot=5)
        assert least <= found.stability <= most
        alone = cluster_vertices(je, n_clusters=3)
        assert np.array_equal(found.labels, alone.labels)
        assert alone.stability is None
    with pytest.raises(InputError, match="not both"):
        cluster_vertices(je, graph=0, graphs=graphs)
    with pytest.raises(InputError, match="fitted to 12 graphs, and graphs has 11"):
        cluster_vertices(je, graphs=graphs[:11])


def test_positions_in_one_graph():
    je = eg.JointEmbedding(3, random_state=0).fit(block_graphs())
    found = cluster_vertices(je, graph=4, n_clusters=3, truth=BLOCKS)
    assert found.points == pytest.approx(je.graph_positions(4).positions)
    assert found.ari == 1.0


def test_one_cloud_is_one_cluster():
    Lam = np.random.default_rng(0).normal(size=(80, 2))
    assert cluster_graphs(Lam).n_clusters == 1
    assert cluster_graphs(Lam, method="kmeans").n_clusters == 1


def test_groups_of_graphs_are_found_whatever_the_size_of_components():
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    Lam = np.stack([rng.normal(1000, 100, 60), group + rng.normal(0, 0.1, 60)], axis=1)
    found = cluster_graphs(Lam, truth=["ab"[g] for g in group])
    assert (found.n_clusters, found.ari) == (2, 1.0)
    raw = cluster_graphs(Lam, n_clusters=2, method="kmeans", standardize=False, truth=group)
    assert raw.ari < 0.5


def test_purity_by_hand():
    Lam = np.array([0.0, 0.1, 0.2, 9.0, 9.1])[:, None]
    found = cluster_graphs(Lam, n_clusters=2, method="kmeans", truth=list("aabbb"))
    assert found.purity == pytest.approx(0.8)


def test_directed_graphs_have_both_sides():
    A = np.random.default_rng(0).random((6, 9, 9))
    je = eg.JointEmbedding(2, directed=True, random_state=0).fit(A)
    assert cluster_vertices(je, n_clusters=2).points.shape == (9, 4)
    assert cluster_vertices(je, n_clusters=2, graph=0).points.shape == (9, 4)
