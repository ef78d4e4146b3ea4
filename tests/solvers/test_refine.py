"""All components together: lower than greedy, stationary, bounded, and what was planted."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric
from refining import LARGE, RULES, greedy, improve, skewed, view_of
from scipy import linalg
from scipy.optimize import linear_sum_assignment
from written_out import norm_without_diagonal, outer_products, slope

from eigengraphs.solvers.loadings import component_gram
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.refine_objective import Bend, Objective, holding, search_gram
from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    SparseLoadings,
    SupportLoadings,
)


def matched_errors(found, truth):
    """Return the distances of components, in the best order and signs."""
    places = linear_sum_assignment(-np.abs(truth.T @ found))[1]
    return column_errors(found[:, places], truth)


def left(A, H, weights, rule, *, hollow=False, bend=0.0):
    """Return phi at the normalised columns of H with every matrix written out."""
    H = H / linalg.norm(H, axis=0)
    A = A * (1 - np.eye(len(H))) if hollow else A
    E = outer_products(H, hollow=hollow).reshape(H.shape[1], -1)
    Gamma, Psi = E @ E.T, A.reshape(len(A), -1) @ E.T
    if bend is not None and hollow:  # the norms that the search sees
        np.fill_diagonal(Gamma, [norm_without_diagonal(h) for h in H.T])
    Lam = rule.solve(Gamma, Psi)
    norms = (A**2).sum(axis=(1, 2))
    losses = norms - 2 * (Lam * Psi).sum(axis=1) + np.einsum("ij,jk,ik->i", Lam, Gamma, Lam)
    penalty = getattr(rule, "penalty", 0.0)
    losses += 2 * penalty * np.abs(Lam) @ np.sqrt(np.diag(Gamma))
    if bend:
        values = linalg.eigvalsh(Gamma)
        depth = np.maximum(np.log(linalg.norm(Gamma) / bend / values), 0.0)
        return float(weights @ losses) + 0.01 * float(weights @ norms) * float(depth @ depth)
    return float(weights @ losses)


# ---------------------------------------------------------------------------------- the gradient


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("begin", [1e6, 2.5])  # the second is met
def test_the_gradient_is_that_of_the_written_out_objective(rule, hollow, begin):
    rng = np.random.default_rng(0)
    n, s, m, d = 9, 6, 5, 3
    A = 3 * random_symmetric(m, n, seed=1, hollow=hollow)
    V = linalg.qr(rng.standard_normal((n, s)), mode="economic")[0]
    Y = rng.standard_normal((s, d)) + rng.standard_normal((s, 1))
    Y /= linalg.norm(Y, axis=0)
    weights = rng.uniform(0.5, 2, m)
    if isinstance(rule, SparseLoadings):  # the support is held
        E = outer_products(V @ Y, hollow=hollow).reshape(d, -1)
        chosen = rule.solve(E @ E.T, A.reshape(m, -1) @ E.T)
        rule = SupportLoadings(chosen != 0, rule.nonnegative)
    cores = Packing(s).pack(V.T @ A @ V)
    total = float(weights @ (A**2).sum(axis=(1, 2)))
    bend = Bend(begin, 1e9, 0.01 * total)
    penalty = getattr(rule, "penalty", 0.0)
    objective = Objective(cores, weights, V, rule.solve, penalty, bend, hollow=hollow)
    point = objective(Y)
    assert bend.met(point.Gamma) == (begin < 10)

    def phi(y):
        return left(A, V @ y.reshape(s, d), weights, rule, hollow=hollow, bend=begin)

    assert point.value + total == pytest.approx(phi(Y.ravel()), rel=1e-12)
    expected = slope(phi, Y.ravel()).reshape(s, d)
    assert np.abs(-4 * point.r - expected).max() < 1e-7 * np.abs(expected).max()


def test_what_components_hold_is_the_gradient_of_their_inner_products():
    rng = np.random.default_rng(0)
    H = rng.standard_normal((6, 3))
    H[:, 0] = [3, 0.1, 0.2, 0.1, 0, 0.3]  # nearly a vertex
    H /= linalg.norm(H, axis=0)
    N = rng.standard_normal((3, 3))
    N += N.T

    for hollow in (False, True):

        def product(x, hollow=hollow):
            X = x.reshape(6, 3)
            lengths = linalg.norm(X, axis=0)
            return float((N * search_gram(X / lengths, hollow=hollow)).sum())

        held = holding(H, N, hollow=hollow)
        tangent = 4 * (held - H * (H * held).sum(axis=0))
        assert np.allclose(slope(product, H.ravel()).reshape(6, 3), tangent, atol=1e-8)


@pytest.mark.parametrize("n", [12, LARGE])
@pytest.mark.parametrize("hollow", [False, True])
def test_reported_gradients_are_those_of_written_out_residuals(n, hollow):
    A, _ = skewed(n, 7, 3, 2, noise=0.05, hollow=hollow)
    weights = np.linspace(0.5, 2, 7)
    view = view_of(A, hollow)
    H = greedy(view, 3, hollow, weights=weights, tol=1e-3)
    for max_iter in (0, 2):
        found = improve(view, H, weights=weights, hollow=hollow, max_iter=max_iter)
        E = outer_products(found.H, hollow=hollow)
        assert np.allclose(found.Psi, np.einsum("ist,kst->ik", A, E))
        R = A - np.einsum("ik,kst->ist", found.Lam, E)
        r = np.einsum("i,ik,ist,tk->sk", weights, found.Lam, R, found.H)
        r -= found.H * (found.H * r).sum(axis=0)
        alone = 1 / np.diag(linalg.inv(component_gram(found.H, hollow=hollow)))
        theta = alone * (weights @ found.Lam**2)
        assert np.allclose(found.stationarity, linalg.norm(r, axis=0) / theta, atol=1e-9)


def test_what_a_gradient_is_measured_by_is_what_the_component_explains():
    A, _ = skewed(12, 6, 4, 1, noise=0.1)
    found = improve(view_of(A), greedy(view_of(A), 4))
    alone = 1 / np.diag(linalg.inv(component_gram(found.H)))
    theta = alone * (found.Lam**2).sum(axis=0)
    for k in range(4):
        without = left(A, np.delete(found.H, k, axis=1), np.ones(6), FreeLoadings())
        assert without - found.objective_after == pytest.approx(theta[k], rel=1e-8)


# ---------------------------------------------------------------------------------- the objective


@pytest.mark.parametrize("n", [14, LARGE])
@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_objective_never_rises_and_is_the_written_out_one(rule, hollow, n):
    A, _ = skewed(n, 8, 4, 3, noise=0.1, hollow=hollow)
    A = 4 * A
    view, weights = view_of(A, hollow), np.linspace(0.5, 2, 8)
    H = greedy(view, 4, hollow, tol=1e-3)
    before = np.inf
    for max_iter in (0, 1, 2, 4, 8):
        found = improve(view, H, rule, weights=weights, hollow=hollow, max_iter=max_iter, tol=1e-9)
        assert found.n_iter <= max_iter
        assert found.objective_after <= before * (1 + 1e-13)
        before = found.objective_after
        assert np.allclose(linalg.norm(found.H, axis=0), 1)
        E = outer_products(found.H, hollow=hollow)
        R = A - np.einsum("ik,kst->ist", found.Lam, E)
        losses = (R**2).sum(axis=(1, 2))
        norms = np.sqrt((E**2).sum(axis=(1, 2)))
        losses += 2 * getattr(rule, "penalty", 0.0) * np.abs(found.Lam) @ norms
        assert found.objective_after == pytest.approx(weights @ losses, rel=1e-9)
        if rule.nonnegative:
            assert (found.Lam >= 0).all()
        if isinstance(rule, SparseLoadings):
            assert ((found.Lam != 0).sum(axis=1) <= 2).all()
    assert found.objective_after < 0.999 * found.objective_before
    start = left(A, H, weights, rule, hollow=hollow, bend=None)
    assert found.objective_before == pytest.approx(start, rel=1e-9)


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("hollow", [False, True])
def test_it_ends_where_nothing_nearby_is_lower(rule, hollow):
    A, _ = skewed(12, 8, 3, 5, noise=0.1, hollow=hollow)
    A = 4 * A
    view = view_of(A, hollow)
    found = improve(view, greedy(view, 3, hollow), rule, hollow=hollow)
    assert found.stop_reason == "stationary"
    assert found.converged
    held = rule
    if isinstance(rule, SparseLoadings):
        held = SupportLoadings(found.Lam != 0, rule.nonnegative)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(5):
            near = found.H + size * rng.standard_normal(found.H.shape)
            assert left(A, near, np.ones(8), held, hollow=hollow) > found.objective_after


# ---------------------------------------------------------------------------------- the components


@pytest.mark.parametrize(("n", "cache"), [(15, True), (LARGE, True), (LARGE, False)])
@pytest.mark.parametrize("hollow", [False, True])
def test_it_recovers_components_that_greedy_does_not(n, cache, hollow):
    A, truth = skewed(n, 20, 4, 0, hollow=hollow)
    view = view_of(A, hollow)
    H = greedy(view, 4, hollow)
    assert matched_errors(H, truth).max() > 0.05
    found = improve(view, H, hollow=hollow, cache=cache)
    assert matched_errors(found.H, truth).max() < 1e-6
    assert found.objective_after < 1e-12 * found.objective_before
    positive = improve(view, H, NonnegativeLoadings(), hollow=hollow, cache=cache)
    assert matched_errors(positive.H, truth).max() < 1e-6


def test_it_recovers_components_of_sparse_loadings():
    rng = np.random.default_rng(1)
    H = linalg.qr(rng.standard_normal((LARGE, 4)), mode="economic")[0]
    H += 0.3 * np.roll(H, 1, axis=1)
    H /= linalg.norm(H, axis=0)
    Lam = rng.uniform(1, 3, (60, 4)) * (rng.random((60, 4)).argsort(axis=1) < 2)
    A = np.einsum("sk,ik,tk->ist", H, Lam, H)
    view = view_of(A)
    start = greedy(view, 4)
    assert matched_errors(start, H).max() > 0.05
    found = improve(view, start, SparseLoadings(2))
    assert matched_errors(found.H, H).max() < 1e-6


@pytest.mark.parametrize("n", [12, LARGE])
def test_orthogonal_components_of_a_greedy_search_stay_as_they_are(n):
    known = noiseless(n, 10, 3, 0)
    view = view_of(known.stack)
    H = greedy(view, 3)
    found = improve(view, H)
    assert np.array_equal(found.H, H)
    assert (found.n_iter, found.stop_reason) == (0, "stationary")
    assert found.objective_after == found.objective_before
    assert np.allclose(found.Lam, found.Psi)


@pytest.mark.parametrize("n", [12, LARGE])
@pytest.mark.parametrize("hollow", [False, True])
def test_one_component_stays_as_it_is(n, hollow):
    A = random_symmetric(6, n, seed=4, hollow=hollow)
    view = view_of(A, hollow)
    H = greedy(view, 1, hollow)
    found = improve(view, H, hollow=hollow, tol=1e-8)
    assert np.array_equal(found.H, H)
    assert found.n_iter == 0
    # What moved comes back: the measure is that of the greedy search.
    rng = np.random.default_rng(0)
    moved = H + 0.02 * rng.standard_normal(H.shape)
    back = improve(view, moved, hollow=hollow, tol=1e-8)
    assert column_errors(back.H, H).max() < 1e-6


@pytest.mark.parametrize("n", [12, LARGE])
def test_a_star_that_greedy_stopped_at_its_bound_stays_there(n):
    A = np.zeros((2, n, n))
    A[:, 0, 1:] = A[:, 1:, 0] = 1.0
    A[1] *= 2
    view = view_of(A, hollow=True)
    H = greedy(view, 1, hollow=True, tol=1e-7)
    found = improve(view, H, hollow=True, tol=1e-6)
    assert column_errors(found.H, H).max() < 1e-5


# --------------------------------------------------------------------------------------- the bound


def tangents(n, seed=0):
    """Graphs for which two components get better and better as they come together."""
    a, b = linalg.qr(np.random.default_rng(seed).standard_normal((n, 2)), mode="economic")[0].T
    return np.stack([np.outer(a, a), np.outer(a, b) + np.outer(b, a)]), a


@pytest.mark.parametrize("n", [10, LARGE])
@pytest.mark.parametrize("bound", [1e2, 1e3])
def test_without_a_minimum_it_stops_at_the_bound(n, bound):
    A, a = tangents(n)
    view = view_of(A)
    H = greedy(view, 2)
    found = improve(view, H, tol=1e-8, max_condition=bound)
    assert found.bound_met
    assert found.converged
    assert bound / 4 <= found.condition < bound
    assert np.isfinite(found.Lam).all()
    assert np.abs(found.Lam).max() < np.sqrt(bound)
    assert found.objective_after < 0.01 * found.objective_before
    assert np.abs(a @ found.H).min() > 0.98
    assert linalg.norm(A[1] - np.einsum("k,sk,tk->st", found.Lam[1], found.H, found.H)) < 0.2


def test_the_bound_does_not_matter_where_it_is_not_met():
    A, _ = skewed(12, 8, 3, 1, noise=0.1)
    H = greedy(view_of(A), 3)
    found = [improve(view_of(A), H, max_condition=bound) for bound in (1e3, 1e8)]
    assert not any(f.bound_met for f in found)
    assert np.array_equal(found[0].H, found[1].H)


def test_other_components_move_on_when_two_meet_the_bound():
    rng = np.random.default_rng(3)
    Q = linalg.qr(rng.standard_normal((12, 4)))[0][:, :4]
    a, b, c, e = Q.T
    e = (c + e) / np.sqrt(2)
    E = [np.outer(a, a), np.outer(a, b) + np.outer(b, a), np.outer(c, c), np.outer(e, e)]
    A = np.tensordot(rng.uniform(0.5, 2, (10, 4)), E, axes=1)
    view = view_of(A)
    found = improve(view, greedy(view, 4), tol=1e-8)
    assert found.bound_met
    assert found.converged
    assert np.abs(found.H.T @ np.column_stack([c, e])).max(axis=0).min() > 1 - 1e-5
    assert found.objective_after < 1e-4 * found.objective_before


def test_a_start_beyond_the_bound_is_improved_all_the_same():
    A, truth = skewed(12, 8, 3, 1, noise=0.1)
    H = truth.copy()
    H[:, 2] = H[:, 1] + 1e-3 * H[:, 2]
    found = improve(view_of(A), H, max_condition=100.0)
    assert found.objective_after < 0.9 * found.objective_before
    twice = H[:, [0, 1, 1]]
    found = improve(view_of(A), twice)
    assert np.isfinite(found.Lam).all()
    assert found.objective_after <= found.objective_before
