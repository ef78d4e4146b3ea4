"""Families of graphs, drawn by plain NumPy.

*Block families*: K blocks of vertices, shared by all graphs, and for each graph its own symmetric
matrix B_i of edge probabilities, drawn around a common mean. The B_i vary in all K (K + 1) / 2 of
their entries, so that as many components mean something. Loops are drawn like all other pairs: the
diagonal is data.

*Planted components*: A_i = sum_k Lam_ik h_k h_k^T + noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = [
    "SparseFamily",
    "block_family",
    "block_labels",
    "planted",
    "sparse_block_family",
    "write_block_family",
]

Array: TypeAlias = NDArray[np.float64]

K = 5
_SHARES = np.array([0.3, 0.24, 0.19, 0.15, 0.12])  # of the vertices, by block


def block_labels(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the block of each vertex, (n,), in random order."""
    counts = np.floor(_SHARES * n).astype(int)
    counts[0] += n - counts.sum()
    return rng.permutation(np.repeat(np.arange(K), counts))


def _symmetric(low: Any, high: Any, rng: np.random.Generator) -> Array:
    B = np.triu(rng.uniform(low, high, size=(K, K)))
    return B + np.triu(B, 1).T


def block_family(m: int, n: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """Yield m dense 0/1 graphs (n, n) with loops, probabilities within [0.05, 0.6]."""
    rng = np.random.default_rng(seed)
    labels = block_labels(n, rng)
    mean = _symmetric(0.2, 0.35, rng) + 0.1 * np.eye(K)
    spread = _symmetric(0.05, 0.15, rng)  # of its own for each pair of blocks
    for _ in range(m):
        B = np.clip(mean + spread * _symmetric(-1, 1, rng), 0.05, 0.6).astype(np.float32)
        A = np.triu(rng.random((n, n), dtype=np.float32) < B[np.ix_(labels, labels)])
        yield (A | A.T).astype(np.float32)


def write_block_family(path: Path, m: int, n: int, seed: int) -> None:
    """Write the graphs of a dense family to an .npy file (m, n, n), never holding all of them."""
    A = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(m, n, n))
    for i, graph in enumerate(block_family(m, n, seed)):
        A[i] = graph
    A.flush()


class SparseFamily(NamedTuple):
    """Graphs one below the other, and the block of each vertex."""

    flat: sparse.csr_array  # (m n, n), float32
    labels: NDArray[np.int64]  # (n,)


def sparse_block_family(m: int, n: int, degree: float, seed: int) -> SparseFamily:
    """Return m sparse 0/1 graphs of this mean degree, with blocks that it suffices to see.

    Pairs are drawn with replacement and multiple ones dropped, which at these densities is the
    Bernoulli law for all purposes here, and costs the edges alone.
    """
    rng = np.random.default_rng(seed)
    labels = block_labels(n, rng)
    members = [np.flatnonzero(labels == a).astype(np.int32) for a in range(K)]
    # The rate of each pair of blocks follows an exponential law in the graphs. Variation of this
    # size is what the noise of 50 graphs of degree 20 leaves to be seen of ten components.
    mean = _symmetric(0.9, 1.1, rng) + np.eye(K)
    sizes = np.array([len(vertices) for vertices in members])
    rate = degree * n / float(sizes @ mean @ sizes)
    data, indices, indptr = [], [], [np.zeros(1, dtype=np.int32)]
    start = 0
    for _ in range(m):
        B = -rate * mean * np.log(_symmetric(0, 1, rng))
        graph = _sparse_graph(n, members, B, rng)
        data.append(graph.data)
        indices.append(graph.indices)
        indptr.append((graph.indptr[1:] + start).astype(np.int32))
        start += graph.nnz
    parts = (np.concatenate(data), np.concatenate(indices), np.concatenate(indptr))
    return SparseFamily(sparse.csr_array(parts, shape=(m * n, n)), labels)


def _sparse_graph(
    n: int, members: list[NDArray[np.int32]], B: Array, rng: np.random.Generator
) -> sparse.csr_array:
    rows, columns = [], []
    for a in range(K):
        for b in range(a, K):
            pairs = len(members[a]) * len(members[b]) / (2 if a == b else 1)
            count = rng.poisson(B[a, b] * pairs)
            rows.append(members[a][rng.integers(len(members[a]), size=count)])
            columns.append(members[b][rng.integers(len(members[b]), size=count)])
    s, t = np.concatenate(rows), np.concatenate(columns)
    both = (np.concatenate([s, t]), np.concatenate([t, s]))
    graph = sparse.csr_array((np.ones(2 * len(s), dtype=np.float32), both), shape=(n, n))
    graph.sum_duplicates()
    graph.data[:] = 1.0
    return graph


def planted(
    m: int, n: int, strengths: Array, noise: float, overlap: float, seed: int
) -> NDArray[np.float64]:
    """Return graphs (m, n, n) with planted components.

    Parameters
    ----------
    m, n
        Number of graphs and of vertices.
    strengths : (K,)
        Standard deviation of the loadings of each component; their means are as large.
    noise
        Standard deviation of the entries of the noise.
    overlap
        Length of a random vector added to the orthonormal h_k, before they are normed again.
    seed
        Of everything random.
    """
    rng = np.random.default_rng(seed)
    count = len(strengths)
    H = np.linalg.qr(rng.standard_normal((n, count)))[0]
    H += overlap * rng.standard_normal((n, count)) / np.sqrt(n)
    H /= np.linalg.norm(H, axis=0)
    Lam = strengths * (1 + rng.standard_normal((m, count)))
    A = np.einsum("ik,sk,tk->ist", Lam, H, H, optimize=True)
    N = noise * rng.standard_normal((m, n, n))
    return A + (N + N.transpose(0, 2, 1)) / np.sqrt(2)
