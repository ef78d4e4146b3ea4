"""From groups, covariates and subjects to a linear model whose rows may change places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.inference.variables import Array, Variable, words

__all__ = ["Design", "independent_columns", "make_design"]

_SAME = 1e-8  # of the size of a column: less is rounding


@dataclass(frozen=True, eq=False)
class Design:
    """Loadings, what they are compared by, and what is held constant, a row for each unit.

    Columns of ``X``, ``Z`` and ``Y`` sum to zero (within each block, if there are blocks), which
    stands for an intercept (for each block).
    """

    X: Array
    """(u, q), groups or a quantity."""
    Z: Array
    """(u, r), covariates, of full rank; none of them is constant."""
    Y: Array
    """(u, d), loadings."""
    raw: Array
    """(u, q + r), X and Z before they were centred: equal rows are interchangeable."""
    blocks: NDArray[np.intp] | None
    """(u,), subjects within whom rows change places; None if all rows may."""
    strata: NDArray[np.intp]
    """(u,), groups of rows that a bootstrap draws from one by one."""
    group: Variable
    """Of the rows; groups between subjects: of the subjects."""
    kind: Literal["single", "between", "within"]
    means: Array
    """(d,), mean loadings of all rows."""
    n_graphs: int
    absorbed: tuple[str, ...]
    """Covariates that are told by the subjects or by other covariates already."""
    notes: tuple[str, ...]

    @property
    def n_intercepts(self) -> int:
        """One, or one for each subject."""
        return 1 if self.blocks is None else len(np.unique(self.blocks))

    @property
    def df_error(self) -> int:
        """Degrees of freedom that the model leaves."""
        return int(len(self.Y) - self.n_intercepts - self.Z.shape[1] - self.X.shape[1])


def make_design(
    Y: Array,
    group: Variable,
    covariates: tuple[Variable, ...],
    subjects: Variable | None,
) -> Design:
    """Build the model of complete rows.

    Without subjects, or if none has two graphs, every graph is a unit. If the group is the same
    for all graphs of a subject, the mean of a subject's graphs is a unit. If it differs within
    every subject, graphs are compared, and change places, within subjects.

    Raises
    ------
    InputError
        If the group is constant, varies within some subjects alone, or is told by the covariates.
    """
    X, Zs = group.coded(), [variable.coded() for variable in covariates]
    _check_differs(X, group.name)
    notes: list[str] = []
    n_graphs = len(Y)
    kind: Literal["single", "between", "within"] = "single"
    blocks: NDArray[np.intp] | None = None
    if subjects is not None:
        codes = subjects.values.astype(np.intp)
        counts = np.bincount(codes)
        if (counts > 1).any():
            kind = _kind(X, codes, counts, group.name, subjects)
        if kind == "between":
            first = np.zeros(len(codes), dtype=bool)
            first[np.unique(codes, return_index=True)[1]] = True
            X, Y, *Zs = (_subject_means(each, codes, counts) for each in (X, Y, *Zs))
            group = group.rows(first)
            group = _in_order(group, codes[first])
            if len(set(counts.tolist())) > 1:
                notes.append(
                    f"subjects have {counts.min()} to {counts.max()} graphs each; their means are "
                    "taken as equally precise"
                )
        elif kind == "within":
            alone = int((counts == 1).sum())
            if alone:
                keep = counts[codes] > 1
                X, Y, *Zs = (each[keep] for each in (X, Y, *Zs))
                group, codes = group.rows(keep), np.unique(codes[keep], return_inverse=True)[1]
                X = group.coded()
                notes.append(f"{alone} subjects with one graph say nothing of change within "
                             "subjects and are left out")  # fmt: skip
            blocks = codes
    _check_differs(X, group.name)
    names = [variable.name for variable in covariates]
    Z, absorbed = _independent(Zs, names, blocks, len(Y))
    kept = [each for name, each in zip(names, Zs, strict=True) if name not in absorbed]
    raw = np.hstack([X, *kept])
    Xc = _centred(X, blocks)
    left = (Xc - _fitted(Z, Xc)) / _scale(X - X.mean(axis=0))
    if np.linalg.matrix_rank(left, tol=_SAME) < X.shape[1]:
        by = words(names) or "the subjects"
        raise InputError(
            f"{group.name!r} is told by {by} altogether, so that its effect cannot be told from "
            "theirs; leave a covariate out"
        )
    strata = group.values if group.kind == "groups" and blocks is None else np.zeros(len(X))
    design = Design(
        Xc, Z, _centred(Y, blocks), raw, blocks, strata.astype(np.intp), group, kind,
        Y.mean(axis=0), n_graphs, tuple(absorbed), tuple(notes),
    )  # fmt: skip
    if design.df_error < 1:
        unit = "subject" if kind == "between" else "graph"
        if group.kind == "groups" and len(group.levels) == len(Y):
            raise InputError(
                f"each of the {len(Y)} groups of {group.name!r} has one {unit}, so that nothing "
                "tells groups from chance; name a column with several in a group"
            )
        raise InputError(
            f"{len(Y)} {unit}s are too few for "
            f"{design.n_intercepts + Z.shape[1] + X.shape[1]} coefficients"
            f"{'; leave covariates out' if names else ''}"
        )
    return design


def _check_differs(X: Array, name: str) -> None:
    if X.shape[1] == 0 or not np.ptp(X, axis=0).any():
        raise InputError(
            f"{name!r} is the same for all graphs that are left; there is nothing to compare"
        )


def independent_columns(A: Array) -> Array:
    """Return an orthonormal basis of the columns of A, (u, rank); what is below 1e-8 is nothing."""
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U[:, s > _SAME])


def _kind(
    X: Array, codes: NDArray[np.intp], counts: NDArray[np.intp], name: str, subjects: Variable
) -> Literal["between", "within"]:
    spread = np.abs(X - _subject_means(X, codes, counts)[codes]).max(axis=1)
    scale = max(float(np.ptp(X)), 1e-300)
    varies = np.bincount(codes, weights=spread > 1e-12 * scale) > 0
    several = counts > 1
    if not varies.any():
        return "between"
    if (varies == several).all():
        return "within"
    some = words([subjects.levels[i] for i in np.flatnonzero(several & ~varies)])
    raise InputError(
        f"{name!r} varies within {int(varies.sum())} subjects and is the same for all graphs of "
        f"{int((several & ~varies).sum())} others ({some}). Differences between and within "
        "subjects are different questions, with different permutations: keep the subjects in whom "
        "it varies, or one graph of each subject"
    )


def _subject_means(A: Array, codes: NDArray[np.intp], counts: NDArray[np.intp]) -> Array:
    sums = np.zeros((len(counts), A.shape[1]))
    np.add.at(sums, codes, A)
    return sums / counts[:, None]


def _in_order(group: Variable, codes: NDArray[np.intp]) -> Variable:
    """Put values of subjects, met in the order of ``codes``, in the order of their numbers."""
    return Variable(group.name, group.kind, group.values[np.argsort(codes)], group.levels)


def _centred(A: Array, blocks: NDArray[np.intp] | None) -> Array:
    if blocks is None:
        return np.asarray(A - A.mean(axis=0))
    return np.asarray(A - _subject_means(A, blocks, np.bincount(blocks))[blocks])


def _independent(
    Zs: list[Array], names: list[str], blocks: NDArray[np.intp] | None, n_rows: int
) -> tuple[Array, list[str]]:
    """Return a basis of all covariates, and the names of those that add nothing to it."""
    basis = np.zeros((n_rows, 0))
    absorbed = []
    for name, Z in zip(names, Zs, strict=True):
        Zc = _centred(Z, blocks)
        # Against its size before: what is left of it may be rounding alone.
        left = (Zc - _fitted(basis, Zc)) / _scale(Z - Z.mean(axis=0))
        new = independent_columns(left)
        if new.shape[1] == 0:
            absorbed.append(name)
        basis = np.hstack([basis, new])
    return basis, absorbed


def _fitted(basis: Array, A: Array) -> Array:
    """Return the part of A that an orthonormal basis explains."""
    return np.asarray(basis @ (basis.T @ A)) if basis.size else np.zeros_like(A)


def _scale(A: Array) -> Array:
    norms = np.linalg.norm(A, axis=0)
    return np.asarray(np.where(norms > 0, norms, 1.0))
