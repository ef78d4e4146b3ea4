"""What can be asked of select_dimension, what cannot, and what it costs."""

import tracemalloc

import numpy as np
import pytest
from known_graphs import section_5_1

import eigengraphs as eg
from eigengraphs.errors import InputError, NotAvailableError

RULES = ("elbow", "loadings", "pairs", "halves")


@pytest.fixture(scope="module")
def stack():
    return section_5_1(64, 0, loops=False).stack


@pytest.fixture(scope="module")
def choice(stack):
    return eg.select_dimension(stack, 7, random_state=0)


def test_curves_and_levels_have_the_lengths_that_they_say(choice):
    assert tuple(choice.choices) == tuple(choice.curves) == RULES
    assert choice.curves["elbow"].shape == (8,)  # it takes some noise to see an elbow
    assert choice.curves["pairs"][0] == 1
    assert choice.left_out == {}
    for rule in ("loadings", "pairs", "halves"):
        assert choice.levels[rule].shape == choice.curves[rule].shape
    with pytest.raises(AttributeError):
        choice.n_components = 5


def test_the_same_seed_gives_the_same_choice(stack, choice):
    again = eg.select_dimension(stack, 7, random_state=0)
    other = eg.select_dimension(stack, 7, random_state=1)
    for rule in RULES:
        assert np.array_equal(again.curves[rule], choice.curves[rule])
    assert not np.array_equal(other.curves["halves"], choice.curves["halves"])


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_alone_says_what_it_says_among_others(stack, choice, rule):
    alone = eg.select_dimension(stack, 7, method=rule, random_state=0)
    assert alone.choices == {rule: choice.choices[rule]}
    assert alone.n_components == max(1, choice.choices[rule])
    assert rule.capitalize() in alone.explain()
    if rule not in ("loadings", "halves"):  # which look further where the other has to
        assert np.array_equal(alone.curves[rule], choice.curves[rule])


def test_fits_have_the_settings_and_the_seed_of_a_fit_of_ones_own(stack, choice):
    found = eg.select_dimension(stack, 7, method="elbow", n_init=1, tol=1e-7, random_state=0)
    assert found.choices["elbow"] == choice.choices["elbow"]
    own = eg.JointEmbedding(2, random_state=0).fit(stack)
    assert np.allclose(own.explained_ratio_, found.curves["elbow"][:2], rtol=1e-6)


@pytest.mark.parametrize(("m", "center", "missing"), [
    (1, False, {"loadings", "halves"}),
    (2, False, set()),
    (3, False, set()),
    (3, True, {"loadings", "halves"}),
    (4, True, set()),
])  # fmt: skip
def test_few_graphs(m, center, missing):
    stack = section_5_1(m, 0, loops=False).stack
    choice = eg.select_dimension(stack, 5, center=center, random_state=0)
    assert set(choice.left_out) == missing
    assert set(choice.choices) == set(RULES) - missing
    assert choice.n_components >= 1
    for rule in missing:
        assert f"this stack has {m}" in choice.left_out[rule]
        assert choice.left_out[rule] in choice.explain()
        with pytest.raises(InputError, match=f"method='{rule}' cannot be used here: halves"):
            eg.select_dimension(stack, 5, center=center, method=rule)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7])
@pytest.mark.parametrize("loops", [False, True])
def test_few_vertices(n, loops):
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((5, n, n)) < 0.6, 0 if loops else 1)
    A = (A | A.transpose(0, 2, 1)).astype(float)
    choice = eg.select_dimension(A, random_state=0)
    most = max(1, n * (n + 1 if loops else n - 1) // 4)  # half of the pairs
    assert 1 <= choice.n_components <= choice.max_components <= most
    assert ("pairs" in choice.left_out) == (n < 6)
    assert ("halves" in choice.left_out) == (n < 7)


@pytest.mark.parametrize("center", [False, True])
def test_graphs_without_anything_to_find(center):
    empty = eg.select_dimension(np.zeros((5, 12, 12)), center=center, random_state=0)
    assert set(empty.choices.values()) == {0}
    assert "no edges" in empty.left_out["pairs"]
    same = eg.select_dimension(np.ones((5, 12, 12)) - np.eye(12), center=center, random_state=0)
    assert same.n_components == 1
    assert set(same.choices.values()) == {0 if center else 1}


def test_graphs_of_weight_zero_have_no_say(stack, choice):
    noise = np.random.default_rng(0).normal(0, 5, (3, 20, 20))
    noise = np.triu(noise, 1) + np.triu(noise, 1).transpose(0, 2, 1)
    more = np.concatenate([stack.dense, noise])
    weights = np.r_[np.full(64, 3.0), np.zeros(3)]
    weighted = eg.select_dimension(more, 7, sample_weight=weights, random_state=0)
    assert weighted.choices == choice.choices
    for rule in RULES:
        assert np.allclose(weighted.curves[rule], choice.curves[rule], rtol=1e-6, atol=1e-9)


def test_settings_reach_the_fits_and_given_starts_do_no_harm(stack):
    for settings in (
        {"diagonal": "observed"},
        {"diagonal": "unobserved"},
        {"solver": "algorithm1", "max_iter": 30},
        {"init": np.ones((20, 1))},
        {"init": "random", "n_init": 2, "tol": 1e-4},
    ):
        found = eg.select_dimension(stack[:20], 3, random_state=0, **settings)
        assert found.choices["loadings"] >= 1


def test_progress_is_told(stack, capsys):
    told = []
    eg.select_dimension(stack, 3, random_state=0, callback=told.append, verbose=1)
    n_splits = sum("split" in line for line in told)
    assert 0 < n_splits < 15  # those that could still change the choice
    assert sum("hidden pairs" in line for line in told) == 10
    printed = capsys.readouterr().err.splitlines()
    assert printed == [f"choosing the number of components: {line}" for line in told]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_components": 0}, "max_components must be a whole number >= 1, got max_components=0"),
        ({"method": "scree"}, "method must be one of 'all', 'elbow', .* got method='scree'"),
        ({"alpha": 0}, "between 0 and 1, got alpha=0"),
        ({"callback": 3}, "callback must be None or a function"),
        ({"centre": True}, "'centre' is not a setting"),
        ({"diagonal": "empty"}, "diagonal must be one of"),
        ({"sample_weight": [1, 2]}, "sample_weight must have shape"),
    ],
)
def test_bad_settings_are_refused(stack, wrong, message):
    with pytest.raises(InputError, match=message):
        eg.select_dimension(stack, **wrong)


def test_directed_graphs_and_settings_are_refused(stack):
    with pytest.raises(InputError, match="is not symmetric"):
        eg.select_dimension(np.triu(np.ones((4, 8, 8))))
    with pytest.raises(InputError, match="not chosen for directed graphs"):
        eg.select_dimension(stack, directed=True)
    holes = np.ones((4, 8, 8))
    holes[0, 1, 2] = holes[0, 2, 1] = np.nan
    with pytest.raises(InputError, match="not chosen for graphs with missing entries"):
        eg.select_dimension(holes, missing="unobserved")
    with pytest.raises(NotAvailableError):
        eg.select_dimension(stack, loadings="shared")


def test_sparse_graphs_are_never_made_dense():
    n, m = 1500, 2
    stack = eg.models.ErdosRenyi(n, 8 / n).sample(m, random_state=0)
    assert stack.is_sparse
    few = stack.select_vertices(slice(0, 120))
    eg.select_dimension(few, 1, random_state=0)  # imports and kernels take no part
    tracemalloc.start()
    choice = eg.select_dimension(stack, 1, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 8 / 2  # half of a single dense graph
    assert choice.n_components == 1
