"""Steps of Figure 1's bottom panel: block models with common blocks, and a B_i for each graph."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg
from eigengraphs.errors import DegenerateWarning

__all__ = ["family"]

Array = NDArray[np.float64]


def family(rng: np.random.Generator, *, K: int, repetition: int) -> Any:
    """Represent graphs whose B_i all differ, with K and with K (K + 1) / 2 components.

    Residuals are relative Frobenius norms over all graphs. ``least`` is that of the best subspace
    of K dimensions over the pairs s < t: H diag(lambda_i) H^T stays within one, so no MREG with
    d = K does better, whatever its diagonal. ``last`` is the same with one dimension less than
    K (K + 1) / 2. ``fitted`` is what refined joint embeddings of the matrices reach.
    """
    full = K * (K + 1) // 2
    labels = rng.permutation(np.repeat(np.arange(K), rng.integers(4, 9, K)))
    upper = np.triu(rng.uniform(size=(2 * full, K, K)))
    B = upper + np.triu(upper, 1).transpose(0, 2, 1)
    P = B[:, labels][:, :, labels]
    model = eg.models.MultipleRandomEigenGraphs.from_block_models(labels, B)
    s, t = np.triu_indices(len(labels), 1)
    pairs = P[:, s, t]
    values = np.linalg.svd(pairs, compute_uv=False)
    size = float(np.linalg.norm(values))
    exact = model.expected_adjacency()[:, s, t]
    return {
        "dimension": int((values > 1e-10 * values[0]).sum()),
        "components": model.n_components,
        "exact": float(np.linalg.norm(exact - pairs)) / size,
        "least": float(np.linalg.norm(values[K:])) / size,
        "last": float(np.linalg.norm(values[full - 1 :])) / size,
        "fitted": {str(d): _fitted(P, d, repetition) for d in (K, full)},
        "planted": _planted(rng, K),
    }


def _fitted(P: Array, d: int, seed: int) -> float:
    with warnings.catch_warnings():
        # With too few components, refining may run to its bound: there is no best fit then.
        warnings.simplefilter("ignore", DegenerateWarning)
        fit = eg.JointEmbedding(d, diagonal="observed", refine=True, random_state=seed).fit(P)
    H = fit.latent_positions_
    left = P - np.einsum("sk,ik,tk->ist", H, fit.loadings_, H)
    return float(np.linalg.norm(left) / np.linalg.norm(P))


def _planted(rng: np.random.Generator, K: int) -> float:
    """Return the residual of K components for B_i with p_i within and q_i between equal blocks.

    All B_i have the same eigenvectors then, and K components are enough.
    """
    size, m = 5, K * (K + 1)
    p, q = rng.uniform(size=(2, m, 1))
    turned = np.linalg.qr(np.column_stack([np.ones(K), rng.standard_normal((K, K - 1))]))[0]
    H = np.repeat(turned, size, axis=0) / np.sqrt(size)
    Lam = size * np.hstack([p + (K - 1) * q, np.repeat(p - q, K - 1, axis=1)])
    B = q[:, :, None] + (p - q)[:, :, None] * np.eye(K)
    labels = np.repeat(np.arange(K), size)
    P = B[:, labels][:, :, labels]
    found = eg.models.MultipleRandomEigenGraphs(H, Lam).expected_adjacency()
    return float(np.linalg.norm(found - P) / np.linalg.norm(P))
