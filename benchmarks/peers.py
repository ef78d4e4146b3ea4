"""The environment of the peers that cannot share ours, and the process that runs in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["Peer", "PeerUnavailableError", "peer_python"]

_HERE = Path(__file__).parent
_ENVIRONMENT = _HERE.parent / ".venv-peers"
_REQUIREMENTS = _HERE / "requirements-peers.txt"
_PYTHONS = ("python3.12", "python3.11")  # what graspologic 3.4.4 runs on, if ours is newer
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class PeerUnavailableError(Exception):
    """The peers' environment cannot be made, or their process does not answer."""


def peer_python() -> Path:
    """Return the interpreter of the peers' environment, made anew if its list has changed."""
    folder = "Scripts" if os.name == "nt" else "bin"
    python = _ENVIRONMENT / folder / "python"
    wanted, stamp = _REQUIREMENTS.read_text(), _ENVIRONMENT / "installed.txt"
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    print("making the peers' environment; this takes a minute", file=sys.stderr)
    try:
        if not python.exists():
            _check([_base_python(), "-m", "venv", str(_ENVIRONMENT)])
        _check([*pip, "-r", str(_REQUIREMENTS)])
    except (OSError, subprocess.CalledProcessError) as error:
        raise PeerUnavailableError(f"the peers' environment cannot be made ({error})") from error
    stamp.write_text(wanted)
    return python


def _base_python() -> str:
    if tuple(sys.version_info) < (3, 13):
        return sys.executable
    found = next(filter(None, map(shutil.which, _PYTHONS)), None)
    if found is None:
        raise OSError("graspologic 3.4.4 needs Python 3.12 or older, and none was found")
    return found


def _check(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Peer:
    """A process in the peers' environment that fits on request, one BLAS thread like all.

    Attributes
    ----------
    versions : dict of str
        Versions of the packages there.
    """

    versions: dict[str, str]

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(peer_python()), "-W", "ignore", str(_HERE / "peer_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **_ONE_THREAD},
        )
        try:
            self.versions = self._answer()
        except PeerUnavailableError:
            self.close()
            raise

    def load(self, stack: Path) -> None:
        """Read the graphs of an .npz file, for the fits to come."""
        self._ask({"load": str(stack)})

    def fit(self, output: Path) -> float:
        """Fit the graphs, write the positions to an .npy file, and return the seconds."""
        return float(self._ask({"fit": str(output)})["seconds"])

    def _ask(self, request: dict[str, str]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except OSError as error:
            raise PeerUnavailableError("the peers' process has ended") from error
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise PeerUnavailableError("the peers' process has ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerUnavailableError(f"the peer failed: {answer['error']}")
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
