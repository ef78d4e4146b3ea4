"""Bars that a measured number must reach."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COLUMNS", "Bar"]

COLUMNS = ("bar", "wanted", "measured", "verdict")


@dataclass(frozen=True)
class Bar:
    """A number that was measured, and what it should be.

    Attributes
    ----------
    text
        What was measured, with the work it was measured on.
    measured
        The number; None if it could not be measured, as without the peers.
    bound
        Its bound.
    at_least
        Whether the bound is from below.
    counts
        Whether the answers behind the number passed their quality checks. A bar whose answers did
        not is not met, whatever the number.
    """

    text: str
    measured: float | None
    bound: float
    at_least: bool
    counts: bool = True

    @property
    def met(self) -> bool:
        """Whether the number is on the right side of its bound, and counts."""
        if self.measured is None or not self.counts:
            return False
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        if self.measured is None:
            return "not measured"
        if not self.counts:
            return "not met: the answer does not count"
        return "met" if self.met else "not met"

    @property
    def row(self) -> tuple[str, ...]:
        """The cells of the table."""
        # As many digits as it takes to see on which side of the bound the number is.
        measured = "-" if self.measured is None else f"{self.measured:.3g}"
        if self.measured is not None and float(measured) == self.bound != self.measured:
            measured = f"{self.measured:.9g}"
        bound = f"{self.bound:.6g}"
        return (
            self.text,
            f"{'at least' if self.at_least else 'at most'} {bound}",
            measured,
            self.verdict,
        )
