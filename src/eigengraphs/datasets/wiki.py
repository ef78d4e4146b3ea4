"""Links among 1382 pages of Wikipedia, in English and in French."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import numpy as np
from scipy.io import loadmat

from eigengraphs.datasets import published_files as published
from eigengraphs.stack import GraphStack

GRAPHS_FILE = "wiki/Wiki_orig.RData"
LABELS_FILE = "wiki/GEEDimension14.mat"
KINDS = np.array(["category", "people", "locations", "dates", "math"])  # labels 1 to 5


@dataclass(frozen=True, repr=False, eq=False)
class Wiki(published.Published):
    """Pages of Wikipedia around "Algebraic geometry" and the links among them.

    Attributes
    ----------
    graphs : GraphStack
        Two undirected unweighted hollow graphs, ``"EN"`` and ``"FR"``, sparse: an edge where a
        page links to the other, in either direction.
    counts : GraphStack
        The same two as directed graphs, sparse: entry (s, t) is the number of links from page s
        to page t.
    labels : ndarray of str, shape (n,)
        What a page is about: ``"category"``, ``"people"``, ``"locations"``, ``"dates"`` or
        ``"math"``.
    citation, license, source : str
        What to cite, the terms, and where the files come from.

    Notes
    -----
    Titles of pages are not published. Vertices are named ``"page-1"`` to ``"page-1382"``, as the
    source counts them.

    Examples
    --------
    With the published files, which are downloaded where absent:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.fetch_wiki()  # doctest: +SKIP
    >>> data.graphs.shape, data.counts.is_directed  # doctest: +SKIP
    ((2, 1382, 1382), True)
    """

    graphs: GraphStack
    counts: GraphStack
    labels: published.Names

    def paper_subset(self) -> Wiki:
        """Return the 704 pages of section 5.4 of the paper.

        People and math (the paper's "things" and "math terms" are one kind in these labels),
        without pages that have no link to another of them in English, or none in French.

        Returns
        -------
        Wiki

        Examples
        --------
        With the published files, which are downloaded where absent:

        >>> import eigengraphs as eg
        >>> eg.datasets.fetch_wiki().paper_subset()  # doctest: +SKIP
        Wiki(2 undirected graphs on 704 vertices)
        """
        chosen = self._on(np.flatnonzero(np.isin(self.labels, ["people", "math"])))
        degrees = [np.asarray(graph.sum(axis=0)).ravel() for graph in chosen.graphs]
        return chosen._on(np.flatnonzero(np.min(degrees, axis=0) > 0))

    def _on(self, pages: np.ndarray) -> Wiki:
        return replace(
            self,
            graphs=self.graphs.select_vertices(pages),
            counts=self.counts.select_vertices(pages),
            labels=self.labels[pages],
        )


def fetch_wiki(*, data_folder: published.Folder = None, download: bool = True) -> Wiki:
    """Fetch the links among 1382 pages of Wikipedia, in English and in French.

    Parameters
    ----------
    data_folder : path, optional
        Folder with the files, or for them: by default that of the environment variable
        ``EIGENGRAPHS_DATA``, else the user's cache.
    download : bool
        Whether absent files (0.8 MB) may be downloaded. Every file's SHA-256 is checked.

    Returns
    -------
    Wiki
        Graphs, link counts, labels, citation, license and source. Arrays are read-only.

    Examples
    --------
    With the published files, which are downloaded where absent:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.fetch_wiki()  # doctest: +SKIP
    >>> data  # doctest: +SKIP
    Wiki(2 undirected graphs on 1382 vertices)
    """
    tables = published.read_r(GRAPHS_FILE, data_folder=data_folder, download=download)
    (file,) = published.read_files([LABELS_FILE], data_folder=data_folder, download=download)
    links = [tables["AG_wiki_en"], tables["AG_wiki_fr"]]
    counts = GraphStack(
        links,
        graph_names=["EN", "FR"],
        vertex_names=[f"page-{s}" for s in range(1, links[0].shape[0] + 1)],
    )
    labels: Any = BytesIO(file)  # scipy's stubs know paths alone
    codes = loadmat(labels)["out"][0, 0]["Y"].ravel().astype(np.intp)
    return Wiki(
        graphs=counts.symmetrize("max").binarize(),
        counts=counts,
        labels=KINDS[codes - 1],
    )
