"""ComBat: the published numbers, nothing learned from held-out graphs, sites gone and effects kept.

The numbers of new graphs are those of neuroHarmonize 2.5.2 (NumPy 1.26): ``harmonizationLearn`` on
the first 40 rows of ``study(5)``, with age as covariate, and ``harmonizationApply`` to the others.
"""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from eigengraphs import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference import Formula, Harmonize, compare, evaluate

NEW = [
    [0.7034413586, 4.9439432727, -0.7565103613, 0.4676415941],
    [1.5029054538, 1.2701891332, 1.5216779789, -0.4102858144],
]


def study(seed, m=48):
    """Return loadings with three locations and scales, sites, and ages that loadings follow."""
    rng = np.random.default_rng(seed)
    k, age = np.arange(m) % 3, rng.integers(20, 70, m)
    Lam = rng.normal(size=(m, 4)) * (1 + 0.6 * k)[:, None] + np.outer(k, [1, 0.5, 0, -1])
    return Lam + np.outer(age - 45, [0.05, 0, 0.02, 0.1]), np.array(list("abc"))[k], age


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [({}, {}), ({"empirical_bayes": False}, {"eb": False}),
     ({"mean_only": True}, {"mean_only": True}), ({"reference": "b"}, {"ref_batch": "b"})],
)  # fmt: skip
def test_the_numbers_of_neurocombat(ours, theirs, monkeypatch):
    published = pytest.importorskip("neuroCombat").neuroCombat
    monkeypatch.setattr(np, "int", int, raising=False)  # it is from before NumPy 1.24
    Lam, site, age = study(1, 60)
    sex = np.array(["f", "m"])[np.random.default_rng(3).integers(0, 2, 60)]
    table = pd.DataFrame({"site": site, "age": age, "sex": sex})
    found = published(Lam.T, table, "site", ["sex"], ["age"], **theirs)["data"].T
    step = Harmonize("site", ["age", "sex"], **ours)
    rows = pd.concat([pd.DataFrame(Lam, columns=list("wxyz")), table], axis=1)
    assert np.allclose(step.fit_transform(rows), found, rtol=0, atol=1e-9)
    assert list(step.get_feature_names_out()) == list("wxyz")


def test_new_graphs_get_the_numbers_of_neuroharmonize_alone_or_together():
    Lam, site, age = study(5)
    step = Harmonize().fit(Lam[:40], site=site[:40], covariates={"age": age[:40]})
    alone = [
        step.transform(Lam[[i]], site=site[[i]], covariates={"age": age[[i]]})
        for i in range(40, 48)
    ]
    together = step.transform(Lam[40:], site=site[40:], covariates={"age": age[40:]})
    assert np.allclose(np.vstack(alone), together)
    assert np.allclose(together[:2], NEW, atol=1e-9)


def test_a_new_site_is_estimated_as_a_known_one_would_be():
    Lam, site, age = study(2)
    step = Harmonize(unseen="estimate").fit(Lam, site=site, covariates={"age": age})
    known, c = step.transform(Lam, site=site, covariates={"age": age}), site == "c"
    new = step.transform(Lam[c], site=["elsewhere"] * c.sum(), covariates={"age": age[c]})
    assert np.allclose(new, known[c])


def test_controls_alone_are_learned_from():
    Lam, site, _ = study(3, 90)
    well = np.arange(90) % 2 == 0
    found = Harmonize().fit(Lam, site=site, controls=well).transform(Lam, site=site)
    alone = Harmonize().fit(Lam[well], site=site[well])
    assert np.array_equal(found, alone.transform(Lam, site=site))
    table = pd.DataFrame(Lam).assign(site=site, well=well)
    assert np.allclose(Harmonize("site", None, "well").fit_transform(table), found)


def test_it_stands_in_pipelines_by_columns_or_by_routed_metadata():
    rng = np.random.default_rng(1)
    k, y = rng.integers(0, 3, 300), np.arange(300) % 2
    Lam = rng.normal(size=(300, 4)) * (1 + k)[:, None] + 4.0 * k[:, None]
    Lam[:, 0] += 2.0 * y * (1 + k)
    X, rule = np.column_stack([Lam, k]), LogisticRegression(max_iter=1000)
    by_column = make_pipeline(Harmonize(site=4), rule)
    assert cross_val_score(by_column, X, y).mean() > 0.8
    # The site is told by scales before, and at chance (1/3 +- 4 standard errors) after.
    site = QuadraticDiscriminantAnalysis()
    assert cross_val_score(site, Lam - 4.0 * k[:, None], k).mean() > 0.55
    even = cross_val_score(make_pipeline(Harmonize(site=4), site), X, k).mean()
    assert abs(even - 1 / 3) < 4 * np.sqrt(2 / 9 / 300)
    with config_context(enable_metadata_routing=True):
        step = Harmonize().set_fit_request(site=True).set_transform_request(site=True)
        routed = make_pipeline(step, rule)
        given = cross_val_score(routed, Lam, y, params={"site": k})
    assert np.array_equal(given, cross_val_score(by_column, X, y))


SITE, AGE = np.repeat(["a", "b"], 10), np.arange(20.0)
FEW = np.array(["a"] * 10 + ["b"] * 9 + ["c"])


@pytest.mark.parametrize(
    ("settings", "given", "words"),
    [
        ({}, {}, "no site to harmonize"),
        ({}, {"site": {"scanner": FEW}}, "scanner 'c' has one graph"),
        ({}, {"site": [*SITE[:-1], "n/a"]}, r"'site' is unknown for graph 20 \(index 19\)"),
        ({}, {"site": SITE, "covariates": {"field": SITE}}, "'field' is determined by site"),
        ({}, {"site": SITE, "covariates": {"age": AGE, "days": 365 * AGE}}, "by site, age"),
        ({}, {"site": SITE, "controls": SITE == "a"}, "site 'b' was not learned from, only a"),
        ({}, {"site": SITE, "controls": ["yes"] * 20}, "graph 1 .* has 'yes'"),
        ({"reference": "z"}, {"site": SITE}, "reference 'z' is none of .* a, b"),
        ({"unseen": "guess"}, {"site": SITE}, "unseen must be one of"),
        ({"covariates": 0}, {}, "name that of site="),
        ({"site": 0}, {"site": SITE}, "not both"),
    ],
)
def test_what_cannot_be_harmonized_is_refused_by_site_and_column(settings, given, words):
    Lam = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match=words):
        Harmonize(**settings).fit_transform(Lam, **given)


def test_sites_that_were_not_learned_from_are_refused_unless_they_can_be_estimated():
    Lam = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match="site 'c' was not learned from, only a, b"):
        Harmonize().fit(Lam, site=SITE).transform(Lam[:4], site=list("abcc"))
    step = Harmonize(unseen="estimate").fit(Lam, site=SITE)
    with pytest.raises(InputError, match="site 'c' has one graph"):
        step.transform(Lam, site=FEW)


def test_notes_name_site_and_column():
    Lam = np.random.default_rng(0).normal(size=(20, 4))
    Lam[:, 1], Lam[:10, 2] = 7.0, 5.0
    group = ["ill"] * 10 + ["ill", "well"] * 5
    step = Harmonize().fit(Lam, site=SITE, covariates={"group": group, "sex": ["f"] * 20})
    told = " ".join(step.notes_)
    for words in ("site 'a' has graphs of one group alone (ill)", "'sex' is the same",
                  "x1: no noise", "x2: the same for all graphs of site 'a'"):  # fmt: skip
        assert words in told
    even = step.transform(Lam, site=SITE, covariates={"group": group, "sex": ["m"] * 20})
    assert np.allclose(even[:, 1], 7.0)
    assert np.isfinite(even).all()
    assert pickle.loads(pickle.dumps(step)).notes_ == step.notes_


M, N, K = 72, 12, np.arange(72) % 3
SITES = np.array(["north", "south", "west"])[K]
LABEL = np.array(["ill", "well"])[(np.arange(M) // 3) % 2]


def graphs_of_sites(seed=0):
    """Return graphs whose loadings have a location and a scale of the site, and of the label."""
    rng = np.random.default_rng(seed)
    H = np.linalg.qr(rng.normal(size=(N, 3)))[0]
    noise = rng.normal(size=(M, 3)) * np.array([1.0, 2.0, 0.5])[K][:, None]
    noise[:, 0] += 2.5 * (LABEL == "ill") * np.array([1.0, 2.0, 0.5])[K]
    Lam = np.array([30.0, 20.0, 12.0]) + noise + np.outer(K, [6.0, -6.0, 4.0])
    E = rng.normal(0, 0.1, (M, N, N))
    return np.einsum("sk,ik,tk->ist", H, Lam, H) + E + E.transpose(0, 2, 1)


def asked(y, graphs=None, **given):
    je = JointEmbedding(3, center=True, random_state=0)
    settings = {"methods": (), "rules": "linear", "cv": 4, "embedding": je} | given
    return evaluate(graphs_of_sites() if graphs is None else graphs, y, **settings)


def test_held_out_sites_are_told_before_and_at_chance_after_and_the_label_is_kept():
    over, told = {"harmonize": {"scanner": SITES}}, "joint embedding"
    before, after = (asked(SITES, **given).score(told).score for given in ({}, over))
    assert before > 0.9
    assert after < 1 / 3 + 4 * np.sqrt(2 / 9 / M)
    assert asked(LABEL, **over).score(told).score > 0.75
    assert "harmonized over scanner by ComBat" in asked(LABEL, **over).protocol


def test_held_out_graphs_teach_the_harmonization_nothing():
    graphs, given = graphs_of_sites(), {"harmonize": SITES, "keep": True, "methods": ["PCA"]}
    first = asked(LABEL, graphs, **given)
    out = first.splits[0][1]
    graphs[out] = graphs[out[::-1]] + 5.0
    again = asked(LABEL, graphs, **given)
    assert np.array_equal(again.splits[0][1], out)
    for name in ("joint embedding", "PCA"):
        a, b = (found.trained[0][name] for found in (first, again))
        assert pickle.dumps(a.harmonizer) == pickle.dumps(b.harmonizer)
        assert pickle.dumps(a.rules) == pickle.dumps(b.rules)


def test_folds_that_hold_out_sites_are_refused_unless_new_sites_may_be_estimated():
    given = {"harmonize": SITES, "folds": SITES, "methods": ["ASE"]}
    with pytest.raises(InputError, match="'north' was not learned from, only south, west"):
        asked(LABEL, **given)
    found = asked(LABEL, harmonizer=Harmonize(unseen="estimate"), **given)
    assert found.score("joint embedding").score > asked(LABEL, folds=SITES).scores[0].score
    assert "estimated from its held-out graphs" in found.protocol
    assert "covariates or sites" in found.not_offered["ASE"]


def test_controls_of_the_training_graphs_are_learned_from():
    well = LABEL == "well"
    found = asked(LABEL, harmonize=SITES, controls=well, keep=True)
    step = found.trained[0]["joint embedding"].harmonizer
    assert sum(step.counts_) == well[found.splits[0][0]].sum()
    with pytest.raises(InputError, match="give the sites by harmonize="):
        asked(LABEL, controls=well)


def test_a_site_with_one_class_is_noted():
    label = np.where(SITES == "west", "ill", LABEL)
    (note,) = [note for note in asked(label, harmonize=SITES).notes if "site" in note]
    (whole,) = asked(SITES, harmonize=SITES).notes
    assert "site 'west' have the value 'ill'" in note
    assert whole == "harmonization takes out what tells the value, as each site has one"


def test_groups_are_compared_with_the_site_as_a_covariate_whatever_it_is_called():
    rng = np.random.default_rng(4)
    Lam, site, age = study(4, 90)
    group = np.where(rng.random(90) < np.where(site == "a", 0.8, 0.3), "ill", "well")
    Lam[:, 0] += 1.5 * (group == "ill")
    given = {"n_permutations": 199, "n_bootstrap": 100, "random_state": 0}
    codes = {"scanner": np.array([11.0, 12.0, 13.0])[np.searchsorted(list("abc"), site)]}
    found = compare(Lam, group, covariates={"age": age}, harmonize=codes, **given)
    even = Harmonize().fit_transform(Lam, site=site, covariates={"age": age})
    by_hand = compare(even, group, covariates={"age": age, "site": site}, **given)
    assert np.allclose(found.F, by_hand.F)
    assert found.covariates == ("age", "scanner")
    assert "harmonized over scanner by ComBat" in found.methods
    table = {"group": group, "age": age, **codes}
    with pytest.raises(InputError, match=r"add '\+ C\(scanner\)'"):
        compare(Lam, Formula("~ group + scanner", table, "group"), harmonize=codes, **given)
    told = compare(
        Lam, Formula("~ group + age + C(scanner)", table, "group"), harmonize=codes, **given
    )
    assert told.significant() == ("je1",)
    with pytest.raises(InputError, match="'group' is determined by site"):
        compare(Lam, np.where(site == "a", "ill", "well"), harmonize=site)
    with pytest.raises(InputError, match="'site' is harmonized, and is a covariate then"):
        compare(Lam, group, harmonize=site, covariates={"site": site})
    some = np.where(np.arange(90) < 5, None, site)
    left = compare(Lam, group, harmonize=some, **given)
    assert any("5 without site" in note for note in left.notes)


def test_recorded_tests_after_harmonization_keep_their_level():
    text = Path(__file__).with_name("calibration-sites.md").read_text(encoding="utf-8")
    parts = [part for part in text.split("## ") if part.startswith("No effect")]
    rows = [line.strip("| ").split(" | ") for part in parts for line in part.splitlines()[4:]]
    rates = {way: [float(row[k].strip("%")) for row in rows if len(row) == 6]
             for way, k in (("group kept", 3), ("harmonize", 5))}  # fmt: skip
    assert "1,000 studies" in text
    assert len(rates["harmonize"]) == 12
    assert max(rates["harmonize"]) <= 6.5 < 25 < max(rates["group kept"])
