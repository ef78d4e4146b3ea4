"""One component in a basis, compiled: climbs from many starts, and Newton's method to a maximum.

Cores C_i (s, s), or (s, t) of directed graphs, are packed into rows with the same inner products.
A component of norm 1 is a *point*: its coordinates in the basis, one unit vector per side, one
behind the other. On rows R_i = C_i - sum_j lam_ij E_j, f is

    f(x) = sum_i w_i max(0, gain(tau_i) - c_i),    tau_i = t_i / sqrt(q_i),   t_i = <R_i, y z^T>,

with z = y for one side. Geometry (s, t), metric (q) and rule (gain) are values of one record,
:class:`Core`, and each has its few functions below; climb and Newton's method are written once.
With c = 2 (one side) and c = 1 (two), u = (gradient of t) / c has <u, x> = t on every side, so that
curvatures differ by the factor c alone.

All of it is in one file: numba's cache does not see changes in other ones. What Python calls fills
arrays and returns none: to return one, numba runs Python code, and a Ctrl-C that meets it there
becomes a SystemError.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.solvers.solution import Array
from eigengraphs.system.parallel import announce_compiling

__all__ = [
    "CONCENTRATED", "Climb", "Core", "Entries", "State", "alone", "bend", "climb", "curvature",
    "maximize", "outer", "pack", "pull", "squared_norm", "turn", "unit", "unpack",
]  # fmt: skip

announce_compiling()

_EPS = float(np.finfo(np.float64).eps)
CONCENTRATED = 0.5  # of u = sum_s h_s^2 g_s^2, 1 being a single vertex and 1/2 two
_BEND, _BEND_WIDTH = 100.0, 0.005  # how steeply q turns upwards beyond, and how far that begins


class Entries(IntEnum):
    """Which entries a metric counts."""

    ALL = 0
    OFF_DIAGONAL = 1
    BY_DEGREES = 2


class Climb(IntEnum):
    """How a start climbs; see :func:`climb`."""

    PLAIN = 0
    EAGER = 1
    BY_DECREASE = 2


class Core(NamedTuple):
    """The problem of one component, as arrays.

    What ``left`` is None for is not compiled at all: numba drops the branches of functions that
    take it as an argument of its own.
    """

    R: Array  # (r, p) packed cores
    Lam: Array  # (r, k) loadings on the components so far
    E: Array  # (k, p) what these are in the basis
    w: Array  # (r,) weights
    costs: Array  # (r,) c_i, what a graph gives up for a further component
    lower: float  # loadings s of one component of norm 1: between these,
    upper: float
    penalty: float  # at 2 penalty |s|
    s: int  # coordinates on the left
    t: int  # and on the right; 0 for one side
    metric: int  # one of Entries
    left: Any  # what the metric needs: None for all entries; off the diagonal, the bases (n, s) and
    right: Any  # (n, t); by degrees, packed symmetric W_i (w, s (s + 1) / 2) left and right
    of_row: NDArray[np.int64]  # (w,) the row that each W_i belongs to: several, of a group,
    share: Array  # (w,) and its share in that row's q


class State(NamedTuple):
    """f at a point, and what its derivatives are made of; within compiled code."""

    f: float
    theta: float  # sum_i w_i s_i tau_i
    size: float  # ||r|| / theta
    r: Array  # (size,) gradient over 2 c, tangent
    S: Array  # (p,) sum_i a_i R_i, packed
    t: Array  # (r,) forms
    a: Array  # (r,) w_i s_i / sqrt(q_i)
    bends: Array  # (r,) w_i times the derivative of s_i
    q: Array  # (1,), or (r,) where it differs by graph
    g: Array  # (1, size) or (r, size), slope of q over 2 c


# ---------------------------------------------------------------- the rule


def alone(tau: Any, lower: float, upper: float, penalty: float) -> tuple[Any, Any, Any]:
    """Return the best loading s of one component with forms ``tau``, the gain, and s'."""
    over = np.abs(tau) - penalty
    wanted = np.copysign(np.maximum(over, 0.0), tau)
    inside = (lower < wanted) & (wanted < upper) & ((wanted != 0.0) | (penalty == 0.0))
    s = np.minimum(np.maximum(wanted, lower), upper)
    return s, np.abs(s) * (2.0 * over - np.abs(s)), 1.0 * inside


_alone = njit(cache=True, nogil=True, error_model="numpy")(alone)


# ---------------------------------------------------------------- the geometry


@njit(cache=True, nogil=True, error_model="numpy")
def outer(X: Array, s: int, t: int, Z: Array) -> None:
    """Fill ``Z`` (b, p) with packed y y^T, or y z^T, of points ``X`` (b, size)."""
    root = np.sqrt(2.0)
    for i in range(X.shape[0]):
        place = 0
        for row in range(s):
            if t:
                for column in range(t):
                    Z[i, place + column] = X[i, row] * X[i, s + column]
                place += t
            else:
                factor = root * X[i, row]
                for column in range(row):
                    Z[i, place + column] = factor * X[i, column]
                Z[i, place + row] = X[i, row] * X[i, row]
                place += row + 1


@njit(cache=True, nogil=True, error_model="numpy")
def pack(C: NDArray[Any], R: NDArray[Any]) -> None:
    """Fill ``R`` (b, p) with the lower triangles of symmetric ``C`` (b, s, s)."""
    root = np.sqrt(2.0)
    for i in range(len(C)):
        place = 0
        for row in range(C.shape[1]):
            for column in range(row):
                R[i, place + column] = root * C[i, row, column]
            R[i, place + row] = C[i, row, row]
            place += row + 1


@njit(cache=True, nogil=True, error_model="numpy")
def unpack(z: NDArray[Any], s: int, C: NDArray[Any]) -> None:
    """Fill ``C`` (s, s) with the symmetric matrix that is packed in ``z`` (p,)."""
    place, half = 0, 1.0 / np.sqrt(2.0)
    for row in range(s):
        for column in range(row):
            value = half * z[place + column]
            C[row, column] = value
            C[column, row] = value
        C[row, row] = z[place + row]
        place += row + 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def pull(R: NDArray[Any], x: Array, s: int, t: int, U: Array) -> None:
    """Fill ``U`` (r, size) with u of every packed core: C_i y, or C_i z beside C_i^T y."""
    off = x / np.sqrt(2.0)  # off the diagonal, packed entries are sqrt(2) times those of a core
    for i in range(R.shape[0]):
        for row in range(s + t):
            U[i, row] = 0.0
        first = 0
        for row in range(s):
            end = t if t else row
            entries, others = R[i, first : first + end], x[s:] if t else off[:row]
            total = 0.0
            for column in range(end):
                total += entries[column] * others[column]
            U[i, row] += total
            factor, to = (x[row], U[i, s:]) if t else (off[row], U[i, :row])
            for column in range(end):
                to[column] += entries[column] * factor
            first += end
            if t == 0:
                U[i, row] += R[i, first] * x[row]
                first += 1


@njit(cache=True, nogil=True, error_model="numpy")
def unit(x: Array, s: int) -> None:
    """Make both sides of the point ``x`` unit vectors, in place; those that are zero stay."""
    for first, last in ((0, s), (s, len(x))):
        square = 0.0
        for row in range(first, last):
            square += x[row] * x[row]
        size = np.sqrt(square) if square > 0.0 else 1.0
        for row in range(first, last):
            x[row] /= size


@njit(cache=True, nogil=True, error_model="numpy")
def turn(z: Array, x: Array, s: int, t: int, n_turns: int) -> None:
    """Turn the point ``x``, in place, to where <S, y z^T> is larger, S packed in ``z`` (p,).

    One side: each step goes to the best vector in the plane of x and the gradient. Two: side after
    side. Neither ever goes down.
    """
    largest = 0.0
    for e in range(len(z)):
        largest = max(largest, abs(z[e]))
    if largest == 0.0:
        return
    S = np.empty((1, len(z)))
    for e in range(len(z)):
        S[0, e] = z[e] / (s * largest)  # then squares stay within the range of the type
    w, v, g = np.empty((1, s + t)), np.empty((1, s + t)), np.empty(s)
    pull(S, x, s, t, w)
    for _ in range(n_turns):
        if t:
            for row in range(s):
                x[row] = w[0, row]
            unit(x, s)
            pull(S, x, s, t, w)
            for row in range(s, s + t):
                x[row] = w[0, row]
            unit(x, s)
            pull(S, x, s, t, w)
            continue
        rho = np.dot(w[0], x)
        for row in range(s):
            g[row] = w[0, row] - rho * x[row]
        size = np.sqrt(np.dot(g, g))
        if size <= 1e-14 or size <= 1e-12 * abs(rho):
            break
        unit(g, s)
        pull(S, g, s, t, v)
        half = (rho - np.dot(v[0], g)) / 2.0
        along = half + np.sqrt(half * half + size * size)
        length = np.sqrt(along * along + size * size)
        cosine, sine = along / length, size / length
        for row in range(s):
            x[row] = cosine * x[row] + sine * g[row]
            w[0, row] = cosine * w[0, row] + sine * v[0, row]
    unit(x, s)


# ---------------------------------------------------------------- the metric


def bend(u: Any) -> tuple[Any, Any, Any]:
    """Return what is added to q = 1 - u, and its first and second derivatives by u.

    _BEND e^3 / (e + width) for e = u - 1/2: a square but for its beginning, where its curvature
    begins at zero. With a jump there, Newton's steps from below are far too long.
    """
    c, e = _BEND_WIDTH, np.maximum(u - CONCENTRATED, 0.0)
    value = e**3 / (e + c)
    slope, curvature = e**2 * (2 * e + 3 * c) / (e + c) ** 2, 2 - 2 * (c / (e + c)) ** 3
    return _BEND * value, _BEND * slope, _BEND * curvature


_bend = njit(cache=True, nogil=True, error_model="numpy")(bend)


@njit(cache=True, nogil=True, error_model="numpy")
def _in_full(core: Core, x: Array) -> tuple[Array, Array, float, Array]:
    """Return h = U y and g = V z, (n,), u = sum_s h_s^2 g_s^2, and its slope over 2 c, (size,)."""
    h = np.dot(core.left, x[: core.s])
    g = np.dot(core.right, x[core.s :]) if core.t else h
    u, weights, slope = 0.0, np.empty(len(h)), np.empty(len(x))
    for j in range(2 if core.t else 1):  # U^T (h g^2) beside V^T (g h^2)
        mine, other = (g, h) if j else (h, g)
        u = 0.0
        for vertex in range(len(h)):
            weights[vertex] = mine[vertex] * other[vertex] ** 2
            u += weights[vertex] * mine[vertex]
        part = np.dot(weights, core.right if j else core.left)
        for row in range(len(part)):
            slope[j * core.s + row] = part[row]
    return h, g, u, slope


@njit(cache=True, nogil=True, error_model="numpy")
def _by_degrees(core: Core, x: Array) -> tuple[Array, Array, Array]:
    """Return W_i y beside W_i z, (w, size), y^T W_i y and z^T W_i z, (w,); one side: both alike."""
    s, count = core.s, len(core.left)
    U, a = np.empty((count, len(x))), np.zeros((2, count))
    for j in range(2 if core.t else 1):
        mine = x[s:] if j else x[:s]
        part = np.empty((count, len(mine)))
        pull(core.right if j else core.left, mine, len(mine), 0, part)
        for i in range(count):
            for row in range(len(mine)):
                U[i, j * s + row] = part[i, row]
                a[j, i] += part[i, row] * mine[row]
    return U, a[0], a[1] if core.t else a[0]


@njit(cache=True, nogil=True, error_model="numpy")
def squared_norm(core: Core, x: Array, left: Array | None) -> tuple[Array, Array]:
    """Return q, (1,) or (r,), at the point ``x``, and its slope over 2 c, (1 or r, size)."""
    q, slope = np.ones(1), np.empty((1, len(x)))
    if left is None:
        for row in range(len(x)):
            slope[0, row] = x[row]
        return q, slope
    if core.metric == Entries.BY_DEGREES:
        U, a, b = _by_degrees(core, x)
        norms, slopes = np.zeros(len(core.w)), np.zeros((len(core.w), len(x)))
        for i in range(len(a)):
            place = core.of_row[i]
            norms[place] += core.share[i] * a[i] * b[i]
            for row in range(len(x)):
                slopes[place, row] += core.share[i] * (b[i] if row < core.s else a[i]) * U[i, row]
        return norms, slopes
    _, _, u, pushes = _in_full(core, x)
    added, bent, _ = _bend(u)
    q[0] = 1.0 - u + added
    for row in range(len(x)):  # so that the slope along the point is q
        slope[0, row] = (q[0] + (1.0 - bent) * u) * x[row] - (1.0 - bent) * pushes[row]
    return q, slope


@njit(cache=True, nogil=True, error_model="numpy")
def _weighted(left: Array, weights: Array, right: Array) -> Array:
    """Return left^T Diag(weights) right."""
    scaled = np.empty(right.shape)
    for vertex in range(len(weights)):
        for column in range(right.shape[1]):
            scaled[vertex, column] = weights[vertex] * right[vertex, column]
    product: Array = np.dot(left.T, scaled)
    return product


@njit(cache=True, nogil=True, error_model="numpy")
def curvature(core: Core, x: Array, left: Array | None, shares: Array, K: Array) -> None:
    """Add sum_i shares_i q_i'' over 2 c to ``K`` (size, size), on the tangent space."""
    s, total = core.s, np.sum(shares)
    if left is None:
        for row in range(len(x)):
            K[row, row] += total
        return
    if core.metric == Entries.BY_DEGREES:
        U, a, b = _by_degrees(core, x)
        shares = shares[core.of_row] * core.share
        for j in range(2 if core.t else 1):
            first, width = j * s, core.t if j else s
            block = np.empty((width, width))
            unpack(np.dot(shares * (a if j else b), core.right if j else core.left), width, block)
            _add_block(K, first, first, 1.0, block)
        square = _weighted(U, shares, U)
        for row in range(len(x)):
            for column in range(len(x)):
                if core.t == 0 or (row < s) != (column < s):
                    K[row, column] += 2.0 * square[row, column]
        return
    h, g, u, pushes = _in_full(core, x)
    added, bent, curved = _bend(u)
    flat = total * (1.0 - bent)
    along = total * (1.0 - u + added) + flat * u  # as q is of fourth order in its point
    # Of u, over 2 c: 3 h^2 on the diagonal of one side; g^2, h^2 and twice h g of two.
    squares = _weighted(core.left, g * g, core.left)
    _add_block(K, 0, 0, -flat if core.t else -3.0 * flat, squares)
    if core.t:
        cross = _weighted(core.left, h * g, core.right)
        _add_block(K, s, s, -flat, _weighted(core.right, h * h, core.right))
        _add_block(K, 0, s, -2.0 * flat, cross)
        _add_block(K, s, 0, -2.0 * flat, cross.T.copy())
    square = (2.0 if core.t else 4.0) * curved * total  # what the bend adds
    for row in range(len(x)):
        for column in range(len(x)):
            K[row, column] += square * pushes[row] * pushes[column]
    for row in range(len(x)):
        K[row, row] += along


@njit(cache=True, nogil=True, error_model="numpy")
def _add_block(K: Array, first: int, left: int, factor: float, block: Array) -> None:
    """Add a block to ``K`` that begins at this row and column."""
    for row in range(block.shape[0]):
        for column in range(block.shape[1]):
            K[first + row, left + column] += factor * block[row, column]


@njit(cache=True, nogil=True, error_model="numpy")
def _lift(core: Core, x: Array, left: Any, share: float, a: Array, t: Array, z: Array) -> None:
    """Add what q adds to the matrix that a climb turns towards to ``z`` (p,).

    Off the diagonal that is share U^T (h g) V. By degrees, of one side, it is the sum of
    - (a_i t_i / q_i) (y^T W_i y) W_i; of two, W_i is near the identity, and the climb does without.
    """
    if left is None:
        return
    if core.metric == Entries.BY_DEGREES:
        if core.t:
            return
        norms, forms = squared_norm(core, x, left)[0], _by_degrees(core, x)[1]
        z -= np.dot((a * t / norms)[core.of_row] * core.share * forms, core.left)
        return
    h, g, _, _ = _in_full(core, x)
    D = _weighted(core.left, h * g, core.right if core.t else core.left)
    place = 0
    for row in range(core.s):
        for column in range(core.t if core.t else row + 1):
            packed = 1.0 if core.t or column == row else np.sqrt(2.0)
            z[place] += share * packed * D[row, column]
            place += 1


# ---------------------------------------------------------------- the climb


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(
    core: Core, X: Array, T: Array, overlaps: Array, modes: NDArray[np.int64], early: bool,
    new: float, f: Array, A: Array, shares: Array,
) -> None:  # fmt: skip
    """Fill ``f`` (b,), and the weights of rows and metric in its linear model, (b, r) and (b,).

    ``T`` (b, r) holds the forms at points ``X`` (b, size), and ``overlaps`` (b, k) the inner
    products with an orthonormal basis of the earlier components. See :func:`climb` for the others.
    """
    b, r = T.shape
    for i in range(b):
        f[i] = shares[i] = 0.0
        q = squared_norm(core, X[i], core.left)[0]
        for j in range(r):
            root = np.sqrt(q[j % len(q)])
            tau = T[i, j] / root
            loading, gain, _ = _alone(tau, core.lower, core.upper, core.penalty)
            gain -= core.costs[j]
            if early and modes[i] == Climb.EAGER:
                loading = abs(tau) if core.lower >= 0.0 else tau
            elif gain <= 0.0:
                loading = 0.0
            f[i] += core.w[j] * max(gain, 0.0)
            A[i, j] = core.w[j] * loading / root
            shares[i] += A[i, j] * tau / root
        if overlaps.shape[1]:
            left = max(1.0 - np.dot(overlaps[i], overlaps[i]) / q[0], new)
            f[i] /= left
            if modes[i] == Climb.BY_DECREASE:
                shares[i] /= left


@njit(cache=True, nogil=True, error_model="numpy")
def climb(
    core: Core, X: Array, modes: NDArray[np.int64], n_steps: int, n_turns: int, known: Array,
    new: float, f: Array,
) -> None:  # fmt: skip
    """Take steps with points ``X`` (b, size), in place; fill ``f`` (b,) with f where they end.

    f is convex in the forms, so its linear model bounds it from below: turning towards the top
    direction of that never lowers f, but where q is bent.

    Parameters
    ----------
    core
        The problem.
    X : (b, size)
        Unit points.
    modes : (b,)
        How each climbs, a :class:`Climb`: ``PLAIN``, by f; ``EAGER``, in the first half as if there
        were neither thresholds nor costs, since no way is up where no graph takes the component;
        ``BY_DECREASE``, by the decrease of the objective when all loadings are solved again,
        F = f / (1 - sum_j <S, known_j>^2 / q). F <S, known_j>^2 is convex, too, and maxima that
        overlap with earlier components are hard to find by f.
    n_steps, n_turns
        Steps, and products with the linear model in each.
    known : (k, p)
        Orthonormal basis of the earlier components; (0, p) where loadings are not linear. With
        it, it is F that is filled in.
    new
        Share of a component that counts as new at least.
    """
    Z, A = np.empty((len(X), core.R.shape[1])), np.empty((len(X), len(core.w)))
    shares = np.empty(len(X))
    for step in range(n_steps + 1):
        outer(X, core.s, core.t, Z)
        T = np.dot(Z, core.R.T)
        if len(core.E):
            T -= np.dot(np.dot(Z, core.E.T), core.Lam.T)
        overlaps = np.dot(Z, known.T)
        _weigh(core, X, T, overlaps, modes, step < n_steps // 2, new, f, A, shares)
        if step == n_steps:
            break
        Z = np.dot(A, core.R)
        if len(core.E):
            Z -= np.dot(np.dot(A, core.Lam), core.E)
        for i in range(len(X)):
            _lift(core, X[i], core.left, shares[i], A[i], T[i], Z[i])
            if modes[i] == Climb.BY_DECREASE:
                for j in range(len(known)):
                    for e in range(Z.shape[1]):
                        Z[i, e] += shares[i] * overlaps[i, j] * known[j, e]
            turn(Z[i], X[i], core.s, core.t, n_turns)


# ---------------------------------------------------------------- Newton's method


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate(core: Core, x: Array) -> State:
    """Return f and its gradient at the point ``x`` (size,)."""
    s, r = core.s, len(core.w)
    Z = np.empty((1, core.R.shape[1]))
    outer(x.reshape(1, len(x)), s, core.t, Z)
    t = np.dot(core.R, Z[0])
    if len(core.E):
        t -= np.dot(core.Lam, np.dot(core.E, Z[0]))
    q, g = squared_norm(core, x, core.left)
    a, b, bends = np.empty(r), np.zeros(len(q)), np.empty(r)
    f = theta = 0.0
    for j in range(r):
        norm = q[j % len(q)]
        root = np.sqrt(norm)
        tau = t[j] / root
        loading, gain, slope = _alone(tau, core.lower, core.upper, core.penalty)
        gain -= core.costs[j]
        if gain <= 0.0 < core.costs[j]:
            loading = slope = gain = 0.0
        a[j] = core.w[j] * loading / root
        bends[j] = core.w[j] * slope
        b[j % len(q)] += a[j] * tau / root
        theta += core.w[j] * loading * tau
        f += core.w[j] * gain
    S = np.dot(a, core.R)
    if len(core.E):
        S -= np.dot(np.dot(a, core.Lam), core.E)
    u = np.empty((1, len(x)))
    pull(S.reshape(1, len(S)), x, s, core.t, u)
    gradient = u[0] - np.dot(b, g)
    for first, last in ((0, s), (s, len(x))):
        along = 0.0
        for row in range(first, last):
            along += gradient[row] * x[row]
        for row in range(first, last):
            gradient[row] -= along * x[row]
    size = np.sqrt(np.dot(gradient, gradient)) / theta if theta > 0.0 else 0.0
    return State(f, theta, size, gradient, S, t, a, bends, q, g)


@njit(cache=True, nogil=True, error_model="numpy")
def _minus_hessian(core: Core, x: Array, left: Array | None, now: State) -> Array:
    """Return minus the Hessian of f over 2 c on the tangent space, (size, size).

    With g_i the slope of q_i, and b_i = (u_i - (t_i / q_i) g_i) / sqrt(q_i), f has the Hessian

        c sum w s' b b^T + hess(S) - c sum (a / q) (u g^T + g u^T) + 3 c sum (a t / q^2) g g^T
        - sum (a t / q) q''.

    Along the point itself there is no way to go: these directions get a unit of their own.
    """
    s, size, r, n_q = core.s, len(x), len(core.w), len(now.q)
    c = 1.0 if core.t else 2.0
    K = np.zeros((size, size))
    if core.t:
        for row in range(s):
            for column in range(core.t):
                value = -now.S[row * core.t + column]
                K[row, s + column] = value
                K[s + column, row] = value
    else:
        unpack(-now.S, s, K)
    U = np.empty((r, size))
    pull(core.R, x, s, core.t, U)
    if len(core.E):
        pulled = np.empty((len(core.E), size))
        pull(core.E, x, s, core.t, pulled)
        U -= np.dot(core.Lam, pulled)
    shares = np.empty(r)
    for j in range(r):
        shares[j] = now.a[j] * now.t[j] / now.q[j % n_q]
    curvature(core, x, left, shares, K)
    V = np.empty((size, r))
    if left is not None:  # else the slope is along the point
        G = np.empty((size, r))
        for j in range(r):
            q, ratio = now.q[j % n_q], now.t[j] / now.q[j % n_q]
            root = np.sqrt(q)
            for e in range(size):
                g, u = now.g[j % n_q, e], U[j, e]
                G[e, j] = g
                V[e, j] = c * now.a[j] / q * (2.0 * u - 3.0 * ratio * g)
                U[j, e] = (u - ratio * g) / root
        block = np.dot(V, G.T)
        _add_block(K, 0, 0, 0.5, block)
        _add_block(K, 0, 0, 0.5, block.T.copy())
    for j in range(r):
        root = np.sqrt(c * now.bends[j])
        for e in range(size):
            V[e, j] = root * U[j, e]
    _add_block(K, 0, 0, -1.0, np.dot(V, V.T))
    along_side, v = np.zeros(size), np.empty(size)
    for first, last in ((0, s), (s, size)):
        if last > first:
            for row in range(size):
                along_side[row] = x[row] if first <= row < last else 0.0
            v = np.dot(K, along_side)
            share = (np.dot(along_side, v) + now.theta) / 2.0
            for row in range(size):
                v[row] -= share * along_side[row]
            for row in range(size):
                for column in range(size):
                    K[row, column] -= along_side[row] * v[column] + v[row] * along_side[column]
    return K


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _solve_positive(K: Array, x: Array) -> bool:
    """Replace ``x`` by K^-1 x, and ``K`` by its Cholesky factor; False if there is none."""
    size = len(x)
    for row in range(size):
        mine = K[row]
        for column in range(row + 1):
            other = K[column]
            total = 0.0
            for e in range(column):
                total += mine[e] * other[e]
            if column < row:
                mine[column] = (mine[column] - total) / other[column]
            elif mine[row] - total > 0.0:
                mine[row] = np.sqrt(mine[row] - total)
            else:
                return False  # nor if it is no number
    for row in range(size):
        mine, total = K[row], 0.0
        for e in range(row):
            total += mine[e] * x[e]
        x[row] = (x[row] - total) / mine[row]
    for row in range(size - 1, -1, -1):
        mine = K[row]
        x[row] /= mine[row]
        for e in range(row):
            x[e] -= mine[e] * x[row]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def maximize(
    core: Core, x: Array, tol: float, n_newton: int, n_climb: int, n_turns: int, rough: float,
    curved: float, r: Array, t: Array, a: Array, numbers: Array,
) -> None:  # fmt: skip
    """Take the point ``x``, in place, to a maximum by Newton's method.

    Where f bends upwards eigenvalues are turned round, which leads away from saddle points.

    Parameters
    ----------
    core, x
        The problem, and a unit point (size,).
    tol
        Relative gradient to reach. From ``rough`` on, where it is reached is not asked.
    n_newton, n_climb, n_turns
        Steps of Newton's method; and of a climb, far from any maximum.
    rough
        Step after which f is concave if it was before.
    curved
        Curvature, relative to theta, of a way up from a saddle point.
    r, t, a, numbers
        To fill with what :class:`State` has there: these, and f, theta, size and the first q.
    """
    size, now = len(x), evaluate(core, x)
    step, length, far = np.zeros(size), 1.0, 0.0
    concave = small = False  # concave: so it was a short step before, and need not be looked at
    # Far from any maximum Newton's steps are short: climb first.
    n_climbs = n_climb if now.size > 1.0 or now.theta <= 0.0 else 0
    for _ in range(n_newton):
        last_resort = False
        if n_climbs == 0:
            small = now.size <= tol
            if now.theta <= 0.0 or (small and (concave or tol >= rough)):
                break
            K = _minus_hessian(core, x, core.left, now)
            for row in range(size):
                step[row] = now.r[row]
                K[row, row] += curved * now.theta if small else 0.0
            concave = _solve_positive(K.copy(), step)
            if concave and small:
                break
            if not concave:
                _turn_round(K, now.r, 0.0 if small else 1e-3 * now.theta, step)
            far = np.sqrt(np.dot(step, step))
            concave = concave and far <= rough
            length = 1.0 / max(far, 1.0)  # farther than a unit is as good as anywhere
        while True:  # the first of some points along the step that is better, or a climb
            trial = x + length * step
            if n_climbs:
                trial = x.copy()
                z = now.S.copy()
                _lift(core, x, core.left, now.theta / now.q[0], now.a, now.t, z)
                turn(z, trial, core.s, core.t, n_turns)
            unit(trial, core.s)
            there = evaluate(core, trial)
            shorter = np.dot(there.r, there.r) < 0.25 * np.dot(now.r, now.r)
            # At the rounding of f the gradient decides.
            found = there.f > now.f * (1 + 4 * _EPS) or (
                there.f >= now.f * (1 - 100 * _EPS) and shorter
            )
            if found or n_climbs:
                break
            if small:  # either way along a saddle
                length = -length if length > 0.0 else -0.1 * length
                if abs(length) < 0.05:
                    break
            elif abs(length) * far < 1e-4:
                n_climbs, last_resort = 1, True
            else:
                length *= 0.2
        if found:
            now = there
            for row in range(size):
                x[row] = trial[row]
            n_climbs = max(n_climbs - 1, 0)
        elif n_climbs and not last_resort:
            n_climbs = 0
        else:
            break
    for e in range(size):
        r[e] = now.r[e]
    for j in range(len(t)):
        t[j], a[j] = now.t[j], now.a[j]
    numbers[0], numbers[1], numbers[2], numbers[3] = now.f, now.theta, now.size, now.q[0]


@njit(cache=True, nogil=True, error_model="numpy")
def _turn_round(K: Array, r: Array, floor: float, step: Array) -> None:
    """Fill ``step`` with |K|^-1 r, eigenvalues at least ``floor``; or, for 0, the way up."""
    values, vectors = np.linalg.eigh(K)
    if floor == 0.0:
        for row in range(len(step)):
            step[row] = 0.3 * vectors[row, 0]
        return
    along = np.dot(vectors.T, r)  # as elsewhere, lest numba compiles another product
    for e in range(len(values)):
        along[e] /= max(abs(values[e]), floor)
    np.dot(along, vectors.T, step)
