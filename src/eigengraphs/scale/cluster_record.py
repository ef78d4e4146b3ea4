"""What one round of work on a cluster took."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Round"]


@dataclass
class Round:
    """What one round over all blocks took.

    Attributes
    ----------
    number : int
        From 1 on.
    task : str
        What was done.
    blocks : int
        Number of blocks.
    bytes_sent, bytes_received : int
        What went out from here and what came back. Between workers, sums travel besides.
    seconds : float
        From the first piece of work sent to the last result.
    lost : list of str
        Workers that were lost meanwhile.
    reloaded : int
        Blocks that were loaded again because of it.
    """

    number: int
    task: str
    blocks: int
    bytes_sent: int = 0
    bytes_received: int = 0
    seconds: float = 0.0
    lost: list[str] = field(default_factory=list)
    reloaded: int = 0
