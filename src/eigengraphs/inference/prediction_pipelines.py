"""Pipelines from graphs to predicted labels: a method, perhaps an adjustment, and a rule.

:data:`METHODS` make features of graphs, :class:`CovariateAdjustment` regresses covariates out of
them, and rules predict labels from them. :func:`run_folds` trains all of it on the training graphs
of each fold, and shows it the held-out graphs afterwards.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils.validation import check_is_fitted

from eigengraphs import baselines
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference.designs import (
    Array,
    Indices,
    Variable,
    check_choice,
    read_loadings,
    read_variable,
    table_columns,
    unit_of,
    units,
)
from eigengraphs.stack import GraphStack
from eigengraphs.stack.preprocess import Preprocessing

__all__ = ["JOINT", "METHODS", "RULES", "CovariateAdjustment", "choose_methods", "run_folds"]

JOINT = "joint embedding"
Rule: TypeAlias = Literal["1-NN", "linear"]
RULES: tuple[Rule, ...] = ("1-NN", "linear")
MethodsLike: TypeAlias = "str | Sequence[str] | Mapping[str, Any]"
Split: TypeAlias = tuple[Indices, Indices]  # graphs to learn from, and held out
_MANY = 1000  # vertices, beyond which the spectrum is cut
_PENALTIES = np.logspace(-3, 6, 19)


# From graphs to features


@dataclass(frozen=True)
class Method:
    """A way from graphs to features.

    Attributes
    ----------
    make
        Returns an estimator for d dimensions, m training graphs and n vertices.
    n_parameters
        Numbers that describe m graphs on n vertices in d dimensions, besides a mean graph.
    one_scale
        Whether columns are of one kind: they keep their relative scales before a linear rule.
    distances
        Whether features are distances to the training graphs.
    general
        Whether it takes directed graphs and missing entries.
    """

    name: str
    make: Callable[[int, int, int], Any]
    n_parameters: Callable[[int, int, int], int] = lambda *_: 0
    one_scale: bool = False
    distances: bool = False
    general: bool = False


#: Every way to features by its name: what ``methods`` of :func:`evaluate` may hold.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(JOINT, lambda d, *_: JointEmbedding(d), lambda m, n, d: d * (n + m), general=True),
        Method("PCA", lambda d, *_: baselines.VectorizedPCA(d),
               lambda m, n, d: d * (n * (n + 1) // 2 + m)),
        Method("Multiple ASE", lambda d, *_: baselines.MultipleASE(d),
               lambda m, n, d: n * d + m * d * (d + 1) // 2),
        Method("Omnibus", lambda d, *_: baselines.Omnibus(d), lambda m, n, d: m * n * d, True),
        Method("Unfolded ASE", lambda d, *_: baselines.UnfoldedASE(d),
               lambda m, n, d: n * d + m * n * d, True),
        Method("ASE", lambda d, *_: baselines.AdjacencySpectralEmbedding(d),
               lambda m, n, d: m * n * d, True, distances=True),
        Method("Laplacian eigenmap", lambda d, *_: baselines.LaplacianEigenmap(d),
               lambda m, n, d: m * n * d, True, distances=True),
        Method("graph statistics", lambda *_: baselines.GraphStatistics(), lambda m, *_: 7 * m),
        Method("spectra",
               lambda _d, _m, n: baselines.SpectralStatistics(_MANY if n > _MANY else None),
               lambda m, n, _: min(n, _MANY) * m),
        # All principal components: distances to training graphs are those of the vectors but for
        # what no training graph has a part in, which is the same for all of them.
        Method("graphs as vectors",
               lambda _, m, n: baselines.VectorizedPCA(min(m, n * (n + 1) // 2)),
               lambda m, n, _: m * (n * (n + 1) // 2), True),
    )
}  # fmt: skip


def choose_methods(wanted: MethodsLike) -> tuple[Method, ...]:
    """Return methods by name; joint embedding is always the first.

    Parameters
    ----------
    wanted
        "all", names, or a mapping of names to estimators with ``fit_transform`` and ``transform``
        (None for those that have a name here).
    """
    if isinstance(wanted, str):
        wanted = list(METHODS) if wanted == "all" else [wanted]
    given = dict(wanted) if isinstance(wanted, Mapping) else dict.fromkeys(wanted)
    found = {JOINT: METHODS[JOINT]}
    for name, estimator in given.items():
        if estimator is not None and name == JOINT:
            raise InputError(f"the settings of the {JOINT} are given by embedding=, not methods=")
        if estimator is not None:
            found[name] = Method(name, lambda *_, own=estimator: clone(own), general=True)
        elif name in METHODS:
            found[name] = METHODS[name]
        else:
            raise InputError(
                f"there is no method {name!r}; methods are: {', '.join(METHODS)}; another can be "
                "given with its estimator, methods={'name': estimator}"
            )
    return tuple(found.values())


def quiet(embedding: JointEmbedding) -> JointEmbedding:
    """Return the settings of an embedding, without progress."""
    made: JointEmbedding = clone(embedding).set_params(verbose=0, callback=None)
    return made


# Features without what covariates explain


class CovariateAdjustment(TransformerMixin, BaseEstimator):
    """Regress covariates out of loadings, by least squares on the training rows.

    The label takes no part, and nothing is learned from rows that are transformed; so it can be a
    step of a pipeline under cross-validation. Loadings keep the mean of the training rows.
    Categories that were not met in training, and unknown values, count as the average of the
    training rows. Where a covariate goes with the label (patients from one site), the adjustment
    removes a part of the label's signal as well; no adjustment can avoid that.

    Parameters
    ----------
    columns
        Which columns of the input are covariates: names in a pandas table, else indices. They are
        not in the output. If None, covariates are arguments of ``fit`` and ``transform``.

    Attributes
    ----------
    covariates_ : tuple of str
        Their names.
    coefficients_ : (c, d)
        Of the coded covariates: quantities in standard deviations, one column per category.
    n_features_in_ : int
        Columns of the input.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import CovariateAdjustment
    >>> site = np.repeat(["a", "b"], 10)
    >>> Lam = np.where(site == "a", 1.0, 3.0)[:, None] + np.zeros((20, 2))
    >>> adjusted = CovariateAdjustment().fit_transform(Lam, covariates={"site": site})
    >>> bool(np.allclose(adjusted, 2.0))
    True
    """

    def __init__(self, columns: Any = None) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None, covariates: Any = None) -> Self:  # noqa: ARG002
        """Learn what covariates explain.

        Parameters
        ----------
        X : (m, d)
            Loadings, and the covariates if ``columns`` says so.
        y
            Ignored.
        covariates
            A mapping of names to columns of m values, a pandas table, or an array (m, q).

        Returns
        -------
        CovariateAdjustment
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import CovariateAdjustment
        >>> Lam, site = np.array([[1.0], [1.0], [3.0], [3.0]]), {"site": ["a", "a", "b", "b"]}
        >>> CovariateAdjustment().fit(Lam, covariates=site).coefficients_.shape
        (2, 1)
        """
        Y, table = self._parts(X, covariates)
        if not table:
            raise InputError("there are no covariates to adjust for; give columns or covariates")
        self.n_features_in_ = np.shape(X)[1]
        self._names = _column_names(X, self.n_features_in_)
        self._codings = [_Coding(read_variable(*item, len(Y))) for item in table.items()]
        self.covariates_ = tuple(table)
        self._mean = Y.mean(axis=0)
        # The shortest solution: columns of all categories of a covariate are dependent.
        Z = self._coded(table, len(Y))
        self.coefficients_ = np.linalg.lstsq(Z, Y - self._mean, rcond=1e-10)[0]
        return self

    def transform(self, X: Any, covariates: Any = None) -> Array:
        """Return adjusted loadings, (m, d).

        Parameters
        ----------
        X, covariates
            As of :meth:`fit`; the covariates must have the same names.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import CovariateAdjustment
        >>> Lam, site = np.array([[1.0], [1.0], [3.0], [3.0]]), {"site": ["a", "a", "b", "b"]}
        >>> fitted = CovariateAdjustment().fit(Lam, covariates=site)
        >>> fitted.transform([[1.0], [3.0]], covariates={"site": ["a", "b"]}).round(6).tolist()
        [[2.0], [2.0]]
        """
        check_is_fitted(self)
        Y, table = self._parts(X, covariates)
        if Y.shape[1] != len(self._mean):
            raise InputError(f"got {Y.shape[1]} loadings per graph, expected {len(self._mean)}")
        missing = [name for name in self.covariates_ if name not in table]
        if missing:
            raise InputError(f"no values are given for the covariates {missing} of the fit")
        return np.asarray(Y - self._coded(table, len(Y)) @ self.coefficients_)

    def fit_transform(self, X: Any, y: Any = None, covariates: Any = None) -> Array:
        """Learn, and return adjusted loadings of the same rows.

        Parameters
        ----------
        X, y, covariates
            As of :meth:`fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import CovariateAdjustment
        >>> Lam, site = np.array([[1.0], [1.0], [3.0], [3.0]]), {"site": ["a", "a", "b", "b"]}
        >>> CovariateAdjustment().fit_transform(Lam, covariates=site).round(6).ravel().tolist()
        [2.0, 2.0, 2.0, 2.0]
        """
        return self.fit(X, y, covariates=covariates).transform(X, covariates=covariates)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the loadings that are left.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns of the input.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import CovariateAdjustment
        >>> Lam, site = np.array([[1.0], [1.0], [3.0], [3.0]]), {"site": ["a", "a", "b", "b"]}
        >>> fitted = CovariateAdjustment().fit(Lam, covariates=site)
        >>> fitted.get_feature_names_out(["je1"])
        array(['je1'], dtype=object)
        """
        check_is_fitted(self)
        names = self._names if input_features is None else list(input_features)
        return np.delete(np.array(names, dtype=object), self._places(names))

    def _coded(self, table: dict[str, Any], m: int) -> Array:
        return np.hstack([coding.code(table[coding.name], m) for coding in self._codings])

    def _parts(self, X: Any, covariates: Any) -> tuple[Array, dict[str, Any]]:
        """Return loadings, and columns of covariates by name."""
        if self.columns is None:
            Y = read_loadings(X, least=1)
            return Y, table_columns(covariates, len(Y))
        if covariates is not None:
            raise InputError("give covariates as columns of X or as an argument, not both")
        cells = np.asarray(X, dtype=object)
        if cells.ndim != 2:
            raise InputError(f"X must have rows and columns, got shape {cells.shape}")
        names = _column_names(X, cells.shape[1])
        places = self._places(names)
        table = {str(names[j]): cells[:, j].tolist() for j in places}
        return read_loadings(np.delete(cells, places, axis=1), least=1), table

    def _places(self, names: list[Any]) -> list[int]:
        asked = [self.columns] if isinstance(self.columns, str | int) else self.columns or []
        n = len(names)
        place = {name: j for j, name in enumerate(names)} | {j: j % n for j in range(-n, n)}
        for column in asked:
            if column not in place:
                raise InputError(f"there is no column {column!r} in X; its columns are {names}")
        return [place[column] for column in asked]


class _Coding:
    """How a covariate becomes columns that average zero over the training rows."""

    def __init__(self, variable: Variable) -> None:
        self.name, self.kind, self.levels = variable.name, variable.kind, variable.levels
        columns = variable.coded(0)[variable.known]
        unit = units(columns)
        self._mean, spread = columns.mean(axis=0), (columns / unit).std(axis=0) * unit
        self._scale = np.where((spread > 0) & (self.kind == "quantity"), spread, 1.0)

    def code(self, given: Any, m: int) -> Array:
        """Return (m, columns); unknown values are zeros, the average."""
        variable = read_variable(self.name, given, m, self.kind, self.levels)
        Z = (variable.coded(0) - self._mean) / self._scale
        return np.where(variable.known[:, None], Z, 0.0)


def _column_names(X: Any, count: int) -> list[Any]:
    return list(X.columns) if hasattr(X, "columns") else [f"x{j}" for j in range(count)]


# From features to labels


def check_rules(rules: Any) -> tuple[Rule, ...]:
    """Return the rules asked for, each once."""
    wanted: list[Any] = [rules] if isinstance(rules, str) else list(rules)
    for rule in wanted:
        check_choice("a rule", rule, RULES)
    if not wanted:
        raise InputError("name at least one rule: '1-NN' or 'linear'")
    return tuple(dict.fromkeys(wanted))


def rule_name(rule: str, is_quantity: bool) -> str:
    """Return what a rule is called in results."""
    return rule if rule != "linear" else "ridge" if is_quantity else "logistic"


class Nearest:
    """The label of the nearest training graph, as in the paper; features are not scaled.

    Of graphs that are equally near, the first is taken.
    """

    def __init__(self, distances: bool) -> None:
        self._distances = distances

    def fit(self, Z: Array, y: NDArray[Any]) -> Self:
        """Keep training graphs, features (m, p) or distances (m, m)."""
        self._unit = unit_of(Z)
        self._known, self._y = None if self._distances else np.asarray(Z) / self._unit, y
        return self

    def predict(self, Z: Array) -> NDArray[Any]:
        """Return the label of each graph, from (m', p) features or (m', m) distances."""
        D = Z if self._known is None else cdist(np.asarray(Z) / self._unit, self._known)
        return np.asarray(self._y[np.argmin(D, axis=1)])


class Linear:
    """Ridge or logistic regression on scaled features.

    Columns are brought to mean 0 and variance 1; or, where they are all of one kind
    (``one_scale``), to mean 0 and a common factor. With more columns than training graphs the rule
    is found within the span of these: with a quadratic penalty no coefficient is outside it.
    """

    def __init__(self, is_quantity: bool, one_scale: bool) -> None:
        self._one_scale, self._is_quantity = one_scale, is_quantity
        self._model: Any = RidgeCV(_PENALTIES) if is_quantity else LogisticRegression(max_iter=2000)

    def fit(self, Z: Array, y: NDArray[Any]) -> Self:
        """Learn from features (m, p)."""
        Z = np.asarray(Z, dtype=np.float64)
        m, p = Z.shape
        self._unit: Any = unit_of(Z) if self._one_scale else units(Z)
        Z = Z / self._unit
        self._mean, spread = Z.mean(axis=0), Z.std(axis=0)
        if self._one_scale:
            self._scale: Any = float(np.sqrt((spread**2).sum() / min(m, p))) or 1.0
        else:
            rounding = 1e-12 * np.abs(Z).max(axis=0)
            self._scale = np.where(spread > rounding, spread, 1.0)
        X = (Z - self._mean) / self._scale
        self._span = np.linalg.svd(X, full_matrices=False)[2].T if p > m else None
        self._y_unit = unit_of(y) if self._is_quantity else None
        y = y if self._y_unit is None else y / self._y_unit
        self._model.fit(X if self._span is None else X @ self._span, y)
        return self

    def predict(self, Z: Array) -> NDArray[Any]:
        """Return the label of each graph, from features (m', p)."""
        X = (np.asarray(Z, dtype=np.float64) / self._unit - self._mean) / self._scale
        told = np.asarray(self._model.predict(X if self._span is None else X @ self._span))
        return told if self._y_unit is None else told * self._y_unit


# One fold: every pipeline learns from its training graphs, and meets the others afterwards


@dataclass
class Trained:
    """A method and the rules behind it, learned from training graphs and nothing else."""

    method: str
    steps: Preprocessing  # before the estimator; the joint embedding has its own
    estimator: Any
    adjustment: CovariateAdjustment | None
    rules: dict[str, Any]


@dataclass(frozen=True)
class Question:
    """What is asked of every fold.

    Attributes
    ----------
    y : (m,) of float64 or texts
        Labels of the graphs.
    judge
        Asked of every method with the held-out graphs, such as how well it reconstructs them, and
        whether diagonals of the training graphs are no data.
    keep
        Whether trained pipelines are kept.
    covariates
        Of every graph: what they explain of features is learned in each fold, and regressed out.
    """

    graphs: GraphStack
    y: NDArray[Any]
    embedding: JointEmbedding
    methods: tuple[Method, ...]
    rules: tuple[Rule, ...]
    judge: Callable[[Trained, GraphStack, bool], Any] | None
    keep: bool
    covariates: Mapping[str, Sequence[Any]]

    def covariates_of(self, which: Indices) -> dict[str, list[Any]]:
        """Return the covariates of some graphs."""
        return {name: [values[i] for i in which] for name, values in self.covariates.items()}


@dataclass
class FoldOutcome:
    """Results of one fold, by the name of the method."""

    predictions: dict[str, dict[str, NDArray[Any]]] = field(default_factory=dict)
    judged: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)  # learning, new graphs
    n_components: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    trained: dict[str, Trained] = field(default_factory=dict)


def run_folds(asked: Question, splits: Sequence[Split], n_jobs: int = 1) -> Iterator[FoldOutcome]:
    """Yield the outcome of each fold, in order; with several jobs, folds run in processes."""
    parallel: Any = Parallel(n_jobs=n_jobs, return_as="generator")
    yield from parallel(delayed(_run_fold)(asked, *split) for split in splits)


def _run_fold(asked: Question, learn: Indices, held_out: Indices) -> FoldOutcome:
    """Train all pipelines of a fold, then show them the graphs that were held out.

    The joint embedding comes first, and the others get as many components as it has.
    """
    training, test = asked.graphs[learn], asked.graphs[held_out]
    outcome, hollow = FoldOutcome(), False
    if asked.judge is not None:  # diagonal entries are all one number, as without loops
        diagonals = Preprocessing.of(asked.embedding.preprocess).apply(training).diagonals()
        hollow = bool(np.ptp(diagonals) <= 1e-9 * np.abs(diagonals).max(initial=0.0))
    for method in asked.methods:
        name = method.name
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", "The number of unique classes is greater")  # people
            begin = time.perf_counter()
            try:
                trained = _train(asked, method, outcome.n_components, training, learn)
            except InputError as error:
                if name == JOINT:
                    raise
                outcome.refused[name] = str(error)
                continue
            middle = time.perf_counter()
            features = trained.estimator.transform(trained.steps.apply(test))
            if trained.adjustment is not None:
                features = trained.adjustment.transform(features, asked.covariates_of(held_out))
            outcome.predictions[name] = {
                rule: model.predict(features) for rule, model in trained.rules.items()
            }
            outcome.seconds[name] = (middle - begin, time.perf_counter() - middle)
            if asked.judge is not None:
                outcome.judged[name] = asked.judge(trained, test, hollow)
        if name == JOINT:
            outcome.n_components = int(trained.estimator.n_components_)
        if asked.keep:
            outcome.trained[name] = trained
        outcome.warned += [f"{name}: {str(w.message).strip().splitlines()[0]}" for w in caught]
    return outcome


def _train(asked: Question, method: Method, d: int, graphs: GraphStack, learn: Indices) -> Trained:
    """Learn from training graphs: the embedding first, then every rule on its features."""
    y, adjustment = asked.y[learn], None
    if method.name == JOINT:
        steps, estimator = Preprocessing(), quiet(asked.embedding)
    else:
        steps = Preprocessing.of(asked.embedding.preprocess)
        estimator = method.make(d, graphs.n_graphs, graphs.n_vertices)
    features = estimator.fit_transform(steps.apply(graphs), y)
    if asked.covariates:
        if method.distances:
            raise InputError("it gives distances, which cannot be adjusted for covariates")
        adjustment, covariates = CovariateAdjustment(), asked.covariates_of(learn)
        features = adjustment.fit_transform(features, covariates=covariates)
    models: dict[str, Any] = {
        "1-NN": Nearest(method.distances),
        "linear": Linear(y.dtype.kind == "f", method.one_scale),
    }
    rules = {str(rule): models[rule].fit(features, y) for rule in asked.rules}
    return Trained(method.name, steps, estimator, adjustment, rules)
