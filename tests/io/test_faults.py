"""What can be wrong with files gets a message that names the file, the place and the way out."""

import numpy as np
import pytest
from scipy.io import savemat

import eigengraphs as eg
from eigengraphs.errors import AlignmentError, ReadError, ReadNotice

N = 70
NAMES = [f"region {s}" for s in range(N)]


def write_folder(folder, m=4, n=N, names=None):
    graphs = []
    for i in range(m):
        A = np.triu(np.random.default_rng(i).gamma(1, 10, (n, n)).round(3), 1)
        graphs.append(A + A.T)
        write_matrix(folder / f"sub-{i + 1:02d}.csv", graphs[-1], names)
    return np.array(graphs)


def write_matrix(path, A, names=None, columns=None, delimiter=","):
    lines = [] if names is None else [delimiter.join(["", *(columns or names)])]
    for s, row in enumerate(A):
        head = [] if names is None else [names[s]]
        lines.append(delimiter.join([*head, *map(str, row.tolist())]))
    path.write_text("\n".join(lines) + "\n")


def test_1_a_delimiter_that_nobody_knows(tmp_path):
    A = write_folder(tmp_path)
    write_matrix(tmp_path / "sub-02.csv", A[1], delimiter="|")
    message = r"sub-02.csv, line 1: the whole line is one cell.*pass delimiter='\|'"
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)
    for i in range(4):
        write_matrix(tmp_path / f"sub-{i + 1:02d}.csv", A[i], delimiter="|")
    np.testing.assert_array_equal(eg.read(tmp_path, delimiter="|").dense, A)


def test_1_a_delimiter_that_was_asked_for_and_is_wrong(tmp_path):
    write_folder(tmp_path)
    with pytest.raises(ReadError, match=r"one cell.*with a tab as delimiter; pass delimiter=','"):
        eg.read(tmp_path, delimiter="\t")


def test_2_one_triangle_is_mirrored_and_said(tmp_path):
    A = write_folder(tmp_path)
    write_matrix(tmp_path / "sub-01.csv", np.triu(A[0]))
    write_matrix(tmp_path / "sub-03.csv", np.tril(A[2]))
    with pytest.warns(ReadNotice, match=r"2 files hold one triangle; mirrored \(sub-01.csv, sub-0"):
        stack = eg.read(tmp_path)
    np.testing.assert_array_equal(stack.dense, A)


def test_3_one_matrix_of_another_size(tmp_path):
    write_folder(tmp_path)
    write_matrix(tmp_path / "sub-03.csv", np.ones((69, 69)))
    message = r"3 of 4 graphs have 70 vertices, but .*sub-03.csv has 69; .*leave those files out"
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)


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
    assert notice.endswith("is not known there: its entries are hidden")
    assert "no edges" not in notice


def test_4_names_in_another_order_are_aligned_and_said(tmp_path):
    A = write_folder(tmp_path, names=NAMES)
    order = np.random.default_rng(0).permutation(N)
    write_matrix(tmp_path / "sub-02.csv", A[1][np.ix_(order, order)], [NAMES[s] for s in order])
    with pytest.warns(ReadNotice, match=r"sub-02.csv names its vertices in another order.*aligned"):
        stack = eg.read(tmp_path)
    np.testing.assert_array_equal(stack.dense, A)
    assert stack.vertex_names == tuple(NAMES)


def test_4_names_of_columns_in_another_order_than_rows(tmp_path):
    A = write_folder(tmp_path, names=NAMES)
    order = np.random.default_rng(1).permutation(N)
    write_matrix(tmp_path / "sub-02.csv", A[1][:, order], NAMES, [NAMES[s] for s in order])
    with pytest.warns(
        ReadNotice, match=r"sub-02.csv names its columns in another order than its ro"
    ):
        np.testing.assert_array_equal(eg.read(tmp_path).dense, A)


def test_4_names_swapped_in_a_header_are_refused(tmp_path):
    A = write_folder(tmp_path, names=NAMES)
    swapped = [*NAMES[:2], NAMES[3], NAMES[2], *NAMES[4:]]
    write_matrix(tmp_path / "sub-02.csv", A[1], NAMES, swapped)
    with pytest.raises(
        ReadError,
        match=r"sub-02.csv, line 1: column 3 .* 'region 3' and row 3 'region 2'.*swapped",
    ):
        eg.read(tmp_path)


def test_one_file_that_makes_all_graphs_directed_is_said(tmp_path):
    A = write_folder(tmp_path)
    A[1][3, 9] += 5
    write_matrix(tmp_path / "sub-02.csv", A[1])
    with pytest.warns(ReadNotice, match=r"sub-02.csv is not symmetric.*directed.*vertex 4 to 10"):
        assert eg.read(tmp_path).is_directed


def test_a_workbook_is_called_by_its_name(tmp_path):
    (tmp_path / "people.tsv").write_bytes(b"PK\x03\x04\x14\x00")
    with pytest.raises(ReadError, match=r"people.tsv .*Excel.*save it as CSV"):
        eg.io.read_participants(tmp_path / "people.tsv")


def test_4_names_that_differ_are_refused_and_listed(tmp_path):
    A = write_folder(tmp_path, names=NAMES)
    write_matrix(tmp_path / "sub-02.csv", A[1], ["insula", *NAMES[1:]])
    with pytest.raises(ReadError, match=r"sub-02.csv .*lacks 'region 0'; only it has 'insula'"):
        eg.read(tmp_path)
    write_matrix(tmp_path / "sub-02.csv", A[1], NAMES, ["insula", *NAMES[1:]])
    with pytest.raises(ReadError, match=r"sub-02.csv: rows and columns.*'insula', 'region 0'"):
        eg.read(tmp_path)


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("cell", ["nan", "", "n/a"])
def test_5_a_vertex_without_values(tmp_path, names, cell):
    A = write_folder(tmp_path, names=names)
    A[1, 12] = A[1, :, 12] = np.nan
    write_matrix(tmp_path / "sub-02.csv", A[1], names)
    path = tmp_path / "sub-02.csv"
    path.write_text(path.read_text().replace("nan", cell))
    vertex = "vertex 13" if names is None else "vertex 'region 12'"
    message = rf"sub-02.csv has nan in the whole row of {vertex}.*missing='unobserved'"
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)
    stack = eg.read(tmp_path, missing="unobserved")
    assert stack.n_hidden == 2 * N - 1


def test_6_two_files_of_one_subject(tmp_path):
    A = write_folder(tmp_path)
    (tmp_path / "again").mkdir()
    write_matrix(tmp_path / "again" / "sub-02.csv", A[3])
    message = r"1 of 4 scans have more than one file; sub-02 has .*again/sub-02.csv, .*sub-02.csv"
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)


def test_6_two_measures_of_every_subject(tmp_path):
    A = write_folder(tmp_path)
    for i in range(4):
        path = tmp_path / f"sub-{i + 1:02d}.csv"
        path.rename(path.with_stem(f"{path.stem}_count"))
        write_matrix(path.with_stem(f"{path.stem}_fa"), A[i] / 99)
    with pytest.raises(
        ReadError, match=r"4 of 4 scans.*sub-01_count.csv, .*such as '.*\*\*/\*count\*'"
    ):
        eg.read(tmp_path)
    assert eg.read(f"{tmp_path}/**/*count*").n_graphs == 4


def test_6_one_name_twice_in_a_list_or_manifest(tmp_path):
    write_folder(tmp_path)
    first = tmp_path / "sub-01.csv"
    with pytest.raises(ReadError, match=r"2 graphs would be called 'sub-01'.*manifest"):
        eg.read([first, first])
    table = tmp_path / "list.tsv"
    table.write_text("path\tid\nsub-01.csv\tx\nsub-02.csv\tx\n")
    with pytest.raises(
        ReadError, match=r"2 graphs would be called 'x': .*sub-01.csv, .*sub-02.csv"
    ):
        eg.read(table)


def test_6_the_same_content_under_two_names(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "sub-04.csv").write_bytes((tmp_path / "sub-02.csv").read_bytes())
    with pytest.warns(ReadNotice, match=r"copies of others, byte for byte \(sub-02 = sub-04\)"):
        eg.read(tmp_path)


def test_7_a_participant_without_a_row(tmp_path):
    write_folder(tmp_path)
    table = tmp_path / "participants.tsv"
    table.write_text("participant_id\tage\nsub-01\t20\nsub-02\t30\nsub-04\t40\nsub-77\t50\n")
    reading, people = eg.io.read_files(tmp_path), eg.io.read_participants(table)
    message = r"1 of 4 graphs have no row in .*participants.tsv: sub-03. Rows without a graph: 77"
    with pytest.raises(ReadError, match=message):
        eg.io.join(reading, people)
    joined = eg.io.join(reading, people, missing="keep")
    assert joined.graphs_without_row == ("sub-03",)
    assert joined.rows_without_graph == ("77",)
    np.testing.assert_array_equal(joined.columns["age"], [20, 30, np.nan, 40])


def test_8_a_matrix_that_is_not_square(tmp_path):
    A = write_folder(tmp_path)
    write_matrix(tmp_path / "sub-02.csv", A[1][:, :60])
    with pytest.raises(ReadError, match=r"sub-02.csv has 70 rows and 60 columns.*lines 1 to 70"):
        eg.read(tmp_path)


def test_8_a_line_that_is_cut_off(tmp_path):
    A = write_folder(tmp_path)
    write_matrix(tmp_path / "sub-02.csv", A[1])
    path = tmp_path / "sub-02.csv"
    lines = path.read_text().splitlines()
    lines[40] = ",".join(lines[40].split(",")[:30])
    path.write_text("\n".join(lines))
    with pytest.raises(ReadError, match=r"sub-02.csv, line 41 has 30 cells and line 1 has 70"):
        eg.read(tmp_path)


def test_8_a_word_among_numbers(tmp_path):
    A = write_folder(tmp_path, names=NAMES)
    write_matrix(tmp_path / "sub-02.csv", A[1], NAMES)
    path = tmp_path / "sub-02.csv"
    lines = path.read_text().splitlines()
    cells = lines[5].split(",")
    cells[7] = "1.2.3"
    lines[5] = ",".join(cells)
    path.write_text("\n".join(lines))
    with pytest.raises(ReadError, match=r"sub-02.csv, line 6, column 8: '1.2.3' is not a number"):
        eg.read(tmp_path)


@pytest.mark.parametrize(("content", "message"), [(b"", "is empty"), (b"\n \n", "holds no data")])
def test_9_an_empty_file(tmp_path, content, message):
    write_folder(tmp_path)
    (tmp_path / "sub-02.csv").write_bytes(content)
    with pytest.raises(ReadError, match=rf"sub-02.csv {message}.*leave it out"):
        eg.read(tmp_path)


def test_10_a_mat_file_with_three_matrices(tmp_path):
    A = np.ones((2, 5, 5))
    parts = {"sc": A[0], "fc": A[1], "distances": A[0], "age": 31.0}
    savemat(tmp_path / "sub-01.mat", parts)
    message = (
        r"sub-01.mat holds 3 matrices.*'sc' \(5 x 5\), 'fc' \(5 x 5\).*choose one with key='sc'"
    )
    with pytest.raises(ReadError, match=message):
        eg.read(tmp_path)
    assert eg.read(tmp_path, key="fc").n_graphs == 1
    assert eg.read(tmp_path / "sub-01.mat", key="all").graph_names == ("sc", "fc", "distances")
    with pytest.raises(ReadError, match=r"no array 'FC'; it has: 'sc' \(5 x 5\)"):
        eg.read(tmp_path, key="FC")


def test_numbers_that_cannot_be_read_do_not_pass_for_a_header(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("0 1.0D+00 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0\n")
    with pytest.raises(
        ReadError, match=r"line 1 has both names and numbers, such as '1.0D\+00' in c"
    ):
        eg.read(path)


def test_edge_lists_without_edges(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,weight\n")
    with pytest.raises(ReadError, match=r"a.csv has no edges, and so no vertices"):
        eg.read(tmp_path)
    (tmp_path / "b.csv").write_text("source,target,weight\nx,y,2\n")
    with pytest.warns(ReadNotice) as said:
        stack = eg.read(tmp_path)
    assert stack.n_vertices == 2
    assert not stack.dense[0].any()
    assert any("a.csv has a header and no edges" in str(one.message) for one in said)


def test_decimal_commas_that_may_be_something_else_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    # One of the two may stand for thousands.
    path.write_text("0;0,5;1\n0,5;0;2.5\n1;2.5;0\n")
    with pytest.raises(
        ReadError, match=r"a.csv, line 1, column 2: '0,5' has a decimal comma.*'0.5'"
    ):
        eg.read(path)
    path.write_text("0,5 1,2\n1,2 0,5\n")
    with pytest.raises(ReadError, match="decimal comma"):
        eg.read(path)


def test_what_is_not_there_is_said_with_a_guess(tmp_path):
    write_folder(tmp_path)
    with pytest.raises(ReadError, match=r"sub-1.csv; is it 'sub-01.csv'\?"):
        eg.read(tmp_path / "sub-1.csv")
    with pytest.raises(ReadError, match=r"no file matches .*\*\.mat"):
        eg.read(f"{tmp_path}/*.mat")
    (tmp_path / "none").mkdir()
    with pytest.raises(ReadError, match=r"no graph files in .*holds nothing"):
        eg.read(tmp_path / "none")
    with pytest.raises(eg.errors.InputError, match="list of files must hold paths, got ndarray"):
        eg.read([np.ones((3, 3))])


def test_settings_that_do_not_exist(tmp_path):
    for wrong in ({"format": "xlsx"}, {"vertices": "same"}, {"directed": "no"}, {"missing": "x"}):
        with pytest.raises(eg.errors.InputError, match=next(iter(wrong))):
            eg.read(tmp_path, **wrong)


def test_a_file_of_another_kind_than_its_ending_says(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 3)))
    (tmp_path / "a.npy").rename(tmp_path / "a.csv")
    with pytest.raises(
        ReadError, match=r"a.csv is not a text file: its first bytes are b'.x93NUMPY"
    ):
        eg.read(tmp_path / "a.csv")
    for ending in ("npy", "npz", "mat", "parquet", "graphml", "gml", "net"):
        path = tmp_path / f"b.{ending}"
        path.write_text("this is no graph\n")
        with pytest.raises(ReadError, match=rf"b.{ending}"):
            eg.read(path)
