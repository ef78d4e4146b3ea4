"""Two commands at a time on the same results."""

import fcntl

import pytest

from eigengraphs.errors import InputError
from eigengraphs.job.large import journal_of, open_journal
from eigengraphs.models import ErdosRenyi
from eigengraphs.store import write_store


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "graphs.egs", [ErdosRenyi(6, 0.5).sample(4, random_state=0)])


def test_a_fit_does_not_take_the_journal_of_one_that_is_running(store, tmp_path):
    output = tmp_path / "results"
    with open_journal(store, output) as journal:
        assert journal.total(("sum",), lambda: 3.0) == 3.0
        with (
            pytest.raises(InputError, match=r"another fit into '.*results' is running: wait"),
            open_journal(store, output),
        ):
            pass
        assert journal.n_kept == 1
    assert not journal_of(output).exists()


def test_a_fit_goes_on_from_what_a_stopped_one_left(store, tmp_path):
    output = tmp_path / "results"

    def stopped():
        with open_journal(store, output) as journal:
            journal.total(("sum",), lambda: 3.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    with open_journal(store, output) as journal:
        assert journal.total(("sum",), lambda: 4.0) == 3.0
    assert not journal_of(output).exists()


def test_where_there_are_no_locks_a_fit_goes_on_without(store, tmp_path, monkeypatch):
    def none(*_):
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", none)
    with open_journal(store, tmp_path / "results") as journal:
        assert journal_of(tmp_path / "results").is_dir()
        assert journal.n_kept == 0
