"""Kill commands at every write, rename and sync of theirs, or let it fail; run them again; compare.

``python -m tests.faults.crashes`` does so for all commands that write files, with names of
``operations.OPERATIONS`` for some of them. A command runs in a fork of this process under ptrace,
so each system call on a file counts, whether Python or a library in C makes it. It is killed
before each of these calls, in the middle of each write, and at its end; with ``--fail EIO``, or
another error, the call fails instead, and with ENOSPC so do all behind it that take room.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import faulthandler
import os
import platform
import re
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
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
    run_operation,
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
_TAKE_ROOM = {"write", "pwrite64", "writev", "open", "mkdir", "link", "fsync"}
_FAIL = _TAKE_ROOM | {"rename", "chmod", "fchmod"}  # and not those that tidy up
# The memory of pyarrow has a thread of its own otherwise, which a fork does not have.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
AVAILABLE = sys.platform == "linux" and platform.machine() == "x86_64"

_TRACEME, _SYSCALL, _SETOPTIONS, _SYSCALL_INFO, _POKE = 0, 24, 0x4200, 0x420E, 6
_RESULT, _NUMBER = 80, 120  # places of registers: rax, orig_rax
_SYSGOOD, _CLONE, _EXITKILL, _ENTRY, _ALL = 1, 8, 0x100000, 1, 0x40000000
_MAKES = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_RDWR
_NAME = re.compile(r"-[0-9a-f]{8}-\d+-[0-9a-f]{8}|(?<=/\.)[0-9a-f]{8}$")  # in temporary names

if AVAILABLE:
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.ptrace.argtypes, _libc.ptrace.restype = [ctypes.c_long] * 4, ctypes.c_long


class Traced:
    """An operation in a fork of this process, which is killed at one of its points, or fails there.

    Attributes
    ----------
    points : list of str
        What it was about to do, up to where it was killed or its end.
    code : int
        Its exit code, or minus the signal.
    """

    def __init__(
        self, folder: Path, operation: Operation, at: int | None = None, fail: int = 0
    ) -> None:
        self._folder, self._at, self._fail = str(folder), at, fail
        self._failing = set[int]()  # threads, in a call that fails
        self.points: list[str] = []
        sys.stdout.flush()
        self._child = os.fork()
        if self._child == 0:
            _libc.ptrace(_TRACEME, 0, 0, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(_run(folder, operation))
        os.waitpid(self._child, _ALL)
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
                # A thread that stopped is gone if another has ended the process meanwhile.
                with suppress(ProcessLookupError):
                    self._look(thread)
            quiet = number in (signal.SIGTRAP | 0x80, signal.SIGTRAP, signal.SIGSTOP)
            _libc.ptrace(_SYSCALL, thread, 0, 0 if quiet else number)

    def _look(self, thread: int) -> None:
        """See whether a call is one on a file, and whether it is the one."""
        info = (ctypes.c_uint64 * 11)()
        _ptrace(_SYSCALL_INFO, thread, ctypes.sizeof(info), ctypes.addressof(info))
        if info[0] & 0xFF != _ENTRY:
            if thread in self._failing:
                self._failing.remove(thread)
                _ptrace(_POKE, thread, _RESULT, -self._fail)
            return
        if info[3] not in _CALLS:
            return
        (name, where), args = _CALLS[info[3]], list(info[4:10])
        if name == "open" and not _flags(thread, info[3], args) & _MAKES:
            return
        path = self._path(thread, where, args)
        if where and not path.startswith(self._folder + "/"):
            return
        what = f"{name} {_NAME.sub('*', path.removeprefix(self._folder + '/'))}".strip()
        if self._fail:
            if name in _FAIL and self._point(what, name):
                _ptrace(_POKE, thread, _NUMBER, -1)  # a call that there is not
                self._failing.add(thread)
            return
        half = [f"half of {what}"] if name in ("write", "pwrite64") and args[2] > 1 else []
        for point in (what, *half):
            if self._point(point, name):
                if point != what:
                    self._write_half(thread, args, name)
                os.kill(self._child, signal.SIGKILL)  # the call is not made

    def _point(self, what: str, name: str) -> bool:
        """Count a point, and tell whether it is the one, or one behind it that fails as well."""
        if self._at is not None and len(self.points) > self._at:
            return self._fail == errno.ENOSPC and name in _TAKE_ROOM
        self.points.append(what)
        return len(self.points) - 1 == self._at

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
        data = _memory(thread, args[1], args[2] // 2)
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


def _memory(thread: int, address: int, size: int) -> bytes:
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)


def _text(thread: int, address: int) -> str:
    return os.fsdecode(_memory(thread, address, 4096).split(b"\0")[0])


def _flags(thread: int, number: int, args: list[int]) -> int:
    if number == 437:  # openat2 has them in a structure
        return int(struct.unpack("Q", _memory(thread, args[2], 8))[0])
    return args[1] if number == 2 else args[2]


def _run(folder: Path, operation: Operation) -> int:
    """Run an operation here; what it prints goes to a file beside the folder."""
    os.chdir(folder)
    handle = os.open(said_by(folder), os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    faulthandler.dump_traceback_later(120, exit=True)
    code = run_operation(operation)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def said_by(folder: Path) -> Path:
    """Return the file with what the last command in a folder printed."""
    return folder.with_suffix(".said")


Tree = dict[str, tuple[int, bytes]]


def tree(folder: Path) -> Tree:
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
    """What came of killing one command at all of its points, or letting it fail there."""

    points: list[str]
    states: int = 0  # different ones that were left on the disk
    wrong: list[str] = field(default_factory=list)


def crash(
    name: str, prepared: Path, work: Path, *, fail: int = 0, stride: int = 1, each: bool = False
) -> Outcome:
    """Kill an operation at its points, or let it fail there, and run it again.

    What it leaves on the disk decides what the second run does: it is run once for each state,
    or with ``each`` for each point.
    """
    operation = OPERATIONS[name]
    copy(prepared, work)
    before = tree(work)
    whole = Traced(work, operation, None, fail)
    after = tree(work)
    outcome, seen = Outcome(whole.points[::stride]), set[int]()
    if whole.code or after == before:
        outcome.wrong.append(f"{name}, to its end: {said_by(work).read_text()}")
        return outcome
    for at, point in list(enumerate(whole.points))[::stride]:
        what = f"{name}, point {at}, {point}"
        copy(prepared, work)
        stopped = Traced(work, operation, at, fail)
        now, said = tree(work), said_by(work).read_text()
        if stopped.points != whole.points[: at + 1] and stopped.points != whole.points:
            outcome.wrong.append(f"{what}: other calls, up to {stopped.points[-1]}")
        if fail:
            outcome.wrong += [f"{what}: {text}" for text in badly_ended(stopped.code, said, now)]
        elif stopped.code != -signal.SIGKILL:
            outcome.wrong.append(f"{what}: exit code {stopped.code}")
        outcome.wrong += [f"{what}: {text}" for text in half_written(operation, now, before, after)]
        for store in map(work.joinpath, operation.outputs):
            if store.suffix == ".egs" and is_finished(work, (store.name,)):
                outcome.wrong += [f"{what}: {broken}" for broken in eg.store.damages(store)]
        state = hash(tuple((_NAME.sub("", path), found) for path, found in now.items()))
        if state in seen and not each:
            continue
        seen.add(state)
        # Passes are kept while there are no results; then they are removed.
        kept = 0 if (work / "out").exists() else passes(work / "out.unfinished")
        again = Traced(work, operation)
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


def badly_ended(code: int, said: str, now: Tree) -> Iterator[str]:
    """Yield what is wrong with the end of a command in which a call failed."""
    if code not in (0, 3):
        yield f"exit code {code}"
    if "Traceback" in said or (code and not said.splitlines()[-1].startswith("eigengraphs: ")):
        yield f"it said {said[-500:]!r}"
    if left := [path for path in now if f"/{path}".count("/.")]:
        yield f"{left} is left"


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
    """Run operations in this process, so that forks have all modules and kernels."""
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
    kept = [os.dup(1), os.dup(2)]
    for name in names:
        copy(prepared, work)
        sys.stdout.flush()
        _run(work, OPERATIONS[name])
        faulthandler.cancel_dump_traceback_later()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        os.chdir(prepared)


class Stopped(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Stopped:
        return cls(2026, 1, 1, tzinfo=tz)


def main() -> None:
    """Kill commands, or let them fail, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *OPERATIONS], metavar="NAME")
    parser.add_argument("--each", action="store_true", help="Run again after each point.")
    parser.add_argument("--fail", default="", help="Let calls fail with this error: EIO, ENOSPC.")
    parser.add_argument("--stride", type=int, default=1, help="Every which point.")
    given = parser.parse_args()
    names, wrong = given.names or list(OPERATIONS), list[str]()
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
            fail = getattr(errno, given.fail, 0)
            found = crash(name, prepared, work, fail=fail, stride=given.stride, each=given.each)
            total += len(found.points)
            wrong += found.wrong
            half = sum(point.startswith("half") for point in found.points)
            cells = name, len(found.points), half, found.states, len(found.wrong)
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print(f"\n{total} points, {len(wrong)} wrong; {time.monotonic() - begin:.0f} s")
    print(*wrong[:40], sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
