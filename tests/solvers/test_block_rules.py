"""The rounds of one block, on a space that says what it is told to: who searches, who is done."""

from types import SimpleNamespace

import numpy as np
import pytest

from eigengraphs.solvers.block import BLOCK, Job, find_block

TOL = 1e-3
FAR, NEAR, DONE = 0.5, 2e-3, 0.5e-3  # relative gradients


class Told:
    """A space whose rounds are told: the relative gradients of each, and the last goes on.

    Components stay where they are, column k the k-th unit vector, unless ``turned`` says which
    others are found in a round. After a round that is ``narrow``, nothing is outside of the basis.
    """

    def __init__(self, *rounds, gains=None, turned=(), most=BLOCK, s=20, narrow=()):
        self.rounds = [np.asarray(sizes, dtype=float) for sizes in rounds]
        self.gains = np.ones(s) if gains is None else np.asarray(gains, dtype=float)
        self.turned, self.most, self.s, self.narrow = dict(turned), most, s, narrow
        self.n_vertices, self.n_passes = 50, 7
        self.searches, self.asked, self.d, self.n_random = [], [], [], []
        self.added, self.points, self.n_new = [], [], []

    def begin(self, given, size, rng):
        self.size = size
        return np.eye(self.s)[:, : given.shape[1]]

    def random_starts(self, rng, d, b):
        self.n_random.append(b)
        return np.zeros((d, b, self.s))

    def solve(self, d, search, tol):
        self.searches.append(search)
        self.asked.append(np.array(tol))
        self.d.append(d)
        places = self.turned.get(len(self.d), np.arange(d))
        agreement = np.full(d, 0.5 if len(self.d) == 1 else np.nan)
        return SimpleNamespace(Y=np.eye(self.s)[:, places], gains=self.gains[:d],
                               agreement=agreement)  # fmt: skip

    def look_outside(self, fit):
        sizes = self.rounds[min(len(self.d), len(self.rounds)) - 1]
        d = len(fit.gains)
        sizes = np.broadcast_to(sizes, (max(d, sizes.size),))[:d]
        return fit.Y * sizes, sizes

    def components(self, Y):
        return Y

    def forms(self, Y):
        return None

    def shorten(self, points, n_new):
        self.points.append(len(points))
        self.n_new.append(n_new)
        return points

    def widen(self, r, points):
        self.added.append(r.copy())
        return None if len(self.d) in self.narrow else points


def job(**settings):
    defaults = {
        "weights": np.ones(1), "sizes": np.ones(1), "hollow": False, "by_mean": True,
        "n_squares": 3, "n_random": 5, "n_beside_given": 2, "tol": TOL, "max_iter": 500,
        "floor": 0.0, "nothing": 0.0, "noise": 0.0, "keep": "products", "wide": True,
        "watch": None,
    }  # fmt: skip
    return Job(**{**defaults, **settings})


def run(space, want=2, n_given=0, **settings):
    return find_block(
        space, want, job(**settings), given=np.zeros((50, n_given)),
        seed=np.random.SeedSequence(0), n_before=4, passes_before=100,
    )  # fmt: skip


# ------------------------------------------------------------------------------------ how many


@pytest.mark.parametrize(
    ("most", "want", "n_given", "size"),
    [(100, 2, 0, 12), (5, 2, 0, 5), (3, 4, 0, 4), (100, 2, 3, 3)],
)  # fmt: skip
def test_a_block_has_a_fixed_size_or_all_there_can_be_or_what_is_given(most, want, n_given, size):
    space = Told(DONE, most=most)
    block = run(space, want, n_given)
    assert space.size == block.size == size
    assert set(space.d) == {size}
    assert block.H.shape == (20, want)
    assert len(block.reasons) == len(block.gains) == len(block.stationarity) == want


# -------------------------------------------------------------------------------- who searches


def test_the_first_three_rounds_search_and_the_first_two_from_spectral_places():
    space = Told(FAR, FAR, FAR, NEAR, DONE)
    run(space)
    assert space.n_random == [5, 5, 5, 0, 0]
    assert [search.by_mean for search in space.searches] == [True, True, False, False, False]
    assert [search.n_squares for search in space.searches] == [3, 3, 0, 0, 0]
    assert [search.n_pool for search in space.searches] == [3, 3, 3, 1, 1]
    assert not any(search.in_order for search in space.searches)
    assert not run_first(by_mean=False).by_mean


def run_first(**settings):
    space = Told(DONE)
    run(space, **settings)
    return space.searches[0]


@pytest.mark.parametrize(("wide", "longest"), [(True, 3), (False, 2)])
def test_narrow_bases_keep_fewer_earlier_solutions(wide, longest):
    class Remembering(Told):
        n_points = ()

        def shorten(self, points, n_new):
            self.n_points += (len(points),)
            return super().shorten(points, n_new)

    space = Remembering(*[FAR] * 6, DONE)
    run(space, wide=wide)
    assert space.n_points == (1, *[min(k, longest) for k in range(2, 7)])


def test_given_components_are_not_searched_and_keep_their_order():
    space = Told(FAR, NEAR, DONE)
    run(space, n_given=3)
    assert space.n_random == [2, 0, 0]
    assert all(search.in_order for search in space.searches)
    assert not any(search.by_mean or search.n_squares for search in space.searches)
    assert {search.n_pool for search in space.searches} == {1}
    assert space.searches[0].warm.shape == (20, 3)


@pytest.mark.parametrize(
    ("stayed", "expected"), [(3, 0), (4, 3), (11, 3), (12, 0)]
)  # fmt: skip
def test_later_rounds_search_while_some_stayed_and_some_moved(stayed, expected):
    moved = np.arange(BLOCK)
    moved[stayed:] = 19 - moved[stayed:] % 2
    space = Told(FAR, turned={3: moved})
    run(space, max_iter=4)
    assert space.n_random == [5, 5, 5, expected]
    assert space.searches[3].n_stayed == stayed


def test_after_eight_rounds_nobody_searches():
    moved = np.arange(BLOCK)
    turned = {k: moved if k % 2 else np.append(moved[:6], moved[6:] + 7) for k in range(20)}
    space = Told(FAR, turned=turned)
    run(space, max_iter=11)
    assert space.n_random == [5] * 3 + [3] * 5 + [0] * 3


def test_those_that_stayed_are_settled_once_all_are_near():
    near = Told(FAR, FAR, FAR, 1e-2, 1e-2, DONE)
    run(near)
    assert [search.n_stayed for search in near.searches] == [0, 0, 0, 12, 12, 12]
    assert [search.n_settled for search in near.searches] == [0, 0, 0, 0, 12, 12]
    one_far = Told(FAR, FAR, FAR, np.append(np.full(11, 1e-2), 1.1e-2))
    run(one_far, max_iter=6)
    assert [search.n_settled for search in one_far.searches] == [0] * 6


# --------------------------------------------------------------------------------- who is done


def test_while_components_come_and_go_none_is_finished_unless_all_are():
    some = np.append(np.full(11, DONE), FAR)
    space = Told(some)
    block = run(space)
    assert len(space.d) == block.n_iter == 3
    assert len(Told(DONE).d) == 0
    at_once = Told(DONE)
    assert run(at_once).n_iter == 1


@pytest.mark.parametrize(("size", "rounds"), [(0.9, 5), (0.91, 8)])
def test_a_component_is_done_a_little_below_the_tolerance(size, rounds):
    space = Told(FAR, FAR, FAR, FAR, size * TOL)
    block = run(space, max_iter=8)
    assert block.n_iter == rounds
    assert set(block.reasons) == {"stationary"}


def test_finished_components_are_those_before_the_first_that_is_not():
    sizes = np.array([DONE, DONE, NEAR, DONE] + [NEAR] * 8)
    space = Told(FAR, FAR, FAR, sizes)
    run(space, want=3, max_iter=6)
    assert [search.n_fixed for search in space.searches] == [0, 0, 0, 0, 2, 2]
    enough = Told(FAR, FAR, FAR, sizes)
    assert run(enough, want=2).n_iter == 4


def test_rounds_are_no_more_than_allowed():
    block = run(Told(FAR), max_iter=4)
    assert block.n_iter == 4
    assert block.reasons == ("max_iter", "max_iter")
    assert run(Told(FAR), max_iter=1).n_iter == 1


def test_near_the_rounding_three_rounds_without_progress_are_enough():
    # 10 sqrt(noise / n / gain) is 2e-2 for a gain of 1.
    noise = 50 * (2e-3) ** 2
    gains = np.ones(20)
    block = run(Told(FAR, FAR, FAR, 1.9e-2, gains=gains), noise=noise)
    assert block.reasons == ("precision", "precision")
    assert block.n_iter == 7  # one with progress, and three without
    block = run(Told(FAR, FAR, FAR, 2.1e-2, gains=gains), noise=noise)
    assert block.reasons == ("stalled", "stalled")
    assert block.n_iter == 64
    four = run(Told(FAR, FAR, FAR, 1.9e-2, gains=4 * gains), noise=noise, max_iter=20)
    assert four.reasons == ("max_iter", "max_iter")  # of a larger gain rounding is less


def test_an_unobserved_diagonal_is_flat_at_a_millionth():
    settings = {"tol": 1e-9, "max_iter": 20}
    flat = run(Told(FAR, FAR, FAR, 0.99e-6), hollow=True, **settings)
    assert flat.reasons == ("precision", "precision")
    assert flat.n_iter == 7
    assert run(Told(FAR, FAR, FAR, 1.01e-6), hollow=True, **settings).n_iter == 20
    assert run(Told(FAR, FAR, FAR, 0.99e-6), hollow=False, **settings).n_iter == 20


def test_progress_is_a_tenth_less():
    noise = 50 * 1e-2  # all is near the rounding
    slow = run(Told(FAR, FAR, FAR, *(0.3 * 0.91 ** np.arange(30))), noise=noise, max_iter=30)
    # Two rounds in a row are more than a tenth less than the best before them.
    assert slow.n_iter == 30
    slower = run(Told(FAR, FAR, FAR, *(0.3 * 0.98 ** np.arange(30))), noise=noise, max_iter=30)
    assert slower.reasons == ("precision", "precision")
    assert slower.n_iter == 7


def test_nothing_left_is_told_from_what_is_found():
    gains = np.array([1.0] + [0.0] * 19)
    block = run(Told(np.append(DONE, np.zeros(11)), gains=gains))
    assert block.reasons == ("stationary", "exhausted")
    assert np.array_equal(block.gains, [1.0, 0.0])


# --------------------------------------------------------------------------- what the core does


def test_the_core_is_solved_as_exactly_as_the_next_digits_need():
    sizes = np.array([0.03, 0.0299, 0.02] + [1.5e-3] * 9)
    far = np.array([5.0, 0.3, 0.1, 0.05] + [0.03] * 8)
    space = Told(far, sizes)
    run(space, max_iter=3)
    assert np.allclose(space.asked[0], 1e-2)  # nothing is known yet
    assert np.allclose(space.asked[1], [1e-2, 1e-2, 5e-3] + [3e-3] * 9)
    assert np.allclose(space.asked[2], [3e-3, 2.99e-4, 2e-4] + [1e-4] * 9)


def test_new_directions_are_gradients_over_gains_of_those_that_are_not_there_yet():
    sizes = np.array([DONE, 0.31 * TOL, NEAR, 0.3 * TOL] + [NEAR] * 8)
    gains = np.arange(1.0, 21.0)
    space = Told(FAR, FAR, FAR, sizes, gains=gains)
    run(space, want=3, max_iter=5)
    # The first two are finished, and the fourth is nearly there.
    open_ones = [2, *range(4, 12)]
    assert np.allclose(
        space.added[3], np.eye(20)[:, open_ones] * sizes[open_ones] / gains[open_ones]
    )
    assert space.n_new == [12, 12, 12, 9]


def test_a_shortened_basis_keeps_two_earlier_solutions():
    space = Told(FAR)
    run(space, max_iter=6)
    assert space.points == [1, 2, 3, 3, 3]
    assert space.searches[0].warm.shape == (20, 0)
    assert all(search.warm.shape == (20, BLOCK) for search in space.searches[1:])


def test_when_nothing_is_outside_the_core_is_asked_for_all_its_digits_once():
    space = Told(NEAR, narrow=range(9))
    block = run(space)
    assert block.n_iter == 2
    assert np.allclose(space.asked[0], 1e-2)
    assert np.allclose(space.asked[1], 0.1 * TOL)
    assert block.reasons == ("stalled", "stalled")


# ---------------------------------------------------------------------------------- noise waits


def ahead(first=2, behind=FAR):
    return np.append(np.full(first, 0.02), np.full(BLOCK - first, behind))


def strong(first=2, gain=4.0, noise=1.0):
    return np.append(np.full(first, gain), np.full(20 - first, noise))


def test_those_far_ahead_go_on_alone_until_they_are_finished():
    finished = np.append(np.full(2, DONE), np.full(10, FAR))
    later = np.append(np.full(2, DONE), np.full(10, NEAR))
    space = Told(FAR, ahead(), NEAR, finished, later, gains=strong())
    run(space, want=3, max_iter=6)
    assert space.d == [12, 12, 2, 2, 12, 12]
    assert [search.n_fixed for search in space.searches] == [0, 0, 0, 0, 2, 2]
    assert [added.shape[1] for added in space.added] == [12, 2, 2, 10, 10]
    assert run(Told(FAR, ahead(), NEAR, finished, gains=strong())).n_iter == 4


def test_those_that_wait_go_on_when_the_basis_holds_all_of_those_ahead():
    sizes = np.append(np.full(2, NEAR), np.full(10, FAR))
    space = Told(FAR, ahead(), sizes, gains=strong(), narrow=(3, 4))
    run(space, want=3, max_iter=5)
    assert space.d == [12, 12, 2, 2, 12]
    assert np.allclose(space.asked[3], 0.1 * TOL)
    assert space.searches[4].n_fixed == 2
    enough = run(Told(FAR, ahead(), sizes, gains=strong(), narrow=(3, 4)), want=2)
    assert enough.n_iter == 4
    assert enough.reasons == ("stalled", "stalled")


@pytest.mark.parametrize(
    ("sizes", "gains", "alone"),
    [
        (ahead(), strong(gain=4.0), True),
        (ahead(), strong(gain=3.99), False),  # not so much stronger
        (ahead(), np.append([9.0, 8.0, 2.0], np.ones(17)), True),  # alike up to a factor of 2
        (ahead(), np.append([9.0, 9.0, 2.01], np.ones(17)), False),
        (np.append([0.02, 0.02, FAR, 0.02], np.full(8, FAR)), strong(), False),
        (np.full(BLOCK, 0.02), strong(), False),  # none is behind
        (np.full(BLOCK, FAR), strong(), False),  # none is ahead
        (ahead(behind=0.03), strong(), True),
    ],
)
def test_noise_waits_where_it_is_weak_alike_and_far_from_finished(sizes, gains, alone):
    space = Told(FAR, sizes, gains=gains)
    run(space, max_iter=3)
    assert space.d == [12, 12, 2 if alone else 12]


def test_the_first_round_sets_nobody_apart():
    space = Told(ahead(), gains=strong())
    run(space, max_iter=3)
    assert space.d == [12, 12, 2]
    given = Told(ahead(), gains=strong())
    run(given, n_given=12, max_iter=3)
    assert given.d == [12, 12, 12]


def test_those_ahead_that_move_are_joined_by_the_others():
    space = Told(FAR, ahead(), 0.02, gains=strong(), turned={3: [0, 15]})
    run(space, want=3, max_iter=4)
    assert space.d == [12, 12, 2, 12]


def test_of_those_that_wait_all_is_kept_as_it_was():
    space = Told(FAR, ahead(behind=0.25), NEAR, gains=strong())
    block = run(space, want=12, max_iter=3)
    assert np.allclose(block.stationarity, [NEAR] * 2 + [0.25] * 10)
    assert np.array_equal(block.gains, strong()[:12])
    assert np.array_equal(block.agreement, np.full(12, 0.5))  # where it was last known
    assert np.array_equal(block.H, np.eye(20)[:, :12])


# ------------------------------------------------------------------------------ what is told


def test_the_watcher_hears_of_those_that_are_wanted():
    seen = []
    sizes = np.append([TOL, 1.2 * TOL], np.full(10, FAR))
    run(Told(FAR, FAR, FAR, sizes), max_iter=4, watch=seen.append)
    assert [event.n_iter for event in seen] == [1, 2, 3, 4]
    assert [event.n_converged for event in seen] == [4, 4, 4, 5]
    assert [event.stationarity for event in seen] == [FAR, FAR, FAR, 1.2 * TOL]
    assert {event.n_passes for event in seen} == {107}


def test_an_interruption_is_told_from_the_limit():
    def watch(progress):
        if progress.n_iter == 2:
            raise KeyboardInterrupt

    sizes = np.append(TOL, np.full(11, FAR))
    block = run(Told(sizes), watch=watch)
    assert block.interrupted
    assert block.n_iter == 2
    assert block.reasons == ("stationary", "interrupted")
    assert block.n_passes == 7
    assert not run(Told(DONE)).interrupted
