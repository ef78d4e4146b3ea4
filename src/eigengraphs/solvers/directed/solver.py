"""The subspace solver for directed graphs, block after block; see :mod:`subspace`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.solvers.block import BLOCK, Block, Job, find_block
from eigengraphs.solvers.blocks import child, find_blocks, make_job
from eigengraphs.solvers.components import column_signs
from eigengraphs.solvers.directed.deflated import DeflatedDirected
from eigengraphs.solvers.directed.pairs import pair_cosines, pair_gram, unit_pairs
from eigengraphs.solvers.directed.space import PairSpace
from eigengraphs.solvers.directed.whole import find_whole_pairs, whole_pairs_pay
from eigengraphs.solvers.loadings import solve_loadings
from eigengraphs.solvers.protocol import (
    Array,
    DirectedBlockGraphs,
    DirectedGraphs,
    Fit,
    Watcher,
)
from eigengraphs.solvers.start import Start

__all__ = ["directed"]


def directed(
    graphs: DirectedGraphs,
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
    resume: Fit | None = None,
    watch: Watcher | None = None,
) -> Fit:
    """Find d components h_k g_k^T greedily, many of them in each pass.

    Parameters
    ----------
    graphs
        The graphs, through their products with blocks of columns on both sides.
    d
        Number of components.
    weights : (m,)
        Weight of each graph in the objective.
    init
        Where the small problem is started: "svd" from the mean alone, "random", "auto" from the
        mean, the sums of squares and at random; or an array (2, n, any) that holds H and G, one
        column a component, with "auto" for components beyond its columns.
    n_init
        Starts of each component; further ones are random.
    tol
        Stop when the gradients of h_k and g_k together are at most tol * theta_k, for every k.
    max_iter
        Most rounds for a block of components.
    seed
        Source of the first bases and of the random starts.
    cache
        Keep the products of the graphs with the bases: m n (s + t) numbers against every second
        pass.
    wide
        Whether the bases may be as wide as where products are kept; as ``cache`` says, if None.
    moments
        Keep the second moment of the cores instead of the cores: s^2 t^2 numbers where they are
        m s t. Graphs must be :class:`~eigengraphs.solvers.protocol.SplitDirectedGraphs`.
    hollow
        The pairs s = t take no part in the loss; the diagonals of the graphs must be zero.
    resume
        A fit whose components are kept as they are, but for those that were interrupted.
    watch
        Called after each round.

    Returns
    -------
    Fit
        With H and G, unit columns, and Psi_ik = h_k^T A_i g_k, the largest of which, for each k,
        is positive.
    """
    n, m = graphs.n_vertices, graphs.n_graphs
    given = np.zeros((2 * n, 0))
    if isinstance(init, np.ndarray):
        if init.ndim != 3 or init.shape[:2] != (2, n):
            raise InputError(
                f"the start of directed components must be an array (2, {n}, any), H and then G, "
                f"got one of shape {init.shape}"
            )
        given = unit_pairs(init.reshape(2 * n, -1).T, n).T
    job = make_job(
        graphs, weights=weights, init=init, n_init=n_init, tol=tol, max_iter=max_iter, cache=cache,
        wide=wide, moments=moments, hollow=hollow, watch=watch,
    )  # fmt: skip
    before = Fit(np.zeros((2 * n, 0)), np.zeros((m, 0)), (), 0)
    if resume is not None:
        if resume.G is None:
            raise InputError("an undirected fit cannot be resumed as a directed one; fit again")
        before = replace(resume, H=np.vstack([resume.H, resume.G]), G=None)
    fit = find_blocks(_Directed(graphs, job), d, m, given, seed, before)
    # h g^T and -h g^T are one component: the graph that has most of it has it positively.
    signs = column_signs(fit.Psi[weights > 0])
    return replace(fit, H=fit.H[:n], G=fit.H[n:] * signs, Psi=fit.Psi * signs)


class _Directed:
    """Components h g^T, h above g; see :class:`~eigengraphs.solvers.blocks.Kind`."""

    def __init__(self, graphs: DirectedGraphs, job: Job) -> None:
        self._graphs, self._job = graphs, job
        self._n = graphs.n_vertices
        self._total = float(job.sizes.sum())

    @property
    def length(self) -> int:
        """Numbers in a component."""
        return 2 * self._n

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
        graphs, job, n = self._graphs, self._job, self._n
        Lam = solve_loadings(pair_gram(frozen, hollow=job.hollow), Psi)
        left = self._total - float(job.weights @ np.einsum("ik,ik->i", Lam, Psi))
        rest: DirectedBlockGraphs = graphs
        if frozen.shape[1]:
            rest = DeflatedDirected(graphs, frozen[:n], frozen[n:], Lam, job.hollow)
        # For moments, loadings of frozen components are solved where the graphs are.
        seen = graphs if job.keep == "moments" else rest
        if given.shape[1]:
            want = min(want, given.shape[1])  # what is not given is searched afterwards
        if whole_pairs_pay(graphs.n_graphs, n):
            # Each component has starts of its own, and none is found again.
            block = find_whole_pairs(
                seen, want, job, frozen, left, given, child(seed, 0), n_before, passes_before
            )
        else:
            block = find_block(
                PairSpace(seen, job, frozen, left, rest), min(want, BLOCK), job,
                given=given[:, :BLOCK], seed=child(seed, n_before), n_before=n_before,
                passes_before=passes_before,
            )  # fmt: skip
        if block.Psi is None or not frozen.shape[1]:
            return block
        # The block saw the graphs less the frozen components; their part comes back.
        both = pair_gram(np.column_stack([frozen, block.H]), hollow=job.hollow)
        return replace(block, Psi=block.Psi + Lam @ both[: frozen.shape[1], frozen.shape[1] :])

    def forms(self, H: Array) -> Array:
        """Return h_k^T A_i g_k, (m, d)."""
        return self._graphs.bilinear_forms(H[: self._n], H[self._n :])

    def random(self, rng: np.random.Generator) -> Array:
        """Return a pair of unit vectors, (2 n,)."""
        return unit_pairs(rng.standard_normal(self.length), self._n)

    def cosines(self, H: Array, other: Array) -> Array:
        """Return <h g^T, h' g'^T>, column by column, (d,)."""
        return pair_cosines(H, other)
