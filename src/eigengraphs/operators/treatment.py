"""How graphs are treated before they are embedded: learned once, replayed on new graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.operators.block_by_block import BlockedGraphs, BlockedObserved
from eigengraphs.operators.means import MeanGraph, mean_graph
from eigengraphs.operators.observed import ObservedGraphs
from eigengraphs.operators.protocol import Array
from eigengraphs.operators.treated import DiagonalRule, TreatedGraphs
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.stack.stack import GraphStack

__all__ = ["Diagonal", "Treatment"]

Diagonal: TypeAlias = Literal["filled", "observed", "unobserved"]


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

    @classmethod
    def learn(cls, stack: GraphStack, diagonal: str, center: bool, weights: Array) -> Treatment:
        """Learn the treatment from training graphs; ``diagonal`` may also be "auto".

        "auto" fills when every diagonal entry is the same number, as in hollow graphs and
        correlation matrices: such a diagonal is a convention and not data.
        """
        value = stack.facts.take(weights > 0).constant_diagonal
        rule: Diagonal = "observed" if value is None else "filled"
        if diagonal != "auto":
            rule = cast(Diagonal, diagonal)
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
        return cls(rule, value, mean, float(2.0**-exponent))

    @property
    def hollow(self) -> bool:
        """Whether pairs s = t take no part in loadings and residuals."""
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
        return kind(stack, rule, self.mean, self.scale, directed=directed, like=like)
