"""Covariates are regressed out as learned from training rows, alone and in each fold."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import CovariateAdjustment, evaluate

M, N = 48, 12
SITE = np.array(["north", "south"])[np.arange(M) % 2]
LABEL = np.array(["ill", "well"])[(np.arange(M) // 2) % 2]


def data(seed=0, m=60):
    rng = np.random.default_rng(seed)
    age, site = rng.normal(50, 10, m), np.array(list("abc"))[rng.integers(0, 3, m)]
    Lam = rng.normal(size=(m, 2)) + 0.1 * age[:, None] + np.outer(site == "b", [3.0, -2.0])
    return Lam, {"age": age, "site": site}


def test_adjusted_training_rows_are_the_residuals_of_a_regression():
    Lam, covariates = data()
    adjusted = CovariateAdjustment().fit_transform(Lam, covariates=covariates)
    site = covariates["site"]
    A = np.column_stack([np.ones(60), covariates["age"], site == "a", site == "b"])
    left = Lam - A @ np.linalg.lstsq(A, Lam, rcond=None)[0]
    assert np.allclose(adjusted, left + Lam.mean(axis=0))


def test_new_rows_teach_nothing_and_come_one_by_one():
    Lam, covariates = data()
    part = {name: values[:40] for name, values in covariates.items()}
    new = {name: values[40:] for name, values in covariates.items()}
    step = CovariateAdjustment().fit(Lam[:40], covariates=part)
    together = step.transform(Lam[40:], covariates=new)
    alone = [
        step.transform(Lam[i : i + 1], covariates={k: v[i : i + 1] for k, v in covariates.items()})
        for i in range(40, 60)
    ]
    assert np.allclose(together, np.vstack(alone))


def test_sites_without_a_past_and_unknown_values_count_as_the_average():
    Lam, covariates = data()
    step = CovariateAdjustment().fit(Lam, covariates=covariates)
    mean_age = covariates["age"].mean()
    new = {"age": [mean_age, None], "site": ["somewhere", None]}
    assert np.allclose(step.transform(Lam[:2], covariates=new), Lam[:2])


def test_it_stands_in_a_pipeline_and_cannot_be_fooled_by_the_site():
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    site = np.where(rng.random(200) < 0.9, y, 1 - y)  # goes with the label
    X = np.column_stack([rng.normal(size=(200, 3)) + 4.0 * site[:, None], site])
    plain = cross_val_score(LogisticRegression(), X[:, :3], y, cv=5).mean()
    pipeline = make_pipeline(CovariateAdjustment(columns=[3]), LogisticRegression())
    adjusted = cross_val_score(pipeline, X, y, cv=5).mean()
    assert plain > 0.85  # by the site alone
    # Nothing but the site tells the label: half are right, 0.5 +- 4 standard errors.
    assert abs(adjusted - 0.5) < 4 * np.sqrt(0.25 / 200)


def test_columns_of_a_table_by_name():
    Lam, covariates = data()
    table = pd.DataFrame({"je1": Lam[:, 0], **covariates, "je2": Lam[:, 1]})
    step = clone(CovariateAdjustment(columns=["age", "site"])).fit(table)
    assert list(step.get_feature_names_out()) == ["je1", "je2"]
    apart = CovariateAdjustment().fit_transform(Lam, covariates=covariates)
    assert np.allclose(step.transform(table), apart)
    assert step.covariates_ == ("age", "site")


def test_covariates_and_loadings_must_be_those_of_the_fit():
    Lam, covariates = data()
    step = CovariateAdjustment().fit(Lam, covariates=covariates)
    with pytest.raises(InputError, match="no values are given for the covariates \\['site'\\]"):
        step.transform(Lam, covariates={"age": covariates["age"]})
    with pytest.raises(InputError, match="got 1 loadings per graph, expected 2"):
        step.transform(Lam[:, :1], covariates=covariates)


def two_sites(seed=0):
    """Return graphs whose second loading is that of the site, and a little that of the label."""
    rng = np.random.default_rng(seed)
    H = np.stack([np.ones(N), np.repeat([1.0, -1.0], N // 2)], axis=1) / np.sqrt(N)
    second = 20.0 + 8.0 * (SITE == "north") + 3.0 * (LABEL == "ill") + rng.normal(0, 1, M)
    Lam = np.stack([rng.normal(60, 2, M), second], axis=1)
    noise = rng.normal(0, 0.3, (M, N, N))
    return np.einsum("sk,ik,tk->ist", H, Lam, H) + noise + noise.transpose(0, 2, 1)


def asked(graphs, covariates=None, **more):
    settings = {"methods": ["PCA"], "rules": "linear", "cv": 4} | more
    je = eg.JointEmbedding(2, diagonal="observed", random_state=0)
    return evaluate(graphs, LABEL, embedding=je, covariates=covariates, **settings)


def test_a_label_behind_the_site_is_found_by_the_nearest_graph_when_the_site_is_taken_off():
    graphs = two_sites()
    plain, adjusted = (
        asked(graphs, covariates, rules="1-NN").score("joint embedding", "1-NN").score
        for covariates in (None, {"site": SITE})
    )
    assert adjusted >= 0.8
    assert "site" in asked(graphs, {"site": SITE}).protocol
    assert adjusted >= plain


def test_a_label_that_is_nothing_but_the_site_is_at_chance():
    graphs = two_sites()
    je = eg.JointEmbedding(2, diagonal="observed", random_state=0)
    found = evaluate(graphs, SITE, embedding=je, methods=[], cv=4, covariates={"site": SITE})
    assert found.score("joint embedding", "logistic").score < 0.75
    assert evaluate(graphs, SITE, embedding=je, methods=[], cv=4).scores[1].score > 0.95


def test_covariates_of_held_out_graphs_teach_nothing():
    graphs = two_sites()
    first = asked(graphs, {"site": SITE}, keep=True)
    other = SITE.copy()
    out = first.splits[0][1]
    other[out] = "elsewhere"
    again = asked(graphs, {"site": other}, keep=True)
    assert np.array_equal(again.splits[0][1], out)
    for name in ("joint embedding", "PCA"):
        a, b = (pickle.dumps(found.trained[0][name].adjustment) for found in (first, again))
        assert a == b


def test_distances_cannot_be_adjusted():
    found = asked(two_sites(), {"site": SITE}, methods=["ASE", "PCA"])
    assert "distances" in found.not_offered["ASE"]
