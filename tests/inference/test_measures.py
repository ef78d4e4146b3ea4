"""Measures of held-out predictions: those of naive computations; what cannot be is said."""

import numpy as np
import pytest
from tests.inference.test_evaluate import planted, settings

from eigengraphs.errors import InputError
from eigengraphs.inference import evaluate
from eigengraphs.inference.prediction.folds import permuted

LOGISTIC = "joint embedding, logistic"


@pytest.fixture(scope="module")
def graphs():
    return planted(48)[0]


def noisy(y, share, seed=0):
    """Return labels, a share of which is drawn anew."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(y)) < share, rng.permutation(y), y)


@pytest.fixture(scope="module")
def found(graphs):
    y, site = noisy(planted(48)[1], 0.5), np.repeat(["north", "south"], 24)
    site[y == "b"] = np.where(np.arange((y == "b").sum()) < 4, "east", site[y == "b"])
    return evaluate(graphs, y, embedding=settings(), methods="PCA", cv=4, repeats=2), site


def told_of(found, name):
    return [np.concatenate(x) for x in (found.truth, found.predictions[name],
                                        found.probabilities[name])]  # fmt: skip


def test_measures_of_two_classes_are_those_of_counting(found):
    found, _ = found
    y, told, P = told_of(found, LOGISTIC)
    assert found.positive == "b"
    positive = y == "b"
    got = found.score("joint embedding", "logistic")
    sensitivity, specificity = (told[positive] == "b").mean(), (told[~positive] == "a").mean()
    pairs = P[positive, 1][:, None] - P[~positive, 1]
    expected = {
        "accuracy": got.score, "balanced_accuracy": (sensitivity + specificity) / 2,
        "sensitivity": sensitivity, "specificity": specificity,
        "roc_auc": (pairs > 0).mean() + (pairs == 0).mean() / 2,
        "brier_score": ((P[:, 1] - positive) ** 2).mean(),
    }  # fmt: skip
    assert got.measures == pytest.approx(expected, rel=1e-12)
    assert 0.6 < got.measures["roc_auc"] < 0.95
    assert len({round(value, 6) for value in got.measures.values()}) >= 5  # they differ here
    chance = found.scores[-1].measures
    assert (chance["roc_auc"], chance["balanced_accuracy"]) == (0.5, 0.5)
    nearest = found.score("joint embedding", "1-NN")
    assert nearest.measures["roc_auc"] is None
    assert "no roc_auc, brier_score: the rule gives classes without" in nearest.why_empty
    row = dict(zip(found.header, found.rows()[1], strict=True))
    assert {name: row[name] for name in expected} == got.measures


def test_each_site_has_its_measures_or_the_reason(found):
    found, site = found
    assert len(found.measures()) == len(found.scores) * 8  # folds
    rows = {row["part"]: row for row in found.measures(site) if row["pipeline"] == LOGISTIC}
    assert sum(row["graphs"] for row in rows.values()) == 96
    held_out = site[np.concatenate([test for _, test in found.splits])]
    y, told, _ = told_of(found, LOGISTIC)
    for name, row in rows.items():
        assert row["accuracy"] == pytest.approx((y == told)[held_out == name].mean())
    east = rows["east"]
    assert east["sensitivity"] == east["accuracy"]
    assert [east[name] for name in ("roc_auc", "balanced_accuracy", "specificity")] == [None] * 3
    inside = [row["roc_auc"] for row in found.measures(pipeline=LOGISTIC)]
    best = max(found.scores[:2], key=lambda score: score.score)
    assert (best.name == LOGISTIC) is (f"({np.mean(inside):.3f} within folds)" in found.words()[1])
    nearest = next(row for row in found.measures(site, "joint embedding, 1-NN")
                   if row["part"] == "east")  # fmt: skip
    assert nearest["why_empty"].count("brier_score") == 1
    assert east["why_empty"] == "no balanced_accuracy, roc_auc, specificity: no graph of 'a'"


def test_confusion_and_calibration_count_every_prediction(found):
    found, _ = found
    y, told, P = told_of(found, LOGISTIC)
    rows = {row["class"]: row for row in found.confusion() if row["pipeline"] == LOGISTIC}
    assert rows["a"]["predicted b"] == ((y == "a") & (told == "b")).sum()
    assert rows["b"]["predicted b"] == ((y == "b") & (told == "b")).sum()
    rows = [row for row in found.calibration() if row["pipeline"] == LOGISTIC]
    counts = np.array([row["graphs"] for row in rows])
    assert counts.sum() == 96
    for name, values in (("predicted", P[:, 1]), ("observed", y == "b")):
        assert counts @ [row[name] for row in rows] == pytest.approx(values.sum())


def test_more_classes_are_one_against_the_rest(graphs):
    group = np.where(noisy(planted(48)[1], 0.3) == "b", "b", np.tile(list("ac"), 24))
    found = evaluate(graphs, group, embedding=settings(), methods=(), rules="linear", cv=3)
    y, _, P = told_of(found, LOGISTIC)
    areas = []
    for k, c in enumerate("abc"):
        pairs = P[y == c, k][:, None] - P[y != c, k]
        areas.append((pairs > 0).mean() + (pairs == 0).mean() / 2)
    measures = found.scores[0].measures
    assert measures["roc_auc"] == pytest.approx(np.mean(areas))
    indicator = y[:, None] == np.array(list("abc"))
    assert measures["brier_score"] == pytest.approx(((P - indicator) ** 2).sum(1).mean())
    assert "sensitivity" not in measures
    assert found.calibration()[0]["probability_of"] == "the predicted class"
    for given in ("b", "x"):
        with pytest.raises(InputError, match="positive"):
            evaluate(graphs, group if given == "b" else y, positive=given, methods=(), cv=2)


def test_measures_of_a_quantity_are_those_of_counting(graphs):
    y = np.linspace(30.0, 90.0, 48) + 20 * (planted(48)[1] == "b")
    folds = np.repeat([1, 2, None], [12, 12, 24])
    found = evaluate(graphs, y, embedding=settings(), methods=(), rules="linear", folds=folds,
                     learn_from="one")  # fmt: skip
    truth, told = (
        np.concatenate(x) for x in (found.truth, found.predictions[found.scores[0].name])
    )
    off, got = truth - told, found.scores[0].measures
    assert got["MAE"] == pytest.approx(np.abs(off).mean())
    assert got["RMSE"] == pytest.approx(np.sqrt((off**2).mean()))
    assert got["r"] == pytest.approx(np.corrcoef(truth, told)[0, 1])
    assert got["R2"] == pytest.approx(1 - (off**2).sum() / ((truth - truth.mean()) ** 2).sum())
    assert found.scores[0].score == pytest.approx(got["R2"], rel=1e-12)  # one number, one name
    assert found.scores[-1].measures["r"] is None
    assert found.confusion() == found.calibration() == ()


# ----------------------------------------------------------------------- beyond age and sex


def test_covariates_alone_and_beside_are_naive_pipelines(graphs):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    y = noisy(planted(48)[1], 0.4)
    age, sex = rng.normal(50, 9, 48) + 12 * (y == "b"), rng.choice(["f", "m"], 48)
    found = evaluate(graphs, y, embedding=settings(), methods=(), cv=3,
                     beyond={"age": age, "sex": sex})  # fmt: skip
    names = ("covariates alone, logistic", "joint embedding and covariates, logistic")
    for (train, test), *told in zip(
        found.splits, *(found.predictions[name] for name in names), strict=True
    ):
        je = settings().fit(graphs[train])
        Z = np.column_stack([age, sex == "f", sex == "m"])
        for both, labels in zip((False, True), told, strict=True):
            A, B = Z[train], Z[test]
            if both:
                A = np.hstack([je.loadings_, A])
                B = np.hstack([je.transform(graphs[test]), B])
            model = LogisticRegression(max_iter=2000)
            model.fit((A - A.mean(0)) / A.std(0), y[train])
            assert (model.predict((B - A.mean(0)) / A.std(0)) == labels).all()
    alone, both = (found.score(name.split(",")[0]) for name in names)
    assert (alone.versus, both.versus) == ("chance", "covariates alone")
    assert both.difference.value == pytest.approx(both.score - alone.score)
    said = next(text for text in found.words() if "age and sex" in text)
    assert said.startswith("The joint embedding is not shown to add to age and sex: accuracy")
    with pytest.raises(InputError, match="'age' is in covariates"):
        evaluate(graphs, y, covariates={"age": age}, beyond={"age": age}, methods=(), cv=2)


def test_what_the_embedding_adds_is_found_and_nothing_is_not(graphs):
    y, rng = planted(48)[1], np.random.default_rng(0)
    known = {"embedding=": settings(), "weak": rng.normal(size=48), "strong": (y == "b") * 1.0}
    verdicts = []
    for name in ("weak", "strong"):
        found = evaluate(graphs, y, embedding=settings(), methods=(), rules="linear", cv=4,
                         beyond={"x": known[name]})  # fmt: skip
        verdicts.append("adds to x" in " ".join(found.words()))
    assert verdicts == [True, False]


# ------------------------------------------------------------------------- permuted labels


def test_permutations_tell_groups_from_noise(graphs):
    small, steps = graphs[:24], []
    options = {"embedding": settings(), "methods": "PCA", "rules": "linear", "cv": 2}
    group = evaluate(small, planted(24)[1], permutations=19, **options,
                     on_permutation=lambda *step: steps.append(step))  # fmt: skip
    assert group.scores[0].p_permutation == 1 / 20
    assert steps == [(k, 19) for k in range(20)]
    assert group.score("PCA").p_permutation is None  # the joint embedding alone is learned anew
    assert "With 19 permutations" in " ".join(group.words())
    assert group.scores[0].permuted == evaluate(
        small, planted(24)[1], permutations=19, **options).scores[0].permuted  # fmt: skip
    p = []
    for seed in range(12):
        y = np.random.default_rng(seed).permutation(planted(24)[1])
        noise = evaluate(small, y, permutations=9, seed=seed, **options)
        p.append(noise.scores[0].p_permutation)
    # Each is at most 0.1 with a probability of at most 0.1: 5 of 12 happen in 4 of 1000 runs.
    assert sum(x <= 0.1 for x in p) <= 4


def test_permuted_labels_keep_folds_and_groups_possible():
    rng = np.random.default_rng(0)
    site, person = np.repeat([0, 1], 12), np.repeat(np.arange(8), 3)
    y = np.array(list("aab" * 4 + "bbb" * 3 + "aaa"))
    one_each = np.array(list("ab"))[np.arange(8) % 2][person]
    moved = 0
    for _ in range(20):
        by_site = permuted(y, None, site.tolist(), rng)
        assert (np.sort(by_site[site == 0]) == np.sort(y[site == 0])).all()
        within = permuted(y, person.tolist(), None, rng)
        assert all(sorted(within[person == p]) == sorted(y[person == p]) for p in range(8))
        whole = permuted(one_each, person.tolist(), site.tolist(), rng)
        assert all(len(set(whole[person == p])) == 1 for p in range(8))
        assert (whole == "a").sum() == 12
        # People are told apart: to exchange their names as a whole would change nothing.
        names = permuted(person.astype(str), person.tolist(), None, rng)
        assert max(len(set(names[person == p])) for p in range(8)) > 1
        moved += sum((new != old).any() for new, old in (
            (by_site, y), (within, y), (whole, one_each)))  # fmt: skip
    assert moved > 45
    with pytest.raises(InputError, match="labels cannot be permuted"):
        evaluate(planted(24)[0], np.repeat(["a", "b"], 12), folds=np.repeat([1, 2, 3, 4], 6),
                 methods=(), permutations=9)  # fmt: skip


def test_what_differs_from_what_was_asked_is_said(graphs):
    y = np.repeat(["a", "b", "c"], [20, 20, 8])
    options = {"embedding": settings(), "methods": (), "rules": "1-NN"}
    found = evaluate(graphs, y, cv=99, **options)
    assert found.notes == ("8 folds instead of 99, the number of graphs of the rarest class",)
    assert evaluate(graphs, y, cv=8, **options).notes == ()
    people = np.repeat(np.arange(24), 2)
    found = evaluate(graphs, y, cv=5, groups=people, **options)
    assert found.notes[0] == "4 folds instead of 5, the number of participants of the rarest class"
    site = np.where(y == "c", "Lyon", np.tile(["Rome", "Oslo"], 24))
    found = evaluate(graphs, y, folds=site, **options)
    assert found.fold_names == ("Rome", "Oslo", "Lyon")
    assert found.notes == (
        "fold Lyon holds one class only, and cannot have all measures",
        "all graphs of 'c' are held out together, so that none of them can be right",
    )
