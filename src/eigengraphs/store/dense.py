"""Dense graphs as one array of Zarr, version 3: chunks of graphs, each a file of plain numbers.

Chunks are not compressed: then one graph can be read without the others, a chunk gets more graphs
while those in it stay, byte for byte, where they are, and reading goes at the speed of the disk.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from eigengraphs.store.layout import DENSE, Layout

__all__ = ["ARRAY_JSON", "array_json", "chunk_name", "chunk_size"]

ARRAY_JSON = f"{DENSE}/zarr.json"
_LEAST = 2**18  # bytes; so much a store of a few graphs may be larger than they are


def chunk_name(k: int) -> str:
    """Return the file of chunk k."""
    return f"{DENSE}/c/{k}/0/0"


def chunk_size(n_graphs: int, graph_bytes: int, target: int) -> int:
    """Return the graphs of a chunk, for an array that begins with so many graphs."""
    most = max(1, target // graph_bytes)
    return min(most, max(n_graphs, _LEAST // graph_bytes, 1))


def array_json(layout: Layout) -> bytes:
    """Return the description of the array for the graphs that a store has."""
    n = layout.n_vertices
    said: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [layout.n_graphs, n, n],
        "data_type": str(np.dtype(layout.dtype)),
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [layout.chunk, n, n]},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "dimension_names": ["graph", "source", "target"],
        "attributes": {},
    }
    return (json.dumps(said, indent=1) + "\n").encode()
