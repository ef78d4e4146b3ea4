"""The shortcut on few vertices: the basis is everything, and the graphs are read once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.block import FLAT, Block, Job
from eigengraphs.solvers.directions import random_starts
from eigengraphs.solvers.moment_kernels import squares_in_moment
from eigengraphs.solvers.old_core import CoreProblem, Search, compress, root_of_moment, solve_core
from eigengraphs.solvers.old_moments import CoreMoments
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array, BlockGraphs, Progress, SplitGraphs
from eigengraphs.solvers.second_moment import MomentSum, moment_rounding, root_of_packed

__all__ = ["find_whole", "search_whole", "whole_pays"]

_ALWAYS = 32  # vertices
_MOST = 100  # vertices: beyond, Newton's method on all of them costs more than a few passes
_NUMBERS = 2**19  # entries of all graphs, packed, for the numbers of vertices between
_MANY = 4  # times p: so many graphs are summed up in their second moment
_MOST_OF_MANY = 72  # vertices: their second moment takes 55 MB, and one pass where others take 15


def whole_pays(n_graphs: int, n_vertices: int) -> bool:
    """Tell whether solving on all vertices costs less than building a basis."""
    p = n_vertices * (n_vertices + 1) // 2
    if n_graphs > _MANY * p and n_vertices <= _MOST_OF_MANY:
        return True
    return n_vertices <= _ALWAYS or (n_vertices <= _MOST and n_graphs * p <= _NUMBERS)


def find_whole(
    graphs: BlockGraphs,
    d: int,
    job: Job,
    frozen: Array,
    left: float,
    given: Array,
    seed: np.random.SeedSequence,
    n_before: int,
    passes_before: int,
) -> Block:
    """Find d components with the unit vectors as the basis; see :func:`block.find_block`."""
    n = graphs.n_vertices
    if job.keep == "moments":
        read = _moments(cast(SplitGraphs, graphs), job, frozen)
    else:
        read = _packed_graphs(graphs, job.weights)
    block = search_whole(
        read.R, read.mean, read.rounding, d, job, frozen, left, given, seed, n_before,
        passes_before, squares=read.squares,
    )  # fmt: skip
    if read.packed is None:
        return block
    return replace(block, Psi=read.packed @ Packing(n).outer(block.H.T).T)


def search_whole(
    R: Array,
    mean: Array,
    rounding: float,
    d: int,
    job: Job,
    frozen: Array,
    left: float,
    given: Array,
    seed: np.random.SeedSequence,
    n_before: int,
    passes_before: int,
    *,
    squares: Array | None = None,
) -> Block:
    """Find d components of packed graphs; nothing is known of their forms.

    ``R`` (r, p) is a root of the second moment of the graphs without the frozen components,
    ``mean`` (p,) their mean times the root of the weights' sum, and ``rounding`` what rounding may
    be of a gain; ``squares`` (n, n) is the sum of their squares, if it is known. For the others,
    see :func:`block.find_block`.
    """
    n = len(frozen)
    V = np.eye(n)
    rng = np.random.default_rng(seed)
    floor = max(job.floor, rounding)
    # Drawn for the components before, too: a component's starts do not hang on a resumption.
    n_random = job.n_beside_given if given.shape[1] else job.n_random
    random = random_starts(rng, n_before + d, n_random, n)[n_before:]
    spectral = (False, 0) if given.shape[1] else (job.by_mean, job.n_squares)
    search = Search(given[:, :d], True, *spectral, random, to_the_top=True)
    problem = CoreProblem(R, mean, V, frozen, job.hollow, floor, left, job.nothing, squares)
    fit = solve_core(problem, d, search, 0.1 * job.tol)
    H, gains, stationarity, agreement = fit.Y, fit.gains, fit.stationarity, fit.agreement
    if job.watch is not None:
        worst = float(stationarity.max(initial=0.0))
        found = n_before + int((stationarity <= job.tol).sum())
        job.watch(Progress(1, None, worst, found, passes_before + 1))
    limit = np.sqrt(np.maximum(job.noise, rounding) / np.maximum(gains, floor + 1e-300))
    reasons = tuple(
        "exhausted" if gain == 0
        else "stationary" if size <= job.tol
        else "precision" if size <= max(10 * bound, FLAT * job.hollow)
        else "stalled"
        for gain, size, bound in zip(gains, stationarity, limit, strict=True)
    )  # fmt: skip
    return Block(H, None, gains, stationarity, agreement, reasons, d, 1, 1, interrupted=False)


class _Read(NamedTuple):
    """What a read of all graphs leaves."""

    packed: Array | None  # (m, p) the graphs themselves, if they are few
    R: Array  # (r, p) and the rest as :func:`search_whole` takes it
    mean: Array
    rounding: float
    squares: Array | None = None


def _moments(graphs: SplitGraphs, job: Job, frozen: Array) -> _Read:
    """Return what :func:`_packed_graphs` does, of graphs in several places."""
    task = CoreMoments(frozen, job.hollow, np.eye(graphs.n_vertices))
    M, mean = graphs.total(task, job.weights)
    R = root_of_packed(M, len(mean))
    return _Read(None, R, mean / np.sqrt(job.weights.sum()), moment_rounding(R))


def _packed_graphs(graphs: BlockGraphs, weights: Array) -> _Read:
    """Return the packed graphs, what :func:`core.compress` makes of them, and R's rounding.

    Of many graphs only the second moment is kept, summed up block by block, and no packed ones.
    """
    m, n = graphs.n_graphs, graphs.n_vertices
    packing = Packing(n)
    p = packing.size
    if m <= _MANY * p:
        packed = np.empty((m, p))

        def keep(lo: int, hi: int, P: NDArray[Any]) -> None:
            packed[lo:hi] = packing.pack((P + P.transpose(0, 2, 1)) / 2)

        graphs.products(np.eye(n), keep)
        R, mean, _ = compress(packed, weights)
        return _Read(packed, R, mean, 0.0)
    entry_moment = getattr(graphs, "entry_moment", None)  # as :class:`EntryGraphs` have it
    if entry_moment is not None:
        M, mean = entry_moment(weights)
        squares = np.empty((n, n))
        squares_in_moment(M, squares)
        packing.scale_moment(M, mean)
        R = root_of_moment(M, overwrite=True)
        return _Read(None, R, mean / np.sqrt(weights.sum()), moment_rounding(R), squares)
    found = MomentSum(weights, p)

    def add(lo: int, hi: int, P: NDArray[Any]) -> None:
        found.add(lo, hi, packing.pack(P.astype(np.float64, copy=False)))

    graphs.products(np.eye(n), add)
    R = found.root()
    return _Read(None, R, found.mean / np.sqrt(weights.sum()), moment_rounding(R))
