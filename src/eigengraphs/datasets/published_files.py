"""Files of published data sets: from a data folder, checked, and downloaded where absent.

``data/registry.txt`` lists every file with its size, its SHA-256 and where it is published.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import DatasetError, InputError
from eigengraphs.stack import GraphStack
from eigengraphs.system.extras import need
from eigengraphs.system.limits import read_regular
from eigengraphs.system.whole_files import whole_file

Folder: TypeAlias = str | os.PathLike[str] | None
Names: TypeAlias = NDArray[np.str_]

VARIABLE = "EIGENGRAPHS_DATA"
# A module constant so that tests can put their own server in its place.
HOST = "https://raw.githubusercontent.com"
_TIMEOUT = 30  # seconds without an answer from the server


class PublishedFile(NamedTuple):
    """What is known of one file: path in the data folder, SHA-256, size in bytes, and its home."""

    path: str
    sha256: str
    size: int
    home: str  # repository, commit and folder; "-" if no address is known

    @property
    def address(self) -> str:
        """Where it is published."""
        return f"{HOST}/{self.home}/{Path(self.path).name}"


@cache
def registered() -> dict[str, PublishedFile]:
    """Return every known file by its path in the data folder."""
    lines = _text("registry.txt").splitlines()
    cells = (line.split() for line in lines if not line.startswith("#"))
    return {path: PublishedFile(path, digest, int(size), home)
            for digest, size, path, home in cells}  # fmt: skip


def _text(name: str) -> str:
    return (files("eigengraphs.datasets") / "data" / name).read_text(encoding="utf-8")


# ---------------------------------------------------------------------- the data folder


def _find_folder(data_folder: Folder) -> Path:
    """Return the folder given, else that of ``EIGENGRAPHS_DATA``, else the user's cache."""
    if data_folder is not None and not isinstance(data_folder, str | os.PathLike):
        raise InputError(f"data_folder must be a path, got data_folder={data_folder!r}")
    named = data_folder if data_folder is not None else os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    return Path(need("platformdirs", "data", "finding the cache").user_cache_dir("eigengraphs"))


def read_files(paths: Sequence[str], *, data_folder: Folder, download: bool) -> list[bytes]:
    """Return the contents of files of the registry, each one checked.

    Parameters
    ----------
    paths : sequence of str
        As in the registry, such as ``"wiki/Wiki_orig.RData"``.
    data_folder : path or None
        By default that of ``EIGENGRAPHS_DATA``, else the user's cache. It is written to only if
        files are absent.
    download : bool
        Whether absent files may be downloaded.
    """
    folder = _find_folder(data_folder)
    wanted = [registered()[path] for path in paths]
    # Path.is_file raises an error where nobody may look.
    absent = [file for file in wanted if not os.path.isfile(folder / file.path)]  # noqa: PTH113
    if absent and not download:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise DatasetError(
            f"not found: {folder / absent[0].path}{more}, and download=False; allow the download, "
            f"put the files there by hand, or name the folder that holds them by data_folder or "
            f"the environment variable {VARIABLE}"
        )
    if absent:
        _download(absent, folder)
    return [_read(file, folder) for file in wanted]


def _read(file: PublishedFile, folder: Path) -> bytes:
    path = folder / file.path
    try:
        content = read_regular(path)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    found = sha256(content).hexdigest()
    if found != file.sha256:
        raise DatasetError(
            f"{path} is not the published file: expected SHA-256 {file.sha256} "
            f"({file.size} bytes), found {found} ({len(content)} bytes); delete it, and it will be "
            "downloaded again when next asked for"
        )
    return content


# ---------------------------------------------------------------------- records


class ReadOnly:
    """A record whose arrays are locked against changes, as the data set is."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)


class Published(ReadOnly):
    """What to cite, the terms, and where the files of a data set come from."""

    citation: ClassVar[str]
    license: ClassVar[str]
    source: ClassVar[str]
    graphs: GraphStack

    def __init_subclass__(cls) -> None:
        said = tomllib.loads(_text("sources.toml"))
        for name, text in {"license": said["license"], **said[cls.__name__]}.items():
            setattr(cls, name, text)

    def __repr__(self) -> str:
        kind = "directed" if self.graphs.is_directed else "undirected"
        m, n, _ = self.graphs.shape
        return f"{type(self).__name__}({m} {kind} graphs on {n} vertices)"


# ---------------------------------------------------------------------- downloads


def _download(wanted: Sequence[PublishedFile], folder: Path) -> None:
    """Download files into their places in the folder, over one connection.

    Nothing is left but whole files with the right SHA-256. The first failure ends it all; files
    that came before stay, and need not come again.
    """
    requests = need("requests", "data", "downloading data")
    with requests.Session() as session:
        for file in wanted:
            url, target = file.address, folder / file.path
            if file.home == "-":
                raise DatasetError(
                    f"no address of {file.path} is known; put the file by hand at {target}"
                )
            try:
                response = session.get(url, timeout=_TIMEOUT)
                response.raise_for_status()
                found = sha256(response.content).hexdigest()
                if found != file.sha256:
                    raise OSError(f"it is another file: expected {file.sha256}, found {found}")
                target.parent.mkdir(parents=True, exist_ok=True)
                with whole_file(target, durable=False) as temporary:
                    temporary.write_bytes(response.content)
            except OSError as error:  # of the disk, or of requests
                raise DatasetError(
                    f"cannot download {url} ({file.size} bytes) into {target.parent}: {error}; try "
                    f"again, put the file by hand at {target}, or name another folder by "
                    f"data_folder or the environment variable {VARIABLE}"
                ) from error


# ---------------------------------------------------------------------- files of R


def read_r(path: str, *, data_folder: Folder, download: bool) -> dict[str, Any]:
    """Return what an ``.RData`` file of the registry holds, by name.

    Sparse matrices of R are ``csc_array``. The package ``rdata`` is asked for before the download.
    """
    rdata = need("rdata", "data", "reading a file of R")
    (content,) = read_files([path], data_folder=data_folder, download=download)
    known = {
        **rdata.conversion.DEFAULT_CLASS_MAP,
        "dgCMatrix": lambda slots, _: sparse.csc_array(
            (slots.x, slots.i, slots.p), shape=(int(slots.Dim[0]), int(slots.Dim[1]))
        ),
        "igraph": lambda graph, _: graph,  # beside the matrices, and not needed
    }
    tables: dict[str, Any] = rdata.read_rda(BytesIO(content), constructor_dict=known)
    return tables
