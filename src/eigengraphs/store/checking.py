"""Every file of a store against its hash."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from eigengraphs.errors import StoreError
from eigengraphs.store.folder import Folder
from eigengraphs.store.store import Store

__all__ = ["damages"]


def damages(
    path: str | os.PathLike[str],
    *,
    watch: Callable[[int, int], object] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> list[StoreError]:
    """Read every file of a store and return what is wrong with it; nothing, as a rule.

    Parameters
    ----------
    path : str or path
        The store; one that is not finished is refused.
    watch : callable, optional
        Called with the number of graphs that were checked, and that of all.
    storage_options : mapping, optional
        For fsspec.

    Returns
    -------
    list of StoreError
        One for each file that is not as it was written.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
    ...     eg.store.damages(path)
    []
    """
    store = Store(Folder(path, storage_options))
    found = list[StoreError]()
    done, total = 0, store.layout.n_graphs
    try:
        store.verify_vertices()
    except StoreError as error:
        found.append(error)
    for k, shard in enumerate(store.layout.shards):
        try:
            store.verify(k)
        except StoreError as error:
            found.append(error)
        done += shard.graphs
        if watch is not None:
            watch(done, total)
    return found
