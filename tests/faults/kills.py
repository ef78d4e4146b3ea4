"""Kill commands at random moments, let them go on, and compare what they write.

``python -m tests.faults.kills --times 100`` kills fits, ``--what convert`` conversions; the
outcome is printed, and with ``--record FILE`` written to a file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np

import eigengraphs as eg

MAIN = [sys.executable, "-c", "from eigengraphs.cli import main; main()"]
COMPARED = ("loadings.tsv", "positions.tsv", "components.tsv", "model.eg")
FIT = ("-d", "6", "--memory", "8M", "--max-iter", "60")


@dataclass
class Outcome:
    """What came of a number of kills."""

    what: str
    equal: int = 0
    kills: int = 0
    finished: int = 0  # before the signal came
    phases: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    found: list[int] = field(default_factory=list)  # passes, or graphs, that need not be done again
    seconds: float = 0.0


def graphs(m: int = 120, n: int = 160, seed: int = 0) -> eg.GraphStack:
    """Return graphs whose components are hard to tell, so that a fit takes many passes."""
    rng = np.random.default_rng(seed)
    H = np.linalg.qr(rng.standard_normal((n, 6)))[0]
    A = np.einsum("sk,ik,tk->ist", H, rng.gamma(2.0, 1.0, (m, 6)), H)
    noise = rng.standard_normal((m, n, n)) / np.sqrt(n)
    return eg.GraphStack(A + noise + noise.transpose(0, 2, 1))


def environment() -> dict[str, str]:
    """Return that of a command."""
    return os.environ | {"OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"}


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command in a folder."""
    return subprocess.Popen(
        [*MAIN, *words], cwd=folder, env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(folder: Path, *words: str) -> str:
    """Run a command to its end; return what it printed."""
    process = start(folder, *words)
    out, err = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)}: exit code {process.returncode}: {err}")
    return out


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def left_over(folder: Path) -> list[str]:
    """Return temporary names in a folder and below."""
    return [str(path) for path in folder.rglob(".*")]


class Warm:
    """A process that has imported everything and runs each command in a fork of itself.

    For campaigns: a command takes seconds to import what it needs, and is killed behind that.
    """

    _CODE = """
import json, os, sys
from eigengraphs.cli import main
def command(words):
    sys.argv = ["eigengraphs", *words]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0
for line in sys.stdin:
    folder, out, words, here = json.loads(line)
    os.chdir(folder)
    if here:
        sys.stdout = open(os.devnull, "w")
        command(words)
        sys.stdout = sys.__stdout__
        print("warm", flush=True)
        continue
    child = os.fork()
    if child == 0:
        handle = os.open(out, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        code = command(words)
        sys.stdout.flush()
        os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

    _shared = False

    def __init__(self, folder: Path, *words: str) -> None:
        self._folder, self.out = folder, folder / "out.txt"
        self._server = subprocess.Popen(
            [sys.executable, "-c", self._CODE], env=environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._send(words, here=True)
        assert self._line() == "warm"

    def at(self, folder: Path, *words: str) -> Warm:
        """Return the same process for commands in another folder."""
        other = copy(self)
        other._folder, other.out, other._shared = folder, folder / "out.txt", True
        return other

    def _send(self, words: tuple[str, ...], *, here: bool) -> None:
        assert self._server.stdin is not None
        said = [str(self._folder), str(self.out), words, here]
        self._server.stdin.write(json.dumps(said) + "\n")
        self._server.stdin.flush()

    def _line(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline().strip()

    def start(self, *words: str) -> int:
        """Start a command; return its process."""
        self._send(words, here=False)
        return int(self._line())

    def code(self) -> int:
        """Wait for the command; return its exit code, or the signal as a negative number."""
        return int(self._line())

    def run(self, *words: str) -> str:
        """Run a command to its end; return what it printed."""
        self.start(*words)
        code = self.code()
        said = self.out.read_text(encoding="utf-8")
        if code:
            raise RuntimeError(f"{' '.join(words)}: exit code {code}: {said}")
        return said

    def killed(self, delay: float, sign: Path, *words: str) -> bool:
        """Kill a command some time after a sign of its work appears; tell whether it still ran."""
        process = self.start(*words)
        until = time.monotonic() + 300
        while not sign.exists() and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(delay)
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        return self.code() == -signal.SIGKILL

    def close(self) -> None:
        """End the process."""
        if self._shared:
            return
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()
        assert self._server.stdout is not None
        self._server.stdout.close()


class Fresh:
    """The same with a process for each command."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._folder = folder

    def run(self, *words: str) -> str:
        """Run a command to its end; return what it printed."""
        return run(self._folder, *words)

    def killed(self, delay: float, sign: Path, *words: str) -> bool:
        """Kill a command some time after a sign of its work appears; tell whether it still ran."""
        process = start(self._folder, *words)
        until = time.monotonic() + 300
        while not sign.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(delay)
        process.kill()
        process.communicate()
        return process.returncode == -signal.SIGKILL

    def close(self) -> None:
        """Do nothing."""


Kind = Callable[..., Fresh | Warm]


def passes(journal: Path) -> int:
    """Return how many passes a journal has whole."""
    if not journal.is_dir():
        return 0
    return sum(path.is_dir() and path.suffix != ".partial" for path in journal.iterdir())


def kill_fits(times: int, folder: Path, seed: int = 0, kind: Kind = Fresh, m: int = 120) -> Outcome:
    """Kill fits of a store, go on with ``--resume``, and compare with one that was left alone.

    The folder of results holds those of another fit when every second one begins: until the new
    ones are whole, they must stay as they are. What goes on is another process, or a fork of one
    that had no part in the first.
    """
    begin = time.monotonic()
    eg.scale.write_store(folder / "g.egs", [graphs(m)], shard_bytes=4 * 160**2 * 8)
    rng, outcome = random.Random(seed), Outcome("fit")
    first, second = (kind(folder, "fit", "g.egs", f"warm{k}", *FIT) for k in range(2))
    first.run("fit", "g.egs", "whole", *FIT)
    whole = {name: digest(folder / "whole" / name) for name in COMPARED}
    first.run("fit", "g.egs", "old", "-d", "1", "--memory", "8M")
    old = {path.name: digest(path) for path in (folder / "old").iterdir()}
    lasted = time.monotonic()
    first.run("fit", "g.egs", "timed", *FIT)
    lasted = time.monotonic() - lasted
    if kind is Fresh:
        lasted /= 2  # the rest is imports, before there is a sign of work
    for i in count():
        if outcome.kills == times:
            break
        name = f"out{i}"
        output, journal = folder / name, folder / f"{name}.unfinished"
        if i % 2:
            shutil.copytree(folder / "old", output)
        delay = rng.uniform(0, lasted)
        if first.killed(delay, journal, "fit", "g.egs", name, *FIT):
            outcome.kills += 1
        else:
            outcome.finished += 1
            lasted *= 0.9  # a machine that others use is faster at times
        kept = passes(journal)
        there = {path.name: digest(path) for path in output.iterdir()} if output.is_dir() else None
        before = old if i % 2 else None
        new = there is not None and all(there.get(file) == whole[file] for file in COMPARED)
        phase = "written" if new else f"{kept:2d} passes kept"
        outcome.phases[phase] += 1
        if not new and there != before:
            outcome.wrong.append(f"kill {i} ({phase}): the earlier results are not as they were")
        said = second.run("fit", "g.egs", name, *FIT, "--resume", "--json")
        found = json.loads(said.splitlines()[-1])["passes_kept"]
        outcome.found.append(found)
        after = {file: digest(output / file) for file in COMPARED}
        left = [path for path in left_over(folder) if f".{name}-" in path]
        if after != whole:
            outcome.wrong.append(f"kill {i} ({phase}): other bytes after --resume")
        elif found < kept and not new:  # else the journal was being removed
            outcome.wrong.append(f"kill {i} ({phase}): {kept} passes were kept, {found} used")
        elif left or journal.exists():
            outcome.wrong.append(f"kill {i} ({phase}): left over: {left or journal}")
        else:
            outcome.equal += 1
        shutil.rmtree(output)
    first.close()
    second.close()
    outcome.seconds = time.monotonic() - begin
    return outcome


def kill_conversions(times: int, folder: Path, seed: int = 0, kind: Kind = Fresh) -> Outcome:
    """Kill conversions into a store, run the same command again, and compare all files."""
    begin = time.monotonic()
    eg.io.write(graphs(300, 120), folder / "files", format="csv")
    lasted = time.monotonic()
    run(folder, "convert", "files", "whole.egs")
    lasted = (time.monotonic() - lasted) / 3  # the rest is imports, and looking at files
    expected = np.asarray(eg.open_store(folder / "whole.egs").load())
    rng, outcome = random.Random(seed), Outcome("convert")
    first, second = (kind(folder, "convert", "files", f"warm{k}.egs") for k in range(2))
    for i in count():
        if outcome.kills == times:
            break
        store = folder / f"out{i}.egs"
        if first.killed(rng.uniform(0, lasted), store, "convert", "files", store.name):
            outcome.kills += 1
        else:
            outcome.finished += 1
            lasted *= 0.9  # a machine that others use is faster at times
        about = store / "store.json"
        said = json.loads(about.read_bytes()) if about.exists() else {"finished": False}
        phase = "finished" if said["finished"] else f"{said.get('n_graphs', 'no')} graphs written"
        outcome.phases[phase] += 1
        if not said["finished"]:
            said = json.loads(second.run("convert", "files", store.name, "--json").splitlines()[-1])
            outcome.found.append(said["resumed_at"])
        if not np.array_equal(np.asarray(eg.open_store(store).load()), expected):
            outcome.wrong.append(f"kill {i} ({phase}): other graphs")
        elif eg.scale.damages(store) or left_over(store):
            outcome.wrong.append(f"kill {i} ({phase}): damages, or {left_over(store)}")
        else:
            outcome.equal += 1
        shutil.rmtree(store)
    first.close()
    second.close()
    outcome.seconds = time.monotonic() - begin
    return outcome


def in_words(outcome: Outcome, times: int) -> str:
    """Return a paragraph on a campaign, for the record."""
    phases = ", ".join(f"{name}: {count}" for name, count in sorted(outcome.phases.items()))
    used = f"{min(outcome.found)} to {max(outcome.found)}" if outcome.found else "none"
    lines = [
        f"## {outcome.what}: {times} kills; {outcome.equal} of {outcome.kills + outcome.finished} "
        "as if never killed",
        "",
        f"- killed while running: {outcome.kills}; attempts that were done before: "
        f"{outcome.finished}",
        f"- where they were: {phases}",
        f"- {'passes' if outcome.what == 'fit' else 'graphs'} that need not be done again: {used}",
        f"- {outcome.seconds:.0f} s",
        *(f"- WRONG: {text}" for text in outcome.wrong),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run a campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--what", choices=("fit", "convert"), default="fit")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fresh", action="store_true", help="Import everything for each command.")
    parser.add_argument("--record", type=Path)
    given = parser.parse_args()
    campaign = kill_fits if given.what == "fit" else kill_conversions
    with tempfile.TemporaryDirectory() as name:
        kind = Fresh if given.fresh else Warm
        outcome = campaign(given.times, Path(name), given.seed, kind)
    text = in_words(outcome, given.times)
    print(text)
    if given.record is not None:
        with given.record.open("a", encoding="utf-8") as file:
            file.write("\n" + text)
    sys.exit(bool(outcome.wrong))


if __name__ == "__main__":
    main()
