"""Settings of the subspace solver, its blocks one after the other, and who stays in a round."""

from types import SimpleNamespace

import numpy as np
import pytest

from eigengraphs.solvers.block import Block, _count_stayed, _untaken
from eigengraphs.solvers.blocks import child, find_blocks, make_job
from eigengraphs.solvers.loadings import rounding_share
from eigengraphs.solvers.protocol import Fit, Stage

EPS = np.finfo(float).eps
SEED = np.random.SeedSequence(0)

# ----------------------------------------------------------------------------------- settings


def settings(rounding=0.0, **given):
    graphs = SimpleNamespace(
        squared_norms=lambda: np.array([3.0, 5.0]), n_vertices=10,
        rounding=lambda: np.full(2, rounding),
    )  # fmt: skip
    defaults = {
        "weights": np.array([1.0, 2.0]), "init": "auto", "n_init": 1, "tol": 1e-6, "max_iter": 9,
        "cache": True, "wide": None, "moments": False, "hollow": False, "watch": None,
    }  # fmt: skip
    return make_job(graphs, **{**defaults, **given})


def test_what_is_rounding_follows_from_the_graphs():
    job = settings()
    assert np.array_equal(job.sizes, [3.0, 10.0])
    assert job.noise == 0.0
    assert job.floor == pytest.approx((100 * 10 * EPS) ** 2 * 13, rel=1e-9, abs=0)
    assert job.nothing == pytest.approx(100 * 10 * EPS * 13, rel=1e-9, abs=0)
    noisy = settings(rounding=1e-8)
    assert noisy.noise == pytest.approx(3e-8, rel=1e-9, abs=0)
    assert noisy.floor == pytest.approx(12e-8, rel=1e-9, abs=0)
    assert rounding_share(7) == 700 * EPS


@pytest.mark.parametrize(
    ("init", "n_init", "by_mean", "n_squares", "n_random"),
    [
        ("auto", 1, True, 3, 3), ("auto", 4, True, 3, 6), (np.eye(10), 1, True, 3, 3),
        ("svd", 1, True, 0, 0), ("svd", 3, True, 0, 2), ("random", 1, False, 0, 1),
        ("random", 5, False, 0, 5),
    ],
)  # fmt: skip
def test_starts_of_the_core_are_as_asked_for(init, n_init, by_mean, n_squares, n_random):
    job = settings(init=init, n_init=n_init)
    assert (job.by_mean, job.n_squares, job.n_random) == (by_mean, n_squares, n_random)
    assert job.n_beside_given == n_init - 1


@pytest.mark.parametrize(
    ("given", "keep", "wide"),
    [
        ({"cache": True}, "products", True), ({"cache": False}, "cores", False),
        ({"cache": False, "wide": True}, "cores", True),
        ({"cache": True, "wide": False}, "products", False),
        ({"cache": True, "moments": True}, "moments", True),
    ],
)  # fmt: skip
def test_what_is_kept_of_the_graphs(given, keep, wide):
    job = settings(**given)
    assert (job.keep, job.wide) == (keep, wide)


# --------------------------------------------------------------------------- block after block


def unit(k, length=9):
    return np.eye(length)[:, k]


class Kind:
    """Finds component k as the k-th unit vector, ``size`` of them a block; nothing beyond ``rank``.

    ``stop`` is the number of the block that is interrupted, ``other`` a component that is found
    elsewhere from now on.
    """

    length = 9

    def __init__(self, size=3, rank=99, *, known=True, stop=None, other=None):
        self.size, self.rank, self.known, self.stop, self.other = size, rank, known, stop, other
        self.calls, self.n_forms = [], 0

    def next_block(self, want, frozen, Psi, given, seed, n_before, passes_before):
        self.calls.append((want, frozen.shape[1], given.shape[1], n_before, passes_before))
        assert Psi.shape == (2, frozen.shape[1])
        d = min(want, self.size)
        places = [n_before + j for j in range(d)]
        H = np.column_stack([unit(-1 if k == self.other else k) for k in places])
        left = np.array([k < self.rank for k in places])
        return Block(
            H * left, 1.0 * np.arange(2 * d).reshape(2, d) if self.known else None,
            np.where(left, 5.0, 0.0), np.full(d, 0.25), np.full(d, 0.5),
            tuple("stationary" if found else "exhausted" for found in left),
            self.size, 4, 10, interrupted=len(self.calls) == self.stop,
        )  # fmt: skip

    def forms(self, H):
        self.n_forms += 1
        return np.full((2, H.shape[1]), 7.0)

    def random(self, rng):
        x = rng.standard_normal(9)
        return x / np.linalg.norm(x)

    def cosines(self, H, other):
        return (H * other).sum(axis=0)


def blocks(kind, d, resume=None, n_given=0):
    empty = Fit(np.zeros((9, 0)), np.zeros((2, 0)), (), 0)
    return find_blocks(kind, d, 2, np.zeros((9, n_given)), SEED, resume or empty)


def test_blocks_follow_each_other_until_there_are_enough():
    kind = Kind()
    fit = blocks(kind, 7, n_given=5)
    # wanted, frozen, given, components and passes before
    assert kind.calls == [(7, 0, 5, 0, 1), (4, 3, 2, 3, 11), (1, 6, 0, 6, 21)]
    assert np.array_equal(fit.H, np.eye(9)[:, :7])
    assert fit.blocks == ((0, 3), (3, 3), (6, 3))
    assert fit.n_passes == 31
    assert fit.stages == (Stage(4, "stationary", 0.25, 5.0, "core", 0.5),) * 7
    assert not fit.interrupted
    assert np.array_equal(fit.Psi[:, 3:6], np.arange(6.0).reshape(2, 3))


def test_forms_that_a_block_does_not_know_are_a_pass_each():
    kind = Kind(known=False)
    fit = blocks(kind, 4)
    assert kind.n_forms == 2
    assert fit.n_passes == 1 + 2 * 10 + 2
    assert np.array_equal(fit.Psi, np.full((2, 4), 7.0))
    assert [call[4] for call in kind.calls] == [1, 12]


def test_beyond_the_rank_components_are_random_and_no_graph_is_read():
    kind = Kind(rank=2)
    fit = blocks(kind, 6)
    assert len(kind.calls) == 1
    assert fit.n_passes == 11
    assert not fit.interrupted
    assert [stage.stop_reason for stage in fit.stages] == ["stationary"] * 2 + ["exhausted"] * 4
    assert np.allclose(np.linalg.norm(fit.H, axis=0), 1)
    assert np.array_equal(fit.H[:, :2], np.eye(9)[:, :2])
    assert [stage.gain for stage in fit.stages] == [5.0, 5.0, 0.0, 0.0, 0.0, 0.0]
    assert [stage.n_iter for stage in fit.stages] == [4, 4, 4, 0, 0, 0]
    assert np.isnan([stage.agreement for stage in fit.stages[3:]]).all()
    assert not fit.Psi[:, 3:].any()
    assert fit.blocks == ((0, 3), (3, 3))
    shorter = blocks(Kind(rank=2), 3)
    assert np.array_equal(shorter.H, fit.H[:, :3])


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 6])
def test_a_fit_that_was_cut_short_goes_on_as_if_it_had_not_been(cut):
    first = blocks(Kind(), cut)
    kind = Kind()
    fit = blocks(kind, 8, resume=first)
    whole = blocks(Kind(), 8)
    assert np.array_equal(fit.H, whole.H)
    assert fit.stages == whole.stages
    assert fit.blocks == whole.blocks
    begun = cut - cut % 3  # a block that was begun is found again, whole
    assert [call[3] for call in kind.calls] == list(range(begun, 8, 3))
    assert [call[1] for call in kind.calls] == list(range(begun, 8, 3))


def test_components_that_another_search_found_are_kept_and_gone_on_behind():
    first = blocks(Kind(), 5)
    kind = Kind(other=4)
    fit = blocks(kind, 8, resume=first)
    assert np.array_equal(fit.H[:, :5], first.H)
    assert [(call[1], call[3]) for call in kind.calls] == [(3, 3), (5, 5)]
    assert fit.blocks == ((0, 3), (3, 2), (5, 3))
    assert fit.n_passes == 21


def test_an_interrupted_block_is_the_last_and_is_searched_again():
    fit = blocks(Kind(stop=2), 8)
    assert fit.interrupted
    assert fit.H.shape == (9, 6)
    again = blocks(Kind(stop=1), 8, resume=blocks(Kind(), 4))
    assert again.interrupted
    assert again.H.shape == (9, 4)  # what was known, and nothing of the block that was begun again


def test_what_was_interrupted_is_left_out_of_a_resumed_fit():
    done, not_done = (
        Stage(1, reason, 0.1, 1.0, "core") for reason in ("stationary", "interrupted")
    )
    fit = Fit(np.eye(9)[:, :2], np.ones((2, 2)), (done, not_done), 5, ((0, 3),))
    resumed = blocks(Kind(), 1, resume=fit)
    assert resumed.H.shape == (9, 1)
    assert resumed.stages == (done,)
    assert resumed.n_passes == 1


def test_seeds_of_components_are_children_of_the_one_seed():
    found = [child(SEED, k).generate_state(2).tolist() for k in (0, 1, 2)]
    assert found == [
        s.generate_state(2).tolist() for s in np.random.SeedSequence(0).spawn(3)
    ]  # fmt: skip
    below = np.random.SeedSequence(0, spawn_key=(4,))
    assert child(below, 2).spawn_key == (4, 2)


# ---------------------------------------------------------------------------------- who stayed


def stayed(warm, Y, gains=None):
    return _count_stayed(
        warm, SimpleNamespace(Y=Y, gains=np.ones(Y.shape[1]) if gains is None else gains)
    )


def test_those_that_stayed_are_counted_up_to_the_first_that_moved():
    E = np.eye(6)
    assert stayed(E[:, :3], E[:, :3]) == 3
    assert stayed(E[:, :4], E[:, :3]) == 3
    assert stayed(E[:, :2], E[:, :3]) == 0
    assert stayed(E[:, :3], E[:, [0, 2, 1]]) == 1
    assert stayed(2 * E[:, :3], -3 * E[:, :3]) == 3  # neither length nor sign matters
    assert stayed(E[:, :3], E[:, [0, 2, 2]], np.array([1.0, 0.0, 1.0])) == 3  # nothing is there
    for cosine, expected in ((0.991, 1), (0.989, 0)):
        turned = np.array([cosine, np.sqrt(1 - cosine**2), 0, 0, 0, 0])[:, None]
        assert stayed(5 * E[:, :1], turned) == expected
    just = np.array([99.0, 14.0, 1.0, 1.0, 1.0, 0.0])[:, None]  # of length 100
    assert stayed(E[:, :1], just) == 1


def test_each_takes_the_nearest_that_is_left():
    E = np.eye(6)
    warm = E[:, [0, 1, 2, 3]]
    assert np.array_equal(_untaken(warm, E[:, [2, 0]]), E[:, [1, 3]])
    assert np.array_equal(_untaken(warm, -E[:, [3]]), E[:, [0, 1, 2]])
    both = (E[:, [0]] + 0.9 * E[:, [1]], E[:, [0]] + 0.8 * E[:, [2]])
    assert np.array_equal(_untaken(warm, np.column_stack(both)), E[:, [1, 3]])
    nowhere = _untaken(warm, E[:, [5, 5]])  # of none near, each still takes one
    assert np.array_equal(nowhere, E[:, [2, 3]])
