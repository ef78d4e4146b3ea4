"""One run of one experiment: its random streams, its finished steps, its files."""

from __future__ import annotations

import hashlib
import inspect
import json
import zlib
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from experiments.journal import Journal

__all__ = ["Progress", "Run", "Step", "Task"]

#: Arguments of one step, such as ``{"repetition": 3}``: plain values, so that they make a key.
Task: TypeAlias = dict[str, Any]
#: A function of a random generator and the values of a task; returns what JSON can hold.
Step: TypeAlias = Callable[..., Any]
#: Called with the experiment's name, the number of steps done, and that of all.
Progress: TypeAlias = Callable[[str, int, int], None]
#: Places of tasks and their results, as they are finished.
Results: TypeAlias = Generator[tuple[int, Any], None, None]


class Run:
    """What an experiment is given.

    Parameters
    ----------
    name
        Name of the experiment; part of every random stream.
    full
        The paper's repetitions; else sizes that take a minute.
    seed
        Decides every random stream of the run.
    folder
        Where pictures, tables and the journal go.
    journal
        Steps that an earlier, interrupted run of the same kind has finished.
    jobs
        Number of processes.
    progress
        Told after every step.
    """

    def __init__(
        self,
        name: str,
        *,
        full: bool,
        seed: int,
        folder: Path,
        journal: Journal,
        jobs: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self.name = name
        self.full = full
        self.seed = seed
        self.folder = folder
        self._journal = journal
        self._jobs = jobs
        self._progress = progress
        self._done = self._total = self._expected = 0

    def rng(self, *key: object) -> np.random.Generator:
        """Return the random stream of a key: the same in every run with this seed."""
        return np.random.default_rng(_entropy(self.seed, self.name, json.dumps(key)))

    def repeat(self, step: Step, tasks: Iterable[Task], *, timed: bool = False) -> list[Any]:
        """Return ``step(rng, **task)`` for every task, in their order.

        Finished steps are read from the journal, so that a run which was stopped goes on where
        it was. A change to the module of ``step``, or to the designs, makes its steps unfinished.
        Each task has its own random stream, whatever the order and number of processes.

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
        source = _source(step)
        keys = [f"{source} {name}" for name in names]
        todo = [index for index, key in enumerate(keys) if key not in self._journal]
        # The stream depends on the task alone: a comment in the source changes no result.
        calls = [(i, step, _entropy(self.seed, self.name, names[i]), asked[i]) for i in todo]
        self._begin(len(asked), len(asked) - len(todo))
        if timed and todo:
            # Compiling and first imports must not be counted, in a resumed run neither.
            step(np.random.default_rng(0), **asked[todo[0]])
        with closing(self._results(calls, timed)) as results:  # stops the processes on an error
            for index, result in results:
                self._journal.add(keys[index], result)
                self._done += 1
                self._tell()
        return [self._journal[key] for key in keys]

    def _results(self, calls: Sequence[tuple[Any, ...]], timed: bool) -> Results:
        if timed or self._jobs == 1 or len(calls) < 2:
            return (_call(*call) for call in calls)
        from joblib import Parallel, delayed  # scikit-learn requires it, so it is there

        run = Parallel(n_jobs=self._jobs, return_as="generator_unordered")
        results: Results = run(delayed(_call)(*call) for call in calls)
        return results

    def expect(self, steps: int) -> None:
        """Say how many steps there will be in all, for a bar that does not begin anew."""
        self._expected = steps

    def _begin(self, asked: int, found: int) -> None:
        self._total += asked
        self._done += found
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self.name, self._done, max(self._total, self._expected))


def _call(index: int, step: Step, seed: list[int], task: Task) -> tuple[int, Any]:
    return index, step(np.random.default_rng(seed), **task)


def _source(step: Step) -> str:
    """Return a digest of the code that a step runs, as far as it belongs to the experiments."""
    digest = hashlib.sha256(Path(inspect.getfile(step)).read_bytes())
    digest.update((Path(__file__).parent / "designs.py").read_bytes())
    return digest.hexdigest()[:12]


def _entropy(seed: int, name: str, key: str) -> list[int]:
    return [seed, zlib.crc32(name.encode()), zlib.crc32(key.encode())]
