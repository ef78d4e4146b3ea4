"""``JointEmbedding``: the estimator. It validates, decides, solves and stores; no mathematics."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from eigengraphs.dimension import DimensionChoice, choose_for, choose_n_components
from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.fitting.messages import (
    ProgressPrinter,
    describe,
    warn_of_bound,
    warn_of_trouble,
)
from eigengraphs.fitting.model_file import read_model, write_model
from eigengraphs.fitting.plan import Treatment, decide, decide_batch
from eigengraphs.fitting.projection import MaskedProjection, Projection, gram, project
from eigengraphs.fitting.settings import (
    FIXED_BY_FIT,
    check_count,
    check_n_components,
    check_settings,
    check_unchanged,
    check_weights,
    given_start,
    name_rows,
    refuse_batches,
    tolerance,
)
from eigengraphs.fitting.solve import find_components
from eigengraphs.models import MultipleRandomEigenGraphs
from eigengraphs.solvers.metric import CONCENTRATED
from eigengraphs.solvers.moments import GraphMoments
from eigengraphs.solvers.rules import FreeLoadings, condition
from eigengraphs.solvers.solution import Fit, Watcher, first_components
from eigengraphs.stack import GraphStack
from eigengraphs.stack.build import check_choice
from eigengraphs.stack.names import one_place, shifted, some_of, spelling
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.system.limits import MaxBytes
from eigengraphs.system.parallel import fixed_order, one_blas_thread
from eigengraphs.system.randomness import RandomState, seed_sequence
from eigengraphs.system.tables import short_repr

_MANY_NAMES = 100_000
_OF_SOME_FITS = (
    "_vertex_table", "class_loadings_", "classes_", "cluster_", "latent_positions_right_",
    "mean_degrees_", "refinement_", "shared_loadings_",
)  # fmt: skip
_OF_OTHER_LAYERS = {"dimension_choice_": DimensionChoice}  # beyond what the model file knows


class JointEmbedding(TransformerMixin, BaseEstimator):
    """Embed many graphs on one vertex set together.

    Finds unit vectors h_1, ..., h_d and loadings that minimize

        sum_i w_i || A_i - sum_k loadings[i, k] h_k h_k^T ||^2                      (eq. 1),

    greedily: each component fits the residuals of the earlier ones, then all loadings are solved
    again.

    Parameters
    ----------
    n_components : int or "auto", default 2
        Number of components, d. With "auto", :func:`~eigengraphs.select_dimension` chooses it on
        the training graphs, up to 12 and for free loadings; graphs must be undirected and complete.
    loadings : {"free", "shared", "class", "nonnegative", "sparse"}
        "free": every graph has its own loadings. "shared": all graphs have the same loadings, so
        that components fit the mean graph (the paper's Variation 1). "class": graphs of one class
        ``y`` have the same loadings (Variation 2). In these two cases, ``loadings_`` and
        ``transform`` still give every graph its own loadings, so that labels do not leak.
        "nonnegative": no loading is below zero (Variation 3). "sparse": few loadings per graph are
        nonzero.
    max_nonzeros : int, optional
        Largest number of nonzero loadings per graph, found by orthogonal matching pursuit; for
        "sparse" and "nonnegative" loadings.
    l1_penalty : float, optional
        Penalty on the sum of absolute loadings (basis pursuit), the alternative to
        ``max_nonzeros``. A component that alone would explain less than l1_penalty^2 of a typical
        graph's squared norm gets a zero loading, and larger loadings shrink.
    directed : bool
        Components h_k g_k^T for directed graphs, with ``latent_positions_`` H (where edges
        start) and ``latent_positions_right_`` G (where they end). Otherwise h_k h_k^T.
    degree_corrected : bool
        Components for graphs whose hubs differ from graph to graph: A_i is about
        D_i H Lambda_i H^T D_i, D_i the degrees of graph i (directed: D_i H Lambda_i G^T E_i, out-
        and in-degrees), with least squares weighted by 1 / (d_s d_t). A_i and D_i are divided by
        the mean degree of the graph, so that loadings do not depend on its total weight. Degrees
        are sums of absolute weights. The first component is nearly constant, like the first
        eigenvector of a normalized Laplacian.
    degree_regularization : float
        Share of the mean degree that is added to every degree.
    diagonal : {"auto", "filled", "observed", "unobserved"}
        "observed" treats the diagonal as data, as in the paper. "filled" replaces each diagonal
        entry by the mean of its row to find the components, and computes loadings, residuals and
        scores from pairs of different vertices only. "auto" fills if all diagonal entries of all
        graphs are equal (no loops; correlation matrices). "unobserved" leaves the diagonal out
        of the search as well: exact, but a component may shrink to a hub and its neighbors, where
        loadings mean nothing; it is stopped at sum_s h_s^4 = 1/2 and marked in ``degenerate_``.
    center : bool
        Subtract the mean training graph first.
    missing : {"error", "unobserved"}
        What to do with nan entries, and with vertices that a graph does not have: refuse them, or
        leave them out of the loss.
    preprocess : str, function, sequence of these, or None
        Transforms of the weights of every graph, here and in ``transform``: "log1p",
        "signed_log1p", "fisher_z", "rank", "signed_rank", "unit_norm", "laplacian", "binarize",
        "drop_loops".
    solver : {"subspace", "algorithm1"}
        "subspace" finds all components together in about ten passes over the graphs: it solves the
        problem in a small basis, which is extended by the gradients. "algorithm1" is the paper's
        alternating descent, with hundreds of passes. Details that the paper leaves open: the first
        step size is Barzilai and Borwein's, the objective after the update of the loadings must
        decrease, and the search leaves saddle points.
    init : {"auto", "svd", "random"} or array (n, d), directed (2, n, d)
        Start of each component: the top singular vector of the mean residual ("svd", as in the
        paper), a random direction, the given columns, or "auto". With "subspace", "auto" tries that
        singular vector, eigenvectors of the sum of squared residuals and random directions within
        its basis, and keeps the result that explains most. With "algorithm1", it takes the better
        of that singular vector and the top eigenvector of the sum of squared residuals, which also
        replaces it if the mean residual is only rounding, as for centered graphs.
    n_init : int
        Starts of each component; further ones are random, and the best result is kept. They cost
        very little with "subspace", and as much as the first with "algorithm1".
    tol : "auto" or float
        Relative gradient (gradient over eigenvalue) at which a component has converged. "auto":
        1e-8, for float32 graphs 1e-5.
    max_iter : int
        Largest number of rounds, each with one or two passes over the graphs, for up to 12
        components; with "algorithm1", of iterations for a component from one start.
    refine : bool
        Improve all components together, starting from the greedy ones. Refined components do not
        nest; the greedy ones stay in ``refinement_``.
    random_state : int, Generator, RandomState or None
        Source of the random starts.
    deterministic : bool
        Give the same bits on a cluster of any size as on a single machine. Otherwise sums on a
        cluster are rounded differently. The number of threads never matters.
    verbose : int
        1 prints one line per round (or component) to standard error, 2 more.
    callback : function, optional
        Called with a :class:`~eigengraphs.solvers.solution.Progress` after each round or iteration.

    Attributes
    ----------
    loadings_ : (m, d)
        Loadings of the training graphs; the same as ``transform`` of them. After ``partial_fit``
        those of the last batch, out of ``n_graphs_seen_`` graphs.
    latent_positions_ : (n, d)
        Unit columns h_k; row s is the position of vertex s. In each column the entry that is
        largest in magnitude is positive.
    latent_positions_right_ : (n, d)
        Unit columns g_k, for directed graphs.
    classes_, class_loadings_ : (c,), (c, d)
        With ``loadings="class"``: the labels, and the loadings that the graphs of a class share.
    shared_loadings_ : (d,)
        With ``loadings="shared"``.
    cluster_ : (m,)
        With nonnegative loadings: the component with the largest loading of each graph, from 0;
        -1 for a graph without positive loadings.
    refinement_ : Refinement
        With ``refine=True``: how much it improved the fit, and the greedy components.
    objective_path_ : (d + 1,)
        Objective with the first 0, 1, ..., d components, on the entries that the loss counts, in
        units of ``objective_scale_`` squared.
    objective_scale_ : float
        1, unless squares of the weights exceed the range of float64, as for weights of 1e150: then
        about the norm of the largest graph, so that ``objective_path_`` is finite and not zero.
    explained_ratio_ : (d,)
        Share of the squared norm that each component explains when it is added, with the loadings
        that the setting allows ("class" and "shared": with those).
    converged_ : bool
    stop_reason_ : tuple of str
        For each component "stationary", "precision" (the gradient is rounding error), "stalled"
        (no progress for another reason), "max_iter", "interrupted" (Ctrl-C; there may be fewer
        components than requested) or "exhausted" (nothing is left to fit: an arbitrary direction
        with zero loadings).
    stationarity_, n_iter_ : (d,)
        Relative gradient at the end, and iterations or rounds, of each component.
    start_agreement_ : (d,)
        Share of the starts that reached the best maximum, when they were last compared; low values
        mean many local maxima, so that more starts (``n_init``) may find better ones. nan if there
        was only one start.
    gamma_condition_ : float
        Condition number of the inner products of the components. If it is large, components are
        nearly collinear, and their loadings may be large and cancel.
    degenerate_ : (d,) of bool
        Components that mean nothing: exhausted, found in rounding errors, or concentrated on one
        vertex ("filled") or on one or two ("unobserved") where the diagonal is not data.
    n_passes_ : int
        Number of passes: reads of every graph, including those for norms, means, row sums and final
        loadings.
    diagonal_ : {"filled", "observed", "unobserved"}
    mean_graph_ : (n, n) array or sparse array, or None
        What centering subtracts.
    n_components_ : int
        Number of components that were found.
    dimension_choice_ : DimensionChoice
        With ``n_components="auto"``: the results of the rules, and the reason for the number.
    mean_degrees_ : (n,), directed (2, n)
        With ``degree_corrected=True``: mean degrees of the training graphs, each divided by its
        mean degree, times the mean of these.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(n_components=3, center=True, random_state=0).fit(mice.graphs.log1p())
    >>> je.loadings_.shape, je.latent_positions_.shape
    ((32, 3), (332, 3))
    """

    _dtype: np.dtype[Any]
    _is_weighted: bool
    _moments: GraphMoments | None = None  # of all graphs, where these came in batches

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        loadings: str = "free",
        max_nonzeros: int | None = None,
        l1_penalty: float | None = None,
        directed: bool = False,
        degree_corrected: bool = False,
        degree_regularization: float = 0.25,
        diagonal: str = "auto",
        center: bool = False,
        missing: str = "error",
        preprocess: Any = None,
        solver: str = "subspace",
        init: Any = "auto",
        n_init: int = 1,
        refine: bool = False,
        tol: Any = "auto",
        max_iter: int = 1000,
        random_state: RandomState = None,
        deterministic: bool = False,
        verbose: int = 0,
        callback: Watcher | None = None,
    ) -> None:
        self.n_components = n_components
        self.loadings = loadings
        self.max_nonzeros = max_nonzeros
        self.l1_penalty = l1_penalty
        self.directed = directed
        self.degree_corrected = degree_corrected
        self.degree_regularization = degree_regularization
        self.diagonal = diagonal
        self.center = center
        self.missing = missing
        self.preprocess = preprocess
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.refine = refine
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.deterministic = deterministic
        self.verbose = verbose
        self.callback = callback

    # ---------------------------------------- fit

    def fit(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of training graphs.

        Parameters
        ----------
        graphs
            A :class:`GraphStack`, or anything it can be made of.
        y : (m,), optional
            Class of each graph, for ``loadings="class"``; ignored otherwise.
        sample_weight : (m,), optional
            Weight of each graph in the objective; 2 counts as the graph twice.

        Returns
        -------
        JointEmbedding
            The estimator itself.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> eg.JointEmbedding(2, random_state=0).fit(graphs).latent_positions_.shape
        (12, 2)
        """
        # All checks come before anything is set, so that a refused fit does not change an older
        # one.
        settings = self.get_params(deep=False)
        check_settings(settings)
        steps = Preprocessing.of(self.preprocess)
        stack = self._stack(graphs, steps, self.directed)
        seed = seed_sequence(self.random_state)
        wanted, choice = self.n_components, None
        with one_blas_thread(), fixed_order(self.deterministic):
            plan = decide(settings, stack, y, sample_weight)
            if isinstance(wanted, str) and wanted == "auto":
                choice = choose_for(self, stack, sample_weight, seed)
                wanted = choice.n_components
        d = check_n_components(wanted, stack.n_vertices, directed=self.directed)
        given_start(self.init, stack.n_vertices, d, directed=self.directed)

        before = self.__dict__.copy()
        self._seed, self._plan, self._steps = seed, plan, steps
        for name in ("dimension_choice_", "n_graphs_seen_", "_moments"):
            self.__dict__.pop(name, None)
        if choice is not None:
            self.dimension_choice_ = choice
        self._learn_names(stack, settings)
        self._solve(stack, d, settings, before)
        return self

    def partial_fit(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add graphs to earlier ones, which are not needed again.

        The components are those of all graphs so far. They equal those of a :meth:`fit` of all
        graphs together, up to rounding, if that solves on all vertices at once (always up to 39
        vertices; beyond, if there are few or very many graphs); otherwise, or if rounding decides
        between equally good components, they solve the same problem. The first call begins a fit; a
        :meth:`fit` forgets the batches. The mean and the second moment of the graphs are kept
        between calls, n^4 / 8 numbers, so at most 84 vertices are possible (51 MB).

        ``objective_path_``, ``explained_ratio_``, ``mean_graph_`` and the certificates refer to all
        graphs so far, ``n_graphs_seen_`` of them. ``loadings_`` and ``n_passes_`` refer to the last
        batch only: keep the graphs whose loadings you want, and ``transform`` them at the end.
        Every call may find components in another order, with other signs, or different ones if
        several are equally good; :func:`~eigengraphs.match_components` pairs them with the earlier
        ones.

        Loadings must be free, graphs undirected and complete. The first batch decides the setting
        of the diagonal and the source of random starts. A component that explains less than about
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
        # All checks come before anything is set, so that a refused batch does not change the fit.
        settings = self.get_params(deep=False)
        check_settings(settings)
        refuse_batches(settings)
        steps = Preprocessing.of(self.preprocess)
        seen, first = self._moments, None
        if seen is not None:
            check_unchanged(
                settings, self._fitted_with, "the first batch; restore the old setting, or start "
                "again with sklearn.base.clone(estimator)",
            )  # fmt: skip
            stack, first = self._aligned(graphs), self._plan.treatment
        elif "_fit" in vars(self):
            raise InputError(
                "fit does not keep what partial_fit needs, the second moment of the graphs; begin "
                "with partial_fit on a new estimator (sklearn.base.clone of this one) and give it "
                "the first graphs, too, or use transform for loadings of new graphs on these "
                "components"
            )
        else:
            stack = self._stack(graphs, steps, directed=False)
        d = check_n_components(self.n_components, stack.n_vertices)
        given_start(self.init, stack.n_vertices, d)
        with fixed_order(self.deterministic):
            plan, moments = decide_batch(settings, stack, sample_weight, seen, first)
        seed = seed_sequence(self.random_state) if seen is None else self._seed

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
        self._solve(stack, d, settings, before)
        return self

    def _solve(
        self,
        stack: GraphStack,
        d: int,
        settings: Mapping[str, Any],
        before: dict[str, Any],
        resume: Fit | None = None,
    ) -> None:
        """Search components and set every fitted attribute.

        Where nothing is found, ``before``, the attributes of an older fit, are put back.
        """
        printer = ProgressPrinter(d, self.verbose, self.callback)
        try:
            # Thousands of short products: threads inside each cost more than they bring, badly so
            # on a busy machine, and make the rounding depend on the number of cores.
            with one_blas_thread(), fixed_order(self.deterministic):
                found = find_components(
                    self._plan, stack, d, settings, seed=seed_sequence(self._seed), resume=resume,
                    watch=printer.watcher, moments=self._moments,
                )  # fmt: skip
            printer.close()
            self._training: GraphStack | None = stack
            self._greedy = found.greedy
            for name in _OF_SOME_FITS:
                self.__dict__.pop(name, None)
            if found.mean_degrees is not None:
                self.mean_degrees_ = found.mean_degrees if self.directed else found.mean_degrees[0]
            if found.refinement is not None:
                self.refinement_ = found.refinement
                if found.refinement.bound_met:
                    warn_of_bound(found.refinement.condition)
            if "vertex_names_" not in self.__dict__:
                self.vertex_names_ = stack.vertex_names
            self._store(found.fit, found.projection)
        except BaseException:
            if self.__dict__.get("_fit") is before.get("_fit"):
                self.__dict__ = before
            raise
        warn_of_trouble(
            found.fit, self.degenerate_, self._in_rounding(), tolerance(self.tol, stack.dtype),
            self.max_iter, free=isinstance(self._plan.rule, FreeLoadings),
        )  # fmt: skip
        if found.fit.interrupted:
            raise KeyboardInterrupt("the fit was stopped; what it found so far is kept")

    def _learn_names(self, stack: GraphStack, settings: Mapping[str, Any]) -> None:
        """Set the attributes that do not depend on components."""
        self._dtype, self._is_weighted = stack.dtype, stack.is_weighted
        self._fitted_with: dict[str, Any] = {name: settings[name] for name in FIXED_BY_FIT}
        self.n_vertices_ = stack.n_vertices
        self.__dict__.pop("vertex_names_", None)
        # Numbers of many vertices become names after the search, and take no memory beside it.
        if stack.has_vertex_names or stack.n_vertices <= _MANY_NAMES:
            self.vertex_names_ = stack.vertex_names
        self._has_vertex_names = stack.has_vertex_names
        self._graph_names = stack._graph_names  # thousands of numbers are not made into names

    def _store(self, fit: Fit, projection: Projection | MaskedProjection) -> None:
        """Set the attributes that depend on components."""
        self._fit, self._projection = fit, projection
        plan, Gamma = self._plan, projection.Gamma
        scale, rule = plan.treatment.scale, plan.rule
        self.n_components_ = len(fit.stages)
        self.latent_positions_ = fit.H.astype(self._dtype)
        if fit.G is not None:
            self.latent_positions_right_ = fit.G.astype(self._dtype)
        Lam, path = plan.loadings_and_path(projection)
        self.loadings_ = (Lam / scale).astype(self._dtype)
        if plan.groups is not None:
            shared = plan.shared_loadings_and_path(projection)[0]
            shared = (shared / scale).astype(self._dtype)
            if self._fitted_with["loadings"] == "class":
                self.classes_, self.class_loadings_ = plan.groups.labels, shared
            else:
                self.shared_loadings_ = shared[0]
        if rule.nonnegative:
            rounding = 1e-10 * np.sqrt(projection.squared_norms)
            self.cluster_ = np.where(Lam.max(axis=1) > rounding, Lam.argmax(axis=1), -1)
        self.objective_path_, self.objective_scale_ = plan.reported(path)
        self.explained_ratio_ = -np.diff(path) / path[0] if path[0] > 0 else np.zeros(len(Gamma))
        self.stop_reason_ = tuple(stage.stop_reason for stage in fit.stages)
        self.stationarity_ = np.array([stage.stationarity for stage in fit.stages])
        self.n_iter_ = np.array([stage.n_iter for stage in fit.stages])
        self.converged_ = all(stage.converged for stage in fit.stages)
        self.start_agreement_ = np.array([stage.agreement for stage in fit.stages])
        self.gamma_condition_ = condition(Gamma[np.ix_(fit.active, fit.active)])
        # A component on one vertex alone has no pair of different vertices to speak of.
        nothing = ~fit.active | (np.diag(Gamma) < 1e-8) | self._in_rounding()
        if plan.treatment.diagonal == "unobserved":
            G = fit.H if fit.G is None else fit.G
            nothing |= (fit.H**2 * G**2).sum(axis=0) >= CONCENTRATED - 1e-6
        self.degenerate_: NDArray[np.bool_] = nothing
        self.n_passes_ = fit.n_passes
        self.diagonal_ = plan.treatment.diagonal
        self.mean_graph_ = plan.treatment.mean

    def _in_rounding(self) -> NDArray[np.bool_]:
        """Tell components before which nothing but rounding was left of the squares, (d,)."""
        path = self.objective_path_
        return np.asarray(path[:-1] <= 10 * np.finfo(self._dtype).eps * path[0])

    # ---------------------------------------- graphs on components

    @one_blas_thread()
    def transform(self, graphs: Any, *, missing: str | None = None) -> Any:
        """Return the loadings of graphs, (m', d), each projected on the components separately.

        Graphs with vertex names are aligned with the names of the training graphs. If only one of
        the two has names, the order of the vertices is used.

        Parameters
        ----------
        graphs : GraphStack, or anything it can be made of
            m' graphs on the vertices of the training graphs.
        missing : {"error", "unobserved"}, optional
            What to do with nan entries, and with vertices of the training graphs that these graphs
            do not have; by default the setting ``missing``. With "unobserved", the known entries of
            a graph are used; a graph without any gets zeros.

        Returns
        -------
        array (m', d)
            Solutions of Gamma Lambda^T = Psi (section 3.2), with the constraints on loadings.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs[:4])
        >>> je.transform(graphs[4:]).shape
        (2, 2)
        """
        check_is_fitted(self)
        stack = self._aligned(graphs, missing)
        Lam = self._project(stack).loadings(self._plan.rule) / self._plan.treatment.scale
        return name_rows(self, Lam.astype(self._dtype), stack._graph_names)

    def fit_transform(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the loadings of the training graphs, (m, d).

        Parameters
        ----------
        graphs, y, sample_weight
            As in :meth:`fit`.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> eg.JointEmbedding(2, random_state=0).fit_transform(graphs).shape
        (6, 2)
        """
        self.fit(graphs, y, sample_weight)
        return name_rows(self, self.loadings_, self._graph_names)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return je1, je2, ... for the columns of the loadings.

        Parameters
        ----------
        input_features
            Ignored; scikit-learn passes it.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> eg.JointEmbedding(2, random_state=0).fit(graphs).get_feature_names_out()
        array(['je1', 'je2'], dtype=object)
        """
        check_is_fitted(self)
        return np.array([f"je{k + 1}" for k in range(self._fit.H.shape[1])], dtype=object)

    @one_blas_thread()
    def score(
        self, graphs: Any, y: Any = None, sample_weight: Any = None, *, missing: Any = None
    ) -> float:
        """Return the share of the squared norm of (centered) graphs that their loadings explain.

        Over the entries that the loss counts: with a filled diagonal, those off the diagonal.

        Parameters
        ----------
        graphs : GraphStack, or anything it can be made of
            Graphs on the vertices of the training graphs.
        y
            Ignored.
        sample_weight : (m',), optional
            Weight of each graph.
        missing : {"error", "unobserved"}, optional
            As in :meth:`transform`.

        Returns
        -------
        float
            1 if the components describe the graphs exactly, 0 if they explain nothing.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> graphs = [np.full((4, 4), weight) for weight in (1.0, 2.0)]
        >>> round(eg.JointEmbedding(1, random_state=0).fit(graphs).score(graphs), 6)
        1.0
        """
        check_is_fitted(self)
        stack = self._aligned(graphs, missing)
        weights = check_weights(sample_weight, stack.n_graphs)
        weights = weights / weights.max()
        projection = self._project(stack)
        total = float(weights @ projection.squared_norms)
        left = float(weights @ projection.residuals(projection.loadings(self._plan.rule)))
        return 1.0 - left / total if total > 0 else 0.0

    @one_blas_thread()
    def residuals(self, graphs: Any, *, missing: Any = None) -> NDArray[np.float64]:
        """Return the share of each graph's squared norm that the components leave, (m',).

        Over the entries that the loss counts; 0 for a graph without any.

        Parameters
        ----------
        graphs : GraphStack, or anything it can be made of
            m' graphs on the vertices of the training graphs.
        missing : {"error", "unobserved"}, optional
            As in :meth:`transform`.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> je = eg.JointEmbedding(1, diagonal="observed", random_state=0).fit([np.ones((4, 4))])
        >>> je.residuals([np.ones((4, 4)), np.eye(4)]).round(2) + 0.0
        array([0.  , 0.75])
        """
        check_is_fitted(self)
        projection = self._project(self._aligned(graphs, missing))
        left = projection.residuals(projection.loadings(self._plan.rule))
        norms = projection.squared_norms
        return np.asarray(np.divide(left, norms, out=np.zeros_like(left), where=norms > 0))

    def _project(self, stack: GraphStack) -> Projection | MaskedProjection:
        plan = self._plan
        graphs = plan.treatment.operator(stack, directed=plan.directed, loss=True)
        with one_blas_thread():
            return project(graphs, self._fit, hollow=plan.treatment.hollow)

    def _stack(
        self, graphs: Any, steps: Preprocessing, directed: bool, missing: Any = None
    ) -> GraphStack:
        # No copy: a stack made here is read at once, and only `extend` comes back to it.
        if missing is None:
            missing = self.missing
        else:
            check_choice("missing", missing, "error", "unobserved")
        if isinstance(graphs, GraphStack):
            stack = graphs
            if missing == "error":
                stack.require_complete("pass missing='unobserved' to leave them out")
        else:
            stack = GraphStack(graphs, copy=False, missing=missing)
        stack = steps.apply(stack)
        if not directed:
            stack.require_undirected(
                "make the graphs undirected with GraphStack(graphs).symmetrize(), or fit them "
                "with directed=True"
            )
        return stack

    def _aligned(self, graphs: Any, missing: Any = None) -> GraphStack:
        missing = self.missing if missing is None else missing
        stack = self._stack(graphs, self._steps, self._plan.directed, missing)
        # Without names vertices are called by their places, 0, 1, ...: a networkx graph whose
        # nodes are these numbers goes with arrays.
        own, wanted = set(stack.vertex_names), set(self.vertex_names_)
        if own == wanted:
            return stack.in_order_of(self.vertex_names_)
        both_named = stack.has_vertex_names and self._has_vertex_names
        if stack.has_vertex_names and own < wanted and missing == "unobserved":
            return stack.among(self.vertex_names_)
        if both_named or stack.n_vertices != self.n_vertices_:
            text = f"{stack.n_vertices} vertices, expected {self.n_vertices_} as in"
            if stack.n_vertices == self.n_vertices_:
                text = f"other vertices than the {self.n_vertices_} of"
            more = self._differing(stack) if both_named else ""
            raise AlignmentError(f"the graphs have {text} the training graphs{more}")
        return stack

    def _differing(self, stack: GraphStack) -> str:
        """Say which vertices are not common to graphs and training graphs, and what to do."""
        own, wanted = stack.vertex_names, self.vertex_names_
        here, there = set(own), set(wanted)
        extra = [name for name in own if name not in there]
        lacking = [name for name in wanted if name not in here]
        text = f"; they lack {some_of(lacking)}" if lacking else ""
        if not extra:
            return f"{text}: pass missing='unobserved' to project them on the other vertices"
        todo = shifted(own, wanted) or ": correct the names, or leave these out (select_vertices)"
        return f"{text}; only they have {some_of(extra)}{spelling(lacking, extra)}{todo}"

    # ---------------------------------------- more or fewer components

    def extend(self, n_components: int, graphs: Any = None) -> Self:
        """Return a fit with more components; the existing ones do not change.

        It equals a fit with that many components from the start. Components that Ctrl-C left
        unfinished are completed.

        Parameters
        ----------
        n_components : int
            Number of components, at least as many as now.
        graphs : optional
            The training graphs again; needed if the fit was saved or pickled, which does not keep
            them. After ``partial_fit``, those of the last batch.

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
        check_unchanged(settings, self._fitted_with, "the fit; fit again")
        if n_components < len(self._fit.stages):
            raise InputError(
                f"n_components={n_components} is fewer than the {len(self._fit.stages)} that there "
                "are; use truncate"
            )
        stack = self._training if graphs is None else self._aligned(graphs)
        if stack is None:
            raise InputError("a saved or copied fit does not keep the graphs; pass graphs=")
        self._require_training_graphs(stack)  # an array that is shared may have changed
        d = check_n_components(n_components, stack.n_vertices, directed=self._plan.directed)
        longer = self._copy(d)
        longer._solve(stack, d, longer.get_params(deep=False), longer.__dict__, resume=self._greedy)
        return longer

    def truncate(self, n_components: int) -> Self:
        """Return the fit with only the first components, and loadings solved again for them.

        It equals a fit with that many components, and does not read the graphs.

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

    def _require_training_graphs(self, stack: GraphStack) -> None:
        known = self._projection
        same = stack.n_graphs == len(known.Psi)
        if same:
            active = self._fit.active  # the others are random directions, of which nothing is kept
            now = self._project(stack)
            directed = self._plan.directed
            graphs = self._plan.treatment.operator(stack, directed=directed, loss=True)
            near = 1e-5 * np.sqrt(known.squared_norms) + 10 * np.sqrt(graphs.rounding())
            same = bool((np.abs(now.Psi - known.Psi)[:, active] <= near[:, None]).all())
            same &= np.allclose(now.squared_norms, known.squared_norms, rtol=1e-5)
        if not same:
            raise InputError("graphs must be the same graphs that the fit was trained on")

    def _copy(self, n_components: int) -> Self:
        other: Self = clone(self).set_params(n_components=int(n_components))
        for name, value in vars(self).items():
            if name not in other.__dict__ and name != "dimension_choice_":
                setattr(other, name, value)
        return other

    # ---------------------------------------- back to graphs

    def inverse_transform(
        self, loadings: ArrayLike, *, degrees: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Return the expected adjacency matrices for loadings.

        The diagonal is that of the training graphs if it was constant (0 without loops), and that
        of the model if it was data.

        Parameters
        ----------
        loadings : (m', d)
            One row per graph.
        degrees : (m', n), directed (m', 2, n), optional
            With ``degree_corrected=True``: degrees of the graphs, the sums of absolute weights; by
            default ``mean_degrees_`` for all.

        Returns
        -------
        array (m', n, n)
            H D_i H^T (directed: H D_i G^T), plus the mean graph if the fit is centered; if
            degree-corrected, with degrees on both sides.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
        >>> je.inverse_transform(je.loadings_[:3]).shape
        (3, 12, 12)
        """
        check_is_fitted(self)
        H = self._fit.H
        try:
            Lam = np.asarray(loadings, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("loadings must be an array of numbers") from None
        if Lam.ndim != 2 or Lam.shape[1] != H.shape[1]:
            raise InputError(f"loadings must have shape (m, {H.shape[1]}), got {Lam.shape}")
        if not np.isfinite(Lam).all():
            raise InputError("loadings must be finite; some are not")
        G = H if self._fit.G is None else self._fit.G
        A: NDArray[Any] = np.einsum("sk,ik,tk->ist", H, Lam, G, optimize=True)
        factors = self._degree_factors(degrees, len(Lam))
        if factors is not None:
            A *= factors[0][:, :, None]
            A *= factors[1][:, None, :]
        mean = self._plan.treatment.mean
        if mean is not None:
            A += mean if isinstance(mean, np.ndarray) else mean.toarray()
        if self._plan.treatment.hollow and self._plan.treatment.diagonal_value is not None:
            np.einsum("iss->is", A)[...] = self._plan.treatment.diagonal_value
        return A.astype(self._dtype)

    def _degree_factors(self, degrees: Any, m: int) -> tuple[Any, Any] | None:
        """Return sqrt(mu_i) D_i and sqrt(mu_i) E_i, (m, n), of a degree-corrected fit."""
        tau = self._plan.treatment.regularization
        if tau is None:
            if degrees is not None:
                raise InputError("degrees belong to a fit with degree_corrected=True")
            return None
        sides, n = 2 if self._fit.G is not None else 1, self.n_vertices_
        given = np.asarray(self.mean_degrees_ if degrees is None else degrees, dtype=np.float64)
        if degrees is None:
            given = np.broadcast_to(given, (m, *given.shape))
        shape = (m, n) if sides == 1 else (m, 2, n)
        if given.shape != shape or not np.isfinite(given).all() or (given < 0).any():
            raise InputError(
                f"degrees must be an array {shape} of finite numbers >= 0, the sums of absolute "
                f"weights at the vertices of each graph; got shape {given.shape}"
            )
        given = given.reshape(m, sides, n)
        mu = given.mean(axis=(1, 2), keepdims=True)
        relative = np.divide(given, mu, out=np.zeros_like(given), where=mu > 0) + tau
        scaled = np.sqrt(mu) * relative
        return scaled[:, 0], scaled[:, -1]

    def graph_positions(self, graph: int | str) -> GraphPositions | DirectedPositions:
        """Return the vertices' positions in one training graph, ``H |D_i|^(1/2)``, and signs.

        For a directed graph, also ``G |D_i|^(1/2)``. In a degree-corrected fit, positions do not
        include degrees: an edge is then about their inner product times both degrees.

        Parameters
        ----------
        graph : int or str
            Index or name of the training graph.

        Returns
        -------
        GraphPositions
            ``positions`` (n, d) and ``signs`` (d,); for a directed graph also ``right`` (n, d).

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
        >>> X, signs = je.graph_positions(0)
        >>> X.shape, signs.shape
        ((12, 2), (2,))
        """
        check_is_fitted(self)
        names = self._graph_names or tuple(map(str, range(len(self.loadings_))))
        lam = self.loadings_[one_place(graph, names, "training graph")]
        root = np.sqrt(np.abs(lam))
        X = self.latent_positions_ * root
        if self._fit.G is None:
            return GraphPositions(X, np.sign(lam))
        return DirectedPositions(X, np.sign(lam), self.latent_positions_right_ * root)

    def to_mreg(self, law: Literal["bernoulli", "poisson", "gaussian"] = "bernoulli") -> Any:
        """Return the fit as a :class:`~eigengraphs.models.MultipleRandomEigenGraphs` model.

        Parameters
        ----------
        law : {"bernoulli", "poisson", "gaussian"}
            Law of the edges: "bernoulli" for unweighted graphs, its probabilities clipped into
            [0, 1]; "poisson" for counts, its means clipped at 0; "gaussian" for any weights, with
            the standard deviation of the residuals. ``n_clipped`` and ``clipped_share`` of the
            model say how much had to be clipped.

        A degree-corrected fit gives the model of graphs with the mean degrees of the training
        graphs: its positions are those of the fit times these degrees, and its loadings change
        with the lengths. It has no "gaussian" law, since its residuals have no common spread.

        Returns
        -------
        MultipleRandomEigenGraphs
            The model of section 2, with the latent positions and the loadings of the fit.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> eg.JointEmbedding(1, random_state=0).fit(graphs).to_mreg()
        MultipleRandomEigenGraphs(n_vertices=12, n_components=1, loadings of 6 graphs, clip=True)
        """
        check_is_fitted(self)
        if law == "bernoulli" and self._is_weighted:
            raise InputError(
                "the training graphs are weighted, which Bernoulli edges are not; "
                "pass law='poisson' for counts, or law='gaussian'"
            )
        if self._fit.G is not None:
            raise InputError(
                "the model's components are symmetric, and those of a directed fit are not; "
                "symmetrize() the graphs and fit with directed=False"
            )
        if self._plan.treatment.mean is not None:
            raise InputError(
                "a centered fit describes differences from the mean graph, which no MREG does; "
                "fit with center=False"
            )
        H, Lam = self._fit.H, np.asarray(self.loadings_, dtype=np.float64)
        factors = self._degree_factors(None, 1)
        if factors is not None:
            if law == "gaussian":
                raise InputError(
                    "residuals of a degree-corrected fit have no common standard deviation, which "
                    "law='gaussian' needs; pass law='poisson' or law='bernoulli'"
                )
            H = factors[0].T * H
            lengths = np.sqrt((H**2).sum(axis=0))
            H, Lam = H / lengths, Lam * lengths**2
        if law != "gaussian":
            return MultipleRandomEigenGraphs(H, Lam, law=law, clip=True)
        n, weights = self.n_vertices_, self._plan.total_weight
        entries = n * (n - 1) if self._plan.treatment.hollow else n * n
        spread = float(np.sqrt(self.objective_path_[-1] / weights / max(entries, 1)))
        spread *= self.objective_scale_
        return MultipleRandomEigenGraphs(H, Lam, law=law, noise_scale=spread)

    # ---------------------------------------- files, scikit-learn, notebooks

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fit to a file, without the training graphs; read it by ``eg.load(path)``.

        The file is a zip of one JSON text and NumPy arrays, with a SHA-256 of all of it. It holds
        no code, so it can be passed on and read safely. ``callback`` and the training graphs are
        not saved; ``extend`` needs the graphs again. A ``random_state`` that is a generator
        becomes the seed that the fit drew from it.

        Parameters
        ----------
        path : str or path
            Name of the file, usually with the ending ``.eg``.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = eg.load(je.save(folder + "/model.eg"))
        >>> bool((again.loadings_ == je.loadings_).all())
        True
        """
        check_is_fitted(self)
        return write_model(path, self.__getstate__(), _OF_OTHER_LAYERS)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "unobserved"
        tags.target_tags.required = self.loadings == "class"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_training" in state:
            state["_training"] = None  # a saved fit does not carry the data
        return state

    def _repr_html_(self) -> str:
        return describe(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": describe(self)}


class GraphPositions(NamedTuple):
    """Positions of the vertices in one graph: A is about X Diag(signs) X^T.

    What :meth:`JointEmbedding.graph_positions` returns. Section 2 has H Lambda_i^(1/2) for
    nonnegative loadings; the signs allow negative ones.

    Attributes
    ----------
    positions : (n, d)
        ``X = H |D|^(1/2)``.
    signs : (d,)
        Sign of each loading, 1, -1 or 0.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> placed = je.graph_positions(0)
    >>> bool(abs(placed.positions**2 - je.latent_positions_**2 * abs(je.loadings_[0])).max() < 1e-9)
    True
    """

    positions: NDArray[Any]
    signs: NDArray[np.float64]

    def __repr__(self) -> str:
        return short_repr(self)


class DirectedPositions(NamedTuple):
    """The same for a directed graph: A is about X Diag(signs) Y^T, from rows of X to rows of Y."""

    positions: NDArray[Any]  # X = H |D|^(1/2), (n, d)
    signs: NDArray[np.float64]  # sign of each loading, (d,)
    right: NDArray[Any]  # Y = G |D|^(1/2), (n, d)


@dataclass(frozen=True, eq=False)
class FitView:
    """A fitted :class:`~eigengraphs.JointEmbedding`, as reports and inference use it.

    Settings of an estimator may change after a fit; these are the ones of the fit.
    """

    embedding: JointEmbedding
    settings: Mapping[str, Any]
    """Those that decide what a component is: center, diagonal, directed, loadings, ..."""
    steps: tuple[str, ...]
    """Names of the transforms of the weights."""
    directed: bool
    treatment: Treatment
    """Scale, mean graph and diagonal."""

    @classmethod
    def of(cls, embedding: JointEmbedding) -> FitView:
        """Return the view of a fit."""
        check_is_fitted(embedding)
        plan, settings = embedding._plan, MappingProxyType(dict(embedding._fitted_with))
        steps = tuple(embedding._steps.names)
        return cls(embedding, settings, steps, plan.directed, plan.treatment)

    @property
    def gram(self) -> NDArray[np.float64]:
        """Inner products of the components over the entries that the loss counts, (d, d)."""
        return gram(self.embedding._fit, hollow=self.treatment.hollow)

    def stack(self, graphs: Any) -> GraphStack:
        """Return graphs as a stack, not transformed."""
        if isinstance(graphs, GraphStack):
            return graphs
        return GraphStack(graphs, copy=False, missing=self.settings["missing"])

    def aligned(self, graphs: GraphStack) -> GraphStack:
        """Return graphs transformed as in the fit, with vertices in its order."""
        return self.embedding._aligned(graphs)

    def project(self, aligned: GraphStack) -> Projection | MaskedProjection:
        """Return aligned graphs on the components, in units of ``treatment.scale``."""
        return self.embedding._project(aligned)


def load(path: str | os.PathLike[str], *, max_bytes: MaxBytes = None) -> JointEmbedding:
    """Read a fit that :meth:`JointEmbedding.save` wrote.

    Parameters
    ----------
    path : str or path
        The model file. Files of all older versions can be read; files that were changed, cut off
        or not written by eigengraphs are refused.
    max_bytes : int or str, optional
        Largest size to which a compressed file may unpack, such as "4G"; see ``SECURITY.md``.

    Returns
    -------
    JointEmbedding
        The fit without its training graphs: ``transform`` gives the same
        numbers, and ``extend`` needs the graphs again.

    Examples
    --------
    >>> import tempfile, eigengraphs as eg
    >>> graphs = eg.datasets.load_mice().graphs.log1p()
    >>> path = tempfile.mkdtemp() + "/mice.eg"
    >>> je = eg.JointEmbedding(3, random_state=0).fit(graphs)
    >>> again = eg.load(je.save(path))
    >>> bool((again.transform(graphs) == je.transform(graphs)).all())
    True
    """
    embedding = JointEmbedding()
    embedding.__dict__.update(read_model(path, embedding, max_bytes, _OF_OTHER_LAYERS))
    embedding._training = None
    return embedding


def select_dimension(
    graphs: Any,
    max_components: int = 12,
    *,
    method: Literal["all", "elbow", "loadings", "pairs", "halves"] = "all",
    alpha: float = 0.05,
    sample_weight: Any = None,
    random_state: RandomState = None,
    verbose: int = 0,
    callback: Callable[[str], None] | None = None,
    **settings: Any,
) -> DimensionChoice:
    """Choose the number of components of a joint embedding by up to four rules.

    - "elbow": where the objective flattens out. The gains of one fit are split into two groups by
      profile likelihood (Zhu and Ghodsi, 2006), repeatedly.
    - "loadings": the paper's second rule, that later loadings look like noise around zero,
      as a test. Components are found on one half of the graphs, and loadings of the other half are
      compared with those on random directions: their mean, and their squares. Up to
      15 splits in both directions are combined, fewer once the rest cannot change the number;
      ``alpha`` is the rate of false alarms.
    - "pairs": all pairs within a fifth of the vertices are hidden and predicted from the others,
      for each fifth in turn and twice. The smallest number that predicts as well as the best is
      chosen.
    - "halves": both halves of the graphs are fitted. The largest number for which all components
      replicate, more similar than by chance, is chosen.

    The recommendation is the median of the last three, which use held-out data (of two, the
    smaller number), and at least 1. Give training graphs only: test graphs must not influence the
    choice.

    Parameters
    ----------
    graphs
        A :class:`GraphStack`, or anything it can be made of.
    max_components : int
        Largest number to consider; numbers that the graphs cannot have are left out.
    method : {"all", "elbow", "loadings", "pairs", "halves"}
        All rules that can run, or one. With "all", ``left_out`` says which could not, and why.
    alpha : float
        Rate of false alarms of "loadings" and "halves", and level of the differences in "pairs".
    sample_weight : (m,), optional
        Weight of each graph in the fits and in the prediction of pairs; the tests ignore graphs of
        weight zero, and weight all others equally.
    random_state : int, Generator, RandomState or None
        Source of the splits, and of the starts of all fits.
    verbose : int
        1 prints one line per step to standard error.
    callback : function, optional
        Called with the text of that line.
    **settings
        Settings of :class:`~eigengraphs.JointEmbedding` (``center``, ``diagonal``, ...). Fits are
        approximate, regardless of ``tol`` and ``max_iter``: components of noise need not be exact.

    Returns
    -------
    DimensionChoice
        The recommendation, the result of each rule, and the values behind it.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> model = eg.models.StochasticBlockModel([[0.5, 0.2], [0.2, 0.5]], [0, 1] * 20)
    >>> choice = eg.select_dimension(model.sample(20, random_state=0), random_state=0)
    >>> choice.n_components, choice.choices
    (2, {'elbow': 2, 'loadings': 2, 'pairs': 2, 'halves': 2})
    """
    unknown = set(settings) - set(JointEmbedding().get_params())
    if unknown or "n_components" in settings:
        name = min(unknown or {"n_components"})
        raise InputError(
            f"{name!r} is not a setting of select_dimension, which takes those of JointEmbedding "
            "except n_components"
        )
    steps = Preprocessing.of(settings.pop("preprocess", None))
    stack = graphs
    if not isinstance(graphs, GraphStack):
        stack = GraphStack(graphs, copy=False, missing=settings.get("missing", "error"))
    return choose_n_components(
        steps.apply(stack),
        JointEmbedding(**settings),
        max_components=max_components,
        method=method,
        alpha=alpha,
        sample_weight=sample_weight,
        random_state=random_state,
        verbose=verbose,
        callback=callback,
    )
