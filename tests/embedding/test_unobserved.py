"""The diagonal left out of loss and search: exact, and bounded where there is no answer."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric, section_5_1, stored
from written_out import residuals

from eigengraphs import GraphStack, JointEmbedding, match_components
from eigengraphs.errors import DegenerateWarning, InputError

CONCENTRATED = 0.5  # sum_s h_s^4 of two vertices


@pytest.fixture(scope="module", autouse=True)
def default_solver():
    """The subspace solver alone can do it."""


def fit(graphs, d, **settings):
    return JointEmbedding(d, diagonal="unobserved", random_state=0, **settings).fit(graphs)


def fourth(je):
    return (je.latent_positions_**4).sum(axis=0)


def test_section_5_1_without_loops():
    errors, filled = [], []
    for seed in range(5):
        known = section_5_1(1024, seed, loops=False)
        errors.append(column_errors(fit(known.stack, 3).latent_positions_, known.H))
        other = JointEmbedding(3, diagonal="filled", random_state=0).fit(known.stack)
        filled.append(column_errors(other.latent_positions_, known.H))
    # About twice the errors at four times as many graphs, 0.035 and 0.093.
    assert (np.mean(errors, axis=0) <= [0.02, 0.1, 0.3]).all()
    assert (np.mean(errors, axis=0) <= 1.3 * np.mean(filled, axis=0)).all()


@pytest.mark.parametrize("n", [30, 120])
def test_what_is_on_the_diagonal_does_not_matter(n, storage):
    known = noiseless(n, 30, 3, seed=1)
    A = known.stack.dense.copy()
    A[:, range(n), range(n)] = 0.0
    je = fit(stored(GraphStack(A), storage), 1, tol=1e-10)
    rough = A.copy()
    rough[:, range(n), range(n)] = 100 * np.random.default_rng(0).standard_normal((30, n))
    other = fit(stored(GraphStack(rough), storage), 1, tol=1e-10)
    assert je.diagonal_ == other.diagonal_ == "unobserved"
    assert column_errors(je.latent_positions_, other.latent_positions_).max() < 1e-6
    assert np.allclose(je.loadings_, other.loadings_, atol=1e-5)
    assert np.allclose(je.objective_path_, other.objective_path_, rtol=1e-8)


@pytest.mark.parametrize("n", [30, 120])
@pytest.mark.parametrize("d", [1, 3])
def test_components_that_do_not_overlap_are_recovered(n, d, storage):
    # On vertices of their own they are orthogonal off the diagonal, too.
    rng = np.random.default_rng(3)
    H = np.kron(np.eye(d), np.ones((n // d, 1))) * rng.uniform(0.5, 1.5, (n, 1))
    H /= np.linalg.norm(H, axis=0)
    Lam = rng.uniform(1, 2, (15, d)) * [9, 3, 1][:d]
    A = np.einsum("sk,ik,tk->ist", H, Lam, H) * (1 - np.eye(n))
    je = fit(stored(GraphStack(A), storage), d)
    match = match_components(H, je)
    assert column_errors(match.apply(je.latent_positions_), H).max() < 1e-6
    assert np.abs(je.loadings_[:, match.order] - Lam).max() < 1e-6
    assert not je.degenerate_.any()
    assert je.explained_ratio_.sum() == pytest.approx(1, abs=1e-12)
    # Filled with the mean of the row, the same graphs are not of this rank.
    filled = JointEmbedding(d, diagonal="filled", random_state=0).fit(A)
    assert filled.explained_ratio_.sum() < 1 - 1e-6


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")  # of noise
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("n", [14, 105])
def test_the_loss_leaves_the_diagonal_out(n, center, storage):
    A = random_symmetric(6, n, seed=4, density=0.7)
    weights = np.array([1.0, 2, 1, 0.5, 1, 1])
    stack = stored(GraphStack(A), storage)
    je = JointEmbedding(3, diagonal="unobserved", center=center, random_state=0).fit(
        stack, sample_weight=weights
    )
    B = A - np.average(A, axis=0, weights=weights) if center else A
    H = je.latent_positions_
    for k in range(4):
        left = weights @ np.sum(residuals(B, H[:, :k], hollow=True) ** 2, axis=(1, 2))
        assert je.objective_path_[k] == pytest.approx(left, rel=1e-9)
    assert je.converged_
    fitted = np.einsum("sk,ik,tk->ist", H, je.loadings_, H)
    assert np.allclose((B - fitted) * (1 - np.eye(n)), residuals(B, H, hollow=True), atol=1e-8)


def two_halves(n, m=20):
    """Two components on halves of the vertices, of different strength, and some noise."""
    rng = np.random.default_rng(0)
    H = np.zeros((n, 2))
    H[: n // 2, 0], H[n // 2 :, 1] = 1, 1
    Lam = rng.uniform(-1, 1, (m, 2)) * [4, 2]
    A = np.einsum("sk,ik,tk->ist", H, Lam, H) + 0.3 * random_symmetric(m, n, seed=1)
    return A * (1 - np.eye(n))


def test_transform_score_and_inverse_go_together(storage):
    A = two_halves(20)
    je = fit(stored(GraphStack(A), storage), 2, center=True)
    assert np.abs(je.transform(A) - je.loadings_).max() < 1e-9
    loops = A + np.eye(20) * 7  # new graphs' diagonals do not matter either
    assert np.abs(je.transform(loops) - je.loadings_).max() < 1e-9
    assert je.score(loops) == pytest.approx(je.explained_ratio_.sum())
    expected = je.inverse_transform(je.loadings_)
    assert (np.einsum("iss->is", expected) == 0).all()
    assert np.abs(je.transform(expected) - je.loadings_).max() < 1e-9


def star(n, last):
    """Return a graph in which vertex 0 is joined to those before the last."""
    A = np.zeros((n, n))
    A[0, 1:last] = A[1:last, 0] = 1.0
    return A


def hubs(n):
    A = 0.1 * random_symmetric(4, n, seed=0, hollow=True)
    for i, s in enumerate((0, 1, 0, 1)):
        A[i, s, 2:] += 3 + i
        A[i, 2:, s] += 3 + i
    return A


@pytest.mark.parametrize("n", [6, 120])
@pytest.mark.parametrize(
    "make",
    [lambda n: [star(n, n), 2 * star(n, n)], lambda n: [star(n, 2)], hubs],
    ids=["star", "edge", "hub"],
)
def test_stars_hubs_and_edges_are_bounded_and_marked(make, n, storage):
    stack = stored(GraphStack(make(n)), storage)
    with pytest.warns(DegenerateWarning, match="only one or two vertices carry component"):
        je = fit(stack, 1)
    assert list(je.degenerate_) == [True]
    assert CONCENTRATED - 1e-6 <= fourth(je)[0] <= CONCENTRATED + 0.02
    assert np.isfinite(je.loadings_).all()
    assert je.converged_
    assert je.explained_ratio_[0] > 0.4  # of two hubs, one
    assert np.abs(je.transform(stack) - je.loadings_).max() < 1e-7 * np.abs(je.loadings_).max()


def test_algorithm_1_refuses_and_says_what_to_do():
    with pytest.raises(InputError, match=r"'unobserved' is not available with .*'subspace'"):
        fit(random_symmetric(3, 5, seed=0), 1, solver="algorithm1")
