"""One run of one experiment: its random streams, its finished steps, its files."""

from __future__ import annotations

import hashlib
import inspect
import json
import zlib
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from eigengraphs import __version__
from eigengraphs.errors import EigengraphsError, InputError
from eigengraphs.system.whole_files import output_folder, whole_file
from experiments.drawing import style
from experiments.findings import write_outcome, write_results

__all__ = ["CATALOGUE", "Journal", "Progress", "Run", "Step", "Task", "reproduce"]

#: Arguments of one step, such as ``{"repetition": 3}``: plain values, so that they make a key.
Task: TypeAlias = dict[str, Any]
#: A function of a random generator and the values of a task; returns what JSON can hold.
Step: TypeAlias = Callable[..., Any]
#: Called with the number of steps done, and that of all.
Progress: TypeAlias = Callable[[int, int], None]
Key = TypeVar("Key", bound=Hashable)

#: By name: module and function of each experiment, and what it is about.
CATALOGUE: dict[str, tuple[str, str, str]] = {
    "figure1": ("figure1_nesting", "figure1", "which models hold which others"),
    "figure2": ("section_5_1", "figure2", "bias of the positions as graphs are added"),
    "figure3": ("section_5_1", "figure3", "loadings against the oracle"),
    "table1": ("section_5_1", "table1", "four starts, and the subspace solver"),
    "figure4": ("section_5_2", "figure4", "loadings of two classes of graphs"),
    "figure5": ("section_5_2", "figure5", "classification of graphs, by nine methods"),
    "figure6": ("section_5_3_brains", "figure6", "subjects of HNU1 recognized from d dimensions"),
    "figure7": ("section_5_3_brains", "figure7", "positions of brain regions, by hemisphere"),
    "table2": ("section_5_4_wikipedia", "table2", "clusters of Wikipedia pages in two languages"),
    "figure8": ("section_5_4_wikipedia", "figure8", "positions of Wikipedia pages, by category"),
    "theory": ("theorems", "theory", "theorems 2.1, 3.1, 4.1 and 4.2, in numbers"),
    "dimension": ("dimension", "run", "the paper's two rules for the number of components"),
    "hollow": ("section_5_1", "hollow", "graphs without self-loops"),
    "refined": ("refined", "run", "one component at a time, or all together"),
    "misaligned": ("misaligned", "run", "a few misaligned vertices"),
    "mice": ("mice", "run", "genotypes of 32 mice"),
    "airports": ("airports", "run", "69 months of flights"),
    "trade": ("trade", "run", "trade in 13 products"),
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
        Called with the number of steps done, and that of all so far.

    Returns
    -------
    Path
        The RESULTS.md that holds the row.
    """
    if name not in CATALOGUE:
        raise InputError(f"there is no experiment {name!r}; there are: {', '.join(CATALOGUE)}")
    if seed < 0 or jobs < 1:
        raise InputError(f"seed must be at least 0 and jobs at least 1; got {seed} and {jobs}")
    module, function, _ = CATALOGUE[name]
    experiment = getattr(import_module(f"experiments.{module}"), function)
    folder = output_folder(output / ("full" if full else "quick"))
    path = folder / "state" / f"{name}-{seed}.jsonl"
    if fresh:
        path.unlink(missing_ok=True)
    journal = Journal(path, f"{name} {full=} {seed=} eigengraphs {__version__}")
    run = Run(name, folder, journal, full=full, seed=seed, jobs=jobs, progress=progress)
    command = f"python -m experiments {name} {'--full' if full else '--quick'} --seed {seed}"
    try:
        with style():
            outcome = experiment(run)
        write_outcome(outcome, name, command, folder)
        return write_results(folder, output if full else folder, CATALOGUE)
    except OSError as error:
        if isinstance(error, EigengraphsError):
            raise
        raise InputError(
            f"cannot write to {str(folder)!r}: {error.strerror or error}; give another --output"
        ) from error


class Journal:
    """Results by key, kept in a file of JSON lines so that an interrupted run can go on.

    Each line names the run that it belongs to. Lines of other runs (another version of the
    library) are left as they are and not used; lines that cannot be read, as after a power cut,
    are dropped.

    Parameters
    ----------
    path
        The file; made when the first result comes.
    fingerprint
        What all results of the run depend on, in words.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path = path
        self._fingerprint = fingerprint
        self.results: dict[str, Any] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
            if lines and not lines[-1].endswith(b"\n"):
                with whole_file(path) as temporary:  # else the next line would go on from it
                    temporary.write_bytes(b"".join(lines[:-1]))
        except OSError as error:
            raise InputError(
                f"cannot keep finished steps in {str(path)!r}: {error.strerror}; give another "
                "output folder"
            ) from None
        for line in lines:
            try:
                entry = json.loads(line)
                if entry["run"] == fingerprint:
                    self.results[entry["key"]] = entry["result"]
            except (ValueError, KeyError, TypeError):
                continue  # damaged

    def add(self, key: str, result: Any) -> None:
        """Keep one result, in memory as it will be read back."""
        line = json.dumps({"run": self._fingerprint, "key": key, "result": result})
        # One write in append mode: lines of two runs at once do not mix.
        with self._path.open("ab", buffering=0) as file:
            file.write(line.encode() + b"\n")
        self.results[key] = json.loads(line)["result"]


class Run:
    """What an experiment is given.

    Parameters
    ----------
    name
        Name of the experiment; part of every random stream.
    folder
        Where pictures, tables and the journal go.
    journal
        Steps that an earlier, interrupted run of the same kind has finished.
    full
        The paper's repetitions; else sizes that take a minute.
    seed
        Decides every random stream of the run.
    jobs
        Number of processes.
    progress
        Told after every step.
    """

    def __init__(
        self, name: str, folder: Path, journal: Journal, *, full: bool = False, seed: int = 0,
        jobs: int = 1, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self.name, self.folder, self.full, self.seed = name, folder, full, seed
        self._journal, self._jobs, self._progress = journal, jobs, progress
        self._done = self._total = 0

    def repeat(self, step: Step, tasks: Iterable[Task], *, timed: bool = False) -> list[Any]:
        """Return ``step(rng, **task)`` for every task, in their order.

        Finished steps are read from the journal, so that a run which was stopped goes on where
        it was. A change to the module of ``step`` makes its steps unfinished. Each task has its
        own random stream, whatever the order and number of processes.

        Parameters
        ----------
        step : function at the top of a module
            Returns numbers, texts, lists and dictionaries of these.
        timed
            Steps measure their own time: one after another, in this process, after one that does
            not count.
        """
        asked = list(tasks)
        names = [f"{step.__name__} {json.dumps(task, sort_keys=True)}" for task in asked]
        source = hashlib.sha256(Path(inspect.getfile(step)).read_bytes()).hexdigest()[:12]
        keys = [f"{source} {name}" for name in names]
        todo = [index for index, key in enumerate(keys) if key not in self._journal.results]
        # The stream depends on the task alone: a comment in the source changes no result.
        seeds = [[self.seed, zlib.crc32(self.name.encode()), zlib.crc32(x.encode())] for x in names]
        calls = [(i, step, seeds[i], asked[i]) for i in todo]
        self._total += len(asked)
        self._tell(len(asked) - len(todo))
        if timed and todo:
            # Compiling and first imports must not be counted, in a resumed run neither.
            step(np.random.default_rng(0), **asked[todo[0]])
        with closing(self._results(calls, timed)) as results:  # stops the processes on an error
            for index, result in results:
                self._journal.add(keys[index], result)
                self._tell(1)
        return [self._journal.results[key] for key in keys]

    def each(self, step: Step, tasks: Mapping[Key, Task]) -> dict[Key, Any]:
        """Return the results of `repeat` by the keys of their tasks."""
        return dict(zip(tasks, self.repeat(step, tasks.values()), strict=True))

    def repeated(
        self, step: Step, tasks: Mapping[Key, Task], repetitions: int, *, timed: bool = False
    ) -> dict[Key, list[Any]]:
        """Return a list of results for each task, which is run with ``repetition`` = 0, 1, ...."""
        each = [task | {"repetition": r} for task in tasks.values() for r in range(repetitions)]
        found = iter(self.repeat(step, each, timed=timed))
        return {key: [next(found) for _ in range(repetitions)] for key in tasks}

    def _results(self, calls: list[Any], timed: bool) -> Generator[tuple[int, Any], None, None]:
        if timed or self._jobs == 1 or len(calls) < 2:
            return (_call(*call) for call in calls)
        from joblib import Parallel, delayed  # scikit-learn requires it, so it is there

        parallel = Parallel(n_jobs=self._jobs, return_as="generator_unordered")
        return parallel(delayed(_call)(*call) for call in calls)

    def _tell(self, done: int) -> None:
        self._done += done
        if self._progress is not None:
            self._progress(self._done, self._total)


def _call(index: int, step: Step, seed: list[int], task: Task) -> tuple[int, Any]:
    return index, step(np.random.default_rng(seed), **task)
