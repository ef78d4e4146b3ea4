"""F statistics of a linear model, observed and with its rows rearranged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf

from eigengraphs.inference.designs import Design, independent_columns
from eigengraphs.inference.permutations import Permutations
from eigengraphs.inference.variables import Array

__all__ = ["Tests", "permutation_tests", "whitened"]

_TIES = 1e-9  # statistics that differ by less are equal, whatever the order of sums was


@dataclass(frozen=True, eq=False)
class Tests:
    """What was observed, and how often rearranged rows did as well."""

    F: Array
    """(d,), each component."""
    joint: float
    """All components together: F of the whitened loadings."""
    p_values: Array
    """(d,)."""
    p_family: Array
    """(d,), against the largest F of all components."""
    joint_p: float
    n_permutations: int
    """Arrangements looked at, the observed one included."""
    exact: bool


def permutation_tests(design: Design, most: int, rng: np.random.Generator) -> Tests:
    """Test each component, and all together, by the same rearrangements.

    With covariates Z it is the method of Freedman and Lane: residuals E of Y on Z change places,
    and F is that of X in the model of X and Z. Only Q^T P E and U^T P E are needed, with Q a basis
    of what of X is left by Z, and U a basis of Z.
    """
    U, Y = design.Z, design.Y
    E = Y - U @ (U.T @ Y)
    X = design.X - U @ (U.T @ design.X)
    Q = independent_columns(X / np.linalg.norm(design.X, axis=0))
    both = np.hstack([Q, U]).T.copy()  # (q + r, u)
    all_columns = np.hstack([E, whitened(E)])
    total = (all_columns**2).sum(axis=0)
    q, d, df = Q.shape[1], Y.shape[1], design.df_error

    def statistics(orders: NDArray[np.intp]) -> Array:
        """Return F of each component, then of all together, (B, d + 1)."""
        moved = (both[:, orders] @ all_columns) ** 2  # (q + r, B, 2 d)
        between = moved[:q].sum(axis=0)
        rest = np.maximum(total - moved.sum(axis=0), 0.0)
        between, rest = (np.column_stack([S[:, :d], S[:, d:].sum(axis=1)]) for S in (between, rest))
        # Rounding must not make a perfect fit of one arrangement better than of another.
        floor = 1e-14 * np.append(total[:d], total[d:].sum())
        return np.asarray((between / q) / (np.maximum(rest, floor) / df))

    observed = statistics(np.arange(len(Y))[None, :])[0]
    permutations = Permutations(design.raw, design.blocks, most)
    as_large, family = np.zeros(d + 1), np.zeros(d)
    count = 0
    mark = observed * (1 - _TIES)
    for orders in permutations.orders(rng):
        F = statistics(orders)
        as_large += (mark <= F).sum(axis=0)
        family += (F[:, :d].max(axis=1)[:, None] >= mark[:d]).sum(axis=0)
        count += len(orders)
    added = 0 if permutations.exact else 1
    p = (as_large + added) / (count + added)
    p_family = (family + added) / (count + added)
    return Tests(
        observed[:d], float(observed[d]), p[:d], p_family, float(p[d]), count + added,
        permutations.exact,
    )  # fmt: skip


def whitened(E: Array) -> Array:
    """Return columns of one variance that are hardly correlated, (u, d).

    The correlations are shrunk as by Ledoit and Wolf, which leaves a test where there are as many
    components as graphs. All rows count alike: groups take no part, so that rows stay exchangeable.
    """
    S = E / np.sqrt((E**2).mean(axis=0))
    covariance = ledoit_wolf(S, assume_centered=True)[0]
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(S @ (vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))))
