"""Numba kernels: packed cores (forms, gradients, steps of a climb), and loadings under a rule.

Loops that sum have nothing else in them: with other writes in the loop the compiler chooses between
two orders of summation by where arrays lie in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.protocol import Array

__all__ = [
    "climb_triangles", "outer_triangles", "penalised_rows", "pull_pairs", "pull_triangles",
    "pursue_rows", "support_rows", "unpack_triangles",
]  # fmt: skip

announce_compiling()

_HALF = 0.7071067811865476  # off the diagonal, packed entries are sqrt(2) times those of a core


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def pull_triangles(R: NDArray[Any], x: Array, U: Array) -> None:
    """Fill ``U`` (r, s) with C_i x for packed symmetric cores, the rows of ``R`` (r, p)."""
    s = x.shape[0]
    off = _HALF * x
    for i in range(R.shape[0]):
        first = 0
        for row in range(s):
            entries = R[i, first : first + row + 1]
            total = 0.0
            for column in range(row):
                total += entries[column] * off[column]
            U[i, row] = total + entries[row] * x[row]
            first += row + 1
        first = 0
        for row in range(s):
            entries = R[i, first : first + row + 1]
            factor = off[row]
            for column in range(row):
                U[i, column] += entries[column] * factor
            first += row + 1


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def pull_pairs(R: NDArray[Any], x: Array, U: Array, s: int) -> None:
    """Fill ``U`` (r, s + t) with C_i z beside C_i^T y, for cores packed row by row in ``R``."""
    t = x.shape[0] - s
    for i in range(R.shape[0]):
        for column in range(t):
            U[i, s + column] = 0.0
        for row in range(s):
            entries = R[i, row * t : (row + 1) * t]
            total = 0.0
            for column in range(t):
                total += entries[column] * x[s + column]
            U[i, row] = total
            factor = x[row]
            for column in range(t):
                U[i, s + column] += entries[column] * factor


@njit(cache=True, nogil=True)
def outer_triangles(X: Array, Z: NDArray[Any]) -> None:
    """Fill ``Z`` (b, p) with packed x x^T of the rows of ``X`` (b, s)."""
    root = np.sqrt(2.0)
    for i in range(X.shape[0]):
        place = 0
        for row in range(X.shape[1]):
            factor = root * X[i, row]
            for column in range(row):
                Z[i, place + column] = factor * X[i, column]
            Z[i, place + row] = X[i, row] * X[i, row]
            place += row + 1


@njit(cache=True, nogil=True)
def unpack_triangles(Z: NDArray[Any], C: NDArray[Any]) -> None:
    """Fill ``C`` (b, s, s) with the symmetric matrices that are packed in ``Z`` (b, p)."""
    half = Z.dtype.type(_HALF)
    for i in range(Z.shape[0]):
        place = 0
        for row in range(C.shape[1]):
            for column in range(row):
                value = half * Z[i, place + column]
                C[i, row, column] = value
                C[i, column, row] = value
            C[i, row, row] = Z[i, place + row]
            place += row + 1


@njit(cache=True, nogil=True)
def climb_triangles(S: NDArray[Any], X: Array, n_steps: int) -> None:
    """Turn each row x of ``X`` (b, s), in place, towards the top eigenvector of its own S (s, s).

    Each step goes to the best vector in the plane of x and the gradient of x^T S x, so that this
    never falls. A hundred times cheaper than all eigenvectors, of which one is wanted.
    """
    s = X.shape[1]
    number = S.dtype.type
    x, g = np.empty(s, S.dtype), np.empty(s, S.dtype)
    for i in range(X.shape[0]):
        largest = np.float64(np.max(np.abs(S[i])))
        if largest == 0.0:
            continue
        scale = number(1.0 / (s * largest))  # then squares stay within the range of the type
        for row in range(s):
            x[row] = X[i, row]
        w = np.dot(S[i], x) * scale
        for _ in range(n_steps):
            rho = np.dot(w, x)
            for row in range(s):
                g[row] = w[row] - rho * x[row]
            size = np.sqrt(np.dot(g, g))
            if size <= number(1e-7) or size <= number(1e-6) * abs(rho):
                break
            for row in range(s):
                g[row] /= size
            v = np.dot(S[i], g) * scale
            corner = np.dot(v, g)
            half = (rho - corner) / number(2.0)
            along = half + np.sqrt(half * half + size * size)
            length = np.sqrt(along * along + size * size)
            cosine, sine = along / length, size / length
            for row in range(s):
                x[row] = cosine * x[row] + sine * g[row]
                w[row] = cosine * w[row] + sine * v[row]
        length = np.sqrt(np.dot(x, x))
        for row in range(s):
            X[i, row] = x[row] / length


# ---------------------------------------------------------------- loadings under a rule
#
# A small quadratic problem for each graph, row by row, on components of norm 1: C is Gamma with a
# unit diagonal, psi and beta are scaled alike. The passive set, whose loadings are not zero, is the
# first p entries of ``order``, and the first p rows of ``L`` are the Cholesky factor of its part
# of C.

_EPS = 2.220446049250313e-16
_OPTIMAL = 1e-12  # of the largest |psi|: a slope below this is rounding

Places = NDArray[np.int64]
Mask = NDArray[np.bool_]


@njit(cache=True, nogil=True, error_model="numpy")
def penalised_rows(
    C: Array, Psi: Array, penalty: float, signed: bool, warm: Array, out: Array
) -> None:
    """Fill each row of ``out`` with argmin beta C beta - 2 psi . beta + 2 penalty ||beta||_1.

    Parameters
    ----------
    C : (1 or m, d, d)
        Inner products of components of norm 1.
    Psi : (m, d)
        Their inner products with the graphs.
    penalty
        At least 0.
    signed
        False: beta >= 0, and a penalty of 0 makes it nonnegative least squares.
    warm : (m, d)
        The signs tell where to begin.
    out : (m, d)
        Solutions.
    """
    m, d = Psi.shape
    order, L, sigma = np.empty(d, np.int64), np.empty((d, d)), np.ones(d)
    allowed = np.ones(d, np.bool_)
    for i in range(m):
        beta, G = out[i], C[i % C.shape[0]]
        p = _begin(G, Psi[i], penalty, signed, warm[i], order, L, beta, sigma)
        _active_set(G, Psi[i], penalty, signed, allowed, order, p, L, beta, sigma)


@njit(cache=True, nogil=True, error_model="numpy")
def pursue_rows(C: Array, Psi: Array, most: int, signed: bool, previous: Array, out: Array) -> None:
    """Fill each row of ``out`` by orthogonal matching pursuit with at most ``most`` nonzeros.

    Where least squares on the support of ``previous`` (m, d) leave less, they are taken. A
    support that is too large is not considered.
    """
    m, d = Psi.shape
    order, L, sigma = np.empty(d, np.int64), np.empty((d, d)), np.ones(d)
    allowed, other = np.empty(d, np.bool_), np.empty(d)
    for i in range(m):
        beta, G = out[i], C[i % C.shape[0]]
        if signed:
            _pursue(G, Psi[i], most, order, L, beta)
        else:
            _pursue_nonnegative(G, Psi[i], most, allowed, order, L, beta, sigma)
        nonzeros, same = 0, True
        for k in range(d):
            allowed[k] = previous[i, k] != 0
            nonzeros += allowed[k]
            same &= allowed[k] == (beta[k] != 0)
        if nonzeros == 0 or nonzeros > most or same:
            continue
        other[:] = 0.0
        if signed:
            _least_squares(G, Psi[i], allowed, order, L, other)
        else:
            _active_set(G, Psi[i], 0.0, False, allowed, order, 0, L, other, sigma)
        # Equal up to rounding counts as equal: the pursuit's own answer stays.
        now, then = _objective(G, Psi[i], beta), _objective(G, Psi[i], other)
        if then < now - 8 * d * _EPS * abs(now):
            beta[:] = other


@njit(cache=True, nogil=True, error_model="numpy")
def support_rows(C: Array, Psi: Array, support: Mask, signed: bool, out: Array) -> None:
    """Fill each row of ``out`` with least squares on its row of ``support`` (m, d).

    Nonnegative ones unless ``signed``.
    """
    m, d = Psi.shape
    order, L, sigma = np.empty(d, np.int64), np.empty((d, d)), np.ones(d)
    for i in range(m):
        G = C[i % C.shape[0]]
        out[i] = 0.0
        if signed:
            _least_squares(G, Psi[i], support[i], order, L, out[i])
        else:
            _active_set(G, Psi[i], 0.0, False, support[i], order, 0, L, out[i], sigma)


@njit(cache=True, nogil=True, error_model="numpy")
def _objective(C: Array, psi: Array, beta: Array) -> float:
    """Return beta C beta - 2 psi . beta."""
    total = 0.0
    for k in range(beta.shape[0]):
        if beta[k] != 0:
            total += beta[k] * (np.dot(C[k], beta) - 2 * psi[k])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _slope(C: Array, psi: Array, order: Places, p: int, beta: Array, k: int) -> float:
    """Return psi_k - (C beta)_k, half the rate at which the objective falls as beta_k grows."""
    slope = float(psi[k])
    for a in range(p):
        slope -= C[k, order[a]] * beta[order[a]]
    return slope


@njit(cache=True, nogil=True, error_model="numpy")
def _rounding(psi: Array, beta: Array) -> float:
    """Return a slope that is nothing."""
    largest, total = 0.0, 0.0
    for k in range(psi.shape[0]):
        largest = max(largest, abs(psi[k]))
        total += abs(beta[k])
    return _OPTIMAL * largest + 8 * _EPS * total


@njit(cache=True, nogil=True, error_model="numpy")
def _append(C: Array, order: Places, p: int, L: Array, j: int) -> bool:
    """Put j behind the passive set, in ``order`` and ``L``; return whether it is independent.

    The squared distance to the span of the others is bounded from below: a dependent component
    then goes very far, until another reaches zero.
    """
    order[p] = j
    left = float(C[j, j])
    for a in range(p):
        value = C[j, order[a]]
        for b in range(a):
            value -= L[a, b] * L[p, b]
        value /= L[a, a]
        L[p, a] = value
        left -= value * value
    floor = 1e-200  # what is divided by it is far away, and not yet infinite
    L[p, p] = np.sqrt(max(left, floor))
    return bool(left > floor)


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(L: Array, p: int, z: Array) -> None:
    """Turn z (p,), in place, into the solution of L L^T x = z."""
    for a in range(p):
        for b in range(a):
            z[a] -= L[a, b] * z[b]
        z[a] /= L[a, a]
    for a in range(p - 1, -1, -1):
        z[a] /= L[a, a]
        for b in range(a):
            z[b] -= L[a, b] * z[a]


@njit(cache=True, nogil=True, error_model="numpy")
def _begin(
    C: Array,
    psi: Array,
    penalty: float,
    signed: bool,
    warm: Array,
    order: Places,
    L: Array,
    beta: Array,
    sigma: Array,
) -> int:
    """Set beta to a point from which the active set may start; return the size of its support.

    The support of ``warm``, less what has not the sign that it should, until all have.
    """
    d = psi.shape[0]
    beta[:] = 0.0
    p = 0
    for k in range(d):
        if warm[k] > 0 or (signed and warm[k] < 0):
            sigma[k] = 1.0 if warm[k] > 0 else -1.0
            p += _append(C, order, p, L, k)
    z = np.empty(d)
    while p > 0:
        for a in range(p):
            z[a] = psi[order[a]] - penalty * sigma[order[a]]
        _solve(L, p, z)
        kept = 0
        for a in range(p):
            if z[a] * sigma[order[a]] > 0:
                order[kept] = order[a]
                kept += 1
        if kept == p:
            break
        p = kept
        for a in range(p):
            _append(C, order, a, L, order[a])
    for a in range(p):
        beta[order[a]] = z[a]
    return p


@njit(cache=True, nogil=True, error_model="numpy")
def _active_set(
    C: Array,
    psi: Array,
    penalty: float,
    signed: bool,
    allowed: Mask,
    order: Places,
    p: int,
    L: Array,
    beta: Array,
    sigma: Array,
) -> int:
    """Solve one row from where ``beta`` is; return the size of its support.

    Lawson and Hanson's method in the normal equations. A signed variable is a nonnegative one
    times its sign sigma, which is chosen when it enters and kept until it leaves at zero. Each step
    but the refused ones lowers the objective, so no support comes twice.
    """
    d = psi.shape[0]
    refused = np.zeros(d, np.bool_)
    for _ in range(10 * (d + 1)):  # about the number of nonzeros is usual
        nothing = _rounding(psi, beta)
        j, steepest = -1, nothing
        for k in range(d):
            if beta[k] != 0 or refused[k] or not allowed[k]:
                continue
            slope = _slope(C, psi, order, p, beta, k)
            descent = (abs(slope) if signed else slope) - penalty
            if descent > steepest:
                j, steepest = k, descent
                sigma[k] = -1.0 if slope < 0 else 1.0
        if j < 0:
            break
        before = p
        p, entered = _enter(C, psi, penalty, j, order, p, L, beta, sigma)
        if entered or p != before:  # what was refused beside others may do now
            refused[:] = False
        refused[j] = not entered
    return p


@njit(cache=True, nogil=True, error_model="numpy")
def _enter(
    C: Array,
    psi: Array,
    penalty: float,
    j: int,
    order: Places,
    p: int,
    L: Array,
    beta: Array,
    sigma: Array,
) -> tuple[int, bool]:
    """Let j into the passive set, and go to its least squares or to where others leave.

    Returns the size of the set, and whether j is in it.
    """
    d = psi.shape[0]
    z = np.empty(d)
    independent = _append(C, order, p, L, j)
    p += 1
    while True:
        for a in range(p):
            z[a] = psi[order[a]] - penalty * sigma[order[a]]
        _solve(L, p, z)
        step, first = 1.0, -1
        for a in range(p):
            k = order[a]
            if z[a] * sigma[k] <= 0:
                ratio = beta[k] / (beta[k] - z[a]) if beta[k] != 0 else 0.0
                if first < 0 or ratio < step:
                    step, first = ratio, a
        if first < 0:
            break
        kept = 0
        for a in range(p):
            k = order[a]
            beta[k] += step * (z[a] - beta[k])
            if a == first or beta[k] * sigma[k] <= 0:
                beta[k] = 0.0
            else:
                order[kept] = k
                kept += 1
        p = kept
        independent = True
        for a in range(p):
            independent &= _append(C, order, a, L, order[a])
        if p == 0:
            return 0, False
    if not independent and beta[j] == 0:
        # No other leaves on the way of a dependent component: its slope is rounding.
        return p - 1, False
    for a in range(p):
        beta[order[a]] = z[a]
    return p, beta[j] != 0


@njit(cache=True, nogil=True, error_model="numpy")
def _pursue(C: Array, psi: Array, most: int, order: Places, L: Array, beta: Array) -> None:
    """Fill ``beta`` by orthogonal matching pursuit."""
    d = psi.shape[0]
    taken = np.zeros(d, np.bool_)
    beta[:] = 0.0
    z = np.empty(d)
    p = 0
    while p < most:
        j, steepest = -1, _rounding(psi, beta)
        for k in range(d):
            if not taken[k]:
                slope = abs(_slope(C, psi, order, p, beta, k))
                if slope > steepest:
                    j, steepest = k, slope
        if j < 0:
            break
        taken[j] = True
        if not _append(C, order, p, L, j):
            continue  # in the span of those before it, and for good
        p += 1
        for a in range(p):
            z[a] = psi[order[a]]
        _solve(L, p, z)
        for a in range(p):
            beta[order[a]] = z[a]


@njit(cache=True, nogil=True, error_model="numpy")
def _pursue_nonnegative(
    C: Array,
    psi: Array,
    most: int,
    allowed: Mask,
    order: Places,
    L: Array,
    beta: Array,
    sigma: Array,
) -> None:
    """Fill ``beta`` by a matching pursuit with nonnegative least squares after each addition.

    A component that these set to zero gives its place back.
    """
    d = psi.shape[0]
    refused = np.zeros(d, np.bool_)
    beta[:] = 0.0
    p = 0
    for _ in range(10 * (d + 1)):
        if p >= most:
            break
        j, steepest = -1, _rounding(psi, beta)
        for k in range(d):
            if beta[k] == 0 and not refused[k]:
                slope = _slope(C, psi, order, p, beta, k)
                if slope > steepest:
                    j, steepest = k, slope
        if j < 0:
            break
        for k in range(d):
            allowed[k] = k == j or beta[k] != 0
        p = _active_set(C, psi, 0.0, False, allowed, order, p, L, beta, sigma)
        refused[j] = beta[j] == 0


@njit(cache=True, nogil=True, error_model="numpy")
def _least_squares(
    C: Array, psi: Array, support: Mask, order: Places, L: Array, beta: Array
) -> None:
    """Fill ``beta`` with least squares on a support, of which dependent components get zero."""
    d = psi.shape[0]
    p = 0
    for k in range(d):
        if support[k]:
            p += _append(C, order, p, L, k)
    z = np.empty(d)
    for a in range(p):
        z[a] = psi[order[a]]
    _solve(L, p, z)
    for a in range(p):
        beta[order[a]] = z[a]
