"""Which dense graphs are kept a bit an entry beside their array, and how they become bits."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs.bit_kernels import WORD, pack_graphs
from eigengraphs.graphs.word_kernels import mirror_words
from eigengraphs.parallel import on_blocks, spans

__all__ = ["Words", "bits_pay", "mirrored", "pack", "pack_some", "room_for_words"]

Words = NDArray[np.uint32]  # (m, ceil(n / WORD), n)

_ROW_BYTES = 2**10  # of a graph whose products are faster by bits; smaller ones fit into caches
_TASK_BYTES = 2**24  # of graphs that one thread packs at a time


def bits_pay(storage: Any) -> TypeGuard[NDArray[Any]]:
    """Tell whether graphs of zeros and ones, kept like this, are multiplied faster as bits."""
    return isinstance(storage, np.ndarray) and storage.shape[-1] * storage.itemsize >= _ROW_BYTES


def room_for_words(A: NDArray[Any]) -> Words:
    """Return room for the bits of ``A`` (m, n, n); nothing is taken before it is filled."""
    m, n, _ = A.shape
    return np.empty((m, -(-n // WORD), n), dtype=np.uint32)


def pack_some(A: NDArray[Any], out: Words) -> bool:
    """Fill ``out`` with the bits of ``A`` (m, n, n); False if an entry is neither 0 nor 1."""
    return bool(pack_graphs(A, out.view(np.int32)))


def pack(A: NDArray[Any]) -> Words | None:
    """Return the bits of ``A`` (m, n, n), or None if an entry is neither 0 nor 1."""
    words, plain = room_for_words(A), []

    def work(lo: int, hi: int) -> None:
        plain.append(pack_some(A[lo:hi], words[lo:hi]))

    on_blocks(work, spans(len(A), _TASK_BYTES // A[0].nbytes))
    return words if all(plain) else None


def mirrored(words: Words) -> Words:
    """Return the bits of the transposes of graphs."""
    out = np.empty_like(words)

    def work(lo: int, hi: int) -> None:
        mirror_words(words[lo:hi], out[lo:hi])

    on_blocks(work, spans(len(words), _TASK_BYTES // (WORD * words[0].nbytes)))
    return out
