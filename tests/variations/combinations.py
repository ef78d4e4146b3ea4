"""Every combination of settings: does it work, or why not? Writes docs/guide/combinations.md.

python tests/variations/combinations.py > docs/guide/combinations.md
"""

from __future__ import annotations

import itertools
import re
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eigengraphs import GraphStack, JointEmbedding, open_store
from eigengraphs.errors import InputError
from eigengraphs.store import write_store

M, N, D = 8, 9, 3  # graphs, vertices, components
LOADINGS: dict[str, dict[str, Any]] = {
    "free": {},
    "shared": {"loadings": "shared"},
    "class": {"loadings": "class"},
    "nonnegative": {"loadings": "nonnegative"},
    "sparse": {"loadings": "sparse", "max_nonzeros": 2},
    "sparse, L1": {"loadings": "sparse", "l1_penalty": 0.05},
    "nonnegative, sparse": {"loadings": "nonnegative", "max_nonzeros": 2},
    "nonnegative, L1": {"loadings": "nonnegative", "l1_penalty": 0.05},
}
DIAGONALS = ("observed", "filled", "unobserved", "by degrees")  # the last is degree-corrected
STORAGES = ("dense", "sparse", "store")
Y = np.arange(M) // 2
_stores = tempfile.TemporaryDirectory()  # kept until Python ends


class Cell(NamedTuple):
    """One combination."""

    loadings: str
    directed: bool
    missing: bool
    refine: bool
    diagonal: str
    center: bool
    storage: str


def combinations(**chosen: Any) -> Iterator[Cell]:
    """Yield all combinations with the chosen values."""
    no_or_yes = (False, True)
    for values in itertools.product(
        LOADINGS, no_or_yes, no_or_yes, no_or_yes, DIAGONALS, no_or_yes, STORAGES
    ):
        cell = Cell(*values)
        if all(getattr(cell, name) == value for name, value in chosen.items()):
            yield cell


@cache
def weights_of_edges(directed: bool, missing: bool) -> NDArray[np.float64]:
    """Make graphs of a few components and noise, (m, n, n), nan where entries are missing."""
    rng = np.random.default_rng(0)
    H, G = rng.uniform(-0.4, 1.0, (2, N, D))
    Lam = rng.uniform(0.0, 2.0, (M, D)) * [3, 2, 1] + 0.5 * Y[:, None]
    A = np.einsum("sk,ik,tk->ist", H, Lam, G if directed else H)
    A += 0.1 * rng.standard_normal((M, N, N))
    if not directed:
        A = (A + A.transpose(0, 2, 1)) / 2
    A[:, range(N), range(N)] = 0.0
    if missing:
        for i, s, t in ((3, 1, 2), (5, 0, 8), (6, 4, 5)):
            A[i, s, t] = A[i, t, s] = np.nan
        A[1, 7] = A[1, :, 7] = np.nan  # an absent vertex
        A[2, 3, 6] = np.nan if directed else A[2, 3, 6]
    return A


@cache
def graphs(directed: bool, missing: bool, storage: str) -> GraphStack:
    """Return the graphs in memory, or in a store in several blocks."""
    stack = GraphStack(
        weights_of_edges(directed, missing), missing="unobserved" if missing else "error"
    )
    if storage == "dense":
        return stack
    if storage == "sparse":
        return stack.to_sparse()
    path = Path(_stores.name) / f"{directed}{missing}.egs"
    write_store(path, [stack[:3], stack[3:]], shard_bytes=3 * 8 * N**2)
    return open_store(path)


def outcome(cell: Cell, **more: Any) -> JointEmbedding | str:
    """Return the fit, or why it was refused."""
    entries: dict[str, Any] = {"diagonal": cell.diagonal}
    if cell.diagonal == "by degrees":
        entries = {"degree_corrected": True}
    je = JointEmbedding(
        D, **entries, center=cell.center, directed=cell.directed,
        refine=cell.refine, missing="unobserved" if cell.missing else "error", tol=1e-4,
        random_state=0, **LOADINGS[cell.loadings], **more,
    )  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return je.fit(graphs(cell.directed, cell.missing, cell.storage), Y)
    except InputError as error:
        return str(error)


class _BegunError(Exception):
    """The search has begun."""


def _begin(progress: Any) -> None:
    raise _BegunError


def refused(cell: Cell) -> str | None:
    """Return why a combination is refused: this is decided before anything is searched for."""
    try:
        found = outcome(cell, callback=_begin)
    except _BegunError:
        return None
    return found if isinstance(found, str) else None


def page() -> str:
    """Return the table as Markdown."""
    notes: list[str] = []
    rows = []
    for loadings, directed, missing in itertools.product(LOADINGS, (False, True), (False, True)):
        columns = []
        for diagonal in DIAGONALS:
            results: dict[str, list[Cell]] = {}
            chosen = {"loadings": loadings, "directed": directed, "missing": missing}
            for cell in combinations(**chosen, diagonal=diagonal):
                reason = refused(cell)
                what = "works" if reason is None else _general(reason)
                results.setdefault(what, []).append(cell)
            columns.append(_column(results, notes))
        kind = f"{'directed' if directed else 'undirected'}{', missing entries' * missing}"
        rows.append(f"| {loadings} | {kind} | {' | '.join(columns)} |")
    reasons = "\n".join(f"{place}. {note}" for place, note in enumerate(notes, 1))
    return _HEAD + "\n".join(rows) + f"\n\n## Reasons\n\n{reasons}\n"


def _general(reason: str) -> str:
    """Return a reason without the value of one setting, so that like reasons are one note."""
    return re.sub(r"loadings='\w+' is not offered", "this kind of loadings is not offered", reason)


def _column(results: dict[str, list[Cell]], notes: list[str]) -> str:
    parts = []
    for what, cells in results.items():
        if what != "works" and what not in notes:
            notes.append(what)
        text = "works" if what == "works" else f"refused ({notes.index(what) + 1})"
        where = ""
        if len(results) > 1:
            half = len(STORAGES) * 2  # refined and not, in every storage
            centered = {cell.center for cell in cells}
            if len(cells) == half and len(centered) == 1:
                where = "centered: " if centered == {True} else ""
            else:
                where = "; ".join(_named(cell) for cell in cells) + ": "
        parts.append(where + text)
    return ", ".join(parts)


def _named(cell: Cell) -> str:
    return f"{cell.storage}{', refined' * cell.refine}{', centered' * cell.center}"


_HEAD = """# Combinations of settings

Every combination of loadings, kind of graphs, diagonal, storage (dense, sparse, or in a store),
centering and refinement, and all of these with `degree_corrected=True`. The page is written by
`tests/variations/combinations.py` and checked by a test. A cell without further words holds for
every storage, centered or not, refined or not.

| loadings | graphs | diagonal="observed" | "filled" | "unobserved" | degree-corrected |
|---|---|---|---|---|---|
"""

if __name__ == "__main__":
    print(page(), end="")
