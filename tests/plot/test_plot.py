"""Plots show the numbers of a fit, in input order, on the axes that they are given."""

import numpy as np
import pytest
from report_cases import fitted, random_graphs

import eigengraphs as eg
from eigengraphs.errors import InputError, SelectionError

Figure = pytest.importorskip("matplotlib.figure").Figure


@pytest.fixture
def ax():
    return Figure().subplots()  # belongs to no window


@pytest.fixture(scope="module")
def fit():
    graphs = random_graphs(9, 12, vertex_names=[f"v{s}" for s in range(12)])
    return fitted(graphs, 3)


@pytest.fixture(scope="module")
def directed():
    return fitted(np.random.default_rng(0).random((5, 8, 8)), 2, directed=True)


def drawn(ax):
    """Return all points, in the order in which they were drawn."""
    return np.concatenate([np.asarray(group.get_offsets()) for group in ax.collections])


def test_loadings_are_the_columns_asked_for(fit, ax):
    assert eg.plot.loadings(fit, (2, 0), ax=ax) is ax
    assert np.allclose(drawn(ax), fit.loadings_[:, [2, 0]])
    assert ax.get_xlabel() == f"loading of component 3 (explains {fit.explained_ratio_[2]:.1%})"


def test_positions_of_both_sides(fit, directed, ax):
    assert eg.plot.positions(fit, ax=ax) is ax
    assert np.allclose(drawn(ax), fit.latent_positions_[:, :2])
    other = eg.plot.positions(directed, side="right", ax=Figure().subplots())
    assert np.allclose(drawn(other), directed.latent_positions_right_[:, :2])
    with pytest.raises(InputError, match="only one side"):
        eg.plot.positions(fit, side="right", ax=ax)
    with pytest.raises(InputError, match="'left' or 'right'"):
        eg.plot.positions(fit, side="up", ax=ax)


def test_categories_have_markers_and_numbers_a_ramp(fit, ax):
    groups = ["b", "a", "c"] * 3
    eg.plot.loadings(fit, color=groups, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["b", "a", "c"]
    assert np.allclose(drawn(ax)[:3], fit.loadings_[::3, :2])
    paths = [group.get_paths()[0].vertices.tobytes() for group in ax.collections]
    assert len(set(paths)) == 3
    other = eg.plot.loadings(fit, color=np.arange(9.0), ax=Figure().subplots())
    assert np.array_equal(other.collections[0].get_array(), np.arange(9.0))
    with pytest.raises(InputError, match="one value for each graph"):
        eg.plot.loadings(fit, color=[1, 2], ax=ax)


def test_one_component_is_drawn_against_the_order(ax):
    fit = fitted(random_graphs(6, 7), 1)
    eg.plot.loadings(fit, ax=ax)
    assert np.allclose(drawn(ax), np.column_stack([np.arange(1, 7), fit.loadings_[:, 0]]))
    assert ax.get_xlabel() == "graph, in input order"


def test_components_are_outer_products_in_input_order(fit, directed, ax):
    assert eg.plot.components(fit, 1, ax=ax) is ax
    h = fit.latent_positions_[:, 1]
    assert np.allclose(ax.get_images()[0].get_array(), np.outer(h, h))
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"v{s}" for s in range(12)]
    other = eg.plot.components(directed, ax=Figure().subplots())
    h, g = directed.latent_positions_[:, 0], directed.latent_positions_right_[:, 0]
    assert np.allclose(other.get_images()[0].get_array(), np.outer(h, g))


def test_heat_maps_are_white_at_zero_and_take_sparse_and_nan(ax):
    A = np.array([[0.0, -2.0], [5.0, np.nan]])
    eg.plot.heatmap(A, limit=4, ax=ax)
    low, high = ax.get_images()[0].get_clim()
    assert (low, high) == (-4, 4)
    graphs = random_graphs(2, 5).to_sparse()
    other = eg.plot.heatmap(graphs[0], ax=Figure().subplots())
    assert np.allclose(other.get_images()[0].get_array(), graphs[0].toarray())
    eg.plot.heatmap(np.zeros((3, 3)), ax=Figure().subplots())
    with pytest.raises(InputError, match="of a matrix"):
        eg.plot.heatmap(np.zeros(3), ax=ax)
    with pytest.raises(InputError, match="names must have length 2"):
        eg.plot.heatmap(A, names=["a"], ax=ax)


def test_the_objective_and_the_time_line(fit, ax):
    assert eg.plot.objective(fit, ax=ax) is ax
    assert np.allclose(ax.get_lines()[0].get_ydata(), fit.objective_path_)
    other = Figure().subplots()
    assert eg.plot.timeline(fit, [2], times=np.arange(9) * 10, ax=other) is other
    line = other.get_lines()[0]
    assert np.allclose(line.get_ydata(), fit.loadings_[:, 2])
    assert np.allclose(line.get_xdata(), np.arange(9) * 10)
    with pytest.raises(InputError, match="times must have shape"):
        eg.plot.timeline(fit, times=[1], ax=other)


@pytest.mark.parametrize("draw", [
    lambda fit, ax: eg.plot.components(fit, 3, ax=ax),
    lambda fit, ax: eg.plot.components(fit, -1, ax=ax),
    lambda fit, ax: eg.plot.timeline(fit, ["je1"], ax=ax),
    lambda fit, ax: eg.plot.loadings(fit, (0, 1, 2), ax=ax),
])  # fmt: skip
def test_components_are_places_that_exist(fit, ax, draw):
    said = "there are 3, counted from 0 to 2|given by its index|two indices"
    with pytest.raises((InputError, SelectionError), match=said):
        draw(fit, ax)


def test_without_axes_a_new_figure_is_made(fit):
    plt = pytest.importorskip("matplotlib.pyplot")
    mine = plt.figure().subplots()
    try:
        for draw in (eg.plot.loadings, eg.plot.objective, eg.plot.components, eg.plot.timeline):
            drawn_on = draw(fit)
            assert drawn_on.figure is not mine.figure
            plt.close(drawn_on.figure)
        assert not mine.has_data()
    finally:
        plt.close(mine.figure)


def test_effects_are_drawn_by_network_and_named_edges_alone():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 8, 8))
    A[10:, ::2, ::2] += 3.0
    A = A + A.transpose(0, 2, 1)
    je = eg.JointEmbedding(2, center=True, random_state=0).fit(A)
    found = eg.inference.edge_effects(
        je, np.repeat(["a", "b"], 10), graphs=A, networks=["x", "y"] * 4, n_permutations=199,
        random_state=0,
    )  # fmt: skip
    ax = eg.plot.edge_effects(found, ax=Figure().subplots())
    order = [*range(0, 8, 2), *range(1, 8, 2)]
    drawn = np.asarray(ax.get_images()[0].get_array())
    assert (drawn == found.matrix()[np.ix_(order, order)]).all()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["x", "y"]
    named = eg.plot.edge_effects(found, "weights", named=True, ax=Figure().subplots())
    shown = np.asarray(named.get_images()[0].get_array())
    assert np.count_nonzero(np.triu(shown)) == found.named().sum() >= 10
    assert shown[:4, :4].all()
    assert named.get_title().endswith("(b minus a)")
    assert named.get_images()[0].colorbar.ax.get_ylabel() == "effect on the weights"
    several = eg.inference.edge_effects(je, [*"abcd"] * 5, graphs=A, n_permutations=9)
    empty = eg.plot.edge_effects(several, named=True, ax=Figure().subplots())
    assert [text.get_text() for text in empty.texts] == ["no edge is named"]
    assert empty.get_images()[0].get_clim()[0] == 0
