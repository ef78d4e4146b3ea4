"""Graphs from files and into files; see ``docs/guide/reading.md``.

:func:`read` returns only the graphs, :func:`read_files` also hashes, columns and notices of what
was done, and :func:`write` writes graphs so that both can read them again.
:func:`read_participants` and :func:`join` join a table of participants to the graphs,
:func:`read_vertices` reads a table of vertices. :func:`convert_to_store` fills a store from files.

>>> import tempfile
>>> import eigengraphs as eg
>>> stack = eg.GraphStack([[[0, 1], [1, 0]]], graph_names=["sub-01"])
>>> with tempfile.TemporaryDirectory() as folder:
...     reading = eg.io.read_files(eg.io.write(stack, folder + "/graphs.npz"))
>>> reading.stack.graph_names, reading.files[0].format
(('sub-01',), 'NumPy')
"""

from eigengraphs.errors import ReadError, ReadNotice
from eigengraphs.io.file_graph import Notice
from eigengraphs.io.reading import FileEntry, Reading, read, read_files
from eigengraphs.io.tables_beside import (
    Joined,
    Participants,
    VertexTable,
    join,
    read_participants,
    read_vertices,
)
from eigengraphs.io.to_store import Stored, convert_to_store
from eigengraphs.io.write_files import write

__all__ = [
    "FileEntry",
    "Joined",
    "Notice",
    "Participants",
    "ReadError",
    "ReadNotice",
    "Reading",
    "Stored",
    "VertexTable",
    "convert_to_store",
    "join",
    "read",
    "read_files",
    "read_participants",
    "read_vertices",
    "write",
]
