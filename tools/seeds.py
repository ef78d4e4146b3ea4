"""Core tests with other random numbers: ``python -m tools.seeds`` runs them for seeds 0 to 19.

Each seed is a run of pytest with ``--seed N``, which shifts every seed that tests and the library
draw from (tests/conftest.py), and makes Hypothesis choose other examples. The tests are those of
recovery, of properties and of statistics. Left out are tests of files, commands and pages, where
random numbers change nothing, and the few that compare with numbers that were written down.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]

TESTS = [
    "tests/embedding/test_recovery.py",
    "tests/solvers/test_algorithm1.py",
    "tests/solvers/test_core.py",
    "tests/solvers/test_basis.py",
    "tests/solvers/test_geometry.py",
    "tests/solvers/test_rules.py",
    "tests/models/test_likelihood.py",
    "tests/models/test_sampling.py",
    "tests/alignment/test_component_pairs.py",
]


def main() -> int:
    """Run, and return how many seeds have failures."""
    parser = argparse.ArgumentParser(prog="python -m tools.seeds", description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=19)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("tests", nargs="*", help="instead of the core tests")
    given = parser.parse_args()
    start = time.monotonic()

    def one(seed: int) -> bool:
        passed, text = _run(seed, given.tests or TESTS)
        print(f"seed {seed}: {text}", flush=True)
        return passed

    with ThreadPoolExecutor(given.jobs) as pool:
        passed = list(pool.map(one, range(given.first, given.last + 1)))
    print(f"{sum(passed)} of {len(passed)} seeds passed, {time.monotonic() - start:.0f} s")
    return len(passed) - sum(passed)


def _run(seed: int, tests: list[str]) -> tuple[bool, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "EIGENGRAPHS_THREADS")
    environment = {**os.environ, **dict.fromkeys(threads, "1")}
    done = subprocess.run(  # noqa: S603
        [*command, "--seed", str(seed), *tests],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    failed = re.findall(r"^(?:FAILED|ERROR) .*$", done.stdout, re.MULTILINE)
    last = (done.stdout.strip() or done.stderr.strip() or "nothing was said").splitlines()[-1]
    return done.returncode == 0, "\n    ".join([last, *failed])


if __name__ == "__main__":
    sys.exit(main())
