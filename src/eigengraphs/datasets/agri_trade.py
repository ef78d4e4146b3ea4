"""Trade in 13 agricultural products among 145 countries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigengraphs.datasets import published_files as published
from eigengraphs.stack import GraphStack

FILE = "agri_trade/agri_trade.rda"


@dataclass(frozen=True, repr=False, eq=False)
class AgriTrade(published.Published):
    """Trade in 13 agricultural products among 145 countries in 2010.

    Attributes
    ----------
    graphs : GraphStack
        13 undirected hollow graphs on 145 vertices, named by product and by country. A weight is
        the trade of the two countries in tonnes, as the source says, both directions together; it
        is a whole number, and very uneven: take ``graphs.log1p()``.
    products : ndarray of str, shape (13,)
        Product of each graph, such as ``"Wine"``.
    countries : ndarray of str, shape (145,)
        Country of each vertex. One of them is ``"Unspecified"``.
    citation, license, source : str
        What to cite, the terms, and where the file comes from.

    Examples
    --------
    With the published files, which are downloaded where absent:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.fetch_agri_trade()  # doctest: +SKIP
    >>> data.graphs.shape, str(data.products[1])  # doctest: +SKIP
    ((13, 145, 145), 'Prepared foods')
    """

    graphs: GraphStack
    products: published.Names
    countries: published.Names


def fetch_agri_trade(*, data_folder: published.Folder = None, download: bool = True) -> AgriTrade:
    """Fetch the trade in 13 agricultural products among 145 countries.

    Parameters
    ----------
    data_folder : path, optional
        Folder with the file, or for it: by default that of the environment variable
        ``EIGENGRAPHS_DATA``, else the user's cache.
    download : bool
        Whether the file (0.15 MB) may be downloaded if absent. Its SHA-256 is checked.

    Returns
    -------
    AgriTrade
        Graphs, products, countries, citation, license and source. Arrays are read-only.

    Examples
    --------
    With the published files, which are downloaded where absent:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.fetch_agri_trade()  # doctest: +SKIP
    >>> data  # doctest: +SKIP
    AgriTrade(13 undirected graphs on 145 vertices)
    """
    tables = published.read_r(FILE, data_folder=data_folder, download=download)
    table = tables["agri_trade"]  # (n, n, m), with names on its axes
    countries, _, products = (np.array(table[axis].values, dtype=np.str_) for axis in table.dims)
    return AgriTrade(
        graphs=GraphStack(
            np.moveaxis(np.asarray(table.values, dtype=np.float64), 2, 0),
            graph_names=products.tolist(),
            vertex_names=countries.tolist(),
        ),
        products=products,
        countries=countries,
    )
