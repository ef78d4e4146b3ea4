"""XML without declarations: a document type can name entities, files and addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from eigengraphs.errors import ReadError

__all__ = ["refuse_declarations"]

_PIECE = 2**16


class _Seen(Exception):
    """The first element has begun; a document type can only stand before it."""


def refuse_declarations(path: Path, data: bytes) -> None:
    """Refuse a file with a document type, and so all entities and links to other files.

    This goes by the parser that is part of Python, in whatever encoding the file is, before any
    reader sees the file; no graph needs a document type. What is no XML is left to the reader.
    """

    def refuse(*_: Any) -> None:
        raise ReadError(
            f"{path} has a document type (<!DOCTYPE ...>), which graphs do not need and attacks "
            "do: take it out if you trust the file"
        )

    def seen(*_: Any) -> None:
        raise _Seen

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = seen
    try:
        for at in range(0, len(data), _PIECE):
            parser.Parse(data[at : at + _PIECE], False)
    except (_Seen, expat.ExpatError):
        return
