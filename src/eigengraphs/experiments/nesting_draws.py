"""Random parameters of the models of Figure 1, one function a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg

__all__ = ["DRAWS", "blocks", "symmetric"]

Array = NDArray[np.float64]
Rng = np.random.Generator


def erdos_renyi(rng: Rng) -> eg.models.ErdosRenyi:
    """Draw an edge probability."""
    return eg.models.ErdosRenyi(int(rng.integers(20, 31)), rng.uniform(0.05, 0.95))


def block_definite(rng: Rng) -> eg.models.StochasticBlockModel:
    """Draw 2 to 4 blocks and a positive semidefinite B: inner products of K vectors."""
    K = int(rng.integers(2, 5))
    rows = rng.uniform(size=(K, K))
    rows *= rng.uniform(0.3, 0.95, size=(K, 1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    return eg.models.StochasticBlockModel(rows @ rows.T, blocks(rng, K))


def block(rng: Rng) -> eg.models.StochasticBlockModel:
    """Draw 2 to 4 blocks and any B."""
    K = int(rng.integers(2, 5))
    return eg.models.StochasticBlockModel(symmetric(rng, K), blocks(rng, K))


def block_indefinite(rng: Rng) -> eg.models.StochasticBlockModel:
    """Draw blocks and a B with a negative eigenvalue."""
    while True:
        model = block(rng)
        if np.linalg.eigvalsh(model.B)[0] < -0.05:
            return model


def dot_product(rng: Rng) -> eg.models.RandomDotProductGraph:
    """Draw 1 to 4 dimensions and a position for each vertex, in a cone turned at random."""
    n, d = int(rng.integers(20, 31)), int(rng.integers(1, 5))
    X = rng.uniform(size=(n, d))
    X *= rng.uniform(0.3, 0.95, size=(n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return eg.models.RandomDotProductGraph(X @ turn)


def eigen_definite(rng: Rng) -> eg.models.MultipleRandomEigenGraphs:
    """Draw 1 to 4 components that are not orthogonal, with loadings above zero."""
    n, d = int(rng.integers(20, 31)), int(rng.integers(1, 5))
    H = rng.uniform(size=(n, d))
    H /= np.linalg.norm(H, axis=0)
    lam = rng.uniform(0.2, 1.0, d)
    return eg.models.MultipleRandomEigenGraphs(H, 0.95 * lam / ((H * lam) @ H.T).max())


def eigen_indefinite(rng: Rng) -> eg.models.MultipleRandomEigenGraphs:
    """Draw 2 to 4 components: one of about 0.5 everywhere, others with loadings of any sign."""
    n, d = int(rng.integers(20, 31)), int(rng.integers(2, 5))
    first = rng.uniform(0.65, 0.75, n)
    others = rng.choice([-1.0, 1.0], (n, d - 1)) * rng.uniform(0.8, 1.2, (n, d - 1))
    lam = rng.uniform(0.5, 1.0, d - 1) * rng.choice([-1.0, 1.0], d - 1)
    lam[0] = -abs(lam[0])
    lam *= 0.4 / np.abs((others * lam) @ others.T).max()
    X = np.column_stack([first, others])
    squares = (X**2).sum(axis=0)
    return eg.models.MultipleRandomEigenGraphs(
        X / np.sqrt(squares), np.concatenate([[1.0], lam]) * squares
    )


def inhomogeneous(rng: Rng) -> eg.models.InhomogeneousErdosRenyi:
    """Draw a probability for every pair, and for every loop."""
    return eg.models.InhomogeneousErdosRenyi(symmetric(rng, int(rng.integers(20, 31))))


def symmetric(rng: Rng, n: int) -> Array:
    """Draw a symmetric matrix with independent entries, uniform on [0.02, 0.98].

    Nearer to 0 and 1 a logarithm would enlarge rounding.
    """
    P = np.triu(rng.uniform(0.02, 0.98, size=(n, n)))
    return np.asarray(P + np.triu(P, 1).T)


def blocks(rng: Rng, K: int) -> NDArray[np.int64]:
    """Draw 4 to 8 vertices for each of K blocks, at least 20 in all, in any order."""
    sizes = rng.integers(4, 9, K)
    sizes[0] += max(0, 20 - int(sizes.sum()))
    return np.asarray(rng.permutation(np.repeat(np.arange(K), sizes)), dtype=np.int64)


DRAWS: dict[str, Callable[[Rng], eg.models.GraphModel]] = {
    "ER": erdos_renyi,
    "SBM, B psd": block_definite,
    "SBM": block,
    "SBM, B indefinite": block_indefinite,
    "RDPG": dot_product,
    "MREG, loadings > 0": eigen_definite,
    "MREG": eigen_indefinite,
    "IER": inhomogeneous,
}
