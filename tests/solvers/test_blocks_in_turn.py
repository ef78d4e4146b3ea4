"""What the subspace solver hands from block to block: frozen components, starts, seeds, forms."""

from types import SimpleNamespace

import numpy as np
import pytest
from known_graphs import random_symmetric
from written_out import residuals

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers import subspace as solver
from eigengraphs.solvers.block import Block
from eigengraphs.solvers.blocks import child
from eigengraphs.solvers.rules import NonnegativeLoadings
from eigengraphs.solvers.subspace import subspace
from eigengraphs.solvers.symmetric import SymmetricSpace

M, N = 5, 30
WEIGHTS = np.linspace(0.5, 2, M)
SEED = np.random.SeedSequence(3)


def drawn(n_columns, seed=0):
    X = np.random.default_rng(seed).standard_normal((N, n_columns))
    return X / np.linalg.norm(X, axis=0)


@pytest.fixture
def calls(monkeypatch):
    """Each block that is searched: by which way, and with what; twelve are found at most."""
    seen = []

    def found(want, n_before, forms, size):
        d = min(want, 12)
        H = drawn(20)[:, n_before : n_before + d]
        return Block(
            H, forms(H), np.ones(d), np.zeros(d), np.ones(d), ("stationary",) * d, size, 1, 5,
            interrupted=False,
        )  # fmt: skip

    def find_block(space, want, job, *, given, seed, n_before, passes_before):
        seen.append(SimpleNamespace(
            way="block", space=space, want=want, n_given=given.shape[1], seed=seed,
            n_before=n_before, passes=passes_before, job=job,
        ))  # fmt: skip
        R = residuals(random_symmetric(M, N, 0), drawn(20)[:, :n_before])
        return found(want, n_before, lambda H: np.einsum("sk,ist,tk->ik", H, R, H),
                     given.shape[1] or 12)  # fmt: skip

    def find_whole(graphs, want, job, frozen, left, given, seed, n_before, passes_before):
        seen.append(SimpleNamespace(
            way="whole", want=want, n_given=given.shape[1], seed=seed, n_before=n_before,
            passes=passes_before, left=left, n_frozen=frozen.shape[1],
        ))  # fmt: skip
        return found(want, n_before, lambda H: None, min(want, 12))

    monkeypatch.setattr(solver, "find_block", find_block)
    monkeypatch.setattr(solver, "find_whole", find_whole)
    monkeypatch.setattr(solver, "whole_pays", lambda m, n: False)
    return seen


def solve(d, **settings):
    defaults = {
        "weights": WEIGHTS, "init": "auto", "n_init": 1, "tol": 1e-6, "max_iter": 9, "seed": SEED,
        "cache": True,
    }  # fmt: skip
    return subspace(StackView(GraphStack(random_symmetric(M, N, 0))), d, **{**defaults, **settings})


def test_each_block_is_on_what_the_earlier_ones_left_and_has_a_seed_of_its_own(calls):
    fit = solve(15)
    assert [(call.want, call.n_before, call.passes) for call in calls] == [(12, 0, 1), (3, 12, 6)]
    for call in calls:
        expected = child(SEED, call.n_before).generate_state(2)
        assert np.array_equal(call.seed.generate_state(2), expected)
    A, H = random_symmetric(M, N, 0), drawn(20)
    first, second = (call.space for call in calls)
    assert first._left == pytest.approx(WEIGHTS @ (A**2).sum(axis=(1, 2)))
    left = residuals(A, H[:, :12])
    assert second._left == pytest.approx(WEIGHTS @ (left**2).sum(axis=(1, 2)))
    assert np.array_equal(second._frozen, H[:, :12])
    v = np.ones(N)
    found = second._graphs.weighted_multiply(np.eye(M)[:, [2]], v[:, None])
    assert np.allclose(found[:, 0], left[2] @ v)
    # Forms are of the graphs as they are, whatever the blocks saw.
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", H[:, :15], A, H[:, :15]))
    assert fit.n_passes == 11


def test_given_components_are_a_block_of_their_own(calls):
    solve(20, init=drawn(14, seed=1))
    assert [(call.want, call.n_given) for call in calls] == [(12, 12), (2, 2), (6, 0)]
    assert [call.n_before for call in calls] == [0, 12, 14]


def test_few_vertices_are_searched_with_the_seed_of_the_first(calls, monkeypatch):
    monkeypatch.setattr(solver, "whole_pays", lambda m, n: True)
    fit = solve(15)
    assert [(call.way, call.want, call.n_frozen) for call in calls] == [
        ("whole", 15, 0), ("whole", 3, 12),
    ]  # fmt: skip
    for call in calls:
        assert np.array_equal(call.seed.generate_state(2), child(SEED, 0).generate_state(2))
    A, H = random_symmetric(M, N, 0), drawn(20)[:, :15]
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", H, A, H))
    assert fit.n_passes == 1 + 2 * 5 + 2  # forms that no block knows are read
    some = solve(15, init=drawn(4, seed=1))
    assert [(call.want, call.n_given) for call in calls[2:]] == [(4, 4), (11, 0)]
    assert some.H.shape == (N, 15)


def test_a_rule_has_a_space_of_its_own_on_the_graphs_themselves(calls):
    solve(14, rule=NonnegativeLoadings())
    assert [(call.want, call.n_before, call.n_given) for call in calls] == [(12, 0, 0), (2, 12, 0)]
    assert all(type(call.space).__name__ == "RuledSpace" for call in calls)
    expected = child(SEED, 12).generate_state(2)
    assert np.array_equal(calls[1].seed.generate_state(2), expected)
    calls.clear()
    solve(14, rule=NonnegativeLoadings(), init=drawn(13, seed=1))
    assert [(call.want, call.n_given) for call in calls] == [(12, 12), (1, 1), (1, 0)]
    calls.clear()
    solve(2)
    assert type(calls[0].space) is SymmetricSpace


def test_components_that_are_nothing_are_random_units():
    h = np.ones(N) / np.sqrt(N)
    A = np.einsum("i,st->ist", np.arange(1.0, M + 1), np.outer(h, h))
    fit = subspace(
        StackView(GraphStack(A)), 3, weights=WEIGHTS, init="auto", n_init=1, tol=1e-6, max_iter=9,
        seed=SEED, cache=True,
    )  # fmt: skip
    assert abs(fit.H[:, 0] @ h) == pytest.approx(1)
    assert np.allclose(np.linalg.norm(fit.H, axis=0), 1)
    assert [stage.stop_reason for stage in fit.stages[1:]] == ["exhausted"] * 2
    assert abs(fit.H[:, 1] @ fit.H[:, 2]) < 0.9
    cut = solver._Undirected(StackView(GraphStack(A)), SimpleNamespace(sizes=np.ones(M)), None)
    assert np.allclose(cut.cosines(drawn(2), drawn(2)), 1)
    assert cut.length == N
