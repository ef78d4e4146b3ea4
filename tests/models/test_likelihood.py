"""Log-likelihoods against sums of scipy's, pair by pair."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.models import (
    ErdosRenyi,
    InhomogeneousErdosRenyi,
    MultipleRandomEigenGraphs,
    PointMasses,
    RandomDotProductGraph,
    StochasticBlockModel,
    edge_means,
    likelihood,
)

N = 7
CASES = [(False, False), (True, False), (False, True), (True, True)]


def brute_force(A, law, loops, directed):
    """Sum scipy's log-probabilities over the pairs that count."""
    total = np.zeros(len(A))
    for s in range(N):
        for t in range(N):
            if (s == t and not loops) or (s > t and not directed):
                continue
            total += law(A[:, s, t], s, t)
    return total


def some_models():
    rng = np.random.default_rng(0)
    Q = rng.uniform(0.05, 0.95, size=(N, N))
    P = (Q + Q.T) / 2
    H = rng.uniform(1.0, 1.5, size=(N, 2))  # so that all probabilities are between 0 and 1
    H /= np.linalg.norm(H, axis=0)
    return {
        "er": ErdosRenyi(N, 0.3),
        "sbm": StochasticBlockModel(P[:3, :3], labels=[0, 1, 2, 1, 1, 0, 0]),
        "sbm-single": StochasticBlockModel(P[:3, :3], labels=[0, 1, 2, 1, 1, 1, 1]),
        "sbm-asymmetric": StochasticBlockModel(Q[:2, :2], labels=[0, 1, 1, 0, 1, 1, 0]),
        "ier": InhomogeneousErdosRenyi(P),
        "ier-asymmetric": InhomogeneousErdosRenyi(Q),
        "rdpg": RandomDotProductGraph(H * 0.9),
        "mreg": MultipleRandomEigenGraphs(H, [2.0, -0.5]),
    }


@pytest.fixture(params=["dense", "sparse"])
def storage(request):
    return request.param


@pytest.fixture(params=["usual blocks", "small blocks"])
def small_blocks(request, monkeypatch):
    if request.param == "small blocks":
        for module in (edge_means, likelihood):
            monkeypatch.setattr(module, "BLOCK_ENTRIES", 10)


@pytest.mark.parametrize(
    ("name", "loops", "directed"),
    [
        (name, loops, directed)
        for name in some_models()
        for loops, directed in CASES
        if directed or "asymmetric" not in name
    ],
)
def test_bernoulli(name, loops, directed, storage, small_blocks):
    model = some_models()[name]
    P = model.edge_probabilities()
    graphs = ErdosRenyi(N, 0.5).sample(6, 0, loops=True, directed=directed).dense
    expected = brute_force(
        graphs, lambda a, s, t: stats.bernoulli.logpmf(a, P[s, t]), loops, directed
    )
    stack = GraphStack(graphs, storage=storage)
    got = model.log_likelihood(stack, loops=loops, directed=directed)
    assert got.shape == (6,)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_certain_and_impossible_edges(storage):
    P = np.array([[0.5, 1.0, 0.0], [1.0, 0.5, 0.25], [0.0, 0.25, 0.5]])
    edge, no_edge = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.zeros((3, 3))
    no_edge[0, 1] = no_edge[1, 0] = 1
    impossible, missing = edge.copy(), edge.copy()
    impossible[0, 2] = impossible[2, 0] = 1
    missing[0, 1] = missing[1, 0] = 0
    stack = GraphStack([edge, no_edge, impossible, missing], storage=storage)
    expected = [np.log(0.25), np.log(0.75), -np.inf, -np.inf]
    for model in (
        InhomogeneousErdosRenyi(P),
        InhomogeneousErdosRenyi(P).to_sbm(),
        InhomogeneousErdosRenyi(P).to_mreg(),
    ):
        np.testing.assert_allclose(model.log_likelihood(stack), expected, rtol=1e-12)
    for p, values in ((0.0, [0.0, -np.inf]), (1.0, [-np.inf, 0.0])):
        got = ErdosRenyi(3, p).log_likelihood([np.zeros((3, 3)), np.ones((3, 3)) - np.eye(3)])
        assert np.array_equal(got, values)


@pytest.mark.parametrize("law", ["poisson", "gaussian"])
@pytest.mark.parametrize(("loops", "directed"), CASES)
def test_weights(law, loops, directed, storage, small_blocks):
    H = some_models()["mreg"].latent_positions
    Lam = np.array([[5.0, 1.0], [2.0, 0.0], [9.0, -1.0]])
    noise = 0.7 if law == "gaussian" else None
    model = MultipleRandomEigenGraphs(H, Lam, law=law, noise_scale=noise)
    graphs = model.sample(random_state=0, loops=True, directed=directed).dense
    mean = model.expected_adjacency()

    def log_density(a, s, t):
        if law == "poisson":
            return stats.poisson.logpmf(a, mean[:, s, t])
        return stats.norm.logpdf(a, mean[:, s, t], noise)

    expected = brute_force(graphs, log_density, loops, directed)
    stack = GraphStack(graphs, storage=storage)
    got = model.log_likelihood(stack, loops=loops, directed=directed)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("law", ["bernoulli", "poisson", "gaussian"])
def test_point_masses_are_summed_over(law):
    H = some_models()["mreg"].latent_positions
    points, weights = np.array([[2.0, 0.5], [1.0, 0.0], [3.0, -0.5]]), np.array([0.2, 0.8, 0.0])
    noise = 0.5 if law == "gaussian" else None
    model = MultipleRandomEigenGraphs(H, PointMasses(points, weights), law=law, noise_scale=noise)
    stack = model.sample(5, 0)
    terms = [
        np.log(weight) + model.log_likelihood(stack, loadings=point)
        for point, weight in zip(points[:2], weights[:2], strict=True)
    ]
    np.testing.assert_allclose(model.log_likelihood(stack), logsumexp(terms, axis=0), rtol=1e-12)


@pytest.mark.parametrize("law", ["bernoulli", "poisson", "gaussian"])
@pytest.mark.parametrize("own", ["fixed", "one vector", "point masses", "distributions"])
def test_given_loadings_stand_for_those_of_the_model(law, own):
    H = some_models()["mreg"].latent_positions
    given = np.array([[2.0, 0.5], [1.0, 0.0], [3.0, -0.5]])
    keywords = {"law": law, "noise_scale": 0.5 if law == "gaussian" else None}
    loadings = {
        "fixed": given[::-1],
        "one vector": [1.5, 0.1],
        "point masses": PointMasses([[1.0, 0.0], [2.0, 0.1]]),
        "distributions": [stats.uniform(1, 1), stats.uniform(0, 0.1)],
    }[own]
    model = MultipleRandomEigenGraphs(H, loadings, **keywords)
    truth = MultipleRandomEigenGraphs(H, given, **keywords)
    stack = truth.sample(random_state=0, loops=True)
    for loops in (False, True):
        expected = truth.log_likelihood(stack, loops=loops)
        got = model.log_likelihood(stack, loops=loops, loadings=given)
        np.testing.assert_allclose(got, expected, rtol=1e-13)
        one_by_one = [
            model.log_likelihood(stack[i : i + 1], loops=loops, loadings=given[i])[0]
            for i in range(3)
        ]
        np.testing.assert_allclose(one_by_one, expected, rtol=1e-13)


def test_given_loadings_that_do_not_fit_are_refused_by_their_name():
    H = some_models()["mreg"].latent_positions
    stack = np.zeros((2, N, N))
    for own in ([2.0, 0.0], [[2.0, 0.0]] * 2, PointMasses([[2.0, 0.0]])):
        model = MultipleRandomEigenGraphs(H, own)
        with pytest.raises(InputError, match=r"^loadings\[1\]: the edge probability of the pair"):
            model.log_likelihood(stack, loadings=[[2.0, 0.0], [50.0, 0.0]])
        with pytest.raises(InputError, match="loadings for 3 graphs, but 2 graphs"):
            model.log_likelihood(stack, loadings=[[2.0, 0.0]] * 3)
        with pytest.raises(InputError, match="loadings must have 2 entries for each graph"):
            model.log_likelihood(stack, loadings=[2.0, 0.0, 1.0])
        with pytest.raises(InputError, match="loadings must be an array of numbers"):
            model.log_likelihood(stack, loadings="ab")


@pytest.mark.parametrize(
    "model",
    [
        ErdosRenyi(100_000, 1e-4),
        StochasticBlockModel([[2e-4, 1e-5], [1e-5, 1e-4]], labels=np.arange(100_000) % 2),
    ],
)
def test_blocks_cost_the_edges(model, monkeypatch):
    stack = model.sample(1, 0)
    looked_at = []
    at = edge_means.BlockMeans.at
    monkeypatch.setattr(
        edge_means.BlockMeans,
        "at",
        lambda self, i, s, t: looked_at.append(len(s)) or at(self, i, s, t),
    )
    monkeypatch.delattr(edge_means.BlockMeans, "block")  # rows of the matrix would cost the pairs
    tracemalloc.start()
    got = model.log_likelihood(stack)[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * stack.nbytes
    assert sum(looked_at) == stack.flat.nnz // 2
    # The entropy of the model, within its standard deviation (normal, false alarm below 1e-6).
    B = np.array([[model.p]]) if isinstance(model, ErdosRenyi) else model.B
    pairs = (100_000 / len(B)) ** 2 / 2 * B.size
    p = B.mean() if B.size == 1 else B
    mean = pairs * np.mean(p * np.log(p) + (1 - p) * np.log1p(-p))
    scale = np.sqrt(pairs * np.mean(p * (1 - p) * np.log(p / (1 - p)) ** 2))
    assert abs(got - mean) < 5.5 * scale


def test_graphs_that_do_not_fit_are_refused():
    model = some_models()["er"]
    with pytest.raises(InputError, match="the graphs have 5 vertices, the model has 7"):
        model.log_likelihood(np.zeros((1, 5, 5)))
    graph = np.zeros((N, N))
    graph[2, 4] = 1
    with pytest.raises(InputError, match="pass directed=True"):
        model.log_likelihood([graph])
    graph[2, 4] = graph[4, 2] = 2.5
    with pytest.raises(InputError, match=r"graphs\[1\] has weight 2.5 at entry \(2, 4\).*binarize"):
        model.log_likelihood([0 * graph, graph])
    mreg = some_models()["mreg"]
    poisson = MultipleRandomEigenGraphs(mreg.latent_positions, [2.0, 0.0], law="poisson")
    with pytest.raises(InputError, match=r"graphs\[0\] has weight 2.5 .* needs counts"):
        poisson.log_likelihood([graph])
    several = MultipleRandomEigenGraphs(mreg.latent_positions, [[2.0, 0.0]] * 3)
    with pytest.raises(InputError, match="loadings for 3 graphs, but 2 graphs"):
        several.log_likelihood(np.zeros((2, N, N)))
    exact = MultipleRandomEigenGraphs(
        mreg.latent_positions, [2.0, 0.0], law="gaussian", noise_scale=0
    )
    with pytest.raises(InputError, match="noise_scale=0 has no density"):
        exact.log_likelihood([graph])


def test_random_latents_are_refused_with_advice():
    graph = np.zeros((1, N, N))
    H = some_models()["mreg"].latent_positions
    for model, text in (
        (StochasticBlockModel([[0.5]], prior=[1.0], n_vertices=N), "pass labels="),
        (RandomDotProductGraph(distribution=[stats.uniform()], n_vertices=N), "pass positions="),
        (MultipleRandomEigenGraphs(H, [stats.uniform(), stats.uniform()]), "pass loadings="),
    ):
        with pytest.raises(InputError, match=f"log_likelihood needs fixed.*{text}"):
            model.log_likelihood(graph)
        with pytest.raises(InputError, match=f"edge_probabilities needs fixed.*{text}"):
            model.edge_probabilities()
