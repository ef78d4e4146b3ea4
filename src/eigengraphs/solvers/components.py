"""What can be done to found components without the graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigengraphs.solvers.protocol import Array, Fit

__all__ = ["column_signs", "first_components", "with_signs", "with_signs_pair"]


def first_components(fit: Fit, k: int) -> Fit:
    """Return the fit with k components."""
    blocks = tuple(block for block in fit.blocks if block[0] < k)
    return replace(
        fit,
        H=fit.H[:, :k],
        Psi=fit.Psi[:, :k],
        stages=fit.stages[:k],
        blocks=blocks,
        G=None if fit.G is None else fit.G[:, :k],
    )


def with_signs(H: Array) -> Array:
    """Make the first of the largest entries of each column positive."""
    return H * column_signs(H)


def with_signs_pair(H: Array, G: Array) -> tuple[Array, Array]:
    """Do the same to the columns of ``H``; those of ``G`` turn along, so that h_k g_k^T stays."""
    signs = column_signs(H)
    return H * signs, G * signs


def column_signs(X: Array) -> Array:
    """Return the sign of the first of the largest entries of each column, 1 or -1.

    Entries within a millionth of the largest count as largest, so that rounding does not decide
    between equals.
    """
    size = np.abs(X)
    first = np.argmax(size >= size.max(axis=0) * (1 - 1e-6), axis=0)
    return np.where(X[first, np.arange(X.shape[1])] < 0, -1.0, 1.0)
