"""Rules that loadings obey: free, nonnegative, sparse or penalised.

Components e_1, ..., e_d (h_k h_k^T, or h_k g_k^T of directed graphs) are known by their inner
products Gamma, (d, d), or (m, d, d) where every graph has its own, as with missing entries, and
graphs by Psi_ik = <A_i, e_k>. Each rule finds, graph by graph, the loadings lam that minimise

    ||A - sum_k lam_k e_k||^2 - ||A||^2 = lam Gamma lam - 2 psi . lam

among those that it allows. A component that is nothing (a zero row of Gamma) gets zero. All but the
free rule take components of norm 1, so that the lengths of the components decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.errors import InputError
from eigengraphs.solvers.protocol import Array
from eigengraphs.system.parallel import announce_compiling

__all__ = [
    "FreeLoadings",
    "LoadingRule",
    "NonnegativeLoadings",
    "PenalisedLoadings",
    "Seen",
    "SparseLoadings",
    "SupportLoadings",
    "active_gram",
    "component_gram",
    "condition",
    "objective_of",
    "rounding_share",
    "solve_loadings",
    "stage_loadings",
]

announce_compiling()

_EPS = float(np.finfo(np.float64).eps)
_TRUSTED = 1e10  # condition up to which the free solution tells the signs to begin with
_FAR = 1e6  # of the largest <A_i, e_k>: loadings that only nearly dependent components get
_SLOPE = 1e-6  # of the same: a slope that an active set which came to its end does not leave
_RIDGE = 1e-9
_CLEAR = 1e-4  # smallest over largest pivot from which components are independent for sure
_UNSEEN = 1e-6  # share of a component, over that of one that is spread, that a graph must see


@dataclass(frozen=True)
class Seen:
    """What graphs of which entries are missing see of components.

    Graph i sees the share x^T Gamma_i x / x^T whole x of a combination x of components, and about
    ``observed`` of one that is spread over all vertices. Of what it sees next to nothing of, it
    gets no loading: so loadings are bounded. A graph that observes nothing has none.
    """

    whole: Array  # (d, d) inner products of the components over all entries
    observed: Array  # (m,) share of its entries that each graph observes

    def first(self, k: int) -> Seen:
        """Return the same for the first k components."""
        return Seen(self.whole[:k, :k], self.observed)


class LoadingRule:
    """Which loadings are allowed, and how the best of them are found.

    A new rule gives :meth:`solve` and, for one component, an interval and a penalty; every solver
    then takes it.
    """

    linear: ClassVar[bool] = (
        False  # loadings are linear in Psi: rows of a root may stand for graphs
    )
    nonnegative: bool = False
    penalty: float = 0.0

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
        lower, upper = self.bounds()
        over = np.abs(tau) - self.penalty
        wanted = np.copysign(np.maximum(over, 0.0), tau)
        inside = (lower < wanted) & (wanted < upper) & ((wanted != 0) | (self.penalty == 0))
        loading = np.clip(wanted, lower, upper)
        size = np.abs(loading)
        return loading, size * (2 * over - size), inside.astype(np.float64)

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
        """Return the loadings, (m, d).

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
        raise NotImplementedError


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
    """Loadings of at least zero: nonnegative least squares, exactly, by an active set."""

    nonnegative = True

    def solve(
        self, Gamma: Array, Psi: Array, previous: Array | None = None, seen: Seen | None = None
    ) -> Array:
        """Return the loadings, (m, d); ``previous`` does not matter."""
        del previous
        C, Psi, lengths = _of_norm_one(Gamma, Psi, seen)
        return _penalised(C, Psi, lengths, 0.0, signed=False)


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
        C, Psi, lengths = _of_norm_one(Gamma, Psi, seen)
        out = np.zeros_like(Psi)
        pursue_rows(
            C, Psi, self.max_nonzeros, not self.nonnegative, _padded(previous, Psi), out
        )  # fmt: skip
        return _of_length(out, lengths)


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

    support: NDArray[np.bool_]
    nonnegative: bool = False

    def solve(
        self, Gamma: Array, Psi: Array, previous: Array | None = None, seen: Seen | None = None
    ) -> Array:
        """Return the loadings, (m, d); ``previous`` does not matter."""
        del previous
        C, Psi, lengths = _of_norm_one(Gamma, Psi, seen)
        out = np.zeros_like(Psi)
        support_rows(C, Psi, self.support, not self.nonnegative, out)
        return _of_length(out, lengths)


@dataclass(frozen=True)
class PenalisedLoadings(LoadingRule):
    """Basis pursuit denoising: small loadings become zero, and the others smaller.

    Adds 2 penalty sum_k ||e_k|| |lam_k| to what is minimised. On orthogonal components of norm 1
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

    def solve(
        self, Gamma: Array, Psi: Array, previous: Array | None = None, seen: Seen | None = None
    ) -> Array:
        """Return the loadings, (m, d); the signs of ``previous`` are where the search begins."""
        C, Psi, lengths = _of_norm_one(Gamma, Psi, seen)
        warm = None if previous is None else _padded(previous, Psi)
        return _penalised(C, Psi, lengths, self.penalty, signed=not self.nonnegative, warm=warm)


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
    T, floor, share = np.eye(d), np.zeros(m), np.ones(m)
    if seen is not None and d:
        values, vectors = linalg.eigh(seen.whole, driver="evd")
        keep = values > 10 * d * _EPS * max(values[-1], 1e-300)
        T = vectors[:, keep] / np.sqrt(values[keep])  # T^T whole T = I
        share = seen.observed
        # Shares are differences of numbers up to 1, and rounded as such.
        floor = np.maximum(_UNSEEN * share, 10 * d * _EPS)
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
        share = np.maximum(_UNSEEN * seen.observed, 10 * d * _EPS)
        nothing = np.maximum(nothing, np.outer(share, np.diagonal(seen.whole)))
    lengths = np.sqrt(np.where(squares > nothing, squares, np.inf))
    C = C / (lengths[:, :, None] * lengths[:, None, :])
    C[:, np.arange(d), np.arange(d)] = 1.0  # but for rounding it is, and of nothing it must be
    return np.ascontiguousarray(C), np.ascontiguousarray(Psi / lengths), lengths


def _of_length(scaled: Array, lengths: Array) -> Array:
    """Return the loadings of the components as they are."""
    loadings: Array = scaled / lengths
    return loadings


def _padded(previous: Array | None, Psi: Array) -> Array:
    """Return previous loadings with zeros for the components that are new, (m, d)."""
    if previous is None:
        return np.zeros_like(Psi)
    if len(previous) != len(Psi) or previous.shape[1] > Psi.shape[1]:
        raise InputError(
            f"previous loadings have shape {previous.shape}, expected ({len(Psi)}, at most "
            f"{Psi.shape[1]}): one row a graph, one column for each of the first components"
        )
    padded = np.zeros_like(Psi)
    padded[:, : previous.shape[1]] = previous
    return padded


def _penalised(
    C: Array, Psi: Array, lengths: Array, penalty: float, *, signed: bool, warm: Array | None = None
) -> Array:
    """Return the penalised loadings of components of norm 1, at their lengths."""
    out = np.zeros_like(Psi)
    if warm is None:
        warm = out.copy()
        if penalty == 0 and Psi.size:
            values = np.linalg.eigvalsh(C)
            tells = values[:, 0] * _TRUSTED > values[:, -1]
            if len(C) == 1 and tells[0]:
                warm = np.linalg.solve(C[0], Psi.T).T
            elif len(C) > 1:
                warm[tells] = np.linalg.solve(C[tells], Psi[tells, :, None])[:, :, 0]
    penalised_rows(C, Psi, float(penalty), signed, np.ascontiguousarray(warm), out)
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = Psi - _times(C, out)
        steepest = (np.abs(slopes) if signed else slopes).max(axis=1, initial=0) - penalty
        size = np.abs(Psi).max(axis=1, initial=0)
        done = (np.abs(out).max(axis=1, initial=0) <= _FAR * size) & (steepest <= _SLOPE * size)
        if not done.all():
            _held_back(C, Psi, penalty, signed, out, np.flatnonzero(~done))
    return _of_length(out, lengths)


def _held_back(
    C: Array, Psi: Array, penalty: float, signed: bool, out: Array, rows: NDArray[np.intp]
) -> None:
    """Solve some rows again, in which nearly dependent components ran far away, or not to the end.

    Where the penalty is small, nothing but rounding decides along the difference of two such
    components, and the active set may follow it without end. With a trace of a ridge it does not;
    where it was better without, by more than rounding, that is kept.
    """
    again = np.zeros((len(rows), Psi.shape[1]))
    some = np.ascontiguousarray(Psi[rows])
    C = C if len(C) == 1 else C[rows]
    ridged = C + _RIDGE * np.eye(Psi.shape[1])
    penalised_rows(ridged, some, float(penalty), signed, np.zeros_like(again), again)
    before, after = (
        objective_of(C, some, beta) + 2 * penalty * np.abs(beta).sum(axis=1)
        for beta in (out[rows], again)
    )
    rounding = 8 * _EPS * np.abs(out[rows]).sum(axis=1) ** 2
    certain = np.isfinite(before) & (before + rounding < after)
    out[rows[~certain]] = again[~certain]


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


def active_gram(
    H: Array, active: NDArray[np.bool_], *, hollow: bool = False, G: Array | None = None
) -> Array:
    """Return Gamma with zero rows and columns for the components that are nothing."""
    return np.where(np.outer(active, active), component_gram(H, G, hollow=hollow), 0.0)


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
    if not failed and pivots.min() > _CLEAR * pivots.max():
        return np.asarray(Psi @ linalg.lapack.dpotrs(factor, np.eye(len(factor)), lower=1)[0])
    values, vectors = np.linalg.eigh(Gamma)
    keep = values > 10 * len(values) * np.finfo(np.float64).eps * max(values[-1], 1e-300)
    inverse = vectors[:, keep] / values[keep]
    solution: Array = (Psi @ vectors[:, keep]) @ inverse.T
    return solution


# ---------------------------------------------------------------- loadings under a rule
#
# A small quadratic problem for each graph, row by row, on components of norm 1: C is Gamma with a
# unit diagonal, psi and beta are scaled alike. The passive set, whose loadings are not zero, is the
# first p entries of ``order``, and the first p rows of ``L`` are the Cholesky factor of its part
# of C.

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
