"""Packages that are not part of the core, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from eigengraphs.errors import MissingExtraError


def need(package: str, extra: str, purpose: str) -> Any:
    """Import a package, or say which extra brings it."""
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtraError(package.partition(".")[0], extra, purpose) from None
