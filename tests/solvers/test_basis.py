"""Growing bases, and what is kept of the graphs in them."""

import numpy as np
import pytest
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

from eigengraphs.solvers.basis import CoreBasis, MomentBasis, orthonormal, projected
from eigengraphs.solvers.solution import first_components

M, N = 7, 12

every_geometry = pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "pair"])
every_metric = pytest.mark.parametrize("hollow", [False, True], ids=["all", "off"])


@every_geometry
def test_a_moment_is_that_of_all_cores_and_frozen_forms(directed):
    A, weights = drawn(M, N, 1, directed=directed), np.linspace(0.5, 2, M)
    graphs, rng = operator_of(A, directed=directed), np.random.default_rng(3)
    frozen, new, turns = (
        [make(rng.standard_normal(shape)) for _ in range(1 + directed)]
        for make, shape in ((units, (N, 2)), (np.linalg.qr, (N, 5)), (np.linalg.qr, (5, 4)))
    )
    bases = MomentBasis(graphs, weights, tuple(frozen)), CoreBasis(graphs, weights)
    for basis in bases:
        basis.append(tuple(side.Q for side in new))
        basis.rotate(tuple(side.Q for side in turns))
    Psi = np.einsum("sk,ist,tk->ik", frozen[0], A, frozen[-1])
    kept, every = bases[0].rows(Psi, linear=True), bases[1].rows(Psi, linear=False)
    one, other = (
        np.hstack([rows.R, rows.Psi]) * np.sqrt(rows.weights)[:, None] for rows in (kept, every)
    )
    assert np.allclose(one.T @ one, other.T @ other, atol=1e-11)
    total = weights @ np.hstack([every.R, every.Psi])
    assert np.allclose(kept.mean, total / np.sqrt(weights.sum()), atol=1e-11)


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
