"""The summary as data: its numbers are those of the embedding, its words say what they mean."""

import json

import numpy as np
import pytest
from blocked_graphs import InBlocks
from report_cases import fitted, random_graphs, small, with_troubles

from eigengraphs import GraphStack, JointEmbedding, select_dimension
from eigengraphs.embedding import FitView
from eigengraphs.errors import InputError
from eigengraphs.report import Problem, summarize
from eigengraphs.report.input_quality import describe_graphs
from eigengraphs.report.records import make_columns
from eigengraphs.report.sentences import between_groups
from eigengraphs.report.worst_fits import block_means, graph_fits, reconstruction


@pytest.fixture(scope="module")
def found():
    return small()


def test_numbers_equal_those_of_the_embedding_in_json_too(found):
    embedding, _, summary = found
    told = json.loads(json.dumps(summary.to_json(), allow_nan=False))
    assert told["loadings"] == embedding.loadings_.tolist()
    assert told["positions"] == embedding.latent_positions_.tolist()
    assert told["objective"] == embedding.objective_path_.tolist()
    assert told["positions_right"] is None
    parts = told["components"]
    assert [part["explained"] for part in parts] == embedding.explained_ratio_.tolist()
    assert [part["stop_reason"] for part in parts] == list(embedding.stop_reason_)
    assert [part["stationarity"] for part in parts] == embedding.stationarity_.tolist()
    assert told["gamma_condition"] == embedding.gamma_condition_
    assert told["format"] == 5


@pytest.mark.parametrize("settings", [{}, *({"directed": True, "diagonal": diagonal}
                                            for diagonal in ("filled", "observed"))])  # fmt: skip
def test_strongest_vertices_and_edges_are_those_of_all_pairs(settings):
    graphs = np.random.default_rng(0).random((4, 20, 20)) if settings else random_graphs(9, 20)
    embedding = fitted(graphs, 2, **settings)
    H = embedding.latent_positions_
    G = getattr(embedding, "latent_positions_right_", H)
    for k, part in enumerate(summarize(embedding, graphs, title="").components):
        h, g = H[:, k], G[:, k]
        products = np.abs(np.outer(h, g))
        if settings.get("diagonal") != "observed":
            np.fill_diagonal(products, 0)
        products = products if settings else np.triu(products)
        best = np.sort(products, axis=None)[::-1][:10]
        assert np.allclose([abs(edge.weight) for edge in part.edges], best)
        assert all(edge.weight == h[edge.source] * g[edge.target] for edge in part.edges)
        ends = [(part.high, part.low, h)] + [(part.right_high, part.right_low, g)] * bool(settings)
        for high, low, x in ends:
            assert list(high) == [s for s in np.argsort(-x)[:8] if x[s] > 0]
            assert list(low) == [s for s in np.argsort(x)[:8] if x[s] < 0]


@pytest.mark.parametrize("settings", [{}, {"center": True}, {"diagonal": "observed"}])
def test_what_is_missed_is_written_out(settings):
    graphs = random_graphs(7, 9)
    embedding = fitted(graphs, 2, **settings)
    fits = graph_fits(FitView.of(embedding), graphs)
    model = embedding.inverse_transform(embedding.loadings_)
    counted = np.ones((9, 9)) if settings.get("diagonal") else 1 - np.eye(9)
    left = (((graphs.dense - model) * counted) ** 2).sum(axis=(1, 2))
    own = ((graphs.dense * counted) ** 2).sum(axis=(1, 2))
    assert np.allclose(fits.residual_with_mean, left / own)
    base = graphs.dense - (embedding.mean_graph_ if settings.get("center") else 0)
    assert np.allclose(fits.explained, 1 - left / ((base * counted) ** 2).sum(axis=(1, 2)))
    assert np.isclose((fits.residual_with_mean * own).sum(), embedding.objective_path_[-1])
    summary = summarize(embedding, graphs, title="")
    assert [worst.graph for worst in summary.worst] == np.argsort(-left / own)[:3].tolist()


@pytest.mark.parametrize("settings", [{"missing": "unobserved"}, {"preprocess": "log1p"}])
def test_what_is_missed_is_of_the_weights_that_were_fitted_and_observed(settings):
    A = np.abs(random_graphs(6, 10).dense)
    if "missing" in settings:
        A[0, 2, 3] = A[0, 3, 2] = np.nan
    embedding = fitted(A, 2, **settings)
    summary = summarize(embedding, A, title="")
    B = A if "missing" in settings else np.log1p(A)
    left = B - embedding.inverse_transform(embedding.loadings_)
    left[:, np.arange(10), np.arange(10)] = np.nan
    share = np.nansum(left**2, axis=(1, 2)) / np.nansum(B**2, axis=(1, 2))
    assert np.allclose(summary.residual_with_mean, share)
    assert summary.quality[1].total_weight == pytest.approx(A[1].sum() / 2)
    json.dumps(summary.to_json(), allow_nan=False)


@pytest.mark.parametrize("block", [1, 2, 4])
@pytest.mark.parametrize("center", [False, True])
def test_blocks_are_the_means_of_the_graph_and_of_its_reconstruction(block, center, storage):
    n = 11
    graphs = random_graphs(5, n)
    graphs = graphs.to_sparse() if storage == "sparse" else graphs
    embedding = fitted(graphs, 2, center=center)
    model = embedding.inverse_transform(embedding.loadings_)[3]
    A = np.asarray(graphs.to_dense().dense[3] if storage == "sparse" else graphs.dense[3])
    edges = [slice(lo, min(lo + block, n)) for lo in range(0, n, block)]

    def means(M):
        return np.array([[M[a, b].mean() for b in edges] for a in edges])

    assert np.allclose(reconstruction(FitView.of(embedding), 3, block), means(model))
    assert np.allclose(block_means(graphs, 3, block), means(A))


def test_columns_are_numbers_or_categories():
    columns = make_columns(
        {
            "age": ["20", "31.5", "n/a", "40", "18", "77"],
            "site": [1, 2, 1, 2, 1, 1],
            "code": ["001", "002", "003", "004", "005", "006"],
            "sick": [True, False, True, True, None, False],
            "score": np.array([1.5, np.nan, 2, 3, 4, 5]),
        },
        6,
        "graph",
    )
    kinds = {column.name: column.kind for column in columns}
    assert kinds == {
        "age": "number", "site": "number", "code": "category", "sick": "category",
        "score": "number",
    }  # fmt: skip
    age, _, _, sick, score = columns
    assert age.values == (20, 31.5, None, 40, 18, 77)
    assert sick.categories == ("True", "False")
    assert sick.values == (0, 1, 0, 0, None, 1)
    assert score.values[1] is None
    (site,) = make_columns({"site": [3, 1, 2] * 5}, 15, "graph")
    assert (site.kind, site.categories) == ("category", ("3", "1", "2"))  # in input order


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"columns": {"a": [1, 2, 3]}}, "one value for each graph, 12 in all, got 3"),
        ({"columns": {"a": range(12)}, "label": "b"}, "label 'b' is not among the columns"),
        ({"coordinates": np.zeros((14, 4))}, r"shape \(14, 2\) or \(14, 3\)"),
        (
            {"graphs": slice(None, None, -1)},
            "differ from those of the fit, or are in another order",
        ),
        ({"graphs": slice(5)}, "got 5 graphs, but the embedding was fitted to 12"),
    ],
)
def test_what_does_not_fit_is_refused(found, given, said):
    embedding, graphs, _ = found
    some = graphs[given.pop("graphs", slice(None))]
    with pytest.raises(InputError, match=said):
        summarize(embedding, some, title="", **given)


def test_problems_come_by_gravity_and_troubles_of_the_fit_among_them():
    embedding, summary = with_troubles()
    assert [part.degenerate for part in summary.components] == embedding.degenerate_.tolist()
    assert not summary.components[0].remarks
    assert "left nothing to fit" in summary.components[1].remarks[0]
    assert [problem.level for problem in summary.problems] == ["warning"]
    graphs = np.array([np.outer(np.arange(1.0, 9), np.arange(1.0, 9)) * i for i in (1, 2, 3)])
    more = [Problem("notice", "n"), Problem("refused", "r"), Problem("repaired", "p")]
    levels = [p.level for p in summarize(embedding, graphs, title="", problems=more).problems]
    with pytest.raises(InputError, match="level of a problem must be one of"):
        Problem("bad", "")
    assert levels == ["refused", "warning", "notice", "repaired"]
    graphs = random_graphs(8, 12)
    summary = summarize(
        fitted(graphs, 2, solver="algorithm1", max_iter=1, tol=1e-12), graphs, title=""
    )
    assert not summary.converged
    assert "did not converge" in summary.problems[0].text
    late = [part for part in summary.components if part.stop_reason == "max_iter"]
    assert late
    assert all("stopped before it converged" in part.remarks[0] for part in late)


def test_words_say_what_the_numbers_say(found):
    embedding, _, summary = found
    text = " ".join(summary.words)
    assert f"{embedding.explained_ratio_.sum():.1%} of the sum of squares" in text
    assert "12 graphs on 14 vertices" in text
    assert "90.0% of the cases by joint embedding (PCA 70.0%, chance 33.3%)" in text
    assert "1 problem should be checked first" in text
    assert "requested" in summary.dimension_reason
    graphs = random_graphs(12, 14)
    choice = select_dimension(graphs, 4, method="elbow", random_state=0)
    chosen = summarize(fitted(graphs, choice.n_components), graphs, title="", choice=choice)
    assert chosen.dimension_reason == choice.explain()
    assert dict(chosen.dimension_rules) == choice.choices


def test_the_share_between_groups_is_that_of_analysis_of_variance(found):
    embedding, _, summary = found
    L = embedding.loadings_
    groups = np.array(["patient", "control", "carrier"] * 4)
    within = sum(((L[groups == g] - L[groups == g].mean(axis=0)) ** 2).sum(axis=0)
                 for g in set(groups))  # fmt: skip
    total = ((L - L.mean(axis=0)) ** 2).sum(axis=0)
    assert np.allclose(between_groups(L, summary.columns[0]), 1 - within / total)
    age = summary.columns[1]
    r = [np.corrcoef(L[1:, k], age.values[1:])[0, 1] for k in range(3)]
    assert np.allclose(between_groups(L, age), np.square(r))


def test_quality_counts_isolated_vertices_and_tells_outliers(storage):
    A = np.array(np.round(random_graphs(9, 20).dense, 3))
    A[4, :6] = A[4, :, :6] = 0
    A[4, 0, 0] = 3.0  # a loop is no edge to another
    A[7] *= 40
    graphs = GraphStack(A, storage=storage)
    rows = describe_graphs(graphs)
    assert [row.isolated for row in rows] == [0, 0, 0, 0, 6, 0, 0, 0, 0]
    assert [row.verdict for row in rows] == [
        "notice" if i in (4, 7) else "ok" for i in range(9)
    ]  # fmt: skip
    assert "6 of 20 vertices have no edge" in rows[4].messages
    assert rows[7].messages[0].startswith("scale of the weights")
    off = A[4] * (1 - np.eye(20))
    assert rows[4].density == pytest.approx((off != 0).sum() / 380)
    assert rows[4].total_weight == pytest.approx(off.sum() / 2)
    A[2, 0, 1] += 0.01  # one graph with a direction: edges of all count twice
    rows = describe_graphs(GraphStack(A, storage=storage))
    assert not any("scale" in text for text in rows[2].messages)
    weights = (A * (1 - np.eye(20))).sum(axis=(1, 2))
    np.testing.assert_allclose([row.total_weight for row in rows], weights)


def test_missing_vertices_are_not_isolated(storage):
    A = np.array(np.round(random_graphs(4, 20).dense, 3))
    A[1, 5:] = A[1, :, 5:] = 0
    A[1, :4] = A[1, :, :4] = np.nan
    A[2, 0, 1:] = A[2, 1:, 0] = np.nan  # its loop is observed, and no pair with another
    A[3] = 0
    A[3, :9] = A[3, :, :9] = np.nan
    graphs = GraphStack(A, storage=storage, missing="unobserved")
    rows = describe_graphs(graphs)
    assert [row.isolated for row in rows] == [0, 16, 0, 11]
    missing = [[text for text in row.messages if text.endswith("missing")] for row in rows]
    assert missing == [[], *([f"{k} of 20 vertices are missing"] for k in (4, 1, 9))]
    assert "no edges at all" in rows[1].messages
    assert "no edges at all" in rows[3].messages


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_graphs_that_do_not_fit_in_memory_are_drawn_one_by_one(storage):
    rng = np.random.default_rng(0)
    n = 430  # more than a heat map has cells
    A = np.triu(rng.random((6, n, n)) < 0.02, 1) * rng.random((6, n, n))
    A += A.transpose(0, 2, 1)
    stack = GraphStack(A, storage=storage)
    in_blocks = InBlocks(stack, 2, memory=2**16)
    assert in_blocks.nbytes > in_blocks.memory
    embedding = JointEmbedding(1, random_state=0, tol=0.2).fit(stack)
    one, other = (summarize(embedding, graphs, title="t") for graphs in (stack, in_blocks))
    assert len(other.worst) > 0
    assert other.worst == one.worst
