"""Flights among 343 airports of the United States, month by month."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.datasets import published_files as published
from eigengraphs.stack import GraphStack

FILE = "us_airports/US_airport_data.RData"


@dataclass(frozen=True, repr=False, eq=False)
class USAirports(published.Published):
    """Flights among 343 airports in 69 months, January 2016 to September 2021.

    Attributes
    ----------
    graphs : GraphStack
        69 sparse graphs on 343 vertices, named by month (``"2016-01"``) and by airport
        (``"ATL"``). A weight is a number of flights in that month.
    months : ndarray of datetime64[M], shape (69,)
        Month of each graph.
    airports : ndarray of str, shape (343,)
        Code of each airport.
    coordinates : ndarray of float, shape (343, 2)
        Longitude and latitude in degrees, in this order.
    citation, license, source : str
        What to cite, the terms, and where the file comes from.

    Examples
    --------
    With the published files, which are downloaded where absent:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.fetch_us_airports()  # doctest: +SKIP
    >>> data.graphs.shape, str(data.months[0]), str(data.airports[1])  # doctest: +SKIP
    ((69, 343, 343), '2016-01', 'ATL')
    """

    graphs: GraphStack
    months: NDArray[np.datetime64]
    airports: published.Names
    coordinates: NDArray[np.float64]


def fetch_us_airports(
    *,
    directed: bool = False,
    loops: bool = False,
    data_folder: published.Folder = None,
    download: bool = True,
) -> USAirports:
    """Fetch the numbers of flights among 343 airports of the United States, month by month.

    Parameters
    ----------
    directed : bool
        With False, the weight of a pair is the number of flights between the two, both directions
        added (A + A^T), as in the source's own analysis. With True, A as it is in the file; the
        source does not say whether rows are origins or destinations.
    loops : bool
        Whether to keep the flights that end where they began (530 in all), each counted once.
    data_folder : path, optional
        Folder with the file, or for it: by default that of the environment variable
        ``EIGENGRAPHS_DATA``, else the user's cache.
    download : bool
        Whether the file (1.2 MB) may be downloaded if absent. Its SHA-256 is checked.

    Returns
    -------
    USAirports
        Graphs, months, airports, coordinates, citation, license and source. Arrays are read-only.

    Examples
    --------
    With the published files, which are downloaded where absent:

    >>> import eigengraphs as eg
    >>> data = eg.datasets.fetch_us_airports()  # doctest: +SKIP
    >>> data  # doctest: +SKIP
    USAirports(69 undirected graphs on 343 vertices)
    """
    tables = published.read_r(FILE, data_folder=data_folder, download=download)
    flights = tables["Adj_list"]
    if not directed:  # a loop is its own mirror image, and would count twice
        flights = [A + A.T - sparse.diags_array(A.diagonal()) for A in flights]
    months = np.arange("2016-01", "2021-10", dtype="datetime64[M]")
    graphs = GraphStack(
        flights,
        graph_names=months.astype(str).tolist(),
        vertex_names=tables["airport_names"].tolist(),
    )
    return USAirports(
        graphs=graphs if loops else graphs.drop_loops(),
        months=months,
        airports=np.array(tables["airport_names"], dtype=np.str_),
        coordinates=np.array(tables["airport_coordinates"], dtype=np.float64),
    )
