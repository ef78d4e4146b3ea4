"""Graphs with a known truth, drawn one by one: graph i depends on the seed and i alone.

:func:`read_design` makes a :class:`Design` of a name in :data:`DESIGNS`, of a file or of a table;
:func:`simulate_blocks` draws any of its graphs, and :func:`simulate_truth` says what they were
drawn from.

>>> from eigengraphs.simulation import DESIGNS, read_design, simulate_blocks
>>> list(DESIGNS)
['section5.1', 'section5.2', 'weighted', 'sparse']
>>> simulate_blocks(read_design("section5.1"), 0, 3, seed=0).shape
(3, 20, 20)
"""

from eigengraphs.simulation.blocks import Truth, simulate_blocks, simulate_truth
from eigengraphs.simulation.design import Design
from eigengraphs.simulation.named import DESIGNS
from eigengraphs.simulation.recipe import read_design

__all__ = ["DESIGNS", "Design", "Truth", "read_design", "simulate_blocks", "simulate_truth"]
