"""How graphs are treated before they are embedded: learnt once, replayed on new graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.graphs.blocked import BlockedStack
from eigengraphs.graphs.blocked_view import BlockedDirectedView, BlockedView
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.graphs.masked_mean import masked_mean
from eigengraphs.graphs.masked_view import MaskedView
from eigengraphs.graphs.view import DiagonalRule, StackView, mean_graph
from eigengraphs.stack.stack import GraphStack

__all__ = ["Diagonal", "Treatment", "ViewKind"]

Diagonal: TypeAlias = Literal["filled", "observed", "unobserved"]
ViewKind: TypeAlias = Literal["undirected", "directed", "masked", "masked directed"]

_BLOCKED_VIEWS: dict[ViewKind, Callable[..., Any]] = {
    "undirected": BlockedView,
    "directed": BlockedDirectedView,
    "masked": MaskedView,  # of all graphs, if they fit in memory
}
_VIEWS: dict[ViewKind, Callable[..., Any]] = {
    "undirected": StackView,
    "directed": DirectedView,
    "masked": MaskedView,  # with hidden entries
    "masked directed": partial(MaskedView, directed=True),
}


@dataclass(frozen=True)
class Treatment:
    """Rule for the diagonal, mean graph and scale.

    Graphs without loops say nothing about their diagonal, and its zeros would dominate the fit.
    ``"filled"`` puts the mean of its row into each diagonal entry to find the components, and
    takes loadings, residuals and scores from the pairs of different vertices alone.
    ``"observed"`` keeps the diagonal as part of the data, as the paper's model does.
    ``"unobserved"`` leaves it out of the search, too. Of graphs with hidden entries, the mean of a
    row and the mean graph are those of what is observed.
    """

    diagonal: Diagonal
    diagonal_value: float | None  # what every diagonal entry of the training graphs was, if one
    mean: NDArray[np.float64] | sparse.csr_array | None
    scale: float

    @classmethod
    def learn(
        cls,
        stack: GraphStack,
        diagonal: str,
        center: bool,
        weights: NDArray[np.float64],
    ) -> Treatment:
        """Learn the treatment from training graphs; ``diagonal`` may also be "auto".

        "auto" fills when every diagonal entry is the same number, as in hollow graphs and
        correlation matrices: such a diagonal is a convention and not data.
        """
        value = stack.facts.take(weights > 0).constant_diagonal
        rule: Diagonal = "observed" if value is None else "filled"
        if diagonal != "auto":
            rule = cast(Diagonal, diagonal)
        mean = None
        if center:
            find = mean_graph if stack.mask is None else masked_mean
            mean = find(stack, weights)
        # Weights of 1e5 and of 1e-5 should meet the same numbers: bring the largest graph to
        # norm 1 or thereabouts, by a power of two, which costs no rounding.
        largest = float(stack.facts.norm[weights > 0].max())
        if stack.dtype == np.float32 and largest > 0 and not 1e-30 < largest < 1e30:
            raise InputError(
                f"weights of this size (a graph has norm {largest:.1e}) leave the range of float32 "
                "when graphs are multiplied; use GraphStack(graphs, dtype='float64')"
            )
        exponent = 0.0 if largest == 0 else np.clip(np.floor(np.log2(largest)), -1000, 1000)
        scale = float(2.0**-exponent)
        return cls(rule, value, mean, scale)

    @property
    def hollow(self) -> bool:
        """Whether pairs s = t take no part in loadings and residuals."""
        return self.diagonal != "observed"

    def kind_of(self, stack: GraphStack, *, directed: bool) -> ViewKind:
        """Return how to look at graphs: a hidden diagonal alone is no matter where none counts."""
        mask = stack.mask
        if mask is not None and (self.diagonal == "observed" or mask.hides_pairs):
            return "masked directed" if directed else "masked"
        return "directed" if directed else "undirected"

    def search_view(self, stack: GraphStack, kind: ViewKind = "undirected") -> Any:
        """Return the graphs on which components are searched."""
        return _view(stack, kind)(stack, self._search_rule, self.mean, self.scale)

    def loss_view(
        self, stack: GraphStack, kind: ViewKind = "undirected", search: Any = None
    ) -> Any:
        """Return the graphs from which loadings, residuals and scores are taken.

        ``search`` is the view for the search on the same graphs, if there is one.
        """
        if search is not None and self.diagonal != "filled":
            return search
        view = _view(stack, kind)
        return view(stack, self._loss_rule, self.mean, self.scale, like=search)

    @property
    def _search_rule(self) -> DiagonalRule:
        return "hollow" if self.diagonal == "unobserved" else self.diagonal

    @property
    def _loss_rule(self) -> DiagonalRule:
        return "hollow" if self.hollow else "observed"


def _view(stack: GraphStack, kind: ViewKind) -> Callable[..., Any]:
    return (_BLOCKED_VIEWS if isinstance(stack, BlockedStack) else _VIEWS)[kind]
