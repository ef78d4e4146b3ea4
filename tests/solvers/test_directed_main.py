"""What components of directed graphs leave, and the main cores that starts are tried on."""

import numpy as np
import pytest
from known_graphs import random_directed
from written_out import objective, outer_products, residuals

from eigengraphs import GraphStack
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.solvers.core import Search, compress
from eigengraphs.solvers.directed import core
from eigengraphs.solvers.directed.core import PairProblem, solve_pairs
from eigengraphs.solvers.directed.pairs import PairDeflation, PairPacking, unit_pairs
from eigengraphs.solvers.directed.products import CachedPairBasis
from eigengraphs.solvers.directed.quotient import PairQuotient
from eigengraphs.solvers.directed.remainder import MainPairs, PairRemainder
from eigengraphs.solvers.quotient import OVERLAP

S, T, MANY = 6, 5, 80


def drawn_pairs(d, seed=0, s=S, t=T):
    """Unit pairs, one a row, (d, s + t)."""
    return unit_pairs(np.random.default_rng(seed).standard_normal((d, s + t)), s)


def two_taken_off(R, seed=0):
    """A remainder, and the same written out."""
    rng = np.random.default_rng(seed)
    cores, written = PairRemainder(R, PairPacking(S, T)), R.copy()
    for _ in range(2):
        q = rng.standard_normal(S * T)
        t = written @ q / (q @ q)
        cores.take_off(t, q, float(q @ q))
        written -= np.outer(t, q)
    return cores, written


def of_few_patterns(m, seed=0):
    """Cores that share three patterns, beside some noise, (m, S, T)."""
    rng = np.random.default_rng(seed)
    X, Lam = drawn_pairs(3, seed), rng.standard_normal((m, 3)) * [3.0, 2.0, 1.5]
    noise = 0.02 * rng.standard_normal((m, S, T))
    return np.einsum("ik,ks,kt->ist", Lam, X[:, :S], X[:, S:]) + noise


# ------------------------------------------------------------------ the remainder


def test_sums_of_squares_follow_what_is_taken_off():
    R = np.random.default_rng(2).standard_normal((7, S * T))
    problem = PairProblem(
        R, R.sum(axis=0), np.eye(S), np.eye(T), np.zeros((S + T, 0)), False, 0.0
    )  # fmt: skip
    cores = PairRemainder(R, PairPacking(S, T))
    squares, written = core._Squares(problem, cores, 2), R.copy()
    for seed in range(2):
        q = np.random.default_rng(seed).standard_normal(S * T)
        square = float(q @ q)
        t = written @ q / square
        squares.take_off(t, q, q, square)
        cores.take_off(t, q, square)
        written -= np.outer(t, q)
        C = written.reshape(7, S, T)
        rows, columns = squares._squares
        assert np.allclose(rows, np.einsum("ist,iut->su", C, C))
        assert np.allclose(columns, np.einsum("ist,isu->tu", C, C))
        assert np.allclose(squares._mean, written.sum(axis=0))


def test_what_is_left_is_as_if_it_were_written_out():
    R = np.random.default_rng(1).standard_normal((7, S * T))
    cores, written = two_taken_off(R)
    C = written.reshape(7, S, T)
    for x in drawn_pairs(3):
        y, z = x[:S], x[S:]
        expected = np.einsum("s,ist,t->i", y, C, z)
        for state, tolerance in ((cores.state, 1e-12), (cores.rough_state, 1e-4)):
            total = np.empty((S, T))
            square, forms = state(x, total)
            assert np.allclose(forms, expected, atol=tolerance)
            assert square == pytest.approx(expected @ expected, rel=10 * tolerance)
            assert np.allclose(total, np.tensordot(expected, C, axes=1), atol=30 * tolerance)
        B = np.hstack([C @ z, np.einsum("s,ist->it", y, C)])
        assert np.allclose(cores.curvature(x), B.T @ B, atol=1e-3)
    assert np.array_equal(R, np.random.default_rng(1).standard_normal((7, S * T)))


def test_main_cores_follow_what_is_taken_off():
    R = of_few_patterns(MANY).reshape(MANY, -1)
    cores, written = two_taken_off(R)
    main = cores.main(4)
    assert len(main.cores) < MANY  # combined,
    # and orthonormal combinations of what is left: its largest singular values are theirs.
    found = np.linalg.svd(main.cores, compute_uv=False)[:3]
    assert np.allclose(found, np.linalg.svd(written, compute_uv=False)[:3], rtol=1e-2)
    again, _ = two_taken_off(R)
    again.main(4)
    t, q = R[:, 0], np.random.default_rng(5).standard_normal(S * T)
    for one in (cores, again):
        one.take_off(t, q, float(q @ q))
    assert np.allclose(cores.main(4).cores, again.main(4).cores, atol=1e-4)


@pytest.mark.parametrize("combine", [False, True])
def test_few_cores_and_those_without_a_second_round_are_not_combined(combine):
    for m in (5, MANY):
        RT = np.random.default_rng(0).standard_normal((S * T, m)).astype(np.float32)
        main = MainPairs(RT, 0, PairPacking(S, T), combine=combine)
        assert (len(main.cores) < m) == (combine and m == MANY)
        if len(main.cores) == m:
            assert np.array_equal(main.cores, RT.T)


def test_combinations_are_told_apart_by_all_of_the_cores():
    # What sets graphs apart is in the last column alone.
    packing, rng = PairPacking(30, 30), np.random.default_rng(0)
    C = 1e-3 * rng.standard_normal((MANY, 30, 30))
    C[:, :, -1] += np.outer(rng.standard_normal(MANY), np.ones(30))
    main = PairRemainder(C.reshape(MANY, -1), packing).main(0)
    assert np.linalg.norm(main.cores, 2) == pytest.approx(
        np.linalg.norm(C.reshape(MANY, -1), 2), rel=1e-4
    )


# ------------------------------------------------------------------ ways up


def test_climbing_on_main_cores_raises_f_or_what_the_objective_falls_by():
    R = np.random.default_rng(2).standard_normal((9, S * T))
    cores = PairRemainder(R, PairPacking(S, T))
    bases = np.eye(8)[:, :S], np.eye(8)[:, :T]
    deflation = PairDeflation(*bases, np.zeros((16, 0)), hollow=False)
    left = R.copy()
    for x in drawn_pairs(2, seed=3):
        q, square = deflation.add(x)
        t = left @ PairPacking(S, T).outer(x[None])[0] / square
        cores.take_off(t, q, square)
        left -= np.outer(t, q)
    main, X = cores.main(2), drawn_pairs(8, seed=4)

    def f_and_fall(X):
        Z = PairPacking(S, T).outer(X)
        f = ((Z @ left.T) ** 2).sum(axis=1)
        return f, f / np.maximum(deflation.remaining(X, np.ones(len(X))), OVERLAP)

    by_falls = np.arange(8) % 2 == 1
    value = np.where(by_falls, *f_and_fall(X)[::-1])
    for _ in range(5):
        X, falls = main.climb(X, 1, 8, by_falls, OVERLAP)
        before, value = value, np.where(by_falls, *f_and_fall(X)[::-1])
        assert (value >= before * (1 - 1e-5)).all()
        assert np.allclose(falls, f_and_fall(X)[1], rtol=1e-4)
    assert np.allclose(np.linalg.norm(X[:, :S], axis=1), 1)
    assert np.allclose(np.linalg.norm(X[:, S:], axis=1), 1)


def test_newtons_method_on_main_cores_ends_at_a_maximum_of_them():
    R = np.random.default_rng(2).standard_normal((9, S * T))
    main = PairRemainder(R, PairPacking(S, T)).main(0)
    quotient = PairQuotient(R, PairPacking(S, T))
    n_maxima = 0
    for x in drawn_pairs(8, seed=1):
        found, is_maximum = main.maximise(x, 1e-4, 40, 8)
        f, r, _, _ = quotient._state(found)
        assert np.linalg.norm(r) <= 2e-4 * f
        n_maxima += is_maximum
        if is_maximum:
            top, higher, _ = quotient.maximise(found, 1e-10)
            assert higher == pytest.approx(f, rel=1e-6)
            assert quotient.cosines(found[None], top)[0] == pytest.approx(1)
    assert n_maxima >= 6


def test_a_saddle_point_of_main_cores_is_no_maximum():
    C = np.diag([3.0, 2.0, 1.0, 0.5])
    main = PairRemainder(C.reshape(1, -1), PairPacking(4, 4)).main(0)
    second = np.concatenate([np.eye(4)[1], np.eye(4)[1]])
    assert not main.maximise(second, 1e-3, 40, 8)[1]
    near = unit_pairs(second + 0.2 * np.eye(8)[0] + 0.2 * np.eye(8)[4], 4)
    found, _ = main.maximise(near, 1e-3, 40, 8)
    assert abs(found[0]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("m", [3, 40])  # fewer and more cores than columns
def test_partners_are_nearly_the_best_ones(m):
    C = np.random.default_rng(0).standard_normal((m, S, T))
    main = PairRemainder(C.reshape(m, -1), PairPacking(S, T)).main(0)
    x = drawn_pairs(1)[0]
    right, left = main.partner(x[:S], 0), main.partner(x[S:], 1)
    B, D = np.einsum("s,ist->it", x[:S], C), C @ x[S:]
    for vector, products in ((right, B), (left, D)):
        assert np.linalg.norm(vector) == pytest.approx(1)
        assert np.linalg.norm(products @ vector) >= 0.9 * np.linalg.norm(products, 2)
        assert np.linalg.norm(products @ vector) <= 1.001 * np.linalg.norm(products, 2)
    nothing = PairRemainder(np.zeros((m, S * T)), PairPacking(S, T)).main(0)
    assert np.linalg.norm(nothing.partner(x[:S], 0)) == pytest.approx(1)


# ------------------------------------------------------------------ all components


def problem_of(C):
    m, n, _ = C.shape
    R, mean, _ = compress(C.reshape(m, -1), np.ones(m))
    return PairProblem(R, mean, np.eye(n), np.eye(n), np.zeros((2 * n, 0)), False, 0.0)


def searched(n, d, **kind):
    random = np.random.default_rng(0).standard_normal((d, 10, 2 * n))
    return Search(np.zeros((2 * n, 0)), False, True, 1, unit_pairs(random, n), **kind)


@pytest.mark.parametrize("tol", [1e-10, 1e-3])
def test_many_graphs_have_the_same_components_whether_combined_or_not(tol):
    C = np.pad(of_few_patterns(MANY), ((0, 0), (0, 0), (0, 1)))
    together = solve_pairs(problem_of(C), 3, searched(S, 3), tol)
    apart = solve_pairs(problem_of(C), 3, searched(S, 3, to_the_top=True), tol)
    assert np.allclose(together.gains, apart.gains, rtol=max(1e-8, tol**2))
    assert (together.stationarity <= tol).all()
    # What is told of rough components is exact.
    found = np.zeros((2 * S, 0))
    for x, gain in zip(together.Y.T, together.gains, strict=True):
        R = residuals(C, found[:S], found[S:])
        assert gain == pytest.approx(objective(R, np.ones(MANY), x[:S], x[S:]), rel=1e-9)
        found = np.column_stack([found, x])


def test_cores_are_combined_but_where_there_is_no_second_round(monkeypatch):
    asked = []

    class Told(PairRemainder):
        def __init__(self, *args, combine):
            asked.append(combine)
            super().__init__(*args, combine=combine)

    monkeypatch.setattr(core, "PairRemainder", Told)
    C = random_directed(6, S, seed=0)
    for to_the_top in (False, True):
        solve_pairs(problem_of(C), 1, searched(S, 1, to_the_top=to_the_top), 1e-6)
    assert asked == [True, False]


def test_fixed_components_are_measured_as_they_are():
    C = random_directed(6, S, seed=1)
    warm = drawn_pairs(2, s=S, t=S).T
    search = Search(warm, False, False, 0, np.zeros((0, 0, 2 * S)), n_fixed=2)
    fit = solve_pairs(problem_of(C), 2, search, 1e-10)
    assert np.allclose(fit.Y, warm)
    assert fit.gains[0] == pytest.approx(objective(C, np.ones(6), warm[:S, 0], warm[S:, 0]))
    left = residuals(C, warm[:S, :1], warm[S:, :1])
    assert fit.gains[1] == pytest.approx(objective(left, np.ones(6), warm[:S, 1], warm[S:, 1]))


def test_who_had_a_place_contends_for_it():
    # The first in the pool is far from its maximum, which is the higher one.
    rng = np.random.default_rng(2)
    Y, Z = (np.linalg.qr(rng.standard_normal((8, 2)))[0] for _ in range(2))
    Lam = np.linalg.qr(rng.standard_normal((10, 2)))[0] * [3.0, 2.5]
    C, X = np.einsum("sk,ik,tk->ist", Y, Lam, Z), np.vstack([Y, Z])
    away = np.linalg.qr(np.column_stack([X[:8, 0], X[:8, 1], rng.standard_normal(8)]))[0][:, 2]
    moved = X[:, 0].copy()
    moved[:8] += 1.0 * away  # half of its gain is lost there
    warm = np.column_stack([unit_pairs(moved, 8), X[:, 1]])
    search = Search(warm, False, False, 0, np.zeros((0, 0, 16)))
    fit = solve_pairs(problem_of(C), 2, search, 1e-10)
    assert np.allclose(fit.gains, [9.0, 6.25])


def test_forms_of_the_last_points_are_kept_until_the_bases_change():
    A = random_directed(5, 9, seed=2)
    basis = CachedPairBasis(DirectedView(GraphStack(A)), np.ones(5))
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((9, 6)))[0] for _ in range(2))
    basis.append(left[:, :3], right[:, :3])
    X = rng.standard_normal((6, 2))

    def check(X):
        for _ in range(2):
            s = basis.U.shape[1]
            E = outer_products(basis.U @ X[:s], basis.V @ X[s:])
            found = basis.forms(X)
            assert np.allclose(found, np.einsum("ist,kst->ik", A, E))
            found[:] = np.nan  # what is returned belongs to who asked

    check(X)
    check(X[:, :1])
    check(2 * X)
    basis.rotate(*(np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2)))
    check(2 * X)
    basis.append(left[:, 3:], right[:, 3:])
    check(rng.standard_normal((12, 2)))
