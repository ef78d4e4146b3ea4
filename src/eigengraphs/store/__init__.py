"""Graphs beyond one process's memory: a store on disk (``docs/guide/store.md``), and a cluster.

:func:`write_store`, :func:`append` and :class:`StoreWriter` fill a store, :func:`open_store` opens
it as a stack like any other, :func:`damages` checks its files. :class:`DaskStack` and
:func:`connect` let a cluster work on it (``docs/guide/cluster.md``). :class:`FitJournal` lets a fit
that was stopped go on.

>>> import tempfile
>>> import eigengraphs as eg
>>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
>>> with tempfile.TemporaryDirectory() as folder:
...     stored = eg.open_store(eg.store.write_store(folder + "/graphs.egs", [graphs]))
...     eg.JointEmbedding(2, random_state=0).fit(stored).loadings_.shape
(6, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigengraphs.store.checking import damages
from eigengraphs.store.filling import append, write_store
from eigengraphs.store.journal import FitJournal
from eigengraphs.store.stack import StoredStack, open_store
from eigengraphs.store.store import is_store
from eigengraphs.store.writing import StoreWriter

if TYPE_CHECKING:
    from eigengraphs.store.cluster import DaskStack
    from eigengraphs.store.cluster_connect import connect

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
        raise AttributeError(f"module 'eigengraphs.store' has no attribute {name!r}")
    return getattr(import_module(f"eigengraphs.store.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
