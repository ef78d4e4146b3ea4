"""Graphs beyond one process's memory: a store on disk (``docs/guide/store.md``), and a cluster.

>>> import eigengraphs as eg
>>> eg.scale.open_store.__name__, eg.scale.write_store.__name__
('open_store', 'write_store')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigengraphs.scale.checking import damages
from eigengraphs.scale.filling import append, write_store
from eigengraphs.scale.journal import FitJournal
from eigengraphs.scale.stack import StoredStack, open_store
from eigengraphs.scale.store import is_store
from eigengraphs.scale.writing import StoreWriter

if TYPE_CHECKING:
    from eigengraphs.scale.cluster import DaskStack
    from eigengraphs.scale.cluster_connect import connect

__all__ = [
    "DaskStack",
    "FitJournal",
    "StoreWriter",
    "StoredStack",
    "append",
    "connect",
    "damages",
    "is_store",
    "open_store",
    "write_store",
]

# Loaded when first used: what they need is an extra.
_HOME = {"DaskStack": "cluster", "connect": "cluster_connect"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'eigengraphs.scale' has no attribute {name!r}")
    return getattr(import_module(f"eigengraphs.scale.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
