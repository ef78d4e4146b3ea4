"""Prediction of graphs that were held out, by whole pipelines, each with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference.evaluation import CHANCE, Evaluation, PipelineScore
from eigengraphs.inference.folds import Folds, make_folds
from eigengraphs.inference.methods import (
    JOINT,
    Method,
    MethodsLike,
    choose_methods,
    not_offered,
    quiet,
)
from eigengraphs.inference.pipelines import Asked, FoldOutcome, Trained, in_memory, run_folds
from eigengraphs.inference.rules import RULES, check_rules, rule_name
from eigengraphs.inference.score_intervals import (
    accuracy_interval,
    compare_crossed,
    compare_folds,
    explained_interval,
    holm,
)
from eigengraphs.inference.targets import Target, Task, one_a_graph, read_target
from eigengraphs.inference.variables import units as units_of
from eigengraphs.stack import GraphStack

__all__ = ["Run", "evaluate", "run"]


def evaluate(
    graphs: Any,
    y: Any,
    *,
    embedding: JointEmbedding | None = None,
    methods: MethodsLike = "all",
    rules: str | Sequence[str] = RULES,
    task: Task = "auto",
    cv: int | str = 5,
    repeats: int = 1,
    groups: Any = None,
    folds: Any = None,
    covariates: Mapping[str, Sequence[Any]] | None = None,
    learn_from: str = "others",
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
    keep: bool = False,
    on_fold: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Predict labels of graphs that were held out, by joint embedding and all it is compared with.

    In each fold the whole pipeline is learnt from the training graphs: centre, number of components
    (with "auto"), components, scaling, and the rule. Folds are made of labels and groups alone.

    Parameters
    ----------
    graphs
        A :class:`~eigengraphs.GraphStack`, or anything it can be made of.
    y : (m,)
        Class (text) or quantity (number) of each graph; None or nan where it is not known, and the
        graph takes no part.
    embedding
        Settings of the joint embedding; by default 8 components. Its ``preprocess`` holds for all
        methods, and so does the number of its components.
    methods
        "all", some of :data:`METHODS`, or a mapping of names to estimators of one's own
        (``fit_transform(graphs, y)``, ``transform(graphs)``; None for a name of METHODS).
    rules
        "1-NN" is the nearest training graph, as in the paper; "linear" is logistic regression of
        classes, or ridge regression of a quantity, on scaled features.
    task
        "classes", "quantity", or "auto": see :func:`read_target`.
    cv, repeats
        Number of folds, or "loo" (each graph or group alone); and how often graphs are shared out.
    groups : (m,), optional
        Such as the person of each scan: graphs of one group are never on both sides of a fold, and
        count together in intervals. Where each class is one group, only the latter.
    folds : (m,), optional
        The fold of each graph, such as its session, instead of ``cv``.
    covariates
        Such as age and site, by name, one value a graph: what they explain of the features is
        learnt from the training graphs of each fold, without labels, and taken off all graphs.
        Methods that give distances have no features to adjust, and are not offered then.
    learn_from
        "others": hold one fold out. "one": learn from one fold, hold all others out.
    level
        Confidence of intervals.
    seed
        Of the folds, and of an embedding without a ``random_state``.
    n_jobs
        Folds at a time, in processes; results are the same.
    keep
        Keep the trained pipelines of every fold in ``trained``.
    on_fold
        Told after each fold: folds done, and all.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> found = eg.inference.evaluate(mice.graphs.log1p(), mice.genotypes, methods="PCA", cv=4)
    >>> [score.name for score in found.scores[:2]]
    ['joint embedding, 1-NN', 'joint embedding, logistic']
    """
    done = run(
        graphs, y, embedding=embedding, methods=methods, rules=rules, task=task, cv=cv,
        repeats=repeats, groups=groups, folds=folds, covariates=covariates,
        learn_from=learn_from, seed=seed, n_jobs=n_jobs, keep=keep, on_fold=on_fold,
    )  # fmt: skip
    return done.evaluation(level)


@dataclass(frozen=True)
class Run:
    """What all folds said, before it is judged."""

    graphs: GraphStack  # those whose label is known
    target: Target
    folds: Folds
    asked: Asked
    outcomes: tuple[FoldOutcome, ...]
    not_offered: dict[str, str]
    seed: int

    @property
    def methods(self) -> tuple[Method, ...]:
        """Those that every fold could have."""
        return tuple(m for m in self.asked.methods if m.name not in self.not_offered)

    @property
    def n_components(self) -> tuple[int, ...]:
        """Of the joint embedding, in each fold."""
        return tuple(outcome.n_components for outcome in self.outcomes)

    def evaluation(self, level: float) -> Evaluation:
        """Return scores with intervals and comparisons."""
        if not 0 < level < 1:
            raise InputError(f"level must be between 0 and 1, got {level!r}")
        said = {
            (method.name, rule): [o.predictions[method.name][rule] for o in self.outcomes]
            for method in self.methods
            for rule in self.asked.rules
        }
        scores = [self._score(name, rule, told, level) for (name, rule), told in said.items()]
        scores.append(self._score(CHANCE, "", self._chance(), level))
        scores = self._compared(scores, level)
        known = self.target.known
        warned = Counter(text for outcome in self.outcomes for text in outcome.warned)
        return Evaluation(
            scores=tuple(scores),
            kind="quantity" if self.target.is_quantity else "classes",
            classes=self.target.classes,
            n_graphs=len(known),
            n_units=self.folds.n_units,
            level=level,
            protocol=self._protocol(level),
            n_components=self.n_components,
            not_offered=self.not_offered,
            warnings=tuple(f"{text} (in {count} folds)" for text, count in warned.items()),
            predictions={
                score.name: tuple(told) for score, told in zip(scores, said.values(), strict=False)
            },
            splits=tuple((known[train], known[test]) for train, test in self.folds.splits),
            trained=tuple(o.trained for o in self.outcomes) if self.asked.keep else (),
        )

    def _chance(self) -> list[NDArray[Any]]:
        """Return the most frequent class of all graphs, or the mean of a fold's training graphs.

        The most frequent class of training graphs would be wrong too often: a class is rarer among
        them where more of it is held out.
        """
        y = self.target.values
        if self.target.is_quantity:
            return [np.full(len(test), y[train].mean()) for train, test in self.folds.splits]
        classes, counts = np.unique(y, return_counts=True)
        most = classes[int(np.argmax(counts))]
        return [np.full(len(test), most) for _, test in self.folds.splits]

    def _score(
        self, name: str, rule: str, said: Sequence[NDArray[Any]], level: float
    ) -> PipelineScore:
        y, units, is_quantity = self.target.values, self.folds.units, self.target.is_quantity
        if is_quantity:  # the share explained does not depend on the unit; squares might overflow
            unit = float(units_of(y[:, None])[0])
            y, said = y / unit, [told / unit for told in said]
        spread = float(np.var(y)) if is_quantity else 1.0
        total, times, by_fold = np.zeros(len(y)), np.zeros(len(y)), []
        for (_, test), told in zip(self.folds.splits, said, strict=True):
            each = (told - y[test]) ** 2 if is_quantity else (told == y[test]).astype(np.float64)
            # Against the variance of all graphs: a fold of one person may have none.
            by_fold.append(float(1 - each.mean() / spread if is_quantity else each.mean()))
            total[test] += each
            times[test] += 1
        seen = times > 0
        each, y = total[seen] / times[seen], y[seen]
        units = np.unique(units[seen], return_inverse=True)[1]
        sums = np.bincount(units, 1 - each / spread if is_quantity else each)
        by_unit = sums / np.bincount(units)
        balanced = None
        if is_quantity:
            score = 1 - float(total.sum() / times.sum()) / spread
            low, high = explained_interval(y, each, units, level, self.seed)
        else:
            score = float(total.sum() / times.sum())
            low, high = accuracy_interval(each, units, level)
            balanced = float(np.mean([each[y == c].mean() for c in np.unique(y)]))
        parameters, seconds = None, None
        if name != CHANCE:
            method = next(m for m in self.methods if m.name == name)
            m, n, d = self.graphs.n_graphs, self.graphs.n_vertices, max(self.n_components)
            parameters = method.n_parameters(m, n, d) or None
            seconds = float(np.median([sum(o.seconds[name]) for o in self.outcomes]))
        return PipelineScore(
            name, rule_name(rule, is_quantity) if rule else "", score, low, high, tuple(by_fold),
            tuple(by_unit.tolist()), balanced, parameters, seconds,
        )  # fmt: skip

    def _compared(self, scores: list[PipelineScore], level: float) -> list[PipelineScore]:
        """Compare joint embedding with chance, and all others with it, under the same rule."""
        sizes = np.array([len(test) for _, test in self.folds.splits])
        joint = {s.rule: s for s in scores if s.method == JOINT}
        found = []
        for score in scores:
            other = scores[-1] if score.method == JOINT else joint.get(score.rule)
            if other is None or len(sizes) < 2:
                found.append(score)
                continue
            a, b = np.array(score.folds), np.array(other.folds)
            if self.folds.apart:
                by_unit = np.array(score.units) - np.array(other.units)
                value = score.score - other.score
                difference = compare_crossed(a - b, by_unit, value, level)
            else:
                ratio, n_units = self.folds.ratio, self.folds.n_units
                difference = compare_folds(a, b, sizes, ratio, n_units, level)
            found.append(replace(score, versus=other.method, difference=difference))
        places = [i for i, score in enumerate(found) if score.difference is not None]
        adjusted = holm(np.array([found[i].difference.p for i in places]))  # type: ignore[union-attr]
        for i, p in zip(places, adjusted, strict=True):
            found[i] = replace(found[i], p_holm=float(p))
        return found

    def _protocol(self, level: float) -> str:
        is_quantity, d = self.target.is_quantity, self.n_components
        rules = " and ".join(rule_name(rule, is_quantity) for rule in self.asked.rules)
        measure = "explained variance" if is_quantity else "accuracy"
        counted = "graphs" if self.folds.n_units == self.target.values.size else "groups of graphs"
        interval = "those of a bootstrap of" if is_quantity else "Wilson's for"
        differences = (
            f"t intervals, with the variance between folds and between {counted}"
            if self.folds.apart
            else "Nadeau and Bengio's corrected t intervals"
        )
        dimension = f"{min(d)}" if min(d) == max(d) else f"{min(d)} to {max(d)}"
        chosen = ", chosen anew in each fold" if self.asked.embedding.n_components == "auto" else ""
        adjusted = ""
        if self.asked.covariates:
            adjusted = f" What {', '.join(self.asked.covariates)} explain of features is taken off."
        return (
            f"{self.folds.words}. {rules} on features of graphs, {measure} on the graphs left out. "
            "Embeddings, centring, scaling and rules are learnt from the other graphs of a fold "
            f"alone, in {dimension} dimensions{chosen}.{adjusted} "
            f"Intervals ({100 * level:g}%) of scores are "
            f"{interval} {counted}, with twice the variance, as graphs are learnt from, too; those "
            f"of differences are {differences}."
        )


def run(
    graphs: Any,
    y: Any,
    *,
    embedding: JointEmbedding | None,
    methods: MethodsLike,
    rules: str | Sequence[str],
    task: Task,
    cv: int | str,
    repeats: int,
    groups: Any,
    folds: Any,
    learn_from: str,
    seed: int,
    n_jobs: int,
    keep: bool = False,
    on_fold: Callable[[int, int], None] | None = None,
    judge: Callable[[Trained, GraphStack, bool], Any] | None = None,
    covariates: Mapping[str, Sequence[Any]] | None = None,
) -> Run:
    """Run all folds; see :func:`evaluate`."""
    wanted, chosen = check_rules(rules), choose_methods(methods)
    stack = in_memory(graphs, "evaluate")
    m = stack.n_graphs
    target = read_target(y, m, task)
    known = target.known
    given = {
        name: None if values is None else [one_a_graph(name, values, m)[i] for i in known]
        for name, values in (("groups", groups), ("folds", folds))
    }
    if given["groups"] is not None:
        # A graph of nobody known is a group of its own.
        given["groups"] = [("alone", i) if g is None else g for i, g in enumerate(given["groups"])]
    split = make_folds(
        target.values, cv=cv, repeats=repeats, learn_from=learn_from, seed=seed, **given,
    )  # fmt: skip
    if len(known) < m:
        stack = stack[known]
    settings = _settings(embedding, stack, seed)
    refused = {x.name: why for x in chosen if (why := not_offered(x, stack))}
    beside = None
    if covariates:
        beside = {str(name): [one_a_graph(str(name), values, m)[i] for i in known]
                  for name, values in covariates.items()}  # fmt: skip
    offered = tuple(x for x in chosen if x.name not in refused)
    asked = Asked(settings, offered, wanted, judge, keep, beside)
    outcomes = []
    for outcome in run_folds(stack, target.values, split.splits, asked, n_jobs):
        outcomes.append(outcome)
        if on_fold is not None:
            on_fold(len(outcomes), len(split.splits))
    for outcome in outcomes:
        refused |= outcome.refused
    return Run(stack, target, split, asked, tuple(outcomes), refused, seed)


def _settings(embedding: JointEmbedding | None, stack: GraphStack, seed: int) -> JointEmbedding:
    """Return the settings of the embedding, with a seed, so that folds can be had again."""
    if embedding is None:
        return JointEmbedding(
            8,
            directed=stack.is_directed,
            missing="unobserved" if stack.has_missing else "error",
            random_state=seed,
        )
    made = quiet(embedding)
    return made if made.random_state is not None else made.set_params(random_state=seed)
