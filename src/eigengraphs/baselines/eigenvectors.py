"""Leading eigenvectors of symmetric matrices: all at once on few vertices, Lanczos on many."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigengraphs.errors import InputError
from eigengraphs.solvers.solution import with_signs

FEW = 300  # vertices up to which all eigenvectors take less time than Lanczos' first few
_MEDIUM = 3000  # and up to which they are still computed where many of them are wanted
_SUMS_DENSE, _SUMS_SPARSE = 1500, 500  # up to which one product per graph is faster than Lanczos


def as_dense(A: Any) -> NDArray[np.float64]:
    """Return an array (n, n) for an array, a sparse array or a linear operator."""
    if isinstance(A, LinearOperator):
        return np.asarray(A @ np.eye(A.shape[0]))
    return A if isinstance(A, np.ndarray) else np.asarray(A.toarray())


def leading(A: Any, d: int, order: Literal["magnitude", "value"] = "magnitude") -> tuple[Any, Any]:
    """Return the d leading eigenvalues (d,), in decreasing order, and unit eigenvectors (n, d).

    The first of the largest entries of each eigenvector is positive.

    Parameters
    ----------
    A
        Symmetric array, sparse array or linear operator, (n, n).
    d
        Number of eigenvalues, at most n.
    order : {"magnitude", "value"}
        What makes eigenvalues leading: size without sign, or with it.
    """
    n = A.shape[0]
    if n > FEW and (20 * d <= n or (n > _MEDIUM and 2 * d <= n)):
        values, vectors = _lanczos(A, d, "LM" if order == "magnitude" else "LA")
    elif order == "value":
        # A part of the spectrum from one end takes half the time of the whole.
        values, vectors = linalg.eigh(as_dense(A), subset_by_index=[n - d, n - 1])
    else:
        values, vectors = np.linalg.eigh(as_dense(A))
    # Of lam and -lam the positive one comes first: rounding must not decide.
    sizes = values if order == "value" else np.abs(values) * (1 + 1e-12 * np.sign(values))
    first = np.argsort(-sizes, kind="stable")[:d]
    return values[first], with_signs(vectors[:, first])


def _lanczos(A: Any, d: int, which: Any) -> tuple[Any, Any]:
    n = A.shape[0]
    v0 = np.random.default_rng(0).standard_normal(n)  # the same for all graphs and runs
    size = float(linalg.norm(A @ v0))
    if size == 0:  # ARPACK refuses a zero operator
        return np.zeros(d), np.eye(n, d)
    # ARPACK takes eigenvalues far below 1 for converged: bring them near 1, without rounding.
    scale = 2.0 ** -float(np.floor(np.log2(size / linalg.norm(v0))))
    operator = LinearOperator((n, n), matvec=lambda v: scale * (A @ v), dtype=np.float64)
    for width in (max(2 * d + 1, 20), max(6 * d, 100)):
        try:
            values, vectors = eigsh(operator, d, which=which, v0=v0, ncv=min(n, width))
            return values / scale, vectors
        except ArpackNoConvergence as error:
            found = len(error.eigenvalues)
    raise InputError(
        f"Lanczos' method found {found} of {d} leading eigenvectors on {n} vertices; ask for "
        "fewer components"
    )


def rounding(values: NDArray[np.float64], n: int) -> float:
    """Return the size up to which eigenvalues of an (n, n) matrix beside these are rounding."""
    return float(4 * n * np.finfo(np.float64).eps * np.abs(values).max())


def roots(values: NDArray[np.float64], least: float) -> tuple[Any, Any]:
    """Return sqrt|values| and 1/sqrt|values|, both zero where |values| <= least."""
    up = np.sqrt(np.where(np.abs(values) > least, np.abs(values), 0.0))
    return up, np.divide(1.0, up, out=np.zeros_like(up), where=up > 0)


def sums_are_cheap(n: int, *, is_sparse: bool) -> bool:
    """Tell whether to form sums of squared graphs (n, n) rather than multiply by all of them.

    Lanczos' method may be faster, but takes ten times as long where eigenvalues are close.
    """
    return n <= (_SUMS_SPARSE if is_sparse else _SUMS_DENSE)
