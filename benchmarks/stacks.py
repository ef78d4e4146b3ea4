"""The graphs that fits are compared on: each a stack with its own diagonal as data.

Everyone gets the very same matrices, so eq. 1 is the same number for everyone. Graphs without
loops get the mean of its row in each diagonal entry here, and are centered here, so that no
method's own treatment enters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.files import save_flat
from eigengraphs import GraphStack
from eigengraphs.datasets import load_mice
from eigengraphs.models import MultipleRandomEigenGraphs

__all__ = ["BenchmarkStack", "make_stacks", "section_5_1"]


@dataclass(frozen=True, eq=False)
class BenchmarkStack:
    """Graphs with loops, and how many components to find.

    Attributes
    ----------
    name
        What the table calls it.
    flat : ndarray or csr_array, shape (m * n, n)
        The graphs, one below the other.
    d
        Number of components.
    """

    name: str
    flat: NDArray[np.float64] | sparse.csr_array
    d: int

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return int(self.flat.shape[1])

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return int(self.flat.shape[0]) // self.n_vertices

    @property
    def label(self) -> str:
        """Name, size and d."""
        return f"{self.name}, {self.n_graphs} x {self.n_vertices}, d={self.d}"

    def dense(self) -> NDArray[np.float64]:
        """Return the graphs as an array (m, n, n)."""
        flat = self.flat if isinstance(self.flat, np.ndarray) else self.flat.toarray()
        return np.asarray(flat.reshape(self.n_graphs, self.n_vertices, self.n_vertices))

    def graphs(self) -> NDArray[np.float64] | list[sparse.csr_array]:
        """Return what a user would hold: an array (m, n, n), or one CSR matrix a graph."""
        if isinstance(self.flat, np.ndarray):
            return self.dense()
        n = self.n_vertices
        return [self.flat[i * n : (i + 1) * n] for i in range(self.n_graphs)]

    def save(self, folder: Path) -> Path:
        """Write the graphs to a file that any version of NumPy can read; return its path."""
        if isinstance(self.flat, np.ndarray):
            np.save(folder / "stack.npy", self.dense())
            return folder / "stack.npy"
        save_flat(folder / "stack.npz", self.flat, self.n_graphs)
        return folder / "stack.npz"


def make_stacks(quick: bool) -> list[BenchmarkStack]:
    """Return the stacks; with ``quick``, small ones."""
    makers: tuple[Callable[[bool], BenchmarkStack], ...] = (
        _mice,
        lambda quick: section_5_1(128 if quick else 1024),
        lambda quick: _eigen_graphs(quick, is_sparse=False),
        lambda quick: _eigen_graphs(quick, is_sparse=True),
    )
    return [make(quick) for make in makers]


def _mice(quick: bool) -> BenchmarkStack:
    A = np.array(load_mice().graphs.log1p().dense)[:: 4 if quick else 1]
    n = A.shape[1]
    A[:, range(n), range(n)] = A.sum(axis=2) / (n - 1)
    A -= A.mean(axis=0)
    return BenchmarkStack("mice, log1p, centered", A.reshape(-1, n), 3 if quick else 8)


def section_5_1(m: int) -> BenchmarkStack:
    """Sample the design of section 5.1 of the paper: three sign patterns on 20 vertices, loops."""
    rng = np.random.default_rng(0)
    s = np.arange(20)
    H = np.stack([np.ones(20), (-1.0) ** s, (-1.0) ** (s // 2)], axis=1) / np.sqrt(20)
    Lam = rng.uniform([8, 0, 0], [16, 2, 1], size=(m, 3))
    stack = MultipleRandomEigenGraphs(H, Lam).sample(random_state=rng, loops=True)
    return BenchmarkStack("section 5.1", _flat(stack.to_dense()), 3)


def _eigen_graphs(quick: bool, is_sparse: bool) -> BenchmarkStack:
    """Sample an MREG of sign patterns, of density about 0.45, or 0.05 as CSR."""
    rng = np.random.default_rng(1)
    m, n = (12, 100) if quick else (60, 300)
    patterns = [(-1.0) ** (np.arange(n) // 2**k) for k in range(4)]
    H = np.stack([np.ones(n), *patterns], axis=1) / np.sqrt(n)
    low, high = np.array([0.4, 0, 0, 0, 0]), np.array([0.5, 0.12, 0.09, 0.06, 0.04])
    scale = n * (0.11 if is_sparse else 1.0)
    Lam = scale * rng.uniform(low, high, size=(m, 5))
    stack = MultipleRandomEigenGraphs(H, Lam).sample(random_state=rng, loops=True)
    name = "MREG, CSR" if is_sparse else "MREG"
    return BenchmarkStack(name, _flat(stack.to_sparse() if is_sparse else stack.to_dense()), 5)


def _flat(stack: GraphStack) -> NDArray[np.float64] | sparse.csr_array:
    return stack.flat if stack.is_sparse else np.array(stack.dense).reshape(-1, stack.n_vertices)
