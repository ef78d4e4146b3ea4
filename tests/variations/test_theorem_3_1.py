"""Theorem 3.1: components are linearly independent, or the last one has zero loadings."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_graphs import random_symmetric
from scipy import linalg

from eigengraphs import JointEmbedding
from eigengraphs.errors import DegenerateWarning


@pytest.mark.parametrize("loadings", ["free", "class"])
@settings(max_examples=25, deadline=None)
@given(
    m=st.integers(1, 6), n=st.integers(2, 6), d=st.integers(1, 8), rank=st.integers(0, 6),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_components_are_independent_or_have_no_loadings(loadings, m, n, d, rank, seed):
    d = min(d, n * (n + 1) // 2)
    A = random_symmetric(m, n, seed=seed)
    if rank < n:  # graphs of low rank are exhausted before d
        values, vectors = np.linalg.eigh(A)
        values[:, rank:] = 0.0
        A = np.einsum("isk,ik,itk->ist", vectors, values, vectors)
    y = np.arange(m) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        je = JointEmbedding(d, loadings=loadings, diagonal="observed", random_state=0).fit(A, y)
    H = np.asarray(je.latent_positions_, dtype=np.float64)
    with_loadings = np.abs(je.loadings_).max(axis=0) > 0
    E = np.einsum("sk,tk->stk", H, H).reshape(n * n, d)[:, with_loadings]
    # Independent to working precision: a component in the span of the others has a singular
    # value of rounding, 1e-16; noise alone gives 1e-2 and more.
    assert E.shape[1] == 0 or linalg.svdvals(E)[-1] > 1e-9
    exhausted = np.array(je.stop_reason_) == "exhausted"
    assert not je.loadings_[:, exhausted].any()
