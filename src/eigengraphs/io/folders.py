"""Which files of a folder are the graphs: those of one kind, and no tables beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from eigengraphs.errors import ReadError
from eigengraphs.io.bids import SUFFIXES, bids_suffix, entities
from eigengraphs.io.formats import TEXT_ENDINGS, ending, is_known
from eigengraphs.io.kinds import looks_like_graph
from eigengraphs.io.naming import natural
from eigengraphs.io.notices import Notice, few
from eigengraphs.io.text import AUTO, AmbiguousComma, Notation, open_text
from eigengraphs.system.limits import read_regular

__all__ = ["Found", "search_folder"]

# Names of files that go with graphs and are none.
_BESIDE = re.compile(
    r"^(readme|changes|changelog|licen[cs]e|citation|authors|manifest|dataset_description"
    r"|(.*_)?(participants?|subjects?|phenotypes?|demographics|vertices|vertex_table|nodes|labels"
    r"|lut|atlas|parcellation|regions|rois|sessions|scans|timeseries|bold|coordinates|coords"
    r"|centres|centers|blocks|electrodes|channels|events|confounds|motion|qc))$",
    re.IGNORECASE,
)
_CALLED = ", ".join(f"*_{word}" for word in sorted(SUFFIXES))
_LOOK_AT = 3  # files of each ending, to see whether they are graphs


@dataclass(frozen=True)
class Found:
    """Files that were taken, in order, and what was not."""

    paths: tuple[Path, ...]
    notices: tuple[Notice, ...]


def search_folder(folder: Path, *, bids: bool = False, notation: Notation = AUTO) -> Found:
    """Return the graph files of a folder and its folders; of one ending, or refuse to choose."""
    every = sorted(
        (
            path
            for path in folder.rglob("*")
            if path.is_file()
            and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        ),
        key=lambda path: natural(str(path.relative_to(folder))),
    )
    known = [path for path in every if is_known(path)]
    beside = [path for path in known if _is_beside(path)]
    known = [path for path in known if not _is_beside(path)]
    if not known:
        _refuse_empty(folder, every, beside)
    notices = list[Notice]()
    if beside:
        listed = few([path.name for path in beside])
        text = f"tables beside the graphs were left out: {listed}"
        notices.append(Notice("beside", text, loud=False))
    matrices = [path for path in known if bids_suffix(path) in SUFFIXES]
    if bids and not matrices:
        raise ReadError(
            f"no file in {folder} is called as BIDS derivatives are ({_CALLED}); leave "
            "format='auto'"
        )
    if matrices and len(matrices) < len(known):
        rest = [path for path in known if path not in set(matrices)]
        notices.append(_left_out(rest, f"are not called {_CALLED} as others are"))
        known = matrices
    scans = [path for path in known if "sub" in entities(path.relative_to(folder))]
    if len(known) / 2 < len(scans) < len(known):
        rest = [path for path in known if path not in set(scans)]
        notices.append(_left_out(rest, "are of no subject: their names have no sub-"))
        known = scans
    groups: dict[str, list[Path]] = {}
    for path in known:
        groups.setdefault(ending(path), []).append(path)
    if len(groups) > 1:
        taken = [name for name, paths in groups.items() if _are_graphs(name, paths, notation)]
        if len(taken) != 1:
            _refuse_mixed(folder, {name: groups[name] for name in taken or groups})
        rest = [path for name in groups if name != taken[0] for path in groups[name]]
        notices.append(_left_out(rest, f"are no graphs, or not {taken[0]} as the graphs are"))
        groups = {taken[0]: groups[taken[0]]}
    return Found(tuple(next(iter(groups.values()))), tuple(notices))


def _is_beside(path: Path) -> bool:
    name = path.name
    while Path(name).suffix and len(Path(name).suffix) < 10:
        name = Path(name).stem
    return _BESIDE.match(name) is not None


def _are_graphs(name: str, paths: list[Path], notation: Notation) -> bool:
    if name not in TEXT_ENDINGS:
        return True
    # Not the first few: files that are named alike lie side by side.
    step = max(1, len(paths) // _LOOK_AT)
    for path in paths[::step][:_LOOK_AT]:
        try:
            if looks_like_graph(open_text(path, read_regular(path), notation)):
                return True
        except AmbiguousComma:  # to be refused, and not left out
            return True
        except (ReadError, OSError):
            continue
    return False


def _left_out(paths: list[Path], why: str) -> Notice:
    count = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    listed = few([path.name for path in paths])
    return Notice("left out", f"{count} left out ({listed}), which {why}", count=len(paths))


def _refuse_empty(folder: Path, every: list[Path], beside: list[Path]) -> None:
    there = few([path.name for path in every], 5) or "nothing"
    hint = ""
    if beside:
        hint = f"; {few([path.name for path in beside])} would be tables beside graphs"
    raise ReadError(
        f"no graph files in {folder}; it holds {there}{hint}. Endings that are read: .csv, .tsv, "
        ".txt, .edgelist, .ssv, .graphml, .gml, .net, .npy, .npz, .mat, .parquet; a list of files "
        "is read whatever they are called"
    )


def _refuse_mixed(folder: Path, groups: dict[str, list[Path]]) -> None:
    counts = ", ".join(f"{len(paths)} {name}" for name, paths in groups.items())
    largest = max(groups, key=lambda name: len(groups[name]))
    raise ReadError(
        f"{folder} holds graphs of several kinds ({counts}); take one of them with a pattern: "
        f"'{folder}/**/*{largest}'"
    )
