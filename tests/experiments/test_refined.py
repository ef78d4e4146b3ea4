"""The experiment on refining runs, and finds what it says."""

from experiments.__main__ import main
from experiments.refined import cases, compare


def test_a_quick_run_leaves_a_table_and_a_picture(tmp_path, capsys):
    pages = (tmp_path / "a" / "refined.tsv", tmp_path / "a" / "refined.png")
    assert main(["refined", "--quick", "--output", str(tmp_path / "a")]) == 0
    assert all(page.stat().st_size > 500 for page in pages)
    rows = pages[0].read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + len(list(cases(quick=True, seed=0)))
    assert "**Verdict:** differs where components overlap" in capsys.readouterr().out


def test_overlapping_components_need_refining_and_orthogonal_ones_do_not():
    by_name = {case.name: case for case in cases(quick=True, seed=3)}
    apart = compare(by_name["planted, cosines 0"])
    overlapping = compare(by_name["planted, cosines 0.3"])
    assert apart.gain < 0.01 < 0.05 < overlapping.gain
    assert overlapping.positions[1] < 0.1 < 0.3 < overlapping.positions[0]
