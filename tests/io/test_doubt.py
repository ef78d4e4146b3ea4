"""Files that could be read in two ways, or lose something: read exactly, or refused with words."""

import unicodedata
import warnings
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io

import eigengraphs as eg
from eigengraphs.errors import InputError, ReadError, ReadNotice


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def quietly(source, **options):
    """Return a reading without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadNotice)
        return eg.read(source, **options)


# --------------------------------------------------------------------------- numbers from 0 and 1


def numbered(folder, firsts, n=70, density=0.3, seed=0, drop=()):
    """Write one random edge list per number that its vertices begin with."""
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    for i, first in enumerate(firsts):
        A = np.triu(rng.random((n, n)) < density, 1)
        A[list(drop)] = A[:, list(drop)] = False
        rows = [f"{s + first} {t + first} {rng.integers(1, 9)}" for s, t in np.argwhere(A)]
        write(folder / f"s{i}.edgelist", "\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize(
    ("firsts", "odd", "ranges"),
    [
        ((1, 1, 0, 1, 1, 1), "s2", ("0 to 69", "1 to 70")),
        ((0, 0, 0, 0, 1), "s4", ("1 to 70", "0 to 69")),
        ((1001, 1001, 1001, 1000), "s3", ("1000 to 1069", "1001 to 1070")),
    ],
)
@pytest.mark.parametrize("vertices", ["auto", "intersection", "strict"])
def test_a_list_numbered_from_zero_among_lists_from_one(tmp_path, firsts, odd, ranges, vertices):
    folder = numbered(tmp_path / "in", firsts)
    for read in (eg.read, partial(eg.io.convert_to_store, target=tmp_path / "out.egs")):
        with pytest.raises(ReadError, match=rf"{odd}\.edgelist.*{ranges[0]}.*{ranges[1]}"):
            read(folder, vertices=vertices)
    assert quietly(folder, vertices="union").n_vertices == 71


@pytest.mark.parametrize("table", ["index\tname\n", ""])
def test_with_a_table_of_vertices_the_odd_list_is_named(tmp_path, table):
    folder = numbered(tmp_path / "in", (1, 1, 1, 0, 1))
    rows = [f"{s + 1}\tr{s}" if table else f"r{s}" for s in range(70)]
    labels = write(tmp_path / "v.tsv", table + "\n".join(rows) + "\n")
    with pytest.raises(ReadError, match=r"s3\.edgelist") as error:
        eg.read(folder, labels=labels)
    assert "s0.edgelist" not in str(error.value)
    # A table that knows all numbers decides.
    all_rows = [f"{s}\tr{s}" if table else f"r{s}" for s in range(71)]
    write(labels, table + "\n".join(all_rows) + "\n")
    assert quietly(folder, labels=labels).n_vertices == 71


def test_a_graph_of_a_parquet_table_that_is_numbered_from_zero(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    rows = [
        {"graph": f"g{i}", "source": s + first, "target": t + first}
        for i, first in enumerate((1, 1, 0, 1))
        for s, t in np.argwhere(np.triu(rng.random((40, 40)) < 0.4, 1)).tolist()
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "all.parquet")
    with pytest.raises(ReadError, match=r"g2.*0 to 39.*1 to 40"):
        eg.read(tmp_path / "all.parquet")


def test_first_and_last_vertices_without_edges_are_read(tmp_path):
    # Too few numbers to tell.
    write(tmp_path / "a.edgelist", "0 1\n1 2\n")
    write(tmp_path / "b.edgelist", "1 2\n2 3\n")
    assert quietly(f"{tmp_path}/*.edgelist").n_vertices == 4
    # One file has both ends: the vertices are 0 to 70.
    folder = numbered(tmp_path / "both", (1, 1, 0, 1))
    write(folder / "s9.edgelist", "0 70\n")
    assert quietly(folder).n_vertices == 71
    # The ends have no edges in some files, and so have others.
    for seed in range(20):
        folder = numbered(tmp_path / f"sparse{seed}", (0, 0, 0, 0), n=40, density=0.05, seed=seed)
        assert quietly(folder).n_vertices <= 40
    # Files that lack the same end are alike.
    folder = numbered(tmp_path / "same", (0, 0, 0), drop=[0])
    assert quietly(folder).n_vertices == 69


# --------------------------------------------------------------------------- commas

AMBIGUOUS = "0;12,438;1,500\n12,438;0;2,250\n1,500;2,250;0\n"
POINTS = [[0, 12.438, 1.5], [12.438, 0, 2.25], [1.5, 2.25, 0]]


@pytest.mark.parametrize("text", [AMBIGUOUS, AMBIGUOUS.replace(";", "\t"),
                                  AMBIGUOUS.replace("12,438", '"12,438"')])  # fmt: skip
def test_three_digits_behind_every_comma_are_refused_unless_it_is_said(tmp_path, text):
    path = write(tmp_path / "a.csv", text)
    with pytest.raises(ReadError, match=r"line 1, column 2: '12,438'.*decimal=','.*thousands=','"):
        eg.read(path)
    as_points = quietly(path, format="matrix", decimal=",")
    np.testing.assert_array_equal(as_points.dense[0], POINTS)
    as_thousands = quietly(path, format="matrix", thousands=",")
    np.testing.assert_array_equal(as_thousands.dense[0], 1000 * np.array(POINTS))


@pytest.mark.parametrize("cell", ["0,438", "1234,567", "12,4380", "1,5", "12,438e1"])
def test_one_cell_that_cannot_be_thousands_tells(tmp_path, cell):
    path = write(tmp_path / "a.csv", f"0;12,438\n{cell};0\n")
    with pytest.warns(ReadNotice, match="decimal commas"):
        stack = eg.read(path, format="matrix", directed=True)
    np.testing.assert_allclose(stack.dense[0], [[0, 12.438], [float(cell.replace(",", ".")), 0]])


def test_a_comma_beyond_the_first_lines_counts(tmp_path):
    rows = [f"{s};{s + 1};7" for s in range(30)]
    path = write(tmp_path / "a.edgelist", "\n".join([*rows, "1;2;12,438"]) + "\n")
    with pytest.raises(ReadError, match=r"line 31, column 3: '12,438'"):
        eg.read(path)
    assert quietly(path, thousands=",").dense[0].max() == 12438 + 7


def test_marks_of_numbers_that_are_said(tmp_path):
    text = "0;1.234,5;-12.345.678,25\n1.234,5;0;7\n-12.345.678,25;7;0\n"
    path = write(tmp_path / "a.csv", text)
    stack = quietly(path, decimal=",", thousands=".")
    np.testing.assert_array_equal(stack.dense[0, 0], [0, 1234.5, -12345678.25])
    path = write(tmp_path / "b.csv", '0,"1,234.5"\n"1,234.5",0\n')
    stack = quietly(path, thousands=",")
    np.testing.assert_array_equal(stack.dense[0], [[0, 1234.5], [1234.5, 0]])
    # Names are no numbers.
    path = write(tmp_path / "c.csv", ";a,b;c,123\na,b;0;1,234\nc,123;1,234;0\n")
    stack = quietly(path, thousands=",")
    assert stack.vertex_names == ("a,b", "c,123")
    assert stack.dense[0, 0, 1] == 1234
    path = write(tmp_path / "d.csv", "0;1.5\n1.5;0\n")
    with pytest.raises(ReadError, match=r"d.csv, line 1, column 2: '1.5' has a point"):
        eg.read(path, decimal=",")
    for wrong in ({"decimal": ";;"}, {"thousands": "1"}, {"decimal": ",", "thousands": ","}):
        with pytest.raises(InputError, match=r"decimal|thousands"):
            eg.read(path, **wrong)


def test_tables_and_stores_take_the_same_marks(tmp_path):
    table = write(tmp_path / "p.csv", "participant_id;dose\n01;12,438\n02;1,500\n")
    with pytest.raises(ReadError, match="decimal=','"):
        eg.io.read_participants(table)
    people = eg.io.read_participants(table, thousands=",")
    assert people.columns["dose"].tolist() == [12438, 1500]
    vertices = write(tmp_path / "v.csv", "name;x;y;z\na;1,234;2,345;3,456\nb;4,567;5,678;6,789\n")
    assert eg.io.read_vertices(vertices, decimal=",").coordinates[0].tolist() == [
        1.234, 2.345, 3.456,
    ]  # fmt: skip
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "a.csv", AMBIGUOUS)
    with pytest.raises(ReadError, match="12,438"):
        eg.io.convert_to_store(tmp_path / "in", tmp_path / "a.egs")
    eg.io.convert_to_store(tmp_path / "in", tmp_path / "a.egs", decimal=",", format="matrix")
    np.testing.assert_array_equal(eg.open_store(tmp_path / "a.egs")[:].dense[0], POINTS)
    # An ambiguous file is a graph among files of other endings, and no table to leave out.
    write(tmp_path / "in" / "notes.txt", "a b c d\nx y z w\n")
    with pytest.raises(ReadError, match="12,438"):
        eg.read(tmp_path / "in")


# --------------------------------------------------------------------------- long integers

LONG = ["9007199254740992", "9007199254740993", "9007199254740994", "1" + 60 * "0" + "1"]
EDGES = [(0, 1, 2), (1, 2, 3), (2, 3, 4)]


def test_long_ids_of_edge_lists_stay_exact(tmp_path):
    lines = [f"{LONG[s]} {LONG[t]} {w}" for s, t, w in EDGES]
    for name, text in (
        ("a", "\n".join(lines)),
        ("b", "source target weight\n" + "\n".join(lines)),
        ("c", "\n".join(line.replace(LONG[0], LONG[0] + ".0") for line in lines)),
        ("d", "\n".join(f"{line[: line.rindex(' ')]} {{'weight': {line[-1]}}}" for line in lines)),
        ("e", f"# vertices: {' '.join(LONG)}\n" + "\n".join(lines)),
    ):
        stack = quietly(write(tmp_path / f"{name}.edgelist", text + "\n"))
        assert stack.vertex_names == tuple(LONG), name
        np.testing.assert_array_equal(np.diagonal(stack.dense[0], 1), [2, 3, 4])


def test_long_ids_of_matrices_tables_and_other_formats_stay_exact(tmp_path):
    A = np.diag([2.0, 3, 4], 1) + np.diag([2.0, 3, 4], -1)
    body = [" ".join(map(str, row)) for row in A]
    numbers = [" ".join(LONG), *body]
    assert quietly(write(tmp_path / "a.txt", "\n".join(numbers))).vertex_names == tuple(LONG)
    first = [f"{name} {row}" for name, row in zip(LONG, body, strict=True)]
    assert quietly(write(tmp_path / "b.txt", "\n".join(first))).vertex_names == tuple(LONG)
    graph = nx.Graph([(LONG[s], LONG[t]) for s, t, _ in EDGES])
    nx.write_graphml(graph, tmp_path / "a.graphml")
    assert set(eg.read(tmp_path / "a.graphml").vertex_names) == set(LONG)
    rows = [f"{x}\tr{i}\n" for i, x in enumerate(LONG)]
    table = eg.io.read_vertices(write(tmp_path / "v.tsv", "index\tname\n" + "".join(rows)))
    assert table.ids == tuple(LONG)
    assert table.columns["index"].tolist() == LONG
    rows = [f"{x}\t{x}\t{i}\n" for i, x in enumerate(LONG)]
    found = eg.io.read_participants(write(tmp_path / "p.tsv", "id\tguid\tage\n" + "".join(rows)))
    assert found.ids == tuple(LONG)
    assert found.columns["guid"].tolist() == LONG
    assert found.columns["age"].tolist() == [0, 1, 2, 3]


def test_ids_of_parquet_stay_exact_or_are_refused(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ends = {"source": list(map(int, LONG[:2])), "target": list(map(int, LONG[1:3]))}
    pq.write_table(pa.table(ends), tmp_path / "a.parquet")
    assert quietly(tmp_path / "a.parquet").vertex_names == tuple(LONG[:3])
    pq.write_table(
        pa.table({k: np.array(v, float) for k, v in ends.items()}), tmp_path / "b.parquet"
    )
    with pytest.raises(ReadError, match=r"b.parquet: column 'source'.*not exact"):
        eg.read(tmp_path / "b.parquet")


def test_ids_with_zeros_ahead_are_names_wherever_they_stand(tmp_path):
    rows = [f"{s} {s + 1} 1" for s in range(100, 130)] + ["007 100 1", "7 100 1"]
    stack = quietly(write(tmp_path / "a.edgelist", "\n".join(rows) + "\n"))
    assert {"007", "7"} <= set(stack.vertex_names)


# --------------------------------------------------------------------------- ids inside names

FILES = ["BNU1_0025864_1_DTI", "BNU1_0025864_2_DTI", "BNU1_0025865_1_DTI", "BNU1_0025901_1_DTI"]


def people_of(folder, ids, more=()):
    rows = [f"{person}\t{20 + i}" for i, person in enumerate([*ids, *more])]
    return eg.io.read_participants(write(folder / "p.tsv", "SUBID\tage\n" + "\n".join(rows) + "\n"))


@pytest.mark.parametrize("names", [
    FILES, [name.replace("_", "-") for name in FILES], [f"x/{name}" for name in FILES],
    [name.replace("BNU1_", "BNU") for name in FILES], ["sub-025864", "sub-25865", "sub-0025901"],
])  # fmt: skip
def test_ids_inside_names_are_found_and_said(tmp_path, names):
    people = people_of(tmp_path, ["25864", "25865", "25901"], ["1", "2"])
    with pytest.warns(ReadNotice, match=r"SUBID.*inside the names.*25864"):
        joined = eg.io.join(names, people)
    said = []
    again = eg.io.join(names, people, on_notice=said.append)
    assert joined.rows.tolist() == again.rows.tolist() == [0, 0, 1, 2][-len(names) :]
    assert len(said) == 1


def test_another_column_may_have_the_ids(tmp_path):
    text = "participant_id\tscan\tgroup\n1\t25864\t1\n2\t25865\t2\n3\t25901\t1\n"
    people = eg.io.read_participants(write(tmp_path / "p.tsv", text))
    with pytest.warns(ReadNotice, match="'scan'"):
        assert eg.io.join(FILES, people).rows.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (["1", "2"], FILES),  # the session is no person
        (["25864", "025864", "25865", "25901"], FILES),  # two rows for one number
        (["25864", "25865"], FILES),  # one graph without a row
        (["10", "20", "30"], ["a10_20", "a20_30", "a30_10"]),  # either part could be it
        (["100", "200"], ["A_Schaefer100", "B_Schaefer100"]),  # all have it
        (["100", "200"], ["sub-A_atlas-100", "sub-B_atlas-200"]),  # the person is another
    ],
)
def test_ids_in_doubt_are_refused_with_the_option(tmp_path, ids, names):
    people = people_of(tmp_path, ids)
    with pytest.raises(ReadError, match="id_pattern="):
        eg.io.join(names, people)


@pytest.mark.parametrize(
    "names", [["3_11", "5_9"], ["03-11", "05-09"], ["3_s11", "5_s9"], ["3_11"], ["3_x_9", "3_x_11"]]
)
def test_two_ids_in_every_name_are_refused(tmp_path, names):
    people = people_of(tmp_path, ["3", "03", "05", "5", "9", "11"])
    with pytest.raises(ReadError, match=r"both '0?3' and '(11|9)'.*id_pattern='_\(\[\^_\.\]\+\)'"):
        eg.io.join(names, people)
    second = eg.io.join(names, people, id_pattern=r"[_s-]0?(\d+)$")
    assert set(second.rows) <= {4, 5}


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (["1_run1", "2_run2"], [0, 1]),
        (["1_1", "1_2", "2_1", "2_2", "3_1"], [0, 0, 1, 1, 2]),  # two sessions of three people
        (["1_2", "2_2", "3_2"], [0, 1, 2]),
        (["1_3", "2_9"], [0, 1]),  # 9 is nobody
    ],
)
def test_ids_at_the_beginning_are_taken_and_said(tmp_path, names, rows):
    people = people_of(tmp_path, ["1", "2", "3"])
    with pytest.warns(ReadNotice, match=f"such as '1' in '{names[0]}'; pass id_pattern="):
        assert eg.io.join(names, people).rows.tolist() == rows


def test_a_pattern_says_where_the_id_is(tmp_path):
    people = people_of(tmp_path, ["10", "20", "30"])
    names = ["a10_20", "a20_30", "a30_10"]
    assert eg.io.join(names, people, id_pattern=r"_(\d+)$").rows.tolist() == [1, 2, 0]
    assert eg.io.join(names, people, id_pattern=r"a(\d+)").rows.tolist() == [0, 1, 2]
    with pytest.raises(ReadError, match=r"id_pattern.*'x\(1\)'.*a10_20"):
        eg.io.join(names, people, id_pattern="x(1)")
    for wrong in ("(", "a", "(a)(b)"):
        with pytest.raises(InputError, match="id_pattern"):
            eg.io.join(names, people, id_pattern=wrong)
    (tmp_path / "in").mkdir()
    for name in FILES:
        np.savetxt(tmp_path / "in" / f"{name}.csv", np.ones((4, 4)), delimiter=",")
    reading = eg.io.read_files(tmp_path / "in", id_pattern=r"_0*(\d+)_\d_DTI\.csv$")
    assert reading.columns["sub"] == ["25864", "25864", "25865", "25901"]
    people = people_of(tmp_path, ["25864", "25865", "25901"])
    assert eg.io.join(reading, people).rows.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("to_store", [False, True])
def test_keys_of_bids_in_another_case_are_said(tmp_path, to_store):
    for i, name in enumerate(["sub-01", "Sub-02", "SUB-04/Ses-1/x"]):
        path = tmp_path / "in" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savetxt(path, np.full((4, 4), i + 1.0), delimiter=",")
    people = eg.io.read_participants(write(tmp_path / "p.tsv", "id\tage\nsub-01\t3\nSUB-04\t4\n"))
    reading = eg.io.read_files(tmp_path / "in")
    said = reading.notices
    if to_store:
        said = eg.io.convert_to_store(tmp_path / "in", tmp_path / "store").notices
        reading = eg.io.read_files(tmp_path / "store")
    (notice,) = [str(notice) for notice in said if notice.loud]
    assert notice.startswith("2 files have a BIDS key in another case")
    assert notice.endswith("taken as sub- (x.csv, Sub-02.csv)")
    assert dict(zip(reading.stack.graph_names, reading.columns["sub"], strict=True)) == {
        "sub-01": "01", "sub-02": "02", "sub-04_ses-1": "04",
    }  # fmt: skip
    assert "Sub" not in reading.columns
    assert sorted(eg.io.join(reading, people, missing="keep").rows) == [-1, 0, 1]
    np.savetxt(tmp_path / "in" / "Sub-01.csv", np.ones((4, 4)), delimiter=",")
    if len(list((tmp_path / "in").glob("*-01.csv"))) > 1:  # not so where case does not count
        with pytest.raises(ReadError, match="more than one file; sub-01 has"):
            eg.read(tmp_path / "in")


def test_graphs_that_differ_in_case_alone_are_said(tmp_path):
    names = ["Pat05", "pat05", "Pat06"]
    for i in range(3):
        np.savetxt(tmp_path / f"{i}.csv", np.full((4, 4), i + 1.0), delimiter=",")
    rows = [f"{i}.csv\t{name}" for i, name in enumerate(names)]
    manifest = write(tmp_path / "m.tsv", "\n".join(["path\tid", *rows]) + "\n")
    with pytest.warns(ReadNotice, match="graphs: 'Pat05' and 'pat05' differ in case alone"):
        assert eg.read(manifest).graph_names == tuple(names)


# --------------------------------------------------------------------------- names of vertices

A3 = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0.0]])
CONN = ["atlas.FP r (Frontal Pole Right)", "atlas.FP l (Frontal Pole Left)", "networks.Visual"]


def test_names_of_conn_and_labels_of_nilearn_are_read(tmp_path):
    cells = np.empty((1, 3), dtype=object)
    cells[0] = CONN
    Z = A3.copy()
    np.fill_diagonal(Z, np.nan)
    scipy.io.savemat(tmp_path / "a.mat", {"Z": Z, "names": cells, "names2": cells, "DOF": 99.0})
    assert quietly(tmp_path / "a.mat").vertex_names == tuple(CONN)
    scipy.io.savemat(tmp_path / "b.mat", {"Z": A3, "labels": np.array(["a", "bb", "ccc"])})
    assert eg.read(tmp_path / "b.mat").vertex_names == ("a", "bb", "ccc")
    np.savez(tmp_path / "a.npz", correlation=A3, labels=np.array(["L", "M", "R"]))
    assert eg.read(tmp_path / "a.npz").vertex_names == ("L", "M", "R")
    np.savez(tmp_path / "b.npz", correlation=A3, labels=["Background", "L", "M", "R"])
    assert eg.read(tmp_path / "b.npz").vertex_names == ("L", "M", "R")
    np.savez(tmp_path / "c.npz", correlation=A3, labels=np.array([b"L", "Süd".encode(), b"R"]))
    assert eg.read(tmp_path / "c.npz").vertex_names == ("L", "Süd", "R")


def test_texts_that_are_no_names_of_vertices_are_left_alone(tmp_path):
    two = np.stack([A3, A3 + 1])
    for labels in (["p", "q"], ["a", "a", "b"], ["a", "", "b"]):
        np.savez(tmp_path / "a.npz", graphs=two, labels=labels)
        assert not eg.read(tmp_path / "a.npz").has_vertex_names
    # As many graphs as vertices: the names may be of either.
    np.savez(tmp_path / "a.npz", graphs=np.stack([A3, A3 + 1, A3 + 2]), names=["a", "b", "c"])
    assert not quietly(tmp_path / "a.npz").has_vertex_names


NFC = "Größe"
NFD = unicodedata.normalize("NFD", NFC)


@pytest.mark.parametrize(("other", "what"), [(NFD, "Unicode form"), ("GRÖSSE", "case"),
                                             (NFD.upper(), "case and Unicode form")])  # fmt: skip
def test_names_that_look_alike_are_said_to(tmp_path, other, what):
    for name, first in (("a", NFC), ("b", other)):
        vertices = [first, "b", "c"]
        frame = pd.DataFrame(A3, index=vertices, columns=vertices)
        frame.to_csv(tmp_path / f"{name}.tsv", sep="\t")
        write(tmp_path / f"{name}.edgelist", f"{first} b\nb c\n")
    header = write(tmp_path / "header.tsv", f"\t{NFC}\tb\n{other}\t0\t1\nb\t1\t0\n")
    people = eg.io.read_participants(write(tmp_path / "p.csv", f"id,age\n{NFC},3\n"))
    je = eg.JointEmbedding(1, random_state=0).fit(eg.read(tmp_path / "a.tsv"))
    alike = f"differ in {what} alone"
    for use in (
        lambda: eg.read(f"{tmp_path}/?.tsv"),
        lambda: eg.read(tmp_path / "a.tsv", labels=[other, "b", "c"]),
        lambda: je.transform(eg.read(tmp_path / "b.tsv")),
        lambda: eg.read(header, format="matrix"),
        lambda: eg.io.join([other], people),
    ):
        with pytest.raises(InputError, match=alike):
            use()
    with pytest.warns(ReadNotice, match=alike):
        eg.read(f"{tmp_path}/?.edgelist")
