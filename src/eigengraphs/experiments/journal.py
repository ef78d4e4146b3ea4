"""Steps of a run that are finished: one JSON line each, appended as they come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["Journal"]


class Journal:
    """Results by key, kept in a file so that an interrupted run can go on.

    The first line holds the fingerprint of the run. A file with another fingerprint (another
    seed, other sizes, changed code) is of no use and is begun anew; a last line that was cut off
    in the middle of writing is dropped.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path = path
        self._results: dict[str, Any] = {}
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        head = json.dumps({"fingerprint": fingerprint}).encode() + b"\n"
        if not lines or lines[0] != head:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(head)
            return
        whole = [line for line in lines[1:] if line.endswith(b"\n")]
        for line in whole:
            entry = json.loads(line)
            self._results[entry["key"]] = entry["result"]
        if len(whole) < len(lines) - 1:
            path.write_bytes(b"".join([head, *whole]))

    def __contains__(self, key: object) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def __len__(self) -> int:
        return len(self._results)

    def add(self, key: str, result: Any) -> None:
        """Keep one result, in memory as it will be read back."""
        line = json.dumps({"key": key, "result": result})
        with self._path.open("ab") as file:
            file.write(line.encode() + b"\n")
        self._results[key] = json.loads(line)["result"]
