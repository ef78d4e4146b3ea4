"""Run each rule on the fits that it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from eigengraphs.dimension.elbow import elbow
from eigengraphs.dimension.fits import RoughFits
from eigengraphs.dimension.halves import Replication, last_replicated, replication
from eigengraphs.dimension.held_out import combined, leading, noise_p_values
from eigengraphs.dimension.hidden_pairs import Blocks, prediction_errors, smallest_good
from eigengraphs.solvers.protocol import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import one_blas_thread
from eigengraphs.system.randomness import seed_sequence

__all__ = ["Evidence", "Job", "by_elbow", "by_hidden_pairs", "by_splits", "reasons_against"]

_FIRST_LOOK = 6  # components; twice as many where these do not show the end
_ELBOW_LOOKS_AT = 8  # at least: it takes gains of noise to see where they begin
_SPLITS = 15  # at most; of 3, real graphs gave 4 or 9 components depending on the seed
_FEW = 3  # splits that tell whether more components must be looked at
_CLEAR = 2 / 3  # of the splits that should speak for a decision
_SETS = 5  # of vertices, whose pairs are hidden in turn
_ROUNDS = 2  # of sets; after one, the number depends on the seed where gains are small
_SIGNS_TELL_FROM = 7  # vertices: all signs agree by chance with probability 2^(1 - n)


@dataclass(frozen=True)
class Job:
    """Graphs and how to fit them; what all rules share."""

    stack: GraphStack
    weights: Array  # (m,), positive
    fits: RoughFits
    max_components: int  # that may be chosen
    possible: int  # that make sense for such graphs, at least as many
    alpha: float
    seed: np.random.SeedSequence
    tell: Callable[[str], None]


@dataclass(frozen=True)
class Evidence:
    """What one rule found."""

    choice: int
    curve: Array
    level: Array | None = None
    doubt: str = ""


def reasons_against(job: Job) -> dict[str, str]:
    """Return the rules that cannot run, and why."""
    m, n, _ = job.stack.shape
    reasons = {}
    least = 4 if job.fits.centered else 2
    if m < least:
        centred = " of centred graphs" if job.fits.centered else ""
        why = f"halves{centred} need at least {least} graphs; this stack has {m}"
        reasons["loadings"] = reasons["halves"] = why
    elif n < _SIGNS_TELL_FROM:
        reasons["halves"] = (
            f"similarities on fewer than {_SIGNS_TELL_FROM} vertices may be chance; this stack "
            f"has {n}"
        )
    if n < 6:
        reasons["pairs"] = f"hiding pairs needs at least 6 vertices; this stack has {n}"
    elif not job.stack.facts.off_norm.any():
        reasons["pairs"] = "there are no edges between different vertices to hide"
    return reasons


def by_elbow(job: Job) -> Evidence:
    """Look where the objective of one fit flattens out."""
    d = min(job.possible, max(job.max_components, _ELBOW_LOOKS_AT))
    job.tell(f"elbow: {d} components on all graphs")
    fit = job.fits.fit(job.stack, d, job.weights, job.seed)
    choice = min(elbow(fit.objective_path_), job.max_components)
    return Evidence(choice, np.asarray(fit.explained_ratio_))


# ------------------------------------------------------------------ halves of the graphs


def by_splits(job: Job, wanted: tuple[str, ...]) -> dict[str, Evidence]:
    """Find components on halves of the graphs: test loadings, compare components.

    Looks at a few components first, and at more as long as the last of them still counts.
    """
    d = min(job.max_components, _FIRST_LOOK)
    while True:
        found = _splits(job, d, wanted)
        if d == job.max_components or _ended(found, d):
            return found
        d = min(2 * d, job.max_components)


def _ended(found: dict[str, Evidence], d: int) -> bool:
    # One component beyond the last that is found again may be a matter of their order.
    return all(one.choice < d - (rule == "halves") for rule, one in found.items())


def _splits(job: Job, d: int, wanted: tuple[str, ...]) -> dict[str, Evidence]:
    m = job.stack.n_graphs
    distinct = comb(m, m // 2) // (1 if m % 2 else 2)
    seeds = _seeds(job, 0, min(_SPLITS, distinct))
    p_values: dict[str, list[Array]] = {rule: [] for rule in wanted}
    compared: list[Replication] = []
    found: dict[str, Evidence] = {}
    for b, seed in enumerate(seeds, start=1):
        job.tell(f"halves of the graphs: split {b} of at most {len(seeds)}, {d} components")
        rng = np.random.default_rng(seed)
        order = rng.permutation(m)
        halves = np.sort(order[: m // 2]), np.sort(order[m // 2 :])
        stacks = [job.stack[half] for half in halves]
        H = [
            job.fits.positions(graphs, d, job.weights[half], seed)
            for graphs, half in zip(stacks, halves, strict=True)
        ]
        if "halves" in wanted:
            compared.append(replication(H[0], H[1], job.alpha / 2))  # twice the median is taken
            p_values["halves"].append(compared[-1].p_values)
        if "loadings" in wanted:
            p_values["loadings"] += [
                _held_out(job, stacks[1], H[0], len(halves[0]), rng),
                _held_out(job, stacks[0], H[1], len(halves[1]), rng),
            ]
        found = _judged(job, p_values, compared)
        if b == _FEW and d < job.max_components and not _ended(found, d):
            break  # more components are looked at, with all splits
        if all(_settled(job, rule, p, b, len(seeds)) for rule, p in p_values.items()):
            break
    return found


def _judged(
    job: Job, p_values: dict[str, list[Array]], compared: list[Replication]
) -> dict[str, Evidence]:
    found = {}
    if "loadings" in p_values:
        p = combined(np.array(p_values["loadings"]))
        found["loadings"] = Evidence(leading(p, job.alpha), p, np.full(len(p), job.alpha))
    if "halves" in p_values:
        each = np.array(p_values["halves"])
        choice = last_replicated(combined(each), job.alpha)
        found["halves"] = Evidence(
            choice,
            np.median([one.similarities for one in compared], axis=0),
            np.median([one.levels for one in compared], axis=0),
            _doubt(each <= job.alpha / 2, choice),
        )
    return found


def _settled(job: Job, rule: str, p_values: list[Array], done: int, total: int) -> bool:
    """Return whether the remaining splits cannot change what a rule says."""
    p = np.array(p_values)
    more = np.ones((len(p) // done * (total - done), p.shape[1]))
    says = leading if rule == "loadings" else last_replicated
    lowest, highest = (
        says(combined(np.vstack([p, value * more])), job.alpha) for value in (0.0, 1.0)
    )
    return lowest == highest


def _doubt(found_again: NDArray[np.bool_], choice: int) -> str:
    """Say in words that splits (b, d) do not clearly speak for a choice; empty if they do."""
    share = np.concatenate([[1.0], found_again.mean(axis=0)])  # of 0, 1, ... components
    rival = choice + 1 + int(np.argmax(share[choice + 1 :])) if choice + 1 < len(share) else choice
    if share[choice] >= _CLEAR and (rival == choice or share[rival] <= 1 - _CLEAR):
        return ""
    said = (
        f"{choice} components are found again in {share[choice]:.0%} of {len(found_again)} splits"
    )
    return said if rival == choice else f"{said}, and {rival} in {share[rival]:.0%}"


def _held_out(
    job: Job, graphs: GraphStack, H: Array, n_training: int, rng: np.random.Generator
) -> Array:
    # A mean of their own: beside the training graphs' mean, all would differ from it by its noise.
    treatment = job.fits.treat(graphs, job.fits.treatment.diagonal, np.ones(graphs.n_graphs))
    with one_blas_thread():
        return noise_p_values(
            treatment.operator(graphs, loss=True),
            H,
            rng,
            hollow=treatment.hollow,
            centered=job.fits.centered,
            n_training=n_training,
        )


# ------------------------------------------------------------------ hidden pairs


def by_hidden_pairs(job: Job) -> Evidence | str:
    """Hide the pairs within sets of vertices in turn, and predict them; or say why not."""
    n = job.stack.n_vertices
    n_sets = min(_SETS, n // 2)
    sets = []
    for seed in _seeds(job, 1, _ROUNDS):
        member = np.random.default_rng(seed).permutation(n) % n_sets
        sets += [member == j for j in range(n_sets)]
    others = n - max(int(hidden.sum()) for hidden in sets)
    most = min(job.max_components, others * (others - 1) // 2)
    rounding = 1e-5 if job.stack.dtype == np.float32 else 1e-9
    d = min(most, _FIRST_LOOK)
    while True:
        errors = [_hide(job, hidden, d, f"{j + 1} of {len(sets)}") for j, hidden in enumerate(sets)]
        kept = np.array([error for error in errors if error[0] > 0])
        if len(kept) < 3:
            return "hidden pairs have hardly an edge among them, so that none can be predicted"
        found = Evidence(*smallest_good(kept, job.alpha, rounding))
        if found.choice < d - 1 or d == most:
            return found
        d = min(2 * d, most)


def _hide(job: Job, hidden: NDArray[np.bool_], d: int, which: str) -> Array:
    job.tell(f"hidden pairs: set {which}, {d} components")
    with one_blas_thread():
        blocks = Blocks(job.stack, job.fits.treatment, hidden)
    H = job.fits.positions(blocks.other_graphs, d, job.weights, job.seed)
    with one_blas_thread():
        return prediction_errors(blocks, H, job.weights)


def _seeds(job: Job, purpose: int, count: int) -> list[np.random.SeedSequence]:
    return seed_sequence(job.seed).spawn(purpose + 1)[purpose].spawn(count)
