"""Pipelines from graphs to predicted labels: a method, perhaps an adjustment, and a rule.

:data:`METHODS` make features of graphs, steps of ``studies.adjustment`` take out what covariates
explain or sites add, and rules predict labels from them. :func:`run_folds` trains all of it on the
training graphs of each fold, and shows it the held-out graphs afterwards.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, add_dummy_feature

from eigengraphs import baselines
from eigengraphs.embedding import JointEmbedding, select_dimension
from eigengraphs.errors import InputError
from eigengraphs.inference.prediction.folds import Split, make_folds, shown
from eigengraphs.inference.studies.adjustment import Coding, CovariateAdjustment, Harmonize
from eigengraphs.inference.studies.designs import (
    Array,
    Indices,
    check_choice,
    read_variable,
    unit_of,
    units,
)
from eigengraphs.stack import GraphStack
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.system.labels import listed

JOINT = "joint embedding"
ALONE, BESIDE = "covariates alone", "joint embedding and covariates"
Rule: TypeAlias = Literal["1-NN", "linear"]
RULES: tuple[Rule, ...] = ("1-NN", "linear")
MethodsLike: TypeAlias = "str | Sequence[str] | Mapping[str, Any]"
_MANY = 1000  # vertices, beyond which the spectrum is cut
_NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 120)  # of components, to choose from
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
        Rules before which columns, all of one kind, keep their relative scales.
    most
        Returns the largest number of dimensions for m training graphs and n vertices that inner
        folds may choose; 0 if there is nothing to choose.
    distances
        Whether features are distances to the training graphs.
    general
        Whether it takes directed graphs and missing entries.
    """

    name: str
    make: Callable[[int, int, int], Any]
    n_parameters: Callable[[int, int, int], int] = lambda *_: 0
    one_scale: tuple[Rule, ...] = ()
    distances: bool = False
    general: bool = False
    most: Callable[[int, int], int] = lambda *_: 0


#: Every way to features by its name: what ``methods`` of :func:`evaluate` may hold.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(JOINT, lambda d, *_: JointEmbedding(d), lambda m, n, d: d * (n + m), general=True,
               most=lambda _, n: n * (n - 1) // 2),
        Method("PCA", lambda d, *_: baselines.VectorizedPCA(d),
               lambda m, n, d: d * (n * (n + 1) // 2 + m),
               most=lambda m, n: min(m - 1, n * (n + 1) // 2)),
        Method("Multiple ASE", lambda d, *_: baselines.MultipleASE(d),
               lambda m, n, d: n * d + m * d * (d + 1) // 2, most=lambda _, n: n),
        Method("Omnibus", lambda d, *_: baselines.Omnibus(d), lambda m, n, d: m * n * d,
               ("linear",), most=lambda _, n: n),
        Method("Unfolded ASE", lambda d, *_: baselines.UnfoldedASE(d),
               lambda m, n, d: n * d + m * n * d, ("linear",), most=lambda _, n: n),
        Method("ASE", lambda d, *_: baselines.AdjacencySpectralEmbedding(d),
               lambda m, n, d: m * n * d, ("linear",), distances=True, most=lambda _, n: n),
        Method("Laplacian eigenmap", lambda d, *_: baselines.LaplacianEigenmap(d),
               lambda m, n, d: m * n * d, ("linear",), distances=True, most=lambda _, n: n),
        Method("graph statistics", lambda *_: baselines.GraphStatistics(), lambda m, *_: 7 * m),
        Method("spectra",
               lambda _d, _m, n: baselines.SpectralStatistics(_MANY if n > _MANY else None),
               lambda m, n, _: min(n, _MANY) * m, ("1-NN",)),
        # All principal components: a common factor keeps the angles between the vectors, but for
        # what no training graph has a part in.
        Method("graphs as vectors",
               lambda _, m, n: baselines.VectorizedPCA(min(m, n * (n + 1) // 2)),
               lambda m, n, _: m * (n * (n + 1) // 2), RULES),
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


class Scaling(TransformerMixin, BaseEstimator):
    """Bring columns to mean 0 and variance 1 over the training graphs.

    Columns that are all of one kind (``one_scale``) keep their relative scales and get a common
    factor. A column that does not vary over the training graphs tells nothing, and becomes zero.
    """

    def __init__(self, one_scale: bool = False) -> None:
        self.one_scale = one_scale

    def fit(self, Z: Array, y: Any = None) -> Self:  # noqa: ARG002
        """Learn from features (m, p)."""
        Z = np.asarray(Z, dtype=np.float64)
        self._unit: Any = unit_of(Z) if self.one_scale else units(Z)
        Z = Z / self._unit
        self._mean, spread = Z.mean(axis=0), Z.std(axis=0)
        if self.one_scale:
            self._scale: Any = float(np.sqrt((spread**2).sum() / min(Z.shape))) or 1.0
        else:
            self._scale = np.where(spread > 1e-12 * np.abs(Z).max(axis=0), spread, np.inf)
        return self

    def transform(self, Z: Array) -> Array:
        """Return scaled features, (m', p)."""
        return np.asarray((np.asarray(Z, dtype=np.float64) / self._unit - self._mean) / self._scale)


class Linear(BaseEstimator):
    """Ridge or logistic regression on scaled features.

    With more columns than training graphs the rule is found within the span of these: with a
    quadratic penalty no coefficient is outside it.
    """

    def __init__(self, is_quantity: bool) -> None:
        self.is_quantity = is_quantity

    def fit(self, X: Array, y: NDArray[Any]) -> Self:
        """Learn from scaled features (m, p)."""
        m, p = X.shape
        self.model_: Any = (
            RidgeCV(_PENALTIES) if self.is_quantity else LogisticRegression(max_iter=2000)
        )
        self._span = np.linalg.svd(X, full_matrices=False)[2].T if p > m else None
        self._y_unit = unit_of(y) if self.is_quantity else None
        y = y if self._y_unit is None else y / self._y_unit
        self.model_.fit(X if self._span is None else X @ self._span, y)
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return the label of each graph, from scaled features (m', p)."""
        told = np.asarray(self.model_.predict(X if self._span is None else X @ self._span))
        return told if self._y_unit is None else told * self._y_unit

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes that were learned, (m', c)."""
        return np.asarray(self.model_.predict_proba(X if self._span is None else X @ self._span))


def make_rule(rule: Rule, method: Method, is_quantity: bool) -> Any:
    """Return a pipeline from features of a method to labels.

    The nearest training graph is that with the smallest angle between scaled features, a 1 before
    each: of many components angles are those without it, and of a few they still tell near from
    far. Where a method gives distances, it is that with the smallest one.
    """
    scaling = Scaling(rule in method.one_scale)
    if rule == "linear":
        return make_pipeline(scaling, Linear(is_quantity))
    nearest: Any = KNeighborsRegressor if is_quantity else KNeighborsClassifier
    if method.distances:
        return make_pipeline("passthrough", nearest(1, metric="precomputed"))
    return make_pipeline(
        scaling, FunctionTransformer(add_dummy_feature), nearest(1, metric="cosine")
    )


# One fold: every pipeline learns from its training graphs, and meets the others afterwards


@dataclass
class Trained:
    """A method and the rules behind it, learned from training graphs and nothing else."""

    method: str
    steps: Preprocessing  # before the estimator; the joint embedding has its own
    estimator: Any
    adjustment: CovariateAdjustment | None
    rules: dict[str, Any]
    harmonizer: Harmonize | None = None
    beyond: list[Coding] = field(default_factory=list)
    classes: NDArray[Any] | None = None

    def predict(self, graphs: GraphStack, covariates: Mapping[str, Any]) -> dict[str, Told]:
        """Return the labels of graphs by every rule."""
        features = self.estimator.transform(self.steps.apply(graphs))
        if self.harmonizer is not None:
            features = harmonized(self.harmonizer, features, covariates)
        if self.adjustment is not None:
            features = self.adjustment.transform(features, covariates)
        seen_by = self.seen_by_rules(features, covariates)
        return {rule: _told(model, X, self.classes) for rule, (model, X) in seen_by.items()}

    def seen_by_rules(
        self, features: Array, covariates: Mapping[str, Any]
    ) -> dict[str, tuple[Any, Array]]:
        """Return each rule, and what it sees: features, covariates to go beyond, or both."""
        seen = {}
        if self.beyond:
            Z = np.hstack([coding.code(covariates[coding.name], len(features))
                           for coding in self.beyond])  # fmt: skip
            seen = {ALONE: Z, BESIDE: np.hstack([features, Z])}
        return {rule: (model, seen.get(rule, features)) for rule, model in self.rules.items()}


class Told(NamedTuple):
    """What a rule told of graphs: labels, and probabilities of classes where it has them."""

    labels: NDArray[Any]
    probabilities: Array | None


def _told(model: Any, X: Array, classes: NDArray[Any] | None) -> Told:
    P = None
    if classes is not None and isinstance(model[-1], Linear):
        P = np.zeros((len(X), len(classes)))  # zero for classes that were not learned
        P[:, np.searchsorted(classes, model[-1].model_.classes_)] = model.predict_proba(X)
    return Told(model.predict(X), P)


@dataclass(frozen=True)
class Sites:
    """Over which sites features are harmonized in each fold, and how.

    Attributes
    ----------
    name, values
        Of the column; one value per graph.
    settings
        Of the step, which is not fitted.
    controls
        Graphs that it learns from, if these are not all.
    """

    name: str
    values: Sequence[Any]
    settings: Harmonize
    controls: Sequence[Any] | None = None


def harmonized(step: Harmonize, features: Array, beside: Mapping[str, Any]) -> Array:
    """Return features without what sites add, given the columns beside them."""
    kept = {name: beside[name] for name in step.covariates_}
    return step.transform(
        features, site={step.site_name_: beside[step.site_name_]}, covariates=kept
    )


def harmonized_words(sites: Sites, kept: Sequence[str]) -> str:
    """Return how features were harmonized, in sentences."""
    name, how = sites.name, sites.settings
    what = "locations" if how.mean_only else "locations and scales"
    of = "the training graphs" if sites.controls is None else "controls among the training graphs"
    keeping = f", with the effects of {listed(kept)} kept" if kept else ""
    new = (
        f" A {name} that was not learned from was estimated from its held-out graphs together, "
        "without their labels."
    )
    return (
        f"Features were harmonized over {name} by ComBat ({what}; Johnson et al., 2007), learned "
        f"from {of} of each fold without labels{keeping}.{new * (how.unseen == 'estimate')}"
    )


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
    beyond
        Covariates from which labels are predicted alone, and beside the joint embedding.
    groups
        Graphs of one group are never on both sides of inner folds.
    sites
        What sites add to features is learned in each fold, covariates kept, and taken out.
    """

    graphs: GraphStack
    y: NDArray[Any]
    embedding: JointEmbedding
    methods: tuple[Method, ...]
    rules: tuple[Rule, ...]
    judge: Callable[[Trained, GraphStack, bool], Any] | None
    keep: bool
    covariates: Mapping[str, Sequence[Any]]
    groups: Sequence[Any] | None = None
    sites: Sites | None = None
    beyond: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def chooses(self) -> bool:
        """Whether numbers of components are chosen in inner folds."""
        return isinstance(self.embedding.n_components, str) and self.embedding.n_components == "cv"

    def covariates_of(self, which: Indices) -> dict[str, list[Any]]:
        """Return the covariates of some graphs, of both kinds, and their sites."""
        columns = {**self.covariates, **self.beyond}
        if self.sites is not None:
            columns[self.sites.name] = self.sites.values
        return {name: [values[i] for i in which] for name, values in columns.items()}

    def harmonizer(self, features: Array, learn: Indices) -> Harmonize | None:
        """Learn from features of training graphs what sites add to them."""
        if self.sites is None:
            return None
        beside, controls = self.covariates_of(learn), self.sites.controls
        made: Harmonize = clone(self.sites.settings).fit(
            features, site={self.sites.name: beside[self.sites.name]},
            covariates={name: beside[name] for name in self.covariates},
            controls=None if controls is None else [controls[i] for i in learn],
        )  # fmt: skip
        return made

    def check_sites(self, splits: Sequence[Split]) -> list[str]:
        """Refuse sites that some fold cannot harmonize, before hours are spent; return notes."""
        if self.sites is None:
            return []
        place = np.arange(len(self.y), dtype=np.float64)[:, None]
        for learn, held_out in splits:
            step = self.harmonizer(place[learn], learn)
            assert step is not None
            harmonized(step, place[held_out], self.covariates_of(held_out))
        name, sites = self.sites.name, np.array([str(site) for site in self.sites.values])
        told = {site: set(self.y[sites == site].tolist()) for site in np.unique(sites).tolist()}
        alone = {site: values.pop() for site, values in told.items() if len(values) == 1}
        if len(alone) == len(told):
            return [f"harmonization takes out what tells the value, as each {name} has one"]
        return [
            f"all graphs of {name} {site!r} have the value {shown(value)}: harmonization, which "
            "does not know it, takes out a part of what tells it"
            for site, value in alone.items()
        ]


@dataclass
class FoldOutcome:
    """Results of one fold, by the name of the method."""

    told: dict[str, dict[str, Told]] = field(default_factory=dict)
    judged: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)  # learning, new graphs
    n_components: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    trained: dict[str, Trained] = field(default_factory=dict)


def run_folds(asked: Question, splits: Sequence[Split], n_jobs: int = 1) -> Iterator[FoldOutcome]:
    """Yield the outcome of each fold, in order; with several jobs, folds run in processes."""
    parallel: Any = Parallel(n_jobs=n_jobs, return_as="generator")
    yield from parallel(delayed(_run_fold)(asked, *split) for split in splits)


def _run_fold(asked: Question, learn: Indices, held_out: Indices) -> FoldOutcome:
    """Train all pipelines of a fold, then show them the graphs that were held out.

    The joint embedding comes first, and the others get as many components as it has, unless each
    method chooses its own number.
    """
    training, test = asked.graphs[learn], asked.graphs[held_out]
    outcome, hollow = FoldOutcome(), False
    if asked.judge is not None:  # diagonal entries are all one number, as without loops
        diagonals = Preprocessing.of(asked.embedding.preprocess).apply(training).diagonals()
        hollow = bool(np.ptp(diagonals) <= 1e-9 * np.abs(diagonals).max(initial=0.0))
    for method in asked.methods:
        name, d = method.name, outcome.n_components.get(JOINT, 0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", "The number of unique classes is greater")  # people
            begin = time.perf_counter()
            try:
                if asked.chooses:
                    d = _best_number(asked, method, d, learn)
                trained = _train(asked, method, d, learn)
            except InputError as error:
                if name == JOINT:
                    raise
                outcome.refused[name] = str(error)
                continue
            middle = time.perf_counter()
            outcome.told[name] = trained.predict(test, asked.covariates_of(held_out))
            outcome.seconds[name] = (middle - begin, time.perf_counter() - middle)
            if asked.judge is not None:
                outcome.judged[name] = asked.judge(trained, test, hollow)
        outcome.n_components[name] = int(getattr(trained.estimator, "n_components_", d))
        if asked.keep:
            outcome.trained[name] = trained
        outcome.warned += [f"{name}: {str(w.message).strip().splitlines()[0]}" for w in caught]
        if trained.harmonizer is not None:
            outcome.warned += [f"{name}: {note}" for note in trained.harmonizer.notes_]
    return outcome


def _best_number(asked: Question, method: Method, d: int, learn: Indices) -> int:
    """Return the number of dimensions that predicts best in inner folds; the fewest of equals.

    Inner folds are of training graphs, with their groups. Where labels allow none, as with one
    graph of each class, it is the number that predicts hidden pairs of the training graphs best
    about their mean, for all methods; ``d`` is that of the joint embedding.
    """
    graphs, asked = asked.graphs[learn], replace(asked, beyond={})
    groups = None if asked.groups is None else [asked.groups[i] for i in learn]
    inner: Sequence[Split] = ()
    with suppress(InputError):
        inner = make_folds(asked.y[learn], groups=groups).splits
    m = min((len(train) for train, _ in inner), default=len(learn))
    most = min(method.most(m, graphs.n_vertices), _NUMBERS[-1])
    if not inner and method.name == JOINT:
        return select_dimension(
            graphs, _NUMBERS[-1], method="pairs", random_state=asked.embedding.random_state,
            preprocess=asked.embedding.preprocess, center=True,
        ).n_components  # fmt: skip
    if most < 2 or not inner:
        return min(d, most)
    numbers = [*(d for d in _NUMBERS if d < most), most]
    lost, is_quantity = np.zeros(len(numbers)), asked.y.dtype.kind == "f"
    unit = unit_of(asked.y[learn]) if is_quantity else 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in inner:
            y, covariates = asked.y[learn[test]], asked.covariates_of(learn[test])
            for k, trained in enumerate(_nested(asked, method, numbers, learn[train])):
                for told in trained.predict(asked.graphs[learn[test]], covariates).values():
                    wrong = ((told.labels - y) / unit) ** 2 if is_quantity else told.labels != y
                    lost[k] += wrong.sum()
    return numbers[int(np.argmin(lost))]


def _nested(
    asked: Question, method: Method, numbers: Sequence[int], learn: Indices
) -> Iterator[Trained]:
    """Yield pipelines with each number of dimensions; joint embeddings are of one fit."""
    if method.name != JOINT:
        yield from (_train(asked, method, d, learn) for d in numbers)
        return
    longest = quiet(asked.embedding).set_params(n_components=numbers[-1], refine=False)
    longest.fit(asked.graphs[learn], asked.y[learn])
    for d in numbers:
        short = longest.truncate(d)
        yield _with_rules(asked, method, Preprocessing(), short, short.loadings_, learn)


def _train(asked: Question, method: Method, d: int, learn: Indices) -> Trained:
    """Learn from training graphs: the embedding first, then every rule on its features."""
    graphs = asked.graphs[learn]
    if method.name == JOINT:
        steps, estimator = Preprocessing(), quiet(asked.embedding)
        if asked.chooses:
            estimator.set_params(n_components=d)
    else:
        steps = Preprocessing.of(asked.embedding.preprocess)
        estimator = method.make(d, graphs.n_graphs, graphs.n_vertices)
    features = estimator.fit_transform(steps.apply(graphs), asked.y[learn])
    return _with_rules(asked, method, steps, estimator, features, learn)


def _with_rules(
    asked: Question, method: Method, steps: Preprocessing, estimator: Any, features: Array,
    learn: Indices,
) -> Trained:  # fmt: skip
    """Learn every rule from the features of training graphs, adjusted and harmonized."""
    y, adjustment, beside = asked.y[learn], None, asked.covariates_of(learn)
    if method.distances and (asked.covariates or asked.sites):
        raise InputError("it gives distances, which cannot be adjusted for covariates or sites")
    harmonizer = asked.harmonizer(features, learn)
    if harmonizer is not None:
        features = harmonized(harmonizer, features, beside)
    if asked.covariates:
        those = {name: beside[name] for name in asked.covariates}
        adjustment = CovariateAdjustment()
        features = adjustment.fit_transform(features, covariates=those)
    is_quantity, beyond = y.dtype.kind == "f", list[Coding]()
    rules = {str(rule): make_rule(rule, method, is_quantity) for rule in asked.rules}
    if asked.beyond and method.name == JOINT:
        beyond = [Coding(read_variable(name, beside[name], len(learn))) for name in asked.beyond]
        rules |= {name: make_rule("linear", method, is_quantity) for name in (ALONE, BESIDE)}
    classes = None if is_quantity else np.unique(asked.y)
    trained = Trained(method.name, steps, estimator, adjustment, rules, harmonizer, beyond, classes)
    for model, seen in trained.seen_by_rules(features, beside).values():
        model.fit(seen, y)
    return trained
