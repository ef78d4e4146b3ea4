"""One component of the core problem: maximise f(y) = sum_i (y^T C_i y)^2 / q(y).

The rows of ``R`` are packed matrices C_i times sqrt(w_i), and q(y) = <h h^T, h h^T> for h = V y
over the entries that the loss counts. With all of them q = (y . y)^2 = 1. With the diagonal
unobserved q = (y . y)^2 - u for u = sum_s h_s^4, which vanishes at a single vertex, where f may
have no maximum. So q is bent upwards beyond u = 1/2: there, a component that would be a
vertex with its star stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.core_kernels import raise_quotients, stay_on_tangent
from eigengraphs.solvers.eigen import eigen_small
from eigengraphs.solvers.packing import Packer, Packing
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.remainder import Remainder

__all__ = [
    "BEND",
    "CONCENTRATED",
    "OVERLAP",
    "QUOTIENT_STEPS",
    "Quotient",
    "norm_curvature",
    "norm_gradient",
    "squared_norm",
]

OVERLAP = 0.3  # of a component is counted as new at least: less makes loadings that cancel
CONCENTRATED = 0.5  # of sum_s h_s^4, 1 being a single vertex and 1/2 two
_BEND = BEND = 100.0  # q turns upwards at sum_s h_s^4 = 1/2 + 1/(2 * _BEND)
QUOTIENT_STEPS = 8
_NEWTON_STEPS, _MAIN_STEPS = 60, 40
_FINAL_CLIMB = 4  # steps of finalists where the diagonal is unobserved
_CURVED = 1e-5  # curvature over f of a direction that leads up from a stationary point
_SHORT = 1e-2  # step of Newton's method across which the curvature keeps its sign
_RESOLVED = 1e-4  # relative gradient that float32 tells for sure,
_LITTLE = 1e-8  # where f is this much of the cores at least
_AFAR = 0.03  # relative gradient from which the first steps are on the main cores
_ROUGH = 1e-3  # relative gradient on the main cores, whose maxima are that far from those of all
_EPS = float(np.finfo(np.float64).eps)


def squared_norm(u: Array | float) -> Array:
    """Return q for unit vectors with u = sum_s h_s^4."""
    excess = np.maximum(np.asarray(u) - CONCENTRATED, 0.0)
    q: Array = 1.0 - np.asarray(u) + _BEND * excess**2
    return q


def norm_gradient(H: Array) -> Array:
    """Return the gradient of q / 4 at the unit columns of ``H`` (n, d), diagonal unobserved."""
    u = (H**4).sum(axis=0)
    excess = np.maximum(u - CONCENTRATED, 0.0)
    # q = N^2 - u + _BEND (u - N^2 / 2)^2 / N^2 with N = h . h, at N = 1.
    on_h = 1.0 - _BEND * excess * (1.0 + excess)
    gradient: Array = H * on_h - H**3 * (1.0 - 2.0 * _BEND * excess)
    return gradient


def norm_curvature(H: Array) -> Array:
    """Return vectors x_k, (n, d), such that bending adds about x_k x_k^T to the Hessian of q."""
    bent = (H**4).sum(axis=0) > CONCENTRATED
    vectors: Array = np.sqrt(2 * _BEND) * 4 * H**3 * bent
    return vectors


def _norm(x: Array) -> float:
    return float(np.sqrt(x @ x))  # a tenth of what scipy's takes on short vectors


def _unit(y: Array) -> Array:
    return y / _norm(y)


def _along(y: Array, step: Array, unit: Callable[[Array], Array] = _unit) -> Iterator[Array]:
    """Yield unit vectors nearer and nearer to y."""
    for length in (1.0, 0.5, 0.1, 0.01, 1e-3, 1e-4):
        yield unit(y + length * step)


class Quotient:
    """The objective of one component, with ways up.

    Parameters
    ----------
    R : (r, p), or Remainder
        Packed weighted cores of what the earlier components left.
    packing
        Of s x s matrices.
    V : (n, s) or None
        The basis, if the diagonal is unobserved: then q depends on h and not on y alone.
    room
        How many components may be taken off the cores, if they are a Remainder.

    Attributes
    ----------
    forms : (r,)
        y^T C_i y at the last y that :meth:`maximise` or :meth:`measure` returned.
    """

    def __init__(
        self, R: Array | Remainder, packing: Packing, V: Array | None = None, room: int = 0
    ) -> None:
        self._begin(R if isinstance(R, Remainder) else Remainder(R), packing, V is not None, room)
        self._V = V

    def _begin(self, cores: Remainder, packing: Packer, hollow: bool, room: int) -> None:
        self._cores, self._packing, self._hollow, self._room = cores, packing, hollow, room
        self.forms: Array = np.zeros(0)

    def numerators(self, Y: Array) -> Array:
        """Return sum_i (y^T C_i y)^2, roughly, of the rows of ``Y`` (b, s)."""
        T = self._cores.rough_forms(self._packing.outer(Y))
        return np.asarray(np.einsum("br,br->b", T, T))

    def norms(self, Y: Array) -> Array:
        """Return q of the unit rows of ``Y`` (b, s)."""
        if self._V is None:
            return np.ones(len(Y))
        return squared_norm(((Y @ self._V.T) ** 4).sum(axis=1))

    @property
    def has_two_ways(self) -> bool:
        """Whether starts may climb by falls; where the diagonal is unobserved they do not."""
        return not self._hollow

    def cosines(self, Y: Array, y: Array) -> Array:
        """Return how alike the rows of ``Y`` (b, s) are to ``y`` (s,): |cosines|, (b,)."""
        return np.abs(Y @ y)

    def unit(self, y: Array) -> Array:
        """Return the point, (s,), that ``y`` is but for its length."""
        return _unit(y)

    def _raise(self, S: NDArray[Any], Y: Array) -> None:
        """Turn the rows of ``Y``, in place, to where the packed S, their linear models, rise."""
        raise_quotients(S, Y, QUOTIENT_STEPS)

    def explore(self, Y: Array, n_steps: int, by_falls: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Climb roughly from the unit rows of ``Y`` (b, s), on the main cores.

        By falls, what rises is how much the objective falls when all loadings are solved again,
        F = f / (q - sum_j <z, q_j>^2) with z = y y^T: F <z, q_j>^2 is convex in z, too, and is
        bounded from below by its linear model as f is. Otherwise f rises, as in :meth:`climb`.

        Parameters
        ----------
        Y
            Where to start.
        n_steps
            Number of steps.
        by_falls : (b,)
            Which of them climb by falls. Where the diagonal is unobserved none does.

        Returns
        -------
        Y : (b, s)
            Where it ended.
        falls : (b,)
            F there, roughly.
        """
        main, packing = self._cores.main(self._room), self._packing
        if not self._hollow:
            return main.climb(Y, n_steps, QUOTIENT_STEPS, by_falls, OVERLAP)
        Y = Y.copy()
        for _ in range(n_steps):
            norms = self.norms(Y)
            T, _ = main.look(packing.rough_outer(Y), norms, OVERLAP)
            T = T[:, : len(main.cores)]
            S = T @ main.cores + self._on_diagonals(Y, np.einsum("br,br->b", T, T) / norms)
            self._raise(S, Y)
        return Y, main.look(packing.rough_outer(Y), self.norms(Y), OVERLAP)[1]

    def approach(self, Y: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return where the rows of ``Y`` (b, s) lead to on the main cores, and which are maxima.

        Where the diagonal is unobserved, only some steps are taken, and nothing is known of that.
        """
        if self._hollow:
            nowhere = np.zeros(len(Y), dtype=bool)
            return self.explore(Y, _FINAL_CLIMB, nowhere)[0], nowhere
        found = [self._on_main(y, _ROUGH) for y in Y]
        return np.array([y for y, _ in found]), np.array([is_maximum for _, is_maximum in found])

    def climb(self, Y: Array, n_steps: int) -> Array:
        """Take steps from the unit rows of ``Y`` (b, s) towards the top eigenvector of S.

        The numerator is convex in z = y y^T, so that its linear model at z, <S, y y^T> with
        S = sum_i (y^T C_i y) C_i, bounds it from below: raising that raises f. Where the diagonal
        is unobserved, S gets what the component itself says of it; beyond u = 1/2, where q is
        bent, the step may lead down.
        """
        Y = Y.copy()
        for _ in range(n_steps):
            T = self._cores.forms(self._packing.outer(Y))
            S = self._cores.sums(T)
            if self._hollow:
                S += self._on_diagonals(Y, np.einsum("br,br->b", T, T) / self.norms(Y))
            self._raise(S, Y)
        return Y

    def _on_diagonals(self, Y: Array, f: Array) -> Array:
        """Return f times the diagonals of h h^T in the basis, packed, (b, p)."""
        assert self._V is not None
        found: Array = np.empty((len(Y), self._packing.size))
        for place, y in enumerate(Y):
            h2 = (self._V @ y) ** 2
            found[place] = f[place] * self._packing.pack(self._V.T @ (h2[:, None] * self._V))
        return found

    def maximise(
        self, y: Array, tol: float, *, exact: bool = True, is_maximum: bool = False
    ) -> tuple[Array, float, float]:
        """Finish from ``y`` (s,) by Newton's method; return y, f and the relative gradient.

        From far away, the first steps are on the main cores. What is returned need not be
        ``exact``: then float32 does where it tells gradients of tol, and so does it that y
        ``is_maximum`` of the main cores.
        """
        y = np.ascontiguousarray(y)
        rough = tol >= _RESOLVED and not exact
        state = self._state(y, rough)
        if not self._hollow and _norm(state[1]) > _AFAR * state[0] > 0:
            y, is_maximum = self._on_main(y, max(tol, _ROUGH))
            state = self._state(y, rough)
        y, f, r, self.forms = self._newton(y, tol, rough, state, is_maximum and rough)
        if rough and f <= _LITTLE * self._cores.square:  # what float32 leaves where nothing is left
            y, f, r, self.forms = self._newton(y, tol, False, self._state(y), False)
        elif rough:
            f = self.measure(y)  # what is taken off is exact, or something would seem to be left
        return y, f, _norm(r) / f if f > 0 else 0.0

    def _on_main(self, y: Array, tol: float) -> tuple[Array, bool]:
        """Return where y leads to on the main cores, and whether that is a maximum."""
        main = self._cores.main(self._room)
        return main.maximise(y, tol, _MAIN_STEPS, QUOTIENT_STEPS)

    def _newton(
        self,
        y: Array,
        tol: float,
        rough: bool,
        state: tuple[float, Array, Array, Array],
        is_maximum: bool,
    ) -> tuple[Array, float, Array, Array]:
        """Go from y to a maximum of f; return y, f, its gradient and the forms.

        ``rough`` in float32; ``state`` is that of y; with ``is_maximum``, nothing stationary near y
        is but a maximum.

        Up to factors, f has the Hessian S + 2 sum_i (C_i y)(C_i y)^T - f q'' / 4 at a stationary
        point, on the tangent space. Where that bends upwards its eigenvalues are turned round,
        which leads away from saddle points.
        """
        f, r, S, forms = state
        if _norm(r) > f > 0:  # far from any maximum, where Newton's steps are short
            higher = self.climb(y[None], 4)[0]
            if self._state(higher, rough)[0] > f:
                y = higher
                f, r, S, forms = self._state(y, rough)
        climbed = False
        for _ in range(_NEWTON_STEPS):
            small = _norm(r) <= tol * f
            if f == 0.0 or (small and (is_maximum or tol > 1e3 * _CURVED)):
                break
            step, concave = self._step(y, f, r, S, small, climb=not climbed)
            if step is None:
                break
            climbed = not concave
            # Concave a short step before: so it is here, and need not be looked at again.
            is_maximum = concave and _norm(step) <= _SHORT
            for trial in self._trials(y, f, r, S, step):
                f_new, r_new, S_new, forms_new = self._state(trial, rough)
                if f_new > f * (1 + 4 * _EPS):
                    break
                if f_new >= f * (1 - 100 * _EPS) and _norm(r_new) < 0.5 * _norm(r):
                    break  # at the rounding of f the gradient decides
            else:
                break
            y, f, r, S, forms = trial, f_new, r_new, S_new, forms_new
        return y, f, r, forms

    def measure(self, y: Array) -> float:
        """Return f of ``y`` as it is."""
        self.forms = self._cores.forms(self._packing.outer(y[None]))[0]
        return float(self.forms @ self.forms) / float(self.norms(y[None])[0])

    def _trials(self, y: Array, f: float, r: Array, S: Array, step: Array) -> Iterator[Array]:
        """Yield points to go to: along the step, and where that does not lead up, other ways."""
        yield from _along(y, step, self.unit)
        if self._hollow:
            # A step across the bend, which it cannot see from below, is far too long.
            bent, _ = self._step(y, f, r, S, is_stationary=False, bent=True)
            if bent is not None:
                yield from _along(y, bent, self.unit)
        yield self.climb(y[None], 1)[0]  # slower

    def _state(self, y: Array, rough: bool = False) -> tuple[float, Array, Array, Array]:
        """Return f, the gradient of f q / 4 without its part along y, S, and y^T C_i y, (r,)."""
        S = np.empty((len(y), len(y)))
        f, forms = (self._cores.rough_state if rough else self._cores.state)(y, S)
        if self._V is None:
            r = S @ y - f * y
        else:
            h = self._V @ y
            q = float(squared_norm((h**4).sum()))
            f /= q
            r = S @ y - f * (self._V.T @ norm_gradient(h[:, None])[:, 0])
            r /= q
        return f, r - (r @ y) * y, S, forms

    def _step(
        self,
        y: Array,
        f: float,
        r: Array,
        S: Array,
        is_stationary: bool,
        bent: bool = False,
        climb: bool = False,
    ) -> tuple[Array | None, bool]:
        """Return the step to try, or None at a maximum, and whether f is concave here.

        ``bent`` as if q were bent already. Where it is not concave the step may ``climb`` on the
        main cores: to turn eigenvalues round takes longer than all that.
        """
        K = self._minus_hessian(y, f, S, bent)
        if self._hollow:
            r = r * float(self.norms(y[None])[0])
        factor, info = linalg.lapack.dpotrf(K.T, lower=1)  # as symmetric, and in Fortran's order
        if info == 0:
            if is_stationary:
                return None, True
            return np.asarray(linalg.lapack.dpotrs(factor, r, lower=1)[0]), True
        if climb and not self._hollow and _norm(r) > _ROUGH * f:
            return self._on_main(y, _ROUGH)[0] - y, False
        values, vectors = eigen_small(K)
        if is_stationary:
            if values[0] >= -_CURVED * f:
                return None, False
            return 0.3 * np.asarray(vectors[:, 0]), False  # a saddle point, and the way up
        scale = np.maximum(np.abs(values), 1e-3 * f)
        return np.asarray(vectors @ ((vectors.T @ r) / scale)), False

    def _minus_hessian(self, y: Array, f: float, S: Array, bent: bool) -> Array:
        """Return minus the Hessian of f q / 4 on the tangent space, where y is set apart."""
        K: Array = -2.0 * self._cores.curvature(y) - S
        if self._V is None:
            K.flat[:: len(y) + 1] += f
        else:
            K += f * self._norm_curvature(y, bent)
        stay_on_tangent(K, y, f)
        return K

    def _norm_curvature(self, y: Array, is_bent: bool = False) -> Array:
        """Return the Hessian of q / 4 on the tangent space, up to terms that are small there."""
        eye = np.eye(len(y))
        if self._V is None:
            return eye
        V = self._V
        h = V @ y
        excess = max(float((h**4).sum()) - CONCENTRATED, 0.0)
        bent = 1.0 - 2.0 * _BEND * excess
        curvature = (1.0 - _BEND * excess) * eye - 3 * bent * V.T @ ((h**2)[:, None] * V)
        if excess > 0 or is_bent:
            slope = 4 * (V.T @ h**3) - 2 * y
            curvature += _BEND / 2 * np.outer(slope, slope)
        return np.asarray(curvature)
