"""What a solver may ask of the data, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "BlockGraphs",
    "DirectedBlockGraphs",
    "DirectedGraphs",
    "EntryGraphs",
    "Fit",
    "Graphs",
    "Measured",
    "Progress",
    "Sides",
    "SplitDirectedGraphs",
    "SplitGraphs",
    "Stage",
    "SubspaceGraphs",
    "Watcher",
]

Array: TypeAlias = NDArray[np.float64]
Sides: TypeAlias = tuple[Array, ...]  # one array per side: undirected one, directed left and right


class Measured(Protocol):
    """Graphs whose sizes are known."""

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        ...

    def squared_norms(self) -> Array:
        """Return ||A_i||^2, (m,)."""
        ...

    def rounding(self) -> Array:
        """Return the squared norm that rounding alone may leave of each graph, (m,)."""
        ...


class BlockGraphs(Protocol):
    """Symmetric graphs that multiply blocks of columns at once; each call is one pass."""

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        ...

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the products: float32 or float64."""
        ...

    def products(
        self,
        B: Array,
        consume: Callable[[int, int, NDArray[Any]], None],
        out: NDArray[Any] | None = None,
    ) -> None:
        """Call consume(lo, hi, P) for blocks of graphs with P = B^T A_i, (hi - lo, b, n).

        Calls may come from several threads, for different graphs. With ``out`` (m, b, n), P is
        a part of it; without, P is the consumer's to keep.
        """
        ...

    def project(self, V: Array, B: Array) -> Array:
        """Return [V B]^T A_i B, (m, s + b, b)."""
        ...

    def weighted_multiply(self, W: Array, H: Array) -> Array:
        """Return sum_i W_ik A_i h_k, (n, d)."""
        ...

    def sketch(self, V: Array, weights: Array) -> tuple[Array, Array]:
        """Return sum_i w_i A_i A_i V and sum_i w_i A_i V, each (n, s)."""
        ...


class EntryGraphs(Protocol):
    """Graphs on few vertices whose entries can be summed up where they are, at less cost."""

    def entry_moment(self, weights: Array) -> tuple[Array, Array]:
        """Return sum_i w_i c_i c_i^T, (p, p), and sum_i w_i c_i, (p,): one pass.

        c_i is the lower triangle of A_i, row by row, p = n (n + 1) / 2. The first is in Fortran's
        order, and only its upper triangle counts.
        """
        ...


class SubspaceGraphs(BlockGraphs, Measured, Protocol):
    """What the subspace solver asks of the data."""

    def quadratic_forms(self, H: Array) -> Array:
        """Return h_k^T A_i h_k, (m, d)."""
        ...


class Graphs(SubspaceGraphs, Protocol):
    """What Algorithm 1 and the eigenvectors of one graph ask of the data."""

    def multiply(self, v: Array) -> Array:
        """Return A_i v, (m, n)."""
        ...

    def mean(self, weights: Array) -> Any:
        """Return the weighted mean, (n, n), as an array or a scipy sparse array."""
        ...


class SplitGraphs(SubspaceGraphs, Protocol):
    """Graphs in several places, as on a disk or a cluster: what is asked goes to where they are."""

    def total(self, task: Callable[[Any, Array], Any], weights: Array) -> Any:
        """Return the sum of task(some graphs, their weights) over all of them: one pass.

        A task can be pickled; it returns an array, or a tuple of them.
        """
        ...


class DirectedBlockGraphs(Protocol):
    """Directed graphs that multiply blocks of columns on both sides at once.

    Each call is one pass. Left belongs to the rows of A_i and right to its columns.
    """

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        ...

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the products: float32 or float64."""
        ...

    def products(
        self,
        left: Array,
        right: Array,
        consume_left: Callable[[int, int, NDArray[Any]], None],
        consume_right: Callable[[int, int, NDArray[Any]], None],
        out_left: NDArray[Any] | None = None,
        out_right: NDArray[Any] | None = None,
    ) -> None:
        """Hand out left^T A_i, (b, n), and right^T A_i^T, (c, n), for blocks of graphs.

        Calls (lo, hi, P) may come from several threads, for different graphs, with P
        (hi - lo, b, n) a part of the ``out`` (m, b, n) of its side, or the consumer's to keep.
        """
        ...

    def project(self, U: Array, V: Array, left: Array, right: Array) -> tuple[Array, Array]:
        """Return [U left]^T A_i right, (m, s + b, c), and V^T A_i^T left, (m, t, b)."""
        ...

    def weighted_multiply(self, W: Array, H: Array, G: Array) -> tuple[Array, Array]:
        """Return sum_i W_ik A_i g_k and sum_i W_ik A_i^T h_k, each (n, d)."""
        ...

    def sketch(
        self, Omega: Array, weights: Array
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Return sum_i w_i A_i A_i^T Omega and sum_i w_i A_i Omega, and both of the transposes."""
        ...


class DirectedGraphs(DirectedBlockGraphs, Measured, Protocol):
    """What the solver for directed graphs asks of the data."""

    def bilinear_forms(self, H: Array, G: Array) -> Array:
        """Return h_k^T A_i g_k, (m, d)."""
        ...


class SplitDirectedGraphs(DirectedGraphs, Protocol):
    """Directed graphs in several places; see :class:`SplitGraphs`."""

    def total(self, task: Callable[[Any, Array], Any], weights: Array) -> Any:
        """Return the sum of task(some graphs, their weights) over all of them: one pass."""
        ...


@dataclass(frozen=True)
class Stage:
    """How one component was found."""

    n_iter: int
    stop_reason: str  # "stationary", "precision", "stalled", "max_iter", "interrupted", "exhausted"
    # ||sum_i w_i lam_i R_i h - theta h|| / theta on the stage's residuals; for directed graphs the
    # root of the sum of squares of this, with g on the right, and of the same for g.
    stationarity: float
    gain: float  # theta = sum_i w_i (h^T R_i h)^2, what the component takes off the objective
    start: str  # which start won
    agreement: float = float("nan")  # share of the starts that ended where the winner did

    @property
    def converged(self) -> bool:
        """Whether the component is as good as the tolerance or the arithmetic allows."""
        return self.stop_reason not in ("stalled", "max_iter", "interrupted")


@dataclass(frozen=True)
class Fit:
    """Components of a stack and their forms; the first k components are the fit with k."""

    H: Array  # (n, d), unit columns
    Psi: Array  # (m, d) <A_i, h_k h_k^T>, or <A_i, h_k g_k^T>, over the entries that count
    stages: tuple[Stage, ...]
    n_passes: int
    blocks: tuple[tuple[int, int], ...] = ()  # components searched together: the first, how many
    interrupted: bool = False  # the user stopped the fit; there may be fewer components
    G: Array | None = None  # (n, d), unit columns: components are h_k g_k^T, of directed graphs

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which components found something to fit, (d,)."""
        return np.array([stage.stop_reason != "exhausted" for stage in self.stages], dtype=bool)


@dataclass(frozen=True)
class Progress:
    """Where a fit stands."""

    n_iter: int  # iterations of the component, or rounds of all
    component: int | None  # which is searched, from 0; None when all are at once
    stationarity: float  # relative gradient, the largest of the components that are searched
    n_converged: int  # components that are found
    n_passes: int | None = None  # reads of the graphs so far, where the solver counts them


Watcher: TypeAlias = Callable[[Progress], None]
