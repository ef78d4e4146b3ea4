"""Each component: its strongest vertices and pairs, and whether it can be trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.inference.component_meaning import ends, strongest_pairs
from eigengraphs.report.parts import Component, Edge

__all__ = ["ILL_CONDITIONED", "describe_components", "strongest_edges"]

N_VERTICES = 8  # of each sign
N_EDGES = 10
ILL_CONDITIONED = 100.0  # of the inner products of components, where loadings lose two digits


def describe_components(embedding: Any, *, loops: bool) -> tuple[Component, ...]:
    """Describe the components of a fit.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    loops
        Whether a vertex with itself counts as a pair.
    """
    H = np.asarray(embedding.latent_positions_, dtype=np.float64)
    G = getattr(embedding, "latent_positions_right_", None)
    described = []
    for k in range(H.shape[1]):
        h = H[:, k]
        g = None if G is None else np.asarray(G[:, k], dtype=np.float64)
        high, low = ends(h, N_VERTICES)
        right_high, right_low = ((), ()) if g is None else ends(g, N_VERTICES)
        agreement = float(embedding.start_agreement_[k])
        described.append(
            Component(
                explained=float(embedding.explained_ratio_[k]),
                high=high,
                low=low,
                right_high=right_high,
                right_low=right_low,
                edges=strongest_edges(h, g, loops=loops),
                degenerate=bool(embedding.degenerate_[k]),
                stop_reason=embedding.stop_reason_[k],
                stationarity=float(embedding.stationarity_[k]),
                start_agreement=None if np.isnan(agreement) else agreement,
                remarks=_remarks(embedding, k),
            )
        )
    return tuple(described)


def strongest_edges(
    h: NDArray[np.float64], g: NDArray[np.float64] | None, *, loops: bool, most: int = N_EDGES
) -> tuple[Edge, ...]:
    """Return the pairs that carry a component, the strongest first."""
    return tuple(Edge(*pair) for pair in strongest_pairs(h, g, loops=loops, most=most))


def _remarks(embedding: Any, k: int) -> tuple[str, ...]:
    reason = embedding.stop_reason_[k]
    if reason == "exhausted":
        return (
            "It means nothing: the components before it left nothing to fit, and it got an "
            "arbitrary direction with zero loadings. Use fewer components.",
        )
    said = []
    if embedding.degenerate_[k]:
        said.append(
            "It means nothing: it sits on one or two vertices alone, where its loadings are not "
            "decided by the data. Use fewer components, or another setting of the diagonal."
        )
    gradient = f"{embedding.stationarity_[k]:.1e}"
    if reason == "max_iter":
        said.append(
            f"The search was stopped before it ended (relative gradient {gradient}); the pattern "
            "may still change. Allow more iterations (max_iter)."
        )
    elif reason == "stalled":
        said.append(
            f"The search made no further progress (relative gradient {gradient}); the pattern may "
            "be slightly off."
        )
    elif reason == "interrupted":
        said.append("The search was interrupted; the pattern is what had been found until then.")
    return tuple(said)
