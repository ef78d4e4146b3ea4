"""Log-likelihoods against sums of scipy's, pair by pair."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.models import ErdosRenyi as ER
from eigengraphs.models import InhomogeneousErdosRenyi as IER
from eigengraphs.models import MultipleRandomEigenGraphs as MREG
from eigengraphs.models import PointMasses
from eigengraphs.models import RandomDotProductGraph as RDPG
from eigengraphs.models import StochasticBlockModel as SBM

N = 7
H = np.random.default_rng(1).uniform(1.0, 1.5, size=(N, 2))  # all probabilities are in [0, 1]
H /= np.linalg.norm(H, axis=0)


NOISE = 0.7
LAWS = {
    "bernoulli": stats.bernoulli.logpmf,
    "poisson": stats.poisson.logpmf,
    "gaussian": lambda weights, mean: stats.norm.logpdf(weights, mean, NOISE),
}


def with_law(loadings, law):
    return MREG(H, loadings, law=law, noise_scale=NOISE if law == "gaussian" else None)


def some_models():
    rng = np.random.default_rng(0)
    Q = rng.uniform(0.05, 0.95, size=(N, N))
    P = (Q + Q.T) / 2
    Lam = [[5.0, 1.0], [2.0, 0.0], [9.0, -1.0]]
    return {
        "er": ER(N, 0.3),
        "sbm": SBM(P[:3, :3], labels=[0, 1, 2, 1, 1, 0, 0]),
        "sbm-single": SBM(P[:3, :3], labels=[0, 1, 2, 1, 1, 1, 1]),
        "sbm-asymmetric": SBM(Q[:2, :2], labels=[0, 1, 1, 0, 1, 1, 0]),
        "ier": IER(P),
        "ier-asymmetric": IER(Q),
        "rdpg": RDPG(H * 0.9),
        "mreg": MREG(H, [2.0, -0.5]),
        "poisson": with_law(Lam, "poisson"),
        "gaussian": with_law(Lam, "gaussian"),
    }


@pytest.mark.parametrize(
    ("name", "loops", "directed"),
    [
        (name, loops, directed)
        for name in some_models()
        for loops, directed in itertools.product([False, True], repeat=2)
        if directed or "asymmetric" not in name
    ],
)
@pytest.mark.usefixtures("block_entries")
def test_it_is_the_sum_of_scipys_over_the_pairs_that_count(name, loops, directed, storage):
    model, weighted = some_models()[name], name in LAWS
    mean = model.expected_adjacency() if weighted else model.edge_probabilities()
    source, m = (model, 3) if weighted else (ER(N, 0.5), 6)
    graphs = source.sample(m, 0, loops=True, directed=directed).dense
    s, t = np.indices((N, N))
    counts = ((s != t) | loops) & ((s <= t) | directed)
    terms = LAWS[name if weighted else "bernoulli"](graphs, mean)
    got = model.log_likelihood(GraphStack(graphs, storage=storage), loops=loops, directed=directed)
    np.testing.assert_allclose(got, terms[:, counts].sum(axis=1), rtol=1e-12)


def test_certain_and_impossible_edges(storage):
    P = np.array([[0.5, 1.0, 0.0], [1.0, 0.5, 0.25], [0.0, 0.25, 0.5]])
    edge, no_edge = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.zeros((3, 3))
    no_edge[0, 1] = no_edge[1, 0] = 1
    impossible, missing = edge.copy(), edge.copy()
    impossible[0, 2] = impossible[2, 0] = 1
    missing[0, 1] = missing[1, 0] = 0
    stack = GraphStack([edge, no_edge, impossible, missing], storage=storage)
    expected = [np.log(0.25), np.log(0.75), -np.inf, -np.inf]
    for model in (IER(P), IER(P).to_sbm(), IER(P).to_mreg()):
        np.testing.assert_allclose(model.log_likelihood(stack), expected, rtol=1e-12)
    for p, values in ((0.0, [0.0, -np.inf]), (1.0, [-np.inf, 0.0])):
        got = ER(3, p).log_likelihood([np.zeros((3, 3)), np.ones((3, 3)) - np.eye(3)])
        assert np.array_equal(got, values)


@pytest.mark.parametrize("law", ["bernoulli", "poisson", "gaussian"])
def test_point_masses_are_summed_over(law):
    points, weights = np.array([[2.0, 0.5], [1.0, 0.0], [3.0, -0.5]]), np.array([0.2, 0.8, 0.0])
    model = with_law(PointMasses(points, weights), law)
    stack = model.sample(5, 0)
    terms = [
        np.log(weight) + model.log_likelihood(stack, loadings=point)
        for point, weight in zip(points[:2], weights[:2], strict=True)
    ]
    np.testing.assert_allclose(model.log_likelihood(stack), logsumexp(terms, axis=0), rtol=1e-12)


@pytest.mark.parametrize("law", ["bernoulli", "poisson", "gaussian"])
@pytest.mark.parametrize("own", ["fixed", "one vector", "point masses", "distributions"])
def test_given_loadings_stand_for_those_of_the_model(law, own):
    given = np.array([[2.0, 0.5], [1.0, 0.0], [3.0, -0.5]])
    loadings = {
        "fixed": given[::-1],
        "one vector": [1.5, 0.1],
        "point masses": PointMasses([[1.0, 0.0], [2.0, 0.1]]),
        "distributions": [stats.uniform(1, 1), stats.uniform(0, 0.1)],
    }[own]
    model, truth = with_law(loadings, law), with_law(given, law)
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


ARC, HEAVY, NONE = np.zeros((3, N, N))
ARC[2, 4], HEAVY[[2, 4], [4, 2]] = 1, 2.5
ONE, DRAWN = [2.0, 0.0], [stats.uniform(), stats.uniform()]
TOO_LARGE = r"^loadings\[1\]: the edge probability of the pair"
REFUSED = [
    (ER(N, 0.3), np.zeros((1, 5, 5)), None, "the graphs have 5 vertices, the model has 7"),
    (ER(N, 0.3), [ARC], None, "pass directed=True"),
    (ER(N, 0.3), [NONE, HEAVY], None, r"graphs\[1\] has weight 2.5 at entry \(2, 4\).*binarize"),
    (MREG(H, ONE, law="poisson"), [HEAVY], None, r"graphs\[0\] has weight 2.5 .* needs counts"),
    (MREG(H, ONE, law="gaussian", noise_scale=0), [HEAVY], None, "noise_scale=0 has no density"),
    (MREG(H, 3 * [ONE]), [NONE, NONE], None, "loadings for 3 graphs, but 2 graphs"),
    (MREG(H, ONE), [NONE, NONE], [ONE, [50.0, 0.0]], TOO_LARGE),
    (MREG(H, ONE), [NONE], [2.0, 0.0, 1.0], "loadings must have 2 entries for each graph"),
    (SBM([[0.5]], prior=[1.0], n_vertices=N), [NONE], None, "needs fixed.*pass labels="),
    (MREG(H, DRAWN), [NONE], None, "log_likelihood needs fixed.*pass loadings="),
]


@pytest.mark.parametrize(("model", "graphs", "loadings", "text"), REFUSED)
def test_graphs_and_loadings_that_do_not_fit_are_refused(model, graphs, loadings, text):
    given = {} if loadings is None else {"loadings": loadings}
    with pytest.raises(InputError, match=text):
        model.log_likelihood(graphs, **given)
    if "needs fixed" in text:
        with pytest.raises(InputError, match="edge_probabilities needs fixed"):
            model.edge_probabilities()
