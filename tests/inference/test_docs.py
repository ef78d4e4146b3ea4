"""Examples of group differences and change points run; claims are those of recorded runs."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_examples_run(capsys):
    text = (ROOT / "docs" / "guide" / "inference.md").read_text(encoding="utf-8")
    # One after the other, as a reader does; other parts of the page have tests of their own.
    parts = [part for part in text.split("\n## ") if part.startswith(("Group", "Change points"))]
    assert len(parts) == 2
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", "".join(parts), re.DOTALL):
        exec(block, names)
    said = capsys.readouterr().out
    assert "differing: je1" in said
    assert "(30,) 0.001" in said


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("designs.md", "genotype:sex"),
        ("power.md", "80% power needs"),
        ("measures.md", "The joint embedding adds to sex"),
    ],
)
def test_the_example_of_a_page_runs(page, said, capsys):
    text = (ROOT / "docs" / "guide" / page).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    assert said in capsys.readouterr().out


def recorded(name):
    text = (ROOT / "tests" / "inference" / f"calibration-{name}.md").read_text(encoding="utf-8")
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


def test_the_recorded_rates_of_changes_and_anomalies_are_what_is_promised():
    rows = [row for row in recorded("changes") if row[3] == "none"]
    assert {"doubled half-way", "lognormal"} <= {row[2] for row in rows}
    for *_, noise, _, count, rate in rows:
        assert int(count) >= 500
        assert float(rate.strip("%")) <= (8.5 if noise.startswith("t,") else 8.0)
    rows = [row for row in recorded("anomalies")[1:] if len(row) == 5]
    assert len(rows) >= 15
    assert all(int(count) >= 100 and float(found) <= 1 for _, _, count, found, _ in rows)
    rows = [row for row in recorded("anomalies") if row[2] == "187"]
    plain = [row for row in rows if not row[0].endswith("times normal")]
    assert len(plain) == 10
    assert all(int(found) >= 19 for *_, found, _ in plain)


def test_the_recorded_rates_of_designs_are_what_is_promised():
    rows = [row for row in recorded("designs") if row[1] == "1,000"]
    assert len(rows) == 13
    for name, _, *cells in rows:
        rates = [float(cell.strip("%")) for cell in cells]
        low, high = (3.5, 6.5) if len(rates) == 4 else (93, 97)
        assert low <= min(rates) <= max(rates) <= high, name


def test_the_recorded_rates_are_what_is_promised():
    record = ROOT / "tests" / "inference" / "calibration-compare.json"
    found = json.loads(record.read_text(encoding="utf-8"))
    for name, (count, rates) in found.items():
        if name.startswith(("no difference", "mice")):
            assert count >= 500
            assert max(rates) <= 0.065, name
        if name.startswith("spreads differ"):
            assert max(rates) <= 0.09, name
        if name.startswith("no difference"):
            assert min(rates) >= 0.035, name
    # Component 1 and family; then by the F statistic that takes spreads to be equal.
    for name, loss in (
        ("difference of 1.4 sd, 10 graphs against 10", 0.05),
        ("differences of 0.8 and 1.6 sd, 3 x 8 graphs", 0.05),
        ("difference of 1.6 sd, 5 graphs against 20", 0.1),
        ("difference of 1.4 sd, 5 graphs against 20, one component", 0.1),
    ):
        _, one, _, family, one_F, family_F = found[name][1]
        assert max(one_F - one, family_F - family) <= loss, name
    assert found["difference of section 5.2, 5 graphs a group"][1][0] > 0.9
    assert found["a fifth of it, 40 graphs a group"][1][0] > 0.9
    assert found["no difference: section 5.2, 5 graphs a group"][0] == pytest.approx(1000)
