"""Atomic writing: a file or folder gets its name only when it is complete.

Everything is written under a temporary name beside its own, synced, and renamed. A process that
is killed in between leaves the temporary name behind; the next one that writes the same output on
the same machine removes it.
"""

from __future__ import annotations

import ctypes
import errno
import filecmp
import glob
import os
import platform
import re
import secrets
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from eigengraphs.errors import InputError

# What renameat2 says where two names cannot be exchanged: another system, a mount point.
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EBUSY, errno.EXDEV)

_TEMPORARY = re.compile(r"^\..*-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}(\.|$)")  # see _beside


@contextmanager
def whole_file(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Give a temporary name beside ``path``; what is written there gets the name at the end.

    With ``durable``, it is on the disk before it gets the name, and so is the name at the end: a
    power cut leaves the old file or the new one. Without, the caller sees to that, as do those who
    give a temporary folder a name. The file is open to whom the user's umask or, if it replaces
    one, the old file lets in; of a link, what it leads to is replaced.
    """
    if path.is_symlink():
        path = path.resolve()
    if path.exists() and not path.is_file():  # a device, say, which is not to be replaced
        raise OSError(errno.EEXIST, "it exists and is not a regular file", str(path))
    durable = durable and not _TEMPORARY.search(path.parent.name)
    if durable:
        _remove_left_over(path)
    # Named before it is made: whatever stops us in between, it is removed.
    temporary = _beside(path, path.suffix)
    try:
        mode = 0o600 if path.exists() else 0o666
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        yield temporary
        if path.exists():
            _as_before(temporary, path)
        if durable:
            to_disk(temporary)
        temporary.replace(path)
        if durable:
            to_disk(path.parent)
    finally:
        with suppress(OSError):  # an error before this one is the one to show
            temporary.unlink(missing_ok=True)


def to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path``, which is removed at the end with all in it."""
    _remove_left_over(path)
    temporary = _beside(path)
    try:
        temporary.mkdir(mode=0o700 if path.exists() else 0o777)
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def whole_folder(path: Path, *, replacing: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside ``path``, which must be absent or an empty folder.

    It gets the name at the end, with all that was written into it. A folder with the very same
    contents may be there, so that a command that was killed after this can be run again. With
    ``replacing``, so may any other: it changes places with the new one and is removed.

    Raises
    ------
    FileExistsError
        If something else is there.
    """
    path = path.resolve()  # what a link leads to, not the link
    with scratch_folder(path) as temporary:
        yield temporary
        _tree_to_disk(temporary)
        if path.exists():
            _as_before(temporary, path)
        if not (path.is_dir() and any(path.iterdir())):
            if os.name == "nt" and path.is_dir():
                path.rmdir()
            temporary.replace(path)  # fails if the folder is there and not empty
        elif replacing:
            try:
                _exchange(temporary, path)
            except OSError as error:
                if error.errno not in _NO_EXCHANGE:
                    raise
                replace_together([(file, path / file.name) for file in sorted(temporary.iterdir())])
        elif not _same(temporary, path):
            raise FileExistsError(errno.EEXIST, "it exists and is not empty", str(path))
        to_disk(path.parent)


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Keep other processes of this library from changing a folder, where the system has locks.

    Raises
    ------
    BlockingIOError
        If another process has locked it, and this is not to wait.
    """
    if os.name == "nt":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError:  # file systems without
            pass
        yield
    finally:
        os.close(handle)  # which unlocks it


def output_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder for results, or say why it cannot be made."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the output folder {str(folder)!r}: {error.strerror}; choose another"
        ) from None
    return folder


def replace_together(moves: Sequence[tuple[Path, Path]]) -> None:
    """Rename files, all of them or, after an error, none.

    Each move is one from a folder of its own beside the target, as :func:`scratch_folder` gives
    it. Only a process that is killed in the few moments between leaves some new and some old.
    """
    done: list[tuple[Path | None, Path]] = []
    try:
        for new, target in moves:
            to_disk(new)
            kept = None
            if target.exists():
                _as_before(new, target)
                kept = new.with_name(f".{new.name[-60:]}.before")
                _second_name(target, kept)
            done.append((kept, target))
            new.replace(target)
        for folder in dict.fromkeys(target.parent for _, target in moves):
            to_disk(folder)
    except BaseException:
        for kept, target in reversed(done):
            with suppress(OSError):  # the others all the same
                if kept is not None:
                    kept.replace(target)
                else:
                    target.unlink(missing_ok=True)
        raise


def _beside(path: Path, suffix: str = "") -> Path:
    """Return a name that is free, with the process in it that will use it."""
    return path.with_name(f"{_head(path)}{_machine()}-{os.getpid()}-{secrets.token_hex(4)}{suffix}")


def _head(path: Path) -> str:
    found = _TEMPORARY.search(path.name)
    if found is not None:  # beside a temporary name: the same output, so it is removed with it
        return path.name[: found.start(1)]
    # Part of the stem: the temporary name must not be longer than a file system allows.
    return f".{path.stem.encode()[:60].decode(errors='ignore')}-"


def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _remove_left_over(path: Path) -> None:
    """Remove what processes of this machine that are dead left beside a path."""
    for left in path.parent.glob(f"{glob.escape(_head(path))}*"):
        if not is_left_over(left):
            continue
        with suppress(OSError):  # it is only in the way
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink()


def is_left_over(path: Path) -> bool:
    """Tell whether a name is a temporary one of a process of this machine that is dead."""
    found = _TEMPORARY.search(path.name)
    return found is not None and found[1] == _machine() and not _lives(int(found[2]))


def _lives(process: int) -> bool:
    if os.name == "nt":
        return True  # where asking for a process ends it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


def _same(one: Path, other: Path) -> bool:
    """Tell whether two folders hold the same files."""
    here, there = ({x.relative_to(at): x for x in at.rglob("*")} for at in (one, other))
    return here.keys() == there.keys() and all(
        path.is_dir() == there[name].is_dir()
        and (path.is_dir() or filecmp.cmp(path, there[name], shallow=False))
        for name, path in here.items()
    )


def _tree_to_disk(folder: Path) -> None:
    for place, _, files in os.walk(folder):
        for file in files:
            to_disk(Path(place) / file)
        to_disk(Path(place))


def _as_before(new: Path, old: Path) -> None:
    """Give a file or a folder the mode and the group of the one that it replaces."""
    info = old.stat()
    with suppress(OSError, AttributeError):
        os.chown(new, -1, info.st_gid)
    new.chmod(info.st_mode & 0o7777)


def _exchange(a: Path, b: Path) -> None:
    """Exchange two names in one step; raises OSError if that is impossible."""
    rename = None
    if os.name == "posix":
        rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if rename(here, os.fsencode(a), here, os.fsencode(b), exchange):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(b))


def _second_name(path: Path, other: Path) -> None:
    try:
        os.link(path, other)
    except OSError:  # file systems without
        shutil.copy2(path, other)
