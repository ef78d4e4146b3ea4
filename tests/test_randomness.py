import numpy as np
import pytest

from eigengraphs.errors import InputError
from eigengraphs.system.randomness import generator, seed_sequence


def draw(random_state):
    return generator(random_state).random(3)


def test_numbers_give_the_same_stream_every_time():
    assert np.array_equal(draw(3), draw(np.int64(3)))
    assert not np.array_equal(draw(3), draw(4))
    assert not np.array_equal(draw(None), draw(None))


def test_a_generator_is_used_and_not_copied():
    rng = np.random.default_rng(0)
    assert generator(rng) is rng
    assert not np.array_equal(draw(rng), draw(rng))


def test_generators_give_up_one_draw_for_a_job():
    for make in (np.random.default_rng, np.random.RandomState):
        a, b = make(5), make(5)
        assert seed_sequence(a).entropy == seed_sequence(b).entropy
        assert seed_sequence(a).entropy != seed_sequence(make(5)).entropy


def test_spawning_leaves_the_given_seed_alone():
    seed = np.random.SeedSequence(1)
    seed_sequence(seed).spawn(3)
    assert seed.n_children_spawned == 0
    assert seed_sequence(seed).spawn(1)[0].spawn_key == (0,)


@pytest.mark.parametrize("bad", ["x", -1, 1.5, True])
def test_anything_else_is_refused(bad):
    with pytest.raises(InputError, match="random_state must be"):
        generator(bad)
