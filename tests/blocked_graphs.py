"""A stack in memory that comes in blocks, as one from a disk does; planted components."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs import GraphStack
from eigengraphs.stack.blocked import BlockedStack


class InBlocks(BlockedStack):
    """``stack`` in blocks of ``step`` graphs; counts how often each is read."""

    __slots__ = ("_memory", "_spans", "_step", "_whole", "reads")

    def __init__(self, stack: GraphStack, step: int, memory: int = 2**30) -> None:
        m = stack.n_graphs
        spans = tuple((lo, min(m, lo + step)) for lo in range(0, m, step))
        names = stack.graph_names if stack._graph_names is not None else None
        vertex = stack.vertex_names if stack.has_vertex_names else None
        for name, value in {
            "_whole": stack,
            "_step": step,
            "_spans": spans,
            "_memory": memory,
            "_facts": stack.facts,
            "_graph_names": names,
            "_vertex_names": vertex,
            "reads": [],
        }.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return InBlocks, (self._whole, self._step, self._memory)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        return self._spans

    @property
    def memory(self) -> int:
        return self._memory

    def read_block(self, k: int) -> GraphStack:
        self.reads.append(k)
        lo, hi = self._spans[k]
        return self._whole[lo:hi]

    @property
    def n_vertices(self) -> int:
        return self._whole.n_vertices

    @property
    def dtype(self) -> Any:
        return self._whole.dtype

    @property
    def nbytes(self) -> int:
        return self._whole.nbytes

    @property
    def is_sparse(self) -> bool:
        return self._whole.is_sparse


def planted(m, n, d, *, directed=False, loops=False, seed=0):
    rng = np.random.default_rng(seed)
    H, G = (np.linalg.qr(rng.standard_normal((n, d)))[0] for _ in range(2))
    Lam = rng.gamma(2.0, 1.0, (m, d)) * np.linspace(3, 1, d)
    noise = 0.1 * rng.standard_normal((m, n, n)) / np.sqrt(n)
    if not directed:
        G, noise = H, (noise + noise.transpose(0, 2, 1)) / np.sqrt(2)
    A = np.einsum("sk,ik,tk->ist", H, Lam, G, optimize=True) + noise
    if not loops:
        A[:, range(n), range(n)] = 0
    return GraphStack(A)


def distance(a, b):
    """Largest difference of loadings and of positions, relative, components up to their signs."""
    signs = np.sign((a.latent_positions_ * b.latent_positions_).sum(axis=0))
    positions = np.abs(a.latent_positions_ - signs * b.latent_positions_).max()
    if hasattr(a, "latent_positions_right_"):  # then a loading may change its sign, too
        signs = np.sign((a.loadings_ * b.loadings_).sum(axis=0))
    else:
        signs = 1.0
    loadings = np.abs(a.loadings_ - signs * b.loadings_).max() / np.abs(a.loadings_).max()
    return max(positions, loadings)
