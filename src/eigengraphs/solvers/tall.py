"""Products of arrays with a row for each vertex, some rows at a time on threads.

A fit keeps BLAS to one thread. Rows are cut by a fixed number and sums are taken in order, so that
results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from eigengraphs.parallel import on_blocks, spans
from eigengraphs.solvers.protocol import Array

__all__ = ["MANY", "dots", "inner", "on_rows", "quick_orthonormal", "subtract", "times"]

MANY = 4096  # vertices: beyond, rows are worked on in blocks
_BLOCKS = 8  # of them, or more
_ROWS = 2**15  # of a block, at most
_INDEPENDENT = 1e-3  # share of a column outside of all others from which on one digit more is lost

_LITTLE = 2.0  # by how much columns may grow back, on average, after what they lost


def on_rows(
    work: Callable[[int, int], Any], n: int, gather: Callable[[Any], Any] | None = None
) -> None:
    """Run ``work(lo, hi)`` on blocks of n rows, and ``gather`` on the results, in order."""
    on_blocks(work, spans(n, min(_ROWS, max(MANY, -(-n // _BLOCKS)))), gather)


def times(V: Array, T: Array) -> Array:
    """Return V T, (n, t)."""
    out = np.empty((len(V), T.shape[1]))
    on_rows(lambda lo, hi: np.matmul(V[lo:hi], T, out=out[lo:hi]), len(V))
    return out


def inner(X: Array, Y: Array) -> Array:
    """Return X^T Y, (x, y)."""
    return _summed(lambda lo, hi: X[lo:hi].T @ Y[lo:hi], len(X), (X.shape[1], Y.shape[1]))


def dots(X: Array, Y: Array) -> Array:
    """Return x_k . y_k, (d,)."""
    return _summed(lambda lo, hi: np.einsum("sk,sk->k", X[lo:hi], Y[lo:hi]), len(X), (X.shape[1],))


def subtract(columns: Array, V: Array, Y: Array) -> None:
    """Take V Y off ``columns``, in place, with no further array of their size."""

    def work(lo: int, hi: int) -> None:
        columns[lo:hi] -= V[lo:hi] @ Y

    on_rows(work, len(V))


def quick_orthonormal(columns: Array, V: Array) -> Array | None:
    """Return an orthonormal basis of what ``columns`` have outside of span V, in few sweeps.

    It is what Gram and Schmidt's method finds column after column, by Cholesky factors of inner
    products, taken twice where it matters. None where a column is all but a combination of V and
    those before it.
    """
    n, b = columns.shape
    scales = dots(columns, columns)
    if b == 0 or not (np.isfinite(scales) & (scales > 0)).all():
        return None
    B = np.empty((n, b))
    turn = np.diag(1 / np.sqrt(scales))
    source = columns
    for _ in range(2):

        def turned(lo: int, hi: int, source: Array = source, turn: Array = turn) -> Array:
            B[lo:hi] = source[lo:hi] @ turn
            return np.asarray(V[lo:hi].T @ B[lo:hi])

        C = _summed(turned, n, (V.shape[1], b))

        def outside(lo: int, hi: int, C: Array = C) -> Array:
            if len(C):
                B[lo:hi] -= V[lo:hi] @ C
            return np.asarray(B[lo:hi].T @ B[lo:hi])

        gram = _summed(outside, n, (b, b))
        try:
            R = linalg.cholesky(gram, check_finite=False)
        except linalg.LinAlgError:
            return None
        if R.diagonal().min() < _INDEPENDENT:
            return None
        turn, source = linalg.solve_triangular(R, np.eye(b), check_finite=False), B
        if linalg.norm(turn) <= _LITTLE * np.sqrt(b):
            break  # columns lost little, and no digits
    return times(B, turn)


def _summed(work: Callable[[int, int], Array], n: int, shape: tuple[int, ...]) -> Array:
    """Return the sum over blocks of rows."""
    total = np.zeros(shape)
    on_rows(work, n, total.__iadd__)
    return total
