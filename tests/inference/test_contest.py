"""A contest: what methods explain of held-out graphs is what a naive computation finds."""

from pathlib import Path

import numpy as np
import pytest
from tests.inference.test_evaluate import N, planted, settings

import eigengraphs as eg
from eigengraphs.inference import contest
from eigengraphs.inference.prediction.folds import make_folds
from eigengraphs.inference.prediction.method_contest import CONTESTANTS

D = 2


@pytest.fixture(scope="module", params=["hollow", "loops"])
def case(request):
    A, y = planted(18)
    if request.param == "loops":
        A[:, np.arange(N), np.arange(N)] = np.random.default_rng(0).gamma(2.0, 1.0, (18, N))
    return A, y, request.param == "hollow"


@pytest.fixture(scope="module")
def found(case):
    A, y, _ = case
    je = eg.JointEmbedding(D, random_state=0)
    return {row.method: row for row in contest(A, y, embedding=je, cv=3).rows}


def naive(case, learn):
    """Return the share of held-out graphs explained; ``learn`` gives a reconstruction."""
    A, y, hollow = case
    counts = ~np.eye(N, dtype=bool) if hollow else np.ones((N, N), dtype=bool)
    left = total = 0.0
    for train, test in make_folds(y, cv=3).splits:
        rebuild = learn(A[train], counts)
        for graph in A[test]:
            left += ((graph - rebuild(graph))[counts] ** 2).sum()
            total += (graph[counts] ** 2).sum()
    return 1 - left / total


def least_squares(basis, counts, mean=0.0):
    """Return a reconstruction by the best combination of matrices, over the entries that count."""
    X = np.array([B[counts] for B in basis]).T

    def rebuild(A):
        weights = np.linalg.lstsq(X, (A - mean)[counts], rcond=None)[0]
        return mean + np.tensordot(weights, np.array(basis), 1)

    return rebuild


def by_components(A, counts):
    H = eg.JointEmbedding(D, random_state=0).fit(A).latent_positions_
    return least_squares([np.outer(h, h) for h in H.T], counts)


def by_space(A, counts):
    V = eg.baselines.MultipleASE(D).fit(A).latent_positions_
    return least_squares([np.outer(V[:, j], V[:, k]) for j in range(D) for k in range(D)], counts)


def by_principal_components(A, counts):
    mean = A.mean(axis=0)
    V = np.linalg.svd((A - mean).reshape(len(A), -1))[2][:D]
    return lambda graph: mean + (V.T @ (V @ (graph - mean).ravel())).reshape(N, N)


def by_projection(A, counts):
    U = np.linalg.svd(np.hstack(A))[0][:, :D]
    return lambda graph: U @ U.T @ graph


def by_new_positions(A, counts):
    m = len(A)
    M = np.block([[(A[i] + A[j]) / 2 for j in range(m)] for i in range(m)])
    lam, U = np.linalg.eigh(M)
    kept = np.argsort(-np.abs(lam))[:D]
    lam, X = lam[kept], U[:, kept] * np.sqrt(np.abs(lam[kept]))

    def rebuild(graph):
        new = np.hstack([(graph + B) / 2 for B in A]) @ X / lam
        return new * np.sign(lam) @ new.T

    return rebuild


@pytest.mark.parametrize(
    ("method", "learn", "n_coefficients", "n_parameters"),
    [
        ("joint embedding", by_components, D, D * (N + 18)),
        ("Multiple ASE", by_space, 3, N * D + 18 * 3),
        ("PCA", by_principal_components, D, D * (N * (N + 1) // 2 + 18)),
        ("Unfolded ASE", by_projection, N * D, N * D + 18 * N * D),
        ("Omnibus", by_new_positions, N * D, 18 * N * D),
    ],
)
def test_what_is_explained(case, found, method, learn, n_coefficients, n_parameters):
    row = found[method]
    assert row.explained == pytest.approx(naive(case, learn), abs=1e-7)
    assert (row.n_coefficients, row.n_parameters) == (n_coefficients, n_parameters)


def test_what_is_learned_from_nothing_reconstructs_nothing(found):
    assert found["ASE"].explained is None
    assert found["ASE"].n_coefficients is None
    assert set(found) == {"joint embedding", *CONTESTANTS}


def test_transforms_hold_for_all_methods():
    A, y = planted(18)
    one = contest(A, y, embedding=settings(), cv=3)
    two = contest(np.log1p(A), y, embedding=settings().set_params(preprocess=None), cv=3)
    for a, b in zip(one.rows[:-1], two.rows[:-1], strict=True):  # but ASE
        assert a.explained == pytest.approx(b.explained, rel=1e-9)
    assert one.evaluation.scores[0].folds == two.evaluation.scores[0].folds


def test_the_table_has_a_row_a_method_and_one_for_chance():
    A, y = planted(18, directed=True)
    held = contest(A, y, embedding=eg.JointEmbedding(D, directed=True, random_state=0), cv=3)
    table = held.table()
    assert [row[0] for row in table] == ["joint embedding", "chance"]
    assert {len(row) for row in table} == {len(held.header)}
    assert set(held.not_offered) == set(CONTESTANTS)
    assert 0.5 < held.rows[0].explained < 1
    assert "joint embedding" in str(held)


@pytest.mark.slow  # 20 fits of 32 graphs
def test_the_table_of_the_page_is_what_the_mice_give():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "inference.md").read_text(
        encoding="utf-8"
    )
    lines = page.split("## Contest")[1].splitlines()
    shown = {row[0]: row for row in ([cell.strip() for cell in line.strip("|").split("|")]
                                     for line in lines if line.startswith("| "))}  # fmt: skip
    mice = eg.datasets.load_mice()
    je = eg.JointEmbedding(8, preprocess="log1p", center=True, random_state=0)
    held = contest(mice.graphs, mice.genotypes, embedding=je, cv=4)
    for row in held.rows:
        _, explained, coefficients, nearest, linear, _, parameters = shown[row.method]
        assert explained == ("" if row.explained is None else f"{row.explained:.3f}")
        assert coefficients == ("" if row.n_coefficients is None else f"{row.n_coefficients:,}")
        assert parameters == f"{row.n_parameters:,}"
        for text, rule in ((nearest, "1-NN"), (linear, "logistic")):
            score = held.evaluation.score(row.method, rule)
            assert text == f"{score.score:.3f} [{score.low:.3f}, {score.high:.3f}]"


def test_centered_graphs_are_explained_around_the_mean_as_in_the_fit():
    A, y = planted(18)
    je = eg.JointEmbedding(D, center=True, random_state=0)
    held = contest(A, y, embedding=je, methods=("PCA", "Multiple ASE"), cv=3)
    rows = {row.method: row for row in held.rows}
    off = ~np.eye(N, dtype=bool)
    left, total = np.zeros(2), 0.0
    for k, (train, test) in enumerate(make_folds(y, cv=3).splits):
        share = eg.JointEmbedding(D, center=True, random_state=0).fit(A[train]).score(A[test])
        rebuild = by_space(A[train], off)
        assert rows["joint embedding"].explained_folds[k] == pytest.approx(share)
        around = ((A[test] - A[train].mean(0))[:, off] ** 2).sum()
        total += around
        left += [
            (1 - share) * around,
            sum(((graph - rebuild(graph))[off] ** 2).sum() for graph in A[test]),
        ]
    assert rows["joint embedding"].explained == pytest.approx(1 - left[0] / total)
    assert rows["Multiple ASE"].explained == pytest.approx(1 - left[1] / total)
    assert "around the mean graph" in held.notes[1]


def test_options_of_evaluate_do_not_add_methods_and_what_it_notes_is_said(case):
    A, y, _ = case
    held = contest(A, y, embedding=settings(), methods=(), cv=99, beyond={"x": np.arange(18.0)})
    assert [row.method for row in held.rows] == ["joint embedding"]
    assert any(note.startswith("9 folds instead of 99") for note in held.notes)
