"""Commands in processes of their own, for tests that stop them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from copy import copy
from pathlib import Path

import numpy as np

import eigengraphs as eg

MAIN = [sys.executable, "-c", "from eigengraphs.cli import main; main()"]
COMPARED = ("loadings.tsv", "positions.tsv", "components.tsv", "model.eg")
FIT = ("-d", "6", "--memory", "8M", "--max-iter", "60")


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


def run(folder: Path, *words: str) -> None:
    """Run a command in a folder to its end."""
    subprocess.run([*MAIN, *words], cwd=folder, env=environment(), capture_output=True, check=True)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def left_over(folder: Path) -> list[str]:
    """Return temporary names in a folder and below."""
    return [str(path) for path in folder.rglob(".*")]


class Warm:
    """A process that has imported everything and runs each command in a fork of itself.

    A command takes seconds to import what it needs, and is stopped behind that.
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

    def at(self, folder: Path) -> Warm:
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

    def close(self) -> None:
        """End the process."""
        if self._shared:
            return
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()
        assert self._server.stdout is not None
        self._server.stdout.close()


def passes(journal: Path) -> int:
    """Return how many passes a journal has whole."""
    return sum(1 for _ in journal.glob("[!.]*.npz"))
