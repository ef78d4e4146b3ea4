"""``python -m tools.starts [PAGE...]``: follow the five-minute starts, each in a fresh copy.

A page's commands run in one shell, in a copy of the files that are under version control, without
any environment of this process; Python blocks of a page are run as one program. What the page says
will be printed has to be printed. How long it took is said, and not a reason to fail: machines that
run checks are shared.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from tools.starts.page import Step, missing_lines, steps_of

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "starts"
MINUTES = 5
# What is installed is asked of whatever this machine is set up to ask; nothing else is inherited.
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


def main() -> int:
    """Follow the pages; return how many did not do what they say."""
    parser = argparse.ArgumentParser(prog="python -m tools.starts", description=__doc__)
    names = sorted(page.stem for page in PAGES.glob("*.md") if page.stem != "index")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=", ".join(names))
    given = parser.parse_args()
    failed = 0
    for name in given.pages or names:
        with tempfile.TemporaryDirectory(prefix="start-") as folder:
            _copy(Path(folder))
            begin = time.monotonic()
            wrong = follow(steps_of(PAGES / f"{name}.md"), Path(folder))
            seconds = time.monotonic() - begin
        bar = "" if seconds < 60 * MINUTES else f", which is more than {MINUTES} minutes"
        print(f"{name}: {'failed' if wrong else 'as the page says'}, {seconds:.0f} s{bar}")
        print(wrong, end="", flush=True)
        failed += bool(wrong)
    return failed


def follow(steps: list[Step], folder: Path) -> str:
    """Do what the steps say, in a folder; return what went wrong, or nothing."""
    environment = {key: os.environ[key] for key in _KEPT if key in os.environ}
    environment |= {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
    environment |= {"COLUMNS": "200", "NO_COLOR": "1"}
    typed, program, wrong = ["set -e"], [], ""
    for number, step in enumerate(steps):
        if step.language == "python":
            program.append(step.text)
            (folder / "start.py").write_text("\n".join(program), encoding="utf-8")
            if any(later.language == "python" for later in steps[number + 1 :]):
                continue
            typed.append("python start.py")
        else:
            typed.append(step.text)
        typed.append(f"echo; echo '== end of step {number}'")
    done = subprocess.run(
        ["bash", "-c", "\n".join(typed)], cwd=folder, env=environment, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}\n"
    printed = done.stdout.split("== end of step ")
    # What stands behind one mark is printed by the next step.
    by_step = {int(text.partition("\n")[0]): before for before, text in pairwise(printed)}
    last_python = max((k for k, s in enumerate(steps) if s.language == "python"), default=-1)
    for number, step in enumerate(steps):
        told = by_step[last_python if step.language == "python" else number]
        for line in missing_lines(step.shown, told):
            wrong += f"step {number + 1} does not print {line!r}, but:\n{told[-2000:]}\n"
    return wrong


def _copy(folder: Path) -> None:
    """Copy what is under version control, as it is here."""
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, files):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            target.write_bytes((ROOT / name).read_bytes())


if __name__ == "__main__":
    sys.exit(main())
