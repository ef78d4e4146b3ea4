"""What is to be predicted: the classes or numbers of those graphs that have one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.system.labels import are_quantity

__all__ = ["Target", "Task", "one_a_graph", "read_target", "shown"]

Task: TypeAlias = Literal["auto", "classes", "quantity"]
_TASKS = ("auto", "classes", "quantity")


@dataclass(frozen=True)
class Target:
    """Values of the graphs that have one."""

    values: NDArray[Any]  # (m,) of float64, or of texts
    known: NDArray[np.intp]  # (m,) their places among all graphs

    @property
    def is_quantity(self) -> bool:
        """Whether values are numbers."""
        return self.values.dtype.kind == "f"

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, sorted; none of a quantity."""
        return () if self.is_quantity else tuple(np.unique(self.values).tolist())


def read_target(y: Any, n_graphs: int, task: Task = "auto") -> Target:
    """Return the values that are known, as classes or as a quantity.

    Parameters
    ----------
    y
        One value a graph; None or nan where it is not known.
    n_graphs
        Number of graphs.
    task
        "auto": texts, truth, two numbers, and up to six whole numbers with four graphs each on
        average are classes; other numbers are a quantity.
    """
    if task not in _TASKS:
        raise InputError(f"task must be one of {', '.join(map(repr, _TASKS))}, got {task!r}")
    values = one_a_graph("y", y, n_graphs)
    known = [i for i, value in enumerate(values) if value is not None]
    if not known:
        raise InputError("no graph has a value in y; nothing can be learnt")
    told = [values[i] for i in known]
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in told)
    if task == "quantity" and not numbers:
        wrong = next(i for i in known if isinstance(values[i], bool | str))
        raise InputError(f"task='quantity' needs numbers; y[{wrong}] is {values[wrong]!r}")
    is_quantity = task == "quantity" or (task == "auto" and numbers and are_quantity(told))
    if len(set(told)) == 1:
        raise InputError(f"all graphs have the same value in y, {shown(told[0])}")
    kept = np.array(told, dtype=np.float64) if is_quantity else np.array(list(map(_word, told)))
    return Target(kept, np.array(known))


def one_a_graph(name: str, values: Any, n_graphs: int) -> list[Any]:
    """Return one plain value a graph, None for what is unknown (None, nan, an empty text)."""
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        values = list(values) if hasattr(values, "__iter__") and not isinstance(values, str) else ()
    if len(values) != n_graphs:
        raise InputError(
            f"{name} must have one value for each of the {n_graphs} graphs, got {len(values)}"
        )
    return [_plain(value) for value in values]


def shown(value: Any, most: int = 40) -> str:
    """Return a value for a message, cut in the middle if it is long."""
    text = str(value)
    half = (most - 1) // 2
    return repr(text if len(text) <= most else f"{text[:half]}…{text[-half:]}")


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and math.isinf(value):
        raise InputError("values must be finite, got an infinite one; write nan if it is unknown")
    return value if isinstance(value, bool | int | float) else str(value)


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
