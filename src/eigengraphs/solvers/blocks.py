"""Block after block of components, each on what the earlier ones left, until there are enough.

A block has a fixed size, so that the first k components do not depend on how many follow. What a
component is, h h^T or h g^T, is the business of a :class:`Kind`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from eigengraphs.solvers.block import Block, Job
from eigengraphs.solvers.components import first_components
from eigengraphs.solvers.loadings import rounding_share
from eigengraphs.solvers.protocol import Array, Fit, Measured, Stage, Watcher
from eigengraphs.solvers.start import Start

__all__ = ["Kind", "child", "find_blocks", "make_job"]

_RANDOM = 2  # random starts in the core beyond n_init, beside the spectral ones
_AGAIN = 1 - 1e-12  # |cosine| of a component that was found again
_EPS = float(np.finfo(np.float64).eps)


class Kind(Protocol):
    """Graphs with one kind of components, which are columns of ``length`` numbers."""

    @property
    def length(self) -> int:
        """Numbers in a component: n, or 2 n with two sides."""
        ...

    def next_block(
        self,
        want: int,
        frozen: Array,
        Psi: Array,
        given: Array,
        seed: np.random.SeedSequence,
        n_before: int,
        passes_before: int,
    ) -> Block:
        """Find the components after the frozen ones, as many as one block takes."""
        ...

    def forms(self, H: Array) -> Array:
        """Return the inner products of the graphs with components, (m, d): one pass."""
        ...

    def random(self, rng: np.random.Generator) -> Array:
        """Return a component drawn at random, (length,)."""
        ...

    def cosines(self, H: Array, other: Array) -> Array:
        """Return inner products of components, column by column, (d,)."""
        ...


def make_job(
    graphs: Measured,
    *,
    weights: Array,
    init: Start | Array,
    n_init: int,
    tol: float,
    max_iter: int,
    cache: bool,
    wide: bool | None,
    moments: bool,
    hollow: bool,
    watch: Watcher | None,
) -> Job:
    """Put settings together with what they mean for these graphs; see :func:`subspace.subspace`."""
    sizes, noise = weights * graphs.squared_norms(), float(weights @ graphs.rounding())
    total, n = float(sizes.sum()), graphs.n_vertices
    return Job(
        weights, sizes, hollow,
        by_mean=not (isinstance(init, str) and init == "random"),
        n_squares=3 if not isinstance(init, str) or init == "auto" else 0,
        n_random=n_init + _RANDOM if not isinstance(init, str) or init == "auto"
        else n_init - (init == "svd"),
        n_beside_given=n_init - 1, tol=tol, max_iter=max_iter,
        floor=max((100 * n * _EPS) ** 2 * total, 4 * noise), nothing=rounding_share(n) * total,
        noise=noise, keep="moments" if moments else "products" if cache else "cores",
        wide=cache if wide is None else wide, watch=watch,
    )  # fmt: skip


def find_blocks(
    kind: Kind, d: int, n_graphs: int, given: Array, seed: np.random.SeedSequence, resume: Fit
) -> Fit:
    """Find d components, the first of them those of ``resume`` that were not interrupted.

    Parameters
    ----------
    kind
        The graphs.
    d, n_graphs
        Number of components and of graphs.
    given : (length, any)
        Components to start from, the first for component 0.
    seed
        Source of all that is random.
    resume
        A fit, maybe without components, whose H holds whole components (length, any).
    """
    resume = first_components(resume, _finished(resume))
    H, Psi, stages, blocks = resume.H, resume.Psi, list(resume.stages), list(resume.blocks)
    n_passes = 1  # the norms
    interrupted = False
    while len(stages) < d and not interrupted:
        k = len(stages)
        first, in_search = blocks[-1] if blocks else (0, 0)
        # A block that was cut short is found again, whole, as if it had never been.
        start = first if k < first + in_search else k
        if stages and stages[-1].stop_reason == "exhausted":
            block, start = _nothing(n_graphs, kind.length, d - k), k
        else:
            active = np.array([s.stop_reason != "exhausted" for s in stages[:start]], dtype=bool)
            frozen, forms = H[:, :start][:, active], Psi[:, :start][:, active]
            try:
                block = kind.next_block(
                    d - start, frozen, forms, given[:, start:], seed, start, n_passes
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
            if known and not _same(kind, block.H[:, :known], H[:, start:]):
                blocks[-1] = (first, known)  # another search found those: go on behind them
                continue
            block = _without_first(block, known)
        H, Psi, more = _appended(kind, H, Psi, block, np.random.default_rng(child(seed, k)))
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


def _appended(
    kind: Kind, H: Array, Psi: Array, block: Block, rng: np.random.Generator
) -> tuple[Array, Array, int]:
    """Return H and Psi with the components of a block, and how often the graphs were read.

    A component that had nothing to fit is a random one.
    """
    new, n_passes = block.H.copy(), 0
    for j in np.flatnonzero(block.gains == 0):
        new[:, j] = kind.random(rng)
    forms = block.Psi
    if forms is None:
        forms, n_passes = kind.forms(new), 1
    return np.column_stack([H, new]), np.column_stack([Psi, forms]), n_passes


def _finished(fit: Fit) -> int:
    """Return the number of components before the first that was interrupted."""
    reasons = [stage.stop_reason for stage in fit.stages]
    return reasons.index("interrupted") if "interrupted" in reasons else len(reasons)


def _same(kind: Kind, found: Array, known: Array) -> bool:
    """Tell whether components were found again."""
    if found.shape[1] < known.shape[1]:
        return False
    return bool((np.abs(kind.cosines(found[:, : known.shape[1]], known)) > _AGAIN).all())


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


def child(seed: np.random.SeedSequence, k: int) -> np.random.SeedSequence:
    """Return the source of what begins with component k, whatever was drawn before."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k))


def _nothing(m: int, length: int, d: int) -> Block:
    """Return components for graphs of which nothing is left."""
    zeros = np.zeros(d)
    return Block(
        np.zeros((length, d)), np.zeros((m, d)), zeros, zeros, np.full(d, np.nan),
        ("exhausted",) * d, d, 0, 0, interrupted=False,
    )  # fmt: skip
