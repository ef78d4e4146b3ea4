"""What can be wrong with files gets a message that names the file, the place and the way out."""

import re

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import AlignmentError, InputError, ReadError, ReadNotice

N = 70
NAMES = [f"region {s}" for s in range(N)]


def write_folder(folder, names=None):
    graphs = []
    for i in range(4):
        A = np.triu(np.random.default_rng(i).gamma(1, 10, (N, N)).round(3), 1)
        graphs.append(A + A.T)
        write_matrix(folder / f"sub-{i + 1:02d}.csv", graphs[-1], names)
    return np.array(graphs)


def write_matrix(path, A, names=None, columns=None, delimiter=","):
    lines = [] if names is None else [delimiter.join(["", *(columns or names)])]
    for s, row in enumerate(A):
        head = [] if names is None else [names[s]]
        lines.append(delimiter.join([*head, *map(str, row.tolist())]))
    path.write_text("\n".join(lines) + "\n")


def with_cell(path, line, column, cell=None):
    """Put another text into one cell, or cut the line off before it; both are counted from 1."""
    lines = [row.split(",") for row in path.read_text().splitlines()]
    if cell is None:
        lines[line - 1] = lines[line - 1][: column - 1]
    else:
        lines[line - 1][column - 1] = cell
    path.write_text("\n".join(map(",".join, lines)))


SWAPPED = [*NAMES[:2], NAMES[3], NAMES[2], *NAMES[4:]]
OTHER = ["insula", *NAMES[1:]]


@pytest.mark.parametrize(
    ("names", "damage", "message"),
    [
        (None, lambda p, A: write_matrix(p, A, delimiter="|"),
         r"sub-02.csv, line 1: the whole line is one cell.*pass delimiter='\|'"),
        (None, lambda p, A: write_matrix(p, A[:69, :69]),
         r"3 of 4 graphs have 70 vertices, but .*sub-02.csv has 69; .*leave those files out"),
        (None, lambda p, A: write_matrix(p, A[:, :60]),
         r"sub-02.csv has 70 rows and 60 columns.*lines 1 to 70"),
        (None, lambda p, A: with_cell(p, 41, 31),
         r"sub-02.csv, line 41 has 30 cells and line 1 has 70"),
        (NAMES, lambda p, A: with_cell(p, 6, 8, "1.2.3"),
         r"sub-02.csv, line 6, column 8: '1.2.3' is not a number"),
        (NAMES, lambda p, A: write_matrix(p, A, NAMES, SWAPPED),
         r"sub-02.csv, line 1: column 3 .* 'region 3' and row 3 'region 2'.*swapped"),
        (NAMES, lambda p, A: write_matrix(p, A, OTHER),
         r"sub-02.csv .*lacks 'region 0'; only it has 'insula'"),
        (NAMES, lambda p, A: write_matrix(p, A, NAMES, OTHER),
         r"sub-02.csv: rows and columns.*'insula', 'region 0'"),
        (None, lambda p, A: p.write_bytes(b""), r"sub-02.csv is empty.*leave it out"),
        (None, lambda p, A: p.write_bytes(b"\n \n"), r"sub-02.csv holds no data.*leave it out"),
    ],
)  # fmt: skip
def test_one_bad_file_is_named(tmp_path, names, damage, message):
    A = write_folder(tmp_path, names)
    damage(tmp_path / "sub-02.csv", A[1])
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)


def test_a_delimiter_that_is_given(tmp_path):
    A = write_folder(tmp_path)
    with pytest.raises(ReadError, match=r"one cell.*with a tab as delimiter; pass delimiter=','"):
        eg.read(tmp_path, delimiter="\t")
    for i in range(4):
        write_matrix(tmp_path / f"sub-{i + 1:02d}.csv", A[i], delimiter="|")
    np.testing.assert_array_equal(eg.read(tmp_path, delimiter="|").dense, A)


def test_3_one_matrix_of_another_size_with_names(tmp_path):
    A = write_folder(tmp_path, names=NAMES)
    write_matrix(tmp_path / "sub-03.csv", A[2][1:, 1:], NAMES[1:])
    message = r"sub-03.csv has 69 vertices.*3 of 4 graphs.*it lacks 'region 0'.*'intersection'"
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)
    assert eg.read(tmp_path, vertices="intersection").vertex_names == tuple(NAMES[1:])
    # What a matrix lacks was not measured: it is hidden or refused, and never zeros.
    message = r"sub-03.csv is a matrix that lacks 1 of the 70 vertices \('region 0'\)"
    with pytest.raises(AlignmentError, match=message + ".*pass missing='unobserved'"):
        eg.read(tmp_path, vertices="union")
    with pytest.warns(ReadNotice) as said:
        stack = eg.read(tmp_path, vertices="union", missing="unobserved")
    assert stack.shape == (4, 70, 70)
    assert stack.mask.n_hidden.tolist() == [0, 0, 2 * 70 - 1, 0]
    (notice,) = [str(warning.message) for warning in said]
    assert "1 of 4 graphs names only some of the 70 vertices (69 of them)" in notice
    assert notice.endswith("is unknown there: its entries are hidden")
    assert "no edges" not in notice


@pytest.mark.parametrize("columns_alone", [False, True])
def test_names_in_another_order_are_aligned_and_said(tmp_path, columns_alone):
    A = write_folder(tmp_path, names=NAMES)
    order = np.random.default_rng(0).permutation(N)
    rows = np.arange(N) if columns_alone else order
    shuffled = [[NAMES[s] for s in which] for which in (rows, order)]
    write_matrix(tmp_path / "sub-02.csv", A[1][np.ix_(rows, order)], *shuffled)
    what = "columns in another order than its rows" if columns_alone else "vertices .* aligned"
    with pytest.warns(ReadNotice, match=rf"sub-02.csv names its {what}"):
        stack = eg.read(tmp_path)
    np.testing.assert_array_equal(stack.dense, A)
    assert stack.vertex_names == tuple(NAMES)


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("cell", ["nan", "", "n/a"])
def test_a_vertex_without_values(tmp_path, names, cell):
    A = write_folder(tmp_path, names=names)
    A[1, 12] = A[1, :, 12] = np.nan
    path = tmp_path / "sub-02.csv"
    write_matrix(path, A[1], names)
    path.write_text(path.read_text().replace("nan", cell))
    vertex = "vertex 13" if names is None else "vertex 'region 12'"
    message = rf"sub-02.csv has nan in the whole row of {vertex}.*missing='unobserved'"
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)
    assert eg.read(tmp_path, missing="unobserved").n_hidden == 2 * N - 1


def test_two_files_of_one_scan(tmp_path):
    A = write_folder(tmp_path)
    (tmp_path / "again").mkdir()
    write_matrix(tmp_path / "again" / "sub-02.csv", A[3])
    message = r"1 of 4 scans have more than one file; sub-02 has .*again/sub-02.csv, .*sub-02.csv"
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)
    (tmp_path / "again" / "sub-02.csv").unlink()
    for i in range(4):
        path = tmp_path / f"sub-{i + 1:02d}.csv"
        path.rename(path.with_stem(f"{path.stem}_count"))
        write_matrix(path.with_stem(f"{path.stem}_fa"), A[i] / 99)
    message = r"4 of 4 scans.*sub-01_count.csv, .*such as '.*\*\*/\*count\*'"
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)
    assert eg.read(f"{tmp_path}/**/*count*").n_graphs == 4


def test_one_name_or_one_content_twice(tmp_path):
    write_folder(tmp_path)
    first = tmp_path / "sub-01.csv"
    with pytest.raises(ReadError, match=r"2 graphs would be called 'sub-01'.*manifest"):
        eg.read([first, first])
    table = tmp_path / "list.tsv"
    table.write_text("path\tid\nsub-01.csv\tx\nsub-02.csv\tx\n")
    message = r"2 graphs would be called 'x': .*sub-01.csv, .*sub-02.csv"
    with pytest.raises(ReadError, match=message):
        eg.read(table)
    table.unlink()
    (tmp_path / "sub-04.csv").write_bytes((tmp_path / "sub-02.csv").read_bytes())
    with pytest.warns(ReadNotice, match=r"copies of others, byte for byte \(sub-02 = sub-04\)"):
        eg.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "0 1.0D+00 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0\n",
         r"line 1 has both names and numbers, such as '1.0D\+00' in c"),
        # One of the two may stand for thousands.
        ("a.csv", "0;0,5;1\n0,5;0;2.5\n1;2.5;0\n",
         r"a.csv, line 1, column 2: '0,5' has a comma: pass decimal=',' if it is 0.5, or"),
        ("a.csv", "0,5 1,2\n1,2 0,5\n", "line 1, column 1: '0,5' has a comma"),
        ("a.csv", "source,target,weight\n", "a.csv has no edges, and so no vertices"),
        ("a.csv", "a b 1\n# said\na c\nb c 2\n", "a.csv, line 3 has 2 cells"),
        ("g.edgelist", "a b 1\na c x\nb c 2\nc d 1\n",
         "line 2, column 3: the weight 'x' is not a number"),
        ("a.csv", "# vertices: a b\na b 1\na c 2\n", "edges of 'c', which its comment '# vertices"),
        ("a.csv", "\x93NUMPY\x01\x00v\x00", "is not a text file: its first bytes are b'.*NUM"),
        *((f"b.{ending}", "this is no graph\n", rf"b\.{ending}")
          for ending in ("npy", "npz", "mat", "parquet", "graphml")),
    ],
)  # fmt: skip
def test_texts_that_cannot_be_read(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path / name)


def test_a_workbook_is_called_by_its_name(tmp_path):
    (tmp_path / "people.tsv").write_bytes(b"PK\x03\x04\x14\x00")
    with pytest.raises(ReadError, match=r"people.tsv .*Excel.*save it as CSV"):
        eg.io.read_participants(tmp_path / "people.tsv")


def test_edge_lists_without_edges_among_others(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,weight\n")
    (tmp_path / "b.csv").write_text("source,target,weight\nx,y,2\n")
    with pytest.warns(ReadNotice) as said:
        stack = eg.read(tmp_path)
    assert stack.n_vertices == 2
    assert not stack.dense[0].any()
    assert any("a.csv has a header and no edges" in str(one.message) for one in said)


def test_what_is_not_there_is_said_with_a_guess(tmp_path):
    (tmp_path / "sub-01.csv").write_text("0,1\n1,0\n")
    (tmp_path / "none").mkdir()
    for source, message in (
        (tmp_path / "sub-1.csv", r"sub-1.csv; is it 'sub-01.csv'\?"),
        (f"{tmp_path}/*.mat", r"no file matches .*\*\.mat"),
        (tmp_path / "none", "no graph files in .*holds nothing"),
    ):
        with pytest.raises(ReadError, match=message):
            eg.read(source)
    with pytest.raises(InputError, match="list of files must hold paths, got ndarray"):
        eg.read([np.ones((3, 3))])
    for wrong in ({"format": "xlsx"}, {"vertices": "same"}, {"directed": "no"}, {"missing": "x"}):
        with pytest.raises(InputError, match=re.escape(next(iter(wrong)))):
            eg.read(tmp_path, **wrong)
