"""Samplers against their edge probabilities; the rate of false alarms is 1e-6 a check."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from eigengraphs.models import ErdosRenyi as ER
from eigengraphs.models import InhomogeneousErdosRenyi as IER
from eigengraphs.models import MultipleRandomEigenGraphs as MREG
from eigengraphs.models import PointMasses
from eigengraphs.models import RandomDotProductGraph as RDPG
from eigengraphs.models import StochasticBlockModel as SBM

N = 12
M = 3000
RATE = 1e-6


def some_probabilities(symmetric=True):
    # Certain, impossible and rare pairs among ordinary ones, over several powers of two.
    rng = np.random.default_rng(3)
    P = rng.uniform(size=(N, N)) * 2.0 ** -rng.integers(0, 7, size=(N, N))
    P[0, 1] = P[1, 0] = 1.0
    P[2, 3] = P[3, 2] = 0.0
    return np.triu(P) + np.triu(P, 1).T if symmetric else P


def some_positions():
    rng = np.random.default_rng(4)
    return rng.dirichlet([1, 1, 1], size=N)[:, :2] * 0.98 ** np.arange(N)[:, None]


def some_latent_positions(d=3):
    # In a range in which the probabilities of all models below are between 0 and 1.
    H = np.random.default_rng(5).uniform(1.0, 1.5, size=(N, d))
    return H / np.linalg.norm(H, axis=0)


def clipped_at_some_pairs(H):
    """Let a third of the means be above 1, whatever the positions are."""
    return MREG(H, [1 / np.quantile(H @ H.T, 2 / 3)], clip=True)


MODELS = {
    "er": ER(N, 0.3),
    "er-rare": ER(N, 0.01),
    "er-certain": ER(N, 1.0),
    "sbm": SBM([[0.7, 0.05], [0.05, 0.2]], labels=np.arange(N) % 3 // 2),
    "sbm-n-blocks": SBM(some_probabilities(), labels=np.arange(N)),
    "ier": IER(some_probabilities()),
    "rdpg": RDPG(some_positions()),
    "sbm-asymmetric": SBM(some_probabilities(symmetric=False)[:4, :4], labels=np.arange(N) % 4),
    "ier-asymmetric": IER(some_probabilities(symmetric=False)),
    "mreg": MREG(some_latent_positions(), [3.5, -0.4, 0.8]),
    "mreg-blocks": ER(N, 0.2).to_mreg(),
    "mreg-clip": clipped_at_some_pairs(some_latent_positions(1)),
}


@pytest.mark.parametrize(
    ("name", "loops", "directed"),
    [
        (name, loops, directed)
        for name in MODELS
        for loops, directed in itertools.product([False, True], repeat=2)
        if directed or "asymmetric" not in name
    ],
)
def test_frequencies_are_the_edge_probabilities(name, loops, directed, engine, check_frequencies):
    model = MODELS[name]
    stack = model.sample(M, random_state=1, loops=loops, directed=directed)
    assert stack.is_sparse == engine.endswith("sparse")
    check_frequencies(stack, model.edge_probabilities(), loops=loops, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.usefixtures("block_entries")
def test_each_graph_follows_its_own_loadings(directed, engine, check_frequencies):
    Lam = np.array([[3.5, -0.4, 0.8], [0.5, 0.1, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 2.0]])
    model = MREG(some_latent_positions(), np.tile(Lam, (400, 1)))
    stack = model.sample(random_state=4, directed=directed)
    assert len(stack) == 1600
    for i, P in enumerate(model.edge_probabilities(loadings=Lam)):
        check_frequencies(stack[i::4], P, directed=directed, rate=RATE / 4)


X = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.5, 0.5]])
FEW = {  # models whose pairs are all of middling probability
    "ier": IER([[0, 0.5, 0.3, 0.6], [0.5, 0, 0.4, 0.45], [0.3, 0.4, 0, 0.5], [0.6, 0.45, 0.5, 0]]),
    "rdpg": RDPG(X),
    "ier, directed": IER([[0, 0.5, 0.3], [0.4, 0, 0.6], [0.55, 0.35, 0]]),
    "rdpg, directed": RDPG(X[:3]),
}


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("seed", range(2))
def test_whole_graphs_have_their_exact_distribution(name, seed, engine):
    # All 64 graphs on 4 vertices, or directed on 3, by chi-square: the joint law, where repeated
    # events and edges that depend on each other would be seen.
    model, directed, m = FEW[name], "directed" in name, 20_000
    P = model.edge_probabilities()
    A = model.sample(m, random_state=seed, directed=directed).to_dense().dense
    s, t = np.nonzero(~np.eye(3, dtype=bool)) if directed else np.triu_indices(4, 1)
    codes = (A[:, s, t] @ 2.0 ** np.arange(6)).astype(int)
    bits = (np.arange(64)[:, None] >> np.arange(6)) & 1
    expected = m * np.prod(np.where(bits, P[s, t], 1 - P[s, t]), axis=1)
    assert expected.min() > 20
    assert stats.chisquare(np.bincount(codes, minlength=64), expected).pvalue > RATE


@pytest.mark.parametrize(("loops", "directed"), [(False, False), (True, False), (False, True)])
def test_poisson_weights(loops, directed, engine):
    H = some_latent_positions()
    H[:3] /= 3  # so that repeated events and pairs one by one both happen
    H /= np.linalg.norm(H, axis=0)
    model = MREG(H, [18.0, -0.4, 0.8], law="poisson")
    A = model.sample(M, 5, loops=loops, directed=directed).to_dense().dense
    mean = model.expected_adjacency()
    s, t = np.nonzero(np.ones((N, N))) if directed else np.triu_indices(N)
    keep = np.full(len(s), True) if loops else s != t
    s, t = s[keep], t[keep]
    assert mean[s, t].min() < 0.4 < 1.5 < mean[s, t].max()
    # A sum of M Poisson counts is Poisson, and so are the frequencies of 0 and 1 binomial.
    for counts, law in [
        (A.sum(axis=0)[s, t], stats.poisson(M * mean[s, t])),
        ((A == 0).sum(axis=0)[s, t], stats.binom(M, np.exp(-mean[s, t]))),
        ((A == 1).sum(axis=0)[s, t], stats.binom(M, mean[s, t] * np.exp(-mean[s, t]))),
    ]:
        p_values = 2 * np.minimum(law.cdf(counts), law.sf(counts - 1))
        assert p_values.min() > RATE / len(s)
    np.testing.assert_allclose(model.edge_probabilities(), 1 - np.exp(-mean), atol=1e-12)
    if not loops:
        assert not np.einsum("iss->is", A).any()
    assert directed or np.array_equal(A, A.transpose(0, 2, 1))


@pytest.mark.parametrize("directed", [False, True])
def test_gaussian_weights(directed):
    parts = some_latent_positions(), [9.0, -4.0, 0.8]
    model = MREG(*parts, law="gaussian", noise_scale=0.5)
    A = model.sample(M, 6, directed=directed).dense
    s, t = np.nonzero(~np.eye(N, dtype=bool)) if directed else np.triu_indices(N, 1)
    z = (A[:, s, t] - model.expected_adjacency()[s, t]) / 0.5
    assert np.abs(z.sum(axis=0)).max() / np.sqrt(M) < stats.norm.isf(RATE / 2 / len(s))
    variance = stats.chi2(z.size)
    assert RATE / 2 < variance.cdf((z**2).sum()) < 1 - RATE / 2
    assert not np.einsum("iss->is", A).any()
    assert directed != np.array_equal(A, A.transpose(0, 2, 1))
    assert (model.edge_probabilities() == 1).all()
    exact = MREG(*parts, law="gaussian", noise_scale=0.0)
    loops = exact.sample(2, loops=True, directed=directed).dense
    np.testing.assert_allclose(loops, np.stack([exact.expected_adjacency()] * 2), atol=1e-12)


def test_the_check_itself_finds_a_wrong_sampler(check_frequencies):
    stack = ER(N, 0.3).sample(M, random_state=0)
    with pytest.raises(AssertionError, match="pair"):
        check_frequencies(stack, np.full((N, N), 0.36))
    with pytest.raises(AssertionError):
        check_frequencies(ER(N, 0.3).sample(M, 0, loops=True), np.full((N, N), 0.3))


def test_heavy_tailed_sparse_graphs():
    # Hubs put some groups of vertices among those drawn one by one; nothing is forced here.
    rng = np.random.default_rng(0)
    n, m = 3000, 40
    X = rng.dirichlet([1, 1, 1], size=n) * np.minimum(0.03 * (1 + rng.pareto(1.2, (n, 1))), 1)
    model = RDPG(X)
    stack = model.sample(m, random_state=1)
    assert stack.is_sparse
    P = model.edge_probabilities()
    np.fill_diagonal(P, 0)
    assert P.mean() < 0.05 < 0.6 < P.max()
    degrees = np.asarray(stack.flat.sum(axis=1)).reshape(m, n).sum(axis=0)
    z = (degrees - m * P.sum(axis=1)) / np.sqrt(m * (P * (1 - P)).sum(axis=1))
    hubs = m * P.sum(axis=1) > 1000  # where the normal tail may be trusted
    assert hubs.sum() > 20
    assert np.abs(z[hubs]).max() < stats.norm.isf(RATE / 2 / hubs.sum())
    edges = stats.norm(m * P.sum() / 2, np.sqrt(m * (P * (1 - P)).sum() / 2))
    assert RATE / 2 < edges.cdf(degrees.sum() / 2) < 1 - RATE / 2


def test_drawn_loadings_are_returned_and_have_their_distribution(check_frequencies):
    H = some_latent_positions()
    for mean, law in (
        ([2.5, -0.1, 0.5], [stats.uniform(2, 1), stats.uniform(-0.2, 0.2), stats.uniform(0, 1)]),
        ([2.5, -0.1, 0.5], lambda rng, size: rng.uniform([2, -0.2, 0], [3, 0, 1], (size, 3))),
        ([2, 0.1, 0.5], stats.multivariate_normal([2, 0.1, 0.5], 1e-4 * np.eye(3))),
    ):
        model = MREG(H, law)
        stack, latent = model.sample(4000, 9, return_latent=True)
        assert latent.loadings.shape == (4000, 3)
        assert latent.labels is latent.positions is None
        scale = latent.loadings.std(axis=0) / np.sqrt(4000)
        assert np.abs((latent.loadings.mean(axis=0) - mean) / scale).max() < stats.norm.isf(RATE)
        # Given the loadings, edges are independent: a normal test at 4000 graphs.
        P = model.edge_probabilities(loadings=latent.loadings)
        z = (stack.dense - P).sum(axis=0) / np.sqrt((P * (1 - P)).sum(axis=0))
        z = z[np.triu_indices(N, 1)]
        assert np.abs(z).max() < stats.norm.isf(RATE / 2 / len(z))


def test_point_masses_say_which_mass(check_frequencies):
    masses = PointMasses([[3.5, -0.4, 0.8], [0.5, 0.1, 0.0]], weights=[0.25, 0.75])
    model = MREG(some_latent_positions(), masses)
    stack, latent = model.sample(4000, 10, return_latent=True)
    assert np.array_equal(latent.loadings, masses.points[latent.labels])
    law = stats.binom(4000, 0.75)
    assert RATE / 2 < law.cdf(latent.labels.sum()) < 1 - RATE / 2
    P = model.edge_probabilities(loadings=masses.points)
    for j in range(2):
        check_frequencies(stack[latent.labels == j], P[j], rate=RATE / 2)


def test_graphs_share_drawn_labels_and_positions(check_frequencies):
    B = np.array([[0.8, 0.1], [0.1, 0.3]])
    stack, latent = SBM(B, prior=[0.3, 0.7], n_vertices=20).sample(2000, 11, return_latent=True)
    check_frequencies(stack, B[np.ix_(latent.labels, latent.labels)])
    many = SBM(B / 10_000, prior=[0.3, 0.7], n_vertices=40_000)
    law = stats.binom(40_000, 0.7)
    labels = many.sample(1, 11, return_latent=True)[1].labels
    assert RATE / 2 < law.cdf(labels.sum()) < 1 - RATE / 2

    def draws(rng, size):
        return rng.dirichlet([1, 1, 1], size=size)[:, :2]

    model = RDPG(distribution=draws, n_vertices=15)
    stack, latent = model.sample(2000, 12, return_latent=True)
    check_frequencies(stack, latent.positions @ latent.positions.T)
    masses = PointMasses([[0.1], [0.9]])
    _, latent = RDPG(distribution=masses, n_vertices=15).sample(2, 0, return_latent=True)
    assert np.array_equal(masses.points[latent.labels], latent.positions)


@pytest.mark.parametrize("name", MODELS)
def test_one_seed_one_sample(name, engine):
    def draw(seed):
        return MODELS[name].sample(20, seed, directed=True).to_dense().dense

    rng = np.random.default_rng(0)
    first, again, *others = (draw(seed) for seed in (0, 0, 1, rng, rng))
    assert np.array_equal(first, again)
    same = [np.array_equal(a, b) for a, b in itertools.pairwise(others)]
    assert same == 2 * [name == "er-certain"]


def test_memory_and_random_numbers_follow_the_edges(counting_rng):
    model = ER(100_000, 20 / 100_000)
    model.sample(1, random_state=0)  # compiled kernels and imports are not the sampler's
    tracemalloc.start()
    stack = model.sample(1, random_state=counting_rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_edges = stack.flat.nnz // 2
    law = stats.binom(100_000 * 99_999 // 2, 20 / 100_000)
    assert RATE / 2 < law.cdf(n_edges) < 1 - RATE / 2
    # n^2 entries would take 10 GB even as bytes.
    assert peak < 6 * stack.nbytes
    # The groups and two vertices for each event, and one number of events.
    assert 3 * n_edges < counting_rng.n_numbers < 3.1 * n_edges


@pytest.mark.parametrize("n", [1, 2])
def test_tiny_vertex_sets(n, engine):
    for model in (
        ER(n, 1.0),
        SBM([[1.0]], labels=[0] * n),
        IER(np.ones((n, n))),
        RDPG(np.ones((n, 1))),
        MREG(np.full((n, 1), n**-0.5), [float(n)]),
    ):
        A = model.sample(2).to_dense().dense
        assert np.array_equal(A, np.stack([np.ones((n, n)) - np.eye(n)] * 2))
        A = model.sample(2, loops=True).to_dense().dense
        assert np.array_equal(A, np.ones((2, n, n)))


def test_empty_graphs_stay_sparse():
    assert ER(5000, 0.0).sample(2, random_state=0).flat.nnz == 0


def clipped_models():
    signs = np.resize([1.0, -1.0], 2100)[:, None]
    signs += np.linspace(0, 0.01, 2100)[:, None]
    hubs = np.full((2100, 1), 1e-3) + np.linspace(0, 1e-5, 2100)[:, None]
    hubs[:100] = 1.0
    below, above = (h / np.linalg.norm(h) for h in (signs, hubs))
    return {
        "half of the means are far below 0": (below, [2000.0]),
        "one in 400 is far above 1": (above, [10_000.0]),
        "each graph has its own": (below, [[2000.0], [1500.0]]),
    }


@pytest.mark.parametrize("name", clipped_models())
def test_clipped_graphs_are_drawn_by_their_clipped_means(name):
    H, loadings = clipped_models()[name]
    model = MREG(H, loadings, clip=True)
    stack = model.sample(random_state=0)
    expected = model.edge_probabilities(np.atleast_2d(loadings)[0])
    np.fill_diagonal(expected, 0)
    scale = np.sqrt((expected * (1 - expected)).sum() * 2)
    assert abs(stack[0].sum() - expected.sum()) <= stats.norm.isf(RATE / 2) * scale
