"""A choice explains itself in words and in a picture."""

import numpy as np
import pytest
from known_graphs import section_5_1

import eigengraphs as eg
from eigengraphs.dimension import DimensionChoice


def made(choices, left_out=None, n_components=None, max_components=6):
    """Return a choice with curves made up to go with it."""
    rng = np.random.default_rng(0)
    k = max_components
    curves = {"elbow": 0.5 ** np.arange(1, k + 1), "loadings": rng.uniform(size=k)}
    curves |= {"pairs": np.linspace(1, 0.5, k + 1), "halves": np.linspace(1, 0, k)}
    levels = {
        "loadings": np.full(k, 0.05),
        "pairs": np.full(k + 1, 0.01),
        "halves": np.full(k, 0.5),
    }
    return DimensionChoice(
        n_components=n_components or max(1, sorted(choices.values())[len(choices) // 2]),
        choices=choices,
        curves={rule: curves[rule] for rule in choices},
        levels={rule: level for rule, level in levels.items() if rule in choices},
        left_out=left_out or {},
        alpha=0.05,
        max_components=max_components,
    )


def test_agreement_is_the_share_of_rules_that_say_the_same():
    assert made({"elbow": 2, "loadings": 2, "pairs": 3, "halves": 2}).agreement == 0.75
    assert made({"elbow": 0, "loadings": 1}, n_components=1).agreement == 1  # 1 is the least


@pytest.mark.parametrize(
    ("choices", "phrases"),
    [
        ({"elbow": 2, "loadings": 2, "pairs": 2, "halves": 2}, ["All rules agree."]),
        (
            {"elbow": 1, "loadings": 2, "pairs": 2, "halves": 2},
            ["The number is what loadings (2), pairs (2) and halves (2) agree on.", "The elbow"],
        ),
        (
            {"elbow": 1, "loadings": 2, "pairs": 3, "halves": 4},
            ["The number is the median of loadings (2), pairs (3) and halves (4)."],
        ),
        ({"loadings": 2, "pairs": 0}, ["The number is the smaller of", "but at least 1"]),
        (
            {"elbow": 3, "loadings": 6, "pairs": 6, "halves": 3},
            ["Loadings and pairs see no end", "The number was chosen by halves (3)."],
        ),
        (
            {"elbow": 3, "loadings": 6, "pairs": 6, "halves": 6},
            ["agree on", "There may be more than max_components = 6."],
        ),
        ({"elbow": 0, "loadings": 0, "pairs": 0, "halves": 0}, ["Nothing stands out from noise"]),
        ({"elbow": 6}, ["Elbow: none; 6 components explain nearly all there is."]),
        ({"halves": 1}, ["halves of the graphs find the same 1 component,"]),
    ],
)
def test_words(choices, phrases):
    text = made(choices).explain()
    assert text.startswith("Recommended: ")
    for phrase in phrases:
        assert phrase in text
    assert "\n" not in text
    assert "  " not in text


def test_a_picture_has_a_panel_for_each_rule(tmp_path):
    choice = eg.select_dimension(section_5_1(64, 0, loops=False).stack, 4, random_state=0)
    figure = choice.plot(tmp_path / "choice.png")
    assert (tmp_path / "choice.png").read_bytes()[:4] == b"\x89PNG"
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    chosen = choice.choices
    assert titles == [
        f"Elbow: {chosen['elbow']}",
        f"Loadings of held-out graphs: {chosen['loadings']}",
        f"Hidden vertex pairs: {chosen['pairs']}",
        f"Halves of the graphs: {chosen['halves']}",
    ]
    assert str(choice.n_components) in figure.get_suptitle()


@pytest.mark.parametrize("n_rules", [1, 2, 3])
def test_fewer_rules_are_fewer_panels(n_rules, tmp_path):
    choices = dict.fromkeys(["elbow", "pairs", "halves"][:n_rules], 0)
    figure = made(choices, left_out={"loadings": "no graphs"}).plot(tmp_path / "choice.pdf")
    shown = [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")]
    assert len(shown) == n_rules + 1
    assert "Loadings: left out" in shown
