"""Missing entries with every geometry, rule, diagonal and group: maxima, nesting, recovery."""

import numpy as np
import pytest
from scipy import optimize
from variations.combinations import DIAGONALS, LOADINGS

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import DegenerateWarning
from eigengraphs.solvers.metric import bend
from eigengraphs.solvers.options import DEFAULTS

M, N, D = 9, 12, 3
OFF = 1 - np.eye(N)
GROUPS = ("shared", "class")
RULES = [name for name in LOADINGS if name not in GROUPS]
Y = np.arange(M) % 3
WEIGHTS = np.linspace(0.5, 2.0, M)


def graphs(directed, seed=0, share=0.2):
    """Planted components and noise, nan where entries are missing; one vertex is absent."""
    rng = np.random.default_rng(seed)
    H, G = rng.standard_normal((2, N, D))
    if not directed:
        G = H
    Lam = rng.uniform(0.0, 1.0, (M, D)) * [3, 2, 1] * (rng.random((M, D)) < 0.8)
    A = np.einsum("sk,ik,tk->ist", H, Lam, G) + 0.5 * rng.standard_normal((M, N, N))
    gone = rng.random((M, N, N)) < share
    gone[2, 4] = gone[2, :, 4] = True
    if not directed:
        A, gone = A + A.transpose(0, 2, 1), gone | gone.transpose(0, 2, 1)
    return np.where(gone, np.nan, A)


def fit(A, directed, rule, diagonal="observed", d=D):
    settings = {"missing": "unobserved", "random_state": 0, "directed": directed}
    je = JointEmbedding(d, diagonal=diagonal, **settings, **LOADINGS[rule])
    return je.fit(A, Y, sample_weight=WEIGHTS)


def written_out(je, A):
    """Return graphs and masks as the search sees them, and the penalty in units of <A_i, e_k>."""
    B, Q = np.nan_to_num(A), (~np.isnan(A)).astype(float)
    if je.diagonal_ != "observed":
        B, Q = B * OFF, Q * OFF
    penalty = (je.l1_penalty or 0.0) * np.sqrt(np.average((B**2).sum(axis=(1, 2)), weights=WEIGHTS))
    if je.diagonal_ == "filled":
        counts, sums = ((X.sum(axis=1) + X.sum(axis=2)) / 2 for X in (Q, B))
        fill = np.divide(sums, counts, out=np.zeros((M, N)), where=counts > 0)
        B = B + fill[:, :, None] * np.eye(N)
        Q = Q + (counts > 0)[:, :, None] * np.eye(N)
    return B, Q, penalty


def greedy_objective(je, B, Q, penalty, codes, h, g):
    """What the first component takes off, by the definition, at h / ||h|| and g / ||g||."""
    E = np.outer(h / np.linalg.norm(h), g / np.linalg.norm(g))
    mix = (np.arange(codes.max() + 1)[:, None] == codes) * WEIGHTS
    weights = mix.sum(axis=1)
    mix = mix / weights[:, None]
    t, q = mix @ (B * E).sum(axis=(1, 2)), mix @ (Q * E**2).sum(axis=(1, 2))
    e = DEFAULTS.fades * (mix @ Q.mean(axis=(1, 2)))
    q = np.where(q < e, (q**2 + e**2) / (2 * e), q)
    if je.diagonal_ == "unobserved":
        q = q + bend((np.diag(E) ** 2).sum())[0]
    tau = t / np.sqrt(q)
    s = tau if je.loadings == "nonnegative" else np.abs(tau)
    return float(weights @ np.maximum(s - penalty, 0.0) ** 2)


@pytest.mark.parametrize("diagonal", DIAGONALS[:3])
@pytest.mark.parametrize("rule", [*RULES, *GROUPS])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_a_component_is_a_maximum_of_its_objective(directed, rule, diagonal):
    A = graphs(directed)
    je = fit(A, directed, rule, diagonal, d=1)
    written = written_out(je, A)
    codes = {"class": Y, "shared": np.zeros(M, dtype=int)}.get(rule, np.arange(M))
    x = je.latent_positions_[:, 0]
    if directed:
        x = np.append(x, je.latent_positions_right_[:, 0])

    def f(x):
        return greedy_objective(je, *written, codes, x[:N], x[-N:])

    assert np.abs(optimize.approx_fprime(x, f, 1e-7)).max() < 1e-4 * f(x)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2):
        assert max(f(x + size * rng.standard_normal(len(x))) for _ in range(20)) <= f(x)
    others = [f(rng.standard_normal(len(x))) for _ in range(50)]
    assert f(x) > 2 * max(others)


@pytest.mark.parametrize("rule", ["free", "nonnegative", "sparse"])
def test_directed_components_are_recovered(rule, storage):
    rng = np.random.default_rng(3)
    H, G = (np.linalg.qr(rng.standard_normal((30, 2)))[0] for _ in range(2))
    Lam = rng.uniform(1.0, 2.0, (15, 2)) * [4, 1]
    A = np.einsum("sk,ik,tk->ist", H, Lam, G)
    A[rng.random(A.shape) < 0.2] = np.nan
    stack = GraphStack(A, missing="unobserved", storage=storage)
    je = JointEmbedding(2, directed=True, missing="unobserved", diagonal="observed", refine=True,
                        random_state=0, **LOADINGS[rule]).fit(stack)  # fmt: skip
    assert np.abs(np.abs((je.latent_positions_ * H).sum(axis=0)) - 1).max() < 1e-5
    assert np.abs(np.abs((je.latent_positions_right_ * G).sum(axis=0)) - 1).max() < 1e-5
    assert np.allclose(np.abs(je.loadings_), Lam, atol=1e-2)


def test_graphs_that_a_rule_lets_nobody_use_leave_no_component():
    A = -np.ones((3, 8, 8))
    A[0, 7] = A[0, :, 7] = np.nan
    settings = {"loadings": "nonnegative", "missing": "unobserved", "diagonal": "observed"}
    with pytest.warns(DegenerateWarning, match="arbitrary direction"):
        je = JointEmbedding(1, random_state=0, **settings).fit(A)
    assert je.stop_reason_ == ("exhausted",)
    assert not je.loadings_.any()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("directed", [False, True])
def test_fits_nest_extend_and_repeat(directed, rule):
    A = graphs(directed, seed=1)
    long, again = (fit(A, directed, rule) for _ in range(2))
    short = fit(A, directed, rule, d=1)
    assert np.array_equal(long.loadings_, again.loadings_)
    assert np.array_equal(long.latent_positions_[:, :1], short.latent_positions_)
    longer = short.extend(D, A)
    assert np.allclose(longer.latent_positions_, long.latent_positions_, atol=1e-5)


def test_interrupted_refinement_keeps_the_best_so_far():
    A = graphs(False)
    greedy = fit(A, False, "free")

    def stop(progress):
        if progress.component is None and progress.n_iter == 3:
            raise KeyboardInterrupt

    je = JointEmbedding(D, missing="unobserved", diagonal="observed", random_state=0, refine=True,
                        callback=stop)  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        je.fit(A, sample_weight=WEIGHTS)
    assert je.objective_path_[-1] < greedy.objective_path_[-1]
    assert set(je.stop_reason_) == {"interrupted"}
