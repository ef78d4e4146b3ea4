"""Kill commands at every write, rename and sync of theirs, run them again, and compare.

``python -m tests.faults.crashes`` does so for all commands that write files, with names of
``operations.OPERATIONS`` for some of them. A command runs in a fork of this process under ptrace,
so each system call on a file counts, whether Python or a library in C makes it. It is killed
before each of these calls, in the middle of each write, and at its end.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import os
import platform
import re
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import eigengraphs as eg

from .commands import passes
from .operations import (
    OPERATIONS,
    Operation,
    copy,
    is_finished,
    prepare,
    quick_evaluate,
    run_command,
)

#: Of system calls on files: number on x86-64, and where their arguments are. "at" is a handle of a
#: folder followed by a path in it.
_CALLS = {
    1: ("write", "handle"), 18: ("pwrite64", "handle"), 20: ("writev", "handle"),
    40: ("sendfile", "handle"), 326: ("copy_file_range", "handle"), 285: ("fallocate", "handle"),
    74: ("fsync", "handle"), 75: ("fdatasync", "handle"), 77: ("ftruncate", "handle"),
    91: ("fchmod", "handle"), 93: ("fchown", "handle"),
    2: ("open", "path"), 76: ("truncate", "path"), 82: ("rename", "path"), 83: ("mkdir", "path"),
    84: ("rmdir", "path"), 85: ("creat", "path"), 86: ("link", "path"), 87: ("unlink", "path"),
    88: ("symlink", "path"), 90: ("chmod", "path"), 92: ("chown", "path"),
    257: ("open", "at"), 258: ("mkdir", "at"), 260: ("chown", "at"), 263: ("unlink", "at"),
    264: ("rename", "at"), 265: ("link", "at"), 266: ("symlink", "at"), 268: ("chmod", "at"),
    280: ("utime", "at"), 316: ("rename", "at"), 437: ("open", "at"),
    231: ("end", ""),
}  # fmt: skip
# The memory of pyarrow has a thread of its own otherwise, which a fork does not have.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
AVAILABLE = sys.platform == "linux" and platform.machine() == "x86_64"

_TRACEME, _SYSCALL, _SETOPTIONS, _SYSCALL_INFO = 0, 24, 0x4200, 0x420E
_SYSGOOD, _CLONE, _EXITKILL, _ENTRY, _ALL = 1, 8, 0x100000, 1, 0x40000000
_MAKES = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_RDWR
_NAME = re.compile(r"-[0-9a-f]{8}-\d+-[0-9a-f]{8}|(?<=/\.)[0-9a-f]{8}$")  # in temporary names

if AVAILABLE:
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.ptrace.argtypes, _libc.ptrace.restype = [ctypes.c_long] * 4, ctypes.c_long


class Traced:
    """A command in a fork of this process, which is killed at one of its points.

    Attributes
    ----------
    points : list of str
        What it was about to do, up to where it was killed or its end.
    code : int
        Its exit code, or minus the signal.
    """

    def __init__(
        self, folder: Path, words: tuple[str, ...], at: int | None = None, *, follow: bool = True
    ) -> None:
        self._folder, self._at = str(folder), at
        self.points: list[str] = []
        sys.stdout.flush()
        self._child = os.fork()
        if self._child == 0:
            if follow:
                _libc.ptrace(_TRACEME, 0, 0, 0)
                os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(_run(folder, words))
        status = os.waitpid(self._child, _ALL)[1]
        if not follow:
            self.code = os.waitstatus_to_exitcode(status)
            return
        _ptrace(_SETOPTIONS, self._child, 0, _SYSGOOD | _CLONE | _EXITKILL)
        _ptrace(_SYSCALL, self._child, 0, 0)
        self.code = self._follow()

    def _follow(self) -> int:
        while True:
            thread, status = os.waitpid(-1, _ALL)
            if not os.WIFSTOPPED(status):
                if thread == self._child:
                    return os.waitstatus_to_exitcode(status)
                continue
            number = os.WSTOPSIG(status)
            if number == signal.SIGTRAP | 0x80:
                self._look(thread)
            quiet = number in (signal.SIGTRAP | 0x80, signal.SIGTRAP, signal.SIGSTOP)
            _libc.ptrace(_SYSCALL, thread, 0, 0 if quiet else number)

    def _look(self, thread: int) -> None:
        """See whether a call is one on a file, and end the process if it is the one."""
        info = (ctypes.c_uint64 * 11)()
        _ptrace(_SYSCALL_INFO, thread, ctypes.sizeof(info), ctypes.addressof(info))
        if info[0] & 0xFF != _ENTRY or info[3] not in _CALLS:
            return
        (name, where), args = _CALLS[info[3]], list(info[4:10])
        if name == "open" and not _flags(thread, info[3], args) & _MAKES:
            return
        path = self._path(thread, where, args)
        if where and not path.startswith(self._folder + "/"):
            return
        what = f"{name} {_NAME.sub('*', path.removeprefix(self._folder + '/'))}".strip()
        self._point(what)
        if name in ("write", "pwrite64") and args[2] > 1:
            if len(self.points) == self._at:
                self._write_half(thread, args, name)
            self._point(f"half of {what}")

    def _point(self, what: str) -> None:
        if self._at is not None and len(self.points) > self._at:
            return  # killed already
        self.points.append(what)
        if len(self.points) - 1 == self._at:
            os.kill(self._child, signal.SIGKILL)  # the call that it is about to make is not made

    def _path(self, thread: int, where: str, args: list[int]) -> str:
        try:
            if where == "handle":
                return str(Path(f"/proc/{thread}/fd/{args[0]}").readlink())
            if where == "path":
                return os.path.join(self._folder, _text(thread, args[0]))  # noqa: PTH118
            if where == "at":
                handle = ctypes.c_int(args[0]).value
                link = "cwd" if handle == -100 else f"fd/{handle}"
                home = Path(f"/proc/{thread}/{link}").readlink()
                return str(home / _text(thread, args[1]))
        except OSError:  # of a handle that is closed, or a folder that is gone: the call fails
            pass
        return ""

    def _write_half(self, thread: int, args: list[int], name: str) -> None:
        """Let the first half of what is to be written get into the file."""
        handle = f"/proc/{thread}/fd/{args[0]}"
        with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
            memory.seek(args[1])
            data = memory.read(args[2] // 2)
        about = Path(f"/proc/{thread}/fdinfo/{args[0]}").read_text().splitlines()
        said = dict(line.split(":") for line in about[:2])
        place = args[3] if name == "pwrite64" else int(said["pos"])
        if int(said["flags"], 8) & os.O_APPEND:
            place = Path(handle).stat().st_size
        file = os.open(handle, os.O_WRONLY)
        os.pwrite(file, data, place)
        os.close(file)


def _ptrace(*args: int) -> None:
    if _libc.ptrace(*args) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _text(thread: int, address: int) -> str:
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return os.fsdecode(memory.read(4096).split(b"\0")[0])


def _flags(thread: int, number: int, args: list[int]) -> int:
    if number == 437:  # openat2 has them in a structure
        with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
            memory.seek(args[2])
            return int(struct.unpack("Q", memory.read(8))[0])
    return args[1] if number == 2 else args[2]


def _run(folder: Path, words: tuple[str, ...]) -> int:
    """Run a command here; what it prints goes to a file beside the folder."""
    os.chdir(folder)
    handle = os.open(said_by(folder), os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    faulthandler.dump_traceback_later(120, exit=True)
    code = run_command(*words)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def said_by(folder: Path) -> Path:
    """Return the file with what the last command in a folder printed."""
    return folder.with_suffix(".said")


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and contents of all files and folders below a folder, by their paths."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


@dataclass
class Outcome:
    """What came of killing one command at all of its points."""

    name: str
    calls: Counter[str]
    states: int = 0  # different ones that were left on the disk
    wrong: list[str] = field(default_factory=list)

    @property
    def points(self) -> int:
        return self.calls.total()


def crash(name: str, prepared: Path, work: Path, *, each: bool = False) -> Outcome:
    """Kill a command at each of its points, and run it again.

    What it leaves on the disk decides what the second run does: it is run once for each state,
    or with ``each`` for each point.
    """
    operation = OPERATIONS[name]
    copy(prepared, work)
    before = tree(work)
    whole = Traced(work, operation.words)
    after = tree(work)
    outcome = Outcome(name, Counter(point.rpartition(" ")[0] or point for point in whole.points))
    if whole.code or after == before:
        outcome.wrong.append(f"without a kill: {said_by(work).read_text()}")
        return outcome
    seen = set[int]()
    for at, point in enumerate(whole.points):
        copy(prepared, work)
        killed = Traced(work, operation.words, at)
        now = tree(work)
        what = f"{name}, point {at}, {point}"
        if killed.code != -signal.SIGKILL or killed.points != whole.points[: at + 1]:
            outcome.wrong.append(f"{what}: other calls, up to {killed.points[-1]}")
        outcome.wrong += [f"{what}: {text}" for text in half_written(operation, now, before, after)]
        for store in map(work.joinpath, operation.outputs):
            if (
                store.suffix == ".egs"
                and is_finished(work, (store.name,))
                and (broken := eg.store.damages(store))
            ):
                outcome.wrong.append(f"{what}: {broken}")
        state = hash(tuple((_NAME.sub("", path), found) for path, found in now.items()))
        if state in seen and not each:
            continue
        seen.add(state)
        # Passes are kept while there are no results; then they are removed.
        kept = 0 if (work / "out").exists() else passes(work / "out.unfinished")
        again = Traced(work, operation.words, follow=False)
        found, said = tree(work), said_by(work).read_text()
        if again.code:
            outcome.wrong.append(f"{what}: exit code {again.code}: {said.splitlines()[-1:]}")
        elif kept and f'"passes_kept": {kept}' not in said:
            outcome.wrong.append(f"{what}: {kept} passes were kept, and not used")
        elif found != after:
            other = [x for x in found.keys() | after.keys() if found.get(x) != after.get(x)]
            outcome.wrong.append(f"{what}: other results: {other[:5]}")
    outcome.states = len(seen)
    return outcome


Tree = dict[str, tuple[int, bytes]]


def half_written(operation: Operation, now: Tree, before: Tree, after: Tree) -> Iterator[str]:
    """Yield what has a name of its own and is neither as before nor as it should become."""
    old, new = True, True
    for path in now.keys() | before.keys() | after.keys():
        top = path.split("/")[0]
        # What is on the way says so: a temporary name, a journal of a fit.
        if f"/{path}".count("/.") or top.endswith(".unfinished"):
            continue
        if top in operation.outputs and top.endswith(".egs"):
            continue  # store.json says what in it is whole
        found = now.get(path)
        if found not in (before.get(path), after.get(path)):
            yield f"{path} is half written"
        old, new = old and found == before.get(path), new and found == after.get(path)
    if operation.at_once and not (old or new):
        yield "some files are new, some old"


def warm(prepared: Path, work: Path, names: list[str]) -> None:
    """Run commands in this process, so that forks have all modules and kernels."""
    import eigengraphs.cli.commands.demo as demo
    import eigengraphs.cli.commands.fit as fit
    import eigengraphs.store.writer as writing

    # The same bytes each time: clocks stand still, and every shard counts at once. What takes
    # long in the demo is not the writing, and a large file is not more than a small one.
    time.perf_counter = float  # type: ignore[assignment]
    fit.datetime = Stopped  # type: ignore[attr-defined, misc, assignment]
    writing.COMMIT_SECONDS = 0
    demo.evaluate = quick_evaluate()  # type: ignore[attr-defined]
    write = eg.io.write

    def write_less(stack: eg.GraphStack, *rest: Any, **more: Any) -> Path:
        brains = stack.n_vertices == 332
        stack = eg.GraphStack(stack.to_dense().dense[:3, :9, :9]) if brains else stack
        return write(stack, *rest, **more)

    eg.io.write = write_less
    quiet, kept = os.open(os.devnull, os.O_WRONLY), [os.dup(1), os.dup(2)]
    for name in names:
        copy(prepared, work)
        os.chdir(work)
        sys.stdout.flush()
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        run_command(*OPERATIONS[name].words)
        sys.stdout.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        os.chdir(prepared)


class Stopped(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Stopped:
        return cls(2026, 1, 1, tzinfo=tz)


def main() -> None:
    """Kill commands, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *COMMANDS], metavar="NAME")
    parser.add_argument("--each", action="store_true", help="Run again after each point.")
    given = parser.parse_args()
    names, wrong = given.names or COMMANDS, list[str]()
    print("| command | points | of these in the middle of a write | states left | wrong |\n"
          "|---|---|---|---|---|")  # fmt: skip
    total, begin = 0, time.monotonic()
    memory = Path("/dev/shm")  # where syncs take no time
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        prepared, work = Path(folder, "prepared"), Path(folder, "work")
        prepared.mkdir()
        prepare(prepared)
        warm(prepared, work, names)
        for name in names:
            found = crash(name, prepared, work, each=given.each)
            total += found.points
            wrong += found.wrong
            half = sum(n for call, n in found.calls.items() if call.startswith("half"))
            cells = name, found.points, half, found.states, len(found.wrong)
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print(f"\n{total} points, {len(wrong)} wrong; {time.monotonic() - begin:.0f} s")
    print(*wrong[:40], sep="\n")
    sys.exit(bool(wrong))


#: Names of operations that are commands.
COMMANDS = [name for name, operation in OPERATIONS.items() if operation.words]

if __name__ == "__main__":
    main()
