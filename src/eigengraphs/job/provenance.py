"""Where results come from: versions, settings, and the checksums of all that was read."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__all__ = ["in_words", "provenance"]

_PACKAGES = ("eigengraphs", "numpy", "scipy", "scikit-learn", "numba")


def provenance(
    command: Sequence[str],
    settings: Mapping[str, Any],
    inputs: Sequence[Mapping[str, str]],
    seconds: Mapping[str, float],
    reading: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what someone needs to get the same results again.

    Parameters
    ----------
    command
        The words of the command line.
    settings
        Of the fit, with all defaults.
    inputs
        Path and SHA-256 of every file that was read.
    seconds
        How long each part took.
    reading
        From where and how graphs were read.
    """
    return {
        "command": list(command),
        "settings": {key: _plain(value) for key, value in settings.items()},
        "inputs": [dict(item) for item in inputs],
        "reading": dict(reading or {}),
        "versions": {"python": sys.version.split()[0]}
        | {name: _version(name) for name in _PACKAGES},
        "machine": {"system": platform.system(), "processor": platform.machine()},
        "seconds": {key: round(value, 3) for key, value in seconds.items()},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def in_words(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the same for people, one line each; the report adds its own."""
    files = [str(item["path"]) for item in found["inputs"]]
    some = f"{files[0]} to {files[-1]}" if len(files) > 1 else "".join(files)
    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    return {
        "command": shlex.join(found["command"]) or "none: called from Python",
        "inputs": f"{count}: {some}. The SHA-256 of each is in provenance.json.",
        **{name: found["versions"][name] for name in ("scikit-learn", "numba")},
        "machine": ", ".join(found["machine"].values()),
        "time taken": ", ".join(f"{name} {s:.1f} s" for name, s in found["seconds"].items()),
        "finished": str(found["finished"]),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value)
