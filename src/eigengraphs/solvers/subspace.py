"""The subspace solver: about ten passes over the graphs for all components together.

Components come in blocks of a fixed size (:mod:`block`), each on what the earlier ones left, so
that the first k components do not depend on how many follow. On few vertices the basis is
everything, and one pass is enough (:mod:`whole`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigengraphs.solvers.block import BLOCK, Block, Job, find_block
from eigengraphs.solvers.components import first_components
from eigengraphs.solvers.deflated import DeflatedGraphs
from eigengraphs.solvers.free import FreeCore
from eigengraphs.solvers.loadings import component_gram, rounding_share, solve_loadings
from eigengraphs.solvers.protocol import Array, BlockGraphs, Fit, Stage, SubspaceGraphs, Watcher
from eigengraphs.solvers.ruled import RuledCore
from eigengraphs.solvers.rules import LoadingRule
from eigengraphs.solvers.start import Start, random_unit
from eigengraphs.solvers.whole import find_whole, whole_pays

__all__ = ["subspace"]

_RANDOM = 2  # random starts in the core beyond n_init, beside the spectral ones
_AGAIN = 1 - 1e-12  # |cosine| of a component that was found again
_EPS = float(np.finfo(np.float64).eps)


def subspace(
    graphs: SubspaceGraphs,
    d: int,
    *,
    weights: Array,
    init: Start | Array,
    n_init: int,
    tol: float,
    max_iter: int,
    seed: np.random.SeedSequence,
    cache: bool,
    hollow: bool = False,
    rule: LoadingRule | None = None,
    resume: Fit | None = None,
    watch: Watcher | None = None,
) -> Fit:
    """Find d components greedily, many of them in each pass.

    Parameters
    ----------
    graphs
        The graphs, through their products with blocks of columns.
    d
        Number of components.
    weights : (m,)
        Weight of each graph in the objective.
    init
        Where the small problem is started: "svd" from the mean alone, "random", "auto" from the
        mean, the sum of squares and at random; or an array (n, any), one column a component, with
        "auto" for components beyond its columns.
    n_init
        Starts of each component; further ones are random.
    tol
        Stop when ||r_k|| <= tol * theta_k for every component.
    max_iter
        Most rounds for a block of components.
    seed
        Source of the first basis and of the random starts.
    cache
        Keep the products of the graphs with the basis: m n s numbers against every second pass.
    hollow
        The pairs s = t take no part in the loss; the diagonals of the graphs must be zero.
    rule
        Which loadings there may be; None for free ones, which cost least. Not with ``hollow``.
    resume
        A fit whose components are kept as they are, but for those that were interrupted.
    watch
        Called after each round.
    """
    n, m = graphs.n_vertices, graphs.n_graphs
    sizes, noise = weights * graphs.squared_norms(), float(weights @ graphs.rounding())
    total = float(sizes.sum())
    job = Job(
        weights, sizes, hollow,
        by_mean=not (isinstance(init, str) and init == "random"),
        n_squares=3 if not isinstance(init, str) or init == "auto" else 0,
        n_random=n_init + _RANDOM if not isinstance(init, str) or init == "auto"
        else n_init - (init == "svd"),
        n_beside_given=n_init - 1, tol=tol, max_iter=max_iter,
        floor=max((100 * n * _EPS) ** 2 * total, 4 * noise), nothing=rounding_share(n) * total,
        noise=noise, cache=cache, watch=watch,
    )  # fmt: skip
    H, Psi, stages = np.zeros((n, 0)), np.zeros((m, 0)), list[Stage]()
    blocks: list[tuple[int, int]] = []
    n_passes = 1  # the norms
    if resume is not None:
        resume = first_components(resume, _finished(resume))
        H, Psi, stages, blocks = resume.H, resume.Psi, list(resume.stages), list(resume.blocks)
    given = init / np.sqrt((init**2).sum(axis=0)) if isinstance(init, np.ndarray) else H[:, :0]
    interrupted = False
    while len(stages) < d and not interrupted:
        k = len(stages)
        first, in_search = blocks[-1] if blocks else (0, 0)
        # A block that was cut short is found again, whole, as if it had never been.
        start = first if k < first + in_search else k
        if stages and stages[-1].stop_reason == "exhausted":
            block, start = _nothing(m, n, d - k), k
        else:
            active = np.array([s.stop_reason != "exhausted" for s in stages[:start]], dtype=bool)
            frozen, forms = H[:, :start][:, active], Psi[:, :start][:, active]
            try:
                block = _next_block(
                    graphs,
                    d - start,
                    job,
                    total,
                    frozen,
                    forms,
                    given[:, start:],
                    seed,
                    start,
                    n_passes,
                    rule,
                )
            except KeyboardInterrupt:  # before the first round of this block
                if not stages:
                    raise
                interrupted = True
                break
            n_passes += block.n_passes
            known = k - start
            if known and block.interrupted:
                interrupted = True
                break
            if known and not _same(block.H[:, :known], H[:, start:]):
                blocks[-1] = (first, known)  # another search found those: go on behind them
                continue
            block = _without_first(block, known)
        H, Psi, more = _appended(graphs, H, Psi, block, np.random.default_rng(_child(seed, k)))
        n_passes += more
        stages += [
            Stage(block.n_iter, reason, float(size), float(gain), "core", float(agreement))
            for reason, size, gain, agreement in zip(
                block.reasons, block.stationarity, block.gains, block.agreement, strict=True
            )
        ]
        if start == k:
            blocks.append((k, block.size))
        interrupted = block.interrupted
    return Fit(H, Psi, tuple(stages), n_passes, tuple(blocks), interrupted)


def _next_block(
    graphs: SubspaceGraphs,
    want: int,
    job: Job,
    total: float,
    frozen: Array,
    Psi: Array,
    given: Array,
    seed: np.random.SeedSequence,
    n_before: int,
    passes_before: int,
    rule: LoadingRule | None,
) -> Block:
    """Find the components after the frozen ones, as many as one block takes."""
    if given.shape[1]:
        want = min(want, given.shape[1])  # what is not given is searched afterwards
    if rule is not None:
        return _ruled_block(
            graphs, want, job, total, frozen, Psi, given, seed, n_before, passes_before, rule
        )
    Lam = solve_loadings(component_gram(frozen, hollow=job.hollow), Psi)
    left = total - float(job.weights @ np.einsum("ik,ik->i", Lam, Psi))
    rest: BlockGraphs = graphs
    if frozen.shape[1]:
        rest = DeflatedGraphs(graphs, frozen, Lam, job.hollow)
    if whole_pays(graphs.n_graphs, graphs.n_vertices):
        # Each component has starts of its own, and none is found again.
        block = find_whole(
            rest, want, job, frozen, left, given, _child(seed, 0), n_before, passes_before
        )
    else:
        core = FreeCore(
            job.weights, frozen, left, hollow=job.hollow, floor=job.floor, nothing=job.nothing
        )
        block = find_block(
            rest, min(want, BLOCK), job, core, rest=rest, n_frozen=frozen.shape[1],
            given=given[:, :BLOCK], seed=_child(seed, n_before), n_before=n_before,
            passes_before=passes_before,
        )  # fmt: skip
    if block.Psi is None or not frozen.shape[1]:
        return block
    # The block saw the graphs less the frozen components; their part comes back.
    both = component_gram(np.column_stack([frozen, block.H]), hollow=job.hollow)
    return replace(block, Psi=block.Psi + Lam @ both[: frozen.shape[1], frozen.shape[1] :])


def _ruled_block(
    graphs: SubspaceGraphs,
    want: int,
    job: Job,
    total: float,
    frozen: Array,
    Psi: Array,
    given: Array,
    seed: np.random.SeedSequence,
    n_before: int,
    passes_before: int,
    rule: LoadingRule,
) -> Block:
    """Find the components after the frozen ones, whose loadings are not fixed by now."""
    core = RuledCore(
        rule, job.weights, frozen, Psi, total=total, floor=job.floor, nothing=job.nothing
    )
    rest = DeflatedGraphs(graphs, frozen, core.loadings, False) if frozen.shape[1] else graphs
    return find_block(
        graphs, min(want, BLOCK), job, core, rest=rest, n_frozen=frozen.shape[1],
        given=given[:, :BLOCK], seed=_child(seed, n_before), n_before=n_before,
        passes_before=passes_before,
    )  # fmt: skip


def _appended(
    graphs: SubspaceGraphs, H: Array, Psi: Array, block: Block, rng: np.random.Generator
) -> tuple[Array, Array, int]:
    """Return H and Psi with the components of a block, and how often the graphs were read.

    A component that had nothing to fit is a random direction.
    """
    new, n_passes = block.H.copy(), 0
    for j in np.flatnonzero(block.gains == 0):
        new[:, j] = random_unit(len(new), rng)
    forms = block.Psi
    if forms is None:
        forms, n_passes = graphs.quadratic_forms(new), 1
    return np.column_stack([H, new]), np.column_stack([Psi, forms]), n_passes


def _finished(fit: Fit) -> int:
    """Return the number of components before the first that was interrupted."""
    reasons = [stage.stop_reason for stage in fit.stages]
    return reasons.index("interrupted") if "interrupted" in reasons else len(reasons)


def _same(found: Array, known: Array) -> bool:
    """Tell whether components were found again."""
    cosines = np.abs((found[:, : known.shape[1]] * known).sum(axis=0))
    return found.shape[1] >= known.shape[1] and bool((cosines > _AGAIN).all())


def _without_first(block: Block, k: int) -> Block:
    """Return the block without its first k components."""
    return replace(
        block,
        H=block.H[:, k:],
        Psi=None if block.Psi is None else block.Psi[:, k:],
        gains=block.gains[k:],
        stationarity=block.stationarity[k:],
        agreement=block.agreement[k:],
        reasons=block.reasons[k:],
    )


def _child(seed: np.random.SeedSequence, k: int) -> np.random.SeedSequence:
    """Return the source of what begins with component k, whatever was drawn before."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k))


def _nothing(m: int, n: int, d: int) -> Block:
    """Return components for graphs of which nothing is left."""
    zeros = np.zeros(d)
    return Block(
        np.zeros((n, d)), np.zeros((m, d)), zeros, zeros, np.full(d, np.nan),
        ("exhausted",) * d, d, 0, 0, interrupted=False,
    )  # fmt: skip
