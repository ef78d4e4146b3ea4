"""Choosing the number of components: four rules, and a recommendation."""

from eigengraphs.dimension.choose_components import choose_for, choose_n_components
from eigengraphs.dimension.dimension_choice import DimensionChoice

__all__ = ["DimensionChoice", "choose_for", "choose_n_components"]
