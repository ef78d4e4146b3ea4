"""Fits with more or fewer components from a fit that is there."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError
from eigengraphs.graphs import GraphStack
from eigengraphs.graphs.treatment import Treatment
from eigengraphs.settings import check_count, check_settings
from eigengraphs.solvers.components import first_components
from eigengraphs.solvers.protocol import Fit

__all__ = ["NestedComponents"]


class NestedComponents:
    """``extend`` and ``truncate`` of :class:`~eigengraphs.JointEmbedding`.

    Components are found one after the other, so the first k of a fit are the fit with k.
    """

    center: Any
    diagonal: Any
    get_params: Any
    _fit: Fit
    _fitted_with: tuple[Any, Any]
    _training: GraphStack | None
    _treatment: Treatment
    _Psi: NDArray[np.float64]
    _squared_norms: NDArray[np.float64]

    def _aligned(self, graphs: Any) -> GraphStack:
        raise NotImplementedError

    def _solve(self, stack: GraphStack, resume: Fit | None) -> None:
        raise NotImplementedError

    def _store(self, fit: Fit, Psi: NDArray[np.float64]) -> None:
        raise NotImplementedError

    def extend(self, n_components: int, graphs: Any = None) -> Self:
        """Return a fit with more components; those that are there stay as they are.

        It equals a fit with as many components from the start. Components of which Ctrl-C left but
        a rough idea are found properly.

        Parameters
        ----------
        n_components
            Number of components, at least as many as now.
        graphs
            The training graphs again; needed after the fit was pickled, which leaves them out.
        """
        check_is_fitted(self)
        check_settings(self.get_params(deep=False))
        check_count("n_components", n_components)
        if (self.center, self.diagonal) != self._fitted_with:
            raise InputError("center and diagonal were changed since the fit; fit again")
        if n_components < len(self._fit.stages):
            raise InputError(
                f"n_components={n_components} is fewer than the {len(self._fit.stages)} there are; "
                "use truncate"
            )
        stack = self._training if graphs is None else self._aligned(graphs)
        if stack is None:
            raise InputError("a saved or copied fit does not keep the graphs; pass graphs=")
        self._require_training_graphs(stack)  # an array that is shared may have changed
        longer = self._copy(n_components)
        longer._solve(stack, resume=self._fit)
        return longer

    def _require_training_graphs(self, stack: GraphStack) -> None:
        view = self._treatment.loss_view(stack)
        active = self._fit.active  # the others are random directions, of which nothing is kept
        near = 1e-5 * np.sqrt(self._squared_norms)[:, None]
        same = stack.n_graphs == len(self._Psi)
        if same:
            near = near + 10 * np.sqrt(view.rounding())[:, None]
            forms = view.quadratic_forms(self._fit.H[:, active])
            same = bool((np.abs(forms - self._Psi[:, active]) <= near).all())
        if not same or not np.allclose(view.squared_norms(), self._squared_norms, rtol=1e-5):
            raise InputError("graphs must be the very graphs that the fit was trained on")

    def truncate(self, n_components: int) -> Self:
        """Return the fit with the first components alone and loadings solved again for them.

        It equals a fit with as many components, and reads no graph.
        """
        check_is_fitted(self)
        check_count("n_components", n_components)
        d = len(self._fit.stages)
        if n_components > d:
            raise InputError(f"n_components must be from 1 to {d}, got {n_components}")
        shorter = self._copy(n_components)
        shorter._store(first_components(self._fit, n_components), self._Psi[:, :n_components])
        return shorter

    def _copy(self, n_components: int) -> Self:
        other: Self = clone(self).set_params(n_components=int(n_components))
        for name, value in vars(self).items():
            if name not in other.__dict__:
                setattr(other, name, value)
        return other
