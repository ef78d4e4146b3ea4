"""``transform`` of new files: names come from the model, and regions may be absent."""

import shutil

import numpy as np
import pandas as pd
import pytest
from known_graphs import two_groups

import eigengraphs as eg

N = 20
NAMES = [f"region {s}" for s in range(N)]


def matrices(m):
    return two_groups(m)[0].round(6)


def write_tables(folder, graphs, names=NAMES, start=1):
    folder.mkdir(exist_ok=True)
    for i, A in enumerate(graphs, start):
        pd.DataFrame(A, names, names).to_csv(folder / f"sub-{i:02d}.csv")


def write_lists(folder, graphs, start=1, first=101):
    folder.mkdir(exist_ok=True)
    for i, A in enumerate(graphs, start):
        s, t = np.nonzero(np.triu(A))
        rows = [f"{a + first} {b + first} {A[a, b]:.6f}" for a, b in zip(s, t, strict=True)]
        (folder / f"sub-{i:02d}.ssv").write_text("\n".join(rows) + "\n")


def loadings(path):
    return pd.read_csv(path, sep="\t", index_col="id")[["je1", "je2"]]


@pytest.fixture
def regions(tmp_path):
    path = tmp_path / "regions.tsv"
    rows = [f"{s + 101}\t{name}" for s, name in enumerate(NAMES)]
    path.write_text("\n".join(["index\tname", *rows]) + "\n", encoding="utf-8")
    return path


def test_the_model_keeps_the_table_of_vertices(tmp_path, regions, done, noted, refused):
    A = matrices(8)
    write_lists(tmp_path / "old", A[:6])
    write_lists(tmp_path / "new", A[6:], 7)
    done("fit", "old", "out", "-d", 2, "--vertices", regions)
    assert eg.load("out/model.eg").vertex_names_ == tuple(NAMES)
    done("transform", "out", "new", "with.tsv", "--vertices", regions)
    err = noted("transform", "out", "new", "without.tsv")
    assert (tmp_path / "without.tsv").read_bytes() == (tmp_path / "with.tsv").read_bytes()
    assert "named by the vertex table of the model: 101 is region 0, 102 is region 1" in err
    # A vertex without edges is not in a list, and has no edges.
    bare = A[6:7].copy()
    bare[0, 4] = bare[0, :, 4] = 0.0
    write_lists(tmp_path / "bare", bare, 7)
    err = noted("transform", "out", "bare", "bare.tsv")
    assert "no graph names 1 vertex of the model (region 4); assumed to have no edges" in err
    expected = eg.load("out/model.eg").transform(eg.GraphStack(bare, vertex_names=NAMES))
    assert np.allclose(loadings("bare.tsv"), expected)
    (tmp_path / "bare" / "sub-07.ssv").write_text("101 102 3\n102 999 4\n")
    err = refused("transform", "out", "bare", "no.tsv")
    assert "'999'" in err
    # Matrices without names are in the order of the model, which is said.
    (tmp_path / "plain").mkdir()
    for i in (7, 8):
        np.savetxt(tmp_path / "plain" / f"sub-{i:02d}.csv", A[i - 1], delimiter=",")
    err = noted("transform", "out", "plain", "plain.tsv")
    assert "the order of the model is assumed" in err
    assert np.allclose(loadings("plain.tsv"), loadings("with.tsv"))


@pytest.mark.parametrize("first", [0, 1])
def test_the_model_keeps_how_edge_lists_were_numbered(tmp_path, first, done, noted, refused):
    A = matrices(7)
    write_lists(tmp_path / "old", A[:6], first=first)
    rows = ["name\tlobe", *(f"{name}\tx" for name in NAMES)]
    (tmp_path / "names.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done("fit", "old", "out", "-d", 2, "--vertices", "names.tsv")
    bare = A[6:].copy()
    gone = 0 if first == 0 else N - 1
    bare[0, gone] = bare[0, :, gone] = 0.0
    write_lists(tmp_path / "bare", bare, 7, first)  # 1 to 19, which alone could be either
    err = noted("transform", "out", "bare", "bare.tsv")
    assert f"no graph names 1 vertex of the model (region {gone})" in err
    expected = eg.load("out/model.eg").transform(eg.GraphStack(bare, vertex_names=NAMES))
    assert np.allclose(loadings("bare.tsv"), expected)
    # Without the training graphs it cannot be told.
    err = refused("check", "bare", "--vertices", "names.tsv")
    assert "give the vertex table a column 'index'" in err
    # Lists that are numbered otherwise are refused, or read by the table.
    write_lists(tmp_path / "other", A[6:], 7, 1 - first)
    err = refused("transform", "out", "other", "other.tsv")
    assert f"seem to begin at {1 - first} instead of {first}" in err
    done("transform", "out", "other", "other.tsv", "--vertices", "names.tsv")
    assert np.allclose(loadings("other.tsv"), eg.load("out/model.eg").transform(A[6:]))


def test_lists_numbered_otherwise_than_the_model_are_told_so(tmp_path, done, refused):
    A = matrices(7)
    write_lists(tmp_path / "old", A[:6], first=1)
    write_lists(tmp_path / "new", A[6:], 7, first=0)
    done("fit", "old", "out", "-d", 2)
    err = refused("transform", "out", "new", "no.tsv")
    assert "other vertices than the 20 of the training graphs; they lack '20'" in err
    assert "only they have '0'; the numbers seem to begin at 0 instead of 1: add 1 to each" in err
    (tmp_path / "new" / "sub-07.ssv").write_text("1 2 3\n2 x 4\n")
    err = refused("transform", "out", "new", "no.tsv")
    assert "have 3 vertices, expected 20" in err
    assert "leave these out of the files" in err
    assert "select_vertices" not in err


def test_a_resealed_table_of_vertices_is_refused(tmp_path, regions, done):
    write_lists(tmp_path / "old", matrices(4))
    done("fit", "old", "out", "-d", 1, "--vertices", regions, "--no-halves")
    je = eg.load("out/model.eg")
    for wrong in (
        3,
        {"names": ("a",), "ids": None},
        {"names": ("a", "a"), "ids": None, "colours": False},
        {"names": ("a",), "ids": ("1", "2"), "colours": False},
        {"names": ("a",), "ids": (1,), "colours": False},
    ):
        je._vertex_table = wrong
        with pytest.raises(eg.errors.InputError, match="_vertex_table is not what a fit has"):
            eg.load(je.save("wrong.eg"))


def test_a_subject_that_lacks_regions_is_projected_on_the_others(tmp_path, done, noted, refused):
    A = matrices(10)
    write_tables(tmp_path / "old", A[:8])
    done("fit", "old", "out", "-d", 2)
    write_tables(tmp_path / "new", A[8:], start=9)
    done("transform", "out", "new", "whole.tsv")
    keep = [s for s in range(N) if s not in (3, 11)]
    write_tables(tmp_path / "one", A[9:, keep][:, :, keep], [NAMES[s] for s in keep], 10)
    err = refused("transform", "out", "one", "no.tsv")
    assert "they lack 'region 3', 'region 11': pass --allow-missing" in err
    assert not (tmp_path / "no.tsv").exists()
    # Alone, and beside a subject that has all regions.
    err = noted("transform", "out", "one", "alone.tsv", "--allow-missing")
    assert "2 vertices are missing in all graphs (sub-10) and hidden: region 3, region 11" in err
    assert "order of the vertices" not in err
    shutil.copy(tmp_path / "new" / "sub-09.csv", tmp_path / "one" / "sub-11.csv")
    err = noted("transform", "out", "one", "first.tsv", "--allow-missing")
    assert "order of the vertices" not in err
    (tmp_path / "one" / "sub-10.csv").rename(tmp_path / "new" / "sub-10.csv")
    err = noted("transform", "out", "new", "both.tsv", "--allow-missing")
    assert "its entries are hidden" in err
    assert "in 1 graph: sub-10 (76); 2 vertices are missing altogether in some graphs: reg" in err
    assert "no edges" not in err
    assert "order of the vertices" not in err
    whole, both = loadings("whole.tsv"), loadings("both.tsv")
    assert np.allclose(both.loc["sub-09"], whole.loc["sub-09"])
    assert np.allclose(both.loc["sub-10"], loadings("alone.tsv").loc["sub-10"])
    je, graph = eg.load("out/model.eg"), pd.DataFrame(A[9], NAMES, NAMES).iloc[keep, keep]
    assert np.allclose(both.loc["sub-10"], je.transform([graph], missing="unobserved"))
    # The other regions tell nearly the same; zeros for absent ones do not.
    zeros = A[9].copy()
    zeros[[3, 11]] = zeros[:, [3, 11]] = 0.0
    off = np.abs(je.transform([zeros])[0] - whole.loc["sub-10"]).max()
    assert np.abs(both.loc["sub-10"] - whole.loc["sub-10"]).max() < 0.3 * off


def test_vertices_in_another_order_are_aligned_and_it_is_said(tmp_path, done, noted, run):
    A = matrices(8)
    write_tables(tmp_path / "old", A[:6])
    done("fit", "old", "out", "-d", 2)
    done("transform", "out", "old", "again.tsv")
    assert np.allclose(loadings("again.tsv"), loadings("out/loadings.tsv"), rtol=1e-6)
    write_tables(tmp_path / "new", A[6:], start=7)
    _, _, err = run("transform", "out", "new", "same.tsv")
    assert "order" not in err
    write_tables(tmp_path / "new", A[6:, ::-1, ::-1], NAMES[::-1], 7)
    err = noted("transform", "out", "new", "turned.tsv")
    assert "note: the order of the vertices differs from that of the model; aligned by name" in err
    assert np.allclose(loadings("turned.tsv"), loadings("same.tsv"))


def test_check_counts_what_is_hidden(tmp_path, noted, refused, told):
    A = matrices(4)
    write_tables(tmp_path / "in", A)
    keep = [s for s in range(N) if s not in (3, 11)]
    write_tables(tmp_path / "in", A[1:2, keep][:, :, keep], [NAMES[s] for s in keep], 2)
    err = refused("check", "in", "--align", "union")
    assert "sub-02.csv is a matrix that lacks 2 of the 20 vertices" in err
    assert "pass --allow-missing to hide them there, or --align intersection" in err
    err = noted("check", "in", "--align", "union", "--allow-missing")
    assert "76 of 1600 entries (4.75%) are missing and not used, in 1 graph: sub-02 (76)" in err
    assert "2 vertices are missing altogether in some graphs: region 3 (in 1), region 11" in err
    assert "no edges" not in err
    last = told("check", "in", "--align", "union", "--allow-missing")
    assert last["hidden"] == 76
    assert [row["isolated"] for row in last["quality"]] == [0, 0, 0, 0]
    assert "2 of 20 vertices are missing" in last["quality"][1]["messages"]
    assert not any("missing" in text for text in last["quality"][0]["messages"])
