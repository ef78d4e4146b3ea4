"""Folders as programs leave them are read without a single setting."""

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

import eigengraphs as eg
from eigengraphs.errors import ReadError, ReadNotice


def random_graphs(m=4, n=12, seed=0):
    A = np.random.default_rng(seed).poisson(3, (m, n, n)).astype(float)
    A = np.triu(A, 1)
    return A + A.transpose(0, 2, 1)


def save(folder, name, graphs, **options):
    """Save each graph as a text, under a name with its number."""
    for i, graph in enumerate(graphs):
        np.savetxt(folder / name.format(i), graph, **options)


def kinds(reading):
    return {notice.kind: notice for notice in reading.notices}


def loud(reading):
    return {notice.kind for notice in reading.notices if notice.loud}


def test_the_300_files_of_hnu1_as_they_are_published(data_folder):
    reading = eg.io.read_files(data_folder / "hnu1")
    hnu1 = eg.datasets.fetch_hnu1(data_folder=data_folder)
    assert reading.stack.graph_names == hnu1.graphs.graph_names
    np.testing.assert_array_equal(reading.stack.dense, hnu1.graphs.dense)
    assert reading.stack.vertex_names == tuple(map(str, range(1, 71)))
    assert [f"sub-{sub}" for sub in reading.columns["sub"]] == hnu1.subjects.tolist()
    assert list(map(int, reading.columns["ses"])) == hnu1.sessions.tolist()
    assert loud(reading) == set()
    assert "vertices.tsv" in kinds(reading)["beside"].text
    assert {file.format for file in reading.files} == {"edge list"}
    assert all(len(file.sha256) == 64 for file in reading.files)


@pytest.mark.parametrize("delimiter", [" ", ","])
def test_connectomes_of_mrtrix(tmp_path, delimiter):
    """tck2connectome: no header, comments of its history, the upper triangle with the diagonal."""
    A = random_graphs()
    A[:, np.arange(12), np.arange(12)] = 7
    for i, graph in enumerate(A):
        rows = [delimiter.join(f"{value:g}" for value in row) for row in np.triu(graph)]
        folder = tmp_path / f"sub-{i + 1:02d}"
        folder.mkdir()
        lines = ["# mrtrix_version: 3.0.4", "# command_history: tck2connectome tracks.tck", *rows]
        (folder / "connectome.csv").write_text("\n".join(lines) + "\n")
    with pytest.warns(ReadNotice, match=r"4 files hold one triangle; mirrored \(connectome.csv"):
        stack = eg.read(tmp_path)
    np.testing.assert_array_equal(stack.dense, A)
    assert stack.graph_names == ("sub-01", "sub-02", "sub-03", "sub-04")


@pytest.fixture
def bids(tmp_path):
    """Derivatives by the BIDS extension for connectivity, with what lies beside the matrices."""
    A = random_graphs(m=6)
    names = [f"region {s}" for s in range(12)]
    (tmp_path / "dataset_description.json").write_text("{}")
    (tmp_path / "participants.tsv").write_text(
        "participant_id\tage\tgroup\nsub-01\t20\tA\nsub-02\tn/a\tB\nsub-03\t31\tA\n"
    )
    (tmp_path / "meas-PearsonCorrelation_relmat.json").write_text("{}")
    i = 0
    for sub in ("01", "02", "03"):
        for ses in ("1", "2"):
            folder = tmp_path / f"sub-{sub}" / f"ses-{ses}" / "func"
            folder.mkdir(parents=True)
            stem = f"sub-{sub}_ses-{ses}_task-rest_seg-Schaefer2018_meas-PearsonCorrelation"
            frame = pd.DataFrame(A[i], index=names, columns=names)
            frame.to_csv(folder / f"{stem}_relmat.tsv", sep="\t")
            frame.to_csv(folder / f"{stem}_timeseries.tsv", sep="\t", index=False)
            (folder / f"{stem}_motionpars.tsv").write_text("x\ty\n0\t1\n")
            i += 1
    return tmp_path, A, names


def test_relmats_of_bids(bids):
    folder, A, names = bids
    reading = eg.io.read_files(folder)
    np.testing.assert_array_equal(reading.stack.dense, A)
    assert reading.stack.vertex_names == tuple(names)
    assert reading.stack.graph_names[:2] == ("sub-01_ses-1", "sub-01_ses-2")
    assert reading.columns["task"] == ["rest"] * 6
    assert reading.columns["seg"] == ["Schaefer2018"] * 6
    assert loud(reading) == {"left out"}
    joined = eg.io.join(reading, eg.io.read_participants(folder / "participants.tsv"))
    np.testing.assert_array_equal(joined.columns["age"], [20, 20, np.nan, np.nan, 31, 31])
    assert joined.columns["group"].tolist() == list("AABBAA")


@pytest.mark.parametrize("name", ["relmat.dense.tsv", "conmat.csv", "connectome.txt"])
def test_other_names_of_matrices_in_bids(tmp_path, name):
    A = random_graphs()
    for i, graph in enumerate(A):
        folder = tmp_path / f"sub-{i}" / "dwi"
        folder.mkdir(parents=True)
        delimiter = {"tsv": "\t", "csv": ",", "txt": " "}[name[-3:]]
        path = folder / f"sub-{i}_atlas-desikan_{name}"
        np.savetxt(path, graph, delimiter=delimiter, fmt="%g")
        (folder / f"sub-{i}_atlas-desikan_nodes.tsv").write_text("index\tname\n1\ta\n")
    reading = eg.io.read_files(tmp_path, format="bids")
    np.testing.assert_array_equal(reading.stack.dense, A)
    assert reading.stack.graph_names == ("sub-0", "sub-1", "sub-2", "sub-3")
    assert loud(reading) == set()


def test_two_atlases_of_one_scan_are_not_mixed(bids):
    folder, _, _ = bids
    path = next(folder.rglob("sub-02_ses-1*_relmat.tsv"))
    path.with_name(path.name.replace("Schaefer2018", "AAL")).write_bytes(path.read_bytes())
    with pytest.raises(ReadError, match=r"1 of 6 scans .*sub-02_ses-1_task-rest.*pattern.*seg-AAL"):
        eg.read(folder)
    # A pattern chooses.
    assert eg.read(f"{folder}/**/*Schaefer2018*_relmat.tsv").n_graphs == 6


def test_matrices_of_the_brain_connectivity_toolbox(tmp_path):
    A = random_graphs()
    for i, graph in enumerate(A):
        savemat(tmp_path / f"subject{i}.mat", {"CIJ": graph, "nROIs": 12, "labels": ["a", "b"]})
    stack = eg.read(tmp_path)
    np.testing.assert_array_equal(stack.dense, A)
    assert stack.graph_names == ("subject0", "subject1", "subject2", "subject3")
    for m in (5, 12):  # as many graphs as vertices are told by their symmetry
        A = random_graphs(m)
        savemat(tmp_path / "all.mat", {"CIJ": np.moveaxis(A, 0, -1), "age": np.arange(float(m))})
        np.save(tmp_path / "all.npy", A)
        for file in ("all.mat", "all.npy"):
            np.testing.assert_array_equal(eg.read(tmp_path / file).dense, A)


def test_a_folder_of_one_kind_ignores_what_is_hidden_or_beside(tmp_path):
    A = random_graphs()
    (tmp_path / ".git").mkdir()
    for i in range(4):
        np.savetxt(tmp_path / f"s{i + 8}.txt", A[i])
    for name in (".hidden.txt", ".git/x.txt", "README.txt", "s8.json", "labels.txt"):
        (tmp_path / name).write_text("no graph\n")
    stack = eg.read(tmp_path)
    assert stack.graph_names == ("s8", "s9", "s10", "s11")
    np.testing.assert_array_equal(stack.dense, A)
    listed = eg.read([tmp_path / f"s{i}.txt" for i in (11, 8, 10)])  # keeps its order
    assert listed.graph_names == ("s11", "s8", "s10")
    np.testing.assert_array_equal(listed.dense, A[[3, 0, 2]])


def test_graphs_of_several_kinds_are_refused_with_a_pattern(tmp_path):
    save(tmp_path, "s{}.txt", random_graphs())
    np.save(tmp_path / "all.npy", random_graphs())
    with pytest.raises(ReadError, match=r"several kinds \(1 .npy, 4 .txt\).*\*\.txt"):
        eg.read(tmp_path)
    assert eg.read(f"{tmp_path}/**/*.txt").n_graphs == 4


def test_a_stray_table_among_matrices_is_left_out_and_said(tmp_path):
    save(tmp_path, "s{}.csv", random_graphs(), delimiter=",")
    (tmp_path / "scores.csv").write_text("who,sex,hand,score\ns0,f,l,1\ns1,m,r,2\n")
    with pytest.warns(ReadNotice, match=r"scores.csv is a table and not a graph; left out"):
        assert eg.read(tmp_path).n_graphs == 4
    heard = []  # instead of warnings
    eg.read(tmp_path, on_notice=heard.append)
    assert [notice.kind for notice in heard] == ["table"]
    # One that looks like edges is refused by name.
    (tmp_path / "scores.csv").write_text("who,sex,score\ns0,f,1\ns1,m,2\n")
    with pytest.raises(ReadError, match=r"4 x matrix, 1 x edge list\); edge list: .*scores.csv"):
        eg.read(tmp_path)


def test_the_mean_of_all_subjects_is_no_subject(tmp_path):
    save(tmp_path, "sub-{}.csv", random_graphs(), delimiter=",")
    np.savetxt(tmp_path / "group_mean.csv", random_graphs().mean(axis=0), delimiter=",")
    with pytest.warns(ReadNotice, match=r"1 file left out \(group_mean.csv\).*no sub-"):
        assert eg.read(tmp_path).n_graphs == 4


def test_files_of_the_same_names_in_every_folder_are_named_by_both(tmp_path):
    A = random_graphs()
    for i, (folder, name) in enumerate([("a", "fa"), ("a", "count"), ("b", "fa"), ("b", "count")]):
        (tmp_path / folder).mkdir(exist_ok=True)
        np.savetxt(tmp_path / folder / f"{name}.csv", A[i], delimiter=",")
    with pytest.warns(ReadNotice, match=r"each of 2 folders holds count, fa, and each file"):
        assert eg.read(tmp_path).graph_names == ("a/count", "a/fa", "b/count", "b/fa")
    assert eg.read(f"{tmp_path}/**/fa.*").graph_names == ("a", "b")


def test_a_manifest_names_graphs_and_keeps_its_columns(tmp_path):
    A = random_graphs()
    (tmp_path / "in").mkdir()
    save(tmp_path, "in/{}.txt", A)
    rows = ["file\tid\tgroup", *(f"in/{i}.txt\tperson {i}\tg{i % 2}" for i in (2, 0, 1))]
    (tmp_path / "list.tsv").write_text("\n".join(rows) + "\n")
    reading = eg.io.read_files(tmp_path / "list.tsv")
    assert reading.stack.graph_names == ("person 2", "person 0", "person 1")
    assert reading.columns == {"group": ["g0", "g0", "g1"]}
    np.testing.assert_array_equal(reading.stack.dense, A[[2, 0, 1]])
    (tmp_path / "list.tsv").write_text("\n".join([*rows, "in/7.txt\tx\ty"]) + "\n")
    with pytest.raises(ReadError, match=r"list.tsv, line 5: there is no file 'in/7.txt'"):
        eg.read(tmp_path / "list.tsv")
