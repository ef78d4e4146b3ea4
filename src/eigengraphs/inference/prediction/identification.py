"""How well people are recognized by their repeated scans, and how far apart they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.inference.prediction.folds import numbered
from eigengraphs.inference.prediction.label_prediction import (
    CHANCE,
    Evaluation,
    evaluate,
    in_memory,
)
from eigengraphs.inference.prediction.prediction_pipelines import Trained
from eigengraphs.inference.studies.designs import Array, graph_values
from eigengraphs.stack import GraphStack
from eigengraphs.system.tables import short_repr

__all__ = ["Identification", "Share", "identify", "repeated_scans"]

_DRAWS = 2000


class Share(NamedTuple):
    """A share, and the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Identification:
    """How well each method tells people apart; what :func:`identify` returns.

    Attributes
    ----------
    identified : mapping of str to Share
        By method: share of scans whose nearest scan in a gallery, one scan of each person, is of
        the same person.
    discriminability : mapping of str to Share
        By method: share of comparisons in which a scan is nearer to the gallery scan of its own
        person than to that of another; 0.5 where distances tell nothing.
    n_people : int
        People with repeated scans.
    n_scans : int
        Scans of each.
    nearer : mapping of str to array (P, P)
        By method: share of comparisons in which a scan of person i is nearer to the own than to
        that of person j; the diagonal means nothing.
    evaluation : Evaluation
        Of the identification: protocol, folds, numbers of components, methods not offered.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
    >>> scans = [graph for model in models for graph in model.sample(3, random_state=0)]
    >>> je = eg.JointEmbedding(1, random_state=0)
    >>> found = eg.inference.identify(scans, ["ann"] * 3 + ["bob"] * 3, embedding=je, methods=())
    >>> found.n_scans, found.identified["joint embedding"].value
    (3, 1.0)
    """

    identified: Mapping[str, Share]
    discriminability: Mapping[str, Share]
    n_people: int
    n_scans: int
    nearer: Mapping[str, Array]
    evaluation: Evaluation

    __repr__ = short_repr

    def __str__(self) -> str:
        width = max(map(len, self.identified))
        return "\n".join([
            f"{'':{width}s}  {'identified':25s}  discriminability",
            *(f"{name:{width}s}  " + "  ".join(f"{one.value:.3f}  [{one.low:6.3f}, {one.high:6.3f}]"
                                               for one in (share, self.discriminability[name]))
              for name, share in self.identified.items()),
        ])  # fmt: skip


def identify(
    graphs: Any, participants: Any, *, galleries: Sequence[int] | None = None, **options: Any
) -> Identification:
    """Recognize people from one scan of each, by joint embedding and other methods.

    Everything is learned from the gallery, one scan of each person, and all other scans are
    recognized; scans of a person take turns in the gallery. People with one scan take no part; of
    others, as many scans do as the person with the fewest has. Distances are those of the rule
    "1-NN": angles between standardized features.

    Parameters
    ----------
    graphs
        As of :func:`evaluate`.
    participants : (m,)
        Whose each graph is.
    galleries
        Which scans of a person, from 0, take a turn in the gallery; by default all.
    **options
        As of :func:`evaluate`: embedding, methods, level, seed, n_jobs, on_fold.

    Returns
    -------
    Identification
        With intervals that count people: of shares of right answers as in :func:`evaluate`, and of
        discriminability (Bridgeford and others, 2021) by a bootstrap over people.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> models = [eg.models.ErdosRenyi(8, p) for p in (0.2, 0.8)]
    >>> scans = [graph for model in models for graph in model.sample(3, random_state=0)]
    >>> je = eg.JointEmbedding(1, random_state=0)
    >>> found = eg.inference.identify(scans, ["ann"] * 3 + ["bob"] * 3, embedding=je, methods=())
    >>> round(found.discriminability["joint embedding"].value, 6)
    1.0
    """
    stack = in_memory(graphs)
    people = graph_values("participants", participants, stack.n_graphs)
    whose, scan = repeated_scans(people)
    used = [i for i, who in enumerate(whose) if who is not None]
    of = np.full(len(people), -1)
    of[used] = numbered([whose[i] for i in used])
    n_people, n_scans = int(of.max()) + 1, max((scan[i] for i in used), default=0) + 1
    if n_people < 2:
        raise InputError(
            "people are recognized where at least two have several graphs; participants names "
            f"{n_people} such"
        )
    turn = [k if galleries is None or k in galleries else None for k in scan]
    found = evaluate(
        stack, whose, groups=people, folds=turn, learn_from="one", rules="1-NN", task="classes",
        judge=_distances, **options,
    )  # fmt: skip
    scores = [score for score in found.scores if score.method != CHANCE]
    apart = {score.method: np.zeros((n_people, n_people)) for score in scores}
    for (gallery, probes), outcome in zip(found.splits, found.outcomes, strict=True):
        for name, nearer in apart.items():
            D, whose_probe = outcome.judged[name][:, np.argsort(of[gallery])], of[probes]
            own = np.take_along_axis(D, whose_probe[:, None], axis=1)
            share = (own < D) + 0.5 * (own == D)
            np.add.at(nearer, whose_probe, share / (len(found.splits) * (n_scans - 1)))
    seed, level = options.get("seed", 0), found.level
    return Identification(
        {score.method: Share(score.score, score.low, score.high) for score in scores},
        {name: _over_people(nearer, level, seed) for name, nearer in apart.items()},
        n_people,
        n_scans,
        apart,
        found,
    )  # fmt: skip


def repeated_scans(people: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Return the person of each graph that takes part, else None; and which of their scans it is.

    All people who take part have the same number of scans.
    """
    count: Counter[Any] = Counter()
    scan = []
    for who in people:
        scan.append(count[who])
        count[who] += 1
    del count[None]
    n_scans = min((c for c in count.values() if c > 1), default=0)
    whose = [who if count[who] > 1 and k < n_scans else None
             for who, k in zip(people, scan, strict=True)]  # fmt: skip
    return whose, scan


def _distances(trained: Trained, graphs: GraphStack, hollow: bool) -> Array:  # noqa: ARG001
    """Return distances (m', m) of graphs to the training graphs, as the rule "1-NN" has them."""
    rule = trained.rules["1-NN"]
    X = rule[:-1].transform(trained.estimator.transform(trained.steps.apply(graphs)))
    near, place = rule[-1].kneighbors(X, rule[-1].n_samples_fit_)
    D: Array = np.empty_like(near)
    np.put_along_axis(D, place, near, axis=1)
    return D


def _over_people(nearer: Array, level: float, seed: int) -> Share:
    """Return the mean of ``nearer`` (P, P) over pairs of people, with a bootstrap interval."""
    P, K = len(nearer), nearer - np.diag(np.diag(nearer))
    W = np.random.default_rng(seed).multinomial(P, np.full(P, 1 / P), size=_DRAWS)
    pairs = P**2 - (W**2).sum(axis=1)  # of different people; none where one is all that is drawn
    means = ((W @ K) * W).sum(axis=1)[pairs > 0] / pairs[pairs > 0]
    low, high = np.quantile(means, [0.5 - level / 2, 0.5 + level / 2])
    return Share(float(K.sum() / (P * (P - 1))), float(low), float(high))
