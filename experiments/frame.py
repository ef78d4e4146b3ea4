"""The frame of all experiments: which there are, their steps, what they found, RESULTS.md.

An experiment is a function of a `Run`: it names its steps, whose results are kept, so that a run
which was stopped goes on; it judges them beside the paper's words; it returns an `Outcome`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import tomllib
import warnings
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np
from joblib import Memory, Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

import eigengraphs as eg
from eigengraphs.errors import DegenerateWarning, EigengraphsError, InputError
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import output_folder, whole_file
from experiments.drawing import save, style
from experiments.repetitions import error_of, gathered, measured

#: Arguments of one step, such as ``{"repetition": 3}``: plain values, so that they make a key.
Task: TypeAlias = dict[str, Any]
#: A function of a random generator and the values of a task; returns what JSON can hold.
Step: TypeAlias = Callable[..., Any]
#: Called with the number of steps done, and that of all.
Progress: TypeAlias = Callable[[int, int], None]
#: "new" is for questions that the paper does not ask.
Verdict: TypeAlias = Literal["reproduced", "better", "differs", "new"]
Cell: TypeAlias = str | int | float | None
Key = TypeVar("Key", bound=Hashable)

_HEAD = """# Results of the experiments

Every figure and table of *Joint Embedding of Graphs*, and some further questions. Each section is
written by the command that it names, never by hand. Standard errors are in parentheses. Verdicts:
**reproduced** (as the paper says), **better**, **differs** (with the reason), **new** (not in the
paper).

"""


def _read(file: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))


#: By name of an experiment, which is that of its function: its module and its words.
CATALOG: dict[str, dict[str, Any]] = _read("catalog.toml")


def published(name: str) -> dict[str, Any]:
    """Return the numbers that others print for an experiment, from ``published.toml``."""
    return cast(dict[str, Any], _read("published.toml")[name])


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
        A key of `CATALOG`.
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
    if name not in CATALOG:
        raise InputError(f"there is no experiment {name!r}; there are: {', '.join(CATALOG)}")
    if seed < 0 or jobs < 1:
        raise InputError(f"seed must be at least 0 and jobs at least 1; got {seed} and {jobs}")
    experiment = getattr(import_module(f"experiments.{CATALOG[name]['module']}"), name)
    folder = output_folder(output / ("full" if full else "quick"))
    state = folder / "state" / f"{name}-{seed}-{eg.__version__}"
    if fresh:
        shutil.rmtree(state, ignore_errors=True)
    run = Run(name, state, full=full, seed=seed, jobs=jobs, progress=progress)
    command = f"python -m experiments {name} {'--full' if full else '--quick'} --seed {seed}"
    try:
        with style():
            write_outcome(experiment(run), name, command, folder)
        return write_results(folder, output if full else folder, CATALOG)
    except OSError as error:
        if isinstance(error, EigengraphsError):
            raise
        raise InputError(
            f"cannot write to {str(folder)!r}: {error.strerror or error}; give another --output"
        ) from error


class Run:
    """What an experiment is given.

    Parameters
    ----------
    name
        Name of the experiment; part of every random stream.
    state
        Folder of the steps that an earlier, interrupted run of the same kind has finished.
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
        self, name: str, state: Path, *, full: bool = False, seed: int = 0, jobs: int = 1,
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self.name, self.full, self.seed = name, full, seed
        self._state, self._jobs, self._progress = state, jobs, progress
        self._done = self._total = 0

    def repeat(self, step: Step, tasks: Iterable[Task], *, timed: bool = False) -> list[Any]:
        """Return ``step(rng, **task)`` for every task, in their order.

        Finished steps are kept on the disk, so that a run which was stopped goes on where
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
        source = hashlib.sha256(Path(inspect.getfile(step)).read_bytes()).hexdigest()[:12]
        kept = Memory(self._state / source, verbose=0).cache(step)

        def rng(task: Task) -> np.random.Generator:
            # The stream depends on the task alone: a comment in the source changes no result.
            texts = self.name, f"{step.__name__} {json.dumps(task, sort_keys=True)}"
            return np.random.default_rng([self.seed, *(zlib.crc32(x.encode()) for x in texts)])

        todo = [task for task in asked if not kept.check_call_in_cache(rng(task), **task)]
        self._total += len(asked)
        self._tell(len(asked) - len(todo))
        if timed and todo:
            # Compiling and first imports must not be counted, in a resumed run neither.
            step(np.random.default_rng(0), **todo[0])
        parallel = Parallel(1 if timed else self._jobs, return_as="generator_unordered")
        results = parallel(delayed(kept)(rng(task), **task) for task in todo)
        with closing(results):  # which stops the processes on an error
            for _ in results:
                self._tell(1)
        return [kept(rng(task), **task) for task in asked]

    def each(self, step: Step, tasks: Mapping[Key, Task]) -> dict[Key, Any]:
        """Return the results of `repeat` by the keys of their tasks."""
        return dict(zip(tasks, self.repeat(step, tasks.values()), strict=True))

    def repeated(
        self, step: Step, tasks: Mapping[Key, Task], repetitions: int, *, timed: bool = False
    ) -> dict[Key, Any]:
        """Return `gathered` results for each task, which is run with ``repetition`` = 0, 1, ...."""
        each = [task | {"repetition": r} for task in tasks.values() for r in range(repetitions)]
        found = iter(self.repeat(step, each, timed=timed))
        return {key: gathered([next(found) for _ in range(repetitions)]) for key in tasks}

    def _tell(self, done: int) -> None:
        self._done += done
        if self._progress is not None:
            self._progress(self._done, self._total)


def grid(common: Task, /, **values: Iterable[Any]) -> dict[Any, Task]:
    """Return a task for each combination of values, with what is common to all.

    Keys are the combinations, or the values themselves where only one list is given.
    """
    every = product(*values.values())
    return {one if len(one) > 1 else one[0]: common | dict(zip(values, one, strict=True))
            for one in every}  # fmt: skip


def embed(graphs: Any, d: int, seed: int = 0, **settings: Any) -> eg.JointEmbedding:
    """Fit d components; that some did not converge, or are degenerate, is in the tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        return eg.JointEmbedding(d, random_state=seed, **settings).fit(graphs)


@dataclass(frozen=True)
class Table:
    """Numbers, written as ``NAME.tsv``, or as ``NAME-part.tsv`` when ``part`` is given.

    ``shown`` tables appear in RESULTS.md as well; long ones are files only. Names of columns are
    those of the catalog, unless a run decides them.
    """

    rows: Sequence[Sequence[Cell]]
    part: str = ""
    shown: bool = True
    columns: Sequence[str] = ()


@dataclass(frozen=True)
class Finding:
    """One claim of the paper, what came out here, and the verdict."""

    claim: str
    outcome: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Outcome:
    """All that came out of one experiment; ``values`` are those that its notes ask for."""

    findings: Sequence[Finding]
    tables: Sequence[Table]
    picture: Any  # a figure of matplotlib
    values: Mapping[str, Any] = field(default_factory=dict)


def claim(key: str, place: int = 0) -> str:
    """Return words of a finding, by "experiment.key": the claim, why it holds, or why it does not.

    What is no key is the claim itself; '' where there are no such words.
    """
    name, _, part = key.partition(".")
    words = CATALOG.get(name, {}).get("findings", {}).get(part, [key])
    return str(words[place]) if place < len(words) else ""


def judged(
    key: str, outcome: str, holds: Any, yes: str | None = None, no: str | None = None
) -> Finding:
    """Return the finding that a claim of the paper holds, or does not, with the reason of each."""
    verdict: Verdict = "reproduced" if holds else "differs"
    reason = yes or claim(key, 1)
    return Finding(claim(key), outcome, verdict, reason if holds else no or claim(key, 2) or reason)


def beside(claim: str, values: Any, bound: float, outcome: str | None = None) -> Finding:
    """Return the finding on repeated errors (r,) beside a published one, by two standard errors."""
    mean, room = float(values.mean()), 2 * float(error_of(values))
    said = measured(values) if outcome is None else outcome
    if abs(mean - bound) <= room:
        return Finding(claim, said, "reproduced", "equal within two standard errors")
    word, verdict = ("below", "better") if mean < bound else ("above", "differs")
    reason = f"{word} the published value by more than two standard errors"
    return Finding(claim, said, cast(Verdict, verdict), reason)


def new(key: str, outcome: str, reason: str | None = None) -> Finding:
    """Return a finding on a question that the paper does not ask."""
    return Finding(claim(key), outcome, "new", reason or claim(key, 1))


def write_outcome(outcome: Outcome, name: str, command: str, folder: Path) -> None:
    """Write tables as TSV, the picture, and what RESULTS.md needs as JSON; no file is ever half."""
    words, shown = CATALOG[name], []
    for table in outcome.tables:
        columns = table.columns or words["columns"][table.part or "main"]
        if wrong := [row for row in table.rows if len(row) != len(columns)]:
            raise InputError(f"{len(columns)} columns, but a row has {len(wrong[0])}: {wrong[0]}")
        path = folder / (f"{name}-{table.part}.tsv" if table.part else f"{name}.tsv")
        write_table(path, columns, ([_text(cell, 6) for cell in row] for row in table.rows))
        if table.shown:
            rows = [[_text(cell, 4) for cell in row] for row in table.rows]
            shown.append({"columns": columns, "rows": rows})
    kept = {
        "title": words["title"],
        "diagonal": words["diagonal"],
        "findings": [asdict(finding) for finding in outcome.findings],
        "tables": shown,
        "pictures": [save(outcome.picture, folder, name)],
        "notes": words.get("notes", "").format(**outcome.values),
        "name": name,
        "command": command,
        "version": eg.__version__,
    }
    with whole_file(folder / f"{name}.json") as path:
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_results(outcomes: Path, folder: Path, order: Iterable[str]) -> Path:
    """Write RESULTS.md to ``folder`` from all outcomes that ``outcomes`` holds; return its path."""
    files = (outcomes / f"{name}.json" for name in order)
    known = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    lines = _markdown(
        ("experiment", "the paper", "here", "verdict", "why"),
        (
            (f"[{kept['name']}](#{kept['name']})", finding["claim"], finding["outcome"],
             f"**{finding['verdict']}**", finding["reason"])
            for kept in known
            for finding in kept["findings"]
        ),
    )  # fmt: skip
    place = Path(os.path.relpath(outcomes, folder))
    for kept in known:
        made = f"`{kept['command']}` (eigengraphs {kept.get('version', 'before 0.1')})"
        parts = [f"## {kept['name']}", f"**{kept['title']}.** {made}"]
        parts += [f"Diagonal: {kept['diagonal']}", *filter(None, [kept["notes"]])]
        parts += ["\n".join(_markdown(table["columns"], table["rows"])) for table in kept["tables"]]
        parts += [f"![{kept['title']}]({(place / x).as_posix()})" for x in kept["pictures"]]
        lines += ["", "\n\n".join(parts)]
    path = folder / "RESULTS.md"
    with whole_file(path) as temporary:
        temporary.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def _markdown(columns: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    return [
        f"| {' | '.join(columns)} |",
        "|" + "---|" * len(columns),
        *(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows),
    ]


def _text(cell: Cell, digits: int) -> str:
    if cell is None:
        return ""
    return f"{cell:.{digits}g}" if isinstance(cell, float) else str(cell)
