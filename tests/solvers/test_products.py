"""A basis that grows and turns: its cores and sums of products against written-out matrices."""

import numpy as np
import pytest
from known_graphs import random_symmetric, stored
from written_out import Counted

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView, mean_graph
from eigengraphs.solvers import directions, tall
from eigengraphs.solvers.directions import basis_width, orthonormal, turned_basis, widened
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.products import (
    CachedBasis,
    StreamedBasis,
    freed,
    part_for,
    projected,
    rotated,
)

M, N = 5, 12
KINDS = [CachedBasis, StreamedBasis]


@pytest.fixture(params=KINDS, ids=["cached", "streamed"])
def kind(request):
    return request.param


def treated(storage, rule, dtype=np.float64):
    """A view, and its graphs written out."""
    stack = stored(GraphStack(random_symmetric(M, N, seed=1, density=0.6)), storage).astype(dtype)
    view = StackView(stack, rule, mean_graph(stack, np.ones(M)), scale=0.5)
    return view, np.stack([view.multiply(e) for e in np.eye(N)], axis=2)


def check(basis, A, V, atol):
    rng = np.random.default_rng(3)
    s = V.shape[1]
    assert np.allclose(basis.V, V)
    assert np.allclose(
        Packing(s).unpack(basis.cores), np.einsum("sa,ist,tb->iab", V, A, V), atol=atol
    )
    W, Y = rng.standard_normal((M, 3)), rng.standard_normal((s, 3))
    expected = np.einsum("ik,ist,tk->sk", W, A, V @ Y)
    assert np.allclose(basis.combine(W, Y), expected, atol=10 * atol)
    assert basis.combine(W[:, :0], Y[:, :0]).shape == (N, 0)


@pytest.mark.parametrize("rule", ["observed", "filled", "hollow"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_basis_grows_and_turns(kind, rule, dtype, storage):
    rng = np.random.default_rng(0)
    view, A = treated(storage, rule, dtype)
    atol = 1e-12 if dtype == np.float64 else 1e-5
    V = np.linalg.qr(rng.standard_normal((N, 9)))[0]
    basis = kind(view, np.ones(view.n_graphs))
    basis.append(V[:, :3])
    check(basis, A, V[:, :3], atol)
    basis.append(V[:, 3:4])
    basis.append(V[:, 4:7])
    check(basis, A, V[:, :7], atol)
    T = np.linalg.qr(rng.standard_normal((7, 4)))[0]
    basis.rotate(T)
    check(basis, A, V[:, :7] @ T, atol)
    basis.append(V[:, 7:])  # a shortened basis grows again
    check(basis, A, np.column_stack([V[:, :7] @ T, V[:, 7:]]), atol)
    basis.rotate(np.eye(6)[:, ::-1])
    check(basis, A, np.column_stack([V[:, :7] @ T, V[:, 7:]])[:, ::-1], atol)


def test_cores_are_turned_alike_in_many_blocks(kind, monkeypatch):
    view, A = treated("dense", "observed")
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((N, 6)))[0]
    monkeypatch.setattr("eigengraphs.solvers.products._BLOCK_BYTES", 8 * 36 * 2)  # two graphs
    basis = kind(view, np.ones(view.n_graphs))
    basis.append(V)
    basis.rotate(np.eye(6)[:, [4, 2]])
    check(basis, A, V[:, [4, 2]], 1e-12)


@pytest.mark.parametrize("which", KINDS)
def test_passes_are_counted(which):
    view = Counted(treated("dense", "observed")[0])
    view.calls.clear()
    V = np.eye(N)
    basis = which(view, np.ones(view.n_graphs))
    for step, columns in enumerate((V[:, :4], V[:, 4:6]), start=1):
        basis.append(columns)
        basis.combine(np.ones((M, 1)), np.ones((basis.V.shape[1], 1)))
        assert basis.n_passes == view.total == (step if which is CachedBasis else 2 * step)
    basis.rotate(np.eye(6)[:, :3])
    assert basis.n_passes == view.total


def test_dependent_columns_do_not_cost_the_others_their_span():
    a, b = np.eye(5)[0] + 0.1, np.arange(5.0)
    B = orthonormal(np.column_stack([a, a, b, a + b, 0 * a]), np.zeros((5, 0)))
    assert B.shape == (5, 2)
    assert np.allclose(B.T @ B, np.eye(2))
    assert np.allclose(B @ (B.T @ b), b)


@pytest.mark.parametrize("left", [1.0, 1e-7])
def test_new_columns_are_orthogonal_to_the_basis_however_little_is_new(left):
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((30, 6)))[0]
    columns = V @ rng.standard_normal((6, 4)) + left * rng.standard_normal((30, 4))
    B = orthonormal(columns, V)
    assert B.shape == (30, 4)
    assert np.abs(V.T @ B).max() < 1e-14
    assert np.abs(B.T @ B - np.eye(4)).max() < 1e-8  # exact but for the last turn off V
    both = np.column_stack([V, B])
    assert np.abs(columns - both @ np.linalg.lstsq(both, columns)[0]).max() < 1e-12
    assert orthonormal(V[:, :2], V).shape == (30, 0)


def test_the_basis_is_wide_where_graphs_are_few_and_the_width_goes_by_eights():
    widths = [basis_width(m, cache=True) for m in (1, 100, 300, 1000, 10**6)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 80
    assert widths[-1] == 64
    assert {w % 8 for w in widths} == {0}
    assert basis_width(1, cache=False) < widths[-1]  # every pass multiplies by all columns


def test_a_tall_basis_grows_and_turns_in_its_place(monkeypatch):
    monkeypatch.setattr(directions, "TALL", 10)
    monkeypatch.setattr(tall, "_ROWS", 7)
    rng = np.random.default_rng(0)
    first, more, most = (rng.standard_normal((50, b)) for b in (5, 3, 60))
    T = rng.standard_normal((8, 6))
    V = widened(np.zeros((50, 0)), first)
    assert np.array_equal(V, first)
    wider = widened(V, more)
    assert np.shares_memory(V, wider)
    expected = np.column_stack([first, more])
    assert np.array_equal(wider, expected)
    turned = turned_basis(wider, T)
    assert np.shares_memory(turned, wider)
    assert np.allclose(turned, expected @ T, rtol=1e-14, atol=1e-14)
    beyond = widened(turned, most)  # more than there was room for
    assert np.allclose(beyond, np.column_stack([expected @ T, most]), rtol=1e-14, atol=1e-14)


def test_room_is_used_again_and_given_up_where_it_does_not_fit():
    parts = [np.zeros((M, b, N)) for b in (4, 2, 3)]
    for number, part in enumerate(parts):
        part[:] = number
    T = np.eye(9)[:, [8, 0, 1, 2, 4]]  # the last column first
    kept = rotated(parts, T)
    assert [part.shape[1] for part in kept] == [4, 1]
    assert all(np.shares_memory(mine, part) for mine, part in zip(kept, parts, strict=False))
    assert kept[0][0, :, 0].tolist() == [2, 0, 0, 0]
    assert kept[1][0, :, 0].tolist() == [1]
    free = freed([*parts, np.zeros((M, 7, N))[:, :2]], kept)
    assert [part.shape[1] for part in free] == [3, 7]  # whole, where a part had a share of it
    none = part_for(M, 0, N, np.dtype(float), free)
    assert none.shape == (M, 0, N)
    assert len(free) == 2
    mine = part_for(M, 2, N, np.dtype(float), free)
    assert mine.shape == (M, 2, N)
    assert np.shares_memory(mine, parts[2])
    new = part_for(M, 8, N, np.dtype(float), free)
    assert new.shape == (M, 8, N)
    assert free == []


def test_sums_of_one_sign_keep_their_digits_in_float32():
    # Of a graph with few blocks all terms of a sum are alike, and roundings go one way.
    part = np.full((2, 3, 5000), 0.7, dtype=np.float32)
    V = np.full((5000, 2), 1 / np.sqrt(5000))
    exact = part.astype(float) @ V
    found = projected(part, V).transpose(0, 2, 1)
    assert np.abs(found / exact - 1).max() < 3 * np.finfo(np.float32).eps
