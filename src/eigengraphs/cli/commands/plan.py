"""``eigengraphs plan``: what a fit of graphs in a store will cost, from a trial on a few blocks.

The cost model: a fit is a number of passes; a pass reads every block once and works on it, in as
many threads as there are cores (or workers), and what a pass returns is small. So

    seconds = passes x blocks x (reading + working) / threads + the problem in the basis,

with the two in brackets measured on blocks of these very graphs. Memory is that of the process, of
the blocks that are under way, and of what is kept: see :func:`_kept_bytes`.
"""

from __future__ import annotations

import re
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.cli.command_options import Plan
from eigengraphs.cli.terminal import Listener, Outcome, duration
from eigengraphs.fitting.settings import check_n_components
from eigengraphs.fitting.solve import kept_in_basis
from eigengraphs.operators.treated import TreatedGraphs
from eigengraphs.solvers.basis import CoreMoments, basis_width, whole_pays
from eigengraphs.solvers.core import CoreProblem, Rows, Search, solve_core
from eigengraphs.solvers.geometry import geometry_of, unit_points
from eigengraphs.solvers.metric import AllEntries
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import FreeLoadings
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.store import open_store
from eigengraphs.system.labels import count_of, size_in_words
from eigengraphs.system.parallel import alone, one_blas_thread, thread_count

_TRIED = 3  # blocks of the trial
_ROUNDS = (4, 9)  # of a block of 12 components: few with strong structure, more with weak
_PER_GRAPH = 400  # bytes of names, facts and records of a graph, besides its loadings
_BESIDE = 48  # columns beside a basis: gradients, components, and sums of them in a pass
_COPIES = 5  # of a second moment or of cores, while the problem in the basis is solved
_ROUTES = {
    "whole": "the second moment of all entries is found in one pass",
    "products": "products with a basis are kept in memory",
    "cores": "every graph in a basis is kept in memory",
    "moments": "only second moments of the graphs in a basis are kept",
}


def plan(asked: Plan, _: Listener) -> Outcome:
    """Forecast the cost of a fit with free loadings of the graphs in a store."""
    stack, directed = open_store(asked.store, asked.memory), asked.directed
    m, n = stack.shape[:2]
    d = check_n_components(asked.components, n, directed=directed)
    workers = thread_count() if asked.workers is None else asked.workers
    keep, wide = kept_in_basis(stack, directed, linear=True)
    is_whole = whole_pays(m, n, directed, True, DEFAULTS)
    route = "whole" if is_whole else keep
    width = n if is_whole else min(n, basis_width(m, wide, directed, DEFAULTS))
    filled = stack.constant_diagonal is not None
    around = int(asked.center) + int(filled or asked.center) + 1  # mean, norms, final forms
    passes = [around + 1, around + 1]  # the fewest, and the most
    if not is_whole:
        each = 1 if route == "products" else 2
        passes = [-(-d // 12) * (1 + each * rounds) + around for rounds in _ROUNDS]
    resident = _resident()  # before the trial, whose blocks are counted below
    read, work, result = _trial(stack, width, directed, "filled" if filled else "observed")
    n_blocks = len(stack.spans)
    a_pass = n_blocks * (read + work) / min(workers, n_blocks)
    core = _core_seconds(width, directed) * d * (1 if is_whole else min(passes[1] // 2, 6))
    seconds = [count * a_pass + core for count in passes]
    largest = max(hi - lo for lo, hi in stack.spans) * (stack.nbytes // max(m, 1))
    peak = (
        resident
        + (stack._threads() + 1) * (2 * largest + result)
        + _kept_bytes(route, m, n, width, stack.dtype.itemsize, directed)
        + 8 * n * (width + _BESIDE)
        + m * (_PER_GRAPH + 8 * 6 * d)
    )
    total = _range(*(size_in_words(count * stack.nbytes) for count in passes))
    text = [
        f"{count_of(m, 'graph')}, {count_of(n, 'vertex')}, {count_of(d, 'component')}",
        f"{count_of(n_blocks, 'block')} of up to {size_in_words(largest)}; {_ROUTES[route]}",
        f"passes: {_range(*map(str, passes))}, of {size_in_words(stack.nbytes)} each "
        f"({total} in all)",
        f"peak memory: about {size_in_words(peak)}",
        f"time: about {_range(*map(duration, seconds))} with {count_of(workers, 'worker')} "
        f"({1e3 * read:.0f} ms to read a block, {1e3 * work:.0f} ms to work on it)",
    ]
    # Bytes are of graphs in memory, and the peak is that of this process; a worker has its blocks
    # alone.
    facts = {
        "graphs": m, "vertices": n, "components": d, "blocks": n_blocks, "block_bytes": largest,
        "route": route, "passes": passes, "bytes_a_pass": stack.nbytes, "peak_memory": int(peak),
        "read_seconds": read, "work_seconds": work, "seconds": seconds, "workers": workers,
    }  # fmt: skip
    return Outcome(text, facts)


def _trial(
    stack: BlockedStack, width: int, directed: bool, diagonal: Any
) -> tuple[float, float, int]:
    """Return seconds to read a block and to work on it, and bytes of what it returns."""
    n = stack.n_vertices
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((n, width)))[0]
    task = CoreMoments((V,) * (1 + directed), (np.zeros((n, 0)),) * (1 + directed))
    places = np.unique(np.linspace(0, len(stack.spans) - 1, _TRIED).round().astype(int)).tolist()
    reads, works = list[float](), list[float]()
    with one_blas_thread(), alone():
        for place in [places[0], *places]:  # the first compiles, and does not count
            begin = time.perf_counter()
            graphs = stack.read_block(place)
            middle = time.perf_counter()
            lo, hi = stack.spans[place]
            seen = TreatedGraphs(graphs, diagonal, directed=directed)
            found = task(seen, np.ones(hi - lo))
            reads.append(middle - begin)
            works.append(time.perf_counter() - middle)
    size = sum(np.asarray(part).nbytes for part in found)
    return float(np.median(reads[1:])), float(np.median(works[1:])), size


def _core_seconds(s: int, directed: bool) -> float:
    """Return the time of one component of a problem in a basis of s columns."""
    rng, geometry = np.random.default_rng(0), geometry_of((min(s, 72),) * (1 + directed))
    p = geometry.n_entries
    R = rng.standard_normal((p, p))
    random = unit_points(rng.standard_normal((1, 4, geometry.size)), geometry.widths)
    problem = CoreProblem(
        geometry, AllEntries().in_basis(geometry, ()), FreeLoadings(),
        Rows(R, np.zeros((p, 0)), np.ones(p)), np.zeros((0, 0)), np.zeros((0, p)), np.inf, 0.0, 0.0,
    )  # fmt: skip
    search = Search(np.zeros((0, geometry.size)), False, True, random)
    with one_blas_thread():
        begin = time.perf_counter()
        solve_core(problem, 1, search, np.array([1e-6]))
        return time.perf_counter() - begin


def _kept_bytes(route: str, m: int, n: int, s: int, itemsize: int, directed: bool) -> int:
    """Return bytes of what is kept of the graphs from pass to pass, and of the core problem."""
    p = s * s if directed else s * (s + 1) // 2
    if route == "products":
        return (1 + directed) * m * n * s * itemsize + 2 * 8 * m * p
    if route == "cores":
        return 2 * 8 * m * p + _COPIES * 8 * min(m, p) * p
    return _COPIES * 8 * p * p


def _resident() -> int:
    """Return the bytes that this process has taken so far.

    Linux counts the peak of whoever started a process as its own, except in one place.
    """
    status = Path("/proc/self/status")
    if status.exists():
        own = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        if own is not None:
            return 1024 * int(own[1])
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
