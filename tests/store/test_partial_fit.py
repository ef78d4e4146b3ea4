"""Batch after batch = all graphs together, where both solve on all vertices."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from blocked_graphs import InBlocks
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import eigengraphs as eg
from eigengraphs.errors import AlignmentError, DegenerateWarning, InputError
from eigengraphs.fitting import solve
from eigengraphs.solvers.basis import whole_pays
from eigengraphs.solvers.options import DEFAULTS

N = 14
SAME = 1e-8


def graphs(m: int, n: int = N, *, seed: int = 0, loops: bool = True) -> NDArray[np.float64]:
    """Four components of clearly different strength, the first with a mean, and noise."""
    rng = np.random.default_rng(seed)
    H = np.linalg.qr(rng.standard_normal((n, 4)))[0]
    Lam = rng.standard_normal((m, 4)) * [3, 2, 1.3, 0.8] + [4, 0, 1, 0]
    A = np.einsum("ik,sk,tk->ist", Lam, H, H) + 0.05 * rng.standard_normal((m, n, n))
    A = (A + A.transpose(0, 2, 1)) / 2
    if not loops:
        A[:, range(n), range(n)] = 0
    return A


def batches(m: int, cuts: tuple[int, ...]) -> Iterator[slice]:
    ends = (0, *cuts, m)
    return (slice(a, b) for a, b in pairwise(ends))


def in_batches(
    je: eg.JointEmbedding, A: Any, cuts: tuple[int, ...], weights: Any = None
) -> eg.JointEmbedding:
    for part in batches(len(A), cuts):
        je.partial_fit(A[part], sample_weight=None if weights is None else weights[part])
    return je


def require_same(je: eg.JointEmbedding, full: eg.JointEmbedding, A: Any) -> None:
    np.testing.assert_allclose(
        je.latent_positions_ * np.sign((je.latent_positions_ * full.latent_positions_).sum(axis=0)),
        full.latent_positions_, rtol=0, atol=SAME,
    )  # fmt: skip
    np.testing.assert_allclose(je.objective_path_, full.objective_path_, rtol=SAME)
    np.testing.assert_allclose(je.explained_ratio_, full.explained_ratio_, rtol=SAME)
    size = np.abs(full.loadings_).max()
    np.testing.assert_allclose(je.transform(A), full.loadings_, rtol=0, atol=SAME * size)
    assert je.stop_reason_ == full.stop_reason_
    assert je.diagonal_ == full.diagonal_
    assert je.converged_
    assert je.n_graphs_seen_ == len(A)
    if full.mean_graph_ is None:
        assert je.mean_graph_ is None
    else:
        mean = [
            x.toarray() if sparse.issparse(x) else x for x in (je.mean_graph_, full.mean_graph_)
        ]
        np.testing.assert_allclose(*mean, rtol=0, atol=1e-12 * np.abs(mean[1]).max())


# One graph at a time is enough where graphs differ enough: seven of the batches below.
CUTS = [(), (1, 2, 3, 4, 5, 6, 7, 20), (25,)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("diagonal", ["observed", "filled", "unobserved"])
@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")  # one graph, centered
def test_batches_are_all_graphs_together(diagonal: str, center: bool, weighted: bool) -> None:
    A = graphs(40, loops=diagonal == "observed")
    assert whole_pays(*A.shape[:2], False, True, DEFAULTS)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0, 3, 40) * (rng.random(40) < 0.9) if weighted else None
    if weights is not None:
        weights[:8] += 0.1  # a batch of weight zero is refused
    je = eg.JointEmbedding(4, diagonal=diagonal, center=center, random_state=0)
    full = clone(je).fit(A, sample_weight=weights)
    for cuts in CUTS:
        require_same(in_batches(clone(je), A, cuts, weights), full, A)


@pytest.mark.parametrize("center", [False, True])
def test_any_kind_of_stack(center: bool) -> None:
    A = graphs(60, loops=False) * (np.random.default_rng(3).random((N, N)) < 0.8)
    A = (A + A.transpose(0, 2, 1)) / 2
    je = eg.JointEmbedding(3, center=center, random_state=0)
    full = clone(je).fit(A)

    def as_kind(part: NDArray[np.float64], k: int) -> eg.GraphStack:
        name = ("blocks", "sparse", "sparse blocks")[k]
        stack = eg.GraphStack(part)
        if "sparse" in name:
            stack = eg.GraphStack([sparse.csr_array(x) for x in part])
        return InBlocks(stack, 7) if "blocks" in name else stack

    for k, part in enumerate(batches(60, (20, 40))):
        stack = as_kind(A[part], k)
        je.partial_fit(stack)
        if isinstance(stack, InBlocks):
            assert je.n_passes_ == stack.n_passes
    assert full.diagonal_ == "filled"
    require_same(je, full, A)


def test_centering_keeps_digits_beside_a_large_mean() -> None:
    A = graphs(40)
    large = A + 1e6 * np.outer(np.ones(N), np.ones(N))  # graphs keep ten digits of what differs
    je = in_batches(eg.JointEmbedding(3, center=True, random_state=0), large, (7, 20))
    full = eg.JointEmbedding(3, center=True, random_state=0).fit(A)
    # M - W mean mean^T would have lost all: squares of 1e6 leave 1e-4 of rounding.
    np.testing.assert_allclose(je.latent_positions_, full.latent_positions_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(je.objective_path_, full.objective_path_, rtol=1e-7)


def test_units_that_grow_and_zero_graphs() -> None:
    A = graphs(30)
    A[:5] = 0
    A[5:12] *= 1e-140
    w = np.ones(30)
    w[5:12], w[12:] = 1e-8, 1e9
    je, full = (eg.JointEmbedding(3, diagonal="observed", random_state=0) for _ in range(2))
    with pytest.warns(DegenerateWarning):
        je.partial_fit(A[:5], sample_weight=w[:5])
    je.partial_fit(A[5:12], sample_weight=w[5:12])
    tiny = clone(je).fit(A[5:12])
    np.testing.assert_allclose(je.latent_positions_, tiny.latent_positions_, atol=SAME)
    je.partial_fit(A[12:], sample_weight=w[12:])
    require_same(je, full.fit(A, sample_weight=w), A)


# ------------------------------------------------------------------ before and after


def test_truncate_and_extend() -> None:
    A = graphs(40, loops=False)
    four, two = (in_batches(eg.JointEmbedding(d, random_state=0), A, (15,)) for d in (4, 2))
    short, long = four.truncate(2), two.extend(4)
    for got, want in ((short, two), (long, four)):
        np.testing.assert_allclose(got.latent_positions_, want.latent_positions_, atol=SAME)
        np.testing.assert_allclose(got.objective_path_, want.objective_path_, rtol=SAME)
        np.testing.assert_allclose(got.loadings_, want.loadings_, atol=SAME)
    assert short.n_graphs_seen_ == 40
    # They go on by themselves, and leave those that they came of alone.
    kept = four.latent_positions_.copy()
    full = eg.JointEmbedding(2, random_state=0).fit(np.concatenate([A, A[:3]]))
    short.partial_fit(A[:3])
    np.testing.assert_allclose(short.latent_positions_, full.latent_positions_, atol=SAME)
    assert (four.n_graphs_seen_, four.n_components_) == (40, 4)
    np.testing.assert_array_equal(four.latent_positions_, kept)
    with pytest.raises(InputError, match="same graphs"):
        two.extend(4, graphs=A[:25])


@pytest.mark.parametrize("center", [False, True])
def test_a_saved_fit_goes_on(tmp_path: Any, center: bool) -> None:
    A = graphs(40)
    je = eg.JointEmbedding(3, center=center, random_state=np.random.default_rng(4))
    full = eg.JointEmbedding(3, center=center, random_state=np.random.default_rng(4)).fit(A)
    je.partial_fit(A[:11])
    path = je.save(tmp_path / "batches.eg")
    loaded, pickled = eg.load(path), pickle.loads(pickle.dumps(je))
    assert loaded.n_graphs_seen_ == 11
    p = N * (N + 1) // 2
    assert path.stat().st_size < 8 * 0.8 * p * p  # half of the symmetric moment, and the rest
    for again in (loaded, pickled):
        require_same(again.partial_fit(A[11:]), full, A)
    je.partial_fit(A[11:])
    np.testing.assert_array_equal(je.latent_positions_, loaded.latent_positions_)
    long = eg.load(je.save(path)).extend(4, graphs=A[11:])
    np.testing.assert_allclose(long.latent_positions_[:, :3], full.latent_positions_, atol=SAME)


def test_conventions() -> None:
    A = graphs(20)
    je = eg.JointEmbedding(2, random_state=0)
    params = je.get_params()
    assert je.partial_fit(A[:10], y=np.zeros(10)) is je
    assert je.get_params() == params
    with pytest.raises(NotFittedError):
        clone(je).transform(A)
    je.fit(A)  # forgets the batches
    assert not hasattr(je, "n_graphs_seen_")
    assert je.loadings_.shape == (20, 2)
    with pytest.raises(InputError, match=r"begin with partial_fit .* or use transform"):
        je.partial_fit(A)
    np.testing.assert_array_equal(clone(je).partial_fit(A).loadings_.shape, (20, 2))


def test_names_are_put_in_order() -> None:
    A, names = graphs(30), [f"v{s}" for s in range(N)]
    order = np.random.default_rng(0).permutation(N)
    je = eg.JointEmbedding(3, random_state=0).partial_fit(eg.GraphStack(A[:20], vertex_names=names))
    mixed = eg.GraphStack(A[20:][:, order][:, :, order], vertex_names=[names[s] for s in order])
    je.partial_fit(mixed)
    require_same(je, eg.JointEmbedding(3, random_state=0).fit(A), A)
    other = eg.GraphStack(A[:2], vertex_names=[*names[1:], "elsewhere"])
    with pytest.raises(AlignmentError):
        je.partial_fit(other)
    with pytest.raises(AlignmentError, match="5 vertices, expected 14"):
        je.partial_fit([nx.to_numpy_array(nx.path_graph(5))])


def test_failure_leaves_the_fit_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    A = graphs(30)
    je = eg.JointEmbedding(3, random_state=0)

    def stopped(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(solve, "subspace", stopped)
        with pytest.raises(KeyboardInterrupt):
            je.partial_fit(A[:10])
    with pytest.raises(NotFittedError):
        je.transform(A)
    je.partial_fit(A[:10])
    before = dict(vars(je))
    with monkeypatch.context() as patch:
        patch.setattr(solve, "subspace", stopped)
        with pytest.raises(KeyboardInterrupt):
            je.partial_fit(A[10:])
    bad = A[10:].copy()
    bad[3, 2, 1] = bad[3, 1, 2] = np.nan
    for refused in (lambda: je.partial_fit(bad), lambda: je.partial_fit(A[:2, :5, :5])):
        with pytest.raises(InputError):
            refused()
    assert vars(je) == before
    require_same(je.partial_fit(A[10:]), eg.JointEmbedding(3, random_state=0).fit(A), A)


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"loadings": "nonnegative"}, "loadings='nonnegative'"),
        ({"loadings": "class"}, "loadings='class'"),
        ({"directed": True}, "directed=True"),
        ({"refine": True}, "refine=True"),
        ({"n_components": "auto"}, "select_dimension"),
        ({"solver": "algorithm1"}, "algorithm1"),
    ],
)
def test_what_moments_cannot_do_is_refused(settings: dict[str, Any], said: str) -> None:
    je = eg.JointEmbedding(**{"n_components": 2, **settings})
    with pytest.raises(InputError, match=f"partial_fit is not offered.*{said}"):
        je.partial_fit(graphs(5), y=[0, 1, 0, 1, 0])
    assert not hasattr(je, "loadings_")


def test_large_and_incomplete_graphs_are_refused() -> None:
    with pytest.raises(InputError, match=r"on 84 vertices at most, got 85.*107 MB"):
        eg.JointEmbedding(2).partial_fit(np.zeros((2, 85, 85)))
    assert 8 * (84 * 85 // 2) ** 2 < 105e6
    A = graphs(5)
    A[0, 1, 2] = A[0, 2, 1] = np.nan
    with pytest.raises(InputError, match="only complete graphs"):
        eg.JointEmbedding(2, missing="unobserved").partial_fit(A)
    with pytest.raises(InputError):
        eg.JointEmbedding(2).partial_fit(A)


def test_settings_that_changed_are_refused() -> None:
    je = eg.JointEmbedding(2, random_state=0).partial_fit(graphs(5))
    with pytest.raises(InputError, match="center changed since the first batch"):
        je.set_params(center=True).partial_fit(graphs(5))
    je.set_params(center=False, n_components=3).partial_fit(graphs(5, seed=1))
    assert je.latent_positions_.shape == (N, 3)


def test_a_diagonal_that_turns_out_to_be_data_is_refused() -> None:
    hollow, loops = graphs(6, loops=False), graphs(6)
    je = eg.JointEmbedding(2, random_state=0).partial_fit(hollow)
    with pytest.raises(InputError, match=r"entry .* was 0, .* other values.*; start again"):
        je.partial_fit(loops)
    with pytest.raises(InputError, match=r"these graphs have 1; start again"):
        je.partial_fit(hollow + np.eye(N))
    both = np.concatenate([loops, hollow])
    for diagonal, A in (("auto", both), ("filled", both[::-1])):
        je = eg.JointEmbedding(2, diagonal=diagonal, random_state=0)
        require_same(in_batches(clone(je), A, (6,)), clone(je).fit(A), A)
