"""The demo, its files, and the command that runs it."""

import csv
import json
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import eigengraphs as eg
from eigengraphs import JointEmbedding
from eigengraphs.datasets import load_mice
from eigengraphs.demo import leave_one_out_predictions, run_demo, write_files
from eigengraphs.errors import InputError
from eigengraphs.system.tables import write_table


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo") / "new" / "folder")


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_held_out_mice_are_recognised(result):
    assert result.accuracy >= 0.95
    assert result.embedding.converged_
    assert result.embedding.diagonal_ == "filled"


def test_tables_hold_the_fit(result):
    mice = load_mice()
    page, picture, loadings, positions, data = result.files
    rows = read(loadings)
    assert [row["subject"] for row in rows] == list(mice.subjects)
    assert [row["genotype"] for row in rows] == list(mice.genotypes)
    found = np.array([[float(row[f"je{k}"]) for k in range(1, 9)] for row in rows])
    assert np.allclose(found, result.embedding.loadings_, rtol=1e-8)
    rows = read(positions)
    assert [row["region"] for row in rows] == list(mice.regions.names)
    right = np.mean([row["predicted_genotype"] == row["genotype"] for row in read(loadings)])
    assert right == result.accuracy
    assert picture.read_bytes().startswith(b"\x89PNG")
    told = json.loads(data.read_text(encoding="utf-8"))
    assert told["loadings"] == result.embedding.loadings_.tolist()
    ours, pca = told["prediction"]["methods"]
    assert (ours["name"], ours["score"]) == ("joint embedding", result.accuracy)
    assert (pca["name"], told["prediction"]["chance"]) == ("PCA", 0.25)
    assert 0.25 < pca["score"] <= 1
    assert f"in {result.accuracy:.1%} of the cases" in page.read_text(encoding="utf-8")
    assert not list(page.parent.glob(".*"))  # no temporary file is left


def test_the_held_out_graph_is_not_seen():
    # The prediction for graph 0 by hand: fit without it, project it, nearest neighbour.
    mice = load_mice()
    graphs, y = mice.graphs.log1p()[::4], mice.genotypes[::4]
    embedding = JointEmbedding(2, center=True, random_state=0)
    seen = []
    predictions = leave_one_out_predictions(embedding, graphs, y, seen.append)
    assert seen == list(range(8))
    assert not hasattr(embedding, "loadings_")  # the given estimator is left as it was
    rest = JointEmbedding(2, center=True, random_state=0).fit(graphs[1:])
    nearest = KNeighborsClassifier(1).fit(rest.loadings_, y[1:])
    assert predictions[0] == nearest.predict(rest.transform(graphs[:1]))[0]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "table.tsv"
    write_table(path, ["a"], [["1"]])

    def rows():
        yield ["2"]
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_table(path, ["a"], rows())
    assert path.read_text() == "a\n1\n"
    assert list(tmp_path.iterdir()) == [path]


def command(*arguments):
    code = "from eigengraphs.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


def test_command_version_help_and_usage():
    assert command("--version").stdout.strip() == f"eigengraphs {version('eigengraphs')}"
    assert "demo" in command("--help").stdout
    assert command("nothing").returncode == 2
    assert command("demo", "--components", "1").returncode == 2


def test_command_refuses_an_impossible_folder(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = command("demo", "--output", str(blocked))
    assert done.returncode == 3
    assert "cannot make the output folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_brains_as_files_are_the_brains(tmp_path):
    folder = write_files(tmp_path / "mice")
    stack = eg.read(folder)
    mice = load_mice()
    assert np.array_equal(np.asarray(stack.to_dense()), np.asarray(mice.graphs.to_dense()))
    assert stack.vertex_names == mice.graphs.vertex_names
    rows = read(folder / "participants.tsv")
    assert [row["participant_id"] for row in rows] == list(stack.graph_names)
    assert [row["genotype"] for row in rows] == list(mice.genotypes)
    assert write_files(folder) == folder  # the same once more
    (folder / "participants.tsv").write_text("mine\n")
    with pytest.raises(InputError, match="give the name of a new folder"):
        write_files(folder)
    assert (folder / "participants.tsv").read_text() == "mine\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mice"]
