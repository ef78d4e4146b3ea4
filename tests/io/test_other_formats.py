"""GraphML, NumPy, MATLAB 7.3 and Parquet as other programs write them."""

import gzip
import struct
from pathlib import Path

import h5py
import igraph
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
from scipy import sparse
from scipy.io import loadmat, savemat
from tests.test_extras import run
from tools.build_attacks import element, mat_file, matlab, packed

import eigengraphs as eg
from eigengraphs.errors import ReadError, ReadNotice
from eigengraphs.io.matlab_files import version_5
from eigengraphs.system.limits import DEFAULT


def graph(n=6, seed=0):
    A = np.triu(np.random.default_rng(seed).poisson(1, (n, n)), 1).astype(float)
    return A + A.T


A = graph()


# --------------------------------------------------------------------------- networkx


@pytest.mark.parametrize("program", ["networkx", "igraph"])
def test_graphml(tmp_path, program):
    if program == "networkx":
        made = nx.relabel_nodes(nx.from_numpy_array(A), {s: f"v{s}" for s in range(6)})
        nx.write_graphml(made, tmp_path / "g.graphml")
    else:
        made = igraph.Graph.Weighted_Adjacency(A, mode="undirected")
        made.vs["name"] = [f"v{s}" for s in range(6)]
        made.save(str(tmp_path / "g.graphml"))
    stack = eg.read(tmp_path / "g.graphml")
    assert stack.vertex_names == tuple(f"v{s}" for s in range(6))
    np.testing.assert_array_equal(stack.dense[0], A)


def test_attributes_of_edges_are_chosen_or_asked_for(tmp_path):
    made = nx.from_numpy_array(A, edge_attr="number_of_fibers")
    nx.set_node_attributes(made, {s: f"region {s}" for s in made}, "dn_name")
    path = tmp_path / "g.graphml"
    nx.write_graphml(made, path)
    with pytest.warns(ReadNotice, match="no edge attribute 'weight'.*number_of_fibers"):
        stack = eg.read(path)
    assert stack.vertex_names[2] == "region 2"
    np.testing.assert_array_equal(stack.dense[0], A)
    nx.set_edge_attributes(made, 0.5, "fa")
    nx.write_graphml(made, path)
    with pytest.raises(ReadError, match=r"g.graphml: .*number_of_fibers, fa; choose one with key="):
        eg.read(path)
    assert eg.read(path, key="fa").dense.max() == 0.5
    with pytest.raises(ReadError, match="no edge has a number called 'md'"):
        eg.read(path, key="md")


def test_declared_vertices_that_differ_are_refused(tmp_path):
    nx.write_graphml(nx.path_graph(["a", "b", "c"]), tmp_path / "1.graphml")
    nx.write_graphml(nx.path_graph(["a", "b", "d"]), tmp_path / "2.graphml")
    with pytest.raises(ReadError, match=r"2.graphml .*it lacks 'c'; only it has 'd'"):
        eg.read(tmp_path)
    with pytest.warns(ReadNotice, match="only some of the 4"):
        assert eg.read(tmp_path, vertices="union", missing="unobserved").n_hidden == 14


# --------------------------------------------------------------------------- NumPy


def test_arrays_of_numpy(tmp_path):
    graphs = np.array([A, 2 * A, 3 * A])
    np.save(tmp_path / "one.npy", A)
    np.save(tmp_path / "first.npy", graphs)
    np.save(tmp_path / "last.npy", np.moveaxis(graphs, 0, -1))
    np.savez(tmp_path / "named.npz", connectomes=graphs, ages=np.arange(3))
    np.savez(tmp_path / "ours.npz", graphs=np.asfortranarray(graphs), graph_names=list("abc"))
    np.testing.assert_array_equal(eg.read(tmp_path / "one.npy").dense, [A])
    assert eg.read(tmp_path / "ours.npz").graph_names == ("a", "b", "c")
    for name in ("first.npy", "last.npy", "named.npz", "ours.npz"):
        np.testing.assert_array_equal(eg.read(tmp_path / name).dense, graphs)
    np.savez(tmp_path / "two.npz", sc=A, fc=A)
    with pytest.raises(ReadError, match=r"two.npz holds 2 matrices.*'sc' \(6 x 6\)"):
        eg.read(tmp_path / "two.npz")
    assert eg.read(tmp_path / "two.npz", key="all").graph_names == ("sc", "fc")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_matrices_of_scipy(tmp_path, kind):
    for i in range(3):
        sparse.save_npz(tmp_path / f"s{i}.npz", sparse.coo_array(A * (i + 1)).asformat(kind))
    stack = eg.read(tmp_path)
    assert stack.is_sparse
    np.testing.assert_array_equal(stack.to_dense().dense, [A, 2 * A, 3 * A])


def test_text_may_be_packed(tmp_path):
    text = "\n".join(",".join(map(str, row)) for row in A)
    parts = [gzip.compress(part.encode()) for part in (text[:9], "", text[9:])]
    (tmp_path / "sub-1_conmat.csv.gz").write_bytes(b"".join(parts))
    stack = eg.read(tmp_path)
    np.testing.assert_array_equal(stack.dense[0], A)
    assert stack.graph_names == ("sub-1",)


# --------------------------------------------------------------------------- MATLAB


def test_cells_and_sparse_matrices_of_matlab(tmp_path):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = A, 2 * A
    savemat(tmp_path / "cells.mat", {"networks": cells})
    np.testing.assert_array_equal(eg.read(tmp_path / "cells.mat").dense, [A, 2 * A])
    savemat(tmp_path / "sparse.mat", {"G": sparse.csc_array(A)})
    np.testing.assert_array_equal(eg.read(tmp_path / "sparse.mat").to_dense().dense, [A])
    savemat(tmp_path / "none.mat", {"age": np.arange(5), "name": "x"})
    with pytest.raises(
        ReadError, match=r"none.mat holds no square matrix; it has: 'age' \(1 x 5\)"
    ):
        eg.read(tmp_path / "none.mat")


def plain(value):
    """A variable of MATLAB as lists, which can be compared; structs and complex numbers alike."""
    if value.dtype.kind in "Vc":
        return value.shape
    if sparse.issparse(value):
        return value.shape, str(value.dtype), value.toarray().tolist()
    if value.dtype == object:
        return value.shape, [plain(cell) for cell in value.flat]
    return value.shape, str(value.dtype), np.nan_to_num(value).tolist() if value.size else ""


# As MATLAB wrote them, of several versions; version 4 has a zero among its first bytes.
DATA = Path(scipy.io.matlab.__file__).parent / "tests" / "data"
OWN = [path for path in DATA.glob("*.mat") if 0 not in path.read_bytes()[:4]]
# Damaged; without letters, where scipy has no text at all; a struct that is not there.
ODD = ("bad", "corrupt", "malformed", "empty", "zero_char", "hdf5", "7.4_GLNX86_73", "v7.3")


@pytest.mark.parametrize("path", [path for path in OWN if not any(x in path.name for x in ODD)])
def test_version_5_is_read_as_scipy_reads_it(path):
    theirs = {name: x for name, x in loadmat(path).items() if not name.startswith("__")}
    ours = version_5(path, path.read_bytes(), DEFAULT)
    assert {name: plain(x) for name, x in ours.items()} == {
        name: plain(x) for name, x in theirs.items() if name in ours
    }


def test_names_of_matlab_beyond_ascii_and_a_file_that_is_cut_off(tmp_path):
    """MATLAB writes units of UTF-16, of which scipy keeps the lower half."""
    letters = [matlab(4, (1, len(x)), element(4, x.encode("utf-16-le"))) for x in ("Łódź", "Süd")]
    numbers = element(9, np.array([0, 1, 1, 0.0]).tobytes())
    (tmp_path / "a.mat").write_bytes(
        mat_file(matlab(6, (2, 2), numbers, b"Z"), matlab(1, (1, 2), b"".join(letters), b"names"))
    )
    assert eg.read(tmp_path / "a.mat").vertex_names == ("Łódź", "Süd")
    small = packed(matlab(6, (2, 2), numbers))[8:-4]  # without its checksum
    (tmp_path / "a.mat").write_bytes(mat_file(struct.pack("<II", 15, len(small)) + small))
    with pytest.raises(ReadError, match=r"a\.mat is not a MATLAB file.*compressed.* is cut off"):
        eg.read(tmp_path / "a.mat")


def write_73(path, **arrays):
    """Write what MATLAB's save -v7.3 does: HDF5 behind 512 bytes, axes turned around."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            if sparse.issparse(array):
                group = file.create_group(name)
                group.attrs["MATLAB_sparse"] = np.uint64(array.shape[0])
                group["data"], group["ir"] = array.data, array.indices.astype(np.uint64)
                group["jc"] = array.indptr.astype(np.uint64)
            else:
                file[name] = np.asarray(array).T
                file[name].attrs["MATLAB_class"] = np.bytes_(b"double")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + b" " * 10 + b"IM")


def test_version_73(tmp_path):
    B = A.copy()
    B[0, 1] = 9  # directed: it shows whether axes are right
    graphs = np.stack([B, 2 * B], axis=-1)
    write_73(tmp_path / "one.mat", CIJ=B, age=31.0)
    np.testing.assert_array_equal(eg.read(tmp_path / "one.mat").dense, [B])
    write_73(tmp_path / "many.mat", CIJ=graphs)
    np.testing.assert_array_equal(eg.read(tmp_path / "many.mat").dense, [B, 2 * B])
    write_73(tmp_path / "sparse.mat", CIJ=sparse.csc_array(B))
    np.testing.assert_array_equal(eg.read(tmp_path / "sparse.mat").to_dense().dense, [B])
    write_73(tmp_path / "two.mat", sc=A, fc=A)
    with pytest.raises(ReadError, match=r"two.mat holds 2 matrices.*'fc' \(6 x 6\)"):
        eg.read(tmp_path / "two.mat")


def test_version_73_text_and_attributes_of_no_fixed_length(tmp_path):
    write_73(tmp_path / "text.mat", CIJ=A, graphs=A, graph_names=np.array([0x53, 0xD83D, 0xDE00]))
    with h5py.File(tmp_path / "text.mat", "r+") as file:
        names = file["graph_names"][:].astype(np.uint16)
        del file["graph_names"]
        file["graph_names"] = names
        file["graph_names"].attrs["MATLAB_class"] = np.bytes_(b"char")
        # Such as Python programs write, not MATLAB: not read, as a damaged heap never ends.
        file["CIJ"].attrs["MATLAB_class"] = "double"
        file.create_dataset("notes", data=["a", "b"], dtype=h5py.string_dtype())
    read = eg.read(tmp_path / "text.mat")
    np.testing.assert_array_equal(read.dense, [A])
    assert read.graph_names == ("S\N{GRINNING FACE}",)  # one of two units in UTF-16
    with pytest.raises(ReadError, match="has no array 'notes'"):
        eg.read(tmp_path / "text.mat", key="notes")


# --------------------------------------------------------------------------- Parquet


def test_tables_of_edges(tmp_path):
    s, t = np.nonzero(np.triu(A))
    columns = {
        "graph": ["sub-10"] * len(s) + ["sub-9"] * len(s),
        "source": np.tile(s + 1, 2),
        "target": np.tile(t + 1, 2),
        "weight": np.r_[A[s, t], 2 * A[s, t]],
    }
    pq.write_table(pa.table(columns), tmp_path / "edges.parquet")
    stack = eg.read(tmp_path / "edges.parquet")
    assert stack.graph_names == ("sub-9", "sub-10")
    np.testing.assert_array_equal(stack.dense, [2 * A, A])
    assert stack.vertex_names == tuple("123456")
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "none.parquet")
    with pytest.raises(ReadError, match=r"columns source and target.*it has: 'a', 'b'"):
        eg.read(tmp_path / "none.parquet")
    pq.write_table(
        pa.table({"source": ["a", None], "target": ["b", "c"]}), tmp_path / "gap.parquet"
    )
    with pytest.raises(ReadError, match=r"gap.parquet: column 'source' is empty in row 2"):
        eg.read(tmp_path / "gap.parquet")


# --------------------------------------------------------------------------- extras

_READ = """
import eigengraphs as eg
for path in {}:
    try:
        print(eg.read(path).n_graphs)
    except eg.errors.MissingExtraError as error:
        print(error)
"""


def test_a_missing_extra_is_named_and_the_others_work(tmp_path):
    np.savetxt(tmp_path / "a.txt", A)
    np.save(tmp_path / "b.npy", A)
    savemat(tmp_path / "c.mat", {"A": A})
    nx.write_graphml(nx.path_graph(3), tmp_path / "d.graphml")
    write_73(tmp_path / "e.mat", A=A)
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), tmp_path / "f.parquet")
    done = run(_READ.format(sorted(map(str, tmp_path.iterdir()))))
    *plain, graphml, mat, parquet = done.stdout.splitlines()
    assert plain == ["1", "1", "1"], done.stderr
    for said, package in ((graphml, "networkx"), (mat, "h5py"), (parquet, "pyarrow")):
        assert f"needs the package '{package}'" in said
        assert "pip install 'eigengraphs[io]'" in said
