"""Graphs with a known truth, drawn one by one: graph i depends on the seed and i alone."""

from eigengraphs.simulation.blocks import Truth, simulate_blocks, simulate_truth
from eigengraphs.simulation.design import Design
from eigengraphs.simulation.named import DESIGNS
from eigengraphs.simulation.recipe import read_design

__all__ = ["DESIGNS", "Design", "Truth", "read_design", "simulate_blocks", "simulate_truth"]
