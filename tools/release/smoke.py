"""Run with the wheel installed and no extra: the core works, and says which extra is missing.

Not imported by anything: ``python tools/release/smoke.py`` in an environment of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import eigengraphs as eg


def main() -> None:
    """Fit, transform, save and load; then ask for what is not there."""
    print({name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")})
    graphs = eg.datasets.load_mice().graphs.log1p()
    with tempfile.TemporaryDirectory() as folder:
        for stack in (graphs, graphs.to_sparse()):
            je = eg.JointEmbedding(2, center=True, random_state=0).fit(stack[:6])
            loadings = je.transform(stack[6:8])
            assert loadings.shape == (2, 2)
            je.save(Path(folder) / "model.eg")
            again = eg.load(Path(folder) / "model.eg")
            assert np.array_equal(again.transform(stack[6:8]), loadings)
        directed = eg.JointEmbedding(1, directed=True, random_state=0)
        directed.fit(np.random.default_rng(0).random((3, 5, 5)))
        eg.io.write(graphs[:2], Path(folder) / "graphs.npz")
        assert eg.read(Path(folder) / "graphs.npz").n_graphs == 2
        found = eg.inference.compare(je.loadings_, ["a", "b"] * 3, random_state=0)
        assert (found.p_values > 0).all()
        _missing(Path(folder))
    print("the core works alone; every missing extra is named")


def _missing(folder: Path) -> None:
    """Use what needs an extra: the error names it."""
    stack = eg.GraphStack(np.eye(3)[None].repeat(2, 0))
    (folder / "g.graphml").write_text("<graphml/>")
    (folder / "g.parquet").write_bytes(b"PAR1")
    je = eg.JointEmbedding(1, random_state=0).fit(eg.datasets.load_mice().graphs[:3])
    uses: dict[str, tuple[str, Callable[[], Any]]] = {
        "matplotlib": ("report", lambda: eg.plot.loadings(je)),
        "networkx": ("io", lambda: eg.read(folder / "g.graphml")),
        "pyarrow": ("scale", lambda: eg.store.write_store(folder / "g.egs", [stack])),
        "fsspec": ("scale", lambda: eg.open_store("memory://g.egs")),
        "distributed": ("dask", lambda: eg.store.connect(1).__enter__()),
        "rdata": ("data", eg.datasets.fetch_wiki),
    }
    for package, (extra, use) in uses.items():
        assert find_spec(package) is None, f"{package} is here; this is no environment of the core"
        said = _refusal(use)
        assert f"eigengraphs[{extra}]" in said, f"{package}: {said}"
    done = subprocess.run(
        [Path(sys.executable).with_name("eigengraphs"), "--help"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done
    assert "eigengraphs[cli]" in done.stderr, done.stderr


def _refusal(use: Callable[[], Any]) -> str:
    try:
        use()
    except eg.errors.MissingExtraError as error:
        return str(error)
    return "it is absent, and nothing was said"


if __name__ == "__main__":
    main()
