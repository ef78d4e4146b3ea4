"""The paper's figures and tables, by the public interface alone: ``python -m experiments``."""

from experiments.frame import CATALOGUE, reproduce

__all__ = ["CATALOGUE", "reproduce"]
