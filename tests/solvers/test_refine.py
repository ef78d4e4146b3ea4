"""All components together: lower than greedy, stationary, bounded, and what was planted."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric
from refining import LARGE, RULES, dense, greedy, improve, operator_of, skewed
from scipy import linalg
from scipy.optimize import linear_sum_assignment
from written_out import norm_without_diagonal, outer_products, slope

from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    SparseLoadings,
    SupportLoadings,
)

both_geometries = pytest.mark.parametrize("directed", [False, True])
both_metrics = pytest.mark.parametrize("hollow", [False, True])
every_rule = pytest.mark.parametrize("rule", RULES, ids=str)


def matched_error(found, truth):
    """Return the largest distance of any side of a component, in the best order and signs."""
    cosines = np.prod([np.abs(t.T @ f) for f, t in zip(found, truth, strict=True)], axis=0)
    places = linear_sum_assignment(-cosines)[1]
    return max(
        column_errors(f[:, places], t).max() for f, t in zip(found, truth, strict=True)
    )  # fmt: skip


def graphs_of(A, hollow=False, directed=False):
    return operator_of(A, "hollow" if hollow else "observed", directed)


def written_out(A, sides, *, hollow=False, bent=False):
    """Return Gamma and Psi of components, bent as in the search if so wished."""
    E = outer_products(*sides, hollow=hollow).reshape(sides[0].shape[1], -1)
    Gamma, Psi = E @ E.T, A.reshape(len(A), -1) @ E.T
    if bent and hollow:
        columns = zip(*(side.T for side in sides), strict=True)
        np.fill_diagonal(Gamma, [norm_without_diagonal(*column) for column in columns])
    return Gamma, Psi


def left(A, sides, weights, rule, *, hollow=False, bent=False, bend=0.0):
    """Return phi at the normalized columns of the sides with every matrix written out."""
    sides = [side / linalg.norm(side, axis=0) for side in sides]
    A = A * (1 - np.eye(A.shape[1])) if hollow else A
    Gamma, Psi = written_out(A, sides, hollow=hollow, bent=bent)
    Lam = rule.solve(Gamma, Psi)
    norms = (A**2).sum(axis=(1, 2))
    losses = norms - 2 * (Lam * Psi).sum(axis=1) + np.einsum("ij,jk,ik->i", Lam, Gamma, Lam)
    losses += 2 * rule.penalty * np.abs(Lam) @ np.sqrt(np.diag(Gamma))
    if bend:
        depth = np.maximum(np.log(linalg.norm(Gamma) / bend / linalg.eigvalsh(Gamma)), 0.0)
        return float(weights @ losses) + 0.01 * float(weights @ norms) * float(depth @ depth)
    return float(weights @ losses)


# ---------------------------------------------------------------------------------- the gradient


@both_geometries
@both_metrics
@every_rule
@pytest.mark.parametrize("bound", [1e6, 2.0])  # the second is met
def test_stationarity_is_the_slope_of_the_written_out_objective(rule, hollow, directed, bound):
    rng = np.random.default_rng(0)
    n, m, d = 8, 5, 3
    A = 3 * rng.standard_normal((m, n, n))
    A = A if directed else A + A.transpose(0, 2, 1)
    A = A * (1 - np.eye(n)) if hollow else A
    sides = rng.standard_normal((1 + directed, n, d))
    for side in sides:
        side[:, 2] = side[:, 1] + 0.4 * side[:, 2]
        side[:, 0] = [3, 0.1, 0.2, 0.1, 0, 0.3, 0.1, 0]  # nearly a vertex
        side /= linalg.norm(side, axis=0)
    weights = rng.uniform(0.5, 2, m)
    found = improve(graphs_of(A, hollow, directed), tuple(sides), rule, hollow, weights=weights,
                    max_iter=0, max_condition=bound)  # fmt: skip
    assert found.bound_met == (bound < 10)
    Gamma, Psi = written_out(A, sides, hollow=hollow, bent=True)
    Lam = rule.solve(Gamma, Psi)
    held = rule
    if isinstance(rule, SparseLoadings):  # the support is held
        held = SupportLoadings(Lam != 0, rule.nonnegative)
    begin = max(bound / 4, 2 * np.sqrt(d))

    def phi(x):
        return left(A, x.reshape(sides.shape), weights, held, hollow=hollow, bent=True, bend=begin)

    theta = weights @ Lam**2 / np.diag(linalg.inv(Gamma))
    gradient = slope(phi, sides.ravel()).reshape(sides.shape)
    sizes = np.sqrt((gradient**2).sum(axis=(0, 1))) / (2 if directed else 4)
    sizes = np.where(theta > 0, sizes / np.where(theta > 0, theta, 1), 0)
    assert np.allclose(found.stationarity, sizes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("n", [12, LARGE])
@both_metrics
@both_geometries
def test_reported_gradients_are_those_of_written_out_residuals(n, hollow, directed):
    A, _ = skewed(n, 7, 3, 2, noise=0.05, hollow=hollow, directed=directed)
    weights = np.linspace(0.5, 2, 7)
    graphs = graphs_of(A, hollow, directed)
    start = greedy(graphs, 3, hollow, weights=weights, tol=1e-3)
    for max_iter in (0, 2):
        found = improve(graphs, start, None, hollow, weights=weights, max_iter=max_iter)
        E = outer_products(*found.sides, hollow=hollow)
        assert np.allclose(found.Psi, np.einsum("ist,kst->ik", A, E))
        R = A - np.einsum("ik,kst->ist", found.Lam, E)
        S = np.einsum("i,ik,ist->kst", weights, found.Lam, R)
        H, G = found.sides[0], found.sides[-1]
        r = [np.einsum("kst,tk->sk", S, G), np.einsum("kst,sk->tk", S, H)][: 1 + directed]
        for side, own in zip(r, found.sides, strict=True):
            side -= own * (own * side).sum(axis=0)
        Gamma, _ = written_out(A, found.sides, hollow=hollow)
        theta = weights @ found.Lam**2 / np.diag(linalg.inv(Gamma))
        assert np.allclose(found.stationarity, linalg.norm(np.vstack(r), axis=0) / theta, atol=1e-9)


@both_geometries
def test_what_a_gradient_is_measured_by_is_what_the_component_explains(directed):
    A, _ = skewed(12, 6, 4, 1, noise=0.1, directed=directed)
    graphs = graphs_of(A, directed=directed)
    found = improve(graphs, greedy(graphs, 4))
    alone = 1 / np.diag(linalg.inv(written_out(A, found.sides)[0]))
    theta = alone * (found.Lam**2).sum(axis=0)
    for k in range(4):
        others = [np.delete(side, k, axis=1) for side in found.sides]
        without = left(A, others, np.ones(6), FreeLoadings())
        assert without - found.objective_after == pytest.approx(theta[k], rel=1e-8)


# ---------------------------------------------------------------------------------- the objective


@pytest.mark.parametrize("n", [14, LARGE])
@pytest.mark.parametrize("diagonal", ["observed", "filled", "hollow"])
@both_geometries
@every_rule
def test_the_objective_never_rises_and_is_the_written_out_one(rule, diagonal, directed, n):
    hollow = diagonal == "hollow"
    A, _ = skewed(n, 8, 4, 3, noise=0.1, hollow=diagonal != "observed", directed=directed)
    weights = np.linspace(0.5, 2, 8)
    graphs = operator_of(4 * A, diagonal, directed)
    A = dense(graphs)
    start = greedy(graphs, 4, hollow, tol=1e-3, rule=rule)
    before = np.inf
    for max_iter in (0, 1, 3, 8):
        found = improve(graphs, start, rule, hollow, weights=weights, max_iter=max_iter, tol=1e-9)
        assert found.n_iter <= max_iter
        assert found.objective_after <= before * (1 + 1e-13)
        before = found.objective_after
        assert all(np.allclose(linalg.norm(side, axis=0), 1) for side in found.sides)
        E = outer_products(*found.sides, hollow=hollow)
        R = A - np.einsum("ik,kst->ist", found.Lam, E)
        norms = np.sqrt((E**2).sum(axis=(1, 2)))
        losses = (R**2).sum(axis=(1, 2)) + 2 * rule.penalty * np.abs(found.Lam) @ norms
        assert found.objective_after == pytest.approx(weights @ losses, rel=1e-9)
        if rule.nonnegative:
            assert (found.Lam >= 0).all()
        if isinstance(rule, SparseLoadings):
            assert ((found.Lam != 0).sum(axis=1) <= 2).all()
    assert found.objective_after < 0.9999 * found.objective_before
    expected = left(A, start, weights, rule, hollow=hollow)
    assert found.objective_before == pytest.approx(expected, rel=1e-9)


@every_rule
@both_metrics
@both_geometries
def test_it_ends_where_nothing_nearby_is_lower(rule, hollow, directed):
    A, _ = skewed(12, 8, 3, 5, noise=0.1, hollow=hollow, directed=directed)
    A = 4 * A
    graphs = graphs_of(A, hollow, directed)
    found = improve(graphs, greedy(graphs, 3, hollow), rule, hollow)
    assert found.stop_reason == "stationary"
    assert found.converged
    held = rule
    if isinstance(rule, SparseLoadings):
        held = SupportLoadings(found.Lam != 0, rule.nonnegative)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(5):
            near = [side + size * rng.standard_normal(side.shape) for side in found.sides]
            assert left(A, near, np.ones(8), held, hollow=hollow, bent=True) > found.objective_after


# ---------------------------------------------------------------------------------- the components


@pytest.mark.parametrize(("n", "keep"), [(15, "cores"), (LARGE, "products"), (LARGE, "cores")])
@both_metrics
@both_geometries
def test_it_recovers_components_that_greedy_does_not(n, keep, hollow, directed):
    A, truth = skewed(n, 20, 4, 0, hollow=hollow, directed=directed)
    graphs = graphs_of(A, hollow, directed)
    start = greedy(graphs, 4, hollow)
    assert matched_error(start, truth) > 0.05
    found = improve(graphs, start, None, hollow, keep=keep)
    assert matched_error(found.sides, truth) < 1e-6
    assert found.objective_after < 1e-12 * found.objective_before
    positive = improve(graphs, start, NonnegativeLoadings(), hollow, keep=keep)
    assert matched_error(positive.sides, truth) < 1e-6


@both_geometries
def test_it_recovers_components_of_sparse_loadings(directed):
    rng = np.random.default_rng(1)
    sides = []
    for _ in range(1 + directed):
        H = linalg.qr(rng.standard_normal((LARGE, 4)), mode="economic")[0]
        H += 0.3 * np.roll(H, 1, axis=1)
        sides.append(H / linalg.norm(H, axis=0))
    Lam = rng.uniform(1, 3, (60, 4)) * (rng.random((60, 4)).argsort(axis=1) < 2)
    A = np.einsum("sk,ik,tk->ist", sides[0], Lam, sides[-1])
    graphs = graphs_of(A, directed=directed)
    start = greedy(graphs, 4)
    assert matched_error(start, sides) > 0.05
    found = improve(graphs, start, SparseLoadings(2))
    assert matched_error(found.sides, sides) < 1e-6


@pytest.mark.parametrize("n", [12, LARGE])
def test_orthogonal_components_of_a_greedy_search_stay_as_they_are(n):
    graphs = operator_of(noiseless(n, 10, 3, 0).stack)
    (H,) = greedy(graphs, 3)
    found = improve(graphs, (H,))
    assert np.array_equal(found.sides[0], H)
    assert (found.n_iter, found.stop_reason) == (0, "stationary")
    assert found.objective_after == found.objective_before
    assert np.allclose(found.Lam, found.Psi)


@pytest.mark.parametrize("n", [12, LARGE])
@both_metrics
@both_geometries
def test_one_component_stays_as_it_is(n, hollow, directed):
    rng = np.random.default_rng(4)
    A = rng.standard_normal((6, n, n)) if directed else random_symmetric(6, n, seed=4)
    graphs = graphs_of(A * (1 - np.eye(n)) if hollow else A, hollow, directed)
    start = greedy(graphs, 1, hollow)
    found = improve(graphs, start, None, hollow, tol=1e-8)
    assert all(np.array_equal(a, b) for a, b in zip(found.sides, start, strict=True))
    assert found.n_iter == 0
    # What moved comes back: the measure is that of the greedy search.
    moved = tuple(side + 0.02 * rng.standard_normal(side.shape) for side in start)
    back = improve(graphs, moved, None, hollow, tol=1e-8)
    assert matched_error(back.sides, start) < 1e-6


@pytest.mark.parametrize("n", [12, LARGE])
@both_geometries
def test_a_star_that_greedy_stopped_at_its_bound_stays_there(n, directed):
    A = np.zeros((2, n, n))
    A[:, 0, 1:] = A[:, 1:, 0] = 1.0
    A[1] *= 2
    graphs = graphs_of(A, True, directed)
    start = greedy(graphs, 1, hollow=True, tol=1e-7)
    found = improve(graphs, start, None, True, tol=1e-6)
    assert matched_error(found.sides, start) < 1e-5


# --------------------------------------------------------------------------------------- the bound


def tangents(n, directed, seed=0):
    """Graphs for which two components get better and better as they come together."""
    rng = np.random.default_rng(seed)
    a, b, c, e = linalg.qr(rng.standard_normal((n, 4)), mode="economic")[0].T
    if not directed:
        c, e = a, b
    return np.stack([np.outer(a, c), np.outer(a, e) + np.outer(b, c)]), (a, c)[: 1 + directed]


@pytest.mark.parametrize("n", [10, LARGE])
@pytest.mark.parametrize("bound", [1e2, 1e3])
@both_geometries
def test_without_a_minimum_it_stops_at_the_bound(n, bound, directed):
    A, limit = tangents(n, directed)
    graphs = graphs_of(A, directed=directed)
    found = improve(graphs, greedy(graphs, 2), tol=1e-8, max_condition=bound)
    assert found.bound_met
    assert found.converged
    assert bound / 4 <= found.condition < bound
    assert np.isfinite(found.Lam).all()
    assert np.abs(found.Lam).max() < np.sqrt(bound)
    assert found.objective_after < 0.01 * found.objective_before
    for a, side in zip(limit, found.sides, strict=True):
        assert np.abs(a @ side).min() > 0.98
    fitted = np.einsum("k,sk,tk->st", found.Lam[1], found.sides[0], found.sides[-1])
    assert linalg.norm(A[1] - fitted) < 0.2


def test_the_bound_does_not_matter_where_it_is_not_met():
    graphs = operator_of(skewed(12, 8, 3, 1, noise=0.1)[0])
    start = greedy(graphs, 3)
    found = [improve(graphs, start, max_condition=bound) for bound in (1e3, 1e8)]
    assert not any(f.bound_met for f in found)
    assert np.array_equal(found[0].sides[0], found[1].sides[0])


def test_other_components_move_on_when_two_meet_the_bound():
    rng = np.random.default_rng(3)
    Q = linalg.qr(rng.standard_normal((12, 4)))[0][:, :4]
    a, b, c, e = Q.T
    e = (c + e) / np.sqrt(2)
    E = [np.outer(a, a), np.outer(a, b) + np.outer(b, a), np.outer(c, c), np.outer(e, e)]
    graphs = operator_of(np.tensordot(rng.uniform(0.5, 2, (10, 4)), E, axes=1))
    found = improve(graphs, greedy(graphs, 4), tol=1e-8)
    assert found.bound_met
    assert found.converged
    cosines = np.abs(found.sides[0].T @ np.column_stack([c, e]))
    assert cosines.max(axis=0).min() > 1 - 1e-5
    assert found.objective_after < 1e-4 * found.objective_before


@both_geometries
def test_a_start_beyond_the_bound_is_improved_all_the_same(directed):
    A, truth = skewed(12, 8, 3, 1, noise=0.1, directed=directed)
    graphs = graphs_of(A, directed=directed)
    close = tuple(H @ [[1, 0, 0], [0, 1, 1], [0, 0, 1e-3]] for H in truth)
    found = improve(graphs, close, max_condition=100.0)
    assert found.objective_after < 0.9 * found.objective_before
    found = improve(graphs, tuple(H[:, [0, 1, 1]] for H in truth))
    assert np.isfinite(found.Lam).all()
    assert found.objective_after <= found.objective_before
