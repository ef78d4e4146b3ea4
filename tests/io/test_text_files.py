"""Matrices and edge lists in all the ways that programs write them."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import eigengraphs as eg
from eigengraphs.errors import ReadError, ReadNotice

A = np.array([[0, 1.5, 2, 0], [1.5, 0, 0, 3], [2, 0, 0, 4], [0, 3, 4, 0]])
NAMES = ("north", "east", "south west", "z")
EDGES = "a b 1.5\na c 2\nb d 3\nc d 4\n"


def read_text(folder, text, name="graph.csv", **settings):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return eg.read(path, **settings)


def rows(delimiter=",", matrix=A):
    return [delimiter.join(map(str, row)) for row in matrix]


def lines(matrix, delimiter=","):
    return "\n".join(rows(delimiter, matrix))


# --------------------------------------------------------------------------- matrices


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "  ", ", ", " \t "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_delimiters_and_line_ends_are_found(tmp_path, delimiter, end):
    text = end.join(rows(delimiter)) + end
    np.testing.assert_array_equal(read_text(tmp_path, text).dense[0], A)


COMMENTED = "\ufeff# of a program\n% and another\n" + lines(A, " ") + "\n# the end\n"


@pytest.mark.parametrize(
    "text",
    [
        COMMENTED,
        COMMENTED.encode("utf-16"),
        "\n".join(row + "," for row in rows()),  # a delimiter at the end of every line
        "V1,V2,weight,length\na,b,1.5,7\na,c,2,7\nb,d,3,8\nc,d,4,8\n",
        "id,weight,target,source\n1,1.5,b,a\n2,2,c,a\n3,3,d,b\n4,4,d,c\n",
        EDGES + "b a 1.5\nc a 2\nd b 3\nd c 4\n",  # both directions are not doubled
        *(f"{header}\n{EDGES}".replace(" ", ",") for header in
          ("source target weight", "from to w", "i j value", "Node1 Node2 Count", "x y z")),
    ],
)  # fmt: skip
def test_one_graph_written_in_many_ways(tmp_path, text):
    np.testing.assert_array_equal(read_text(tmp_path, text).dense[0], A)


FRAME = pd.DataFrame(A, index=list(NAMES), columns=list(NAMES))
NUMBERED = pd.DataFrame(A, index=[3, 4, 7, 9], columns=[3, 4, 7, 9])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (FRAME.to_csv(), NAMES),
        (FRAME.to_csv(sep="\t"), NAMES),
        (FRAME.to_csv(index_label="vertex", quoting=1), NAMES),
        (FRAME.to_csv(index=False), NAMES),
        (FRAME.to_csv(header=False), NAMES),
        (FRAME.to_csv(sep=" ").replace('""', "", 1).lstrip(), NAMES),  # as R's write.table does
        (pd.DataFrame(A).to_csv(), ("0", "1", "2", "3")),
        (pd.DataFrame(A, columns=list(NAMES)).to_csv(), NAMES),  # numbered rows
    ],
)
def test_names_on_both_sides_or_on_one(tmp_path, text, names):
    stack = read_text(tmp_path, text)
    np.testing.assert_array_equal(stack.dense[0], A)
    assert stack.vertex_names == names


def half(blank):
    """One triangle, with something else below it."""
    return "\n".join(
        ",".join(str(A[s, t]) if s <= t else blank for t in range(4)) for s in range(4)
    )


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        (NUMBERED.to_csv(index=False), "running numbers, taken as vertex names"),
        (NUMBERED.to_csv(header=False), "running numbers, taken as vertex names"),
        # Lines that get longer or shorter.
        ("\n".join(",".join(map(str, A[s, : s + 1])) for s in range(4)), "triangle; mirrored"),
        ("\n".join(",".join(map(str, A[s, s:])) for s in range(4)), "triangle; mirrored"),
        *((half(blank), "holds one triangle; mirrored") for blank in ("nan", "", "NA", "0")),
        (lines(A + np.diag([np.nan] * 4)), "on the whole diagonal"),
        (lines(A + np.diag([np.inf] * 4)), "on the whole diagonal"),
        (EDGES.replace("b d", "d b"), "in varying order"),
        (EDGES.replace("b d 3", "b d 1\nb d 2"), "more than once; their weights were added"),
    ],
)
def test_what_was_done_to_a_graph_is_said(tmp_path, text, notice):
    with pytest.warns(ReadNotice, match=notice):
        np.testing.assert_array_equal(read_text(tmp_path, text).dense[0], A)


def test_what_was_asked_for_is_not_done_otherwise(tmp_path):
    for blank in ("nan", "", "0"):
        stack = read_text(tmp_path, half(blank), directed=True)
        np.testing.assert_array_equal(stack.dense[0], np.triu(A))
    unknown = lines(A + np.diag([np.nan] * 4))
    assert read_text(tmp_path, unknown, missing="unobserved").n_hidden == 4
    stack = read_text(tmp_path, EDGES.replace("b d", "d b"), directed=True)
    assert (stack.dense[0][3, 1], stack.dense[0][1, 3]) == (3, 0)


def test_windows_text_is_read_and_said(tmp_path):
    text = "x,Br\xfccke,b\nBr\xfccke,0,1\nb,1,0\n".encode("cp1252")
    with pytest.warns(ReadNotice, match="is not in UTF-8"):
        assert read_text(tmp_path, text).vertex_names == ("Br\xfccke", "b")


@pytest.mark.parametrize("prefix", ["V", "node", "region", "X"])
@pytest.mark.parametrize("index", ["numbered", "none"])
@pytest.mark.parametrize("n", [4, 12])
def test_matrices_as_r_writes_them_are_no_edge_lists(tmp_path, prefix, index, n):
    B = np.triu(np.arange(n * n, dtype=float).reshape(n, n), 1)
    B += B.T
    names = [f"{prefix}{t + 1}" for t in range(n)]
    frame = pd.DataFrame(B, index=range(1, n + 1), columns=names)
    stack = read_text(tmp_path, frame.to_csv(index=index == "numbered", quoting=2))
    np.testing.assert_array_equal(stack.dense[0], B)
    assert stack.vertex_names == tuple(names)


def test_decimal_commas_between_semicolons_are_points(tmp_path):
    text = "\ufeff;links, vorn;b;c\r\nlinks, vorn;0;1,5;2\r\nb;1,5;0;3e-1\r\nc;2;3e-1;0\r\n"
    with pytest.warns(ReadNotice, match="graph.csv has decimal commas, read as points"):
        stack = read_text(tmp_path, text)
    assert stack.vertex_names == ("links, vorn", "b", "c")
    np.testing.assert_array_equal(stack.dense[0], [[0, 1.5, 2], [1.5, 0, 0.3], [2, 0.3, 0]])


def test_weights_that_differ_by_direction_make_directed_graphs(tmp_path):
    B = A.copy()
    B[0, 1] = 9
    np.savetxt(tmp_path / "a.txt", B)
    np.savetxt(tmp_path / "b.txt", np.triu(A))
    said = []
    stack = eg.read(tmp_path, on_notice=lambda notice: said.append(str(notice)))
    assert any("b.txt holds one triangle; left as it is" in one for one in said)
    assert any("a.txt is not symmetric: some weights differ by direction" in one for one in said)
    np.testing.assert_array_equal(stack.dense, [B, np.triu(A)])
    with pytest.raises(
        ReadError, match=r"a.txt: the weight from '1' to '2' is 9 and the reverse 1.5"
    ):
        eg.read(tmp_path, directed=False)
    B[0, 1] = A[0, 1] + 1e-7  # rounding is no direction
    with pytest.warns(ReadNotice, match="symmetric up to rounding"):
        assert not read_text(tmp_path, lines(B)).is_directed


# --------------------------------------------------------------------------- edge lists


@pytest.mark.parametrize("name", ["g.edgelist", "g.ssv", "g.txt", "g.csv", "g.tsv"])
@pytest.mark.parametrize("delimiter", [" ", ",", "\t", ";"])
def test_edge_lists_of_names(tmp_path, name, delimiter):
    stack = read_text(tmp_path, EDGES.replace(" ", delimiter), name)
    assert stack.vertex_names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(stack.dense[0], A)


def test_numbers_are_sorted_as_numbers_and_stay_names(tmp_path):
    stack = read_text(tmp_path, "10 9 1\n9 2 1\n2 100 1\n9 100 2\n", "g.ssv", directed=False)
    assert stack.vertex_names == ("2", "9", "10", "100")
    padded = read_text(tmp_path, "010 009\n009 002\n002 010\n010 011\n", directed=False)
    assert padded.vertex_names == ("002", "009", "010", "011")
    floats = read_text(tmp_path, "1.0,2.0,5\n1.0,3.0,6\n2.0,3.0,7\n2.0,4.0,1\n")
    assert floats.vertex_names == ("1", "2", "3", "4")


@pytest.mark.parametrize("data", [True, ["weight"], False])
def test_edge_lists_of_networkx(tmp_path, data):
    graph = nx.from_numpy_array(A)
    graph.edges[0, 1]["color"] = "red, green"
    nx.write_edgelist(graph, tmp_path / "g.edgelist", data=data)
    stack = eg.read(tmp_path / "g.edgelist")
    np.testing.assert_array_equal(stack.dense[0], A if data else A > 0)


def test_edges_in_both_directions_with_other_weights_are_directed_and_loops_count_once(tmp_path):
    stack = read_text(tmp_path, EDGES + "b a 7\na a 5\n")
    assert stack.is_directed
    assert stack.dense[0][0, :2].tolist() == [5, 1.5]
    assert stack.dense[0][:, 0].tolist() == [5, 7, 0, 0]


def test_edge_lists_are_put_on_the_union_of_their_vertices(tmp_path):
    (tmp_path / "1.ssv").write_text("1 2 1\n2 10 3\n")
    (tmp_path / "2.ssv").write_text("3 10 1\n1 2 4\n")
    message = r"1 of 2 graphs names only some of the 4 vertices \(3 of them\).*has no edges there"
    with pytest.warns(ReadNotice, match=message):
        stack = eg.read(tmp_path)
    assert stack.vertex_names == ("1", "2", "3", "10")
    assert stack.dense[1][2, 3] == 1
    assert not stack.dense[0][2].any()
    arcs = eg.read(tmp_path, directed=True, on_notice=lambda _: None).dense[0]
    assert (arcs[1, 3], arcs[3, 1]) == (3, 0)
    with pytest.raises(ReadError, match=r"2.ssv .*only it has '3'"):
        eg.read(tmp_path, vertices="strict")
    assert eg.read(tmp_path, vertices="intersection").vertex_names == ("1", "2", "10")
    with pytest.warns(ReadNotice, match="only some"):
        # A vertex that an edge list does not name is there, and has no edges.
        assert eg.read(tmp_path, missing="unobserved").n_hidden == 0


# --------------------------------------------------------------------------- which is which


@pytest.mark.parametrize(
    ("text", "vertices", "kind"),
    [
        ("0 1 2\n1 0 3\n2 3 0\n", 3, "matrix"),
        ("1 2 5\n1 3 2\n2 3 4\n", 3, "edge list"),
        ("0 1\n1 0\n", 2, "matrix"),
        ("1 2\n3 4\n", 4, "edge list"),
        ("0 1 2\n0 0 3\n0 0 0\n", 3, "matrix"),
    ],
)
@pytest.mark.parametrize("to_store", [False, True])
def test_small_tables_are_decided_and_said(tmp_path, text, vertices, kind, to_store):
    path = tmp_path / "g.txt"
    path.write_text(text)
    reading = eg.io.read_files(path)
    said = reading.notices
    if to_store:
        said = eg.io.convert_to_store(path, tmp_path / "g.egs").notices
    assert reading.stack.n_vertices == vertices
    assert reading.files[0].format == kind
    assert any(notice.kind == "ambiguous" and notice.loud for notice in said)
    other = {"matrix": "edgelist", "edge list": "matrix"}[kind]
    assert eg.io.read_files(path, format=other).files[0].format != kind


def test_a_small_table_among_edge_lists_is_refused_unless_it_is_said_to_be_one(tmp_path):
    (tmp_path / "a.txt").write_text("0 1 2\n1 2 3\n2 3 0\n")  # a matrix by itself
    (tmp_path / "b.txt").write_text("0 1 2\n1 2 3\n2 3 0\n0 3 5\n")
    with pytest.raises(ReadError, match=r"several kinds.*format='edgelist'"):
        eg.read(tmp_path)
    assert eg.read(tmp_path, format="edgelist").n_vertices == 4


@pytest.mark.parametrize(
    ("text", "shape"),
    [(",a,b\na,0,1\nb,1,0\n", 2), ("a,b,c\n0,1,2\n1,0,3\n2,3,0\n", 3), ("i,j\n0,1\n1,0\n", 2)],
)
def test_small_matrices_with_names(tmp_path, text, shape):
    assert read_text(tmp_path, text, format="auto").n_vertices == shape
