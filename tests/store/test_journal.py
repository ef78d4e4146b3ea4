"""A stopped fit continues from its journal, and comes to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from blocked_graphs import InBlocks, planted
from scipy import sparse

from eigengraphs import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.store.fit_journal import FitJournal


def graphs(storage="dense", seed=0):
    stack = planted(80, 40, 3, loops=True, seed=seed)
    return stack.to_sparse() if storage == "sparse" else stack


class Stops(InBlocks):
    """Stops in the middle of a pass."""

    __slots__ = ("after",)

    def __init__(self, stack, step, memory, after):
        super().__init__(stack, step, memory)
        object.__setattr__(self, "after", after)

    def read_block(self, k):
        if len(self.reads) >= self.after:
            raise OSError("the disk is gone")
        return super().read_block(k)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("memory", [2**16, 2**30])
@pytest.mark.parametrize("settings", [{}, {"center": True}, {"directed": True},
                                      {"solver": "algorithm1", "max_iter": 6}])  # fmt: skip
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_stopped_fit_goes_on(tmp_path, storage, memory, settings):
    stack = graphs(storage=storage)
    je = JointEmbedding(3, random_state=0, **settings)
    whole = InBlocks(stack, 20, memory)
    expected = je.fit(whole)
    H, Lam, passes = expected.latent_positions_, expected.loadings_, whole.n_passes
    said = expected.n_passes_
    with pytest.raises(OSError, match="disk is gone"), FitJournal(tmp_path / "journal").keeping():
        je.fit(Stops(stack, 20, memory, after=4 * (passes // 2) + 2))
    again = InBlocks(stack, 20, memory)
    journal = FitJournal(tmp_path / "journal", resume=True)
    with journal.keeping():
        je.fit(again)
    assert np.array_equal(je.latent_positions_, H)
    assert np.array_equal(je.loadings_, Lam)
    assert je.n_passes_ == said
    assert journal.n_found >= passes // 2 - 1
    assert again.n_passes == journal.n_asked == passes - journal.n_found
    journal.close()
    assert not (tmp_path / "journal").exists()


def test_other_questions_are_not_answered_from_it(tmp_path):
    stack = graphs()
    with FitJournal(tmp_path / "j").keeping():
        JointEmbedding(2, random_state=0).fit(InBlocks(stack, 20))
    for other, d, seed in ((graphs(seed=1), 2, 0), (stack, 2, 1)):
        journal = FitJournal(tmp_path / "j", resume=True)
        with journal.keeping():
            found = JointEmbedding(d, random_state=seed).fit(InBlocks(other, 16))
        plain = JointEmbedding(d, random_state=seed).fit(InBlocks(other, 16))
        assert np.array_equal(found.loadings_, plain.loadings_)


def test_without_resume_it_begins_anew(tmp_path):
    with FitJournal(tmp_path / "j").keeping():
        JointEmbedding(2, random_state=0).fit(InBlocks(graphs(), 20))
    assert len(list((tmp_path / "j").iterdir())) > 1
    FitJournal(tmp_path / "j")
    assert [path.name for path in (tmp_path / "j").iterdir()] == ["journal.json"]


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("all I have")
    with pytest.raises(InputError, match="left as it is"):
        FitJournal(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "all I have"


def test_answers_come_back_as_they_were(tmp_path):
    answer = (np.arange(3.0), (sparse.csr_array(np.eye(3)), np.float64(2.0)))
    list(FitJournal(tmp_path / "j").each(("q",), lambda: iter([answer])))
    (again,) = FitJournal(tmp_path / "j", resume=True).each(("q",), lambda: pytest.fail("asked"))
    assert np.array_equal(again[0], answer[0])
    assert np.array_equal(again[1][0].toarray(), np.eye(3))
    assert again[1][1] == 2.0


DAMAGE = {
    "cut off": lambda data: data[:-40],
    "emptied": lambda data: b"",
    "flipped in the first": lambda data: data.replace(np.float64(1).tobytes(), b"damaged!", 1),
    "flipped in the last": lambda data: data.replace(np.float64(3).tobytes(), b"damaged!", 1),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_answer_is_asked_again(tmp_path, damage):
    """As by a disk; one that is gone must not make a pass shorter."""
    answers = [np.full(50, 1.0 + k) for k in range(3)]
    journal = FitJournal(tmp_path / "j")
    list(journal.each(("q",), lambda: iter(answers)))
    (kept,) = (tmp_path / "j").glob("*.npz")
    kept.write_bytes(DAMAGE[damage](kept.read_bytes()))
    again = FitJournal(tmp_path / "j", resume=True)
    for asked in (1, 1):
        found = list(again.each(("q",), lambda: iter(answers)))
        assert np.array_equal(found, answers)
        assert again.n_asked == asked
    assert again.n_kept == 1


def test_a_journal_of_another_format_is_not_used(tmp_path):
    list(FitJournal(tmp_path / "j").each(("q",), lambda: iter([1.0])))
    (tmp_path / "j" / "journal.json").write_text('{"what": "journal of a fit", "format": 1}')
    assert FitJournal(tmp_path / "j", resume=True).n_kept == 0
