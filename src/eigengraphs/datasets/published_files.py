"""Files of published data sets: from a data folder, checked, and downloaded where absent.

``data/registry.txt`` lists every file with its size and SHA-256.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import DatasetError, InputError
from eigengraphs.system.extras import need
from eigengraphs.system.limits import read_regular

__all__ = [
    "NO_LICENSE", "Folder", "Names", "PublishedFile", "address", "read_file_if_there",
    "read_files", "read_only", "read_r", "registered", "require_rdata",
]  # fmt: skip

Folder: TypeAlias = str | os.PathLike[str] | None
Names: TypeAlias = NDArray[np.str_]
Array = TypeVar("Array", bound=NDArray[Any])

VARIABLE = "EIGENGRAPHS_DATA"
NO_LICENSE = "none stated by the source; ask its authors before redistributing"
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
_AT_ONCE = 8  # hnu1 is 300 small files, and a request takes longer than a file
_TIMEOUT = 30  # seconds without an answer from the server


class PublishedFile(NamedTuple):
    """What is known of one file: its path in the data folder, SHA-256 and size in bytes."""

    path: str
    sha256: str
    size: int


@cache
def registered() -> dict[str, PublishedFile]:
    """Return every known file by its path in the data folder."""
    text = (files("eigengraphs.datasets") / "data" / "registry.txt").read_text(encoding="utf-8")
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {path: PublishedFile(path, digest, int(size)) for digest, size, path in lines}


def address(path: str) -> str | None:
    """Return where a file is published, None if it is not."""
    folder, _, name = path.rpartition("/")
    return None if path in _UNPUBLISHED else f"{HOST}/{_HOMES.get(path) or _HOMES[folder]}/{name}"


# ---------------------------------------------------------------------- the data folder


def _find_folder(data_folder: Folder) -> Path:
    """Return the folder given, else that of ``EIGENGRAPHS_DATA``, else the user's cache."""
    if data_folder is not None and not isinstance(data_folder, str | os.PathLike):
        raise InputError(f"data_folder must be a path, got data_folder={data_folder!r}")
    named = data_folder if data_folder is not None else os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    return Path(need("pooch", "data", "finding the user's cache").os_cache("eigengraphs"))


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
    absent = [file for file in wanted if not _is_there(folder / file.path)]
    if absent and not download:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise DatasetError(
            f"not found: {folder / absent[0].path}{more}, and download=False; allow the download, "
            f"put the files there by hand, or name the folder that holds them by data_folder or "
            f"the environment variable {VARIABLE}"
        )
    if absent:
        _download_files(absent, folder)
    return [_read(file, folder) for file in wanted]


def read_file_if_there(path: str, *, data_folder: Folder) -> bytes | None:
    """Return the content of one file, checked, or None if it is not in the folder."""
    folder = _find_folder(data_folder)
    return _read(registered()[path], folder) if _is_there(folder / path) else None


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a folder that may not be looked into
        raise DatasetError(f"cannot look for {path}: {error.strerror}") from error


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


def read_only(array: Array) -> Array:
    """Return the array itself, locked against changes, as the data set is."""
    array.setflags(write=False)
    return array


# ---------------------------------------------------------------------- downloads


def _download_files(wanted: Sequence[PublishedFile], folder: Path) -> None:
    """Download files into their places in the folder, with a bar on the standard error.

    Nothing is left but whole files with the right SHA-256. The first failure ends it all; files
    that came before stay, and need not come again.
    """
    pooch = need("pooch", "data", "downloading data")
    tqdm = need("tqdm", "data", "downloading data").tqdm
    for place in {(folder / file.path).parent for file in wanted}:
        try:
            place.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=place):  # permissions alone do not tell
                pass
        except OSError as error:
            raise DatasetError(_unwritable(place, error)) from error
    what = wanted[0].path if len(wanted) == 1 else f"{len(wanted)} files"
    with (
        _quiet(pooch.get_logger()),
        tqdm(total=sum(file.size for file in wanted), desc=what, unit="B", unit_scale=True) as bar,
        ThreadPoolExecutor(min(_AT_ONCE, len(wanted))) as pool,
    ):
        jobs = [pool.submit(_download, pooch, file, folder, bar) for file in wanted]
        try:
            for job in as_completed(jobs):
                job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _download(pooch: Any, file: PublishedFile, folder: Path, bar: Any) -> None:
    import requests  # pooch requires it

    url, target = address(file.path), folder / file.path
    if url is None:
        raise DatasetError(f"{file.path} is not published by itself: put it at {target}")
    try:
        pooch.retrieve(
            url,
            known_hash=f"sha256:{file.sha256}",
            fname=target.name,
            path=target.parent,
            downloader=partial(_stream, bar),
        )
        # pooch leaves files that only their owner can read; a shared data folder is for others.
        target.chmod(target.parent.stat().st_mode & 0o666)
        return
    except ValueError as error:  # pooch's word for another checksum; it names both
        cause: Exception = error
        why = f"{url} is not the file that was published ({file.size} bytes), and was not stored "
        why += f"({error})"
    except requests.exceptions.RequestException as error:
        cause, status = error, getattr(error.response, "status_code", None)
        why = f"cannot download {file.path}: no answer from {url} ({error})"
        if status is not None:
            why = f"cannot download {file.path}: {url} answered with status {status}"
        elif isinstance(error, requests.exceptions.ChunkedEncodingError):
            why = f"the download of {url} ({file.size} bytes) broke off ({error})"
    except OSError as error:
        cause, why = error, _unwritable(target.parent, error)
    raise DatasetError(f"{why}; try again, or put the file by hand at {target}") from cause


def _stream(bar: Any, url: str, path: str, _: Any) -> None:
    """Write what is at an address to a file: pooch's own way leaves sockets open on a failure."""
    import requests

    with (
        requests.Session() as session,
        session.get(url, stream=True, timeout=_TIMEOUT) as response,
        Path(path).open("wb") as file,
    ):
        response.raise_for_status()
        for chunk in response.iter_content(chunk_size=1 << 14):
            file.write(chunk)
            bar.update(len(chunk))


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from one line per file, and from the advice to use a hash that was found."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _unwritable(place: Path, error: OSError) -> str:
    return (
        f"cannot store downloads in {place}: {error.strerror or error}; name a folder that can be "
        f"written to by data_folder or the environment variable {VARIABLE}"
    )


# ---------------------------------------------------------------------- files of R


def require_rdata() -> Any:
    """Import the package ``rdata``; asked for before anything is downloaded."""
    return need("rdata", "data", "reading a file of R")


def read_r(content: bytes) -> dict[str, Any]:
    """Return what an ``.RData`` file holds, by name; sparse matrices of R as ``csc_array``."""
    rdata = require_rdata()
    known = {
        **rdata.conversion.DEFAULT_CLASS_MAP,
        "dgCMatrix": lambda slots, _: sparse.csc_array(
            (slots.x, slots.i, slots.p), shape=(int(slots.Dim[0]), int(slots.Dim[1]))
        ),
        "igraph": lambda graph, _: graph,  # beside the matrices, and not needed
    }
    tables: dict[str, Any] = rdata.read_rda(BytesIO(content), constructor_dict=known)
    return tables
