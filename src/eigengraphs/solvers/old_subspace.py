"""The subspace solver: about ten passes over the graphs for all components together.

Components come in blocks of a fixed size (:mod:`blocks`, :mod:`block`), each on what the earlier
ones left, so that the first k components do not depend on how many follow. On few vertices the
basis is everything, and one pass is enough (:mod:`whole`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigengraphs.solvers.block import BLOCK, Block, Job, find_block
from eigengraphs.solvers.blocks import child, find_blocks, make_job
from eigengraphs.solvers.deflated import DeflatedGraphs
from eigengraphs.solvers.loadings import component_gram, solve_loadings
from eigengraphs.solvers.protocol import Array, BlockGraphs, Fit, SubspaceGraphs, Watcher
from eigengraphs.solvers.ruled import RuledSpace
from eigengraphs.solvers.rules import LoadingRule
from eigengraphs.solvers.start import Start, random_unit
from eigengraphs.solvers.symmetric import SymmetricSpace
from eigengraphs.solvers.whole import find_whole, whole_pays

__all__ = ["subspace"]


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
    wide: bool | None = None,
    moments: bool = False,
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
    wide
        Whether the basis may be as wide as where products are kept; as ``cache`` says, if None.
    moments
        Keep the second moment of the cores instead of the cores: s^4 / 4 numbers where they are
        m s^2 / 2. Graphs must be :class:`~eigengraphs.solvers.protocol.SplitGraphs`; not with a
        rule.
    hollow
        The pairs s = t take no part in the loss; the diagonals of the graphs must be zero.
    rule
        Which loadings there may be; None for free ones, which cost least. Not with ``hollow``.
    resume
        A fit whose components are kept as they are, but for those that were interrupted.
    watch
        Called after each round.
    """
    job = make_job(
        graphs, weights=weights, init=init, n_init=n_init, tol=tol, max_iter=max_iter, cache=cache,
        wide=wide, moments=moments, hollow=hollow, watch=watch,
    )  # fmt: skip
    n, m = graphs.n_vertices, graphs.n_graphs
    nothing = np.zeros((n, 0))
    given = init / np.sqrt((init**2).sum(axis=0)) if isinstance(init, np.ndarray) else nothing
    resume = resume or Fit(nothing, np.zeros((m, 0)), (), 0)
    return find_blocks(_Undirected(graphs, job, rule), d, m, given, seed, resume)


class _Undirected:
    """Components h h^T; see :class:`~eigengraphs.solvers.blocks.Kind`."""

    def __init__(self, graphs: SubspaceGraphs, job: Job, rule: LoadingRule | None) -> None:
        self._graphs, self._job, self._rule = graphs, job, rule
        self._total = float(job.sizes.sum())

    @property
    def length(self) -> int:
        """Numbers in a component."""
        return self._graphs.n_vertices

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
        graphs, job = self._graphs, self._job
        if given.shape[1]:
            want = min(want, given.shape[1])  # what is not given is searched afterwards
        if self._rule is not None:
            return find_block(
                RuledSpace(graphs, job, frozen, Psi, self._rule), min(want, BLOCK), job,
                given=given[:, :BLOCK], seed=child(seed, n_before), n_before=n_before,
                passes_before=passes_before,
            )  # fmt: skip
        Lam = solve_loadings(component_gram(frozen, hollow=job.hollow), Psi)
        left = self._total - float(job.weights @ np.einsum("ik,ik->i", Lam, Psi))
        rest: BlockGraphs = graphs
        if frozen.shape[1]:
            rest = DeflatedGraphs(graphs, frozen, Lam, job.hollow)
        # For moments, loadings of frozen components are solved where the graphs are.
        seen = graphs if job.keep == "moments" else rest
        if whole_pays(graphs.n_graphs, graphs.n_vertices):
            # Each component has starts of its own, and none is found again.
            block = find_whole(
                seen, want, job, frozen, left, given, child(seed, 0), n_before, passes_before
            )
        else:
            block = find_block(
                SymmetricSpace(seen, job, frozen, left, rest), min(want, BLOCK), job,
                given=given[:, :BLOCK], seed=child(seed, n_before), n_before=n_before,
                passes_before=passes_before,
            )  # fmt: skip
        if block.Psi is None or not frozen.shape[1]:
            return block
        # The block saw the graphs less the frozen components; their part comes back.
        both = component_gram(np.column_stack([frozen, block.H]), hollow=job.hollow)
        return replace(block, Psi=block.Psi + Lam @ both[: frozen.shape[1], frozen.shape[1] :])

    def forms(self, H: Array) -> Array:
        """Return h_k^T A_i h_k, (m, d)."""
        return self._graphs.quadratic_forms(H)

    def random(self, rng: np.random.Generator) -> Array:
        """Return a unit vector, (n,)."""
        return random_unit(self.length, rng)

    def cosines(self, H: Array, other: Array) -> Array:
        """Return h_k . h_k', (d,)."""
        return np.asarray((H * other).sum(axis=0))
