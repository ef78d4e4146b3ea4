"""The experiments on HNU1: folds, counts of parameters, and what must come out of a quick run."""

import csv
import json

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import EigengraphsError
from eigengraphs.experiments import reproduce
from eigengraphs.experiments.figure6_curves import Curves, parameters, ratios
from eigengraphs.experiments.hnu1_classify import FOLDS, split

SESSIONS = np.tile(np.arange(1, 11), 30)


@pytest.fixture(scope="module")
def hnu1():
    try:
        return eg.datasets.fetch_hnu1(download=False)
    except EigengraphsError as error:
        pytest.skip(f"HNU1 is not here: {error}")


def test_with_eight_scans_every_graph_is_tested_once():
    tested = []
    for fold in range(FOLDS):
        train, test = split(SESSIONS, 8, fold)
        assert (len(train), len(test)) == (240, 60)
        assert not np.intersect1d(train, test).size
        tested.append(test)
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.arange(300))


def test_with_one_scan_folds_train_on_different_sessions():
    trained = []
    for fold in range(FOLDS):
        train, test = split(SESSIONS, 1, fold)
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(300))
        (session,) = np.unique(SESSIONS[train])
        assert len(train) == 30
        trained.append(session)
    assert len(set(trained)) == FOLDS


def test_parameters_are_those_of_the_paper():
    assert parameters("JE", 3, scans=1) == 3 * (70 + 30)
    assert parameters("PCA", 3, scans=8, symmetric=False) == 3 * (70**2 + 240)
    assert parameters("PCA", 3, scans=8) == 3 * (70 * 71 / 2 + 240)


def test_ratios_take_the_first_dimension_that_reaches_the_target():
    curves = Curves(
        {"JE": np.array([[0.1, 0.5, 0.4], [0.1, 0.2, 0.3]]), "PCA": np.array([[0.6], [0.6]])},
        np.ones(2),
    )
    first, never = ratios(curves, 1, 0.5)
    assert first == (70 * 71 / 2 + 30) / (2 * (70 + 30))
    assert np.isnan(never)


def test_few_parameters_recognise_subjects(hnu1, tmp_path):
    reproduce("figure6", output=tmp_path)
    kept, rows = _written(tmp_path, "figure6", "figure6-by-dimension")
    assert {finding["verdict"] for finding in kept["findings"] if "fewer" in finding["claim"]} >= {
        "reproduced"
    }
    for diagonal in ("auto", "observed"):
        for centring in ("all", "training"):
            needed = {}
            for method in ("JE", "PCA"):
                needed[method] = min(
                    float(row["parameters"])
                    for row in rows
                    if (row["scans"], row["fibres kept"]) == ("1", "1")
                    and (row["diagonal"], row["centred by"]) == (diagonal, centring)
                    and row["method"] == method
                    and float(row["accuracy"]) >= 0.5
                )
            assert needed["PCA"] >= 8 * needed["JE"], (diagonal, centring, needed)
    reference = [finding for finding in kept["findings"] if "vectorised" in finding["claim"]]
    assert reference[0]["verdict"] == "reproduced"


def test_positions_tell_left_from_right(hnu1, tmp_path):
    reproduce("figure7", output=tmp_path)
    kept, rows = _written(tmp_path, "figure7", "figure7")
    assert len(rows) == 4
    for row in rows:
        assert float(row["accuracy"].split()[0]) >= 0.9, row
        mean, _ = row["chance: mean, 95 %"].split(", ")
        assert abs(float(mean) - 0.5) < 0.1
    assert (tmp_path / "quick" / kept["pictures"][0]).stat().st_size > 50_000


def _written(folder, name, table):
    kept = json.loads((folder / "quick" / f"{name}.json").read_text(encoding="utf-8"))
    with (folder / "quick" / f"{table}.tsv").open(newline="", encoding="utf-8") as file:
        return kept, list(csv.DictReader(file, delimiter="\t"))
