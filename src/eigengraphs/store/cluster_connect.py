"""A client for a cluster that runs already, or for processes on this machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from eigengraphs.errors import ClusterError, InputError, MissingExtraError

__all__ = ["connect"]

# Dask lets workers give what is freed back to the system at once, so that every array of a task
# takes new pages: some 100,000 a fit, a fifth of its time. Up to these bytes they are used again.
_MEMORY_USED_AGAIN = {"MALLOC_TRIM_THRESHOLD_": 2**27, "MALLOC_MMAP_THRESHOLD_": 2**25}


@contextmanager
def connect(
    where: str | int | os.PathLike[str],
    *,
    memory_limit: str | int | float = "auto",
    timeout: float = 30.0,
) -> Iterator[Any]:
    """Give a Dask client for the time of a ``with`` block.

    Parameters
    ----------
    where : str, path or int
        The address of a scheduler ("tcp://host:8786"), or a scheduler file; or a number: then so
        many processes of one thread each are started on this machine, and ended with the block,
        also by an error or Ctrl-C. In a script, the call must stand below
        ``if __name__ == "__main__":``, because these processes import it.
    memory_limit : int, float or str
        Of each process that is started: bytes, a text such as "4GB", a share of the memory, or
        "auto", the memory divided by the processes.
    timeout : float
        Seconds to wait for the scheduler and its first worker.

    Yields
    ------
    distributed.Client
        For :class:`DaskStack`.

    Raises
    ------
    ClusterError
        If no scheduler answers, or there is no worker.

    Examples
    --------
    Processes are started, so this is no doctest; ``docs/guide/cluster.md`` has one that is tested.

    >>> import eigengraphs as eg
    >>> with eg.store.connect(2, memory_limit="1GB") as client:  # doctest: +SKIP
    ...     print(len(client.scheduler_info()["workers"]))
    2
    """
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("distributed", "dask", "work on a cluster") from None
    with ExitStack() as opened:
        if isinstance(where, int):
            client = _local(distributed, opened, where, memory_limit, timeout)
        else:
            client = _connected(distributed, opened, os.fspath(where), timeout)
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError as error:
            raise ClusterError(
                f"the cluster {where} has no worker after {timeout:g} s; start one, or wait longer "
                "(timeout)"
            ) from error
        yield client


def _local(
    distributed: Any, opened: ExitStack, count: int, memory_limit: Any, timeout: float
) -> Any:
    if isinstance(count, bool) or count < 1:
        raise InputError(f"a cluster on this machine needs 1 process or more, got {count!r}")
    folder = opened.enter_context(
        tempfile.TemporaryDirectory(prefix="eigengraphs-", ignore_cleanup_errors=True)
    )
    import dask

    place = "distributed.nanny.pre-spawn-environ"
    with dask.config.set({f"{place}.{name}": size for name, size in _MEMORY_USED_AGAIN.items()}):
        cluster = opened.enter_context(
            distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                memory_limit=memory_limit,
                local_directory=folder,
                dashboard_address="127.0.0.1:0",  # any port: another cluster may have the usual one
            )
        )
    return opened.enter_context(distributed.Client(cluster, timeout=timeout))


def _connected(distributed: Any, opened: ExitStack, where: str, timeout: float) -> Any:
    address = {"address": where} if "://" in where else {"scheduler_file": where}
    if "://" not in where and not os.path.isfile(where):  # noqa: PTH113
        raise InputError(
            f"{where!r} is neither the address of a scheduler, such as tcp://host:8786, nor a "
            "scheduler file, nor a number of processes"
        )
    try:
        return opened.enter_context(distributed.Client(**address, timeout=timeout))
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            f"no scheduler answers at {where} within {timeout:g} s: look whether it runs "
            "(dask scheduler) and whether its port is open from here"
        ) from error
