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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.ascent import outer, pack, pull, turn, unpack
from eigengraphs.solvers.solution import Array

__all__ = ["Geometry", "Pair", "Symmetric", "geometry_of", "sides_of", "unit_points"]


class Geometry:
    """Components in a basis of given width on each side.

    Attributes
    ----------
    widths
        Columns of the basis on each side.
    size
        Coordinates of a point: those of the left, then those of the right.
    n_sides
        Unit vectors of a point.
    c
        The gradient of a form over u.
    n_entries
        Numbers of a packed core.
    """

    n_entries: int

    def __init__(self, *widths: int) -> None:
        self.widths, self.size, self.n_sides = widths, sum(widths), len(widths)
        self.c = 2.0 / self.n_sides

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.widths))})"

    def pack(self, C: NDArray[Any]) -> NDArray[Any]:
        """Return cores (..., s, t) as vectors (..., p) with the same inner products."""
        raise NotImplementedError

    def unpack(self, Z: NDArray[Any]) -> NDArray[Any]:
        """Return vectors (..., p) as cores (..., s, t)."""
        raise NotImplementedError

    def of_mean(self, mean: Array, n_turns: int) -> Array:
        """Return starts, (b, size), near both ends of the spectrum of a packed mean core (p,).

        Of two sides one is enough. They come near in ``n_turns`` products; climbs do the rest.
        """
        X = np.random.default_rng(self.size).standard_normal((3 - self.n_sides, self.size))
        X /= np.sqrt((X**2).sum(axis=1, keepdims=True))
        for sign, x in zip((1.0, -1.0), X, strict=False):
            turn(sign * mean, x, self.widths[0], sum(self.widths[1:]), n_turns)
        return X

    def of_squares(self, R: Array) -> Array:
        """Return a start, (1, size), from the sum of squares of packed cores (r, p)."""
        raise NotImplementedError

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


class Symmetric(Geometry):
    """Components h h^T, in one basis of ``s`` columns; a core is packed as its lower triangle."""

    def __init__(self, s: int) -> None:
        super().__init__(s)
        self.n_entries = s * (s + 1) // 2

    def pack(self, C: NDArray[Any]) -> NDArray[Any]:
        """Return lower triangles, row by row and off the diagonal times sqrt(2), (..., p)."""
        R = np.empty((*C.shape[:-2], self.n_entries), C.dtype)
        pack(C.reshape(-1, *C.shape[-2:]), R.reshape(-1, self.n_entries))
        return R

    def unpack(self, Z: NDArray[Any]) -> NDArray[Any]:
        """Return symmetric matrices, (..., s, s)."""
        C = np.empty((*Z.shape[:-1], self.size, self.size))
        flat = np.ascontiguousarray(Z, dtype=np.float64).reshape(-1, self.n_entries)
        for z, matrix in zip(flat, C.reshape(-1, self.size, self.size), strict=True):
            unpack(z, self.size, matrix)
        return C

    def of_squares(self, R: Array) -> Array:
        """Return the top eigenvector of sum_i C_i^2, (1, s)."""
        flat = self.unpack(R).reshape(-1, self.size)
        return np.linalg.eigh(flat.T @ flat)[1][:, -1:].T


class Pair(Geometry):
    """Components h g^T, in bases of ``s`` columns on the left and ``t`` on the right."""

    def __init__(self, s: int, t: int) -> None:
        super().__init__(s, t)
        self.n_entries = s * t

    def pack(self, C: NDArray[Any]) -> NDArray[Any]:
        """Return all entries, row by row, (..., p)."""
        return C.reshape(*C.shape[:-2], self.n_entries)

    def unpack(self, Z: NDArray[Any]) -> NDArray[Any]:
        """Return matrices, (..., s, t)."""
        return Z.reshape(*Z.shape[:-1], *self.widths)

    def of_squares(self, R: Array) -> Array:
        """Return the top of sum_i C_i C_i^T, and what explains most beside it, (1, s + t)."""
        C = self.unpack(R)
        flat = C.transpose(1, 0, 2).reshape(self.widths[0], -1)
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
