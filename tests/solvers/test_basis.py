"""Growing bases, and what is kept of the graphs in them."""

from functools import partial

import numpy as np
import pytest
from known_graphs import random_symmetric, stored
from solvers.solving import (
    FREE,
    GENERAL,
    LARGE,
    apart,
    drawn,
    gains,
    metric_of,
    operator_of,
    planted,
    reasons,
    sides_of,
    solve,
    units,
    written_out,
)

from eigengraphs import GraphStack
from eigengraphs.solvers.basis import (
    CoreBasis,
    MomentBasis,
    basis_width,
    first_bases,
    orthonormal,
    projected,
)
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.solution import first_components

M, N = 7, 12
WEIGHTS = np.linspace(0.5, 2, M)

every_geometry = pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "pair"])
every_metric = pytest.mark.parametrize("hollow", [False, True], ids=["all", "off"])


def grown(kind, graphs, directed, *rest):
    """Return a basis that grew twice, turned, and grew again."""
    rng = np.random.default_rng(0)
    basis = kind(graphs, WEIGHTS, *rest)
    n_sides = 2 if directed else 1
    for widths in ((3, 2), (2, 4)):
        basis.append(tuple(
            orthonormal(rng.standard_normal((N, s)), V)
            for s, V in zip(widths[:n_sides], basis.bases, strict=True)
        ))  # fmt: skip
    turns = tuple(np.linalg.qr(rng.standard_normal((V.shape[1], 4)))[0] for V in basis.bases)
    basis.rotate(turns)
    basis.append(tuple(orthonormal(rng.standard_normal((N, 2)), V) for V in basis.bases))
    return basis


@every_geometry
@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("diagonal", ["observed", "hollow", "filled"])
def test_cores_forms_and_sums_are_those_of_the_graphs(directed, products, dtype, diagonal, storage):
    A = drawn(M, N, 1, directed=directed, hollow=True)
    stack = stored(GraphStack(A.astype(dtype)), storage)
    kind = partial(CoreBasis, products=products)
    basis = grown(kind, operator_of(stack, directed=directed, diagonal=diagonal), directed)
    if diagonal == "filled":
        sums = (A.sum(axis=2) + A.sum(axis=1)) / 2 / (N - 1)
        A = A + np.eye(N) * sums[:, :, None]
    close = {"atol": 1e-5 if dtype == np.float32 else 1e-12}
    assert basis.n_passes == 3
    for V in basis.bases:
        assert np.allclose(V.T @ V, np.eye(6), atol=1e-13)
    U, V = basis.bases[0], basis.bases[-1]
    assert np.allclose(basis.cores, U.T @ A @ V, **close)
    X = np.random.default_rng(1).standard_normal((3, basis.geometry.size))
    sides = basis.components(X)
    assert np.allclose(basis.points(sides), X)
    forms = np.einsum("sk,ist,tk->ik", sides[0], A, sides[-1])
    assert np.allclose(basis.forms(X), forms, atol=1e-4 if dtype == np.float32 else 1e-12)
    W = np.random.default_rng(2).standard_normal((M, 3))
    found = basis.combine(W, X)
    assert np.allclose(
        found[0], np.einsum("ik,ist,tk->sk", W, A, sides[-1]), atol=100 * close["atol"]
    )
    assert np.allclose(
        found[-1], np.einsum("ik,ist,sk->tk", W, A, sides[0]), atol=100 * close["atol"]
    )
    assert basis.n_passes == (3 if products else 4)


@every_geometry
@pytest.mark.parametrize("n_frozen", [0, 2])
def test_a_moment_is_that_of_all_cores_and_frozen_forms(directed, n_frozen):
    A = drawn(M, N, 1, directed=directed)
    graphs = operator_of(A, directed=directed)
    rng = np.random.default_rng(3)
    frozen = tuple(units(rng.standard_normal((N, n_frozen))) for _ in range(1 + directed))
    Psi = np.einsum("sk,ist,tk->ik", frozen[0], A, frozen[-1])
    moment, cores = grown(MomentBasis, graphs, directed, frozen), grown(CoreBasis, graphs, directed)
    kept, all_rows = moment.rows(Psi, linear=True), cores.rows(Psi, linear=False)
    both = [
        np.hstack([rows.R, rows.Psi]) * np.sqrt(rows.weights)[:, None] for rows in (kept, all_rows)
    ]
    assert np.allclose(*(rows.T @ rows for rows in both), atol=1e-11)
    packed = np.hstack([all_rows.R, all_rows.Psi])
    assert np.allclose(kept.mean, WEIGHTS @ packed / np.sqrt(WEIGHTS.sum()), atol=1e-11)
    X = rng.standard_normal((3, cores.geometry.size))
    T = rng.standard_normal((n_frozen + 3, 3))
    sums = (basis.combine_forms(Psi, T, X) for basis in (moment, cores))
    for mine, other in zip(*sums, strict=True):
        assert np.allclose(mine, other, atol=1e-10)
    assert moment.forms(X) is None


@every_geometry
@every_metric
def test_whatever_is_kept_the_components_are_the_same(directed, hollow):
    A, _ = planted(9, LARGE, 4, directed=directed, hollow=hollow)
    weights = np.linspace(0.5, 1.5, 9)
    fits = [
        solve(A, 3, directed=directed, hollow=hollow, keep=keep, tol=1e-10, weights=weights,
              options=GENERAL)
        for keep in ("products", "cores", "moments")
    ]  # fmt: skip
    for fit in fits[1:]:
        assert apart(fit, fits[0]).max() < 1e-8
        assert np.allclose(np.abs(fit.Psi), np.abs(fits[0].Psi), rtol=1e-8, atol=1e-7)
        assert np.allclose(gains(fit), gains(fits[0]), rtol=1e-10)


@every_geometry
@every_metric
@pytest.mark.parametrize("keep", ["products", "cores", "moments"])
def test_blocks_beyond_the_first_are_on_what_it_left_and_can_be_resumed(directed, hollow, keep):
    A = drawn(9, LARGE, 3, directed=directed, hollow=hollow)
    settings = {"directed": directed, "hollow": hollow, "keep": keep, "tol": 1e-4,
                "options": GENERAL}  # fmt: skip
    fit = solve(A, 6, **settings)
    assert [block[0] for block in fit.blocks] == [0, 4]
    assert set(reasons(fit)) == {"stationary"}
    stages = list(written_out(A, sides_of(fit), np.ones(9), FREE, hollow=hollow))
    for k in (3, 4, 5):
        f, x = stages[k]
        assert fit.stages[k].gain == pytest.approx(f(x), rel=1e-8)
        assert fit.stages[k].stationarity == pytest.approx(f.stationarity(x), abs=2e-5)
    # In the middle of the second block: all of it is found again, and what was there is kept.
    resumed = solve(A, 6, resume=first_components(fit, 5), **settings)
    assert np.array_equal(resumed.H[:, :5], fit.H[:, :5])
    assert apart(resumed, fit).max() < 1e-6


@every_geometry
def test_so_are_blocks_of_the_size_that_users_get(directed):
    A = drawn(5, 105, 3, directed=directed)
    fit = solve(A, 14, directed=directed, tol=1e-2)
    assert [block[0] for block in fit.blocks] == [0, 12]
    f, x = list(written_out(A, sides_of(fit), np.ones(5), FREE))[13]
    assert fit.stages[13].gain == pytest.approx(f(x), rel=1e-8)
    assert fit.stages[13].stationarity == pytest.approx(f.stationarity(x), abs=2e-5)


@every_geometry
def test_graphs_in_several_places_are_summed_up(directed):
    A, _ = planted(9, LARGE, 2, directed=directed)

    class Split:
        """Graphs of which a task sees some at a time."""

        def __init__(self):
            self._whole = operator_of(A, directed=directed)
            self._parts = [operator_of(part, directed=directed) for part in (A[:4], A[4:])]

        def total(self, task, weights):
            sums = [
                task(part, w)
                for part, w in zip(self._parts, (weights[:4], weights[4:]), strict=True)
            ]
            return tuple(a + b for a, b in zip(*sums, strict=True))

        def __getattr__(self, name):
            return getattr(self._whole, name)

    split, plain = (
        solve(graphs, 2, directed=directed, keep="moments", options=GENERAL)
        for graphs in (Split(), A)
    )
    assert apart(split, plain).max() < 1e-7


# ---------------------------------------------------------------- which columns


def test_the_width_of_a_basis_is_what_the_cores_of_the_graphs_allow():
    assert basis_width(10, True, False, DEFAULTS) == DEFAULTS.width
    assert basis_width(10, False, False, DEFAULTS) == DEFAULTS.narrow
    widths = [basis_width(m, True, False, DEFAULTS) for m in (10, 500, 1000, 10**6)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] >= DEFAULTS.narrow >= 3 * DEFAULTS.block


@every_geometry
def test_the_first_basis_holds_what_is_given_and_what_the_graphs_share(directed):
    A, sides = planted(9, LARGE, 3, directed=directed, noise=0.1)
    given = tuple(np.eye(LARGE)[:, :2] for _ in sides)
    taken = tuple(np.zeros((LARGE, 0)) for _ in sides), np.zeros((9, 0))
    graphs = operator_of(A, directed=directed)
    found = first_bases(graphs, given, taken, np.ones(9), graphs.squared_norms(),
                        np.random.default_rng(0), DEFAULTS)  # fmt: skip
    for V, side, columns in zip(found, sides, given, strict=True):
        assert np.allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
        assert np.allclose(V @ (V.T @ columns), columns)
        assert np.linalg.norm(V.T @ side, axis=0).min() > 0.95


@every_geometry
def test_the_first_basis_after_components_is_of_what_they_left(directed):
    A, sides = planted(9, LARGE, 3, directed=directed, noise=0.0)
    first = tuple(side[:, :2] for side in sides)
    Lam = np.einsum("sk,ist,tk->ik", first[0], A, first[-1])
    graphs, none = operator_of(A, directed=directed), tuple(side[:, :0] for side in sides)
    found = first_bases(graphs, none, (first, Lam), np.ones(9), graphs.squared_norms(),
                        np.random.default_rng(0), DEFAULTS)  # fmt: skip
    for V, side in zip(found, sides, strict=True):
        assert np.linalg.norm(V[:, :1].T @ side[:, 2]) > 0.99


@every_geometry
def test_the_middle_of_a_star_is_in_the_first_basis(directed):
    A = np.zeros((1, LARGE, LARGE))
    A[0, 0, 1:] = A[0, 1:, 0] = 1.0
    graphs = operator_of(A, directed=directed)
    none = tuple(np.zeros((LARGE, 0)) for _ in range(1 + directed))
    found = first_bases(graphs, none, (none, np.zeros((1, 0))), np.ones(1), graphs.squared_norms(),
                        np.random.default_rng(0), DEFAULTS)  # fmt: skip
    for V in found:
        assert np.linalg.norm(V[0]) > 0.9


def test_dependent_columns_do_not_cost_the_others_their_span():
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((N, 3)))[0]
    X = rng.standard_normal((N, 4))
    columns = np.column_stack([X[:, 0], 2 * X[:, 0], V[:, 1], np.zeros(N), X[:, 1:]])
    found = orthonormal(columns, V)
    assert found.shape == (N, 4)
    both = np.column_stack([V, found])
    assert np.allclose(both.T @ both, np.eye(7), atol=1e-14)
    assert np.allclose(both @ (both.T @ X), X)


@pytest.mark.parametrize("left", [1e-3, 1e-6, 1e-9, 1e-12])
def test_new_columns_are_orthogonal_to_the_basis_however_little_is_new(left):
    rng = np.random.default_rng(1)
    V = np.linalg.qr(rng.standard_normal((N, 4)))[0]
    columns = V @ rng.standard_normal((4, 3)) + left * rng.standard_normal((N, 3))
    found = orthonormal(columns, V)
    assert found.shape[1] == (3 if left > 1e-10 else 0)
    both = np.column_stack([V, found])
    assert np.allclose(both.T @ both, np.eye(both.shape[1]), atol=1e-13)


def test_sums_of_one_sign_keep_their_digits_in_float32():
    n = 3000
    part = np.random.default_rng(0).uniform(0.5, 1, (2, 1, n)).astype(np.float32)
    V = np.full((n, 1), 1 / np.sqrt(n))
    exact = part.astype(np.float64) @ V
    assert np.abs(projected(part, V) / exact.transpose(0, 2, 1) - 1).max() < 3e-7


def test_hollow_graphs_are_their_own_metric():
    # Forms of graphs without a diagonal are inner products off it.
    A = random_symmetric(M, N, 0, hollow=True)
    H = units(np.random.default_rng(0).standard_normal((N, 2)))
    E = np.einsum("sk,tk->kst", H, H) * (1 - np.eye(N))
    graphs = operator_of(A, directed=False, diagonal="hollow")
    assert np.allclose(graphs.forms(H), np.einsum("ist,kst->ik", A, E))
    assert np.allclose(metric_of(True).gram((H,)), np.einsum("jst,kst->jk", E, E))
