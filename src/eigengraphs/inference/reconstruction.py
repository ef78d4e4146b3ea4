"""How much of new graphs a method's learnt positions explain."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eigengraphs.inference.methods import JOINT
from eigengraphs.inference.pipelines import Trained
from eigengraphs.solvers.geometry import Symmetric
from eigengraphs.stack import GraphStack

__all__ = ["Explained", "coefficients", "explain"]

Array = NDArray[np.float64]
_MOST = 4000  # vertices; beyond, matrices of all pairs are not made


class Explained(NamedTuple):
    """What a method leaves of held-out graphs, and what there was."""

    left: float
    total: float
    """Sum of squares; around the mean graph that the method learnt, if it centers."""


def coefficients(method: str, n: int, d: int) -> int | None:
    """Return how many numbers a new graph gets, from which it is reconstructed; None if it is not.

    What nothing was learnt for (adjacency embeddings of each graph by itself) is no prediction.
    """
    return {
        JOINT: d,
        "PCA": d,
        "Multiple ASE": d * (d + 1) // 2,
        "Omnibus": n * d,
        "Unfolded ASE": n * d,
    }.get(method)


def explain(trained: Trained, graphs: GraphStack, hollow: bool) -> Explained | None:
    """Reconstruct held-out graphs from what was learnt and their own coefficients.

    Weights are those after ``preprocess``.

    Parameters
    ----------
    trained
        A method, learnt from other graphs.
    graphs
        Complete graphs.
    hollow
        Whether pairs s != t alone count, as in graphs without loops; else all entries do.
    """
    name, estimator = trained.method, trained.estimator
    n = graphs.n_vertices
    if coefficients(name, n, 1) is None or graphs.has_missing or n > _MOST:
        return None
    stack = trained.steps.apply(graphs)
    seen = stack if name != JOINT else estimator._steps.apply(stack)
    features = estimator.transform(stack)
    mean: Any = getattr(estimator, "mean_graph_", None)
    if mean is not None and not isinstance(mean, np.ndarray):
        mean = mean.toarray()
    left = total = 0.0
    for i in range(graphs.n_graphs):
        A = np.asarray(seen[i : i + 1].to_dense().dense[0], dtype=np.float64)
        off = A - _reconstructed(name, estimator, A, features[i], hollow)
        whole = A.copy() if mean is None else A - mean
        if hollow:
            np.fill_diagonal(whole, 0.0)
            np.fill_diagonal(off, 0.0)
        left += float(np.vdot(off, off))
        total += float(np.vdot(whole, whole))
    return Explained(left, total)


def _reconstructed(name: str, estimator: Any, A: Array, features: Array, hollow: bool) -> Array:
    """Return what a method makes of one graph (n, n)."""
    if name in (JOINT, "PCA"):
        return np.asarray(estimator.inverse_transform(features[None])[0], dtype=np.float64)
    n = len(A)
    if name == "Multiple ASE":
        V = estimator.latent_positions_
        return np.asarray(V @ _scores(V, A, hollow) @ V.T)
    if name == "Omnibus":
        X = features.reshape(n, -1)
        return np.asarray(X * np.sign(estimator.eigenvalues_) @ X.T)
    # Unfolded: A is about U S^(1/2) Y^T, and Y = A U S^(-1/2).
    return np.asarray(estimator.latent_positions_ @ features.reshape(n, -1).T)


def _scores(V: Array, A: Array, hollow: bool) -> Array:
    """Return R (d, d) with the least squares of A - V R V^T, over pairs s != t if ``hollow``."""
    R = V.T @ A @ V
    if not hollow:
        return np.asarray(R)
    # What the components v_j v_k^T have on the diagonal is taken off both sides.
    packing = Symmetric(V.shape[1])
    diagonals = packing.pack(V[:, :, None] * V[:, None, :])  # (n, p)
    Gamma = np.eye(packing.n_entries) - diagonals.T @ diagonals
    psi = packing.pack(R[None])[0] - diagonals.T @ np.diag(A)
    return np.asarray(packing.unpack(np.linalg.lstsq(Gamma, psi, rcond=None)[0][None])[0])
