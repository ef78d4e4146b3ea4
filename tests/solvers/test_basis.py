"""Growing bases, and what is kept of the graphs in them."""

from functools import partial

import numpy as np
import pytest
from known_graphs import stored
from solvers.solving import (
    FREE,
    GENERAL,
    LARGE,
    apart,
    drawn,
    operator_of,
    reasons,
    sides_of,
    solve,
    units,
    written_out,
)

from eigengraphs import GraphStack
from eigengraphs.solvers.basis import CoreBasis, MomentBasis, orthonormal, projected
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


# ---------------------------------------------------------------- which columns


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
