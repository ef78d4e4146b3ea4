"""Latent positions and loadings that hold all of something else: block models, any distribution.

Where a conversion takes one graph to one graph, these say what multiple random eigen graphs can
represent, and in how many dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.loading_laws import PointMasses
from eigengraphs.models.validation import (
    TOLERANCE,
    Floats,
    block_labels,
    float_array,
    probability_vector,
)
from eigengraphs.stack import GraphStack

__all__ = ["eigen_graphs_of_block_models", "eigen_graphs_of_distribution"]


def eigen_graphs_of_block_models(labels: Any, B: Any) -> tuple[Floats, Floats]:
    """Return latent positions and loadings of block models with common blocks.

    With z_a the indicator of block a, (z_a + z_b)(z_a + z_b)^T holds the pairs between a and b,
    and what it adds within the two blocks is taken off the loading of z_a z_a^T.

    Returns
    -------
    H : ndarray, shape (n, K (K + 1) / 2)
    Lam : ndarray, shape (m, K (K + 1) / 2)
    """
    Bs = float_array(B, "B", 3, "(n_graphs, n_blocks, n_blocks)")
    if Bs.shape[1] != Bs.shape[2]:
        raise InputError(f"each B must be square, got shape {Bs.shape}")
    outside = (Bs < -TOLERANCE) | (Bs > 1 + TOLERANCE)
    if outside.any():
        i, a, b = np.argwhere(outside)[0]
        raise InputError(
            f"B[{i}, {a}, {b}] is {Bs[i, a, b]:.6g}, outside [0, 1]; edge probabilities must lie "
            "in [0, 1]"
        )
    skew = np.abs(Bs - Bs.transpose(0, 2, 1)) > TOLERANCE
    if skew.any():
        i, a, b = np.argwhere(skew)[0]
        raise InputError(
            f"B[{i}] is not symmetric: entry ({a}, {b}) is {Bs[i, a, b]:.6g} and entry ({b}, {a}) "
            f"is {Bs[i, b, a]:.6g}; pass (B[{i}] + B[{i}].T) / 2"
        )
    used, z = np.unique(block_labels(labels, Bs.shape[1]), return_inverse=True)
    Bs = Bs[:, used][:, :, used]
    K = len(used)
    Z = np.eye(K)[z]
    sizes = Z.sum(axis=0)
    a, b = np.triu_indices(K, 1)
    within = np.einsum("iaa->ia", Bs)
    between = Bs.sum(axis=2) - within
    H = np.hstack([Z / np.sqrt(sizes), (Z[:, a] + Z[:, b]) / np.sqrt(sizes[a] + sizes[b])])
    Lam = np.hstack([(within - between) * sizes, Bs[:, a, b] * (sizes[a] + sizes[b])])
    return H, Lam


def eigen_graphs_of_distribution(graphs: Any, probabilities: Any) -> tuple[Floats, PointMasses]:
    """Return latent positions and the distribution of loadings of given graphs.

    The h_k are e_s and (e_s + e_t) / sqrt(2), whose h_k h_k^T form a basis of the symmetric
    matrices; the loadings are the coordinates of each graph.

    Returns
    -------
    H : ndarray, shape (n, n (n + 1) / 2)
    loadings : PointMasses with n_graphs points
    """
    stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs)
    stack.require_complete("from_distribution needs graphs that are known as a whole")
    if stack.is_directed:
        raise InputError("from_distribution needs undirected graphs; symmetrize them first")
    if stack.is_weighted:
        raise InputError("from_distribution needs graphs of 0 and 1; binarize them first")
    n = stack.n_vertices
    A = stack.to_dense().dense.astype(np.float64)
    s, t = np.triu_indices(n, 1)
    pairs = np.zeros((n, len(s)))
    pairs[s, np.arange(len(s))] = pairs[t, np.arange(len(s))] = np.sqrt(0.5)
    loops = np.einsum("iss->is", A)
    degrees = A.sum(axis=2) - loops
    points = np.hstack([loops - degrees, 2 * A[:, s, t]])
    weights = probability_vector(probabilities, "probabilities", len(stack))
    return np.hstack([np.eye(n), pairs]), PointMasses(points, weights)
