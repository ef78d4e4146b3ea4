"""Reading files of R."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from scipy import sparse

from eigengraphs.errors import MissingExtraError

__all__ = ["read_r", "require_rdata"]


def require_rdata() -> Any:
    """Import the package ``rdata``; asked for before anything is downloaded."""
    try:
        import rdata
    except ImportError:
        raise MissingExtraError("rdata", "data", "reading a file of R") from None
    return rdata


def read_r(content: bytes) -> dict[str, Any]:
    """Return what an ``.RData`` file holds, by name; sparse matrices of R as ``csc_array``."""
    rdata = require_rdata()
    known = {
        **rdata.conversion.DEFAULT_CLASS_MAP,
        "dgCMatrix": _sparse_matrix,
        "igraph": lambda graph, _: graph,  # beside the matrices, and not needed
    }
    tables: dict[str, Any] = rdata.read_rda(BytesIO(content), constructor_dict=known)
    return tables


def _sparse_matrix(slots: Any, _: Any) -> sparse.csc_array:
    """Make a matrix of the slots of R's ``dgCMatrix``."""
    rows, columns = slots.Dim
    return sparse.csc_array((slots.x, slots.i, slots.p), shape=(int(rows), int(columns)))
