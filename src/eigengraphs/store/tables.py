"""Tables of a store: names and facts of graphs, names of vertices, as Parquet."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.system.extras import need
from eigengraphs.system.limits import DEFAULT, Cap

__all__ = [
    "FACTS", "arrow", "as_arrow", "check_declared", "facts_of", "graph_table", "parquet",
    "read_bytes", "texts_of",
    "to_bytes",
]  # fmt: skip

FACTS = tuple(field.name for field in fields(GraphFacts))
_WHOLE = ("n_nonzero", "n_loops", "first_bad")


def arrow() -> Any:
    """Return pyarrow."""
    return need("pyarrow", "scale", "a store of graphs")


def parquet() -> Any:
    """Return pyarrow.parquet."""
    arrow()
    return need("pyarrow.parquet", "scale", "a store of graphs")


def as_arrow(values: Any) -> Any:
    """Return a column of numbers or texts; None and nan of objects become null."""
    array = np.asarray(values)
    if array.dtype.kind in "UO":
        return arrow().array([None if x is None else x for x in array.tolist()], from_pandas=True)
    return arrow().array(array)


def graph_table(
    first: int, names: Sequence[str], facts: GraphFacts, columns: Mapping[str, Any]
) -> bytes:
    """Return the table of some graphs: place, name, facts and further columns."""
    taken = {"place", "name", *FACTS} & set(columns)
    if taken:
        raise InputError(f"columns must not be called {', '.join(map(repr, sorted(taken)))}")
    parts: dict[str, Any] = {
        "place": np.arange(first, first + len(names), dtype=np.int64),
        "name": arrow().array(list(names), arrow().string()),
    }
    parts |= {name: getattr(facts, name) for name in FACTS}
    for name, values in columns.items():
        parts[name] = as_arrow(values)
        if len(parts[name]) != len(names):
            raise InputError(
                f"the column {name!r} must have one value a graph, {len(names)}; got "
                f"{len(parts[name])}"
            )
    return to_bytes(arrow().table(parts))


def to_bytes(table: Any, **options: Any) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    out = io.BytesIO()
    parquet().write_table(table, out, **options)
    return out.getvalue()


def check_declared(what: object, file: Any, held: int, cap: Cap = DEFAULT) -> None:
    """Refuse an opened Parquet file that declares more than is allowed: runs can be endless."""
    about = file.metadata
    groups = [about.row_group(k) for k in range(about.num_row_groups)]
    rows = max(about.num_rows, sum(max(group.num_rows, 0) for group in groups))
    packed = sum(max(group.total_byte_size, 0) for group in groups)
    cap.check(what, max(packed, 8 * rows * about.num_columns), held)


def read_bytes(data: bytes, columns: Sequence[str] | None = None, what: object = "a table") -> Any:
    """Return the table of a Parquet file, or some columns of it."""
    # Not read_table, which goes by way of data sets and takes ten times as long for a small file.
    file = parquet().ParquetFile(arrow().BufferReader(data))
    check_declared(what, file, len(data))
    return file.read(columns=None if columns is None else [*columns], use_threads=False)


def facts_of(table: Any) -> GraphFacts:
    """Return the facts in a table of graphs."""
    return GraphFacts(*(_numbers(table[name], name) for name in FACTS))


def _numbers(column: Any, name: str) -> NDArray[Any]:
    array = np.ascontiguousarray(column.combine_chunks().to_numpy(zero_copy_only=False))
    kind = "b" if name.startswith("is_") else "i" if name in _WHOLE else "f"
    if array.dtype.kind != kind:
        raise ValueError(f"column {name!r} holds {array.dtype}")
    return array


def texts_of(table: Any, name: str) -> tuple[str, ...]:
    """Return a column of texts."""
    texts = tuple(table[name].to_pylist())
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"column {name!r} must hold texts")
    return texts
