"""Sums of w_i c_i c_i^T over many vectors c_i: one triangle, in place, many vectors at a time."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

import numpy as np
from scipy import linalg

from eigengraphs.solvers.old_core import root_of_moment
from eigengraphs.solvers.protocol import Array

__all__ = ["CentredSum", "MomentSum", "moment_rounding", "moments_of", "root_of_packed"]

_BATCH = 512  # vectors that are added up at a time: a few do not pay for p^2 numbers


def moments_of(batches: Iterable[tuple[Array, Array]], p: int) -> tuple[Array, Array]:
    """Return sum_i w_i c_i c_i^T, its upper triangle packed, (p (p + 1) / 2,), and sum_i w_i c_i.

    Batches are (k, p) vectors, which are changed, and (k,) weights.
    """
    M, mean = np.zeros((p, p), order="F"), np.zeros(p)
    for C, w in batches:
        _add(M, mean, C, w)
    return np.asarray(linalg.lapack.dtrttp(M, uplo="U")[0]), mean


def root_of_packed(packed: Array, p: int) -> Array:
    """Return R (r, p) with R^T R = M, r the rank, of the packed upper triangle of M."""
    M, _ = linalg.lapack.dtpttr(p, packed, uplo="U")
    return root_of_moment(M, overwrite=True)


def moment_rounding(R: Array) -> float:
    """Return the gain that the rounding of a second moment with the root R may bring about."""
    size: float = 10 * R.shape[1] * np.finfo(np.float64).eps * float(np.einsum("rp,rp->", R, R))
    return size


class MomentSum:
    """Add up sum_i w_i c_i c_i^T and sum_i w_i c_i as vectors come, from threads, in any order.

    They are added up in their own order, so that the sums do not depend on the threads.
    """

    def __init__(self, weights: Array, p: int) -> None:
        self._M, self.mean = np.zeros((p, p), order="F"), np.zeros(p)
        self._weights, self._p = weights, p
        self._waiting: dict[int, tuple[Array, int]] = {}  # vectors of a batch, and how many came
        self._done, self._lock = 0, Lock()

    def add(self, lo: int, hi: int, C: Array) -> None:
        """Take the vectors lo to hi, (hi - lo, p)."""
        while lo < hi:
            batch = lo // _BATCH
            first = batch * _BATCH
            end = min(hi, first + _BATCH)
            with self._lock:
                size = min(_BATCH, len(self._weights) - first)
                place, count = self._waiting.get(batch) or (np.empty((size, self._p)), 0)
                place[lo - first : end - first] = C[: end - lo]
                self._waiting[batch] = (place, count + end - lo)
                self._add_whole_batches()
            C, lo = C[end - lo :], end

    def _add_whole_batches(self) -> None:
        while self._done in self._waiting:
            C, count = self._waiting[self._done]
            if count < len(C):
                return
            first = self._done * _BATCH
            self._fold(C, self._weights[first : first + len(C)])
            del self._waiting[self._done]
            self._done += 1

    def _fold(self, C: Array, w: Array) -> None:
        _add(self._M, self.mean, C, w)

    def triangle(self) -> Array:
        """Return the upper triangle of the second moment, packed, (p (p + 1) / 2,)."""
        return np.asarray(linalg.lapack.dtrttp(self._M, uplo="U")[0])

    def root(self) -> Array:
        """Return R (r, p) with R^T R the second moment; the sum is used up."""
        return root_of_moment(self._M, overwrite=True)


class CentredSum(MomentSum):
    """The same about the mean: sum_i w_i (c_i - mean) (c_i - mean)^T, the mean, sum_i w_i.

    Nothing is ever taken off a sum of squares, so that what differs from graph to graph keeps its
    digits beside a large mean.
    """

    weight = 0.0

    def _fold(self, C: Array, w: Array) -> None:
        if not w.all():  # a graph that does not count may be of any size
            C, w = C[w > 0], w[w > 0]
        if not len(w):
            return
        weight = float(w.sum())
        apart = w @ C / weight - self.mean
        C -= self.mean + apart
        total = self.weight + weight
        # The mean moves: as if one more vector lay between the old mean and that of the batch.
        between = np.sqrt(self.weight / total) * apart
        rows, ones = np.vstack([C, between]), np.append(w, weight)
        _add(self._M, np.zeros_like(self.mean), rows, ones)
        self.mean += weight / total * apart
        self.weight = total


def _add(M: Array, mean: Array, C: Array, w: Array) -> None:
    """Add to the upper triangle of ``M``, in place."""
    mean += w @ C
    C *= np.sqrt(w)[:, None]
    linalg.blas.dsyrk(1.0, C.T, beta=1.0, c=M, lower=0, overwrite_c=1)
