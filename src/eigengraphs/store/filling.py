"""``write_store`` and ``append``: blocks of graphs, from wherever they come, into a store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.stack.build import StorageRule
from eigengraphs.stack.stack import GraphStack
from eigengraphs.store.folder import Folder
from eigengraphs.store.layout import STORE_JSON
from eigengraphs.store.writing import SHARD_BYTES, StoreWriter

__all__ = ["append", "write_store"]

Blocks: TypeAlias = "Iterable[GraphStack | tuple[GraphStack, Mapping[str, Any]]]"


def write_store(
    path: str | os.PathLike[str],
    blocks: Blocks,
    *,
    storage: StorageRule = "auto",
    directed: bool | None = None,
    shard_bytes: int = SHARD_BYTES,
    resume: bool = False,
) -> str | os.PathLike[str]:
    """Write a store of graphs that come block by block.

    Parameters
    ----------
    path : str or path
        A new folder, by custom with the ending ``.egs``, or an address that fsspec opens.
    blocks : iterable of GraphStack, or of pairs
        GraphStacks on the same vertices, of any size, or pairs of such a stack and a mapping of
        columns, one value a graph. Read once.
    storage, directed, shard_bytes
        See :class:`StoreWriter`.
    resume : bool
        Go on with a store whose writing was stopped, if there is one: the same blocks come again,
        and graphs that are in whole shards are passed over.

    Returns
    -------
    str or path
        The path.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
    ...     eg.open_store(path).n_graphs
    4
    """
    there = resume and Folder(path).exists(STORE_JSON)
    writer = StoreWriter(
        path,
        mode="resume" if there else "new",
        storage=storage,
        directed=directed,
        shard_bytes=shard_bytes,
    )
    return _fill(path, writer, blocks)


def append(
    path: str | os.PathLike[str], blocks: Blocks, *, directed: bool | None = None
) -> str | os.PathLike[str]:
    """Add graphs to a finished store; all of them or, if something goes wrong, none.

    Parameters
    ----------
    path : str or path
        The store.
    blocks : iterable of GraphStack, or of pairs
        As for :func:`write_store`. Graphs whose names are in the store are refused.
    directed : bool, optional
        True lets graphs with a direction join graphs without.

    Returns
    -------
    str or path
        The path.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
    ...     eg.open_store(eg.store.append(path, [graphs])).n_graphs
    8
    """
    return _fill(path, StoreWriter(path, mode="append", directed=directed), blocks)


def _fill(
    path: str | os.PathLike[str], writer: StoreWriter, blocks: Blocks
) -> str | os.PathLike[str]:
    if isinstance(blocks, GraphStack):
        blocks = [blocks]
    skip = writer.done
    with writer:
        for graphs, columns in _in_memory(blocks):
            if skip >= len(graphs):
                skip -= len(graphs)
                continue
            if skip:
                columns = {name: values[skip:] for name, values in columns.items()}
                graphs, skip = graphs[skip:], 0
            writer.add(graphs, columns)
    return path


def _in_memory(blocks: Blocks) -> Iterator[tuple[GraphStack, Mapping[str, Any]]]:
    """Yield blocks with their columns; a stack that comes in blocks itself, block by block."""
    for item in blocks:
        graphs, columns = item if isinstance(item, tuple) else (item, {})
        if not isinstance(graphs, BlockedStack):
            yield graphs, columns
            continue
        for block in graphs.blocks():
            cut = {name: values[block.lo : block.hi] for name, values in columns.items()}
            yield block.graphs, cut
