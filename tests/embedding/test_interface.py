"""The estimator as scikit-learn and its users meet it."""

import pickle

import numpy as np
import pytest
from known_graphs import random_symmetric, section_5_1, stored
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import AlignmentError, InputError
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


def test_rows_of_tables_have_the_names_of_the_graphs():
    A = random_symmetric(6, 9, seed=1)
    je = JointEmbedding(3, random_state=0).set_output(transform="pandas")
    table = je.fit_transform(A)
    assert list(table.columns) == ["je1", "je2", "je3"]
    assert list(table.index) == list(range(6))
    stack = GraphStack(A, graph_names=list("uvwxyz"))
    assert list(je.fit_transform(stack).index) == list("uvwxyz")
    new = je.transform(stack[[4, 1]])
    assert list(new.index) == ["y", "v"]
    assert np.allclose(new, je.loadings_[[4, 1]])
    assert list(je.transform({"p": A[0], "q": A[3]}).index) == ["p", "q"]
    with config_context(transform_output="pandas"):
        rows = make_pipeline(JointEmbedding(2), StandardScaler()).fit_transform(stack)
    assert list(rows.index) == list("uvwxyz")


def test_inverse_transform_gives_the_expected_adjacency(storage):
    known = section_5_1(200, 1, loops=False)
    stack = stored(known.stack, storage)
    je = JointEmbedding(3, random_state=0).fit(stack)
    expected = je.inverse_transform(je.loadings_[:5])
    H = je.latent_positions_
    off = ~np.eye(20, dtype=bool)
    assert np.allclose(expected[:, off], np.einsum("sk,ik,tk->ist", H, je.loadings_[:5], H)[:, off])
    assert (expected[:, ~off] == 0).all()  # graphs without loops stay without
    centered = JointEmbedding(3, center=True, random_state=0).fit(stack)
    mean = centered.inverse_transform(np.zeros((1, 3)))[0]
    assert np.allclose(mean, known.stack.dense.mean(axis=0))
    assert np.allclose(centered.transform(centered.inverse_transform(centered.loadings_)),
                       centered.loadings_)  # fmt: skip


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
        with pytest.raises(InputError, match="chosen by index or name"):
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


def test_new_graphs_are_aligned_by_name():
    rng = np.random.default_rng(0)
    A = random_symmetric(5, 6, seed=3, hollow=True)
    names = list("abcdef")
    je = JointEmbedding(2, random_state=0).fit(GraphStack(A, vertex_names=names))
    order = rng.permutation(6)
    shuffled = GraphStack(A, vertex_names=names).select_vertices(order)
    assert np.allclose(je.transform(shuffled), je.loadings_)
    other = GraphStack(A, vertex_names=list("abcdeg"))
    with pytest.raises(AlignmentError, match="they lack 'f'; only they have 'g': correct"):
        je.transform(other)
    with pytest.raises(AlignmentError, match="have 4 vertices, expected 6"):
        je.transform(A[:, :4, :4])


def test_a_saved_fit_leaves_the_data_out_and_can_be_extended_with_it():
    stack = GraphStack(random_symmetric(40, 50, seed=5))
    je = JointEmbedding(2, random_state=0).fit(stack)
    text = pickle.dumps(je)
    assert len(text) < stack.nbytes / 4
    loaded = pickle.loads(text)
    assert np.allclose(loaded.transform(stack), je.loadings_, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="pass graphs="):
        loaded.extend(3)
    with pytest.raises(InputError, match="the same graphs"):
        loaded.extend(3, stack[:10])
    assert np.allclose(loaded.extend(3, stack).loadings_, je.extend(3).loadings_)


@pytest.mark.parametrize("change", [lambda A: -A, lambda A: A[:, ::-1, ::-1], lambda A: A[::-1]])
def test_extend_refuses_other_graphs_and_sees_that_a_shared_array_was_changed(change):
    A = random_symmetric(4, 6, seed=0)
    je = JointEmbedding(2, random_state=0).fit(A)
    with pytest.raises(InputError, match="the same graphs"):
        je.extend(3, change(A))
    A[0] *= -1
    with pytest.raises(InputError, match="the same graphs"):
        je.extend(3)


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
    JointEmbedding(1).fit(A)
    assert capsys.readouterr() == ("", "")  # nothing unless asked for
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
