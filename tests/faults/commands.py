"""Commands in processes of their own, for tests that stop them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def start(folder: Path, *words: str, **options: Any) -> subprocess.Popen[str]:
    """Start a command in a folder; what it prints is in its standard error."""
    out = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*MAIN, *words], cwd=folder, **{"env": environment(), **out, **options})


def run(folder: Path, *words: str) -> None:
    """Run a command in a folder to its end."""
    process = start(folder, *words)
    _, said = process.communicate()
    assert process.returncode == 0, said


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def left_over(folder: Path) -> list[str]:
    """Return temporary names in a folder and below."""
    return [str(path) for path in folder.rglob(".*")]


def passes(journal: Path) -> int:
    """Return how many passes a journal has whole."""
    return sum(1 for _ in journal.glob("[!.]*.npz"))
