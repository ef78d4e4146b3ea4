"""What a fit decides before it searches: treatment, weights, groups, and the rule for loadings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from eigengraphs.errors import InputError
from eigengraphs.fitting.projection import Projection
from eigengraphs.fitting.settings import check_weights, refusal
from eigengraphs.operators.block_by_block import BlockedGraphs, BlockedObserved
from eigengraphs.operators.degrees import DegreeGraphs
from eigengraphs.operators.means import MeanGraph, mean_graph
from eigengraphs.operators.observed import ObservedGraphs
from eigengraphs.operators.treated import DiagonalRule, TreatedGraphs
from eigengraphs.solvers.moments import GraphMoments
from eigengraphs.solvers.rules import (
    FreeLoadings,
    LoadingRule,
    NonnegativeLoadings,
    PenalizedLoadings,
    SparseLoadings,
)
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.system.parallel import one_blas_thread

Diagonal: TypeAlias = Literal["filled", "observed", "unobserved"]

_PLAIN = 1e-290, 1e300  # objectives that are given as they are: room for sums and small shares
_MOST_VERTICES = 84  # their second moment takes 102 MB, half of that where it is kept


@dataclass(frozen=True)
class Treatment:
    """Rule for the diagonal, mean graph and scale.

    Graphs without loops say nothing about their diagonal, and its zeros would dominate the fit.
    ``"filled"`` puts the mean of its row into each diagonal entry to find the components, and takes
    loadings, residuals and scores from the pairs of different vertices alone. ``"observed"`` keeps
    the diagonal as part of the data, as the paper's model does. ``"unobserved"`` leaves it out of
    the search, too. Of graphs with hidden entries, the mean of a row and the mean graph are those
    of what is observed.
    """

    diagonal: Diagonal
    diagonal_value: float | None  # what every diagonal entry of the training graphs was, if one
    mean: MeanGraph | None
    scale: float
    regularization: float | None = None  # of degrees, if the metric is degree-corrected

    @classmethod
    def learn(
        cls,
        stack: GraphStack,
        diagonal: str,
        center: bool,
        weights: Array,
        regularization: float | None = None,
    ) -> Treatment:
        """Learn the treatment from training graphs; ``diagonal`` may also be "auto".

        "auto" fills when every diagonal entry is the same number, as in hollow graphs and
        correlation matrices: such a diagonal is a convention and not data. Degree-corrected,
        entries are taken as they are.
        """
        value = stack.facts.take(weights > 0).constant_diagonal
        rule: Diagonal = "observed" if value is None else "filled"
        if diagonal != "auto":
            rule = cast(Diagonal, diagonal)
        elif regularization is not None:
            rule = "observed"
        mean = mean_graph(stack, weights) if center else None
        # Weights of 1e5 and of 1e-5 should meet the same numbers: bring the largest graph to norm 1
        # or thereabouts, by a power of two, which costs no rounding.
        largest = float(stack.facts.norm[weights > 0].max())
        if stack.dtype == np.float32 and largest > 0 and not 1e-30 < largest < 1e30:
            raise InputError(
                f"weights of this size (a graph has norm {largest:.1e}) leave the range of float32 "
                "when graphs are multiplied; use GraphStack(graphs, dtype='float64')"
            )
        exponent = 0.0 if largest == 0 else np.clip(np.floor(np.log2(largest)), -1000, 1000)
        if regularization is not None:  # each graph is divided by its own mean degree
            exponent = 0.0
        return cls(rule, value, mean, float(2.0**-exponent), regularization)

    @property
    def hollow(self) -> bool:
        """Whether pairs s = t are left out of loadings and residuals."""
        return self.diagonal != "observed"

    def hides(self, stack: GraphStack) -> bool:
        """Tell whether entries that count are hidden: a diagonal alone may be no matter."""
        if not stack.has_missing:
            return False
        mask: Any = stack if isinstance(stack, BlockedStack) else stack.mask
        return self.diagonal == "observed" or bool(mask.hides_pairs)

    def operator(
        self, stack: GraphStack, *, directed: bool = False, loss: bool = False, like: Any = None
    ) -> Any:
        """Return the graphs on which components are searched, or those of the loss.

        From the latter loadings, residuals and scores are taken. ``like`` is the other one of the
        same graphs, if there is one: what both need is found once.
        """
        if like is not None and self.diagonal != "filled":
            return like
        kinds: tuple[Any, Any] = (TreatedGraphs, ObservedGraphs)
        if isinstance(stack, BlockedStack):
            kinds = (BlockedGraphs, BlockedObserved)
        rule: DiagonalRule = "filled" if self.diagonal == "filled" and not loss else "hollow"
        if self.diagonal == "observed":
            rule = "observed"
        kind = kinds[self.hides(stack)]
        graphs = kind(stack, rule, self.mean, self.scale, directed=directed, like=like)
        if self.regularization is None:
            return graphs
        return DegreeGraphs.of(graphs, self.regularization)


@dataclass(frozen=True)
class Groups:
    """Graphs that share their loadings."""

    labels: NDArray[Any]  # (c,), sorted
    codes: NDArray[np.intp]  # (m,), place of each graph's label

    def mixing(self, weights: Array) -> Array:
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
    weights: Array  # (m,), the largest that counts being 1
    largest_weight: float  # by which they were divided
    rule: LoadingRule
    groups: Groups | None
    directed: bool
    weight_seen: float | None = None  # of all graphs, where these are only the last of them

    @property
    def total_weight(self) -> float:
        """Weight of all graphs that the objective is of, as it was given."""
        relative = self.weights.sum() if self.weight_seen is None else self.weight_seen
        return float(relative) * self.largest_weight

    def reported(self, path: Array) -> tuple[Array, float]:
        """Return an objective's path as users see it, and the weight of an edge that is its unit.

        The unit is 1, unless squares of edge weights leave the range of a float64.
        """
        scale = self.treatment.scale
        with np.errstate(over="ignore", under="ignore"):
            plain = path / scale / scale * self.largest_weight
        if path[0] == 0 or _PLAIN[0] < plain[0] < _PLAIN[1]:
            return plain, 1.0
        return path, float(np.sqrt(self.largest_weight) / scale)

    @property
    def group_weights(self) -> Array:
        """Weight of each group, (c,)."""
        assert self.groups is not None
        totals = np.bincount(self.groups.codes, self.weights, len(self.groups.labels))
        return totals.astype(np.float64)

    def loadings_and_path(self, projection: Projection) -> tuple[Array, Array]:
        """Return the loadings of each graph, (m, d), and the objective's path, (d + 1,).

        Where groups share their loadings, the path is that of the shared ones.
        """
        if self.groups is not None:
            return projection.loadings(self.rule), self.shared_loadings_and_path(projection)[1]
        return projection.loadings_and_path(self.rule, self.weights)

    def shared_loadings_and_path(self, projection: Projection) -> tuple[Array, Array]:
        """Return the loadings of each group, (c, d), and the objective's path, (d + 1,)."""
        assert self.groups is not None
        grouped = projection.grouped(self.groups.mixing(self.weights))
        return grouped.loadings_and_path(self.rule, self.group_weights)


def decide(settings: Mapping[str, Any], stack: GraphStack, y: Any, sample_weight: Any) -> Plan:
    """Return the plan for training graphs, or raise an error if settings do not suit them."""
    if not isinstance(stack, BlockedStack):  # where the graph in question may be far away
        stack.require_comparable()
    weights, largest = _relative_weights(sample_weight, stack)
    directed = bool(settings["directed"])
    groups = _groups(settings["loadings"], y, stack)
    degrees = settings["degree_regularization"] if settings["degree_corrected"] else None
    treatment = Treatment.learn(
        stack, settings["diagonal"], bool(settings["center"]), weights,
        None if degrees is None else float(degrees),
    )  # fmt: skip
    refused = refusal(settings, has_missing=treatment.hides(stack))
    if refused is not None:
        raise InputError(refused)
    rule = _loading_rule(settings, stack, treatment, weights)
    return Plan(treatment, weights, largest, rule, groups, directed)


def decide_batch(
    settings: Mapping[str, Any],
    stack: GraphStack,
    sample_weight: Any,
    seen: GraphMoments | None,
    first: Treatment | None,
) -> tuple[Plan, GraphMoments]:
    """Return the plan for a batch of graphs, and the moments of all graphs so far.

    Parameters
    ----------
    settings
        Of the estimator.
    stack
        The batch, which is read once.
    sample_weight : (m,) or None
        Weights of its graphs.
    seen, first
        Moments of the batches before, and how these were treated; None for the first batch.
    """
    n = stack.n_vertices
    if n > _MOST_VERTICES:
        p = n * (n + 1) // 2
        raise InputError(
            f"partial_fit takes graphs on {_MOST_VERTICES} vertices at most, got {n}: it keeps the "
            f"second moment of the graphs, which would take {8 * p * p / 1e6:.0f} MB; fit all "
            "graphs together (from a store on disk if they are many), or select_vertices"
        )
    stack.require_complete(
        "partial_fit takes only complete graphs, as moments do; fill the entries, or fit all "
        "graphs together with missing='unobserved'"
    )
    weights, unit = _relative_weights(sample_weight, stack)
    treatment = _batch_treatment(settings["diagonal"], stack, weights, first)
    moments = _moments(stack, treatment.scale, weights, unit)
    if seen is not None:
        moments = seen + moments
    mean: Any = moments.mean_graph() if settings["center"] else None
    if mean is not None and stack.is_sparse:
        mean = sparse.csr_array(mean)
    plan = Plan(
        replace(treatment, mean=mean, scale=moments.scale), weights * (unit / moments.unit),
        moments.unit, FreeLoadings(), None, directed=False, weight_seen=moments.weight,
    )  # fmt: skip
    return plan, moments


def _batch_treatment(
    asked: str, stack: GraphStack, weights: Array, first: Treatment | None
) -> Treatment:
    """Return how graphs are treated, except for the mean: by the rule of the first batch."""
    if first is None:
        return Treatment.learn(stack, asked, center=False, weights=weights)
    found = Treatment.learn(stack, first.diagonal, center=False, weights=weights)
    a, b = first.diagonal_value, found.diagonal_value
    same = a is not None and b is not None and abs(a - b) <= 1e-6 * max(abs(a), abs(b))
    if asked == "auto" and first.diagonal == "filled" and not same:
        other = "other values, which differ" if b is None else f"{b:g}"
        raise InputError(
            f"every diagonal entry of the earlier graphs was {a:g}, so diagonal='auto' did not "
            f"count the diagonal as data, but these graphs have {other}; start again, with "
            "diagonal='observed' if it is data, with diagonal='filled' if it is not"
        )
    return replace(found, diagonal_value=a if same else None)


def _moments(stack: GraphStack, scale: float, weights: Array, unit: float) -> GraphMoments:
    """Read graphs once for their moments."""
    graphs = Treatment("observed", None, None, scale).operator(stack)
    with one_blas_thread():
        return GraphMoments.of(graphs, weights, scale=scale, unit=unit)


def _relative_weights(sample_weight: Any, stack: GraphStack) -> tuple[Array, float]:
    """Return weights, the largest that counts being 1, and what they were divided by."""
    weights = check_weights(sample_weight, stack.n_graphs)
    counted = weights[(weights > 0) & (stack.facts.norm > 0)]
    largest = float(counted.max(initial=0.0)) or 1.0
    return weights / largest, largest  # 1e-200 for all is as good as 1 for all


def _loading_rule(
    settings: Mapping[str, Any], stack: GraphStack, treatment: Treatment, weights: Array
) -> LoadingRule:
    """Return the rule for loadings; a penalty is in units of the norm of a typical graph."""
    nonnegative = settings["loadings"] == "nonnegative"
    if settings["max_nonzeros"] is not None:
        return SparseLoadings(int(settings["max_nonzeros"]), nonnegative)
    if settings["l1_penalty"] is not None:
        directed = bool(settings["directed"])
        squared_norms = treatment.operator(stack, directed=directed, loss=True).squared_norms()
        typical = float(np.sqrt(weights @ squared_norms / weights.sum()))
        return PenalizedLoadings(float(settings["l1_penalty"]) * typical, nonnegative)
    return NonnegativeLoadings() if nonnegative else FreeLoadings()


def _groups(loadings: str, y: Any, stack: GraphStack) -> Groups | None:
    """Return the groups within which graphs share their loadings, if they do."""
    m = stack.n_graphs
    if loadings == "shared":
        return Groups(np.array(["all"]), np.zeros(m, dtype=np.intp))
    if loadings != "class":
        return None
    if y is None:
        raise InputError("loadings='class' needs a label for every graph: fit(graphs, y)")
    labels = np.asarray(y)
    if labels.shape != (m,):
        raise InputError(f"y must have shape ({m},), one label per graph; got {labels.shape}")
    for i, label in enumerate(labels.tolist()):
        # What stands for a missing date is, as nan, not equal to itself.
        if label is None or (isinstance(label, float) and not isfinite(label)) or label != label:
            raise InputError(
                f"y[{i}] is {labels[i]}; every graph needs a label, and graph "
                f"{stack.graph_names[i]!r} has none: complete the labels, or leave it out"
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
