"""``DaskStack``: graphs in blocks, and a Dask cluster that works on them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Literal

import numpy as np

from eigengraphs.errors import InputError, MissingExtraError
from eigengraphs.graphs.blocked import BlockedStack, Task
from eigengraphs.graphs.lazy import LazyStack
from eigengraphs.scale.cluster_record import Round
from eigengraphs.scale.cluster_rounds import Rounds
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.stack.stack import GraphStack

__all__ = ["DaskStack"]


class DaskStack(BlockedStack):
    """Graphs whose blocks are read and worked on by the workers of a Dask cluster.

    A fit asks all blocks about ten times for sums and gets these alone. Workers read their blocks
    themselves, so that each must reach the files (a shared file system, or an object store). A
    worker may be lost at any time: its blocks are read again by others.

    Parameters
    ----------
    source : BlockedStack
        Where blocks come from; it can be pickled, and should be small then.
    client : distributed.Client
        Of the cluster; see :func:`~eigengraphs.scale.connect`.
    keep : {"auto", True, False}
        Whether workers keep blocks in memory from round to round. "auto": if all graphs fit into
        60 % of it.
    patience : float
        Seconds to wait for a scheduler that does not answer, or while there is no worker, before
        :class:`~eigengraphs.errors.ClusterError` is raised.

    Attributes
    ----------
    rounds : list of Round
        What each round over the blocks took: bytes, seconds, and workers that were lost.

    Examples
    --------
    Workers are processes, so this is no doctest; ``docs/guide/cluster.md`` has one that is tested.

    >>> import eigengraphs as eg
    >>> with eg.scale.connect(1) as client:  # doctest: +SKIP
    ...     stack = eg.scale.DaskStack.from_store("graphs.egs", client)
    ...     je = eg.JointEmbedding(2, random_state=0).fit(stack)
    ...     print(len(stack.rounds) == je.n_passes_)
    True
    """

    __slots__ = ("_rounds", "_settings", "_source")
    _rounds: Rounds
    _settings: tuple[Any, float]
    _source: BlockedStack

    def __init__(
        self,
        source: BlockedStack,
        client: Any,
        *,
        keep: Literal["auto"] | bool = "auto",
        patience: float = 60.0,
    ) -> None:
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("distributed", "dask", "work on a cluster") from None
        if isinstance(source, DaskStack):
            source = source.source
        if not isinstance(source, BlockedStack):
            raise InputError(
                f"a cluster needs graphs that its workers can read block by block, got "
                f"{type(source).__name__}; write them to a store and open it with open_store(path)"
            )
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise InputError(
                f"client must be a distributed.Client that is not asynchronous, got {client!r}; "
                "see eigengraphs.scale.connect"
            )
        if keep not in ("auto", True, False):
            raise InputError(f"keep must be 'auto', True or False, got {keep!r}")
        if not patience > 0:
            raise InputError(f"patience must be a number of seconds above 0, got {patience!r}")
        rounds = Rounds(source, client, None if keep == "auto" else bool(keep), float(patience))
        for name, value in {
            "_source": source,
            "_rounds": rounds,
            "_settings": (keep, patience),
            "_mask": source.mask,
        }.items():
            object.__setattr__(self, name, value)
        rounds.start()

    @classmethod
    def from_store(
        cls, path: str | os.PathLike[str], client: Any, memory: int | None = None, **options: Any
    ) -> DaskStack:
        """Open a store that all workers reach under the same path or address.

        Parameters
        ----------
        path
            A path, or an address that fsspec knows, such as ``s3://bucket/graphs``.
        client, **options
            Those of the class.
        memory : int, optional
            Bytes that work on the graphs may take here.

        Returns
        -------
        DaskStack

        Examples
        --------
        >>> import eigengraphs as eg
        >>> with eg.scale.connect(1) as client:  # doctest: +SKIP
        ...     eg.scale.DaskStack.from_store("graphs.egs", client).shape
        (6, 10, 10)
        """
        open_store = import_module("eigengraphs").open_store
        limits = {} if memory is None else {"memory": memory}
        return cls(open_store(path, **limits), client, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self._source,)  # elsewhere there is no client

    @property
    def source(self) -> BlockedStack:
        """Where blocks come from."""
        return self._source

    @property
    def rounds(self) -> list[Round]:
        """What each round took, the first one first."""
        return self._rounds.records

    @property
    def n_kept(self) -> int:
        """Number of blocks that workers keep in memory from round to round."""
        return self._rounds.n_kept

    def close(self) -> None:
        """Let the workers forget the blocks; a further round reads them anew.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> with eg.scale.connect(1) as client:  # doctest: +SKIP
        ...     stack = eg.scale.DaskStack.from_store("graphs.egs", client)
        ...     stack.close()
        """
        self._rounds.release()

    # ------------------------------------------------------------------ passes

    def _each(self, task: Task, shared: Any) -> Iterator[Any]:
        """Yield what a task returns for each block, in order: one round."""
        self._count_pass()
        yield from self._rounds.each(task, shared)

    def _total(self, task: Task, shared: Any) -> Any:
        """Return the sum of what a task returns for each block: one round."""
        self._count_pass()
        return self._rounds.total(task, shared)

    # ------------------------------------------------------------------ as the source has it

    @property
    def _facts(self) -> GraphFacts:  # type: ignore[override]
        if isinstance(self._source, LazyStack):
            # Of graphs that a step has changed, workers find them.
            return self._source.facts_by(self._each)
        return self._source.facts

    @property
    def _graph_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        return self._source._graph_names

    @property
    def _vertex_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        return self._source._vertex_names

    @property
    def fingerprint(self) -> str:
        """That of the source: where graphs are worked on changes nothing."""
        return self._source.fingerprint

    def _lazy(self) -> Any:
        return _OnCluster(self)

    @property
    def is_remote(self) -> bool:
        """True."""
        return True

    @property
    def keeps_blocks(self) -> bool:
        """Whether workers keep blocks in memory from round to round."""
        return self.n_kept > 0

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first graph of each block, and the one behind its last."""
        return self._source.spans

    @property
    def memory(self) -> int:
        """Bytes that work on the graphs may take here, besides results."""
        return self._source.memory

    def read_block(self, k: int) -> GraphStack:
        """Return the graphs of block k, in memory here.

        Parameters
        ----------
        k : int
            Which block, from 0.
        """
        return self._source.read_block(k)

    def read_part(self, k: int, lo: int, hi: int) -> GraphStack:
        """Return graphs lo to hi of block k, counted from its first, in memory here.

        Parameters
        ----------
        k : int
            Which block, from 0.
        lo, hi : int
            The first graph, and the one behind the last.
        """
        return self._source.read_part(k, lo, hi)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._source.n_vertices

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self._source.dtype

    @property
    def nbytes(self) -> int:
        """Bytes that all graphs take in memory."""
        return self._source.nbytes

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are sparse."""
        return self._source.is_sparse


class _OnCluster:
    """Steps of a :class:`LazyStack` that give stacks on the same cluster."""

    def __init__(self, stack: DaskStack) -> None:
        self._stack = stack

    def __getattr__(self, name: str) -> Any:
        stack = self._stack
        step = getattr(LazyStack.of(stack.source), name)
        keep, patience = stack._settings

        def taken(*arguments: Any) -> DaskStack:
            changed = step(*arguments)
            return DaskStack(changed, stack._rounds.client, keep=keep, patience=patience)

        return taken


def _same(source: BlockedStack) -> BlockedStack:
    return source
