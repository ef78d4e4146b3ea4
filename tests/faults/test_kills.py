"""Commands that are killed at random moments go on to what they would have written."""

import pytest

from faults.kills import kill_conversions, kill_fits


def test_killed_fits_go_on_to_the_same_bytes(tmp_path, warm):
    outcome = kill_fits(3, tmp_path, seed=1, kind=warm.at, m=40)
    assert outcome.wrong == []
    assert outcome.kills == 3
    assert outcome.equal == 3 + outcome.finished


@pytest.mark.slow
def test_killed_conversions_go_on_to_the_same_graphs(tmp_path):
    outcome = kill_conversions(20, tmp_path)
    assert outcome.wrong == []
    assert outcome.kills == 20
    assert outcome.equal == 20 + outcome.finished


@pytest.mark.slow
def test_a_hundred_killed_fits_go_on_to_the_same_bytes(tmp_path):
    outcome = kill_fits(100, tmp_path)
    assert outcome.wrong == []
    assert outcome.kills == 100
    assert outcome.equal == 100 + outcome.finished
