"""Climb to a maximum of f: limited-memory BFGS, with an exact search on every line.

The lines make each step one pass over the graphs (:mod:`masked_quotient`), and several climbs
share their passes: products with a few columns cost little more than with one.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from eigengraphs.solvers.masked_quotient import Line, Loss, Place, Products
from eigengraphs.solvers.masked_residuals import MaskedResiduals
from eigengraphs.solvers.protocol import Array

__all__ = ["Climb", "way_up"]

_MEMORY = 12  # steps that the curvature is learnt from
_REFRESH = 30  # iterations between fresh products, before rounding adds up
_PATIENCE = 40  # iterations without a smaller gradient: rounding is all that is left
_LANCZOS = 10  # steps, a pass each; a saddle that matters shows in fewer
_CURVED = 1e-5  # curvature over theta that is more than the gradient's own rounding
_FLAT = float(np.finfo(np.float64).eps) ** 2


class Climb:
    """One search from one start, step by step: whoever runs it makes the products it asks for.

    Parameters
    ----------
    start
        Name of the start.
    h : (n,)
        Where to begin.
    loss
        Weights and floors.
    tol
        Stop when ||r|| <= tol * theta.
    max_iter
        Most steps.
    nothing
        A theta below this is none.
    rounding
        A relative gradient below this may be rounding.
    """

    def __init__(
        self,
        start: str,
        h: Array,
        loss: Loss,
        tol: float,
        max_iter: int,
        nothing: float,
        rounding: float,
    ) -> None:
        self.start, self.n_iter, self.reason = start, 0, ""
        self.place: Place | None = None
        self._h, self._loss, self._nothing = h / linalg.norm(h), loss, nothing
        self._tol, self._max_iter, self._rounding = tol, max_iter, rounding
        self._stale = True  # products at h itself are wanted
        self._p = self._h
        self._steps: list[tuple[Array, Array, float]] = []
        self._best, self._best_iter, self._best_theta = np.inf, 0, 0.0

    @property
    def theta(self) -> float:
        """The objective now, 0 before the first products."""
        return 0.0 if self.place is None else self.place.theta

    @property
    def stationarity(self) -> float:
        """The relative gradient now."""
        return np.inf if self.place is None else self.place.stationarity

    @property
    def wants(self) -> tuple[Array, Array]:
        """The point h and the direction p for which products are wanted."""
        return (self._h, self._h) if self._stale else (self._h, self._p)

    def go_on(self, products: Products) -> None:
        """Take the step that the products allow; ``reason`` says when it was the last."""
        if self._stale or self.place is None:
            self.place = Place.at(self._h, products.Rp, products.Mpp, self._loss)
            self._stale = False
            self._finish()
        else:
            before = self.place
            a = Line(before, self._p, products, self._loss).best()
            self.place = before.along(self._p, products, a, self._loss)
            self._h = self.place.h
            self._learn(self.place.h - before.h, before.r - self.place.r)
            self.n_iter += 1
            out_of_patience = self._note()
            self._stale = (
                self.place.stationarity <= self._tol
                or self.n_iter % _REFRESH == 0
                or self.n_iter >= self._max_iter
                or out_of_patience
            )
        if not self._stale and not self.reason:
            self._p = self._direction(self.place)

    def _note(self) -> bool:
        """Keep the best gradient; return whether it was long ago."""
        stationarity, theta = self.stationarity, self.theta
        if stationarity < self._best:
            self._best, self._best_iter, self._best_theta = stationarity, self.n_iter, theta
            return False
        patient = self.n_iter - self._best_iter < _PATIENCE
        return not patient and theta <= self._best_theta * (1 + 1e-10)

    def _finish(self) -> None:
        """Say whether fresh products show the end."""
        if self.theta <= self._nothing:
            self.reason = "flat"
        elif self.stationarity <= self._tol:
            self.reason = "stationary"
        elif self.n_iter >= self._max_iter:
            self.reason = "max_iter"
        elif self.n_iter and self._note():
            self.reason = "precision" if self.stationarity <= self._rounding else "stalled"

    def _learn(self, s: Array, y: Array) -> None:
        """Keep a step and the change of -gradient on it, where f bends down."""
        sy = float(s @ y)
        if sy > 1e-8 * float(linalg.norm(s)) * float(linalg.norm(y)):
            self._steps = [*self._steps[1 - _MEMORY :], (s, y, sy)]

    def _direction(self, place: Place) -> Array:
        """Return where to look next, (n,): tangent to the sphere, and up."""
        p = place.r.copy()
        amounts = []
        for s, y, sy in reversed(self._steps):
            amount = float(s @ p) / sy
            amounts.append(amount)
            p -= amount * y
        if self._steps:
            _, y, sy = self._steps[-1]
            p *= sy / float(y @ y)
        else:
            p /= place.theta  # the length of a power iteration
        for (s, y, sy), amount in zip(self._steps, reversed(amounts), strict=True):
            p += (amount - float(y @ p) / sy) * s
        p -= (p @ place.h) * place.h
        if float(p @ place.r) <= 1e-10 * float(linalg.norm(p)) * float(linalg.norm(place.r)):
            self._steps = []
            p = place.r / place.theta
        return p


def way_up(
    residuals: MaskedResiduals, place: Place, loss: Loss, rng: np.random.Generator
) -> Array | None:
    """Return a unit vector beyond a saddle point, up from it, or None at a maximum.

    A few Lanczos steps, a pass each, look for a tangent vector along which f bends up.
    """
    h, n = place.h, len(place.h)
    Q, HQ = np.zeros((n, 0)), np.zeros((n, 0))
    q = rng.standard_normal(n)
    for _ in range(min(_LANCZOS, n - 1)):
        for _ in range(2):  # orthogonal to h and to all that came before
            q = q - h * (h @ q) - Q @ (Q.T @ q)
        size = float(linalg.norm(q))
        if size <= 1e-10 * place.theta:  # the vectors span all that the Hessian can reach
            break
        q /= size
        Hq = place.curvature(q, residuals.products([(h, q)])[0], loss)
        Q, HQ = np.column_stack([Q, q]), np.column_stack([HQ, Hq])
        q = Hq
    if Q.shape[1] == 0:
        return None
    T = Q.T @ HQ
    values, vectors = linalg.eigh((T + T.T) / 2, driver="evd")
    if values[-1] <= _CURVED * place.theta:
        return None
    p = Q @ vectors[:, -1]
    a = Line(place, p, residuals.products([(h, p)])[0], loss).best(both_ways=True)
    beyond: Array = h + a * p
    return beyond / linalg.norm(beyond)
