"""Stacks in which nothing, or nothing more, is to be found: finite results and a warning."""

import itertools

import numpy as np
import pytest
from known_graphs import noiseless, random_symmetric, stored
from sklearn.exceptions import ConvergenceWarning

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import DegenerateWarning
from eigengraphs.solvers.basis import whole_pays
from eigengraphs.solvers.options import DEFAULTS


@pytest.fixture
def sizes(default_solver):
    """Few vertices, and more than the shortcut for few takes; Algorithm 1 has one path for all."""
    assert [whole_pays(5, n, False, True, DEFAULTS) for n in (7, 120)] == [True, False]
    return (7, 120) if default_solver == "subspace" else (7,)


def edges(n, *pairs):
    A = np.zeros((n, n))
    for s, t in pairs:
        A[s, t] = A[t, s] = 1.0
    return A


def star(n, hub=0):
    return edges(n, *((hub, t) for t in range(n) if t != hub))


def path(n, start=0, stop=None):
    return edges(n, *((s, s + 1) for s in range(start, (stop or n) - 1)))


STACKS = {
    "zero": lambda n: [np.zeros((n, n))] * 3,
    "identical": lambda n: [path(n)] * 4,
    "identity": lambda n: [np.eye(n)] * 2,
    "one edge": lambda n: [edges(n, (0, 1))],
    "edges of their own": lambda n: [edges(n, (0, 1)), edges(n, (2, 3)), edges(n, (0, 1), (4, 5))],
    "one star": lambda n: [star(n)],
    "hubs": lambda n: [star(n), star(n, 1), star(n) + star(n, 1)],
    "disconnected": lambda n: [path(n, 0, n // 2), path(n, n // 2) + path(n, 0, n // 2)],
    "isolated vertices": lambda n: [path(n, 0, 4), edges(n, (0, 3), (1, 3))],
    "a loop": lambda n: [np.diag(np.eye(n)[2])],
    "complete": lambda n: [np.ones((n, n)) - np.eye(n), 2 * np.ones((n, n)) - 2 * np.eye(n)],
    "one vertex": lambda n: [np.ones((1, 1)), np.zeros((1, 1))],
    "two vertices": lambda n: [np.zeros((2, 2)), edges(2, (0, 1))],
}


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("name", STACKS)
def test_every_one_gives_a_finite_fit_that_converged(name, sizes, center, storage):
    stacks = [stored(GraphStack(STACKS[name](n)), storage) for n in sizes]
    diagonals = ("auto", "observed", "unobserved") if 120 in sizes else ("auto", "observed")
    for stack, diagonal in itertools.product(stacks, diagonals):
        d = min(4, stack.n_vertices * (stack.n_vertices + 1) // 2)
        je = JointEmbedding(d, center=center, diagonal=diagonal, random_state=0).fit(stack)
        require_finite(je, stack)


def require_finite(je, stack):
    assert je.converged_
    for values in (je.loadings_, je.latent_positions_, je.objective_path_, je.explained_ratio_):
        assert np.isfinite(values).all()
    assert np.allclose(np.linalg.norm(je.latent_positions_, axis=0), 1)
    start = je.objective_path_[0]
    assert (np.diff(je.objective_path_) <= 1e-9 * start).all()
    nothing = np.array(je.stop_reason_) == "exhausted"
    assert (je.loadings_[:, nothing] == 0).all()
    assert je.degenerate_[nothing].all()
    if nothing.any():  # then the others fit all there is
        assert je.objective_path_[-1] <= 1e-12 * max(start, 1e-300)
    size = max(np.abs(je.loadings_).max(), 1e-300)
    assert np.abs(je.transform(stack) - je.loadings_).max() <= 1e-7 * size
    assert np.isfinite(je.score(stack))
    assert np.isfinite(je.inverse_transform(je.loadings_)).all()


@pytest.mark.parametrize(
    ("graphs", "center"),
    [
        (lambda n: np.zeros((3, n, n)), False),
        (lambda n: np.zeros((3, n, n)), True),
        (lambda n: np.repeat(np.pi / 3 * random_symmetric(1, n, seed=3), 7, axis=0), True),
    ],
    ids=["zero", "zero, centered", "identical, centered"],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_where_nothing_is_left_a_warning_says_so(graphs, center, dtype, sizes, storage):
    for n in sizes:
        stack = stored(GraphStack(graphs(n)), storage).astype(dtype)
        with pytest.warns(DegenerateWarning, match=r"are zero; components 1, 2, .*zero loadings"):
            je = JointEmbedding(18, center=center, random_state=0).fit(stack)
        assert (je.loadings_ == 0).all()
        assert je.explained_ratio_.sum() == 0
        assert set(je.stop_reason_) == {"exhausted"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [4, 19])
def test_a_rank_that_is_exhausted_before_the_last_component(sizes, d, dtype, storage):
    for n in sizes:
        stack = stored(noiseless(n, 9, 3, seed=0).stack, storage).astype(dtype)
        with pytest.warns(DegenerateWarning, match="first 3 components fit .* components? 4"):
            je = JointEmbedding(d, random_state=0).fit(stack)
        assert list(je.degenerate_) == [False] * 3 + [True] * (d - 3)
        assert set(je.stop_reason_[3:]) == {"exhausted"}
        assert (je.loadings_[:, 3:] == 0).all()
        assert (je.transform(stack)[:, 3:] == 0).all()
        assert je.explained_ratio_.sum() == pytest.approx(1, abs=1e-5)
        assert je.converged_


def test_isolated_vertices_stay_at_the_origin(sizes, storage):
    for n in sizes:
        je = JointEmbedding(2, diagonal="observed", random_state=0).fit(
            stored(GraphStack([path(n, 0, 4), 2 * path(n, 0, 4)]), storage)
        )
        assert np.abs(je.latent_positions_[4:]).max() < 1e-8


@pytest.mark.parametrize("n", [5, 8, 20])  # on 4 vertices it is a poor maximum, and no saddle
def test_the_symmetry_of_stars_does_not_hold_the_search_in_a_saddle_point(n):
    A = np.array([star(n, 0), star(n, 1)])
    je = JointEmbedding(2, random_state=0).fit(A)
    many = JointEmbedding(2, n_init=20, random_state=1).fit(A)
    assert je.explained_ratio_.sum() > 0.95 * many.explained_ratio_.sum()
    assert je.explained_ratio_[1] > 0.1


def test_too_few_iterations_are_told():
    je = JointEmbedding(2, max_iter=2, init="random", random_state=0, solver="algorithm1")
    with pytest.warns(ConvergenceWarning, match=r"components 1, 2 stopped at max_iter=2 .* raise"):
        je.fit(random_symmetric(6, 20, seed=0))
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


@pytest.mark.parametrize("n", [4, 120])
@pytest.mark.parametrize("init", ["svd", "eigenvectors of the squares"])
def test_a_start_at_which_all_forms_vanish_does_not_end_the_fit(n, init):
    # Centered, these are +- one edge: e_1 is an eigenvector of the sum of squares, and flat.
    graphs = edges(n, (1, 3)) * np.array([1.0, 3.0])[:, None, None]
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
