"""Packages that some formats need and the core leaves out."""

from __future__ import annotations

from typing import Any

from eigengraphs.system import extras

__all__ = ["need"]


def need(package: str, purpose: str) -> Any:
    """Import a package of the extra ``io``, or say how to get it."""
    return extras.need(package, "io", purpose)
