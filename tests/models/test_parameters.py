"""Parameters: what is refused and in which words, clipping, immutability, and the reprs."""

import functools
import pickle

import numpy as np
import pytest
from scipy import stats

from eigengraphs.errors import InputError
from eigengraphs.models import ErdosRenyi as ER
from eigengraphs.models import InhomogeneousErdosRenyi as IER
from eigengraphs.models import MultipleRandomEigenGraphs as MREG
from eigengraphs.models import PointMasses, edge_means
from eigengraphs.models import RandomDotProductGraph as RDPG
from eigengraphs.models import StochasticBlockModel as SBM

ONE = np.full((4, 1), 0.5)  # one unit column: P = lam / 4 everywhere
B = np.array([[0.5, 0.1], [0.1, 0.3]])
BAD_P = np.array([[0.0, 0.2, 0.2], [0.2, 0.0, 1.25], [0.2, 1.25, 0.0]])


def never(rng, size):
    return np.full((size, 1), np.nan)


def always(value, d=1):
    return lambda rng, size: np.full((size, d), value)


def drawn(law, d=1):
    return MREG(np.eye(4)[:, :d], law, clip=True).sample(3, 0)


REFUSED = [
    (lambda: ER(0, 0.5), r"n_vertices must be at least 1, got 0"),
    (lambda: ER(2.5, 0.5), r"n_vertices must be a whole number, got 2\.5"),
    (lambda: ER(True, 0.5), r"n_vertices must be a whole number"),
    (lambda: ER(5, True), r"p must be a number, got True; pass"),
    (lambda: ER(5, 1.2), r"p is 1\.2, outside \[0, 1\]"),
    (lambda: ER(5, np.nan), r"p is nan, expected a finite number"),
    (lambda: ER(5, None), r"p must be a number, got None; pass"),
    (lambda: IER([[0, None], [None, 0]]), r"P must be an array of numb"),
    (lambda: IER(BAD_P), r"P\[1, 2\] is 1\.25, outside \[0, 1\].*clip"),
    (lambda: IER(np.zeros((2, 3))), r"P must be square, got shape \(2, 3\)"),
    (lambda: IER(np.zeros((0, 0))), r"P is empty"),
    (lambda: SBM(B), r"either labels=.*or prior="),
    (lambda: SBM(B, [0, 1], prior=[0.5, 0.5]), r"and not both"),
    (lambda: SBM(B, [0, 2]), r"labels\[1\] is 2, expected 0 to 1"),
    (lambda: SBM(B, [0.5, 1]), r"labels must .* whole numbers"),
    (lambda: SBM(B, [0, 1], n_vertices=3), r"labels has 2 entries"),
    (lambda: SBM(B, prior=[0.5, 0.5]), r"prior= needs n_vertices="),
    (lambda: SBM(B, prior=[0.5, 0.4], n_vertices=3), r"sum to 1"),
    (lambda: SBM(B, prior=[1.5, -0.5], n_vertices=3), r"prior\[1\] is -0\.5"),
    (lambda: SBM(B, prior=[1.0], n_vertices=3), r"2 entries, got 1"),
    (lambda: RDPG(), r"either positions=.*or distribution="),
    (lambda: RDPG(ONE, n_vertices=5), r"positions has 4 rows"),
    (lambda: RDPG(distribution=stats.uniform()), r"needs n_vertices="),
    (lambda: RDPG([[0.2], [1.5], [2.0]]),
     r"pair \(s, t\) = \(1, 2\) is 3, outside \[0, 1\].*scale the positions"),
    (lambda: RDPG(distribution=ONE, n_vertices=3), r"distribution is an object of type ndarray"),
    (lambda: RDPG(distribution=[], n_vertices=3), r"distribution is empty"),
    (lambda: MREG(np.ones((4, 2)) / [2, 1], [1, 1]),
     r"column 1 of latent_positions has norm 2, expected 1; divide it by its norm"),
    (lambda: MREG(ONE[:, 0], [1]), r"latent_positions must have shape"),
    (lambda: MREG(ONE, [1, 2]), r"loadings must have 1 entries for"),
    (lambda: MREG(ONE, [[1], [2], [5]]), r"graphs\[2\]: the edge .* \(0, 1\) is 1\.25.*clip="),
    (lambda: MREG(ONE, PointMasses([[1], [-1]])), r"points\[1\]: the edge .* is -0\.25"),
    (lambda: MREG(ONE, [[1], [-2]], law="poisson"),
     r"graphs\[1\]: the mean weight of the pair .* is -0\.5, outside \[0, inf\)"),
    (lambda: MREG(ONE, [1], law="binomial"), r"law must be 'bernoulli'"),
    (lambda: MREG(ONE, [1], law="gaussian"), r"needs noise_scale"),
    (lambda: MREG(ONE, [1], noise_scale=1), r"belongs to law='gaussian'"),
    (lambda: MREG(ONE, [1], law="gaussian", noise_scale=-1), r"noise_scale must be a finite numb"),
    (lambda: MREG(ONE, [1], law="gaussian", noise_scale=1, clip=True), r"no limits to clip at"),
    (lambda: MREG(np.eye(4)[:, :2], [stats.uniform(), 1.0]),
     r"loadings\[1\] is 1\.0, expected .* frozen scipy\.stats distributions"),
    (lambda: MREG(ONE, PointMasses),
     r"loadings is the class PointMasses, expected PointMasses\(\.\.\.\), frozen.* function"),
    (lambda: MREG(ONE, stats.beta),
     r"loadings is the distribution beta without its parameters.*scipy\.stats\.beta\("),
    (lambda: MREG(ONE, np.random.default_rng(0)), r"got Generator"),
    (lambda: PointMasses([1.0, 2.0]), r"points must have shape \(n_points, n_components\)"),
    (lambda: ER(5, 0.5).sample(0), r"n_graphs must be at least 1, got 0"),
    (lambda: MREG(ONE, [[1], [2]]).sample(3),
     r"n_graphs is 3, but the model has loadings for 2 graphs; leave n_graphs out"),
    (lambda: SBM([[0.5, 0.1], [0.2, 0.3]], [0, 1]).sample(1),
     r"B\[0, 1\] = 0\.1 but B\[1, 0\] = 0\.2; sample needs directed=True"),
    (lambda: MREG(ONE, always(5)).sample(2),
     r"graphs\[0\]: the edge probability .* is 1\.25.*narrow their distribution"),
    (lambda: MREG(ONE, always(1, 2)).sample(3), r"must have shape \(3, 1\), got \(3, 2\)"),
    (lambda: MREG(ONE, [1]).expected_adjacency([[5.0]]), r"loadings\[0\]: the edge .* is 1\.25"),
    (lambda: RDPG(distribution=always(1.5), n_vertices=3).sample(2),
     r"the edge probability .* is 2\.25.*narrow the distribution"),
    (lambda: RDPG(distribution=never, n_vertices=3).sample(),
     r"entry \[0, 0\] of a draw from distribution is nan, expected a finite number"),
    (lambda: drawn(lambda rng, size: None), r"a draw from loadings must be an array of numb"),
    (lambda: drawn(lambda rng, size: np.ones((2, 1))), r"shape \(3, 1\), got \(2, 1\)"),
    (lambda: drawn(np.random.default_rng(0).normal),
     r"loadings could not be drawn from: normal.*TypeError.*; expected .* function \(rng"),
    (lambda: drawn([stats.norm(), stats.multivariate_normal([0, 0])], d=2),
     r"a draw from loadings\[1\] must have shape \(3,\), got \(3, 2\)"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "text"), REFUSED)
def test_bad_parameters_and_bad_use_are_refused_in_words(use, text):
    with pytest.raises(InputError, match=text):
        use()


class Draws:
    def __call__(self, rng, size=1):
        return rng.uniform(size=(size, 1))


DRAWABLE = [
    Draws(),
    Draws().__call__,
    functools.partial(lambda rng, size, low: rng.uniform(low, 1, (size, 1)), low=0),
    lambda *args: np.ones((args[1], 1)),
    stats.uniform,  # needs no parameters
    stats.rv_histogram(np.histogram([0.1, 0.2, 0.4])),
    (stats.uniform(),),
    stats.multivariate_normal([0.5], 1e-6),
]


@pytest.mark.parametrize("law", DRAWABLE)
@pytest.mark.parametrize("m", [1, 3])
def test_what_can_be_drawn_from_is_accepted(law, m):
    _, latent = MREG(ONE, law).sample(m, 0, return_latent=True)
    assert latent.loadings.shape == (m, 1)


def test_loops_alone_ask_for_a_valid_diagonal(engine):
    X = np.array([[1.1, 0.0], [0.5, 0.5], [0.1, 0.2]])
    rdpg = RDPG(X)
    models = [rdpg, rdpg.to_ier(), rdpg.to_sbm(), rdpg.to_mreg()]
    for model in models:
        model.sample(3, 0)
        model.log_likelihood(np.zeros((1, 3, 3)))
        for use in (model.sample, lambda **k: model.log_likelihood(np.eye(3)[None], **k)):  # noqa: B023
            with pytest.raises(InputError, match=r"1\.21, outside \[0, 1\]"):
                use(loops=True)
    with pytest.raises(InputError, match=r"\(s, t\) = \(0, 0\)"):
        models[3].sample(1, loops=True)


def test_rounding_is_forgiven_and_clipped():
    tiny = 1e-10
    P = np.array([[0, 1 + tiny], [1 + tiny, 0]])
    assert IER(P).P[0, 1] == 1
    assert IER(-P + 1).P[0, 1] == 0
    assert ER(3, 1 + tiny).p == 1
    assert MREG(ONE, [4 + tiny]).edge_probabilities()[0, 1] == 1
    assert MREG(ONE, [-tiny]).edge_probabilities()[0, 1] == 0
    assert not MREG(ONE, [-tiny]).sample(50, 0).dense.any()
    with pytest.raises(InputError):
        MREG(ONE, [4 + 1e-7])


def test_clipping_is_counted():
    H = np.stack([np.full(4, 0.5), np.array([0.5, -0.5, 0.5, -0.5])], axis=1)
    Lam = [[2.0, 0.0], [2.0, 3.0], [3.0, 2.0]]
    # Pairs at even distance have (a + b) / 4, the others (a - b) / 4; two and four of them.
    model = MREG(H, Lam, clip=True)
    assert model.n_clipped == 0 + (2 + 4) + 2
    assert model.clipped_share == pytest.approx(8 / 18)
    P = model.edge_probabilities()
    assert P[1, 0, :3].tolist() == [1, 0, 1]
    assert model.sample(random_state=0).dense[1, 0, 1:3].tolist() == [0, 1]
    assert MREG(H, [2.0, 0.0]).n_clipped == 0
    assert MREG(H, Lam, law="poisson", clip=True).n_clipped == 4
    with pytest.raises(InputError, match="n_clipped needs fixed loadings"):
        _ = MREG(H, PointMasses(Lam), clip=True).n_clipped


def test_float32_latent_positions_count_as_unit():
    h = np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32)
    MREG(h / np.linalg.norm(h, axis=0), [0.0, 0.0])


def test_large_models_are_checked_where_it_is_cheap(monkeypatch):
    monkeypatch.setattr(edge_means, "EXACT_VERTICES", 100)
    n = 400
    h = np.full((n, 1), 1e-3)
    h[[7, 200]] = 1.0
    # Only the pair of hubs can exceed one, and it is looked at.
    with pytest.raises(InputError, match=r"\(s, t\) = \(7, 200\)"):
        MREG(h / np.linalg.norm(h), [4.0])
    # A negative mean is found once sampling comes across its pair.
    g = np.ones((n, 1))
    g[0] = -1
    model = MREG(g / np.sqrt(n), [0.9 * n])
    with pytest.raises(InputError, match=r"\(s, t\) = \(0, \d+\) is -0\.9"):
        model.sample(1, 0)
    sparse = MREG(g / np.sqrt(n), [0.04 * n])
    with pytest.raises(InputError, match=r"is -0\.04"):
        sparse.sample(20, 0)


def test_drawn_loadings_are_checked_on_every_pair_of_sparse_graphs():
    n = 300
    h = np.ones((n, 1)) + np.linspace(0, 0.1, n)[:, None]
    h[5] = -1e-4
    model = MREG(h / np.linalg.norm(h), always(0.02 * n))
    with pytest.raises(InputError, match=r"graphs\[0\].*\(s, t\) = \(0, 5\) is -"):
        model.sample(2, 0)


BLOCKS, DOTS = "StochasticBlockModel", "RandomDotProductGraph(n_vertices=4, n_components=1"
EIGEN = "MultipleRandomEigenGraphs(n_vertices=4, n_components=1"
SHOWN = {
    "ErdosRenyi(n_vertices=5, p=0.25)": ER(5, 0.25),
    "InhomogeneousErdosRenyi(n_vertices=2, mean probability 0.1)": IER(B),
    "InhomogeneousErdosRenyi(n_vertices=2, mean probability 0.05, asymmetric)": IER(np.triu(B)),
    f"{BLOCKS}(n_vertices=3, n_blocks=2, fixed labels)": SBM(B, [0, 1, 1]),
    f"{BLOCKS}(n_vertices=9, n_blocks=2, labels drawn from prior=[0.2, 0.8])": SBM(
        B, prior=[0.2, 0.8], n_vertices=9
    ),
    f"{DOTS}, fixed positions)": RDPG(ONE),
    f"{DOTS}, positions drawn)": RDPG(distribution=[stats.uniform()], n_vertices=4),
    f"{EIGEN}, one vector of loadings)": MREG(ONE, [1]),
    f"{EIGEN}, loadings of 2 graphs, law='poisson', clip=True)": MREG(
        ONE, [[1], [2]], law="poisson", clip=True
    ),
    f"{EIGEN}, loadings from 2 point masses, law='gaussian', noise_scale=0.1)": MREG(
        ONE, PointMasses([[1], [2]]), law="gaussian", noise_scale=0.1
    ),
}


@pytest.mark.parametrize("text", SHOWN)
def test_models_show_one_honest_line_are_immutable_and_pickle(text):
    model = SHOWN[text]
    assert repr(model) == text
    with pytest.raises(AttributeError, match="cannot be changed"):
        model.n_vertices = 7
    with pytest.raises(AttributeError, match="cannot be"):
        del model.n_vertices
    for value in vars(model).values():
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable
    again = pickle.loads(pickle.dumps(model))
    a, b = (each.sample(random_state=0, directed=True).dense for each in (model, again))
    assert np.array_equal(a, b)


def test_parameters_are_copied():
    P = B.copy()
    model = IER(P)
    P[0, 1] = 0.9
    model.edge_probabilities()[0, 1] = 0.5
    assert model.P[0, 1] == 0.1
