"""What the names of files say by the rules of the Brain Imaging Data Structure."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["DERIVED", "SUFFIXES", "bids_suffix", "entities", "stem"]

# The last word of the names of files that hold connectivity matrices.
SUFFIXES = frozenset({"relmat", "conmat", "connectome", "connmat", "connectivity", "adjacency"})

# Entities that tell what was computed from a scan; the others tell which scan it is.
DERIVED = frozenset(
    {"atlas", "seg", "meas", "desc", "space", "res", "den", "model", "label", "stat", "parc"}
    | {"scale", "weight", "param", "feature"}
)

# Keys that are known in any case, Sub- and SUB-; others stay as they are.
_KEYS = DERIVED | {"sub", "ses", "task", "acq", "run", "dir", "rec", "echo"}
_ENTITY = re.compile(r"^([A-Za-z]+)-([A-Za-z0-9.+]+)$")
_INNER = re.compile(r"\.(dense|sparse|mtx)$", re.IGNORECASE)


def stem(path: Path) -> str:
    """Return the name of a file without its ending: ``.tsv``, ``.dense.tsv``, ``.csv.gz``."""
    name = path.name
    if path.suffix.lower() == ".gz":
        name = Path(name).stem
    name = Path(name).stem
    return _INNER.sub("", name) or path.name


def bids_suffix(path: Path) -> str:
    """Return the last word of a name, which says what a file holds; '' if it is an entity."""
    word = re.split(r"[_.]", stem(path))[-1].lower()
    return "" if _ENTITY.match(word) else word


def entities(path: Path) -> dict[str, str]:
    """Return entities such as ``{"sub": "01", "ses": "1"}``, of the folders and of the name."""
    found: dict[str, str] = {}
    for folder in path.parent.parts:
        match = _ENTITY.match(folder)
        if match and (key := match[1].lower()) in ("sub", "ses"):
            if key == "sub":
                found.clear()  # what counts is the innermost subject
            found[key] = match[2]
    for word in stem(path).split("_"):
        match = _ENTITY.match(word)
        if match:
            key = match[1].lower()
            found[key if key in _KEYS else match[1]] = match[2]
    return found
