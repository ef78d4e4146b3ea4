"""Pairs without an edge, ranked on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import eigengraphs as eg


@pytest.fixture
def layers(tmp_path):
    model = eg.models.StochasticBlockModel([[0.7, 0.1], [0.1, 0.7]], [0, 1] * 10)
    (tmp_path / "layers").mkdir()
    for name, graph in zip("abc", np.array(model.sample(3, random_state=0)), strict=True):
        np.savetxt(tmp_path / "layers" / f"{name}.csv", graph * 8, delimiter=",")
    return tmp_path


def test_links_leave_a_ranking_and_what_it_is_worth(layers, run):
    words = ("links", "layers", "-d", 2, "--repeats", 2, "--top", 25, "--transform", "log1p")
    code, said, _ = run(*words)
    assert code == 0
    assert "wrote links/pairs.tsv, links/accuracy.tsv" in said
    pairs = pd.read_csv(layers / "links" / "pairs.tsv", sep="\t")
    assert pairs["rank"].tolist() == list(range(1, 26))
    assert set(pairs["graph"]) <= set("abc")
    assert (pairs["known"] == "no edge").all()
    same = (pairs["vertex"] - pairs["vertex_2"]) % 2 == 0
    assert same.mean() > 0.9
    accuracy = pd.read_csv(layers / "links" / "accuracy.tsv", sep="\t")
    whole = accuracy[accuracy["graph"].isna()].set_index("method")
    assert whole.loc["joint", "average_precision"] > whole.loc["degrees", "average_precision"]
    code, said, _ = run(*words, "--json")
    done = json.loads(said.splitlines()[-1])
    assert done["event"] == "done"
    assert [pair["score"] for pair in done["pairs"]] == pytest.approx(pairs["score"].tolist())
    assert len(done["accuracy"]) == len(accuracy) == 8 * 4


def test_links_refuse_a_file_in_the_place_of_the_folder(layers, run):
    (layers / "links").write_text("", encoding="utf-8")
    code, _, said = run("links", "layers")
    assert code == 3
    assert "'links' is a file; name a folder by --output" in said
