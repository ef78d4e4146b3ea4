"""Graphs of several kinds of edges: six social and neural ones, AUCS, and 253 neurons."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from scipy.io import loadmat

from eigengraphs.datasets import published_files as published
from eigengraphs.errors import InputError
from eigengraphs.stack import GraphStack

# File, number of vertices, and the kinds of edges in the order of the file's numbers.
_EDGES = {
    "aarhus": ("Aarhus", 61, ("lunch", "facebook", "coauthor", "leisure", "work")),
    "ckm": ("CKM", 246, ("advice", "discussion", "friendship")),
    "celegans": ("Celegans", 279, ("electrical", "monadic", "polyadic")),
    "kapferer": ("Kapferer", 39, ("social-1", "social-2", "instrumental-1", "instrumental-2")),
    "krackhardt": ("Krackhardt", 21, ("advice", "friendship", "reports-to")),
    "vickers": ("Vickers", 29, ("get-on", "best-friend", "work")),
}
#: Names of the sets.
MULTIPLEX = (*_EDGES, "aucs", "celegans-neurons")


@dataclass(frozen=True, repr=False, eq=False)
class Multiplex(published.Published):
    """Graphs of several kinds of edges among the same vertices.

    Attributes
    ----------
    name : str
        One of ``MULTIPLEX``.
    graphs : GraphStack
        One graph per kind of edge, and named by it. Unweighted, but for ``"celegans-neurons"``.
    labels : ndarray of str, shape (n,), or None
        Known class of each vertex: research group (``"aucs"``: ``"G1"`` to ``"G8"``, ``"G2/G3"``
        for a member of two, ``"NA"`` where unknown) or type of neuron (``"celegans-neurons"``:
        ``"1"``, ``"2"`` or ``"3"``, whose meaning the source does not give).
    citation, license, source : str
        What to cite, the terms, and where the files come from.

    Examples
    --------
    With the published files:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.load_multiplex("krackhardt")  # doctest: +SKIP
    >>> data.graphs.shape, data.graphs.graph_names  # doctest: +SKIP
    ((3, 21, 21), ('advice', 'friendship', 'reports-to'))
    """

    name: str
    graphs: GraphStack
    labels: published.Names | None

    def __repr__(self) -> str:
        m, n, _ = self.graphs.shape
        return f"Multiplex({self.name}: {', '.join(self.graphs.graph_names[:m])} on {n} vertices)"


def load_multiplex(
    name: str,
    *,
    directed: bool = False,
    loops: bool = False,
    data_folder: published.Folder = None,
    download: bool = True,
) -> Multiplex:
    """Load graphs of several kinds of edges among the same vertices.

    Parameters
    ----------
    name : {"aarhus", "ckm", "celegans", "kapferer", "krackhardt", "vickers", "aucs", \
"celegans-neurons"}
        Which set. ``"aarhus"`` and ``"aucs"`` are the same 61 people.
    directed : bool
        With False, an edge in either direction is an edge (of the larger weight), as published
        tables of link prediction have it. With True, edges as they are in the files;
        ``"aarhus"`` has each pair of people once there, in no direction that means anything.
    loops : bool
        Whether to keep loops: three each in ``"celegans"`` and ``"celegans-neurons"``.
    data_folder : path, optional
        Folder with the files, or for them: by default that of the environment variable
        ``EIGENGRAPHS_DATA``, else the user's cache.
    download : bool
        Whether absent files may be downloaded, where an address of theirs is known: ``"aucs"`` and
        ``"celegans-neurons"``. Every file's SHA-256 is checked.

    Returns
    -------
    Multiplex
        Graphs, labels, citation, license and source. Arrays are read-only.

    Examples
    --------
    With the published files:

    >>> import eigengraphs as eg
    >>> eg.datasets.load_multiplex("krackhardt")  # doctest: +SKIP
    Multiplex(krackhardt: advice, friendship, reports-to on 21 vertices)
    """
    if name not in MULTIPLEX:
        raise InputError(f"there is no multiplex set {name!r}; there are: {', '.join(MULTIPLEX)}")
    names = {
        "aucs": ("aucs_edgelist.txt", "aucs_nodelist.txt"), "celegans-neurons": ("CElegans.mat",)
    }.get(name) or (f"{_EDGES[name][0]}.edges",)  # fmt: skip
    files = published.read_files(
        [f"multiplex/{file}" for file in names], data_folder=data_folder, download=download
    )
    labels = None
    if name == "celegans-neurons":
        mat: Any = BytesIO(files[0])  # scipy's stubs know paths alone
        tables = loadmat(mat)
        weights = [tables["Ac"], tables["Ag"].astype(np.float64)]
        graphs = GraphStack(weights, graph_names=["chemical", "electrical"])
        labels = tables["vcols"].ravel().astype(str)
    elif name == "aucs":
        people, groups, _ = _columns(files[1], ",")
        s, t, kinds = _columns(files[0], ",")
        graphs = _stack(s, t, kinds, people)
        labels = np.array(groups)
    else:
        layers, s, t, _ = _columns(files[0], None)
        kinds = [_EDGES[name][2][int(layer) - 1] for layer in layers]
        graphs = _stack(s, t, kinds, [str(k) for k in range(1, _EDGES[name][1] + 1)])
    graphs = graphs if loops else graphs.drop_loops()
    return Multiplex(name, graphs if directed else graphs.symmetrize("max"), labels)


def _columns(file: bytes, separator: str | None) -> list[list[str]]:
    """Return the columns of a table without a header."""
    rows = [line.split(separator) for line in file.decode().splitlines()]
    return [list(column) for column in zip(*rows, strict=True)]


def _stack(s: list[str], t: list[str], kinds: list[str], vertices: list[str]) -> GraphStack:
    table = {"source": s, "target": t, "graph": kinds}
    return GraphStack.from_edges(table, directed=True, vertex_names=vertices)
