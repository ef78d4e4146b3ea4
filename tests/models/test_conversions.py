"""Conversions keep the matrix of edge probabilities, and refuse where no equivalent exists."""

import itertools

import numpy as np
import pytest

from eigengraphs.errors import ConversionError
from eigengraphs.models import ErdosRenyi as ER
from eigengraphs.models import InhomogeneousErdosRenyi as IER
from eigengraphs.models import MultipleRandomEigenGraphs as MREG
from eigengraphs.models import PointMasses
from eigengraphs.models import RandomDotProductGraph as RDPG
from eigengraphs.models import StochasticBlockModel as SBM

POSITIVE = [[0.6, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.4]]
INDEFINITE = [[0.1, 0.6], [0.6, 0.2]]
LABELS = np.array([0, 1, 2, 2, 1, 0, 0, 2, 1, 0, 0])


def random_probabilities(n=9, seed=0):
    P = np.random.default_rng(seed).uniform(size=(n, n))
    return (P + P.T) / 2


X = np.random.default_rng(1).dirichlet([1, 1, 1, 1], size=10)[:, :3]
H = np.abs(np.random.default_rng(2).normal(size=(10, 3))) + 0.5
H /= np.linalg.norm(H, axis=0)
POSITIVE_MODELS = {
    "er": ER(7, 0.3),
    "empty": ER(4, 0.0),
    "one vertex": ER(1, 0.5),
    "sbm": SBM(POSITIVE, labels=LABELS),
    "sbm with an empty block": SBM(POSITIVE, labels=LABELS % 2),
    "rdpg": RDPG(X),
    "rdpg with a zero column": RDPG(np.column_stack([X, np.zeros(10)])),
    "rdpg with equal rows": RDPG(X[[0, 1, 0, 2, 1, 1]]),
    "rdpg with a long position": RDPG([[1.1, 0], [0.2, 0.3], [0.3, 0.1]]),
    "ier": RDPG(X).to_ier(),
    "mreg": MREG(H, [2.0, 1.0, 0.0]),
}
INDEFINITE_MODELS = {
    "sbm": SBM(INDEFINITE, labels=LABELS % 2),
    "ier": IER(random_probabilities()),
    "mreg": MREG(H[:, :2], [3.0, -0.3]),
}


KINDS = {"to_ier": IER, "to_sbm": SBM, "to_rdpg": RDPG, "to_mreg": MREG}


@pytest.mark.parametrize(
    ("model", "kinds"),
    [
        *((model, KINDS) for model in POSITIVE_MODELS.values()),
        *((model, KINDS.keys() - {"to_rdpg"}) for model in INDEFINITE_MODELS.values()),
    ],
    ids=[*POSITIVE_MODELS, *(f"indefinite {name}" for name in INDEFINITE_MODELS)],
)
def test_one_and_two_steps_keep_the_probabilities(model, kinds):
    P = model.edge_probabilities()
    for steps in itertools.product(kinds, repeat=2):
        made = model
        for step in steps:
            made = getattr(made, step)()
            np.testing.assert_allclose(made.edge_probabilities(), P, atol=1e-10, err_msg=str(steps))
            assert type(made) is KINDS[step]


@pytest.mark.parametrize("name", INDEFINITE_MODELS)
@pytest.mark.parametrize("step", [None, "to_ier", "to_sbm", "to_mreg"])
def test_indefinite_models_are_no_dot_product_graphs(name, step):
    model = INDEFINITE_MODELS[name]
    smallest = np.linalg.eigvalsh(model.edge_probabilities()).min()
    assert smallest < -0.01
    if step:
        model = getattr(model, step)()
    with pytest.raises(ConversionError, match="positive semidefinite") as error:
        model.to_rdpg()
    assert f"{smallest:.6g}" in str(error.value)
    assert "to_mreg()" in str(error.value)
    model.to_mreg()


def test_dimensions_are_the_smallest_that_the_paper_promises():
    sbm, ier, er = SBM(POSITIVE, labels=LABELS), IER(random_probabilities()), ER(7, 0.3)
    rank_one = SBM(np.outer([0.2, 0.9], [0.2, 0.9]), labels=[0, 1, 1, 0])
    found = [model.to_mreg().n_components for model in (sbm, sbm.to_ier(), ier, er, rank_one)]
    assert found == [3, 3, 9, 1, 1]
    blocks = [model.to_sbm().n_blocks for model in (sbm.to_ier(), ier, er, er.to_ier())]
    assert blocks == [3, 9, 1, 1]
    assert np.unique(sbm.to_rdpg().positions.round(12), axis=0).shape == (3, 3)


def test_dot_product_graph_to_eigen_graphs_is_by_columns():
    X = np.array([[0.6, 0.3], [0.2, 0.5], [0.4, 0.4]])
    model = RDPG(X).to_mreg()
    norms = np.linalg.norm(X, axis=0)
    np.testing.assert_allclose(model.latent_positions, X / norms, rtol=1e-15)
    np.testing.assert_allclose(model.loadings, norms**2, rtol=1e-15)


def test_hollow_rows_are_not_merged():
    # Rows that differ on the diagonal alone belong to different blocks once loops count.
    P = np.full((3, 3), 0.5) - 0.5 * np.eye(3)
    model = IER(P).to_sbm()
    assert model.n_blocks == 3
    assert np.array_equal(model.edge_probabilities(), P)


def test_asymmetric_models_convert_only_to_matrices_and_blocks():
    B = [[0.1, 0.4], [0.2, 0.3]]
    sbm = SBM(B, labels=[0, 1, 1, 0, 0])
    ier = sbm.to_ier()
    assert ier.to_sbm().n_blocks == 2
    assert np.array_equal(ier.to_sbm().edge_probabilities(), sbm.edge_probabilities())
    # Equal rows alone do not make a block: columns 0 and 1 differ.
    P = np.array([[0.1, 0.1, 0.5], [0.1, 0.1, 0.5], [0.2, 0.3, 0.4]])
    assert np.array_equal(IER(P).to_sbm().edge_probabilities(), P)
    for model in (sbm, ier):
        for step in ("to_rdpg", "to_mreg"):
            with pytest.raises(ConversionError, match=r"not symmetric.*needs a symmetric"):
                getattr(model, step)()


def test_clipped_graphs_convert_as_clipped():
    h = np.array([[0.9], [0.3], [0.3], [0.1]])
    h /= np.linalg.norm(h)
    for lam in (6.0, -6.0):
        model = MREG(h, [lam], clip=True)
        P = model.edge_probabilities()
        assert 0 <= P.min() <= P.max() <= 1
        assert model.n_clipped > 0
        for step in ("to_ier", "to_sbm"):
            np.testing.assert_allclose(getattr(model, step)().edge_probabilities(), P, atol=1e-12)
    with pytest.raises(ConversionError):
        MREG(h, [6.0], clip=True).to_rdpg()


E1 = np.eye(3)[:, :1]
SEVERAL = MREG(E1, [[0.1], [0.2]])
REFUSED = [
    (SEVERAL, ["to_ier", "to_sbm", "to_rdpg"], r"loadings for 2; make the model of one"),
    (SBM(POSITIVE, prior=[0.2, 0.3, 0.5], n_vertices=9), KINDS, "pass labels="),
    (RDPG(distribution=PointMasses([[0.5]]), n_vertices=9), ["to_ier", "to_mreg"], "positions="),
    (MREG(E1, PointMasses([[0.5]])), ["to_ier", "to_sbm"], "fixed loadings"),
    (MREG(E1, [0.5], law="poisson"), ["to_ier", "to_sbm"], "law='bernoulli'"),
]


@pytest.mark.parametrize(("model", "steps", "text"), REFUSED)
def test_several_random_and_weighted_graphs_are_refused_with_advice(model, steps, text):
    for step in steps:
        with pytest.raises(ConversionError, match=text):
            getattr(model, step)()
