"""Downloading files of a data set: checked before they are stored, and stored whole or not."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from eigengraphs.datasets.registry import HostedFile, address
from eigengraphs.errors import DatasetError, MissingExtraError

__all__ = ["download_files"]

AT_ONCE = 8  # hnu1 is 300 small files, and a request takes longer than a file
TIMEOUT = 30  # seconds without a word from the server


class _Download(BytesIO):
    """What came so far; the bar follows."""

    def __init__(self, bar: Any) -> None:
        super().__init__()
        self._bar = bar

    def write(self, chunk: Any) -> int:
        self._bar.update(len(chunk))
        return super().write(chunk)


def download_files(files: Sequence[HostedFile], folder: Path) -> None:
    """Download files into their places in the folder, with a bar on the standard error."""
    try:
        import pooch
        from tqdm import tqdm
    except ImportError as error:
        raise MissingExtraError(error.name or "pooch", "data", "downloading a data set") from None
    for place in {(folder / file.path).parent for file in files}:
        _make_writable(place)
    get = pooch.HTTPDownloader(progressbar=False, chunk_size=1 << 14, timeout=TIMEOUT)
    what = files[0].path if len(files) == 1 else f"{len(files)} files"
    with (
        tqdm(total=sum(file.size for file in files), desc=what, unit="B", unit_scale=True) as bar,
        ThreadPoolExecutor(min(AT_ONCE, len(files))) as pool,
    ):
        jobs = [pool.submit(_download, file, folder, get, bar) for file in files]
        try:
            for job in as_completed(jobs):
                job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # the first failure is enough
            raise


def _download(file: HostedFile, folder: Path, get: Any, bar: Any) -> None:
    url, target = address(file.path), folder / file.path
    by_hand = f"or put the file by hand at {target}"
    if url is None:
        raise DatasetError(f"{file.path} is not published by itself: put it at {target}")
    came = _Download(bar)
    try:
        get(url, came, None)
    except OSError as error:  # what requests raises is one
        raise DatasetError(
            _why(error, url, came.tell(), file) + f"; try again, {by_hand}"
        ) from error
    content = came.getvalue()
    found = sha256(content).hexdigest()
    if found != file.sha256:
        raise DatasetError(
            f"{url} is not the published file and was not stored: expected SHA-256 {file.sha256} "
            f"({file.size} bytes), found {found} ({len(content)} bytes); try again, and "
            f"tell the developers if it stays so, {by_hand}"
        )
    _store(content, target)


def _why(error: OSError, url: str, n_bytes: int, file: HostedFile) -> str:
    """Say what went wrong with a request."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"cannot download {file.path}: {url} answered with status {status}"
    if n_bytes:
        return f"the download of {url} broke off after {n_bytes} of {file.size} bytes ({error})"
    return f"cannot download {file.path}: no answer from {url} ({error})"


def _make_writable(place: Path) -> None:
    reason = "it is read-only"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
    else:
        if os.access(place, os.W_OK | os.X_OK):
            return
    raise _unwritable(place, reason)


def _store(content: bytes, target: Path) -> None:
    """Write a file under another name and rename it, so that it is there whole or not at all."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    except OSError as error:
        raise _unwritable(target.parent, error.strerror or str(error)) from error
    finally:
        part.unlink(missing_ok=True)


def _unwritable(place: Path, reason: str) -> DatasetError:
    return DatasetError(
        f"cannot store downloads in {place}: {reason}; name a folder that can be written to by "
        "data_folder or the environment variable EIGENGRAPHS_DATA"
    )
