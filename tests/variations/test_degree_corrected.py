"""Degree-corrected embedding against its definition, written out in NumPy."""

import numpy as np
import pytest
from scipy import sparse

import eigengraphs as eg
from eigengraphs import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.operators.degrees import DegreeGraphs, Members
from eigengraphs.operators.treated import TreatedGraphs
from eigengraphs.solvers.metric import ByDegrees
from eigengraphs.solvers.refine import refine
from eigengraphs.solvers.rules import FreeLoadings
from eigengraphs.solvers.subspace import subspace
from eigengraphs.store import write_store


def drawn(seed, m=5, n=30, directed=False):
    """Return weighted graphs with hubs that differ from graph to graph, (m, n, n)."""
    rng = np.random.default_rng(seed)
    out, into = np.exp(rng.standard_normal((2, m, n)))
    A = rng.poisson(0.5 * out[:, :, None] * (into if directed else out)[:, None, :]).astype(float)
    A = A if directed else np.triu(A, 1) + np.triu(A, 1).transpose(0, 2, 1)
    A[:, range(n), range(n)] = 0.0
    return A


def degrees_of(A, tau=0.25):
    """Return A_i over mean degrees, D_i and E_i."""
    D, E = np.abs(A).sum(axis=2), np.abs(A).sum(axis=1)
    mean = D.mean(axis=1)
    unit = np.divide(1.0, mean, out=np.zeros_like(mean), where=mean > 0)
    return unit[:, None, None] * A, unit[:, None] * D + tau, unit[:, None] * E + tau


def inner_products(A, H, G):
    """Return Gamma_i, psi_i and squared norms."""
    B, D, E = degrees_of(A)
    Gammas = np.einsum("sj,is,sk->ijk", H, D, H) * np.einsum("sj,is,sk->ijk", G, E, G)
    norms = (B**2 / (D[:, :, None] * E[:, None, :])).sum(axis=(1, 2))
    return Gammas, np.einsum("sk,ist,tk->ik", H, B, G), norms


def greedy_slopes(A, H, G):
    """Return the gradient of every component's own objective, relative to its value."""
    B, D, E = degrees_of(A)
    Gammas, Psi, _ = inner_products(A, H, G)
    found = []
    for k in range(H.shape[1]):
        h, g, known = H[:, k], G[:, k], slice(0, k)
        Lam = np.linalg.solve(Gammas[:, known, known], Psi[:, known, None])[:, :, 0]
        left, right = D @ (h[:, None] * H[:, known]), E @ (g[:, None] * G[:, known])
        q, t = Gammas[:, k, k], Psi[:, k] - (Lam * left * right).sum(axis=1)
        a, b = D @ h**2, E @ g**2
        Rg = B @ g - np.einsum("ij,is,sj->is", Lam * right, D, H[:, known])
        Rh = np.einsum("s,ist->it", h, B) - np.einsum("ij,is,sj->is", Lam * left, E, G[:, known])
        parts = [
            (2 * t / q) @ Rg - (2 * t**2 / q**2 * b) @ (D * h),
            (2 * t / q) @ Rh - (2 * t**2 / q**2 * a) @ (E * g),
        ]
        slope = np.concatenate(parts if G is not H else [parts[0] + parts[1]])
        found.append(np.linalg.norm(slope) / (t**2 / q).sum())
    return np.array(found)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("seed", range(6))
def test_objective_loadings_and_gradients_are_those_of_the_definition(seed, directed):
    n = (12, 40, 110)[seed % 3]  # all vertices are the basis, or not
    A = drawn(seed, m=2 + seed % 7, n=n, directed=directed)
    je = JointEmbedding(3, degree_corrected=True, directed=directed, random_state=seed).fit(A)
    H = je.latent_positions_
    G = je.latent_positions_right_ if directed else H
    Gammas, Psi, norms = inner_products(A, H, G)
    Lam = np.linalg.solve(Gammas, Psi[:, :, None])[:, :, 0]
    assert np.allclose(je.loadings_, Lam, atol=1e-9 * np.abs(Lam).max())
    assert je.objective_path_[0] == pytest.approx(norms.sum(), rel=1e-12)
    assert je.objective_path_[-1] == pytest.approx((norms - (Lam * Psi).sum(axis=1)).sum())
    assert je.converged_
    assert (greedy_slopes(A, H, G) < 1e-6).all()
    assert je.score(A) == pytest.approx(je.explained_ratio_.sum())


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_noiseless_graphs_come_back_where_their_degrees_are_given(directed):
    rng = np.random.default_rng(1)
    n, m, d = 120, 12, 3
    H, G = (np.linalg.qr(rng.standard_normal((n, d)))[0] for _ in range(2))
    G = G if directed else H
    D, E = rng.uniform(0.5, 2.0, (2, m, n))
    E = E if directed else D
    Lam = rng.standard_normal((m, d)) * [16, 6, 2]
    A = D[:, :, None] * np.einsum("sk,ik,tk->ist", H, Lam, G) * E[:, None, :]
    norms = (A**2 / (D[:, :, None] * E[:, None, :])).sum(axis=(1, 2))
    graphs = DegreeGraphs(
        TreatedGraphs(eg.GraphStack(A), directed=directed), np.ones(m),
        (D, E)[: 1 + directed], norms, 0.25, np.ones(m),
    )  # fmt: skip
    fit = subspace(
        graphs, d, metric=ByDegrees(graphs.degrees, Members.alone(m)), rule=FreeLoadings(),
        weights=np.ones(m), init="auto", n_init=1, tol=1e-6, max_iter=500,
        seed=np.random.SeedSequence(0),
    )  # fmt: skip
    # Greedy components that are not orthogonal carry traces of each other.
    found = refine(
        graphs, (fit.H,) if fit.G is None else (fit.H, fit.G),
        metric=ByDegrees(graphs.degrees, Members.alone(m)), rule=FreeLoadings(),
        weights=np.ones(m), tol=1e-10, max_iter=500,
    )  # fmt: skip
    assert found.objective_after <= 1e-9 * norms.sum()
    for mine, true in zip(found.sides, (H, G), strict=False):
        assert np.allclose(np.abs((mine * true).sum(axis=0)), 1.0, atol=1e-6)
    assert np.allclose(np.abs(found.Lam), np.abs(Lam), atol=1e-6 * np.abs(Lam).max())


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_sparse_graphs_and_stores_give_the_same(directed, tmp_path):
    rng = np.random.default_rng(2)
    z = np.repeat([0, 1, 2], 40)
    P = np.where(z[:, None] == z, 0.5, 0.1)
    A = (rng.random((6, 120, 120)) < P * rng.uniform(0.3, 1, (6, 120, 1))).astype(float)
    A = A if directed else np.triu(A, 1) + np.triu(A, 1).transpose(0, 2, 1)
    write_store(tmp_path / "graphs.egs", eg.GraphStack(A), shard_bytes=2 * 8 * 120**2)
    kinds = [A, [sparse.csr_array(a) for a in A], eg.open_store(tmp_path / "graphs.egs")]
    dense, *others = (
        JointEmbedding(3, degree_corrected=True, directed=directed, random_state=0).fit(graphs)
        for graphs in kinds
    )
    for other, graphs in zip(others, kinds[1:], strict=True):
        assert np.allclose(other.objective_path_, dense.objective_path_, rtol=1e-9)
        assert np.allclose(other.loadings_, dense.loadings_, atol=1e-6)
        assert np.allclose(other.transform(graphs), other.loadings_, atol=1e-12)


def test_units_isolated_vertices_and_graphs_without_edges():
    A = drawn(3)
    A[1] = 0.0  # no edge at all
    A[:, 4] = A[:, :, 4] = 0.0  # isolated everywhere
    je = JointEmbedding(3, degree_corrected=True, random_state=0).fit(A)
    assert je.converged_
    assert (je.loadings_[1] == 0).all()
    factors = 10.0 ** np.arange(-2, 3)
    scaled = JointEmbedding(3, degree_corrected=True, random_state=0).fit(
        factors[:, None, None] * A
    )
    assert np.allclose(scaled.latent_positions_, je.latent_positions_, atol=1e-6)
    assert np.allclose(scaled.loadings_, je.loadings_, atol=1e-6)
    for size in (1e-150, 1e150):
        assert np.allclose(je.transform(size * A), je.loadings_)
    signed = A * np.where(np.arange(30)[:, None] + np.arange(30) > 25, -1, 1)
    again = JointEmbedding(2, degree_corrected=True, random_state=0).fit(signed)
    B, D, _ = degrees_of(signed)
    forms = np.einsum("s,ist,t->i", again.latent_positions_[:, 0], B, again.latent_positions_[:, 0])
    q = (D @ again.latent_positions_[:, 0] ** 2) ** 2
    assert again.explained_ratio_[0] == pytest.approx(
        (forms**2 / q).sum() / again.objective_path_[0]
    )


def test_weights_count_as_copies_and_zero_as_absent():
    A = drawn(4)
    once = JointEmbedding(2, degree_corrected=True, random_state=0)
    weighted = once.fit(A, sample_weight=[2, 1, 0, 1, 1]).objective_path_
    copied = JointEmbedding(2, degree_corrected=True, random_state=0).fit(A[[0, 0, 1, 3, 4]])
    assert np.allclose(weighted, copied.objective_path_, rtol=1e-8)
    assert np.allclose(once.transform(A[2:3]), once.loadings_[2:3])


def test_components_nest_and_a_model_comes_back(tmp_path):
    A = drawn(5, n=110)
    je = JointEmbedding(4, degree_corrected=True, random_state=0).fit(A)
    short = JointEmbedding(2, degree_corrected=True, random_state=0).fit(A)
    assert np.allclose(short.latent_positions_, je.latent_positions_[:, :2], atol=1e-7)
    longer = short.extend(4)
    assert np.array_equal(longer.latent_positions_[:, :2], short.latent_positions_)
    assert np.allclose(longer.latent_positions_, je.latent_positions_, atol=1e-7)
    assert np.allclose(je.truncate(2).loadings_, short.loadings_)
    again = eg.load(je.save(tmp_path / "model.eg"))
    assert np.array_equal(again.transform(A), je.transform(A))
    assert np.array_equal(again.mean_degrees_, je.mean_degrees_)
    many = JointEmbedding(15, degree_corrected=True, random_state=0).fit(A)  # beyond one block
    assert many.converged_
    assert np.allclose(many.latent_positions_[:, :4], je.latent_positions_, atol=1e-7)
    assert (greedy_slopes(A, many.latent_positions_, many.latent_positions_) < 1e-5).all()


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_graphs_come_back_from_loadings_and_degrees(directed):
    A = drawn(6, directed=directed)
    je = JointEmbedding(4, degree_corrected=True, directed=directed, random_state=0).fit(A)
    sums = np.stack([A.sum(axis=2), A.sum(axis=1)], axis=1)
    back = je.inverse_transform(je.loadings_, degrees=sums if directed else sums[:, 0])
    _, D, E = degrees_of(A)
    mean = A.sum(axis=2).mean(axis=1)[:, None, None]
    left = ((A - back) / mean) ** 2 / (D[:, :, None] * E[:, None, :])
    assert left.sum() == pytest.approx(je.objective_path_[-1])
    assert je.inverse_transform(je.loadings_).shape == A.shape
    with pytest.raises(InputError, match="degrees must be an array"):
        je.inverse_transform(je.loadings_, degrees=np.ones(3))
    if not directed:
        expected = je.to_mreg("poisson")
        assert expected.n_components == 4
        with pytest.raises(InputError, match="no common standard deviation"):
            je.to_mreg("gaussian")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"center": True}, "use center=False"),
        ({"diagonal": "filled"}, "use diagonal='auto'"),
        ({"diagonal": "unobserved"}, "use diagonal='auto'"),
        ({"degree_regularization": 0.0}, "positive number"),
        ({"preprocess": ["log1p", "laplacian"]}, "divides by the same degrees first"),
        ({"solver": "algorithm1"}, "not available with solver='algorithm1'"),
        ({"degree_corrected": "yes"}, "must be one of False, True"),
    ],
)
def test_what_has_no_meaning_is_refused(settings, text):
    with pytest.raises(InputError, match=text):
        JointEmbedding(2, **{"degree_corrected": True, **settings}).fit(drawn(8))


def test_what_is_inferred_from_a_fit_or_refused():
    A = drawn(10, m=12)
    je = JointEmbedding(2, degree_corrected=True, random_state=0).fit(A)
    trust = eg.inference.trust_components(je, A, n_splits=1)
    assert trust.p_noise is None
    assert trust.replicability.shape == (2,)
    again = eg.inference.bootstrap(je, A, n_resamples=3)
    assert again.loadings.shape == (3, 12, 2)
    with pytest.raises(InputError, match=r"use inference\.bootstrap"):
        eg.inference.loading_intervals(je, A)
    with pytest.raises(InputError, match="use kind='graphs'"):
        eg.inference.bootstrap(je, A, kind="model", n_resamples=2)
    with pytest.raises(InputError, match="not chosen for degree-corrected fits"):
        JointEmbedding("auto", degree_corrected=True, random_state=0).fit(A)


def test_batches_are_refused():
    with pytest.raises(InputError, match="needs the degrees of each graph"):
        JointEmbedding(2, degree_corrected=True).partial_fit(drawn(9))
