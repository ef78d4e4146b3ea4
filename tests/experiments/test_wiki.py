"""The experiments on Wikipedia: scores written out, and what must come out of a quick run."""

import csv
import json

import numpy as np
import pytest
from experiments.table2 import PAPER, Scores
from experiments.wiki_steps import METHODS, purity, resample, unit_rows

import eigengraphs as eg
from eigengraphs.errors import EigengraphsError
from experiments import figure8, reproduce, table2


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


def _scores(ari, error, rng):
    """Return scores by method with this ARI each; differences have an error of ``error``."""
    null = {what: np.zeros(99) for what in ("ARI", "purity")}
    found = {}
    for method, value in ari.items():
        noise = rng.normal(size=400)
        noise = (noise - noise.mean()) / noise.std(ddof=1) * error / np.sqrt(2)
        drawn = {"ARI": value + noise, "purity": 0.6 + noise}
        found[method] = Scores({"ARI": value, "purity": 0.6}, null, drawn, [[9, 1], [1, 9]], 0)
    return found


def _judged(three, two, error=0.005):
    rng = np.random.default_rng(0)
    scores = [_scores(dict.fromkeys(METHODS, 0.03) | ari, error, rng) for ari in (three, two)]
    return {finding.claim: finding for finding in table2._about("made up", *scores)}


BOTH = "JE on both is better than ASE of the mean graph"
ENGLISH = "JE and ASE give similar results on the English graph"
FRENCH = "JE improves on ASE for the French graph significantly"


def test_no_difference_beyond_the_error_is_said_to_be_none():
    found = _judged({"JE+(EN,FR)": 0.033, "JE+EN": 0.027}, {"JE+(EN,FR)": 0.028, "JE+EN": 0.028})
    for claim, signs in ((BOTH, "-0.0020"), (ENGLISH, "-0.0020")):
        assert found[claim].verdict == "reproduced"
        assert "no difference beyond the error, as in the paper" in found[claim].reason
        assert f"2-means: {signs}" in found[claim].reason
    assert "the other sign" in found[BOTH].reason
    assert "the same sign" in found[ENGLISH].reason


@pytest.mark.parametrize(("gap", "both", "english", "french"), [
    (+0.03, "reproduced", "differs", "reproduced"),
    (-0.03, "differs", "differs", "differs"),
    (+0.005, "reproduced", "reproduced", "differs"),
    (-0.005, "reproduced", "reproduced", "differs"),
])  # fmt: skip
def test_differences_are_judged_by_their_errors(gap, both, english, french):
    better = {"JE+(EN,FR)": 0.03 + gap, "JE+EN": 0.03 + gap, "JE+FR": 0.03 + gap}
    found = _judged(better, {})
    assert [found[claim].verdict for claim in (BOTH, ENGLISH, FRENCH)] == [both, english, french]
    assert ("no difference" in found[BOTH].reason) == (abs(gap) < 0.01)


def test_the_order_is_read_off_the_table_with_its_tie():
    for sign, verdict in ((1, "reproduced"), (-1, "differs")):
        found = _judged({method: sign * row[0] for method, row in PAPER.items()}, {})
        (claim,) = (claim for claim in found if "order by ARI" in claim)
        assert "the paper does not claim it" in claim
        assert "JE+EN and JE+FR (a tie, 0.154)" in claim
        assert found[claim].verdict == verdict


@pytest.mark.parametrize(("accuracy", "verdict", "words"), [
    (0.566, "differs", "+1.7 standard errors from guessing: not clearly better"),
    (0.52, "differs", "not clearly better"),
    (0.60, "differs", "better, but mixed"),
    (0.75, "reproduced", "as many are told apart"),
])  # fmt: skip
def test_accuracy_is_compared_with_guessing_the_larger_class(accuracy, verdict, words):
    one = {"labels": 328 * [0] + 376 * [1], "accuracy": 3 * [accuracy], "chance": [0.52, 0.53],
           "AUC": [0.5, 0.6, 0.5], "silhouette": 0.0}  # fmt: skip
    found = figure8._apart("auto", one)
    assert found.verdict == verdict
    assert words in found.reason
    assert "0.534 by guessing the larger class" in found.outcome
    # Shuffled labels that do better than the larger class are the bar then.
    above = figure8._apart("auto", one | {"chance": [0.6, 0.6]})
    assert "better, but mixed" not in above.reason


def test_figure8_and_table2_give_the_same_reason():
    one = {"labels": 328 * [0] + 376 * [1], "accuracy": 3 * [0.56], "chance": [0.52, 0.53],
           "AUC": [0.5, 0.6, 0.5], "silhouette": 0.0}  # fmt: skip
    scores = _scores(dict.fromkeys(METHODS, 0.03), 0.005, np.random.default_rng(0))
    scores = {method: s._replace(members=[[40, 60], [60, 40]]) for method, s in scores.items()}
    reasons = [table2._size({("observed", 3): scores}).reason, figure8._apart("auto", one).reason]
    for reason in reasons:
        assert table2.THINGS[1:] in reason
        assert "that alone would leave" in reason
    assert reasons[0].endswith("but none is seen")
    seen = {method: s._replace(members=[[10, 90], [90, 40]]) for method, s in scores.items()}
    assert table2._size({("observed", 3): seen}).reason.endswith("which is seen")


def test_every_page_is_drawn(monkeypatch):
    H = np.random.default_rng(0).standard_t(2, size=(200, 3))
    drawn = []
    monkeypatch.setattr(figure8.drawing, "save", lambda run, figure: drawn.append(figure) or "")
    figure8._picture(None, {"H": H.tolist(), "labels": 100 * [0] + 100 * [1]})
    axes = np.reshape(drawn[0].axes, (4, 4))
    for k in range(3):
        assert sum(bar.get_height() for bar in axes[3, k].patches) == 200
        for j in range(3):
            low, high = axes[j, k].get_xlim()
            assert low < H[:, k].min()
            assert high > H[:, k].max()


@pytest.mark.slow
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
