"""Choosing the number of components: four rules, and what to make of them."""

from eigengraphs.dimension.auto import choose_for
from eigengraphs.dimension.result import DimensionChoice
from eigengraphs.dimension.search import choose_n_components

__all__ = ["DimensionChoice", "choose_for", "choose_n_components"]
