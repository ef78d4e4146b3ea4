"""Clusters of vertices and of graphs: planted ones are found, their number too."""

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.inference import cluster_vertices

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
