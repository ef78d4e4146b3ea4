"""The experiment on misaligned vertices runs, and finds what it says."""

from experiments.misaligned import measure


def test_shuffled_vertices_suffer_most_and_are_put_back():
    row = measure(0.1, m=20, n=120, seed=0)
    assert row.touched > 2 * row.untouched
    assert row.loadings_touched < 0.2
    assert row.put_back > 0.9
    assert row.touched_aligned < 0.1 * row.touched
