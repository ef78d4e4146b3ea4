"""What cross-validation found: scores with intervals, comparisons, and what was not offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.inference.methods import JOINT
from eigengraphs.inference.rules import rule_name
from eigengraphs.inference.score_intervals import Difference
from eigengraphs.system.tables import short_repr

__all__ = ["CHANCE", "Evaluation", "PipelineScore"]

CHANCE = "chance"
Cell = str | float | None


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
        Accuracy, or explained variance.
    low : float
        Lower end of its interval.
    high : float
        Upper end of its interval.
    folds : tuple of float
        Score in each fold.
    units : tuple of float
        Score of each group of graphs that count together.
    balanced : float or None
        Mean over classes of the accuracy within them.
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
    balanced: float | None = None
    n_parameters: int | None = None
    seconds: float | None = None
    versus: str = ""
    difference: Difference | None = None
    p_holm: float | None = None

    __repr__ = short_repr

    @property
    def name(self) -> str:
        """Method and rule."""
        return f"{self.method}, {self.rule}" if self.rule else self.method


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
    splits : tuple of pairs of arrays
        Places of the graphs that each fold learnt from and held out, among all graphs.
    trained : tuple of mappings
        With ``keep=True``: the trained pipelines of each fold, by name of the method.

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
    splits: tuple[tuple[NDArray[np.intp], NDArray[np.intp]], ...] = field(default=(), repr=False)
    trained: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    __repr__ = short_repr

    @property
    def measure(self) -> str:
        """What scores are, in words."""
        return "accuracy" if self.kind == "classes" else "explained variance"

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
            "pipeline", "method", "rule", self.measure.replace(" ", "_"), "low", "high",
            *(("balanced_accuracy",) if self.kind == "classes" else ()),
            "versus", "difference", "difference_low", "difference_high", "p", "p_holm",
            "parameters", "seconds",
        )  # fmt: skip

    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """Return a row for each pipeline.

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
        return tuple(self._row(score) for score in self.scores)

    def _row(self, score: PipelineScore) -> tuple[Cell, ...]:
        difference: tuple[Cell, ...] = (None, None, None, None)
        if score.difference is not None:
            difference = tuple(score.difference)
        return (
            score.name, score.method, score.rule or "none", score.score, score.low, score.high,
            *((score.balanced,) if self.kind == "classes" else ()),
            score.versus or "none", *difference, score.p_holm, score.n_parameters, score.seconds,
        )  # fmt: skip

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
        2
        """
        joint = [score for score in self.scores if score.method == JOINT]
        best = max(joint, key=lambda score: score.score)
        chance = self.score(CHANCE)
        said = [
            f"{best.name[0].upper()}{best.name[1:]}: {self.measure} {best.score:.3f} "
            f"({100 * self.level:g}% interval {best.low:.3f} to {best.high:.3f}) on graphs that "
            f"were held out; chance is {chance.score:.3f}."
        ]
        others = [s for s in self.scores if s.versus == JOINT and s.p_holm is not None]
        sure = 1 - self.level
        better = [s.name for s in others if s.difference and s.difference.value > 0
                  and (s.p_holm or 0) < sure]  # fmt: skip
        worse = [s.name for s in others if s.difference and s.difference.value < 0
                 and (s.p_holm or 0) < sure]  # fmt: skip
        if len(others) == 1:
            how = "is better than" if better else "is worse than" if worse else _NO_OTHER
            said.append(
                f"{others[0].name} {how} the joint embedding under the same rule (t interval)."
            )
        elif others:
            said.append(
                f"Of {len(others)} other pipelines, {_count(better)} better than the joint "
                f"embedding under the same rule{_listed(better)}, {_count(worse)} worse"
                f"{_listed(worse)}; the rest cannot be told apart from it (t intervals, Holm)."
            )
        for name, why in self.not_offered.items():
            said.append(f"Not offered: {name}, because {why}.")
        return tuple(said)

    def __str__(self) -> str:
        width = max(len(score.name) for score in self.scores)
        lines = [f"{'':{width}s}  {self.measure}"]
        lines += [
            f"{s.name:{width}s}  {s.score:6.3f}  [{s.low:6.3f}, {s.high:6.3f}]" for s in self.scores
        ]
        return "\n".join([*lines, *(f"not offered: {n}: {w}" for n, w in self.not_offered.items())])


_NO_OTHER = "cannot be told apart from"


def _count(names: list[str]) -> str:
    return f"{len(names) or 'none'} {'are' if len(names) > 1 else 'is'}"


def _listed(names: list[str]) -> str:
    return f" ({'; '.join(names)})" if names else ""
