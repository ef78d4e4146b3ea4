"""Is a text file a matrix, an edge list, or a table of something else? Its shape tells."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from eigengraphs.io.text import TextFile, data_at, is_number, number

__all__ = ["SOURCE", "TARGET", "WEIGHT", "Kind", "kind_of", "looks_like_graph"]

TextKind: TypeAlias = Literal["matrix", "edge list", "table"]

# Headers of edge lists, in lower case.
SOURCE = frozenset(
    [
        "source",
        "from",
        "src",
        "node1",
        "node_1",
        "i",
        "u",
        "s",
        "region1",
        "roi1",
        "vertex1",
        "start",
        "source_id",
        "node_from",
        "id1",
        "v1",
        "name1",
        "from_id",
        "row",
    ]
)
TARGET = frozenset(
    [
        "target",
        "to",
        "dst",
        "node2",
        "node_2",
        "j",
        "v",
        "t",
        "region2",
        "roi2",
        "vertex2",
        "end",
        "target_id",
        "node_to",
        "id2",
        "v2",
        "name2",
        "to_id",
        "col",
        "column",
    ]
)
WEIGHT = [
    "weight",
    "weights",
    "w",
    "value",
    "count",
    "strength",
    "connectivity",
    "streamlines",
    "nos",
    "n",
    "sc",
    "fc",
    "correlation",
    "r",
]


class Kind(NamedTuple):
    """What a file is, and whether it could be another thing as well."""

    kind: TextKind
    ambiguous: bool = False


def kind_of(text: TextFile) -> Kind:
    """Tell what a text file is from its ending, its first lines and the number of its lines."""
    ending = text.path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if not text.lines or text.comment("vertices") is not None:
        return Kind("edge list")
    if data_at(text.lines[0]) is not None:
        return Kind("edge list")
    head = text.cells(0, 4)
    first, rows = head[0], len(text.lines)
    width = len(head[1]) if rows > 1 else len(first)
    words = [cell.lower() for cell in first]
    ends = any(word in SOURCE for word in words) and any(word in TARGET for word in words)
    # A matrix whose vertices are called i and j has its header's words in the rows, too.
    if ends and not (len(head) > 1 and head[1][0].lower() in words) and not _square(words, rows):
        return Kind("edge list")
    if _is_triangle(text):
        return Kind("matrix")
    if width not in (2, 3):
        return Kind("table" if _is_table(head) else "matrix")
    if ending in ("edgelist", "edges", "ssv", "el"):
        return Kind("edge list")
    return _narrow(text, head, rows, width)


def _square(words: list[str], rows: int) -> bool:
    """Tell whether a header names the columns of a matrix, as R's V1, V2, V3, ... does.

    V1 and V2, node1 and node2, ... also head the ends of edges; then the names do not run on, and
    there are not as many lines as names, but for lists too short to be a study.
    """
    named = [word for word in words if word]
    if len(named) < 4 or len(named) != rows - 1:
        return False
    running = {(word.rstrip("0123456789"), word != word.rstrip("0123456789")) for word in named}
    return len(named) > 8 or (len(running) == 1 and next(iter(running))[1])


def _narrow(text: TextFile, head: list[list[str]], rows: int, width: int) -> Kind:
    """Decide for two or three columns."""
    has_header = not all(is_number(cell) or number(cell) is not None for cell in head[0])
    data = rows - has_header
    if has_header and rows > 1 and data in (width - 1, width):
        square = text.cells(1)
        names = [cell for cell in head[0] if cell][-(width - 1) :]
        if data == width - 1 and [row[0] for row in square] == names:
            return Kind("matrix")  # names on both sides
        if data == width and all(number(cell) is not None for row in square for cell in row):
            return Kind("matrix")
    if not has_header and rows == width:
        cells = [[number(cell) for cell in row] for row in text.cells()]
        if all(len(row) == width and None not in row for row in cells):
            mirrored = [list(column) for column in zip(*cells, strict=True)]
            hollow = all(cells[s][s] == 0 for s in range(width))
            return Kind("matrix" if cells == mirrored or hollow else "edge list", ambiguous=True)
    last = head[1:] or head
    if width == 3 and not all(len(row) == 3 and number(row[2]) is not None for row in last):
        return Kind("table")
    return Kind("edge list")


def looks_like_graph(text: TextFile) -> bool:
    """Tell whether a file found in a folder may be meant: a square matrix or an edge list."""
    kind = kind_of(text).kind
    if kind != "matrix":
        return kind == "edge list"
    width = len(text.cells(1, 2)[0]) if len(text.lines) > 1 else 1
    return abs(len(text.lines) - width) <= 1 or _is_triangle(text)


def _is_triangle(text: TextFile) -> bool:
    """Tell whether lines get longer, or shorter, by one cell each: half of a matrix."""
    rows = len(text.lines)
    if rows < 3:
        return False
    ends = [len(text.cells(i, i + 1)[0]) for i in (0, 1, rows - 1)]
    return ends in ([1, 2, rows], [rows, rows - 1, 1])


def _is_table(head: list[list[str]]) -> bool:
    """Tell whether the rows below a header hold words beyond their first cell."""
    if len(head) < 2 or all(is_number(cell) for cell in head[0]):
        return False
    return any(number(cell) is None for row in head[1:] for cell in row[1:])
