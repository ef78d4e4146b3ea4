"""``eigengraphs simulate``: what it writes is read, fitted and true; or nothing is written."""

import json

import numpy as np
import pandas as pd
import pytest

import eigengraphs as eg
from eigengraphs.models.simulation import read_design, simulate_blocks, simulate_truth


def read(path):
    return eg.read(path, on_notice=lambda _: None)


def test_a_folder_is_ready_to_be_fitted(tmp_path, done):
    out = done("simulate", "section5.2", "study", "--graphs", "20", "--seed", "4")
    assert "--participants study/participants.tsv --label class" in out
    design = read_design("section5.2")
    expected, truth = (draw(design, 0, 20, 4) for draw in (simulate_blocks, simulate_truth))
    graphs = read(tmp_path / "study")
    assert graphs.graph_names == expected.graph_names
    assert np.array_equal(graphs.dense, expected.dense)
    people = pd.read_csv(tmp_path / "study" / "participants.tsv", sep="\t")
    assert people["class"].tolist() == (truth.classes + 1).tolist()
    assert np.allclose(people[["lambda1", "lambda2"]], truth.loadings)
    kept = json.loads((tmp_path / "study" / "truth.json").read_text(encoding="utf-8"))
    assert (kept["design"], kept["seed"], kept["graphs"]) == ("section5.2", 4, 20)
    assert np.allclose(kept["positions"], design.positions)
    assert {path.name for path in tmp_path.iterdir()} == {"study"}
    out = done("fit", "study", "results", "-d", "2", "--participants",
                         "study/participants.tsv", "--label", "class")  # fmt: skip
    assert "class of held-out graphs, accuracy: joint embedding" in out


@pytest.mark.parametrize("name", ["all.npz", "all.npy", "all.mat", "all.parquet"])
def test_a_file_has_its_truth_beside_it(tmp_path, name, done):
    done("simulate", "weighted", name, "--graphs", "3", "--vertices", "12")
    assert {path.name for path in tmp_path.iterdir()} == {
        name, "all_participants.tsv", "all_truth.json",
    }  # fmt: skip
    expected = simulate_blocks(read_design("weighted", vertices=12), 0, 3, 0)
    assert np.array_equal(np.asarray(read(tmp_path / name).to_dense()), expected.dense)
    out = done("check", name, "--participants", "all_participants.tsv", "--label", "class")
    assert "3 undirected weighted graphs on 12 vertices" in out
    assert "columns: participant_id, class, lambda1" in out


def test_more_graphs_begin_with_the_same(tmp_path, done):
    recipe = {"model": "er", "vertices": 200, "p": 0.1, "graphs": 2}
    (tmp_path / "er.json").write_text(json.dumps(recipe), encoding="utf-8")
    for name, words in (("few", ()), ("many", ("--graphs", "5"))):
        done("simulate", "er.json", name, "--format", "edgelist", *words)
    assert np.array_equal(read(tmp_path / "few").to_dense().dense,
                          read(tmp_path / "many").to_dense().dense[:2])  # fmt: skip
    kept = json.loads((tmp_path / "many" / "truth.json").read_text(encoding="utf-8"))
    assert kept["recipe"] == recipe
    assert kept["positions"] is None


def test_large_graphs_are_written_as_edges(tmp_path, told):
    last = told("simulate", "sparse", "big", "--vertices", "2000", "--graphs", "2")
    assert last["files"] == ["big", "big/participants.tsv", "big/truth.json"]
    assert len(list((tmp_path / "big").glob("*.edgelist"))) == 2
    expected = simulate_blocks(read_design("sparse", vertices=2000), 0, 2, 0)
    assert expected.is_sparse
    assert np.array_equal(read(tmp_path / "big").to_dense().dense, expected.to_dense().dense)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bad.toml", "out"), "bad.toml: p must be a number, got 'x'; pass a float"),
        (
            ("tall.toml", "out"),
            "tall.toml, g000000, class 'all': graphs[0]: the edge probability of the pair (s, t) = "
            "(0, 1) is 3, outside [0, 1]",
        ),
        (("section5.1", "out.xyz"), "the ending of 'out.xyz' is no"),
        (("section5.1", "nowhere/out"), "there is no folder nowhere"),
        (("section5.1", "full"), "full exists and is not empty"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(tmp_path, words, said, refused):
    (tmp_path / "bad.toml").write_text('model = "er"\nvertices = 4\np = "x"\n', encoding="utf-8")
    (tmp_path / "tall.toml").write_text(
        'model = "mreg"\nsizes = [4]\npatterns = [[1]]\nloadings = [12]\n', encoding="utf-8"
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", encoding="utf-8")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    err = refused("simulate", *words)
    assert said in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_blocks_of_any_size_are_joined(tmp_path, monkeypatch, done):
    monkeypatch.setattr("eigengraphs.cli.commands.simulate._ENTRIES", 3 * 20 * 20)
    done("simulate", "section5.1", "all.npz", "--graphs", "8")
    expected = simulate_blocks(read_design("section5.1"), 0, 8, 0)
    found = read(tmp_path / "all.npz")
    assert np.array_equal(found.dense, expected.dense)
    assert found.graph_names == expected.graph_names
