"""Groups, covariates and participants as a linear model, and which of its rows may change places.

:func:`read_variable` and :func:`read_table` take what users know of their graphs,
:func:`read_design` makes a linear model of it (of groups, or of a :class:`Question` such as a
formula), and :class:`Permutations` holds the rearrangements of its rows that the hypothesis of no
effect allows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from eigengraphs.errors import InputError
from eigengraphs.system.labels import UNKNOWN, are_codes, without_none

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
DesignKind: TypeAlias = Literal["single", "between", "within"]
EffectName: TypeAlias = Literal["Hedges g", "omega squared", "partial correlation"]
_SAME = 1e-8  # of the size of a column: less is rounding
_BLOCK = 4_000_000  # numbers that are held at once by all permutations
_CONSTANT = 1e-12  # of the largest loading: a smaller spread is none
_FEW = 4  # columns of a sum that a message names


# Values and loadings as users give them


@dataclass(frozen=True, eq=False)
class Variable:
    """One value for each graph.

    Attributes
    ----------
    values : (m,)
        Numbers, or places in ``levels``; nan where it is not known.
    levels
        Names of the groups: in alphabetical order, numbers by size.
    """

    name: str
    kind: Literal["groups", "quantity"]
    values: Array
    levels: tuple[str, ...] = ()

    @property
    def known(self) -> NDArray[np.bool_]:
        """Where there is a value, (m,)."""
        return ~np.isnan(self.values)

    def rows(self, keep: NDArray[Any]) -> Variable:
        """Return it for some graphs (a mask or indices); groups without a graph are dropped."""
        values = self.values[keep]
        if self.kind == "quantity":
            return Variable(self.name, self.kind, values)
        present, codes = np.unique(values, return_inverse=True)
        levels = tuple(self.levels[int(level)] for level in present)
        return Variable(self.name, self.kind, codes.astype(np.float64), levels)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that :meth:`coded` returns, (q,)."""
        own = [f"{self.name}[T.{level}]" for level in self.levels[1:]]
        return [self.name] if self.kind == "quantity" else own

    def coded(self, first: int = 1) -> Array:
        """Return columns of numbers, (m, q): a quantity, or groups from the first on as 0 or 1."""
        if self.kind == "quantity":
            return self.values[:, None]
        groups = np.arange(first, len(self.levels))
        return np.asarray(self.values[:, None] == groups, dtype=np.float64)


def graph_values(name: str, given: Any, n_graphs: int) -> list[Any]:
    """Return one plain value per graph; None for None, nan, pandas' NA, "" and "n/a"."""
    if not isinstance(given, Sequence | np.ndarray) and hasattr(given, "__iter__"):
        given = list(given)
    if isinstance(given, str) or np.ndim(given) != 1 or len(given) != n_graphs:
        came = "one text" if isinstance(given, str) else f"shape {np.shape(given)}"
        raise InputError(
            f"{name!r} must have one value for each of the {n_graphs} graphs, got {came}"
        )
    return [_plain(name, value) for value in list(given)]


def read_variable(
    name: str,
    given: Any,
    n_graphs: int,
    kind: str | None = None,
    levels: tuple[str, ...] | None = None,
) -> Variable:
    """Make a variable of numbers or texts.

    Numbers of three or more values are a quantity; all else are groups. Texts are never numbers.

    Parameters
    ----------
    name
        For messages.
    given
        One value for each graph; see :func:`graph_values`.
    n_graphs
        How many there must be.
    kind
        ``"groups"`` or ``"quantity"`` where the values must not decide; ``"label"`` where a few
        whole numbers, each often, are groups as well.
    levels
        Groups that are known already; others are unknown values then.
    """
    values = without_none(graph_values(name, given, n_graphs))
    known = [value for value in values if value is not None]
    if not known and kind is None:
        raise InputError(f"{name!r} has no value for any graph")
    numbers = all(map(_is_number, known))
    if kind in (None, "label"):
        many = numbers and len(set(known)) > 2 and not (kind == "label" and are_codes(known))
        kind = "quantity" if many else "groups"
    if kind == "quantity":
        if not numbers:
            i = next(i for i, x in enumerate(values) if x is not None and not _is_number(x))
            raise InputError(
                f"{name!r} is a quantity and needs numbers; {counted(i)} has {values[i]!r}"
            )
        filled = [math.nan if value is None else float(value) for value in values]
        return Variable(name, "quantity", np.array(filled))
    if levels is None:
        ordered = sorted(set(known)) if numbers else sorted({_word(value) for value in known})
        levels = tuple(_word(level) for level in ordered)
    place = {text: float(i) for i, text in enumerate(levels)}
    codes = [math.nan if value is None else place.get(_word(value), math.nan) for value in values]
    return Variable(name, "groups", np.array(codes), levels)


def read_table(given: Any, n_graphs: int) -> tuple[Variable, ...]:
    """Make variables of a mapping, a pandas table, an array of numbers (m, q), or None."""
    columns = table_columns(given, n_graphs)
    return tuple(read_variable(name, values, n_graphs) for name, values in columns.items())


def table_columns(given: Any, n_graphs: int) -> dict[str, Any]:
    """Return columns by their names, as :func:`read_table` takes them."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(name): values for name, values in given.items()}
    if hasattr(given, "columns") and hasattr(given, "iloc"):
        return {str(name): given[name].tolist() for name in given.columns}
    table = np.asarray(given)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != n_graphs:
        raise InputError(
            f"covariates must be a mapping of names to columns, or an array of {n_graphs} rows; "
            f"got shape {table.shape}"
        )
    return {f"covariate {j + 1}": column.tolist() for j, column in enumerate(table.T)}


def read_loadings(given: Any, least: int = 3) -> Array:
    """Return loadings (m, d) as finite numbers."""
    try:
        Y = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("loadings must be an array of numbers, one row per graph") from None
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or Y.shape[1] == 0:
        raise InputError(f"loadings must have shape (graphs, components), got {np.shape(given)}")
    if len(Y) < least:
        raise InputError(f"loadings of at least {least} graphs are needed, got {len(Y)}")
    if not np.isfinite(Y).all():
        i, k = np.argwhere(~np.isfinite(Y))[0]
        raise InputError(
            f"loadings must be finite; that of {counted(i)}, component {k + 1}, is not"
        )
    return Y


def varying_loadings(
    given: Any,
    spread: Callable[[Array], Array] = lambda Y: np.ptp(Y, axis=0),
    alike: str = "the same for all graphs",
    *,
    least: int = 3,
    components: Sequence[str] | None = None,
    leave_out: Any = None,
) -> tuple[Array, Array, list[str], list[str]]:
    """Return loadings on the components that can be tested: those that vary, and mean something.

    Parameters
    ----------
    given : (m, d)
        As users have them.
    spread
        Of each component, (d,), from loadings (m, d).
    alike
        What loadings without any spread are, in words.
    least
        Graphs that are needed.
    components, leave_out
        Names, ``je1``, ``je2``, ... by default, and which components are left out.

    Returns
    -------
    Y, unit : (m, d') and (d',)
        Loadings in units, and these: powers of two near the largest loadings.
    names, notes
        Of these components, and on the others.
    """
    Y = read_loadings(given, least)
    d, unit = Y.shape[1], units(Y)
    Y = Y / unit
    names = np.array([f"je{k + 1}" for k in range(d)] if components is None else list(components))
    if len(names) != d:
        raise InputError(f"components must have one name for each of {d}, got {len(names)} names")
    out = np.zeros(d, bool) if leave_out is None else np.asarray(leave_out, dtype=bool)
    if out.shape != (d,):
        raise InputError(f"leave_out must have one value for each of {d} components")
    constant = spread(Y) <= _CONSTANT * np.abs(Y).max(axis=0)
    notes = [
        f"not tested, because loadings are {why}: {', '.join(names[which])}"
        for which, why in ((out, "degenerate"), (constant & ~out, alike))
        if which.any()
    ]
    keep = ~(out | constant)
    if not keep.any():
        raise InputError("no component is left to test: loadings are constant or degenerate")
    return Y[:, keep], unit[keep], names[keep].tolist(), notes


def numbered(given: Any, m: int, name: str = "groups") -> Indices:
    """Return the group of each graph as a number from 0 on, (m,); by default each is its own."""
    values = np.arange(m) if given is None else np.asarray(given)
    if values.shape != (m,):
        raise InputError(f"{name} must have one value for each of {m} graphs, got {values.shape}")
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def check_share(name: str, value: Any) -> None:
    """Raise an error for what is not between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} must be between 0 and 1, got {value!r}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise an error for what is none of these."""
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def units(Y: Array) -> Array:
    """Return a power of two near the largest value of each column, (d,).

    Division by it loses no digit, and squares of what is left neither overflow nor vanish.
    """
    largest = np.abs(Y).max(axis=0, initial=0.0)
    return np.asarray(np.ldexp(1.0, np.frexp(largest)[1] - 1))


def unit_of(values: NDArray[Any]) -> float:
    """Return one such unit for all numbers of an array."""
    return float(units(np.ravel(values)))


def portions(total: int, width: int, most: int = 2_000_000) -> Iterator[int]:
    """Yield numbers of rows that add up to a total; ``most`` numbers are held at once."""
    step = max(1, most // width)
    for start in range(0, total, step):
        yield min(step, total - start)


def counted(i: int) -> str:
    """Return words for a graph without a name; people count from 1, Python from 0."""
    return f"graph {i + 1} (index {i})"


def words(items: Sequence[str], most: int = 4) -> str:
    """Return names with commas, the first few of them."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(name: str, value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return None if value.strip().lower() in UNKNOWN else value
    if isinstance(value, float) and math.isinf(value):
        raise InputError(f"{name!r} must be finite, got {value}; write nan where it is unknown")
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None  # the types are pandas' own; nan is not equal to itself
    return value if isinstance(value, bool | int | float) else str(value)


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


# The linear model


@dataclass(frozen=True, eq=False)
class Model:
    """Columns of a linear model, one row per graph, and which contrasts of them are tested.

    Attributes
    ----------
    name
        Of what is tested.
    columns : (m, p)
        With a constant among their sums.
    names, terms : (p,)
        Of the columns, and of the term or covariate that each is part of.
    tested : (p, q)
        Contrasts: the hypothesis is that ``tested.T`` @ coefficients is zero.
    contrasts : (q,)
        Their names.
    inside : (p,) of bool
        Columns of the terms that are tested: if they vary within subjects, so does the question.
    group
        Rows of one group have one spread; a quantity has no groups.
    kind
        What is tested: differences between groups, a slope, or other contrasts.
    effect_name
        Measure of the size of the effect.
    at
        Columns, (m, p), that the graphs would have if all were in the group of this number; None if
        groups have no means.
    formula
        Its text, if it is from one.
    """

    name: str
    columns: Array
    names: tuple[str, ...]
    terms: tuple[str, ...]
    tested: Array
    contrasts: tuple[str, ...]
    inside: NDArray[np.bool_]
    group: Variable
    kind: Literal["groups", "quantity", "contrast"]
    effect_name: EffectName
    at: Callable[[int], Array] | None = None
    notes: tuple[str, ...] = ()
    formula: str = ""


class Question(ABC):
    """What is asked of loadings, for :func:`read_design`."""

    @abstractmethod
    def variables(self, n_graphs: int) -> tuple[Variable, ...]:
        """Return what must be known of each graph."""

    @abstractmethod
    def model(self, known: Sequence[Variable]) -> Model:
        """Return the linear model of graphs of which all of this is known."""


@dataclass(frozen=True)
class _Groups(Question):
    """Whether groups differ, or a quantity matters, beside covariates."""

    name: str
    group: Any
    covariates: Any

    def variables(self, n_graphs: int) -> tuple[Variable, ...]:
        """Return the group and the covariates."""
        own = read_variable(self.name, self.group, n_graphs)
        return own, *read_table(self.covariates, n_graphs)

    def model(self, known: Sequence[Variable]) -> Model:
        """Return an intercept, the group or quantity, and the covariates."""
        group, m = known[0], len(known[0].values)
        coded = [np.ones((m, 1)), *(variable.coded() for variable in known)]
        names, terms = ["Intercept"], [""]
        for each in known:
            names += each.columns
            terms += [each.name] * (len(names) - len(terms))
        columns, q = np.hstack(coded), coded[1].shape[1]
        tested = np.eye(len(names))[:, 1 : 1 + q]

        def at(level: int) -> Array:
            moved = columns.copy()
            moved[:, 1 : 1 + q] = np.arange(1, q + 1) == level
            return moved

        measure: EffectName = "Hedges g" if q == 1 else "omega squared"
        return Model(
            group.name, columns, tuple(names), tuple(terms), tested, tuple(names[1 : 1 + q]),
            np.asarray(tested.any(axis=1)), group, group.kind,
            "partial correlation" if group.kind == "quantity" else measure,
            at if group.levels else None,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Design:
    """Loadings, what they are compared by, and what is held constant; one row per unit.

    Columns of ``X``, ``Z`` and ``Y`` sum to zero (within each subject, if rows are compared within
    subjects), which stands for an intercept (for each subject).

    Attributes
    ----------
    X : (u, q)
        Groups, a quantity, or other columns whose coefficients are the tested contrasts.
    Z : (u, r)
        An orthonormal basis of the covariates; none of them is constant.
    Y : (u, d)
        Loadings.
    raw : (u, p)
        Columns of the model before centering: equal rows are interchangeable.
    intercepts : (u,)
        Which intercept each row has: all the same one, or one for each subject. Rows change places
        with those that have the same one.
    group
        Of the rows; groups between subjects: of the subjects.
    model
        What the user asked.
    means : (d,)
        Mean loadings of all rows.
    scales : (p,)
        Units of ``raw``: what the model has is ``raw * scales``.
    at : (groups, p)
        Where each group has its adjusted mean, in units of ``raw``.
    unit
        Of the tested contrasts: they are coefficients of X divided by it.
    """

    X: Array
    Z: Array
    Y: Array
    raw: Array
    intercepts: Indices
    group: Variable
    kind: DesignKind
    model: Model
    means: Array
    scales: Array
    at: Array
    n_graphs: int
    notes: tuple[str, ...]
    unit: float = 1.0

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates, or of the other terms of a formula."""
        tested = {self.model.terms[j] for j in np.flatnonzero(self.model.tested.any(axis=1))}
        return tuple(name for name in dict.fromkeys(self.model.terms) if name not in {"", *tested})

    @property
    def units(self) -> Indices:
        """Which rows a bootstrap draws together, (u,): each alone, or those of a subject."""
        return self.intercepts if self.kind == "within" else np.arange(len(self.Y))

    @property
    def strata(self) -> Indices:
        """Groups of units that a bootstrap draws from one by one, (units,)."""
        if self.group.levels and self.kind != "within":
            return self.group.values.astype(np.intp)
        return np.zeros(self.units.max() + 1, dtype=np.intp)

    @property
    def n_coefficients(self) -> int:
        """Number of intercepts, covariates and effects."""
        return int(self.intercepts.max() + 1 + self.Z.shape[1] + self.X.shape[1])

    @property
    def df_error(self) -> int:
        """Degrees of freedom that the model leaves."""
        return len(self.Y) - self.n_coefficients

    def without_covariates(self, A: Array) -> Array:
        """Return what the covariates do not explain of columns A (u, k)."""
        return np.asarray(A - self.Z @ (self.Z.T @ A))


def read_design(
    Y: Array, group: Any, covariates: Any = None, subjects: Any = None, name: str = "group"
) -> Design:
    """Build the model from what users know of their graphs; rows without a value are left out.

    Parameters
    ----------
    Y : (m, d)
        Loadings.
    group, covariates, subjects
        As :func:`~eigengraphs.inference.compare` takes them.
    name
        Of the group, for messages and notes; a formula has its own.
    """
    if isinstance(group, Question):
        if covariates is not None:
            raise InputError("covariates are terms of the formula; write them there")
        question = group
    else:
        question = _Groups(name, group, covariates)
    variables = question.variables(len(Y))
    asked = list(variables)
    if subjects is not None:
        asked.append(read_variable("subjects", subjects, len(Y), "groups"))
    rows, left_out = complete_rows(asked)
    try:
        known = [each.rows(rows) for each in asked]
        model = question.model(known[: len(variables)])
        design = make_design(Y[rows], model, *known[len(variables) :])
    except InputError as error:
        if rows.all():
            raise
        raise InputError(f"{error} ({left_out[0]})") from None
    return replace(design, notes=(*left_out, *design.notes))


def complete_rows(asked: Sequence[Variable]) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which graphs have all values, (m,), and a note if some have not."""
    rows = np.asarray(np.all([each.known for each in asked], axis=0))
    if rows.all():
        return rows, []
    why = ", ".join(
        f"{int((~each.known).sum())} without {each.name}" for each in asked if not each.known.all()
    )
    if rows.sum() < 3:
        raise InputError(
            f"only {int(rows.sum())} graphs have all values ({why}), too few to compare"
        )
    return rows, [f"{int((~rows).sum())} of {len(rows)} graphs are left out: {why}"]


def make_design(Y: Array, model: Model, subjects: Variable | None = None) -> Design:
    """Build the design of complete rows.

    Without subjects, or if none has two graphs, every graph is a unit. If what is tested is the
    same for all graphs of a subject, the mean of a subject's graphs is a unit. If it differs within
    every subject, graphs are compared, and change places, within subjects.

    The columns D are divided into X = D C (C^T C)^-1 and Z = D N, with C the tested contrasts and N
    a basis of what is orthogonal to them: then D b = X (C^T b) + Z (N^T b).

    Raises
    ------
    InputError
        If what is tested is constant, varies within some subjects alone, or is determined by the
        covariates.
    """
    group, name = model.group, model.name
    tested = np.asarray(model.tested.any(axis=1))
    scales = units(model.columns)
    scales[scales == 0] = 1.0
    D, notes, n_graphs = model.columns / scales, list(model.notes), len(Y)
    _check_differs(D[:, model.inside], name)
    kind: DesignKind = "single"
    codes = np.arange(len(Y)) if subjects is None else subjects.values.astype(np.intp)
    counts = np.bincount(codes)
    if subjects is not None and (counts > 1).any():
        kind = _kind(D[:, model.inside], codes, name, subjects)

    def of_units(A: Array) -> Array:
        return means_of(A, codes) if kind == "between" else A[keep]

    keep = counts[codes] > 1 if kind == "within" else np.ones(len(Y), dtype=bool)
    if kind == "between":
        group = group.rows(np.unique(codes, return_index=True)[1])
        if len(set(counts.tolist())) > 1:
            notes.append(
                f"participants have {counts.min()} to {counts.max()} graphs each; their means are "
                "treated as equally precise"
            )
    elif not keep.all():
        group = group.rows(keep)
        notes.append(
            f"{int((~keep).sum())} participants with one graph carry no information on "
            "change within participants and are left out"
        )
    Y, D = of_units(Y), of_units(D)
    one, blocks = "participant" if kind == "between" else "graph", np.zeros(len(Y), dtype=np.intp)
    if kind == "within":
        blocks = np.unique(codes[keep], return_inverse=True)[1]
    _check_differs(D[:, model.inside], name)
    C = model.tested / scales[:, None]
    unit = 1.0 if model.effect_name == "Hedges g" else unit_of(C)  # g is in units of the contrast
    C = C / unit
    X = D @ C @ np.linalg.inv(C.T @ C)
    rest = D[:, tested] @ null_space(C[tested].T)
    Z_columns = np.hstack([D[:, ~tested], rest])
    Z = independent_columns(_left(Z_columns, np.zeros((len(Y), 0)), blocks))
    if D.shape[1] > len(Y):
        sizes = {term: model.terms.count(term) for term in dict.fromkeys(model.terms) if term}
        most = sorted(sizes, key=lambda term: -sizes[term])
        raise InputError(
            f"{len(Y)} {one}s are too few for {D.shape[1]} coefficients "
            f"({words([f'{sizes[term]} of {term}' for term in most])}); leave out covariates"
        )
    depends = relations(D, model.names, blocks, scales)
    if np.linalg.matrix_rank(_left(X, Z, blocks), tol=_SAME) < X.shape[1]:
        involved = [text for text, about in depends if tested[about].any()]
        others = dict.fromkeys(
            model.terms[j] for _, about in depends if tested[about].any() for j in about
            if model.terms[j] and not tested[j]
        )  # fmt: skip
        by = words(list(others)) or "the participants" * (kind == "within")
        if not by:
            raise InputError(f"{name!r} cannot be estimated: {words(involved)}")
        raise InputError(
            f"{name!r} is determined by {by} ({words(involved, 3)}), so that its effect cannot be "
            "separated from theirs; leave out a covariate"
        )
    if depends:
        notes.append(f"of no use to the model: {'; '.join(text for text, _ in depends)}")
    single = [level for i, level in enumerate(group.levels) if (group.values == i).sum() == 1]
    if single:
        notes.append(
            f"only one {one} in {group.name} {words(single)}: its spread is taken to be that of "
            "the others"
        )
    at = np.zeros((0, D.shape[1]))
    if model.at is not None:
        levels = range(len(group.levels))
        at = np.array([of_units(model.at(level) / scales).mean(axis=0) for level in levels])
    design = Design(
        _centered(X, blocks), Z, _centered(Y, blocks), D, blocks, group, kind, model,
        Y.mean(axis=0), scales, at, n_graphs, tuple(notes), 1 / unit,
    )  # fmt: skip
    if design.df_error < 1:
        if len(group.levels) == len(Y):
            raise InputError(
                f"each of the {len(Y)} groups of {name!r} has one {one}, so that their "
                f"differences may all be chance; name a column with several {one}s per group"
            )
        raise InputError(
            f"{len(Y)} {one}s are too few for {design.n_coefficients} coefficients"
            f"{'; leave out covariates' if design.covariates else ''}"
        )
    return design


def relations(
    D: Array, names: Sequence[str], blocks: Indices, scales: Array
) -> list[tuple[str, list[int]]]:
    """Return which columns are sums of earlier ones, in words, and the places of all in a sum.

    Sums hold up to a constant, if that is a column; with blocks, up to one for each subject.
    """
    left, size = D, np.linalg.norm(D, axis=0)
    offsets, constant = np.zeros(D.shape[1]), np.ptp(D, axis=0) == 0
    if blocks.any() or (constant & (size > 0)).any():
        offsets = D.mean(axis=0) * scales * (not blocks.any())
        left, size = _centered(D, blocks), np.linalg.norm(D - D.mean(axis=0), axis=0)
    left = left / np.where(size > 0, size, 1.0)
    found = [
        (f"{names[j]} is 0 in all graphs", [j]) for j in range(len(names)) if not D[:, j].any()
    ]
    free = list[int]()
    for j in np.flatnonzero(size).tolist():
        weights = np.linalg.lstsq(left[:, free], left[:, j], rcond=None)[0]
        if np.linalg.norm(left[:, j] - left[:, free] @ weights) > _SAME:
            free.append(j)
            continue
        share = weights * size[j] * scales[j] / (size[free] * scales[free])
        used = [place for place, weight in enumerate(weights) if abs(weight) > _SAME]
        total = ["is constant within participants"] if not used else ["="]
        for place in used[:_FEW]:
            factor = "" if abs(abs(share[place]) - 1) < 1e-6 else f"{abs(share[place]):.3g} "
            sign = "- " if share[place] < 0 else "+ " if place != used[0] else ""
            total.append(f"{sign}{factor}{names[free[place]]}")
        total += ["+ ..."] * (len(used) > _FEW)
        if abs(more := offsets[j] - share @ offsets[free]) > 1e-6 * abs(offsets[j]) and used:
            total.append(f"{'-' if more < 0 else '+'} {abs(more):.3g}")
        found.append((" ".join([names[j], *total]), [j, *(free[place] for place in used)]))
    return found


def independent_columns(A: Array) -> Array:
    """Return an orthonormal basis of the columns of A, (u, rank); what is below 1e-8 is nothing."""
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U[:, s > _SAME])


def _check_differs(X: Array, name: str) -> None:
    if X.shape[1] == 0 or not np.ptp(X, axis=0).any():
        raise InputError(
            f"{name!r} is the same for all graphs that are left; there is nothing to compare"
        )


def _kind(X: Array, codes: Indices, name: str, subjects: Variable) -> DesignKind:
    spread = np.abs(X - means_of(X, codes)[codes]).max(axis=1)
    varies = np.bincount(codes, weights=spread > 1e-12 * max(float(np.ptp(X)), 1e-300)) > 0
    constant = (np.bincount(codes) > 1) & ~varies
    if not varies.any() or not constant.any():
        return "within" if varies.any() else "between"
    some = words([subjects.levels[i] for i in np.flatnonzero(constant)])
    raise InputError(
        f"{name!r} varies within {int(varies.sum())} participants and is the same for all graphs "
        f"of {int(constant.sum())} others ({some}). Differences between and within participants "
        "are different questions, with different permutations: keep the participants in whom it "
        "varies, or one graph of each"
    )


def means_of(A: Array, codes: Indices) -> Array:
    """Return means over the rows of each code, (codes, k)."""
    counts = np.bincount(codes)
    sums = np.zeros((len(counts), A.shape[1]))
    np.add.at(sums, codes, A)
    return sums / counts[:, None]


def _centered(A: Array, blocks: Indices) -> Array:
    return np.asarray(A - (means_of(A, blocks)[blocks] if blocks.any() else A.mean(axis=0)))


def _left(A: Array, basis: Array, blocks: Indices) -> Array:
    """Return what intercepts and an orthonormal basis leave of columns, over their size before.

    What is left of a column may be rounding alone.
    """
    centered = _centered(A, blocks)
    size = np.linalg.norm(A - A.mean(axis=0), axis=0)
    return np.asarray((centered - basis @ (basis.T @ centered)) / np.where(size > 0, size, 1.0))


# Rearrangements of its rows


class Permutations:
    """Rearrangements of the rows of a design, against which an observation is judged.

    Two orders that put equal rows in equal places are one arrangement. If there are no more
    arrangements than ``most``, each is taken once, the observed one among them, and p-values are
    exact. Otherwise ``most`` orders are drawn, and the observed one is added.

    Parameters
    ----------
    rows : (u, p)
        Rows of the design; equal rows are interchangeable.
    blocks : (u,)
        Rows change places only with rows of the same block.
    most
        How many are looked at.

    Attributes
    ----------
    exact : bool
        Whether all arrangements are looked at.
    """

    def __init__(self, rows: Array, blocks: Indices, most: int) -> None:
        self.most = most
        self._ids = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
        self._members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
        count = 1
        for members in self._members:
            alike = np.unique(self._ids[members], return_counts=True)[1]
            count *= math.factorial(len(members)) // math.prod(map(math.factorial, alike.tolist()))
        self.exact = count <= most

    def orders(self, rng: np.random.Generator, width: int) -> Iterator[Indices]:
        """Yield blocks of orders, each (some, u); the observed one is among them if exact.

        ``width`` is how many numbers are held for each order.
        """
        orders = np.arange(len(self._ids))[None, :]
        if self.exact:
            for members in self._members:
                inner = members[np.array(list(_arrangements(self._ids[members])))]
                orders = np.repeat(orders, len(inner), axis=0)
                orders[:, members] = np.tile(inner, (len(orders) // len(inner), 1))
            ends = np.cumsum(list(portions(len(orders), width, _BLOCK)))
            yield from np.split(orders, ends[:-1])
            return
        order = np.concatenate(self._members)
        block = np.repeat(np.arange(len(self._members)), [len(m) for m in self._members])
        for some in portions(self.most, width, _BLOCK):
            drawn = np.tile(orders, (some, 1))
            if len(self._members) == 1:
                yield rng.permuted(drawn, axis=1)
                continue
            # Random numbers that stay within the range of their block, sorted.
            drawn[:, order] = order[np.argsort(rng.random(drawn.shape) + block, axis=1)]
            yield drawn


def _arrangements(ids: Indices) -> Iterator[Indices]:
    """Yield orders (u,) such that ``ids[order]`` are all different arrangements of ids."""
    places = [np.flatnonzero(ids == one) for one in np.unique(ids)]
    order = np.zeros(len(ids), dtype=np.intp)

    def fill(free: Indices, kind: int) -> Iterator[Indices]:
        if kind == len(places):
            yield order.copy()
            return
        for chosen in combinations(range(len(free)), len(places[kind])):
            order[free[list(chosen)]] = places[kind]
            yield from fill(np.delete(free, list(chosen)), kind + 1)

    return fill(np.arange(len(ids)), 0)
