"""Fits with more or fewer components from a fit that is there."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError
from eigengraphs.plan import Plan
from eigengraphs.projection import MaskedProjection, Projection
from eigengraphs.settings import FIXED_BY_FIT, check_count, check_n_components, check_settings
from eigengraphs.solvers.components import first_components
from eigengraphs.solvers.protocol import Fit
from eigengraphs.stack import GraphStack

__all__ = ["NestedComponents"]


class NestedComponents:
    """``extend`` and ``truncate`` of :class:`~eigengraphs.JointEmbedding`.

    Components are found one after the other, so the first k of a fit are the fit with k.
    """

    get_params: Any
    _fit: Fit
    _greedy: Fit
    _fitted_with: dict[str, Any]
    _plan: Plan
    _projection: Projection | MaskedProjection
    _training: GraphStack | None

    def _aligned(self, graphs: Any) -> GraphStack:
        raise NotImplementedError

    def _project(self, stack: GraphStack) -> Projection | MaskedProjection:
        raise NotImplementedError

    def _solve(
        self, stack: GraphStack, d: int, settings: dict[str, Any], resume: Fit | None
    ) -> None:
        raise NotImplementedError

    def _store(self, fit: Fit, projection: Projection | MaskedProjection) -> None:
        raise NotImplementedError

    def extend(self, n_components: int, graphs: Any = None) -> Self:
        """Return a fit with more components; those that are there stay as they are.

        It equals a fit with as many components from the start. Components of which Ctrl-C left but
        a rough idea are found properly.

        Parameters
        ----------
        n_components : int
            Number of components, at least as many as now.
        graphs : optional
            The training graphs again; needed after the fit was pickled, which leaves them out. Of
            a fit by ``partial_fit``, those of the last batch.

        Returns
        -------
        JointEmbedding
            Another fit; this one stays as it is.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
        >>> longer = je.extend(3)
        >>> bool((longer.latent_positions_[:, :2] == je.latent_positions_).all())
        True
        """
        check_is_fitted(self)
        settings = self.get_params(deep=False)
        check_settings(settings)
        check_count("n_components", n_components)
        changed = [name for name in FIXED_BY_FIT if settings[name] != self._fitted_with[name]]
        if changed:
            raise InputError(f"{' and '.join(changed)} changed since the fit; fit again")
        if n_components < len(self._fit.stages):
            raise InputError(
                f"n_components={n_components} is fewer than the {len(self._fit.stages)} there are; "
                "use truncate"
            )
        stack = self._training if graphs is None else self._aligned(graphs)
        if stack is None:
            raise InputError("a saved or copied fit does not keep the graphs; pass graphs=")
        self._require_training_graphs(stack)  # an array that is shared may have changed
        d = check_n_components(n_components, stack.n_vertices, directed=self._plan.directed)
        longer = self._copy(d)
        longer._solve(stack, d, longer.get_params(deep=False), resume=self._greedy)
        return longer

    def _require_training_graphs(self, stack: GraphStack) -> None:
        known = self._projection
        same = stack.n_graphs == len(known.Psi)
        if same:
            active = self._fit.active  # the others are random directions, of which nothing is kept
            now = self._project(stack)
            view = self._plan.treatment.loss_view(stack, self._plan.kind_of(stack))
            near = 1e-5 * np.sqrt(known.squared_norms) + 10 * np.sqrt(view.rounding())
            same = bool((np.abs(now.Psi - known.Psi)[:, active] <= near[:, None]).all())
            same &= np.allclose(now.squared_norms, known.squared_norms, rtol=1e-5)
        if not same:
            raise InputError("graphs must be the very graphs that the fit was trained on")

    def truncate(self, n_components: int) -> Self:
        """Return the fit with the first components alone and loadings solved again for them.

        It equals a fit with as many components, and reads no graph.

        Parameters
        ----------
        n_components : int
            Number of components, at most as many as now.

        Returns
        -------
        JointEmbedding
            Another fit; this one stays as it is.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(3, random_state=0).fit(graphs)
        >>> je.truncate(2).loadings_.shape
        (6, 2)
        """
        check_is_fitted(self)
        check_count("n_components", n_components)
        d = len(self._fit.stages)
        if hasattr(self, "refinement_") and n_components < d:
            raise InputError(
                "components that were refined together do not nest; fit again with "
                f"n_components={n_components}, or truncate a fit with refine=False"
            )
        if n_components > d:
            raise InputError(f"n_components must be from 1 to {d}, got {n_components}")
        shorter = self._copy(n_components)
        shorter._greedy = first_components(self._greedy, n_components)
        shorter._store(
            first_components(self._fit, n_components), self._projection.first(n_components)
        )
        return shorter

    def _copy(self, n_components: int) -> Self:
        other: Self = clone(self).set_params(n_components=int(n_components))
        for name, value in vars(self).items():
            if name not in other.__dict__ and name != "dimension_choice_":
                setattr(other, name, value)
        return other
