"""Count how often a fit reads all graphs, by an instrumented ``TreatedGraphs``."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from eigengraphs.fitting import plan
from eigengraphs.operators.treated import TreatedGraphs

__all__ = ["NOTE", "counted_reads"]

NOTE = (
    "Passes are counted by instrumented operators: every call of a method of `TreatedGraphs` that "
    "reads the graphs is one, and so are the mean of centering, row sums for filled diagonals, and "
    "the scan of validation (which finds the norms). `sketch` is one: it reads each graph twice "
    "while that graph is in the cache. n_passes_ is what the fit itself says."
)
_SCAN = "validation scan"
# Methods that find what they need in the facts of the scan. Any other public method, known here
# or not, counts as a read, so that a new one cannot slip through.
_NO_READS = {"diagonal_forms", "part", "rounding"}


@contextmanager
def counted_reads() -> Iterator[Counter[str]]:
    """Count the reads of all stacks until the end of the block, by the name of the method."""
    # The facts of the scan serve every later norm: it is one read, whoever made the stack.
    reads: Counter[str] = Counter({_SCAN: 1})
    inside = 0  # a method that calls another reads once

    def read(name: str, call: Callable[[], Any]) -> Any:
        nonlocal inside
        if inside == 0:
            reads[name] += 1
        inside += 1
        try:
            return call()
        finally:
            inside -= 1

    def counted(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def wrapper(self: TreatedGraphs, *args: Any, **kwargs: Any) -> Any:
            if name == "squared_norms" and (self._M is None or self._norms is not None):
                return method(self, *args, **kwargs)
            return read(name, lambda: method(self, *args, **kwargs))

        return wrapper

    construct = TreatedGraphs.__init__

    @functools.wraps(construct)
    def constructed(self: TreatedGraphs, *args: Any, **kwargs: Any) -> None:
        rule = kwargs.get("diagonal", args[1] if len(args) > 1 else "observed")
        if rule == "filled":
            reads["row sums"] += 1
        construct(self, *args, **kwargs)

    patches: dict[str, Any] = {
        name: counted(name, method)
        for name, method in inspect.getmembers(TreatedGraphs, inspect.isfunction)
        if not name.startswith("_") and name not in _NO_READS
    }
    mean_graph = plan.mean_graph

    def center(*args: Any, **kwargs: Any) -> Any:
        return read("mean_graph", lambda: mean_graph(*args, **kwargs))

    with (
        mock.patch.multiple(TreatedGraphs, __init__=constructed, **patches),
        mock.patch.object(plan, "mean_graph", center),
    ):
        yield reads
