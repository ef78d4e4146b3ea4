"""Edges are predicted without looking at them, and nearly as well as the true probabilities do."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import predict_edges
from eigengraphs.inference.prediction import link_prediction

BLOCKS = np.arange(48) % 3
B = np.array([[0.6, 0.1, 0.2], [0.1, 0.5, 0.1], [0.2, 0.1, 0.4]])
P = B[np.ix_(BLOCKS, BLOCKS)]
MODEL = eg.models.StochasticBlockModel(B, BLOCKS)


def parted(seed=0, share=0.2, m=4, directed=False):
    """Draw graphs; return pairs, their values (m, P), and which of them are seen."""
    A = np.array(MODEL.sample(m, random_state=seed))
    if directed:
        A = np.triu(A)
    pairs = link_prediction._Pairs(48, directed)
    V = pairs.of(A)
    return pairs, V, np.random.default_rng(seed + 50).random(V.shape) > share


@pytest.mark.parametrize("directed", [False, True])
def test_no_method_sees_the_value_of_a_pair_that_is_held_out(directed):
    pairs, V, seen = parted(directed=directed)
    other = np.where(seen, V, 7.0 - 3 * V)
    ours, theirs = (
        link_prediction._by_all(pairs, values, seen, 2, np.random.default_rng(1))
        for values in (V, other)
    )
    for name, a, b in zip(link_prediction.METHODS, ours, theirs, strict=True):
        assert np.array_equal(a, b), name


@pytest.mark.parametrize("method", ["_by_embedding", "_by_mase", "_by_pca"])
def test_what_is_learned_from_comes_from_fits_that_do_not_see_the_pair(method):
    pairs, V, seen = parted()
    folds = link_prediction._parts(V != 0, seen, 5, np.random.default_rng(1))
    other = np.where(folds == 2, 1 - V, V)
    a, b = (
        link_prediction._unseen(getattr(link_prediction, method), pairs, X, seen, folds, [1, 2])
        for X in (V, other)
    )
    assert np.array_equal(a[:, folds == 2], b[:, folds == 2])
    assert not np.array_equal(a[:, folds == 3], b[:, folds == 3])


def test_missing_pairs_are_ranked_nearly_as_well_as_by_the_true_probabilities():
    graphs = MODEL.sample(12, random_state=0)
    # Another seed than that of the graphs, whose edges are where the same numbers are small.
    upper = np.triu(np.random.default_rng(50).random((12, 48, 48)) < 0.15, 1)
    found = predict_edges(graphs.hide(upper), repeats=0, max_components=4)
    truth = np.array(graphs)[upper]
    oracle = roc_auc_score(truth, np.broadcast_to(P, upper.shape)[upper])
    assert oracle > 0.7
    # The standard error of the AUC of about 2000 pairs is .011, nearly all of it common to both.
    assert roc_auc_score(truth, found.scores[upper]) > oracle - 0.03
    # Probabilities: they add up to the number of edges.
    assert found.scores[upper].sum() == pytest.approx(P[None].repeat(12, 0)[upper].sum(), rel=0.1)


def test_the_direction_of_an_edge_is_predicted():
    rng = np.random.default_rng(0)
    A = (rng.random((4, 40, 40)) < np.where(np.arange(40) % 2 == 0, 0.6, 0.1)[:, None]).astype(
        float
    )
    found = predict_edges(eg.GraphStack(A).drop_loops(), repeats=1, max_components=2)
    assert found.is_directed
    assert np.nanmean(found.scores[:, ::2, 1::2]) > 3 * np.nanmean(found.scores[:, 1::2, ::2])
    assert len(found.ranking(10**6)) == np.count_nonzero(A[:, ~np.eye(40, dtype=bool)] == 0)


def test_baselines_are_what_they_are_called():
    pairs, V, _ = parted(m=3)
    scores = link_prediction._by_all(
        pairs, V, np.ones(V.shape, bool), 2, np.random.default_rng(0)
    )  # fmt: skip
    by_name = dict(zip(link_prediction.METHODS, scores, strict=True))
    A, k = pairs.matrices(V), 37  # a pair among many
    s, t = pairs.rows[k], pairs.cols[k]
    assert by_name["other graphs"][1, k] == (A[0, s, t] + A[2, s, t]) / 2
    own = A[1, s, t]
    assert by_name["degrees"][1, k] == (A[1, s].sum() - own) * (A[1, t].sum() - own)
    common = [u for u in range(48) if A[1, s, u] and A[1, u, t]]
    assert by_name["shared neighbors"][1, k] == pytest.approx(
        sum(1 / A[1, u].sum() for u in common)
    )


def test_ranks_and_errors_of_a_small_study():
    graphs = MODEL.sample(3, random_state=2).hide(np.eye(48, k=1, dtype=bool))
    told = []
    found = predict_edges(
        graphs, max_components=2, repeats=2, on_repeat=lambda *step: told.append(step)
    )
    assert told == [(1, 2), (2, 2)]
    A, rows = np.array(graphs), found.ranking(10**6)
    upper = np.triu(np.ones((48, 48), bool), 1)
    assert len(rows) == np.count_nonzero((np.isnan(A) | (A == 0)) & upper)
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert (np.diff([row[4] for row in rows]) <= 0).all()
    for _, i, s, t, score, known in rows:
        value = A[int(i), int(s), int(t)]
        assert np.isnan(value) if known == "missing" else value == 0
        assert score == found.scores[int(i), int(s), int(t)] == found.scores[int(i), int(t), int(s)]
    assert np.isnan(found.scores[:, range(48), range(48)]).all()
    assert found.density == pytest.approx(np.nanmean(A[:, upper], axis=1))
    table = {row[:2]: row[2:] for row in found.table()}
    assert len(table) == 8 * 4
    ap = found.average_precision[:, 0]
    assert table["joint", None][:2] == pytest.approx((ap.mean(), np.ptp(ap.mean(axis=1)) / 2))
    assert table["joint", "1"][0] == pytest.approx(ap[:, 1].mean())
    again = predict_edges(graphs, max_components=2, repeats=2)
    assert np.array_equal(again.scores, found.scores, equal_nan=True)
    assert np.array_equal(again.auc, found.auc)


PATH = np.eye(12, k=1) + np.eye(12, k=-1)


@pytest.mark.parametrize(
    ("graphs", "given", "words"),
    [
        (PATH[None], {}, "give two graphs at least"),
        ([PATH, np.zeros((12, 12))], {}, "graph '1' has fewer; leave it out"),
        ([PATH, 1 - np.eye(12)], {}, "graph '1' has fewer"),
        ([PATH] * 2, {"hidden": 0.7}, "at most 0.5, got hidden=0.7"),
        ([PATH] * 2, {"hidden": 1}, "must be a share"),
        ([PATH] * 2, {"max_components": 0}, "max_components must be a whole number"),
        ([PATH] * 2, {"repeats": -1}, "repeats must be a whole number"),
        (eg.models.ErdosRenyi(4000, 0.001).sample(2, random_state=0), {}, "at most 30,000,000"),
    ],
)  # fmt: skip
def test_what_cannot_be_predicted_is_refused(graphs, given, words):
    with pytest.raises(InputError, match=words):
        predict_edges(graphs, **given)
