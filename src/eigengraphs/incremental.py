"""Batch after batch of graphs: what they leave behind, and components from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.graphs.blocked import BlockedStack
from eigengraphs.graphs.ordering import fixed_order
from eigengraphs.graphs.treatment import Treatment
from eigengraphs.plan import Plan, relative_weights
from eigengraphs.projection import BatchProjection, Projection, gram, project
from eigengraphs.randomness import seed_sequence
from eigengraphs.search import Found
from eigengraphs.settings import (
    FIXED_BY_FIT,
    check_n_components,
    check_settings,
    given_start,
    tolerance,
)
from eigengraphs.solvers.components import with_signs
from eigengraphs.solvers.graph_moments import GraphMoments
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Fit, Watcher
from eigengraphs.solvers.rules import FreeLoadings
from eigengraphs.solvers.second_moment import CentredSum
from eigengraphs.solvers.summed import summed
from eigengraphs.stack import GraphStack
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.threads import one_blas_thread

__all__ = ["BatchFits", "find_in_moments"]

_MOST_VERTICES = 84  # their second moment takes 102 MB, half of that where it is kept


class BatchFits:
    """``partial_fit`` of :class:`~eigengraphs.JointEmbedding`."""

    init: Any
    n_components: Any
    n_graphs_seen_: int
    n_vertices_: int
    preprocess: Any
    random_state: Any
    get_params: Any
    _dtype: np.dtype[Any]
    _fitted_with: dict[str, Any]
    _is_weighted: bool
    _moments: GraphMoments | None = None  # of all graphs, where these came in batches
    _plan: Plan
    _seed: np.random.SeedSequence
    _steps: Preprocessing

    def _aligned(self, graphs: Any, missing: Any = None) -> GraphStack:
        raise NotImplementedError

    def _learn_names(self, stack: GraphStack, settings: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def _solve_or_restore(
        self, stack: GraphStack, d: int, settings: dict[str, Any], before: dict[str, Any]
    ) -> None:
        raise NotImplementedError

    def _stack(self, graphs: Any, steps: Preprocessing, directed: bool) -> GraphStack:
        raise NotImplementedError

    def partial_fit(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Add graphs to those that were given before, which are not needed again.

        The components are those of all graphs so far: of a :meth:`fit` of them together, to
        rounding, where that solves on all vertices at once (up to 32 vertices always, beyond where
        graphs are few or very many); elsewhere, and where rounding decides between components that
        are equally good, they solve the same problem. The first call begins a fit; a :meth:`fit`
        forgets the batches. What is kept between calls are the mean and the second moment of the
        graphs, n^4 / 8 numbers, so there may be 84 vertices at most (51 MB).

        ``objective_path_``, ``explained_ratio_``, ``mean_graph_`` and the certificates are of all
        graphs so far, ``n_graphs_seen_`` of them. ``loadings_`` and ``n_passes_`` are of the last
        batch alone: keep graphs that you want loadings of, and ``transform`` them at the end. Every
        call may find components in another order, with other signs, or other ones where several are
        about as good; :func:`~eigengraphs.match_components` pairs those before with those after.

        Loadings are free, graphs undirected and complete. The rule for the diagonal is that of the
        first batch, as is the source of random starts. A component that explains less than about
        1e-12 of the squared norm is lost in the rounding of the second moment.

        Parameters
        ----------
        graphs
            A :class:`GraphStack`, or anything it can be made of, in memory or in blocks; one graph
            or more. Named vertices are put in the order of the first batch.
        y
            Ignored.
        sample_weight : (m,), optional
            Weight of each graph in the objective, on one scale for all batches.

        Returns
        -------
        JointEmbedding
            The estimator itself.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.datasets.load_mice().graphs.log1p().select_vertices(range(40))
        >>> je = eg.JointEmbedding(n_components=3, random_state=0)
        >>> for first in range(0, 32, 8):
        ...     je = je.partial_fit(graphs[first : first + 8])
        >>> je.n_graphs_seen_, je.loadings_.shape, je.transform(graphs).shape
        (32, (8, 3), (32, 3))
        """
        # All that may be refused comes before anything is set: a refused batch leaves the others.
        settings = self.get_params(deep=False)
        check_settings(settings)
        _require_free(settings)
        seen = self._moments
        steps = Preprocessing.of(self.preprocess)
        if seen is None:
            _require_unfitted(self)
            seed, stack = None, self._stack(graphs, steps, directed=False)
        else:
            self._require_same_settings(settings)
            seed, stack = self._seed, self._aligned(graphs)
        n = _require_few_vertices(stack)
        stack.require_complete(
            "partial_fit takes complete graphs alone, as moments do; fill the entries, or fit all "
            "graphs together with missing='unobserved'"
        )
        weights, unit = relative_weights(sample_weight, stack)
        treatment = self._next_treatment(stack, settings, weights)
        d = check_n_components(self.n_components, n)
        given_start(self.init, n, d)
        with fixed_order(settings["deterministic"]):
            moments = _moments_of(stack, treatment.scale, weights, unit)
        if seen is not None:
            moments = seen + moments
        mean = moments.mean_graph() if settings["center"] else None
        treatment = replace(treatment, mean=_stored_as(mean, stack.is_sparse), scale=moments.scale)
        plan = Plan(
            treatment, weights * (unit / moments.unit), moments.unit, FreeLoadings(), None,
            directed=False, weight_seen=moments.weight,
        )  # fmt: skip
        if seed is None:
            seed = seed_sequence(self.random_state)

        before = self.__dict__.copy()
        self._seed, self._plan, self._moments = seed, plan, moments
        self.n_graphs_seen_ = moments.n_graphs
        if seen is None:
            self._steps = steps
            self._learn_names(stack, settings)
        else:
            self._dtype = np.promote_types(self._dtype, stack.dtype)
            self._is_weighted = self._is_weighted or stack.is_weighted
            self._graph_names = stack._graph_names
        self._solve_or_restore(stack, d, settings, before)
        return self

    def _require_same_settings(self, settings: Mapping[str, Any]) -> None:
        changed = [name for name in FIXED_BY_FIT if settings[name] != self._fitted_with[name]]
        if changed:
            raise InputError(
                f"{' and '.join(changed)} changed since the first batch; put the old setting back, "
                "or begin anew with sklearn.base.clone(estimator)"
            )

    def _next_treatment(
        self, stack: GraphStack, settings: Mapping[str, Any], weights: NDArray[np.float64]
    ) -> Treatment:
        """Return how graphs are treated, but for the mean: by the rule of the first batch."""
        asked = settings["diagonal"]
        if self._moments is None:
            return Treatment.learn(stack, asked, center=False, weights=weights)
        first = self._plan.treatment
        found = Treatment.learn(stack, first.diagonal, center=False, weights=weights)
        a, b = first.diagonal_value, found.diagonal_value
        same = a is not None and b is not None and abs(a - b) <= 1e-6 * max(abs(a), abs(b))
        if asked == "auto" and first.diagonal == "filled" and not same:
            other = "others, that differ" if b is None else f"{b:g}"
            raise InputError(
                f"every diagonal entry of the graphs before was {a:g}, so that diagonal='auto' "
                f"took the diagonal for no data, and these graphs have {other}; begin anew, with "
                "diagonal='observed' if it is data, with diagonal='filled' if it is not"
            )
        return replace(found, diagonal_value=a if same else None)


def find_in_moments(
    moments: GraphMoments,
    plan: Plan,
    stack: GraphStack,
    d: int,
    settings: Mapping[str, Any],
    *,
    seed: np.random.SeedSequence,
    resume: Fit | None,
    watch: Watcher | None,
) -> Found:
    """Return d components of all graphs with these moments; see :func:`search.find_components`.

    ``stack`` holds the last of the graphs, of which loadings are taken.
    """
    treatment = plan.treatment
    n, center = stack.n_vertices, treatment.mean is not None
    rows = moments.stand_ins(hollow=treatment.hollow, center=center)
    fit = summed(
        # What differs by a diagonal in the search is the same off it.
        rows.filled() if treatment.diagonal == "filled" else rows,
        d,
        init=given_start(settings["init"], n, 0 if resume else d),
        n_init=settings["n_init"],
        # Sums are of float64, whatever the graphs are.
        tol=tolerance(settings["tol"], np.dtype(np.float64)),
        max_iter=settings["max_iter"],
        seed=seed,
        hollow=treatment.diagonal == "unobserved",
        resume=resume,
        watch=watch,
    )
    # Norms, which those in blocks know, moments and forms; norms again when centred.
    n_passes = 2 + (not isinstance(stack, BlockedStack)) + center
    fit = replace(fit, H=with_signs(fit.H), n_passes=n_passes)
    last = project(treatment.loss_view(stack), fit, hollow=treatment.hollow)
    of_rows = Projection(
        gram(fit, hollow=treatment.hollow),
        rows.R @ Packing(n).outer(fit.H.T).T,
        np.einsum("rp,rp->r", rows.R, rows.R),
    )
    projection = BatchProjection(of_rows.Gamma, last.Psi, last.squared_norms, of_rows)
    return Found(fit, projection, fit, None)


def _moments_of(
    stack: GraphStack, scale: float, weights: NDArray[np.float64], unit: float
) -> GraphMoments:
    """Read graphs once for their moments."""
    view = Treatment("observed", None, None, scale).search_view(stack)
    packing = Packing(stack.n_vertices)
    total = CentredSum(weights, packing.size)

    def add(lo: int, hi: int, P: NDArray[Any]) -> None:
        total.add(lo, hi, packing.pack(P.astype(np.float64, copy=False)))

    with one_blas_thread():
        view.products(np.eye(stack.n_vertices), add)
    counts = weights > 0
    noise = float(weights[counts] @ view.rounding()[counts])
    return GraphMoments.of(
        total, noise, scale=scale, unit=unit, n_graphs=stack.n_graphs, n=stack.n_vertices
    )


def _stored_as(
    mean: NDArray[np.float64] | None, is_sparse: bool
) -> NDArray[np.float64] | sparse.csr_array | None:
    return sparse.csr_array(mean) if mean is not None and is_sparse else mean


def _require_free(settings: Mapping[str, Any]) -> None:
    """Raise an error for settings under which graphs cannot be summed up and forgotten."""
    loadings = settings["loadings"]
    beyond = {
        f"loadings={loadings!r}": (loadings != "free", "needs more of the graphs than moments"),
        "directed=True": (settings["directed"], "has components that these moments do not show"),
        "refine=True": (settings["refine"], "goes back to all graphs"),
        "solver='algorithm1'": (settings["solver"] == "algorithm1", "goes back to all graphs"),
        "n_components='auto'": (
            isinstance(settings["n_components"], str),
            "splits all graphs; choose the number with select_dimension on some of them",
        ),
    }
    for what, (asked, why) in beyond.items():
        if asked:
            raise InputError(
                f"partial_fit is not offered with {what}, which {why}; fit all graphs together, "
                "or use free loadings of undirected graphs and a number of components"
            )


def _require_unfitted(embedding: Any) -> None:
    if "_fit" in vars(embedding):
        raise InputError(
            "fit does not keep what partial_fit needs, the second moment of the graphs; begin "
            "with partial_fit on a new estimator (sklearn.base.clone of this one) and give it the "
            "first graphs, too, or use transform for loadings of new graphs on these components"
        )


def _require_few_vertices(stack: GraphStack) -> int:
    n = stack.n_vertices
    if n > _MOST_VERTICES:
        p = n * (n + 1) // 2
        raise InputError(
            f"partial_fit takes graphs on {_MOST_VERTICES} vertices at most, got {n}: it keeps the "
            f"second moment of the graphs, which would take {8 * p * p / 1e6:.0f} MB; fit all "
            "graphs together (from a store on disk if they are many), or select_vertices"
        )
    return n
