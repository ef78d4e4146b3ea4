"""Prediction beside covariates: effects of sites are learnt in each fold, and taken off."""

import pickle

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import evaluate

M, N = 48, 12
SITE = np.array(["north", "south"])[np.arange(M) % 2]
LABEL = np.array(["ill", "well"])[(np.arange(M) // 2) % 2]


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


def test_distances_cannot_be_adjusted_and_lengths_must_agree():
    graphs = two_sites()
    found = asked(graphs, {"site": SITE}, methods=["ASE", "PCA"])
    assert "distances" in found.not_offered["ASE"]
    with pytest.raises(InputError, match="age"):
        asked(graphs, {"age": [1, 2, 3]})
