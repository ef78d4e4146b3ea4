"""Combine graphs of many files into one stack: one vertex set, one direction, known weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import ReadError
from eigengraphs.io.file_graph import FileGraph, Matrix, Notice, few
from eigengraphs.io.find_files import SourceFile, entities
from eigengraphs.io.text_files import natural
from eigengraphs.stack.build import VertexRule, moved, refuse_absent
from eigengraphs.stack.flat_matrix import canonical
from eigengraphs.stack.mask import MissingRule
from eigengraphs.stack.names import spelling, unlike_names, unlike_sizes

DirectedRule: TypeAlias = Literal["auto"] | bool
VerticesRule: TypeAlias = Literal["auto", "union", "intersection", "strict"]
Step: TypeAlias = Literal["", "mirror", "average", "zero empty half"]

# What a program that prints a symmetric matrix in single precision leaves, of the largest weight.
_ROUNDING = 1e-6
# What a stack takes for symmetric by itself, of the larger of the two.
_SAME = 1e-9


@dataclass(frozen=True)
class Sides:
    """How the two sides of a graph compare."""

    kind: Literal["symmetric", "rounding", "half", "directed"]
    mixed: bool = False  # half, with some pairs on one side and some on the other
    example: tuple[str, str] = ("", "")  # names of two vertices whose weights differ
    weights: tuple[float, float] = (0.0, 0.0)  # from the first to the second, and back


@dataclass
class Found:
    """One graph of a file, on its way into a stack."""

    file: SourceFile
    sha256: str
    graph: FileGraph  # without its weights, once it was looked at for a store
    name: str = ""
    notices: list[Notice] = field(default_factory=list)
    weights: Any = None  # (n, n)
    side: Sides = Sides("symmetric")
    step: Step = ""  # what is to be done to its weights
    nonzeros: int = 0  # found for stores

    @property
    def path(self) -> Path:
        """The file."""
        return self.file.path

    @property
    def columns(self) -> dict[str, str]:
        """BIDS entities of the path, and what a manifest says."""
        return {**entities(self.path), **self.file.columns}

    def look(self, missing: MissingRule) -> None:
        """Find the weights, and how their two sides compare."""
        self.read_weights(missing)
        self.side = compare_sides(self.weights, self.graph.names)

    def read_weights(self, missing: MissingRule) -> None:
        """Find the weights: those of repeated edges are added.

        A diagonal that is nan or infinite throughout, as Fisher's z of ones is, is left out.
        """
        self.notices = list(self.graph.notices)
        self.weights = weights = self.graph.matrix
        if self.graph.is_list:
            added = sparse.csr_array(weights)
            if added.nnz < weights.nnz:
                self.notices.append(Notice.of("repeated", self.path))
            self.weights = canonical(added)
        elif isinstance(weights, np.ndarray) and weights.dtype.kind == "f" and len(weights) > 1:
            diagonal = weights.diagonal()
            kept = np.isfinite(diagonal).any() or not np.isfinite(weights).any()
            if kept or (missing == "unobserved" and np.isnan(diagonal).all()):
                return
            self.weights = weights.copy()
            np.fill_diagonal(self.weights, 0 if missing == "error" else np.nan)
            self.notices.append(Notice.of("diagonal", self.path))


def refuse_unknown(found: Sequence[Found]) -> None:
    """Say which file has nan or infinity, and at which vertex."""
    values = (one.weights if isinstance(one.weights, np.ndarray) else one.weights.data
              for one in found)  # fmt: skip
    bad = [i for i, known in enumerate(values) if not np.isfinite(known).all()]
    if not bad:
        return
    first = found[bad[0]]
    entries = sparse.coo_array(first.weights)
    wrong = ~np.isfinite(entries.data)
    s, t = (coords[wrong] for coords in entries.coords)
    n = entries.shape[0]
    labels = [f"vertex {name!r}" for name in first.graph.names or range(1, n + 1)]
    rows = np.flatnonzero(np.bincount(s, minlength=n) >= n - 1)
    value = entries.data[wrong][0]
    if 0 < rows.size < n:
        where = f"has {value} in the whole row of {few([labels[v] for v in rows])}"
    else:
        where = f"has {value} from {labels[s[0]]} to {labels[t[0]]}"
        where += f" and in {len(s) - 1} more entries" if len(s) > 1 else ""
    more = f"; {len(bad)} of {len(found)} files have such entries" if len(bad) > 1 else ""
    raise ReadError(
        f"{first.path} {where}{more}. Weights must be numbers: pass missing='unobserved' to treat "
        "nan as unobserved, or leave the file or the vertex out"
        if np.isnan(value)
        else f"{first.path} {where}{more}. Weights must be finite: correct the file, or leave it "
        "out"
    )


# ---------------------------------------------------------------------- direction


def compare_sides(A: Matrix, names: tuple[str, ...] | None) -> Sides:
    """Tell how the two sides of a matrix (n, n) compare; entries that are not known do not count.

    Half of a matrix is one triangle; half of a sparse matrix may also be some pairs on one side
    and some on the other.
    """
    s: Any
    t: Any
    if isinstance(A, np.ndarray):
        if np.array_equal(A, A.T, equal_nan=A.dtype.kind == "f"):
            return Sides("symmetric")
        values = _known(A)
        upper, lower = bool(np.triu(values, 1).any()), bool(np.tril(values, -1).any())
        mixed = False
        s, t = np.nonzero(np.triu((A != A.T) & np.isfinite(A) & np.isfinite(A.T), 1))
    else:
        values = np.nan_to_num(A.data)
        above, mirror = sparse.triu(A, 1, format="csr"), sparse.csr_array(sparse.tril(A, -1).T)
        upper, lower = above.nnz > 0, mirror.nnz > 0
        mixed = not above.astype(bool).multiply(mirror.astype(bool)).nnz
        s, t = sparse.coo_array(above - mirror).coords
    if not (upper and lower):
        return Sides("half" if upper or lower else "symmetric")
    if mixed:
        return Sides("half", mixed=True)
    if not len(s):
        return Sides("symmetric")
    there, back = (np.asarray(A[pair]).ravel().astype(np.float64) for pair in ((s, t), (t, s)))
    gap = np.abs(np.nan_to_num(there - back))
    if (gap <= _SAME * np.nan_to_num(np.maximum(np.abs(there), np.abs(back)))).all():
        return Sides("symmetric")
    k = int(gap.argmax())
    if gap[k] <= _ROUNDING * float(np.abs(values).max()):
        return Sides("rounding")
    one, other = (names[v] if names is not None else str(v + 1) for v in (s[k], t[k]))
    return Sides("directed", example=(one, other), weights=(float(there[k]), float(back[k])))


def _known(A: NDArray[Any]) -> NDArray[Any]:
    return np.nan_to_num(A, nan=0.0, posinf=0.0, neginf=0.0) if A.dtype.kind == "f" else A


def choose_direction(found: Sequence[Found], directed: DirectedRule) -> bool:
    """Find what is to be done to each graph; return whether direction is kept.

    With "auto", graphs have a direction if the file of one says so, or if in one of them the two
    sides differ and neither is empty. Else, half of a graph stands for both sides.
    """
    telling = [one.graph.directed is None and one.side.kind == "directed" for one in found]
    said = any(telling) or any(one.graph.directed for one in found)
    keep = directed is True or (directed == "auto" and said)
    for one, tells in zip(found, telling, strict=True):
        graph, path, side = one.graph, one.path, one.side
        (a, b), (there, back) = side.example, side.weights
        if side.kind == "directed" and directed is False:
            raise ReadError(
                f"{path}: the weight from {a!r} to {b!r} is {there:g} and the reverse {back:g}, "
                "but directed=False was given; leave directed='auto', and make the graphs "
                "symmetric with .symmetrize() if that is intended"
            )
        if tells and directed == "auto" and not all(telling):
            # One file decides for all: seldom intended, and nothing else would show it.
            example = f" (vertex {a} to {b}: {there:g}, reverse: {back:g})"
            one.notices.append(Notice.of("direction", path, example))
        undirected = graph.directed is False or not keep
        kind = ""
        if side.kind == "half" and undirected:
            # Where the file or the user says that graphs are undirected, nothing is in doubt.
            doubt = side.mixed and graph.directed is None and directed == "auto"
            one.step = "mirror"
            kind = "triangle" if not graph.is_list else "one way" if doubt else "pairs once"
        elif side.kind == "half":
            one.step = "zero empty half"
            kind = "triangle kept" if directed is not True and graph.directed is None else ""
        elif side.kind == "rounding" and undirected:
            one.step, kind = "average", "rounding"
        if kind:
            one.notices.append(Notice.of(kind, path))
    return keep


def apply_step(A: Matrix, step: Step) -> Matrix:
    """Return the weights (n, n) after what `choose_direction` found is to be done to a graph."""
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
    return sparse.csr_array(A + sparse.tril(A, -1).T + sparse.triu(A, 1).T)


# ---------------------------------------------------------------------- vertices


def common_vertices(
    found: Sequence[Found],
    vertices: VerticesRule,
    missing: MissingRule,
    of_all: list[Notice],
    known: tuple[str, ...] | None = None,
) -> tuple[VertexRule, tuple[str, ...] | None]:
    """Return the rule for the stack and the vertices in their order; None for those of the rule.

    Parameters
    ----------
    of_all
        Gets notices of what concerns all files.
    known
        Vertices of a store that graphs are added to: edge lists among them are put on them.
    """
    named = [one.graph.names for one in found if one.graph.names is not None]
    if len(named) < len(found):
        _same_sizes(found)
        if vertices in ("union", "intersection"):
            bare = next(one for one in found if one.graph.names is None)
            raise ReadError(
                f"vertices={vertices!r} aligns by name, and {bare.path} names no vertices; name "
                "them with labels=, or leave vertices='auto'"
            )
        return "same", None
    every = tuple(dict.fromkeys(name for own in dict.fromkeys(named) for name in own))
    if not every:
        raise ReadError(f"{found[0].path} has no edges, and so no vertices: leave it out")
    lists = not any(one.graph.names_all for one in found)
    doubt = ""
    if lists and vertices != "union":
        doubt = refuse_shifted(named, [one.path for one in found])
    if lists and known is not None and vertices in ("auto", "union") and set(known) >= set(every):
        return "union", known
    order = tuple(sorted(every, key=natural)) if lists else every
    if all(len(own) == len(every) for own in named):
        for one in found:
            if one.graph.names != order and not one.graph.is_list:
                one.notices.append(Notice.of("order", one.path))
        return "same", order
    if vertices == "intersection":
        common = set.intersection(*map(set, dict.fromkeys(named)))
        if not common:
            raise ReadError("no vertex name is common to all graphs")
        return "intersection", tuple(name for name in named[0] if name in common)
    if vertices == "strict" or (vertices == "auto" and not lists):
        _refuse_names(named, found)
    doubt += spelling(every, every)
    lacking = [one for one in found if one.graph.n_vertices < len(every)]
    for one in lacking:
        if not one.graph.is_list and missing != "unobserved":
            refuse_absent(str(one.path), one.graph.names or (), every)
    hidden = [one for one in lacking if missing == "unobserved" and one.graph.names_all]
    zero = [one for one in lacking if missing != "unobserved" or not one.graph.names_all]
    for some, fate in (
        (hidden, "is unknown there: its entries are hidden"),
        (zero, "has no edges there"),
    ):
        if some:
            sizes = sorted({one.graph.n_vertices for one in some})
            span = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
            text = f"{len(some)} of {len(found)} graphs {'names' if len(some) == 1 else 'name'} "
            text += f"only some of the {len(every)} vertices ({span} of them); a vertex that a "
            of_all.append(Notice("union", f"{text}graph does not name {fate}{doubt}"))
    return "union", order


def widened(
    matrix: Matrix, graph: FileGraph, rule: VertexRule, order: tuple[str, ...] | None
) -> tuple[Matrix, tuple[str, ...] | None]:
    """Return weights and names of a graph; of a list of edges in a union, on all vertices.

    In a list of edges, a vertex that is not named is there and has no edges.
    """
    if rule != "union" or order is None or graph.names_all or graph.names == order:
        return matrix, graph.names
    return sparse.csr_array(moved(matrix, graph.names or (), order)), order


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
        f"{seems}. Use one numbering for all. If these are {high - low + 1} different vertices, "
        f"{remedy}"
    )


def _same_sizes(found: Sequence[Found]) -> None:
    odd = unlike_sizes([one.graph.n_vertices for one in found], [one.path for one in found])
    if odd:
        raise ReadError(
            f"{odd}; without names of vertices they cannot be aligned: leave those files out, "
            "write them again on the same vertices, or use files that name their vertices"
        )


def _refuse_names(named: Sequence[tuple[str, ...]], found: Sequence[Found]) -> None:
    lists = all(one.graph.is_list for one in found)
    hidden = "" if lists else " and missing='unobserved'"
    raise ReadError(
        f"{unlike_names(named, [one.path for one in found])}. Correct the names, or pass "
        "vertices='intersection' for the vertices that all have, or "
        f"vertices='union'{hidden} for all"
    )
