"""Stacks with next to nothing in them, for every geometry, metric and rule: nothing breaks."""

import numpy as np
import pytest
from known_graphs import noiseless, noiseless_directed
from solvers.solving import (
    GENERAL,
    LARGE,
    RULES,
    apart,
    drawn,
    gains,
    metric_of,
    planted,
    reasons,
    sides_of,
    solve,
)

from eigengraphs.solvers.options import DEFAULTS

REASONS = {"stationary", "precision", "stalled", "max_iter", "exhausted"}


def joined(n, rows, columns, weights):
    """Return graphs in which some vertices are joined to others, with weights (m, ...)."""
    A = np.zeros((len(weights), n, n))
    A[:, rows, columns] = weights
    return A + A.transpose(0, 2, 1)


def star(n):
    """One center, with other weights in every graph."""
    return joined(n, 0, slice(1, n), np.random.default_rng(0).uniform(1, 2, (5, n - 1)))


def unweighted_star(n):
    return joined(n, 0, slice(1, n), np.ones((3, n - 1)))


def hubs(n):
    """Two centers that everybody is joined to, and a few edges beside them."""
    A = (np.random.default_rng(1).random((5, n, n)) < 0.05).astype(float)
    A[:, :2] = 1.0
    A = np.maximum(A, A.transpose(0, 2, 1))
    return A * (1 - np.eye(n))


def single_edges(n):
    """A single edge in every graph, of which some share theirs."""
    A = np.zeros((6, n, n))
    for graph, (s, t) in zip(A, [(0, 1), (2, 3), (0, 1), (1, 2), (4, 5), (0, 5)], strict=True):
        graph[s, t] = graph[t, s] = 1.0 + s
    return A


def one_edge(n):
    return joined(n, 0, 1, np.array([1.0, 2.0, 0.0, -1.0]))


def bipartite(n):
    half = n // 2
    weights = np.random.default_rng(2).uniform(0, 1, (5, half, n - half))
    return joined(n, slice(half), slice(half, n), weights)


def complete_bipartite(n):
    half = n // 2
    return joined(n, slice(half), slice(half, n), np.ones((3, half, n - half)))


def repeated(n):
    """The same graph again and again."""
    return np.repeat(drawn(1, n, 3, directed=False, hollow=True), 6, axis=0)


def low_rank(n):
    return noiseless(n, 9, 2, seed=1).stack.dense * (1 - np.eye(n))


def diagonal(n):
    """Loops alone."""
    return np.einsum("is,st->ist", np.random.default_rng(0).standard_normal((4, n)), np.eye(n))


def complete(n):
    return np.ones((3, n, n)) - np.eye(n)


def one_graph(n):
    return drawn(1, n, 5, directed=False, hollow=True)


STACKS = [star, unweighted_star, hubs, single_edges, one_edge, bipartite, complete_bipartite,
          repeated, low_rank, diagonal, complete, one_graph]  # fmt: skip

every_stack = pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.__name__)
every_geometry = pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "pair"])
every_metric = pytest.mark.parametrize("hollow", [False, True], ids=["all", "off"])
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
every_size = pytest.mark.parametrize(
    ("n", "options"), [(14, DEFAULTS), (LARGE, GENERAL)], ids=["whole", "basis"]
)


def is_sound(fit, A, d, rule, *, hollow):
    """Check shapes, lengths, reasons, and that no component lets the objective rise."""
    assert len(fit.stages) == d
    for side in sides_of(fit):
        assert side.shape == (A.shape[1], d)
        assert np.isfinite(side).all()
        assert np.allclose(np.linalg.norm(side, axis=0), 1)
    assert np.isfinite(fit.Psi).all()
    assert set(reasons(fit)) <= REASONS
    for stage in fit.stages:
        assert np.isfinite(stage.gain)
        assert stage.gain >= 0
        assert np.isfinite(stage.stationarity)
        assert (stage.stop_reason == "exhausted") == (stage.gain == 0)
    active = fit.active
    assert not active[np.argmin(active) :].any() or active.all()  # what is exhausted stays so
    Gamma = metric_of(hollow).gram(sides_of(fit)) * np.outer(active, active)
    Lam, path = np.zeros((len(A), 0)), [0.0]
    for k in range(1, d + 1):
        Lam = rule.solve(Gamma[:k, :k], fit.Psi[:, :k], Lam)
        assert np.isfinite(Lam).all()
        values = np.einsum("ik,ik->i", Lam @ Gamma[:k, :k] - 2 * fit.Psi[:, :k], Lam)
        path.append((values + rule.costs(Gamma[:k, :k], Lam)).sum())
    squares = float((A**2).sum())
    assert (np.diff(path) <= 1e-9 * squares).all()
    assert path[-1] >= -squares * (1 + 1e-9)


@every_stack
@every_geometry
@every_rule
def test_nothing_breaks_on_few_vertices(stack, directed, rule):
    # Every stack and rule with two of the four ways: each metric once with each geometry.
    hollow = (STACKS.index(stack) + list(RULES.values()).index(rule) + directed) % 2 == 0
    A = stack(9) * (1 - np.eye(9)) if hollow else stack(9)
    fit = solve(A, 4, directed=directed, hollow=hollow, rule=rule, tol=1e-5)
    is_sound(fit, A, 4, rule, hollow=hollow)


@every_stack
@every_geometry
@pytest.mark.parametrize(
    ("rule", "hollow"),
    [("free", False), ("free", True), ("nonnegative", False), ("nonnegative sparse", True)],
)
def test_nor_in_a_growing_basis(stack, directed, hollow, rule):
    A = stack(LARGE) * (1 - np.eye(LARGE)) if hollow else stack(LARGE)
    settings = {"directed": directed, "hollow": hollow, "rule": RULES[rule], "tol": 1e-4}
    fit = solve(A, 3, max_iter=40, options=GENERAL, **settings)
    is_sound(fit, A, 3, RULES[rule], hollow=hollow)


def test_components_that_are_nothing_are_no_warm_starts():
    fit = solve(complete(LARGE), 3, rule=RULES["nonnegative"], tol=1e-4, options=GENERAL)
    assert reasons(fit) == ["stationary", "exhausted", "exhausted"]


# ---------------------------------------------------------------- what must be found there


@pytest.mark.parametrize(
    ("n", "options", "keep"),
    [
        (14, DEFAULTS, "products"),
        (LARGE, GENERAL, "products"),
        (LARGE, GENERAL, "cores"),
        (LARGE, GENERAL, "moments"),
    ],
)  # fmt: skip
def test_stars_of_pairs_have_one_side_of_one_dimension(n, options, keep):
    # One vertex sends, or one receives: the basis of that side cannot grow.
    A = np.zeros((6, n, n))
    A[:, 0, 1:] = np.random.default_rng(0).standard_normal((6, n - 1))
    for graphs, side in ((A, "H"), (A.transpose(0, 2, 1), "G")):
        fit = solve(graphs, 6, directed=True, options=options, keep=keep)
        top = np.linalg.svd(A[:, 0])[1]
        assert np.allclose(gains(fit), top[:6] ** 2, rtol=1e-9)
        assert np.allclose(np.abs(getattr(fit, side)[0]), 1)


@every_size
def test_an_unweighted_star_is_two_components(n, options):
    fit = solve(unweighted_star(n), 3, options=options)
    # The eigenvalues are +-sqrt(n - 1).
    assert np.allclose(gains(fit)[:2], 3 * (n - 1), rtol=1e-9)
    assert list(fit.active) == [True, True, False]


@every_size
@every_geometry
def test_a_star_that_nobody_observes_the_middle_of_does_not_shrink_to_it(n, options, directed):
    A = 0.1 * drawn(6, n, 0, directed=directed, hollow=True)
    A[:, 0, 1:] += 3.0
    A[:, 1:, 0] += 3.0
    fit = solve(A, 3, directed=directed, hollow=True, tol=1e-5, options=options)
    u = (sides_of(fit)[0] ** 2 * sides_of(fit)[-1] ** 2).sum(axis=0)
    assert (u < 0.52).all()
    assert all(stage.converged for stage in fit.stages)


@every_size
@every_metric
def test_a_directed_edge_is_found_and_nothing_else(n, options, hollow):
    A = np.zeros((4, n, n))
    A[:, 0, 1] = [1.0, 2.0, 0.0, -1.0]
    fit = solve(A, 3, directed=True, hollow=hollow, options=options)
    assert list(fit.active) == [True, False, False]
    assert np.abs(fit.H[:, 0]).argmax() == 0
    assert np.abs(fit.G[:, 0]).argmax() == 1
    assert np.allclose(np.abs(fit.Psi[:, 0]), [1, 2, 0, 1], atol=1e-7)


@every_size
@every_geometry
@pytest.mark.parametrize("rule", ["free", "sparse"])
def test_an_exhausted_rank_stays_exhausted(n, options, directed, rule):
    known = noiseless_directed(n, 9, 2, 1) if directed else noiseless(n, 9, 2, 1)
    settings = {"directed": directed, "rule": RULES[rule], "options": options}
    for d in (4, 15):
        fit = solve(known.stack, d, **settings)
        assert list(fit.active) == [True] * 2 + [False] * (d - 2)
    short = solve(known.stack, 3, **settings)
    resumed = solve(known.stack, 5, resume=short, **settings)
    assert list(resumed.active) == [True] * 2 + [False] * 3
    assert abs(fit.H[:, 2] @ fit.H[:, 3]) < 0.99  # what is nothing is arbitrary, not twice the same


@every_geometry
@every_metric
@every_rule
@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_vertices(n, directed, hollow, rule):
    for A in (
        *(drawn(m, n, 0, directed=directed, hollow=hollow) for m in (1, 3, 40)),
        np.zeros((3, n, n)),
    ):
        fit = solve(A, 3, directed=directed, hollow=hollow, rule=rule)
        is_sound(fit, A, 3, rule, hollow=hollow)
        if n == 1 and not hollow and rule.linear:
            assert gains(fit) == pytest.approx([(A**2).sum(), 0, 0])
        if n == 1 and hollow:
            assert not fit.active.any()


@every_size
@every_geometry
@every_rule
def test_graphs_of_no_weight_or_next_to_none_do_not_count(n, options, directed, rule):
    A, _ = planted(6, n, 2, directed=directed)
    other = A.copy()
    other[[1, 4]] = 1e6 * drawn(2, n, 5, directed=directed)
    settings = {"directed": directed, "rule": rule, "tol": 1e-6, "options": options}
    none, little = (np.array([1.0, w, 2, 1, w / 1e150, 1]) for w in (0.0, 1e-150))
    fits = [solve(B, 2, weights=w, **settings) for B, w in ((A, none), (other, none), (A, little))]
    for fit in fits[1:]:
        assert np.allclose(gains(fit), gains(fits[0]), rtol=1e-6)
        assert apart(fit, fits[0]).max() < 1e-4
        assert reasons(fit) == reasons(fits[0])
    # And where none counts, there is nothing.
    nothing = solve(A, 2, weights=np.zeros(6), **settings)
    assert reasons(nothing) == ["exhausted"] * 2
