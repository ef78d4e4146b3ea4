"""Vectors from which searches start."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigengraphs.solvers.protocol import Array

__all__ = ["Start", "leading_eigenvector", "random_unit"]

Start: TypeAlias = Literal["auto", "svd", "random"]

_SMALL = 8  # vertices; up to here the whole operator is cheaper than Lanczos vectors


def random_unit(n: int, rng: np.random.Generator) -> Array:
    """Return a direction drawn uniformly from the unit sphere, (n,)."""
    h: Array = rng.standard_normal(n)
    return h / linalg.norm(h)


def leading_eigenvector(operator: LinearOperator, v0: Array) -> tuple[float, Array]:
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
        values, vectors = eigsh(operator, k=1, which="LM", v0=v0, maxiter=10 * n)
    except ArpackNoConvergence:  # a start may be anything
        return 0.0, v0
    h: Array = np.asarray(vectors[:, 0], dtype=np.float64)
    return float(values[0]), h / linalg.norm(h)
