"""Every combination of settings works under one contract, or is refused with the reason."""

from pathlib import Path

import numpy as np
import pytest
from variations.combinations import (
    LOADINGS,
    D,
    M,
    N,
    Y,
    combinations,
    graphs,
    outcome,
    page,
    weights_of_edges,
)

from eigengraphs import JointEmbedding

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "combinations.md"


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("loadings", LOADINGS)
@pytest.mark.filterwarnings("ignore::eigengraphs.errors.DegenerateWarning")
def test_every_combination_works_or_is_refused(loadings, directed, missing):
    n_working = 0
    turn = list(LOADINGS).index(loadings) + directed + missing
    every = combinations(loadings=loadings, directed=directed, missing=missing)
    for place, cell in enumerate(every):  # each of the other settings in one storage, in turn
        if place % 3 != (place // 3 + turn) % 3:
            continue
        found = outcome(cell)
        if isinstance(found, str):
            assert "; " in found, f"{cell}: a refusal says what to do: {found}"
            continue
        n_working += 1
        try:
            obey_the_contract(found, cell)
        except AssertionError as error:
            error.add_note(str(cell))
            raise
    assert n_working >= 6


class Written:
    """The graphs of a fit's loss, what is observed of them, and its components, written out."""

    def __init__(self, je, A):
        self.Q = (~np.isnan(A)).astype(float)
        self.B = np.nan_to_num(A)
        if je.center:
            counts = self.Q.sum(axis=0)
            mean = np.divide(self.B.sum(axis=0), counts, out=np.zeros((N, N)), where=counts > 0)
            self.B = (self.B - mean) * self.Q
        if je.diagonal_ != "observed":
            self.B, self.Q = self.B * (1 - np.eye(N)), self.Q * (1 - np.eye(N))
        H = je.latent_positions_
        S = np.einsum("sk,tk->kst", H, je.latent_positions_right_ if je.directed else H)
        self.E = np.repeat(S[None], M, axis=0)  # (m, d, n, n)
        if je.degree_corrected:
            sums = [np.abs(A).sum(axis=axis) for axis in (2, 1)]
            mean = sums[0].mean(axis=1, keepdims=True)
            x, z = (np.sqrt(part / mean + je.degree_regularization) for part in sums)
            self.B = self.B / mean[:, :, None] / (x[:, :, None] * z[:, None, :])
            self.E = self.E * (x[:, None, :, None] * z[:, None, None, :])

    def inner_products(self):
        """Return Gamma_i and psi_i, (m, d, d) and (m, d)."""
        Gammas = np.einsum("ijst,ist,ikst->ijk", self.E, self.Q, self.E)
        return Gammas, np.einsum("ist,ikst->ik", self.B, self.E)

    def objective(self, Lam):
        """Return what loadings leave of all graphs."""
        fitted = np.einsum("ik,ikst->ist", Lam, self.E)
        return float(((self.B - self.Q * fitted) ** 2).sum())


def check_optimal(je, written, Lam):
    """Hold the loadings of each graph to the conditions of a minimum (KKT)."""
    Gammas, Psi = written.inner_products()
    slopes = Psi - np.einsum("ijk,ik->ij", Gammas, Lam)
    pull = np.zeros((M, D))
    if je.l1_penalty is not None:
        typical = np.sqrt((written.B**2).sum() / M)
        pull = je.l1_penalty * typical * np.sqrt(np.diagonal(Gammas, axis1=1, axis2=2))
    small, held = 1e-6 * np.abs(Psi).max(), Lam != 0
    assert np.abs(slopes - pull * np.sign(Lam))[held].max(initial=0) < small
    if je.loadings == "nonnegative":
        assert (Lam >= 0).all()
    if je.max_nonzeros is not None:  # then who is held is a choice, and no convex problem
        assert held.sum(axis=1).max() <= je.max_nonzeros
        return
    steepest = slopes if je.loadings == "nonnegative" else np.abs(slopes)
    assert (steepest - pull)[~held].max(initial=0) < small


def of_groups(je, written):
    """Hold the loadings of groups to least squares on all their entries; return each graph's."""
    codes = Y if je.loadings == "class" else np.zeros(M, dtype=int)
    mine = je.class_loadings_ if je.loadings == "class" else je.shared_loadings_[None]
    Gammas, Psi = written.inner_products()
    for c, lam in enumerate(mine):
        slope = Psi[codes == c].sum(axis=0) - Gammas[codes == c].sum(axis=0) @ lam
        assert np.abs(slope).max() < 1e-6 * np.abs(Psi).sum()
    return mine[codes]


def obey_the_contract(je: JointEmbedding, cell) -> None:
    stack = graphs(cell.directed, cell.missing, cell.storage)
    written = Written(je, weights_of_edges(cell.directed, cell.missing))
    assert je.loadings_.shape == (M, D)
    for H in [je.latent_positions_] + ([je.latent_positions_right_] if je.directed else []):
        assert H.shape == (N, D)
        assert np.allclose(np.linalg.norm(H, axis=0), 1.0)
    check_optimal(je, written, je.loadings_)
    Lam = of_groups(je, written) if je.loadings in ("shared", "class") else je.loadings_
    path = je.objective_path_
    assert path.shape == (D + 1,)
    assert path[0] == pytest.approx(written.objective(np.zeros((M, D))), rel=1e-9)
    # Of the whole: the little that is left is a difference of large numbers.
    assert path[-1] == pytest.approx(written.objective(Lam), rel=1e-9, abs=1e-11 * path[0])
    assert np.allclose(je.transform(stack), je.loadings_, atol=1e-7)
    assert 0 <= je.score(stack) <= 1
    assert len(je.stop_reason_) == len(je.stationarity_) == len(je.degenerate_) == D
    assert je.converged_
    assert je.n_passes_ > 0
    if je.refine:
        assert je.refinement_.objective_refined == pytest.approx(path[-1], rel=1e-9)
        assert path[-1] <= je.refinement_.objective_greedy * (1 + 1e-12)
    elif je.l1_penalty is None:
        assert (np.diff(path) <= 1e-9 * path[0]).all()


def test_the_page_says_what_happens():
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "write it again: python tests/variations/combinations.py > docs/guide/combinations.md"
    )
