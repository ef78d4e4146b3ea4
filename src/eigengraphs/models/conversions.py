"""One model as another with the same edge probabilities, as both panels of Figure 1 draw.

Models are meant given their labels, positions or loadings. Nothing of size n x n is built on
the way, except from and to the inhomogeneous Erdos-Renyi model, which is such a matrix.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from eigengraphs.errors import ConversionError
from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs
from eigengraphs.models.graph_models import (
    ErdosRenyi,
    InhomogeneousErdosRenyi,
    RandomDotProductGraph,
    StochasticBlockModel,
)
from eigengraphs.models.model import GraphModel
from eigengraphs.models.validation import Floats, Ints

__all__ = ["to_ier", "to_mreg", "to_rdpg", "to_sbm"]


def to_ier(model: GraphModel) -> InhomogeneousErdosRenyi:
    """See `GraphModel.to_ier`."""
    _require_fixed(model, "to_ier")
    return InhomogeneousErdosRenyi(model.edge_probabilities())


def to_sbm(model: GraphModel) -> StochasticBlockModel:
    """See `GraphModel.to_sbm`."""
    _require_fixed(model, "to_sbm")
    match model:
        case StochasticBlockModel():
            return model
        case ErdosRenyi():
            return StochasticBlockModel([[model.p]], np.zeros(model.n_vertices, dtype=np.int64))
        case RandomDotProductGraph():
            rows, labels = _distinct_rows(model._fixed_positions("to_sbm", ConversionError))
            return StochasticBlockModel(rows @ rows.T, labels)
        case MultipleRandomEigenGraphs(latent_positions=H, loadings=lam):
            active = lam != 0
            rows, labels = _distinct_rows(H[:, active])
            B = (rows * lam[active]) @ rows.T
            return StochasticBlockModel(np.clip(B, 0, 1) if model.clip else B, labels)
        case InhomogeneousErdosRenyi(P=P):
            # Equal rows alone (and equal columns, if P is asymmetric) make one block: rows that
            # agree hold P_st on both diagonal places too, so merging is exact with loops.
            rows, labels = _distinct_rows(P if model._symmetric else np.hstack([P, P.T]))
            first = np.unique(labels, return_index=True)[1]
            return StochasticBlockModel(P[np.ix_(first, first)], labels)
    raise AssertionError(f"no conversion of {type(model).__name__}")


def to_rdpg(model: GraphModel) -> RandomDotProductGraph:
    """See `GraphModel.to_rdpg`."""
    if isinstance(model, RandomDotProductGraph):
        return model
    if isinstance(model, MultipleRandomEigenGraphs) and model.clip and model.n_clipped:
        # Clipping is no operation on H and the loadings, so the matrix is needed.
        return to_rdpg(to_ier(model))
    H, lam = _eigenpairs(model, "to_rdpg")
    tolerance = _rounding(H, lam)
    if lam.min() < -tolerance:
        raise ConversionError(
            f"{model!r} is no random dot product graph: its edge probabilities are not positive "
            f"semidefinite, the smallest eigenvalue is {lam.min():.6g}, and inner products of "
            f"positions always are; use to_mreg(), which allows negative loadings"
        )
    kept = lam > tolerance
    if not kept.any():
        return RandomDotProductGraph(np.zeros((model.n_vertices, 1)))
    return RandomDotProductGraph(H[:, kept] * np.sqrt(lam[kept]))


def to_mreg(model: GraphModel) -> MultipleRandomEigenGraphs:
    """See `GraphModel.to_mreg`."""
    if isinstance(model, MultipleRandomEigenGraphs):
        return model
    if isinstance(model, RandomDotProductGraph):
        # The columns themselves, as the paper has it; they need not be orthogonal.
        X = model._fixed_positions("to_mreg", ConversionError)
        norms = np.linalg.norm(X, axis=0)
        kept = norms > 0
        H, lam = X[:, kept] / norms[kept], norms[kept] ** 2
    else:
        H, lam = _eigenpairs(model, "to_mreg")
        kept = np.abs(lam) > _rounding(H, lam)
        H, lam = H[:, kept], lam[kept]
    if len(lam) == 0:
        H, lam = np.full((model.n_vertices, 1), model.n_vertices**-0.5), np.zeros(1)
    return MultipleRandomEigenGraphs(H, lam)


def _require_fixed(model: GraphModel, purpose: str) -> None:
    match model:
        case StochasticBlockModel():
            model._fixed_labels(purpose, ConversionError)
        case RandomDotProductGraph():
            model._fixed_positions(purpose, ConversionError)
        case MultipleRandomEigenGraphs():
            model._loadings_at(None, purpose, ConversionError)


def _eigenpairs(model: GraphModel, purpose: str) -> tuple[Floats, Floats]:
    """Return orthonormal H and lam with P = H diag(lam) H^T."""
    _require_fixed(model, purpose)
    model._require_symmetric(purpose)
    match model:
        case ErdosRenyi(n_vertices=n, p=p):
            return np.full((n, 1), n**-0.5), np.array([n * p])
        case StochasticBlockModel():
            used, z = np.unique(model._fixed_labels(purpose, ConversionError), return_inverse=True)
            roots = np.sqrt(np.bincount(z))
            lam, V = linalg.eigh(roots[:, None] * model.B[np.ix_(used, used)] * roots)
            return (V / roots[:, None])[z], lam
        case MultipleRandomEigenGraphs(latent_positions=H, loadings=lam):
            Q, R = linalg.qr(H[:, lam != 0], mode="economic")
            if Q.shape[1] == 0:
                return np.zeros((model.n_vertices, 1)), np.zeros(1)
            core = (R * lam[lam != 0]) @ R.T
            values, V = linalg.eigh((core + core.T) / 2)
            return Q @ V, values
        case InhomogeneousErdosRenyi(P=P):
            values, V = linalg.eigh((P + P.T) / 2)
            return V, values
    raise AssertionError(f"no eigenpairs of {type(model).__name__}")


def _rounding(H: Floats, lam: Floats) -> float:
    """Return the size below which an eigenvalue is zero up to rounding."""
    return float(4 * len(H) * np.finfo(float).eps * np.abs(lam).max())


def _distinct_rows(X: Floats) -> tuple[Floats, Ints]:
    if X.shape[1] == 0:
        return np.zeros((1, 0)), np.zeros(len(X), dtype=np.int64)
    rows, labels = np.unique(X, axis=0, return_inverse=True)
    return rows, labels.reshape(-1).astype(np.int64)
