"""Sparse matrices from files, whose indices compiled code will follow without looking."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["check_compressed"]


def check_compressed(matrix: Any) -> None:
    """Raise a ValueError unless all parts of a CSR, CSC or BSR matrix fit each other.

    scipy's check takes differences of ``indptr``, which wrap around in 32 bits: 11, -2147483648
    would rise. Compared as they are, they cannot.
    """
    indptr = np.asarray(matrix.indptr)
    if indptr.ndim == 1 and (indptr[1:] < indptr[:-1]).any():
        raise ValueError("index pointer values must form a non-decreasing sequence")
    matrix.check_format(full_check=True)
