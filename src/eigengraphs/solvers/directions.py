"""Directions to begin with, and bases of them: how wide, how started, how kept orthonormal."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from eigengraphs.solvers.protocol import Array, BlockGraphs
from eigengraphs.solvers.tall import MANY, on_rows, quick_orthonormal, subtract

__all__ = [
    "STREAMED_WIDTH",
    "TALL",
    "basis_from_sketch",
    "basis_width",
    "first_basis",
    "orthonormal",
    "random_starts",
    "sketch_weights",
    "turned_basis",
    "widened",
]

_SKETCH = 16  # columns of the first basis; products with 16 columns cost what 10 do
_SHORT_SKETCH = 8  # where bases get wide: fewer columns, in all that follow
_SKETCHED = 64  # graphs that the first basis is taken from, or a share of them if that is more
_SKETCHED_SHARE = 0.25
TALL = 200_000  # vertices: beyond, every array with a row for each counts
_SHARED = 8  # further columns of the first basis that come from the mean graph
_HOLLOWED = 0.9  # of the diagonal of sum_i A_i^2 that a sketch does without
_WIDTHS = (64, 80)  # columns of the basis: least and most before it is shortened
STREAMED_WIDTH = 48
_CLEAR = 1e-4  # of a column: so much outside of the basis is at right angles to it after two sweeps
_CORE_NUMBERS = 5 * 2**18  # entries of the compressed cores that set the width between these


def first_basis(
    graphs: BlockGraphs,
    given: Array,
    weights: Array,
    sizes: Array,
    rng: np.random.Generator,
    *,
    short: bool = False,
) -> Array:
    """Return an orthonormal basis of given columns and the main directions of the graphs.

    A ``short`` one has at most 16 columns beside those that are given, others have 24.
    """
    weights, Omega = sketch_weights(graphs.n_vertices, weights, sizes, rng, short=short)
    return basis_from_sketch(*graphs.sketch(Omega, weights), Omega, given)


def sketch_weights(
    n: int, weights: Array, sizes: Array, rng: np.random.Generator, *, short: bool = False
) -> tuple[Array, Array]:
    """Return the weights for a sketch, zero for most of many graphs, and its columns, (n, b)."""
    counted = np.flatnonzero(sizes)
    few = max(_SKETCHED, int(_SKETCHED_SHARE * len(counted)))
    if len(counted) > few:
        # By size, and the largest for sure: what one graph alone has may be most of what there is.
        heaviest = counted[np.argsort(-sizes[counted], kind="stable")[: few // 4]]
        others = np.setdiff1d(counted, heaviest)
        share = sizes[others] / sizes[others].sum()
        chosen = rng.choice(others, few - len(heaviest), replace=False, p=share)
        weights = np.where(np.isin(np.arange(len(weights)), [*heaviest, *chosen]), weights, 0.0)
    return weights, rng.standard_normal((n, _SHORT_SKETCH if short else _SKETCH))


def basis_from_sketch(squares: Array, sums: Array, Omega: Array, given: Array) -> Array:
    """Return an orthonormal basis of given columns and of a sketch with ``Omega``, each (n, b).

    Components that differ from graph to graph show in sum_i w_i A_i^2; weak ones that most graphs
    share, in the mean, where the noise is averaged. ``squares`` is changed, if it may be.
    """
    squares = squares if squares.flags.writeable else squares.copy()
    _take_diagonal_off(squares, Omega)
    if len(sums) <= min(MANY, TALL):
        main = linalg.svd(sums, full_matrices=False, check_finite=False)[0][:, :_SHARED]
    else:  # the same but for rounding, without further copies of it
        main = sums @ linalg.eigh(sums.T @ sums)[1][:, ::-1][:, :_SHARED]
    return np.column_stack([given, orthonormal(np.column_stack([main, squares]), given)])


def _take_diagonal_off(squares: Array, Omega: Array) -> None:
    """Take most of Diag(D) Omega off ``squares`` = S Omega, (n, b), D the diagonal of S.

    D sums up all squared entries of the graphs: of sparse ones, most of S Omega is
    a multiple of Omega, which knows nothing of them. What is known of D is how a row of S Omega
    goes along with that of Omega. Some of D stays, lest the middle of a star, whose row has nothing
    else, is lost.
    """

    def work(lo: int, hi: int) -> None:
        rows = Omega[lo:hi]
        along = np.einsum("sk,sk->s", squares[lo:hi], rows) / np.einsum("sk,sk->s", rows, rows)
        squares[lo:hi] -= (_HOLLOWED * along)[:, None] * rows

    on_rows(work, len(squares))


def random_starts(rng: np.random.Generator, d: int, b: int, s: int) -> Array:
    """Return unit vectors, (d, b, s)."""
    Y = rng.standard_normal((d, b, s))
    return np.asarray(Y / np.sqrt((Y**2).sum(axis=2, keepdims=True)))


def basis_width(n_graphs: int, cache: bool) -> int:
    """Return how many columns the basis may have.

    Fewer where the cores of many graphs cost, and where every pass multiplies by all of them.
    """
    low, high = _WIDTHS
    if not cache:
        return STREAMED_WIDTH
    for s in range(high, low, -8):
        p = s * (s + 1) // 2
        if min(n_graphs, p) * p <= _CORE_NUMBERS:
            return s
    return low


def widened(V: Array, B: Array) -> Array:
    """Return [V B]; of many vertices in the room that V has, which no other may widen."""
    (n, s), b = V.shape, B.shape[1]
    if n <= min(MANY, TALL):
        return np.column_stack([V, B])
    room: Any = V.base
    mine = isinstance(room, np.ndarray) and room.strides == V.strides and room.shape[0] == n
    if s == 0 or not mine or room.shape[1] < s + b:
        # Of very many, column after column: what is not written to takes no memory.
        order: Any = "F" if n > TALL else "C"
        room = np.empty((n, max(STREAMED_WIDTH, s + b)), order=order)
        room[:, :s] = V
    room[:, s : s + b] = B
    return np.asarray(room[:, : s + b])


def turned_basis(V: Array, T: Array) -> Array:
    """Return V T; of many vertices in the place of V."""
    if len(V) <= min(MANY, TALL) or T.shape[1] > T.shape[0]:
        return V @ T

    def work(lo: int, hi: int) -> None:
        V[lo:hi, : T.shape[1]] = V[lo:hi] @ T

    on_rows(work, len(V))
    return V[:, : T.shape[1]]


def orthonormal(columns: Array, V: Array) -> Array:
    """Return an orthonormal basis of what ``columns`` have outside of span V."""
    if MANY < len(columns) <= TALL:
        quick = quick_orthonormal(columns, V)
        if quick is not None:
            return quick
    sizes = np.sqrt(np.einsum("sk,sk->k", columns, columns))
    B = np.array(columns.T, order="C")  # orthonormal up to ``kept``, where those before were
    del columns  # of many vertices, each copy counts
    for _ in range(2 if V.shape[1] else 0):
        subtract(B.T, V, (B @ V).T)
    kept = 0
    # One after the other: QR with pivoting would let rounding choose among equals, and without
    # it a dependent column becomes an arbitrary direction that the later ones then lose.
    for place, size in enumerate(sizes):
        row = B[place]
        for _ in range(2):
            row = row - (B[:kept] @ row) @ B[:kept]
        left = float(linalg.norm(row))
        if left <= 1e-10 * size:
            continue
        row = row / left
        if left < _CLEAR * size and V.shape[1]:
            # Rounding along V has grown with it, and the later ones would not know of that.
            row -= V @ (row @ V)
            row -= (B[:kept] @ row) @ B[:kept]
            left = float(linalg.norm(row))
            if left < 0.5:
                continue  # it was rounding
            row /= left
        B[kept] = row
        kept += 1
    found = np.ascontiguousarray(B[:kept].T)
    if kept and V.shape[1]:  # small remainders lose their orthogonality to V
        subtract(found, V, V.T @ found)
        found /= np.sqrt(np.einsum("sk,sk->k", found, found))
    return found
