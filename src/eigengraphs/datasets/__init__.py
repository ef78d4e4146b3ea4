"""Graphs to try things on: bundled with the package, or fetched."""

from eigengraphs.datasets.agri_trade import AgriTrade, fetch_agri_trade
from eigengraphs.datasets.hnu1 import HNU1, fetch_hnu1
from eigengraphs.datasets.mice import Mice, MouseRegions, load_mice
from eigengraphs.datasets.us_airports import USAirports, fetch_us_airports
from eigengraphs.datasets.wiki import Wiki, fetch_wiki

__all__ = [
    "HNU1",
    "AgriTrade",
    "Mice",
    "MouseRegions",
    "USAirports",
    "Wiki",
    "fetch_agri_trade",
    "fetch_hnu1",
    "fetch_us_airports",
    "fetch_wiki",
    "load_mice",
]
