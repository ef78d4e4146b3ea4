"""Graphs that do not belong are found by their patterns, and others are left alone."""

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.report import summarize
from eigengraphs.report.input_quality import compare_patterns, describe_graphs, mirror_images


def undirected(A):
    A = np.triu(A, 1)
    return A + A.transpose(0, 2, 1)


def connectomes(rng, m, n=70, noise=1.0):
    """Counts with one pattern, and a volume of each graph."""
    common = undirected(rng.normal(0, 2, (1, n, n)))
    logs = 4 + common + rng.normal(0, noise, (m, n, n)) + rng.normal(0, 0.3, (m, 1, 1))
    return np.round(np.exp(undirected(logs))) * (1 - np.eye(n))


def blocks(rng, m, n=60):
    z = rng.integers(4, size=n)
    return undirected((rng.random((m, n, n)) < np.where(z[:, None] == z, 0.6, 0.2)).astype(float))


def correlations(rng, m, n=60):
    W = rng.normal(size=(n, 6))
    A = [
        np.corrcoef((W + rng.normal(0, 0.5, W.shape)) @ rng.normal(size=(6, 120))
                    + rng.normal(0, 2, (n, 120)))
        for _ in range(m)
    ]  # fmt: skip
    return undirected(np.array(A))


def hubs(rng, m, n=100):
    h = rng.gamma(1.0, size=n)
    return undirected((rng.random((m, n, n)) < h[:, None] * h * 6 / n).astype(float))


KINDS = [connectomes, blocks, correlations, hubs]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("m", [6, 44])
def test_clean_graphs_are_named_in_one_set_of_twenty_at_most(make, m):
    named = 0
    for seed in range(20):
        named += bool(describe_graphs(GraphStack(make(np.random.default_rng(seed), m))).problems)
    assert named <= 1


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("m", [6, 44])
def test_shuffled_regions_are_found_in_nineteen_of_twenty(make, m, storage):
    found = others = 0
    for seed in range(20 if m == 6 else 5):
        rng = np.random.default_rng(seed)
        A = make(rng, m)
        order = rng.permutation(A.shape[1])
        A[1] = A[1][np.ix_(order, order)]
        unlike = compare_patterns(GraphStack(A, storage=storage)).unlike
        found += not unlike[1]
        others += unlike.sum() - unlike[1]
    assert found <= 1
    assert others == 0


def test_a_graph_that_was_transformed_before_is_found_by_its_scale():
    for seed in range(20):
        A = connectomes(np.random.default_rng(seed), 6)
        A[2] = np.log1p(A[2])
        table = describe_graphs(GraphStack(A))
        assert [row.id for row in table if row.messages] == ["2"]
        assert "scale of the weights" in table[2].messages[0]
        assert table[2].correlation > 0.5


@pytest.mark.parametrize(("m", "k"), [(12, 4), (44, 8), (12, 6), (20, 10), (40, 19)])
def test_two_groups_are_named_by_their_sizes_and_by_the_column_that_tells_them(m, k):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A = connectomes(rng, m)
        gain = np.exp(rng.normal(0, 0.5, 70))
        A[m - k :] *= gain[:, None] * gain  # the last ones; of two halves, the first is named
        named = 0 if 2 * k == m else m - k
        apart = compare_patterns(GraphStack(A)).apart
        assert np.flatnonzero(apart).tolist() == list(range(named, named + k))
        *_, found = describe_graphs(GraphStack(A)).problems
        even = f"the graphs fall into two groups of {k} and {m - k} (another scanner"
        few = f"{k} graphs are apart from the others"
        assert found.text.startswith(even if k > 0.4 * m else few)
        assert f": {named}, {named + 1}, " in found.text
        group = ["control"] * (m - k) + ["patient"] * k
        group[-1] = "control" if m >= 40 else "patient"  # one in forty is told wrongly
        columns = {"age": list(range(m)), "sex": ["f", "m"] * (m // 2), "group": group}
        table = describe_graphs(GraphStack(A), columns=columns)
        # Problems are in the first lines of a report; the scale of one graph may be odd, too.
        assert not any("group" in one.text for one in table.problems)
        assert sum(row.verdict != "ok" for row in table) <= 1
        (found,) = table.explained
        assert found.level == "notice"
        nearly = "nearly " if m >= 40 else ""
        value = "patient" if named else "control"
        assert f"these are {nearly}the graphs with group = {value}" in found.text


def test_swapped_hemispheres_are_said_once_and_other_vertices_beside_them():
    rng = np.random.default_rng(0)
    A, mirror = connectomes(rng, 16), np.r_[35:70, :35]
    A[2:5] = A[2:5][:, mirror][:, :, mirror]  # three, which are like each other
    table = describe_graphs(GraphStack(A), mirror=mirror)
    assert [one.text.split(" (")[0] for one in table.problems] == [
        "3 graphs are more like the others with left and right swapped"
    ]
    order = np.r_[rng.permutation(50), 50:70]
    A[9] = A[9][np.ix_(order, order)]
    table = describe_graphs(GraphStack(A), mirror=mirror)
    assert [row.id for row in table if "unlike the others" in " ".join(row.messages)] == ["9"]


def test_the_mice_are_all_of_one_kind_and_each_is_found_when_its_sides_are_swapped():
    mice = eg.datasets.load_mice()
    names = tuple(mice.regions.names.tolist())
    mirror = mirror_images(names, names, {"hemisphere": mice.regions.hemispheres})
    assert not describe_graphs(mice.graphs, mirror=mirror).problems
    for i in (0, 9, 21):
        A = mice.graphs.dense.copy()
        A[i] = A[i][np.ix_(mirror, mirror)]
        found = compare_patterns(GraphStack(A), mirror)
        assert np.flatnonzero(found.swapped).tolist() == [i]
        assert not found.unlike.any()  # the correlation with others does not tell


def test_hidden_entries_take_no_part(storage):
    rng = np.random.default_rng(0)
    A = connectomes(rng, 12)
    hide = undirected(rng.random(A.shape) < 0.2).astype(bool)
    hide[3, :30] = hide[3, :, :30] = True
    order = rng.permutation(70)
    A[5] = A[5][np.ix_(order, order)]
    stack = GraphStack(A, storage=storage).hide(hide)
    found = compare_patterns(stack)
    assert np.flatnonzero(found.unlike).tolist() == [5]
    seen = ~hide[0] & ~hide[3] & (np.arange(70)[:, None] < np.arange(70))
    logs = [np.log1p(A[i] / np.median(A[i][~hide[i] & (A[i] > 0)])) for i in (0, 3)]
    one = compare_patterns(stack[[0, 3, 0, 3, 0]]).correlation[1]  # with the other one, and itself
    assert one == pytest.approx(np.corrcoef(logs[0][seen], logs[1][seen])[0, 1], abs=0.01)


def test_the_unit_of_the_weights_changes_nothing():
    A = connectomes(np.random.default_rng(0), 8)
    A[3] *= 1e150
    A[4] *= 1e-150
    stack = GraphStack(A)
    plain = compare_patterns(GraphStack(connectomes(np.random.default_rng(0), 8)))
    np.testing.assert_allclose(compare_patterns(stack).correlation, plain.correlation, atol=1e-5)


def test_empty_and_equal_graphs_have_no_pattern():
    table = describe_graphs(GraphStack(np.zeros((6, 5, 5))))
    assert all(row.correlation is None for row in table)
    A = np.repeat(connectomes(np.random.default_rng(0), 1), 12, axis=0)
    assert not describe_graphs(GraphStack(A)).problems


def test_the_first_paragraph_names_the_odd_graph():
    rng = np.random.default_rng(0)
    A = connectomes(rng, 6, n=20)
    order = rng.permutation(20)
    A[1] = A[1][np.ix_(order, order)]
    names = [f"sub-{i}" for i in range(6)]
    graphs = GraphStack(A, graph_names=names)
    fit = JointEmbedding(1, random_state=0, preprocess="log1p").fit(graphs)
    summary = summarize(fit, graphs, title="six")
    assert "unlike the others in the pattern of edges" in summary.words[0]
    assert "sub-1" in summary.words[0]
    assert not any("No problem" in text for text in summary.words)


@pytest.mark.parametrize("names", [
    ["lh.a", "rh.b", "rh.a", "lh.b", "stem"], ["a_L", "b_R", "a_R", "b_L", "stem"],
])  # fmt: skip
def test_regions_are_paired_by_name_without_the_side_or_by_order(names):
    sides = {"Hemi": ["left", "right", "R", "lh", "none"]}
    assert mirror_images(names, names, sides).tolist() == [2, 3, 0, 1, 4]
    assert mirror_images(names, names, {"lobe": ["l"] * 5}) is None
    assert mirror_images(["x"], names, sides) is None
    assert mirror_images("1234", "1234", {"side": list("LLRR")}).tolist() == [2, 3, 0, 1]


def test_negative_weights_are_a_notice_where_they_are_rare(storage):
    A = connectomes(np.random.default_rng(0), 8)
    A[3, 4, 9] = A[3, 9, 4] = -2
    table = describe_graphs(GraphStack(A, storage=storage))
    assert table[3].messages == ("negative weight -2 from '4' to '9'",)
    assert "3 (negative weight -2" in table.problems[0].text
    A[:, 4, 9] = A[:, 9, 4] = -1  # in all graphs, but among whole numbers
    assert len(describe_graphs(GraphStack(A, storage=storage)).problems) == 1
    signs = np.sign(correlations(np.random.default_rng(0), 8))
    assert not describe_graphs(GraphStack(signs, storage=storage)).problems


@pytest.mark.parametrize("value", [1e300, 1e12, -1e12])
def test_a_weight_beside_which_all_others_are_nothing_is_refused(value, storage):
    A = connectomes(np.random.default_rng(0), 6, n=20)
    A[2, 3, 7] = A[2, 7, 3] = value
    stack = GraphStack(A, storage=storage)
    with pytest.raises(
        eg.errors.InputError, match=r"graphs\[2\] has a broken weight: entry \(3, 7"
    ):
        JointEmbedding(2).fit(stack)
    A[4, 1, 2] = A[4, 2, 1] = value / 2  # two of them
    with pytest.raises(eg.errors.InputError, match="a broken weight"):
        GraphStack(A, storage=storage).require_comparable()
    GraphStack(A * 0 + 1e300 * (A > 50), storage=storage).require_comparable()  # a unit
    A = connectomes(np.random.default_rng(0), 6, n=20)
    A[2] *= 1e12  # a unit of one graph
    GraphStack(A).require_comparable()
    GraphStack(connectomes(np.random.default_rng(0), 6, n=20, noise=4)).require_comparable()
    one = np.zeros((3, 5, 5))
    one[0, 1, 2] = one[0, 2, 1] = 1e200  # and nothing else anywhere
    GraphStack(one).require_comparable()
