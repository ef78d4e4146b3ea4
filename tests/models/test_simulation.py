"""Graph i depends on the design, the seed and i; it has the law that the design says."""

import numpy as np
import pytest
from scipy import stats

from eigengraphs.errors import InputError
from eigengraphs.models.simulation import read_design, simulate_blocks, simulate_truth

RATE = 1e-6  # of false alarms of a test

BLOCKS = {"model": "sbm", "sizes": [30, 20],
          "classes": [{"name": "x", "B": [[0.5, 0.1], [0.1, 0.3]]},
                      {"name": "y", "weight": 3, "B": [[0.2, 0.2], [0.2, 0.6]]}]}  # fmt: skip


def eigen_graphs(n, law, **more):
    """Return a recipe with random loadings; n > 512 is drawn in another way than n <= 512."""
    loadings = [{"uniform": [5, 9]}, {"normal": [2, 0.1]}]
    blocks = {"sizes": [n // 2, n - n // 2], "patterns": [[1, 1], [1, -1]]}
    return {"model": "mreg", "law": law, "loadings": loadings, **blocks, **more}


DESIGNS = {
    "section5.1": read_design("section5.1"),
    "section5.2": read_design("section5.2", loops=True),
    "weighted": read_design("weighted", vertices=30, mean_degree=20),
    "sparse": read_design("sparse", vertices=700),
    "blocks": read_design(BLOCKS),
    "small": read_design(eigen_graphs(40, "poisson")),
    "large": read_design(eigen_graphs(600, "poisson")),
    "dense and large": read_design({"model": "er", "vertices": 530, "p": 0.4}),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_graph_depends_on_the_seed_and_its_number_alone(name):
    design = DESIGNS[name]
    whole = simulate_blocks(design, 0, 7, seed=3)
    truth = simulate_truth(design, 0, 7, seed=3)
    for start, stop in ((0, 1), (2, 5), (6, 7)):
        part = simulate_blocks(design, start, stop, seed=3)
        assert part.graph_names == whole.graph_names[start:stop]
        assert np.array_equal(np.asarray(part.to_dense()), np.asarray(whole.to_dense())[start:stop])
        again = simulate_truth(design, start, stop, seed=3)
        assert np.array_equal(again.loadings, truth.loadings[start:stop])
        assert np.array_equal(again.classes, truth.classes[start:stop])
    other = simulate_blocks(design, 0, 7, seed=4).to_dense().dense
    assert not any(np.array_equal(a, b) for a, b in zip(whole.to_dense().dense, other, strict=True))
    graphs = whole.to_dense().dense
    assert not any(np.array_equal(graphs[i], graphs[j]) for i in range(7) for j in range(i))


def test_a_seed_is_a_number_or_its_sequence():
    design = DESIGNS["section5.1"]
    one = simulate_blocks(design, 0, 3, seed=5).dense
    assert np.array_equal(one, simulate_blocks(design, 0, 3, np.random.SeedSequence(5)).dense)
    with pytest.raises(InputError, match="start < stop"):
        simulate_blocks(design, 3, 3)


@pytest.mark.parametrize("n", [40, 600])
def test_the_truth_is_what_the_graphs_were_drawn_from(n):
    design = read_design(eigen_graphs(n, "gaussian", noise_scale=0.0))
    graphs = simulate_blocks(design, 0, 3, seed=1).dense
    Lam = simulate_truth(design, 0, 3, seed=1).loadings
    H = design.positions
    expected = np.einsum("sk,ik,tk->ist", H, Lam, H)
    expected[:, np.arange(n), np.arange(n)] = 0.0
    assert np.allclose(graphs, expected, atol=1e-12)
    assert (np.abs(Lam[:, 0] - 7) <= 2).all()
    assert len(np.unique(Lam)) == Lam.size


@pytest.mark.parametrize("name", ["section5.1", "section5.2", "weighted", "small", "large"])
def test_edges_have_their_means(name):
    design = DESIGNS[name]
    m = 5 if name == "large" else 100
    A = simulate_blocks(design, 0, m, seed=2).to_dense().dense
    Lam = simulate_truth(design, 0, m, seed=2).loadings
    H = design.positions
    poisson = design.classes[0].model.law == "poisson"
    s, t = np.triu_indices(len(H), 0 if design.loops else 1)
    worst = 0.0
    # The total over all pairs, and that of pairs picked by the sign of each component.
    for picked in [np.ones(len(s), dtype=bool), *(h[s] * h[t] > 0 for h in H.T)]:
        seen = expected = variance = 0.0
        for graph, lam in zip(A, Lam, strict=True):
            mean = ((H[s] * lam) * H[t]).sum(axis=1)[picked]
            seen += graph[s, t][picked].sum()
            expected += mean.sum()
            variance += (mean if poisson else mean * (1 - mean)).sum()
        worst = max(worst, abs(seen - expected) / np.sqrt(variance))
    assert worst < stats.norm.isf(RATE / 2)
    assert (A.transpose(0, 2, 1) == A).all()
    assert design.loops == bool(A[:, np.arange(len(H)), np.arange(len(H))].any())


def test_classes_come_as_often_as_they_should_and_have_their_own_model():
    design = read_design(BLOCKS)
    m = 2000
    classes = simulate_truth(design, 0, m, seed=0).classes
    assert abs((classes == 1).mean() - 0.75) < stats.norm.isf(RATE / 2) * np.sqrt(0.75 * 0.25 / m)
    A = simulate_blocks(design, 0, 300, seed=0).dense
    for k, p in ((0, 0.5), (1, 0.2)):
        pairs = A[classes[:300] == k][:, :30, :30].sum() / (30 * 29 * (classes[:300] == k).sum())
        assert pairs == pytest.approx(p, abs=0.01)


def test_points_are_taken_by_their_weights():
    loadings = {"points": [[6.0, 1.0], [4.0, 3.0]], "weights": [1, 4]}
    design = read_design(eigen_graphs(40, "bernoulli", loadings=loadings))
    Lam = simulate_truth(design, 0, 2000, seed=0).loadings
    assert {tuple(lam) for lam in Lam.tolist()} == {(6.0, 1.0), (4.0, 3.0)}
    assert (Lam[:, 0] == 4.0).mean() == pytest.approx(0.8, abs=0.05)


def test_gamma_loadings_have_the_mean_and_deviation_asked():
    loadings = [{"gamma": [6.0, 2.0]}, 1.0]
    Lam = simulate_truth(
        read_design(eigen_graphs(40, "poisson", loadings=loadings)), 0, 4000
    ).loadings
    assert Lam[:, 0].mean() == pytest.approx(6.0, abs=5 * 2 / np.sqrt(4000))
    assert Lam[:, 0].std() == pytest.approx(2.0, rel=0.1)
    assert (Lam[:, 1] == 1.0).all()


@pytest.mark.parametrize("name", ["weighted", "sparse"])
def test_sized_designs_have_the_mean_degree_asked(name):
    design = read_design(name, vertices=600, mean_degree=8)
    stack = simulate_blocks(design, 0, 20, seed=0)
    total = float(np.mean([graph.sum() for graph in stack])) / 600
    assert total == pytest.approx(8, rel=0.1)  # loadings vary by 15 % and 6 % between graphs
    assert stack.is_weighted == (name == "weighted")
