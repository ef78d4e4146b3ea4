"""One fold: every pipeline learns from its training graphs, and meets the others afterwards."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference.adjusting import CovariateAdjustment
from eigengraphs.inference.folds import Split
from eigengraphs.inference.methods import JOINT, Method, Setting
from eigengraphs.inference.rules import Rule, make_rule
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.stack.preprocess import Preprocessing

__all__ = ["Asked", "FoldOutcome", "Trained", "in_memory", "run_folds", "train"]

Covariates: TypeAlias = Mapping[str, Sequence[Any]]


@dataclass
class Trained:
    """A method and the rules behind it, learnt from training graphs and nothing else."""

    method: str
    steps: Preprocessing  # before the estimator; the joint embedding has its own
    estimator: Any
    rules: dict[str, Any]
    n_components: int
    adjustment: CovariateAdjustment | None = None
    """Takes off what covariates explain of the features; learnt from training graphs, too."""

    def transform(self, graphs: GraphStack, covariates: Covariates | None = None) -> Any:
        """Return the features of graphs."""
        features = self.estimator.transform(self.steps.apply(graphs))
        if self.adjustment is None:
            return features
        return self.adjustment.transform(features, covariates)

    def predict(self, features: Any) -> dict[str, NDArray[Any]]:
        """Return what each rule says of features."""
        return {name: rule.predict(features) for name, rule in self.rules.items()}


@dataclass(frozen=True)
class Asked:
    """What is done in every fold."""

    embedding: JointEmbedding
    methods: tuple[Method, ...]
    rules: tuple[Rule, ...]
    judge: Callable[[Trained, GraphStack, bool], Any] | None = None
    """Asked of every method with the held-out graphs, such as how well it reconstructs them, and
    whether diagonals of the training graphs are no data."""
    keep: bool = False
    """Whether trained pipelines are kept."""
    covariates: Covariates | None = None
    """Of every graph: what they explain of features is learnt in each fold, and taken off."""

    def covariates_of(self, which: NDArray[np.intp]) -> Covariates | None:
        """Return the covariates of some graphs."""
        if self.covariates is None:
            return None
        return {name: [values[i] for i in which] for name, values in self.covariates.items()}


@dataclass
class FoldOutcome:
    """What a fold said, by the name of the method."""

    predictions: dict[str, dict[str, NDArray[Any]]] = field(default_factory=dict)
    judged: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)  # learning, new graphs
    n_components: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    trained: dict[str, Trained] = field(default_factory=dict)


def train(
    method: Method,
    setting: Setting,
    rules: Sequence[Rule],
    graphs: GraphStack,
    y: NDArray[Any],
    covariates: Covariates | None = None,
) -> Trained:
    """Learn from training graphs: the embedding first, then every rule on its features.

    Parameters
    ----------
    graphs, y, covariates
        Training graphs, their labels and covariates: nothing else goes in.
    """
    is_joint = method.name == JOINT
    steps = Preprocessing() if is_joint else Preprocessing.of(setting.embedding.preprocess)
    estimator = method.make(setting)
    features = estimator.fit_transform(steps.apply(graphs), y)
    adjustment = None
    if covariates is not None:
        if method.gives_distances:
            raise InputError("it gives distances, which cannot be adjusted for covariates")
        adjustment = CovariateAdjustment().fit(features, covariates=covariates)
        features = adjustment.transform(features, covariates)
    is_quantity = y.dtype.kind == "f"
    trained: dict[str, Any] = {}
    for rule in rules:
        trained[rule] = make_rule(
            rule,
            is_quantity=is_quantity,
            distances=method.gives_distances,
            one_scale=method.one_scale,
        ).fit(features, y)
    d = int(estimator.n_components_) if is_joint else setting.d
    return Trained(method.name, steps, estimator, trained, d, adjustment)


def run_fold(graphs: GraphStack, y: NDArray[Any], split: Split, asked: Asked) -> FoldOutcome:
    """Train all pipelines of a fold, then show them the graphs that were held out.

    The joint embedding comes first, and the others get as many components as it has.
    """
    learn, held_out = split
    training, told = graphs[learn], y[learn]
    outcome = FoldOutcome()
    hollow = asked.judge is not None and _is_hollow(
        Preprocessing.of(asked.embedding.preprocess).apply(training)
    )
    for method in asked.methods:
        setting = Setting(
            asked.embedding, outcome.n_components, training.n_graphs, training.n_vertices
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", "The number of unique classes is greater")  # people
            begin = time.perf_counter()
            try:
                beside = asked.covariates_of(learn)
                trained = train(method, setting, asked.rules, training, told, beside)
            except InputError as error:
                if method.name == JOINT:
                    raise
                outcome.refused[method.name] = str(error)
                continue
            middle = time.perf_counter()
            test = graphs[held_out]
            features = trained.transform(test, asked.covariates_of(held_out))
            outcome.predictions[method.name] = trained.predict(features)
            end = time.perf_counter()
            if asked.judge is not None:
                outcome.judged[method.name] = asked.judge(trained, test, hollow)
        outcome.seconds[method.name] = (middle - begin, end - middle)
        if method.name == JOINT:
            outcome.n_components = trained.n_components
        if asked.keep:
            outcome.trained[method.name] = trained
        outcome.warned += [f"{method.name}: {_first_line(w.message)}" for w in caught]
    return outcome


def run_folds(
    graphs: GraphStack, y: NDArray[Any], splits: Sequence[Split], asked: Asked, n_jobs: int = 1
) -> Iterator[FoldOutcome]:
    """Yield the outcome of each fold, in order; with several jobs, folds run in processes."""
    if n_jobs == 1:
        for split in splits:
            yield run_fold(graphs, y, split, asked)
        return
    from joblib import Parallel, delayed  # scikit-learn requires it, so it is there

    parallel: Any = Parallel(n_jobs=n_jobs, return_as="generator")
    yield from parallel(delayed(run_fold)(graphs, y, split, asked) for split in splits)


def in_memory(graphs: Any, what: str) -> GraphStack:
    """Return graphs as a stack in memory, or refuse: every fold reads them many times."""
    if not isinstance(graphs, GraphStack):
        return GraphStack(graphs, copy=False, missing="unobserved")
    if not isinstance(graphs, BlockedStack):
        return graphs
    try:
        return graphs.load()
    except InputError as error:
        raise InputError(
            f"{what} works on graphs in memory, as every fold is a fit of its own, and these do "
            f"not fit ({error}); allow more memory, or take some of the graphs, graphs[:1000]"
        ) from None


def _is_hollow(graphs: GraphStack) -> bool:
    """Tell whether all diagonal entries are one number, as without loops."""
    diagonals = graphs.diagonals()
    return bool(np.ptp(diagonals) <= 1e-9 * np.abs(diagonals).max(initial=0.0))


def _first_line(message: Any) -> str:
    return str(message).strip().split("\n")[0]
