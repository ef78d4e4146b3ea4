"""What is known of each graph of a stack: found in one read, then sliced along with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from eigengraphs.stack.flat_matrix import THREADS_PAY_FROM
from eigengraphs.system.parallel import announce_compiling, on_blocks, spans

__all__ = ["GraphFacts", "broken_entry", "find_facts"]

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


def find_facts(storage: NDArray[Any] | csr_array) -> GraphFacts:
    """Read a dense (m, n, n) or a flat sparse (m * n, n) stack once, on threads over graphs."""
    n, size = int(storage.shape[-1]), int(storage.size)
    m = len(storage) if isinstance(storage, np.ndarray) else storage.shape[0] // n
    found = np.zeros(m, dtype=_FOUND)
    threads = None if size >= THREADS_PAY_FROM else 1
    step = -(-THREADS_PAY_FROM // 8 * m // max(size, 1))
    on_blocks(lambda lo, hi: _scan(storage, lo, found[lo:hi]), spans(m, step), threads=threads)
    found["first_bad"] = -1
    norm = found["norm"]
    in_range = np.isfinite(norm) & ((norm > 1e-140) | (found["n_nonzero"] == 0))
    for i in np.flatnonzero(~in_range).tolist():
        found["first_bad"][i] = _first_bad(storage, i)
        if found["first_bad"][i] < 0:
            norm[i], found["off_norm"][i] = _norms_in_range(storage, i)
    return GraphFacts(*(found[field.name].copy() for field in fields(GraphFacts)))


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
    entries = _values(A)
    most = max(float(entries.max()), -float(entries.min()))
    large = norms > _NOTHING * most
    rest = float(((norms[~large] / most) ** 2).sum())
    n_rest = int(facts.n_nonzero.sum())
    for i in np.flatnonzero(large)[np.argsort(-norms[large], kind="stable")]:
        values, n_large = _values(graph(int(i))), 0
        for lo in range(0, len(values), THREADS_PAY_FROM):
            shares = np.abs(values[lo : lo + THREADS_PAY_FROM].astype(np.float64)) / most
            small = shares < _NOTHING
            rest += float((shares[small] ** 2).sum())
            n_large += int(np.count_nonzero(~small))
            if rest > _NOTHING**2 or n_large > max(2, _FEW * facts.n_nonzero[i]):
                return None  # nearly always at the first piece of the first graph
        n_rest -= n_large
    if n_rest == 0:
        return None
    at = int(np.abs(entries).argmax())
    if isinstance(A, np.ndarray):
        s, t = divmod(at, A.shape[0])
    else:
        s, t = int(np.searchsorted(A.indptr, at, side="right")) - 1, int(A.indices[at])
    return first, s, t, float(A[s, t])


def _values(A: NDArray[Any] | csr_array) -> NDArray[Any]:
    """Return the entries of an array, or the stored ones of a sparse matrix, in one row."""
    return A.reshape(-1) if isinstance(A, np.ndarray) else A.data


def _part(storage: NDArray[Any] | csr_array, i: int) -> Any:
    """Return graph ``i`` as a stack of one: (1, n, n), or flat (n, n)."""
    n = int(storage.shape[-1])
    return storage[i : i + 1] if isinstance(storage, np.ndarray) else storage[i * n : (i + 1) * n]


def _first_bad(storage: NDArray[Any] | csr_array, i: int) -> int:
    """Return s * n + t of the first entry of graph ``i`` that is not finite, or -1."""
    part = _part(storage, i)
    bad = np.flatnonzero(~np.isfinite(_values(part)))
    if bad.size == 0 or isinstance(part, np.ndarray):
        return int(bad[0]) if bad.size else -1
    row = int(np.searchsorted(part.indptr, bad[0], side="right")) - 1
    return row * int(part.shape[1]) + int(part.indices[bad[0]])


def _norms_in_range(storage: NDArray[Any] | csr_array, i: int) -> tuple[float, float]:
    """Return norm and off_norm of a graph whose squares leave the range of a float64.

    By a power of two and by the same scan, so that the unit of weights changes no digit.
    """
    part, found = _part(storage, i).copy(), np.zeros(1, dtype=_FOUND)
    values = _values(part)
    exponent = int(np.frexp(np.abs(values).max())[1])
    np.ldexp(values, -exponent, out=values)
    _scan(part, 0, found)
    return (
        float(np.ldexp(found["norm"][0], exponent)),
        float(np.ldexp(found["off_norm"][0], exponent)),
    )


_FOUND = np.dtype([
    ("norm", np.float64), ("off_norm", np.float64), ("n_nonzero", np.int64), ("n_loops", np.int64),
    ("diagonal_low", np.float64), ("diagonal_high", np.float64), ("is_binary", np.bool_),
    ("is_symmetric", np.bool_), ("first_bad", np.int64),
])  # fmt: skip


def _scan(storage: NDArray[Any] | csr_array, first: int, out: NDArray[Any]) -> None:
    """Fill ``out`` (b,), of ``_FOUND``, for graphs from ``first`` on; but for ``first_bad``."""
    diagonals = np.zeros((len(out), int(storage.shape[-1])))
    eps = float(np.finfo(storage.dtype).eps)
    if isinstance(storage, np.ndarray):
        A = np.ascontiguousarray(storage[first : first + len(out)])
        _scan_dense(A, eps, diagonals, out)
    else:
        _scan_flat(storage.data, storage.indices, storage.indptr, first, eps, diagonals, out)
    if len(out) > diagonals.shape[1]:
        diagonals = np.asfortranarray(diagonals)  # NumPy takes long for many short rows
    out["n_loops"] = np.count_nonzero(diagonals, axis=1)
    out["diagonal_low"], out["diagonal_high"] = diagonals.min(axis=1), diagonals.max(axis=1)


# ---------------------------------------------------------------------- kernels
#
# Sums are taken in an order that depends on the graph alone. Entries that are not finite show in
# the sum of squares; what else is found of such a graph means nothing. Rounding, as in a
# correlation matrix, is not direction; one count among millions is.


@njit(cache=True, nogil=True)
def _scan_dense(
    A: NDArray[Any], eps: float, diagonals: NDArray[np.float64], out: NDArray[Any]
) -> None:
    """Fill ``diagonals`` (m, n), and ``out`` (m,) with what else is found of ``A`` (m, n, n)."""
    m, n, _ = A.shape
    entries = A.reshape(m, n * n)  # rows of small graphs are too short to be fast
    for i in range(m):
        squares, n_nonzero, n_other, is_symmetric = 0.0, 0, 0, True
        for s0 in range(0, n, _TILE):
            s1 = min(n, s0 + _TILE)
            more_squares, more_nonzero, more_other = _count(entries[i, s0 * n : s1 * n])
            squares += more_squares
            n_nonzero += more_nonzero
            n_other += more_other
            is_symmetric = is_symmetric and _rows_are_mirrored(A[i], s0, s1, True, 0.0)
        if not is_symmetric:
            most = 0.0
            for x in entries[i]:
                most = max(most, 4 * eps * abs(np.float64(x)))
            is_symmetric = _rows_are_mirrored(A[i], 0, n, False, most)
        on_squares = 0.0
        for s in range(n):
            diagonals[i, s] = A[i, s, s]
            on_squares += diagonals[i, s] * diagonals[i, s]
        off_squares = squares - on_squares
        if 2 * off_squares < squares:  # a large diagonal takes the digits of the rest along
            off_squares = 0.0
            for s in range(n):
                off_squares += _count(A[i, s, :s])[0] + _count(A[i, s, s + 1 :])[0]
        out[i]["norm"], out[i]["off_norm"] = np.sqrt(off_squares + on_squares), np.sqrt(off_squares)
        out[i]["n_nonzero"], out[i]["is_binary"] = n_nonzero, n_other == 0
        out[i]["is_symmetric"] = is_symmetric


@njit(cache=True, nogil=True)
def _scan_flat(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    first: int,
    eps: float,
    diagonals: NDArray[np.float64],
    out: NDArray[Any],
) -> None:
    """Fill the same for graphs ``first`` to ``first + b`` of a CSR matrix (m * n, n).

    ``data``, ``indices`` and ``indptr`` are in canonical form.
    """
    b, n = diagonals.shape
    cursor = np.empty(n, dtype=indptr.dtype)
    for i in range(b):
        rows = indptr[(first + i) * n : (first + i + 1) * n + 1]
        values = data[rows[0] : rows[n]]
        squares, n_nonzero, n_other = _count(values)
        is_symmetric = _flat_is_mirrored(data, indices, rows, n_other > 0, cursor, diagonals[i])
        if not is_symmetric:
            is_symmetric, most = True, 0.0
            for x in values:
                most = max(most, 4 * eps * abs(np.float64(x)))
            for s in range(n):
                for e in range(rows[s], rows[s + 1]):
                    t = indices[e]
                    if t == s:
                        diagonals[i, s] = data[e]
                    elif is_symmetric:
                        x, y = np.float64(data[e]), 0.0
                        at = rows[t] + np.searchsorted(indices[rows[t] : rows[t + 1]], s)
                        if at < rows[t + 1] and indices[at] == s:
                            y = np.float64(data[at])
                        is_symmetric = bool(abs(x - y) <= max(most, _SAME * max(abs(x), abs(y))))
        on_squares = 0.0
        for s in range(n):
            on_squares += diagonals[i, s] * diagonals[i, s]
        off_squares = squares - on_squares
        if 2 * off_squares < squares:
            off_squares = 0.0
            for s in range(n):
                for e in range(rows[s], rows[s + 1]):
                    off_squares += 0.0 if indices[e] == s else np.float64(data[e]) ** 2
        out[i]["norm"], out[i]["off_norm"] = np.sqrt(off_squares + on_squares), np.sqrt(off_squares)
        out[i]["n_nonzero"], out[i]["is_binary"] = n_nonzero, n_other == 0
        out[i]["is_symmetric"] = is_symmetric


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


@njit(cache=True, nogil=True)
def _rows_are_mirrored(A: NDArray[Any], s0: int, s1: int, exactly: bool, most: float) -> bool:
    """Tell whether A_st = A_ts for all s0 <= s < s1 and t < s, tile by tile.

    If not ``exactly``, they may differ by ``most``, or a billionth of the larger.
    """
    for t0 in range(0, s1, _TILE):
        for s in range(s0, s1):
            n_other = 0
            if exactly:
                for t in range(t0, min(s, t0 + _TILE)):
                    n_other += A[s, t] != A[t, s]
            else:
                for t in range(t0, min(s, t0 + _TILE)):
                    x, y = np.float64(A[s, t]), np.float64(A[t, s])
                    n_other += not abs(x - y) <= max(most, _SAME * max(abs(x), abs(y)))
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
    for s in range(n):  # to assign a slice would be most of the time of compiling this
        cursor[s] = rows[s]
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
