"""The parts of the solver for hidden entries, against what they stand for written out."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg
from written_out import masked_objective, slope

from eigengraphs import GraphStack
from eigengraphs.graphs.masked_view import MaskedView
from eigengraphs.solvers.loadings import component_gram, objective_path, solve_loadings
from eigengraphs.solvers.loadings_each import UNSEEN, objective_path_each, solve_loadings_each
from eigengraphs.solvers.masked_quotient import Line, Loss, Place, Products
from eigengraphs.solvers.masked_residuals import MaskedResiduals

M, N = 6, 8


def unit(h):
    return h / linalg.norm(h)


def hidden_graphs(m=M, n=N, seed=0, share=0.3):
    """Graphs with zeros where they are hidden, and which entries are observed."""
    rng = np.random.default_rng(seed)
    gone = np.triu(rng.random((m, n, n)) < share)
    there = rng.random((m, n)) < 0.85
    seen = ~(gone | gone.transpose(0, 2, 1)) & there[:, :, None] & there[:, None, :]
    return random_symmetric(m, n, seed) * seen, seen.astype(float)


def stack_of(A, seen):
    return GraphStack(np.where(seen > 0, A, np.nan), missing="unobserved")


def objective(R, seen, loss, h):
    return masked_objective(R, seen, loss.weights, loss.floors, h, hollow=loss.hollow)


def place_at(R, seen, loss, h):
    h = unit(h)
    return Place.at(h, R @ h, seen @ h**2, loss)


CASES = {
    "plain": (0.01, False, False),
    "faded": (0.9, False, False),  # most graphs see less than this
    "hollow": (0.01, True, False),
    "hollow, bent": (0.01, True, True),
    "all of it": (0.5, True, True),
}


@pytest.fixture(params=CASES)
def case(request):
    return make_case(request.param)


def make_case(name):
    floor, hollow, concentrated = CASES[name]
    R, seen = hidden_graphs()
    if hollow:
        R, seen = R * (1 - np.eye(N)), seen * (1 - np.eye(N))
    weights = np.linspace(0.5, 2, M)
    h = np.random.default_rng(1).standard_normal(N)
    if concentrated:
        h[3] = 6.0
        assert (unit(h) ** 4).sum() > 0.51
    return R, seen, Loss(weights, np.full(M, floor), hollow), unit(h)


def test_the_gradient_is_that_of_the_objective(case):
    R, seen, loss, h = case
    place = place_at(R, seen, loss, h)
    assert place.theta == pytest.approx(objective(R, seen, loss, h), rel=1e-12)
    expected = slope(lambda x: objective(R, seen, loss, x), h) / 4
    assert np.allclose(place.r, expected, atol=1e-8 * place.theta)
    assert abs(place.r @ h) < 1e-12
    assert place.stationarity == pytest.approx(linalg.norm(expected) / place.theta, rel=1e-6)


def test_without_hidden_entries_it_is_the_gradient_of_the_paper():
    R = random_symmetric(M, N, seed=3)
    weights, h = np.linspace(1, 2, M), unit(np.arange(1.0, N + 1))
    place = place_at(R, np.ones((M, N, N)), Loss(weights, np.full(M, 0.01), False), h)
    lam = np.einsum("s,ist,t->i", h, R, h)
    theta = weights @ lam**2
    assert place.theta == pytest.approx(theta)
    assert np.allclose(place.r, np.tensordot(weights * lam, R, axes=1) @ h - theta * h)


@pytest.mark.parametrize("name", ["plain", "faded", "hollow"])  # the bend is left out
def test_the_curvature_is_that_of_the_objective(name):
    R, seen, loss, h = make_case(name)
    place = place_at(R, seen, loss, h)
    p = np.random.default_rng(2).standard_normal(N)
    p -= (p @ h) * h
    products = Products(R @ p, seen @ (h * p), seen @ p**2)
    found = place.curvature(p, products, loss)
    step = 1e-5
    # Of the gradient of the invariant f, which at h + step p is that at the unit vector, shorter.
    ahead, behind = h + step * p, h - step * p

    def gradient(x):
        return place_at(R, seen, loss, x).r / linalg.norm(x)

    expected = (gradient(ahead) - gradient(behind)) / (2 * step)
    expected -= (expected @ h) * h
    assert np.allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_a_line_knows_the_objective_and_its_slope_everywhere(case):
    R, seen, loss, h = case
    place = place_at(R, seen, loss, h)
    p = np.random.default_rng(3).standard_normal(N)
    p -= (p @ h) * h
    products = Products(R @ p, seen @ (h * p), seen @ p**2)
    line = Line(place, p, products, loss)
    steps = np.array([-3.0, -0.2, 0.0, 1e-3, 0.3, 1.0, 20.0])
    f, slopes = line.values(steps)
    for a, value, rise in zip(steps, f, slopes, strict=True):
        assert value == pytest.approx(objective(R, seen, loss, h + a * p), rel=1e-10)
        d = 1e-6
        ahead, behind = (objective(R, seen, loss, h + (a + e) * p) for e in (d, -d))
        assert rise == pytest.approx((ahead - behind) / (2 * d), rel=1e-4, abs=1e-6 * value)
        there = place.along(p, products, a, loss)
        assert np.allclose(there.r, place_at(R, seen, loss, h + a * p).r)
        assert there.theta == pytest.approx(value)
    for both_ways in (False, True):
        best = line.best(both_ways=both_ways)
        grid = np.tan(np.linspace(-1.5 * both_ways, 1.5, 4001))
        assert line.values(np.array([best]))[0][0] >= line.values(grid)[0].max() * (1 - 1e-3)


@pytest.mark.parametrize("d", [0, 3])
def test_residuals(storage, d):
    A, seen = hidden_graphs(seed=5)
    stack = stack_of(A, seen)
    view = MaskedView(stack.to_sparse() if storage == "sparse" else stack, "hollow")
    off = 1 - np.eye(N)
    A, seen = A * off, seen * off
    rng = np.random.default_rng(0)
    H, Lam, weights = rng.standard_normal((N, d)), rng.standard_normal((M, d)), rng.random(M)
    R = A - seen * np.einsum("sk,ik,tk->ist", H, Lam, H)
    residuals = MaskedResiduals(view, H, Lam, weights)
    pairs = [tuple(rng.standard_normal((2, N))) for _ in range(3)]
    for (h, p), found in zip(pairs, residuals.products(pairs), strict=True):
        assert np.allclose(found.Rp, R @ p)
        assert np.allclose(found.Mhp, seen @ (h * p))
        assert np.allclose(found.Mpp, seen @ p**2)
    B, Y = rng.standard_normal((N, 4)), rng.standard_normal((M, 4, N))
    assert np.allclose(residuals.multiply(B), np.einsum("ist,tb->ibs", R, B))
    assert np.allclose(residuals.sum_multiply(Y), np.einsum("ist,ibt->sb", R, Y))
    squares = np.einsum("i,ist,itu->su", weights, R, R)
    assert np.allclose(residuals.square_multiply(B), squares @ B)
    assert residuals.n_passes == 5
    counts = np.tensordot(weights, seen, axes=1)
    mean = np.tensordot(weights, R, axes=1) / np.where(counts > 0, counts, 1)
    assert np.allclose(residuals.mean() @ np.eye(N), mean)


# ---------------------------------------------------------------------- loadings


def grams_written_out(H, seen):
    return np.einsum("sj,sk,ist,tj,tk->ijk", H, H, seen, H, H)


def test_loadings_are_least_squares_on_what_is_observed():
    A, seen = hidden_graphs(seed=7)
    H = linalg.qr(np.random.default_rng(0).standard_normal((N, 3)), mode="economic")[0]
    Gammas, Psi = grams_written_out(H, seen), np.einsum("sk,ist,tk->ik", H, A, H)
    found = solve_loadings_each(Gammas, Psi)
    with_whole = solve_loadings_each(Gammas, Psi, component_gram(H), seen.mean(axis=(1, 2)))
    path = [(A**2).sum(axis=(1, 2))]
    for j in range(1, 4):
        left = []
        for i in range(M):
            E = (seen[i] * np.einsum("sk,tk->kst", H[:, :j], H[:, :j])).reshape(j, -1).T
            lam = linalg.lstsq(E, A[i].ravel())[0]
            left.append(((A[i].ravel() - E @ lam) ** 2).sum())
            if j == 3:
                assert np.allclose(found[i], lam)
                assert np.allclose(with_whole[i], lam)
        path.append(np.array(left))
    weights = np.linspace(1, 2, M)
    expected = np.array(path) @ weights
    assert np.allclose(objective_path_each(Gammas, Psi, path[0], weights), expected)


@pytest.mark.parametrize("with_whole", [False, True])
def test_complete_graphs_have_the_loadings_they_always_had(with_whole):
    rng = np.random.default_rng(0)
    H = rng.standard_normal((N, 4))
    H[:, 3] = H[:, 1]  # twice the same
    H /= linalg.norm(H, axis=0)
    H[:, 2] = 0  # and one that is nothing
    A = random_symmetric(M, N, seed=1)
    Gamma, Psi = component_gram(H), np.einsum("sk,ist,tk->ik", H, A, H)
    Gammas = np.repeat(Gamma[None], M, axis=0)
    whole = Gamma if with_whole else None
    assert np.allclose(solve_loadings_each(Gammas, Psi, whole), solve_loadings(Gamma, Psi))
    norms, weights = (A**2).sum(axis=(1, 2)), np.ones(M)
    found = objective_path_each(Gammas, Psi, norms, weights, whole)
    assert np.allclose(found, objective_path(Gamma, Psi, norms, weights))


def test_what_a_graph_does_not_see_gets_no_loading():
    H = np.zeros((8, 2))
    H[:4, 0] = H[4:, 1] = 0.5
    # Written out: how little the second graph sees must be neither nothing nor too much.
    H = H + 3e-3 * np.array([[2, -1], [-1, 1], [1, 2], [-2, 1], [1, -1], [2, 1], [-1, 1], [1, 2]])
    H /= linalg.norm(H, axis=0)
    seen = np.zeros((3, 8, 8))
    seen[0] = 1
    seen[1, :4, :4] = 1  # sees next to nothing of the second component
    A = 3 * np.ones((8, 8)) * seen
    Gammas, Psi = grams_written_out(H, seen), np.einsum("sk,ist,tk->ik", H, A, H)
    observed = seen.mean(axis=(1, 2))
    assert 1e-12 < Gammas[1, 1, 1] < UNSEEN * observed[1]
    assert np.abs(solve_loadings_each(Gammas, Psi)[1, 1]) > 100  # whatever fits the rest of it
    found = solve_loadings_each(Gammas, Psi, component_gram(H), observed)
    assert np.allclose(found[1], [12, 0], atol=0.2)
    assert np.array_equal(found[2], [0, 0])
    assert np.allclose(found[0], [12, 12], atol=0.2)


def test_no_components_no_loadings():
    assert solve_loadings_each(np.zeros((2, 0, 0)), np.zeros((2, 0))).shape == (2, 0)
    assert not solve_loadings_each(np.zeros((2, 1, 1)), np.ones((2, 1)), np.zeros((1, 1))).any()
