"""Rules that loadings obey: free, nonnegative, sparse or penalized.

Components e_1, ..., e_d (h_k h_k^T, or h_k g_k^T of directed graphs) are known by their inner
products Gamma, (d, d), or (m, d, d) where every graph has its own, as with missing entries, and
graphs by Psi_ik = <A_i, e_k>. Each rule finds, graph by graph, the loadings lam that minimize

    ||A - sum_k lam_k e_k||^2 - ||A||^2 = lam Gamma lam - 2 psi . lam

among those that it allows. A component that is nothing (a zero row of Gamma) gets zero. All but the
free rule take components of norm 1, so that the lengths of the components decide nothing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.errors import InputError
from eigengraphs.solvers.ascent import alone
from eigengraphs.solvers.solution import Array
from eigengraphs.system.parallel import announce_compiling

__all__ = [
    "FreeLoadings", "LoadingRule", "NonnegativeLoadings", "PenalizedLoadings", "Seen",
    "SparseLoadings", "SupportLoadings", "component_gram", "condition",
    "objective_of", "rounding_share", "solve_loadings", "stage_loadings",
]  # fmt: skip

announce_compiling()

_EPS = float(np.finfo(np.float64).eps)
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Seen:
    """What graphs of which entries are missing see of components.

    Graph i sees the share x^T Gamma_i x / x^T whole x of a combination x of components, and about
    ``observed`` of one that is spread over all vertices. Of what it sees next to nothing of, it
    gets no loading: so loadings are bounded. A graph that observes nothing has none.
    """

    whole: Array  # (d, d) inner products of the components over all entries
    observed: Array  # (m,) share of its entries that each graph observes

    def least(self) -> Array:
        """Return the share of a combination below which a graph sees next to nothing, (m,)."""
        # A millionth of what it sees of one that is spread. Shares are differences of numbers up
        # to 1, and rounded as such.
        return np.maximum(1e-6 * self.observed, 10 * len(self.whole) * _EPS)

    def first(self, k: int) -> Seen:
        """Return the same for the first k components."""
        return Seen(self.whole[:k, :k], self.observed)


class LoadingRule:
    """Which loadings are allowed, and how the best of them are found.

    A new rule gives :meth:`solve` and, for one component, an interval and a penalty; every solver
    then takes it.
    """

    # Loadings are linear in Psi: rows of a root may stand for graphs.
    linear: ClassVar[bool] = False
    # A graph may have to give up a loading for a further one.
    limited: ClassVar[bool] = False
    nonnegative: bool = False
    penalty = 0.0
    support: Mask | None = None  # (m, d) where loadings may differ from zero

    def bounds(self) -> tuple[float, float]:
        """Return between which numbers loadings of components of norm 1 are."""
        return (0.0 if self.nonnegative else -np.inf), np.inf

    def alone(self, tau: Array) -> tuple[Array, Array, Array]:
        """Return what a graph makes of one component of norm 1 whose form is ``tau``.

        Returns
        -------
        loading, gain, slope
            The best loading s that the rule allows; by how much the objective falls with it, whose
            derivative is 2 s; and the derivative of s. Each of the shape of ``tau``.
        """
        found: tuple[Array, Array, Array] = alone(tau, *self.bounds(), self.penalty)
        return found

    def costs(self, Gamma: Array, Lam: Array) -> Array:
        """Return what the rule adds to the objective of each graph, (m,)."""
        lengths = np.sqrt(np.maximum(np.diagonal(Gamma, axis1=-2, axis2=-1), 0.0))
        return np.asarray(2 * self.penalty * (np.abs(Lam) * lengths).sum(axis=1))

    def changes(self, Gamma: Array, Psi: Array, Lam: Array) -> Array:
        """Return by how much loadings change the objective of each graph, (m,)."""
        values = objective_of(Gamma, Psi, Lam)
        return values + self.costs(Gamma, Lam) if self.penalty else values

    def beside(
        self, Gamma: Array, Psi: Array, Lam: Array, seen: Seen | None = None
    ) -> list[tuple[Array, Array | None]]:
        """Return what a further component may meet: loadings, and what each graph gives up, (m,).

        The best comes first.
        """
        del Gamma, Psi, seen
        return [(Lam, None)]

    def held(self, Lam: Array) -> LoadingRule:
        """Return a rule whose best loadings are continuous in Gamma and Psi, ``Lam`` among them."""
        del Lam
        return self

    def solve(
        self, Gamma: Array, Psi: Array, previous: Array | None = None, seen: Seen | None = None
    ) -> Array:
        """Return the loadings, (m, d); here under signs, penalty and support, by an active set.

        Parameters
        ----------
        Gamma : (d, d) or (m, d, d)
            Inner products of the components, positive semidefinite; of all graphs, or of each.
        Psi : (m, d)
            Inner products <A_i, e_k>.
        previous : (m, d'), optional
            Loadings on the first d' components that were found before, d' <= d.
        seen : optional
            Where every graph has inner products of its own, what it sees of the components.
        """
        del previous
        return _by_active_set(self, Gamma, Psi, seen, self.support)


@dataclass(frozen=True)
class FreeLoadings(LoadingRule):
    """Any loadings: least squares."""

    linear: ClassVar[bool] = True

    def solve(
        self, Gamma: Array, Psi: Array, previous: Array | None = None, seen: Seen | None = None
    ) -> Array:
        """Return the loadings, (m, d); ``previous`` does not matter."""
        del previous
        return solve_loadings(Gamma, Psi) if Gamma.ndim == 2 else _solve_each(Gamma, Psi, seen)


@dataclass(frozen=True)
class NonnegativeLoadings(LoadingRule):
    """Loadings of at least zero: nonnegative least squares."""

    nonnegative = True


@dataclass(frozen=True)
class SparseLoadings(LoadingRule):
    """At most so many loadings that are not zero: orthogonal matching pursuit.

    After each addition least squares on the support (nonnegative ones if so wished). If least
    squares on the support of ``previous`` leave less, they are kept, graph by graph: then adding a
    component never lets the objective rise. Previous loadings with too many nonzeros are ignored.

    Parameters
    ----------
    max_nonzeros
        Most nonzero loadings of a graph, at least 1.
    nonnegative
        No loading is below zero.
    """

    limited: ClassVar[bool] = True
    max_nonzeros: int
    nonnegative: bool = False

    def __post_init__(self) -> None:
        """Check the number."""
        if self.max_nonzeros < 1:
            raise InputError(
                f"max_nonzeros must be at least 1, got {self.max_nonzeros}: a graph needs one "
                "loading that may differ from zero"
            )

    def beside(
        self, Gamma: Array, Psi: Array, Lam: Array, seen: Seen | None = None
    ) -> list[tuple[Array, Array | None]]:
        """Let graphs that have all their nonzeros give one up, or else leave all as they are.

        Without that, no component after the first few would ever be used.
        """
        full = (Lam != 0).sum(axis=1) >= self.max_nonzeros
        if not full.any():
            return [(Lam, None)]
        fewer = np.zeros_like(Lam)
        if self.max_nonzeros > 1:
            rule = replace(self, max_nonzeros=self.max_nonzeros - 1)
            fewer = rule.solve(Gamma, Psi, seen=seen)
        given_up = objective_of(Gamma, Psi, fewer) - objective_of(Gamma, Psi, Lam)
        costs = np.where(full, np.maximum(given_up, 0.0), 0.0)
        return [(np.where(full[:, None], fewer, Lam), costs), (Lam, None)]

    def held(self, Lam: Array) -> LoadingRule:
        """Return the rule with the supports of ``Lam``."""
        return SupportLoadings(Lam != 0, self.nonnegative)

    def solve(
        self, Gamma: Array, Psi: Array, previous: Array | None = None, seen: Seen | None = None
    ) -> Array:
        """Return the loadings, (m, d), none worse than least squares on ``previous``."""
        most = self.max_nonzeros
        found = _by_active_set(self, Gamma, Psi, seen, None, most)
        if previous is None:
            return found
        support = np.zeros(Psi.shape, dtype=bool)
        support[:, : previous.shape[1]] = previous != 0
        support[support.sum(axis=1) > most] = False
        other = _by_active_set(self, Gamma, Psi, seen, support)
        now, then = objective_of(Gamma, Psi, found), objective_of(Gamma, Psi, other)
        # Equal up to rounding counts as equal: the pursuit's own answer stays.
        better = then < now - 8 * Psi.shape[1] * _EPS * np.abs(now)
        better &= (support != (found != 0)).any(axis=1)
        return np.where(better[:, None], other, found)


@dataclass(frozen=True)
class SupportLoadings(LoadingRule):
    """Loadings that are zero but on a support: least squares, nonnegative ones if so wished.

    Parameters
    ----------
    support : (m, d)
        Where the loadings of each graph may differ from zero.
    nonnegative
        No loading is below zero.
    """

    support: Mask
    nonnegative: bool = False


@dataclass(frozen=True)
class PenalizedLoadings(LoadingRule):
    """Basis pursuit denoising: small loadings become zero, and the others smaller.

    Adds 2 penalty sum_k ||e_k|| |lam_k| to what is minimized. On orthogonal components of norm 1
    this takes ``penalty`` off each |psi_k|, down to zero. The solution is exact, by an active set.

    Parameters
    ----------
    penalty
        At least 0, in units of <A_i, e_k> with components of norm 1.
    nonnegative
        No loading is below zero.
    """

    penalty: float
    nonnegative: bool = False

    def __post_init__(self) -> None:
        """Check the penalty."""
        if not 0 <= self.penalty < np.inf:
            raise InputError(f"penalty must be a finite number of at least 0, got {self.penalty}")


def objective_of(Gamma: Array, Psi: Array, Lam: Array) -> Array:
    """Return lam Gamma lam - 2 psi . lam for each graph, (m,)."""
    values: Array = np.einsum("ik,ik->i", _times(Gamma, Lam) - 2 * Psi, Lam)
    return values


def stage_loadings(
    rule: LoadingRule, Gamma: Array, Psi: Array, seen: Seen | None = None
) -> list[Array]:
    """Return the loadings with the first 0, 1, ..., d components, (m, 0) to (m, d).

    Each knows the one before: a pursuit that finds less than that keeps it.
    """
    stages: list[Array] = [np.zeros((len(Psi), 0))]
    for k in range(1, Psi.shape[1] + 1):
        mine = None if seen is None else seen.first(k)
        stages.append(rule.solve(Gamma[..., :k, :k], Psi[:, :k], stages[-1], mine))
    return stages


def _times(Gamma: Array, Lam: Array) -> Array:
    """Return lam_i Gamma, or lam_i Gamma_i, (m, d); a stack of one matrix is for all."""
    if Gamma.ndim == 2 or len(Gamma) == 1:
        return np.asarray(Lam @ Gamma.reshape(Gamma.shape[-2:]))
    return np.asarray(np.einsum("ij,ijk->ik", Lam, Gamma))


def _solve_each(Gammas: Array, Psi: Array, seen: Seen | None) -> Array:
    """Solve Gamma_i lam_i = Psi_i for every graph, (m, d).

    Directions that the components do not span to working precision get no loading, and neither do
    those of which a graph sees next to nothing.
    """
    m, d = Psi.shape
    if seen is None and d:
        with suppress(np.linalg.LinAlgError):
            pivots = np.diagonal(np.linalg.cholesky(Gammas), axis1=1, axis2=2)
            if (pivots.min(axis=1) > 1e-4 * pivots.max(axis=1)).all():  # as in solve_loadings
                return np.asarray(np.linalg.solve(Gammas, Psi[:, :, None])[:, :, 0])
    T, floor, share = np.eye(d), np.zeros(m), np.ones(m)
    if seen is not None and d:
        values, vectors = linalg.eigh(seen.whole, driver="evd")
        keep = values > 10 * d * _EPS * max(values[-1], 1e-300)
        T = vectors[:, keep] / np.sqrt(values[keep])  # T^T whole T = I
        floor, share = seen.least(), seen.observed
    if T.shape[1] == 0:
        return np.zeros_like(Psi)
    values, vectors = np.linalg.eigh(T.T @ Gammas @ T)
    floor = np.maximum(floor, 10 * d * _EPS * np.maximum(values[:, -1], 1e-300))
    keep = (values > floor[:, None]) & (share > 0)[:, None]
    forms = np.einsum("irk,ir->ik", vectors, Psi @ T)
    forms = np.divide(forms, values, out=np.zeros_like(forms), where=keep)
    return np.asarray(np.einsum("irk,ik->ir", vectors, forms) @ T.T)


def _of_norm_one(Gamma: Array, Psi: Array, seen: Seen | None) -> tuple[Array, Array, Array]:
    """Return Gamma, (1 or m, d, d), and Psi of components of norm 1, and the norms.

    These are infinite for nothing, and for a component of which a graph sees next to nothing.
    """
    d = Psi.shape[1]
    C = Gamma.reshape(-1, d, d) if d else np.zeros((1, 0, 0))
    squares = np.diagonal(C, axis1=1, axis2=2)
    nothing = 10 * d * _EPS * squares.max(axis=1, initial=0.0, keepdims=True)
    if seen is not None:
        nothing = np.maximum(nothing, np.outer(seen.least(), np.diagonal(seen.whole)))
    lengths = np.sqrt(np.where(squares > nothing, squares, np.inf))
    C = C / (lengths[:, :, None] * lengths[:, None, :])
    C[:, np.arange(d), np.arange(d)] = 1.0  # but for rounding it is, and of nothing it must be
    return np.ascontiguousarray(C), np.ascontiguousarray(Psi / lengths), lengths


def _by_active_set(
    rule: LoadingRule, Gamma: Array, Psi: Array, seen: Seen | None, allowed: Mask | None,
    most: int = 0,
) -> Array:  # fmt: skip
    """Return the best loadings (m, d) under the signs and the penalty of a rule.

    Only those that are ``allowed`` (m, d) differ from zero. With ``most``, components enter one
    after the other until so many loadings do.
    """
    d = Psi.shape[1]
    C, Psi, lengths = _of_norm_one(Gamma, Psi, seen)
    allowed = np.ones((1, d), dtype=bool) if allowed is None else allowed
    out = np.zeros_like(Psi)
    solve_rows(C, Psi, float(rule.penalty), not rule.nonnegative, allowed, most, out)
    return np.asarray(out / lengths)


# ---------------------------------------------------------------- least squares


def component_gram(H: Array, G: Array | None = None, *, hollow: bool = False) -> Array:
    """Return Gamma_jk = <h_j h_j^T, h_k h_k^T> = (h_j . h_k)^2, (d, d).

    With ``G``, components are h_k g_k^T and Gamma_jk = (h_j . h_k) (g_j . g_k). With ``hollow``,
    the pairs s = t take no part: Gamma_jk - sum_s h_js g_js h_ks g_ks, g = h where there is no G.
    """
    Gamma: Array = (H.T @ H) ** 2 if G is None else (H.T @ H) * (G.T @ G)
    if hollow:
        on_diagonal = H**2 if G is None else H * G
        Gamma -= on_diagonal.T @ on_diagonal
    return Gamma


def condition(Gamma: Array) -> float:
    """Return the largest over the smallest eigenvalue; infinity for dependent components."""
    if Gamma.size == 0:
        return 1.0
    values = np.linalg.eigvalsh(Gamma)  # scipy's takes ten times as long on a few rows
    return float(values[-1] / values[0]) if values[0] > 0 else float("inf")


def rounding_share(n: int) -> float:
    """Return the share of the graphs' squared norm below which what is left is rounding."""
    return 100 * n * float(np.finfo(np.float64).eps)


def solve_loadings(Gamma: Array, Psi: Array) -> Array:
    """Solve Gamma Lam^T = Psi^T (the paper's update of all loadings) for Lam, (m, d).

    Directions that the components do not span to working precision get no loading, so
    dependent components share theirs and a component that is nothing (zero row) gets zero.

    Parameters
    ----------
    Gamma : (d, d)
        Inner products of the components.
    Psi : (m, d)
        Inner products <A_i, h_k h_k^T>, or <A_i, h_k g_k^T>.
    """
    if Gamma.shape[0] == 0:
        return np.zeros_like(Psi)
    factor, failed = linalg.lapack.dpotrf(Gamma, lower=1)
    pivots = factor.diagonal()
    # From there on components are independent for sure.
    if not failed and pivots.min() > 1e-4 * pivots.max():
        return np.asarray(Psi @ linalg.lapack.dpotrs(factor, np.eye(len(factor)), lower=1)[0])
    values, vectors = np.linalg.eigh(Gamma)
    keep = values > 10 * len(values) * np.finfo(np.float64).eps * max(values[-1], 1e-300)
    inverse = vectors[:, keep] / values[keep]
    solution: Array = (Psi @ vectors[:, keep]) @ inverse.T
    return solution


# ---------------------------------------------------------------- loadings under a rule


@njit(cache=True, nogil=True, error_model="numpy")
def solve_rows(
    C: Array, Psi: Array, penalty: float, signed: bool, allowed: Mask, most: int, out: Array
) -> None:
    """Fill each row of ``out`` with argmin beta C beta - 2 psi . beta + 2 penalty ||beta||_1.

    Lawson and Hanson's method in the normal equations. The passive set, whose loadings are not
    zero, is the first p entries of ``order``, and the first p rows of ``L`` are the Cholesky factor
    of its part of C. A signed variable is a nonnegative one times its sign sigma, which is chosen
    when it enters and kept until it leaves at zero; without a penalty it may have any sign. Each
    step but the refused ones lowers the objective, so no support comes twice.

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
    allowed : (1 or m, d)
        Components whose loadings may differ from zero.
    most
        With a number above 0, components enter one by one, the steepest first, until there are so
        many: a matching pursuit.
    out : (m, d)
        Solutions.
    """
    m, d = Psi.shape
    order, L, sigma = np.empty(d + 1, np.int64), np.empty((d + 1, d + 1)), np.ones(d)
    z, refused = np.empty(d + 1), np.empty(d, np.bool_)
    for i in range(m):
        G, psi, beta, may = C[i % len(C)], Psi[i], out[i], allowed[i % len(allowed)]
        largest = 0.0
        for k in range(d):
            largest = max(largest, abs(psi[k]))
        # Where the penalty is small, nothing but rounding decides along the difference of two
        # nearly dependent components, and the search may follow it without end, or very far. With
        # a trace of a ridge it does not.
        for ridge in (0.0, 1e-13):
            beta[:] = 0.0
            refused[:] = False
            p = 0
            if most == 0:  # from the solution for orthogonal components
                for k in range(d):
                    if may[k] and (abs(psi[k]) if signed else psi[k]) > penalty:
                        sigma[k] = np.sign(psi[k])
                        p += _append(G, order, p, L, k, ridge)
                p = _settle(G, psi, penalty, signed, order, p, True, L, beta, sigma, z, ridge)
            ended = False
            for _ in range(10 * (d + 1)):  # about the number of nonzeros is usual
                total = 0.0
                for a in range(p):
                    total += abs(beta[order[a]])
                j, steepest = -1, 1e-12 * largest + 8 * _EPS * total  # less is rounding
                for k in range(d):
                    if beta[k] != 0 or refused[k] or not may[k]:
                        continue
                    slope = psi[k]
                    for a in range(p):
                        slope -= G[k, order[a]] * beta[order[a]]
                    descent = (abs(slope) if signed else slope) - penalty
                    if descent > steepest:
                        j, steepest = k, descent
                        sigma[k] = np.sign(slope)
                if j < 0 or 0 < most <= p:
                    ended = True
                    break
                before = p
                new = _append(G, order, p, L, j, ridge)
                p = _settle(G, psi, penalty, signed, order, p + 1, new, L, beta, sigma, z, ridge)
                if beta[j] != 0 or p != before:  # what was refused beside others may do now
                    refused[:] = False
                refused[j] = beta[j] == 0
            farthest = 0.0
            for k in range(d):
                farthest = max(farthest, abs(beta[k]))
            if ended and farthest <= 1e6 * largest:
                break


@njit(cache=True, nogil=True, error_model="numpy")
def _append(C: Array, order: NDArray[np.int64], p: int, L: Array, j: int, ridge: float) -> bool:
    """Put j behind the passive set, in ``order`` and ``L``; return whether it is independent.

    The squared distance to the span of the others is bounded from below: a dependent component
    then goes very far, until another reaches zero.
    """
    order[p] = j
    left = C[j, j] + ridge
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
def _settle(
    C: Array,
    psi: Array,
    penalty: float,
    signed: bool,
    order: NDArray[np.int64],
    p: int,
    independent: bool,
    L: Array,
    beta: Array,
    sigma: Array,
    z: Array,
    ridge: float,
) -> int:
    """Take beta to least squares on the passive set, or to where others leave it; return its size.

    ``independent`` says whether the last of the set is so of the others.
    """
    while p > 0:
        for a in range(p):  # z solves L L^T z = psi - penalty sigma
            z[a] = psi[order[a]] - penalty * sigma[order[a]]
            for b in range(a):
                z[a] -= L[a, b] * z[b]
            z[a] /= L[a, a]
        for a in range(p - 1, -1, -1):
            z[a] /= L[a, a]
            for b in range(a):
                z[b] -= L[a, b] * z[a]
        step = 1.0
        blocked = False
        if penalty > 0 or not signed:
            for a in range(p):
                k = order[a]
                if z[a] * sigma[k] <= 0:
                    blocked = True
                    step = min(step, beta[k] / (beta[k] - z[a]) if beta[k] != 0 else 0.0)
        if not blocked:
            break
        kept = 0
        for a in range(p):
            k = order[a]
            leaves = z[a] * sigma[k] <= 0 and (beta[k] == 0 or beta[k] / (beta[k] - z[a]) <= step)
            beta[k] = 0.0 if leaves else beta[k] + step * (z[a] - beta[k])
            order[kept] = k
            kept += not leaves
        p, independent = kept, True
        for a in range(p):
            independent &= _append(C, order, a, L, order[a], ridge)
    if p > 0 and not independent and beta[order[p - 1]] == 0:
        # No other leaves on the way of a dependent component: its slope is rounding.
        return p - 1
    for a in range(p):
        beta[order[a]] = z[a]
    return p
