"""The same way to turn ``random_state`` into random numbers for all parts."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from eigengraphs.errors import InputError

RandomState: TypeAlias = (
    int | np.integer | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None
)


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """Return the seed from which every stream of one job is spawned.

    A ``Generator`` or ``RandomState`` gives up one draw, so two jobs in a row differ; an
    ``int`` or a ``SeedSequence`` gives the same streams every time.
    """
    if isinstance(random_state, np.random.SeedSequence):
        # A copy: spawning counts children, and the caller's object must not change.
        return np.random.SeedSequence(random_state.entropy, spawn_key=random_state.spawn_key)
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(2**31)))
    if random_state is None:
        return np.random.SeedSequence()
    if (
        isinstance(random_state, int | np.integer)
        and not isinstance(random_state, bool)
        and random_state >= 0
    ):
        return np.random.SeedSequence(int(random_state))
    raise InputError(
        f"random_state must be None, a whole number >= 0, or a NumPy random generator; "
        f"got {random_state!r}"
    )


def generator(random_state: RandomState) -> np.random.Generator:
    """Return a ``Generator``; one that is given is used as it is, not copied."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_sequence(random_state))
