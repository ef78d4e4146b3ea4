"""Benchmarks ``store`` and ``store-sparse``: graphs on a disk, by the commands that users type."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import Bar
from benchmarks.report import Report, installed
from eigengraphs import JointEmbedding, open_store

__all__ = ["run", "run_sparse"]

VERTICES, D, MEMORY = 70, 8, "1G"
SMALL = 2000  # graphs that are also fitted in memory
_ROOT = Path(__file__).parent.parent
# It tells its peak itself: who waits for it would be told at least the own one.
_ALONE = """
import sys
from pathlib import Path
from benchmarks.memory import peak
from eigengraphs.cli import main
place = Path(sys.argv.pop(1))
try:
    main()
finally:
    place.write_text(str(peak()))
"""


@dataclass(frozen=True)
class _Done:
    """A command that has run."""

    seconds: float
    peak: int  # bytes, resident
    output: str


def run(quick: bool) -> Report:
    """Fit stores of three sizes, and forecast what that takes."""
    sizes = (500, 1000, 2000) if quick else (4000, 20_000, 100_000)
    rows, peaks, converts, passes, forecasts = [], {}, {}, {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for m in sizes:
            _command("simulate", "weighted", f"{m}.egs", "--graphs", m, "--vertices", VERTICES,
                     folder=folder)  # fmt: skip
            copied = _command("convert", f"{m}.egs", f"{m}-again.egs", folder=folder)
            said = _command("plan", f"{m}.egs", "-d", D, "--memory", MEMORY, "--json",
                            folder=folder)  # fmt: skip
            forecast = json.loads(said.output.splitlines()[-1])
            fit = _command("fit", f"{m}.egs", f"{m}", "-d", D, "--memory", MEMORY, folder=folder)
            peaks[m], converts[m] = fit.peak, copied.peak
            passes[m] = _passes(folder / str(m))
            took = json.loads((folder / str(m) / "provenance.json").read_text())["seconds"]["fit"]
            forecasts[m] = forecast["seconds"][1] / took
            low, high = forecast["passes"]
            rows.append((
                f"{m}", f"{_bytes(folder / f'{m}.egs') / 1e9:.2f}",
                f"{copied.peak / 1e6:.0f}", f"{fit.peak / 1e6:.0f}",
                f"{forecast['peak_memory'] / 1e6:.0f}", f"{passes[m]}",
                f"{low}" if low == high else f"{low} to {high}", f"{took:.1f}",
                f"{forecast['seconds'][0]:.1f} to {forecast['seconds'][1]:.1f}",
                f"{fit.seconds:.0f}",
            ))  # fmt: skip
        apart = _apart(folder / f"{sizes[0]}.egs", min(SMALL, sizes[0]))
    middle, largest = sizes[1:]
    same = apart < 1e-6
    label = f"{largest} graphs, n={VERTICES}, d={D}"
    bars = [
        Bar(f"{label}: peak memory of convert, GB", converts[largest] / 1e9, 1.0, False),
        Bar(f"{label}: peak memory of fit, GB", peaks[largest] / 1e9, 1.0, False, same),
        Bar(f"{label}: peak memory over that of {middle}", peaks[largest] / peaks[middle], 1.1,
            False, same),
        Bar(f"{label}: passes", float(passes[largest]), 15.0, False, same),
    ]  # fmt: skip
    notes = [
        f"Weighted graphs of two classes on {VERTICES} vertices, made by `eigengraphs simulate`; "
        f"every cell is of a process of its own, `fit --memory {MEMORY}`, report and tables "
        "included in its peak and in the last column. Forecasts are those of `eigengraphs plan`.",
        f"The first {min(SMALL, sizes[0])} graphs, fitted in memory and from the store, where "
        f"second moments stand for them: loadings differ by {apart:.1g} of the largest.",
        "Longest forecast over the time of the fit: "
        + ", ".join(f"{m} graphs {ratio:.2f}" for m, ratio in forecasts.items()) + ".",
    ]  # fmt: skip
    columns = ("graphs", "GB on disk", "MB convert", "MB fit", "MB forecast", "passes",
               "passes forecast", "s fit", "s forecast", "s command")  # fmt: skip
    failures = [] if same else [f"store and memory differ by {apart:.2g}"]
    title = "graphs on a disk, in bounded memory"
    return Report("store", title, columns, rows, "", installed("zarr"), notes, failures, bars)


def run_sparse(quick: bool) -> Report:
    """Fit a few graphs on very many vertices."""
    n, m, memory = (20_000, 6, "200M") if quick else (1_000_000, 20, "1500M")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = _command("simulate", "sparse", "g.egs", "--graphs", m, "--vertices", n,
                        "--mean-degree", 10, folder=folder)  # fmt: skip
        fit = _command("fit", "g.egs", "out", "-d", 4, "--memory", memory, folder=folder)
        passes = _passes(folder / "out")
        size = _bytes(folder / "g.egs") / 1e9
    label = f"{m} sparse graphs, n={n}, mean degree 10, d=4"
    bars = [Bar(f"{label}: peak memory of fit, GB", fit.peak / 1e9, 1.5, False)]
    rows = [(f"{m}", f"{n}", f"{size:.2f}", f"{made.seconds:.0f}", f"{made.peak / 1e6:.0f}",
             f"{fit.seconds:.0f}", f"{fit.peak / 1e6:.0f}", f"{passes}")]  # fmt: skip
    columns = ("graphs", "vertices", "GB on disk", "s simulate", "MB simulate", "s fit", "MB fit",
               "passes")  # fmt: skip
    title = "graphs on very many vertices, from a disk"
    return Report("store-sparse", title, columns, rows, "", installed("pyarrow"), bars=bars)


def _command(*words: Any, folder: Path) -> _Done:
    """Run a command of eigengraphs, alone in a process."""
    place = folder / "peak.txt"
    path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    begin = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", _ALONE, str(place), *map(str, words)], cwd=folder, check=False,
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    if ended.returncode:
        words = ("eigengraphs", *words, "ended with", ended.returncode, ended.stderr[-500:])
        raise RuntimeError(" ".join(map(str, words)))
    return _Done(time.perf_counter() - begin, int(place.read_text()), ended.stdout)


def _passes(results: Path) -> int:
    with (results / "components.tsv").open(newline="") as file:
        return int(next(csv.DictReader(file, delimiter="\t"))["passes"])


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _apart(store: Path, m: int) -> float:
    """Return how far loadings from a store are from those in memory, for its first graphs."""
    stack = open_store(store, memory="4G")[:m].load()
    tight = open_store(store, memory="200M")[:m]
    one, other = (JointEmbedding(D, random_state=0).fit(graphs) for graphs in (stack, tight))
    return float(np.abs(one.loadings_ - other.loadings_).max() / np.abs(one.loadings_).max())
