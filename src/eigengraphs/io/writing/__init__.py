"""``write``: graphs into one file, or into a folder with a file for each."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from eigengraphs.errors import InputError
from eigengraphs.io.writing.arrays import write_mat, write_npy, write_npz
from eigengraphs.io.writing.folder import write_folder
from eigengraphs.io.writing.networkx_files import write_gml, write_graphml, write_pajek
from eigengraphs.io.writing.one import GraphWriter, one_graph
from eigengraphs.io.writing.parquet import write_parquet
from eigengraphs.io.writing.text_files import write_csv, write_edges, write_tsv
from eigengraphs.stack import GraphStack
from eigengraphs.system.whole_files import whole_file

__all__ = ["WriteFormat", "write"]

WriteFormat: TypeAlias = Literal[
    "auto", "csv", "tsv", "edgelist", "graphml", "gml", "net", "npy", "npz", "mat", "parquet"
]

_WHOLE: dict[str, Callable[[Path, GraphStack], None]] = {
    "npz": write_npz,
    "npy": write_npy,
    "mat": write_mat,
    "parquet": write_parquet,
}
_EACH: dict[str, GraphWriter] = {
    "csv": write_csv,
    "tsv": write_tsv,
    "edgelist": write_edges,
    "graphml": write_graphml,
    "gml": write_gml,
    "net": write_pajek,
}


def write(stack: GraphStack, path: str | os.PathLike[str], format: WriteFormat = "auto") -> Path:
    """Write graphs so that :func:`eigengraphs.read` gives them back.

    Parameters
    ----------
    stack : GraphStack
        The graphs. What they hide is written as nan (read it with ``missing="unobserved"``).
    path : str or path
        A file that ends in .npz, .npy, .mat or .parquet, for all graphs; or the name of a new
        folder, for a file each and ``manifest.tsv`` with their names; or, for one graph, a file of
        any format.
    format : str
        "auto" goes by the ending. For a folder: "csv", "tsv", "edgelist", "graphml", "gml", "net".

    Returns
    -------
    Path
        What was written: whole, or not at all.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import eigengraphs as eg
    >>> stack = eg.GraphStack(np.ones((2, 3, 3)), vertex_names=["a", "b", "c"])
    >>> file = eg.io.write(stack, f"{tempfile.mkdtemp()}/graphs.npz")
    >>> eg.read(file).vertex_names
    ('a', 'b', 'c')
    """
    if not isinstance(stack, GraphStack):
        raise InputError(f"write() takes a GraphStack, got {type(stack).__name__}")
    target = Path(path)
    ending = target.suffix.lower().removeprefix(".")
    kind = ending if format == "auto" else str(format)
    if kind not in _WHOLE and kind not in _EACH:
        asked = f"format={format!r}" if format != "auto" else f"the ending of {target.name!r}"
        raise InputError(
            f"{asked} is no format that is written; a file may end in "
            f"{', '.join('.' + name for name in _WHOLE)}, and a folder takes format= one of "
            f"{', '.join(map(repr, _EACH))}"
        )
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent} to write {target.name} into; make it")
    if kind in _WHOLE:
        with whole_file(target) as temporary:
            _WHOLE[kind](temporary, stack)
        return target
    if ending == kind and not target.is_dir():
        if stack.n_graphs != 1:
            raise InputError(
                f"a .{kind} file holds one graph, and there are {stack.n_graphs}; name a folder "
                f"and pass format={kind!r}, or write a .npz file"
            )
        with whole_file(target) as temporary:
            _EACH[kind](temporary, one_graph(stack, 0))
        return target
    write_folder(stack, target, kind, _EACH[kind])
    return target
