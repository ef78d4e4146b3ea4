"""Whole pipelines in cross-validation: nothing leaks, and noise is at chance."""

import pickle

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import METHODS, evaluate
from eigengraphs.inference.prediction.folds import make_folds

N, M, CV, SHUFFLES = 12, 48, 3, 5
RULES = ("1-NN", "linear")


def planted(m=M, n=N, seed=0, directed=False):
    """Return graphs (m, n, n) of two groups, which differ in how two halves hang together."""
    rng = np.random.default_rng(seed)
    H = np.stack([np.ones(n), np.repeat([1.0, -1.0], n // 2)], axis=1) / np.sqrt(n)
    group = np.arange(m) % 2
    Lam = np.stack([rng.uniform(20, 24, m), np.where(group, 9.0, 2.0)], axis=1)
    noise = rng.normal(0, 0.5, (m, n, n))
    noise = noise if directed else (noise + noise.transpose(0, 2, 1)) / 2
    A = np.einsum("sk,ik,tk->ist", H, Lam, H) + noise
    kept = rng.random((m, n, n)) < 0.95  # statistics need absent edges
    if not directed:
        kept = np.triu(kept, 1) | np.triu(kept, 1).transpose(0, 2, 1)
    A *= kept
    A[:, np.arange(n), np.arange(n)] = 0.0
    return np.abs(A), np.where(group, "b", "a")


def settings(**others):
    return eg.JointEmbedding(2, center=True, preprocess="log1p", random_state=0, **others)


@pytest.fixture(scope="module")
def graphs():
    return planted()[0]


@pytest.fixture(scope="module")
def trained(graphs):
    """Return pipelines of the first fold as bytes, with its test graphs and with others."""
    y = planted()[1]
    split = make_folds(y, cv=CV).splits[0]
    found = []
    for seed in (None, 1):
        A = graphs.copy()
        if seed is not None:
            rng = np.random.default_rng(seed)
            other = rng.gamma(1.0, 100.0, (len(split[1]), N, N)) * (rng.random((N, N)) < 0.5)
            A[split[1]] = other + other.transpose(0, 2, 1)
        result = evaluate(A, y, embedding=settings(), cv=CV, keep=True)
        assert (result.splits[0][1] == split[1]).all()
        found.append({name: pickle.dumps(way) for name, way in result.trained[0].items()})
        own = settings().set_params(n_components="cv")
        result = evaluate(A, y, embedding=own, methods=(), cv=CV, keep=True)
        found[-1]["chosen"] = pickle.dumps(result.trained[0])
    return found


@pytest.mark.parametrize("method", [*METHODS, "chosen"])
def test_test_graphs_have_no_part_in_what_is_trained(trained, method):
    as_they_are, replaced = (bytes_of[method] for bytes_of in trained)
    assert as_they_are == replaced


def test_training_graphs_have(graphs, trained):
    y = planted()[1]
    A = graphs.copy()
    A[make_folds(y, cv=CV).splits[0][0][0]] *= 1.01
    result = evaluate(A, y, embedding=settings(), cv=CV, keep=True)
    assert all(pickle.dumps(way) != trained[0][name] for name, way in result.trained[0].items()
               if name != "graph statistics")  # fmt: skip


@pytest.fixture(scope="module")
def shuffled(graphs):
    """Return for each pipeline how often it was right under labels that mean nothing."""
    right = {}
    rng = np.random.default_rng(3)
    for _ in range(SHUFFLES):
        y = rng.permutation(np.repeat(["a", "b"], M // 2))
        result = evaluate(graphs, y, embedding=settings(), cv=CV)
        for score in result.scores[:-1]:
            right.setdefault(score.name, []).append((score.score, score.low, score.high))
    return right


@pytest.mark.parametrize("rule", ["1-NN", "logistic"])
@pytest.mark.parametrize("method", METHODS)
def test_labels_that_mean_nothing_are_predicted_at_chance(shuffled, method, rule):
    scores = np.array(shuffled[f"{method}, {rule}"])
    # Over all shuffles: within four standard errors, of which one in 16,000 is outside.
    assert abs(scores[:, 0].mean() - 0.5) < 4 * 0.5 / np.sqrt(M * SHUFFLES)
    # And chance is in the 95% interval of each, but for one perhaps.
    assert ((scores[:, 1] <= 0.5) & (scores[:, 2] >= 0.5)).sum() >= SHUFFLES - 1


def test_planted_groups_are_found(graphs):
    found = evaluate(graphs, planted()[1], embedding=settings(), cv=CV)
    assert found.score("joint embedding", "1-NN").score > 0.95
    assert found.score("chance").score == 0.5
    joint = found.score("joint embedding", "linear")
    assert joint.versus == "chance"
    assert joint.difference.low > 0
    assert joint.p_holm < 0.01
    assert found.n_components == (2,) * CV
    assert found.score("PCA").versus == "joint embedding"
    assert {len(row) for row in found.rows()} == {len(found.header)}


def test_the_number_of_components_is_chosen_in_each_fold(graphs):
    je = eg.JointEmbedding("auto", random_state=0)
    found = evaluate(graphs[:16], planted()[1][:16], embedding=je, methods="PCA", cv=2, keep=True)
    for fold, d in zip(found.trained, found.n_components, strict=True):
        assert fold["joint embedding"].estimator.dimension_choice_.n_components == d
        assert fold["PCA"].estimator.n_components == d
    assert "chosen anew" in found.protocol


# ------------------------------------------------------------ numbers of components by inner folds


def of_rank(d, n_graphs=48, n=9, seed=0):
    """Return graphs whose class is in d components of different sizes and nowhere else."""
    rng = np.random.default_rng(seed)
    H = np.linalg.qr(rng.normal(size=(n, d)))[0]
    y = rng.integers(0, 2, (n_graphs, d))
    noise = rng.normal(0, 1.0, (n_graphs, n, n))
    A = np.einsum("sk,ik,tk->ist", H, (2.0 * y - 1) * np.geomspace(24, 12, d), H)
    return A + (noise + noise.transpose(0, 2, 1)) / 2, np.array(["".join(map(str, v)) for v in y])


def test_inner_folds_find_the_planted_dimension():
    A, y = of_rank(3, seed=1)
    je = eg.JointEmbedding("cv", center=True, diagonal="observed", random_state=0)
    found = evaluate(A, y, embedding=je, methods="PCA", cv=2, rules="1-NN")
    assert found.n_components == (3, 3)
    assert "chosen in inner folds" in found.protocol
    assert [outcome.n_components["PCA"] for outcome in found.outcomes] == [3, 3]
    assert found.score("joint embedding").score > 0.9


def test_without_labels_to_choose_by_hidden_pairs_of_training_graphs_do():
    A = np.concatenate([of_rank(3, 16, seed=0)[0] + of_rank(1, 16, seed=k)[0] / 9 for k in (1, 2)])
    people, scans = np.tile(np.arange(16), 2), np.repeat([0, 1], 16)
    je = eg.JointEmbedding("cv", diagonal="observed", random_state=0)
    found = [
        evaluate(x, people.astype(str), embedding=je, methods=("PCA", "ASE"), folds=scans,
                 learn_from="one", rules="1-NN")
        for x in (A, np.where(scans[:, None, None] == 0, A, A[::-1]))
    ]  # fmt: skip
    assert found[0].n_components[0] == found[1].n_components[0]  # held-out graphs do not matter
    expected = eg.select_dimension(A[:16], 120, method="pairs", center=True, random_state=0)
    assert found[0].n_components[0] == expected.n_components
    assert {3} == set(found[0].outcomes[0].n_components.values())
    je.set_params(directed=True)
    with pytest.raises(InputError, match="directed"):
        evaluate(np.triu(A), people.astype(str), embedding=je, folds=scans, learn_from="one")


@pytest.mark.parametrize("is_quantity", [False, True])
@pytest.mark.parametrize("cv", [3, "loo"])
def test_groups_are_never_on_both_sides(is_quantity, cv):
    rng = np.random.default_rng(0)
    people = rng.integers(0, 15, 60)
    y = rng.normal(size=60) if is_quantity else np.where(people % 2, "a", "b")
    folds = make_folds(y, cv=cv, groups=people.tolist())
    for train, test in folds.splits:
        assert not set(people[train]) & set(people[test])
        assert len(train) + len(test) == 60
    assert folds.n_units == 15


def test_folds_by_a_column_hold_out_one_value_or_all_others():
    people, sessions = np.repeat(["p", "q", "r"], 4), np.tile([1, 2, 3, 4], 3)
    folds = make_folds(people, folds=sessions.tolist(), groups=people.tolist())
    assert [set(sessions[test]) for _, test in folds.splits] == [{1}, {2}, {3}, {4}]
    assert "Each class is one participant" in folds.words
    assert folds.n_units == 3
    folds = make_folds(people, folds=sessions.tolist(), learn_from="one")
    assert [set(sessions[train]) for train, _ in folds.splits] == [{1}, {2}, {3}, {4}]
    assert folds.ratio == 3.0


def test_graphs_without_a_label_take_no_part(graphs):
    y = planted()[1].astype(object)
    y[[3, 4]] = None
    found = evaluate(graphs, y, embedding=settings(), methods=(), cv=3)
    rest = np.delete(np.arange(M), [3, 4])
    other = evaluate(graphs[rest], y[rest], embedding=settings(), methods=(), cv=3)
    assert found.n_graphs == 46
    assert found.scores[0].folds == other.scores[0].folds
    assert sorted(np.concatenate([test for _, test in found.splits])) == rest.tolist()


def test_a_quantity_is_regressed_by_every_pipeline(graphs):
    h = np.repeat([1.0, -1.0], N // 2)
    strength = np.einsum("ist,s,t->i", np.log1p(graphs), h, h)
    found = evaluate(graphs, strength, embedding=settings(), cv=3)
    assert found.kind == "quantity"
    assert len(found.scores) == 2 * len(METHODS) + 1
    for score in found.scores[:-1]:
        assert score.rule in ("1-NN", "ridge")
        assert score.low < score.score < score.high
    assert found.score("joint embedding", "linear").score > 0.8
    # The naive computation, of predictions by the record's own splits.
    name = "spectra, ridge"
    told = zip(found.splits, found.predictions[name], strict=True)
    left = sum(((strength[test] - guesses) ** 2).sum() for (_, test), guesses in told)
    expected = 1 - left / ((strength - strength.mean()) ** 2).sum()
    assert found.score("spectra", "ridge").score == pytest.approx(expected, rel=1e-12)


def test_directed_and_incomplete_graphs_have_the_methods_that_take_them():
    A, y = planted(24, directed=True)
    found = evaluate(A, y, cv=3, embedding=eg.JointEmbedding(2, directed=True, random_state=0))
    assert {score.method for score in found.scores} == {"joint embedding", "chance"}
    assert set(found.not_offered) == set(METHODS) - {"joint embedding"}
    assert "directed" in found.not_offered["PCA"]
    assert any("Not offered: PCA" in text for text in found.words())
    assert found.score("joint embedding", "1-NN").score > 0.9
    A, y = planted(24)
    A[0, 1, 2] = A[0, 2, 1] = np.nan
    je = eg.JointEmbedding(2, missing="unobserved", random_state=0)
    found = evaluate(A, y, embedding=je, methods=["PCA"], cv=2)
    assert "missing" in found.not_offered["PCA"]


def test_more_components_than_a_method_can_have_is_said_of_that_method(graphs):
    je = eg.JointEmbedding(N + 1, random_state=0)
    found = evaluate(graphs, planted()[1], embedding=je, methods=["PCA", "Omnibus"], cv=2)
    assert "more than 12" in found.not_offered["Omnibus"]
    assert {score.method for score in found.scores} == {"joint embedding", "PCA", "chance"}


def test_nearest_is_by_angles_of_standardized_loadings(graphs):
    y = np.tile(list("abcdefghijkl"), M // 12)  # so many that each neighbor shows
    found = evaluate(graphs, y, embedding=settings(), methods=(), cv=CV, rules="1-NN")
    told = zip(found.splits, found.predictions["joint embedding, 1-NN"], strict=True)
    for (train, test), labels in told:
        je = settings().fit(graphs[train])
        known, new = (np.c_[(Z - je.loadings_.mean(0)) / je.loadings_.std(0), np.ones(len(Z))]
                      for Z in (je.loadings_, je.transform(graphs[test])))  # fmt: skip
        cosine = new @ (known / np.linalg.norm(known, axis=1, keepdims=True)).T
        assert (labels == y[train][cosine.argmax(axis=1)]).all()


@pytest.mark.parametrize("kind", ["classes", "quantity"])
def test_one_component_tells_what_is_near(kind):
    # Three levels on a line: an angle in one dimension is a sign, and tells two of them apart.
    strength = np.tile([1.0, 2.0, 3.0], 12) + np.random.default_rng(0).normal(0, 0.05, 36)
    A = strength[:, None, None] * np.ones((8, 8))
    y = strength if kind == "quantity" else np.tile(["a", "b", "c"], 12)
    je = eg.JointEmbedding(1, diagonal="observed", random_state=0)
    found = evaluate(A, y, embedding=je, methods=(), rules="1-NN", cv=3)
    assert found.scores[0].score > 0.95


def test_an_estimator_of_ones_own(graphs):
    class Total(eg.baselines.GraphStatistics):
        def _learn(self, stack):
            self.mean_, self.scale_ = 0.0, 1.0
            return self._embed(stack)

        def _embed(self, stack):
            return stack.to_dense().dense.sum(axis=(1, 2))[:, None]

    found = evaluate(graphs, planted()[1], embedding=settings(), methods={"total": Total()}, cv=3)
    assert [score.method for score in found.scores[2:4]] == ["total", "total"]


@pytest.mark.slow  # processes begin by importing everything
def test_folds_in_processes_are_the_same(graphs):
    y = planted()[1]
    names = ["PCA", "ASE"]
    one, two = (evaluate(graphs, y, embedding=settings(), methods=names, cv=2, n_jobs=jobs)
                for jobs in (1, 2))  # fmt: skip
    assert [score.folds for score in one.scores] == [score.folds for score in two.scores]
    assert one.protocol == two.protocol


def test_a_store_is_loaded_or_refused(graphs, tmp_path):
    y = planted()[1]
    store = tmp_path / "graphs.egs"
    eg.store.write_store(store, eg.GraphStack(graphs))
    assert evaluate(eg.open_store(store), y, embedding=settings(), methods=(), cv=2).n_graphs == M
    eg.store.write_store(tmp_path / "large.egs", eg.GraphStack(np.tile(graphs, (1, 5, 5))))
    small = eg.open_store(tmp_path / "large.egs", memory="1M")
    with pytest.raises(InputError, match="every fold is a fit of its own"):
        evaluate(small, y, embedding=settings(), methods=(), cv=2)
