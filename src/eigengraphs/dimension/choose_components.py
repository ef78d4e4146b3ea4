"""Choose the number of components for an estimator: run the rules on rough fits."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from eigengraphs.dimension.dimension_choice import RULES, DimensionChoice, Evidence, recommend
from eigengraphs.dimension.elbow_rule import by_elbow
from eigengraphs.dimension.halves_rules import by_splits
from eigengraphs.dimension.hidden_pairs_rule import by_hidden_pairs
from eigengraphs.errors import DegenerateWarning, InputError, NotAvailableError
from eigengraphs.fitting.plan import Treatment
from eigengraphs.fitting.settings import check_count, check_settings, check_weights
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import one_blas_thread
from eigengraphs.system.randomness import RandomState, seed_sequence

__all__ = ["Job", "choose_for", "choose_n_components"]

EstimatorFactory: TypeAlias = Callable[[int], Any]

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
    if estimator.directed or stack.has_missing:
        raise InputError(
            "n_components='auto' is for undirected graphs without missing entries; give a number"
        )
    plain = {
        "loadings": "free", "max_nonzeros": None, "l1_penalty": None, "preprocess": None,
        "refine": False, "missing": "error",
    }  # fmt: skip
    return choose_n_components(
        stack,
        lambda d: clone(estimator).set_params(n_components=d, **plain),
        sample_weight=sample_weight,
        random_state=np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _OWN_SEED)),
        verbose=estimator.verbose,
    )


def choose_n_components(
    graphs: Any,
    make_estimator: EstimatorFactory,
    *,
    max_components: int = 12,
    method: str = "all",
    alpha: float = 0.05,
    sample_weight: Any = None,
    random_state: RandomState = None,
    verbose: int = 0,
    callback: Callable[[str], None] | None = None,
) -> DimensionChoice:
    """Choose the number of components of training graphs by up to four rules.

    :func:`~eigengraphs.select_dimension` describes the rules and the arguments.

    Parameters
    ----------
    make_estimator
        Returns a :class:`~eigengraphs.JointEmbedding` that is not fitted, for a number of
        components. Its tolerance and its random state are set here, the other settings stay.
    """
    _check(max_components, method, alpha, callback)
    stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs, copy=False)
    stack.require_undirected("make the graphs undirected with GraphStack(graphs).symmetrize()")

    def tell(what: str) -> None:
        if verbose:
            print(f"choosing the number of components: {what}", file=sys.stderr)
        if callback is not None:
            callback(what)

    weights = check_weights(sample_weight, stack.n_graphs)
    if not weights.all():
        stack, weights = stack[weights > 0], weights[weights > 0]
    seed = seed_sequence(random_state)
    job = Job(stack, make_estimator, weights, int(max_components), float(alpha), seed, tell)
    wanted = RULES if method == "all" else (method,)
    left_out = {rule: why for rule, why in _reasons_against(job).items() if rule in wanted}
    rules = [rule for rule in wanted if rule not in left_out]
    found: dict[str, Evidence] = {}
    if "elbow" in rules:
        found["elbow"] = by_elbow(job)
    if on_halves := [rule for rule in rules if rule in ("loadings", "halves")]:
        found |= by_splits(job, on_halves)
    if "pairs" in rules:
        pairs = by_hidden_pairs(job)
        if isinstance(pairs, str):
            left_out["pairs"] = pairs
        else:
            found["pairs"] = pairs
    if not found:
        raise InputError(f"method={method!r} cannot be used here: {left_out[method]}")
    choices = {rule: found[rule].choice for rule in RULES if rule in found}
    return DimensionChoice(
        n_components=recommend(choices, job.max_components)[0],
        choices=choices,
        curves={rule: found[rule].curve for rule in choices},
        levels={rule: e.level for rule, e in found.items() if e.level is not None},
        left_out=left_out,
        alpha=job.alpha,
        max_components=job.max_components,
        doubt=found["halves"].doubt if "halves" in found else "",
    )


def _check(max_components: Any, method: Any, alpha: Any, callback: Any) -> None:
    check_count("max_components", max_components)
    if method not in ("all", *RULES):
        names = ", ".join(map(repr, ("all", *RULES)))
        raise InputError(f"method must be one of {names}, got method={method!r}")
    number = isinstance(alpha, float | int | np.number) and not isinstance(alpha, bool)
    if not number or not 0 < alpha < 1:
        raise InputError(
            f"alpha, the rate of false alarms, must be between 0 and 1, got alpha={alpha!r}"
        )
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be None or a function, got callback={callback!r}")


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
    make_estimator
        Makes an estimator that is not fitted, for a number of components.
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
        self, stack: GraphStack, make_estimator: EstimatorFactory, weights: Array,
        max_components: int, alpha: float, seed: np.random.SeedSequence,
        tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        template = make_estimator(1)
        settings = template.get_params(deep=False)
        check_settings(settings)
        for name, needed in (("directed", False), ("loadings", "free")):
            if settings[name] != needed:
                raise NotAvailableError(
                    f"the number of components cannot be chosen with {name}={settings[name]!r}; "
                    f"choose it with {name}={needed!r}, and give the number"
                )
        self.stack, self.weights = stack, weights / weights.max()
        self.alpha, self.seed, self.tell = alpha, seed, tell
        self.centered = bool(template.center)
        self.treatment = self.treat(stack, template.diagonal, weights)
        self._make_estimator = make_estimator
        m, n, _ = stack.shape
        pairs = n * (n - 1) // 2 if self.treatment.hollow else n * (n + 1) // 2
        self.possible = max(1, min(pairs, m * n) // 2)
        self.max_components = min(max_components, self.possible)

    def treat(self, graphs: GraphStack, diagonal: str, weights: Array) -> Treatment:
        """Return the treatment that is learned on graphs."""
        with one_blas_thread():
            return Treatment.learn(graphs, diagonal, self.centered, weights)

    def fit(self, graphs: GraphStack, d: int, weights: Array, seed: np.random.SeedSequence) -> Any:
        """Return an estimator fitted to some graphs."""
        estimator = self._make_estimator(d)
        given = estimator.get_params(deep=False)
        if not isinstance(given["init"], str):
            estimator.set_params(init="auto")  # given starts have one number of components
        estimator.set_params(
            diagonal=self.treatment.diagonal,
            max_iter=min(given["max_iter"], _ROUNDS[given["solver"]]),
            random_state=seed,
            verbose=0,
            callback=None,
            refine=False,  # refined components do not nest
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DegenerateWarning)
            return estimator.fit(graphs, sample_weight=weights)

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
