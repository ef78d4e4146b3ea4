"""The basis of the subspace solver: how it begins, grows and is shortened; and what is rounding."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from written_out import Counted, outer_products, residuals

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers import directions, tall
from eigengraphs.solvers.blocks import make_job
from eigengraphs.solvers.deflated import DeflatedGraphs
from eigengraphs.solvers.deflation import Deflation
from eigengraphs.solvers.directions import (
    basis_from_sketch,
    basis_width,
    orthonormal,
    random_starts,
    sketch_weights,
)
from eigengraphs.solvers.loadings import condition, solve_loadings
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.products import CachedBasis
from eigengraphs.solvers.spectral import spectral
from eigengraphs.solvers.symmetric import SymmetricSpace
from eigengraphs.solvers.tall import subtract
from eigengraphs.solvers.whole import whole_pays

SEED = np.random.SeedSequence(0)
N = 14

# ---------------------------------------------------------------------------------- the basis


def space(n_frozen=0, *, n=N, m=4, zero=False, keep="products", init="auto"):
    A = 0.0 * random_symmetric(m, n, 0) if zero else random_symmetric(m, n, 0)
    view = Counted(StackView(GraphStack(A)))
    job = make_job(
        view, weights=np.ones(m), init=init, n_init=1, tol=1e-6, max_iter=9,
        cache=keep == "products", wide=None, moments=False, hollow=False, watch=None,
    )  # fmt: skip
    view.calls.clear()
    frozen = orthonormal(np.random.default_rng(1).standard_normal((n, n_frozen)), np.zeros((n, 0)))
    Lam = np.ones((m, n_frozen))
    rest = DeflatedGraphs(view, frozen, Lam, False) if n_frozen else view
    return SymmetricSpace(rest, job, frozen, float(job.sizes.sum())), view


@pytest.mark.parametrize("n_frozen", [0, 2])
def test_the_first_basis_holds_what_is_given_and_its_passes_are_counted(n_frozen):
    found, view = space(n_frozen)
    given = np.random.default_rng(0).standard_normal((N, 3))
    Y = found.begin(given, 5, np.random.default_rng(0))
    assert np.allclose(found.components(Y), given)
    assert np.array_equal(found._basis.V[:, :3], orthonormal(given, np.zeros((N, 0))))
    assert found.n_passes == view.total == 2 + (n_frozen > 0)
    assert found.most == N * (N + 1) // 2 - n_frozen
    assert found.n_vertices == N


@pytest.mark.parametrize(
    ("settings", "n_given", "columns"),
    [({}, 0, 16), ({"keep": "cores"}, 0, 24), ({"init": "svd"}, 0, 24), ({}, 2, 26)],
)  # fmt: skip
def test_the_first_basis_is_short_where_bases_get_wide_and_starts_are_many(
    settings, n_given, columns
):
    found, _ = space(n=60, **settings)
    given = np.random.default_rng(0).standard_normal((60, n_given))
    found.begin(given, 5, np.random.default_rng(0))
    assert found._basis.V.shape == (60, columns)


def test_graphs_of_zero_on_many_vertices_get_a_basis_as_wide_as_the_block(monkeypatch):
    monkeypatch.setattr(directions, "TALL", 10)
    found, _ = space(zero=True)
    Y = found.begin(np.zeros((N, 0)), 5, np.random.default_rng(0))
    assert Y.shape == (5, 0)
    assert found.random_starts(np.random.default_rng(0), 2, 3).shape == (2, 3, 5)


def test_a_wider_basis_keeps_the_points_and_adds_what_is_new():
    found, _ = space()
    found._basis.append(np.eye(N)[:, :3])
    Y = np.random.default_rng(0).standard_normal((3, 2))
    before = found.components(Y)
    r = np.random.default_rng(1).standard_normal((N, 2))
    (wider, other) = found.widen(r, [Y, 2 * Y])
    assert wider.shape == other.shape == (5, 2)
    assert np.array_equal(wider[:3], Y)
    assert not wider[3:].any()
    assert np.allclose(found.components(wider), before)
    assert found.components(np.eye(5)).shape == (N, 5)
    outside = np.linalg.lstsq(found.components(np.eye(5)), r)[1]
    assert np.allclose(outside, 0)
    assert found.widen(found.components(np.eye(5)), [wider]) is None


@pytest.mark.parametrize(("n_new", "shortened"), [(44, False), (45, True)])
def test_a_basis_is_shortened_only_where_it_has_no_room(n_new, shortened):
    found, _ = space(n=60, keep="cores")
    assert found._width == 48
    found._basis.append(np.eye(60)[:, :4])
    Y = np.random.default_rng(0).standard_normal((4, 2))
    before = found.components(Y)
    (after,) = found.shorten([Y], n_new)
    assert len(after) == (2 if shortened else 4)
    assert np.allclose(found.components(after), before)


# ------------------------------------------------------------------------------- directions


def test_the_width_of_a_basis_is_what_the_cores_of_the_graphs_allow():
    numbers = 5 * 2**18
    for m in (1, 404, 405, 498, 499, 630, 631, 10**5):
        fits = [s for s in (80, 72) if min(m, s * (s + 1) // 2) * s * (s + 1) / 2 <= numbers]
        assert basis_width(m, cache=True) == (max(fits) if fits else 64)
    assert basis_width(1, cache=False) == 48


def test_many_graphs_are_sketched_by_their_heaviest_and_some_others():
    rng = np.random.default_rng(0)
    sizes = rng.random(400)
    sizes[:50] = 0.0
    weights = rng.random(400) + 0.1
    chosen, Omega = sketch_weights(7, weights, sizes, np.random.default_rng(1))
    assert Omega.shape == (7, 16)
    taken = np.flatnonzero(chosen)
    assert len(taken) == 350 // 4
    assert np.array_equal(chosen[taken], weights[taken])
    heaviest = np.argsort(-sizes)[: len(taken) // 4]
    assert set(heaviest) <= set(taken)
    assert not set(taken) & set(range(50))
    few, Omega = sketch_weights(7, weights[:64], sizes[50:114], np.random.default_rng(1))
    assert np.array_equal(few, weights[:64])
    assert np.array_equal(Omega, np.random.default_rng(1).standard_normal((7, 16)))
    more, _ = sketch_weights(7, weights[:65], sizes[50:115], np.random.default_rng(1))
    assert np.count_nonzero(more) == 64


@pytest.mark.parametrize("tall", [False, True])
def test_the_first_basis_is_of_the_given_the_main_of_the_mean_and_the_squares(tall, monkeypatch):
    if tall:
        monkeypatch.setattr(directions, "TALL", 10)
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((n, 12)))[0] for n in (40, 16))
    sums = (left * 2.0 ** -np.arange(12)) @ right.T
    squares, given = rng.standard_normal((40, 5)), left[:, :1]
    V = basis_from_sketch(squares, sums, rng.standard_normal((40, 5)), given)
    assert V.shape == (40, 1 + 7 + 5)  # eight of the mean, of which one is given
    assert np.allclose(V.T @ V, np.eye(13), atol=1e-12)
    assert np.array_equal(V[:, :1], given)
    inside = np.linalg.norm(V[:, :8].T @ left, axis=0)
    assert np.allclose(inside[:8], 1)
    assert inside[8:].max() < 1e-4
    assert np.allclose(np.linalg.norm(V.T @ squares, axis=0), np.linalg.norm(squares, axis=0))


@pytest.mark.parametrize("rows", [3000, 10])
def test_a_sketch_sees_components_beside_a_large_diagonal(rows, monkeypatch):
    # As of sparse graphs: D sums up all squared entries, and hides what h is beside.
    monkeypatch.setattr(tall, "_ROWS", rows)
    rng = np.random.default_rng(0)
    n = 3000
    h, Omega = rng.standard_normal(n) / np.sqrt(n), rng.standard_normal((n, 16))
    D = 1000 + 100 * rng.random(n)

    def share_of_h(hollowed):
        monkeypatch.setattr(directions, "_HOLLOWED", hollowed)
        squares = D[:, None] * Omega + 2000 * np.outer(h, h @ Omega)
        V = basis_from_sketch(squares, np.zeros((n, 16)), Omega, np.zeros((n, 0)))
        return np.linalg.norm(V.T @ h)

    kept = directions._HOLLOWED
    assert share_of_h(0.0) < 0.3
    assert share_of_h(kept) > 0.8


def test_a_sketch_keeps_the_middle_of_a_star():
    n = 12
    A = np.zeros((n, n))
    A[-1, :-1] = A[:-1, -1] = 1  # the last: singular vectors of a mean of zero are the first units
    Omega = np.random.default_rng(0).standard_normal((n, 4))
    nothing = np.zeros((n, 0))
    V = basis_from_sketch(A @ A @ Omega, np.zeros((n, 4)), Omega, nothing)
    assert np.linalg.norm(V[-1]) > 0.2  # without it, h^T A h = 0 in all of the basis


@pytest.mark.parametrize(("short", "columns"), [(False, 16), (True, 8)])
def test_a_short_sketch_has_half_the_columns(short, columns):
    _, Omega = sketch_weights(7, np.ones(5), np.ones(5), np.random.default_rng(1), short=short)
    assert Omega.shape == (7, columns)


def test_random_starts_are_units_of_their_own():
    Y = random_starts(np.random.default_rng(0), 3, 4, 6)
    assert Y.shape == (3, 4, 6)
    assert np.allclose(np.linalg.norm(Y, axis=2), 1)
    assert np.linalg.matrix_rank(Y.reshape(12, 6)) == 6


def test_what_is_taken_off_by_blocks_of_rows_is_the_product(monkeypatch):
    monkeypatch.setattr(tall, "_ROWS", 4)
    rng = np.random.default_rng(0)
    X, V, Y = rng.random((10, 2)), rng.random((10, 3)), rng.random((3, 2))
    expected = X - V @ Y
    subtract(X, V, Y)
    assert np.allclose(X, expected)


@pytest.mark.parametrize(("left", "n_kept"), [(1e-9, 1), (1e-11, 0)])
def test_a_direction_is_new_from_a_ten_billionth_on(left, n_kept):
    e = np.eye(5)
    for V in (e[:, :1], np.zeros((5, 0))):
        columns = np.column_stack([e[:, 0], 3 * e[:, 0] + 3 * left * e[:, 1]])
        found = orthonormal(columns if V.shape[1] == 0 else columns[:, 1:], V)
        assert found.shape[1] == n_kept + (V.shape[1] == 0)


# ------------------------------------------------------- few vertices, one graph, loadings


@pytest.mark.parametrize("left", [1e-3, 1e-6, 1e-8])
def test_small_remainders_are_at_right_angles_to_all(left):
    n, s = 28, 26
    for seed in range(20):
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        V, rest = Q[:, :s], Q[:, s:]
        columns = V @ rng.standard_normal((s, 3)) + left * rest @ rng.standard_normal((2, 3))
        found = orthonormal(columns, V)
        both = np.column_stack([V, found])
        assert np.allclose(both.T @ both, np.eye(n), atol=1e-13)
        # A direction again, and at full length: beside it there is rounding along V.
        again = np.column_stack([V @ np.ones(s) + left * rest[:, 0], rest, rest[:, 0]])
        both = np.column_stack([V, orthonormal(again, V)])
        assert np.allclose(both.T @ both, np.eye(n), atol=1e-13)


@pytest.mark.parametrize(
    ("m", "n", "pays"),
    [
        (10**4, 32, True), (10**4, 33, True), (2244, 33, False), (2245, 33, True),
        (103, 100, True), (104, 100, False), (1, 100, True), (1, 101, False),
        (4 * 72 * 73 // 2 + 1, 72, True), (4 * 72 * 73 // 2, 72, False), (10**7, 73, False),
    ],
)  # fmt: skip
def test_where_all_vertices_are_solved_for_at_once(m, n, pays):
    assert whole_pays(m, n) == pays


@pytest.mark.parametrize(("value", "reason"), [(4e-14, "exhausted"), (5e-14, "stationary")])
def test_an_eigenvalue_counts_beyond_rounding(value, reason):
    # 100 n eps times the norm is 4.4e-14.
    view = StackView(GraphStack(np.diag([1.0, value])[None]))
    fit = spectral(view, 2, tol=1e-8, seed=SEED)
    assert [stage.stop_reason for stage in fit.stages] == ["stationary", reason]


def test_the_condition_is_that_of_the_eigenvalues():
    assert condition(np.zeros((0, 0))) == 1.0
    assert condition(np.diag([1.0, 4.0])) == 4.0
    assert condition(np.diag([0.0, 4.0])) == np.inf


@pytest.mark.parametrize(("small", "seen"), [(3e-15, False), (6e-15, True)])
def test_loadings_are_solved_for_beyond_rounding(small, seen):
    # 10 d eps is 4.4e-15.
    Lam = solve_loadings(np.diag([1.0, small]), np.array([[2.0, small]]))
    assert np.allclose(Lam, [[2.0, 1.0 if seen else 0.0]])


# ---------------------------------------------------------------------------------- deflation


def test_components_nearly_there_already_keep_their_digits():
    rng = np.random.default_rng(0)
    V = np.eye(4)
    y = np.array([1.0, 0, 0, 0])
    for apart in (1e-3, 1e-5):
        deflation = Deflation(Packing(4), V, np.zeros((4, 0)), False)
        other = y + apart * rng.standard_normal(4)
        other /= np.linalg.norm(other)
        deflation.add(y)
        q, square = deflation.add(other)
        c = other @ y
        assert square == pytest.approx((1 - c**2) * (1 + c**2), rel=1e-5)
        assert abs(q @ Packing(4).outer(y[None])[0]) < 1e-15
        expected = residuals(outer_products(other[:, None]), y[:, None])[0]
        assert np.allclose(Packing(4).unpack(q), expected, atol=1e-15)


@pytest.mark.parametrize(("apart", "rank"), [(1e-8, 1), (1e-5, 2)])
def test_frozen_components_that_are_the_same_but_for_rounding_are_one(apart, rank):
    frozen = np.array([[1.0, 1.0], [0.0, apart], [0.0, 0.0]])
    frozen /= np.linalg.norm(frozen, axis=0)
    deflation = Deflation(Packing(3), np.eye(3), frozen, False)
    assert deflation._n_old == rank
    y = np.array([0.6, 0.0, 0.8])
    assert deflation.remaining(y[None], np.ones(1))[0] < 1


def test_forms_of_the_same_numbers_in_a_turned_basis_are_others():
    A = random_symmetric(4, 9, 0)
    basis = CachedBasis(StackView(GraphStack(A)), np.ones(4))
    rng = np.random.default_rng(0)
    Q, T = (np.linalg.qr(rng.standard_normal((n, 3)))[0] for n in (9, 3))
    basis.append(Q)
    Y = rng.standard_normal((3, 2))
    for turned in (False, True):
        if turned:
            basis.rotate(T)
        for points in (Y, Y[:, :1], Y):
            H = basis.V @ points
            expected = np.einsum("sk,ist,tk->ik", H, A, H)
            assert np.allclose(basis.forms(points), expected, atol=1e-12)
        basis.forms(Y)[:] = 0.0  # what is kept is not handed out
    assert basis.forms(Y).any()
