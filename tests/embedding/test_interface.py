"""The estimator as scikit-learn and its users meet it."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from known_graphs import random_symmetric, section_5_1, stored
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import AlignmentError, InputError, NotAvailableError
from eigengraphs.models import MultipleRandomEigenGraphs, PointMasses

h1 = np.full(40, 1.0) / np.sqrt(40)
h2 = np.repeat([-1.0, 1.0], 20) / np.sqrt(40)


@pytest.fixture(scope="module")
def two_classes():
    """The design of section 5.2 on 40 vertices: two point masses of loadings."""
    law = PointMasses(np.array([[16.0, 6.0], [12.0, 2.0]]))
    model = MultipleRandomEigenGraphs(np.stack([h1, h2], axis=1), law)
    stack, latent = model.sample(60, random_state=0, return_latent=True)
    return stack, latent.labels


def test_pipeline_grid_search_and_cross_validation(two_classes, storage):
    stack, y = two_classes
    stack = stored(stack, storage)
    model = make_pipeline(JointEmbedding(2, random_state=0), StandardScaler(), LogisticRegression())
    assert cross_val_score(model, stack, y, cv=4).mean() > 0.9
    grid = GridSearchCV(model, {"jointembedding__n_components": [1, 2]}, cv=3).fit(stack, y)
    assert grid.best_score_ > 0.9
    assert cross_val_score(model, list(stack), y, cv=3).mean() > 0.9  # a list is as good


def test_a_list_and_a_stack_are_the_same():
    A = random_symmetric(5, 8, seed=0)
    one = JointEmbedding(2, random_state=0).fit(list(A))
    other = JointEmbedding(2, random_state=0).fit(GraphStack(A))
    assert np.array_equal(one.loadings_, other.loadings_)


def test_clone_and_parameters():
    settings = {"n_components": 3, "center": True, "init": "svd", "tol": 1e-6, "random_state": 4}
    je = JointEmbedding(**settings)
    assert {**je.get_params(), **settings} == je.get_params()
    assert clone(je).get_params() == je.get_params()
    assert not hasattr(clone(je.fit(random_symmetric(4, 6, seed=0))), "loadings_")


def test_fit_transform_is_fit_then_transform():
    A = random_symmetric(6, 9, seed=1, hollow=True)
    je = JointEmbedding(2, center=True, random_state=0)
    assert np.allclose(je.fit_transform(A), je.fit(A).transform(A), atol=1e-10)


def test_feature_names_and_pandas_output():
    A = random_symmetric(6, 9, seed=1)
    je = JointEmbedding(3, random_state=0).set_output(transform="pandas")
    table = je.fit_transform(A)
    assert list(table.columns) == ["je1", "je2", "je3"] == list(je.get_feature_names_out())
    assert isinstance(je.transform(A), pd.DataFrame)
    assert np.array_equal(table.to_numpy(), je.loadings_)


def test_what_a_fit_tells():
    stack = section_5_1(30, 0, loops=False).stack
    je = JointEmbedding(3, random_state=0).fit(stack)
    assert je.converged_ is True
    assert je.stop_reason_ == ("stationary",) * 3
    assert (je.stationarity_ <= 1e-8).all()
    assert je.n_iter_.shape == (3,)
    assert je.n_passes_ >= je.n_iter_.max()
    assert je.n_vertices_ == 20
    assert not je.degenerate_.any()
    assert je.mean_graph_ is None
    assert 0 < je.explained_ratio_.sum() < 1
    centred = JointEmbedding(1, center=True).fit(stack)
    assert np.allclose(centred.mean_graph_, stack.dense.mean(axis=0))


def test_inverse_transform_gives_the_expected_adjacency(storage):
    known = section_5_1(200, 1, loops=False)
    stack = stored(known.stack, storage)
    je = JointEmbedding(3, random_state=0).fit(stack)
    expected = je.inverse_transform(je.loadings_[:5])
    H = je.latent_positions_
    off = ~np.eye(20, dtype=bool)
    assert np.allclose(expected[:, off], np.einsum("sk,ik,tk->ist", H, je.loadings_[:5], H)[:, off])
    assert (expected[:, ~off] == 0).all()  # graphs without loops stay without
    centred = JointEmbedding(3, center=True, random_state=0).fit(stack)
    mean = centred.inverse_transform(np.zeros((1, 3)))[0]
    assert np.allclose(mean, known.stack.dense.mean(axis=0))
    assert np.allclose(centred.transform(centred.inverse_transform(centred.loadings_)),
                       centred.loadings_)  # fmt: skip


def test_positions_of_one_graph():
    A = random_symmetric(4, 7, seed=2)
    je = JointEmbedding(2, random_state=0).fit(GraphStack(A, graph_names=list("abcd")))
    positions, signs = je.graph_positions("c")
    lam = je.loadings_[2]
    assert np.array_equal(signs, np.sign(lam))
    rebuilt = positions @ np.diag(signs) @ positions.T
    H = je.latent_positions_
    assert np.allclose(rebuilt, H @ np.diag(lam) @ H.T)
    assert np.array_equal(je.graph_positions(2)[0], positions)
    with pytest.raises(InputError, match="no training graph is called 'z'"):
        je.graph_positions("z")
    with pytest.raises(InputError, match="graph 4 does not exist"):
        je.graph_positions(4)
    for wrong in (None, True, 1.5):
        with pytest.raises(InputError, match="chosen by place or name"):
            je.graph_positions(wrong)


def test_to_mreg_and_back():
    known = section_5_1(300, 2, loops=False)
    je = JointEmbedding(3, random_state=0).fit(known.stack)
    model = je.to_mreg()
    assert 0 <= model.clipped_share < 0.05
    assert np.allclose(model.latent_positions, je.latent_positions_)
    again = JointEmbedding(3, random_state=0).fit(model.sample(random_state=1))
    first = again.latent_positions_[:, 0]
    assert abs(first @ je.latent_positions_[:, 0]) > 0.99
    with pytest.raises(InputError, match="center=False"):
        JointEmbedding(2, center=True).fit(known.stack).to_mreg()


def test_weighted_graphs_need_a_law_of_weights():
    counts = np.random.default_rng(0).poisson(3, (30, 12, 12)).astype(float)
    stack = GraphStack(counts).symmetrize("sum").drop_loops()
    je = JointEmbedding(1, random_state=0).fit(stack)
    with pytest.raises(InputError, match=r"weighted.*law='poisson'.*law='gaussian'"):
        je.to_mreg()
    assert je.to_mreg("poisson").law == "poisson"
    gaussian = je.to_mreg("gaussian")
    # The spread of Poisson counts with mean 6.
    assert gaussian.noise_scale == pytest.approx(np.sqrt(6), rel=0.05)


def test_score_counts_the_weights():
    A = random_symmetric(4, 8, seed=0)
    je = JointEmbedding(1, random_state=0).fit(A)
    one = [je.score(A[[i]]) for i in range(4)]
    assert je.score(A, sample_weight=[0, 0, 1, 0]) == pytest.approx(one[2])
    assert len({round(value, 6) for value in one}) == 4


def test_what_the_caller_gave_is_left_as_it_was():
    graphs, weights = random_symmetric(4, 6, seed=0), np.array([1.0, 2.0, 3.0, 4.0])
    before = graphs.copy()
    je = JointEmbedding(1, random_state=0).fit(graphs, sample_weight=weights)
    je.score(graphs, sample_weight=weights)
    assert weights.tolist() == [1, 2, 3, 4]
    assert np.array_equal(graphs, before)
    assert graphs.flags.writeable


def test_extend_sees_that_a_shared_array_was_changed():
    graphs = random_symmetric(4, 6, seed=0)
    je = JointEmbedding(1, random_state=0).fit(graphs)
    graphs[0] *= -1
    with pytest.raises(InputError, match="the very graphs"):
        je.extend(2)


@pytest.mark.parametrize(
    "wrong", [{"n_components": 99}, {"init": np.zeros((6, 1))}, {"random_state": "x"}], ids=str
)
def test_a_refused_fit_leaves_the_old_one_whole(wrong):
    graphs = random_symmetric(4, 6, seed=0)
    je = JointEmbedding(1, center=True, random_state=0).fit(graphs)
    before = je.transform(graphs)
    with pytest.raises(InputError):
        je.set_params(**wrong).fit(5 + graphs[:2])
    assert np.allclose(je.transform(graphs), before, rtol=0, atol=1e-12)
    assert np.allclose(je.loadings_, before, rtol=0, atol=1e-12)


def test_score_and_transform_work_across_storages():
    A = random_symmetric(5, 8, seed=0, density=0.5, hollow=True)
    dense, sparse = GraphStack(A), GraphStack(A).to_sparse()
    for train in (dense, sparse):
        je = JointEmbedding(2, center=True, random_state=0).fit(train)
        for test in (dense, sparse):
            assert je.score(test) == pytest.approx(je.explained_ratio_.sum(), abs=1e-10)
            assert np.allclose(je.transform(test), je.loadings_)


def test_vertices_called_by_numbers_go_with_arrays():
    A = np.abs(random_symmetric(3, 6, seed=1, hollow=True))
    graphs = []
    for a in A:
        graph = nx.Graph()
        graph.add_nodes_from([3, 1, 5, 0, 2, 4])  # in another order than the arrays
        graph.add_weighted_edges_from((s, t, a[s, t]) for s in range(6) for t in range(s + 1, 6))
        graphs.append(graph)
    by_array = JointEmbedding(2, random_state=0).fit(A)
    assert np.allclose(by_array.transform(graphs), by_array.loadings_)
    by_graph = JointEmbedding(2, random_state=0).fit(graphs)
    assert np.allclose(by_graph.transform(A), by_graph.loadings_)


def test_new_graphs_are_aligned_by_name():
    rng = np.random.default_rng(0)
    A = random_symmetric(5, 6, seed=3, hollow=True)
    names = list("abcdef")
    je = JointEmbedding(2, random_state=0).fit(GraphStack(A, vertex_names=names))
    order = rng.permutation(6)
    shuffled = GraphStack(A, vertex_names=names).select_vertices(order)
    assert np.allclose(je.transform(shuffled), je.loadings_)
    other = GraphStack(A, vertex_names=list("abcdeg"))
    with pytest.raises(AlignmentError, match="only in one of the two: 'f', 'g'"):
        je.transform(other)
    with pytest.raises(AlignmentError, match="have 4 vertices, expected 6"):
        je.transform(A[:, :4, :4])


def test_networkx_graphs_can_be_embedded():
    graphs = [nx.gnp_random_graph(12, 0.4, seed=seed) for seed in range(6)]
    je = JointEmbedding(2, random_state=0).fit(graphs)
    assert je.diagonal_ == "filled"
    assert je.loadings_.shape == (6, 2)


def test_a_saved_fit_leaves_the_data_out_and_can_be_extended_with_it():
    stack = GraphStack(random_symmetric(40, 50, seed=5))
    je = JointEmbedding(2, random_state=0).fit(stack)
    text = pickle.dumps(je)
    assert len(text) < stack.nbytes / 4
    loaded = pickle.loads(text)
    assert np.allclose(loaded.transform(stack), je.loadings_, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="pass graphs="):
        loaded.extend(3)
    with pytest.raises(InputError, match="the very graphs"):
        loaded.extend(3, stack[:10])
    assert np.allclose(loaded.extend(3, stack).loadings_, je.extend(3).loadings_)


@pytest.mark.parametrize("change", [lambda A: -A, lambda A: A[:, ::-1, ::-1], lambda A: A[::-1]])
def test_extend_refuses_other_graphs(change):
    A = random_symmetric(4, 6, seed=0)
    with pytest.raises(InputError, match="the very graphs"):
        JointEmbedding(2).fit(A).extend(3, change(A))


def test_a_fit_from_given_starts_can_be_extended():
    A = random_symmetric(6, 8, seed=0)
    je = JointEmbedding(2, init=np.eye(8)[:, :2] + 0.1, random_state=0).fit(A)
    assert je.extend(3).loadings_.shape == (6, 3)


def test_extend_and_truncate_refuse_the_wrong_way():
    je = JointEmbedding(2).fit(random_symmetric(4, 6, seed=0))
    for wrong in ("3", 2.5, None, 0):
        with pytest.raises(InputError, match="whole number >= 1"):
            je.extend(wrong)
        with pytest.raises(InputError, match="whole number >= 1"):
            je.truncate(wrong)
    with pytest.raises(InputError, match="use truncate"):
        je.extend(1)
    with pytest.raises(InputError, match="from 1 to 2, got 3"):
        je.truncate(3)


def test_the_notebook_shows_a_table():
    je = JointEmbedding(2, random_state=0)
    assert "JointEmbedding" in je._repr_html_()
    je.fit(random_symmetric(4, 6, seed=0))
    page = je._repr_mimebundle_()["text/html"]
    assert "<td>je2</td>" in page
    assert "4 graphs, 6 vertices, 2 components" in page


def test_algorithm_1_prints_a_line_a_component(capsys):
    A = random_symmetric(4, 10, seed=0)
    JointEmbedding(2, verbose=1, solver="algorithm1").fit(A)
    lines = capsys.readouterr().err.strip().splitlines()
    assert [line[:19] for line in lines] == ["component 1/2 found", "component 2/2 found"]
    JointEmbedding(2, verbose=2, tol=1e-12, init="random", solver="algorithm1").fit(A)
    assert "searching: iteration 25" in capsys.readouterr().err


def test_the_subspace_solver_prints_a_line_a_round(capsys):
    seen = []
    A = random_symmetric(4, 105, seed=0)
    JointEmbedding(2, verbose=1, tol=1e-3, solver="subspace", callback=seen.append).fit(A)
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == len(seen) >= 3
    assert lines[0].startswith("round 1: 0/2 components found, gradient ")
    assert lines[0].endswith(f", {seen[0].n_passes} passes")


def test_nothing_is_printed_unless_asked_for(capsys):
    JointEmbedding(1).fit(random_symmetric(4, 10, seed=0))
    assert capsys.readouterr() == ("", "")


def test_unfitted():
    for call in ("transform", "inverse_transform", "score", "truncate"):
        with pytest.raises(NotFittedError):
            getattr(JointEmbedding(), call)(np.ones((1, 3, 3)))


A = random_symmetric(3, 5, seed=0)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"n_components": 0}, "n_components must be a whole number >= 1, got n_components=0"),
        ({"n_components": -2}, "whole number >= 1"),
        ({"n_components": 2.5}, "whole number >= 1"),
        ({"n_components": True}, "whole number >= 1"),
        ({"n_components": 16}, r"n_components=16 is more than 15, .* on 5 vertices"),
        (
            {"diagonal": "zero"},
            "diagonal must be one of 'auto', 'filled', 'observed', 'unobserved'",
        ),
        ({"solver": "magic"}, "solver must be one of 'subspace', 'algorithm1', got"),
        ({"loadings": "many"}, "loadings must be 'free'"),
        ({"center": "yes"}, "center must be one of False, True"),
        ({"center": None}, "center must be one of False, True"),
        ({"init": "best"}, "init must be one of 'auto', 'svd', 'random' or an array"),
        ({"init": np.ones((5, 1))}, r"shape \(5, 2\), one column a component; got \(5, 1\)"),
        ({"init": np.zeros((5, 2))}, "column 0 of init has norm 0"),
        ({"init": [["a"]]}, "an array of numbers"),
        ({"n_init": 0}, "n_init must be a whole number >= 1"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1"),
        ({"tol": 0}, "tol must be 'auto' or a positive number, got tol=0"),
        ({"tol": "small"}, "tol must be"),
        ({"verbose": -1}, "verbose must be a whole number >= 0"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"random_state": -1}, "random_state must be"),
    ],
    ids=str,
)
def test_bad_settings(settings, text):
    with pytest.raises(InputError, match=text):
        JointEmbedding(**settings).fit(A)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_components": "auto"},
        {"loadings": "shared"},
        {"loadings": "class"},
        {"loadings": "nonnegative"},
        {"loadings": "sparse"},
        {"max_nonzeros": 2},
        {"directed": True},
        {"refine": True},
    ],
    ids=str,
)
def test_settings_that_come_later_say_so(settings):
    with pytest.raises(NotAvailableError, match="not in this version"):
        JointEmbedding(**settings).fit(A)


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([1, 2], r"must have shape \(3,\), one a graph; got \(2,\)"),
        ([1, -1, 1], r"sample_weight\[1\] is -1"),
        ([1, np.nan, 1], r"sample_weight\[1\] is nan"),
        ([0, 0, 0], "zero for every graph"),
        (["a", "b", "c"], "one number a graph"),
    ],
)
def test_bad_weights(weights, text):
    with pytest.raises(InputError, match=text):
        JointEmbedding().fit(A, sample_weight=weights)


@pytest.mark.parametrize("factor", [1e-200, 1e150])
def test_weights_of_any_size_are_relative(factor):
    one = JointEmbedding(2, random_state=0).fit(A)
    other = JointEmbedding(2, random_state=0).fit(A, sample_weight=np.full(3, factor))
    assert np.array_equal(one.latent_positions_, other.latent_positions_)
    assert np.allclose(other.objective_path_ / factor, one.objective_path_)


@pytest.mark.parametrize(
    ("graphs", "weights"),
    [([*A, 1e80 * A[0]], [1, 1, 1, 0]), ([*A, 0 * A[0]], [1e-200, 1e-200, 1e-200, 1])],
    ids=["huge graph without weight", "zero graph with weight"],
)
def test_graphs_that_do_not_matter_do_not_set_the_scale(graphs, weights):
    je = JointEmbedding(2, random_state=0).fit(graphs, sample_weight=weights)
    alone = JointEmbedding(2, random_state=0).fit(A)
    assert np.allclose(je.latent_positions_, alone.latent_positions_, atol=1e-6)


@pytest.mark.parametrize("factor", [1e-36, 1e36])
def test_float32_that_would_leave_its_range_is_refused(factor):
    stack = GraphStack((A * factor).astype(np.float32))
    with pytest.raises(InputError, match=r"leave the range of float32.*dtype='float64'"):
        JointEmbedding(1).fit(stack)
    assert JointEmbedding(1).fit(stack.astype(np.float64)).converged_


def test_extend_refuses_settings_that_changed():
    je = JointEmbedding(1, random_state=0).fit(A)
    with pytest.raises(InputError, match="solver must be"):
        je.set_params(solver="nonsense").extend(2)
    with pytest.raises(InputError, match="changed since the fit"):
        je.set_params(solver="algorithm1", center=True).extend(2)


def test_a_graph_without_weight_does_not_decide_on_the_diagonal():
    hollow = random_symmetric(3, 5, seed=0, hollow=True)
    hollow[2, 0, 0] = 1.0
    assert JointEmbedding(1).fit(hollow).diagonal_ == "observed"
    assert JointEmbedding(1).fit(hollow, sample_weight=[1, 1, 0]).diagonal_ == "filled"


def test_warnings_point_at_the_code_that_called():
    for call in ("fit", "fit_transform"):
        je = JointEmbedding(1, max_iter=1, init="random", random_state=0, solver="algorithm1")
        with pytest.warns(ConvergenceWarning) as caught:
            getattr(je, call)(A)
        assert caught[0].filename == __file__


def test_fits_in_several_threads_leave_the_thread_limits_as_they_were():
    def limits():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(limits=2, user_api="blas"):
        before = limits()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: JointEmbedding(2, random_state=0).fit(A), range(12)))
        assert limits() == before


def test_directed_graphs_are_refused_with_the_entry_named(storage):
    B = A.copy()
    B[1, 2, 4] += 1.0
    stack = GraphStack(B, graph_names=["x", "y", "z"], vertex_names=list("abcde"))
    with pytest.raises(InputError, match=r"graphs\[1\] \('y'\) is not symmetric: entry \(2, 4\), "
                       r"'c' to 'e' is .*symmetrize\(\)"):  # fmt: skip
        JointEmbedding().fit(stored(stack, storage))


def test_wrong_loadings_for_the_inverse():
    je = JointEmbedding(2).fit(A)
    with pytest.raises(InputError, match=r"shape \(m, 2\), got \(3,\)"):
        je.inverse_transform([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="array of numbers"):
        je.inverse_transform([["a", "b"]])
    with pytest.raises(InputError, match="must be finite"):
        je.inverse_transform([[np.nan, 1.0]])
