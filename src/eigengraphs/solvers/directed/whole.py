"""The shortcut on few vertices: both bases are everything, and the graphs are read once."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.block import FLAT, Block, Job
from eigengraphs.solvers.directed.core import PairProblem, solve_pairs
from eigengraphs.solvers.directed.moments import PairMoments
from eigengraphs.solvers.directed.pairs import PairPacking, unit_pairs
from eigengraphs.solvers.old_core import Search, compress
from eigengraphs.solvers.protocol import (
    Array,
    DirectedBlockGraphs,
    Progress,
    SplitDirectedGraphs,
)
from eigengraphs.solvers.second_moment import MomentSum, moment_rounding, root_of_packed

__all__ = ["find_whole_pairs", "whole_pairs_pay"]

_ALWAYS = 24  # vertices
_MOST = 70  # vertices: beyond, Newton's method on all of them costs more than a few passes
_NUMBERS = 2**19  # entries of all graphs for the numbers of vertices between
_MANY = 4  # times n^2: so many graphs are summed up in their second moment


def whole_pairs_pay(n_graphs: int, n_vertices: int) -> bool:
    """Tell whether solving on all vertices costs less than building bases."""
    n = n_vertices
    return n <= _ALWAYS or (n <= _MOST and n_graphs * n * n <= _NUMBERS)


def find_whole_pairs(
    graphs: DirectedBlockGraphs,
    d: int,
    job: Job,
    frozen: Array,
    left: float,
    given: Array,
    seed: np.random.SeedSequence,
    n_before: int,
    passes_before: int,
) -> Block:
    """Find d components with the unit vectors as bases; see :func:`block.find_block`."""
    n = graphs.n_vertices
    if job.keep == "moments":
        packed, R, mean, rounding = _moments(cast(SplitDirectedGraphs, graphs), job, frozen)
    else:
        packed, R, mean, rounding = _packed_graphs(graphs, job.weights)
    rng = np.random.default_rng(seed)
    floor = max(job.floor, rounding)
    # Drawn for the components before, too: a component's starts do not hang on a resumption.
    n_random = job.n_beside_given if given.shape[1] else job.n_random
    random = unit_pairs(rng.standard_normal((n_before + d, n_random, 2 * n)), n)[n_before:]
    spectral = (False, 0) if given.shape[1] else (job.by_mean, job.n_squares)
    search = Search(given[:, :d], True, *spectral, random, to_the_top=True)
    eye = np.eye(n)
    problem = PairProblem(R, mean, eye, eye, frozen, job.hollow, floor, left, job.nothing)
    fit = solve_pairs(problem, d, search, 0.1 * job.tol)
    gains, stationarity = fit.gains, fit.stationarity
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
    Psi = None if packed is None else packed @ PairPacking(n, n).outer(fit.Y.T).T
    return Block(
        fit.Y, Psi, gains, stationarity, fit.agreement, reasons, d, 1, 1, interrupted=False
    )


def _moments(
    graphs: SplitDirectedGraphs, job: Job, frozen: Array
) -> tuple[Array | None, Array, Array, float]:
    """Return what :func:`_packed_graphs` does, of graphs in several places."""
    eye = np.eye(graphs.n_vertices)
    M, mean = graphs.total(PairMoments(frozen, job.hollow, eye, eye), job.weights)
    R = root_of_packed(M, len(mean))
    return None, R, mean / np.sqrt(job.weights.sum()), moment_rounding(R)


def _packed_graphs(
    graphs: DirectedBlockGraphs, weights: Array
) -> tuple[Array | None, Array, Array, float]:
    """Return the packed graphs, what :func:`core.compress` makes of them, and R's rounding.

    Of many graphs only the second moment is kept, summed up block by block, and no packed ones.
    """
    m, n = graphs.n_graphs, graphs.n_vertices
    p = n * n
    eye, none = np.eye(n), np.zeros((n, 0))
    if m <= _MANY * p:
        packed = np.empty((m, p))

        def keep(lo: int, hi: int, P: NDArray[Any]) -> None:
            packed[lo:hi] = P.reshape(hi - lo, p)

        graphs.products(eye, none, keep, _ignore)
        R, mean, _ = compress(packed, weights)
        return packed, R, mean, 0.0
    found = MomentSum(weights, p)

    def add(lo: int, hi: int, P: NDArray[Any]) -> None:
        found.add(lo, hi, P.reshape(hi - lo, p).astype(np.float64))

    graphs.products(eye, none, add, _ignore)
    R = found.root()
    return None, R, found.mean / np.sqrt(weights.sum()), moment_rounding(R)


def _ignore(lo: int, hi: int, P: NDArray[Any]) -> None:
    """Take products with no columns."""
