"""The paper's experiments, by the public interface alone; `eigengraphs reproduce` runs them."""

from eigengraphs.experiments.catalogue import CATALOGUE, reproduce

__all__ = ["CATALOGUE", "reproduce"]
