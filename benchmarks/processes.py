"""Processes that load graphs once and then run methods on request, by lines of JSON.

One line on standard input is a request, one line on standard output its answer: {"load": path},
or {"method": name, "options": {...}}. Files carry the arrays. Everyone is measured so, ours and
the peers, each in a process and an environment of its own. This module is imported in the peers'
environments too, where eigengraphs is not installed: it needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.memory import peak, start_peak

__all__ = ["Process", "UnavailableError", "blas_threads", "serve"]

_ROOT = Path(__file__).parent.parent


class UnavailableError(Exception):
    """A process cannot be started, does not answer, or failed at a request."""


def blas_threads(count: int) -> dict[str, str]:
    """Return the environment variables that give BLAS so many threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return dict.fromkeys(names, str(count))


class Process:
    """A process that runs ``serve`` of a module of this package.

    Parameters
    ----------
    python
        The interpreter.
    module
        The module to run.
    environment
        Environment variables to set.

    Attributes
    ----------
    versions : dict of str
        Versions of the packages there.
    """

    versions: dict[str, str]

    def __init__(self, python: Path | str, module: str, environment: Mapping[str, str]) -> None:
        # From the root, so that `benchmarks` is found and its modules hide no other package.
        self._process = subprocess.Popen(
            [str(python), "-W", "ignore", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            env={**os.environ, **environment},
        )
        try:
            self.versions = self._answer()
        except UnavailableError:
            self.close()
            raise

    def load(self, source: Path) -> None:
        """Read the graphs of a file, for the methods to come."""
        self._ask({"load": str(source)})

    def run(self, method: str, **options: Any) -> dict[str, Any]:
        """Run a method on the graphs.

        Returns
        -------
        dict
            "seconds" of the method proper, "peak" bytes of memory above what was held before, and
            what else the method tells.
        """
        return self._ask({"method": method, "options": options})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except OSError as error:
            raise UnavailableError("the process has ended") from error
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise UnavailableError("the process has ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise UnavailableError(answer["error"])
        return answer

    def close(self) -> None:
        """End the process."""
        try:
            self._process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def serve(
    versions: dict[str, str],
    load: Callable[[str], Any],
    methods: Mapping[str, Callable[..., dict[str, Any]]],
) -> None:
    """Answer requests until the input ends.

    Parameters
    ----------
    versions
        Said first.
    load
        Turns the path of a file into graphs.
    methods
        By name; each is called with the graphs and the options of the request.
    """
    # Whatever libraries print goes to the errors; the answers have standard output to themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps(versions), file=answers, flush=True)
    graphs: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            if "load" in request:
                graphs = None  # before the next is read: both may not fit
                graphs = load(request["load"])
            else:
                before = start_peak()
                answer = methods[request["method"]](graphs, **request["options"])
                answer["peak"] = peak() - before
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
