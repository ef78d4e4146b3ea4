"""Which experiments there are, and how one is run from beginning to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from eigengraphs import __version__
from eigengraphs.errors import EigengraphsError, InputError
from eigengraphs.system.whole_files import output_folder
from experiments.drawing import style
from experiments.journal import Journal
from experiments.outcome import Outcome, write_outcome
from experiments.results import write_results
from experiments.run import Progress, Run

__all__ = ["CATALOGUE", "Entry", "reproduce"]


@dataclass(frozen=True)
class Entry:
    """An experiment: the module and function that run it, and what it is about."""

    module: str
    title: str
    function: str = "run"

    def load(self) -> Callable[[Run], Outcome]:
        """Import the experiment."""
        found: Callable[[Run], Outcome] = getattr(
            import_module(f"experiments.{self.module}"), self.function
        )
        return found


CATALOGUE: dict[str, Entry] = {
    "figure1": Entry("figure1", "which models hold which others"),
    "figure2": Entry("figure2", "bias of the positions as graphs are added"),
    "figure3": Entry("figure3", "loadings against the oracle"),
    "table1": Entry("table1", "four starts, and the subspace solver"),
    "figure4": Entry("figure4", "loadings of two classes of graphs"),
    "figure5": Entry("figure5", "classification of graphs, by nine methods"),
    "figure6": Entry("figure6", "subjects of HNU1 recognised from d dimensions"),
    "figure7": Entry("figure7", "positions of brain regions, by hemisphere"),
    "table2": Entry("table2", "clusters of Wikipedia pages in two languages"),
    "figure8": Entry("figure8", "positions of Wikipedia pages, by category"),
    "theory": Entry("theory", "theorems 2.1, 3.1, 4.1 and 4.2, in numbers"),
    "dimension": Entry("dimension", "the paper's two rules for the number of components"),
    "hollow": Entry("hollow", "graphs without self-loops"),
    "refined": Entry("refined", "one component at a time, or all together"),
    "misaligned": Entry("misaligned", "a few misaligned vertices"),
    "mice": Entry("mice", "genotypes of 32 mice"),
    "airports": Entry("airports", "69 months of flights"),
    "trade": Entry("trade", "trade in 13 products"),
}


def reproduce(
    name: str,
    *,
    full: bool = False,
    seed: int = 0,
    output: Path = Path("experiments"),
    jobs: int = 1,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Run an experiment; write its pictures, tables and row of RESULTS.md.

    Parameters
    ----------
    name
        A key of `CATALOGUE`.
    full
        The paper's repetitions, written to ``output/full`` and ``output/RESULTS.md``; else small
        sizes, to ``output/quick`` and ``output/quick/RESULTS.md``.
    seed
        Decides every random stream.
    output
        A folder; made if it does not exist.
    jobs
        Number of processes.
    fresh
        Forget what an interrupted run of the same experiment has finished.
    progress
        Called with the name, the steps done, and the number of all.

    Returns
    -------
    Path
        The RESULTS.md that holds the row.
    """
    if name not in CATALOGUE:
        raise InputError(f"there is no experiment {name!r}; there are: {', '.join(CATALOGUE)}")
    if seed < 0 or jobs < 1:
        raise InputError(f"seed must be at least 0 and jobs at least 1; got {seed} and {jobs}")
    experiment = CATALOGUE[name].load()
    folder = output_folder(output / ("full" if full else "quick"))
    path = folder / "state" / f"{name}-{seed}.jsonl"
    if fresh:
        path.unlink(missing_ok=True)
    journal = Journal(path, f"{name} {full=} {seed=} eigengraphs {__version__}")
    run = Run(
        name, full=full, seed=seed, folder=folder, journal=journal, jobs=jobs, progress=progress
    )
    command = f"eigengraphs reproduce {name} {'--full' if full else '--quick'} --seed {seed}"
    try:
        with style():
            outcome = experiment(run)
        write_outcome(outcome, name, command, folder)
        return write_results(folder, output if full else folder, tuple(CATALOGUE))
    except OSError as error:
        if isinstance(error, EigengraphsError):
            raise
        raise InputError(
            f"cannot write to {str(folder)!r}: {error.strerror or error}; give another --output"
        ) from error
