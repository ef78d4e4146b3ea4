"""Choose the number of components for an estimator: run the rules on rough fits."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from eigengraphs.dimension.dimension_choice import RULES, DimensionChoice, Evidence, recommend
from eigengraphs.dimension.selection_rules import by_elbow, by_hidden_pairs, by_splits
from eigengraphs.errors import DegenerateWarning, InputError, NotAvailableError
from eigengraphs.fitting.plan import Treatment
from eigengraphs.fitting.settings import check_count, check_settings, check_weights
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import one_blas_thread
from eigengraphs.system.randomness import RandomState, seed_sequence

_FIRST_LOOK = 6  # components; twice as many where these do not show the end
_OWN_SEED = 2**31  # child of the estimator's seed, which no component has
# A direction serves a test as it is: components of noise, which take most of the rounds, need not
# be found exactly. The first ones must: what they leave of a strong component would look real.
_ROUNDS = {"subspace": 10, "algorithm1": 200}


def choose_for(
    estimator: Any, stack: GraphStack, sample_weight: Any, seed: np.random.SeedSequence
) -> DimensionChoice:
    """Choose ``n_components="auto"`` for an estimator's own settings, with free loadings.

    Parameters
    ----------
    estimator
        A :class:`~eigengraphs.JointEmbedding` with ``n_components="auto"``.
    stack
        Its training graphs, after its steps of preprocessing.
    sample_weight
        Of the graphs, or None.
    seed
        Of the estimator.
    """
    plain = {
        "loadings": "free", "max_nonzeros": None, "l1_penalty": None, "preprocess": None,
        "refine": False, "missing": "error",
    }  # fmt: skip
    return choose_n_components(
        stack,
        clone(estimator).set_params(**plain),
        sample_weight=sample_weight,
        random_state=np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _OWN_SEED)),
        verbose=estimator.verbose,
    )


def choose_n_components(
    stack: GraphStack,
    estimator: Any,
    *,
    max_components: int = 12,
    method: str = "all",
    alpha: Any = 0.05,
    sample_weight: Any = None,
    random_state: RandomState = None,
    verbose: int = 0,
    callback: Callable[[str], None] | None = None,
) -> DimensionChoice:
    """Choose the number of components of training graphs by up to four rules.

    :func:`~eigengraphs.select_dimension` describes the rules and the arguments.

    Parameters
    ----------
    estimator
        A :class:`~eigengraphs.JointEmbedding`, which is cloned for each fit. Its number of
        components, tolerance and random state are set here, the other settings stay.
    """
    check_count("max_components", max_components)
    if method not in ("all", *RULES):
        names = ", ".join(map(repr, ("all", *RULES)))
        raise InputError(f"method must be one of {names}, got method={method!r}")
    number = isinstance(alpha, float | int | np.number) and not isinstance(alpha, bool)
    if not number or not 0 < alpha < 1:
        raise InputError(
            f"alpha, the rate of false alarms, must be between 0 and 1, got alpha={alpha!r}"
        )
    if estimator.degree_corrected:
        raise InputError(
            "the number of components is not chosen for degree-corrected fits; give a number "
            "(for K communities K, the nearly constant first component included), or compare fits "
            "by score"
        )
    if estimator.directed or stack.has_missing:
        what = "directed graphs" if estimator.directed else "graphs with missing entries"
        raise InputError(
            f"the number of components is not chosen for {what}; give a number, symmetrize() or "
            "fill the graphs to choose it, or compare fits by score"
        )
    stack.require_undirected("make the graphs undirected with GraphStack(graphs).symmetrize()")

    def tell(what: str) -> None:
        if verbose:
            print(f"choosing the number of components: {what}", file=sys.stderr)
        if callback is not None:
            callback(what)

    weights = check_weights(sample_weight, stack.n_graphs)
    if not weights.all():
        stack, weights = stack[weights > 0], weights[weights > 0]
    check_settings(estimator.get_params(deep=False) | {"callback": callback, "verbose": verbose})
    if estimator.loadings != "free":
        raise NotAvailableError(
            f"the number of components cannot be chosen with loadings={estimator.loadings!r}; "
            "choose it with loadings='free', and give the number"
        )
    seed = seed_sequence(random_state)
    job = Job(stack, estimator, weights, int(max_components), float(alpha), seed, tell)
    against, wanted = _reasons_against(job), RULES if method == "all" else (method,)
    found: dict[str, Evidence | str] = {rule: against[rule] for rule in wanted if rule in against}
    rules = [rule for rule in wanted if rule not in found]
    if "elbow" in rules:
        found["elbow"] = by_elbow(job)
    if on_halves := [rule for rule in rules if rule in ("loadings", "halves")]:
        found |= by_splits(job, on_halves)
    if "pairs" in rules:
        found["pairs"] = by_hidden_pairs(job)
    left_out = {rule: why for rule, why in found.items() if isinstance(why, str)}
    ran = {rule: e for rule in RULES if isinstance(e := found.get(rule), Evidence)}
    if not ran:
        raise InputError(f"method={method!r} cannot be used here: {left_out[method]}")
    choices = {rule: e.choice for rule, e in ran.items()}
    return DimensionChoice(
        n_components=recommend(choices, job.max_components)[0],
        choices=choices,
        curves={rule: e.curve for rule, e in ran.items()},
        levels={rule: e.level for rule, e in ran.items() if e.level is not None},
        left_out=left_out,
        alpha=job.alpha,
        max_components=job.max_components,
        doubt=ran["halves"].doubt if "halves" in ran else "",
    )


def _reasons_against(job: Job) -> dict[str, str]:
    """Return the rules that cannot run, and why."""
    m, n, _ = job.stack.shape
    reasons = {}
    least, of = (4, " of centered graphs") if job.centered else (2, "")
    if m < least:
        why = f"halves{of} need at least {least} graphs; this stack has {m}"
        reasons = {"loadings": why, "halves": why}
    elif n < 7:  # all signs agree by chance with probability 2^(1 - n)
        reasons["halves"] = (
            f"similarities on fewer than 7 vertices may be chance; this stack has {n}"
        )
    if n < 6:
        reasons["pairs"] = f"hiding pairs needs at least 6 vertices; this stack has {n}"
    elif not job.stack.facts.off_norm.any():
        reasons["pairs"] = "there are no edges between different vertices to hide"
    return reasons


class Job:
    """Graphs and rough fits to them or to parts of them, all treated alike; what all rules share.

    Parameters
    ----------
    stack
        All graphs; what is done about their diagonal is decided on them, before any split.
    estimator
        Its settings are those of every fit.
    weights : (m,)
        Of the graphs, positive.
    max_components, alpha, seed, tell
        Of :func:`choose_n_components`.

    Attributes
    ----------
    possible : int
        Half of the components that fit any graphs like these exactly: more show nothing.
    max_components : int
        As given, at most ``possible``.
    """

    def __init__(
        self, stack: GraphStack, estimator: Any, weights: Array, max_components: int,
        alpha: float, seed: np.random.SeedSequence, tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.stack, self.weights = stack, weights / weights.max()
        self.alpha, self.seed, self.tell = alpha, seed, tell
        self.centered = bool(estimator.center)
        self.treatment = self.treat(stack, estimator.diagonal, weights)
        self._estimator = estimator
        m, n, _ = stack.shape
        pairs = n * (n - 1) // 2 if self.treatment.hollow else n * (n + 1) // 2
        self.possible = max(1, min(pairs, m * n) // 2)
        self.max_components = min(max_components, self.possible)

    @one_blas_thread()
    def treat(self, graphs: GraphStack, diagonal: str, weights: Array) -> Treatment:
        """Return the treatment that is learned on graphs."""
        return Treatment.learn(graphs, diagonal, self.centered, weights)

    def looks(self, most: int) -> Iterator[int]:
        """Yield how many components to look at: a few first, and more until a rule sees an end."""
        d = _FIRST_LOOK
        while d < most:
            yield d
            d *= 2
        yield most

    def fit(self, graphs: GraphStack, d: int, weights: Array, seed: np.random.SeedSequence) -> Any:
        """Return an estimator fitted to some graphs."""
        given = self._estimator
        return fit_quietly(
            given,
            graphs,
            weights,
            n_components=d,
            # Given starts have one number of components.
            init=given.init if isinstance(given.init, str) else "auto",
            diagonal=self.treatment.diagonal,
            max_iter=min(given.max_iter, _ROUNDS[given.solver]),
            random_state=seed,
            refine=False,  # refined components do not nest
        )

    def positions(
        self, graphs: GraphStack, d: int, weights: Array, seed: np.random.SeedSequence
    ) -> Array:
        """Return the components of some graphs, (n, d); zero columns for degenerate ones."""
        estimator = self.fit(graphs, d, weights, seed)
        H = np.asarray(estimator.latent_positions_, dtype=np.float64)
        return np.where(estimator.degenerate_, 0.0, H)

    def seeds(self, purpose: int, count: int) -> list[np.random.SeedSequence]:
        """Return seeds for one purpose, the same whatever other rules run."""
        return seed_sequence(self.seed).spawn(purpose + 1)[purpose].spawn(count)


def fit_quietly(estimator: Any, graphs: GraphStack, weights: Any = None, **settings: Any) -> Any:
    """Fit a clone with some other settings: no progress, nor warnings that are of one fit alone."""
    again = clone(estimator).set_params(verbose=0, callback=None, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        return again.fit(graphs, sample_weight=weights)
