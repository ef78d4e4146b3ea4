"""Tests with another source in the place of one file, each time in a process of their own."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from tools.mutants.chosen import SOURCE

__all__ = ["ROOT", "Outcome", "Run", "prepare"]

ROOT = Path(__file__).parents[2]


class Outcome(NamedTuple):
    """What came of the tests of a file."""

    word: str  # killed, timeout or survived
    seconds: float  # of CPU
    test: str  # the file of the test that was last begun


def prepare() -> None:
    """Import what all children need, but nothing of the library."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "EIGENGRAPHS_THREADS")
    os.environ.update(dict.fromkeys(threads, "1"))
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    import pytest

    options = ["-q", "--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with redirect_stdout(StringIO()):
        pytest.main([*options, str(Path(__file__).parent)])  # no tests: it loads its plugins
    for name in ("numba", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg", "sklearn.base",
                 "sklearn.linear_model", "hypothesis.strategies", "zarr"):  # fmt: skip
        importlib.import_module(name)
    assert not any(name.split(".")[0] == "eigengraphs" for name in sys.modules)


class Run:
    """A child that runs tests, with another source in the place of a file.

    Parameters
    ----------
    tests
        Files of tests, in their order.
    limit
        Seconds of CPU that the tests may take.
    file, source
        A file of the library and what takes its place; none by default.
    """

    def __init__(self, tests: list[str], limit: float, file: str = "", source: str = "") -> None:
        self._first = tests[0]
        self._begun = tempfile.TemporaryFile()  # noqa: SIM115
        self._child = os.fork()
        if self._child == 0:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            os._exit(_tests(tests, file, source, self._begun.fileno()))
        self._deadline = time.monotonic() + 20 * limit  # a process that sleeps takes no CPU

    def outcome(self) -> Outcome | None:
        """Return what came of it; None while it runs."""
        done, status, used = os.wait4(self._child, os.WNOHANG)
        if not done:
            if time.monotonic() > self._deadline:
                os.killpg(self._child, signal.SIGKILL)
            return None
        self._begun.seek(0)
        lines = self._begun.read().decode().splitlines()
        self._begun.close()
        test = lines[-1] if lines else self._first
        word = "killed"
        if os.WIFSIGNALED(status):
            ended = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
            word = "timeout" if ended else "killed"
        elif os.WEXITSTATUS(status) == 0:
            word = "survived"
        return Outcome(word, used.ru_utime + used.ru_stime, test)

    def wait(self) -> Outcome:
        """Return what came of it, when it has ended."""
        while (found := self.outcome()) is None:
            time.sleep(0.05)
        return found


class _Begun:
    """Writes the file of each test that is begun."""

    def __init__(self, where: int) -> None:
        self._where = where

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        os.write(self._where, f"{nodeid.partition('::')[0]}\n".encode())

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            os.write(self._where, f"{report.nodeid.partition('::')[0]}\n".encode())


def _tests(tests: list[str], file: str, source: str, begun: int) -> int:
    import pytest

    if file:
        sys.meta_path.insert(0, _Changed(file, source))
    options = ["-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    try:
        return int(pytest.main([*options, *tests], plugins=[_Begun(begun)]))
    except BaseException:
        return 1


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
