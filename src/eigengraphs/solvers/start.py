"""Where the search for one component begins (section 5.1 of the paper compares four ways)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.residuals import Residuals

__all__ = ["Start", "leading_eigenvector", "random_unit", "starts"]

Start: TypeAlias = Literal["auto", "svd", "random"]

_NEGLIGIBLE = 1e-4  # a mean residual smaller than this beside the residuals is rounding
_SMALL = 8  # vertices; up to here the whole operator is cheaper than Lanczos vectors


def starts(
    kind: Start | Array,
    residuals: Residuals,
    weights: Array,
    left: float,
    n_init: int,
    rng: np.random.Generator,
) -> Iterator[tuple[str, Array]]:
    """Yield ``n_init`` named unit vectors (n,) from which to search.

    Parameters
    ----------
    kind
        ``"svd"``: top singular vector of the mean residual, the paper's choice. ``"random"``: a
        uniform direction. ``"auto"``: that singular vector or the top eigenvector of
        sum_i R_i^2, whichever explains more. An array (n,): that vector. Further starts are
        random.
    residuals, weights
        The residual graphs and the weight of each.
    left
        sum_i w_i ||R_i||^2. A mean residual that is nothing beside it, as of centred graphs,
        has no meaningful singular vector: sum_i R_i^2 takes its place.
    n_init
        How many starts.
    rng
        Source of the random ones; one generator a component, so that the number of components
        does not change the first.
    """
    n = residuals.n_vertices
    if isinstance(kind, np.ndarray):
        yield "given", kind / linalg.norm(kind)
    elif kind == "random":
        yield "random", random_unit(n, rng)
    else:
        yield _spectral_start(kind, residuals, weights, left, random_unit(n, rng))
    for _ in range(n_init - 1):
        yield "random", random_unit(n, rng)


def _spectral_start(
    kind: Start, residuals: Residuals, weights: Array, left: float, v0: Array
) -> tuple[str, Array]:
    value, svd = leading_eigenvector(residuals.mean(), v0)
    mean_says_something = abs(value) > _NEGLIGIBLE * np.sqrt(left / weights.sum())
    if kind == "svd" and mean_says_something:
        return "svd", svd
    # It is only a start: a rough eigenvector does, and each application reads the data twice.
    _, squares = leading_eigenvector(
        residuals.mean_square(), v0, tol=0.05, ncv=min(8, residuals.n_vertices)
    )
    if not mean_says_something:
        return "squares", squares
    # The paper's start unless the other is truly better: a tie must not hang on rounding.
    if _explained(residuals, weights, squares) > _explained(residuals, weights, svd) * (1 + 1e-6):
        return "squares", squares
    return "svd", svd


def random_unit(n: int, rng: np.random.Generator) -> Array:
    """Return a direction drawn uniformly from the unit sphere, (n,)."""
    h: Array = rng.standard_normal(n)
    return h / linalg.norm(h)


def leading_eigenvector(
    operator: LinearOperator, v0: Array, *, tol: float = 0.0, ncv: int | None = None
) -> tuple[float, Array]:
    """Return the eigenvalue largest in magnitude and its unit eigenvector (n,).

    Of a symmetric matrix these are its top singular value, with a sign, and vector.
    """
    n = operator.shape[0]
    if n <= _SMALL:
        matrix = np.column_stack([operator.matvec(e) for e in np.eye(n)])
        values, vectors = linalg.eigh((matrix + matrix.T) / 2, driver="evd")
        top = int(np.argmax(np.abs(values)))
        return float(values[top]), np.asarray(vectors[:, top])
    if not np.any(operator.matvec(v0)):  # ARPACK refuses a zero operator
        return 0.0, v0
    try:
        values, vectors = eigsh(operator, k=1, which="LM", v0=v0, tol=tol, ncv=ncv, maxiter=10 * n)
    except ArpackNoConvergence:  # a start may be anything
        return 0.0, v0
    h: Array = np.asarray(vectors[:, 0], dtype=np.float64)
    return float(values[0]), h / linalg.norm(h)


def _explained(residuals: Residuals, weights: Array, h: Array) -> float:
    return float(weights @ (residuals.multiply(h) @ h) ** 2)
