"""The graphs of one file, one after the other: of large files, few are in memory at a time."""

from __future__ import annotations

import hashlib
import math
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import EigengraphsError, ReadError
from eigengraphs.io.formats import Format, ending, read_one
from eigengraphs.io.numpy_files import FLAT, flat_shape
from eigengraphs.io.optional import need
from eigengraphs.io.parquet import told
from eigengraphs.io.raw import EdgeGraph, MatrixGraph, RawGraph
from eigengraphs.io.soundness import each_sound
from eigengraphs.io.text import Notation
from eigengraphs.store.parquet_tables import check_declared
from eigengraphs.system.archives import (
    check_compressed,
    check_members,
    npy_array,
    npy_header,
    zip_member,
)
from eigengraphs.system.limits import DEFAULT, Cap, open_regular, read_regular

__all__ = ["graphs_of_file"]

_LARGE = 2**25  # bytes; smaller files are read whole


def graphs_of_file(
    path: Path, *, format: Format, key: str | None, notation: Notation, cap: Cap = DEFAULT
) -> tuple[str, Iterator[RawGraph]]:
    """Return the hash of a file, '' for a large one, and its graphs.

    Large files of NumPy, as ``eigengraphs`` or ``np.save`` write them, and tables of edges that are
    sorted by graph give one graph at a time. All other files are read whole.
    """
    try:
        size = path.stat().st_size
        if size >= _LARGE and format in ("auto", "numpy", "parquet"):
            found = _tried(path, key, cap)
            if found is not None:
                return "", each_sound(path, found)
        data = read_regular(path)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    graphs = read_one(path, data, format=format, key=key, notation=notation, cap=cap)
    return hashlib.sha256(data).hexdigest(), iter(graphs)


def _tried(path: Path, key: str | None, cap: Cap) -> Iterator[RawGraph] | None:
    try:
        return _stream(path, key, cap)
    except (OSError, EigengraphsError):
        raise
    except Exception:  # of a damaged file; the reader of whole files says what is wrong with it
        return None


def _stream(path: Path, key: str | None, cap: Cap) -> Iterator[RawGraph] | None:
    kind = ending(path)
    if path.suffix.lower() == ".gz":
        return None
    if kind == ".npy":
        with open_regular(path) as file:
            header = _header(file, path.stat().st_size)
        return None if header is None else _cube(path, None, {}, {})
    if kind == ".npz" and key is None and zipfile.is_zipfile(path):
        with open_regular(path) as file, zipfile.ZipFile(file) as bundle:
            check_members(path, bundle)
            members = {Path(name).stem for name in bundle.namelist()}
            if "graph_names" not in members:
                return None
            extra: dict[str, Any] = {
                name: _whole(path, bundle, name, cap)
                for name in ("graph_names", "vertex_names", "directed", "n_graphs")
                if name in members
            }
            said = _said(extra)
            if set(FLAT) <= members and "n_graphs" in members:
                return _flat(path, said, extra, cap)
            if "graphs" in members:
                with bundle.open("graphs.npy") as member:
                    if _header(member, bundle.getinfo("graphs.npy").file_size) is not None:
                        return _cube(path, "graphs.npy", said, extra)
        return None
    if kind in (".parquet", ".pq") and key is None:
        return _edges(path, cap)
    return None


def _header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], np.dtype[Any]] | None:
    """Return shape and type of an array of graphs that can be read one by one, or None.

    ``size`` is that of the file, or of the member of a bundle: no more is ever made room for.
    """
    try:
        shape, fortran, dtype = npy_header(file)
    except ValueError:
        return None  # the reader of whole files says what is wrong
    plain = len(shape) == 3 and shape[1] == shape[2] != shape[0] and not fortran
    there = file.tell() + math.prod(shape) * dtype.itemsize == size
    return (shape, dtype) if plain and there and dtype.kind in "biuf" and min(shape) else None


def _whole(path: Path, bundle: zipfile.ZipFile, name: str, cap: Cap) -> NDArray[Any]:
    held = path.stat().st_size
    cap.check(f"{path}, array {name!r},", bundle.getinfo(f"{name}.npy").file_size, held)
    return npy_array(path, zip_member(bundle, f"{name}.npy"), cap, held)


def _said(extra: dict[str, Any]) -> dict[str, Any]:
    """Return what every graph of a file is told: names of vertices, and direction."""
    names = extra.get("vertex_names")
    return {
        "names": None if names is None else tuple(map(str, names.tolist())),
        "directed": None if "directed" not in extra else bool(extra["directed"]),
    }


def _name(extra: dict[str, Any], i: int) -> str | None:
    return str(extra["graph_names"][i]) if "graph_names" in extra else None


def _cube(
    path: Path, member: str | None, said: dict[str, Any], extra: dict[str, Any]
) -> Iterator[RawGraph]:
    """Yield the graphs of an array (m, n, n), in a file of its own or in a bundle."""
    with ExitStack() as opened:
        file: Any = opened.enter_context(open_regular(path))
        if member is not None:
            bundle = opened.enter_context(zipfile.ZipFile(file))
            file = opened.enter_context(bundle.open(member))
        shape, _, dtype = npy_header(file)  # which was looked at before
        m, n, _ = shape
        for i in range(m):
            A = _numbers(path, file, n * n, dtype).reshape(n, n)
            yield MatrixGraph(A, key=_name(extra, i), format="NumPy", **said)


def _flat(path: Path, said: dict[str, Any], extra: dict[str, Any], cap: Cap) -> Iterator[RawGraph]:
    """Yield the graphs of a flat matrix."""
    with open_regular(path) as file, zipfile.ZipFile(file) as bundle:
        indptr = _whole(path, bundle, FLAT[2], cap)
        m, n = flat_shape(path, extra["n_graphs"], indptr)
        indptr = indptr.astype(np.int64)  # differences of 32 bits wrap around
        with bundle.open(f"{FLAT[0]}.npy") as data, bundle.open(f"{FLAT[1]}.npy") as indices:
            headers = [npy_header(file) for file in (data, indices)]
            kinds, most = (
                [dtype for *_, dtype in headers],
                bundle.getinfo(f"{FLAT[0]}.npy").file_size,
            )
            for i in range(m):
                rows = indptr[i * n : (i + 1) * n + 1]
                count = int(rows[-1] - rows[0])
                if not 0 <= count <= most:
                    raise ReadError(f"{path} does not hold the graphs that it says; write it again")
                values = _numbers(path, data, count, kinds[0])
                places = _numbers(path, indices, count, kinds[1])
                A = sparse.csr_array((values, places, rows - rows[0]), shape=(n, n))
                try:
                    check_compressed(A)  # products do not look whether entries are within
                except ValueError as error:
                    raise ReadError(
                        f"{path}, graph {i + 1} (index {i}), is damaged: {error}"
                    ) from None
                yield MatrixGraph(A, key=_name(extra, i), format="NumPy", **said)


def _numbers(path: Path, file: Any, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    out = np.empty(count, dtype)
    view = memoryview(out.view(np.uint8).data) if count else memoryview(b"")
    filled = 0
    while filled < len(view):
        data = file.read(len(view) - filled)
        if not data:
            raise ReadError(f"{path} is cut off: it ends within an array; write it again")
        view[filled : filled + len(data)] = data
        filled += len(data)
    return out


def _edges(path: Path, cap: Cap) -> Iterator[RawGraph] | None:
    """Yield the graphs of a table that ``eigengraphs`` wrote, whose metadata has all names."""
    need("pyarrow", "reading Parquet files")
    parquet = need("pyarrow.parquet", "reading Parquet files")
    try:
        file = parquet.ParquetFile(path)
        said = told(file.schema_arrow)
        check_declared(path, file, path.stat().st_size, cap)
    except ReadError:
        raise
    except Exception:  # pyarrow has errors of its own; the reader of whole files says what is wrong
        return None
    columns = ["graph", "source", "target", "weight"]
    if not {"graphs", "vertices"} <= set(said) or not set(columns) <= set(file.schema_arrow.names):
        return None
    return _grouped(path, file, said, columns)


def _grouped(path: Path, file: Any, said: dict[str, Any], columns: list[str]) -> Iterator[RawGraph]:
    arrow = need("pyarrow", "reading Parquet files")
    names = tuple(said["vertices"])
    place = {name: s for s, name in enumerate(names)}
    order = {name: i for i, name in enumerate(said["graphs"])}
    held = list[tuple[NDArray[Any], ...]]()
    at = 0

    def graph(i: int) -> EdgeGraph:
        mine = [part for part in held if len(part[0])]
        s, t, w = (
            np.concatenate([part[k] for part in mine]) if mine else np.zeros(0, kind)
            for k, kind in enumerate((np.intp, np.intp, np.float64))
        )
        key = said["graphs"][i]
        return EdgeGraph(s, t, w, names, True, said.get("directed"), key=key, format="Parquet")

    def coded(column: Any, known: dict[str, int]) -> NDArray[np.intp]:
        if not arrow.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        table = np.array([known[str(x)] for x in column.dictionary.to_pylist()], dtype=np.intp)
        return table[np.asarray(column.indices.to_numpy(zero_copy_only=False), dtype=np.intp)]

    for batch in file.iter_batches(batch_size=2**18, columns=columns):
        which = coded(batch["graph"], order)
        s, t = coded(batch["source"], place), coded(batch["target"], place)
        weight = np.asarray(batch["weight"].to_numpy(zero_copy_only=False), dtype=np.float64)
        if len(which) and ((np.diff(which) < 0).any() or which[0] < at):
            raise ReadError(
                f"{path} is large, and the edges of its graphs do not stand one graph after the "
                "other: sort the table by its column 'graph'"
            )
        for i in np.unique(which).tolist():
            while at < i:
                yield graph(at)
                held.clear()
                at += 1
            a, b = np.searchsorted(which, (i, i + 1))
            held.append((s[a:b], t[a:b], weight[a:b]))
    while at < len(order):
        yield graph(at)
        held.clear()
        at += 1
