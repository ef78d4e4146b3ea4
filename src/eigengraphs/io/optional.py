"""Packages that some formats need and the core leaves out."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from eigengraphs.errors import MissingExtraError

__all__ = ["need"]


def need(package: str, purpose: str) -> Any:
    """Import a package of the extra ``io``, or say how to get it."""
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtraError(package.partition(".")[0], "io", purpose) from None
