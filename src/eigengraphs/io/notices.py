"""What a reader did that its user did not ask for, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LEFT_OUT", "Notice", "few", "left_out", "summarise"]

LEFT_OUT = ("left out", "table")  # kinds of notices

# Kind: what one file does, what several do, and whether it is worth a warning.
_KINDS: dict[str, tuple[str, str, bool]] = {
    "triangle": ("holds one triangle; mirrored", "hold one triangle; mirrored", True),
    "triangle kept": (
        "holds one triangle; left as it is, because other graphs have a direction",
        "hold one triangle; left as they are, because other graphs have a direction",
        True,
    ),
    "rounding": (
        "is symmetric but for rounding; made symmetric",
        "are symmetric but for rounding; made symmetric",
        True,
    ),
    "direction": (
        "has other weights one way than back, and so all graphs are taken as directed; if that is "
        "not meant, make it symmetric or leave it out",
        "have other weights one way than back, and so all graphs are taken as directed; if that is "
        "not meant, make them symmetric or leave them out",
        True,
    ),
    "diagonal": (
        "has nan or infinity all along the diagonal, which was left out",
        "have nan or infinity all along the diagonal, which was left out",
        True,
    ),
    "columns": (
        "names its columns in another order than its rows; put in the order of the rows",
        "name their columns in another order than their rows; put in the order of the rows",
        True,
    ),
    "order": (
        "names its vertices in another order than the first file; aligned by name",
        "name their vertices in another order than the first file; aligned by name",
        True,
    ),
    "numbered": (
        "has a row or column of running numbers, taken as vertex names",
        "have a row or column of running numbers, taken as vertex names",
        True,
    ),
    "ambiguous": (
        "could be a matrix or an edge list",
        "could be matrices or edge lists",
        True,
    ),
    "repeated": (
        "names pairs of vertices more than once; their weights were added",
        "name pairs of vertices more than once; their weights were added",
        True,
    ),
    "one way": (
        "names each pair once, now in one order and now in the other; read as undirected "
        "(directed=True keeps the direction)",
        "name each pair once, now in one order and now in the other; read as undirected "
        "(directed=True keeps the direction)",
        True,
    ),
    "pairs once": (
        "names each pair once; read as undirected",
        "name each pair once; read as undirected",
        False,
    ),
    "decimal commas": (
        "has decimal commas, read as points",
        "have decimal commas, read as points",
        True,
    ),
    "no edges": ("has a header and no edges", "have a header and no edges", True),
    "encoding": (
        "is not in UTF-8; read as Windows text",
        "are not in UTF-8; read as Windows text",
        True,
    ),
    "attribute": (
        "has no edge attribute 'weight'; the only number there is was taken",
        "have no edge attribute 'weight'; the only number there is was taken",
        True,
    ),
    "case": (
        "has a BIDS key in another case, such as Sub-; taken as sub-",
        "have a BIDS key in another case, such as Sub-; taken as sub-",
        True,
    ),
    "table": (
        "is a table and no graph; left out",
        "are tables and no graphs; left out",
        True,
    ),
}


@dataclass(frozen=True)
class Notice:
    """One thing that a reader did.

    Attributes
    ----------
    kind : str
        Equal for notices that can be said in one sentence, such as ``"triangle"``.
    text : str
        What was done, without the name of the file.
    path : Path or None
        The file; None for what concerns all.
    loud : bool
        Whether ``eigengraphs.read`` warns of it.
    count : int
        Number of files that it is about.

    Examples
    --------
    >>> from pathlib import Path
    >>> from eigengraphs.io import Notice
    >>> notice = Notice("copies", "is a copy of b.csv", Path("a.csv"), loud=False)
    >>> str(notice)
    'a.csv is a copy of b.csv'
    """

    kind: str
    text: str
    path: Path | None = None
    loud: bool = True
    count: int = 1

    @classmethod
    def of(cls, kind: str, path: Path, more: str = "") -> Notice:
        """Make a notice of a kind that many files may share.

        Parameters
        ----------
        kind : str
            Such as "table".
        path : Path
            The file.
        more : str
            What is said behind the usual text.

        Returns
        -------
        Notice

        Examples
        --------
        >>> from pathlib import Path
        >>> from eigengraphs.io import Notice
        >>> str(Notice.of("table", Path("ages.csv")))
        'ages.csv is a table and no graph; left out'
        """
        text, _, loud = _KINDS[kind]
        return cls(kind, text + more, path, loud)

    def __str__(self) -> str:
        return self.text if self.path is None else f"{self.path.name} {self.text}"


def summarise(notices: Iterable[Notice]) -> list[Notice]:
    """Return one notice for each kind, such as "17 files hold one triangle; mirrored"."""
    kinds: dict[str, list[Notice]] = {}
    for notice in notices:
        kinds.setdefault(notice.kind, []).append(notice)
    summary = []
    for kind, group in kinds.items():
        paths = list(dict.fromkeys(notice.path for notice in group if notice.path is not None))
        if len(paths) > 1 and kind in _KINDS:
            text = f"{len(paths)} files {_KINDS[kind][1]} ({few([path.name for path in paths])})"
            loud = any(notice.loud for notice in group)
            summary.append(Notice(kind, text, None, loud, len(paths)))
        else:
            said = dict.fromkeys(str(notice) for notice in group)
            count = len(paths) or sum(notice.count for notice in group)
            summary.append(Notice(kind, "; ".join(said), None, group[0].loud, count))
    return summary


def left_out(notices: Iterable[Notice]) -> int:
    """Return how many files of a folder were not read, though they could have been graphs."""
    return sum(notice.count for notice in notices if notice.kind in LEFT_OUT)


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
