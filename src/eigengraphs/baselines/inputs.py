"""Graphs as the baselines take them: undirected, complete, in float64; and their diagonals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.fitting.settings import check_count
from eigengraphs.stack import GraphStack

__all__ = [
    "Matrix",
    "as_stack",
    "check_choice",
    "check_dimension",
    "each_graph",
    "like_training",
    "rows",
    "with_diagonal",
]

Matrix = NDArray[np.float64] | sparse.csr_array


def as_stack(graphs: Any) -> GraphStack:
    """Return graphs of any supported kind as one checked stack of float64."""
    # No copy: a stack made here is read at once and not kept.
    stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs, copy=False)
    stack.require_complete(
        "baselines take complete graphs alone: fill the entries, or use "
        "JointEmbedding(missing='unobserved')"
    )
    stack.require_undirected(
        "baselines take undirected graphs alone: use GraphStack(graphs).symmetrize()"
    )
    return stack if stack.dtype == np.float64 else stack.astype(np.float64)


def like_training(stack: GraphStack, names: tuple[str, ...], *, have_names: bool) -> GraphStack:
    """Return new graphs with their vertices in the order of the training graphs' names.

    Where only one side has names, graphs go by the order of their vertices.
    """
    if stack.n_vertices != len(names):
        raise AlignmentError(
            f"the graphs have {stack.n_vertices} vertices, expected {len(names)} as in the "
            "training graphs"
        )
    if (stack.has_vertex_names and have_names) or set(stack.vertex_names) == set(names):
        return stack.in_order_of(names)
    return stack


def each_graph(stack: GraphStack) -> Iterator[Matrix]:
    """Yield the graphs one by one, arrays or CSR (n, n)."""
    if not stack.is_sparse:
        yield from stack.dense
        return
    n = stack.n_vertices
    for i in range(stack.n_graphs):
        yield stack.flat[i * n : (i + 1) * n]


def rows(stack: GraphStack) -> Matrix:
    """Return all graphs below each other, array or CSR (m * n, n)."""
    if stack.is_sparse:
        return stack.flat
    return stack.dense.reshape(-1, stack.n_vertices)


def with_diagonal(stack: GraphStack, diagonal: str) -> GraphStack:
    """Return the graphs as they are ("observed"), or with a diagonal of row means ("filled").

    The mean is that of the n - 1 other entries of a row: degree / (n - 1).
    """
    if diagonal == "observed":
        return stack
    m, n, _ = stack.shape
    old = stack.diagonals()
    if not stack.is_sparse:
        A = stack.dense.copy()
        np.einsum("iss->is", A)[...] = (A.sum(axis=2) - old) / max(n - 1, 1)
        return GraphStack(A, copy=False)
    sums = np.asarray(stack.flat.sum(axis=1)).reshape(m, n)
    change = ((sums - old) / max(n - 1, 1) - old).ravel()
    extra = sparse.csr_array((change, np.tile(np.arange(n), m), np.arange(m * n + 1)), (m * n, n))
    return GraphStack.from_flat(sparse.csr_array(stack.flat + extra), m)


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise an error for a setting that is not one of those allowed."""
    kind = bool | np.bool_ if isinstance(allowed[0], bool) else str
    if not isinstance(value, kind) or value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise InputError(f"{name} must be one of {listed}, got {name}={value!r}")


def check_dimension(d: Any, most: int, what: str) -> None:
    """Raise an error for a number of components that is not within 1, ..., most."""
    check_count("n_components", d)
    if d > most:
        raise InputError(f"n_components={d} is more than {most}, {what}; ask for fewer")
