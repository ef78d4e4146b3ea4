"""Small stacks for tests of properties: a few numbers are drawn, and graphs are made of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from known_graphs import random_directed, random_symmetric
from numpy.typing import NDArray

from eigengraphs import JointEmbedding

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "centered": {"center": True},
    "filled": {"diagonal": "filled"},
    "filled and centered": {"diagonal": "filled", "center": True},
    "no diagonal": {"diagonal": "unobserved"},
    "directed": {"directed": True},
    "directed and centered": {"directed": True, "center": True},
    "missing": {"missing": "unobserved"},
    "shared": {"loadings": "shared"},
    "classes": {"loadings": "class"},
    "nonnegative": {"loadings": "nonnegative"},
    "sparse": {"loadings": "sparse", "max_nonzeros": 1},
    "refined": {"refine": True},
    "algorithm 1": {"solver": "algorithm1"},
    "algorithm 1, filled": {"solver": "algorithm1", "diagonal": "filled"},
}


class Case(NamedTuple):
    """Graphs, and settings that suit them."""

    A: NDArray[np.float64]  # (m, n, n)
    y: NDArray[np.intp]  # (m,)
    settings: dict[str, Any]
    name: str

    def fit(self, graphs: Any = None, d: int = 2, **more: Any) -> JointEmbedding:
        """Fit the graphs, or others in their place."""
        graphs = self.A if graphs is None else graphs
        settings = {"random_state": 0, **self.settings, **more}
        return JointEmbedding(d, **settings).fit(graphs, self.y)


def _hidden(A: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    mask = np.triu(np.random.default_rng(seed).random(A.shape) < 0.1, 1)
    return np.where(mask | mask.transpose(0, 2, 1), np.nan, A)


@st.composite
def noisy(draw: st.DrawFn, names: tuple[str, ...] = tuple(SETTINGS)) -> Case:
    """Graphs of nothing but noise, with any settings."""
    name = draw(st.sampled_from(names))
    m, n, seed = draw(st.integers(2, 6)), draw(st.integers(3, 7)), draw(st.integers(0, 2**20))
    density, hollow = draw(st.sampled_from([0.4, 1.0])), draw(st.booleans())
    make = random_directed if SETTINGS[name].get("directed") else random_symmetric
    A = make(m, n, seed, density=density, hollow=hollow)
    if name == "missing":
        A = _hidden(A, seed)
    return Case(A, np.arange(m) % 2, SETTINGS[name], name)


@st.composite
def planted(draw: st.DrawFn, names: tuple[str, ...] = tuple(SETTINGS)) -> Case:
    """Graphs with two components of clearly different strength: there is one best answer."""
    name = draw(st.sampled_from(names))
    m, n, seed = draw(st.integers(4, 7)), draw(st.integers(5, 8)), draw(st.integers(0, 2**20))
    directed = bool(SETTINGS[name].get("directed"))
    rng = np.random.default_rng(seed)
    H, G = (np.linalg.qr(rng.standard_normal((n, 2)))[0] for _ in range(2))
    # Loadings that are orthogonal, centered or not: no component explains a part of the other.
    wave = np.linalg.qr(np.column_stack([np.ones(m), rng.standard_normal((m, 2))]))[0][:, 1:]
    Lam = (1.0 + np.sqrt(m) * wave) * [8.0, 2.0]
    A = np.einsum("sk,ik,tk->ist", H, Lam, G if directed else H)
    noise = 0.02 * rng.standard_normal(A.shape)
    A += noise if directed else noise + noise.transpose(0, 2, 1)
    if name == "missing":
        A = _hidden(A, seed)
    return Case(A, np.arange(m) % 2, SETTINGS[name], name)
