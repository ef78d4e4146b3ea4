"""The experiments on Wikipedia: scores written out, and what must come out of a quick run."""

import csv
import json

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import EigengraphsError
from eigengraphs.experiments import reproduce
from eigengraphs.experiments.table2 import PAPER
from eigengraphs.experiments.wiki_steps import METHODS, purity, resample, unit_rows


@pytest.fixture(scope="module")
def wiki():
    try:
        return eg.datasets.fetch_wiki(download=False)
    except EigengraphsError as error:
        pytest.skip(f"the Wikipedia graphs are not here: {error}")


def test_purity_counts_the_majority_of_each_cluster():
    labels = np.array([0, 0, 1, 1, 1, 0])
    groups = np.array([2, 2, 2, 0, 0, 0])
    assert purity(labels, groups) == 4 / 6
    assert purity(labels, labels) == 1.0
    assert purity(labels, np.zeros(6, dtype=int)) == 0.5


def test_rows_have_norm_one_unless_they_are_zero():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1e-17, 0.0], [0.0, -2.0]])
    np.testing.assert_allclose(unit_rows(X), [[0.6, 0.8], [0, 0], [0, 0], [0, -1]])


def test_a_bootstrap_sample_is_the_same_for_the_same_stream(wiki):
    task = {"diagonal": "observed", "clusters": 2, "first": 0, "samples": 1}
    one, again, other = (resample(np.random.default_rng(seed), **task) for seed in (0, 0, 1))
    assert one == again
    assert one != other
    assert set(one[0]) == set(METHODS) == set(PAPER)


def test_clusters_of_exactly_704_pages_beat_shuffled_labels(wiki, tmp_path):
    reproduce("table2", output=tmp_path)
    kept, rows = _written(tmp_path, "table2")
    size = kept["findings"][0]
    assert size["verdict"] == "reproduced"
    assert size["outcome"].startswith("704: 328 on people, 376 on")
    assert [row["method, 3-means"] for row in rows] == 2 * list(METHODS)
    for row in rows:
        assert float(row["ARI"].split()[0]) > float(row["ARI at random"].split(", ")[1]), row
    assert (tmp_path / "quick" / "table2-2-means.tsv").exists()
    french = [found for found in kept["findings"] if "improves on ASE" in found["claim"]]
    assert len(french) == 2  # said for both diagonals, whichever way it comes out


def test_positions_by_category(wiki, tmp_path):
    reproduce("figure8", output=tmp_path)
    kept, rows = _written(tmp_path, "figure8")
    by_d = {(row["diagonal"], row["d"]): float(row["accuracy"].split()[0]) for row in rows}
    for diagonal in ("auto", "observed"):
        assert 376 / 704 < by_d[diagonal, "3"] < by_d[diagonal, "10"]
    assert (tmp_path / "quick" / kept["pictures"][0]).stat().st_size > 50_000


def _written(folder, name):
    kept = json.loads((folder / "quick" / f"{name}.json").read_text(encoding="utf-8"))
    with (folder / "quick" / f"{name}.tsv").open(newline="", encoding="utf-8") as file:
        return kept, list(csv.DictReader(file, delimiter="\t"))
