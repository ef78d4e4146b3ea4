"""One graph as a file holds it: a matrix, or edges between named vertices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.io.notices import Notice

__all__ = ["EdgeGraph", "MatrixGraph", "RawGraph"]


@dataclass(frozen=True)
class MatrixGraph:
    """A square matrix, sparse or not, with names of its vertices where the file has them."""

    matrix: NDArray[Any] | sparse.csr_array
    names: tuple[str, ...] | None = None
    directed: bool | None = None  # what the file says; None if it says nothing
    key: str | None = None  # what the file calls this graph, where it holds several
    notices: tuple[Notice, ...] = ()
    format: str = "matrix"


@dataclass(frozen=True)
class EdgeGraph:
    """Edges, each as the file has it: once or twice, in one order or the other."""

    source: NDArray[np.intp]  # places in ``names``
    target: NDArray[np.intp]
    weight: NDArray[np.float64]
    names: tuple[str, ...]
    declared: bool = False  # the file lists its vertices, with those that have no edge
    directed: bool | None = None
    key: str | None = None
    notices: tuple[Notice, ...] = field(default=())
    format: str = "edge list"


RawGraph: TypeAlias = MatrixGraph | EdgeGraph
