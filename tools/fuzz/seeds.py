"""Small whole files of every kind, most of them by the library's own writers."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse
from tools.fuzz.containers import pack

import eigengraphs as eg

__all__ = ["SEEDS", "journal_question", "store_files"]


@cache
def _stack(n: int = 5, m: int = 3, *, names: bool = True, kind: str = "dense") -> eg.GraphStack:
    rng = np.random.default_rng(n * m)
    A = np.round(rng.gamma(1.0, 2.0, (m, n, n)) * (rng.random((m, n, n)) < 0.6), 2)
    A = np.triu(A, 1)
    A = A + A.transpose(0, 2, 1)
    A[:, 0, 1] = A[:, 1, 0] = 1.5  # no graph without edges
    named = {
        "vertex_names": [f"v{s}" for s in range(n)],
        "graph_names": [f"g{i}" for i in range(m)],
    }
    graphs = [sparse.csr_array(part) for part in A] if kind == "sparse" else A
    return eg.GraphStack(graphs, **(named if names else {}))


def _written(stack: eg.GraphStack, name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return Path(eg.io.write(stack, Path(folder) / name)).read_bytes()


def _matrix() -> list[bytes]:
    plain = b"0 1 2.5\n1 0 0\n2.5 0 0\n"
    return [
        _written(_stack(m=1), "a.csv"),
        _written(_stack(m=1, names=False), "a.tsv"),
        plain,
        plain.replace(b" ", b","),
        b'"a";"b";"c"\n0;1,5;2\n1,5;0;0\n2;0;0\n',
        b"1\n2 3\n4 5 6\n",
        b",a,b,c\na,0,1,\nb,1,0,nan\nc,,nan,0\n",
        b"# a comment\n0\t1\t1\n0\t0\t1\n0\t0\t0\n",
    ]


def _edges() -> list[bytes]:
    return [
        _written(_stack(m=1), "a.edgelist"),
        _written(_stack(m=1, names=False), "a.edgelist"),
        b"1 2 0.5\n2 3 1\n",
        b"source,target,weight\na,b,1\nb,c,2\n",
        b"0 1 {'weight': 3}\n1 2 {'weight': 1.5}\n",
        b"# vertices: a b c d\n# directed: true\na b 1\nb a 2\n",
        b'# vertices: ["a b", "c"]\n"a b" c 1\n',
        b"007\t010\n010\t011\n",
    ]


def _gzip() -> list[bytes]:
    return [gzip.compress(text, mtime=0) for text in _matrix()]


def _npy() -> list[bytes]:
    arrays = [np.ones((3, 3)), np.asarray(_stack()), np.eye(4, dtype=np.float32), np.eye(3) > 0]
    found = []
    for array in [*arrays, np.asfortranarray(np.asarray(_stack())[0])]:
        out = io.BytesIO()
        np.save(out, array)
        found.append(out.getvalue())
    return found


def _npz() -> list[bytes]:
    found = [_written(_stack(), "a.npz"), _written(_stack(kind="sparse"), "a.npz")]
    out = io.BytesIO()
    np.savez(out, A=np.eye(3), b=np.ones(2))
    found.append(out.getvalue())
    out = io.BytesIO()
    sparse.save_npz(out, sparse.csr_array(np.eye(4)))
    return [*found, out.getvalue()]


def _mat() -> list[bytes]:
    from scipy.io import savemat

    out = io.BytesIO()
    savemat(out, {"A": sparse.csc_array(np.eye(3)), "names": np.array(["a", "b"], dtype=object)})
    return [_written(_stack(), "a.mat"), _written(_stack(kind="sparse"), "a.mat"), out.getvalue()]


def _hdf5() -> list[bytes]:
    import h5py

    found = []
    for kind in ("dense", "sparse", "cells"):
        out = io.BytesIO()
        with h5py.File(out, "w", userblock_size=512 if kind == "dense" else 0) as file:
            A = np.asarray(_stack(m=2))
            if kind == "dense":
                file["graphs"] = A.T
                file["graphs"].attrs["MATLAB_class"] = np.bytes_(b"double")
            elif kind == "sparse":
                flat = sparse.csc_array(A[0])
                file["S/data"], file["S/ir"], file["S/jc"] = flat.data, flat.indices, flat.indptr
                file["S"].attrs["MATLAB_sparse"] = np.uint64(5)
            else:
                file["one"], file["two"] = A[0], A[1]
                cells = file.create_dataset("cells", (2,), dtype=h5py.ref_dtype)
                cells[0], cells[1] = file["one"].ref, file["two"].ref
                file["text"] = np.frombuffer(b"abc", np.uint8).astype(np.uint16)
                file["text"].attrs["MATLAB_class"] = np.bytes_(b"char")
        found.append(out.getvalue())
    return found


def _each(name: str) -> list[bytes]:
    return [_written(_stack(m=1), name), _written(_stack(n=3, m=1, names=False), name)]


def _parquet() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({"source": [1, 2, 3], "target": [2, 3, 1], "w": [1.0, 2.0, 3.0]}), out)
    return [_written(_stack(), "a.parquet"), _written(_stack(kind="sparse"), "a.parquet"),
            out.getvalue()]  # fmt: skip


def _participants() -> list[bytes]:
    return [
        b"participant_id\tage\tsex\nsub-01\t20.5\tF\nsub-02\tn/a\tM\n",
        b"subject,session,score\na,ses-1,1\na,ses-2,2\nb,ses-1,\n",
        b'id;"group of people"\n001;"x, y"\n002;z\n',
    ]


def _vertices() -> list[bytes]:
    return [
        b"index\tname\tx\ty\tz\themisphere\n1\ta\t0\t1\t2\tL\n2\tb\t1\t2\t3\tR\n3\tc\t0\t0\t0\tL\n",
        b"a\nb\nc\n",
        b"0 Unknown 0 0 0 0\n1 left-a 25 5 25 0\n2 right-a 25 5 25 0\n",
        b"1,a\n2,b\n3,c\n",
    ]


def _manifest() -> list[bytes]:
    return [
        b"path\tid\tage\ngood.csv\tone\t20\nother.csv\ttwo\t30\n",
        b"file,group\ngood.csv,a\n",
        b"# graphs\nid;path\n1;good.csv\n2;other.csv\n",
    ]


def store_files(folder: Path) -> bytes:
    """Return the files of a folder, with their paths in it, as a zip."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return pack({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})


def _store() -> list[bytes]:
    found = []
    for kind, names in (("dense", True), ("sparse", True), ("sparse", False), ("dense", False)):
        with tempfile.TemporaryDirectory() as home:
            stack = _stack(names=names, kind=kind)
            eg.store.write_store(f"{home}/a.egs", [stack])
            found.append(store_files(Path(home) / "a.egs"))
    return found


@cache
def _fitted(**settings: object) -> eg.JointEmbedding:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eg.JointEmbedding(2, random_state=0, **settings).fit(_stack(n=6, m=4))


def _model() -> list[bytes]:
    found = []
    for settings in ({}, {"loadings": "nonnegative"}, {"center": True, "preprocess": ("log1p",)}):
        with tempfile.TemporaryDirectory() as home:
            found.append(_fitted(**settings).save(f"{home}/a.eg").read_bytes())
    return found


def _report() -> list[bytes]:
    from eigengraphs.report import summarize

    stack = _stack(n=6, m=4)
    summary = summarize(
        _fitted(), stack, title="fuzz", columns={"age": [1, 2, 3, 4], "sex": list("abab")}
    )
    return ["".join(summary.json_pieces()).encode()]


def _recipe(kind: str) -> list[bytes]:
    tables: list[dict[str, object]] = [
        {"model": "er", "vertices": 20, "p": 0.2, "graphs": 5},
        {"model": "sbm", "sizes": [4, 6], "graphs": 3, "loops": True,
         "classes": [{"name": "a", "weight": 2, "B": [[0.5, 0.1], [0.1, 0.4]]},
                     {"name": "b", "B": [[0.2, 0.3], [0.3, 0.4]]}]},
        {"model": "mreg", "sizes": [5, 5], "patterns": [[1, 1], [1, -1]], "law": "poisson",
         "loadings": [10.0, {"uniform": [0, 2]}]},
        {"model": "rdpg", "sizes": [3, 3], "positions": [[0.5, 0.1], [0.1, 0.5]]},
        {"model": "mreg", "positions": [[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]], "law": "gaussian",
         "noise_scale": 0.1, "clip": True,
         "loadings": {"points": [[1.0, 2.0], [2.0, 1.0]], "weights": [1, 3]}},
    ]  # fmt: skip
    if kind == "json":
        return [json.dumps(table).encode() for table in tables]
    return [_toml(table).encode() for table in tables]


def _toml(table: dict[str, object]) -> str:
    lines, parts = list[str](), list[str]()
    for key, value in table.items():
        if key == "classes" and isinstance(value, list):
            parts += [f"[[{key}]]\n{_toml(part)}" for part in value]
        elif isinstance(value, dict):
            inner = ", ".join(f"{k} = {json.dumps(v)}" for k, v in value.items())
            lines.append(f"{key} = {{{inner}}}")
        else:
            lines.append(f"{key} = {json.dumps(value)}".replace('{"uniform":', "{uniform ="))
    return "\n".join([*lines, *parts]) + "\n"


def journal_question() -> tuple[str, int]:
    """Return what the journal of the corpus has answers to."""
    return ("a question", 1)


def _journal() -> list[bytes]:
    from eigengraphs.store.fit_journal import FitJournal

    with tempfile.TemporaryDirectory() as home:
        journal = FitJournal(Path(home) / "journal")
        answers = [(np.ones((2, 3)), sparse.csr_array(np.eye(3))), (np.zeros(2), np.float64(1.0))]
        list(journal.each(journal_question(), lambda: iter(answers)))
        return [store_files(Path(home) / "journal")]


SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "matrix": _matrix,
    "edgelist": _edges,
    "gzip": _gzip,
    "npy": _npy,
    "npz": _npz,
    "mat5": _mat,
    "mat73": _hdf5,
    "graphml": lambda: _each("a.graphml"),
    "parquet": _parquet,
    "participants": _participants,
    "vertices": _vertices,
    "manifest": _manifest,
    "store": _store,
    "model": _model,
    "report": _report,
    "recipe-toml": lambda: _recipe("toml"),
    "recipe-json": lambda: _recipe("json"),
    "journal": _journal,
}
