"""``write``: graphs into one file, or into a folder with one file per graph."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import savemat

from eigengraphs.errors import InputError
from eigengraphs.io.array_files import FLAT
from eigengraphs.io.edge_files import PARQUET_METADATA
from eigengraphs.stack import GraphStack
from eigengraphs.system.extras import need
from eigengraphs.system.tables import guarded
from eigengraphs.system.whole_files import whole_file, whole_folder

WriteFormat: TypeAlias = Literal[
    "auto", "csv", "tsv", "edgelist", "graphml", "npy", "npz", "mat", "parquet"
]

_MARKS = frozenset('",;\t{')  # what a reader that looks for the delimiter may take for it
_LONGEST = 120  # bytes of a file's name, well below what file systems allow


def write(stack: GraphStack, path: str | os.PathLike[str], format: WriteFormat = "auto") -> Path:
    """Write graphs so that :func:`eigengraphs.read` can read them again.

    Parameters
    ----------
    stack : GraphStack
        The graphs. Hidden entries are written as nan (read it with ``missing="unobserved"``).
    path : str or path
        A file that ends in .npz, .npy, .mat or .parquet, for all graphs; or the name of a new
        folder, for one file per graph and ``manifest.tsv`` with their names; or, for one graph, a
        file of any format.
    format : str
        "auto" decides by the ending. For a folder: "csv", "tsv", "edgelist" or "graphml".

    Returns
    -------
    Path
        The file or folder, which is written as a whole or not at all.

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
    if kind not in _ALL and kind not in _ONE:
        asked = f"format={format!r}" if format != "auto" else f"the ending of {target.name!r}"
        raise InputError(
            f"{asked} is not a format that is written; a file may end in "
            f"{', '.join('.' + name for name in _ALL)}, and a folder takes format= one of "
            f"{', '.join(map(repr, _ONE))}"
        )
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent} to write {target.name} into; make it")
    if kind in _ALL:
        with whole_file(target) as temporary:
            _ALL[kind](temporary, stack)
    elif ending == kind and not target.is_dir():
        if stack.n_graphs != 1:
            raise InputError(
                f"a .{kind} file holds one graph, and there are {stack.n_graphs}; name a folder "
                f"and pass format={kind!r}, or write a .npz file"
            )
        with whole_file(target) as temporary:
            _ONE[kind](temporary, stack, 0)
    else:
        _write_folder(stack, target, kind)
    return target


def _write_folder(stack: GraphStack, folder: Path, kind: str) -> None:
    """Write every graph and ``manifest.tsv`` into a new folder, or nothing."""
    _check_texts(stack.graph_names, "graph", "a manifest")
    used = set[str]()
    files = [_file_name(name, i, used, kind) for i, name in enumerate(stack.graph_names)]
    other = InputError(f"{folder} exists and is not empty; name a new folder")
    if folder.exists():
        there = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
        if there not in (set(), {*files, "manifest.tsv"}):  # else it may be the same
            raise other
    try:
        with whole_folder(folder) as temporary:
            lines = ["path\tid"]
            for i, (file, name) in enumerate(zip(files, stack.graph_names, strict=True)):
                _ONE[kind](temporary / file, stack, i)
                lines.append(f"{_cell(file, chr(9))}\t{_cell(name, chr(9))}")
            _write_lines(temporary / "manifest.tsv", lines)
    except FileExistsError:
        raise other from None


def _file_name(name: str, i: int, used: set[str], ending: str) -> str:
    """Return the name of a graph as a name of a file that every system takes."""
    plain = re.sub(r"[^\w.+=@-]", "_", name).strip("._")
    plain = plain.encode()[:_LONGEST].decode(errors="ignore") or "graph"
    if plain.lower() in used:  # some systems do not tell a from A
        plain = f"{plain}_{i}"
    used.add(plain.lower())
    return f"{plain}.{ending}"


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


# ---------------------------------------------------------------------- one graph


def _edge_arrays(
    stack: GraphStack, i: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return source, target and weight of every edge of a graph, hidden ones with nan.

    If no graph of the stack has a direction, each edge is there once.
    """
    entries = sparse.coo_array(stack[i])
    s, t = entries.coords
    keep = np.ones(len(s), dtype=bool) if stack.is_directed else s <= t
    weight = entries.data[keep].astype(np.float64)
    return s[keep].astype(np.intp), t[keep].astype(np.intp), weight


def _edges(stack: GraphStack, i: int) -> Iterator[tuple[int, int, float]]:
    return zip(*(array.tolist() for array in _edge_arrays(stack, i)), strict=True)


def _check_texts(names: Iterable[str], what: str, format: str, forbidden: str = "") -> None:
    """Refuse names that a text format cannot give back."""
    for name in names:
        bad = [mark for mark in name if unicodedata.category(mark) in ("Cc", "Cs")]
        bad += re.findall(forbidden, name) if forbidden else []
        if bad or not name:
            why = f"holds {bad[0]!r}" if bad else "is empty"
            raise InputError(
                f"the {what} name {name!r} {why}, which {format} cannot hold; rename it with "
                "with_names, or write a .npz file"
            )


def _cell(text: str, delimiter: str) -> str:
    """Return a text with quotes where a reader would take it for something else.

    An apostrophe stands before what a spreadsheet would run as a formula.
    """
    text = guarded(text)
    plain = text == text.strip() and text and text[0] not in "#%"
    if plain and not set(text) & {delimiter, *_MARKS}:
        return text
    return '"' + text.replace('"', '""') + '"'


def _write_matrix(path: Path, stack: GraphStack, i: int, delimiter: str) -> None:
    _check_texts(stack.vertex_names, "vertex", "a text file")
    graph, named = stack[i], stack.has_vertex_names
    matrix = graph if isinstance(graph, np.ndarray) else graph.toarray()
    names = [_cell(name, delimiter) for name in stack.vertex_names]
    lines = ["# directed: true"] if stack.is_directed else []
    lines += [delimiter.join(["vertex", *names])] if named else []
    for name, row in zip(names, matrix.tolist(), strict=True):  # numbers keep all their digits
        lines.append(delimiter.join([*[name] * named, *map(repr, row)]))
    _write_lines(path, lines)


def _write_edges(path: Path, stack: GraphStack, i: int) -> None:
    """Write an edge list with tabs, and all vertices in a comment: some may have no edges."""
    _check_texts(stack.vertex_names, "vertex", "an edge list")
    names = [_cell(name, "\t") for name in stack.vertex_names]
    lines = [
        f"# vertices: {json.dumps(stack.vertex_names, ensure_ascii=False)}",
        f"# directed: {str(stack.is_directed).lower()}",
        *(f"{names[s]}\t{names[t]}\t{weight!r}" for s, t, weight in _edges(stack, i)),
    ]
    _write_lines(path, lines)


def _write_graphml(path: Path, stack: GraphStack, i: int) -> None:
    nx, names = need("networkx", "io", "writing GraphML files"), stack.vertex_names
    _check_texts(names, "vertex", "GraphML", "[\ufffe\uffff]")
    graph = nx.DiGraph() if stack.is_directed else nx.Graph()
    graph.add_nodes_from(names)
    graph.add_weighted_edges_from((names[s], names[t], w) for s, t, w in _edges(stack, i))
    # Not the writer that takes lxml where it is there: the same bytes everywhere.
    nx.write_graphml_xml(graph, path, encoding="utf-8")


_ONE: dict[str, Callable[[Path, GraphStack, int], None]] = {
    "csv": partial(_write_matrix, delimiter=","),
    "tsv": partial(_write_matrix, delimiter="\t"),
    "edgelist": _write_edges,
    "graphml": _write_graphml,
}


# ---------------------------------------------------------------------- all graphs in one file


def _write_npz(path: Path, stack: GraphStack) -> None:
    """Write graphs, names and direction; sparse graphs stay sparse."""
    parts: dict[str, Any] = {
        "graph_names": np.array(stack.graph_names),
        "directed": np.array(stack.is_directed),
    }
    if stack.has_vertex_names:
        parts["vertex_names"] = np.array(stack.vertex_names)
    if stack.is_sparse:
        flat = sparse.csr_array(sparse.vstack(list(stack), format="csr"))
        parts |= dict(zip(FLAT, (flat.data, flat.indices, flat.indptr), strict=True))
        parts["n_graphs"] = np.array(stack.n_graphs)
    else:
        parts["graphs"] = np.asarray(stack)
    np.savez_compressed(path, **parts)


def _write_npy(path: Path, stack: GraphStack) -> None:
    """Write one array (m, n, n), which holds no names."""
    if stack.has_vertex_names or stack.graph_names != tuple(map(str, range(stack.n_graphs))):
        raise InputError("a .npy file holds no names, and these graphs have some; write .npz")
    with path.open("wb") as file:
        # Not the file itself: NumPy would write it in C, and miss errors of the disk at its end.
        np.save(SimpleNamespace(write=file.write), _cube(stack), allow_pickle=False)


def _write_mat(path: Path, stack: GraphStack) -> None:
    """Write ``graphs`` (n x n x m, or cells of sparse matrices) and names, version 5."""
    if stack.is_sparse:
        graphs = _cells([sparse.csc_array(graph) for graph in stack])
    else:
        graphs = np.moveaxis(_cube(stack), 0, -1)
    names = stack.vertex_names if stack.has_vertex_names else ()
    for name in (*stack.graph_names, *names):
        if any(ord(mark) > 0xFFFF for mark in name):
            raise InputError(
                f"the name {name!r} has a character that MATLAB's text cannot hold; write a .npz "
                "file"
            )
    parts = {
        "graphs": graphs,
        "graph_names": _cells(stack.graph_names),
        "directed": stack.is_directed,
        **({"vertex_names": _cells(names)} if names else {}),
    }
    savemat(path, parts, do_compression=True)
    with path.open("r+b") as file:  # instead of the time: equal graphs make equal files
        file.write(b"MATLAB 5.0 MAT-file, by eigengraphs".ljust(116))


def _cube(stack: GraphStack) -> NDArray[Any]:
    return np.asarray(stack.to_dense() if stack.is_sparse else stack)


def _cells(items: Any) -> NDArray[Any]:
    cells = np.empty((1, len(items)), dtype=object)
    for i, item in enumerate(items):
        cells[0, i] = item
    return cells


def _write_parquet(path: Path, stack: GraphStack) -> None:
    """Write columns graph, source, target and weight; all names are in the metadata."""
    arrow = need("pyarrow", "io", "writing Parquet files")
    parquet = need("pyarrow.parquet", "io", "writing Parquet files")
    edges = [_edge_arrays(stack, i) for i in range(stack.n_graphs)]
    which = np.repeat(np.arange(stack.n_graphs), [len(part[0]) for part in edges])
    s, t, weight = (np.concatenate([part[k] for part in edges]) for k in range(3))

    def words(places: Any, names: tuple[str, ...]) -> Any:
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
    said = {"graphs": stack.graph_names, "vertices": stack.vertex_names,
            "directed": stack.is_directed}  # fmt: skip
    parquet.write_table(table.replace_schema_metadata({PARQUET_METADATA: json.dumps(said)}), path)


_ALL: dict[str, Callable[[Path, GraphStack], None]] = {
    "npz": _write_npz,
    "npy": _write_npy,
    "mat": _write_mat,
    "parquet": _write_parquet,
}
