"""The paper's figures and tables, by the public interface alone: ``python -m experiments``."""

from experiments.running import CATALOGUE, reproduce

__all__ = ["CATALOGUE", "reproduce"]
