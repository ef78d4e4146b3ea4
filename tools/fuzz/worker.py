"""One reader in a process of its own, with a limit of memory and of time for each file.

    python -m tools.fuzz.worker READER HOME --seconds 60 --seed 1
    python -m tools.fuzz.worker READER HOME --replay FILE...

In HOME are ``corpus/`` (files that reached new code), ``found/`` (files that broke the reader, each
with what came out), ``progress.json``, and ``files/``, where the file stands that is being read: if
the process dies, that file killed it.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import hashlib
import json
import os
import resource
import signal
import sys
import time
import traceback
import types
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

# One arena and the system's allocator: address space is what is limited.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

SECONDS = 10  # of CPU time, for one file
MEMORY = 2**30  # bytes, beyond what the process takes at rest
# Modules whose branches guide the search, with all below them.
_WATCHED = (
    "eigengraphs.io", "eigengraphs.store", "eigengraphs.fitting.model_file",
    "eigengraphs.report", "eigengraphs.models.recipes", "eigengraphs.stack.build",
    "eigengraphs.stack.mask",
    "eigengraphs.stack.names", "zipfile",
    "gzip", "tomllib", "networkx.readwrite",
)  # fmt: skip


class Run:
    """Executions of one reader, with what came of them."""

    def __init__(self, name: str, home: Path) -> None:
        from tools.fuzz.readers import READERS

        self.reader = READERS[name]
        self.home = home
        self.files = home / f"files-{os.getpid()}"
        for folder in ("corpus", "found"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        self.files.mkdir(exist_ok=True)
        self.executions = self.results = 0
        self.start = self._said = time.monotonic()
        self.trace = (home / "hang.txt").open("w+")
        faulthandler.register(signal.SIGPROF, file=self.trace, chain=True)

    def one(self, data: bytes) -> None:
        """Give the reader one file, and note what comes out but results and its own errors."""
        from tools.fuzz.readers import run

        (self.home / "current").write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
        # For what waits and never works; on a busy machine, a minute may be a second of work.
        faulthandler.dump_traceback_later(12 * SECONDS, exit=True, file=self.trace)
        try:
            self.results += run(self.reader, data, self.files) is None
        except Exception as error:
            self._keep(data, error)
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.executions += 1
        if time.monotonic() - self._said > 1:
            self.say()

    def say(self) -> None:
        """Write how far it is."""
        self._said = time.monotonic()
        said = {
            "seconds": self._said - self.start,
            "executions": self.executions,
            "results": self.results,
        }
        temporary = self.home / "progress.tmp"
        temporary.write_text(json.dumps(said))
        temporary.replace(self.home / "progress.json")

    def _keep(self, data: bytes, error: BaseException) -> None:
        """Keep the smallest file for each place that an error comes from."""
        key = key_of(error)
        target = self.home / "found" / hashlib.sha256(key.encode()).hexdigest()[:12]
        if not target.exists() or target.stat().st_size > len(data):
            target.write_bytes(data)
            text = "".join(traceback.format_exception(error))
            target.with_suffix(".txt").write_text(f"{key}\n\n{text}", errors="backslashreplace")


def key_of(error: BaseException) -> str:
    """Return the kind of an error, and the last line of the library that it went through."""
    cause = error.__cause__ if type(error).__name__ == "UnnamedFile" else None
    frames = traceback.extract_tb((cause or error).__traceback__)
    ours = [frame for frame in frames if "eigengraphs" in Path(frame.filename).parts]
    place = f"{Path(ours[-1].filename).name}, {ours[-1].name}: {ours[-1].line}" if ours else "?"
    return f"{type(error).__name__} at {place}"


def limit_memory(most: int = MEMORY) -> None:
    """Refuse the process more address space than it has now and so many bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + most
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _atheris() -> Any:
    """Return atheris, which looks on from now on; None where it is not installed."""
    try:
        import atheris
    except ImportError:
        return None
    # By function, and not by atheris's hooks for imports, which numba does not survive.
    for name, module in list(sys.modules.items()):
        if any(name == word or name.startswith(f"{word}.") for word in _WATCHED):
            for function in _functions(module, name):
                atheris.instrument_func(function)
    return atheris


def _functions(holder: Any, module: str) -> Iterator[Any]:
    for item in list(vars(holder).values()):
        if isinstance(item, property):
            item = item.fget
        item = getattr(item, "__func__", item)
        if getattr(item, "__module__", None) != module:
            continue
        if isinstance(item, type):
            yield from _functions(item, module)
        elif isinstance(item, types.FunctionType):
            yield item


def main() -> None:
    """Fuzz, or replay one file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("reader")
    parser.add_argument("home", type=Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=("auto", "plain"), default="auto")
    parser.add_argument("--replay", type=Path, nargs="+")
    given = parser.parse_args()
    if given.replay is not None:
        _replay(given.reader, given.home, given.replay)
        return
    run = Run(given.reader, given.home)
    _warm(run)
    atheris = None if given.engine == "plain" else _atheris()
    if atheris is None:
        _plain(run, given.seconds, given.seed)
    else:
        _guided(atheris, run, given.seconds, given.seed)


def _replay(name: str, home: Path, files: list[Path]) -> None:
    """Read each file in a process of its own, and print those that break the reader again."""
    run = Run(name, home)
    _warm(run)
    for file in files:
        child = os.fork()
        if child == 0:
            os._exit(_again(run, file.read_bytes()))
        if os.waitpid(child, 0)[1] != 0:
            print(f"broken: {file.name}", flush=True)


def _again(run: Run, data: bytes) -> int:
    from tools.fuzz.readers import run as once

    limit_memory()
    faulthandler.dump_traceback_later(6 * SECONDS, exit=True)  # a busy machine is no hang
    before = time.process_time()
    try:
        once(run.reader, data, run.files)
    except Exception:
        traceback.print_exc()
        return 3
    return 4 if time.process_time() - before > SECONDS else 0


def _warm(run: Run) -> None:
    """Read the whole files: what is compiled or imported then takes no one else's time."""
    from tools.fuzz.readers import run as once

    for data in run.reader.seeds:
        for tail in (b"", b"\n", b" "):  # the other ways that a file may be read
            once(run.reader, data + (b"" if run.reader.folder else tail), run.files)


def _plain(run: Run, seconds: int, seed: int) -> None:
    """Change files at random, and now and then go on from one that was changed already."""
    limit_memory()
    rng = Random(seed)
    pool = list(run.reader.seeds)
    run.start = time.monotonic()
    while time.monotonic() - run.start < seconds:
        data = run.reader.change(rng.choice(pool), rng)[:100_000]
        run.one(data)
        if rng.random() < 0.05:
            pool = [*run.reader.seeds, *pool[-200:], data]
    run.say()


def _guided(atheris: Any, run: Run, seconds: int, seed: int) -> None:
    """Let atheris keep what reaches new code, and change that."""
    corpus = run.home / "corpus"
    for data in run.reader.seeds:
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)

    def change(data: bytes, most: int, which: int) -> bytes:
        rng = Random(which)
        if not run.reader.folder and rng.random() < 0.3:
            return bytes(atheris.Mutate(data, most))
        changed = run.reader.change(data, rng)
        return changed if len(changed) <= most else data

    limit_memory()
    run.start = time.monotonic()
    options = [
        f"-max_total_time={seconds}", f"-seed={seed}", "-max_len=100000", "-timeout=60",
        "-rss_limit_mb=0", "-print_final_stats=1", "-verbosity=1", f"-artifact_prefix={run.home}/",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], run.one, custom_mutator=change)
    with contextlib.suppress(SystemExit):
        atheris.Fuzz()
    run.say()


if __name__ == "__main__":
    main()
