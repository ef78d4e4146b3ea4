"""One shard of a store: some graphs as a chunk or as edges, and the table beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from eigengraphs.errors import StoreError
from eigengraphs.stack.stack import GraphStack
from eigengraphs.store.dense import chunk_name, chunk_size
from eigengraphs.store.folder import Folder
from eigengraphs.store.layout import Layout, Shard
from eigengraphs.store.masks import hidden_table
from eigengraphs.store.tables import graph_table

__all__ = ["write_shard"]


def write_shard(
    folder: Folder, layout: Layout, graphs: GraphStack, columns: Mapping[str, Any], target: int
) -> Layout:
    """Write the files of the next shard; return the layout in which it counts.

    ``target`` is what the graphs of a shard may take in memory, in bytes, about.
    """
    table = graph_table(layout.n_graphs, graphs.graph_names, graphs.facts, columns)
    name = f"graphs/part-{len(layout.shards):06d}.parquet"
    shard = Shard(
        graphs=len(graphs),
        nonzeros=int(graphs.facts.n_nonzero.sum()),
        file="",
        bytes=0,
        sha256="",
        table=name,
        table_sha256=hashlib.sha256(table).hexdigest(),
    )
    if layout.kind == "dense":
        layout, shard = _write_chunk(folder, layout, graphs, shard, target)
    else:
        shard = _write_edges(folder, layout, graphs, shard)
    folder.write(name, table, durable=False)
    if graphs.mask is not None:
        hidden, file = hidden_table(graphs.mask, layout.n_graphs), name.replace("graphs/", "masks/")
        folder.write(file, hidden, durable=False)
        digest, pairs = hashlib.sha256(hidden).hexdigest(), graphs.mask.hides_pairs
        shard = replace(shard, mask=file, mask_sha256=digest, hides_pairs=pairs)
    return layout.with_shard(shard, directed=layout.directed or graphs.is_directed)


def _write_chunk(
    folder: Folder, layout: Layout, graphs: GraphStack, shard: Shard, target: int
) -> tuple[Layout, Shard]:
    """Write a chunk, or again one that has room, with what is in it first."""
    each = layout.n_vertices**2 * graphs.dtype.itemsize
    if not layout.chunk:
        layout = replace(layout, chunk=chunk_size(len(graphs), each, target))
    k, before = divmod(layout.n_graphs, layout.chunk)
    file = chunk_name(k)
    A = np.ascontiguousarray(graphs.dense, dtype=graphs.dtype.newbyteorder("<"))
    data = memoryview(A.reshape(-1).view(np.uint8).data)
    old = bytearray(before * each)
    if before and folder.read_into(file, 0, memoryview(old)) < len(old):
        raise StoreError(f"{folder.name_of(file)} is cut off; put it back from a copy")
    rest = bytes((layout.chunk - before - len(graphs)) * each)
    folder.write(file, memoryview(old), data, rest, durable=False)
    digest = hashlib.sha256(data).hexdigest()
    return layout, replace(shard, file=file, bytes=len(data), sha256=digest, offset=before * each)


def _write_edges(folder: Folder, layout: Layout, graphs: GraphStack, shard: Shard) -> Shard:
    from eigengraphs.store.edges import edges_of  # numba takes long to import

    data, mirrored = edges_of(graphs.flat, layout.n_graphs)
    file = f"edges/part-{len(layout.shards):06d}.parquet"
    folder.write(file, data, durable=False)
    digest = hashlib.sha256(data).hexdigest()
    return replace(shard, file=file, bytes=len(data), sha256=digest, mirrored=mirrored)
