"""The experiment on misaligned vertices runs, and finds what it says."""

from experiments.__main__ import main
from experiments.misaligned import measure


def test_a_quick_run_leaves_a_table_and_a_picture(tmp_path, capsys):
    assert main(["misaligned", "--quick", "--output", str(tmp_path)]) == 0
    assert (tmp_path / "misaligned.png").stat().st_size > 5000
    assert len((tmp_path / "misaligned.tsv").read_text(encoding="utf-8").splitlines()) == 4
    assert "**Verdict:**" in capsys.readouterr().out


def test_shuffled_vertices_suffer_most_and_are_put_back():
    row = measure(0.1, m=20, n=120, seed=0)
    assert row.touched > 2 * row.untouched
    assert row.loadings_touched < 0.2
    assert row.put_back > 0.9
    assert row.touched_aligned < 0.1 * row.touched
