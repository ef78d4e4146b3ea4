"""Loadings by least squares where every graph has inner products of its own."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from eigengraphs.solvers.protocol import Array

__all__ = ["UNSEEN", "objective_path_each", "solve_loadings_each"]

UNSEEN = 1e-6  # share of a combination's squared norm, over that of a spread one, to be seen by
_EPS = float(np.finfo(np.float64).eps)


def solve_loadings_each(
    Gammas: Array, Psi: Array, whole: Array | None = None, observed: Array | None = None
) -> Array:
    """Solve Gamma_i lam_i = Psi_i for every graph, (m, d).

    Directions that the components do not span to working precision get no loading, as in
    :func:`~eigengraphs.solvers.loadings.solve_loadings`, and neither do combinations of components
    of which a graph sees next to nothing: then loadings are bounded by the graph's norm over
    the square root of the share that must be seen.

    Parameters
    ----------
    Gammas : (m, d, d)
        Inner products of the components over the entries that each graph observes.
    Psi : (m, d)
        Inner products <A_i, h_k h_k^T>.
    whole : (d, d), optional
        Inner products of the components over all entries: what complete graphs have. A graph sees
        the share x^T Gamma_i x / x^T whole x of a combination x.
    observed : (m,), optional
        Share of its entries that each graph observes, and about the share that it sees of a
        component that is spread over all vertices. It must see ``UNSEEN`` of that, or of 1. A graph
        that observes nothing has no loadings.
    """
    m, d = Psi.shape
    T = np.eye(d) if whole is None or d == 0 else _whitening(whole)
    if T.shape[1] == 0:
        return np.zeros_like(Psi)
    values, vectors = np.linalg.eigh(T.T @ Gammas @ T)
    # Shares are differences of numbers up to 1, and rounded as such: a graph that observes no pair
    # has 0 up to that rounding.
    largest = 1e-300 if whole is None else 1.0
    floor = 10 * d * _EPS * np.maximum(values[:, -1], largest)
    seen = np.ones(m) if observed is None else observed
    if whole is not None:
        floor = np.maximum(floor, UNSEEN * seen)
    keep = (values > floor[:, None]) & (seen > 0)[:, None]
    forms = np.einsum("irk,ir->ik", vectors, Psi @ T)
    forms = np.divide(forms, values, out=np.zeros_like(forms), where=keep)
    return np.asarray(np.einsum("irk,ik->ir", vectors, forms) @ T.T)


def _whitening(whole: Array) -> Array:
    """Return T (d, r) with T^T whole T = I and all that the components span."""
    values, vectors = linalg.eigh(whole, driver="evd")
    keep = values > 10 * len(values) * _EPS * max(values[-1], 1e-300)
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))


def objective_path_each(
    Gammas: Array,
    Psi: Array,
    squared_norms: Array,
    weights: Array,
    whole: Array | None = None,
    observed: Array | None = None,
) -> Array:
    """Return sum_i w_i ||A_i - sum_{k<=j} Lam_ik h_k h_k^T||^2 for j = 0, ..., d, (d + 1,).

    Over the observed entries, each with its own loadings; see :func:`solve_loadings_each`.
    """
    path = [weights @ squared_norms]
    for j in range(1, Psi.shape[1] + 1):
        part = None if whole is None else whole[:j, :j]
        Lam = solve_loadings_each(Gammas[:, :j, :j], Psi[:, :j], part, observed)
        explained = np.einsum("ik,ik->i", Lam, Psi[:, :j])
        path.append(weights @ np.maximum(squared_norms - explained, 0.0))
    return np.array(path)
