"""Downloading files of a data set: checked before they are stored, and stored whole or not."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from hashlib import sha256
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

    A file is checked before anything is written, and nothing is written but whole files. The first
    failure ends it all; files that came before stay, and need not come again.
    """
    try:
        import requests
        from tqdm import tqdm
    except ImportError as error:
        raise MissingExtraError(error.name or "requests", "data", "downloading data") from None
    for place in {(folder / file.path).parent for file in files}:
        _make_writable(place)
    what = files[0].path if len(files) == 1 else f"{len(files)} files"
    with (
        requests.Session() as session,
        tqdm(total=sum(file.size for file in files), desc=what, unit="B", unit_scale=True) as bar,
        ThreadPoolExecutor(min(AT_ONCE, len(files))) as pool,
    ):
        jobs = [pool.submit(_download, file, folder, session, bar) for file in files]
        try:
            for job in as_completed(jobs):
                job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _download(file: HostedFile, folder: Path, session: Any, bar: Any) -> None:
    url, target = address(file.path), folder / file.path
    if url is None:
        raise DatasetError(f"{file.path} is not published by itself: put it at {target}")
    by_hand = f"or put the file by hand at {target}"
    content = bytearray()
    try:
        with session.get(url, stream=True, timeout=TIMEOUT) as response:
            response.raise_for_status()
            for chunk in response.iter_content(chunk_size=1 << 14):
                content += chunk
                bar.update(len(chunk))
    except OSError as error:  # all that requests raises is one
        why = _why(error, url, len(content), file)
        raise DatasetError(f"{why}; try again, {by_hand}") from error
    found = sha256(content).hexdigest()
    if found != file.sha256:
        raise DatasetError(
            f"{url} is not the file that was published, and was not stored: expected SHA-256 "
            f"{file.sha256} ({file.size} bytes), found {found} ({len(content)} bytes); try again, "
            f"{by_hand}"
        )
    _store(bytes(content), target)


def _why(error: OSError, url: str, n_bytes: int, file: HostedFile) -> str:
    """Say what went wrong with a request."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"cannot download {file.path}: {url} answered with status {status}"
    if n_bytes:
        return f"the download of {url} broke off after {n_bytes} of {file.size} bytes ({error})"
    return f"cannot download {file.path}: no answer from {url} ({error})"


def _make_writable(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=place):  # permissions alone do not tell
            pass
    except OSError as error:
        raise _unwritable(place, error) from error


def _store(content: bytes, target: Path) -> None:
    """Write a file under another name and rename it, so that it is there whole or not at all."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    except OSError as error:
        raise _unwritable(target.parent, error) from error
    finally:
        with suppress(OSError):  # mostly because it has its name by now
            part.unlink()


def _unwritable(place: Path, error: OSError) -> DatasetError:
    return DatasetError(
        f"cannot store downloads in {place}: {error.strerror or error}; name a folder that can be "
        "written to by data_folder or the environment variable EIGENGRAPHS_DATA"
    )
