"""What a user reads when something is wrong: options of the command, and never a traceback."""

import errno
import json

import numpy as np
import pytest
import scipy.io

import eigengraphs as eg
from eigengraphs.cli.wording import for_shell


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("choose one with key='SC', or key='all'", "choose one with --key SC, or --key all"),
        ("pass delimiter='|', or save", "pass --delimiter '|', or save"),
        ("or pass another delimiter=", "or pass another --delimiter"),
        ("pass missing='unobserved' and", "pass --allow-missing and"),
        ("vertices='union' for all", "--align union for all"),
        ("give them with labels=, or", "give them with --vertices, or"),
        ("(directed=True keeps it)", "(--directed keeps it)"),
        ("n_components=1000 is more", "--components 1000 is more"),
    ],
)
def test_arguments_become_options(said, expected):
    assert for_shell(said) == expected


def test_messages_of_the_library_speak_of_options(study, run):
    A = np.ones((20, 20))
    scipy.io.savemat(study / "three.mat", {"SC": A, "FC": A, "FA": A})
    code, _, err = run("check", "three.mat")
    assert code == 3
    assert "choose one with --key SC" in err
    table = study / "participants.tsv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    code, _, err = run("check", "connectomes", "--participants", table)
    assert code == 3
    assert "sub-24" in err
    assert "missing=" not in err
    code, _, err = run("fit", "connectomes", "out", "--transform", "log2")
    assert code == 3
    assert "--transform must be one of 'binarize'" in err
    assert "GraphStack" not in err


@pytest.mark.parametrize("wrong", ["0", "-3", "2.5", "few"])
def test_numbers_of_components_that_are_none_are_usage(study, run, wrong):
    code, _, err = run("fit", "connectomes", "out", f"--components={wrong}")
    assert code == 2
    assert "whole number" in err
    assert not (study / "out").exists()


def test_a_full_disk_is_one_line(study, run, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    code, _, err = run("convert", "connectomes", "all.npz")
    assert code == 3
    assert "No space left on device; nothing is half written" in err
    assert not list(study.glob("*all*"))


def test_a_folder_that_cannot_be_written_is_one_line(study, run, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", "/data/results")

    monkeypatch.setattr("eigengraphs.job.results.whole_folder", refused)
    code, _, err = run("fit", "connectomes", "out", "-d", "1")
    assert code == 3
    assert "cannot read or write '/data/results': Permission denied" in err


def test_errors_are_events_too(study, run):
    code, out, _ = run("check", "nothing", "--json")
    last = json.loads(out.splitlines()[-1])
    assert code == 3
    assert (last["event"], last["code"]) == ("error", 3)
    assert "nothing" in last["text"]


def test_a_label_without_a_table_says_which_option_is_missing(study, run):
    assert "--participants" in run("fit", "connectomes", "out", "--label", "group")[2]
    table = ("--participants", "participants.tsv")
    _, _, err = run("fit", "connectomes", "out", *table, "--label", "gruop")
    assert "is it 'group'?" in err
    assert "was given" not in err


def test_a_class_that_may_be_a_mistake_is_asked_about(study, run):
    table = study / "participants.tsv"
    table.write_text(table.read_text().replace("patient", "Patient", 1))
    _, _, err = run("fit", "connectomes", "out", "-d", "1", "--participants", table,
                    "--label", "group")  # fmt: skip
    assert "value 'Patient'" in err
    assert "is 'patient' meant?" in err


def test_graphs_without_edges_are_named(study, run):
    np.savetxt(study / "connectomes" / "sub-05_connectome.csv", np.zeros((20, 20)), delimiter=",")
    code, _, err = run("fit", "connectomes", "out", "-d", "1")
    assert code == 0
    assert "1 graph has no edges at all (" in err
    assert "): sub-05" in err


def test_graphs_called_by_place_say_how_they_are_joined(study, run):
    eg.io.write(eg.GraphStack(np.ones((3, 4, 4))), study / "stack.npy")
    code, _, err = run("check", "stack.npy", "--participants", "participants.tsv")
    assert code == 3
    assert "called by their places, 0 to 2" in err


def test_transform_and_convert_say_what_was_repaired(study, run):
    path = study / "connectomes" / "sub-05_connectome.csv"
    np.savetxt(path, np.triu(np.loadtxt(path, delimiter=",")), delimiter=",")
    assert "one triangle; mirrored" in run("convert", "connectomes", "all.npz")[2]


def test_edge_lists_of_new_people_may_lack_vertices_of_the_model(study, run):
    assert run("convert", "connectomes", "lists", "--to", "edgelist")[0] == 0
    assert run("fit", "lists", "out", "-d", "2")[0] == 0
    (study / "new").mkdir()
    (study / "new" / "sub-99.edgelist").write_text("3 4 2.5\n4 7 1.5\n3 19 2\n")
    code, _, err = run("transform", "out", "new", "new.tsv")
    assert code == 0
    assert "no graph names 16 vertices of the model (0, 1, 2, 5, 6 and 11 more)" in err
    got = [float(x) for x in (study / "new.tsv").read_text().splitlines()[1].split("\t")[2:4]]
    A = np.zeros((1, 20, 20))
    for s, t, w in [(3, 4, 2.5), (4, 7, 1.5), (3, 19, 2.0)]:
        A[0, s, t] = A[0, t, s] = w
    model = eg.load(study / "out" / "model.eg")
    order = [int(name) for name in model.vertex_names_]
    expected = model.transform(A[:, order][:, :, order])[0]
    np.testing.assert_allclose(got, expected, rtol=1e-8)


def test_new_graphs_without_names_are_taken_in_the_order_of_the_model_and_it_is_said(study, run):
    graphs = eg.read(study / "connectomes").with_names(vertex_names=[f"r{s}" for s in range(20)])
    eg.io.write(graphs, study / "named.npz")
    assert run("fit", "named.npz", "out", "-d", "2")[0] == 0
    code, _, err = run("transform", "out", "connectomes", "new.tsv")
    assert code == 0
    assert "the graphs name no vertices; taken in the order of the model's" in err
