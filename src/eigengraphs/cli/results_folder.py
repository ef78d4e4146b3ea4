"""The folder of results: its files, and opening it for analyses after a fit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.cli.command_options import Harmonizing, Study
from eigengraphs.cli.input_files import Inputs, column_of_participants, gather, named_in
from eigengraphs.cli.several_sites import harmonize_fit, names_in
from eigengraphs.cli.terminal import Listener, Outcome, Table, sentence, silent, written
from eigengraphs.embedding import JointEmbedding, load
from eigengraphs.errors import InputError
from eigengraphs.report.page import write_report
from eigengraphs.report.records import Column, Finding, Intervals, TimeLine
from eigengraphs.report.sentences import whole_methods
from eigengraphs.report.summary import Summary, read_results, read_summary
from eigengraphs.system.labels import component_column, component_name
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import (
    is_left_over,
    locked,
    output_folder,
    replace_together,
    scratch_folder,
)

#: The files in a folder of results; any other file in it is not ours.
FILES = (
    "loadings.tsv", "positions.tsv", "components.tsv", "qc.tsv", "model.eg", "provenance.json",
    "methods.md", "report.html", "report.json",
)  # fmt: skip
HARMONIZED = "harmonized.tsv"  # if the fit was asked to harmonize loadings over sites
# Tables of later analyses, which a new fit invalidates.
_LATER = ("compare-*.tsv", "evaluate-*.tsv", "read-*.tsv", "cluster-*.tsv", "changes*.tsv",
         "effects-*.tsv", "effects-*.png", "power-*.tsv", "trajectories-*.tsv",
         "trajectories-*.png", "uncertainty-*.tsv")  # fmt: skip


def answers_in(folder: Path) -> list[str]:
    """Return the names of the tables of later analyses, which another fit removes."""
    return sorted(item.name for pattern in _LATER for item in folder.glob(pattern))


def check_output(folder: Path) -> None:
    """Refuse a folder that cannot be written, before hours are spent."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{str(folder)!r} is a file; name a folder for the results")
    if folder.is_dir():
        ours = {*FILES, HARMONIZED, *answers_in(folder)}
        others = sorted(
            item.name
            for item in folder.iterdir()
            if item.name not in ours and not is_left_over(item)
        )
        if others:
            raise InputError(
                f"the folder {str(folder)!r} holds other files ({', '.join(others[:3])}); name a "
                "new folder, or one with earlier results only"
            )
    above = folder.absolute().parent
    while not above.exists():
        above = above.parent
    if not os.access(above, os.W_OK):
        raise InputError(f"cannot write to {str(above)!r}; name another folder for the results")


def load_model(path: Path) -> JointEmbedding:
    """Load a model file, or the one in a folder of results."""
    return load(path / "model.eg" if path.is_dir() else path)


def write_columns(path: Path, columns: Mapping[str, Iterable[Any]]) -> None:
    """Write a table from its columns."""
    write_table(path, list(columns), zip(*columns.values(), strict=True))


def write_methods(summary: Summary, folder: Path) -> None:
    """Write ``methods.md``, of the fit and the analyses after it.

    Names of columns are in it, which are text to a reader of Markdown, never tags or links.
    """
    plain = re.sub(r"[<\[]", r"\\\g<0>", whole_methods(summary))
    (folder / "methods.md").write_text(plain, encoding="utf-8")


def write_files(
    folder: Path, content: Mapping[str, Any], report: Summary | None = None
) -> list[Path]:
    """Write files into a folder, all or none; ``content`` has by name what is in them.

    A table by its columns, or its header and rows; or a matplotlib figure.
    """
    names = [*content, *(["methods.md", "report.html", "report.json"] if report else [])]
    with scratch_folder(output_folder(folder) / "answer") as scratch:
        for name, what in content.items():
            if isinstance(what, Mapping):
                write_columns(scratch / name, what)
            elif isinstance(what, tuple):
                write_table(scratch / name, *what)
            else:
                what.savefig(scratch / name, dpi=150, format="png")
        if report is not None:
            write_report(report, scratch)
            write_methods(report, scratch)
        replace_together([(scratch / name, folder / name) for name in names])
    return [folder / name for name in names]


def check_folder(output: Path) -> None:
    """Refuse a file where a folder of tables is written."""
    if output.exists() and not output.is_dir():
        raise InputError(f"{str(output)!r} is a file; name a folder by --output")


def by_component(tables: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return the columns of tables (rows, d) by component: ``je1``, ``je1_se``, ``je2``, ...

    The keys of ``tables`` are endings of the names: "" and "_se".
    """
    d = len(next(iter(tables.values())).T)
    return {f"{component_column(k)}{end}": np.asarray(table)[:, k].tolist()
            for k in range(d) for end, table in tables.items()}  # fmt: skip


def write_loadings(
    path: Path,
    graphs: Any,
    columns: Mapping[str, Sequence[Any]],
    loadings: Any,
    **more: Iterable[Any],
) -> None:
    """Write one row per graph: its name, its columns, loadings, and more columns."""
    own, known = by_component({"": loadings}), dict[str, Any]()
    for name, values in columns.items():
        # A column with one of our names gets another: ``id_``.
        free, taken = name, {"id", "residual", *own}
        while free in taken or free in known or (free != name and free in columns):
            free += "_"
        known[free] = values
    write_columns(path, {"id": graphs.graph_names, **known, **own, **more})


def file_name(*words: str) -> str:
    """Return the name of a table that every file system takes, ``compare-group-age.tsv``."""
    return re.sub(r"[^\w.-]+", "_", "-".join(words))[:100] + ".tsv"


@dataclass(frozen=True)
class FinishedFit:
    """What ``eigengraphs fit`` left in a folder."""

    folder: Path

    @cached_property
    def summary(self) -> Summary:
        """What its report shows: names, columns, loadings, positions, components."""
        return read_summary(self.folder)

    @cached_property
    def embedding(self) -> JointEmbedding:
        """The fit, without its training graphs."""
        found, summary = load_model(self.folder), self.summary
        same_vertices = tuple(found.vertex_names_) == tuple(summary.vertex_names)
        if np.shape(found.loadings_) != summary.loadings.shape or not same_vertices:
            raise InputError(
                f"{str(self.folder / 'model.eg')!r} is of another fit than the report beside it; "
                "fit the graphs again"
            )
        return found

    def harmonizing(self, asked: Harmonizing) -> Harmonizing:
        """Return how loadings are harmonized over sites: as asked, or else as for the fit."""
        record = self.provenance.get("harmonize")
        if asked.harmonize is not None or not isinstance(record, dict):
            return asked
        return replace(
            asked,
            harmonize=record["harmonize"],
            controls=asked.controls or record["controls"],
            location_only=asked.location_only or record["location_only"],
        )

    @cached_property
    def loadings(self) -> tuple[Any, tuple[str, ...]]:
        """Loadings, harmonized over sites if the fit was asked to, and a note that says so."""
        how = self.harmonizing(Harmonizing())
        if how.harmonize is None:
            return self.summary.loadings, ()
        keep = self.provenance["harmonize"]["keep"]
        found, _ = harmonize_fit(self.summary.loadings, how, keep, self.values)
        return found, (f"Loadings were harmonized over {how.harmonize} by ComBat, as for the fit.",)

    @property
    def components(self) -> dict[str, str]:
        """The components in words, "component 1", and their names in tables, "je1"."""
        return {component_name(k): component_column(k) for k in range(self.summary.n_components)}

    @property
    def degenerate(self) -> Any:
        """Which components are degenerate."""
        return np.array([part.degenerate for part in self.summary.components], dtype=bool)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Where the results came from."""
        file = self.folder / "provenance.json"
        found = read_results(file)
        inputs = found.get("inputs", []) if isinstance(found, dict) else None
        if not isinstance(inputs, list) or not all(isinstance(item, dict) for item in inputs):
            raise InputError(f"{str(file)!r} does not hold what eigengraphs fit writes")
        return found  # type: ignore[no-any-return]

    def column(self, name: str, option: str) -> Column:
        """Return a column of the graphs, or say which columns there are."""
        absent = f"there is no column {name!r} for {option} in {str(self.folder)!r}"
        columns = {column.name: column for column in self.summary.columns}
        none = "none (fit with --participants, a table of the graphs)"
        return named_in(columns, name, absent, none)  # type: ignore[no-any-return]

    def values(self, name: str, option: str) -> list[Any]:
        """Return a column as numbers or texts, None where unknown."""
        return self.column(name, option).known

    def covariates(
        self, text: str, beside: str, option: str, named_by: str = "--covariates"
    ) -> dict[str, list[Any]]:
        """Return the columns that ``named_by`` names; each once, and not that of ``option``."""
        names = names_in(text)
        twice = [name for name in names if name == beside or names.count(name) > 1]
        if twice:
            raise InputError(f"{twice[0]!r} is named twice, by {option} or {named_by}")
        return {name: self.values(name, named_by) for name in names}

    @property
    def participants(self) -> str | None:
        """The column of participants, if some participants have several graphs."""
        return column_of_participants({x.name: x.values for x in self.summary.columns})

    def inputs(self, source: Path | None = None, listen: Listener = silent) -> Inputs:
        """Read the graphs again, as they were read for the fit.

        Parameters
        ----------
        source
            Where they are now, if they were moved.
        listen
            Called with every step.

        Raises
        ------
        InputError
            If they are missing, or differ from those of the fit.
        """
        reading = self.provenance.get("reading")
        if not isinstance(reading, dict) or not isinstance(reading.get("how"), dict):
            raise InputError(
                f"{str(self.folder)!r} does not say how its graphs were read: it is from an "
                "earlier version, or from Python; fit again with eigengraphs fit"
            )
        where = Path(str(reading.get("source"))) if source is None else source
        there = bool(set("*?[") & set(str(where)))  # a pattern
        with suppress(OSError, ValueError):  # a name that is too long
            there = there or where.exists()
        if not there:
            gone = f"the graphs of this fit were read from {str(where)!r}, which does not exist"
            if source is not None:
                gone = f"there is no {str(where)!r} with the graphs of this fit"
            raise InputError(f"{gone}; say where they are now by --graphs")
        how = _study_of(reading["how"])
        participants, vertices = _beside(how.participants, where), _beside(how.vertices, where)
        how = replace(how, participants=participants, vertices=vertices)
        found = gather(where, how, listen)
        # By names, too: two files that changed places are other graphs.
        if _hashes(found.checksums) != _hashes(self.provenance.get("inputs", [])):
            raise InputError(
                f"the graphs in {str(where)!r} differ from those of the fit (by their checksums); "
                "fit them, and use the results of that"
            )
        return found

    def in_tables(self, rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Return rows with components by their names in tables."""
        return [(self.components.get(str(name), name), *row) for name, *row in rows]

    def answer(
        self,
        named: Sequence[str],
        title: str,
        words: Sequence[str],
        header: Sequence[str],
        rows: Iterable[Sequence[Any]],
        facts: Mapping[str, Any],
        *,
        shown: Sequence[str | Table] = (),
        notes: Sequence[str] = (),
        careful: Sequence[str] = (),
        methods: str = "",
        aside: Sequence[str] = (),
        intervals: Intervals | None = None,
        column: str = "",
        table: str = "",
        **more: Any,
    ) -> Outcome:
        """Add an analysis to the report, write its tables, and return what the command says.

        Parameters
        ----------
        named
            What was asked, in words: the key in the report, and the name of the table.
        title, words, header, rows, intervals, column
            Of the finding.
        facts
            For ``--json``, beside notes, methods and files.
        shown
            Lines and tables on the terminal, after ``words``.
        notes, careful, methods, aside
            How it was found, for the report alone; what to be careful about, also on the terminal;
            a paragraph for a paper; and notes for the terminal alone.
        table
            Name of the table, if it is not the one that follows from ``named``.
        **more
            Of :meth:`add`.
        """
        finding = Finding(
            " ".join(named), title, tuple(words), tuple(header), tuple(map(tuple, rows)), intervals,
            (*notes, *map(sentence, careful)), column, methods,
        )  # fmt: skip
        files = self.add(finding, table or file_name(*named), **more)
        known = {"notes": careful, "methods": methods} if methods else {}
        text = [*words, *shown, *[f"Methods: {methods}"] * bool(methods), written(files)]
        return Outcome(text, {**facts, **known, "files": files}, (*careful, *aside))

    def add(
        self,
        finding: Finding,
        table: str,
        more: Mapping[str, Mapping[str, Iterable[Any]]] | None = None,
        timeline: TimeLine | None = None,
        further: Sequence[Finding] = (),
        drawn: Mapping[str, Any] | None = None,
    ) -> list[Path]:
        """Add an analysis to the report, and write its table; an earlier one is replaced.

        Parameters
        ----------
        finding
            The answer.
        table
            Name of the file for its rows, ``compare-group.tsv``.
        more
            Names of further tables, and their columns.
        timeline
            Order of the graphs in time; the report shows it from then on.
        further
            Answers for the report alone, after the first.
        drawn
            Names of pictures, and their matplotlib figures.

        Returns
        -------
        list of Path
            The written files; after an error, nothing is written.
        """
        with locked(self.folder):
            summary = read_summary(self.folder)  # another command may have added to it
            if not np.array_equal(summary.loadings, self.summary.loadings, equal_nan=True):
                raise InputError(
                    f"{str(self.folder)!r} was replaced by another fit in the meantime; run the "
                    "command again"
                )
            findings = {found.key: found for found in (*summary.findings, finding, *further)}
            line = summary.timeline if timeline is None else timeline
            changed = replace(summary, findings=tuple(findings.values()), timeline=line)
            own = {table: (finding.header, finding.rows)}
            files = write_files(self.folder, {**(more or {}), **(drawn or {}), **own}, changed)
        self.__dict__.pop("summary", None)
        return files


def _study_of(record: Mapping[str, Any]) -> Study:
    """Return how graphs were read, from the record of a fit; earlier versions had other names."""
    known = {field.name: record[field.name] for field in fields(Study) if field.name in record}
    known["directed"] = record.get("directed") is True
    known["allow_missing"] = record.get("allow_missing", record.get("missing") == "unobserved")
    for name in ("participants", "vertices"):
        known[name] = None if known.get(name) is None else Path(str(known[name]))
    return Study(**known)


def _beside(table: Path | None, graphs: Path) -> Path | None:
    """Return where a table of a fit is: where it was, or beside its graphs."""
    if table is None or table.exists():
        return table
    for folder in (graphs, graphs.parent):
        if (folder / table.name).exists():
            return folder / table.name
    raise InputError(
        f"{str(table)!r}, a table that the fit read with its graphs, does not exist; put it back, "
        f"or beside {str(graphs)!r}"
    )


def _hashes(files: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return names and SHA-256 of files, wherever they are; a store has one, whatever its name."""
    found = [(Path(str(x.get("path"))).name, str(x.get("sha256"))) for x in files]
    return sorted(found) if len(found) > 1 else [("", digest) for _, digest in found]
