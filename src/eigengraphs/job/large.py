"""Jobs on graphs in a store: where they are worked on, and how a stopped one goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigengraphs.errors import EigengraphsError, InputError
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.store import is_store
from eigengraphs.store.fit_journal import FitJournal
from eigengraphs.system.whole_files import locked

__all__ = ["Large", "journal_of", "noting", "on_cluster", "open_journal"]


@dataclass(frozen=True)
class Large:
    """A cluster to work on, and a journal, where there are such."""

    client: Any = None  # distributed.Client
    journal: FitJournal | None = None

    def move(self, graphs: GraphStack) -> GraphStack:
        """Return the graphs where they are worked on."""
        if self.client is None:
            return graphs
        from eigengraphs.store import DaskStack

        assert isinstance(graphs, BlockedStack)
        return DaskStack(graphs, self.client)

    def journaling(self) -> AbstractContextManager[None]:
        """Keep what passes return while a fit runs."""
        return nullcontext() if self.journal is None else self.journal.keeping()


def journal_of(output: Path) -> Path:
    """Return the folder of the journal of a fit with these results."""
    return output.parent / f"{output.name}.unfinished"


@contextmanager
def open_journal(
    source: Any, output: Path, listen: Listener = silent
) -> Iterator[FitJournal | None]:
    """Give the journal of a fit: none for graphs in memory, where a fit is short.

    A fit goes on from that of one that was stopped. Another fit finds nothing in it: its questions
    are others. It is removed when all went well, or when it holds nothing. What ends the fit gets a
    note that says what is kept.

    Raises
    ------
    InputError
        If it is that of a fit that is running.
    """
    folder = journal_of(output)
    if not is_store(source):
        with noting(lambda: "nothing was written; the same command begins anew"):
            yield None
        return
    with _alone_with(folder, output):
        # The folder itself carries the lock, so it is never made anew.
        yield from _journal(FitJournal(folder, resume=True), folder, listen)


def _journal(journal: FitJournal, folder: Path, listen: Listener) -> Iterator[FitJournal]:
    if journal.n_kept:
        listen(Event("read", f"{journal.n_kept} passes are kept of a fit that was stopped"))

    def left() -> str:
        if journal.n_kept == 0:
            journal.close()
            return "nothing was found yet; the same command begins anew"
        return f"what was found is kept in {str(folder)!r}: the same command goes on"

    with noting(left):
        yield journal
    journal.close()


@contextmanager
def _alone_with(folder: Path, output: Path) -> Iterator[None]:
    """Make a folder if it is not there, and let no other fit use it meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(locked(folder, wait=False))
        except BlockingIOError:
            raise InputError(
                f"another fit into {str(output)!r} is running: wait until it has ended, or name "
                "another place for these results"
            ) from None
        yield


@contextmanager
def noting(words: Callable[[], str]) -> Iterator[None]:
    """Add words on how to go on to what ends the ``with`` block, a signal or an error."""
    try:
        yield
    except BaseException as end:
        note = words()
        if not isinstance(end, EigengraphsError):  # which says itself what to do
            end.add_note(note)
        raise


@contextmanager
def on_cluster(source: Any, workers: int | None, cluster: str | None) -> Iterator[Any]:
    """Give a client of a cluster, or None where the work is done here."""
    if workers is None and cluster is None:
        yield None
        return
    if workers is not None and cluster is not None:
        raise InputError("--workers starts a cluster here and --cluster names one: give either")
    if not is_store(source):
        raise InputError(
            "a cluster works on a store, which all of its workers can read, and this is none: make "
            "one with 'eigengraphs convert IN graphs.egs'"
        )
    from eigengraphs.store import connect

    where: Any = cluster if workers is None else workers
    with connect(where) as client:
        yield client
