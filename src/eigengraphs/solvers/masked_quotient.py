"""One component of graphs with hidden entries: f(h) = sum_i w_i t_i^2 / q_i, and lines on it.

With R_i what earlier components left, t_i = h^T R_i h, q_i = (h^2)^T M_i h^2 the squared norm of
M_i o h h^T, and lam_i = t_i / q_i, f is what the component takes off the objective. It does not
depend on the length of h, and a quarter of its gradient is

    r = sum_i w_i (lam_i R_i h - lam_i^2 h o (M_i h^2)),

which is sum_i w_i lam_i R_i h - theta h for complete graphs, theta = f. Where h lives on hidden
pairs q_i vanishes, and lam_i may be anything. For unit h, q_i counts as

    q_i                              from e_i on,
    (q_i^2 + e_i^2) / (2 e_i)        below, once differentiable and never under e_i / 2,

so that what graph i has to say fades with what it sees: |lam_i| <= 2 ||R_i|| / sqrt(e_i), and 0
where it sees nothing. e_i is ``FADES`` of the share of its entries that graph i observes, which
is about the q_i of a component that is spread over all vertices.

On a line h + a p, t_i is a polynomial of degree 2 in a and q_i of degree 4. So R_i p, M_i (h o p)
and M_i p^2 tell f and its slope everywhere on it: one pass for a step, whatever its length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.quotient import CONCENTRATED, norm_gradient

__all__ = ["FADES", "Line", "Loss", "Place", "Products"]

FADES = 1e-2
_BEND = 100.0  # as in quotient: q turns upwards beyond sum_s h_s^4 = 1/2 if no loop is observed
_LOCAL = 1e-4  # relative gradient below which f is too flat to choose a step by
_SMALL_SLOPE = 1e-3  # of the slope at the start of a line that ends the search on it


class Loss(NamedTuple):
    """What f is made of besides h."""

    weights: Array  # (m,)
    floors: Array  # (m,) e_i > 0
    hollow: bool  # no pair s = t is observed, so that a single vertex has q = 0


class Products(NamedTuple):
    """What a pass tells of a direction p at h, each (m, n)."""

    Rp: Array  # R_i p
    Mhp: Array  # M_i (h o p)
    Mpp: Array  # M_i p^2


class Place(NamedTuple):
    """A unit vector and f there."""

    h: Array  # (n,)
    Rh: Array  # (m, n)
    Mhh: Array  # (m, n)
    t: Array  # (m,)
    lam: Array  # (m,)
    theta: float
    r: Array  # (n,), tangent to the sphere
    stationarity: float  # ||r|| / theta

    @classmethod
    def at(cls, h: Array, Rh: Array, Mhh: Array, loss: Loss) -> Place:
        """Return the place h, a unit vector, from the products there."""
        t, q = Rh @ h, Mhh @ h**2
        size, slope = _faded(q, loss.floors)
        bend = None
        if loss.hollow:
            excess = max(float((h**4).sum()) - CONCENTRATED, 0.0)
            size = size + _BEND * excess**2
            # The gradient of the bent norm, less that of the norm without it.
            bend = norm_gradient(h[:, None])[:, 0] - (h - h**3) if excess > 0 else None
        lam = t / size
        theta = float(loss.weights @ (lam * t))
        heavy = loss.weights * lam
        r = heavy @ Rh - h * ((heavy * lam * slope) @ Mhh)
        if bend is not None:
            r -= float(heavy @ lam) * bend
        r -= (r @ h) * h
        return cls(h, Rh, Mhh, t, lam, theta, r, float(linalg.norm(r)) / max(theta, 1e-300))

    def curvature(self, p: Array, products: Products, loss: Loss) -> Array:
        """Return the Hessian of f / 4 times p, (n,), p and it tangent to the sphere.

        Exact at a stationary point, but for the bend of ``hollow``, which is left out.
        """
        h, Rh, Mhh, lam = self.h, self.Rh, self.Mhh, self.lam
        Rp, Mhp, _ = products
        q = np.maximum(Mhh @ h**2, 0.0)
        size, slope = _faded(q, loss.floors)
        dq = 4 * (Mhh @ (h * p))
        dslope = np.where(q < loss.floors, dq / loss.floors, 0.0)
        dlam = (2 * (Rh @ p) - lam * slope * dq) / size
        w = loss.weights
        change = (w * dlam) @ Rh + (w * lam) @ Rp
        change -= h * ((w * (2 * lam * dlam * slope + lam**2 * dslope)) @ Mhh)
        seen = w * lam**2 * slope
        change -= p * (seen @ Mhh) + 2 * h * (seen @ Mhp)
        # For unit h; of another length, the floors would grow with it.
        change -= float((w * lam**2) @ (size - slope * q)) * p
        return np.asarray(change - (change @ h) * h)

    def along(self, p: Array, products: Products, a: float, loss: Loss) -> Place:
        """Return the place that h + a p points to."""
        h = self.h + a * p
        length = float(linalg.norm(h))
        Rh = (self.Rh + a * products.Rp) / length
        Mhh = (self.Mhh + (2 * a) * products.Mhp + a**2 * products.Mpp) / length**2
        return Place.at(h / length, Rh, Mhh, loss)


def _faded(q: Array, floors: Array) -> tuple[Array, Array]:
    """Return what q counts as, and the derivative of that."""
    q = np.maximum(q, 0.0)
    small = q < floors
    size = np.where(small, (q**2 + floors**2) / (2 * floors), q)
    return size, np.where(small, q / floors, 1.0)


class Line:
    """f on h + a p for all a, p being tangent to the sphere at h."""

    def __init__(self, place: Place, p: Array, products: Products, loss: Loss) -> None:
        u, v, x = place.h**2, place.h * p, p**2
        Rp, Mhp, Mpp = products
        self._t = np.stack([place.t, 2 * (place.Rh @ p), Rp @ p])
        self._q = np.stack([
            place.Mhh @ u, 4 * (place.Mhh @ v), 4 * (Mhp @ v) + 2 * (place.Mhh @ x),
            4 * (Mhp @ x), Mpp @ x,
        ])  # fmt: skip
        self._fourth = np.array([u @ u, 4 * (u @ v), 6 * (v @ v), 4 * (v @ x), x @ x])[:, None]
        self._squared_length = float(x.sum())
        self._loss = loss
        self._is_local = place.stationarity <= _LOCAL

    def values(self, a: Array) -> tuple[Array, Array]:
        """Return f and its derivative at each of ``a`` (k,)."""
        a = a[:, None]
        length2 = 1 + a**2 * self._squared_length  # of h + a p
        growth = 2 * a * self._squared_length / length2  # of the logarithm of that
        t, dt = _polynomial(self._t, a, length2, growth)
        q, dq = _polynomial(self._q, a, length2**2, 2 * growth)
        size, slope = _faded(q, self._loss.floors)
        dsize = slope * dq
        if self._loss.hollow:
            z, dz = _polynomial(self._fourth, a, length2**2, 2 * growth)
            excess = np.maximum(z - CONCENTRATED, 0.0)
            size, dsize = size + _BEND * excess**2, dsize + 2 * _BEND * excess * dz
        lam = t / size
        weights = self._loss.weights
        return (lam * t) @ weights, (2 * lam * dt - lam**2 * dsize) @ weights

    def best(self, *, both_ways: bool = False) -> float:
        """Return a step to a maximum of f on the line: the highest, as far as a grid shows it.

        Near a maximum of f differences of f are rounding, and the slope alone decides.
        ``both_ways``: a may be negative.
        """
        if self._is_local and not both_ways:
            return self._near()
        length = np.sqrt(self._squared_length)
        angles = np.tan(np.linspace(0.02, 1.5, 24)) / length
        grid = np.unique(np.concatenate([[0.0], 2.0 ** np.arange(-8, 7), angles]))
        if both_ways:
            grid = np.unique(np.concatenate([-grid, grid]))
        f, slope = self.values(grid)
        j = int(np.argmax(f))
        side = 1 if slope[j] > 0 else -1
        if not 0 <= j + side < len(grid):
            return float(grid[j])
        lo, hi = sorted((j, j + side))
        return self._root(float(grid[lo]), float(slope[lo]), float(grid[hi]), float(slope[hi]))

    def _near(self) -> float:
        """Return the first maximum, around a = 1 or beyond."""
        lo, hi = 0.0, 1.0
        slope = self.values(np.array([lo, hi]))[1]
        below, above = float(slope[0]), float(slope[1])
        while above > 0 and hi < 64:
            lo, below, hi = hi, above, 2 * hi
            above = float(self.values(np.array([hi]))[1][0])
        return self._root(lo, below, hi, above)

    def _root(self, lo: float, below: float, hi: float, above: float) -> float:
        """Return where the slope falls through 0 between lo, where it rises, and hi."""
        enough = _SMALL_SLOPE * abs(below)
        a = hi
        for trial in range(20):
            a = (lo + hi) / 2
            if below > 0 > above and trial % 3 != 2:
                a = lo + (hi - lo) * below / (below - above)
            slope = float(self.values(np.array([a]))[1][0])
            if abs(slope) <= enough:
                break
            if slope > 0:
                lo, below = a, slope
            else:
                hi, above = a, slope
        return a


def _polynomial(c: Array, a: Array, scale: Array, growth: Array) -> tuple[Array, Array]:
    """Return the polynomial with coefficients ``c`` over ``scale``, and its derivative.

    ``growth`` is that of the logarithm of the scale.
    """
    value, slope = np.zeros_like(a) + c[-1], np.zeros((1, c.shape[1]))
    for row in c[-2::-1]:
        slope = slope * a + value
        value = value * a + row
    value = value / scale
    return value, slope / scale - value * growth
