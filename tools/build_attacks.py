"""Make the attack files and their table: ``python -m tools.build_attacks``.

Every file is what somebody with bad intent could send. ``attacks.json`` says of each what it is,
which reader it is meant for, and what the refusal must say; no file of it may be read. Files are
small; what they stand for is not.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
import shutil
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import eigengraphs as eg

HERE = Path(__file__).parents[1] / "tests" / "attacks" / "files"
CAP = "more than the cap"
TABLE: dict[str, dict[str, str]] = {}


def put(name: str, what: str, says: str, data: bytes | str | None = None, reader: str = "read"):
    """Write a file, if its content is given, and a row of the table."""
    if data is not None:
        (HERE / name).write_bytes(data.encode() if isinstance(data, str) else data)
    TABLE[name] = {"reader": reader, "what": what, "says": says}


class Code:
    """Runs a command where it is unpickled."""

    def __reduce__(self) -> Any:
        return exec, ("open('UNPICKLED', 'w').close()",)


# ---------------------------------------------------------------------- NumPy


def header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    buffer = io.BytesIO()
    said = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, said)
    return buffer.getvalue()


def array(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values), allow_pickle=False)
    return buffer.getvalue()


def arrays(**values: Any) -> dict[Any, bytes]:
    return {f"{name}.npy": array(value) for name, value in values.items()}


def raw_header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text.encode() + b"\n"


def archive(
    members: dict[Any, bytes], kind: int = zipfile.ZIP_STORED, comment: bytes = b""
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as file:
        for name, content in members.items():
            file.writestr(name, content, kind)
        file.comment = comment
    return buffer.getvalue()


def numpy_files() -> None:
    put("terabytes.npy", "a header of 8 TB, and no data", CAP, header((2**20, 2**20)))
    put("overflow.npy", "a shape whose size is 0 modulo 2**64", CAP, header((2**33, 2**33)))
    put("long_text.npy", "16 texts of 2 GB each", CAP, header((4, 4), "<U500000000"))
    put("negative.npy", "a negative length", "not a NumPy file", header((-4, -4)))
    deep = raw_header("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "-" * 9000 + "4,)}")
    put("deep_header.npy", "a header nested 9,000 deep", "not a NumPy file", deep)
    evil = header((1,), "|O") + pickle.dumps(np.array([Code()], dtype=object))
    put("pickle.npy", "a pickle that runs code", "never read because they can run code", evil)
    put("pickle.npz", "the same in a bundle", "never read because they can run code",
        archive({"graphs.npy": evil}))  # fmt: skip
    fine = array(np.eye(4))
    put("array_header.npz", "a bundle with an array of 8 TB", CAP,
        archive({"a.npy": header((2**20, 2**20)) + bytes(64)}))  # fmt: skip
    lying = bytearray(archive({"a.npy": fine}))
    at = lying.index(b"PK\x01\x02")
    lying[at + 20 : at + 28] = struct.pack("<II", len(fine), 2**32 - 2)
    put("directory.npz", "a directory that declares 4 GB", CAP, bytes(lying))
    bomb = archive({"a.npy": header((6000, 6000)) + bytes(8 * 6000**2)}, zipfile.ZIP_BZIP2)
    put("bomb.npz", "288 MB of zeros, compressed", CAP, bomb)
    put("outside.npz", "a member that would lie outside", "outside of it",
        archive({"../../outside.npy": fine}))  # fmt: skip
    link = zipfile.ZipInfo("a.npy")
    link.external_attr = 0o120777 << 16
    put("link.npz", "a member that is a link", "with a link", archive({link: b"/etc/passwd"}))
    rows = arrays(row=[0], col=[1], data=[1.0], shape=[2**40, 2**40], format=b"coo")
    put("rows.npz", "a sparse matrix of 2**40 rows", CAP, archive(rows))
    csr: Any = {"indptr": [0, 1, 1], "data": [1.0], "shape": [2, 2], "format": b"csr"}
    put("beyond.npz", "a sparse matrix with an entry outside of it", "not a sparse matrix",
        archive(arrays(indices=[10**9], **csr)))  # fmt: skip
    lying = bytearray(archive({"a.npy": fine + bytes(2**29)}, zipfile.ZIP_BZIP2))
    for at, mark in ((22, b"PK\x03\x04"), (24, b"PK\x01\x02")):
        struct.pack_into("<I", lying, lying.index(mark) + at, len(fine))
    put("beneath.npz", "537 MB that are declared as 256 bytes", "compressed in a way", bytes(lying))
    members = arrays(indices=[0], **csr)
    members["data.npy"], members["data"] = array([1.0, 2.0]), raw_header("1L" + " " * 9000 + '"')
    put("beside.npz", "a second 'data', whose header takes minutes", "not a NumPy file",
        archive(members))  # fmt: skip
    names = arrays(graphs=np.ones((2, 4, 4))) | {
        "graph_names.npy": header((2,), "<U0"), "vertex_names.npy": header((10**9,), "<U0")
    }  # fmt: skip
    put("nothing.npz", "10**9 names of no letters", "holds nothing", archive(names))
    half = arrays(graphs=np.ones((2, 4, 4)), graph_names=["a", "\ud800"])
    put("half_name.npz", "a graph named half a character", "not valid UTF-8", archive(half))


# ---------------------------------------------------------------------- text, gzip, XML


def text_files() -> None:
    small, large = gzip.compress(b"0,1\n1,0\n", mtime=0), bytearray()
    machine = zlib.compressobj(9, zlib.DEFLATED, 31)
    for _ in range(66):
        large += machine.compress(b"0" * 2**20)
    large += machine.flush()
    put("bomb.csv.gz", "69 MB of zeros, behind which a small part hides its size", CAP,
        bytes(large) + small)  # fmt: skip
    put("declared.csv.gz", "a gzip file that declares 4 GB", "incomplete", small[:-4] + b"\xff" * 4)
    put("cut.csv.gz", "a gzip file, cut off", "incomplete", small[:-9] + small[-8:-4] + b"\0")
    put("deep.edgelist", "vertices as JSON, nested 12,000 deep", "not a list in JSON",
        "# vertices: " + "[" * 12_000 + "\na b 1\n")  # fmt: skip
    put("deep_data.edgelist", "edge data nested 9,000 deep", "is not a number",
        "0 1 {'weight': " + "-" * 9_000 + "1}\n1 2 {'weight': 1}\n")  # fmt: skip
    put("half_a_letter.csv", "UTF-16 that ends within a letter", "begins as UTF-16",
        "0,1\n1,0\n".encode("utf-16") + b"\0")  # fmt: skip
    put("utf32.csv", "UTF-32", "is not a text file", "0,1\n1,0\n".encode("utf-32-be"))
    put("device.tsv", "a manifest that leads to a device", "there is no file '/dev/zero'",
        "path\tid\n/dev/zero\ta\n")  # fmt: skip
    plain = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    plain += '<graph edgedefault="undirected"><node id="a"/><node id="{}"/>'
    plain += '<edge source="a" target="{}"/></graph></graphml>'
    laughs = '<!ENTITY l0 "ha">' + "".join(
        f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12)
    )
    head = '<?xml version="1.0"?><!DOCTYPE graphml {}>'
    put("laughs.graphml", "entities that grow to 10**11 letters", "document type",
        head.format(f"[{laughs}]") + plain.format("&l11;", "&l11;"))  # fmt: skip
    file = '<!ENTITY file SYSTEM "file:///etc/passwd">'
    put("entity.graphml", "an entity that is a file of the reader", "document type",
        head.format(f"[{file}]") + plain.format("&file;", "&file;"))  # fmt: skip
    far = head.format('SYSTEM "http://localhost:9/g.dtd"')
    put("dtd.graphml", "a document type elsewhere, in UTF-16", "document type",
        (far + plain.format("b", "b")).replace('"1.0"', '"1.0" encoding="utf-16"', 1)
        .encode("utf-16"))  # fmt: skip


# ---------------------------------------------------------------------- MATLAB


def element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def matlab(kind: int, shape: tuple[int, ...], content: bytes, name: bytes = b"A") -> bytes:
    flags = element(6, struct.pack("<II", kind, 0))
    lengths = element(5, struct.pack(f"<{len(shape)}i", *shape))
    return element(14, flags + lengths + element(1, name) + content)


def mat_file(*elements: bytes) -> bytes:
    return (
        b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM" + b"".join(elements)
    )


def packed(data: bytes) -> bytes:
    small = zlib.compress(data, 9)
    return struct.pack("<II", 15, len(small)) + small


def matlab_files() -> None:
    bomb = matlab(6, (3000, 3000), element(9, bytes(8 * 3000**2)))
    put("bomb.mat", "72 MB of zeros, compressed", CAP, mat_file(packed(bomb)))
    put("element.mat", "an array that declares 4 GB", "says it has 4,294,967,288 bytes",
        mat_file(struct.pack("<II", 14, 2**32 - 8)))  # fmt: skip
    put("cells.mat", "2**41 cells, none of them there", "has 0 of its 2,199,023,254,528 cells",
        mat_file(matlab(1, (2**31 - 1, 1024), b"")))  # fmt: skip
    deep = matlab(6, (1, 1), element(9, bytes(8)))
    for _ in range(5_000):
        deep = matlab(1, (1, 1), deep)
    put("deep.mat", "cells within cells, 5,000 deep", "cells are nested", mat_file(packed(deep)))
    hidden = matlab(6, (1, 1), element(9, bytes(8)) + matlab(1, (1, 1), b""))
    put("hidden.mat", "an array that hides others behind its numbers", "parts that it declares",
        mat_file(matlab(1, (2, 1), hidden + hidden)))  # fmt: skip
    with h5(HERE / "shape.mat") as file:
        file.create_dataset("A", (10**6, 10**6), "f8", chunks=(64, 64))
    put("shape.mat", "HDF5: 8 TB, none of them there", CAP)
    with h5(HERE / "external.mat") as file:
        file["A"] = h5py.ExternalLink("shape.mat", "A")
    put("external.mat", "HDF5: a link to another file", "link to another file")
    with h5(HERE / "elsewhere.mat") as file:
        file.create_dataset("A", (4, 4), "f8", external=[("/etc/passwd", 0, 128)])
    put("elsewhere.mat", "HDF5: numbers that are another file", "lies in another file")
    with h5(HERE / "loop.mat") as file:
        loop = file.create_dataset("A", (2, 2), h5py.ref_dtype)
        loop[...] = loop.ref
    put("loop.mat", "HDF5: cells that hold themselves", "without end")
    put("blanks.mat", "a text of 500 million letters, none of which is there", "no square matrix",
        mat_file(matlab(4, (5 * 10**8, 1), element(16, b""))))  # fmt: skip
    with h5(HERE / "chunk.mat") as file:
        file.create_dataset("A", (3, 3), "f8", chunks=(3000, 3000), maxshape=(None, None),
                            compression="gzip")  # fmt: skip
        file["A"][...] = 1.0
    put("chunk.mat", "HDF5: nine numbers in a chunk of 72 MB", CAP)
    with h5(HERE / "chunks.mat") as file:
        file.create_dataset("A", (100, 5), "f8", chunks=(1, 300_000), maxshape=(None, None),
                            compression="gzip")  # fmt: skip
    put("chunks.mat", "HDF5: 500 numbers in 100 chunks of 2.4 MB", CAP)
    inner = zlib.compress(bytes(3 * 10**8), 9)
    packed_chunk("filters.mat", zlib.compress(inner, 9), 2)
    put("filters.mat", "HDF5: 300 MB for 8 MB, behind two filters", "does not use")
    packed_chunk("beneath.mat", zlib.compress(bytes(2 * 10**7), 9), 1)
    put("beneath.mat", "HDF5: a chunk of 8 MB that unpacks to 20 MB", "unpacks to more than")


def packed_chunk(name: str, data: bytes, times: int) -> None:
    """Write one chunk of 8 MB that was compressed so many times, as it is."""
    about = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    about.set_chunk((1000, 1000))
    for _ in range(times):
        about.set_deflate(9)
    with h5(HERE / name) as file:
        space = h5py.h5s.create_simple((1000, 1000))
        item = h5py.h5d.create(file.id, b"A", h5py.h5t.IEEE_F64LE, space, about)
        item.write_direct_chunk((0, 0), data)


def h5(path: Path) -> Any:
    path.unlink(missing_ok=True)
    return h5py.File(path, "w", userblock_size=512)


# ---------------------------------------------------------------------- Parquet, stores


def parquet_files() -> None:
    table = pa.table({name: pa.array(np.zeros(2**20, np.int64)) for name in ("source", "target")})
    options: Any = {"compression": "zstd", "max_rows_per_page": 2**20}
    with pq.ParquetWriter(HERE / "rows.parquet", table.schema, **options) as file:
        for _ in range(5):
            file.write_table(table)
    put("rows.parquet", "84 MB in runs", CAP)
    edges = pa.table({"source": ["a"], "target": ["b"]})
    deep = edges.replace_schema_metadata({"eigengraphs": "[" * 5_000})
    pq.write_table(deep, HERE / "metadata.parquet", compression="none")
    put("metadata.parquet", "JSON within, nested 5,000 deep", "not a Parquet file")
    odd = edges.replace_schema_metadata({"eigengraphs": '{"vertices": {"a": 1}}'})
    pq.write_table(odd, HERE / "list.parquet")
    put("list.parquet", "JSON within that is something else", "list of vertices is damaged")


def changed(name: str, **changes: Any) -> dict[str, Any]:
    """Write a store of two graphs, and return what its description says."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    A = np.zeros((2, 3, 3))
    A[:, 0, 1] = A[:, 1, 0] = 1.0
    kind: Any = changes.pop("storage", "dense")
    eg.store.write_store(folder, eg.GraphStack(A), storage=kind)
    said: dict[str, Any] = json.loads((folder / "store.json").read_text())
    shard = said["shards"][0]
    for key, value in changes.items():
        (shard if key in shard else said)[key] = value
    (folder / "store.json").write_text(json.dumps(said, indent=1) + "\n")
    return said


def store_files() -> None:
    changed("outside.egs", storage="sparse", file="../../../etc/passwd")
    put("outside.egs", "a store whose graphs lie outside of it", "must name a file in the store",
        reader="store")  # fmt: skip
    changed("vertices.egs", storage="sparse", n_vertices=10**12)
    put("vertices.egs", "a store of 10**12 vertices", CAP, reader="store")
    changed("chunk.egs", n_vertices=10**6, bytes=2 * 10**12 * 8)
    for chunk in (HERE / "chunk.egs" / "dense.zarr" / "c").rglob("0"):
        if chunk.is_file():
            chunk.write_bytes(chunk.read_bytes()[:144])
    put("chunk.egs", "a store with a chunk of 16 TB", "is cut off", reader="store")
    said = changed("ids.egs", storage="sparse")
    shard = said["shards"][0]
    file = HERE / "ids.egs" / shard["file"]
    table = pq.read_table(file)
    giant = pa.array(np.full(len(table), 2**31 - 1, np.int32))
    table = table.set_column(2, "target", giant)
    pq.write_table(table, file, use_dictionary=["graph"], compression="none")
    data = file.read_bytes()
    said["shards"][0] |= {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    (HERE / "ids.egs" / "store.json").write_text(json.dumps(said, indent=1) + "\n")
    put("ids.egs", "a store with edges to vertex 2**31 - 1", "vertices must be from 0 to 2",
        reader="store")  # fmt: skip
    changed("deep.egs", storage="sparse")
    (HERE / "deep.egs" / "store.json").write_text("[" * 12_000)
    put("deep.egs", "a description nested 12,000 deep", "does not describe a store", reader="store")


# ---------------------------------------------------------------------- models, reports, recipes


SEAL = b"eigengraphs model, SHA-256 of all before: "


def sealed(members: dict[Any, bytes], kind: int = zipfile.ZIP_STORED, seal: bytes = SEAL) -> bytes:
    """Return a model file with a right seal."""
    content = archive(members, kind, seal + b"0" * 64)[:-64]
    return content + hashlib.sha256(content).hexdigest().encode()


def other_files() -> None:
    state = b'{"format": 2, "state": {"array": "a"}}'
    put("terabytes.eg", "a model with an array of 8 TB", CAP,
        sealed({"model.json": state, "a.npy": header((2**20, 2**20))}), "load")  # fmt: skip
    put("deep.eg", "a model nested 5,000 deep", "nested too deeply",
        sealed({"model.json": b'{"format": 2, "state": ' + b"[" * 5_000}), "load")  # fmt: skip
    bomb = header((6000, 6000)) + bytes(8 * 6000**2)
    put("bomb.eg", "a model of 288 MB, compressed", CAP,
        archive({"model.json": state.replace(b"2", b"1"), "a.npy": bomb}, zipfile.ZIP_BZIP2),
        "load")  # fmt: skip
    put("packed.eg", "a sealed model that is compressed", "are compressed",
        sealed({"model.json": state, "a.npy": array(np.eye(4))}, zipfile.ZIP_DEFLATED),
        "load")  # fmt: skip
    put("lists.eg", "a model of four million lists", CAP,
        archive({"model.json": b'{"format": 1, "state": [' + b"[]," * (4 * 10**6) + b"0]}"},
                zipfile.ZIP_DEFLATED), "load")  # fmt: skip
    evil = header((1,), "|O") + pickle.dumps(np.array([Code()], dtype=object))
    put("pickle.eg", "a model with a pickle", "Python objects",
        sealed({"model.json": state, "a.npy": evil}), "load")  # fmt: skip
    put("class.eg", "a model that names a class of Python", "cannot hold",
        sealed({"model.json": b'{"format": 2, "state": {"object": "Popen", "fields": {}}}'}),
        "load")  # fmt: skip
    put("deep_report.json", "a report nested 12,000 deep", "is broken", "[" * 12_000, "report")
    put("deep_recipe.json", "a recipe nested 12,000 deep", "too deeply", "[" * 12_000, "recipe")
    put("keys.toml", "a key of 20,000 parts", "keys are nested without end",
        f"a{'.a' * 20_000} = 1", "recipe")  # fmt: skip


def main() -> None:
    """Make all files anew."""
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir()
    for make in (numpy_files, text_files, matlab_files, parquet_files, store_files, other_files):
        make()
    text = json.dumps(TABLE, indent=1) + "\n"
    (HERE.parent / "attacks.json").write_text(text, encoding="utf-8")
    size = sum(path.stat().st_size for path in HERE.rglob("*") if path.is_file())
    print(f"{len(TABLE)} attacks, {size:,} bytes")


if __name__ == "__main__":
    main()
