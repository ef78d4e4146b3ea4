"""Methods on the same graphs: a contest, and how well people are recognized by repeated scans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.messages import explained_of
from eigengraphs.inference.prediction.folds import numbered
from eigengraphs.inference.prediction.label_prediction import (
    CHANCE,
    Cell,
    Evaluation,
    evaluate,
    in_memory,
)
from eigengraphs.inference.prediction.prediction_pipelines import (
    ALONE,
    BESIDE,
    JOINT,
    MethodsLike,
    Trained,
)
from eigengraphs.inference.studies.designs import Array, graph_values
from eigengraphs.solvers.geometry import Symmetric
from eigengraphs.stack import GraphStack
from eigengraphs.system.tables import aligned, short_repr

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
        return aligned([("", "identified", "discriminability"), *(
            (name, *(f"{one.value:.3f}  [{one.low:6.3f}, {one.high:6.3f}]"
                     for one in (share, self.discriminability[name])))
            for name, share in self.identified.items()
        )])  # fmt: skip


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


# ----------------------------------------------------------------------- methods on the same graphs


_MOST = 4000  # vertices; beyond, matrices of all pairs are not made
_RECONSTRUCTING = (JOINT, "PCA", "Multiple ASE", "Omnibus", "Unfolded ASE")
CONTESTANTS = ("Multiple ASE", "Omnibus", "Unfolded ASE", "PCA", "ASE")


@dataclass(frozen=True)
class ContestRow:
    """What one method did.

    Attributes
    ----------
    explained : float or None
        Share of the sum of squares of held-out graphs that is reconstructed; None if nothing is.
        As of the fit: around the mean of the training graphs if the joint embedding is centered.
    explained_folds : tuple of float
        The same in each fold.
    n_coefficients : int or None
        Numbers that a new graph gets for that.
    n_parameters : int or None
        Numbers that describe all graphs.
    seconds_fit : float
        Median over folds, to learn from the training graphs.
    seconds_new : float
        Median over folds, to embed and predict the graphs that were held out.
    identified, discriminability : Share or None
        With repeated scans of people: those of :func:`identify`.
    """

    method: str
    explained: float | None
    explained_folds: tuple[float, ...]
    n_coefficients: int | None
    n_parameters: int | None
    seconds_fit: float
    seconds_new: float
    identified: Share | None = None
    discriminability: Share | None = None

    __repr__ = short_repr


@dataclass(frozen=True)
class Contest:
    """A table of methods; what :func:`contest` returns.

    Attributes
    ----------
    rows : tuple of ContestRow
        What each method did, joint embedding first.
    evaluation : Evaluation
        Accuracies (or R2) with intervals and comparisons.
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
        ends = ("", "_low", "_high")
        scores = [f"{measure}_{rule}{end}" for rule in self.evaluation.rules for end in ends]
        people = [f"{name}{end}" for name in self._of_people for end in ends]
        return ("method", "explained", "coefficients_a_graph", *scores, *people, "seconds_fit",
                "seconds_new_graphs", "parameters")  # fmt: skip

    @property
    def _of_people(self) -> tuple[str, ...]:
        known = any(row.identified for row in self.rows)
        return ("identified", "discriminability") if known else ()

    def table(self) -> tuple[tuple[Cell, ...], ...]:
        """Return one row for each method, and one for chance.

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
        found: list[tuple[Cell, ...]] = []
        for row in self.rows:
            scores = [self.evaluation.score(row.method, rule) for rule in self.evaluation.rules]
            cells: list[Cell] = [cell for s in scores for cell in (s.score, s.low, s.high)]
            for name in self._of_people:
                cells += getattr(row, name) or (None,) * 3
            found.append((row.method, row.explained, row.n_coefficients, *cells, row.seconds_fit,
                          row.seconds_new, row.n_parameters))  # fmt: skip
        chance = self.evaluation.score(CHANCE)
        same = [chance.score, chance.low, chance.high] * len(self.evaluation.rules)
        people: list[Cell] = [None] * (3 * len(self._of_people))
        return (*found, (CHANCE, None, None, *same, *people, None, None, None))

    def __str__(self) -> str:
        rows = [self.header, *(
            tuple("" if cell is None else cell if isinstance(cell, str) else f"{cell:.4g}"
                  for cell in row) for row in self.table()
        )]  # fmt: skip
        return aligned(rows)


def contest(
    graphs: Any,
    y: Any,
    *,
    embedding: JointEmbedding | None = None,
    methods: MethodsLike = CONTESTANTS,
    participants: Any = None,
    **options: Any,
) -> Contest:
    """Compare joint embedding and other methods on the same held-out graphs.

    All methods get the same weights (``preprocess``) and the same number of dimensions, or choose
    it alike (``n_components="cv"``).

    Parameters
    ----------
    graphs, y
        As of :func:`~eigengraphs.inference.evaluate`: m graphs, and the label of each.
    embedding, methods
        As there; ``methods`` are by default Multiple ASE, Omnibus, Unfolded ASE, PCA and ASE.
    participants : (m,), optional
        Whose each graph is. Where people have several graphs, methods also recognize them, as in
        :func:`~eigengraphs.inference.identify`; covariates are for ``y`` alone.
    **options
        As there: rules, task, cv, repeats, groups, folds, covariates, harmonize, harmonizer,
        controls, learn_from, level, seed, n_jobs, on_fold.

    Returns
    -------
    Contest
        For each method the share of the sum of squares of held-out graphs (around the mean graph,
        if ``embedding`` is centered) that its learned positions explain, what it takes to do so,
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
    graphs, people = in_memory(graphs), None
    if participants is not None and len(participants) != graphs.n_graphs:
        raise InputError(
            f"participants must name the person of each of the {graphs.n_graphs} graphs, got "
            f"{len(participants)}"
        )
    found = evaluate(graphs, y, embedding=embedding, methods=methods, judge=_explain, **options)
    if participants is not None and len({*repeated_scans(participants)[0]} - {None}) > 1:
        same = ("level", "seed", "n_jobs", "on_fold")
        people = identify(
            graphs, participants, embedding=embedding, methods=methods,
            **{name: options[name] for name in same if name in options},
        )  # fmt: skip
    d = max(found.n_components)
    dimensions = f"{d} dimensions" if min(found.n_components) == d else f"at most {d} dimensions"
    if embedding is not None and str(embedding.n_components) == "cv":
        dimensions = "a number of dimensions of its own, chosen in inner folds"
    centered = embedding is not None and bool(embedding.center)
    shares = explained_of(centered) + " (below zero: worse than the mean graph alone)" * centered
    parameters = {s.method: s.n_parameters for s in found.scores
                  if s.method not in (CHANCE, ALONE, BESIDE)}  # fmt: skip
    notes = [
        f"Every method has {dimensions}. Prediction is by {', '.join(found.rules)}.",
        f"explained: share of {shares} of held-out graphs, over pairs of different vertices if "
        "graphs have no loops, that is reconstructed from learned positions and as many "
        "coefficients per graph as the table says; PCA also has the mean graph. Methods that "
        "learn no positions reconstruct nothing.",
        "seconds: median over folds; parameters: numbers that describe all graphs, besides a "
        "mean graph.",
        *found.notes,
    ]
    if options.get("harmonize") is not None:
        notes.append(
            "Features were harmonized over sites for prediction; not for the other columns."
        )
    if people is not None:
        used = sorted({*people.evaluation.n_components})
        notes.append(
            f"identified, discriminability: {people.n_people} people with {people.n_scans} graphs "
            "each, one of each in the gallery, from which all is learned; how many other graphs "
            f"are nearest to their own person (chance {1 / people.n_people:.3g}), and in how many "
            "comparisons a graph is nearer to its own person than to another (chance 0.5). Here, "
            f"joint embedding has {' or '.join(map(str, used))} components."
        )
    return Contest(
        tuple(_row(found, people, *item) for item in parameters.items()), found, tuple(notes)
    )


def _row(
    found: Evaluation, people: Identification | None, name: str, n_parameters: int | None
) -> ContestRow:
    judged = [outcome.judged for outcome in found.outcomes if outcome.judged[name] is not None]
    left = np.array([one[name].left for one in judged])
    total = np.array([one[JOINT].total for one in judged])  # one whole for all methods
    fit, new = np.median([outcome.seconds[name] for outcome in found.outcomes], axis=0)
    return ContestRow(
        method=name,
        explained=float(1.0 - left.sum() / total.sum()) if total.any() else None,
        explained_folds=tuple((1.0 - left[total > 0] / total[total > 0]).tolist()),
        n_coefficients=max((one[name].n_coefficients for one in judged), default=None),
        n_parameters=n_parameters,
        seconds_fit=float(fit),
        seconds_new=float(new),
        identified=people.identified.get(name) if people else None,
        discriminability=people.discriminability.get(name) if people else None,
    )


class _Explained(NamedTuple):
    """What a method leaves of held-out graphs, and what there was.

    The total is a sum of squares around the mean graph that the method learned, if it centers;
    ``n_coefficients`` are the numbers that each graph gets.
    """

    left: float
    total: float
    n_coefficients: int


def _explain(trained: Trained, graphs: GraphStack, hollow: bool) -> _Explained | None:
    """Reconstruct held-out graphs from what was learned and their own coefficients.

    Weights are those after ``preprocess``. Where nothing was learned (embeddings of each graph by
    itself), nothing is predicted: None.

    Parameters
    ----------
    trained
        A method, learned from other graphs.
    graphs
        Complete graphs.
    hollow
        Whether pairs s != t alone count, as in graphs without loops; else all entries do.
    """
    name, estimator = trained.method, trained.estimator
    if name not in _RECONSTRUCTING or graphs.has_missing or graphs.n_vertices > _MOST:
        return None
    stack = trained.steps.apply(graphs)
    seen = stack if name != JOINT else estimator._steps.apply(stack)
    features = estimator.transform(stack)
    mean: Any = getattr(estimator, "mean_graph_", None)
    if mean is not None and not isinstance(mean, np.ndarray):
        mean = mean.toarray()
    left = total = 0.0
    for i in range(graphs.n_graphs):
        A = np.asarray(seen[i : i + 1].to_dense().dense[0], dtype=np.float64)
        off = A - _reconstructed(name, estimator, A, features[i], hollow)
        whole = A.copy() if mean is None else A - mean
        if hollow:
            np.fill_diagonal(whole, 0.0)
            np.fill_diagonal(off, 0.0)
        left += float(np.vdot(off, off))
        total += float(np.vdot(whole, whole))
    return _Explained(left, total, features[0].size)


def _reconstructed(name: str, estimator: Any, A: Array, features: Array, hollow: bool) -> Array:
    """Return what a method makes of one graph (n, n)."""
    if name in (JOINT, "PCA"):
        return np.asarray(estimator.inverse_transform(features[None])[0], dtype=np.float64)
    n = len(A)
    if name == "Multiple ASE":
        V = estimator.latent_positions_
        return np.asarray(V @ _scores(V, A, hollow) @ V.T)
    if name == "Omnibus":
        X = features.reshape(n, -1)
        return np.asarray(X * np.sign(estimator.eigenvalues_) @ X.T)
    # Unfolded: A is about U S^(1/2) Y^T, and Y = A U S^(-1/2).
    return np.asarray(estimator.latent_positions_ @ features.reshape(n, -1).T)


def _scores(V: Array, A: Array, hollow: bool) -> Array:
    """Return R (d, d) with the least squares of A - V R V^T, over pairs s != t if ``hollow``."""
    R = V.T @ A @ V
    if not hollow:
        return np.asarray(R)
    # What the components v_j v_k^T have on the diagonal is subtracted on both sides.
    packing = Symmetric(V.shape[1])
    diagonals = packing.pack(V[:, :, None] * V[:, None, :])  # (n, p)
    Gamma = np.eye(packing.n_entries) - diagonals.T @ diagonals
    psi = packing.pack(R[None])[0] - diagonals.T @ np.diag(A)
    return np.asarray(packing.unpack(np.linalg.lstsq(Gamma, psi, rcond=None)[0][None])[0])
