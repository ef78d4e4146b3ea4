"""Kernels run without the compiler, so that they can be stepped through."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import numpy as np
from scipy import sparse
from eigengraphs.operators.protocol import Columns
from eigengraphs.operators.csr import SparseGraphs
from eigengraphs.operators.dense import DenseGraphs

rng = np.random.default_rng(0)
m, n, b = 2, 19, 5
A = rng.normal(size=(m, n, n)) * (rng.random((m, n, n)) < 0.3)
B, C = rng.normal(size=(2, n, b))
D, W = rng.normal(size=(m, n)), rng.normal(size=(m, b))
flat = sparse.csr_array(A.reshape(-1, n))
for raw in (DenseGraphs(A, directed=True), SparseGraphs(flat, directed=True)):
    for left, T in ((True, A), (False, A.transpose(0, 2, 1))):
        columns, out = Columns(left, B, D, C), np.empty((m, b, n))
        raw.products([columns], [out])
        plain = np.einsum("sb,ist->ibt", B, T)
        treated = plain + D[:, None] * B.T - C.T
        assert np.allclose(out, treated)
        assert np.allclose(raw.cross([columns], [(C,)])[0], np.einsum("tz,ibt->izb", C, treated))
        assert np.allclose(raw.combine(W, [columns])[0], np.einsum("ik,ikt->tk", W, plain))
    assert np.allclose(raw.forms(B, C), np.einsum("sk,ist,tk->ik", B, A, C))
"""


def test_kernels_run_without_the_compiler():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", CODE], env=environment, check=True)
