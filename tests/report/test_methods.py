"""The methods paragraph says what was done, and cites what was used: nothing else."""

import re

import numpy as np
import pytest
from report_cases import fitted, random_graphs, small

import eigengraphs as eg
from eigengraphs.report.page import render
from eigengraphs.report.records import MethodScore, Prediction
from eigengraphs.report.sentences import methods_text

GRAPHS = eg.GraphStack(np.abs(random_graphs(8, 10).dense))


@pytest.mark.parametrize(
    ("settings", "said", "unsaid"),
    [
        ({}, "Weights were used as they are.", "mean graph"),
        ({}, "of the sum of squares\\.", "around"),
        ({"preprocess": ["log1p", "unit_norm"]}, r"log\(1 \+ w\).*, then each", "they are"),
        ({"center": True}, "The mean graph was subtracted.*around the mean graph", "squares\\."),
        ({"diagonal": "observed"}, "were part of the data", "mean of its row"),
        ({}, "each was set to the mean of its row", "part of the data"),
        ({"loadings": "nonnegative"}, "to be nonnegative", "were free"),
        ({"loadings": "sparse", "max_nonzeros": 1}, "sparse. At most 1 loading ", "were free"),
        ({}, "Loadings were free", "sparse"),
        ({"refine": True}, "then all improved together", "other\\. "),
        ({"n_init": 3}, "n_init 3", "n_init 1"),
    ],
)  # fmt: skip
def test_the_paragraph_says_what_was_set(settings, said, unsaid):
    text = methods_text(fitted(GRAPHS, 2, **settings), 8)
    assert re.search(said, text)
    assert not re.search(unsaid, text)
    assert "8 undirected graphs on 10 vertices" in text
    assert "The number of components, 2, was set in advance." in text


def test_settings_are_those_of_the_fit():
    text = methods_text(fitted(GRAPHS, 2).set_params(center=True, loadings="nonnegative"), 8)
    assert "mean graph" not in text
    assert "were free" in text
    graphs = np.random.default_rng(0).random((5, 9, 9))
    text = methods_text(fitted(graphs, 2, directed=True), 5)
    assert "5 directed graphs on 9 vertices" in text
    assert "h g^T" in text
    choice = eg.select_dimension(GRAPHS, 3, method="elbow", random_state=0)
    text = methods_text(fitted(GRAPHS, choice.n_components), 8, choice=choice)
    assert f"the elbow of the objective ({choice.choices['elbow']})" in text
    assert "in advance" not in text


def test_what_was_not_used_is_not_cited():
    je = fitted(GRAPHS, 2)
    text = methods_text(je, 8)
    for name in ("Harris", "Virtanen"):
        assert f"\n- {name}, " in text
    assert "doi:10.1109/TPAMI.2019.2948619" in text
    assert "scikit" not in text.lower()
    guess = Prediction("age", (MethodScore("joint embedding", 0.5),), -0.1, "How it was done.",
                       kind="quantity")  # fmt: skip
    text = methods_text(je, 8, prediction=guess)
    assert "R2: joint embedding 50.0%, chance -10.0%" in text
    assert "How it was done." in text
    assert "Machine Learning Research 12, 2825-2830." in text
    assert "accuracy" not in text


def test_the_page_shows_references_as_a_list():
    page = render(small(methods="")[2])
    assert "<h3>References</h3>" in page
    assert "<li>Harris, C. R., et al. (2020). Array programming with NumPy." in page
    assert "**" not in re.search(r'id="methods".*?</section>', page, re.DOTALL)[0]
