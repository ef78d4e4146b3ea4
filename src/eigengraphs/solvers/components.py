"""What can be done to found components without the graphs."""

from __future__ import annotations

import numpy as np

from eigengraphs.solvers.loadings import component_gram, solve_loadings
from eigengraphs.solvers.protocol import Array, Fit

__all__ = ["first_components", "with_signs"]


def first_components(fit: Fit, k: int) -> Fit:
    """Return the fit with k components, loadings solved again.

    Its <A_i, h_k h_k^T> follow from the longer fit, whose loadings satisfy Gamma Lam^T = Psi.
    """
    H, active = fit.H[:, :k], fit.active[:k]
    Psi = fit.Lam @ component_gram(fit.H)[:, :k]
    Gamma = np.where(np.outer(active, active), component_gram(H), 0.0)
    return Fit(H, solve_loadings(Gamma, Psi), fit.stages[:k], fit.n_passes)


def with_signs(H: Array) -> Array:
    """Make the first of the largest entries of each column positive.

    Entries within a millionth of the largest count as largest, so that rounding does not decide
    between equals.
    """
    size = np.abs(H)
    first = np.argmax(size >= size.max(axis=0) * (1 - 1e-6), axis=0)
    return H * np.where(H[first, np.arange(H.shape[1])] < 0, -1.0, 1.0)
