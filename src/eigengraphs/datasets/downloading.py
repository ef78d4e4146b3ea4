"""Downloading files of a data set with pooch: stored whole and checked, or not at all."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from eigengraphs.datasets.registry import HostedFile, address
from eigengraphs.errors import DatasetError, MissingExtraError

__all__ = ["download_files"]

AT_ONCE = 8  # hnu1 is 300 small files, and a request takes longer than a file
TIMEOUT = 30  # seconds without a word from the server


def download_files(files: Sequence[HostedFile], folder: Path) -> None:
    """Download files into their places in the folder, with a bar on the standard error.

    Nothing is left but whole files with the right SHA-256. The first failure ends it all; files
    that came before stay, and need not come again.
    """
    try:
        import pooch
        from tqdm import tqdm
    except ImportError as error:
        raise MissingExtraError(error.name or "pooch", "data", "downloading data") from None
    for place in {(folder / file.path).parent for file in files}:
        _make_writable(place)
    what = files[0].path if len(files) == 1 else f"{len(files)} files"
    with (
        _quiet(pooch.get_logger()),
        tqdm(total=sum(file.size for file in files), desc=what, unit="B", unit_scale=True) as bar,
        ThreadPoolExecutor(min(AT_ONCE, len(files))) as pool,
    ):
        jobs = [pool.submit(_download, file, folder, bar) for file in files]
        try:
            for job in as_completed(jobs):
                job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _download(file: HostedFile, folder: Path, bar: Any) -> None:
    import pooch

    url, target = address(file.path), folder / file.path
    if url is None:
        raise DatasetError(f"{file.path} is not published by itself: put it at {target}")
    by_hand = f"try again, or put the file by hand at {target}"
    try:
        pooch.retrieve(
            url,
            known_hash=f"sha256:{file.sha256}",
            fname=target.name,
            path=target.parent,
            downloader=partial(_stream, bar),
        )
        # pooch leaves files that their owner alone can read; a shared data folder is for others.
        target.chmod(target.parent.stat().st_mode & 0o666)
    except ValueError as error:  # pooch's word for another checksum; it names both
        raise DatasetError(
            f"{url} is not the file that was published ({file.size} bytes), and was not stored "
            f"({error}); {by_hand}"
        ) from error
    except OSError as error:  # all that requests raises is one
        raise DatasetError(f"{_why(error, url, file, target)}; {by_hand}") from error


def _stream(bar: Any, url: str, path: str, _: Any) -> None:
    """Write what is at an address to a file: pooch's own way leaves sockets open on a failure."""
    import requests  # pooch requires it

    with (
        requests.Session() as session,
        session.get(url, stream=True, timeout=TIMEOUT) as response,
        Path(path).open("wb") as file,
    ):
        response.raise_for_status()
        for chunk in response.iter_content(chunk_size=1 << 14):
            file.write(chunk)
            bar.update(len(chunk))


def _why(error: OSError, url: str, file: HostedFile, target: Path) -> str:
    """Say what went wrong with a download."""
    import requests

    if not isinstance(error, requests.RequestException):
        return str(_unwritable(target.parent, error))
    status = getattr(error.response, "status_code", None)
    if status is not None:
        return f"cannot download {file.path}: {url} answered with status {status}"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return f"the download of {url} ({file.size} bytes) broke off ({error})"
    return f"cannot download {file.path}: no answer from {url} ({error})"


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from a line a file, and from the advice to use a hash that was found."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _make_writable(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=place):  # permissions alone do not tell
            pass
    except OSError as error:
        raise _unwritable(place, error) from error


def _unwritable(place: Path, error: OSError) -> DatasetError:
    return DatasetError(
        f"cannot store downloads in {place}: {error.strerror or error}; name a folder that can be "
        "written to by data_folder or the environment variable EIGENGRAPHS_DATA"
    )
