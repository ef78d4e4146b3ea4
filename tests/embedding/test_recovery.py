"""What is known to be there is found: noiseless graphs, one graph, the design of section 5.1."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric, section_5_1, stored
from scipy import linalg

from eigengraphs import GraphStack, JointEmbedding, match_components

SEEDS = range(3)


@pytest.mark.parametrize("init", ["auto", "svd", "random"])
def test_noiseless_graphs_return_their_components_and_loadings(storage, init):
    known = noiseless(n=60, m=40, d=4, seed=1)
    stack = stored(known.stack, storage)
    je = JointEmbedding(4, init=init, random_state=0).fit(stack)
    assert je.diagonal_ == "observed"
    match = match_components(known.H, je)
    assert np.abs(match.apply(je.latent_positions_) - known.H).max() < 1e-6
    assert np.abs(je.loadings_[:, match.order] - known.Lam).max() < 1e-6
    assert je.explained_ratio_.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("n", [3, 30, 60])  # small graphs take another path to the start
def test_one_graph_gives_its_leading_eigenpairs_by_magnitude(n, storage):
    A = random_symmetric(1, n, seed=n)
    values, vectors = linalg.eigh(A[0])
    order = np.argsort(-np.abs(values))[:3]
    je = JointEmbedding(3, diagonal="observed").fit(stored(GraphStack(A), storage))
    assert np.abs(je.loadings_[0] - values[order]).max() < 1e-6
    assert column_errors(je.latent_positions_, vectors[:, order]).max() < 1e-5


@pytest.mark.parametrize(
    ("loops", "diagonal", "used"),
    [(True, "auto", "observed"), (False, "auto", "filled"), (False, "observed", "observed")],
    ids=["loops", "no loops", "no loops, taken for data"],
)
def test_section_5_1(loops, diagonal, used):
    errors, bias = [], []
    for seed in SEEDS:
        known = section_5_1(4096, seed, loops=loops)
        je = JointEmbedding(3, diagonal=diagonal, random_state=0).fit(known.stack)
        assert je.diagonal_ == used
        errors.append(column_errors(je.latent_positions_, known.H))
        bias.append((je.loadings_ - known.Lam).mean(axis=0))
    if diagonal == "observed":  # components 2 and 3 are lost entirely: sqrt(2) is a right angle
        assert (np.mean(errors, axis=0)[1:] > 1.2).all()
        return
    assert (np.mean(errors, axis=0) <= [0.01, 0.06, 0.15]).all()
    if used == "filled":
        assert np.abs(np.mean(bias, axis=0)).max() <= 0.03


def test_matrices_with_a_unit_diagonal_behave_as_hollow_ones():
    known = section_5_1(1024, 0, loops=False)
    unit = known.stack.dense + np.eye(20)
    hollow_fit = JointEmbedding(3, random_state=0).fit(known.stack)
    unit_fit = JointEmbedding(3, random_state=0).fit(unit)
    assert unit_fit.diagonal_ == "filled"
    assert np.abs(unit_fit.latent_positions_ - hollow_fit.latent_positions_).max() < 1e-6
    assert np.abs(unit_fit.loadings_ - hollow_fit.loadings_).max() < 1e-6
    expected = unit_fit.inverse_transform(unit_fit.loadings_[:2])
    assert (np.einsum("iss->is", expected) == 1).all()


def test_correlation_matrices_are_filled_although_their_diagonal_is_rounded():
    rng = np.random.default_rng(0)
    C = np.array([np.corrcoef(rng.standard_normal((12, 40))) for _ in range(6)])
    assert not (np.einsum("iss->is", C) == 1).all()  # else this test proves nothing
    je = JointEmbedding(2, random_state=0).fit(C)
    assert je.diagonal_ == "filled"
    exact = C.copy()
    np.einsum("iss->is", exact)[...] = 1
    assert np.allclose(je.loadings_, JointEmbedding(2, random_state=0).fit(exact).loadings_)


def test_weak_components_are_found_and_not_taken_for_rounding():
    known = noiseless(n=30, m=20, d=2, seed=5)
    Lam = known.Lam * [1.0, 1e-5]  # 1e-10 of the squared norm
    A = np.einsum("sk,ik,tk->ist", known.H, Lam, known.H)
    je = JointEmbedding(2, random_state=0).fit(A)
    assert not je.degenerate_.any()
    assert column_errors(je.latent_positions_, known.H).max() < 1e-4
    assert np.allclose(je.loadings_, Lam, rtol=1e-3)


def test_the_better_of_two_starts_is_taken():
    # Loadings of component 2 cancel in the mean but not in the squares: "svd" must miss it first.
    rng = np.random.default_rng(0)
    H = np.linalg.qr(rng.standard_normal((30, 2)))[0]
    Lam = np.column_stack([np.full(20, 1.0), np.tile([3.0, -3.0], 10)])
    A = np.einsum("sk,ik,tk->ist", H, Lam, H)
    auto = JointEmbedding(1, init="auto", random_state=0).fit(A)
    svd = JointEmbedding(1, init="svd", random_state=0, solver="algorithm1").fit(A)
    assert abs(auto.latent_positions_[:, 0] @ H[:, 1]) > 1 - 1e-6
    assert abs(svd.latent_positions_[:, 0] @ H[:, 0]) > 1 - 1e-6


def test_centered_graphs_have_a_start_although_their_mean_is_nothing(storage):
    known = noiseless(n=40, m=30, d=3, seed=2)
    je = JointEmbedding(3, center=True, init="svd", random_state=0)
    je.fit(stored(known.stack, storage))
    centered = known.Lam - known.Lam.mean(axis=0)
    assert je.explained_ratio_.sum() == pytest.approx(1, abs=1e-10)
    match = match_components(known.H, je)
    assert match.similarities.min() > 1 - 1e-10
    assert np.abs(je.loadings_[:, match.order] - centered).max() < 1e-6
