"""Planted structure is found again: what is common, of a group, of single graphs; and no more."""

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError
from eigengraphs.inference import fit_structure, structure
from eigengraphs.inference.shared_structure import noise_edge

M, N = 8, 80
LOWER = np.tril_indices(N, -1)


def planted(seed, *, noise=1.0, own=60.0, loops=False):
    """Draw graphs: two common components, one of the first three graphs, one of each graph."""
    rng = np.random.default_rng(seed)
    H, U = rng.normal(size=(N, 3)), rng.normal(size=(M, N))
    H, U = H / np.linalg.norm(H, axis=0), U / np.linalg.norm(U, axis=1, keepdims=True)
    Lam = np.array([[100.0, -70.0, 60.0 * (i < 3)] for i in range(M)]) * rng.uniform(
        0.8, 1.2, (M, 3)
    )
    E = noise * rng.normal(size=(M, N, N))
    parts = np.einsum("sk,ik,tk->kist", H, Lam, H)
    single = own * np.einsum("is,it->ist", U, U)
    A = parts.sum(axis=0) + single + np.triu(E, 1) + np.triu(E, 1).transpose(0, 2, 1)
    if not loops:
        A[:, range(N), range(N)] = 0.0
    return A, parts[:2].sum(axis=0), single


def apart(found, truth):
    return max(
        float(np.linalg.norm((x - y)[LOWER]) / np.linalg.norm(y[LOWER]))
        for x, y in zip(found, truth, strict=True)
    )


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({}, 0.3),
        ({"own": 500.0}, 0.3),  # what is of single graphs leads everywhere
    ],
)
def test_planted_parts_are_found_with_their_kinds(settings, most):
    A, common, single = planted(0, **settings)
    found = fit_structure(A, groups=["a"] * 3 + ["b"] * 5)
    assert sorted(found.kinds[:3]) == ["common", "common", "group"]
    assert found.owners[found.kinds.index("group")] == "a"
    assert found.owners[3:] == tuple(map(str, range(M)))
    assert apart([found.common(i) for i in range(M)], common) < most
    assert apart([found.individual(i) for i in range(M)], single) < most
    assert not found.part(5, "group").any()
    assert "is shared by a alone" in str(found)
    assert all(len(row) == len(found.header) for row in found.table())


def test_a_fit_with_all_components_is_read_the_same_and_its_parts_add_up():
    A, *_ = planted(2)
    names = [f"scan {i}" for i in range(M)]
    je = eg.JointEmbedding(13, random_state=0).fit(A)
    found = structure(je, eg.GraphStack(A, graph_names=names))
    kinds = list(found.kinds)
    assert [kinds.count(kind) for kind in ("common", "group", "individual", "noise")] == [
        2,
        1,
        M,
        2,
    ]
    assert sorted(x for x, k in zip(found.owners, kinds, strict=True) if k == "individual") == names
    assert "3 graphs: scan 0, scan 1, scan 2" in found.owners
    numbered = structure(je, eg.GraphStack(A, graph_names=[str(i) for i in range(M)]))
    assert "of single graphs: 1 of" in str(numbered)
    whole = sum(found.part("scan 4", kind) for kind in ("common", "group", "individual", "noise"))
    assert np.allclose(whole[LOWER], je.inverse_transform(je.loadings_)[4][LOWER], atol=1e-9)
    centered = eg.JointEmbedding(2, center=True, random_state=0).fit(A)
    read = structure(centered, A)
    whole = sum(read.part(4, kind) for kind in ("common", "group", "individual", "noise"))
    expected = centered.inverse_transform(centered.loadings_)[4]
    assert np.allclose(whole[LOWER], expected[LOWER], atol=1e-9)


@pytest.mark.parametrize("unit", [1e-150, 1e-3, 1e150])
def test_units_of_weights_and_the_order_of_graphs_do_not_matter(unit):
    A, *_ = planted(2)
    order = np.random.default_rng(0).permutation(M)
    one, other = fit_structure(A), fit_structure(A[order] * unit)
    assert sorted(one.kinds) == sorted(other.kinds)
    for place, i in enumerate(order):
        assert np.allclose(other.common(place) / unit, one.common(i), atol=0.05)
        assert np.allclose(other.individual(place) / unit, one.individual(i), atol=0.05)
    je = eg.JointEmbedding(4, random_state=0).fit(A * unit)
    assert structure(je, A * unit).kinds == structure(je_of(A), A).kinds


def je_of(A):
    return eg.JointEmbedding(4, random_state=0).fit(A)


def test_noise_has_no_structure():
    # 10 sets of 8 graphs, Gaussian or 0/1 with hubs of their own: at a rate of 1 % of sets,
    # two or more of them show anything in 1 of 230 runs.
    rng, sets = np.random.default_rng(0), 0
    for b in range(10):
        E = np.triu(rng.normal(size=(M, 60, 60)), 1)
        if b % 2:
            hubs = rng.pareto(3.0, 60) + 0.3
            P = np.minimum(0.1 * np.outer(hubs, hubs), 0.9)
            E = np.triu((rng.random((M, 60, 60)) < P) - P, 1)
        found = fit_structure(E + E.transpose(0, 2, 1))
        sets += len(found.kinds) > 0
    assert sets <= 1


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_the_edge_of_noise_is_that_of_its_eigenvalues(spread):
    rng = np.random.default_rng(1)
    sd = np.exp(spread * rng.normal(size=600) / 2)
    E = np.triu(rng.normal(size=(600, 600)) * np.sqrt(np.outer(sd, sd)), 1)
    E += E.T
    # Above the largest, not below: where variances are spread, the spectrum thins out to its end.
    assert 0.99 < noise_edge(E) / np.abs(np.linalg.eigvalsh(E)).max() < 1.06
    assert noise_edge(np.zeros((3, 3))) == 0.0


ER = eg.models.ErdosRenyi(12, 0.5).sample(6, random_state=0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fit_structure(ER[:1]), "at least 2 graphs"),
        (lambda: fit_structure(np.triu(np.ones((3, 5, 5)))), "symmetrize"),
        (lambda: fit_structure(ER, groups=["a"] * 5), "one value for each of 6 graphs"),
        (lambda: fit_structure(ER, share=2.0), "share must be between 0 and 1"),
        (lambda: fit_structure(ER, max_iter=0), "max_iter must be a whole number >= 1"),
        (lambda: fit_structure(ER).part(0, "shared"), "kind must be one of"),
        (lambda: fit_structure(ER).common("nobody"), "nobody"),
        (lambda: structure(eg.JointEmbedding(1, directed=True).fit(ER), ER), "undirected fits"),
        (
            lambda: structure(eg.JointEmbedding(1, degree_corrected=True).fit(ER), ER),
            "^structure is read from loadings with standard errors.*without degree_corrected",
        ),
        (
            lambda: structure(eg.JointEmbedding(1, loadings="nonnegative").fit(ER), ER),
            "free loadings only",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call()


def test_graphs_without_edges_have_no_structure():
    assert fit_structure(np.zeros((3, 6, 6))).kinds == ()
