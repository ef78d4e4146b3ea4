"""Packed cores less the loadings of components, as factors: written out they take far longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.protocol import Array

__all__ = ["LeftCores"]

Factors = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class LeftCores:
    """R - Lam Q, exactly and in float32.

    Beside another component ``R`` is the same, and so is its copy in float32.
    """

    exact: Factors  # R (m, p), Lam (m, k) and Q (k, p)
    rough: Factors  # the same in float32
    squares: Array  # (m,) ||R_i||^2

    @classmethod
    def of(cls, R: Array) -> LeftCores:
        """Return packed cores ``R`` (m, p) as they are."""
        R = np.ascontiguousarray(R)  # kernels are compiled for one layout
        m, p = R.shape
        whole = cls((R,) * 3, (R.astype(np.float32),) * 3, np.einsum("ip,ip->i", R, R))
        return whole.less(np.zeros((m, 0)), np.zeros((0, p)))

    def less(self, Lam: Array, Q: Array) -> LeftCores:
        """Return the same cores less Lam Q, ``Lam`` (m, k) and ``Q`` (k, p), and nothing else."""
        Lam, Q = np.ascontiguousarray(Lam), np.ascontiguousarray(Q)
        rough = (self.rough[0], Lam.astype(np.float32), Q.astype(np.float32))
        return LeftCores((self.exact[0], Lam, Q), rough, self.squares)

    def written_out(self) -> Array:
        """Return R - Lam Q, (m, p)."""
        R, Lam, Q = self.exact
        return np.asarray(R - Lam @ Q)
