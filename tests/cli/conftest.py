"""A study on disk: 24 participants of two groups, one matrix each, and a table of participants."""

import json

import numpy as np
import pandas as pd
import pytest
from known_graphs import two_groups

import eigengraphs as eg


@pytest.fixture(scope="session")
def stack():
    return eg.GraphStack(two_groups()[0])


def write_study(folder, names, graphs, rows):
    """Write matrices as files, and a table of participants with columns group and age."""
    folder.mkdir()
    for name, graph in zip(names, graphs, strict=True):
        np.savetxt(folder / f"{name}.csv", graph, delimiter=",")
    table = "\n".join(["participant_id\tgroup\tage", *rows, ""])
    (folder.parent / "participants.tsv").write_text(table, encoding="utf-8")


@pytest.fixture
def study(tmp_path):
    A, group = two_groups()
    names = [f"sub-{i + 1:02d}" for i in range(24)]
    rows = [f"{name}\t{('control', 'patient')[group[i]]}\t{30 + i}" for i, name in enumerate(names)]
    write_study(tmp_path / "connectomes", [f"{name}_connectome" for name in names], A, rows)
    return tmp_path


@pytest.fixture
def change(study):
    """Return a function that replaces matrices of the study: by i, and the matrix as it is."""

    def change_matrices(new, fmt="%.18e"):
        for i in range(24):
            path = study / "connectomes" / f"sub-{i + 1:02d}_connectome.csv"
            np.savetxt(path, new(i, np.loadtxt(path, delimiter=",")), delimiter=",", fmt=fmt)

    return change_matrices


def must(code, part):
    """Return a fixture: a function that runs a command, which must end so, for a part of `run`."""

    @pytest.fixture
    def fixture(run):
        def run_command(*words):
            result = run(*words)
            assert result[0] == code, result[2]
            return result[part]

        return run_command

    return fixture


done, noted, refused = must(0, 1), must(0, 2), must(3, 2)  # output; notes; the message


@pytest.fixture
def told(done):
    """Return a function that runs a command with --json: its last event."""
    return lambda *words: json.loads(done(*words, "--json").splitlines()[-1])


@pytest.fixture
def out(study, done):
    """Fit the study; return the folder of results."""
    vertices = ["vertex\thalf"] + [f"v{s}\t{'ab'[s // 10]}" for s in range(20)]
    (study / "vertices.tsv").write_text("\n".join(vertices) + "\n", encoding="utf-8")
    done("fit", "connectomes", "out", "-d", 2, "--participants", "participants.tsv",
         "--vertices", "vertices.tsv")  # fmt: skip
    return study / "out"


@pytest.fixture
def scans(tmp_path, done):
    """Fit 24 scans: 12 participants of two groups, two sessions each."""
    A, _ = two_groups()
    A = A[np.argsort(np.arange(24) % 2, kind="stable")]  # one group for each participant
    names = [f"sub-{i // 2:02d}_ses-{1 + i % 2}_x" for i in range(24)]
    rows = [f"sub-{k:02d}\t{'patient' if k >= 6 else 'control'}\t{30.5 + 2 * k}" for k in range(12)]
    write_study(tmp_path / "scans", names, A, rows)
    done("fit", "scans", "out", "-d", 2, "--participants", "participants.tsv")
    return tmp_path


@pytest.fixture(scope="session")
def table():
    """Return a function that reads a table as its users do."""
    return lambda path: pd.read_csv(path, sep="\t", dtype={"id": str})
