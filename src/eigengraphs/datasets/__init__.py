"""Example graphs, bundled with the package or downloaded.

:func:`load_mice` needs nothing. The others look for published files in the folder that
``EIGENGRAPHS_DATA`` names, else in the user's cache, and download missing ones; the SHA-256 of
every file is checked. Each returns a record with the graphs, their properties, and what to cite.
See ``docs/guide/datasets.md``.

>>> import eigengraphs as eg
>>> eg.datasets.load_mice()
Mice(32 graphs on 332 regions: 8 B6, 8 BTBR, 8 CAST, 8 DBA2)
"""

from eigengraphs.datasets.agri_trade import AgriTrade, fetch_agri_trade
from eigengraphs.datasets.hnu1 import HNU1, fetch_hnu1
from eigengraphs.datasets.mice import Mice, MouseRegions, load_mice
from eigengraphs.datasets.multiplex import MULTIPLEX, Multiplex, load_multiplex
from eigengraphs.datasets.us_airports import USAirports, fetch_us_airports
from eigengraphs.datasets.wiki import Wiki, fetch_wiki

__all__ = [
    "HNU1",
    "MULTIPLEX",
    "AgriTrade",
    "Mice",
    "MouseRegions",
    "Multiplex",
    "USAirports",
    "Wiki",
    "fetch_agri_trade",
    "fetch_hnu1",
    "fetch_us_airports",
    "fetch_wiki",
    "load_mice",
    "load_multiplex",
]
