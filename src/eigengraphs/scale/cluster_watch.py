"""A cluster while somebody waits for it: workers that are lost, and a scheduler that is gone."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from eigengraphs.errors import ClusterError

__all__ = ["Loss", "Watch"]

logger = logging.getLogger("eigengraphs.scale")

_TICK = 0.5  # seconds between looks while one waits
_RESUME = "; the same command, eigengraphs fit, goes on from the last complete round"
_LOST_CONNECTION = (OSError, TimeoutError, CancelledError)


@dataclass(frozen=True)
class Loss:
    """A worker that is gone, and the keys of what it had in memory alone or was working on."""

    worker: str
    kept: tuple[str, ...]
    under_way: tuple[str, ...]


class Watch:
    """The workers of a client's cluster.

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds to wait for a scheduler that does not answer, or for any worker.

    Attributes
    ----------
    workers : dict
        Number of threads by address, when somebody last looked.
    """

    def __init__(self, client: Any, patience: float) -> None:
        self._client, self._patience = client, patience
        self.workers: dict[str, int] = {}
        self._well = time.monotonic()  # when the scheduler answered and had a worker

    def start(self) -> None:
        """Wait until there is a worker."""
        self._well = time.monotonic()
        while True:
            self.look()
            if self.workers:
                return
            time.sleep(min(_TICK, 0.1 * self._patience))

    def require_client(self) -> None:
        """Raise if the client was closed, or has lost its scheduler."""
        if self._client.status != "running":
            raise self._gone()

    def look(self) -> list[Loss]:
        """Return the workers that were lost since the last look, or raise if all hope is lost."""
        self.require_client()
        try:
            found = dict(self._client.nthreads(callback_timeout=self._patience))
        except _LOST_CONNECTION as error:
            if self._client.status != "running" or self._waited():
                raise self._gone() from error
            return []
        lost = [self._loss(address) for address in self.workers if address not in found]
        self.workers = found
        if found:
            self._well = time.monotonic()
        elif self._waited():
            raise ClusterError(
                f"no worker is left on the cluster {self.address}, and none came back within "
                f"{self._patience:g} s: start workers, or wait longer for them (patience)" + _RESUME
            )
        return lost

    def wait_all(self, futures: list[Any], when_lost: Callable[[list[Loss]], None]) -> list[Any]:
        """Return the results of futures, fetched together: each trip takes some milliseconds."""
        self._until_done(futures, when_lost)
        if all(future.status == "finished" for future in futures):
            try:
                return list(self._client.gather(futures))
            except (CancelledError, OSError) as error:
                raise self._gone() from error
        return [self.wait(future, when_lost) for future in futures]

    def _until_done(self, futures: list[Any], when_lost: Callable[[list[Loss]], None]) -> None:
        import distributed

        wait: Any = distributed.wait
        self._well = time.monotonic()
        try:
            while not all(future.done() for future in futures):
                try:
                    wait(futures, timeout=_TICK)
                except TimeoutError:
                    when_lost(self.look())
        except (CancelledError, OSError) as error:
            raise self._gone() from error

    def wait(self, future: Any, when_lost: Callable[[list[Loss]], None]) -> Any:
        """Return the result of a future; while it is awaited, tell of workers that are lost."""
        from distributed.scheduler import KilledWorker

        self._until_done([future], when_lost)
        try:
            if future.status == "finished":
                return future.result()
        except (CancelledError, OSError) as error:
            raise self._gone() from error
        if future.status in ("cancelled", "lost"):
            raise self._gone()
        wrong = future.exception()
        if isinstance(wrong, KilledWorker):
            raise ClusterError(
                f"four workers died, one after the other, of the same piece of work ({future.key}):"
                " most likely it takes more memory than a worker has; use smaller blocks, workers "
                "with more memory, or keep=False" + _RESUME
            ) from wrong
        if isinstance(wrong, ImportError):
            raise ClusterError(
                f"the workers of {self.address} cannot import what they need ({wrong}); install "
                "eigengraphs there, in the version that is used here"
            ) from wrong
        raise wrong

    def places(self, futures: list[Any]) -> list[str]:
        """Return a worker that has the result of each, "" where there is none, or none is known."""
        keys, client = [future.key for future in futures], self._client
        try:
            found = client.sync(
                client.scheduler.who_has, keys=keys, callback_timeout=self._patience
            )
        except _LOST_CONNECTION:  # as the round itself will find out
            found = {}
        return [next(iter(found.get(key, ())), "") for key in keys]

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        scheduler = self._client.scheduler
        return str(scheduler.address if scheduler is not None else "that was connected")

    def _waited(self) -> bool:
        return time.monotonic() - self._well > self._patience

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"the scheduler of the cluster {self.address} is gone or does not answer: look at its "
            "log, start the cluster again, and connect anew" + _RESUME
        )

    def _loss(self, address: str) -> Loss:
        kept: set[Any] = set()
        under_way: set[Any] = set()
        try:
            events = self._client.get_events(address)
        except _LOST_CONNECTION:
            events = ()
        for _, event in events:
            if isinstance(event, dict) and event.get("action") == "remove-worker":
                kept.update(event.get("lost-computed-tasks", ()))
                under_way.update(event.get("processing-tasks", ()))
        return Loss(address, tuple(map(str, kept)), tuple(map(str, under_way)))
