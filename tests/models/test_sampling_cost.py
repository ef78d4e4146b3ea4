"""What a sample costs, counted in random numbers instead of seconds."""

import numpy as np
import pytest
from scipy import stats

from eigengraphs.models import MultipleRandomEigenGraphs, sampling

RATE = 1e-6


@pytest.mark.parametrize("law", ["bernoulli", "poisson"])
def test_random_numbers_of_sparse_eigen_graphs_follow_the_edges(law, counting_rng):
    h = np.linspace(1, 2, 3000)[:, None]
    model = MultipleRandomEigenGraphs(h / np.linalg.norm(h), [15.0], law=law)
    stack = model.sample(2, counting_rng)
    # Groups of vertices are bounded within a factor of two each: at most four events for an edge.
    assert (
        stack.flat.nnz / 2 < counting_rng.n_numbers < 4 * 3 * stack.flat.nnz / 2 < 0.1 * 2 * 3000**2
    )


def clipped_models():
    """(H, loadings, whether graphs are dense); the sums of unclipped means say the opposite."""
    signs = np.resize([1.0, -1.0], 2100)[:, None]
    signs += np.linspace(0, 0.01, 2100)[:, None]
    hubs = np.full((2100, 1), 1e-3) + np.linspace(0, 1e-5, 2100)[:, None]
    hubs[:100] = 1.0
    dense, sparse = (h / np.linalg.norm(h) for h in (signs, hubs))
    return {
        "half of the means are far below 0": (dense, [2000.0], True),
        "one in 400 is far above 1": (sparse, [10_000.0], False),
        "each graph has its own": (dense, [[2000.0], [1500.0]], True),
    }


@pytest.mark.parametrize("name", clipped_models())
def test_clipped_graphs_are_drawn_and_stored_by_their_clipped_means(name, monkeypatch):
    H, loadings, dense = clipped_models()[name]
    model = MultipleRandomEigenGraphs(H, loadings, clip=True)
    ways = []
    for way in ("every_pair", "events"):
        usual = getattr(sampling._Draw, way)

        def spy(*args, way=way, usual=usual):
            ways.append(way)
            return usual(*args)

        monkeypatch.setattr(sampling._Draw, way, spy)
    stack = model.sample(random_state=0)
    assert set(ways) == {"every_pair" if dense else "events"}
    assert stack.is_sparse != dense
    expected = model.edge_probabilities(np.atleast_2d(loadings)[0])
    np.fill_diagonal(expected, 0)
    scale = np.sqrt((expected * (1 - expected)).sum() * 2)
    assert abs(stack[0].sum() - expected.sum()) <= stats.norm.isf(RATE / 2) * scale


def test_sparse_clipped_graphs_cost_their_edges(counting_rng):
    H, loadings, _ = clipped_models()["one in 400 is far above 1"]
    stack = MultipleRandomEigenGraphs(H, loadings, clip=True).sample(1, counting_rng)
    assert counting_rng.n_numbers < 10 * stack.flat.nnz


def test_many_small_graphs_are_drawn_together(counting_rng):
    H = np.stack([np.resize(pattern, 20) for pattern in ([1], [1, -1], [1, 1, -1, -1])], axis=1)
    laws = [stats.uniform(8, 8), stats.uniform(0, 2), stats.uniform(0, 1)]
    model = MultipleRandomEigenGraphs(H / np.sqrt(20), laws)
    stack = model.sample(4096, random_state=counting_rng, loops=True)
    assert stack.shape == (4096, 20, 20)
    assert counting_rng.n_calls < 10
