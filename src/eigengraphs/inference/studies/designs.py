"""Groups, covariates and participants as a linear model, and which of its rows may change places.

:func:`read_variable` and :func:`read_table` take what users know of their graphs,
:func:`read_design` makes a linear model of it, and :class:`Permutations` holds the rearrangements
of its rows that the hypothesis of no effect allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.system.labels import UNKNOWN, are_codes, without_none

__all__ = [
    "Design", "Permutations", "Variable", "make_design", "read_design", "read_table",
    "read_variable",
]  # fmt: skip

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
DesignKind: TypeAlias = Literal["single", "between", "within"]
_SAME = 1e-8  # of the size of a column: less is rounding
_BLOCK = 4_000_000  # numbers that are held at once by all permutations
_CONSTANT = 1e-12  # of the largest loading: a smaller spread is none


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

    def scaled(self) -> tuple[Variable, float]:
        """Return it in a unit near its largest value, and that unit; groups stay as they are."""
        if self.kind == "groups":
            return self, 1.0
        unit = unit_of(self.values[self.known])
        return Variable(self.name, self.kind, self.values / unit), unit

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
    spread: Callable[[Array], Array],
    alike: str,
    *,
    least: int = 1,
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
class Design:
    """Loadings, what they are compared by, and what is held constant; one row per unit.

    Columns of ``X``, ``Z`` and ``Y`` sum to zero (within each subject, if rows are compared within
    subjects), which stands for an intercept (for each subject).

    Attributes
    ----------
    X : (u, q)
        Groups or a quantity.
    Z : (u, r)
        An orthonormal basis of the covariates; none of them is constant.
    Y : (u, d)
        Loadings.
    raw : (u, q + r')
        X and covariates before centering: equal rows are interchangeable.
    intercepts : (u,)
        Which intercept each row has: all the same one, or one for each subject. Rows change places
        with those that have the same one.
    group
        Of the rows; groups between subjects: of the subjects.
    means : (d,)
        Mean loadings of all rows.
    unit
        Of a quantity: effects are per so much of it.
    covariates
        Their names.
    """

    X: Array
    Z: Array
    Y: Array
    raw: Array
    intercepts: Indices
    group: Variable
    kind: DesignKind
    means: Array
    n_graphs: int
    notes: tuple[str, ...]
    unit: float = 1.0
    covariates: tuple[str, ...] = ()

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
        Of the group, for messages and notes.
    """
    variable, unit = read_variable(name, group, len(Y)).scaled()
    table = [covariate.scaled()[0] for covariate in read_table(covariates, len(Y))]
    asked = [variable, *table]
    if subjects is not None:
        asked.append(read_variable("subjects", subjects, len(Y), "groups"))
    rows, left_out = np.all([each.known for each in asked], axis=0), []
    if not rows.all():
        why = ", ".join(
            f"{int((~each.known).sum())} without {each.name}"
            for each in asked
            if not each.known.all()
        )
        left_out.append(f"{int((~rows).sum())} of {len(rows)} graphs are left out: {why}")
        if rows.sum() < 3:
            raise InputError(
                f"only {int(rows.sum())} graphs have all values ({why}), too few to compare"
            )
    try:
        known, *others = (each.rows(rows) for each in asked)
        design = make_design(Y[rows], known, others[: len(table)], *others[len(table) :])
    except InputError as error:
        if rows.all():
            raise
        raise InputError(f"{error} ({left_out[0]})") from None
    names = tuple(covariate.name for covariate in table)
    return replace(design, notes=(*left_out, *design.notes), unit=unit, covariates=names)


def make_design(
    Y: Array, group: Variable, covariates: Sequence[Variable] = (), subjects: Variable | None = None
) -> Design:
    """Build the model of complete rows.

    Without subjects, or if none has two graphs, every graph is a unit. If the group is the same
    for all graphs of a subject, the mean of a subject's graphs is a unit. If it differs within
    every subject, graphs are compared, and change places, within subjects.

    Raises
    ------
    InputError
        If the group is constant, varies within some subjects alone, or is determined by the
        covariates.
    """
    X, Zs = group.coded(), [variable.coded() for variable in covariates]
    _check_differs(X, group.name)
    notes: list[str] = []
    n_graphs = len(Y)
    kind: DesignKind = "single"
    codes = np.arange(len(Y)) if subjects is None else subjects.values.astype(np.intp)
    counts = np.bincount(codes)
    if subjects is not None and (counts > 1).any():
        kind = _kind(X, codes, group.name, subjects)
    if kind == "between":
        X, Y, *Zs = (_means(each, codes) for each in (X, Y, *Zs))
        group = group.rows(np.unique(codes, return_index=True)[1])
        if len(set(counts.tolist())) > 1:
            notes.append(
                f"subjects have {counts.min()} to {counts.max()} graphs each; their means are "
                "treated as equally precise"
            )
    elif kind == "within":
        keep = counts[codes] > 1
        if not keep.all():
            Y, *Zs = (each[keep] for each in (Y, *Zs))
            group, codes = group.rows(keep), np.unique(codes[keep], return_inverse=True)[1]
            X = group.coded()
            notes.append(
                f"{int((~keep).sum())} subjects with one graph carry no information on change "
                "within subjects and are left out"
            )
    blocks = codes if kind == "within" else np.zeros(len(Y), dtype=np.intp)
    _check_differs(X, group.name)
    names = [variable.name for variable in covariates]
    Z, kept = np.zeros((len(Y), 0)), [X]
    for name, each in zip(names, Zs, strict=True):
        new = independent_columns(_left(each, Z, blocks))
        if new.shape[1]:
            Z, kept = np.hstack([Z, new]), [*kept, each]
        else:
            notes.append(f"the covariate {name!r} adds nothing beyond subjects and covariates")
    if np.linalg.matrix_rank(_left(X, Z, blocks), tol=_SAME) < X.shape[1]:
        by = words(names) or "the subjects"
        raise InputError(
            f"{group.name!r} is determined by {by}, so that its effect cannot be separated from "
            "theirs; leave out a covariate"
        )
    design = Design(
        _centered(X, blocks), Z, _centered(Y, blocks), np.hstack(kept), blocks, group, kind,
        Y.mean(axis=0), n_graphs, tuple(notes),
    )  # fmt: skip
    if design.df_error < 1:
        unit = "subject" if kind == "between" else "graph"
        if len(group.levels) == len(Y):
            raise InputError(
                f"each of the {len(Y)} groups of {group.name!r} has one {unit}, so that their "
                f"differences may all be chance; name a column with several {unit}s per group"
            )
        raise InputError(
            f"{len(Y)} {unit}s are too few for {design.n_coefficients} coefficients"
            f"{'; leave out covariates' if names else ''}"
        )
    return design


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
    spread = np.abs(X - _means(X, codes)[codes]).max(axis=1)
    varies = np.bincount(codes, weights=spread > 1e-12 * max(float(np.ptp(X)), 1e-300)) > 0
    constant = (np.bincount(codes) > 1) & ~varies
    if not varies.any() or not constant.any():
        return "within" if varies.any() else "between"
    some = words([subjects.levels[i] for i in np.flatnonzero(constant)])
    raise InputError(
        f"{name!r} varies within {int(varies.sum())} subjects and is the same for all graphs of "
        f"{int(constant.sum())} others ({some}). Differences between and within subjects are "
        "different questions, with different permutations: keep the subjects in whom it varies, "
        "or one graph of each subject"
    )


def _means(A: Array, codes: Indices) -> Array:
    """Return means over the rows of each code, (codes, k)."""
    counts = np.bincount(codes)
    sums = np.zeros((len(counts), A.shape[1]))
    np.add.at(sums, codes, A)
    return sums / counts[:, None]


def _centered(A: Array, blocks: Indices) -> Array:
    return np.asarray(A - (_means(A, blocks)[blocks] if blocks.any() else A.mean(axis=0)))


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
