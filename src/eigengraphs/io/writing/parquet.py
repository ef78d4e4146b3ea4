"""All edges of all graphs in one table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from eigengraphs.io.optional import need
from eigengraphs.io.parquet import METADATA
from eigengraphs.io.writing.one import one_graph
from eigengraphs.stack import GraphStack

__all__ = ["write_parquet"]


def write_parquet(path: Path, stack: GraphStack) -> None:
    """Write columns graph, source, target and weight; all names are in the metadata."""
    arrow = need("pyarrow", "writing Parquet files")
    parquet = need("pyarrow.parquet", "writing Parquet files")
    edges = [one_graph(stack, i).edges() for i in range(stack.n_graphs)]
    which = np.repeat(np.arange(stack.n_graphs), [len(part[0]) for part in edges])
    s, t, weight = (np.concatenate([part[k] for part in edges]) for k in range(3))

    def words(places: object, names: tuple[str, ...]) -> object:
        codes = np.asarray(places, dtype=np.int32)
        return arrow.DictionaryArray.from_arrays(codes, arrow.array(names, arrow.string()))

    table = arrow.table(
        {
            "graph": words(which, stack.graph_names),
            "source": words(s, stack.vertex_names),
            "target": words(t, stack.vertex_names),
            "weight": weight,
        }
    )
    said = {
        "graphs": stack.graph_names,
        "vertices": stack.vertex_names,
        "directed": stack.is_directed,
    }
    parquet.write_table(table.replace_schema_metadata({METADATA: json.dumps(said)}), path)
