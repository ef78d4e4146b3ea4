"""What graphs of many files need to be one stack: one vertex set, one direction, known weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import ReadError
from eigengraphs.io.file_graph import EdgeGraph, FileGraph, Matrix, Notice, few
from eigengraphs.io.text_files import natural
from eigengraphs.stack.build import VertexRule, refuse_absent
from eigengraphs.stack.mask import MissingRule
from eigengraphs.stack.names import spelling

__all__ = [
    "DirectedRule", "Sides", "Step", "VerticesRule", "canonical", "common_vertices",
    "compare_sides", "direction_steps", "do_step", "refuse_shifted", "refuse_unknown",
    "weights_of", "widened", "without_bad_diagonal",
]  # fmt: skip

DirectedRule: TypeAlias = Literal["auto"] | bool
VerticesRule: TypeAlias = Literal["auto", "union", "intersection", "strict"]
Step: TypeAlias = Literal["", "mirror", "average", "zero empty half"]

# What a program that prints a symmetric matrix in single precision leaves, of the largest weight.
_ROUNDING = 1e-6
# What a stack takes for symmetric by itself, of the larger of the two.
_SAME = 1e-9


# ---------------------------------------------------------------------- weights


def weights_of(graph: FileGraph, path: Path, notices: list[Notice]) -> Matrix:
    """Return the weights (n, n) as the file has them; those of repeated edges are added."""
    if not isinstance(graph, EdgeGraph):
        return graph.matrix
    n = len(graph.names)
    keys = graph.source * n + graph.target
    if len(np.unique(keys)) < len(keys):
        notices.append(Notice.of("repeated", path))
    parts = (graph.weight, (graph.source, graph.target))
    return canonical(sparse.csr_array(sparse.coo_array(parts, shape=(n, n))))


def canonical(matrix: Matrix) -> Matrix:
    """Return numbers as a stack wants them: sparse ones without duplicates and zeros."""
    if isinstance(matrix, np.ndarray):
        return matrix
    if not matrix.has_canonical_format or np.any(matrix.data == 0):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def without_bad_diagonal(
    matrix: Matrix, path: Path, missing: MissingRule, notices: list[Notice]
) -> Matrix:
    """Leave out a diagonal that is nan or infinite throughout, as Fisher's z of ones is."""
    if not isinstance(matrix, np.ndarray) or matrix.dtype.kind != "f" or len(matrix) < 2:
        return matrix
    diagonal = matrix.diagonal()
    if np.isfinite(diagonal).any() or (missing == "unobserved" and np.isnan(diagonal).all()):
        return matrix
    if not np.isfinite(matrix).any():
        return matrix
    changed = matrix.copy()
    np.fill_diagonal(changed, 0 if missing == "error" else np.nan)
    notices.append(Notice.of("diagonal", path))
    return changed


def refuse_unknown(
    matrices: Sequence[Matrix], names: Sequence[tuple[str, ...] | None], paths: Sequence[Path]
) -> None:
    """Say which file has nan or infinity, and at which vertex."""
    values = (A if isinstance(A, np.ndarray) else A.data for A in matrices)
    bad = [i for i, known in enumerate(values) if not np.isfinite(known).all()]
    if not bad:
        return
    i = bad[0]
    entries = sparse.coo_array(matrices[i])
    wrong = ~np.isfinite(entries.data)
    s, t = (coords[wrong] for coords in entries.coords)
    n = matrices[i].shape[0]
    labels = [f"vertex {name!r}" for name in names[i] or range(1, n + 1)]
    counts = np.bincount(s, minlength=n)
    rows = np.flatnonzero(counts >= n - 1)
    value = entries.data[wrong][0]
    if 0 < rows.size < n:
        where = f"has {value} in the whole row of {few([labels[v] for v in rows])}"
    else:
        where = f"has {value} from {labels[s[0]]} to {labels[t[0]]}"
        where += f" and in {len(s) - 1} more entries" if len(s) > 1 else ""
    more = f"; {len(bad)} of {len(paths)} files have such entries" if len(bad) > 1 else ""
    raise ReadError(
        f"{paths[i]} {where}{more}. Weights must be numbers: pass missing='unobserved' to treat "
        "nan as unobserved, or leave the file or the vertex out"
        if np.isnan(value)
        else f"{paths[i]} {where}{more}. Weights must be finite: correct the file, or leave it out"
    )


# ---------------------------------------------------------------------- direction


@dataclass(frozen=True)
class Sides:
    """How the two sides of a graph compare."""

    kind: Literal["symmetric", "rounding", "half", "directed"]
    mixed: bool = False  # half, with some pairs on one side and some on the other
    example: tuple[str, str] = ("", "")  # names of two vertices whose weights differ
    weights: tuple[float, float] = (0.0, 0.0)  # from the first to the second, and back


def compare_sides(A: Matrix, names: tuple[str, ...] | None) -> Sides:
    """Tell how the two sides of a matrix (n, n) compare."""
    side = _compare_dense(A) if isinstance(A, np.ndarray) else _compare_sparse(A)
    if isinstance(side, Sides):
        return side
    s, t = side
    shown = (names[s], names[t]) if names is not None else (str(s + 1), str(t + 1))
    return Sides("directed", example=shown, weights=(float(A[s, t]), float(A[t, s])))


def _compare_sparse(A: sparse.csr_array) -> Sides | tuple[int, int]:
    upper, lower = sparse.triu(A, 1, format="csr"), sparse.tril(A, -1, format="csr")
    if not upper.nnz or not lower.nnz:
        return Sides("half" if upper.nnz or lower.nnz else "symmetric")
    mirror = sparse.csr_array(lower.T)
    if not abs(upper).astype(bool).multiply(abs(mirror).astype(bool)).nnz:
        return Sides("half", mixed=True)
    gap = sparse.coo_array(upper - mirror)
    size = np.abs(np.nan_to_num(gap.data))
    larger: Any = abs(upper).maximum(abs(mirror))
    pairs = np.asarray(larger[gap.coords]).ravel()
    if (size <= _SAME * np.nan_to_num(pairs)).all():
        return Sides("symmetric")
    worst = int(size.argmax())
    if size[worst] <= _ROUNDING * float(np.nanmax(np.abs(A.data))):
        return Sides("rounding")
    return int(gap.coords[0][worst]), int(gap.coords[1][worst])


def _compare_dense(A: NDArray[Any]) -> Sides | tuple[int, int]:
    real = A.dtype.kind == "f"
    if np.array_equal(A, A.T, equal_nan=real):
        return Sides("symmetric")
    filled = _known(A)
    upper, lower = np.triu(filled, 1).any(), np.tril(filled, -1).any()
    if not upper or not lower:
        return Sides("half" if upper or lower else "symmetric")
    known = np.isfinite(A) & np.isfinite(A.T)
    gap = np.where(known, np.abs(filled.astype(np.float64) - filled.T), 0)
    size = np.abs(filled)
    if (gap <= _SAME * np.maximum(size, size.T)).all():
        return Sides("symmetric")
    s, t = divmod(int(gap.argmax()), len(A))
    return Sides("rounding") if gap[s, t] <= _ROUNDING * float(size.max()) else (s, t)


def _known(A: NDArray[Any]) -> NDArray[Any]:
    return np.nan_to_num(A, nan=0.0, posinf=0.0, neginf=0.0) if A.dtype.kind == "f" else A


def direction_steps(
    graphs: Sequence[FileGraph],
    paths: Sequence[Path],
    sides: Sequence[Sides],
    directed: DirectedRule,
    of_graphs: Sequence[list[Notice]],
) -> tuple[list[Step], bool]:
    """Return what is to be done to each graph, and whether direction is kept; add notices.

    With "auto", graphs have a direction if the file of one says so, or if in one of them the two
    sides differ and neither is empty. Else, half of a graph stands for both sides.
    """
    telling = [
        graph.directed is None and side.kind == "directed"
        for graph, side in zip(graphs, sides, strict=True)
    ]
    keep = directed is True or (
        directed == "auto" and (any(telling) or any(graph.directed for graph in graphs))
    )
    steps = list[Step]()
    for graph, path, side, tells, told in zip(
        graphs, paths, sides, telling, of_graphs, strict=True
    ):
        (one, other), (there, back) = side.example, side.weights
        if side.kind == "directed" and directed is False:
            raise ReadError(
                f"{path}: the weight from {one!r} to {other!r} is {there:g} and back it is "
                f"{back:g}, but directed=False was asked for; leave directed='auto', and make the "
                "graphs symmetric with .symmetrize() if that is intended"
            )
        if tells and directed == "auto" and not all(telling):
            # One file decides for all: seldom intended, and nothing else would show it.
            example = f" (vertex {one} to {other}: {there:g}, back: {back:g})"
            told.append(Notice.of("direction", path, example))
        undirected = graph.directed is False or not keep
        step: Step = ""
        if side.kind == "half" and undirected:
            step = "mirror"
            told.append(_half_notice(graph, path, side, directed))
        elif side.kind == "half":
            step = "zero empty half"
            if directed is not True and graph.directed is None:
                told.append(Notice.of("triangle kept", path))
        elif side.kind == "rounding" and undirected:
            step = "average"
            told.append(Notice.of("rounding", path))
        steps.append(step)
    return steps, keep


def _half_notice(graph: FileGraph, path: Path, side: Sides, directed: DirectedRule) -> Notice:
    if not isinstance(graph, EdgeGraph):
        return Notice.of("triangle", path)
    # Where the file or the user says that graphs are undirected, nothing is in doubt.
    loud = side.mixed and graph.directed is None and directed == "auto"
    return Notice.of("one way" if loud else "pairs once", path)


def do_step(A: Matrix, step: Step) -> Matrix:
    """Return the weights (n, n) after what `direction_steps` found is to be done to a graph."""
    if step == "mirror":
        return _mirrored(A)
    if step == "average":
        return (A + A.T) / 2 if isinstance(A, np.ndarray) else sparse.csr_array((A + A.T) * 0.5)
    if step == "zero empty half" and isinstance(A, np.ndarray) and A.dtype.kind == "f":
        A = A.copy()
        for side in (np.triu_indices(len(A), 1), np.tril_indices(len(A), -1)):
            if np.isnan(A[side]).all():
                A[side] = 0
    return A


def _mirrored(A: Matrix) -> Matrix:
    """Put the known side of every pair on the other."""
    if isinstance(A, np.ndarray):
        half = np.triu(A) if np.triu(_known(A), 1).any() else np.tril(A).T
        return half + np.triu(half, 1).T
    entries = sparse.coo_array(A)
    s, t = (coords.astype(np.int64) for coords in entries.coords)
    n = A.shape[0]
    alone = (s != t) & ~np.isin(t * n + s, s * n + t)
    weight = np.r_[entries.data, entries.data[alone]]
    ends = (np.r_[s, t[alone]], np.r_[t, s[alone]])
    return sparse.csr_array(sparse.coo_array((weight, ends), shape=(n, n)))


# ---------------------------------------------------------------------- vertices


def common_vertices(
    graphs: Sequence[FileGraph],
    paths: Sequence[Path],
    vertices: VerticesRule,
    missing: MissingRule,
    of_graphs: Sequence[list[Notice]],
    of_all: list[Notice],
    known: tuple[str, ...] | None = None,
) -> tuple[VertexRule, tuple[str, ...] | None]:
    """Return the rule for the stack and the vertices in their order; None for those of the rule.

    Parameters
    ----------
    known
        Vertices of a store that graphs are added to: edge lists among them are put on them.
    """
    named = [graph.names for graph in graphs if graph.names is not None]
    if len(named) < len(graphs):
        _same_sizes(graphs, paths)
        if vertices in ("union", "intersection"):
            bare = next(i for i, graph in enumerate(graphs) if graph.names is None)
            raise ReadError(
                f"vertices={vertices!r} goes by names, and {paths[bare]} has none; give them with "
                "labels=, or leave vertices='auto'"
            )
        return "same", None
    every = tuple(dict.fromkeys(name for own in dict.fromkeys(named) for name in own))
    if not every:
        raise ReadError(f"{paths[0]} has no edges, and so no vertices: leave it out")
    free = [isinstance(graph, EdgeGraph) and not graph.declared for graph in graphs]
    lists = all(free)
    doubt = refuse_shifted(named, paths) if lists and vertices != "union" else ""
    if lists and known is not None and vertices in ("auto", "union") and set(known) >= set(every):
        return "union", known
    order = tuple(sorted(every, key=natural)) if lists else every
    if all(len(own) == len(every) for own in named):
        for own, graph, path, told in zip(named, graphs, paths, of_graphs, strict=True):
            if own != order and not isinstance(graph, EdgeGraph):
                told.append(Notice.of("order", path))
        return "same", order
    if vertices == "intersection":
        return "intersection", None
    if vertices == "strict" or (vertices == "auto" and not lists):
        _refuse_names(named, graphs, paths)
    doubt += spelling(every, every)
    lacking = [i for i, own in enumerate(named) if len(own) < len(every)]
    matrices = [i for i in lacking if not isinstance(graphs[i], EdgeGraph)]
    if matrices and missing != "unobserved":
        refuse_absent(str(paths[matrices[0]]), named[matrices[0]], every)
    hidden = {i for i in lacking if missing == "unobserved" and not free[i]}
    for some, fate in (
        (sorted(hidden), "is not known there: its entries are hidden"),
        ([i for i in lacking if i not in hidden], "has no edges there"),
    ):
        if some:
            sizes = sorted({len(named[i]) for i in some})
            span = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
            text = f"{len(some)} of {len(graphs)} graphs {'names' if len(some) == 1 else 'name'} "
            text += f"only some of the {len(every)} vertices ({span} of them); a vertex that a "
            of_all.append(Notice("union", f"{text}graph does not name {fate}{doubt}"))
    return "union", order


def widened(
    matrix: Matrix, graph: FileGraph, rule: VertexRule, order: tuple[str, ...] | None
) -> tuple[Matrix, tuple[str, ...] | None]:
    """Return weights and names of a graph; of a list of edges in a union, on all vertices.

    In a list of edges, a vertex that is not named is there and has no edges.
    """
    loose = isinstance(graph, EdgeGraph) and not graph.declared
    if rule != "union" or order is None or not loose or graph.names == order:
        return matrix, graph.names
    place = {name: s for s, name in enumerate(order)}
    move = np.array([place[name] for name in graph.names or ()], dtype=np.intp)
    entries = sparse.coo_array(matrix)
    ends = tuple(move[coords] for coords in entries.coords)
    size = (len(order), len(order))
    return sparse.csr_array(sparse.coo_array((entries.data, ends), shape=size)), order


def refuse_shifted(
    names: Sequence[tuple[str, ...]],
    where: Sequence[object],
    remedy: str = "name them in a table with a column 'index' (labels=), or pass vertices='union'",
) -> str:
    """Refuse edge lists of which some number the vertices from 0 and others from 1.

    So it looks where no list uses both the first and the last number of all lists. By chance, a
    list lacks one of the two with probability 2 f, where f is the share of the numbers between
    that lists lack; that all do must be rarer than one in a thousand. Where it is not, or where
    many numbers are lacking, the doubt is returned in words.
    """
    ends: dict[tuple[str, ...], tuple[int, int]] = {}
    for own in dict.fromkeys(filter(None, names)):
        if not all(name.isdecimal() and len(name) < 19 for name in own):
            return ""
        numbers = [int(name) for name in own]
        ends[own] = min(numbers), max(numbers)
    if not ends:
        return ""
    low, high = min(a for a, _ in ends.values()), max(b for _, b in ends.values())
    below = [i for i, own in enumerate(names) if own and ends[own][0] == low]
    above = [i for i, own in enumerate(names) if own and ends[own][1] == high]
    reach = max(ends[names[i]][1] for i in below), min(ends[names[i]][0] for i in above)
    if reach != (high - 1, low + 1):
        return ""
    m = sum(map(bool, names))
    cells = m * (high - low - 1)
    lacking = cells - sum(map(len, names)) + len(below) + len(above)
    f = (lacking + 1) / (cells + 2)
    seems = f"no file uses both {low} and {high}: some seem to be numbered from {low}, others from "
    seems += str(low + 1)
    if f >= 0.1 or (2 * f) ** m >= 1e-3:
        return f"; {seems}?"
    groups = [(below, f"{low} to {high - 1}"), (above, f"{low + 1} to {high}")]
    (odd, here), (usual, there) = sorted(groups, key=lambda group: len(group[0]))
    more = f" and {len(odd) - 1} more number their" if len(odd) > 1 else " numbers its"
    raise ReadError(
        f"{where[odd[0]]}{more} vertices {here}, and {len(usual)} of {m} graphs {there}; "
        f"{seems}. Number all in one way. If these are {high - low + 1} different vertices, "
        f"{remedy}"
    )


def _same_sizes(graphs: Sequence[FileGraph], paths: Sequence[Path]) -> None:
    sizes = [graph.n_vertices for graph in graphs]
    usual, count = Counter(sizes).most_common(1)[0]
    odd = [f"{path} has {n}" for path, n in zip(paths, sizes, strict=True) if n != usual]
    if odd:
        raise ReadError(
            f"{count} of {len(sizes)} graphs have {usual} vertices, but {few(odd)}; without names "
            "of vertices they cannot be aligned: leave those files out, write them again on the "
            "same vertices, or use files that name their vertices"
        )


def _refuse_names(
    named: Sequence[tuple[str, ...]], graphs: Iterable[FileGraph], paths: Sequence[Path]
) -> None:
    sets = [frozenset(own) for own in named]
    usual, count = Counter(sets).most_common(1)[0]
    odd = [i for i, own in enumerate(sets) if own != usual]
    i = odd[0]
    lacks = [name for name in named[sets.index(usual)] if name not in sets[i]]
    has = [name for name in named[i] if name not in usual]
    parts = [f"it lacks {few([repr(name) for name in lacks], 6)}"] * bool(lacks)
    parts += [f"only it has {few([repr(name) for name in has], 6)}"] * bool(has)
    more = f" ({len(odd) - 1} more files differ, too)" if len(odd) > 1 else ""
    matrices = not all(isinstance(graph, EdgeGraph) for graph in graphs)
    hidden = " and missing='unobserved'" if matrices else ""
    raise ReadError(
        f"{paths[i]} has {len(sets[i])} vertices whose names differ from those of {count} of "
        f"{len(sets)} graphs, such as {paths[sets.index(usual)].name}, which have {len(usual)}: "
        f"{'; '.join(parts)}{spelling(lacks, has)}{more}. Correct the names, or pass "
        "vertices='intersection' for the vertices that all have, or "
        f"vertices='union'{hidden} for all"
    )
