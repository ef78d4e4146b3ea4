"""Graphs that do not fit in memory: a store on disk (``docs/guide/store.md``), and a cluster.

:func:`write_store`, :func:`append` and :class:`StoreWriter` fill a store, :func:`open_store` opens
it as a stack like any other, :func:`damages` checks its files. :class:`DaskStack` and
:func:`connect` let a cluster work on it (``docs/guide/cluster.md``). :class:`FitJournal` lets a fit
continue that was stopped.

>>> import tempfile
>>> import eigengraphs as eg
>>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
>>> with tempfile.TemporaryDirectory() as folder:
...     stored = eg.open_store(eg.store.write_store(folder + "/graphs.egs", [graphs]))
...     eg.JointEmbedding(2, random_state=0).fit(stored).loadings_.shape
(6, 2)
"""

from eigengraphs.store.dask_stack import DaskStack, connect
from eigengraphs.store.fit_journal import FitJournal
from eigengraphs.store.reader import StoredStack, damages, is_store, open_store
from eigengraphs.store.writer import StoreWriter, append, write_store

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
