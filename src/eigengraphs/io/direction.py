"""One direction for all: which graphs are undirected, and what then stands for both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import ReadError
from eigengraphs.io.notices import Notice
from eigengraphs.io.raw import EdgeGraph, RawGraph

__all__ = [
    "DirectedRule", "Matrix", "Sides", "as_it_is", "as_matrices", "compare", "keeps_direction",
    "settled",
]  # fmt: skip

DirectedRule: TypeAlias = Literal["auto"] | bool
Matrix: TypeAlias = "NDArray[Any] | sparse.csr_array"

# What a program that prints a symmetric matrix in single precision leaves, of the largest weight.
_ROUNDING = 1e-6
# What a stack takes for symmetric by itself, of the larger of the two.
_SAME = 1e-9


@dataclass(frozen=True)
class Sides:
    """How the two sides of a graph compare."""

    kind: Literal["symmetric", "rounding", "half", "directed"]
    mixed: bool = False  # half, and now on one side and now on the other
    example: tuple[int, int] = (0, 0)  # of two sides that differ
    weights: tuple[float, float] = (0.0, 0.0)  # there, and back


def as_matrices(
    graphs: Sequence[RawGraph], paths: Sequence[Path], directed: DirectedRule
) -> tuple[list[Matrix], list[tuple[Notice, ...]]]:
    """Return a matrix (n, n) for every graph, on its own vertices, and what was done to it.

    With "auto", graphs have a direction if the file of one says so, or if in one of them the two
    sides differ and neither is empty. Else, half of a graph stands for both sides.
    """
    plain, notices = list[Matrix](), [list[Notice]() for _ in graphs]
    for i, graph in enumerate(graphs):
        plain.append(as_it_is(graph, paths[i], notices[i]))
    sides = [compare(matrix) for matrix in plain]
    said = zip((graph.directed for graph in graphs), sides, strict=True)
    keep = keeps_direction(said, directed)
    for i, notice in few_with_direction(graphs, sides, paths, directed):
        notices[i].append(notice)
    done = [
        settled(graph, path, matrix, side, keep, directed, told)
        for graph, path, matrix, side, told in zip(
            graphs, paths, plain, sides, notices, strict=True
        )
    ]
    return done, [tuple(told) for told in notices]


def keeps_direction(graphs: Iterable[tuple[bool | None, Sides]], directed: DirectedRule) -> bool:
    """Tell whether direction is kept, by what each file says and how the sides of each compare."""
    return directed is True or (
        directed == "auto"
        and any(said or (said is None and side.kind == "directed") for said, side in graphs)
    )


def few_with_direction(
    graphs: Sequence[RawGraph],
    sides: Sequence[Sides],
    paths: Sequence[Path],
    directed: DirectedRule,
) -> list[tuple[int, Notice]]:
    """Return notices of files that decide for all: seldom meant, and nothing else would show it."""
    told = [graph.directed is None and side.kind == "directed"
            for graph, side in zip(graphs, sides, strict=True)]  # fmt: skip
    if directed != "auto" or all(told):
        return []
    found = list[tuple[int, Notice]]()
    for i in np.flatnonzero(told).tolist():
        (s, t), (there, back) = sides[i].example, sides[i].weights
        names = graphs[i].names
        one, other = (str(s + 1), str(t + 1)) if names is None else (names[s], names[t])
        example = f" (vertex {one} to {other}: {there:g}, back: {back:g})"
        found.append((i, Notice.of("direction", paths[i], example)))
    return found


def settled(
    graph: RawGraph,
    path: Path,
    matrix: Matrix,
    side: Sides,
    keep: bool,
    directed: DirectedRule,
    notices: list[Notice],
) -> Matrix:
    """Return one graph's matrix with the direction that all graphs have, and note what was done."""
    undirected = graph.directed is False or not keep
    if side.kind == "directed" and directed is False:
        _refuse_sides(graph, path, matrix, side)
    if side.kind == "half" and undirected:
        matrix = _mirrored(matrix)
        notices.append(_half_notice(graph, path, side, directed))
    elif side.kind == "half" and directed is not True and graph.directed is None:
        notices.append(Notice.of("triangle kept", path))
    elif side.kind == "rounding" and undirected:
        matrix = _mean_of_sides(matrix)
        notices.append(Notice.of("rounding", path))
    if side.kind == "half" and not undirected and isinstance(matrix, np.ndarray):
        matrix = _zero_empty_half(matrix)
    return matrix


def as_it_is(graph: RawGraph, path: Path, notices: list[Notice]) -> Matrix:
    """Return the weights as the file has them."""
    if not isinstance(graph, EdgeGraph):
        return graph.matrix
    n = len(graph.names)
    keys = graph.source * n + graph.target
    if len(np.unique(keys)) < len(keys):
        notices.append(Notice.of("repeated", path))
    parts = (graph.weight, (graph.source, graph.target))
    matrix = sparse.csr_array(sparse.coo_array(parts, shape=(n, n)))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def compare(A: Matrix) -> Sides:
    """Tell how the two sides of a matrix compare."""
    side = _compare_dense(A) if isinstance(A, np.ndarray) else _compare_sparse(A)
    if side.kind != "directed":
        return side
    s, t = side.example
    return replace(side, weights=(float(A[s, t]), float(A[t, s])))


def _compare_sparse(A: sparse.csr_array) -> Sides:
    upper, lower = sparse.triu(A, 1, format="csr"), sparse.tril(A, -1, format="csr")
    if not upper.nnz or not lower.nnz:
        return Sides("half" if upper.nnz or lower.nnz else "symmetric")
    mirror = sparse.csr_array(lower.T)
    shared = abs(upper).astype(bool).multiply(abs(mirror).astype(bool))
    if not shared.nnz:
        return Sides("half", mixed=True)
    gap = sparse.coo_array(upper - mirror)
    size = np.abs(np.nan_to_num(gap.data))
    worst = int(size.argmax()) if size.size else 0
    largest = float(np.nanmax(np.abs(A.data)))
    larger: Any = abs(upper).maximum(abs(mirror))
    pairs = np.asarray(larger[gap.coords]).ravel()
    if (size <= _SAME * np.nan_to_num(pairs)).all():
        return Sides("symmetric")
    if size[worst] <= _ROUNDING * largest:
        return Sides("rounding")
    return Sides("directed", example=(int(gap.coords[0][worst]), int(gap.coords[1][worst])))


def _compare_dense(A: NDArray[Any]) -> Sides:
    real = A.dtype.kind == "f"
    if np.array_equal(A, A.T, equal_nan=real):
        return Sides("symmetric")
    filled = np.nan_to_num(A, nan=0.0, posinf=0.0, neginf=0.0) if real else A
    upper, lower = np.triu(filled, 1), np.tril(filled, -1)
    if not upper.any() or not lower.any():
        return Sides("half" if upper.any() or lower.any() else "symmetric")
    known = np.isfinite(A) & np.isfinite(A.T) if real else np.ones(A.shape, dtype=bool)
    gap = np.where(known, np.abs(filled.astype(np.float64) - filled.T), 0)
    worst = int(gap.argmax())
    largest = float(np.abs(filled).max())
    if (gap <= _SAME * np.maximum(np.abs(filled), np.abs(filled.T))).all():
        return Sides("symmetric")
    if gap.flat[worst] <= _ROUNDING * largest:
        return Sides("rounding")
    s, t = divmod(worst, len(A))
    return Sides("directed", example=(s, t))


def _mirrored(A: Matrix) -> Matrix:
    """Put the known side of every pair on the other."""
    if isinstance(A, np.ndarray):
        filled = np.nan_to_num(A, nan=0.0, posinf=0.0, neginf=0.0) if A.dtype.kind == "f" else A
        half = np.triu(A) if np.triu(filled, 1).any() else np.tril(A).T
        return half + np.triu(half, 1).T
    entries = sparse.coo_array(A)
    s, t = entries.coords
    n = A.shape[0]
    alone = (s != t) & ~np.isin(t.astype(np.int64) * n + s, s.astype(np.int64) * n + t)
    parts = (
        np.r_[entries.data, entries.data[alone]],
        (np.r_[s, t[alone]], np.r_[t, s[alone]]),
    )
    return sparse.csr_array(sparse.coo_array(parts, shape=(n, n)))


def _mean_of_sides(A: Matrix) -> Matrix:
    if isinstance(A, np.ndarray):
        return (A + A.T) / 2
    return sparse.csr_array((A + A.T) * 0.5)


def _zero_empty_half(A: NDArray[Any]) -> NDArray[Any]:
    """Put zeros for nan in a side that holds nothing else."""
    if A.dtype.kind != "f":
        return A
    changed = A.copy()
    for side in (np.triu_indices(len(A), 1), np.tril_indices(len(A), -1)):
        if np.isnan(A[side]).all():
            changed[side] = 0
    return changed


def _half_notice(graph: RawGraph, path: Path, side: Sides, directed: DirectedRule) -> Notice:
    if not isinstance(graph, EdgeGraph):
        return Notice.of("triangle", path)
    # Where the file or the user says that graphs are undirected, there is nothing to wonder at.
    loud = side.mixed and graph.directed is None and directed == "auto"
    return Notice.of("one way" if loud else "pairs once", path)


def _refuse_sides(graph: RawGraph, path: Path, A: Matrix, side: Sides) -> NoReturn:
    s, t = side.example
    names = graph.names or tuple(map(str, range(A.shape[0])))
    raise ReadError(
        f"{path}: the weight from {names[s]!r} to {names[t]!r} is {A[s, t]:g} and back it is "
        f"{A[t, s]:g}, but directed=False was asked for; leave directed='auto', and make the "
        "graphs symmetric with .symmetrize() if that is meant"
    )
