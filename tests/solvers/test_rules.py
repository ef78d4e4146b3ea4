"""Loadings under a rule: optimal, allowed, and what other ways to find them say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from scipy.optimize import nnls
from written_out import outer_products

from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    PenalizedLoadings,
    Seen,
    SparseLoadings,
    component_gram,
    objective_of,
    solve_loadings,
    stage_loadings,
)

KINDS = ("plain", "duplicated", "nearly dependent", "positive", "some nothing", "too many")
RULES = (
    FreeLoadings(),
    NonnegativeLoadings(),
    SparseLoadings(2),
    SparseLoadings(2, nonnegative=True),
    PenalizedLoadings(0.3),
    PenalizedLoadings(0.3, nonnegative=True),
)


def columns(kind, seed, m=6):
    """Draw components E (q, d) as long vectors, of very different lengths, and graphs a (m, q)."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    q = int(rng.integers(1, d)) if kind == "too many" else int(rng.integers(d, 14))
    E = rng.standard_normal((q, d))
    if kind == "duplicated":
        E[:, -1] = E[:, 0]
    elif kind == "nearly dependent":
        E[:, -1] = E[:, 0] + 10 ** rng.uniform(-9, -2) * E[:, -1]
    elif kind == "positive":
        E = np.abs(E)
    elif kind == "some nothing":
        E[:, rng.integers(d)] = 0.0
    return E * 10 ** rng.uniform(-2, 2, d), rng.standard_normal((m, q))


def problems(n=40):
    return [(kind, *columns(kind, seed)) for kind in KINDS for seed in range(n)]


def kkt_violation(E, a, Lam, penalty=0.0, *, signed=False):
    """Return the largest breach of optimality, over the norm of the graph, component of norm 1."""
    lengths = np.sqrt((E**2).sum(axis=0))
    E = E / np.where(lengths > 0, lengths, np.inf)
    B = Lam * lengths
    slope = (a - B @ E.T) @ E
    out = np.abs(slope) - penalty if signed else slope - penalty
    out = np.where(B != 0, np.abs(slope - penalty * np.sign(B)), out)
    return float((out / np.sqrt((a**2).sum(axis=1))[:, None]).max())


# ---------------------------------------------------------------------------------- nonnegative


@pytest.mark.parametrize("kind", KINDS)
def test_nonnegative_loadings_are_optimal_and_leave_what_scipy_leaves(kind):
    for seed in range(60):
        E, a = columns(kind, seed)
        Lam = NonnegativeLoadings().solve(E.T @ E, a @ E)
        assert (Lam >= 0).all()
        assert kkt_violation(E, a, Lam) < 1e-8
        lengths = linalg.norm(E, axis=0)
        unique = kind == "plain" and np.linalg.cond(E / lengths) < 100
        for graph, lam in zip(a, Lam, strict=True):
            expected, left = nnls(E, graph)
            assert linalg.norm(graph - E @ lam) == pytest.approx(left, abs=1e-8)
            assert not unique or np.allclose(lam * lengths, expected * lengths, atol=1e-10)


# --------------------------------------------------------------------------------------- sparse


def written_out_pursuit(E, graph, most, nonnegative):
    """Return the loadings of a matching pursuit with the long vectors themselves."""
    E = E / linalg.norm(E, axis=0)
    support, lam = [], np.zeros(E.shape[1])
    while len(support) < most:
        slope = E.T @ (graph - E @ lam)
        slope[support] = 0.0
        slope = slope if nonnegative else np.abs(slope)
        if slope.max() < 1e-10:
            break
        support = [*support, int(np.argmax(slope))]
        fit = nnls if nonnegative else linalg.lstsq
        lam[:] = 0.0
        lam[support] = fit(E[:, support], graph)[0]
        support = [k for k in support if lam[k] != 0]
    return lam


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("kind", ["plain", "positive"])
def test_sparse_loadings_are_those_of_a_written_out_pursuit(kind, nonnegative):
    for seed in range(40):
        E, a = columns(kind, seed)
        lengths = linalg.norm(E, axis=0)
        for most in (1, 2, 3, 20):
            expected = np.array([written_out_pursuit(E, g, most, nonnegative) for g in a])
            Lam = SparseLoadings(most, nonnegative).solve(E.T @ E, a @ E)
            # Normal equations square the condition of the least squares.
            assert np.allclose(Lam * lengths, expected, atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_further_component_never_lets_the_objective_rise(nonnegative):
    # A pursuit alone would: the new component is taken first and is worth less than two others.
    rule, rises = SparseLoadings(2, nonnegative), 0
    nearly_both = np.array([[1.0, 0.0, 0.7], [0.0, 1.0, 0.7], [0.0, 0.0, 0.2]])
    made = (nearly_both, np.array([[1.0, 1.0, 0.0]]))
    for E, a in (made, *(columns("positive", seed, m=20) for seed in range(30))):
        Gamma, Psi = E.T @ E, a @ E
        Lam, before = np.zeros((len(a), 0)), np.zeros(len(a))
        for d in range(1, E.shape[1] + 1):
            alone = objective_of(Gamma[:d, :d], Psi[:, :d], rule.solve(Gamma[:d, :d], Psi[:, :d]))
            Lam = rule.solve(Gamma[:d, :d], Psi[:, :d], previous=Lam)
            after = objective_of(Gamma[:d, :d], Psi[:, :d], Lam)
            assert (after <= before + 1e-12).all()
            assert (after <= alone + 1e-12).all()
            rises += int((alone > before + 1e-3).sum())
            before = after
    assert rises > 0  # at least for the one that is made for it


# ------------------------------------------------------------------------------------ penalized


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_penalized_loadings_are_optimal(kind, signed):
    rng = np.random.default_rng(0)
    for seed in range(60):
        E, a = columns(kind, seed)
        penalty = 10 ** rng.uniform(-6, 1)
        rule = PenalizedLoadings(penalty, nonnegative=not signed)
        Lam = rule.solve(E.T @ E, a @ E)
        assert kkt_violation(E, a, Lam, penalty, signed=signed) < 1e-8


# ------------------------------------------------------------------------------------ all rules


@given(
    st.integers(0, 10**6), st.sampled_from(KINDS), st.integers(1, 4), st.floats(0, 3),
    st.booleans(),
)  # fmt: skip
def test_no_rule_is_broken_and_none_is_worse_than_nothing(seed, kind, most, penalty, nonnegative):
    E, a = columns(kind, seed)
    Gamma, Psi = E.T @ E, a @ E
    sparse = SparseLoadings(most, nonnegative).solve(Gamma, Psi)
    assert ((sparse != 0).sum(axis=1) <= most).all()
    penalized = PenalizedLoadings(penalty, nonnegative).solve(Gamma, Psi)
    for Lam in (sparse, penalized):
        value = objective_of(Gamma, Psi, Lam)
        assert np.isfinite(value).all()
        assert (value <= 1e-9).all()
        if nonnegative:  # the best of all that are
            best = objective_of(Gamma, Psi, NonnegativeLoadings().solve(Gamma, Psi))
            assert (Lam >= 0).all()
            assert (value >= best - 1e-7).all()


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_scale_changes_loadings_and_nothing_else(rule):
    for kind, E, a in problems(5):
        Gamma, Psi = E.T @ E, a @ E
        Lam = rule.solve(Gamma, Psi)
        for factor in (2.0**40, 2.0**-40):  # of two: then equal to the last bit
            again = rule.solve(Gamma * factor**2, Psi * factor)  # longer components
            assert np.array_equal(again * factor, Lam), kind
            if not isinstance(rule, PenalizedLoadings):
                assert np.array_equal(rule.solve(Gamma, Psi * factor), Lam * factor), kind
            else:
                scaled = PenalizedLoadings(rule.penalty * factor, rule.nonnegative)
                assert np.array_equal(scaled.solve(Gamma, Psi * factor), Lam * factor), kind


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_graphs_of_zero_components_of_zero_and_none_at_all(rule):
    E, a = columns("plain", 0)
    a[0] = 10 * (E / np.linalg.norm(E, axis=0)).sum(axis=1)  # every rule leaves some of that
    Gamma, Psi = E.T @ E, a @ E
    Psi[1] = 0.0
    Lam = rule.solve(Gamma, Psi)
    assert not Lam[1].any()
    assert Lam[0].any()
    wider = np.pad(Gamma, ((0, 1), (0, 1)))
    assert np.allclose(
        rule.solve(wider, np.pad(Psi, ((0, 0), (0, 1)))), np.pad(Lam, ((0, 0), (0, 1)))
    )
    assert not rule.solve(np.zeros((3, 3)), np.zeros((2, 3))).any()
    assert rule.solve(np.zeros((0, 0)), np.zeros((4, 0))).shape == (4, 0)
    assert rule.solve(Gamma, Psi[:0]).shape == (0, Gamma.shape[0])


@pytest.mark.parametrize("kind", ["nearly dependent", "duplicated", "too many"])
@pytest.mark.parametrize("penalty", [0.0, 1e-9])
def test_dependent_components_do_not_run_away_without_a_penalty(kind, penalty):
    # Among 1500 draws of each kind, loadings of 54 were not finite, and others 900 times as bad.
    for seed in range(150):
        E, a = columns(kind, seed)
        Lam = PenalizedLoadings(penalty).solve(E.T @ E, a @ E)
        found = objective_of(E.T @ E, a @ E, Lam)
        U, sizes, _ = np.linalg.svd(E / np.linalg.norm(E, axis=0), full_matrices=False)
        U = U[:, sizes > 1e-6 * sizes[0]]
        best = -((a @ U) ** 2).sum(axis=1)
        assert (found <= best * (1 - 1e-3)).all(), seed


# ---------------------------------------------------------------------- inner products of its own


@pytest.mark.parametrize("rule", RULES)
def test_graphs_with_inner_products_of_their_own_are_solved_one_by_one(rule):
    rng = np.random.default_rng(0)
    E, a = rng.standard_normal((5, 12, 4)), rng.standard_normal((5, 12))
    Gammas, Psi = E.transpose(0, 2, 1) @ E, np.einsum("iqk,iq->ik", E, a)
    found = stage_loadings(rule, Gammas, Psi)[-1]
    alone = [stage_loadings(rule, Gammas[i], Psi[i : i + 1])[-1][0] for i in range(5)]
    assert np.allclose(found, alone)
    assert np.allclose(
        objective_of(Gammas, Psi, found),
        [objective_of(Gammas[i], Psi[i : i + 1], found[i : i + 1])[0] for i in range(5)],
    )
    same = np.repeat(Gammas[:1], 5, axis=0)
    assert np.allclose(rule.solve(same, Psi), rule.solve(Gammas[0], Psi))
    assert np.allclose(rule.costs(same, found), rule.costs(Gammas[0], found))
    for mine, theirs in zip(
        rule.beside(same, Psi, found), rule.beside(Gammas[0], Psi, found), strict=True
    ):
        assert np.allclose(mine[0], theirs[0])
        assert mine[1] is theirs[1] or np.allclose(mine[1], theirs[1])


@pytest.mark.parametrize("rule", RULES)
def test_what_a_graph_does_not_see_gets_no_loading(rule):
    H = np.zeros((8, 2))
    H[:4, 0] = H[4:, 1] = 0.5
    # Written out: how little the second graph sees must be neither nothing nor too much.
    H = H + 3e-3 * np.array([[2, -1], [-1, 1], [1, 2], [-2, 1], [1, -1], [2, 1], [-1, 1], [1, 2]])
    H /= linalg.norm(H, axis=0)
    seen = np.zeros((3, 8, 8))
    seen[0] = 1
    seen[1, :4, :4] = 1  # sees next to nothing of the second component
    A = 3 * np.ones((8, 8)) * seen
    Gammas = np.einsum("sj,sk,ist,tj,tk->ijk", H, H, seen, H, H)
    Psi = np.einsum("sk,ist,tk->ik", H, A, H)
    observed = seen.mean(axis=(1, 2))
    assert 1e-12 < Gammas[1, 1, 1] < 1e-6 * observed[1]
    found = rule.solve(Gammas, Psi, seen=Seen(component_gram(H), observed))
    assert np.allclose(found[1], [12, 0], atol=0.4)
    assert np.array_equal(found[2], [0, 0])
    assert np.allclose(found[0], [12, 12], atol=0.4)


# ---------------------------------------------------------------------- least squares


def test_free_loadings_are_least_squares_and_dependent_components_share():
    rng = np.random.default_rng(0)
    E, flat = outer_products(rng.standard_normal((7, 3))).reshape(3, 49), rng.random((5, 49))
    expected = np.linalg.lstsq(E.T, flat.T, rcond=None)[0].T
    assert np.allclose(solve_loadings(E @ E.T, flat @ E.T), expected, rtol=1e-10)
    E = np.stack([E[0], E[0], 0 * E[0]])
    Lam = solve_loadings(E @ E.T, flat @ E.T)
    assert np.allclose(Lam[:, 0], Lam[:, 1], rtol=1e-10)
    assert np.allclose(Lam[:, 0] + Lam[:, 1], flat @ E[0] / (E[0] @ E[0]), rtol=1e-10)
    assert not Lam[:, 2].any()
    assert not solve_loadings(np.zeros((2, 2)), np.ones((5, 2))).any()
    assert solve_loadings(np.zeros((0, 0)), np.zeros((5, 0))).shape == (5, 0)


def test_small_eigenvalues_count_until_they_are_rounding():
    eps = np.finfo(np.float64).eps
    Psi = np.ones((1, 2))
    for share, kept in ((100 * eps, True), (5 * eps, False)):  # the limit is at 20
        Lam = solve_loadings(np.diag([1.0, share]), Psi)
        assert (Lam[0, 1] != 0) == kept
    # The limit goes with the number of components.
    wide = np.diag([1.0, 25 * eps, 1.0, 1.0])
    assert solve_loadings(wide, np.ones((1, 4)))[0, 1] == 0
    assert solve_loadings(np.diag([1e-200, 2e-200]), Psi)[0] == pytest.approx([1e200, 5e199])
