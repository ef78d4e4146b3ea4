"""Choose the number of components for an estimator."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from eigengraphs.dimension.evidence import (
    Evidence,
    Job,
    by_elbow,
    by_hidden_pairs,
    by_splits,
    reasons_against,
)
from eigengraphs.dimension.fits import EstimatorFactory, RoughFits
from eigengraphs.dimension.result import RULES, DimensionChoice, recommend
from eigengraphs.errors import InputError
from eigengraphs.fitting.settings import check_count, check_weights
from eigengraphs.stack import GraphStack
from eigengraphs.system.randomness import RandomState, seed_sequence

__all__ = ["choose_n_components"]


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

    :func:`~eigengraphs.select_dimension` says what the rules are, and what the arguments.

    Parameters
    ----------
    make_estimator
        Returns a :class:`~eigengraphs.JointEmbedding` that is not fitted, for a number of
        components. Its tolerance and its random state are set here, the other settings stay.
    """
    _check(max_components, method, alpha, callback)
    stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs, copy=False)
    stack.require_undirected("make the graphs undirected with GraphStack(graphs).symmetrize()")
    weights = check_weights(sample_weight, stack.n_graphs)
    if not weights.all():
        stack, weights = stack[weights > 0], weights[weights > 0]
    fits = RoughFits(stack, make_estimator, weights)
    possible = _most(stack, hollow=fits.treatment.hollow)
    job = Job(
        stack,
        weights / weights.max(),
        fits,
        min(int(max_components), possible),
        possible,
        float(alpha),
        seed_sequence(random_state),
        _teller(verbose, callback),
    )
    wanted = RULES if method == "all" else (method,)
    left_out = {rule: why for rule, why in reasons_against(job).items() if rule in wanted}
    found = _run(job, tuple(rule for rule in wanted if rule not in left_out), left_out)
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


def _run(job: Job, rules: tuple[str, ...], left_out: dict[str, str]) -> dict[str, Evidence]:
    found: dict[str, Evidence] = {}
    if "elbow" in rules:
        found["elbow"] = by_elbow(job)
    on_halves = tuple(rule for rule in rules if rule in ("loadings", "halves"))
    if on_halves:
        found |= by_splits(job, on_halves)
    if "pairs" in rules:
        pairs = by_hidden_pairs(job)
        if isinstance(pairs, str):
            left_out["pairs"] = pairs
        else:
            found["pairs"] = pairs
    return found


def _most(stack: GraphStack, *, hollow: bool) -> int:
    """Return half of the components that fit any graphs like these exactly: more tell nothing."""
    m, n, _ = stack.shape
    pairs = n * (n - 1) // 2 if hollow else n * (n + 1) // 2
    return max(1, min(pairs, m * n) // 2)


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


def _teller(verbose: int, callback: Callable[[str], None] | None) -> Callable[[str], None]:
    def tell(what: str) -> None:
        if verbose:
            print(f"choosing the number of components: {what}", file=sys.stderr)
        if callback is not None:
            callback(what)

    return tell
