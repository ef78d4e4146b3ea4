"""``eigengraphs demo``: its files hold the fit and the predictions of held-out mice."""

import json

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.datasets import load_mice


def test_the_demo_writes_what_it_found(done, table, tmp_path):
    said = done("demo", "--output", "new/folder")
    folder, mice = tmp_path / "new" / "folder", load_mice()
    names = ["loadings.tsv", "positions.tsv", "methods.md", "report.html", "report.json"]
    assert [line for line in said.splitlines() if line.startswith("wrote")] == [
        f"wrote new/folder/{name}" for name in names
    ]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert "converged: yes" in said
    je = eg.JointEmbedding(8, center=True, random_state=0).fit(mice.graphs.log1p())
    assert je.diagonal_ == "filled"
    loadings, positions = (table(folder / f"{name}.tsv") for name in ("loadings", "positions"))
    components = [f"je{k}" for k in range(1, 9)]
    assert loadings["subject"].astype(str).tolist() == list(mice.subjects)
    assert loadings["genotype"].tolist() == list(mice.genotypes)
    assert np.allclose(loadings[components], je.loadings_, rtol=1e-8)
    assert positions["region"].tolist() == list(mice.regions.names)
    assert np.allclose(positions[components], je.latent_positions_)
    accuracy = float((loadings["predicted_genotype"] == loadings["genotype"]).mean())
    assert accuracy >= 0.95
    assert f"nearest neighbor: {accuracy:.1%} right" in said
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert np.array_equal(told["loadings"], je.loadings_)
    ours, pca = told["prediction"]["methods"]
    assert (ours["name"], ours["score"]) == ("joint embedding", accuracy)
    assert (pca["name"], told["prediction"]["chance"]) == ("PCA", 0.25)
    assert 0.25 < pca["score"] <= 1
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"in {accuracy:.1%} of the cases" in page


@pytest.mark.parametrize("option", ["--output", "--files"])
def test_an_impossible_folder_is_refused(refused, tmp_path, option):
    (tmp_path / "file").write_text("mine")
    assert "folder" in refused("demo", option, "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_the_brains_as_files_are_the_brains(done, refused, table, tmp_path):
    assert done("demo", "--files", "mice") == "wrote mice: 32 matrices and participants.tsv\n"
    folder, mice = tmp_path / "mice", load_mice()
    stack = eg.read(folder)
    assert np.array_equal(np.asarray(stack.to_dense()), np.asarray(mice.graphs.to_dense()))
    assert stack.vertex_names == mice.graphs.vertex_names
    rows = table(folder / "participants.tsv")
    assert rows["participant_id"].tolist() == list(stack.graph_names)
    assert rows["genotype"].tolist() == list(mice.genotypes)
    done("demo", "--files", "mice")  # the same once more
    (folder / "participants.tsv").write_text("mine\n")
    assert "give the name of a new folder" in refused("demo", "--files", "mice")
    assert (folder / "participants.tsv").read_text() == "mine\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mice"]
