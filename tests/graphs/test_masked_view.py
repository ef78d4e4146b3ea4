"""Every product of a treated stack with hidden entries against the matrices written out."""

import numpy as np
import pytest
from known_graphs import random_symmetric, stored
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from eigengraphs import GraphStack
from eigengraphs.graphs.masked_mean import masked_mean
from eigengraphs.graphs.masked_view import MaskedView
from eigengraphs.graphs.treatment import Treatment
from eigengraphs.graphs.view import StackView, mean_graph

M, N = 6, 9
OFF = 1 - np.eye(N)
RULES = ["observed", "filled", "hollow"]
CENTERS = [False, True]


def observed_entries(kind, seed=0):
    """Which entries are seen, (m, n, n)."""
    rng = np.random.default_rng(seed)
    seen = np.ones((M, N, N), dtype=bool)
    if kind in ("entries", "both"):
        gone = np.triu(rng.random((M, N, N)) < 0.25)
        seen &= ~(gone | gone.transpose(0, 2, 1))
    if kind in ("vertices", "both"):
        there = rng.random((M, N)) < 0.8
        there[1] = there[0]
        seen &= there[:, :, None] & there[:, None, :]
    if kind == "both":
        seen[4] = False  # nothing of this graph
        seen[:, 2, 5] = seen[:, 5, 2] = False  # nobody sees this pair
    return seen


def make(kind, storage="dense", dtype=np.float64, density=0.4):
    A = random_symmetric(M, N, seed=2, density=density)
    seen = observed_entries(kind)
    stack = GraphStack(np.where(seen, A, np.nan), missing="unobserved")
    assert kind == "none" or stack.has_missing
    return A * seen, seen, stored(stack, storage).astype(dtype)


def mean_written_out(A, seen, weights):
    counts = np.tensordot(weights, seen.astype(float), axes=1)
    total = np.tensordot(weights, A, axes=1)
    return np.divide(total, counts, out=np.zeros((N, N)), where=counts > 0)


def written_out(A, seen, rule, mean, scale):
    """The treated graphs and their masks as arrays, by the definition."""
    B = (A - mean) * seen
    if rule == "observed":
        return scale * B, seen.astype(float)
    B, Q = B * OFF, seen * OFF
    if rule == "filled":
        counts = Q.sum(axis=2)
        fill = np.divide(B.sum(axis=2), counts, out=np.zeros((M, N)), where=counts > 0)
        B = B + fill[:, :, None] * np.eye(N)
        Q = Q + (counts > 0)[:, :, None] * np.eye(N)
    return scale * B, Q


KINDS = ["none", "entries", "vertices", "both"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_products(storage, kind, rule, center, dtype):
    rng = np.random.default_rng(0)
    A, seen, stack = make(kind, storage, dtype)
    weights = rng.random(M)
    mean = masked_mean(stack, weights) if center else None
    view = MaskedView(stack, rule, mean, scale=3.0)
    B, Q = written_out(A, seen, rule, mean_written_out(A, seen, weights) * center, 3.0)
    H, X = rng.standard_normal((N, 4)), rng.standard_normal((N, 11))
    pairs = {
        "products": (view.products(H)[0], np.einsum("ist,tb->ibs", B, H)),
        "forms": (view.forms(H), np.einsum("sk,ist,tk->ik", H, B, H)),
        "squared_norms": (view.squared_norms(), (B**2).sum(axis=(1, 2))),
        "mask_products": (view.mask_products(X)[0], np.einsum("ist,tb->ibs", Q, X)),
        "mask_forms": (view.mask_forms(X, X), np.einsum("sk,ist,tk->ik", X, Q, X)),
        "grams": (view.grams(H), np.einsum("sj,sk,ist,tj,tk->ijk", H, H, Q, H, H)),
        "observed": (view.observed(), Q.mean(axis=(1, 2))),
    }
    tolerance = 1e-10 if dtype == np.float64 else 1e-4
    for name, (found, expected) in pairs.items():
        size = max(1.0, np.abs(expected).max())
        assert np.allclose(found, expected, rtol=tolerance, atol=tolerance * size), name
        assert found.dtype == np.float64, name
    assert view.hollow == (not Q[:, range(N), range(N)].any())
    assert not (B[Q == 0]).any()


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("rule", RULES)
def test_products_of_directed_graphs(storage, rule, center, monkeypatch):
    rng = np.random.default_rng(0)
    seen = observed_entries("vertices") & (rng.random((M, N, N)) < 0.8)
    A = np.where(rng.random((M, N, N)) < 0.5, rng.standard_normal((M, N, N)), 0.0) * seen
    stack = stored(GraphStack(np.where(seen, A, np.nan), missing="unobserved"), storage)
    weights = rng.random(M)
    mean = masked_mean(stack, weights) if center else None
    view = MaskedView(stack, rule, mean, scale=3.0, directed=True)
    B, Q = (A - mean_written_out(A, seen, weights) * center) * seen, seen.astype(float)
    if rule != "observed":
        B, Q = B * OFF, Q * OFF
    if rule == "filled":
        counts = Q.sum(axis=1) + Q.sum(axis=2)
        sums = B.sum(axis=1) + B.sum(axis=2)
        fill = np.divide(sums, counts, out=np.zeros((M, N)), where=counts > 0)
        B = B + fill[:, :, None] * np.eye(N)
        Q = Q + (counts > 0)[:, :, None] * np.eye(N)
    B = 3.0 * B
    H, G = rng.standard_normal((2, N, 3))
    Lam = rng.standard_normal((M, 3))
    R = B - Q * np.einsum("sk,ik,tk->ist", H, Lam, G)
    total, counts = np.tensordot(weights, R, axes=1), np.tensordot(weights, Q, axes=1)
    left, right = view.products(H, G)
    mask_left, mask_right = view.mask_products(H, G)
    pairs = {
        "left": (left, np.einsum("sb,ist->ibt", H, B)),
        "right": (right, np.einsum("ist,tb->ibs", B, G)),
        "forms": (view.forms(H, G), np.einsum("sk,ist,tk->ik", H, B, G)),
        "squared_norms": (view.squared_norms(), (B**2).sum(axis=(1, 2))),
        "mask, left": (mask_left, np.einsum("sb,ist->ibt", H, Q)),
        "mask, right": (mask_right, np.einsum("ist,tb->ibs", Q, G)),
        "mask_forms": (view.mask_forms(H, G), np.einsum("sk,ist,tk->ik", H, Q, G)),
        "grams": (view.grams(H, G), np.einsum("sj,sk,ist,tj,tk->ijk", H, H, Q, G, G)),
        "observed": (view.observed(), Q.mean(axis=(1, 2))),
        "mean_residual": (view.mean_residual(weights, (H, G), Lam),
                          np.divide(total, counts, out=np.zeros((N, N)), where=counts > 0)),
    }  # fmt: skip
    for name, (found, expected) in pairs.items():
        assert np.allclose(found, expected, atol=1e-10), name
    if storage == "sparse" and not center:
        monkeypatch.setattr("eigengraphs.graphs.masked_view._WRITTEN_OUT", 0)
        operator = view.mean_residual(weights, (H, G), Lam)
        assert np.allclose(operator @ np.eye(N), total)
        assert np.allclose(operator.T @ np.eye(N), total.T)


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("kind", KINDS)
def test_forms_of_two_rules_differ_by_their_diagonals(storage, kind, center):
    _, _, stack = make(kind, storage)
    mean = masked_mean(stack, np.ones(M)) if center else None
    search = MaskedView(stack, "filled", mean, 2.0)
    loss = MaskedView(stack, "hollow", mean, 2.0, like=search)
    H = np.random.default_rng(0).standard_normal((N, 3))
    change = loss.diagonal_forms(H) - search.diagonal_forms(H)
    alone = MaskedView(stack, "hollow", mean, 2.0)
    assert np.allclose(search.forms(H) + change, alone.forms(H))
    assert np.allclose(loss.squared_norms(), alone.squared_norms())
    assert np.allclose(loss.grams(H), alone.grams(H))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("density", [0.3, 1.0])
def test_the_mean_is_over_the_graphs_that_observe_an_entry(storage, kind, density):
    A, seen, stack = make(kind, storage, density=density)
    weights = np.array([0.0, 2.0, 1e-3, 1.0, 1.0, 3.0])
    found = masked_mean(stack, weights)
    assert sparse.issparse(found) == (storage == "sparse")
    found = found.toarray() if sparse.issparse(found) else found
    assert np.allclose(found, mean_written_out(A, seen, weights), atol=1e-14)


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_residual(storage, kind, rule, center, monkeypatch):
    rng = np.random.default_rng(3)
    A, seen, stack = make(kind, storage)
    weights = rng.random(M)
    mean = masked_mean(stack, weights) if center else None
    view = MaskedView(stack, rule, mean, scale=0.5)
    B, Q = written_out(A, seen, rule, mean_written_out(A, seen, weights) * center, 0.5)
    H, Lam = rng.standard_normal((N, 2)), rng.standard_normal((M, 2))
    R = B - Q * np.einsum("sk,ik,tk->ist", H, Lam, H)
    total, counts = np.tensordot(weights, R, axes=1), np.tensordot(weights, Q, axes=1)
    expected = np.divide(total, counts, out=np.zeros((N, N)), where=counts > 0)
    assert np.allclose(view.mean_residual(weights, (H,), Lam), expected)
    if storage == "sparse" and not (center and kind in ("vertices", "both")):
        monkeypatch.setattr("eigengraphs.graphs.masked_view._WRITTEN_OUT", 0)
        operator = view.mean_residual(weights, (H,), Lam)
        assert isinstance(operator, LinearOperator)
        assert np.allclose(operator @ np.eye(N), total)


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("rule", RULES)
def test_complete_graphs_have_the_same_products_as_ever(storage, rule, center):
    stack = stored(GraphStack(random_symmetric(M, N, seed=4, density=0.5)), storage)
    weights = np.arange(1.0, M + 1)
    mean = mean_graph(stack, weights) if center else None
    masked, plain = MaskedView(stack, rule, mean, 2.0), StackView(stack, rule, mean, 2.0)
    H = np.random.default_rng(0).standard_normal((N, 3))
    assert np.allclose(masked.forms(H), plain.quadratic_forms(H))
    assert np.allclose(masked.squared_norms(), plain.squared_norms())
    assert np.allclose(masked.products(H[:, :1])[0][:, 0], plain.multiply(H[:, 0]))
    assert np.array_equal(masked.rounding(), plain.rounding())
    if center:
        assert np.allclose((masked_mean(stack, weights) - mean).max(), 0)


def test_near_their_mean_graphs_keep_their_digits(storage):
    base = random_symmetric(1, N, seed=1, density=0.7)
    spread = 1e-9 * np.random.default_rng(0).standard_normal((M, 1, 1))
    seen = observed_entries("entries")
    A = np.where(seen, base * (1 + spread), np.nan)
    stack = stored(GraphStack(A, missing="unobserved"), storage)
    mean = masked_mean(stack, np.ones(M))
    found = MaskedView(stack, "hollow", mean).squared_norms()
    dense = mean.toarray() if sparse.issparse(mean) else mean
    expected = np.nansum((A - dense) ** 2 * OFF, axis=(1, 2))
    assert np.allclose(found, expected, rtol=1e-3, atol=0)


def test_plain_views_refuse_hidden_pairs_but_not_a_hidden_diagonal(storage):
    A = random_symmetric(M, N, seed=5, density=0.6)
    pairs = stored(GraphStack(A).hide(np.tri(N, k=-6, dtype=bool)), storage)
    with pytest.raises(ValueError, match="entries are hidden"):
        StackView(pairs, "hollow")
    with pytest.raises(ValueError, match="entries are hidden"):
        mean_graph(pairs, np.ones(M))
    loops = stored(GraphStack(A).hide(np.eye(N, dtype=bool)), storage)
    with pytest.raises(ValueError, match="entries are hidden"):
        StackView(loops, "observed")
    H = np.random.default_rng(0).standard_normal((N, 3))
    for rule in ("hollow", "filled"):
        expected = StackView(GraphStack(A), rule).quadratic_forms(H)
        assert np.allclose(StackView(loops, rule).quadratic_forms(H), expected)
        assert np.allclose(MaskedView(loops, rule).forms(H), expected)


def test_a_treatment_is_learnt_from_what_is_observed():
    rng = np.random.default_rng(0)
    A = np.corrcoef(rng.standard_normal((N, 30)))[None].repeat(M, axis=0)
    A[:, 0, 0] = A[2, 3, 3] = A[1, 2, 4] = A[1, 4, 2] = np.nan
    treatment = Treatment.learn(GraphStack(A, missing="unobserved"), "auto", True, np.ones(M))
    assert treatment.diagonal == "filled"
    assert treatment.diagonal_value == pytest.approx(1)
    assert np.allclose(treatment.mean[2, 4], A[0, 2, 4])
    stack = GraphStack(A, missing="unobserved")
    search = treatment.search_view(stack, "masked")
    loss = treatment.loss_view(stack, "masked", search)
    assert loss.hollow
    assert not search.hollow
    A[:, range(N), range(N)] = np.nan  # nothing is known of the diagonal: as if there were none
    stack = GraphStack(A, missing="unobserved")
    assert Treatment.learn(stack, "auto", False, np.ones(M)).diagonal == "filled"
