"""The paper's experiments, by the public interface alone; ``python -m experiments`` runs them."""

from experiments.catalogue import CATALOGUE, reproduce

__all__ = ["CATALOGUE", "reproduce"]
