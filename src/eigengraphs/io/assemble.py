"""From the graphs of many files to one stack, with errors that name the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.direction import DirectedRule, Matrix, as_matrices
from eigengraphs.io.naming import natural
from eigengraphs.io.notices import Notice, few
from eigengraphs.io.raw import EdgeGraph, RawGraph
from eigengraphs.stack import GraphStack
from eigengraphs.stack.common_vertices import VertexRule, refuse_absent
from eigengraphs.stack.missing import MissingRule
from eigengraphs.stack.names import spelling
from eigengraphs.stack.one_graph import Piece

__all__ = [
    "Assembled", "VerticesRule", "assemble", "canonical", "naming_files", "on_vertices",
    "refuse_shifted", "refuse_unknown", "vertex_sets", "without_bad_diagonal",
]  # fmt: skip

VerticesRule: TypeAlias = Literal["auto", "union", "intersection", "strict"]


@dataclass(frozen=True)
class Assembled:
    """A stack, what was done to each graph, and what was done to all."""

    stack: GraphStack
    of_graphs: tuple[tuple[Notice, ...], ...]
    of_all: tuple[Notice, ...]


def assemble(
    graphs: Sequence[RawGraph],
    paths: Sequence[Path],
    graph_names: Sequence[str],
    *,
    vertices: VerticesRule,
    directed: DirectedRule,
    missing: MissingRule,
) -> Assembled:
    """Put graphs on one vertex set and into one stack."""
    matrices, said = as_matrices(graphs, paths, directed)
    of_graphs = [list(notices) for notices in said]
    of_all = list[Notice]()
    for i, path in enumerate(paths):
        matrices[i] = without_bad_diagonal(matrices[i], path, missing, of_graphs[i])
    rule, order, names = vertex_sets(graphs, paths, vertices, missing, of_graphs, of_all)
    if missing == "error":
        refuse_unknown(matrices, names, paths)
    pieces = []
    for matrix, own, graph, path in zip(matrices, names, graphs, paths, strict=True):
        if isinstance(graph, EdgeGraph) and own is not None and len(own) > len(graph.names):
            matrix = on_vertices(matrix, graph.names, own)
        sparse_file = not isinstance(graph, EdgeGraph) and not isinstance(graph.matrix, np.ndarray)
        pieces.append(Piece(canonical(matrix), own, sparse_file, str(path)))
    with naming_files(paths):
        stack = GraphStack(
            pieces, graph_names=graph_names, vertex_names=order, vertices=rule, missing=missing
        )
    return Assembled(stack, tuple(map(tuple, of_graphs)), tuple(of_all))


@contextmanager
def naming_files(paths: Sequence[Path]) -> Iterator[None]:
    """Say which files they were where a stack refuses graphs by their places."""
    try:
        yield
    except InputError as error:
        if any(str(path) in str(error) for path in paths):
            raise
        many = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        raise type(error)(f"{paths[0]}{many}: {error}") from error


def vertex_sets(
    graphs: Sequence[RawGraph],
    paths: Sequence[Path],
    vertices: VerticesRule,
    missing: MissingRule | None,
    of_graphs: list[list[Notice]],
    of_all: list[Notice],
) -> tuple[VertexRule, tuple[str, ...] | None, list[tuple[str, ...] | None]]:
    """Return the rule for the stack, the order of the vertices, and every graph's names.

    ``missing`` is None where graphs go into a store, which hides nothing.
    """
    names = [graph.names for graph in graphs]
    named = [own for own in names if own is not None]
    if len(named) < len(names):
        _same_sizes(graphs, paths)
        if vertices in ("union", "intersection"):
            raise ReadError(
                f"vertices={vertices!r} goes by names, and {paths[names.index(None)]} has none; "
                "give them with labels=, or leave vertices='auto'"
            )
        return "same", None, names
    if not any(named):
        raise ReadError(f"{paths[0]} has no edges, and so no vertices: leave it out")
    free = [isinstance(graph, EdgeGraph) and not graph.declared for graph in graphs]
    doubt = refuse_shifted(named, paths) if all(free) and vertices != "union" else ""
    unique = {own: frozenset(own) for own in named}  # most files have the same
    sets = [unique[own] for own in named]
    if len(set(sets)) == 1:
        order = tuple(sorted(named[0], key=natural)) if all(free) else named[0]
        for i, own in enumerate(named):
            if own != order and not isinstance(graphs[i], EdgeGraph):
                of_graphs[i].append(Notice.of("order", paths[i]))
        return "same", order, names
    if vertices == "intersection":
        return "intersection", None, names
    if vertices == "strict" or (vertices == "auto" and not all(free)):
        tables = not all(isinstance(graph, EdgeGraph) for graph in graphs)
        _refuse_names(named, sets, paths, tables and missing is not None)
    every = tuple(dict.fromkeys(name for own in named for name in own))
    order = tuple(sorted(every, key=natural)) if all(free) else every
    lacking = [i for i, own in enumerate(sets) if len(own) < len(every)]
    doubt += spelling(every, every)
    matrices = [i for i in lacking if not isinstance(graphs[i], EdgeGraph)]
    if matrices and missing != "unobserved":
        store = {"way_out": "a store hides nothing: leave the file out"} if missing is None else {}
        refuse_absent(str(paths[matrices[0]]), named[matrices[0]], every, **store)
    hidden = [i for i in lacking if missing == "unobserved" and not free[i]]
    for some, fate in (
        (hidden, "is not known there: its entries are hidden"),
        ([i for i in lacking if i not in set(hidden)], "has no edges there"),
    ):
        if some:
            sizes = sorted({len(sets[i]) for i in some})
            span = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
            name = "names" if len(some) == 1 else "name"
            text = (
                f"{len(some)} of {len(sets)} graphs {name} only some of the {len(every)} vertices "
            )
            text += f"({span} of them); a vertex that a graph does not name {fate}{doubt}"
            of_all.append(Notice("union", text))
    # In a list of edges, a vertex that is not named is there and has no edges.
    wide = [order if loose else own for own, loose in zip(named, free, strict=True)]
    return "union", order, list(wide)


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
    for own in {own: None for own in names if own}:
        if not all(name.isdecimal() and len(name) < 19 for name in own):
            return ""
        numbers = [int(name) for name in own]
        ends[own] = min(numbers), max(numbers)
    if not ends:
        return ""
    low, high = min(a for a, _ in ends.values()), max(b for _, b in ends.values())
    sides: tuple[list[int], list[int]] = (
        [i for i, own in enumerate(names) if own and ends[own][0] == low],
        [i for i, own in enumerate(names) if own and ends[own][1] == high],
    )
    reach = max(ends[names[i]][1] for i in sides[0]), min(ends[names[i]][0] for i in sides[1])
    if reach != (high - 1, low + 1):
        return ""
    m = sum(map(bool, names))
    cells = m * (high - low - 1)
    lacking = cells - sum(map(len, names)) + len(sides[0]) + len(sides[1])
    f = (lacking + 1) / (cells + 2)
    seems = f"no file uses both {low} and {high}: some seem to be numbered from {low}, others from "
    seems += str(low + 1)
    if f >= 0.1 or (2 * f) ** m >= 1e-3:
        return f"; {seems}?"
    said = [(group, f"{a} to {b}") for group, (a, b) in
            zip(sides, ((low, high - 1), (low + 1, high)), strict=True)]  # fmt: skip
    (odd, here), (usual, there) = sorted(said, key=lambda group: len(group[0]))
    more = f" and {len(odd) - 1} more number their" if len(odd) > 1 else " numbers its"
    raise ReadError(
        f"{where[odd[0]]}{more} vertices {here}, and {len(usual)} of {m} graphs {there}; "
        f"{seems}. Number all in one way. If these are {high - low + 1} different vertices, "
        f"{remedy}"
    )


def _same_sizes(graphs: Sequence[RawGraph], paths: Sequence[Path]) -> None:
    sizes = [
        len(graph.names) if isinstance(graph, EdgeGraph) else int(graph.matrix.shape[0])
        for graph in graphs
    ]
    usual, count = Counter(sizes).most_common(1)[0]
    odd = [i for i, size in enumerate(sizes) if size != usual]
    if odd:
        shown = few([f"{paths[i]} has {sizes[i]}" for i in odd])
        raise ReadError(
            f"{count} of {len(sizes)} graphs have {usual} vertices, but {shown}; without names of "
            "vertices they cannot be aligned: leave those files out, write them again on the same "
            "vertices, or use files that name their vertices"
        )


def _refuse_names(
    named: Sequence[tuple[str, ...]],
    sets: Sequence[frozenset[str]],
    paths: Sequence[Path],
    matrices: bool,
) -> None:
    usual, count = Counter(sets).most_common(1)[0]
    odd = [i for i, own in enumerate(sets) if own != usual]
    i = odd[0]
    lacks = [name for name in named[sets.index(usual)] if name not in sets[i]]
    has = [name for name in named[i] if name not in usual]
    parts = [f"it lacks {few([repr(name) for name in lacks], 6)}"] * bool(lacks)
    parts += [f"only it has {few([repr(name) for name in has], 6)}"] * bool(has)
    more = f" ({len(odd) - 1} more files differ, too)" if len(odd) > 1 else ""
    hidden = " and missing='unobserved'" if matrices else ""
    raise ReadError(
        f"{paths[i]} has {len(sets[i])} vertices whose names differ from those of {count} of "
        f"{len(sets)} graphs, such as {paths[sets.index(usual)].name}, which have {len(usual)}: "
        f"{'; '.join(parts)}{spelling(lacks, has)}{more}. Correct the names, or pass "
        "vertices='intersection' for the vertices that all have, or "
        f"vertices='union'{hidden} for all"
    )


def without_bad_diagonal(
    matrix: Matrix, path: Path, missing: MissingRule, notices: list[Notice]
) -> Matrix:
    """Leave out a diagonal that is nan or infinite throughout, as of Fisher's z of ones."""
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
    bad = [i for i, matrix in enumerate(matrices) if not np.isfinite(_values(matrix)).all()]
    if not bad:
        return
    i = bad[0]
    entries = sparse.coo_array(matrices[i])
    wrong = ~np.isfinite(entries.data)
    s, t = (coords[wrong] for coords in entries.coords)
    n = matrices[i].shape[0]
    own = names[i]
    labels = [f"vertex {name!r}" for name in own or ()] or [f"vertex {v + 1}" for v in range(n)]
    counts = np.bincount(s, minlength=n)
    whole = np.flatnonzero(counts >= n - 1)
    value = entries.data[wrong][0]
    if 0 < whole.size < n:
        where = f"has {value} in the whole row of {few([labels[v] for v in whole])}"
    else:
        where = f"has {value} from {labels[s[0]]} to {labels[t[0]]}"
        where += f" and in {len(s) - 1} more entries" if len(s) > 1 else ""
    more = f"; {len(bad)} of {len(paths)} files have such entries" if len(bad) > 1 else ""
    raise ReadError(
        f"{paths[i]} {where}{more}. Weights must be numbers: pass missing='unobserved' and what "
        "is nan takes no part, or leave the file or the vertex out"
        if np.isnan(value)
        else f"{paths[i]} {where}{more}. Weights must be finite: mend the file, or leave it out"
    )


def _values(matrix: Matrix) -> NDArray[Any]:
    return matrix if isinstance(matrix, np.ndarray) else matrix.data


def on_vertices(matrix: Matrix, names: tuple[str, ...], target: tuple[str, ...]) -> Matrix:
    """Put a graph on other vertices: those it does not have get no edges, others are left out."""
    if names == target:
        return matrix
    place = {name: s for s, name in enumerate(target)}
    move = np.array([place.get(name, -1) for name in names], dtype=np.intp)
    there = np.flatnonzero(move >= 0)
    size = (len(target), len(target))
    if isinstance(matrix, np.ndarray):
        out = np.zeros(size, matrix.dtype)
        out[np.ix_(move[there], move[there])] = matrix[np.ix_(there, there)]
        return out
    entries = sparse.coo_array(matrix)
    s, t = (move[coords] for coords in entries.coords)
    kept = (s >= 0) & (t >= 0)
    parts = (entries.data[kept], (s[kept], t[kept]))
    return sparse.csr_array(sparse.coo_array(parts, shape=size))


def canonical(matrix: Matrix) -> Matrix:
    """Return numbers as a stack wants them."""
    if isinstance(matrix, np.ndarray):
        if matrix.dtype.kind not in "biuf":
            raise InputError(f"weights must be real numbers, got {matrix.dtype}")
        return matrix
    matrix = sparse.csr_array(matrix)
    if not matrix.has_canonical_format or np.any(matrix.data == 0):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix
