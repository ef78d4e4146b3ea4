"""A folder with a file for each graph, and a manifest with their names."""

from __future__ import annotations

import re
from pathlib import Path

from eigengraphs.errors import InputError
from eigengraphs.io.writing.one import GraphWriter, check_texts, one_graph
from eigengraphs.io.writing.text_files import cell
from eigengraphs.stack import GraphStack
from eigengraphs.system.whole_files import whole_folder

__all__ = ["write_folder"]

_LONGEST = 120  # bytes of a file's name, well below what file systems allow


def write_folder(stack: GraphStack, folder: Path, ending: str, writer: GraphWriter) -> None:
    """Write every graph and ``manifest.tsv`` into a new folder, or nothing."""
    check_texts(stack.graph_names, "graph", "a manifest")
    used = set[str]()
    files = [_file_name(name, i, used, ending) for i, name in enumerate(stack.graph_names)]
    other = InputError(f"{folder} is there and not empty; name a new folder")
    if folder.exists():
        there = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
        if there not in (set(), {*files, "manifest.tsv"}):  # else it may be the same
            raise other
    try:
        with whole_folder(folder) as temporary:
            lines = ["path\tid"]
            for i, (file, name) in enumerate(zip(files, stack.graph_names, strict=True)):
                writer(temporary / file, one_graph(stack, i))
                lines.append(f"{cell(file, chr(9))}\t{cell(name, chr(9))}")
            text = "\n".join(lines) + "\n"
            (temporary / "manifest.tsv").write_text(text, encoding="utf-8", newline="\n")
    except FileExistsError:
        raise other from None


def _file_name(name: str, i: int, used: set[str], ending: str) -> str:
    """Return the name of a graph as a name of a file that every system takes."""
    plain = re.sub(r"[^\w.+=@-]", "_", name).strip("._")
    plain = plain.encode()[:_LONGEST].decode(errors="ignore") or "graph"
    if plain.lower() in used:  # some systems do not tell a from A
        plain = f"{plain}_{i}"
    used.add(plain.lower())
    return f"{plain}.{ending}"
