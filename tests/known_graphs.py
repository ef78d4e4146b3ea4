"""Graphs with a known answer, and what it takes to compare with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eigengraphs import GraphStack
from eigengraphs.models import MultipleRandomEigenGraphs


class Known(NamedTuple):
    """Graphs and the parameters they were made from."""

    stack: GraphStack
    H: NDArray[np.float64]  # (n, d)
    Lam: NDArray[np.float64]  # (m, d)
    G: NDArray[np.float64] | None = None  # (n, d), of directed graphs


def section_5_1(m: int, seed: int, *, loops: bool) -> Known:
    """Sample the design of section 5.1: 20 vertices, 3 components."""
    rng = np.random.default_rng(seed)
    s = np.arange(20)
    H = np.stack([np.ones(20), (-1.0) ** s, (-1.0) ** (s // 2)], axis=1) / np.sqrt(20)
    Lam = rng.uniform([8, 0, 0], [16, 2, 1], size=(m, 3))
    model = MultipleRandomEigenGraphs(H, Lam)
    return Known(model.sample(random_state=rng, loops=loops), H, Lam)


def section_5_2(m: int, seed: int, *, loops: bool) -> Known:
    """Sample the design of section 5.2: 100 vertices, 2 components, two classes of graphs."""
    rng = np.random.default_rng(seed)
    H = np.stack([np.ones(100), np.repeat([-1.0, 1.0], 50)], axis=1) / 10
    Lam = np.array([[25.0, 5.0], [22.5, 2.5]])[rng.integers(2, size=m)]
    model = MultipleRandomEigenGraphs(H, Lam)
    return Known(model.sample(random_state=rng, loops=loops), H, Lam)


def noiseless(n: int, m: int, d: int, seed: int) -> Known:
    """Make graphs sum_k Lam_ik h_k h_k^T with orthonormal h_k and positive loadings."""
    rng = np.random.default_rng(seed)
    H = np.linalg.qr(rng.standard_normal((n, d)))[0]
    Lam = rng.uniform(0.5, 3.0, size=(m, d))
    return Known(GraphStack(np.einsum("sk,ik,tk->ist", H, Lam, H)), H, Lam)


def random_symmetric(
    m: int, n: int, seed: int, *, density: float = 1.0, hollow: bool = False
) -> NDArray[np.float64]:
    """Draw symmetric matrices with normal weights, (m, n, n)."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.standard_normal((m, n, n)) * (rng.random((m, n, n)) < density))
    A = upper + np.triu(upper, 1).transpose(0, 2, 1)
    if hollow:
        A[:, range(n), range(n)] = 0.0
    return A


def column_errors(found: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ||h_k found - h_k true|| up to sign, column by column."""
    apart = np.linalg.norm(found - truth, axis=0)
    return np.minimum(apart, np.linalg.norm(found + truth, axis=0))


def stored(stack: GraphStack, storage: str) -> GraphStack:
    """Return the stack in one of the two ways to keep it."""
    return stack.to_dense() if storage == "dense" else stack.to_sparse()


def noiseless_directed(n: int, m: int, d: int, seed: int) -> Known:
    """Make graphs sum_k Lam_ik h_k g_k^T with orthonormal h_k, orthonormal g_k, random loadings.

    The first components are the strongest, so that their order is known, too.
    """
    rng = np.random.default_rng(seed)
    H, G = (np.linalg.qr(rng.standard_normal((n, d)))[0] for _ in range(2))
    Lam = rng.standard_normal((m, d))
    Lam *= np.linspace(3.0, 1.0, d) / np.linalg.norm(Lam, axis=0)
    return Known(GraphStack(np.einsum("sk,ik,tk->ist", H, Lam, G)), H, Lam, G)


def random_directed(
    m: int, n: int, seed: int, *, density: float = 1.0, hollow: bool = False
) -> NDArray[np.float64]:
    """Draw matrices with normal weights, (m, n, n)."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n, n)) * (rng.random((m, n, n)) < density)
    if hollow:
        A[:, range(n), range(n)] = 0.0
    return A


def correlated_blocks(
    n: int, correlation: float, seed: int, *, directed: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw two graphs of one model with 3 blocks (0.5 within, 0.2 between) whose edges correlate.

    Both have edge probabilities P; given an edge of the first, the second has it with
    probability P + correlation (1 - P), and given none with P (1 - correlation).
    """
    rng = np.random.default_rng(seed)
    block = np.arange(n) * 3 // n
    P = np.where(block[:, None] == block, 0.5, 0.2)
    one = rng.random((n, n)) < P
    other = rng.random((n, n)) < np.where(one, P + correlation * (1 - P), P * (1 - correlation))
    if directed:
        off = ~np.eye(n, dtype=bool)
        return 1.0 * (one & off), 1.0 * (other & off)
    one, other = np.triu(one, 1), np.triu(other, 1)
    return 1.0 * (one | one.T), 1.0 * (other | other.T)


def partly_shuffled(n: int, share: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order in which a share of the vertices stand at wrong places, and these places."""
    rng = np.random.default_rng(seed)
    ring = rng.permutation(n)[: round(share * n)]
    order = np.arange(n)
    order[ring] = np.roll(ring, 1)
    return order, np.sort(ring)


def two_groups(m: int = 24, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return graphs (m, 20, 20) of two components, and their groups, which differ in the second."""
    rng = np.random.default_rng(seed)
    H = np.stack([np.ones(20), np.repeat([1.0, -1.0], 10)], axis=1) / np.sqrt(20)
    group = np.arange(m) % 2
    second = np.where(group, 12.0, 4.0) + rng.normal(0, 1, m)
    Lam = np.stack([rng.uniform(30, 34, m), second], axis=1)
    noise = rng.normal(0, 0.2, (m, 20, 20))
    A = np.einsum("sk,ik,tk->ist", H, Lam, H) + (noise + noise.transpose(0, 2, 1)) / 2
    A[:, range(20), range(20)] = 0.0
    return A, group
