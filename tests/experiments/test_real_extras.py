"""Experiments beside the paper, on real graphs: what they say is seen again, on the quick sizes."""

import json

import numpy as np
import pytest
from experiments.airports import changes

from eigengraphs import datasets
from eigengraphs.errors import EigengraphsError
from experiments import mice, reproduce


@pytest.fixture
def need_data():
    try:
        datasets.fetch_us_airports(download=False)
        datasets.fetch_agri_trade(download=False)
        datasets.fetch_hnu1(download=False)
    except EigengraphsError as error:
        pytest.skip(f"the data sets are not here: {error}")


def test_spring_2020_stands_out(tmp_path, need_data):
    reproduce("airports", output=tmp_path)
    kept = json.loads((tmp_path / "quick" / "airports.json").read_text(encoding="utf-8"))
    assert {finding["reason"] for finding in kept["findings"]} == {"spring 2020 stands out"}
    assert "from 2020-03 to 2020-04" in kept["findings"][1]["outcome"]


def test_changes_are_relative_to_each_component():
    Lam = np.array([[10.0, 1.0], [10.0, 1.0], [20.0, 2.0]])
    assert changes(Lam) == pytest.approx([0.0, np.hypot(0.75, 0.75)])
    assert changes(Lam * [7.0, -3.0]) == pytest.approx(changes(Lam))


@pytest.mark.parametrize("name", ["trade", pytest.param("dimension", marks=pytest.mark.slow)])
def test_they_run(name, tmp_path, need_data):
    path = reproduce(name, output=tmp_path)
    assert f"## {name}" in path.read_text(encoding="utf-8")


def test_held_out_mice_are_classified_by_both_methods():
    found = [mice.step(None, held_out=i, diagonal="auto", largest=8) for i in (0, 13, 31)]
    for name in ("JE", "PCA"):
        assert all(one[name][-1] for one in found)
        assert all(len(one[name]) == 8 for one in found)
