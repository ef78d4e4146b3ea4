"""Benchmark ``cluster``: a fit by Dask workers against the same fit in memory."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import Bar
from benchmarks.families import write_block_family
from benchmarks.measure import Run, interleave, median_seconds, ratio
from benchmarks.report import Report, installed
from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.store import DaskStack, connect

__all__ = ["run"]

D, TOL = 10, 1e-5
WORKERS = 2
MEMORY, KEPT, READ = "in memory", "cluster, blocks kept", "cluster, blocks read every round"
MOST = 3.0
_BLOCK_BYTES = 2**26


class ArrayFile(BlockedStack):
    """Graphs of an .npy file (m, n, n) in blocks; it pickles as the path."""

    __slots__ = ("_path", "_shape", "_type")

    def __init__(self, path: Path, facts: GraphFacts) -> None:
        A = np.load(path, mmap_mode="r")
        parts = {"_path": path, "_shape": A.shape, "_type": A.dtype, "_facts": facts}
        for name, value in (parts | dict.fromkeys(("_graph_names", "_vertex_names"))).items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayFile, (self._path, self._facts)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first graph of each block, and the one behind its last."""
        m, n, _ = self._shape
        step = max(1, _BLOCK_BYTES // (n * n * self._type.itemsize))
        return tuple((lo, min(m, lo + step)) for lo in range(0, m, step))

    @property
    def memory(self) -> int:
        """Bytes that work on the graphs may take."""
        return 2**31

    def read_block(self, k: int) -> GraphStack:
        """Return the graphs of block k."""
        lo, hi = self.spans[k]
        read = np.array(np.load(self._path, mmap_mode="r")[lo:hi])
        return GraphStack._make(read, self._facts.take(np.arange(lo, hi)), None, None)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self._shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the weights."""
        return self._type

    @property
    def nbytes(self) -> int:
        """Bytes of all graphs."""
        return int(np.prod(self._shape)) * self._type.itemsize

    @property
    def is_sparse(self) -> bool:
        """False."""
        return False


def run(quick: bool) -> Report:
    """Fit one stack in memory and on a cluster of two processes, in turns."""
    m, n, repetitions = (60, 300, 1) if quick else (300, 1105, 3)
    with tempfile.TemporaryDirectory() as name, connect(WORKERS) as client:
        client.wait_for_workers(WORKERS)
        path = Path(name) / "graphs.npy"
        write_block_family(path, m, n, seed=0)
        stack = GraphStack(np.load(path), copy=False)
        source = ArrayFile(path, stack.facts)
        stacks: dict[str, GraphStack] = {
            MEMORY: stack,
            KEPT: DaskStack(source, client, keep=True),
            READ: DaskStack(source, client, keep=False),
        }
        methods = {name: lambda stack=stack: _fit(stack) for name, stack in stacks.items()}
        runs = interleave(methods, repetitions, at_most={READ: 1})
    rows = [_row(name, mine, runs[MEMORY]) for name, mine in runs.items()]
    apart = max(
        _apart(runs[MEMORY][0].answer["fit"], runs[name][0].answer["fit"]) for name in (KEPT, READ)
    )
    same = apart < 1e-3  # of float32 graphs, both at a gradient of 1e-5
    label = f"{m} x {n}, d={D}, {WORKERS} workers"
    over = ratio(runs[KEPT], runs[MEMORY]).median
    bars = [Bar(f"{label}: time of a fit over that in memory", over, MOST, False, same)]
    notes = [
        f"{label}, float32, {source.nbytes / 1e9:.3g} GB in {len(source.spans)} blocks of an .npy "
        "file. Workers are processes of one thread on the machine of the client; the fit in memory "
        "has as many threads. The stack in memory is ready before, and so are kept blocks: a first "
        "fit, which does not count, loads them. Blocks are read every round in one fit alone.",
        "Bytes are those from and to the client in a round; seconds per round are medians of the "
        "last fit. What is beyond is the solver in the basis, which only the client works on.",
        f"Loadings differ by at most {apart:.1g} of the largest.",
    ]
    failures = [] if same else [f"loadings differ by {apart:.2g}"]
    columns = ("graphs are", "seconds", "over memory", "rounds", "seconds per round",
               "kB sent per round", "kB received per round", "passes")  # fmt: skip
    title = "the same fit by the workers of a cluster"
    return Report(
        "cluster", title, columns, rows, "", installed("distributed"), notes, failures, bars
    )


def _fit(stack: GraphStack) -> Run[dict[str, Any]]:
    before = len(stack.rounds) if isinstance(stack, DaskStack) else 0
    begin = time.perf_counter()
    fit = JointEmbedding(D, random_state=0, tol=TOL).fit(stack)
    seconds = time.perf_counter() - begin
    rounds = stack.rounds[before:] if isinstance(stack, DaskStack) else []
    return Run(seconds, {"fit": fit, "rounds": rounds})


def _row(
    name: str, mine: list[Run[dict[str, Any]]], memory: list[Run[dict[str, Any]]]
) -> tuple[str, ...]:
    rounds, fit = mine[-1].answer["rounds"], mine[-1].answer["fit"]
    own = ("", "", "", "")
    if rounds:
        own = (
            str(len(rounds)),
            f"{statistics.median(each.seconds for each in rounds):.3f}",
            f"{statistics.median(each.bytes_sent for each in rounds) / 1e3:.0f}",
            f"{statistics.median(each.bytes_received for each in rounds) / 1e3:.0f}",
        )
    over = "" if name == MEMORY else str(ratio(mine, memory))
    return (name, f"{median_seconds(mine):.3g}", over, *own, str(fit.n_passes_))


def _apart(a: Any, b: Any) -> float:
    return float(np.abs(a.loadings_ - b.loadings_).max() / np.abs(a.loadings_).max())
