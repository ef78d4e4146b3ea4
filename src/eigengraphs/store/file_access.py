"""Files of a store, on a disk or wherever fsspec leads: each is complete, or not there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eigengraphs.errors import StoreError
from eigengraphs.system.extras import need
from eigengraphs.system.limits import open_regular, read_regular
from eigengraphs.system.whole_files import to_disk, whole_file


class Folder:
    """Files by their names relative to one folder, or to an address that fsspec opens."""

    def __init__(self, path: str | os.PathLike[str], options: Mapping[str, Any] | None = None):
        text = os.fspath(path)
        scheme, mark, _ = text.partition("://")
        self.options = dict(options or {})
        self.local: Path | None = None
        self._written = list[Path]()  # and perhaps not on the disk yet
        if mark and scheme.lower() != "file":
            fsspec = need("fsspec", "scale", f"opening {text}")
            self.path = text.rstrip("/")
            self._remote, self._root = fsspec.core.url_to_fs(self.path, **self.options)
        else:
            self.local = Path(text.removeprefix("file://")).absolute()
            self.path = str(self.local)

    def __str__(self) -> str:
        return self.path

    def name_of(self, name: str) -> str:
        """Return the path of a file as a user would write it."""
        return f"{self.path}/{name}"

    def _far(self, name: str) -> str:
        return f"{self._root}/{name}"

    def exists(self, name: str) -> bool:
        """Tell whether a file is there."""
        if self.local is not None:
            return (self.local / name).is_file()
        return bool(self._remote.exists(self._far(name)))

    def size(self, name: str) -> int:
        """Return the size of a file; raises FileNotFoundError."""
        if self.local is not None:
            return (self.local / name).stat().st_size
        return int(self._remote.size(self._far(name)))

    def read(self, name: str) -> bytes:
        """Return the contents of a file."""
        if self.local is not None:
            return read_regular(self.local / name)
        return bytes(self._remote.cat_file(self._far(name)))

    def read_into(self, name: str, offset: int, out: memoryview) -> int:
        """Fill a buffer from a file, starting at ``offset``; return how many bytes there were."""
        if self.local is None:
            data = self._remote.cat_file(self._far(name), start=offset, end=offset + len(out))
            out[: len(data)] = data
            return len(data)
        filled = 0
        with open_regular(self.local / name) as file:
            file.seek(offset)
            while count := file.readinto(out[filled:]):  # one call reads 2 GB at most
                filled += count
        return filled

    def write(self, name: str, *parts: bytes | memoryview, durable: bool = True) -> None:
        """Write a file whole.

        With ``durable``, it is on the disk at the end, and everything that was written before it
        is there first: what it says of other files holds after a power cut, too.
        """
        if self.local is None:
            # An object store shows an object when all of it has come.
            self._remote.makedirs(self._far(name).rpartition("/")[0], exist_ok=True)
            self._remote.pipe_file(self._far(name), b"".join(parts))
            return
        target = self.local / name
        try:
            if durable:
                self._settle()
            target.parent.mkdir(parents=True, exist_ok=True)
            for left in target.parent.glob(f".{target.stem[:60]}-*"):
                left.unlink()  # of a process that was killed; a store has one writer
            with whole_file(target, durable=durable) as temporary, temporary.open("wb") as file:
                file.writelines(parts)
            if not durable:
                self._written.append(target)
        except OSError as error:
            raise StoreError(
                f"cannot write {target}: {error.strerror}; what was complete before is unchanged. "
                "Free some space there, or check its permissions, and run the same command again"
            ) from error

    def _settle(self) -> None:
        """Wait until everything that was written is on the disk, with its names."""
        folders = dict.fromkeys(path.parent for path in self._written)
        while self._written:
            to_disk(self._written.pop())
        for folder in folders:
            while folder != self.local:  # a new folder is a name in the one above it
                to_disk(folder)
                folder = folder.parent
