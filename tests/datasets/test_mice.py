from collections import Counter
from dataclasses import FrozenInstanceError
from importlib.resources import files

import numpy as np
import pytest

from eigengraphs.datasets import Mice, load_mice

DATA = files("eigengraphs.datasets") / "data"
BUNDLE = DATA / "mice.npz"

# Printed by tools/build_mice.py when the bundle was built from the published wheel.
N_EDGES = 1_135_905
TOTAL_WEIGHT = 1_122_901_767
LARGEST_WEIGHT = 161_176
LINKED_IN_EVERY_MOUSE = 15_918
LINKED_IN_NO_MOUSE = 3_857
OF_ONE_MOUSE = {
    "sub-54776": (36_390, 37_183_361),
    "sub-54781": (40_095, 39_824_964),
    "sub-54855": (26_802, 27_259_096),
    "sub-54890": (37_152, 33_125_306),
}


@pytest.fixture(scope="module")
def mice() -> Mice:
    return load_mice()


@pytest.fixture(scope="module")
def adjacency(mice: Mice) -> np.ndarray:
    return np.stack([np.asarray(graph) for graph in mice.graphs])


def test_there_are_32_undirected_weighted_hollow_graphs_on_332_vertices(mice, adjacency):
    graphs = mice.graphs
    assert graphs.shape == adjacency.shape == (32, 332, 332)
    assert (graphs.is_hollow, graphs.is_weighted, graphs.is_directed) == (True, True, False)
    assert adjacency.dtype == np.float64
    assert np.array_equal(adjacency, adjacency.transpose(0, 2, 1))
    assert not np.diagonal(adjacency, axis1=1, axis2=2).any()


def test_weights_are_those_that_the_build_script_read(mice, adjacency):
    pairs = adjacency[:, *np.triu_indices(332, k=1)]
    linked = np.count_nonzero(pairs, axis=0)
    assert np.array_equal(pairs, np.round(pairs))
    assert (pairs[pairs > 0].min(), pairs.max()) == (1, LARGEST_WEIGHT)
    assert (np.count_nonzero(pairs), pairs.sum()) == (N_EDGES, TOTAL_WEIGHT)
    in_all, in_none = np.count_nonzero(linked == 32), np.count_nonzero(linked == 0)
    assert (in_all, in_none) == (LINKED_IN_EVERY_MOUSE, LINKED_IN_NO_MOUSE)
    for subject, facts in OF_ONE_MOUSE.items():
        mouse = pairs[mice.subjects.tolist().index(subject)]
        assert (np.count_nonzero(mouse), mouse.sum()) == facts


def test_every_genotype_has_four_mice_of_each_sex(mice):
    counts = Counter(zip(mice.genotypes.tolist(), mice.sexes.tolist(), strict=True))
    assert counts == {
        (genotype, sex): 4
        for genotype in ("B6", "BTBR", "CAST", "DBA2")
        for sex in ("female", "male")
    }
    assert mice.subjects[[0, 4, 8, 12]].tolist() == [
        f"sub-{k}" for k in (54776, 54790, 54811, 54821)
    ]
    assert mice.genotypes[[0, 4, 8, 12]].tolist() == ["DBA2", "B6", "BTBR", "CAST"]


def test_regions_come_left_then_right_with_the_same_atlas(mice):
    regions = mice.regions
    assert len(regions) == 332
    assert regions.hemispheres.tolist() == ["L"] * 166 + ["R"] * 166
    for field in (regions.structures, regions.abbreviations, regions.blocks):
        assert field.shape == (332,)
        assert np.array_equal(field[:166], field[166:])
    assert regions.levels.shape == (332, 4)
    assert Counter(regions.blocks[:166].tolist()) == {
        "isocortex": 41, "pallium": 20, "subpallium": 7, "diencephalon": 11, "midbrain": 9,
        "hindbrain": 28, "white_matter": 50,
    }  # fmt: skip
    assert regions.names[[0, 166]].tolist() == ["A24a_L", "A24a_R"]
    assert regions.structures[0] == "Cingulate_Cortex_Area_24a"
    assert regions.levels[0, ::2].tolist() == ["forebrain", "isocortex"]


def test_the_file_is_small_and_holds_plain_arrays_only(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("something was unpickled")

    monkeypatch.setattr("pickle.load", refuse)
    monkeypatch.setattr("pickle.loads", refuse)
    load_mice()
    assert len(BUNDLE.read_bytes()) <= 2_500_000
    with BUNDLE.open("rb") as file, np.load(file, allow_pickle=False) as bundle:
        assert {bundle[name].dtype.kind for name in bundle.files} == {"u", "U"}


def test_license_and_provenance_ship_with_the_data(mice):
    terms = (DATA / "mice-LICENSE.txt").read_text(encoding="utf-8")
    assert "Copyright (c) Microsoft Corporation" in terms
    assert "Permission is hereby granted, free of charge" in terms
    assert "117274" in (DATA / "mice-README.md").read_text(encoding="utf-8")
    assert "117274" in mice.citation
    assert mice.license.startswith("MIT")


def test_what_is_loaded_cannot_be_changed_and_is_told_on_one_line(mice):
    with pytest.raises(FrozenInstanceError):
        mice.genotypes = mice.sexes
    for names in (mice.genotypes, mice.subjects, mice.regions.names, mice.regions.levels):
        with pytest.raises(ValueError, match="read-only"):
            names[0] = "x"
    assert repr(mice) == "Mice(32 graphs on 332 regions: 8 B6, 8 BTBR, 8 CAST, 8 DBA2)"
    assert repr(mice.regions) == "MouseRegions(332 regions, 2 hemispheres, 7 blocks)"
