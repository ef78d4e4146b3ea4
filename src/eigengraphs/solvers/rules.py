"""Rules that loadings obey: free, nonnegative, sparse or penalised.

Components e_1, ..., e_d (h_k h_k^T, or h_k g_k^T of directed graphs) are known by their inner
products Gamma, and graphs by Psi_ik = <A_i, e_k>. Each rule finds, graph by graph, the loadings
lam that minimise

    ||A - sum_k lam_k e_k||^2 - ||A||^2 = lam Gamma lam - 2 psi . lam

among those that it allows. A component that is nothing (a zero row of Gamma) gets zero. All but the
free rule take components of norm 1, so that the lengths of the components decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.errors import InputError
from eigengraphs.solvers.loadings import solve_loadings
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.rule_kernels import penalised_rows, pursue_rows, support_rows

__all__ = [
    "FreeLoadings",
    "LoadingRule",
    "NonnegativeLoadings",
    "PenalisedLoadings",
    "SparseLoadings",
    "SupportLoadings",
    "objective_of",
]

_EPS = float(np.finfo(np.float64).eps)
_TRUSTED = 1e10  # condition up to which the free solution tells the signs to begin with
_FAR = 1e6  # of the largest <A_i, e_k>: loadings that only nearly dependent components get
_SLOPE = 1e-6  # of the same: a slope that an active set which came to its end does not leave
_RIDGE = 1e-9


class LoadingRule:
    """Which loadings are allowed, and how the best of them are found.

    A new rule gives :meth:`solve` and :meth:`alone`; every solver then takes it.
    """

    linear: ClassVar[bool] = (
        False  # loadings are linear in Psi: rows of a root may stand for graphs
    )
    nonnegative: bool = False
    penalty: float = 0.0

    def alone(self, tau: Array) -> tuple[Array, Array, Array]:
        """Return what a graph makes of one component of norm 1 whose form is ``tau``.

        Returns
        -------
        loading, gain, slope
            The best loading s that the rule allows; by how much the objective falls with it, whose
            derivative is 2 s; and the derivative of s. Each of the shape of ``tau``.
        """
        loading = np.maximum(tau - self.penalty, 0.0)
        if not self.nonnegative:
            loading = loading - np.maximum(-tau - self.penalty, 0.0)
        return loading, loading**2, (loading != 0).astype(np.float64)

    def costs(self, Gamma: Array, Lam: Array) -> Array:
        """Return what the rule adds to the objective of each graph, (m,)."""
        return np.asarray(2 * self.penalty * (np.abs(Lam) @ np.sqrt(np.diagonal(Gamma))))

    def beside(self, Gamma: Array, Psi: Array, Lam: Array) -> list[tuple[Array, Array | None]]:
        """Return what a further component may meet: loadings, and what each graph gives up, (m,).

        The best comes first.
        """
        del Gamma, Psi
        return [(Lam, None)]

    def solve(self, Gamma: Array, Psi: Array, previous: Array | None = None) -> Array:
        """Return the loadings, (m, d).

        Parameters
        ----------
        Gamma : (d, d)
            Inner products of the components, positive semidefinite.
        Psi : (m, d)
            Inner products <A_i, e_k>.
        previous : (m, d'), optional
            Loadings on the first d' components that were found before, d' <= d.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class FreeLoadings(LoadingRule):
    """Any loadings: least squares."""

    linear: ClassVar[bool] = True

    def alone(self, tau: Array) -> tuple[Array, Array, Array]:
        """Return the form itself, and its square."""
        return tau, tau**2, np.ones_like(tau)

    def solve(self, Gamma: Array, Psi: Array, previous: Array | None = None) -> Array:
        """Return the loadings, (m, d); ``previous`` does not matter."""
        del previous
        return solve_loadings(Gamma, Psi)


@dataclass(frozen=True)
class NonnegativeLoadings(LoadingRule):
    """Loadings of at least zero: nonnegative least squares, exactly, by an active set."""

    nonnegative = True

    def solve(self, Gamma: Array, Psi: Array, previous: Array | None = None) -> Array:
        """Return the loadings, (m, d); ``previous`` does not matter."""
        del previous
        C, Psi, lengths = _of_norm_one(Gamma, Psi)
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

    def beside(self, Gamma: Array, Psi: Array, Lam: Array) -> list[tuple[Array, Array | None]]:
        """Let graphs that have all their nonzeros give one up, or else leave all as they are.

        Without that, no component after the first few would ever be used.
        """
        full = (Lam != 0).sum(axis=1) >= self.max_nonzeros
        if not full.any():
            return [(Lam, None)]
        fewer = np.zeros_like(Lam)
        if self.max_nonzeros > 1:
            fewer = replace(self, max_nonzeros=self.max_nonzeros - 1).solve(Gamma, Psi)
        given_up = objective_of(Gamma, Psi, fewer) - objective_of(Gamma, Psi, Lam)
        costs = np.where(full, np.maximum(given_up, 0.0), 0.0)
        return [(np.where(full[:, None], fewer, Lam), costs), (Lam, None)]

    def solve(self, Gamma: Array, Psi: Array, previous: Array | None = None) -> Array:
        """Return the loadings, (m, d), none worse than least squares on ``previous``."""
        C, Psi, lengths = _of_norm_one(Gamma, Psi)
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

    def solve(self, Gamma: Array, Psi: Array, previous: Array | None = None) -> Array:
        """Return the loadings, (m, d); ``previous`` does not matter."""
        del previous
        C, Psi, lengths = _of_norm_one(Gamma, Psi)
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

    def solve(self, Gamma: Array, Psi: Array, previous: Array | None = None) -> Array:
        """Return the loadings, (m, d); the signs of ``previous`` are where the search begins."""
        C, Psi, lengths = _of_norm_one(Gamma, Psi)
        warm = None if previous is None else _padded(previous, Psi)
        return _penalised(C, Psi, lengths, self.penalty, signed=not self.nonnegative, warm=warm)


def objective_of(Gamma: Array, Psi: Array, Lam: Array) -> Array:
    """Return lam Gamma lam - 2 psi . lam for each graph, (m,)."""
    values: Array = np.einsum("ik,ik->i", Lam @ Gamma - 2 * Psi, Lam)
    return values


def _of_norm_one(Gamma: Array, Psi: Array) -> tuple[Array, Array, Array]:
    """Return Gamma and Psi of components of norm 1, and the norms, infinite for nothing."""
    squares = np.diagonal(Gamma)
    nothing = 10 * len(squares) * _EPS * squares.max(initial=0.0)
    lengths = np.sqrt(np.where(squares > nothing, squares, np.inf))
    C = np.ascontiguousarray(Gamma / np.outer(lengths, lengths))
    np.fill_diagonal(C, 1.0)  # but for rounding it is, and of nothing it must not be zero
    return C, np.ascontiguousarray(Psi / lengths), lengths


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
        values = linalg.eigvalsh(C) if len(C) else np.ones(1)
        if penalty == 0 and values[0] * _TRUSTED > values[-1]:
            warm = linalg.cho_solve(linalg.cho_factor(C), Psi.T).T
    penalised_rows(C, Psi, float(penalty), signed, np.ascontiguousarray(warm), out)
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = Psi - out @ C
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
    again = np.zeros((len(rows), len(C)))
    some = np.ascontiguousarray(Psi[rows])
    ridged = C + _RIDGE * np.eye(len(C))
    penalised_rows(ridged, some, float(penalty), signed, np.zeros_like(again), again)
    before, after = (
        objective_of(C, some, beta) + 2 * penalty * np.abs(beta).sum(axis=1)
        for beta in (out[rows], again)
    )
    rounding = 8 * _EPS * np.abs(out[rows]).sum(axis=1) ** 2
    certain = np.isfinite(before) & (before + rounding < after)
    out[rows[~certain]] = again[~certain]
