"""A folder of results, opened again: for the questions that come after a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.embedding import JointEmbedding, load
from eigengraphs.errors import InputError
from eigengraphs.job.events import Listener, silent
from eigengraphs.job.inputs import Inputs, InputSettings, gather
from eigengraphs.job.people import people_among
from eigengraphs.report.page import write_report
from eigengraphs.report.records import Column, Finding, TimeLine
from eigengraphs.report.summary import Summary, read_summary
from eigengraphs.system.limits import read_json, read_regular
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import locked, replace_together, scratch_folder

__all__ = ["FinishedFit"]


@dataclass(frozen=True)
class FinishedFit:
    """What ``eigengraphs fit`` left in a folder.

    Parameters
    ----------
    folder
        The folder OUT.
    """

    folder: Path

    @cached_property
    def summary(self) -> Summary:
        """What its report shows: names, columns, loadings, positions, components."""
        return read_summary(self.folder)

    @cached_property
    def embedding(self) -> JointEmbedding:
        """The fit, without its training graphs."""
        found, summary = load(self.folder / "model.eg"), self.summary
        same = np.shape(found.loadings_) == summary.loadings.shape and tuple(
            found.vertex_names_
        ) == tuple(summary.vertex_names)
        if not same:
            raise InputError(
                f"{str(self.folder / 'model.eg')!r} is of another fit than the report beside it; "
                "fit the graphs once more"
            )
        return found

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Where the results came from."""
        file = self.folder / "provenance.json"
        try:
            found: Any = read_json(read_regular(file))
        except (OSError, ValueError) as error:
            raise InputError(
                f"cannot read {str(file)!r} ({error}); name a folder that eigengraphs fit has "
                "written"
            ) from None
        inputs = found.get("inputs", []) if isinstance(found, dict) else None
        if (
            not isinstance(found, dict)
            or not isinstance(inputs, list)
            or not all(isinstance(item, dict) for item in inputs)
        ):
            raise InputError(f"{str(file)!r} does not hold what eigengraphs fit writes")
        return found

    def column(self, name: str, option: str) -> Column:
        """Return what is known of each graph under a name, or say which names there are."""
        columns = {column.name: column for column in self.summary.columns}
        if name in columns:
            return columns[name]
        close = get_close_matches(name, list(columns), 1)
        hint = f"; is it {close[0]!r}?" if close else ""
        known = ", ".join(columns) or "none (fit with --participants, a table of the graphs)"
        raise InputError(
            f"there is no column {name!r} for {option} in {str(self.folder)!r}; columns are: "
            f"{known}{hint}"
        )

    def values(self, name: str, option: str) -> Sequence[Any]:
        """Return a column as numbers or texts, None where it is not known."""
        column = self.column(name, option)
        if column.kind == "number":
            return list(column.values)
        return [None if value is None else column.categories[int(value)] for value in column.values]

    @property
    def people(self) -> str | None:
        """Name of the column that says whose each graph is, where some have several graphs."""
        return people_among({column.name: column.values for column in self.summary.columns})

    def inputs(self, source: Path | None = None, listen: Listener = silent) -> Inputs:
        """Read the graphs again, as they were read then.

        Parameters
        ----------
        source
            Where they are now, if they were moved.
        listen
            Told of every step.

        Raises
        ------
        InputError
            If they are gone, or others than those of the fit.
        """
        reading = self.provenance.get("reading")
        if not isinstance(reading, dict) or not isinstance(reading.get("how"), dict):
            raise InputError(
                f"{str(self.folder)!r} does not say how its graphs were read: it is from an "
                "earlier version, or from Python; fit once more with eigengraphs fit"
            )
        known = {field.name for field in fields(InputSettings)}
        how = InputSettings(**{k: v for k, v in reading["how"].items() if k in known})
        paths: dict[str, Any] = {
            name: Path(str(value))
            for name in ("participants", "vertices")
            if (value := getattr(how, name)) is not None
        }
        where = Path(str(reading.get("source"))) if source is None else source
        patterned = set("*?[") & set(str(where))
        if not patterned and not _exists(where):
            raise InputError(
                f"the graphs of this fit were read from {str(where)!r}, which is not there; say "
                "where they are now by --graphs"
            )
        found = gather(where, replace(how, **paths), listen)
        then = sorted(str(item.get("sha256")) for item in self.provenance.get("inputs", []))
        if sorted(item["sha256"] for item in found.checksums) != then:
            raise InputError(
                f"the graphs in {str(where)!r} are others than those of the fit (their checksums "
                "differ); fit them, and ask of that"
            )
        return found

    def add(
        self,
        finding: Finding,
        table: str,
        more: Mapping[str, Callable[[Path], None]] | None = None,
        timeline: TimeLine | None = None,
    ) -> list[Path]:
        """Put an answer into the report, and its table beside it; a former one is replaced.

        Parameters
        ----------
        finding
            The answer.
        table
            Name of the file for its rows, ``compare-group.tsv``.
        more
            Names of further files, and what writes each.
        timeline
            Order of the graphs that was asked about; the report shows it from then on.

        Returns
        -------
        list of Path
            What was written: all of it, or, after an error, nothing.
        """
        with locked(self.folder), scratch_folder(self.folder / "answer") as scratch:
            summary = read_summary(self.folder)  # another command may have added to it
            if not np.array_equal(summary.loadings, self.summary.loadings, equal_nan=True):
                raise InputError(
                    f"{str(self.folder)!r} was replaced by another fit in the meantime; ask again"
                )
            others = [found for found in summary.findings if found.key != finding.key]
            place = next(
                (i for i, found in enumerate(summary.findings) if found.key == finding.key),
                len(others),
            )
            others.insert(place, finding)
            for name, write in (more or {}).items():
                write(scratch / name)
            write_table(scratch / table, list(finding.header), finding.rows)
            line = summary.timeline if timeline is None else timeline
            write_report(replace(summary, findings=tuple(others), timeline=line), scratch)
            names = [*(more or {}), table, "report.html", "report.json"]
            replace_together([(scratch / name, self.folder / name) for name in names])
        self.__dict__.pop("summary", None)
        return [self.folder / name for name in names]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long
        return False
