"""What is known of each graph beside its edges: groups, quantities, and where they are missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.system.labels import UNKNOWN, without_none

__all__ = [
    "Array",
    "Variable",
    "counted",
    "read_loadings",
    "read_table",
    "read_variable",
    "table_columns",
    "units",
    "words",
]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Variable:
    """One value for each graph."""

    name: str
    kind: Literal["groups", "quantity"]
    values: Array
    """(m,), numbers, or places in ``levels``; nan where it is not known."""
    levels: tuple[str, ...] = ()
    """Names of the groups: in the order of the alphabet, numbers by size."""

    @property
    def known(self) -> NDArray[np.bool_]:
        """Where there is a value, (m,)."""
        return ~np.isnan(self.values)

    def rows(self, keep: NDArray[np.bool_]) -> Variable:
        """Return it for some graphs; groups without a graph are dropped."""
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
        unit = float(units(self.values[self.known][:, None])[0])
        return Variable(self.name, self.kind, self.values / unit), unit

    def coded(self) -> Array:
        """Return columns of numbers, (m, q): a quantity, or every group but the first as 0 or 1."""
        if self.kind == "quantity":
            return self.values[:, None]
        return np.asarray(self.values[:, None] == np.arange(1, len(self.levels)), dtype=np.float64)


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
        One value for each graph; None, nan, "" and "n/a" are unknown.
    n_graphs
        How many there must be.
    kind
        ``"groups"`` or ``"quantity"`` where the values must not decide.
    levels
        Groups that are known already; others are unknown values then.
    """
    if isinstance(given, str) or np.ndim(given) != 1 or len(given) != n_graphs:
        came = "one text" if isinstance(given, str) else f"shape {np.shape(given)}"
        raise InputError(
            f"{name!r} must hold one value for each graph, {n_graphs} in all; got {came}"
        )
    values = without_none([_plain(value) for value in list(given)])
    known = [value for value in values if value is not None]
    if not known and kind is None:
        raise InputError(f"{name!r} has no value for any graph")
    numbers = all(isinstance(value, int | float) for value in known)
    numbers = numbers and not any(isinstance(value, bool) for value in known)
    if kind is None:
        kind = "quantity" if numbers and len(set(known)) > 2 else "groups"
    if kind == "quantity":
        odd = next((value for value in known if not numbers and not _is_number(value)), None)
        if odd is not None:
            raise InputError(f"{name!r} is to be a quantity, but has the value {odd!r}")
        filled = [math.nan if value is None else float(value) for value in values]
        return Variable(name, "quantity", np.array(filled))
    if levels is None:
        ordered = sorted(set(known)) if numbers else sorted({_word(value) for value in known})
        levels = tuple(_word(level) for level in ordered)
    place = {text: float(i) for i, text in enumerate(levels)}
    codes = [math.nan if value is None else place.get(_word(value), math.nan) for value in values]
    return Variable(name, "groups", np.array(codes), levels)


def read_table(given: Any, n_graphs: int) -> tuple[Variable, ...]:
    """Make variables of a mapping, a table of pandas, an array of numbers (m, q), or None."""
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
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or len(table) != n_graphs:
        raise InputError(
            f"covariates must be a mapping of names to columns, or an array of {n_graphs} rows; "
            f"got shape {table.shape}"
        )
    return {f"covariate {j + 1}": table[:, j].tolist() for j in range(table.shape[1])}


def read_loadings(given: Any, least: int = 3) -> Array:
    """Return loadings (m, d) as finite numbers."""
    try:
        Y = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("loadings must be an array of numbers, a row for each graph") from None
    if Y.ndim == 1:
        Y = Y[:, None]
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


def units(Y: Array) -> Array:
    """Return a power of two near the largest value of each column, (d,).

    Division by it loses no digit, and squares of what is left neither overflow nor vanish.
    """
    largest = np.abs(Y).max(axis=0, initial=0.0)
    return np.asarray(np.ldexp(1.0, np.frexp(largest)[1] - 1))


def counted(i: int) -> str:
    """Return words for a graph without a name; people count from 1, Python from 0."""
    return f"graph {i + 1} (index {i})"


def words(items: Sequence[str], most: int = 4) -> str:
    """Return names with commas, the first few of them."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return None if value.strip().lower() in UNKNOWN else value
    if isinstance(value, float) and math.isinf(value):
        raise InputError("values of groups and covariates must be finite")
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' own
        return None
    return value if isinstance(value, bool | int | float) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
