"""How well labels of held-out graphs are predicted: folds, scores, intervals, comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.prediction.folds import Folds, make_folds, permuted, shown
from eigengraphs.inference.prediction.measures import (
    Measures,
    calibration,
    confusion,
    measure_classes,
    measure_quantity,
)
from eigengraphs.inference.prediction.prediction_pipelines import (
    ALONE,
    BESIDE,
    JOINT,
    RULES,
    FoldOutcome,
    MethodsLike,
    Question,
    Sites,
    Trained,
    check_rules,
    choose_methods,
    harmonized_words,
    quiet,
    rule_name,
    run_folds,
)
from eigengraphs.inference.studies.adjustment import Harmonize, named_site
from eigengraphs.inference.studies.designs import (
    Array,
    Indices,
    check_choice,
    check_share,
    graph_values,
    read_variable,
    unit_of,
)
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.system.labels import listed, measure_words
from eigengraphs.system.tables import aligned, short_repr

Task: TypeAlias = Literal["auto", "classes", "quantity"]
CHANCE = "chance"
Cell = str | float | None
_DRAWS = 2000
# Graphs are learned from as well as held out, so that errors of different graphs depend on each
# other. In a small simulation (48 samples, 150 runs a case, 1-NN and logistic regression; 4 folds
# with 2 and 20 features, 10 folds with 2 features in part) accuracies varied 1.3 to 1.8 times as
# much as the binomial law has it without signal, and 0.9 to 1.9 times with one. Two is a round
# number above all of these, not an estimate: intervals are too wide where errors are independent.
_OVERLAP = 2.0


# What was found


@dataclass(frozen=True)
class PipelineScore:
    """How well one pipeline told the label of graphs that it had not seen.

    Attributes
    ----------
    method : str
        Such as "joint embedding".
    rule : str
        "1-NN", "logistic" or "ridge"; empty for chance.
    score : float
        Accuracy of classes; R2 of a quantity.
    low : float
        Lower end of its interval.
    high : float
        Upper end of its interval.
    folds : tuple of float
        Score in each fold; of a quantity with the spread of all graphs, so that their mean is the
        score.
    units : tuple of float
        Score of each group of graphs that count together.
    measures : mapping of str to float or None
        All measures, the score among them, over all held-out graphs together: accuracy,
        balanced_accuracy, roc_auc (of more than two classes: the mean of one against the rest),
        sensitivity and specificity (of two), brier_score; R2, MAE, RMSE and r of a quantity.
    why_empty : str
        Why some of these are None.
    n_parameters : int or None
        Numbers that describe all graphs; None where it is not known.
    seconds : float or None
        To learn from the graphs of a fold and to predict those held out, by all rules; the
        median over folds, so that what is compiled in the first does not count.
    versus : str
        What it is compared with: chance, or joint embedding under the same rule.
    difference : Difference or None
        This score minus that one.
    p_holm : float or None
        P value of the difference among all differences of the table (Holm).
    permuted : tuple of float
        Scores of the same pipeline with permuted labels, if these were asked for.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> from eigengraphs.inference import evaluate
    >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
    >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
    >>> y = ["thin"] * 6 + ["thick"] * 6
    >>> je = eg.JointEmbedding(1, random_state=0)
    >>> found = evaluate(graphs, y, embedding=je, methods="PCA", rules="1-NN", cv=2)
    >>> first = found.scores[0]
    >>> first.name, first.score, first.folds
    ('joint embedding, 1-NN', 1.0, (1.0, 1.0))
    """

    method: str
    rule: str
    score: float
    low: float
    high: float
    folds: tuple[float, ...]
    units: tuple[float, ...] = field(default=(), repr=False)
    measures: Mapping[str, float | None] = field(default_factory=dict)
    why_empty: str = ""
    n_parameters: int | None = None
    seconds: float | None = None
    versus: str = ""
    difference: Difference | None = None
    p_holm: float | None = None
    permuted: tuple[float, ...] = field(default=(), repr=False)

    __repr__ = short_repr

    @property
    def name(self) -> str:
        """Method and rule."""
        return f"{self.method}, {self.rule}" if self.rule else self.method

    @property
    def p_permutation(self) -> float | None:
        """Share of labels, the true ones and permuted ones, with which the score is as high."""
        if not self.permuted:
            return None
        return (1 + sum(x >= self.score for x in self.permuted)) / (1 + len(self.permuted))


@dataclass(frozen=True)
class Evaluation:
    """Cross-validated scores of pipelines for one label; what :func:`evaluate` returns.

    Attributes
    ----------
    scores : tuple of PipelineScore
        Joint embedding first, chance last.
    kind : str
        "classes" or "quantity".
    classes : tuple of str
        Names of the classes; empty for a quantity.
    n_graphs : int
        Graphs whose label is known.
    n_units : int
        Groups of graphs that count together in intervals; graphs where there are none.
    level : float
        Confidence of the intervals.
    protocol : str
        How it was done, in sentences.
    n_components : tuple of int
        Of the joint embedding in each fold.
    not_offered : mapping of str to str
        Methods that these graphs cannot have, and why.
    warnings : tuple of str
        What was said on the way, each once, and how often.
    predictions : mapping of str to tuple of arrays
        By name of the pipeline, for the graphs that each fold held out.
    probabilities : mapping of str to tuple of arrays
        The same, one column per class, for pipelines that have them.
    truth : tuple of arrays
        Labels of the graphs that each fold held out.
    fold_names : tuple of str
        Numbers of the folds, or values of the column that they were made by.
    beyond : tuple of str
        Covariates that the joint embedding may add to.
    positive : str
        Of two classes, the one whose recall is the sensitivity.
    notes : tuple of str
        What differs from what was asked, and what cannot be learned or measured.
    n_given : int
        Graphs that were given, with and without a label.
    splits : tuple of pairs of arrays
        Places of the graphs that each fold learned from and held out, among all graphs.
    outcomes : tuple of FoldOutcome
        What each fold gave, by name of the method: what rules told, seconds, answers of a judge.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> from eigengraphs.inference import evaluate
    >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
    >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
    >>> y = ["thin"] * 6 + ["thick"] * 6
    >>> je = eg.JointEmbedding(1, random_state=0)
    >>> found = evaluate(graphs, y, embedding=je, methods="PCA", rules="1-NN", cv=2)
    >>> [score.name for score in found.scores]
    ['joint embedding, 1-NN', 'PCA, 1-NN', 'chance']
    """

    scores: tuple[PipelineScore, ...]
    kind: str
    classes: tuple[str, ...]
    n_graphs: int
    n_units: int
    level: float
    protocol: str
    n_components: tuple[int, ...]
    not_offered: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    predictions: Mapping[str, tuple[NDArray[Any], ...]] = field(default_factory=dict, repr=False)
    splits: tuple[tuple[Indices, Indices], ...] = field(default=(), repr=False)
    outcomes: tuple[FoldOutcome, ...] = field(default=(), repr=False)
    probabilities: Mapping[str, tuple[Array, ...]] = field(default_factory=dict, repr=False)
    truth: tuple[NDArray[Any], ...] = field(default=(), repr=False)
    fold_names: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    positive: str = ""
    notes: tuple[str, ...] = ()
    n_given: int = 0

    __repr__ = short_repr

    @property
    def trained(self) -> tuple[Mapping[str, Trained], ...]:
        """With ``keep=True``: the trained pipelines of each fold, by name of the method."""
        return tuple(outcome.trained for outcome in self.outcomes if outcome.trained)

    @property
    def measure(self) -> str:
        """Which of the measures is the score."""
        return "accuracy" if self.kind == "classes" else "R2"

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the rules."""
        return tuple(dict.fromkeys(score.rule for score in self.scores if score.rule))

    def score(self, method: str, rule: str = "") -> PipelineScore:
        """Return one score, by names of the method and the rule.

        Parameters
        ----------
        method : str
            Such as "PCA".
        rule : str
            "1-NN", "logistic", "ridge", or "linear" for either linear one; by default the first.

        Returns
        -------
        PipelineScore

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.inference import evaluate
        >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
        >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
        >>> y = ["thin"] * 6 + ["thick"] * 6
        >>> je = eg.JointEmbedding(1, random_state=0)
        >>> found = evaluate(graphs, y, embedding=je, methods="PCA", rules="1-NN", cv=2)
        >>> found.score("PCA", "1-NN").score
        1.0
        """
        if rule == "linear":
            rule = rule_name(rule, self.kind == "quantity")
        return next(
            score for score in self.scores
            if score.method == method and (not rule or score.rule == rule)
        )  # fmt: skip

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :meth:`rows`."""
        return (
            "pipeline", "method", "rule", self.measure, "low", "high", *self._others,
            "versus", "difference", "difference_low", "difference_high", "p", "p_holm",
            "p_permutation", "parameters", "seconds",
        )  # fmt: skip

    @property
    def _others(self) -> tuple[str, ...]:
        """Names of the measures beside the score."""
        return tuple(name for name in self.scores[0].measures if name != self.measure)

    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """Return one row per pipeline.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.inference import evaluate
        >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
        >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
        >>> y = ["thin"] * 6 + ["thick"] * 6
        >>> je = eg.JointEmbedding(1, random_state=0)
        >>> found = evaluate(graphs, y, embedding=je, methods="PCA", rules="1-NN", cv=2)
        >>> [row[2:4] for row in found.rows()]
        [('1-NN', 1.0), ('1-NN', 1.0), ('none', 0.5)]
        """
        return tuple(
            (s.name, s.method, s.rule or "none", s.score, s.low, s.high,
             *(s.measures[name] for name in self._others), s.versus or "none",
             *(s.difference or (None,) * 4), s.p_holm, s.p_permutation, s.n_parameters, s.seconds)
            for s in self.scores
        )  # fmt: skip

    def measures(self, by: Any = "folds", pipeline: str = "") -> tuple[dict[str, Cell], ...]:
        """Return all measures of pipelines within parts of the held-out graphs.

        Parameters
        ----------
        by : "folds" or (m,)
            The folds, or a value for each graph, such as its site.
        pipeline : str
            Name of one pipeline; by default all.

        Returns
        -------
        tuple of dict
            One row per pipeline and part. A measure that the graphs of a part cannot have is None,
            and ``why_empty`` says why.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.inference import evaluate
        >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
        >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
        >>> y = ["thin"] * 6 + ["thick"] * 6
        >>> je = eg.JointEmbedding(1, random_state=0)
        >>> found = evaluate(graphs, y, embedding=je, methods=(), rules="linear", cv=2)
        >>> row = found.measures(by=["Rome", "Lyon"] * 6)[0]
        >>> row["part"], row["graphs"], row["roc_auc"]
        ('Rome', 6, 1.0)
        """
        if isinstance(by, str) and by == "folds":
            names = list(self.fold_names)
            of = np.repeat(np.arange(len(names)), [len(y) for y in self.truth])
        else:
            values = graph_values("by", by, self.n_given)
            held_out = [values[i] for _, test in self.splits for i in test]
            names = list(dict.fromkeys(value for value in held_out if value is not None))
            place = {value: k for k, value in enumerate(names)}
            of = np.array([place.get(value, -1) for value in held_out])
        y, found = np.concatenate(self.truth), list[dict[str, Cell]]()
        for s in (one for one in self.scores if pipeline in ("", one.name)):
            told, P = self._pooled(s.name)
            for k, name in enumerate(names):
                here = of == k
                beside = None if P is None else P[here]
                one = self._measured(s.name, y[here], told[here], beside)
                found.append({"pipeline": s.name, "part": str(name), "graphs": int(here.sum()),
                              **one.values, "why_empty": one.why_empty})  # fmt: skip
        return tuple(found)

    def confusion(self) -> tuple[dict[str, Cell], ...]:
        """Return how often graphs of each class were predicted to be of each; none of a quantity.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.inference import evaluate
        >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
        >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
        >>> y = ["thin"] * 6 + ["thick"] * 6
        >>> je = eg.JointEmbedding(1, random_state=0)
        >>> found = evaluate(graphs, y, embedding=je, methods=(), rules="linear", cv=2)
        >>> list(found.confusion()[0].values())
        ['joint embedding, logistic', 'thick', 6, 0]
        """
        y = np.concatenate(self.truth)
        return tuple(
            {"pipeline": s.name, **row}
            for s in self.scores if self.classes
            for row in confusion(y, self._pooled(s.name)[0], self.classes)
        )  # fmt: skip

    def calibration(self) -> tuple[dict[str, Cell], ...]:
        """Return predicted probabilities beside observed shares, for pipelines that have them.

        Held-out graphs are put in order of their probability and divided into five groups; the
        probability is that of the positive one of two classes, or else of the predicted class.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.inference import evaluate
        >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
        >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
        >>> y = ["thin"] * 6 + ["thick"] * 6
        >>> je = eg.JointEmbedding(1, random_state=0)
        >>> found = evaluate(graphs, y, embedding=je, methods=(), rules="linear", cv=2)
        >>> [row["observed"] for row in found.calibration()][:5]
        [0.0, 0.0, 0.5, 1.0, 1.0]
        """
        y = np.concatenate(self.truth)
        return tuple(
            {"pipeline": name, **row}
            for name, parts in self.probabilities.items() if name != CHANCE
            for row in calibration(y, np.concatenate(parts), self.classes, self.positive)
        )  # fmt: skip

    def _pooled(self, name: str) -> tuple[NDArray[Any], Array | None]:
        """Return predictions and probabilities of all held-out graphs."""
        parts = self.probabilities.get(name)
        told = np.concatenate(self.predictions[name])
        return told, None if parts is None else np.concatenate(parts)

    def _measured(self, name: str, y: Any, told: Any, P: Array | None) -> Measures:
        if self.kind == "classes":
            return measure_classes(y, told, P, self.classes, self.positive)
        found = measure_quantity(y, told)
        if name != CHANCE:
            return found
        # Means of training graphs are low where held-out values are high.
        return Measures({**found.values, "r": None}, "no r: chance predicts means")

    def words(self) -> tuple[str, ...]:
        """Return what was found, in sentences.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.inference import evaluate
        >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
        >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
        >>> y = ["thin"] * 6 + ["thick"] * 6
        >>> je = eg.JointEmbedding(1, random_state=0)
        >>> found = evaluate(graphs, y, embedding=je, methods="PCA", rules="1-NN", cv=2)
        >>> len(found.words())
        3
        """
        joint = [score for score in self.scores if score.method == JOINT]
        best = max(joint, key=lambda score: score.score)
        said = [
            f"{_capital(best.name)}: {self.measure} {best.score:.3f} "
            f"({100 * self.level:g}% interval {best.low:.3f} to {best.high:.3f}) on held-out "
            f"graphs; chance is {self.score(CHANCE).score:.3f}."
        ]
        named = {name: f"{measure_words(name)} {value:.3f}" for name in self._others
                 if (value := best.measures[name]) is not None}  # fmt: skip
        if "roc_auc" in named:  # probabilities of several models need not be on one scale
            each = [row["roc_auc"] for row in self.measures(pipeline=best.name)]
            inside = [float(area) for area in each if area is not None]
            named["roc_auc"] += f" ({np.mean(inside):.3f} within folds)" if inside else ""
        if named:
            positive = f" ({self.positive} is positive)" if "sensitivity" in self._others else ""
            said.append(f"{_capital(', '.join(named.values()))}{positive}.")
        if best.p_permutation is not None:
            said.append(
                f"With {len(best.permuted)} permutations of the labels, everything learned anew "
                f"for each: p = {best.p_permutation:.2g}."
            )
        said += self._beyond_words()
        others: list[Any] = [s for s in self.scores if s.versus == JOINT and s.p_holm is not None]
        sure = [s for s in others if s.p_holm < 1 - self.level]
        better, worse = (
            [s.name for s in sure if sign * s.difference.value > 0] for sign in (1, -1)
        )
        than = "the joint embedding under the same rule"
        if len(others) == 1:
            how = "is better than" if better else "is worse than" if worse else (
                "is not shown to differ from")  # fmt: skip
            said.append(f"{others[0].name} {how} {than} (t interval).")
        elif others:
            said.append(
                f"Of {len(others)} other pipelines, {_counted(better, 'better')} than {than}, "
                f"{_counted(worse, 'worse')}; the rest are not shown to differ from it (t "
                "intervals, Holm)."
            )
        said += [f"Not offered: {name}, because {why}." for name, why in self.not_offered.items()]
        return tuple(said)

    def _beyond_words(self) -> list[str]:
        """Return whether the joint embedding adds to covariates, if this was asked."""
        both = next((s for s in self.scores if s.method == BESIDE), None)
        if both is None or both.difference is None or both.p_holm is None:
            return []
        alone, (value, low, high, _) = self.score(ALONE), both.difference
        verdict = "is not shown to add to"
        if both.p_holm < 1 - self.level:
            verdict = "adds to" if value > 0 else "takes from"
        return [
            f"The joint embedding {verdict} {listed(self.beyond)}: {self.measure} "
            f"{both.score:.3f} with both, {alone.score:.3f} from covariates alone (difference "
            f"{value:+.3f}, {100 * self.level:g}% interval {low:+.3f} to {high:+.3f}; p = "
            f"{both.p_holm:.2g}, Holm)."
        ]

    def __str__(self) -> str:
        rows = [(s.name, f"{s.score:6.3f}  [{s.low:6.3f}, {s.high:6.3f}]") for s in self.scores]
        refused = [f"not offered: {name}: {why}" for name, why in self.not_offered.items()]
        return "\n".join([aligned([("", self.measure), *rows]), *refused])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _counted(names: list[str], how: str) -> str:
    verb, listed = "are" if len(names) > 1 else "is", f" ({'; '.join(names)})" if names else ""
    return f"{len(names) or 'none'} {verb} {how}{listed}"


# Prediction


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
    harmonize: Any = None,
    harmonizer: Harmonize | None = None,
    controls: Any = None,
    beyond: Mapping[str, Sequence[Any]] | None = None,
    learn_from: str = "others",
    positive: Any = None,
    permutations: int = 0,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
    keep: bool = False,
    judge: Callable[[Trained, GraphStack, bool], Any] | None = None,
    on_fold: Callable[[int, int], None] | None = None,
    on_permutation: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Predict labels of held-out graphs, by joint embedding and the methods it is compared with.

    In each fold the whole pipeline is learned from the training graphs: center, number of
    components (with "auto"), components, scaling, and the rule. Folds are made of labels and groups
    alone.

    Parameters
    ----------
    graphs
        A :class:`~eigengraphs.GraphStack`, or anything it can be made of.
    y : (m,)
        Class (text) or quantity (number) of each graph. Graphs where it is None, nan or "n/a" are
        left out.
    embedding
        Settings of the joint embedding; by default 8 components. Its ``preprocess`` holds for all
        methods, and so does the number of its components. With ``n_components="cv"`` each method
        takes the number, up to 120, that predicts best in five inner folds of the training graphs;
        where labels allow no inner folds, as with one graph of each class, all take the number with
        which components predict hidden pairs of the training graphs best (``select_dimension``,
        rule "pairs", about the mean graph), or as many as they can have.
    methods
        "all", some of :data:`METHODS`, or a mapping of names to further estimators
        (``fit_transform(graphs, y)``, ``transform(graphs)``; None for a name of METHODS).
    rules
        "1-NN" is the nearest training graph, by the angle of standardized features; "linear" is
        logistic regression of classes, or ridge regression of a quantity, on the same.
    task
        "classes", "quantity", or "auto": texts, truth values, two numbers, and up to six whole
        numbers with four graphs each on average are classes; other numbers are a quantity.
    cv, repeats
        Number of folds, or "loo" (each graph or group alone); and how often graphs are split anew.
    groups : (m,), optional
        Such as the person of each scan: graphs of one group are never on both sides of a fold, and
        count together in intervals. Where each class is one group, only the latter.
    folds : (m,), optional
        The fold of each graph, such as its session, instead of ``cv``. With ``learn_from="one"``,
        graphs where it is None are never learned from.
    covariates
        To adjust features for: such as age and site, by name, one value per graph. What they
        explain of the features is learned from the training graphs of each fold, without labels,
        and regressed out of all graphs. Methods that give distances have no features to adjust,
        and are not offered then.
    harmonize : (m,), optional
        The site of each graph, or a mapping of the name of the column to them: features are
        harmonized over sites (:class:`Harmonize`), as learned from the training graphs of each
        fold, covariates kept and without labels.
    harmonizer, controls
        Settings for that, ``Harmonize(unseen="estimate")`` if folds hold out whole sites; and
        whether each graph is among those that it learns from, by default all training graphs.
    beyond
        To predict from: does the brain add to age and sex? Two pipelines are added, by the linear
        rule: these columns alone, and features of the joint embedding beside them; the second is
        compared with the first. An unknown value counts as the mean of the training graphs.
    learn_from
        "others": hold one fold out. "one": learn from one fold, hold all others out.
    positive
        Of two classes, the one whose recall is the sensitivity; by default the last one in
        alphabetical order.
    permutations
        How often labels are permuted, and the joint embedding and its rules learned anew from the
        beginning, folds included. Each takes as long as the folds of the joint embedding. Labels
        stay within given folds; groups with one label each exchange labels as a whole, and where
        labels vary within groups they stay there.
    level
        Confidence of intervals.
    seed
        Of the folds, of permutations, and of an embedding without a ``random_state``.
    n_jobs
        Number of folds that run at the same time, in processes; results are the same.
    keep
        Keep the trained pipelines of every fold in ``trained``.
    judge
        Called with every trained pipeline of a fold, the held-out graphs, and whether graphs have
        no loops; answers are in ``outcomes``.
    on_fold
        Called after each fold with the number of folds done, and of all.
    on_permutation
        Called likewise before the first permutation, with 0, and after each.

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
    wanted, chosen = check_rules(rules), choose_methods(methods)
    check_share("level", level)
    check_choice("task", task, ("auto", "classes", "quantity"))
    stack = in_memory(graphs)
    n_given = stack.n_graphs
    target, known = _read_target(y, n_given, task)

    def told(name: str, values: Any) -> list[Any]:
        plain = graph_values(name, values, n_given)
        return [plain[i] for i in known]

    people = None
    if groups is not None:  # a graph of an unknown group is a group of its own
        people = [("alone", i) if g is None else g for i, g in enumerate(told("groups", groups))]
    given = None if folds is None else told("folds", folds)

    def folds_of(y: NDArray[Any]) -> Folds:
        return make_folds(y, cv=cv, repeats=repeats, groups=people, learn_from=learn_from,
                          seed=seed, folds=given)  # fmt: skip

    split = folds_of(target)
    adjusted_for, added_to = (
        {str(name): told(str(name), values) for name, values in (columns or {}).items()}
        for columns in (covariates, beyond)
    )
    if twice := sorted(set(adjusted_for) & set(added_to)):
        raise InputError(
            f"{twice[0]!r} is in covariates, which features are adjusted for, and in beyond, which "
            "labels are predicted from: leave it out of one of them"
        )
    classes = () if target.dtype.kind == "f" else tuple(np.unique(target).tolist())
    positive = _positive(positive, classes)
    sites = _sites(told, harmonize, harmonizer, controls, adjusted_for)
    if len(known) < stack.n_graphs:
        stack = stack[known]
    if embedding is None:
        missing = "unobserved" if stack.has_missing else "error"
        embedding = JointEmbedding(8, directed=stack.is_directed, missing=missing)
    settings = quiet(embedding)
    if settings.random_state is None:  # a seed, so that folds can be had again
        settings.set_params(random_state=seed)
    lacking = ""
    if stack.is_directed or stack.has_missing:
        lacking = "it takes complete graphs only, and entries are missing in these"
        if stack.is_directed:
            lacking = "it takes undirected graphs only, and these are directed"
    refused = {method.name: lacking for method in chosen if lacking and not method.general}
    offered = tuple(method for method in chosen if method.name not in refused)
    asked = Question(
        stack, target, settings, offered, wanted, judge, keep, adjusted_for, people, sites, added_to
    )
    notes = (*split.notes, *asked.check_sites(split.splits))
    rng = np.random.default_rng(seed)

    def permute(y: NDArray[Any]) -> NDArray[Any]:
        return permuted(y, people, given, rng)

    if permutations:
        check_count("permutations", permutations)
        if all((permute(target) == target).all() for _ in range(20)):
            raise InputError(
                "labels cannot be permuted: all graphs of a fold, or of a group, have the same "
                "value; leave permutations out, or choose other folds"
            )
    outcomes: list[FoldOutcome] = []
    for outcome in run_folds(asked, split.splits, n_jobs):
        outcomes.append(outcome)
        refused |= outcome.refused
        if on_fold is not None:
            on_fold(len(outcomes), len(split.splits))
    n_components = tuple(outcome.n_components[JOINT] for outcome in outcomes)
    scoring, scores, predictions, probabilities = _Scoring(target, split, level, seed), [], {}, {}

    def score(of: str, rule: str, method: str, called: str, **known: Any) -> None:
        told = [outcome.told[of][rule] for outcome in outcomes]
        by_fold = tuple(one.labels for one in told)
        scores.append(scoring.score(by_fold, method, called, **known))
        predictions[scores[-1].name] = by_fold
        likely = tuple(one.probabilities for one in told if one.probabilities is not None)
        if likely:  # a rule has them in all folds, or in none
            probabilities[scores[-1].name] = likely

    for method in offered:
        if method.name in refused:  # some fold could not have it
            continue
        seconds = float(np.median([sum(outcome.seconds[method.name]) for outcome in outcomes]))
        d = max(outcome.n_components[method.name] for outcome in outcomes)
        size = method.n_parameters(stack.n_graphs, stack.n_vertices, d) or None
        for rule in wanted:
            called = rule_name(rule, scoring.is_quantity)
            score(method.name, rule, method.name, called, n_parameters=size, seconds=seconds)
    for name in (ALONE, BESIDE) if added_to else ():
        score(JOINT, name, name, rule_name("linear", scoring.is_quantity))
    predictions[CHANCE] = tuple(scoring.chance())
    scores.append(scoring.score(predictions[CHANCE], CHANCE, ""))
    if classes:
        shares = [(target == name).mean() for name in classes]
        probabilities[CHANCE] = tuple(np.tile(shares, (len(test), 1)) for _, test in split.splits)
    warned = Counter(text for outcome in outcomes for text in outcome.warned)
    found = Evaluation(
        scores=tuple(scoring.compared(scores)),
        kind="quantity" if scoring.is_quantity else "classes",
        classes=classes,
        n_graphs=len(known),
        n_units=split.n_units,
        level=level,
        protocol=_protocol(scoring, asked, n_components, permutations),
        n_components=n_components,
        not_offered=refused,
        warnings=tuple(f"{text} (in {count} folds)" for text, count in warned.items()),
        predictions=predictions,
        splits=tuple((known[train], known[test]) for train, test in split.splits),
        outcomes=tuple(outcomes),
        probabilities=probabilities,
        truth=tuple(target[test] for _, test in split.splits),
        fold_names=split.names,
        beyond=tuple(added_to),
        positive=positive,
        notes=notes,
        n_given=n_given,
    )
    plain = replace(asked, methods=offered[:1], judge=None, keep=False, beyond={})
    null = _null_scores(plain, permute, folds_of, permutations, n_jobs, on_permutation)
    y = np.concatenate(found.truth)
    return replace(found, scores=tuple(
        replace(s, measures=measured.values, why_empty=measured.why_empty,
                permuted=tuple(null.get(s.name, ())))
        for s in found.scores
        for measured in [found._measured(s.name, y, *found._pooled(s.name))]
    ))  # fmt: skip


def _positive(given: Any, classes: Sequence[str]) -> str:
    """Return which of two classes is positive; nothing where there are not two."""
    if given is None:
        return classes[-1] if len(classes) == 2 else ""
    if len(classes) != 2:
        raise InputError(
            f"positive names one of two classes, and y has {len(classes) or 'none: a quantity'}; "
            "leave it out"
        )
    check_choice("positive", str(given), classes)
    return str(given)


def _null_scores(
    asked: Question,
    permute: Callable[[NDArray[Any]], NDArray[Any]],
    folds_of: Callable[[NDArray[Any]], Folds],
    n: int,
    n_jobs: int,
    on_permutation: Callable[[int, int], None] | None,
) -> dict[str, list[float]]:
    """Return scores of the joint embedding with permuted labels, by name of the pipeline."""
    found: dict[str, list[float]] = {}
    for k in range(n):
        if k == 0 and on_permutation is not None:
            on_permutation(0, n)
        y = permute(asked.y)
        split = folds_of(y)
        scoring = _Scoring(y, split, 0.95, 0)
        outcomes = list(run_folds(replace(asked, y=y), split.splits, n_jobs))
        for rule in asked.rules:
            told = np.concatenate([outcome.told[JOINT][rule].labels for outcome in outcomes])
            name = f"{JOINT}, {rule_name(rule, scoring.is_quantity)}"
            found.setdefault(name, []).append(float(scoring.right(told).mean()))
        if on_permutation is not None:
            on_permutation(k + 1, n)
    return found


def _sites(
    told: Callable[[str, Any], list[Any]], harmonize: Any, settings: Harmonize | None,
    controls: Any, covariates: Mapping[str, Any],
) -> Sites | None:  # fmt: skip
    """Return over which sites features are harmonized, if they are."""
    if harmonize is None:
        if settings is not None or controls is not None:
            raise InputError("give the sites by harmonize=, one value per graph")
        return None
    name, values = named_site(harmonize)
    if name in covariates:
        raise InputError(
            f"{name!r} is in harmonize and in covariates; leave it out of the covariates"
        )
    chosen = None if controls is None else told("controls", controls)
    return Sites(name, told(name, values), settings or Harmonize(), chosen)


class _Scoring:
    """How predictions of held-out graphs are judged.

    Each counts by how right it is: 1 or 0 for a class, 1 - (error / spread)^2 for a quantity, the
    spread being that of all held-out graphs, as a fold of one person may have none. Scores are
    means: accuracy, and R2.
    """

    def __init__(self, y: NDArray[Any], folds: Folds, level: float, seed: int) -> None:
        self.y, self.folds, self.level, self.seed = y, folds, level, seed
        self.is_quantity = y.dtype.kind == "f"
        self._sizes = [len(test) for _, test in folds.splits]
        self._test = np.concatenate([test for _, test in folds.splits])
        unit = unit_of(y) if self.is_quantity else 1.0  # squares of large numbers might overflow
        self._spread = float(np.std(y[self._test] / unit) * unit) if self.is_quantity else 1.0
        self._seen = np.unique(self._test)  # graphs that were held out

    def chance(self) -> list[NDArray[Any]]:
        """Return the most frequent class of all graphs, or the mean of a fold's training graphs.

        The most frequent class of training graphs would be wrong too often: a class is rarer among
        them where more of it is held out.
        """
        if self.is_quantity:
            return [np.full(len(test), self.y[train].mean()) for train, test in self.folds.splits]
        classes, counts = np.unique(self.y, return_counts=True)
        return [np.full(size, classes[int(np.argmax(counts))]) for size in self._sizes]

    def right(self, told: NDArray[Any]) -> Array:
        """Return how right the predictions of held-out graphs are, one after the other."""
        if self.is_quantity:
            return np.asarray(1.0 - ((told - self.y[self._test]) / self._spread) ** 2)
        return np.asarray(told == self.y[self._test], dtype=np.float64)

    def score(
        self, predictions: Sequence[NDArray[Any]], method: str, rule: str, **known: Any
    ) -> PipelineScore:
        """Return the score of a pipeline, or of chance, by its predictions in each fold."""
        y, of = self.y[self._seen], self.folds.units[self._seen]
        right = self.right(np.concatenate(predictions))
        by_fold = np.bincount(np.repeat(np.arange(len(self._sizes)), self._sizes), right)
        each = np.bincount(self._test, right)[self._seen] / np.bincount(self._test)[self._seen]
        if self.is_quantity:
            ends = explained_interval(y / self._spread, 1.0 - each, of, self.level, self.seed)
        else:
            ends = accuracy_interval(each, of, self.level)
        return PipelineScore(
            method, rule, float(right.mean()), *ends, tuple((by_fold / self._sizes).tolist()),
            tuple((np.bincount(of, each) / np.bincount(of)).tolist()), **known,
        )  # fmt: skip

    def compared(self, scores: list[PipelineScore]) -> list[PipelineScore]:
        """Compare joint embedding with chance, and all others with it, under the same rule."""
        joint = {s.rule: s for s in scores if s.method == JOINT}
        alone = next((s for s in scores if s.method == ALONE), None)
        found = list(scores)
        for i, score in enumerate(scores[:-1]):
            other = scores[-1] if score.method in (JOINT, ALONE) else joint.get(score.rule)
            if score.method == BESIDE:
                other = alone
            assert other is not None
            value, by_fold = score.score - other.score, np.subtract(score.folds, other.folds)
            if self.folds.apart:
                by_unit = np.subtract(score.units, other.units)
                difference = compare_crossed(by_fold, by_unit, value, self.level)
            else:
                folds = self.folds
                difference = compare_folds(by_fold, value, folds.ratio, folds.n_units, self.level)
            found[i] = replace(score, versus=other.method, difference=difference)
        p = holm(np.array([s.difference.p for s in found if s.difference is not None]))
        return [*map(lambda s, p: replace(s, p_holm=float(p)), found[:-1], p), found[-1]]


def _protocol(
    scoring: _Scoring, asked: Question, n_components: Sequence[int], permutations: int
) -> str:
    """Return how it was done, in sentences."""
    folds, low, high = scoring.folds, min(n_components), max(n_components)
    rules = " and ".join(rule_name(rule, scoring.is_quantity) for rule in asked.rules)
    counted = "graphs" if folds.n_units == len(scoring.y) else "groups of graphs"
    measure, interval = "accuracy", "Wilson intervals over"
    if scoring.is_quantity:
        measure, interval = "R2", "bootstrap intervals over"
    differences = "corrected t intervals (Nadeau and Bengio, 2003)"
    if folds.apart:
        differences = f"t intervals, with the variance between folds and between {counted}"
    chosen = ", chosen anew in each fold" if asked.embedding.n_components == "auto" else ""
    if asked.chooses:
        chosen = (
            " (joint embedding; chosen in inner folds of the training graphs, by each method for "
            "itself, or by hidden pairs where labels allow no inner folds)"
        )
    adjusted = ""
    if asked.covariates:
        names = listed(tuple(asked.covariates))
        adjusted = f" The part of the features explained by {names} was regressed out."
    if asked.sites is not None:
        adjusted = f" {harmonized_words(asked.sites, tuple(asked.covariates))}{adjusted}"
    if asked.beyond:
        names = listed(tuple(asked.beyond))
        adjusted += (
            f" Covariates are {names}, alone and beside the features of the joint embedding, with "
            "the linear rule."
        )
    permuted = ""
    if permutations:
        permuted = (
            f" For its p values the joint embedding was learned and scored with {permutations} "
            "permutations of the labels."
        )
    return (
        f"{folds.words}. {rules} on features of graphs, {measure} on held-out graphs. "
        "Embeddings, centering, scaling and rules are learned from the training graphs of each "
        f"fold alone, in {low if low == high else f'{low} to {high}'} dimensions{chosen}."
        f"{adjusted} Intervals ({100 * scoring.level:g}%) of scores are {interval} {counted}, "
        "with twice the variance, because each graph is also learned from in other folds; those "
        f"of differences are {differences}.{permuted}"
    )


def in_memory(graphs: Any) -> GraphStack:
    """Return graphs as a stack in memory, or refuse: every fold reads them many times."""
    if not isinstance(graphs, GraphStack):
        return GraphStack(graphs, copy=False, missing="unobserved")
    if not isinstance(graphs, BlockedStack):
        return graphs
    try:
        return graphs.load()
    except InputError as error:
        raise InputError(
            "evaluate works on graphs in memory, as every fold is a fit of its own, and these do "
            f"not fit ({error}); allow more memory, or take some of the graphs, graphs[:1000]"
        ) from None


def _read_target(y: Any, n_graphs: int, task: Task) -> tuple[NDArray[Any], Indices]:
    """Return known values (numbers, or texts for classes), and which graphs have them, (m,)."""
    kinds = {"auto": "label", "classes": "groups", "quantity": "quantity"}
    variable = read_variable("y", y, n_graphs, kinds[task])
    known = np.flatnonzero(variable.known)
    if len(known) == 0:
        raise InputError("no graph has a value in y; nothing can be learned")
    values: NDArray[Any] = variable.values[known]
    if variable.kind == "groups":
        values = np.array(variable.levels)[values.astype(np.intp)]
    if (values == values[0]).all():
        raise InputError(f"all graphs have the same value in y, {shown(values[0])}")
    return values, known


# How precise a score is, and a difference of two scores


class Difference(NamedTuple):
    """A difference of two scores."""

    value: float
    low: float
    high: float
    p: float


def accuracy_interval(
    right: Array, units: Indices, level: float = 0.95, overlap: float = _OVERLAP
) -> tuple[float, float]:
    """Return Wilson's interval for a share, with as many graphs as those held out are worth.

    In cross-validation two graphs are worth one (``overlap``).

    Graphs of one group (scans of a person) are right or wrong together: the variance of the
    share between groups tells how many independent graphs would vary as much (the design effect of
    Korn and Graubard), at most all of them. Where all graphs are right, or all wrong, there is no
    such variance, and every group counts as one graph, which is the least it can be worth (but
    never more than the graphs without groups).

    Parameters
    ----------
    right : (m,)
        Share of the predictions of each graph that were right.
    units : (m,)
        Group of each graph, 0, 1, ...
    level
        Of confidence.
    overlap
        By how much the variance exceeds that of graphs that were never learned from.
    """
    m, n_units = len(right), len(np.unique(units))
    p = float(np.mean(right))
    worth = m / overlap
    q = float(stats.norm.ppf(0.5 + level / 2))
    if n_units < m:
        q = float(stats.t.ppf(0.5 + level / 2, max(n_units - 1, 1)))
        worth = min(float(n_units), m / overlap)
        if 0 < p < 1 and n_units > 1:
            sums = np.bincount(units, right - p)
            variance = n_units / (n_units - 1) * float(sums @ sums) / m**2
            worth = m / overlap / max(1.0, variance * m / (p * (1 - p)))
    middle = (p + q**2 / (2 * worth)) / (1 + q**2 / worth)
    half = q / (1 + q**2 / worth) * np.sqrt(p * (1 - p) / worth + (q / (2 * worth)) ** 2)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def explained_interval(
    y: Array,
    squares: Array,
    units: Indices,
    level: float = 0.95,
    seed: int = 0,
    overlap: float = _OVERLAP,
) -> tuple[float, float]:
    """Return a bootstrap interval for R2; groups are drawn, not graphs.

    It is widened by sqrt(overlap) about the estimate; see :func:`accuracy_interval`.

    Parameters
    ----------
    y : (m,)
        Values.
    squares : (m,)
        Mean squared error of the predictions of each graph.
    units : (m,)
        Group of each graph, 0, 1, ...
    """
    n_units = int(units.max()) + 1
    counts, sums, squared, errors = (
        np.bincount(units, x, n_units)
        for x in (np.ones(len(y)), y - y.mean(), (y - y.mean()) ** 2, squares)
    )
    draws = np.random.default_rng(seed).multinomial(
        n_units, np.full(n_units, 1 / n_units), size=_DRAWS
    )
    n = draws @ counts
    variance = draws @ squared / n - (draws @ sums / n) ** 2
    enough = variance > 1e-12 * np.var(y)
    explained = 1.0 - (draws @ errors / n)[enough] / variance[enough]
    ends = np.quantile(explained, [0.5 - level / 2, 0.5 + level / 2])
    estimate = 1.0 - squares.mean() / np.var(y)
    low, high = estimate + np.sqrt(overlap) * (ends - estimate)
    return float(low), min(1.0, float(high))


def compare_folds(
    folds: Array, value: float, ratio: float, n_units: int, level: float = 0.95
) -> Difference:
    """Return a difference of two scores, by Nadeau and Bengio's corrected t interval.

    Training sets of folds overlap, so that scores of folds vary less than those of independent
    samples would: the variance of their mean is taken as (1 / J + ratio) times that of J folds,
    ``ratio`` being that of graphs held out to graphs learned from.

    Where the difference is the same in every fold, that variance is zero. Then the interval is that
    of a paired difference of shares among ``n_units`` (Agresti and Min), which is never empty.

    Parameters
    ----------
    folds : (J,)
        Difference in each fold.
    value
        The difference over all.
    """
    J, s = len(folds), float(np.std(folds, ddof=1))
    if s > 1e-12:
        se, freedom = s * float(np.sqrt(1.0 / J + ratio)), J - 1
    else:
        # Half a pair each way is added: 0 of 30 discordant pairs does not mean that there are none.
        pairs, freedom = n_units + 2, max(n_units - 1, 1)
        se = float(np.sqrt(abs(value) * n_units + 1 - (value * n_units) ** 2 / pairs)) / pairs
    return _t_interval(value, se, freedom, level)


def compare_crossed(folds: Array, units: Array, value: float, level: float = 0.95) -> Difference:
    """Return a difference of scores where each fold learns from other graphs and holds out all.

    What was learned from, and what was held out, are two samples that are crossed: the variance of
    the mean is at most that of a mean over folds plus that of a mean over groups.

    Parameters
    ----------
    folds : (J,)
        Difference in each fold.
    units : (G,)
        Difference for each group of graphs that were held out.
    value
        The difference over all.
    """
    J, G = len(folds), len(units)
    variance = float(np.var(units, ddof=1)) / G
    if J > 1:  # else all is about what was learned from that one fold
        variance += float(np.var(folds, ddof=1)) / J
    if variance < 1e-24:  # half a pair each way, as above
        variance = 1.0 / (G + 2) ** 2
    return _t_interval(value, float(np.sqrt(variance)), (min(J, G) if J > 1 else G) - 1, level)


def _t_interval(value: float, se: float, freedom: int, level: float) -> Difference:
    q = float(stats.t.ppf(0.5 + level / 2, freedom))
    p = float(2 * stats.t.sf(abs(value) / se, freedom))
    return Difference(value, value - q * se, value + q * se, p)


def holm(p: Array) -> Array:
    """Return Holm's p values of several questions, (k,)."""
    order = np.argsort(p)
    steps = (len(p) - np.arange(len(p))) * np.asarray(p)[order]
    found = np.empty(len(p))
    found[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return found
