"""Views as operators, until these take their place."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs.solvers.protocol import Array


def _ignore(*_: Any) -> None:
    """Leave products where they are."""


class Adapted:
    def __init__(self, view: Any, directed: bool) -> None:
        self._view, self.directed = view, directed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def products(self, *columns: Array) -> Any:
        v = self._view
        out = tuple(np.empty((v.n_graphs, B.shape[1], v.n_vertices), v.dtype) for B in columns)
        if self.directed:
            v.products(*columns, _ignore, _ignore, *out)
        else:
            v.products(columns[0], _ignore, out[0])
        return out

    def project(self, bases: Any, columns: Any) -> Any:
        if self.directed:
            return self._view.project(*bases, *columns)
        return (self._view.project(bases[0], columns[0]),)

    def combine(self, W: Array, *sides: Array) -> Any:
        found = self._view.weighted_multiply(W, *sides)
        return found if self.directed else (found,)

    def forms(self, *sides: Array) -> Any:
        if self.directed:
            return self._view.bilinear_forms(*sides)
        return self._view.quadratic_forms(*sides)

    def sketch(self, Omega: Array, weights: Array) -> Any:
        found = self._view.sketch(Omega, weights)
        return found if self.directed else (found,)

    def total(self, task: Any, weights: Array) -> Any:
        if hasattr(self._view, "total"):
            return self._view.total(_Adapting(task, self.directed), weights)
        return task(self, weights)


class _Adapting:
    def __init__(self, task: Any, directed: bool) -> None:
        self.task, self.directed = task, directed

    def __call__(self, view: Any, weights: Array) -> Any:
        return self.task(Adapted(view, self.directed), weights)
