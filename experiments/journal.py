"""Steps of a run that are finished: one JSON line each, appended as they come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eigengraphs.errors import InputError
from eigengraphs.system.whole_files import whole_file

__all__ = ["Journal"]


class Journal:
    """Results by key, kept in a file so that an interrupted run can go on.

    Each line names the run that it belongs to. Lines of other runs (another version of the
    library) are left as they are and not used; lines that cannot be read, as after a power cut,
    are dropped.

    Parameters
    ----------
    path
        The file; made when the first result comes.
    fingerprint
        What all results of the run depend on, in words.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path = path
        self._fingerprint = fingerprint
        self._results: dict[str, Any] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
            if lines and not lines[-1].endswith(b"\n"):
                with whole_file(path) as temporary:  # else the next line would go on from it
                    temporary.write_bytes(b"".join(lines[:-1]))
        except OSError as error:
            raise InputError(
                f"cannot keep finished steps in {str(path)!r}: {error.strerror}; give another "
                "output folder"
            ) from None
        for line in lines:
            entry = _entry(line)
            if entry is not None and entry["run"] == fingerprint:
                self._results[entry["key"]] = entry["result"]

    def __contains__(self, key: object) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def __len__(self) -> int:
        return len(self._results)

    def add(self, key: str, result: Any) -> None:
        """Keep one result, in memory as it will be read back."""
        line = json.dumps({"run": self._fingerprint, "key": key, "result": result})
        # One write in append mode: lines of two runs at once do not mix.
        with self._path.open("ab", buffering=0) as file:
            file.write(line.encode() + b"\n")
        self._results[key] = json.loads(line)["result"]


def _entry(line: bytes) -> dict[str, Any] | None:
    """Return what a line holds, None if it is damaged."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    whole = isinstance(entry, dict) and {"run", "key", "result"} <= set(entry)
    return entry if whole else None
