"""The paper's figures and tables, by the public interface alone: ``python -m experiments``."""

from experiments.frame import CATALOG, reproduce

__all__ = ["CATALOG", "reproduce"]
