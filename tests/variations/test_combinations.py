"""Every combination of settings works under one contract, or is refused with the reason."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from variations.combinations import KINDS, LOADINGS, Y, combinations, graphs, outcome, page

from eigengraphs import JointEmbedding

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "combinations.md"


@pytest.mark.filterwarnings("ignore:refined components ran towards each other")
@pytest.mark.filterwarnings("ignore:component .* sits on one or two vertices alone")
@pytest.mark.parametrize("loadings", LOADINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_combination_works_or_is_refused(loadings, kind):
    n_working = 0
    for chosen in combinations():
        if chosen[:2] != (loadings, kind):
            continue
        found = outcome(*chosen)
        if isinstance(found, str):
            assert "; " in found, f"{chosen}: a refusal says what to do: {found}"
            continue
        n_working += 1
        obey_the_contract(found, graphs(kind, chosen[3]))
    assert n_working or kind != "undirected"


def obey_the_contract(je: JointEmbedding, stack) -> None:
    m, n, d = 8, 9, 2
    assert je.loadings_.shape == (m, d)
    assert np.isfinite(je.loadings_).all()
    sides = [je.latent_positions_] + ([je.latent_positions_right_] if je.directed else [])
    for H in sides:
        assert H.shape == (n, d)
        assert np.allclose(np.linalg.norm(H, axis=0), 1.0)
    assert np.allclose(je.transform(stack), je.loadings_, atol=1e-7)
    again = clone(je)
    assert np.array_equal(again.fit_transform(stack, Y), je.loadings_)
    assert np.array_equal(again.latent_positions_, je.latent_positions_)
    path = je.objective_path_
    assert path.shape == (d + 1,)
    assert path[-1] <= path[0] * (1 + 1e-9)
    assert 0 <= je.score(stack) <= 1
    assert len(je.stop_reason_) == len(je.stationarity_) == len(je.degenerate_) == d
    assert je.converged_
    assert je.n_passes_ > 0
    assert je.inverse_transform(je.loadings_).shape == (m, n, n)
    if je.refine:
        assert je.refinement_.gain >= 0
        assert je.refinement_.objective_refined <= je.refinement_.objective_greedy * (1 + 1e-12)
    elif je.loadings in ("free", "class"):
        assert (np.diff(path) <= 1e-9 * path[0]).all()


def test_the_page_says_what_happens():
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "write it again: python tests/variations/combinations.py > docs/guide/combinations.md"
    )
