"""What a component is: h h^T of undirected graphs, or h g^T of directed ones.

A component of norm 1 is a *point*: its coordinates in a basis, one unit vector per side, one behind
the other. ``Symmetric`` has one side and ``Pair`` two. Everything else in the solvers is written
once, in terms of

    t = <C, y z^T>          the form of a core C (s, t) at the point (y, z), z = y if symmetric,
    u = its gradient over c       with c = 2 (symmetric) and c = 1 (pair),

so that in both geometries <u, x> = t summed over sides, and curvatures differ by the factor c
alone. What a climb and Newton's method ask of a geometry is compiled, in :mod:`ascent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.ascent import outer, pack, pull, unpack
from eigengraphs.solvers.solution import Array

__all__ = ["Geometry", "Pair", "Symmetric", "geometry_of", "sides_of", "unit_points"]


class Geometry:
    """Components in a basis of given width on each side."""

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Columns of the basis on each side."""
        raise NotImplementedError

    @cached_property
    def n_entries(self) -> int:
        """Numbers of a packed core."""
        raise NotImplementedError

    def pack(self, C: NDArray[Any]) -> NDArray[Any]:
        """Return cores (..., s, t) as vectors (..., p) with the same inner products."""
        raise NotImplementedError

    def unpack(self, Z: NDArray[Any]) -> NDArray[Any]:
        """Return vectors (..., p) as cores (..., s, t)."""
        raise NotImplementedError

    def of_mean(self, mean: Array) -> Array:
        """Return starts, (b, size), from the spectrum of a packed mean core (p,)."""
        raise NotImplementedError

    def of_squares(self, R: Array) -> Array:
        """Return a start, (1, size), from the sum of squares of packed cores (r, p)."""
        raise NotImplementedError

    @property
    def n_sides(self) -> int:
        """Unit vectors of a point."""
        return len(self.widths)

    @cached_property
    def c(self) -> float:
        """The gradient of a form over u."""
        return 2.0 / self.n_sides

    @cached_property
    def size(self) -> int:
        """Coordinates of a point: those of the left, then those of the right."""
        return sum(self.widths)

    def outer(self, X: Array) -> Array:
        """Return the packed components, (b, p), of points ``X`` (b, size)."""
        Z = np.empty((len(X), self.n_entries))
        outer(np.ascontiguousarray(X), self.widths[0], sum(self.widths[1:]), Z)
        return Z

    def pull(self, R: NDArray[Any], x: Array) -> Array:
        """Return u_i of every packed core, (r, size), at the point ``x`` (size,)."""
        U = np.empty((len(R), self.size))
        pull(R, x, self.widths[0], sum(self.widths[1:]), U)
        return U


@dataclass(frozen=True)
class Symmetric(Geometry):
    """Components h h^T, in one basis of ``s`` columns."""

    s: int

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Columns of the basis."""
        return (self.s,)

    @cached_property
    def n_entries(self) -> int:
        """Numbers of a packed core: its lower triangle, row by row."""
        return self.s * (self.s + 1) // 2

    def pack(self, C: NDArray[Any]) -> NDArray[Any]:
        """Return lower triangles, off the diagonal times sqrt(2), (..., p)."""
        R = np.empty((*C.shape[:-2], self.n_entries), C.dtype)
        pack(C.reshape(-1, self.s, self.s), R.reshape(-1, self.n_entries))
        return R

    def unpack(self, Z: NDArray[Any]) -> NDArray[Any]:
        """Return symmetric matrices, (..., s, s)."""
        C = np.empty((*Z.shape[:-1], self.s, self.s))
        for z, matrix in zip(
            np.ascontiguousarray(Z, dtype=np.float64).reshape(-1, self.n_entries),
            C.reshape(-1, self.s, self.s),
            strict=True,
        ):
            unpack(z, self.s, matrix)
        return C

    def of_mean(self, mean: Array) -> Array:
        """Return both outer eigenvectors of the mean, (2, s)."""
        return np.linalg.eigh(self.unpack(mean))[1][:, [0, -1]].T

    def of_squares(self, R: Array) -> Array:
        """Return the top eigenvector of sum_i C_i^2, (1, s)."""
        flat = self.unpack(R).reshape(-1, self.s)
        return np.linalg.eigh(flat.T @ flat)[1][:, -1:].T


@dataclass(frozen=True)
class Pair(Geometry):
    """Components h g^T, in a basis of ``s`` columns on the left and one of ``t`` on the right."""

    s: int
    t: int

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Columns of the basis on each side."""
        return (self.s, self.t)

    @cached_property
    def n_entries(self) -> int:
        """Numbers of a packed core: all of them, row by row."""
        return self.s * self.t

    def pack(self, C: NDArray[Any]) -> NDArray[Any]:
        """Return all entries, (..., p)."""
        return C.reshape(*C.shape[:-2], self.s * self.t)

    def unpack(self, Z: NDArray[Any]) -> NDArray[Any]:
        """Return matrices, (..., s, t)."""
        return Z.reshape(*Z.shape[:-1], self.s, self.t)

    def of_mean(self, mean: Array) -> Array:
        """Return the top singular pair of the mean, (1, s + t)."""
        left, _, right = np.linalg.svd(self.unpack(mean), full_matrices=False)
        return np.concatenate([left[:, 0], right[0]])[None]

    def of_squares(self, R: Array) -> Array:
        """Return the top of sum_i C_i C_i^T, and what explains most beside it, (1, s + t)."""
        C = self.unpack(R)
        flat = C.transpose(1, 0, 2).reshape(self.s, -1)
        y = np.linalg.eigh(flat @ flat.T)[1][:, -1]
        rows = np.einsum("s,rst->rt", y, C)
        return np.concatenate([y, np.linalg.eigh(rows.T @ rows)[1][:, -1]])[None]


def geometry_of(widths: tuple[int, ...]) -> Symmetric | Pair:
    """Return the geometry of bases of these widths."""
    return Symmetric(*widths) if len(widths) == 1 else Pair(*widths)


def unit_points(X: Array, widths: tuple[int, ...]) -> Array:
    """Return points (..., size) with every side of norm 1."""
    X = np.array(X)
    for part in sides_of(X, widths):
        part /= np.sqrt((part**2).sum(axis=-1, keepdims=True))
    return X


def sides_of(X: Array, widths: tuple[int, ...]) -> list[Array]:
    """Return the part of points (..., size) that belongs to each side, as views."""
    return [X] if len(widths) == 1 else [X[..., : widths[0]], X[..., widths[0] :]]
