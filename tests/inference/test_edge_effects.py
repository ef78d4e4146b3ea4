"""Effects on edges, regions and networks: of the pattern, and of the weights."""

from itertools import combinations

import numpy as np
import pytest
from blocked_graphs import InBlocks
from scipy import sparse
from scipy.stats import binom
from tests.inference.calibrate_effects import TESTS, few, noise, power

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import Formula, compare, edge_effects
from eigengraphs.inference.studies import effects_on_edges

GROUP = np.repeat(["a", "b"], 8)


def graphs(seed=0, m=16, n=9, size=1.5):
    """Return graphs of two groups that differ in the first four vertices."""
    A = noise(np.random.default_rng(seed), m, n)
    A[m // 2 :, :4, :4] += size * (1 - np.eye(4))
    return A


def fitted(A, d=3, **settings):
    return eg.JointEmbedding(d, center=True, random_state=0, **settings).fit(A)


# --------------------------------------------------------------------- what is found


def test_nothing_is_named_more_often_than_the_level_where_nothing_is():
    found = np.array([few(np.random.default_rng([5, i])) for i in range(60)])
    # With a rate of 5 % more happen in one of ten thousand runs, over the ten columns together.
    assert (found.sum(axis=0) <= binom.ppf(1 - 1e-5, len(found), 0.05)).all(), found.sum(axis=0)


def test_a_network_is_found_that_single_edges_do_not_show():
    found = np.array([power(np.random.default_rng([6, i]), "network", 40, 36, n_permutations=199)
                      for i in range(6)])  # fmt: skip
    named, beside = found.mean(axis=0).T
    by = dict(zip(TESTS, named, strict=True))
    # Measured over 200 studies: 83 %, 82 % and 8 %, with a standard deviation of a study of 20 %;
    # five standard errors of six studies.
    assert min(by["pattern"], by["combined"]) > 0.4 > 0.3 > by["weights"]
    assert beside.max() < 0.05


# --------------------------------------------------------------------- agreement


@pytest.mark.parametrize("design", ["groups", "three groups", "quantity", "covariates", "within",
                                    "between", "formula", "sites"])  # fmt: skip
def test_of_one_component_every_edge_says_what_compare_says(design):
    A, rng = graphs(), np.random.default_rng(1)
    age, sex = rng.normal(size=16), np.tile(["f", "m"], 8)
    group, given = GROUP, {}
    if design == "three groups":
        group = np.array(list("aaaaabbbbbcccccc"))
    elif design == "quantity":
        group = age
    elif design == "covariates":
        given = {"covariates": {"age": age, "sex": sex}}
    elif design == "within":
        group, given = np.tile(["a", "b"], 8), {"subjects": np.repeat(np.arange(8), 2)}
    elif design == "between":
        given = {"subjects": np.repeat(np.arange(8), 2)}
    elif design == "formula":
        pytest.importorskip("formulaic")
        group = Formula("~ g * age + sex", {"g": GROUP, "age": age, "sex": sex}, "g:age")
    elif design == "sites":
        given = {"harmonize": {"site": np.tile(["x", "x", "y", "y"], 4)}}
    je = fitted(A, 1)
    options = {"n_permutations": 999, "random_state": 3, **given}
    one = compare(je.loadings_, group, **options)
    found = edge_effects(je, group, **options)
    edges = found.pattern["edges"]
    assert pytest.approx(one.F[0]) == edges.F
    # Arrangements are compared by an approximation of the tail of F, which orders some pairs of
    # nearly equal ones the other way where degrees of freedom differ.
    for p in (edges.p_values, edges.p_family, edges.p_fdr):
        assert p == pytest.approx(one.p_values[0], abs=0.005)
    assert np.abs(edges.size) == pytest.approx(abs(one.effect[0]))
    unit = je.latent_positions_[edges.first, 0] * je.latent_positions_[edges.second, 0]
    assert edges.estimates.values == pytest.approx(np.outer(one.contrasts.values[:, 0], unit))
    low, high = (np.outer(ends[:, 0], unit) for ends in (one.contrasts.low, one.contrasts.high))
    assert edges.estimates.low == pytest.approx(np.minimum(low, high))
    assert (found.group, found.kind, found.design, found.levels, found.counts) == (
        one.group, one.kind, one.design, one.levels, one.counts)  # fmt: skip
    assert (found.effect_name, found.covariates, found.notes[1:]) == (
        one.effect_name, one.covariates, one.notes[: len(found.notes) - 1])  # fmt: skip


def test_weights_and_pattern_agree_with_brute_force():
    """All 70 arrangements of four and four graphs, edge by edge; groups of one size."""
    A, group = graphs(m=8), np.repeat([0, 1], 4)
    je = fitted(A)
    found = edge_effects(je, group, graphs=A, random_state=0)
    assert found.exact
    assert found.n_permutations == 70
    assert any("too few arrangements for the pattern" in note for note in found.notes)
    rebuilt = je.inverse_transform(je.loadings_)
    for maps, whole in ((found.pattern, rebuilt), (found.weights, A)):
        edges = maps["edges"]
        columns = whole[:, edges.first, edges.second]
        t2 = []
        for chosen in combinations(range(8), 4):
            mine = np.isin(np.arange(8), chosen)
            some, others = columns[mine], columns[~mine]
            spread = (some.var(axis=0, ddof=1) + others.var(axis=0, ddof=1)) / 4
            t2.append((some.mean(axis=0) - others.mean(axis=0)) ** 2 / spread)
        t2, observed = np.array(t2), np.array(t2)[-1]  # the last are graphs 4 to 7
        assert pytest.approx(observed) == edges.F
        own = (t2 >= observed * (1 - 1e-9)).mean(axis=0)
        largest = (t2.max(axis=1)[:, None] >= observed * (1 - 1e-9)).mean(axis=0)
        # By F itself, and not by its tail: up to two of 70 arrangements have another order.
        assert np.abs(edges.p_values - own).max() <= 2.01 / 70
        assert np.abs(edges.p_family - largest).max() <= 2.01 / 70
        for e in (0, 7):
            one = compare(columns[:, e], group, n_bootstrap=9, random_state=0)
            assert edges.estimates.values[0, e] == pytest.approx(one.contrasts.values[0, 0])
            assert edges.estimates.low[0, e] == pytest.approx(one.contrasts.low[0, 0])
            assert edges.size[e] == pytest.approx(one.effect[0])
            assert edges.p_values[e] == pytest.approx(one.p_values[0], abs=2.01 / 70)


@pytest.mark.parametrize("kind", ["undirected", "directed", "with loops"])
def test_regions_and_networks_are_sums_of_edges(kind):
    directed, loops = kind == "directed", kind == "with loops"
    A = np.random.default_rng(2).normal(size=(16, 9, 9))
    A[8:, :3, 5:] += 2.0
    A = A if directed else A + A.transpose(0, 2, 1)
    A *= 1 - np.eye(9) * (not loops)
    networks = [None, *"xxyyyzzz"]
    je = fitted(A, directed=directed, diagonal="observed" if loops else "auto")
    found = edge_effects(je, GROUP, graphs=A, networks=networks, n_permutations=99, random_state=0)
    difference = A[8:].mean(axis=0) - A[:8].mean(axis=0)
    edges = found.weights["edges"]
    assert len(edges.F) == {"undirected": 36, "directed": 72, "with loops": 45}[kind]
    assert edges.estimates.values[0] == pytest.approx(difference[edges.first, edges.second])
    assert found.matrix("weights") == pytest.approx(difference)
    for of, maps in (("pattern", found.pattern), ("weights", found.weights)):
        regions, pairs, whole = maps["regions"], maps["networks"], found.matrix(of)
        sums = [whole[s].sum() if s >= 0 else whole[:, t].sum()
                for s, t in zip(regions.first, regions.second, strict=True)]  # fmt: skip
        assert regions.estimates.values[0] == pytest.approx(sums)
        once = whole if directed else np.triu(whole)
        for a, b, value in zip(pairs.first, pairs.second, pairs.estimates.values[0], strict=True):
            rows, columns = found.network_of == a, found.network_of == b
            total = once[np.ix_(rows, columns)].sum()
            if a != b and not directed:
                total += once[np.ix_(columns, rows)].sum()
            assert value == pytest.approx(total)
    assert len(found.pattern["regions"].F) == (18 if directed else 9)
    assert len(found.pattern["networks"].F) == (9 if directed else 6)


def test_kinds_of_graphs_and_blocks_of_edges_do_not_matter(monkeypatch):
    A = graphs()
    A[np.abs(A) < 0.8] = 0
    A[:, 2, 7] = A[:, 7, 2] = 0  # no graph has this edge
    je = fitted(A)
    options = {"networks": list("xxxyyyzzz"), "n_permutations": 199, "random_state": 0}
    dense = edge_effects(je, GROUP, graphs=A, **options)
    monkeypatch.setattr(effects_on_edges, "_BLOCK", 5)
    for other in ([sparse.csr_array(x) for x in A], InBlocks(eg.GraphStack(A), 5)):
        same = edge_effects(je, GROUP, graphs=other, **options)
        for maps, others in ((dense.pattern, same.pattern), (dense.weights, same.weights)):
            for what in maps:
                assert pytest.approx(others[what].F, nan_ok=True) == maps[what].F
                assert maps[what].p_family == pytest.approx(others[what].p_family, nan_ok=True)
        assert dense.p_combined == pytest.approx(same.p_combined)
        assert (dense.named("connected") == same.named("connected")).all()
    edges = dense.weights["edges"]
    absent = (edges.first == 2) & (edges.second == 7)
    assert np.isnan(edges.p_values[absent]).all()
    assert np.isfinite(edges.p_family[~absent]).all()
    assert not dense.named("weights")[absent].any()
    assert "the weights of 1 edge are the same in all graphs and were not tested" in dense.notes


def test_missing_edges_are_left_out_of_the_weights():
    A = graphs()
    A[3, 1, 2] = A[3, 2, 1] = np.nan
    je = eg.JointEmbedding(2, center=True, missing="unobserved", random_state=0).fit(A)
    found = edge_effects(je, GROUP, graphs=A, n_permutations=99, random_state=0)
    edges = found.weights["edges"]
    hidden = (edges.first == 1) & (edges.second == 2)
    assert (np.isnan(edges.p_values) == hidden).all()
    assert "the weights of 1 edge that are missing in some graphs" in found.notes[0]
    assert np.isfinite(found.weights["regions"].F).all()


def test_connected_edges_are_those_of_a_graph_above_the_threshold():
    A = graphs(size=3.0)
    found = edge_effects(fitted(A), GROUP, graphs=A, n_permutations=499, random_state=0)
    edges, connected = found.weights["edges"], found.connected
    strong = edges.p_values <= 0.004
    first = connected.member[(edges.first == 0) & (edges.second == 1)][0]
    inside = (edges.first < 4) & (edges.second < 4)
    assert (connected.member[inside & strong] == first).all()
    assert (connected.sizes == np.bincount(connected.member[connected.member >= 0])).all()
    assert connected.p_values[first] <= 0.05
    assert (found.named("connected") == (connected.member == first)).all()


def test_a_named_edge_has_weights_of_the_sign_of_its_pattern():
    A = graphs(m=30, n=12)
    found = edge_effects(fitted(A), np.repeat(["a", "b"], 15), graphs=A, n_permutations=499,
                         random_state=0)  # fmt: skip
    pattern, weights = found.pattern["edges"], found.weights["edges"]
    named = found.named("pattern")
    inside = (pattern.first < 4) & (pattern.second < 4)
    assert named[inside].all()
    assert (pattern.p_family <= 0.05).sum() > named.sum()  # beside the pattern
    assert (weights.p_values[named] <= 0.1).all()
    values = pattern.estimates.values[0] * weights.estimates.values[0]
    assert (values[named] > 0).all()
    either = named | found.named("weights")
    assert (either | ~found.named("combined")).all()
    table = found.table()
    assert table["named"].count("yes") == found.named().sum()
    differ = "edges differ between groups of group (effects: b minus a)"
    assert f"{found.named().sum()} of 66 {differ}" in found.words[0]
    assert f"{named.sum()} by the pattern" in found.words[2]
    by = np.array(table["named_by"])
    assert (by[named & found.named("weights") & found.named()] == "both").any()
    assert ((by != "") == found.named()).all()
    alone = found.named() & ~found.named("weights")
    assert set(by[alone]) == {"pattern"}
    # Where the signs of the two are opposite, the weights alone can name an edge.
    assert np.isin(by[values < 0], ["", "weights"]).all()
    assert [p is None for p in table["connected_p"]] == [c is None for c in table["connected"]]
    assert table["connected"].count(1) == found.connected.sizes[0]


# --------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("group", "given"),
    [
        (np.repeat("a", 16), {}),
        (GROUP, {"covariates": {"site": np.repeat(["x", "y"], 8)}}),
        (GROUP, {"covariates": np.random.default_rng(0).normal(size=(16, 20))}),
        (np.arange(16).astype(str), {}),
        (GROUP[:5], {}),
        (GROUP, {"subjects": [0, 1, 1, 3, 4, 5, 6, 7, 0, *range(8, 15)]}),
        (GROUP, {"harmonize": GROUP}),
    ],
)
def test_bad_designs_are_refused_in_the_words_of_compare(group, given):
    je = fitted(graphs())
    with pytest.raises(InputError) as one:
        compare(je.loadings_, group, **given)
    with pytest.raises(InputError) as other:
        edge_effects(je, group, **given)
    assert str(one.value) == str(other.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"graphs": graphs()[:5]}, "graphs must be the 16 of the fit, in their order; got 5"),
        ({"networks": ["x"] * 4}, "networks must have one value for each of 9 vertices, got 4"),
        ({"networks": [None] * 9}, "networks has no value for any vertex"),
        ({"networks": [*"abcdeabcd"]}, "5 networks for 9 vertices; give fewer"),
        ({"level": 0}, "level"),
        ({"n_permutations": 0}, "n_permutations"),
    ],
)
def test_what_cannot_be_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        edge_effects(fitted(graphs()), GROUP, **given)


def test_too_many_weights_are_refused_and_the_pattern_needs_none(monkeypatch):
    A = graphs()
    monkeypatch.setattr(effects_on_edges, "_MOST", 500)
    with pytest.raises(InputError, match="16 graphs with 36 edges each are too many"):
        edge_effects(fitted(A), GROUP, graphs=A)
    found = edge_effects(fitted(A), GROUP, n_permutations=99, random_state=0)
    assert "named by the pattern alone" in found.notes[0]
    assert (found.named() == (found.pattern["edges"].p_family <= 0.05)).all()
    for ask in (lambda: found.named("weights"), lambda: found.matrix("weights")):
        with pytest.raises(InputError, match="pass graphs="):
            ask()


def test_a_degree_corrected_fit_is_refused():
    A = np.abs(graphs())
    je = eg.JointEmbedding(2, degree_corrected=True, random_state=0).fit(A)
    with pytest.raises(InputError, match="depend on the degrees of each graph"):
        edge_effects(je, GROUP)
