"""The shortcut on few vertices, for graphs that are gone but for their moments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigengraphs.solvers.block import Block, Job
from eigengraphs.solvers.blocks import child, find_blocks, make_job
from eigengraphs.solvers.graph_moments import StandIns
from eigengraphs.solvers.loadings import component_gram, solve_loadings
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array, Fit, Watcher
from eigengraphs.solvers.start import Start, random_unit
from eigengraphs.solvers.whole import search_whole

__all__ = ["summed"]


def summed(
    graphs: StandIns,
    d: int,
    *,
    init: Start | Array,
    n_init: int,
    tol: float,
    max_iter: int,
    seed: np.random.SeedSequence,
    hollow: bool,
    resume: Fit | None,
    watch: Watcher | None,
) -> Fit:
    """Find d components of the graphs that others stand for; ``Psi`` is that of the latter.

    The starts are those of :func:`subspace.subspace` on as few vertices; so are the parameters.
    """
    r = len(graphs.R)
    job = make_job(
        _Sizes(graphs), weights=np.ones(r), init=init, n_init=n_init, tol=tol, max_iter=max_iter,
        cache=False, wide=None, moments=False, hollow=hollow, watch=watch,
    )  # fmt: skip
    nothing = np.zeros((graphs.order, 0))
    given = init / np.sqrt((init**2).sum(axis=0)) if isinstance(init, np.ndarray) else nothing
    kind = _Summed(graphs, job)
    # Where other graphs came since, other rows stand for them.
    resume = Fit(nothing, np.zeros((r, 0)), (), 0) if resume is None else resume
    return find_blocks(kind, d, r, given, seed, replace(resume, Psi=kind.forms(resume.H)))


class _Sizes:
    """What :func:`blocks.make_job` asks of graphs."""

    def __init__(self, graphs: StandIns) -> None:
        self._graphs = graphs

    @property
    def n_vertices(self) -> int:
        return self._graphs.order

    def squared_norms(self) -> Array:
        return np.asarray(np.einsum("rp,rp->r", self._graphs.R, self._graphs.R))

    def rounding(self) -> Array:
        r = len(self._graphs.R)
        return np.full(r, self._graphs.noise / r)


class _Summed:
    """Components h h^T; see :class:`~eigengraphs.solvers.blocks.Kind`."""

    def __init__(self, graphs: StandIns, job: Job) -> None:
        self._graphs, self._job = graphs, job
        self._packing = Packing(graphs.order)

    @property
    def length(self) -> int:
        """Numbers in a component."""
        return self._graphs.order

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
        """Find the components after the frozen ones."""
        job, R, mean = self._job, self._graphs.R, self._graphs.mean
        if given.shape[1]:
            want = min(want, given.shape[1])  # what is not given is searched afterwards
        if frozen.shape[1]:
            Gamma = component_gram(frozen, hollow=job.hollow)
            E = self._packing.outer(frozen.T)  # (k, p)
            if job.hollow:
                E[:, self._packing.diagonal] = 0.0
            R = R - solve_loadings(Gamma, Psi) @ E
            mean = mean - (solve_loadings(Gamma, (mean @ E.T)[None]) @ E)[0]
        block = search_whole(
            R, mean, self._graphs.rounding, want, job, frozen, float((R**2).sum()), given,
            child(seed, 0), n_before, passes_before,
        )  # fmt: skip
        return replace(block, Psi=self.forms(block.H))

    def forms(self, H: Array) -> Array:
        """Return the inner products of the rows with components, (r, d)."""
        return np.asarray(self._graphs.R @ self._packing.outer(H.T).T)

    def random(self, rng: np.random.Generator) -> Array:
        """Return a unit vector, (n,)."""
        return random_unit(self.length, rng)

    def cosines(self, H: Array, other: Array) -> Array:
        """Return h_k . h_k', (d,)."""
        return np.asarray((H * other).sum(axis=0))
