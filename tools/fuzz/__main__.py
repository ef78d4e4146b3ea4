"""``python -m tools.fuzz --seconds 600 [READER...]``: fuzz readers, and record it.

What was done is kept in ``build/fuzz``, and a run that was stopped goes on there, as long as the
library's code is the same. The record is tests/fuzz/RESULTS.md.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HOME = ROOT / "build" / "fuzz"
RECORD = ROOT / "tests" / "fuzz" / "RESULTS.md"
_FINAL = re.compile(r"cov: (\d+) ft: (\d+)")
_MOST_DEATHS = 50  # of one reader; then something is wrong with the reader, and not with a file
_lock = threading.Lock()


def main() -> int:
    """Run, and return how many readers have findings."""
    from tools.fuzz.readers import READERS

    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(READERS))
    parser.add_argument("--seconds", type=int, default=600, help="for each reader (default 600)")
    parser.add_argument("--jobs", type=int, default=1, help="readers at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=("auto", "plain"), default="auto",
                        help="auto: atheris where it is installed")  # fmt: skip
    parser.add_argument("--anew", action="store_true", help="forget what was done before")
    parser.add_argument("--no-record", action="store_true", help="leave RESULTS.md as it is")
    given = parser.parse_args()
    unknown = set(given.readers) - set(READERS)
    if unknown:
        parser.error(
            f"no reader is called {', '.join(sorted(unknown))}; there are: {', '.join(READERS)}"
        )
    if given.anew:
        shutil.rmtree(HOME, ignore_errors=True)
    names = given.readers or list(READERS)

    def one(name: str) -> dict[str, Any]:
        done = fuzz(name, given.seconds, given.seed, given.engine)
        print(f"{name}: {done['executions']} executions in {done['seconds']:.0f} s, "
              f"{len(done['findings'])} findings", flush=True)  # fmt: skip
        for finding in done["findings"]:
            print(f"    {finding}", flush=True)
        if not given.no_record:
            with _lock:
                record()
        return done

    with ThreadPoolExecutor(given.jobs) as pool:
        found = list(pool.map(one, names))
    return min(100, sum(bool(done["findings"]) for done in found))


def fuzz(name: str, seconds: int, seed: int, engine: str) -> dict[str, Any]:
    """Fuzz one reader until it had its seconds, through however many processes that takes."""
    home = HOME / name
    source = _digest()
    state = _state(home)
    if state.get("source") != source:
        # Findings of other code say nothing; the corpus stays, it is a good place to begin.
        shutil.rmtree(home / "found", ignore_errors=True)
        state = {"source": source, "seconds": 0.0, "executions": 0, "results": 0, "deaths": 0}
    home.mkdir(parents=True, exist_ok=True)
    while seconds - state["seconds"] >= 1 and state["deaths"] < _MOST_DEATHS:
        (home / "progress.json").unlink(missing_ok=True)
        left = int(seconds - state["seconds"])
        number = seed + state["deaths"] + int(state["seconds"])
        options = ["--seconds", str(left), "--seed", str(number), "--engine", engine]
        ended, log = _worker(name, home, *options)
        done = _read(home / "progress.json", {"seconds": 1.0, "executions": 0, "results": 0})
        for key in ("seconds", "executions", "results"):
            state[key] += done[key]
        shown = _FINAL.findall(log)
        if shown:
            state["branches"], state["paths"] = map(int, shown[-1])
        if ended != 0:
            state["deaths"] += 1
            _keep_death(name, home, ended, log)
        (home / "state.json").write_text(json.dumps(state))
        for left_over in home.glob("files-*"):
            shutil.rmtree(left_over, ignore_errors=True)
    state["corpus"] = len(list((home / "corpus").glob("*")))
    state["findings"] = _confirmed(name, home)
    state["when"] = time.strftime("%Y-%m-%d")
    state["engine"] = "atheris" if "paths" in state else "plain"
    (home / "state.json").write_text(json.dumps(state))
    return state


def _worker(name: str, home: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "tools.fuzz.worker", name, str(home), *options]
    paths = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    one_thread = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "EIGENGRAPHS_THREADS"), "1"
    )
    environment = {**os.environ, **one_thread, "PYTHONPATH": os.pathsep.join(paths)}
    log = home / f"{options[0].strip('-')}.log"
    with log.open("wb") as out:
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=out, stderr=out, check=False
        )
    return ended.returncode, log.read_text(errors="replace")


def _keep_death(name: str, home: Path, ended: int, log: str) -> None:
    """Keep the file that a process died of, with what it said last."""
    current = home / "current"
    if not current.exists():
        raise SystemExit(f"{name}: the process did not get to its first file:\n{log[-3000:]}")
    data = current.read_bytes()
    hang = (home / "hang.txt").read_text(errors="replace") if (home / "hang.txt").exists() else ""
    died = f"the process died, {ended}\n{log[-3000:]}"
    kind = f"no end after 10 seconds of work\n{hang}" if hang else died
    target = home / "found" / f"death-{hashlib.sha256(data).hexdigest()[:8]}"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(data)
    target.with_suffix(".txt").write_text(kind)


def _confirmed(name: str, home: Path) -> list[str]:
    """Return what comes out again in a process that read nothing else.

    A machine that is busy makes a file take ten seconds, and memory may run out by what was there
    before; such files are put aside.
    """
    targets = [path for path in sorted((home / "found").glob("*")) if not path.suffix]
    if not targets:
        return []
    _, log = _worker(name, home, "--replay", *map(str, targets))
    found, aside = [], home / "not-confirmed"
    for target in targets:
        said = target.with_suffix(".txt")
        if f"broken: {target.name}\n" in log:
            first = said.read_text(errors="replace").partition("\n")[0]
            found.append(f"{first} [{target.relative_to(ROOT)}]")
        else:
            aside.mkdir(exist_ok=True)
            said.replace(aside / said.name)
            target.replace(aside / target.name)
    for left_over in home.glob("files-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    return found


def record() -> None:
    """Write what was done for every reader, with one digest of the source."""
    from tools.fuzz.readers import READERS

    states = {name: _state(HOME / name) for name in READERS}
    known = {name: state for name, state in states.items() if "findings" in state}
    rows = [
        f"| {name} | {s['seconds']:.0f} | {s['executions']} | {s['results']} | "
        f"{s.get('paths', 'not known')} | {s['corpus']} | {len(s['findings'])} | {s['engine']} | "
        f"{s['when']} | {s['source'][:12]} |"
        for name, s in known.items()
    ]
    text = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    head = text.partition("<!-- below: written by python -m tools.fuzz -->")[0].rstrip()
    table = "\n".join(
        [
            "| reader | seconds | executions | read without error | paths | corpus | findings | "
            "engine | day | source |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *rows,
        ]
    )
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(
        f"{head}\n\n<!-- below: written by python -m tools.fuzz -->\n\n{table}\n", encoding="utf-8"
    )


def _digest() -> str:
    """Return a hash of the library's code: results of other code are not this one's.

    Of what it does: comments, docstrings and the layout of lines have no part in it.
    """
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_bytes())
        for node in ast.walk(tree):
            documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            if documented and ast.get_docstring(node, clean=False) is not None:
                node.body[0] = ast.Pass()
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()


def _state(home: Path) -> dict[str, Any]:
    return _read(home / "state.json", {})


def _read(path: Path, otherwise: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text()))
    except (OSError, ValueError):
        return otherwise


if __name__ == "__main__":
    sys.exit(main())
