"""A contest of methods on one's own graphs: reconstruction, accuracy, time and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigengraphs.embedding import JointEmbedding
from eigengraphs.fitting.messages import explained_of
from eigengraphs.inference.evaluating import Run, run
from eigengraphs.inference.evaluation import CHANCE, Evaluation
from eigengraphs.inference.methods import JOINT, MethodsLike
from eigengraphs.inference.reconstruction import Explained, coefficients, explain
from eigengraphs.inference.rules import RULES, rule_name
from eigengraphs.inference.targets import Task
from eigengraphs.system.tables import short_repr

__all__ = ["CONTESTANTS", "Contest", "ContestRow", "contest"]

CONTESTANTS = ("Multiple ASE", "Omnibus", "Unfolded ASE", "PCA", "ASE")
Cell = str | float | None


@dataclass(frozen=True)
class ContestRow:
    """What one method did."""

    method: str
    explained: float | None
    """Share of the sum of squares of held-out graphs that is reconstructed; None if nothing is.

    As of the fit: around the mean of the training graphs if the joint embedding is centered."""
    explained_folds: tuple[float, ...]
    n_coefficients: int | None
    """Numbers that a new graph gets for that."""
    n_parameters: int | None
    """Numbers that describe all graphs."""
    seconds_fit: float | None
    """Median over folds, to learn from the training graphs."""
    seconds_new: float | None
    """Median over folds, to embed and predict the graphs that were held out."""

    __repr__ = short_repr


@dataclass(frozen=True)
class Contest:
    """A table of methods; what :func:`contest` returns.

    Attributes
    ----------
    rows : tuple of ContestRow
        What each method did, joint embedding first.
    evaluation : Evaluation
        Accuracies (or explained variances) with intervals and comparisons.
    notes : tuple of str
        What the columns of the table mean.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> from eigengraphs.inference import contest
    >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
    >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
    >>> y = ["thin"] * 6 + ["thick"] * 6
    >>> je = eg.JointEmbedding(1, random_state=0)
    >>> found = contest(graphs, y, embedding=je, methods="PCA", rules="1-NN", cv=2)
    >>> [row.method for row in found.rows]
    ['joint embedding', 'PCA']
    >>> found.header[:4]
    ('method', 'explained', 'coefficients_a_graph', 'accuracy_1-NN')
    """

    rows: tuple[ContestRow, ...]
    evaluation: Evaluation
    notes: tuple[str, ...] = field(default=())

    __repr__ = short_repr

    @property
    def not_offered(self) -> Mapping[str, str]:
        """Methods that these graphs cannot have, and why."""
        return self.evaluation.not_offered

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :meth:`table`."""
        measure = self.evaluation.measure.replace(" ", "_")
        rules = dict.fromkeys(score.rule for score in self.evaluation.scores if score.rule)
        scores = [f"{measure}_{rule}{end}" for rule in rules for end in ("", "_low", "_high")]
        return ("method", "explained", "coefficients_a_graph", *scores, "seconds_fit",
                "seconds_new_graphs", "parameters")  # fmt: skip

    def table(self) -> tuple[tuple[Cell, ...], ...]:
        """Return a row for each method, and one for chance.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> from eigengraphs.inference import contest
        >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
        >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
        >>> y = ["thin"] * 6 + ["thick"] * 6
        >>> je = eg.JointEmbedding(1, random_state=0)
        >>> found = contest(graphs, y, embedding=je, methods="PCA", rules="1-NN", cv=2)
        >>> [row[0] for row in found.table()]
        ['joint embedding', 'PCA', 'chance']
        """
        rules = list(dict.fromkeys(s.rule for s in self.evaluation.scores if s.rule))
        found: list[tuple[Cell, ...]] = []
        for row in self.rows:
            scores: list[Cell] = []
            for rule in rules:
                score = self.evaluation.score(row.method, rule)
                scores += [score.score, score.low, score.high]
            found.append((row.method, row.explained, row.n_coefficients, *scores, row.seconds_fit,
                          row.seconds_new, row.n_parameters))  # fmt: skip
        chance = self.evaluation.score(CHANCE)
        same = [chance.score, chance.low, chance.high] * len(rules)
        found.append((CHANCE, None, None, *same, None, None, None))
        return tuple(found)

    def __str__(self) -> str:
        rows = [self.header, *(
            tuple("" if cell is None else cell if isinstance(cell, str) else f"{cell:.4g}"
                  for cell in row) for row in self.table()
        )]  # fmt: skip
        widths = [max(len(row[k]) for row in rows) for k in range(len(self.header))]
        return "\n".join(
            "  ".join(f"{c:{w}s}" for c, w in zip(row, widths, strict=True)) for row in rows
        )


def contest(
    graphs: Any,
    y: Any,
    *,
    embedding: JointEmbedding | None = None,
    methods: MethodsLike = CONTESTANTS,
    rules: str | Sequence[str] = RULES,
    task: Task = "auto",
    cv: int | str = 5,
    repeats: int = 1,
    groups: Any = None,
    folds: Any = None,
    learn_from: str = "others",
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
    on_fold: Callable[[int, int], None] | None = None,
) -> Contest:
    """Let joint embedding and other methods meet the same held-out graphs.

    All methods get the same weights (``preprocess``) and the same number of dimensions.

    Parameters
    ----------
    graphs, y
        As of :func:`~eigengraphs.inference.evaluate`: m graphs, and the label of each.
    embedding, methods, rules, task
        As there; ``methods`` are by default Multiple ASE, Omnibus, Unfolded ASE, PCA and ASE.
    cv, repeats, groups, folds, learn_from
        As there: how graphs are held out.
    level, seed, n_jobs, on_fold
        As there.

    Returns
    -------
    Contest
        For each method the share of the sum of squares of held-out graphs (around the mean graph,
        if ``embedding`` is centered) that its learnt positions explain, what it takes to do so,
        scores of prediction, time, and number of parameters.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> from eigengraphs.inference import contest
    >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
    >>> graphs = [graph for model in models for graph in model.sample(6, random_state=0)]
    >>> y = ["thin"] * 6 + ["thick"] * 6
    >>> je = eg.JointEmbedding(1, random_state=0)
    >>> found = contest(graphs, y, embedding=je, methods="PCA", rules="1-NN", cv=2)
    >>> found.evaluation.score("PCA").score
    1.0
    """
    done = run(
        graphs, y, embedding=embedding, methods=methods, rules=rules, task=task, cv=cv,
        repeats=repeats, groups=groups, folds=folds, learn_from=learn_from, seed=seed,
        n_jobs=n_jobs, on_fold=on_fold, judge=explain,
    )  # fmt: skip
    found = done.evaluation(level)
    d = max(done.n_components)
    dimensions = f"{d} dimensions" if min(done.n_components) == d else f"at most {d} dimensions"
    names = ", ".join(rule_name(rule, done.target.is_quantity) for rule in done.asked.rules)
    return Contest(
        tuple(_row(done, method.name, method.n_parameters, d) for method in done.methods),
        found,
        (
            f"Every method has {dimensions}. Prediction is by {names}.",
            f"explained: share of {_whole(done)} of held-out graphs, over pairs of different "
            "vertices if graphs have no loops, that is reconstructed from learnt positions and as "
            "many coefficients per graph as the table says; PCA also has the mean graph. Methods "
            "that learn no positions reconstruct nothing.",
            "seconds: median over folds; parameters: numbers that describe all graphs, besides a "
            "mean graph.",
        ),
    )


def _whole(done: Run) -> str:
    center = bool(done.asked.embedding.center)
    return explained_of(center) + (" (below zero: worse than the mean graph alone)" * center)


def _row(done: Run, name: str, n_parameters: Callable[[int, int, int], int], d: int) -> ContestRow:
    m, n = done.graphs.n_graphs, done.graphs.n_vertices
    judged: list[Explained] = [
        Explained(outcome.judged[name].left, outcome.judged[JOINT].total)  # one whole for all
        for outcome in done.outcomes
        if outcome.judged.get(name) is not None
    ]
    total = sum(part.total for part in judged)
    times = np.array([outcome.seconds[name] for outcome in done.outcomes])
    fit, new = np.median(times, axis=0)
    return ContestRow(
        method=name,
        explained=1.0 - sum(part.left for part in judged) / total if total else None,
        explained_folds=tuple(1.0 - part.left / part.total for part in judged if part.total),
        n_coefficients=coefficients(name, n, d) if judged else None,
        n_parameters=n_parameters(m, n, d) or None,
        seconds_fit=float(fit),
        seconds_new=float(new),
    )
