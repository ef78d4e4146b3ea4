"""``JointEmbedding``: the estimator. It validates, decides, solves and stores; no mathematics."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigengraphs.certificates import Described, warn_of_bound, warn_of_trouble
from eigengraphs.dimension import choose_for
from eigengraphs.expected import ExpectedGraphs
from eigengraphs.fitted import FittedAttributes
from eigengraphs.graphs.ordering import fixed_order
from eigengraphs.incremental import BatchFits, find_in_moments
from eigengraphs.nesting import NestedComponents
from eigengraphs.plan import decide
from eigengraphs.progress import ProgressPrinter
from eigengraphs.projecting import ProjectedGraphs
from eigengraphs.randomness import RandomState, seed_sequence
from eigengraphs.saving import SavedFits
from eigengraphs.search import find_components
from eigengraphs.settings import (
    check_n_components,
    check_settings,
    given_start,
    name_rows,
    tolerance,
)
from eigengraphs.solvers.protocol import Fit, Watcher
from eigengraphs.solvers.rules import FreeLoadings
from eigengraphs.stack import GraphStack
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.threads import one_blas_thread

__all__ = ["JointEmbedding"]


class JointEmbedding(
    FittedAttributes,
    ProjectedGraphs,
    NestedComponents,
    BatchFits,
    ExpectedGraphs,
    SavedFits,
    Described,
    TransformerMixin,
    BaseEstimator,
):
    """Embed many graphs on one vertex set together.

    Finds unit vectors h_1, ..., h_d and loadings that minimise

        sum_i w_i || A_i - sum_k loadings[i, k] h_k h_k^T ||^2                      (eq. 1),

    greedily: each component fits what the earlier ones left, then all loadings are solved again.

    Parameters
    ----------
    n_components : int or "auto", default 2
        Number of components, d. "auto" lets :func:`~eigengraphs.select_dimension` choose it, up to
        12, on the training graphs, as free loadings would have it; for undirected graphs without
        missing entries.
    loadings : {"free", "shared", "class", "nonnegative", "sparse"}
        "free": every graph has loadings of its own. "shared": components fit the mean graph, all
        graphs having the same loadings (the paper's Variation 1); an eigendecomposition,
        whatever ``solver`` and ``init`` say. "class": graphs of one class
        ``y`` have the same loadings (Variation 2). In these two, ``loadings_`` and ``transform``
        still give every graph its own, so that no label leaks. "nonnegative": no loading is below
        zero (Variation 3). "sparse": few loadings of a graph differ from zero.
    max_nonzeros : int, optional
        Most nonzero loadings of a graph, found by orthogonal matching pursuit; for "sparse" and
        "nonnegative" loadings.
    l1_penalty : float, optional
        The other way to few nonzeros, basis pursuit: a penalty on the sum of absolute loadings. A
        component that alone would explain less than l1_penalty^2 of a typical graph's squared
        norm gets no loading there, and larger loadings shrink.
    directed : bool
        Components h_k g_k^T for directed graphs, with ``latent_positions_`` H (from where edges
        go) and ``latent_positions_right_`` G (where they end). Otherwise h_k h_k^T.
    diagonal : {"auto", "filled", "observed", "unobserved"}
        "observed" takes the diagonal as data, as in the paper. "filled" searches the components
        with the mean of its row in each diagonal entry, and takes loadings, residuals and scores
        from the pairs of different vertices alone. "auto" fills when all diagonal entries of all
        graphs are one number (no loops; correlation matrices). "unobserved" leaves the diagonal
        out of the search as well: exact, but a component may shrink to a hub and its star, where
        loadings mean nothing; it is stopped at sum_s h_s^4 = 1/2 and marked in ``degenerate_``.
    center : bool
        Subtract the mean training graph first.
    missing : {"error", "unobserved"}
        What to do with entries that are not a number, and with vertices that a graph does not
        have: refuse them, or leave them out of the loss.
    preprocess : str, function, sequence of these, or None
        What is done to the weights of every graph, here and in ``transform``: "log1p",
        "signed_log1p", "fisher_z", "rank", "signed_rank", "unit_norm", "binarize", "drop_loops".
    solver : {"subspace", "algorithm1"}
        "subspace" finds all components together in about ten reads of the graphs: it solves the
        problem in a small basis, which grows by the gradients. "algorithm1" is the paper's
        alternating descent, hundreds of reads. Where the paper leaves it open, the first step
        tried is Barzilai and Borwein's, the objective that must fall is that after the loadings'
        update, and a saddle point is left again.
    init : {"auto", "svd", "random"} or array (n, d), directed (2, n, d)
        Start of each component: top singular vector of the mean residual ("svd", the paper's),
        a random direction, given columns, or "auto". With "subspace", "auto" tries that singular
        vector, eigenvectors of the sum of squared residuals and random directions within
        its basis, and keeps what explains most. With "algorithm1", it takes the better of that
        singular vector and the top eigenvector of the sum of squared residuals, which also
        replaces a mean residual that is nothing but rounding, as of centred graphs.
    n_init : int
        Starts of each component, further ones being random; the best is kept. They cost next to
        nothing with "subspace", and as much as the first with "algorithm1".
    tol : "auto" or float
        A component is found when its gradient is this small beside its eigenvalue. "auto": 1e-8,
        for float32 graphs 1e-5.
    max_iter : int
        Most rounds, each of one or two reads of the graphs, for up to 12 components; or, with
        "algorithm1", most iterations for a component from one start.
    refine : bool
        Improve all components together, starting from the greedy ones. Refined components do not
        nest; the greedy ones stay in ``refinement_``.
    random_state : int, Generator, RandomState or None
        Source of the random starts.
    deterministic : bool
        The same bits on a cluster of any size as on this machine alone. Else a cluster rounds in
        another way. The number of threads never matters.
    verbose : int
        1 prints a line a round (or a component) to standard error, 2 more.
    callback : function, optional
        Called with a :class:`~eigengraphs.solvers.protocol.Progress` after each round or iteration.

    Attributes
    ----------
    loadings_ : (m, d)
        Loadings of the training graphs; the same as ``transform`` of them. After ``partial_fit``
        those of the last batch, of ``n_graphs_seen_`` graphs in all.
    latent_positions_ : (n, d)
        Unit columns h_k; row s is the position of vertex s. In each column the entry that is
        largest in magnitude is positive.
    latent_positions_right_ : (n, d)
        Unit columns g_k, for directed graphs.
    classes_, class_loadings_ : (c,), (c, d)
        With ``loadings="class"``: the labels, and the loadings that the graphs of each share.
    shared_loadings_ : (d,)
        With ``loadings="shared"``.
    cluster_ : (m,)
        With nonnegative loadings: the component with the largest loading of each graph, from 0;
        -1 for a graph without any.
    refinement_ : Refinement
        With ``refine=True``: what it brought, and the greedy components.
    objective_path_ : (d + 1,)
        Objective with the first 0, 1, ..., d components, on the entries that the loss counts, in
        units of ``objective_scale_`` squared.
    objective_scale_ : float
        1, unless squares of the weights leave the range of a float64, as of weights of 1e150: then
        about the norm of the largest graph, so that ``objective_path_`` is finite and not zero.
    explained_ratio_ : (d,)
        Share of the squared norm that each component explains when it is added, as loadings may
        be: with "class" and "shared", by those.
    converged_ : bool
    stop_reason_ : tuple of str
        For each component "stationary", "precision" (rounding is all that is left), "stalled" (no
        progress, for another reason), "max_iter", "interrupted" (Ctrl-C; there may be fewer
        components than asked for) or "exhausted" (nothing is left to fit: an arbitrary direction
        with zero loadings).
    stationarity_, n_iter_ : (d,)
        Relative gradient at the end, and iterations or rounds, of each component.
    start_agreement_ : (d,)
        Share of the starts that climbed to the same place as the best of them, when they were last
        compared; low values mean many local maxima, so that more starts (``n_init``) may find
        better ones. nan where there was but one.
    gamma_condition_ : float
        Condition number of the inner products of the components. Large: loadings of components
        that are nearly dependent may be large and cancel.
    degenerate_ : (d,) of bool
        Components that mean nothing: exhausted, found in what rounding left, or concentrated on one
        vertex ("filled"), or on one or two ("unobserved"), where the diagonal is not data.
    n_passes_ : int
        How often every graph was read: norms, means, row sums and final loadings included.
    diagonal_ : {"filled", "observed", "unobserved"}
    mean_graph_ : (n, n) array or sparse array, or None
        What centring subtracts.
    n_components_ : int
        Number of components that were found.
    dimension_choice_ : DimensionChoice
        With ``n_components="auto"``: what each rule says, and why this number.
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

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        loadings: str = "free",
        max_nonzeros: int | None = None,
        l1_penalty: float | None = None,
        directed: bool = False,
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

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # Once: to look at the signature takes as long as the loadings of thousands of small graphs.
        names: list[str] = super()._get_param_names()
        return names

    # ------------------------------------------------------------------ fit

    def fit(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> JointEmbedding:
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
        # All that may be refused comes before anything is set: a refused fit leaves an older one.
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
        self._solve_or_restore(stack, d, settings, before)
        return self

    def _solve_or_restore(
        self, stack: GraphStack, d: int, settings: dict[str, Any], before: dict[str, Any]
    ) -> None:
        try:
            self._solve(stack, d, settings, resume=None)
        except BaseException:
            if self.__dict__.get("_fit") is before.get("_fit"):
                self.__dict__ = before  # nothing was found, and an older fit stays whole
            raise

    def _solve(
        self, stack: GraphStack, d: int, settings: dict[str, Any], resume: Fit | None
    ) -> None:
        printer = ProgressPrinter(d, self.verbose, self.callback)
        # Thousands of short products: threads inside each cost more than they bring, badly so on
        # a busy machine, and make the rounding depend on the number of cores.
        find: Any = find_components
        if self._moments is not None:
            find = partial(find_in_moments, self._moments)
        with one_blas_thread(), fixed_order(self.deterministic):
            seed, watch = seed_sequence(self._seed), printer.watcher
            found = find(self._plan, stack, d, settings, seed=seed, resume=resume, watch=watch)
        printer.close()
        fit = found.fit
        self._training: GraphStack | None = stack
        self._greedy = found.greedy
        self._forget()
        if found.refinement is not None:
            self.refinement_ = found.refinement
            warn_of_bound(found.refinement)
        if "vertex_names_" not in self.__dict__:  # numbers of many vertices, not beside the search
            self.vertex_names_ = stack.vertex_names
        self._store(fit, found.projection)
        tol, free = tolerance(self.tol, stack.dtype), isinstance(self._plan.rule, FreeLoadings)
        known = (self.degenerate_, self._in_rounding())
        warn_of_trouble(fit, *known, tol, self.max_iter, free=free)
        if fit.interrupted:
            raise KeyboardInterrupt("the fit was stopped; what it found so far is kept")

    # ------------------------------------------------------------------ scikit-learn

    # Here and not in a base class: scikit-learn's set_output looks at a class's own methods.
    def transform(self, graphs: Any, *, missing: str | None = None) -> Any:
        """Return the loadings of graphs, (m', d), each projected on the components by itself.

        Graphs with vertex names are put in the order of the training graphs' names. Where only one
        side has names, graphs go by the order of their vertices.

        Parameters
        ----------
        graphs : GraphStack, or anything it can be made of
            m' graphs on the vertices of the training graphs.
        missing : {"error", "unobserved"}, optional
            What to do with entries that are not a number, and with vertices of the training graphs
            that these graphs do not name; by default as the setting ``missing`` says. With
            "unobserved", a graph is projected by the entries that it has. One that has none gets
            zeros.

        Returns
        -------
        array (m', d)
            Solutions of Gamma Lambda^T = Psi (section 3.2), under the rule for loadings.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)
        >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs[:4])
        >>> je.transform(graphs[4:]).shape
        (2, 2)
        """
        return self._loadings(graphs, missing)

    def fit_transform(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the loadings of the training graphs, (m, d).

        Parameters
        ----------
        graphs, y, sample_weight
            As of :meth:`fit`.

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
