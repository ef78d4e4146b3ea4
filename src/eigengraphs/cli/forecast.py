"""``eigengraphs plan``: what a fit of graphs in a store will cost, from a trial on a few blocks.

The cost model: a fit is a number of passes; a pass reads every block once and works on it, in as
many threads as there are cores (or workers), and what a pass returns is small. So

    seconds = passes x blocks x (reading + working) / threads + the problem in the basis,

with the two in brackets measured on blocks of these very graphs. Memory is that of the process, of
the blocks that are under way, and of what is kept: see :func:`_kept_bytes`.
"""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigengraphs.cli.shared_options import Json, option
from eigengraphs.cli.terminal import say
from eigengraphs.errors import InputError
from eigengraphs.system.labels import count_of, size_in_words

if TYPE_CHECKING:
    from eigengraphs.stack.blocked import BlockedStack

__all__ = ["Forecast", "forecast_fit", "plan"]

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


def plan(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A store, made by convert.")],
    components: Annotated[int, option("Number of components.", "--components", "-d", min=1)] = 8,
    memory: Annotated[
        str | None, option("Memory of the fit, such as 1G; by default a quarter of all memory.")
    ] = None,
    workers: Annotated[int | None, option("Number of blocks at a time.", min=1)] = None,
    directed: Annotated[bool, option("Components of directed graphs.", "--directed")] = False,
    center: Annotated[bool, option("Subtract the mean graph.", "--center")] = False,
    as_json: Json = False,
) -> None:
    """Forecast passes, bytes read, peak memory and time of a fit, after a trial on a few blocks.

    Example: eigengraphs plan graphs.egs -d 8 --memory 1G
    """
    from eigengraphs.store import open_store

    found = forecast_fit(
        open_store(store, memory), components, directed=directed, center=center, workers=workers
    )
    say(json.dumps(asdict(found)) if as_json else found.words())


@dataclass(frozen=True)
class Forecast:
    """Passes, bytes, memory and time of a fit; pairs are from the fewest passes to the most."""

    graphs: int
    vertices: int
    components: int
    blocks: int
    block_bytes: int  # of the largest, in memory
    route: str  # a key of _ROUTES
    passes: tuple[int, int]
    bytes_a_pass: int  # of the graphs in memory
    peak_memory: int  # bytes, of this process; a worker has its blocks alone
    read_seconds: float  # of a block
    work_seconds: float  # of a block
    seconds: tuple[float, float]
    workers: int

    def words(self) -> str:
        """Say it in a few lines."""
        low, high = self.passes
        total = _range(*(size_in_words(count * self.bytes_a_pass) for count in self.passes))
        return "\n".join([
            f"{count_of(self.graphs, 'graph')}, {count_of(self.vertices, 'vertex', 'vertices')}, "
            f"{count_of(self.components, 'component')}",
            f"{count_of(self.blocks, 'block')} of up to {size_in_words(self.block_bytes)}; "
            f"{_ROUTES[self.route]}",
            f"passes: {_range(str(low), str(high))}, of {size_in_words(self.bytes_a_pass)} each "
            f"({total} in all)",
            f"peak memory: about {size_in_words(self.peak_memory)}",
            f"time: about {_range(*map(_duration, self.seconds))} with "
            f"{count_of(self.workers, 'worker')} ({1e3 * self.read_seconds:.0f} ms to read a "
            f"block, {1e3 * self.work_seconds:.0f} ms to work on it)",
        ])  # fmt: skip


def forecast_fit(
    stack: BlockedStack,
    n_components: int = 8,
    *,
    directed: bool = False,
    center: bool = False,
    workers: int | None = None,
) -> Forecast:
    """Forecast the cost of a fit with free loadings, after a trial on a few blocks.

    Parameters
    ----------
    stack
        The graphs, opened with the memory that the fit will have.
    n_components
        d.
    directed, center
        As of :class:`~eigengraphs.JointEmbedding`.
    workers
        How many blocks are worked on at a time; the cores of this machine by default.
    """
    from eigengraphs.fitting.settings import check_n_components
    from eigengraphs.fitting.solve import kept_in_basis
    from eigengraphs.solvers.basis import basis_width, whole_pays
    from eigengraphs.solvers.options import DEFAULTS
    from eigengraphs.stack.blocked import BlockedStack
    from eigengraphs.system.parallel import thread_count

    if not isinstance(stack, BlockedStack):
        raise InputError("a forecast is for graphs in a store; fit graphs in memory directly")
    m, n, _ = stack.shape
    d = check_n_components(n_components, n, directed=directed)
    workers = thread_count() if workers is None else workers
    keep, wide = kept_in_basis(stack, directed, linear=True)
    is_whole = whole_pays(m, n, directed, DEFAULTS)
    route = "whole" if is_whole else keep
    width = n if is_whole else min(n, basis_width(m, wide, directed, DEFAULTS))
    filled = stack.constant_diagonal is not None
    around = int(center) + int(filled or center) + 1  # mean, norms, final forms
    passes = (around + 1, around + 1)
    if not is_whole:
        each = 1 if route == "products" else 2
        low, high = (-(-d // 12) * (1 + each * rounds) + around for rounds in _ROUNDS)
        passes = (low, high)
    resident = _resident()  # before the trial, whose blocks are counted below
    read, work, result = _trial(stack, width, directed, "filled" if filled else "observed")
    n_blocks = len(stack.spans)
    a_pass = n_blocks * (read + work) / min(workers, n_blocks)
    core = _core_seconds(width, directed) * d * (1 if is_whole else min(passes[1] // 2, 6))
    largest = max(hi - lo for lo, hi in stack.spans) * (stack.nbytes // max(m, 1))
    peak = (
        resident
        + (stack._threads() + 1) * (2 * largest + result)
        + _kept_bytes(route, m, n, width, stack.dtype.itemsize, directed)
        + 8 * n * (width + _BESIDE)
        + m * (_PER_GRAPH + 8 * 6 * d)
    )
    return Forecast(
        m, n, d, n_blocks, largest, route, passes, stack.nbytes, int(peak), read, work,
        (passes[0] * a_pass + core, passes[1] * a_pass + core), workers,
    )  # fmt: skip


def _trial(
    stack: BlockedStack, width: int, directed: bool, diagonal: Any
) -> tuple[float, float, int]:
    """Return seconds to read a block and to work on it, and bytes of what it returns."""
    import numpy as np

    from eigengraphs.operators.treated import TreatedGraphs
    from eigengraphs.solvers.basis import CoreMoments
    from eigengraphs.system.parallel import alone, one_blas_thread

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
    import numpy as np

    from eigengraphs.solvers.core import CoreProblem, Rows, Search, solve_core
    from eigengraphs.solvers.geometry import geometry_of, unit_points
    from eigengraphs.solvers.metric import AllEntries
    from eigengraphs.solvers.rules import FreeLoadings
    from eigengraphs.system.parallel import one_blas_thread

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
    import resource

    status = Path("/proc/self/status")
    if status.exists():
        own = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        if own is not None:
            return 1024 * int(own[1])
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
