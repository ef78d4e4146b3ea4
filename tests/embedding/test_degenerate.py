"""Stacks in which nothing, or nothing more, is to be found: finite results and a warning."""

import numpy as np
import pytest
from known_graphs import noiseless, random_symmetric, stored
from sklearn.exceptions import ConvergenceWarning

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import DegenerateWarning


def path_graph(n):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def star(n):
    A = np.zeros((n, n))
    A[0, 1:] = A[1:, 0] = 1.0
    return A


def single_edge(n):
    A = np.zeros((n, n))
    A[0, 1] = A[1, 0] = 1.0
    return A


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize(
    "graphs",
    [
        [np.zeros((5, 5))] * 3,
        [path_graph(6)] * 4,
        [star(7), 2 * star(7)],
        [single_edge(6)],
        [np.ones((1, 1)), np.zeros((1, 1))],
        [np.zeros((2, 2)), np.array([[0.0, 1], [1, 0]])],
        [np.eye(4)] * 2,
        [np.block([[path_graph(3), np.zeros((3, 3))], [np.zeros((3, 3)), path_graph(3)]])],
    ],
    ids=["zero", "identical", "stars", "edge", "one vertex", "two", "identity", "disconnected"],
)
def test_degenerate_stacks_give_finite_results(graphs, center, storage):
    stack = stored(GraphStack(graphs), storage)
    d = min(3, stack.n_vertices * (stack.n_vertices + 1) // 2)
    je = JointEmbedding(d, center=center, random_state=0).fit(stack)
    for values in (je.loadings_, je.latent_positions_, je.objective_path_, je.explained_ratio_):
        assert np.isfinite(values).all()
    assert np.allclose(np.linalg.norm(je.latent_positions_, axis=0), 1)
    assert np.isfinite(je.score(stack))
    assert np.isfinite(je.inverse_transform(je.loadings_)).all()
    assert np.abs(je.transform(stack) - je.loadings_).max() <= 1e-8


def test_when_the_rank_is_exhausted_loadings_are_zero_and_a_warning_says_so(storage):
    stack = stored(noiseless(n=12, m=8, d=2, seed=0).stack, storage)
    with pytest.warns(DegenerateWarning, match="first 2 components fit .* component 3, 4 got"):
        je = JointEmbedding(4, random_state=0).fit(stack)
    assert je.stop_reason_[2:] == ("exhausted", "exhausted")
    assert list(je.degenerate_) == [False, False, True, True]
    assert (je.loadings_[:, 2:] == 0).all()
    assert (je.transform(stack)[:, 2:] == 0).all()
    assert je.converged_


def test_identical_graphs_that_are_centred_leave_nothing():
    with pytest.warns(DegenerateWarning, match="graphs .* are zero; component 1"):
        je = JointEmbedding(1, center=True).fit([path_graph(5)] * 3)
    assert (je.loadings_ == 0).all()
    assert je.explained_ratio_.sum() == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_of_a_mean_is_not_fitted(dtype, storage):
    A = np.abs(random_symmetric(1, 9, seed=3))[0] * np.pi / 3
    stack = stored(GraphStack([A] * 7), storage).astype(dtype)
    with pytest.warns(DegenerateWarning, match="graphs .* are zero; component 1"):
        je = JointEmbedding(2, center=True, random_state=0).fit(stack)
    assert (je.loadings_ == 0).all()


def test_an_exhausted_rank_is_seen_in_float32():
    stack = noiseless(n=12, m=8, d=2, seed=0).stack.astype(np.float32)
    with pytest.warns(DegenerateWarning, match="first 2 components"):
        je = JointEmbedding(3, random_state=0).fit(stack)
    assert (je.loadings_[:, 2] == 0).all()


def hub(n, s):
    A = np.zeros((n, n))
    A[s] = A[:, s] = 1.0
    A[s, s] = 0.0
    return A


@pytest.mark.parametrize("n", [5, 8, 20])  # on 4 vertices it is a poor maximum, and no saddle
def test_the_symmetry_of_stars_does_not_hold_the_search_in_a_saddle_point(n):
    A = np.array([hub(n, 0), hub(n, 1)])
    je = JointEmbedding(2, random_state=0).fit(A)
    many = JointEmbedding(2, n_init=20, random_state=1).fit(A)
    assert je.explained_ratio_.sum() > 0.95 * many.explained_ratio_.sum()
    assert je.explained_ratio_[1] > 0.1


@pytest.mark.parametrize("seed", range(8))
def test_components_are_maxima_and_not_saddle_points(seed):
    A = random_symmetric(4, 9, seed=seed)
    je = JointEmbedding(1, diagonal="observed", random_state=0).fit(A)
    h = je.latent_positions_[:, 0]
    lam, Y = np.einsum("s,ist,t->i", h, A, h), A @ h
    Hessian = np.tensordot(lam, A, axes=1) + 2 * Y.T @ Y - (lam @ lam) * np.eye(9)
    tangent = np.linalg.qr(np.column_stack([h, np.eye(9)[:, :8]]))[0][:, 1:]
    top = np.linalg.eigvalsh(tangent.T @ Hessian @ tangent)[-1]
    assert top <= 1e-4 * (lam @ lam)


def test_too_few_iterations_are_told():
    A = random_symmetric(6, 20, seed=0)
    with pytest.warns(ConvergenceWarning, match=r"component 1, 2 stopped at max_iter=2 .* raise"):
        je = JointEmbedding(2, max_iter=2, init="random", random_state=0, solver="algorithm1").fit(
            A
        )
    assert not je.converged_
    assert je.stop_reason_ == ("max_iter", "max_iter")
    assert (je.n_iter_ == 2).all()


def test_a_tolerance_below_rounding_ends_with_the_reason():
    A = random_symmetric(6, 150, seed=1).astype(np.float32)
    je = JointEmbedding(2, tol=1e-15, random_state=0, max_iter=10_000).fit(A)
    assert set(je.stop_reason_) == {"precision"}
    assert (je.n_iter_ < 2000).all()
    assert (je.stationarity_ < 1e-4).all()


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")
def test_many_equal_eigenvalues_do_not_stop_a_fit():
    # LAPACK's dsyevr gave up ("Internal Error") on a Hessian of this very star.
    A = np.zeros((20, 20))
    A[3, 3:] = A[3:, 3] = float.fromhex("0x1.ac339e16b09b2p-1")
    stack = GraphStack([A], storage="sparse")
    je = JointEmbedding(5, diagonal="filled", init="random", random_state=0).fit(stack)
    assert je.explained_ratio_.sum() > 0.99


def one_edge(n):
    A = np.zeros((n, n))
    A[1, 3] = A[3, 1] = 1.0
    return A


@pytest.mark.parametrize("n", [4, 120])
@pytest.mark.parametrize("init", ["svd", "eigenvectors of the squares"])
def test_a_start_at_which_all_forms_vanish_does_not_end_the_fit(n, init):
    # Centered, these are +- one edge: e_1 is an eigenvector of the sum of squares, and flat.
    graphs = np.array([one_edge(n), 3 * one_edge(n)])
    given = np.eye(n)[:, [1, 3]] if init != "svd" else init
    je = JointEmbedding(2, center=True, diagonal="observed", init=given, random_state=0).fit(graphs)
    assert je.explained_ratio_.sum() == pytest.approx(1)


@pytest.mark.parametrize("seed", [9, 16, 21, 35, 36])
def test_rounding_of_the_objective_does_not_stop_the_last_step(seed):
    # The last of Newton's steps takes the gradient to 1e-15, and f down by 40 roundings.
    rng = np.random.default_rng(seed)
    A = np.zeros((10, 33, 33))
    for a in A:
        s = rng.integers(0, 5)
        a[s, s:] = a[s:, s] = rng.random()
    assert JointEmbedding(8, random_state=0, solver="subspace").fit(A).converged_


@pytest.mark.parametrize("n", [9, 110])
def test_a_fit_with_nothing_left_can_be_extended(n):
    stack = noiseless(n, 5, 2, seed=0).stack
    with pytest.warns(DegenerateWarning):
        je = JointEmbedding(3, random_state=0).fit(stack)
    with pytest.warns(DegenerateWarning):
        longer = je.extend(4)
    assert np.array_equal(longer.latent_positions_[:, :3], je.latent_positions_)
    assert (longer.loadings_[:, 2:] == 0).all()
