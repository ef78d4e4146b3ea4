"""Processes of a cluster that a test may kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

# Small, so that what is gone is missed soon; see docs/guide/cluster.md.
SHORT = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "15s",
    "DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "3s",
}


class Processes:
    """A scheduler and workers without nannies, each a process of its own."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self._folder, self._opened = folder, opened
        self._file = folder / "scheduler.json"

    def scheduler(self, *options: str, prefix: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Start the scheduler; its address is in :attr:`file`."""
        started = self._start("dask_scheduler", options, prefix)
        wait_until(self._file.exists, 60)
        return started

    def worker(self, *options: str, prefix: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Start a worker."""
        more = ["--no-nanny", "--nthreads", "1", "--memory-limit", "1GB", "--local-directory"]
        return self._start("dask_worker", (*more, str(self._folder), *options), prefix)

    @property
    def file(self) -> Path:
        """The scheduler file."""
        return self._file

    def _start(
        self, name: str, options: Sequence[str], prefix: Sequence[str]
    ) -> subprocess.Popen[bytes]:
        place = ("--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(self._file))
        command = [*prefix, sys.executable, "-m", f"distributed.cli.{name}", *place, *options]
        paths = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, **SHORT, "PYTHONPATH": paths}
        log = self._opened.enter_context((self._folder / f"{name}.log").open("ab"))
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        self._opened.callback(_end, process)
        return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@contextmanager
def processes(folder: Path) -> Iterator[Processes]:
    """Give processes that end with the block."""
    with ExitStack() as opened:
        yield Processes(folder, opened)


def wait_until(true: Callable[[], object], seconds: float) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@contextmanager
def meanwhile(when: Callable[[], object], do: Callable[[], object]) -> Iterator[None]:
    """Do something as soon as something is so, while the block runs; it must have happened."""
    done, over = threading.Event(), threading.Event()

    def work() -> None:
        while not over.is_set():
            if when():
                do()
                done.set()
                return
            time.sleep(0.002)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert done.is_set()


def began(folder: Path) -> list[int]:
    """Return the processes that said they began."""
    return [int(path.stem) for path in folder.glob("*.began")]


def kill_one(folder: Path) -> None:
    """Kill one of these, as the kernel does when memory is short."""
    os.kill(began(folder)[0], signal.SIGKILL)
