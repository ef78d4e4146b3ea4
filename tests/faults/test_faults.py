"""What is written is whole, whoever stops it, and is open to whom it should be."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from eigengraphs.errors import EigengraphsError
from eigengraphs.system import whole_files
from eigengraphs.system.whole_files import (
    _beside,
    _machine,
    replace_together,
    whole_file,
    whole_folder,
)
from faults.commands import MAIN
from faults.operations import OPERATIONS, READING


def test_every_command_that_writes_is_in_the_table():
    from eigengraphs.cli.main import application

    commands = {command.callback.__name__ for command in application().registered_commands}
    tested = {operation.words[0] for operation in OPERATIONS.values() if operation.words}
    assert tested | READING == commands
    assert not tested & READING


def test_a_limit_of_memory_ends_a_fit_in_one_line(tmp_path):
    """The system's own limit, on a process of its own."""
    shape = (200, 1000, 1000)  # 1.6 GB, of which the disk keeps nothing
    np.lib.format.open_memmap(tmp_path / "graphs.npy", "w+", np.float64, shape)
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({2**31}, {2**31})); "
    done = subprocess.run(
        [sys.executable, "-c", limit + MAIN[2], "fit", "graphs.npy", "out", "-d", "2"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "EIGENGRAPHS_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    said = done.stderr.splitlines()[-1]
    assert said.startswith("eigengraphs: not enough memory")
    assert "eigengraphs convert" in said
    assert "--memory" in said
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["graphs.npy"]


# ---------------------------------------------------------------------- what killed processes leave


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
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

    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f".answer-{_machine()}-{dead.pid}-0123abcd").mkdir()
    (tmp_path / f".report-{_machine()}-{dead.pid}-0123abcd.html").touch()
    check_output(tmp_path)
    _beside(tmp_path / "answer").mkdir()  # of a command that is running
    with pytest.raises(EigengraphsError, match="holds other files"):
        check_output(tmp_path)


def test_a_folder_of_results_keeps_its_mode_and_a_link_to_it_stays(tmp_path):
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
    (tmp_path / "link.txt").symlink_to("real.txt")
    for text in ("first", "second"):
        with whole_file(tmp_path / "link.txt") as temporary:
            temporary.write_text(text)
        assert (tmp_path / "link.txt").is_symlink()
        assert (tmp_path / "real.txt").read_text() == text
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(OSError, match="not a regular file"), whole_file(tmp_path / "pipe.txt"):
        pass
    assert (tmp_path / "pipe.txt").is_fifo()
    assert len(list(tmp_path.iterdir())) == 3


def test_where_names_cannot_be_exchanged_files_are_replaced_together(tmp_path, monkeypatch):
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
                with whole_folder(out, replacing=True) as temporary:
                    for name in "abcd":
                        (temporary / name).write_text("new")
            except OSError:
                assert failing
        assert {path.read_text() for path in out.iterdir()} == {text}
        assert list(tmp_path.iterdir()) == [out]
