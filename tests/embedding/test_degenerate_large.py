"""Degenerate stacks on more vertices than the shortcut for few takes, and the same on few."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric, stored

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import DegenerateWarning
from eigengraphs.solvers.basis import whole_pays
from eigengraphs.solvers.options import DEFAULTS

LARGE = 120


@pytest.fixture(scope="module", autouse=True)
def default_solver():
    """The subspace solver: Algorithm 1 has one path for all sizes."""


@pytest.fixture(params=[7, LARGE])
def n(request):
    assert whole_pays(5, request.param, False, DEFAULTS) == (request.param == 7)
    return request.param


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
}


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("diagonal", ["auto", "observed", "unobserved"])
def test_every_one_gives_a_finite_fit_that_converged(name, n, center, diagonal, storage):
    stack = stored(GraphStack(STACKS[name](n)), storage)
    je = JointEmbedding(4, center=center, diagonal=diagonal, random_state=0).fit(stack)
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


@pytest.mark.parametrize(
    ("graphs", "center"),
    [
        (lambda n: np.zeros((3, n, n)), False),
        (lambda n: np.zeros((3, n, n)), True),
        (lambda n: np.repeat(np.pi / 3 * random_symmetric(1, n, seed=3), 7, axis=0), True),
    ],
    ids=["zero", "zero, centered", "identical, centered"],
)
def test_where_nothing_is_left_a_warning_says_so(graphs, center, n, storage):
    stack = stored(GraphStack(graphs(n)), storage)
    with pytest.warns(DegenerateWarning, match=r"are zero; component 1, 2, .*zero loadings"):
        je = JointEmbedding(18, center=center, random_state=0).fit(stack)
    assert (je.loadings_ == 0).all()
    assert set(je.stop_reason_) == {"exhausted"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [4, 19])
def test_a_rank_that_is_exhausted_before_the_last_component(n, d, dtype, storage):
    stack = stored(noiseless(n, 9, 3, seed=0).stack, storage).astype(dtype)
    with pytest.warns(DegenerateWarning, match="first 3 components fit .* component 4"):
        je = JointEmbedding(d, random_state=0).fit(stack)
    assert list(je.degenerate_) == [False] * 3 + [True] * (d - 3)
    assert (je.loadings_[:, 3:] == 0).all()
    assert je.explained_ratio_.sum() == pytest.approx(1, abs=1e-5)


def test_rank_one_is_found_by_one_component(n, storage):
    known = noiseless(n, 5, 1, seed=4)
    stack = stored(known.stack, storage)
    je = JointEmbedding(1, random_state=0).fit(stack)
    assert column_errors(je.latent_positions_, known.H).max() < 1e-7
    assert je.explained_ratio_[0] == pytest.approx(1)
    with pytest.warns(DegenerateWarning, match="the first component fits"):
        JointEmbedding(2, random_state=0).fit(stack)


def test_one_graph_gives_its_eigenpairs(n, storage):
    A = random_symmetric(1, n, seed=1)
    je = JointEmbedding(5, diagonal="observed", random_state=0).fit(stored(GraphStack(A), storage))
    values = np.linalg.eigvalsh(A[0])
    largest = values[np.argsort(-np.abs(values))[:5]]
    assert np.allclose(je.loadings_[0], largest, atol=1e-6)


def test_the_diagonal_of_identity_matrices_is_data_when_observed(n):
    je = JointEmbedding(3, diagonal="observed", random_state=0).fit([np.eye(n)] * 2)
    # Every direction is as good as every other, and each takes one dimension.
    assert np.allclose(je.explained_ratio_, 1 / n)
    H = je.latent_positions_
    assert np.allclose(H.T @ H, np.eye(3), atol=1e-6)


def test_isolated_vertices_stay_at_the_origin(n, storage):
    je = JointEmbedding(2, diagonal="observed", random_state=0).fit(
        stored(GraphStack([path(n, 0, 4), 2 * path(n, 0, 4)]), storage)
    )
    assert np.abs(je.latent_positions_[4:]).max() < 1e-8
