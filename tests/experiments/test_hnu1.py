"""The experiments on HNU1: folds, parameters, verdicts, and what must come out of a quick run."""

import csv
import json
import re

import numpy as np
import pytest
from experiments.figure6_curves import Curves, Setting, parameters, ratios
from experiments.hnu1_classify import FOLDS, split

import eigengraphs as eg
from eigengraphs.errors import EigengraphsError
from experiments import figure6, figure6_picture, figure7, reproduce

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


def _curves(joint, pca, *, folds=5, not_converged=0):
    """Return curves that are the same in every fold, up to a little that errors need."""
    little = 1e-3 * np.arange(folds)[:, None]
    by_method = {"JE": joint, "JE, fitted graphs": joint, "PCA": pca}
    return Curves(
        {method: np.asarray(values) + little for method, values in by_method.items()},
        np.ones(folds),
        not_converged,
    )


def _reaching(*first):
    """Return accuracies that reach 0.5, 0.8, 0.9, 0.95 at these d; None for never."""
    accuracies = np.full(40, 0.1)
    for target, d in zip(figure6.TARGETS, first, strict=True):
        if d is not None:
            accuracies[d - 1 :] = target
    return accuracies


# A component of PCA costs 25.15 times one of JE with one scan, and 8.79 times with eight.
@pytest.mark.parametrize(
    ("scans", "joint", "verdict", "reason"),
    [
        (1, (6, 10, 16, 20), "reproduced", "at least 3 times at every target"),
        (1, (7, 10, 16, 20), "differs", "less than 8 times at 0.5"),
        (1, (4, 10, 34, 36), "differs", "less than 3 times at 0.9"),
        (1, (4, 10, 16, 38), "differs", "less than 3 times at 0.95"),
        (8, (2, 4, 8, 10), "reproduced", "at least 3 times at every target"),
        (8, (7, 8, 9, 10), "differs", "less than 3 times at 0.5"),
        (8, (2, 4, 12, 13), "differs", "less than 3 times at 0.9"),
    ],
)
def test_far_fewer_parameters_are_asked_at_every_target(scans, joint, verdict, reason):
    curves = _curves(_reaching(*joint), _reaching(2, 3, 4, 4))
    found = figure6._fewer_parameters(Setting(scans), curves)
    assert (found.verdict, reason in found.reason) == (verdict, True), found
    for target in figure6.TARGETS:
        mean, squares = (
            ratios(curves, scans, target, symmetric=kind).mean() for kind in (True, False)
        )
        told = found.outcome.split(f"to reach {target}, ")[1].split(";")[0]
        assert float(told.split()[0]) == pytest.approx(mean, abs=0.051)
        assert float(told.split("n^2: ")[1].split()[0]) == pytest.approx(squares, abs=0.051)


def test_a_target_that_is_not_reached_is_told_and_not_judged():
    curves = _curves(_reaching(3, 6, 9, None), _reaching(2, 3, 4, 4))
    found = figure6._fewer_parameters(Setting(1), curves)
    assert found.verdict == "reproduced"
    assert "to reach 0.95, JE does not in 5 of 5 folds up to d = 40" in found.outcome
    assert "0.95, which spares JE" in found.reason
    curves.by_method["JE"][1, -1] = 0.99
    told = figure6._fewer_parameters(Setting(1), curves).outcome.split("0.95, ")[1]
    assert told.startswith(f"{25.15 * 4 / 40:.1f} times")
    assert "in 1 of 5 folds but JE does not in 4 of 5 folds" in told
    never = _curves(np.full(5, 0.1), np.full(5, 0.1))
    assert figure6._fewer_parameters(Setting(1), never).verdict == "differs"


def test_accuracy_at_the_largest_d_is_of_one_setting_with_its_own_d():
    low, high = np.full(40, 0.8), np.full(30, 0.97)
    main = {
        Setting(1): _curves(np.full(40, 0.95), high),
        Setting(1, centring="training"): _curves(low, low[:29]),
        Setting(8): _curves(np.full(40, 0.99), np.full(40, 0.98)),
    }
    found = figure6._large_dimensions(main)
    assert found.verdict == "reproduced"
    assert re.search(r"PCA 0\.972\d* \(0\.00\d+\) at d = 30", found.outcome)
    main[Setting(1)] = _curves(low, high)
    found = figure6._large_dimensions(main)
    assert (found.verdict, found.reason[:16]) == ("differs", "below 0.9 for JE")


def test_small_dimensions_are_judged_in_every_setting(monkeypatch):
    monkeypatch.setattr(figure6.hnu1_classify, "fibres", lambda: 1457.0)  # reads the data
    ahead, behind = (_curves(np.full(40, joint), np.full(30, 0.5)) for joint in (0.6, 0.4))
    few = {Setting(1): ahead, Setting(1, "observed"): ahead}
    assert figure6._small_dimensions(few).verdict == "reproduced"
    few[Setting(1, "observed")] = behind
    assert figure6._small_dimensions(few).verdict == "differs"


def test_fits_that_did_not_converge_are_counted():
    curve = np.full(40, 0.5)
    results = {Setting(1): _curves(curve, curve)}
    assert figure6._convergence(results) == "All 5 joint embeddings converged."
    results[Setting(8, weights="counts")] = _curves(curve, curve, not_converged=3)
    assert figure6._convergence(results).startswith("3 of 10 joint embeddings did not")
    table = figure6._summary(results)
    column = table.columns.index("fits not converged")
    assert [row[column] for row in table.rows] == ["0 of 5", None, "3 of 5", None]


def test_every_panel_of_figure6_names_its_axes():
    curve = np.linspace(0.1, 0.9, 40)
    results = {setting: _curves(curve, curve[:30]) for setting, _ in figure6_picture.ROWS}
    panels = figure6_picture.draw(results).axes
    assert [(panel.get_xlabel(), panel.get_ylabel()) for panel in panels] == 3 * [
        ("dimensions d", "accuracy"), ("parameters", "accuracy"), ("dimensions d", "parameters"),
    ]  # fmt: skip


@pytest.mark.parametrize(("p", "verdict"), [(1e-4, "reproduced"), (0.5, "differs")])
def test_only_centred_graphs_are_held_against_the_paper(p, verdict):
    one = {"p": [1e-4, p, *5 * [0.5]], "AUC": [0.9, 0.8, *5 * [0.5]], "accuracy": [0.95, 0.93],
           "chance": [0.5, 0.6], "H": np.eye(70, 7).tolist()}  # fmt: skip
    results = {("auto", centred, "log1p"): one for centred in (True, False)}
    found = {finding.claim: finding for finding in figure7._findings(results)}
    several = [finding for claim, finding in found.items() if "several" in claim]
    assert [finding.verdict for finding in several] == [verdict, "new"]
    asked = found["(not in the paper) can the hemisphere be predicted from the positions?"]
    assert "at least 0.9, a bar of our own" in asked.reason


@pytest.mark.slow
def test_few_parameters_recognise_subjects(hnu1, tmp_path):
    reproduce("figure6", output=tmp_path)
    kept, rows = _written(tmp_path, "figure6", "figure6-by-dimension")
    fewer = [finding for finding in kept["findings"] if "far fewer" in finding["claim"]]
    assert [finding["verdict"] for finding in fewer] == 6 * ["reproduced"]
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


@pytest.mark.slow
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
