"""Eq. 1 of any set of components, by one rule for everyone and apart from the package."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from benchmarks.stacks import BenchmarkStack

__all__ = ["Objective", "objective"]


class Objective(NamedTuple):
    """Value of eq. 1, and the share of the squared norm that the components explain."""

    value: float
    explained: float


def objective(stack: BenchmarkStack, H: NDArray[np.float64]) -> Objective:
    """Return sum_i ||A_i - sum_k Lam_ik h_k h_k^T||^2 at the least-squares loadings.

    Parameters
    ----------
    stack
        The graphs A_i.
    H : (n, d)
        The h_k as columns, of any length but zero.
    """
    H = np.asarray(H, dtype=np.float64) / linalg.norm(H, axis=0)
    m, n = stack.n_graphs, stack.n_vertices
    products = np.asarray(stack.flat @ H).reshape(m, n, -1)
    Psi = np.einsum("isk,sk->ik", products, H)
    Lam = linalg.lstsq((H.T @ H) ** 2, Psi.T)[0].T
    entries = stack.flat if isinstance(stack.flat, np.ndarray) else stack.flat.data
    total = float(np.sum(np.square(entries)))
    explained = float(np.sum(Lam * Psi))
    return Objective(total - explained, explained / total)
