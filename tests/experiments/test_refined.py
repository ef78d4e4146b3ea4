"""The experiment on refining runs, and finds what it says."""

from experiments.refined import cases, compare


def test_overlapping_components_need_refining_and_orthogonal_ones_do_not():
    by_name = {case.name: case for case in cases(quick=True, seed=3)}
    apart = compare(by_name["planted, cosines 0"])
    overlapping = compare(by_name["planted, cosines 0.3"])
    assert apart.gain < 0.01 < 0.05 < overlapping.gain
    assert overlapping.positions[1] < 0.1 < 0.3 < overlapping.positions[0]
