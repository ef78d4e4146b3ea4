"""Tables of people and of vertices."""

import numpy as np
import pytest
from tests.io.test_doubt import write

import eigengraphs as eg
from eigengraphs.errors import ReadError
from eigengraphs.inference.studies.designs import read_variable
from eigengraphs.report.records import make_column

HEAD = "participant_id\tage\tgroup\thand\n"


# --------------------------------------------------------------------------- people


def test_columns_are_numbers_where_all_are(tmp_path):
    rows = "sub-01\t20\tA\tn/a\nsub-02\tn/a\t\tleft\nsub-03\t31.5\tB\tright\n"
    people = eg.io.read_participants(write(tmp_path / "participants.tsv", HEAD + rows))
    assert people.ids == ("01", "02", "03")
    np.testing.assert_array_equal(people.columns["age"], [20, np.nan, 31.5])
    assert people.columns["group"].tolist() == ["A", "", "B"]
    assert people.columns["hand"].tolist() == ["", "left", "right"]
    assert people.columns["participant_id"].tolist() == ["sub-01", "sub-02", "sub-03"]


def test_none_is_a_word_among_words_and_missing_among_numbers(tmp_path):
    head = "participant_id\tmedication\tdose\n"
    rows = "sub-01\tnone\tnone\nsub-02\tssri\t20\nsub-03\tn/a\t30\nsub-04\tNone\t10\n"
    people = eg.io.read_participants(write(tmp_path / "participants.tsv", head + rows))
    assert people.columns["medication"].tolist() == ["none", "ssri", "", "None"]
    np.testing.assert_array_equal(people.columns["dose"], [np.nan, 20, 30, 10])
    words = make_column("medication", ["none", "ssri", "n/a", "ssri"])
    assert words.categories == ("none", "ssri")
    assert words.values == (0, 1, None, 1)
    assert make_column("dose", ["none", 20.5, 30, "12"]).values == (None, 20.5, 30, 12.0)
    found = read_variable("medication", ["none", "ssri", None, "none"], 4)
    assert found.levels == ("none", "ssri")
    assert read_variable("dose", [1.5, "none", 2, 7], 4).kind == "quantity"


@pytest.mark.parametrize("prefix", ["sub-", ""])
@pytest.mark.parametrize("named", ["sub-{}", "{}", "sub-{}_ses-1", "{}_connectome", "{}/dwi"])
def test_people_are_found_with_and_without_sub(tmp_path, prefix, named):
    rows = f"{prefix}02\t20\tA\tl\n{prefix}01\t30\tB\tr\n"
    people = eg.io.read_participants(write(tmp_path / "p.tsv", HEAD + rows))
    joined = eg.io.join([named.format("01"), named.format("02")], people)
    assert joined.columns["age"].tolist() == [30, 20]
    assert joined.rows.tolist() == [1, 0]


def test_a_row_for_every_session(tmp_path):
    text = "participant_id,session_id,age\nsub-01,ses-1,20\nsub-01,ses-2,21\nsub-02,ses-1,30\n"
    people = eg.io.read_participants(write(tmp_path / "p.csv", text))
    joined = eg.io.join(["sub-01_ses-2", "sub-01_ses-1"], people)
    assert joined.columns["age"].tolist() == [21, 20]
    assert joined.rows_without_graph == ("02 ses-1",)


def test_a_person_twice_is_refused_with_the_lines(tmp_path):
    path = write(
        tmp_path / "p.tsv", "# said\n" + HEAD + "sub-01\t1\tA\tl\n02\t2\tA\tl\n01\t3\tA\tl\n"
    )
    with pytest.raises(ReadError, match=r"'01' on lines 3, 5: keep one.*'session_id'"):
        eg.io.read_participants(path)


def test_what_does_not_match_is_listed_both_ways_with_the_reason(tmp_path):
    people = eg.io.read_participants(write(tmp_path / "p.tsv", HEAD + "1\t20\tA\tl\n2\t3\tA\tl\n"))
    with pytest.raises(ReadError, match=r"2 of 2 graphs.*sub-001, sub-9.*1, 2"):
        eg.io.join(["sub-001", "sub-9"], people)


def test_a_table_without_people_says_what_it_has(tmp_path):
    with pytest.raises(ReadError, match=r"column 'participant_id'.*it has: who, age"):
        eg.io.read_participants(write(tmp_path / "p.tsv", "who\tage\nx\t1\n"))
    with pytest.raises(ReadError, match=r"line 3 has 2 cells and the header has 4"):
        eg.io.read_participants(write(tmp_path / "q.tsv", HEAD + "x\t1\ta\tl\ny\t2\n"))
    with pytest.raises(ReadError, match="cannot read"):
        eg.io.read_participants(tmp_path / "none.tsv")


# --------------------------------------------------------------------------- vertices


def test_names_ids_and_coordinates_of_vertices(tmp_path):
    text = "index\tname\tx\ty\tz\tlobe\n3\tcuneus\t1\t2\t3\tO\n7\tinsula\t4\t5\t6\tS\n"
    table = eg.io.read_vertices(write(tmp_path / "v.tsv", text))
    assert table.names == ("cuneus", "insula")
    assert table.ids == ("3", "7")
    np.testing.assert_array_equal(table.coordinates, [[1, 2, 3], [4, 5, 6]])
    assert table.columns["lobe"].tolist() == ["O", "S"]
    with pytest.raises(ReadError, match="names 2 vertices, and the graphs have 3"):
        eg.io.read_vertices(tmp_path / "v.tsv", n=3)


LUT = """#No. Label Name:                R   G   B   A
0   Unknown                         0   0   0   0
2   Left-Cerebral-White-Matter      245 245 245 0
41  Right-Cerebral-White-Matter     0   225 0   0
"""


def test_a_color_table_of_freesurfer(tmp_path):
    path = write(tmp_path / "lut.txt", LUT)
    table = eg.io.read_vertices(path)
    assert table.names[1:] == ("Left-Cerebral-White-Matter", "Right-Cerebral-White-Matter")
    assert table.ids == ("0", "2", "41")
    assert table.color_table
    assert table.columns["green"].tolist() == [0, 245, 225]
    assert len(eg.io.read_vertices(path, n=2)) == 2  # without Unknown
    np.savetxt(tmp_path / "m.txt", [[0, 3], [3, 0]])
    with pytest.warns(eg.errors.ReadNotice, match="could be"):
        assert eg.read(tmp_path / "m.txt", labels=path).vertex_names == table.names[1:]
    (tmp_path / "e.ssv").write_text("2 41 5\n")
    assert eg.read(tmp_path / "e.ssv", labels=path).vertex_names == table.names[1:]


@pytest.mark.parametrize(
    "text", ["a\nb\nc\n", "name\na\nb\nc\n", "1 a\n2 b\n3 c\n", "a,1\nb,2\nc,3\n"]
)
def test_plain_lists_of_names(tmp_path, text):
    assert eg.io.read_vertices(write(tmp_path / "v.txt", text)).names == ("a", "b", "c")


def test_the_side_of_the_brain_makes_names_unique(tmp_path):
    text = "label,hemisphere\ncuneus,L\ncuneus,R\n"
    assert eg.io.read_vertices(write(tmp_path / "v.csv", text)).names == ("cuneus_L", "cuneus_R")
    with pytest.raises(ReadError, match="names 'cuneus' more than once"):
        eg.io.read_vertices(write(tmp_path / "w.csv", text.replace("hemisphere", "color")))


def test_labels_name_matrices_in_order_and_edges_by_number(tmp_path):
    names = ["n", "e", "s", "w"]
    np.savetxt(tmp_path / "m.txt", np.ones((4, 4)))
    assert eg.read(tmp_path / "m.txt", labels=names).vertex_names == tuple(names)
    with pytest.raises(ReadError, match=r"m.txt has 4 vertices, and the vertex table names 3"):
        eg.read(tmp_path / "m.txt", labels=names[:3])
    for first in (0, 1):
        last = first + 3
        (tmp_path / "e.ssv").write_text(f"{first} {last} 5\n")
        stack = eg.read(tmp_path / "e.ssv", labels=names)
        assert stack.vertex_names == tuple(names)  # those without edges as well
        assert stack.dense[0][0, 3] == 5
    (tmp_path / "e.ssv").write_text("1 2 5\n")
    with pytest.raises(ReadError, match="cannot tell whether numbers start at 0 or 1"):
        eg.read(tmp_path / "e.ssv", labels=names)
    (tmp_path / "e.ssv").write_text("1 4 5\n")
    (tmp_path / "f.ssv").write_text("1 99 5\n")
    with pytest.raises(ReadError, match=r"vertex table does not know '99'.*f\.ssv"):
        eg.read(f"{tmp_path}/*.ssv", labels=names)
