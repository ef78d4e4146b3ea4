"""Latent positions and loadings of multiple random eigen graphs, read as they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.validation import Floats, float_array

__all__ = ["read_loadings", "read_positions"]

# Unit norms in float32 are off by about 1e-7.
_NORM_TOLERANCE = 1e-6


def read_positions(value: Any) -> Floats:
    """Return latent positions, shape (n_vertices, n_components), with columns of unit length."""
    H = float_array(value, "latent_positions", 2, "(n_vertices, n_components)")
    norms = np.linalg.norm(H, axis=0)
    far = np.abs(norms - 1) > _NORM_TOLERANCE
    if far.any():
        k = int(np.argmax(far))
        raise InputError(
            f"column {k} of latent_positions has norm {norms[k]:.6g}, expected 1; divide it "
            f"by its norm, and multiply loadings[:, {k}] by the norm squared"
        )
    return H


def read_loadings(value: Any, d: int) -> Floats:
    """Return fixed loadings, shape (n_graphs, d), or (d,) for graphs that all have the same."""
    loadings = float_array(value, "loadings", (1, 2), f"(n_graphs, {d}) or ({d},)")
    if loadings.shape[-1] != d:
        raise InputError(
            f"loadings must have {d} entries a graph, one for each column of latent_positions, "
            f"got shape {loadings.shape}"
        )
    return loadings
