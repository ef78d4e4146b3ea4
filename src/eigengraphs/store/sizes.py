"""Amounts of memory: as users write them, and what a machine has."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from eigengraphs.errors import InputError
from eigengraphs.system.limits import size_of

__all__ = ["Memory", "as_bytes"]

Memory: TypeAlias = "str | int | None"

_LEAST = 2**20


def as_bytes(memory: Any) -> int:
    """Return a budget in bytes: a number, a text such as "512M" or "1.5 GB", or None.

    None takes a quarter of what the machine, or the container, has.
    """
    if memory is None:
        return max(_LEAST, _of_machine() // 4)
    size = size_of(memory)
    if size < _LEAST:
        raise InputError(
            "memory must be a number of bytes or a text such as '512M' or '4G', 1M at least; "
            f"got memory={memory!r}"
        )
    return size


def _of_machine() -> int:
    sizes = []
    with suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # a container's limit; "max" if it has none
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(sizes, default=2**32)
