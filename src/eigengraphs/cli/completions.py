"""Words that a shell completes, written out: a key press must not wait for numpy.

Tests compare them with what the library takes.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = [
    "ALIGN", "COMPONENTS", "DELIMITERS", "DESIGNS", "DIAGONALS", "FORMATS",
    "LOADINGS", "OUTPUT_FORMATS", "TRANSFORMS", "WEIGHTS", "among",
]  # fmt: skip

ALIGN = ("auto", "union", "intersection", "strict")
COMPONENTS = ("auto", "2", "4", "8", "16")
DELIMITERS = ("tab", "space", ",", ";")
DESIGNS = ("section5.1", "section5.2", "weighted", "sparse")
DIAGONALS = ("auto", "filled", "observed", "unobserved")
FORMATS = (
    "auto", "matrix", "edgelist", "graphml", "gml", "pajek", "numpy", "matlab", "parquet", "bids",
)  # fmt: skip
LOADINGS = ("free", "shared", "class", "nonnegative", "sparse")
OUTPUT_FORMATS = (
    "auto", "csv", "tsv", "edgelist", "graphml", "gml", "net", "npy", "npz", "mat", "parquet",
)  # fmt: skip
TRANSFORMS = (
    "log1p", "signed_log1p", "binarize", "rank", "signed_rank", "fisher_z", "unit_norm",
    "drop_loops",
)  # fmt: skip
WEIGHTS = ("auto", "binary", "counts")


def among(words: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return a function that gives the words with a beginning."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete
