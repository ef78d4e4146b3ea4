"""What cannot be done is refused, in words that say why and what to do."""

import numpy as np
import pandas as pd
import pytest
from tests.inference.test_evaluate import planted, settings

import eigengraphs as eg
from eigengraphs import inference
from eigengraphs.errors import InputError

RNG = np.random.default_rng(11)
LAM, TWO, SERIES = RNG.normal(size=(12, 2)), np.arange(12) % 2, RNG.normal(size=(30, 2))
HOLE = np.where(SERIES[7, 1] == SERIES, np.nan, SERIES)
WHO, PAIRS = np.arange(12) // 2, [f"p{i // 2}" for i in range(12)]
GRAPHS, LABELS = planted()


def refused(function, *cases):
    return [(function, *case) for case in cases]


COMPARE = refused(
    lambda group, **given: inference.compare(given.pop("loadings", LAM), group, **given),
    (["a"] * 12, {}, "same for all graphs"),
    (np.arange(11), {}, "one value for each of the 12 graphs"),
    ("ab", {}, "got one text"),
    ([None] * 12, {}, "no value for any graph"),
    ([None] * 10 + ["a", "b"], {}, "2 graphs have all values"),
    (TWO, {"covariates": {"site": TWO}}, "determined by site"),
    (TWO, {"covariates": {"id": list("abcdefghijkl")}}, "too few for 13 coefficients .11 of id"),
    (TWO, {"covariates": RNG.normal(size=(12, 10))},
     "too few for 12 coefficients; leave out covariates"),
    (TWO, {"covariates": np.ones((4, 2))}, "array of 12 rows"),
    (TWO, {"covariates": {"age": [np.inf] * 12}}, "must be finite"),
    ([f"p{i}" for i in range(12)], {}, "^each of the 12 groups of '[^']*' has one graph"),
    (PAIRS, {"subjects": WHO}, "^each of the 6 groups of '[^']*' has one participant"),
    (["n/a"] * 6 + ["ssri"] * 6, {}, r"nothing to compare \(6 of 12 graphs are left out"),
    (["same"] * 12, {"subjects": WHO}, "nothing to compare"),
    (["same"] * 6 + [None] * 6, {"subjects": WHO}, "nothing to compare"),
    (list("ababababaabb"), {"subjects": WHO}, r"varies within 4 participants .* 2 others \(4, 5\)"),
    (TWO, {"n_permutations": 0}, "n_permutations"),
    (TWO, {"confidence": 1.0}, "confidence"),
    (TWO, {"loadings": "x"}, "array of numbers"),
    (TWO, {"loadings": LAM[:2]}, "at least 3 graphs"),
    (TWO, {"loadings": np.ones((12, 0))}, r"shape \(graphs, components\)"),
    (TWO, {"loadings": np.ones((12, 2))}, "no component is left"),
    (TWO, {"components": ["a"]}, "each of 2, got 1 names"),
    (TWO, {"leave_out": [True]}, "each of 2 components"),
)  # fmt: skip

LOADINGS = [
    *refused(inference.change_points, (SERIES[:8], {}, "8 graphs are too few"),
             (SERIES, {"smallest": 1}, "smallest"), (np.ones((30, 2)), {}, "no component is left"),
             (SERIES, {"level": 0.01, "n_permutations": 50}, "at least 99 permutations"),
             (HOLE, {}, r"graph 8 \(index 7\), component 2")),
    *refused(inference.anomalies, (SERIES, {"segments": [1]}, "each of 30 graphs"),
             (SERIES, {"residual_share": [1]}, "each of 30 graphs")),
    *refused(inference.cluster_graphs, (LAM, {"method": "magic"}, "method must be one of"),
             (LAM, {"n_clusters": 0}, "from 1 to 12"), (HOLE, {}, "must be finite"),
             (LAM, {"truth": [1, 2]}, "each of the 12 graphs")),
    *refused(lambda columns, **given: inference.CovariateAdjustment(columns).fit(**given),
             (None, {"X": LAM}, "no covariates"),
             ("sex", {"X": pd.DataFrame(LAM)}, "no column 'sex'"),
             ([0], {"X": LAM, "covariates": {"age": TWO}}, "not both"),
             ([0], {"X": TWO}, "rows and columns")),
]  # fmt: skip

EVALUATE = refused(
    lambda y, **given: inference.evaluate(
        GRAPHS, LABELS if y is None else y,
        **({"methods": (), "rules": "1-NN", "embedding": settings()} | given),
    ),
    (["a"] * 47, {}, "48 graphs, got shape"),
    (["a"] * 48, {}, "same value"),
    (["a"] * 47 + ["b"], {}, "only one graph"),
    (["a"] * 24 + ["right"] * 23 + ["rihgt"], {}, "is 'right' meant"),
    ([None] * 48, {}, "no graph has a value"),
    (None, {"methods": ["PCB"]}, "methods are: joint embedding, PCA"),
    (None, {"methods": {"joint embedding": settings()}}, "given by embedding="),
    (None, {"rules": "2-NN"}, "a rule must be"),
    (None, {"rules": ()}, "at least one rule"),
    (None, {"cv": 1}, "whole number >= 2"),
    (None, {"cv": "all"}, "or 'loo'"),
    (None, {"cv": "loo", "repeats": 2}, "the same every time"),
    (None, {"groups": ["x"] * 48}, "all graphs are of one participant"),
    (None, {"task": "quantity"}, "needs numbers"),
    (None, {"folds": [None] * 48}, "48 of 48 have none"),
    (None, {"folds": ["x"] * 48}, "only one value"),
    (None, {"folds": ["x", "y"] * 24}, "nothing can be learned"),
    (None, {"folds": [1, 1, 2, 2] * 12, "groups": [1, 2, 2, 1] * 12}, "'2' are in several folds"),
    # Classes a and b are both of site 1: a site is no class, and must stay together.
    (list("abc") * 16, {"groups": [1, 1, 2] * 16}, "only one graph or participant"),
    (None, {"covariates": {"age": [1, 2, 3]}}, "age"),
    (None, {"level": 95}, "between 0 and 1"),
)  # fmt: skip


def of_fits(function, *cases):
    return refused(
        lambda options, **given: function(
            eg.JointEmbedding(2, random_state=0, **options).fit(GRAPHS[:10], LABELS[:10]),
            GRAPHS[:10], **given,
        ),
        *cases,
    )  # fmt: skip


FITS = [
    *of_fits(inference.loading_intervals, ({}, {"law": "normal"}, "law must be one of"),
             ({}, {"level": 95}, "between 0 and 1"), ({}, {"law": "bernoulli"}, "use 'any'"),
             ({}, {"groups": [0] * 10}, "at least 4"), ({}, {"groups": [0]}, "each of 10 graphs"),
             ({"loadings": "nonnegative"}, {}, "free loadings")),
    *of_fits(inference.bootstrap, ({}, {"kind": "jackknife"}, "kind must be one of"),
             ({}, {"n_resamples": 1}, "at least 2"), ({}, {"groups": [0] * 10}, "only one graph"),
             ({}, {"kind": "model", "groups": [0] * 10}, "drawn together"),
             ({"loadings": "class"}, {}, "cannot be resampled"),
             ({"preprocess": "log1p"}, {"kind": "model"}, "after log1p"),
             ({"center": True}, {"kind": "model"}, "center=False")),
    *of_fits(inference.trust_components, ({}, {"groups": [0, 1] * 5}, "at least 4"),
             ({"loadings": "class"}, {}, "depend on the classes")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "given", "options", "said"), COMPARE + LOADINGS + EVALUATE + FITS
)
def test_what_cannot_be_done_says_why(function, given, options, said):
    with pytest.raises(InputError, match=said):
        function(given, **options)
