"""The parts of the directed solver's core: against definitions written out and NumPy twins."""

import numpy as np
import pytest
from known_graphs import random_directed, stored
from scipy import linalg
from written_out import objective, outer_products, residuals, slope

from eigengraphs import GraphStack
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.solvers.core import Search, compress
from eigengraphs.solvers.directed.core import PairProblem, solve_pairs
from eigengraphs.solvers.directed.deflated import DeflatedDirected
from eigengraphs.solvers.directed.pairs import PairDeflation, PairPacking, unit_pairs
from eigengraphs.solvers.directed.products import CachedPairBasis, StreamedPairBasis
from eigengraphs.solvers.directed.quotient import PairQuotient
from eigengraphs.solvers.directed.space import pair_width
from eigengraphs.solvers.loadings import active_gram, component_gram

S, T, N = 5, 4, 11


@pytest.fixture(params=[False, True], ids=["observed", "hollow"])
def hollow(request):
    return request.param


def drawn_pairs(n, d, seed=0, t=None):
    """Unit pairs, one a column, (n + t, d)."""
    t = n if t is None else t
    return unit_pairs(np.random.default_rng(seed).standard_normal((d, n + t)), n).T


# ------------------------------------------------------------------ packing, Gamma, deflation


def test_packed_components_keep_inner_products():
    packing, X, other = PairPacking(S, T), drawn_pairs(S, 3, 0, T).T, drawn_pairs(S, 2, 1, T).T
    E, F = packing.outer(X), packing.outer(other)
    assert np.allclose(packing.unpack(E), np.einsum("bs,bt->bst", X[:, :S], X[:, S:]))
    assert np.allclose(packing.pack(packing.unpack(E)), E)
    assert np.allclose(packing.cosines(X, other), E @ F.T)
    assert np.allclose(np.linalg.norm(E, axis=1), 1)


def test_gamma_is_the_gram_matrix_of_the_outer_products(hollow):
    X = drawn_pairs(N, 4)
    H, G = X[:N], X[N:]
    E = outer_products(H, G, hollow=hollow).reshape(4, -1)
    assert np.allclose(component_gram(H, G, hollow=hollow), E @ E.T)
    assert np.allclose(component_gram(H, H, hollow=hollow), component_gram(H, hollow=hollow))
    active = np.array([True, False, True, True])
    expected = np.where(np.outer(active, active), E @ E.T, 0)
    assert np.allclose(active_gram(H, active, hollow=hollow, G=G), expected)


@pytest.mark.parametrize("where", ["none", "inside", "outside"])
def test_each_component_leaves_its_part_that_is_orthogonal_to_the_earlier_ones(where, hollow):
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((N, k)))[0] for k in (S, T))
    inside = drawn_pairs(S, 2, seed=1, t=T)
    frozen = {
        "none": np.zeros((2 * N, 0)),
        "inside": np.vstack([U @ inside[:S], V @ inside[S:]]),
        "outside": drawn_pairs(N, 2, seed=2),
    }[where]
    X = drawn_pairs(S, 3, seed=3, t=T)
    HG = np.column_stack([frozen, np.vstack([U @ X[:S], V @ X[S:]])])
    deflation, k0 = PairDeflation(U, V, frozen, hollow), frozen.shape[1]
    A = residuals(random_directed(4, N, seed=1, hollow=hollow), HG[:N, :k0], HG[N:, :k0],
                  hollow=hollow)  # fmt: skip
    for k, x in enumerate(X.T):
        h, g = HG[:N, [k0 + k]], HG[N:, [k0 + k]]
        e = outer_products(h, g, hollow=hollow)
        q = residuals(e, HG[:N, : k0 + k], HG[N:, : k0 + k], hollow=hollow)[0]
        square = deflation.remaining(x[None], np.array([np.sum(e**2)]))[0]
        assert square == pytest.approx(np.sum(q**2), rel=1e-10)
        packed, square = deflation.add(x)
        assert square == pytest.approx(np.sum(q**2), rel=1e-10)
        assert np.allclose(packed, (U.T @ q @ V).ravel(), atol=1e-12)
    Psi = np.einsum("sk,ist,tk->ik", HG[:N, k0:], A, HG[N:, k0:])
    forms = deflation.projections(Psi, X)[0]
    for k in range(3):
        R = residuals(A, HG[:N, : k0 + k], HG[N:, : k0 + k], hollow=hollow)
        expected = np.einsum("s,ist,t->i", HG[:N, k0 + k], R, HG[N:, k0 + k])
        assert np.allclose(forms[:, k], expected, atol=1e-11)


def test_deflated_graphs_multiply_as_their_residuals_do(storage, hollow):
    A = random_directed(6, N, seed=2, hollow=hollow)
    HG = drawn_pairs(N, 2, seed=4)
    H, G = HG[:N], HG[N:]
    rng = np.random.default_rng(0)
    Lam = rng.standard_normal((6, 2))
    R = A - np.tensordot(Lam, outer_products(H, G, hollow=hollow), axes=1)
    graphs = DeflatedDirected(DirectedView(stored(GraphStack(A), storage)), H, G, Lam, hollow)
    U, V, B, C = (rng.standard_normal((N, k)) for k in (3, 2, 4, 5))
    W, X, Y = rng.standard_normal((6, 3)), rng.standard_normal((N, 3)), rng.standard_normal((N, 3))
    left, right = np.empty((6, 4, N)), np.empty((6, 5, N))
    graphs.products(B, C, lambda *_: None, lambda *_: None, left, right)
    assert np.allclose(left, B.T @ R)
    assert np.allclose(right, C.T @ R.transpose(0, 2, 1))
    onto_left, onto_right = graphs.project(U, V, B, C)
    assert np.allclose(onto_left, np.column_stack([U, B]).T @ R @ C)
    assert np.allclose(onto_right, V.T @ R.transpose(0, 2, 1) @ B)
    of_Y, of_X = graphs.weighted_multiply(W, X, Y)
    assert np.allclose(of_Y, np.einsum("ik,ist,tk->sk", W, R, Y))
    assert np.allclose(of_X, np.einsum("ik,ist,sk->tk", W, R, X))
    if not hollow:  # there the sketch is rough
        weights = rng.random(6)
        found = graphs.sketch(B, weights)
        for (squares, sums), M in zip(found, (R, R.transpose(0, 2, 1)), strict=True):
            assert np.allclose(squares, np.einsum("i,ist,iut,uk->sk", weights, M, M, B))
            assert np.allclose(sums, np.einsum("i,ist,tk->sk", weights, M, B))


# ------------------------------------------------------------------ bases


@pytest.mark.parametrize("kind", [CachedPairBasis, StreamedPairBasis])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bases_keep_their_cores_and_combine_products(storage, kind, dtype):
    A = random_directed(6, N, seed=2, density=0.6)
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    view = DirectedView(stored(GraphStack(A), storage).astype(dtype))
    basis = kind(view, np.ones(6))
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((N, 8)))[0] for _ in range(2))

    def check():
        assert np.allclose(basis.cores, basis.U.T @ A @ basis.V, atol=tolerance)
        s, t = basis.U.shape[1], basis.V.shape[1]
        W, X = rng.standard_normal((6, 3)), rng.standard_normal((s + t, 3))
        of_right, of_left = basis.combine(W, X)
        expected = np.einsum("ik,ist,tk->sk", W, A, basis.V @ X[s:])
        assert np.allclose(of_right, expected, atol=30 * tolerance)
        expected = np.einsum("ik,ist,sk->tk", W, A, basis.U @ X[:s])
        assert np.allclose(of_left, expected, atol=30 * tolerance)

    # Sides grow by different numbers of columns, and one of them by none.
    for l0, l1, r0, r1 in [(0, 3, 0, 4), (3, 5, 4, 5), (5, 5, 5, 8), (5, 6, 8, 8)]:
        basis.append(left[:, l0:l1], right[:, r0:r1])
        check()
    P, Q = (np.linalg.qr(rng.standard_normal((k, 3)))[0] for k in (6, 8))
    basis.rotate(P, Q)
    check()
    assert np.allclose(basis.U, left[:, :6] @ P)
    assert basis.combine(np.zeros((6, 0)), np.zeros((6, 0)))[0].shape == (N, 0)


def test_the_width_of_bases_leaves_room_for_a_block_and_its_history():
    for m in (1, 100, 10_000, 10**6):
        for cache in (True, False):
            assert pair_width(m, cache) >= 48
    assert pair_width(10, cache=True) > pair_width(10_000, cache=True)


# ------------------------------------------------------------------ one component


def quotient_of(C, hollow, seed=0):
    """The objective on cores of hollow graphs on N vertices, and the written-out function of x."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((N, k)))[0] for k in (S, T))
    cores = U.T @ C @ V
    quotient = PairQuotient(
        cores.reshape(len(C), -1), PairPacking(S, T), (U, V) if hollow else None
    )

    def f(x):
        return objective(C, np.ones(len(C)), U @ x[:S], V @ x[S:], hollow=hollow)

    return quotient, f


def test_gradients_are_slopes_of_the_objective(hollow):
    quotient, f = quotient_of(random_directed(6, N, seed=3, hollow=hollow), hollow)
    for x in drawn_pairs(S, 5, seed=1, t=T).T:
        value, r, *_ = quotient._state(x)
        assert value == pytest.approx(f(x))
        assert np.allclose(r, slope(f, x) / 2, atol=1e-7 * value)
        assert quotient.measure(x) == pytest.approx(value)
        value, r, *_ = quotient._state(x, rough=True)
        assert value == pytest.approx(f(x), rel=1e-5)
        assert np.allclose(r, slope(f, x) / 2, atol=1e-5 * value)


def concentrated(seed=0):
    """Bases that hold single vertices, and points around u = 1/2 on both sides of the bend."""
    C = random_directed(6, N, seed=3, hollow=True)
    U, V = np.eye(N)[:, :S], np.eye(N)[:, :T]
    quotient = PairQuotient((U.T @ C @ V).reshape(6, -1), PairPacking(S, T), (U, V))
    rng = np.random.default_rng(seed)
    points = []
    for share in (0.3, 0.6, 0.8, 0.9, 0.95):
        x = rng.standard_normal(S + T) * np.sqrt((1 - share) / 3)
        x[0], x[S] = np.sqrt(share), np.sqrt(share)
        points.append(unit_pairs(x, S))
    return quotient, lambda x: objective(
        C, np.ones(6), U @ x[:S], V @ x[S:], hollow=True
    ), points  # fmt: skip


def test_so_are_they_near_a_single_loop():
    quotient, f, points = concentrated()
    norms = quotient.norms(np.array(points))
    u = [(x[:4] ** 2 * x[S : S + 4] ** 2).sum() for x in points]
    assert min(u) < 0.5 < max(u)  # both sides of the bend
    assert (norms > 0.2).all()
    for x in points:
        value, r, *_ = quotient._state(x)
        assert value == pytest.approx(f(x))
        assert np.allclose(r, slope(f, x) / 2, atol=1e-5 * value)


def test_newtons_method_converges_quadratically_at_a_maximum(hollow):
    # A wrong Hessian would still climb, slowly: the step from near a maximum tells.
    quotient, _ = quotient_of(random_directed(6, N, seed=3, hollow=hollow), hollow)
    top = quotient.maximise(drawn_pairs(S, 1, seed=1, t=T)[:, 0], 1e-13)[0]
    rng = np.random.default_rng(0)
    near = unit_pairs(top + 1e-4 * rng.standard_normal(S + T), S)
    f, r, total, _ = quotient._state(near)
    step, is_concave = quotient._step(near, f, r, total, is_stationary=False)
    assert is_concave
    after = quotient._state(unit_pairs(near + step, S))[1]
    assert linalg.norm(after) < 1e-3 * linalg.norm(r)


def test_climbing_never_lowers_the_objective(hollow):
    quotient, f = quotient_of(random_directed(6, N, seed=3, hollow=hollow), hollow)
    X = drawn_pairs(S, 8, seed=2, t=T).T
    nowhere = np.zeros(len(X), dtype=bool)
    ways = (
        lambda X: quotient.climb(X, 1),
        lambda X: quotient.explore(X, 1, nowhere)[0],  # six cores are not combined
    )
    for way in ways:
        values = [f(x) for x in X]
        climbed = X
        for _ in range(5):
            climbed = way(climbed)
            before, values = values, [f(x) for x in climbed]
            assert (np.array(values) >= np.array(before) * (1 - 1e-5)).all()


def test_finalists_are_compared_near_their_maxima(hollow):
    quotient, f = quotient_of(random_directed(6, N, seed=3, hollow=hollow), hollow)
    X = drawn_pairs(S, 6, seed=2, t=T).T
    found, is_maximum = quotient.approach(X)
    assert is_maximum.any() != hollow  # nothing is known of a bent norm
    for before, x in zip(X, found, strict=True):
        value, r, *_ = quotient._state(x)
        assert linalg.norm(r) <= 1.1e-2 * value
        assert value == pytest.approx(f(x))
        assert value > f(before)


def test_a_saddle_point_is_left():
    # The second singular pair of one matrix is stationary, and no maximum.
    C = np.diag([3.0, 2.0, 1.0, 0.5])[None]
    quotient = PairQuotient(C.reshape(1, -1), PairPacking(4, 4))
    x = np.concatenate([np.eye(4)[1], np.eye(4)[1]])
    assert (quotient._state(x)[1] == 0.0).all()
    assert quotient.maximise(x, 1e-10)[1] == pytest.approx(9.0)


# ------------------------------------------------------------------ all components


def problem_of(C, *, frozen=None, hollow=False, floor=0.0):
    """The cores of graphs on n vertices with the unit vectors as bases."""
    m, n, _ = C.shape
    frozen = np.zeros((2 * n, 0)) if frozen is None else frozen
    R, mean, _ = compress(
        residuals(C, frozen[:n], frozen[n:], hollow=hollow).reshape(m, -1), np.ones(m)
    )
    return PairProblem(R, mean, np.eye(n), np.eye(n), frozen, hollow, floor)


def everywhere(n, d, *, n_random=20, seed=0):
    random = np.random.default_rng(seed).standard_normal((d, n_random, 2 * n))
    return Search(np.zeros((2 * n, 0)), False, True, 1, unit_pairs(random, n))


@pytest.mark.parametrize("n_frozen", [0, 2])
def test_every_component_is_a_maximum_on_what_the_earlier_ones_left(hollow, n_frozen):
    n = 6
    C = random_directed(6, n, seed=3, hollow=hollow)
    found = drawn_pairs(n, n_frozen, seed=1)
    fit = solve_pairs(problem_of(C, frozen=found, hollow=hollow), 4, everywhere(n, 4), 1e-11)
    assert (fit.stationarity <= 1e-11).all()
    for x, gain in zip(fit.Y.T, fit.gains, strict=True):
        R = residuals(C, found[:n], found[n:], hollow=hollow)

        def f(x, R=R):
            return objective(R, np.ones(6), x[:n], x[n:], hollow=hollow)

        assert gain == pytest.approx(f(x), rel=1e-9)
        for e in np.eye(2 * n):
            assert f(x + 1e-3 * e) <= f(x) * (1 + 1e-9)
        found = np.column_stack([found, x])


def best_of_torus(R, found, n=301):
    """The maximum of f on two vertices that lowers the objective most; overlaps down to 0.3."""
    angles = np.linspace(0, np.pi, n)[:-1]
    Y = np.stack([np.cos(angles), np.sin(angles)])
    f = (np.einsum("sa,ist,tb->iab", Y, R, Y) ** 2).sum(axis=0)
    outer = np.einsum("sa,tb->abst", Y, Y)
    left = np.sum(residuals(outer.reshape(-1, 2, 2), found[:2], found[2:]) ** 2, axis=(1, 2))
    top = np.ones(f.shape, dtype=bool)
    for a, b in [(0, 1), (1, 0), (1, 1), (1, -1)]:
        for sign in (1, -1):
            top &= f >= np.roll(f, (sign * a, sign * b), axis=(0, 1))
    falls = np.where(top, f / np.maximum(left.reshape(f.shape), 0.3), 0)
    return falls.max()


@pytest.mark.parametrize("seed", range(6))
def test_on_two_vertices_brute_force_finds_nothing_better(seed):
    C = random_directed(5, 2, seed=seed)
    fit = solve_pairs(problem_of(C), 2, everywhere(2, 2), 1e-10)
    found = np.zeros((4, 0))
    for x in fit.Y.T:
        R = residuals(C, found[:2], found[2:])
        e = outer_products(x[:2, None], x[2:, None])
        left = np.sum(residuals(e, found[:2], found[2:]) ** 2)
        fall = objective(R, np.ones(5), x[:2], x[2:]) / max(left, 0.3)
        assert fall >= best_of_torus(R, found) * (1 - 1e-3)  # the grid's width
        found = np.column_stack([found, x])


def test_components_in_order_stay_with_their_starts():
    rng = np.random.default_rng(2)
    Y, Z = (np.linalg.qr(rng.standard_normal((8, 3)))[0] for _ in range(2))
    # Loadings of different components are orthogonal over the graphs: no maximum is shared.
    Lam = np.linalg.qr(rng.standard_normal((10, 3)))[0] * [3.0, 2.0, 1.0]
    C, X = np.einsum("sk,ik,tk->ist", Y, Lam, Z), np.vstack([Y, Z])
    order = [2, 0, 1]
    near = unit_pairs((X[:, order] + 0.05 * rng.standard_normal((16, 3))).T, 8).T
    for in_order, expected in ((True, order), (False, [0, 1, 2])):
        search = Search(near, in_order, False, 0, np.zeros((0, 0, 16)))
        fit = solve_pairs(problem_of(C), 3, search, 1e-10)
        cosines = PairPacking(8, 8).cosines(fit.Y.T, X[:, expected].T)
        assert np.abs(np.abs(cosines) - np.eye(3)).max() < 1e-8


def test_when_nothing_is_left_the_rest_is_zero():
    rng = np.random.default_rng(0)
    C = np.einsum("s,i,t->ist", *(rng.standard_normal(k) for k in (6, 4, 6)))
    fit = solve_pairs(problem_of(C, floor=1e-20 * np.sum(C**2)), 3, everywhere(6, 3), 1e-10)
    assert fit.gains[0] == pytest.approx(np.sum(C**2))
    assert (fit.gains[1:] == 0).all()
    assert (fit.Y[:, 1:] == 0).all()


def test_cores_that_cancel_in_their_mean_are_started_from_their_squares():
    h, g = np.random.default_rng(0).standard_normal((2, 6))
    C = np.einsum("s,i,t->ist", h, [1.0, -1.0], g)
    search = Search(np.zeros((12, 0)), False, True, 0, np.zeros((0, 0, 12)))
    fit = solve_pairs(problem_of(C), 1, search, 1e-10)
    assert fit.gains[0] == pytest.approx(2 * linalg.norm(h) ** 2 * linalg.norm(g) ** 2)
