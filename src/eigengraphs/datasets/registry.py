"""Which files a data set is made of: where they come from, and their SHA-256."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["NO_LICENCE", "HostedFile", "address", "registered"]

# A module constant so that tests can put their own server in its place.
HOST = "https://raw.githubusercontent.com"

# Folder in which a path of the data folder is published: repository, commit, folder there.
# Of multiGM, and of the commit of JOFC-GraphMatch that holds wiki_adj.RData, only the short id is
# known; whether the host resolves it has not been tried, and the SHA-256 decides in any case.
_HOMES = {
    "agri_trade/agri_trade.rda": (
        "peterwmacd/multiness/d55a861fe6fa14b563500459109b0b9a8b541e95/data"
    ),
    "hnu1": "jesusdaniel/multiGM/b9cf82e5/BrainData",
    "us_airports/US_airport_data.RData": (
        "jesusdaniel/dcmase/bcc6fd413200cc44a66994f61979e1fffd94d2bb/Data"
    ),
    "wiki/GEEDimension14.mat": (
        "cshen6/GraphEmd/dd64549808dcfeae8769d2c75e33f43d189b5f36/Experiments/Matlab/Dimension"
    ),
    "wiki/Wiki_orig.RData": (
        "adalisan/JOFC-GraphMatch/3c0a288f62a5efc7e6abe68699dd95a288ede3c6/data"
    ),
    "wiki/wiki_adj.RData": "adalisan/JOFC-GraphMatch/45e92062/data",
}
# Made from another file, not published as it is.
_UNPUBLISHED = frozenset({"hnu1/vertices.tsv"})

NO_LICENCE = "none stated by the source; ask its authors before redistributing"


@dataclass(frozen=True)
class HostedFile:
    """What is known of one file: its path in the data folder, SHA-256 and size in bytes."""

    path: str
    sha256: str
    size: int


@cache
def registered() -> dict[str, HostedFile]:
    """Return every known file by its path in the data folder."""
    text = (files("eigengraphs.datasets") / "data" / "registry.txt").read_text(encoding="utf-8")
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {path: HostedFile(path, sha256, int(size)) for sha256, size, path in lines}


def address(path: str) -> str | None:
    """Return where a file is published, None if it is not."""
    if path in _UNPUBLISHED:
        return None
    folder, _, name = path.rpartition("/")
    return f"{HOST}/{_HOMES.get(path) or _HOMES[folder]}/{name}"
