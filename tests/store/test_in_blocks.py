"""Graphs in blocks give the answer of the same graphs in memory, whatever is kept of them."""

from __future__ import annotations

import numpy as np
import pytest
from blocked_graphs import InBlocks, distance, planted

from eigengraphs import JointEmbedding
from eigengraphs.errors import InputError

TIGHT, AMPLE = 2**18, 2**30  # bytes: cores or moments of all graphs do not fit, or all fits
SETTINGS = {
    "free": {},
    "observed": {"diagonal": "observed"},
    "unobserved": {"diagonal": "unobserved"},
    "centered": {"center": True},
    "class": {"loadings": "class"},
    "shared": {"loadings": "shared"},
    "directed": {"directed": True},
    "directed unobserved": {"directed": True, "diagonal": "unobserved"},
    "directed centered": {"directed": True, "center": True},
    "directed observed": {"directed": True, "diagonal": "observed"},
}


@pytest.mark.parametrize("budget", [TIGHT, AMPLE], ids=["tight", "ample"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("shape", [(40, 20), (90, 60)], ids=["few", "more"])
def test_the_answer_is_that_of_the_graphs_in_memory(shape, settings, storage, budget):
    m, n = shape
    directed, loops = settings.get("directed", False), settings.get("diagonal") == "observed"
    stack = planted(m, n, 3, directed=directed, loops=loops)
    stack = stack.to_sparse() if storage == "sparse" else stack
    y = np.arange(m) % 3 if settings.get("loadings") == "class" else None
    one = JointEmbedding(3, random_state=0, **settings).fit(stack, y)
    in_blocks = InBlocks(stack, 13, budget)
    other = JointEmbedding(3, random_state=0, **settings).fit(in_blocks, y)
    assert distance(one, other) < 1e-8
    assert "_loaded" not in vars(in_blocks)
    assert np.allclose(one.objective_path_, other.objective_path_, rtol=1e-9)
    assert np.allclose(one.transform(stack), other.transform(in_blocks), atol=1e-8)
    assert one.score(stack) == pytest.approx(other.score(in_blocks), abs=1e-9)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("hollow", [False, True])
def test_moments_stand_for_many_graphs(directed, hollow):
    # More graphs than entries of a core: nothing is kept of each of them. And more components
    # than one block has, so that those found are taken off where the graphs are.
    stack = planted(2400, 36, 14, directed=directed)
    settings = {"diagonal": "unobserved" if hollow else "filled", "directed": directed}
    # Little is left of these graphs: at the usual tolerance, two searches that end where they may
    # leave the same up to some 1e-9 of it.
    settings["tol"] = 1e-10
    one = JointEmbedding(14, random_state=0, **settings).fit(stack)
    in_blocks = InBlocks(stack, 500, TIGHT)
    other = JointEmbedding(14, random_state=0, **settings).fit(in_blocks)
    assert other.converged_
    assert distance(one, other) < 1e-6
    assert abs(one.objective_path_[-1] / other.objective_path_[-1] - 1) < 1e-9
    assert other.n_passes_ == in_blocks.n_passes


def test_weights_of_graphs_count():
    stack = planted(60, 40, 2)
    weights = np.linspace(0.0, 2.0, 60)
    one = JointEmbedding(2, random_state=0).fit(stack, sample_weight=weights)
    for budget in (TIGHT, AMPLE):
        other = JointEmbedding(2, random_state=0).fit(
            InBlocks(stack, 7, budget), sample_weight=weights
        )
        assert distance(one, other) < 1e-8


def test_more_components_are_found_later():
    stack = planted(60, 40, 4)
    one = JointEmbedding(4, random_state=0).fit(stack)
    other = JointEmbedding(2, random_state=0).fit(InBlocks(stack, 7))
    assert distance(one, other.extend(4)) < 1e-8


@pytest.mark.parametrize("settings", [{"solver": "algorithm1"}, {"refine": True},
                                      {"loadings": "nonnegative"}, {"max_nonzeros": 2,
                                      "loadings": "sparse"}])  # fmt: skip
def test_other_ways_work_too(settings):
    stack = planted(30, 40, 3)
    one = JointEmbedding(3, random_state=0, **settings).fit(stack)
    other = JointEmbedding(3, random_state=0, **settings).fit(InBlocks(stack, 7))
    assert distance(one, other) < 1e-8


def test_rules_need_all_cores_and_say_so():
    stack = planted(2400, 36, 2)
    with pytest.raises(InputError, match="allow more memory, or use free loadings"):
        JointEmbedding(2, loadings="nonnegative").fit(InBlocks(stack, 500, TIGHT))


def test_passes_are_few_and_counted():
    stack = planted(11_000, 40, 3)
    in_blocks = InBlocks(stack, 4000, 2**27)
    je = JointEmbedding(3, random_state=0).fit(in_blocks)
    assert je.n_passes_ == in_blocks.n_passes == 3  # norms with their diagonals, moments, forms
