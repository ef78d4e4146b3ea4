"""Graphs from files and into files; see ``docs/guide/reading.md``.

>>> import eigengraphs as eg
>>> eg.io.read_files.__name__, eg.io.write.__name__
('read_files', 'write')
"""

from eigengraphs.errors import ReadError, ReadNotice
from eigengraphs.io.labels import VertexTable, read_vertices
from eigengraphs.io.notices import Notice
from eigengraphs.io.participants import Joined, Participants, join, read_participants
from eigengraphs.io.reading import FileEntry, Reading, read, read_files
from eigengraphs.io.storing import Stored, convert_to_store
from eigengraphs.io.writing import write

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
