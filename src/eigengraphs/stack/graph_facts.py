"""What is known of each graph of a stack: found in one read, then sliced along with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from eigengraphs.stack.flat_matrix import THREADS_PAY_FROM
from eigengraphs.system.parallel import announce_compiling, on_blocks, spans

if TYPE_CHECKING:
    from eigengraphs.stack.mask import Mask

__all__ = ["GraphFacts", "about_observed", "broken_entry", "find_facts", "flat_diagonals"]

announce_compiling()

_TILE = 64  # rows and columns of a tile, which with its mirror image fits in the first cache level
_NOTHING = 1e-5  # of the largest entry: squares of 1e-10, which no product in float32 keeps
_FEW = 0.1  # of a graph's entries may be broken; more of them are a unit
_SAME = 1e-9  # of the larger of two entries: a difference that is rounding


@dataclass(frozen=True)
class GraphFacts:
    """Facts of m graphs, each an array (m,); of their observed entries where some are hidden."""

    norm: NDArray[np.float64]  # Frobenius norm
    off_norm: NDArray[np.float64]  # the same off the diagonal
    n_nonzero: NDArray[np.int64]  # diagonal included
    n_loops: NDArray[np.int64]
    diagonal_low: NDArray[np.float64]
    diagonal_high: NDArray[np.float64]
    is_binary: NDArray[np.bool_]
    is_symmetric: NDArray[np.bool_]  # up to rounding
    first_bad: NDArray[np.int64]  # s * n + t of an entry that is not finite, or -1

    @property
    def constant_diagonal(self) -> float | None:
        """The one value of all diagonal entries of all graphs, up to rounding, or None.

        0 where none of them is observed: then graphs say nothing of loops, as hollow ones.
        """
        low, high = float(self.diagonal_low.min()), float(self.diagonal_high.max())
        if low > high:
            return 0.0
        same = high - low <= 1e-6 * max(abs(low), abs(high))
        return (low + high) / 2 if same else None

    def take(self, which: Any) -> GraphFacts:
        """Return the facts of some of the graphs."""
        return GraphFacts(*(getattr(self, field.name)[which] for field in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[GraphFacts]) -> GraphFacts:
        """Return the facts of the graphs of several stacks, one behind the other."""
        return cls(
            *(
                np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            )
        )


def about_observed(facts: GraphFacts, diagonals: NDArray[np.float64], mask: Mask) -> GraphFacts:
    """Return the facts of graphs with zeros for hidden entries, without what these zeros say.

    Parameters
    ----------
    facts
        As :func:`find_facts` finds them.
    diagonals : (m, n)
        Diagonals of the graphs.
    mask
        What is hidden. A graph that hides an entry and not its mirror image has a direction.
    """
    seen = mask.diagonal
    return replace(
        facts,
        diagonal_low=np.where(seen, diagonals, np.inf).min(axis=1),
        diagonal_high=np.where(seen, diagonals, -np.inf).max(axis=1),
        is_symmetric=facts.is_symmetric & mask.is_symmetric,
    )


def find_facts(storage: NDArray[Any] | csr_array) -> GraphFacts:
    """Read a dense (m, n, n) or a flat sparse (m * n, n) stack once, on threads over graphs."""
    n = int(storage.shape[-1])
    if isinstance(storage, np.ndarray):
        m, size = len(storage), storage.size
    else:
        m, size = storage.shape[0] // n, int(storage.nnz)
    found = np.zeros(m, dtype=_FOUND)
    threads = None if size >= THREADS_PAY_FROM else 1
    step = -(-THREADS_PAY_FROM // 8 * m // max(size, 1))
    on_blocks(lambda lo, hi: _scan(storage, lo, found[lo:hi]), spans(m, step), threads=threads)

    norm = np.sqrt(found["off_squares"] + found["diagonal_squares"])
    off_norm = np.sqrt(found["off_squares"])
    first_bad = np.full(m, -1)
    in_range = np.isfinite(norm) & ((norm > 1e-140) | (found["n_nonzero"] == 0))
    for i in np.flatnonzero(~in_range).tolist():
        first_bad[i] = _first_bad(storage, i)
        if first_bad[i] < 0:
            norm[i], off_norm[i] = _norms_in_range(storage, i)
    rest = ("n_nonzero", "n_loops", "diagonal_low", "diagonal_high", "is_binary", "is_symmetric")
    others: dict[str, Any] = {name: found[name].copy() for name in rest}
    return GraphFacts(norm=norm, off_norm=off_norm, first_bad=first_bad, **others)


def broken_entry(
    graph: Callable[[int], Any], facts: GraphFacts
) -> tuple[int, int, int, float] | None:
    """Return graph, vertices and value (i, s, t, A_st) of a broken entry, or None.

    All others are negligible beside it: their squares together are less than 1e-10 of its own,
    except for a few entries that are as large. ``graph(i)`` is a graph, dense or sparse.
    """
    norms = facts.norm
    first = int(np.argmax(norms))
    if not 0 < norms[first] < np.inf:
        return None
    A = graph(first)
    entries = A if isinstance(A, np.ndarray) else A.data
    most = max(float(entries.max()), -float(entries.min()))
    large = norms > _NOTHING * most
    rest = float(((norms[~large] / most) ** 2).sum())
    n_rest = int(facts.n_nonzero.sum())
    for i in np.flatnonzero(large)[np.argsort(-norms[large], kind="stable")]:
        one = graph(int(i))
        values = one.reshape(-1) if isinstance(one, np.ndarray) else one.data
        small, n_large = _small_squares(values, most)
        rest += small
        n_rest -= n_large
        if rest > _NOTHING**2 or n_large > max(2, _FEW * facts.n_nonzero[i]):
            return None  # nearly always at the first graph
    if n_rest == 0:
        return None
    at = int(np.abs(entries).argmax())
    if isinstance(A, np.ndarray):
        s, t = divmod(at, A.shape[0])
    else:
        s, t = int(np.searchsorted(A.indptr, at, side="right")) - 1, int(A.indices[at])
    return first, s, t, float(A[s, t])


# What the kernels find of a graph.
_FOUND = np.dtype(
    [
        ("off_squares", np.float64),  # sum of squares off the diagonal
        ("diagonal_squares", np.float64),
        ("diagonal_low", np.float64),
        ("diagonal_high", np.float64),
        ("n_nonzero", np.int64),
        ("n_loops", np.int64),
        ("is_binary", np.bool_),
        ("is_symmetric", np.bool_),
    ]
)


def _scan(storage: NDArray[Any] | csr_array, first: int, out: NDArray[Any]) -> None:
    """Fill ``out`` (b,), of ``_FOUND``, for graphs from ``first`` on."""
    eps = float(np.finfo(storage.dtype).eps)
    if isinstance(storage, np.ndarray):
        _scan_dense(np.ascontiguousarray(storage[first : first + len(out)]), eps, out)
    else:
        n = int(storage.shape[1])
        _scan_flat(storage.data, storage.indices, storage.indptr, n, first, eps, out)


def _first_bad(storage: NDArray[Any] | csr_array, i: int) -> int:
    """Return s * n + t of the first entry of graph ``i`` that is not finite, or -1."""
    n = int(storage.shape[-1])
    if isinstance(storage, np.ndarray):
        bad = np.flatnonzero(~np.isfinite(storage[i]))
        return int(bad[0]) if bad.size else -1
    first, last = storage.indptr[[i * n, (i + 1) * n]]
    bad = first + np.flatnonzero(~np.isfinite(storage.data[first:last]))
    if bad.size == 0:
        return -1
    row = int(np.searchsorted(storage.indptr, bad[0], side="right")) - 1
    return (row - i * n) * n + int(storage.indices[bad[0]])


def _norms_in_range(storage: NDArray[Any] | csr_array, i: int) -> tuple[float, float]:
    """Return norm and off_norm of a graph whose squares leave the range of a float64.

    By a power of two and by the same scan, so that the unit of weights changes no digit.
    """
    n, found = int(storage.shape[-1]), np.zeros(1, dtype=_FOUND)
    if isinstance(storage, np.ndarray):
        exponent = int(np.frexp(np.abs(storage[i]).max())[1])
        _scan(np.ldexp(storage[i : i + 1], -exponent), 0, found)
    else:
        rows = storage[i * n : (i + 1) * n]
        exponent = int(np.frexp(np.abs(rows.data).max())[1])
        rows.data = np.ldexp(rows.data, -exponent)  # of a copy
        _scan(rows, 0, found)
    off, on = float(found["off_squares"][0]), float(found["diagonal_squares"][0])
    return float(np.ldexp(np.sqrt(off + on), exponent)), float(np.ldexp(np.sqrt(off), exponent))


# ---------------------------------------------------------------------- kernels
#
# Sums are taken in an order that depends on the graph alone. Entries that are not finite show in
# the sum of squares; what else is found of such a graph means nothing.


@njit(cache=True, nogil=True)
def _scan_dense(A: NDArray[Any], eps: float, out: NDArray[Any]) -> None:
    """Fill ``out`` (m,) with what is found of each graph of ``A`` (m, n, n)."""
    m, n, _ = A.shape
    entries = A.reshape(m, n * n)  # rows of small graphs are too short to be fast
    diagonal = np.empty(n)
    for i in range(m):
        squares, n_nonzero, n_other, is_symmetric = 0.0, 0, 0, True
        for s0 in range(0, n, _TILE):
            s1 = min(n, s0 + _TILE)
            more_squares, more_nonzero, more_other = _count(entries[i, s0 * n : s1 * n])
            squares += more_squares
            n_nonzero += more_nonzero
            n_other += more_other
            is_symmetric = is_symmetric and _rows_are_mirrored(A[i], s0, s1)
        if not is_symmetric:
            is_symmetric = _is_nearly_symmetric(A[i], eps)
        for s in range(n):
            diagonal[s] = A[i, s, s]
        off_squares = squares - _put_diagonal(diagonal, out[i])
        if 2 * off_squares < squares:  # a large diagonal takes the digits of the rest along
            off_squares = 0.0
            for s in range(n):
                off_squares += _squares(A[i, s, :s]) + _squares(A[i, s, s + 1 :])
        _put(off_squares, n_nonzero, n_other, is_symmetric, out[i])


@njit(cache=True, nogil=True)
def _scan_flat(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n: int,
    first: int,
    eps: float,
    out: NDArray[Any],
) -> None:
    """Fill ``out`` (b,) with what is found of graphs ``first`` to ``first + b`` of a flat matrix.

    ``data``, ``indices`` and ``indptr`` are those of a CSR matrix (m * n, n) in canonical form.
    """
    cursor, diagonal = np.empty(n, dtype=indptr.dtype), np.empty(n)
    for i in range(out.shape[0]):
        rows = indptr[(first + i) * n : (first + i + 1) * n + 1]
        squares, n_nonzero, n_other = _count(data[rows[0] : rows[n]])
        is_symmetric = _flat_is_mirrored(data, indices, rows, n_other > 0, cursor, diagonal)
        if not is_symmetric:
            is_symmetric = _flat_is_nearly_symmetric(data, indices, rows, eps)
            for s in range(n):
                diagonal[s] = _entry(data, indices, rows[s], rows[s + 1], s)
        off_squares = squares - _put_diagonal(diagonal, out[i])
        if 2 * off_squares < squares:
            off_squares = 0.0
            for s in range(n):
                for e in range(rows[s], rows[s + 1]):
                    off_squares += 0.0 if indices[e] == s else np.float64(data[e]) ** 2
        _put(off_squares, n_nonzero, n_other, is_symmetric, out[i])


@njit(cache=True, nogil=True)
def _put_diagonal(diagonal: NDArray[np.float64], found: Any) -> float:
    """Put down what is found of the diagonal (n,), and return its sum of squares."""
    squares, n_loops, low, high = 0.0, 0, np.inf, -np.inf
    for x in diagonal:
        squares += x * x
        n_loops += x != 0.0
        low, high = min(low, x), max(high, x)
    found["diagonal_squares"], found["n_loops"] = squares, n_loops
    found["diagonal_low"], found["diagonal_high"] = low, high
    return squares


@njit(cache=True, nogil=True)
def _put(off_squares: float, n_nonzero: int, n_other: int, is_symmetric: bool, found: Any) -> None:
    """Put down the rest of what is found of a graph."""
    found["off_squares"], found["n_nonzero"] = off_squares, n_nonzero
    found["is_binary"], found["is_symmetric"] = n_other == 0, is_symmetric


@njit(cache=True, nogil=True)
def _small_squares(values: NDArray[Any], most: float) -> tuple[float, int]:
    """Return the sum of squared shares of ``most`` that are nothing, and how many are more."""
    total, n_large = 0.0, 0
    for j in range(values.shape[0]):
        share = abs(np.float64(values[j])) / most
        if share < _NOTHING:
            total += share * share
        else:
            n_large += 1
    return total, n_large


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _count(values: NDArray[Any]) -> tuple[float, int, int]:
    """Return the sum of squares, the number of nonzeros, and of those that are not 1."""
    squares, n_nonzero, n_other = 0.0, 0, 0
    for j in range(values.shape[0]):  # an iterator would keep vector instructions away
        x = values[j]
        squares += np.float64(x) * np.float64(x)
        n_nonzero += x != 0
        n_other += x * x != x
    return squares, n_nonzero, n_other


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _squares(values: NDArray[Any]) -> float:
    """Return the sum of squares."""
    total = 0.0
    for j in range(values.shape[0]):
        total += np.float64(values[j]) * np.float64(values[j])
    return total


@njit(cache=True, nogil=True)
def _rows_are_mirrored(A: NDArray[Any], s0: int, s1: int) -> bool:
    """Tell whether A_st = A_ts for all s0 <= s < s1 and t < s, tile by tile."""
    for t0 in range(0, s1, _TILE):
        for s in range(s0, s1):
            n_other = 0
            for t in range(t0, min(s, t0 + _TILE)):
                n_other += A[s, t] != A[t, s]
            if n_other > 0:
                return False
    return True


@njit(cache=True, nogil=True)
def _flat_is_mirrored(
    data: NDArray[Any],
    indices: NDArray[Any],
    rows: NDArray[Any],
    weighted: bool,
    cursor: NDArray[Any],
    diagonal: NDArray[np.float64],
) -> bool:
    """Tell whether A_st = A_ts for all entries of one graph, rows ``rows`` (n + 1,) of a matrix.

    Rows come in order, so that the mirror images of what lies above the diagonal are met in order,
    too: ``cursor`` (n,) holds the next one of each row. ``diagonal`` (n,) is filled on the way.
    """
    n, end = rows.shape[0] - 1, indices.shape[0]
    cursor[:] = rows[:n]
    diagonal[:] = 0.0
    for s in range(n):
        first, last = cursor[s], rows[s + 1]
        if first > last or (first < last and indices[first] < s):
            return False  # the rows before have more entries, or fewer, than mirror images
        if first < last and indices[first] == s:
            diagonal[s] = data[first]
            first += 1
        n_other = 0
        for e in range(first, last):
            t = indices[e]
            mirror = cursor[t]
            if mirror == end:
                return False
            n_other += indices[mirror] != s
            if weighted:
                n_other += data[mirror] != data[e]
            cursor[t] = mirror + 1
        if n_other > 0:
            return False
    return True


# Rounding, as in a correlation matrix, is not direction; one count among millions is. Both
# functions end at the first entry that is more than rounding.


@njit(cache=True, nogil=True)
def _is_rounding(x: float, y: float, most: float) -> bool:
    """Tell whether two entries differ by no more than ``most``, or a billionth of the larger."""
    return abs(x - y) <= max(most, _SAME * max(abs(x), abs(y)))


@njit(cache=True, nogil=True)
def _is_nearly_symmetric(A: NDArray[Any], eps: float) -> bool:
    """Tell whether A_st = A_ts up to rounding for all entries of one graph (n, n)."""
    n = A.shape[0]
    most = 4 * eps * _largest(A.reshape(-1))
    for s in range(n):
        for t in range(s):
            if not _is_rounding(np.float64(A[s, t]), np.float64(A[t, s]), most):
                return False
    return True


@njit(cache=True, nogil=True)
def _flat_is_nearly_symmetric(
    data: NDArray[Any], indices: NDArray[Any], rows: NDArray[Any], eps: float
) -> bool:
    """Tell the same of one graph, rows ``rows`` (n + 1,) of a flat matrix."""
    n = rows.shape[0] - 1
    most = 4 * eps * _largest(data[rows[0] : rows[n]])
    for s in range(n):
        for e in range(rows[s], rows[s + 1]):
            t = indices[e]
            mirror = _entry(data, indices, rows[t], rows[t + 1], s)
            if not _is_rounding(np.float64(data[e]), mirror, most):
                return False
    return True


@njit(cache=True, nogil=True)
def _largest(values: NDArray[Any]) -> float:
    """Return the largest size of a value."""
    most = 0.0
    for x in values:
        most = max(most, abs(np.float64(x)))
    return most


@njit(cache=True, nogil=True)
def _entry(data: NDArray[Any], indices: NDArray[Any], lo: int, hi: int, t: int) -> float:
    """Return entry ``t`` of the row stored in ``lo:hi``, by bisection."""
    while lo < hi:
        mid = (lo + hi) // 2
        if indices[mid] < t:
            lo = mid + 1
        elif indices[mid] > t:
            hi = mid
        else:
            return float(data[mid])
    return 0.0


@njit(cache=True, nogil=True)
def flat_diagonals(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], out: NDArray[np.float64]
) -> None:
    """Fill ``out`` (m, n) with the diagonals of the graphs of a flat matrix."""
    m, n = out.shape
    for i in range(m):
        for s in range(n):
            row = i * n + s
            out[i, s] = _entry(data, indices, indptr[row], indptr[row + 1], s)
