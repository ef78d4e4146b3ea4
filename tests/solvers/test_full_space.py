"""Missing entries with every geometry, rule, diagonal and group: maxima, nesting, recovery."""

import numpy as np
import pytest
from scipy import optimize

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.solvers.metric import bend
from eigengraphs.solvers.options import DEFAULTS

M, N, D = 9, 12, 3
OFF = 1 - np.eye(N)
RULES = {
    "free": {},
    "nonnegative": {"loadings": "nonnegative"},
    "two nonzeros": {"loadings": "sparse", "max_nonzeros": 2},
    "L1": {"loadings": "sparse", "l1_penalty": 0.05},
    "nonnegative, two nonzeros": {"loadings": "nonnegative", "max_nonzeros": 2},
    "nonnegative, L1": {"loadings": "nonnegative", "l1_penalty": 0.05},
}
GROUPS = {"shared": {"loadings": "shared"}, "class": {"loadings": "class"}}
DIAGONALS = ["observed", "filled", "unobserved"]
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
    je = JointEmbedding(d, diagonal=diagonal, **settings, **rule)
    return je.fit(A, Y, sample_weight=WEIGHTS)


class Written:
    """The graphs and masks of a fit as arrays; ``filled`` as the search sees them."""

    def __init__(self, je, A):
        seen = ~np.isnan(A)
        self.B, self.Q = np.nan_to_num(A), seen.astype(float)
        self.filled = self.B, self.Q
        if je.diagonal_ != "observed":
            self.B, self.Q = self.B * OFF, self.Q * OFF
            counts = (self.Q.sum(axis=1) + self.Q.sum(axis=2)) / 2
            sums = (self.B.sum(axis=1) + self.B.sum(axis=2)) / 2
            fill = np.divide(sums, counts, out=np.zeros((M, N)), where=counts > 0)
            self.filled = (
                self.B + fill[:, :, None] * np.eye(N),
                self.Q + (counts > 0)[:, :, None] * np.eye(N),
            )
        if je.diagonal_ == "unobserved":
            self.filled = self.B, self.Q
        self.G = getattr(je, "latent_positions_right_", je.latent_positions_)


def penalty(je, written):
    """The penalty in units of <A_i, e_k>."""
    if je.l1_penalty is None:
        return 0.0
    norms = (written.B**2).sum(axis=(1, 2))
    return je.l1_penalty * np.sqrt(WEIGHTS @ norms / WEIGHTS.sum())


def greedy_objective(je, written, codes, h, g):
    """What the first component takes off, by the definition, at h / ||h|| and g / ||g||."""
    B, Q = written.filled
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
    return float(weights @ np.maximum(s - penalty(je, written), 0.0) ** 2)


@pytest.mark.parametrize("diagonal", DIAGONALS)
@pytest.mark.parametrize("rule", [*RULES, *GROUPS])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_a_component_is_a_maximum_of_its_objective(directed, rule, diagonal):
    A = graphs(directed)
    je = fit(A, directed, {**RULES, **GROUPS}[rule], diagonal, d=1)
    written = Written(je, A)
    codes = {"class": Y, "shared": np.zeros(M, dtype=int)}.get(rule, np.arange(M))
    sides = 1 + directed
    x = np.concatenate([je.latent_positions_, written.G])[: sides * N, 0]

    def f(x):
        h, g = x.reshape(sides, N)[0], x.reshape(sides, N)[-1]
        return greedy_objective(je, written, codes, h, g)

    assert np.abs(optimize.approx_fprime(x, f, 1e-7)).max() < 1e-4 * f(x)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2):
        assert max(f(x + size * rng.standard_normal(len(x))) for _ in range(20)) <= f(x)
    others = [f(rng.standard_normal(len(x))) for _ in range(50)]
    assert f(x) > 2 * max(others)


@pytest.mark.parametrize("rule", ["free", "nonnegative", "two nonzeros"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_directed_components_are_recovered(rule, storage):
    rng = np.random.default_rng(3)
    H, G = (np.linalg.qr(rng.standard_normal((30, 2)))[0] for _ in range(2))
    Lam = rng.uniform(1.0, 2.0, (15, 2)) * [4, 1]
    A = np.einsum("sk,ik,tk->ist", H, Lam, G)
    A[rng.random(A.shape) < 0.2] = np.nan
    stack = GraphStack(A, missing="unobserved", storage=storage)
    je = JointEmbedding(2, directed=True, missing="unobserved", diagonal="observed", refine=True,
                        random_state=0, **RULES[rule]).fit(stack)  # fmt: skip
    assert np.abs(np.abs((je.latent_positions_ * H).sum(axis=0)) - 1).max() < 1e-5
    assert np.abs(np.abs((je.latent_positions_right_ * G).sum(axis=0)) - 1).max() < 1e-5
    assert np.allclose(np.abs(je.loadings_), Lam, atol=1e-2)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("directed", [False, True])
def test_fits_nest_extend_and_repeat(directed, rule):
    A = graphs(directed, seed=1)
    long, again = (fit(A, directed, RULES[rule]) for _ in range(2))
    short = fit(A, directed, RULES[rule], d=1)
    assert np.array_equal(long.loadings_, again.loadings_)
    assert np.array_equal(long.latent_positions_[:, :1], short.latent_positions_)
    longer = short.extend(D, A)
    assert np.allclose(longer.latent_positions_, long.latent_positions_, atol=1e-5)


def test_interrupted_refinement_keeps_the_best_so_far():
    A = graphs(False)
    greedy = fit(A, False, {})

    def stop(progress):
        if progress.component is None and progress.n_iter == 3:
            raise KeyboardInterrupt

    je = JointEmbedding(D, missing="unobserved", diagonal="observed", random_state=0, refine=True,
                        callback=stop)  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        je.fit(A, sample_weight=WEIGHTS)
    assert je.objective_path_[-1] < greedy.objective_path_[-1]
    assert set(je.stop_reason_) == {"interrupted"}
