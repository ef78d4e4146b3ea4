"""The environment of the peers that cannot share ours, and the process that runs in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.processes import Process, UnavailableError, blas_threads

__all__ = ["Peer", "peer_python", "start_peer"]

_HERE = Path(__file__).parent
_ENVIRONMENT = _HERE.parent / ".venv-peers"
_REQUIREMENTS = _HERE / "requirements-peers.txt"
_PYTHONS = ("python3.12", "python3.11")  # what graspologic 3.4.4 runs on, if ours is newer


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
        raise UnavailableError(f"the peers' environment cannot be made ({error})") from error
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


class Peer(Process):
    """A process in the peers' environment, with so many BLAS threads."""

    def __init__(self, threads: int) -> None:
        super().__init__(peer_python(), "benchmarks.peer_worker", blas_threads(threads))


def start_peer(threads: int, notes: list[str]) -> Peer | None:
    """Return the peers' process; or None, with a note, where its environment is not to be had."""
    try:
        return Peer(threads)
    except UnavailableError as error:
        print(f"going on without the peers: {error}", file=sys.stderr)
        notes.append("The peers are not in this run: their environment was not to be had.")
        return None
