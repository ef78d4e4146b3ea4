"""``python -m tools.mutants``: put wrongs into the core, one by one, and see whether tests notice.

A sample of all mutants, drawn with a seed, each in a process that is forked from one which has
imported numpy, scipy, numba and pytest already; the changed file takes the place of the real one
when it is imported, and nothing on the disk changes. Kernels of a changed file are compiled anew.
What was done is kept in ``build/mutants.json``, and a run that was stopped goes on there: a mutant
that was killed is tried again when the file of the test that killed it changes, and one that
survived when any of its tests does.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.mutants.chosen import SOURCE, TESTS
from tools.mutants.equivalent import reason_of
from tools.mutants.operators import Mutant, mutants_of
from tools.mutants.running import ROOT, Run, prepare

STATE = ROOT / "build" / "mutants.json"
RECORD = ROOT / "tests" / "mutation" / "RESULTS.md"
_MARK = "<!-- below: written by python -m tools.mutants -->"
_SECONDS = 45  # that a mutant may take beyond
_TIMES = 4  # so many times what the unchanged file takes

Sample = list[tuple[str, Mutant]]


def main() -> int:
    """Run the sample, and return 1 where fewer than four of five are killed."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", help=f"of {', '.join(TESTS)}; all by default")
    parser.add_argument("--sample", type=int, default=300, help="mutants of all files (300)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--line", type=int, help="only those of this line; nothing is recorded")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (1)")
    parser.add_argument(
        "--minutes", type=float, default=600, help="stop after so long; goes on later"
    )
    parser.add_argument("--anew", action="store_true", help="forget what was done before")
    given = parser.parse_args()
    os.chdir(ROOT)
    prepare()
    state = {} if given.anew else _read()
    drawn = [one for one in sample(given.sample, given.seed) if reason_of(*one) is None]
    chosen = [
        (file, mutant)
        for file, mutant in drawn
        if (not given.files or file in given.files)
        and (given.line is None or mutant.line == given.line)
    ]
    end = time.monotonic() + 60 * given.minutes
    for file, mutant in _tried(chosen, state, given.jobs, end):
        word, _, test, _ = state[_key(file, mutant)]
        by = f" by {test}" if word == "killed" else ""
        print(f"{word:8} {file}:{mutant.line} {mutant.was} -> {mutant.becomes}{by}", flush=True)
    return record(state, given.sample, given.seed) if given.line is None else 0


def sample(size: int, seed: int) -> Sample:
    """Return a sample of all mutants; a smaller one is the beginning of a larger one.

    The order is that of a hash of each mutant: what changes elsewhere does not touch its place.
    """
    every = [
        (file, mutant)
        for file in TESTS
        for mutant in mutants_of((ROOT / SOURCE / file).read_text())
    ]
    every.sort(key=lambda one: _digest(f"{seed} {one[0]} {one[1].name}".encode()))
    return every[:size]


def _tried(chosen: Sample, state: dict[str, Any], n_jobs: int, end: float) -> Iterator[Any]:
    """Try the mutants whose outcome is not known, several at a time; yield them and the others."""
    running = list[tuple[str, Mutant, Run]]()
    waiting = list(chosen)
    while waiting or running:
        for one in list(running):
            file, mutant, run = one
            found = run.outcome()
            if found is not None:
                running.remove(one)
                tests = TESTS[file] if found.word == "survived" else [found.test]
                state[_key(file, mutant)] = [*found, _digest(_bytes_of(tests))]
                _write(state)
                yield file, mutant
        if waiting and time.monotonic() > end:
            waiting = []
        elif waiting and len(running) < n_jobs:
            file, mutant = waiting.pop(0)
            if _known(file, mutant, state):
                yield file, mutant
            else:
                limit = _SECONDS + _TIMES * sum(_unchanged(t, state) for t in TESTS[file])
                running.append((file, mutant, Run(TESTS[file], limit, file, mutant.made()[0])))
        else:
            time.sleep(0.05)


def _known(file: str, mutant: Mutant, state: dict[str, Any]) -> bool:
    """Tell whether the outcome is known, by the tests as they are."""
    word, _, test, digest = state.get(_key(file, mutant), ("", 0.0, "", ""))
    tests = TESTS[file] if word == "survived" else [test]
    if not word or not set(tests) <= set(TESTS[file]):
        return False
    return bool(_digest(_bytes_of(tests)) == digest)


def _unchanged(test: str, state: dict[str, Any]) -> float:
    """Return the seconds of CPU that a file of tests takes without any mutant; it must pass."""
    sources = [str(SOURCE / file) for file, tests in TESTS.items() if test in tests]
    digest = _digest(_bytes_of([test, *sources]))
    if state.get(test, ["", 0.0, "", ""])[3] != digest:
        found = Run([test], limit=1800).wait()
        if found.word != "survived":
            sys.exit(f"{test} fails without any mutant")
        state[test] = [*found, digest]
        _write(state)
    return float(state[test][1])


def _bytes_of(tests: list[str]) -> bytes:
    return b"".join((ROOT / test).read_bytes() for test in tests)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _key(file: str, mutant: Mutant) -> str:
    """Return a name for a mutant of a file as it is."""
    return _digest(f"{file} {mutant.name} {mutant.original}".encode())


def record(state: dict[str, Any], size: int, seed: int) -> int:
    """Write the table of files and the lists of survivors and of equivalents.

    Of the sample up to the first mutant that was not tried: those that are known beyond it may be
    known because they were killed.
    """
    counts: dict[str, Counter[str]] = {file: Counter() for file in TESTS}
    survivors, equivalents = list[str](), list[str]()
    for file, mutant in sample(size, seed):
        shown = f"- `{file}:{mutant.line}` `{mutant.was}` -> `{mutant.becomes}`"
        reason = reason_of(file, mutant)
        if reason is not None:
            equivalents.append(f"{shown}: {reason}")
            continue
        if not _known(file, mutant, state):
            break
        word = state[_key(file, mutant)][0]
        counts[file][word] += 1
        if word == "survived":
            survivors.append(shown)
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
            f"Seed {seed}, {tried} tried of a sample of {size}: {killed} killed, {share:.1%}.",
            "",
            "| file | mutants | killed | by time | survived |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "Survivors:",
            "",
            *(sorted(survivors) or ["None."]),
            "",
            "Equivalent, and not among those tried:",
            "",
            *(sorted(equivalents) or ["None."]),
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


def _write(state: dict[str, Any]) -> None:
    STATE.parent.mkdir(exist_ok=True)
    new: Path = STATE.with_suffix(".new")
    new.write_text(json.dumps(state))
    new.replace(STATE)


if __name__ == "__main__":
    sys.exit(main())
