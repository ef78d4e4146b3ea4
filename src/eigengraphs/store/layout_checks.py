"""Whether ``store.json`` says things that can be: kinds, sizes and names of files.

Checksums guard against accidents; whoever makes a store for others makes them, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from eigengraphs.store.layout import Layout

__all__ = ["check_layout"]

_MOST = 2**62  # of anything that is counted


def check_layout(layout: Layout) -> None:
    """Raise ValueError for what no writer writes."""
    _among("kind", layout.kind, ("dense", "sparse"))
    _among("dtype", layout.dtype, ("float32", "float64"))
    _whole("n_vertices", layout.n_vertices, 1)
    _whole("chunk", layout.chunk, 0)
    for name in ("directed", "graph_names", "vertex_names"):
        _kind(name, getattr(layout, name), bool, "true or false")
    _kind("vertices_sha256", layout.vertices_sha256, str, "a text")
    for column in layout.columns:
        _kind("columns", column, str, "a list of texts")
    for k, shard in enumerate(layout.shards):
        at = f"shards[{k}]"
        _whole(f"{at}.graphs", shard.graphs, 1)
        for name in ("nonzeros", "bytes", "offset"):
            _whole(f"{at}.{name}", getattr(shard, name), 0)
        for name in ("file", "table", "sha256", "table_sha256"):
            _kind(f"{at}.{name}", getattr(shard, name), str, "a text")
        _kind(f"{at}.mirrored", shard.mirrored, bool, "true or false")
        _inside(f"{at}.file", shard.file)
        _inside(f"{at}.table", shard.table)
        _kind(f"{at}.hides_pairs", shard.hides_pairs, bool, "true or false")
        for name in ("mask", "mask_sha256"):
            _kind(f"{at}.{name}", getattr(shard, name), str, "a text")
        if shard.mask:
            _inside(f"{at}.mask", shard.mask)
        each = layout.n_vertices**2 * np.dtype(layout.dtype).itemsize
        if layout.kind == "dense" and shard.bytes != shard.graphs * each:
            raise ValueError(f"{at}.bytes must be {shard.graphs * each}, got {shard.bytes}")
    for k, batch in enumerate(layout.batches):
        at = f"batches[{k}]"
        _whole(f"{at}.first", batch.first, 0)
        _kind(f"{at}.finished", batch.finished, bool, "true or false")
        _kind(f"{at}.source", batch.source, str, "a text")
        _kind(f"{at}.options", batch.options, dict, "a table")
        if batch.total is not None:
            _whole(f"{at}.total", batch.total, 0)
        for name in ("command", "listing"):
            _kind(f"{at}.{name}", getattr(batch, name), str | None, "a text")
        if batch.listing is not None:
            _inside(f"{at}.listing", batch.listing)


def _among(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r:.60}")


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < _MOST:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r:.60}")


def _kind(name: str, value: Any, kind: Any, words: str) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {words}, got {value!r:.60}")


def _inside(name: str, file: str) -> None:
    """Refuse files that are not in the store's folder."""
    parts = file.replace("\\", "/").split("/")
    if not all(parts) or ".." in parts or ":" in parts[0] or "\x00" in file:
        raise ValueError(f"{name} must name a file in the store, got {file!r:.60}")
