"""What is known of each graph of a stack: found in one read, then sliced along with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from eigengraphs.graphs.bits import Words, bits_pay, pack_some, room_for_words
from eigengraphs.graphs.entry_kernels import WORD
from eigengraphs.graphs.kernels import SCAN_FIELDS, scan_dense, scan_flat
from eigengraphs.graphs.mask import Mask
from eigengraphs.graphs.plain_flat_scan import scan_plain_flat
from eigengraphs.graphs.plain_scan import scan_plain
from eigengraphs.graphs.small_scan import SMALL, scan_small
from eigengraphs.graphs.word_kernels import scan_words
from eigengraphs.parallel import on_blocks, spans

__all__ = ["EntryBits", "GraphFacts", "about_observed", "scan", "scan_and_pack"]

EntryBits = NDArray[np.uint64]  # (p, ceil(m / WORD)), a bit a graph for each entry s >= t

_THREADS_PAY_FROM = 4_000_000  # entries; below, starting threads costs more than it saves
_AT_ONCE = 2**22  # entries that a thread reads at most before it asks for more
_MANY = 4  # times p graphs, of at most so many vertices: solvers sum these up, by their bits
_SUMMED_UP = 72


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
    is_symmetric: NDArray[np.bool_]
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
        As :func:`scan` finds them.
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


def scan(storage: NDArray[Any] | csr_array, n_vertices: int) -> GraphFacts:
    """Read a dense (m, n, n) or a flat sparse (m * n, n) stack once."""
    return scan_and_pack(storage, n_vertices)[0]


def scan_and_pack(
    storage: NDArray[Any] | csr_array, n_vertices: int
) -> tuple[GraphFacts, Words | None, EntryBits | None]:
    """Read a dense (m, n, n) or a flat sparse (m * n, n) stack once.

    Beside the facts return the graphs a bit an entry, in the order that large ones are multiplied
    in, and in that many small ones are summed up in; each if that pays, and all entries are 0 or 1.
    """
    n = n_vertices
    words = room_for_words(storage) if bits_pay(storage) else None
    entries = _room_for_entries(storage)
    not_bits: list[int] = []  # where blocks begin that cannot be bits
    if isinstance(storage, np.ndarray):
        m, size = len(storage), storage.size
    else:
        m, size = storage.shape[0] // n, storage.nnz
    table = np.empty((m, len(SCAN_FIELDS)))
    probes = np.random.default_rng(0).integers(-(2**31), 2**31, (2, n), dtype=np.int32)

    def scan_block(lo: int, hi: int) -> None:
        if not isinstance(storage, np.ndarray):
            _scan_flat(storage, lo, probes, table[lo:hi])
            return
        if words is not None and not not_bits:
            if pack_some(storage[lo:hi], words[lo:hi]):
                scan_words(words[lo:hi], table[lo:hi])
                return
            not_bits.append(lo)
        kept = None if entries is None else entries[:, lo // WORD : -(-hi // WORD)]
        if not _scan_dense(storage[lo:hi], probes, table[lo:hi], kept):
            not_bits.append(lo)

    threads = None if size >= _THREADS_PAY_FROM else 1
    at_once = max(_THREADS_PAY_FROM // 8, min(_AT_ONCE, size // 64))
    step = m if threads == 1 else -(-at_once * m // size)
    if entries is not None:
        step = -(-step // WORD) * WORD  # a word is of one block
    on_blocks(scan_block, spans(m, step), threads=threads)

    column = dict(zip(SCAN_FIELDS, table.T, strict=True))
    # Rounding, as in a correlation matrix, is not direction; one count among millions is.
    rounding = 4 * np.finfo(storage.dtype).eps * column["max_abs"]
    off_norm = np.sqrt(column["off_squares"])
    norm = np.sqrt(column["off_squares"] + column["diagonal_squares"])
    _mend_norms(storage, probes, column["max_abs"], norm, off_norm)
    facts = GraphFacts(
        norm=norm,
        off_norm=off_norm,
        n_nonzero=column["n_nonzero"].astype(np.int64),
        n_loops=column["n_loops"].astype(np.int64),
        diagonal_low=column["diagonal_low"].copy(),
        diagonal_high=column["diagonal_high"].copy(),
        is_binary=column["n_other"] == 0,
        is_symmetric=column["asymmetry"] <= rounding,
        first_bad=column["bad"].astype(np.int64),
    )
    return (facts, None, None) if not_bits else (facts, words, entries)


def _room_for_entries(storage: NDArray[Any] | csr_array) -> EntryBits | None:
    """Return room for a bit for each entry of each graph, or None where it does not pay."""
    if not isinstance(storage, np.ndarray) or storage.shape[1] > min(SMALL, _SUMMED_UP):
        return None
    m, n, _ = storage.shape
    p = n * (n + 1) // 2
    return np.empty((p, -(-m // WORD)), dtype=np.uint64) if m > _MANY * p else None


def _scan_dense(
    A: NDArray[Any],
    probes: NDArray[np.int32],
    out: NDArray[np.float64],
    kept: EntryBits | None = None,
) -> bool:
    """Fill the table, quickly where graphs are plain and carefully where they are not.

    Of small graphs, fill ``kept`` with their bits and tell whether they have no weights.
    """
    marks = _marks(A.dtype)
    bits = A.view(marks.dtype)
    all_ones = False
    if A.shape[1] <= SMALL:
        tops = np.empty(len(A), dtype=marks.dtype)
        kept = np.empty((0, 0), dtype=np.uint64) if kept is None else kept
        all_ones = bool(scan_small(A, bits, marks, tops, kept, out))
        out[:, 0] += tops.view(A.dtype)  # nan stays nan
    else:
        scan_plain(A, bits, marks, probes, out)
    for i in np.flatnonzero(np.isnan(out[:, 0])):
        scan_dense(A[i : i + 1], out[i : i + 1])
    return all_ones


def _scan_flat(
    flat: csr_array, first: int, probes: NDArray[np.int32], out: NDArray[np.float64]
) -> None:
    """Fill the table for graphs from ``first`` on, in the same way."""
    data, indices, indptr, n = flat.data, flat.indices, flat.indptr, int(flat.shape[1])
    marks = _marks(data.dtype)
    odd = probes[0] | 1
    scan_plain_flat(data, data.view(marks.dtype), indices, indptr, n, first, marks, odd, out)
    for i in np.flatnonzero(np.isnan(out[:, 0])):
        scan_flat(data, indices, indptr, n, first + int(i), out[i : i + 1])


def _marks(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the mask of all bits but the sign, infinity and 1, as signed integers."""
    kind = np.int32 if dtype == np.float32 else np.int64
    infinite, one = np.array([np.inf, 1.0], dtype=dtype).view(kind)
    return np.array([np.iinfo(kind).max, infinite, one], dtype=kind)


def _mend_norms(
    storage: NDArray[Any] | csr_array,
    probes: NDArray[np.int32],
    max_abs: NDArray[np.float64],
    norm: NDArray[np.float64],
    off_norm: NDArray[np.float64],
) -> None:
    """Take norms again, in place, where squares left the range of a float64: near max|A| = 1.

    By a power of two and by the same scan, so that the unit of weights changes no digit.
    """
    out_of_range = ~np.isfinite(norm) | ((max_abs > 0) & (norm < 1e-140))
    for i in np.flatnonzero(out_of_range & np.isfinite(max_abs)):
        n, values = int(storage.shape[-1]), np.empty((1, len(SCAN_FIELDS)))
        exponent = int(np.frexp(max_abs[i])[1])
        if isinstance(storage, np.ndarray):
            _scan_dense(np.ldexp(storage[i : i + 1], -exponent), probes, values)
        else:
            rows = storage[int(i) * n : (int(i) + 1) * n]
            rows.data = np.ldexp(rows.data, -exponent)  # of a copy
            _scan_flat(rows, 0, probes, values)
        squares = dict(zip(SCAN_FIELDS, values[0], strict=True))
        off = squares["off_squares"]
        norm[i] = np.ldexp(np.sqrt(off + squares["diagonal_squares"]), exponent)
        off_norm[i] = np.ldexp(np.sqrt(off), exponent)
