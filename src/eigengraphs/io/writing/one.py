"""One graph of a stack as the writers of single files take it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack import GraphStack

__all__ = ["GraphWriter", "OneGraph", "check_texts", "one_graph"]


@dataclass(frozen=True)
class OneGraph:
    """A graph with names of its vertices; entries that are hidden are nan."""

    matrix: NDArray[Any] | sparse.csr_array
    names: tuple[str, ...]
    has_names: bool  # or they are places: '0', '1', ...
    directed: bool

    def edges(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """Return source, target and weight of every edge; of an undirected one once."""
        entries = sparse.coo_array(self.matrix)
        s, t = entries.coords
        keep = np.ones(len(s), dtype=bool) if self.directed else s <= t
        weight = entries.data[keep].astype(np.float64)
        return s[keep].astype(np.intp), t[keep].astype(np.intp), weight


GraphWriter: TypeAlias = Callable[[Path, OneGraph], None]


def one_graph(stack: GraphStack, i: int) -> OneGraph:
    """Return a graph of a stack; it has a direction if some graph of the stack has."""
    return OneGraph(stack[i], stack.vertex_names, stack.has_vertex_names, stack.is_directed)


def check_texts(names: Iterable[str], what: str, format: str, forbidden: str = "") -> None:
    """Refuse names that a text format cannot give back."""
    for name in names:
        bad = [mark for mark in name if unicodedata.category(mark) in ("Cc", "Cs")]
        bad += re.findall(forbidden, name) if forbidden else []
        if bad or not name:
            why = f"holds {bad[0]!r}" if bad else "is empty"
            raise InputError(
                f"the {what} name {name!r} {why}, which {format} cannot hold; rename it with "
                "with_names, or write a .npz file"
            )
