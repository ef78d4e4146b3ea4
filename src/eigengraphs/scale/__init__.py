"""Graphs that need not fit in memory: a store on disk, read block by block; see ``docs/store.md``.

>>> import eigengraphs as eg
>>> eg.scale.open_store.__name__, eg.scale.write_store.__name__
('open_store', 'write_store')
"""

from eigengraphs.scale.checking import damages
from eigengraphs.scale.filling import append, write_store
from eigengraphs.scale.stack import StoredStack, open_store
from eigengraphs.scale.store import is_store
from eigengraphs.scale.writing import StoreWriter

__all__ = [
    "StoreWriter",
    "StoredStack",
    "append",
    "damages",
    "is_store",
    "open_store",
    "write_store",
]
