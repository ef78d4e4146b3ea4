"""Changes that keep a container whole, so that they reach what is inside it.

A bit that flips in a zip, a Parquet file or a store is found by a checksum, and the code behind it
sees nothing. So containers are taken apart, changed inside, and put together again.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import numpy as np
from tools.fuzz.changes import change_array, change_bytes, change_json

from eigengraphs.fitting import model_file as model

__all__ = [
    "Change", "change_gzip", "change_hdf5", "change_mat", "change_model", "change_npy",
    "change_parquet", "change_store", "change_zip", "pack", "unpack",
]  # fmt: skip

Change: TypeAlias = Callable[[bytes, Random], bytes]


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(files: dict[str, bytes]) -> bytes:
    """Return a zip of files, without times: equal files make equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def change_gzip(data: bytes, rng: Random) -> bytes:
    """Change the text in a gzip file."""
    return gzip.compress(change_bytes(gzip.decompress(data), rng), mtime=0)


def change_npy(data: bytes, rng: Random) -> bytes:
    """Change an array, or the text of its header."""
    if rng.random() < 0.4:
        head = 10 + int.from_bytes(data[8:10], "little")
        changed = change_bytes(data[10:head], rng)[: head - 10].ljust(head - 10)
        return data[:10] + changed + data[head:]
    array = np.load(io.BytesIO(data), allow_pickle=False)
    return _npy(change_array(array, rng))


def _npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), allow_pickle=True)
    return out.getvalue()


def change_zip(data: bytes, rng: Random) -> bytes:
    """Change a member of a zip by its kind; or drop it, or give it another's name or contents."""
    files = unpack(data)
    names = list(files)
    one, other = rng.choice(names), rng.choice(names)
    kind = rng.randrange(12)
    if kind == 0:
        del files[one]
    elif kind == 1:
        files[one] = files[other]
    elif kind == 2:
        files[rng.choice([other, "a.npy", f"../{one}", one.upper()])] = files.pop(one)
    else:
        files[one] = _inside(one, files[one], rng)
    return pack(files)


def change_model(data: bytes, rng: Random) -> bytes:
    """Change a member of a model and, mostly, seal the whole again."""
    changed = change_zip(data, rng)
    if rng.random() < 0.1:
        return changed
    out = io.BytesIO(changed)
    with zipfile.ZipFile(out, "a") as archive:
        archive.comment = model._SEAL + b"0" * 64
    unsealed = out.getvalue()[:-64]
    return unsealed + model._digest(unsealed)


def _inside(name: str, data: bytes, rng: Random) -> bytes:
    by_ending: dict[str, Change] = {
        "npy": change_npy, "json": change_json, "parquet": change_parquet,
    }  # fmt: skip
    change = by_ending.get(name.rpartition(".")[2], change_bytes)
    return change_bytes(data, rng) if rng.random() < 0.2 else change(data, rng)


def change_parquet(data: bytes, rng: Random) -> bytes:
    """Change columns, their kinds, or the metadata of a table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(data))
    names = table.column_names
    i = rng.randrange(len(names))
    kind = rng.randrange(8)
    if kind == 0 and len(names) > 1:
        table = table.drop_columns([names[i]])
    elif kind == 1:
        given = [rng.choice(["", "weight", "graph", "source", "place", *names]) if j == i else name
                 for j, name in enumerate(names)]  # fmt: skip
        table = table.rename_columns(given)
    elif kind == 2:
        table = table.slice(rng.randint(0, len(table)), rng.randint(0, len(table)))
    elif kind == 3:
        known = {key: change_json(value, rng) if rng.random() < 0.8 else change_bytes(value, rng)
                 for key, value in (table.schema.metadata or {}).items()}  # fmt: skip
        table = table.replace_schema_metadata(known)
    elif kind == 4:
        kinds = [pa.string(), pa.float64(), pa.int8(), pa.binary(), pa.bool_(), pa.list_(pa.int8()),
                 pa.timestamp("s"), pa.decimal128(5, 1), pa.null(), pa.float16()]  # fmt: skip
        chosen = rng.choice(kinds)
        values = [_as(chosen, x) for x in table.column(i).to_pylist()]
        table = table.set_column(i, names[i], pa.array(values, chosen))
    else:
        values = table.column(i).to_pylist()
        if values:
            at = rng.randrange(len(values))
            values[at] = rng.choice([None, values[0], *_LIKE.get(type(values[0]), ["a"])])
        table = table.set_column(i, names[i], pa.array(values, table.schema.field(i).type))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


_LIKE: dict[type, list[Any]] = {
    int: [0, 1, -1, 100, 2**31 - 1, -(2**31)],
    float: [0.0, -1.0, float("nan"), float("inf"), 1e308],
    str: ["", "a", "nan", "\x00", "é", "0"],
    bool: [True, False],
}


def _as(kind: Any, value: Any) -> Any:
    import pyarrow as pa

    if kind == pa.string():
        return str(value)
    if kind == pa.binary():
        return str(value).encode()
    if pa.types.is_list(kind):
        return [1, 2]
    if pa.types.is_boolean(kind):
        return bool(value)
    if kind == pa.float16():
        return np.float16(1.5)
    if pa.types.is_floating(kind):
        return 1.5
    return None if kind == pa.null() else 3


def change_mat(data: bytes, rng: Random) -> bytes:
    """Change an array of a MATLAB file of version 5."""
    from scipy.io import savemat

    from eigengraphs.io.matlab_files import version_5
    from eigengraphs.system.limits import DEFAULT

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arrays = _changed(version_5(Path("seed.mat"), data, DEFAULT), rng)
        out: Any = io.BytesIO()
        savemat(out, arrays, do_compression=rng.random() < 0.3)
    return bytes(out.getvalue())


def _changed(arrays: dict[str, Any], rng: Random) -> dict[str, Any]:
    from scipy import sparse

    one, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    kind = rng.randrange(6)
    if kind == 0:
        del arrays[one]
    elif kind == 1:
        arrays[one] = arrays[other]
    elif kind == 2:
        cells = np.empty(rng.choice(((2, 1), (1,), (0, 0))), dtype=object)
        cells[...] = None
        for place in np.ndindex(cells.shape):
            cells[place] = arrays[rng.choice((one, other))]
        arrays[one] = cells
    elif kind == 3:
        arrays[one] = rng.choice(
            [{"a": 1}, sparse.csc_array(np.eye(3)), sparse.csc_array((3, 3)), "a"]
        )
    else:
        array = arrays[one]
        array = array.toarray() if sparse.issparse(array) else array
        arrays[one] = change_array(array, rng)
    return arrays


def change_hdf5(data: bytes, rng: Random) -> bytes:
    """Change a data set or an attribute of a MATLAB file of version 7.3."""
    import h5py

    out = io.BytesIO(data)
    with h5py.File(out, "r+") as file:
        names = list[str]()
        file.visit(names.append)
        one = rng.choice(names)
        item = file[one]
        kind = rng.randrange(6)
        if kind == 0:
            del file[one]
        elif kind == 1:
            word = rng.choice(["MATLAB_class", "MATLAB_sparse", "MATLAB_empty"])
            item.attrs[word] = rng.choice([b"char", b"cell", b"double", 3, -1, 2**62, 0, 1.5, "x"])
        elif isinstance(item, h5py.Group):
            file.move(one, one + "2")
        elif item.dtype.kind != "O":
            array = np.asarray(item)
            del file[one]
            changed = change_array(array, rng)
            file[one] = changed.astype("S8") if changed.dtype.kind in "UMm" else changed
            if rng.random() < 0.5:
                file[one].attrs["MATLAB_class"] = np.bytes_(
                    rng.choice([b"char", b"double", b"cell"])
                )
        else:
            file.copy(one, "copied")
    return out.getvalue()


def change_store(data: bytes, rng: Random) -> bytes:
    """Change a file of a store and, mostly, put its true checksum into store.json."""
    files = unpack(data)
    one = rng.choice(list(files))
    if rng.random() < 0.5:
        one = "store.json"
    if one == "store.json":
        if rng.random() < 0.3:
            files[one] = change_bytes(files[one], rng)
        else:
            files[one] = change_json(files[one], rng, extra=[2**40, "edges", ["name"]])
        return pack(files)
    if rng.random() < 0.1:
        del files[one]
    else:
        files[one] = _inside(one, files[one], rng)
        if rng.random() < 0.9:
            files["store.json"] = _with_checksums(files)
    return pack(files)


def _with_checksums(files: dict[str, bytes]) -> bytes:
    said = json.loads(files["store.json"])
    for shard in said["shards"]:
        begin = shard["offset"]
        piece = files[shard["file"]]
        if said["kind"] == "sparse":
            shard["bytes"] = len(piece)
        else:
            piece = piece[begin : begin + shard["bytes"]]
        shard["sha256"] = hashlib.sha256(piece).hexdigest()
        shard["table_sha256"] = hashlib.sha256(files[shard["table"]]).hexdigest()
    if said["vertices_sha256"]:
        said["vertices_sha256"] = hashlib.sha256(files["vertices.parquet"]).hexdigest()
    return json.dumps(said, indent=1).encode()
