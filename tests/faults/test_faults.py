"""Whatever call fails: old output stays as it was, no half file has a final name, one line says so.

By default every thirteenth call of an operation fails; ``-m slow`` lets each of them.
"""

import errno
import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import EigengraphsError
from faults.commands import MAIN
from faults.injector import Fault, Shortage
from faults.operations import (
    OPERATIONS,
    READING,
    SLOW,
    VARYING,
    Operation,
    contents,
    copy,
    is_finished,
    prepare,
    quick_evaluate,
    run_command,
)

pytestmark = [
    pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs names of open files"),  # noqa: PTH112
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
STRIDE = 13


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder)
    return folder


@pytest.fixture
def quick_demo(monkeypatch):
    monkeypatch.setattr("eigengraphs.cli.commands.demo.evaluate", quick_evaluate())


class Bench:
    """Runs one operation again and again in a folder that is put back each time."""

    def __init__(self, operation: Operation, prepared, folder, monkeypatch, capsys):
        self.operation, self._prepared, self.folder = operation, prepared, folder / "work"
        self._patch, self._capsys = monkeypatch, capsys
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "200")
        self.reset()
        self.before = contents(self.folder, operation.outputs)
        assert self.run() == (0, ""), "without a fault"
        self.after = contents(self.folder, operation.outputs)
        assert self.after != self.before

    def reset(self):
        self._patch.chdir(self._prepared)
        copy(self._prepared, self.folder)
        self._patch.chdir(self.folder)

    def run(self, fault=None):
        """Return the exit code and the last line of what was said on errors."""
        operation = self.operation
        with nullcontext() if fault is None else fault.injected():
            if operation.call is not None:
                try:
                    operation.call()
                except (EigengraphsError, OSError, MemoryError) as error:
                    return 3, f"eigengraphs: {error}"
                return 0, ""
            code = run_command(*operation.words)
        err = self._capsys.readouterr().err
        assert "Traceback" not in err
        return code, err.splitlines()[-1] if code else ""

    def check(self, code, said, what):
        """See that the folder is as before or, where that is allowed, on a way that goes on."""
        operation, now = self.operation, contents(self.folder, self.operation.outputs)
        left = list(self.folder.rglob(".*"))
        assert left == [], what
        if code != 0:
            assert code == 3, what
            assert said.startswith("eigengraphs: "), what
        same = {x: now[x] == self.before.get(x) for x in now}
        new = {
            name: Path(name).name in VARYING or now[name] == self.after.get(name) for name in now
        }
        if now == self.before:
            assert code == 3, what
        elif now.keys() == self.after.keys() and all(new.values()):
            pass  # all of it is new and whole: what failed was the last word to the disk
        elif operation.goes_on:
            gone = {x for x in self.before if x not in now}
            assert not gone, what
            if any(name.endswith(".egs") for name in operation.outputs):
                same_store = all(same[x] for x in now if Path(x).name == "store.json")
                assert not is_finished(self.folder, operation.outputs) or same_store, what
        elif operation.apart:
            assert all(same[x] or new[x] for x in now), what
        else:
            raise AssertionError(f"{what}: neither old nor new: {same}")
        # And the next attempt succeeds.
        if code == 0:
            return
        if now != self.before and not operation.goes_on:
            return
        if is_finished(self.folder, operation.outputs) and now.keys() == self.after.keys():
            return  # a finished store is refused
        assert self.run() == (0, ""), what
        found = contents(self.folder, operation.outputs)
        assert found.keys() == self.after.keys(), what
        for name in found:
            if Path(name).name not in VARYING | {"store.json"}:
                assert found[name] == self.after[name], f"{what}: {name}"


def each_call(bench, stride, make):
    """Let one call after the other fail."""
    at, met = 0, 0
    while True:
        bench.reset()
        fault = make(at)
        code, said = bench.run(fault=fault)
        if not fault.met:
            assert code == 0
            return met
        bench.check(code, said, f"call {at}, {fault.calls[-1]} ({said})")
        met += 1
        at += stride


NUMBERS = [(errno.EIO, False), (errno.ENOSPC, True)]


@pytest.mark.parametrize("name", sorted(OPERATIONS.keys() - SLOW))
def test_a_call_fails(name, prepared, tmp_path, monkeypatch, capsys):
    bench = Bench(OPERATIONS[name], prepared, tmp_path, monkeypatch, capsys)
    number, lasting = NUMBERS[sorted(OPERATIONS).index(name) % 2]
    assert each_call(bench, STRIDE, lambda at: Fault(bench.folder, at, number, lasting)) >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("number", "lasting"), NUMBERS, ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_call_fails(
    name, number, lasting, prepared, tmp_path, monkeypatch, capsys, quick_demo
):
    bench = Bench(OPERATIONS[name], prepared, tmp_path, monkeypatch, capsys)
    stride = 5 if name == "demo" else 1  # which takes seconds each time
    assert each_call(bench, stride, lambda at: Fault(bench.folder, at, number, lasting)) >= 4


@pytest.mark.parametrize("name", ["fit of a store", "convert to a store", "simulate"])
def test_memory_ends(name, prepared, tmp_path, monkeypatch, capsys):
    bench = Bench(OPERATIONS[name], prepared, tmp_path, monkeypatch, capsys)
    assert each_call(bench, 5 * STRIDE, lambda at: Shortage(at, 256)) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in sorted(OPERATIONS) if OPERATIONS[name].memory])
def test_memory_ends_anywhere(name, prepared, tmp_path, monkeypatch, capsys):
    bench = Bench(OPERATIONS[name], prepared, tmp_path, monkeypatch, capsys)
    each_call(bench, 3, lambda at: Shortage(at, 256))


def test_every_command_that_writes_is_in_the_table():
    from eigengraphs.cli.main import application

    commands = {command.callback.__name__ for command in application().registered_commands}
    tested = {operation.words[0] for operation in OPERATIONS.values() if operation.words}
    assert tested | READING == commands
    assert not tested & READING


def test_memory_that_ends_is_one_line_with_a_way_out(prepared, tmp_path, monkeypatch, capsys):
    bench = Bench(OPERATIONS["fit"], prepared, tmp_path, monkeypatch, capsys)
    bench.reset()
    code, said = bench.run(fault=Shortage(3, 256))
    assert code == 3
    assert said.startswith("eigengraphs: not enough memory (Unable to allocate")
    assert "eigengraphs convert" in said
    assert "--memory" in said


@pytest.mark.slow
def test_a_limit_of_memory_ends_a_fit_in_one_line(tmp_path):
    """The system's own limit, on a process of its own."""
    np.save(tmp_path / "graphs.npy", np.ones((40, 1000, 1000)))
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({2**31}, {2**31})); "
    done = subprocess.run(
        [sys.executable, "-c", limit + MAIN[2], "fit", "graphs.npy", "out", "-d", "2"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "EIGENGRAPHS_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "not enough memory" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["graphs.npy"]


@pytest.mark.parametrize(
    "words",
    [("fit", "graphs.npz", "disk/out", "-d", "2"),
     ("convert", "graphs.npz", "disk/out", "--to", "csv"),
     ("convert", "plain.npy", "disk/out.npy")],
    ids=lambda words: f"{words[0]} {words[2]}",
)  # fmt: skip
def test_a_disk_that_is_full(words, prepared, tmp_path, monkeypatch, capsys):
    """On a small file system of its own; the earlier results on it stay as they are."""
    copy(prepared, tmp_path / "work")
    disk = tmp_path / "work" / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a file system of its own needs root")
    try:
        if words[0] == "fit":
            (disk / "out").mkdir()
            (disk / "out" / "loadings.tsv").write_text("of last week\n")
        pages = {"disk/out": 45, "disk/out.npy": 50}[words[2]]  # of the 50 that there are
        (disk / "rest").write_bytes(bytes(4096 * pages - 4096 * (words[0] == "fit")))
        before = {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
        monkeypatch.chdir(tmp_path / "work")
        assert run_command(*words) == 3
        assert "No space left on device" in capsys.readouterr().err.splitlines()[-1]
        assert {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()} == before
        assert list(disk.rglob(".*")) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# ---------------------------------------------------------------------- what killed processes leave


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    from eigengraphs.system.whole_files import _beside, _machine, whole_file, whole_folder

    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    mine = _beside(tmp_path / "a.txt", ".txt")
    names = {
        "gone": f".a-{_machine()}-{dead.pid}-0123abcd.txt",
        "elsewhere": f".a-00000000-{dead.pid}-0123abcd.txt",
        "other": f".ab-{_machine()}-{dead.pid}-0123abcd.txt",
        "mine": mine.name,
        "users": ".a-notes.txt",
    }
    for name in names.values():
        (tmp_path / name).touch()
    (tmp_path / f".out-{_machine()}-{dead.pid}-0123abcd").mkdir()
    with whole_file(tmp_path / "a.txt") as temporary:
        temporary.write_text("a")
    with whole_folder(tmp_path / "out") as temporary:
        (temporary / "b.txt").write_text("b")
    there = {path.name for path in tmp_path.iterdir()}
    assert there == {names[x] for x in ("elsewhere", "other", "mine", "users")} | {"a.txt", "out"}


def test_a_fit_replaces_results_in_which_another_command_was_killed(tmp_path):
    from eigengraphs.cli.results_folder import check_output
    from eigengraphs.system.whole_files import _beside, _machine

    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f".answer-{_machine()}-{dead.pid}-0123abcd").mkdir()
    (tmp_path / f".report-{_machine()}-{dead.pid}-0123abcd.html").touch()
    check_output(tmp_path)
    _beside(tmp_path / "answer").mkdir()  # of a command that is running
    with pytest.raises(EigengraphsError, match="holds other files"):
        check_output(tmp_path)


def test_a_folder_of_results_keeps_its_mode_and_a_link_to_it_stays(tmp_path):
    from eigengraphs.system.whole_files import whole_folder

    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("old")
    (tmp_path / "real").chmod(0o2770)
    (tmp_path / "link").symlink_to("real")
    with whole_folder(tmp_path / "link", replacing=True) as temporary:
        (temporary / "a.txt").write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o7777 == 0o2770
    assert len(list(tmp_path.iterdir())) == 2


@pytest.fixture
def _private():
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_private")
def test_results_are_open_to_those_alone_whom_the_umask_lets_in(tmp_path):
    from eigengraphs.system.whole_files import replace_together, whole_file, whole_folder

    for name in ("new.txt", "shared.txt"):
        with whole_file(tmp_path / name) as temporary:
            temporary.write_text("a")
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    with whole_folder(tmp_path / "out") as temporary:
        (temporary / "b.txt").write_text("b")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.txt"]
    (tmp_path / "shared.txt").chmod(0o640)
    with whole_file(tmp_path / "shared.txt") as temporary:
        assert temporary.stat().st_mode & 0o777 == 0o600
        temporary.write_text("c")
    assert (tmp_path / "shared.txt").stat().st_mode & 0o777 == 0o640
    replace_together([(tmp_path / "new.txt", tmp_path / "shared.txt")])
    assert (tmp_path / "shared.txt").stat().st_mode & 0o777 == 0o640


def test_a_link_to_a_file_stays_and_a_device_is_not_replaced(tmp_path):
    from eigengraphs.system.whole_files import whole_file

    (tmp_path / "link.txt").symlink_to("real.txt")
    for text in ("first", "second"):
        with whole_file(tmp_path / "link.txt") as temporary:
            temporary.write_text(text)
        assert (tmp_path / "link.txt").is_symlink()
        assert (tmp_path / "real.txt").read_text() == text
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(OSError, match="no plain file"), whole_file(tmp_path / "pipe.txt"):
        pass
    assert (tmp_path / "pipe.txt").is_fifo()
    assert len(list(tmp_path.iterdir())) == 3


def test_where_names_cannot_be_exchanged_files_are_replaced_together(tmp_path, monkeypatch):
    from eigengraphs.system import whole_files

    def cannot(a, b):
        raise OSError(errno.EINVAL, "no")

    monkeypatch.setattr(whole_files, "_exchange", cannot)
    out = tmp_path / "out"
    out.mkdir()
    for name in "abc":
        (out / name).write_text("old")
    real = os.replace

    def last_fails(source, target, **options):
        if os.fspath(target).endswith("/c"):
            raise OSError(errno.EIO, "no")
        real(source, target, **options)

    for failing, text in ((True, "old"), (False, "new")):
        with monkeypatch.context() as patch:
            if failing:
                patch.setattr(os, "replace", last_fails)
            try:
                with whole_files.whole_folder(out, replacing=True) as temporary:
                    for name in "abcd":
                        (temporary / name).write_text("new")
            except OSError:
                assert failing
        assert {path.read_text() for path in out.iterdir()} == {text}
        assert list(tmp_path.iterdir()) == [out]


def test_python_is_told_the_same_way(tmp_path):
    """From Python, a full disk is an OSError, or one of ours that says where."""
    stack = eg.GraphStack(np.ones((2, 3, 3)))
    fault = Fault(tmp_path, 0, errno.ENOSPC)
    with fault.injected(), pytest.raises(OSError, match="No space left"):
        eg.io.write(stack, tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []
