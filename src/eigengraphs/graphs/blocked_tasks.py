"""What a block of graphs is asked: tasks that can be sent to wherever the block is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.blocked import Block
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.graphs.treated import DiagonalRule
from eigengraphs.graphs.view import StackView

__all__ = ["Ask", "Forms", "Look", "Norms", "Products", "Sketch", "Sum", "WithRows"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Look:
    """How every block is looked at: the same from pass to pass."""

    directed: bool
    rule: DiagonalRule
    mean: NDArray[np.float64] | sparse.csr_array | None
    scale: float
    key: str  # names it, on every machine and in every run

    @classmethod
    def of(
        cls,
        directed: bool,
        rule: DiagonalRule,
        mean: NDArray[np.float64] | sparse.csr_array | None,
        scale: float,
    ) -> Self:
        """Name a way to look by what it is."""
        digest = sha256(f"{directed} {rule} {scale!r}".encode())
        if isinstance(mean, np.ndarray):
            digest.update(np.ascontiguousarray(mean).data)
        elif mean is not None:
            for part in (mean.data, mean.indices, mean.indptr):
                digest.update(part.data)
        return cls(directed, rule, mean, scale, digest.hexdigest())

    def at(self, block: Block) -> Any:
        """Return the view of a block, made once while the block is in memory."""
        if self.key not in block.memo:
            kind = DirectedView if self.directed else StackView
            block.memo[self.key] = kind(block.graphs, self.rule, self.mean, self.scale)
        return block.memo[self.key]

    def without_diagonal(self, block: Block) -> Any:
        """Return the view of a block that differs in its diagonal, which is zero."""
        like = self.at(block)
        return type(like)(block.graphs, "hollow", self.mean, self.scale, like=like)


@dataclass(frozen=True)
class WithRows:
    """A task with an array that has a row for each graph, from graph ``first`` on."""

    rows: Array | None
    first: int

    def part(self, lo: int, hi: int) -> Self:
        """Return the task for these graphs alone: less to send."""
        return self.with_rows(self._of(lo, hi), lo)

    def with_rows(self, rows: Array | None, first: int) -> Self:
        """Return the task with other rows, those from graph ``first`` on."""
        return replace(self, rows=rows, first=first)

    def _of(self, lo: int, hi: int) -> Array | None:
        return None if self.rows is None else self.rows[lo - self.first : hi - self.first]

    def _weights(self, block: Block) -> Array:
        weights = self._of(block.lo, block.hi)
        return np.ones(block.hi - block.lo) if weights is None else weights


@dataclass(frozen=True)
class Ask(WithRows):
    """Call a method of the view of every block, with its rows before all other arguments."""

    method: str
    args: tuple[Any, ...]

    def __call__(self, block: Block, look: Look) -> Any:
        """Return what the method does."""
        mine = self._of(block.lo, block.hi)
        args = self.args if mine is None else (mine, *self.args)
        return getattr(look.at(block), self.method)(*args)


@dataclass(frozen=True)
class Sketch(WithRows):
    """Find the sums of a sketch; rows are the weights, None if all are 1."""

    Omega: Array
    slim: ClassVar[bool] = True

    def __call__(self, block: Block, look: Look) -> Any:
        """Return sums over the block."""
        return look.at(block).sketch(self.Omega, self._weights(block))


@dataclass(frozen=True)
class Sum(WithRows):
    """Let a solver's task see the view of every block; rows are weights, None if all are 1."""

    task: Callable[[Any, Array], Any]

    def __call__(self, block: Block, look: Look) -> Any:
        """Return the sums over the block."""
        return self.task(look.at(block), self._weights(block))


@dataclass(frozen=True)
class Norms:
    """Find squared norms, and those without the diagonal, (2, graphs)."""

    slim: ClassVar[bool] = True

    def __call__(self, block: Block, look: Look) -> Array:
        """Return them for the block."""
        return np.stack(
            [look.at(block).squared_norms(), look.without_diagonal(block).squared_norms()]
        )


@dataclass(frozen=True)
class Forms:
    """Find inner products with components, (1, graphs, d).

    Where the diagonal is no data also what it adds to them, and what a diagonal of zeros would,
    (3, graphs, d).
    """

    sides: tuple[Array, ...]  # H, or H and G
    slim: ClassVar[bool] = True

    def __call__(self, block: Block, look: Look) -> Array:
        """Return them for the block."""
        view = look.at(block)
        found = [view.bilinear_forms if look.directed else view.quadratic_forms]
        if look.rule != "observed":
            found += [view.diagonal_forms, look.without_diagonal(block).diagonal_forms]
        return np.stack([forms(*self.sides) for forms in found])


@dataclass(frozen=True)
class Products:
    """Find B^T A_i, (graphs, b, n), and for directed graphs C^T A_i^T as well."""

    columns: tuple[Array, ...]

    def __call__(self, block: Block, look: Look) -> tuple[NDArray[Any], ...]:
        """Return them for the block."""
        m, n, _ = block.graphs.shape
        found = tuple(np.empty((m, B.shape[1], n), dtype=block.graphs.dtype) for B in self.columns)
        ignored = (_ignore,) * len(found)
        look.at(block).products(*self.columns, *ignored, *found)
        return found


def _ignore(lo: int, hi: int, P: NDArray[Any]) -> None:
    """Take products that are also put where they are wanted."""
