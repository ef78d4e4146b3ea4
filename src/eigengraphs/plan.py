"""What a fit decides before it searches: treatment, weights, groups, and the rule for loadings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from eigengraphs.errors import InputError
from eigengraphs.graphs import GraphStack
from eigengraphs.graphs.blocked import BlockedStack
from eigengraphs.graphs.treatment import Treatment, ViewKind
from eigengraphs.settings import check_weights, refusal
from eigengraphs.solvers.rules import (
    FreeLoadings,
    LoadingRule,
    NonnegativeLoadings,
    PenalisedLoadings,
    SparseLoadings,
)

__all__ = ["Groups", "Plan", "decide", "groups_of", "loading_rule", "relative_weights"]

_TOLD = 1e-290, 1e300  # objectives that are told as they are, with room for sums and small shares


@dataclass(frozen=True)
class Groups:
    """Graphs that share their loadings."""

    labels: NDArray[Any]  # (c,), sorted
    codes: NDArray[np.intp]  # (m,), place of each graph's label

    def mixing(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of each graph in the mean of each group, (c, m); rows sum to 1."""
        mine = np.arange(len(self.labels))[:, None] == self.codes  # (c, m)
        mixing = np.where(mine, weights, 0.0)
        empty = ~mixing.any(axis=1, keepdims=True)  # where all weights are zero, all count alike
        mixing = np.where(empty, mine.astype(np.float64), mixing)
        return np.asarray(mixing / mixing.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Plan:
    """How training graphs become a problem for a solver."""

    treatment: Treatment
    weights: NDArray[np.float64]  # (m,), the largest that counts being 1
    largest_weight: float  # by which they were divided
    rule: LoadingRule
    groups: Groups | None
    directed: bool
    weight_seen: float | None = None  # of all graphs, where these are only the last of them

    def kind_of(self, stack: GraphStack) -> ViewKind:
        """Return how graphs are looked at."""
        return self.treatment.kind_of(stack, directed=self.directed)

    @property
    def total_weight(self) -> float:
        """Weight of all graphs that the objective is of, as it was given."""
        relative = self.weights.sum() if self.weight_seen is None else self.weight_seen
        return float(relative) * self.largest_weight

    def reported(self, path: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return an objective's path as it is told, and the weight of an edge that is its unit.

        That is 1, unless squares of weights of edges leave the range of a float64.
        """
        scale = self.treatment.scale
        with np.errstate(over="ignore", under="ignore"):
            plain = path / scale / scale * self.largest_weight
        if path[0] == 0 or _TOLD[0] < plain[0] < _TOLD[1]:
            return plain, 1.0
        return path, float(np.sqrt(self.largest_weight) / scale)

    @property
    def group_weights(self) -> NDArray[np.float64]:
        """Weight of each group, (c,)."""
        assert self.groups is not None
        totals = np.bincount(self.groups.codes, self.weights, len(self.groups.labels))
        return totals.astype(np.float64)


def groups_of(loadings: str, y: Any, stack: GraphStack) -> Groups | None:
    """Return the groups within which loadings are shared, if they are."""
    m = stack.n_graphs
    if loadings == "shared":
        return Groups(np.array(["all"]), np.zeros(m, dtype=np.intp))
    if loadings != "class":
        return None
    if y is None:
        raise InputError("loadings='class' needs a label for every graph: fit(graphs, y)")
    labels = np.asarray(y)
    if labels.shape != (m,):
        raise InputError(f"y must have shape ({m},), one label a graph; got {labels.shape}")
    missing = [
        i
        for i, label in enumerate(labels.tolist())
        if label is None or (isinstance(label, float) and not isfinite(label)) or label != label
    ]  # what stands for no date, as nan, is not itself
    if missing:
        raise InputError(
            f"y[{missing[0]}] is {labels[missing[0]]!r}; every graph needs a label, so leave out "
            "graphs that have none"
        )
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise InputError(
            "y must hold labels of one kind, all numbers or all texts; got a mixture"
        ) from None
    if type_of_target(labels) not in ("binary", "multiclass"):
        raise InputError(
            f"y must hold class labels, got {type_of_target(labels)} values; loadings='class' "
            "is for classes, and loadings='free' takes any graphs"
        )
    return Groups(classes, codes.astype(np.intp))


def loading_rule(
    loadings: str,
    max_nonzeros: int | None,
    l1_penalty: float | None,
    squared_norms: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> LoadingRule:
    """Return the rule that settings name, for graphs of these squared norms."""
    nonnegative = loadings == "nonnegative"
    if max_nonzeros is not None:
        return SparseLoadings(int(max_nonzeros), nonnegative)
    if l1_penalty is not None:
        typical = float(np.sqrt(weights @ squared_norms / weights.sum()))
        return PenalisedLoadings(float(l1_penalty) * typical, nonnegative)
    return NonnegativeLoadings() if nonnegative else FreeLoadings()


def relative_weights(sample_weight: Any, stack: GraphStack) -> tuple[NDArray[np.float64], float]:
    """Return weights, the largest that counts being 1, and what they were divided by."""
    weights = check_weights(sample_weight, stack.n_graphs)
    counted = weights[(weights > 0) & (stack.facts.norm > 0)]
    largest = float(counted.max(initial=0.0)) or 1.0
    return weights / largest, largest  # 1e-200 for all is as good as 1 for all


def decide(settings: Mapping[str, Any], stack: GraphStack, y: Any, sample_weight: Any) -> Plan:
    """Return the plan for training graphs, or raise an error if settings do not suit them."""
    if not isinstance(stack, BlockedStack):  # of which the graph in question may be far away
        stack.require_comparable()
    weights, largest = relative_weights(sample_weight, stack)
    loadings, directed = settings["loadings"], bool(settings["directed"])
    groups = groups_of(loadings, y, stack)
    treatment = Treatment.learn(stack, settings["diagonal"], bool(settings["center"]), weights)
    kind = treatment.kind_of(stack, directed=directed)
    refused = refusal(settings, has_missing=kind.startswith("masked"))
    if refused is not None:
        raise InputError(refused)
    penalty = settings["l1_penalty"]
    norms = treatment.loss_view(stack, kind).squared_norms() if penalty else weights
    rule = loading_rule(loadings, settings["max_nonzeros"], penalty, norms, weights)
    return Plan(treatment, weights, largest, rule, groups, directed)
