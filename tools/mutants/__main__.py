"""``python -m tools.mutants``: put wrongs into the core, one by one, and see whether tests notice.

A sample of all mutants, drawn with a seed, each in a process that is forked from one which has
imported numpy, scipy, numba and pytest already; the changed file takes the place of the real one
when it is imported, and nothing on the disk changes. Kernels of a changed file are compiled anew.
What was done is kept in ``build/mutants.json``, and a run that was stopped goes on there.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tools.mutants.chosen import SOURCE, TESTS
from tools.mutants.operators import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
STATE = ROOT / "build" / "mutants.json"
RECORD = ROOT / "tests" / "mutation" / "RESULTS.md"
_MARK = "<!-- below: written by python -m tools.mutants -->"


def main() -> int:
    """Run the sample, and return 1 where fewer than four of five are killed."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", help=f"of {', '.join(TESTS)}; all by default")
    parser.add_argument("--sample", type=int, default=300, help="mutants of all files (300)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--minutes", type=float, default=600, help="stop after so long; goes on later"
    )
    parser.add_argument("--anew", action="store_true", help="forget what was done before")
    given = parser.parse_args()
    os.chdir(ROOT)
    _prepare()
    state = {} if given.anew else _read()
    end = time.monotonic() + 60 * given.minutes
    for file, mutant in sample(given.sample, given.seed):
        if time.monotonic() > end:
            break
        if given.files and file not in given.files:
            continue
        source, what = mutant.made()
        tests = _bytes_of(file)
        key = _key(file, source)
        if key not in state:
            if not _passes_unchanged(file, state, tests):
                print(f"{file}: its tests fail without any mutant", flush=True)
                return 2
            outcome, seconds = _try(file, source, limit=60 + 4 * state[_baseline(file)][1])
            state[key] = [outcome, seconds]
            STATE.parent.mkdir(exist_ok=True)
            STATE.write_text(json.dumps(state))
        print(f"{state[key][0]:8} {file}:{mutant.line} {what}", flush=True)
    return record(state, given.sample, given.seed)


def sample(size: int, seed: int) -> list[tuple[str, Mutant]]:
    """Return a sample of all mutants; a smaller one is the beginning of a larger one."""
    every = [
        (file, mutant)
        for file in TESTS
        for mutant in mutants_of((ROOT / SOURCE / file).read_text())
    ]
    Random(seed).shuffle(every)
    return every[:size]


def _bytes_of(file: str) -> bytes:
    return b"".join((ROOT / test).read_bytes() for test in TESTS[file])


def _key(file: str, source: str) -> str:
    """Return a name for a mutant and its tests: with other tests, it is tried again."""
    return hashlib.sha256(f"{file} {source}".encode() + _bytes_of(file)).hexdigest()[:16]


def _baseline(file: str) -> str:
    return f"unchanged {file}"


def _passes_unchanged(file: str, state: dict[str, Any], tests: bytes) -> bool:
    name = _baseline(file)
    digest = hashlib.sha256(tests + (ROOT / SOURCE / file).read_bytes()).hexdigest()
    if state.get(name, [None, 0, ""])[2] != digest:
        outcome, seconds = _try(file, (ROOT / SOURCE / file).read_text(), limit=1800)
        state[name] = [outcome, seconds, digest]
    return bool(state[name][0] == "survived")


def _prepare() -> None:
    """Import what all children need, but nothing of the library."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "EIGENGRAPHS_THREADS")
    os.environ.update(dict.fromkeys(threads, "1"))
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    import numba  # noqa: F401
    import pytest  # noqa: F401
    import scipy.linalg
    import scipy.sparse.linalg  # noqa: F401
    import sklearn.base  # noqa: F401

    assert not any(name.split(".")[0] == "eigengraphs" for name in sys.modules)


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports one module from another source."""

    def __init__(self, file: str, source: str) -> None:
        self.name = "eigengraphs." + file.removesuffix(".py").replace("/", ".")
        self.path = str(ROOT / SOURCE / file)
        # What numba has kept of a file goes by its name and its date, and is that of the real one.
        self.source = source.replace("cache=True", "cache=False")

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Return where the module comes from, if it is the one."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=self.path)

    def get_source(self, fullname: str) -> str:
        """Return the changed text."""
        return self.source

    def exec_module(self, module: Any) -> None:
        """Run the changed text as the module."""
        module.__file__ = self.path
        exec(compile(self.source, self.path, "exec"), module.__dict__)  # noqa: S102


def _try(file: str, source: str, limit: float) -> tuple[str, float]:
    """Run the tests of a file with another source; return what came of it, and CPU seconds."""
    with tempfile.TemporaryFile() as out:
        child = os.fork()
        if child == 0:
            os.setsid()
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            os._exit(_tests(file, source))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        deadline = time.monotonic() + 20 * limit  # a process that sleeps takes no CPU
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
            time.sleep(0.05)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if os.WIFSIGNALED(status):
        return ("timeout" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "killed",
                seconds)  # fmt: skip
    return ("survived" if os.WEXITSTATUS(status) == 0 else "killed"), seconds


def _tests(file: str, source: str) -> int:
    import pytest

    sys.meta_path.insert(0, _Changed(file, source))
    options = ["-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    try:
        return int(pytest.main([*options, *TESTS[file]]))
    except BaseException:
        return 1


def record(state: dict[str, Any], size: int, seed: int) -> int:
    """Write the table of files and the list of survivors."""
    counts: dict[str, Counter[str]] = {file: Counter() for file in TESTS}
    survivors = list[str]()
    for file, mutant in sample(size, seed):
        source, what = mutant.made()
        key = _key(file, source)
        if key not in state:
            continue
        counts[file][state[key][0]] += 1
        if state[key][0] == "survived":
            survivors.append(f"- `{file}:{mutant.line}` {what.replace('|', '/')}")
    total: Counter[str] = sum(counts.values(), Counter())
    tried = sum(total.values())
    killed = total["killed"] + total["timeout"]
    share = killed / tried if tried else 0.0
    rows = [
        f"| {file} | {sum(c.values())} | {c['killed']} | {c['timeout']} | {c['survived']} |"
        for file, c in counts.items()
        if c
    ]
    text = "\n".join(
        [
            f"Seed {seed}, {tried} of a sample of {size}: {killed} killed, {share:.1%}.",
            "",
            "| file | mutants | killed | by time | survived |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "Survivors:",
            "",
            *sorted(survivors),
        ]
    )
    head = (RECORD.read_text() if RECORD.exists() else "").partition(_MARK)[0].rstrip()
    RECORD.write_text(f"{head}\n\n{_MARK}\n\n{text}\n")
    print(text.partition("\n")[0])
    return int(share < 0.8)


def _read() -> dict[str, Any]:
    try:
        return dict(json.loads(STATE.read_text()))
    except (OSError, ValueError):
        return {}


if __name__ == "__main__":
    sys.exit(main())
