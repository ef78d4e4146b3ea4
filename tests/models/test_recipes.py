"""Recipes from files: what they mean, and what is said of one that is wrong."""

import json
from pathlib import Path

import numpy as np
import pytest

from eigengraphs.cli import command_options
from eigengraphs.errors import InputError
from eigengraphs.models.paper import SECTION_5_1, SECTION_5_2
from eigengraphs.models.recipes import WEIGHTS
from eigengraphs.models.simulation import DESIGNS, read_design, simulate_blocks, simulate_truth

GOOD = """
model = "multiple_random_eigen_graphs"
law = "poisson"
sizes = [4, 6]
patterns = [[1, 1], [1, -1]]
graphs = 12

[[classes]]
name = "control"
loadings = [20.0, { uniform = [1, 2] }]

[[classes]]
name = "patient"
weight = 3
loadings = [20.0, { normal = [5, 0.5] }]
"""


def write(folder, text, name="recipe.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_recipe_says_everything(tmp_path):
    design = read_design(write(tmp_path, GOOD))
    assert design.n_vertices == 10
    assert design.n_graphs == 12
    assert [kind.name for kind in design.classes] == ["control", "patient"]
    assert [kind.weight for kind in design.classes] == [0.25, 0.75]
    expected = np.repeat([[1.0, 1.0], [1.0, -1.0]], [4, 6], axis=0) / np.sqrt(10)
    assert np.allclose(design.positions, expected)


def test_json_and_toml_are_the_same(tmp_path):
    import tomllib

    one = read_design(write(tmp_path, GOOD))
    two = read_design(write(tmp_path, json.dumps(tomllib.loads(GOOD)), "recipe.json"))
    truths = [simulate_truth(design, 0, 20, 1) for design in (one, two)]
    assert np.array_equal(truths[0].loadings, truths[1].loadings)


@pytest.mark.parametrize(
    ("recipe", "P"),
    [
        ({"model": "er", "vertices": 3, "p": 0.25}, np.full((3, 3), 0.25)),
        ({"model": "sbm", "sizes": [1, 2], "B": [[0.5, 0.1], [0.1, 0.3]]},
         [[0.5, 0.1, 0.1], [0.1, 0.3, 0.3], [0.1, 0.3, 0.3]]),
        ({"model": "sbm", "labels": [1, 0], "B": [[0.5, 0.1], [0.1, 0.3]]},
         [[0.3, 0.1], [0.1, 0.5]]),
        ({"model": "rdpg", "positions": [[0.5], [1.0]]}, [[0.25, 0.5], [0.5, 1.0]]),
        ({"model": "rdpg", "sizes": [1, 2], "positions": [[0.5], [1.0]]},
         [[0.25, 0.5, 0.5], [0.5, 1, 1], [0.5, 1, 1]]),
        ({"model": "ier", "P": [[0, 0.5], [0.5, 0]]}, [[0, 0.5], [0.5, 0]]),
    ],
)  # fmt: skip
def test_models_without_loadings(recipe, P):
    design = read_design(recipe)
    assert np.allclose(design.classes[0].model.edge_probabilities(), P)
    assert design.n_components == 0


def test_the_papers_designs_are_those_of_the_experiments():
    assert np.array_equal(read_design("section5.1").positions, SECTION_5_1)
    assert np.array_equal(read_design("section5.2").positions, SECTION_5_2)
    Lam = simulate_truth(read_design("section5.1"), 0, 2000).loadings
    assert np.allclose(Lam.min(axis=0), [8, 0, 0], atol=0.05)
    assert np.allclose(Lam.max(axis=0), [16, 2, 1], atol=0.05)
    truth = simulate_truth(read_design("section5.2"), 0, 50)
    assert {tuple(lam) for lam in truth.loadings.tolist()} == {(25.0, 5.0), (22.5, 2.5)}
    assert tuple(DESIGNS) == command_options.DESIGNS
    assert ("auto", *WEIGHTS) == command_options.WEIGHTS


def test_weights_change_the_law_and_nothing_else():
    counts = read_design("section5.2", weights="counts")
    assert counts.classes[0].model.law == "poisson"
    truths = [simulate_truth(design, 0, 9) for design in (counts, read_design("section5.2"))]
    assert np.array_equal(truths[0].loadings, truths[1].loadings)


def test_the_recipe_of_the_docs_is_one(tmp_path):
    docs = Path(__file__).parents[2] / "docs" / "guide" / "command-line.md"
    if not docs.exists():
        pytest.skip("the source distribution has no docs")
    text = docs.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    design = read_design(write(tmp_path, text))
    assert [kind.name for kind in design.classes] == ["control", "patient"]
    assert simulate_blocks(design, 0, 3).is_weighted


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed('"multiple_random_eigen_graphs"', '"stochastic_blok_model"'),
         r"the key 'model' must be one of .*got 'stochastic_blok_model'; is it 'stochastic_block"),
        (changed('model = "multiple_random_eigen_graphs"', ""), "the key 'model' is missing"),
        (changed("sizes = [4, 6]", "sizes = [4, 6.5]"), "the key 'sizes' must be a list of whole"),
        (changed("sizes = [4, 6]", "sizes = [4, 6, 1]"), "the key 'patterns' must be for 3 blocks"),
        (changed("graphs = 12", "graphs = 0"), "graphs must be at least 1, got 0"),
        (changed("graphs = 12", "grafs = 12"), "the key 'grafs' has no meaning here.*'graphs'"),
        (changed('"poisson"', '"cauchy"'), "classes.0.: law must be 'bernoulli', 'poisson'"),
        (changed("weight = 3", "weight = 0"), r"classes\[1\]: the key 'weight' must be a number"),
        (changed('"patient"', '"control"'), "two classes are called 'control'"),
        (changed("uniform = [1, 2]", "uniform = [2, 1]"),
         r"classes\[0\]: loadings\[1\]: uniform must be low, high"),
        (changed("uniform = [1, 2]", "unifrom = [1, 2]"), r"loadings\[1\]: expected a number or"),
        (changed("loadings = [20.0, { uniform = [1, 2] }]", "loadings = [20.0]"),
         r"classes\[0\]: loadings must have 2 components, got 1"),
        (changed("graphs = 12", "loadings = [1, 2]"), "the key 'loadings' stands at the top"),
        (changed("graphs = 12", "graphs = "), "is not a recipe in TOML: .*line 6"),
    ],
)  # fmt: skip
def test_a_wrong_recipe_is_named_with_file_key_and_what_to_do(tmp_path, text, said):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=said) as error:
        read_design(path)
    assert str(error.value).startswith(str(path))
    assert ";" in str(error.value)  # and then what to do


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("section5.3", {}, "no design and no file 'section5.3'.*is it 'section5"),
        ("section5.1", {"vertices": 30}, "vertices belongs to the designs weighted and sparse"),
        ("weighted", {"mean_degree": -1.0}, "mean_degree must be a number above 0"),
        ("sparse", {"vertices": 30}, "vertices must be at least 4 and 4 times the mean degree"),
        ("section5.1", {"weights": "heavy"}, "weights must be auto, binary or counts"),
        ({"model": "er", "vertices": 4, "p": 0.5}, {"weights": "counts"}, "needs a model with"),
        ({"model": "er", "p": 0.5}, {}, "the key 'vertices' is missing"),
        ({"model": "sbm", "sizes": [2], "B": [[0.5, 1]]}, {}, "recipe: B must be square"),
        ({"model": "sbm", "sizes": [2, 2], "B": [[0.5, 1], [0, 1]]}, {},
         "recipe: B is not symmetric.*needs a symmetric B"),
        ({"model": "ier", "classes": [{"name": "a", "P": [[0.5]]},
                                      {"name": "b", "P": [[0, 0.5], [0.5, 0]]}]}, {},
         "same number of vertices"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(source, options, said):
    with pytest.raises(InputError, match=said):
        read_design(source, **options)
