"""From features of graphs to their labels: the nearest training graph, or a linear rule."""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression, RidgeCV

from eigengraphs.errors import InputError
from eigengraphs.inference.variables import units

__all__ = ["RULES", "Linear", "Nearest", "Rule", "check_rules", "make_rule", "rule_name"]

Rule: TypeAlias = Literal["1-NN", "linear"]
RULES: tuple[Rule, ...] = ("1-NN", "linear")
_PENALTIES = np.logspace(-3, 6, 19)


def check_rules(rules: Any) -> tuple[Rule, ...]:
    """Return the rules asked for, each once."""
    wanted: list[Any] = [rules] if isinstance(rules, str) else list(rules)
    for rule in wanted:
        if rule not in RULES:
            raise InputError(f"a rule must be one of {', '.join(map(repr, RULES))}, got {rule!r}")
    if not wanted:
        raise InputError("name at least one rule: '1-NN' or 'linear'")
    return tuple(dict.fromkeys(wanted))


def rule_name(rule: str, is_quantity: bool) -> str:
    """Return what a rule is called in results."""
    if rule == "1-NN":
        return rule
    return "ridge" if is_quantity else "logistic"


def make_rule(rule: Rule, *, is_quantity: bool, distances: bool, one_scale: bool) -> Any:
    """Return a rule to train."""
    if rule == "1-NN":
        return Nearest(distances)
    return Linear(is_quantity, one_scale)


class Nearest:
    """The label of the nearest training graph, as in the paper; features are not scaled.

    Of graphs that are equally near, the first is taken.
    """

    def __init__(self, distances: bool) -> None:
        self._distances = distances

    def fit(self, Z: NDArray[np.float64], y: NDArray[Any]) -> Self:
        """Keep training graphs, features (m, p) or distances (m, m)."""
        self._unit = _unit(Z)
        self._known, self._y = None if self._distances else np.asarray(Z) / self._unit, y
        return self

    def predict(self, Z: NDArray[np.float64]) -> NDArray[Any]:
        """Return the label of each graph, from (m', p) features or (m', m) distances."""
        D = Z if self._known is None else cdist(np.asarray(Z) / self._unit, self._known)
        return np.asarray(self._y[np.argmin(D, axis=1)])


class Linear:
    """Ridge or logistic regression on scaled features.

    Columns are brought to mean 0 and variance 1; or, where they are all of one kind
    (``one_scale``), to mean 0 and a common factor. With more columns than training graphs the rule
    is found within the span of these: with a quadratic penalty no coefficient is outside it.
    """

    def __init__(self, is_quantity: bool, one_scale: bool) -> None:
        self._one_scale, self._is_quantity = one_scale, is_quantity
        self._model: Any = RidgeCV(_PENALTIES) if is_quantity else LogisticRegression(max_iter=2000)

    def fit(self, Z: NDArray[np.float64], y: NDArray[Any]) -> Self:
        """Learn from features (m, p)."""
        Z = np.asarray(Z, dtype=np.float64)
        m, p = Z.shape
        self._unit: Any = _unit(Z) if self._one_scale else units(Z)
        Z = Z / self._unit
        self._mean = Z.mean(axis=0)
        spread = Z.std(axis=0)
        if self._one_scale:
            whole = float(np.sqrt((spread**2).sum() / min(m, p)))
            self._scale: Any = whole if whole > 0 else 1.0
        else:
            rounding = 1e-12 * np.abs(Z).max(axis=0)
            self._scale = np.where(spread > rounding, spread, 1.0)
        X = (Z - self._mean) / self._scale
        self._span = np.linalg.svd(X, full_matrices=False)[2].T if p > m else None
        self._y_unit = _unit(y) if self._is_quantity else None
        y = y if self._y_unit is None else y / self._y_unit
        self._model.fit(X if self._span is None else X @ self._span, y)
        return self

    def predict(self, Z: NDArray[np.float64]) -> NDArray[Any]:
        """Return the label of each graph, from features (m', p)."""
        X = (np.asarray(Z, dtype=np.float64) / self._unit - self._mean) / self._scale
        told = np.asarray(self._model.predict(X if self._span is None else X @ self._span))
        return told if self._y_unit is None else told * self._y_unit


def _unit(values: NDArray[Any]) -> float:
    """Return one unit for all numbers, in which squares neither overflow nor vanish."""
    return float(units(np.ravel(values)[:, None])[0])
