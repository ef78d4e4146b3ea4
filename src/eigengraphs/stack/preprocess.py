"""Named steps that change weights, in order: applied to training graphs and to new graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, TypeAlias, cast

from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.stack import GraphStack

Step: TypeAlias = str | Callable[[GraphStack], GraphStack]

# By name: a stack in blocks has its own way to do them.
STEPS: dict[str, Callable[[GraphStack], GraphStack]] = {
    name: methodcaller(name)
    for name in (
        "binarize", "drop_loops", "fisher_z", "laplacian", "log1p", "rank", "signed_log1p",
        "signed_rank", "unit_norm",
    )
}  # fmt: skip


@dataclass(frozen=True)
class Preprocessing:
    """A sequence of steps, each of which changes the weights of each graph separately.

    Nothing is learned from one graph and used on another, so it makes no difference whether graphs
    are treated together or apart, before or after they are split: cross-validation cannot
    leak through a step. If a step is a function, this is checked on the first graph.

    Parameters
    ----------
    steps
        Names of transforms of a stack, or functions from stack to stack. Named steps are kept as
        names, so a pickle is small; functions must be picklable themselves, as those of
        a module are and lambdas are not.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs import GraphStack
    >>> from eigengraphs.stack.preprocess import Preprocessing
    >>> steps = Preprocessing.of(["log1p", "unit_norm"])
    >>> steps.names
    ('log1p', 'unit_norm')
    >>> steps.apply(GraphStack([np.ones((2, 2)), np.eye(2)])).facts.norm
    array([1., 1.])
    """

    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, what: Any) -> Preprocessing:
        """Make one of a step's name, a function, a sequence of these, or None for no step."""
        if isinstance(what, Preprocessing):
            return what
        if what is None:
            return cls()
        if isinstance(what, str) or callable(what):
            what = [what]
        if not isinstance(what, Iterable):
            raise InputError(f"{_EXPECTED}; got {what!r}")
        steps = tuple(what)
        for step in steps:
            if not callable(step) and not (isinstance(step, str) and step in STEPS):
                raise InputError(f"{_EXPECTED}; got {step!r}")
        return cls(steps)

    @property
    def names(self) -> tuple[str, ...]:
        """What the steps are called; a function goes by its own name."""
        return tuple(map(_name, self.steps))

    def apply(self, stack: GraphStack) -> GraphStack:
        """Return the stack after all steps, on the same graphs and vertices."""
        for step in self.steps:
            stack = STEPS[step](stack) if isinstance(step, str) else _checked(step, stack)
        return stack


_EXPECTED = (
    f"a step of preprocess must be one of {', '.join(map(repr, STEPS))}, or a function from "
    "GraphStack to GraphStack; pass several in a list, and None for no step"
)


def _name(step: Step) -> str:
    if isinstance(step, str):
        return step
    return str(getattr(step, "__name__", None) or type(step).__name__)


def _checked(step: Callable[[GraphStack], GraphStack], stack: GraphStack) -> GraphStack:
    """Take a step that is not ours, and see that it did what a step may do."""
    after = cast(Any, step(stack))
    if not isinstance(after, GraphStack):
        raise InputError(
            f"the step {_name(step)!r} must return a GraphStack, got {type(after).__name__}"
        )
    if not after.has_vertex_names and stack.has_vertex_names and after.shape == stack.shape:
        after = after.with_names(vertex_names=stack.vertex_names)  # made of arrays, without names
    if after.shape != stack.shape or after.vertex_names != stack.vertex_names:
        raise InputError(
            f"the step {_name(step)!r} must keep graphs and vertices as they are and change "
            f"weights only; it made {after.shape[0]} graphs on {after.shape[1]} vertices from "
            f"{stack.shape[0]} on {stack.shape[1]}, or changed the order of the vertices"
        )
    if stack.n_graphs > 1:
        alone, among = sparse.csr_array(step(stack[:1])[0]), sparse.csr_array(after[0])
        # Products may be rounded otherwise for one graph than for many.
        if abs(alone - among).max() > 1e-5 * abs(among).max():
            raise InputError(
                f"the step {_name(step)!r} gives the first graph different weights alone than "
                "among the others, so it learns across graphs or is random: test graphs would "
                "leak into training; a step must treat each graph on its own"
            )
    if after.graph_names != stack.graph_names:
        after = after.with_names(graph_names=stack.graph_names)
    return after
