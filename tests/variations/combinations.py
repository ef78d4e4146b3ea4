"""Every combination of settings: does it work, or why not? Writes docs/guide/combinations.md.

python tests/variations/combinations.py > docs/guide/combinations.md
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import InputError

LOADINGS: dict[str, dict[str, Any]] = {
    "free": {},
    "shared": {"loadings": "shared"},
    "class": {"loadings": "class"},
    "nonnegative": {"loadings": "nonnegative"},
    "sparse": {"loadings": "sparse", "max_nonzeros": 2},
    "sparse, L1": {"loadings": "sparse", "l1_penalty": 0.05},
    "nonnegative, sparse": {"loadings": "nonnegative", "max_nonzeros": 2},
}
DIAGONALS = ("observed", "filled", "unobserved")
KINDS = ("undirected", "directed", "missing entries")
Y = np.arange(8) % 2


def graphs(kind: str, storage: str) -> GraphStack:
    """Make eight graphs on nine vertices with two components and noise."""
    rng = np.random.default_rng(0)
    H = rng.uniform(0.2, 1.0, (9, 2))
    Lam = rng.uniform(1.0, 2.0, (8, 2)) + Y[:, None]
    A = np.einsum("sk,ik,tk->ist", H, Lam, H) + 0.1 * rng.standard_normal((8, 9, 9))
    if kind != "directed":
        A = (A + A.transpose(0, 2, 1)) / 2
    A[:, range(9), range(9)] = 0.0
    if kind == "missing entries":
        A[3, 1, 2] = A[3, 2, 1] = A[5, 0, 8] = A[5, 8, 0] = np.nan
        stack = GraphStack(A, missing="unobserved")
    else:
        stack = GraphStack(A)
    return stack.to_sparse() if storage == "sparse" else stack.to_dense()


def combinations() -> Iterator[tuple[str, str, str, str, bool, bool]]:
    """Yield loadings, kind of graphs, diagonal, storage, centred or not, refined or not."""
    yield from itertools.product(
        LOADINGS, KINDS, DIAGONALS, ("dense", "sparse"), (False, True), (False, True)
    )


def outcome(
    loadings: str,
    kind: str,
    diagonal: str,
    storage: str,
    center: bool,
    refine: bool,
    **more: Any,
) -> JointEmbedding | str:
    """Return the fit, or why it was refused."""
    je = JointEmbedding(
        2, diagonal=diagonal, center=center, directed=kind == "directed", refine=refine,
        missing="unobserved" if kind == "missing entries" else "error", random_state=0,
        **LOADINGS[loadings], **more,
    )  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return je.fit(graphs(kind, storage), Y)
    except InputError as error:
        return str(error)


def page() -> str:
    """Return the table as Markdown."""
    notes: list[str] = []
    rows = []
    for loadings, kind, refine in itertools.product(LOADINGS, KINDS, (False, True)):
        cells = []
        for diagonal in DIAGONALS:
            results: dict[str, list[str]] = {}
            for storage, center in itertools.product(("dense", "sparse"), (False, True)):
                # Whether it is refused is decided before anything is searched for.
                chosen = loadings, kind, diagonal, storage, center, refine
                found = outcome(*chosen, max_iter=1, n_init=1)
                where = f"{storage}{', centred' if center else ''}"
                what = "works" if isinstance(found, JointEmbedding) else _general(found)
                results.setdefault(what, []).append(where)
            cells.append(_cell(results, notes))
        rows.append(f"| {loadings} | {kind} | {'yes' if refine else 'no'} | {' | '.join(cells)} |")
    reasons = "\n".join(f"{place}. {note}" for place, note in enumerate(notes, 1))
    return _HEAD + "\n".join(rows) + f"\n\n## Why not\n\n{reasons}\n"


def _general(reason: str) -> str:
    """Return a reason without the value of one setting, so that like reasons are one note."""
    return re.sub(r"loadings='\w+' is not offered", "this kind of loadings is not offered", reason)


def _cell(results: dict[str, list[str]], notes: list[str]) -> str:
    parts = []
    for what, where in results.items():
        if what != "works" and what not in notes:
            notes.append(what)
        text = "works" if what == "works" else f"refused ({notes.index(what) + 1})"
        names = {
            ("dense", "dense, centred", "sparse", "sparse, centred"): "",
            ("dense", "sparse"): "",
            ("dense, centred", "sparse, centred"): "centred: ",
        }
        parts.append(names.get(tuple(sorted(where)), "; ".join(where) + ": ") + text)
    return ", ".join(parts)


_HEAD = """# What goes with what

Every combination of loadings, kind of graphs, diagonal, storage (dense or sparse), centring and
refinement, as the tests find it: `tests/variations/combinations.py` writes this page, and a test
holds it against what happens. A cell without further words stands for dense and sparse graphs,
centred or not.

| loadings | graphs | refine | diagonal="observed" | "filled" | "unobserved" |
|---|---|---|---|---|---|
"""

if __name__ == "__main__":
    print(page(), end="")
