"""Options that several commands share, and the words that a shell completes.

Options that belong together are a record: each field is an option with its help and its default,
and a command takes the whole record (see `spread`). Nothing here imports numpy: a key press and
``--help`` must not wait for it. Tests compare the words with what the library takes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from eigengraphs.errors import InputError

if TYPE_CHECKING:
    from eigengraphs.embedding import JointEmbedding
    from eigengraphs.stack import GraphStack

__all__ = [
    "OF_STORES", "EmbeddingOptions", "Json", "MovedGraphs", "Results", "Source", "Study", "among",
    "count_or_auto", "covariate_names", "spread",
]  # fmt: skip

ALIGN = ("auto", "union", "intersection", "strict")
COMPONENTS = ("auto", "2", "4", "8", "16")
DELIMITERS = ("tab", "space", ",", ";")
DESIGNS = ("section5.1", "section5.2", "weighted", "sparse")
DIAGONALS = ("auto", "filled", "observed", "unobserved")
FORMATS = (
    "auto", "matrix", "edgelist", "graphml", "gml", "pajek", "numpy", "matlab", "parquet", "bids",
)  # fmt: skip
LOADINGS = ("free", "shared", "class", "nonnegative", "sparse")
OUTPUT_FORMATS = (
    "auto", "csv", "tsv", "edgelist", "graphml", "gml", "net", "npy", "npz", "mat", "parquet",
)  # fmt: skip
TRANSFORMS = (
    "log1p", "signed_log1p", "binarize", "rank", "signed_rank", "fisher_z", "unit_norm",
    "drop_loops",
)  # fmt: skip
WEIGHTS = ("auto", "binary", "counts")
OF_STORES = "Graphs in a store"  # a heading in the help, as is the next
_OF_FILES = "How files are read"


def among(words: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return a function that completes the beginning of a word."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def count_or_auto(text: Any) -> int | str:
    """Return the value of an option that is a whole number, or "auto"."""
    if text == "auto":
        return "auto"
    if not str(text).isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"must be a whole number >= 1, or 'auto', got {text!r}")
    return int(text)


def covariate_names(text: str, beside: str, option: str) -> list[str]:
    """Return the columns that ``--covariates`` names; each once, and not that of ``option``."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    twice = [name for name in names if name == beside or names.count(name) > 1]
    if twice:
        raise InputError(f"{twice[0]!r} is named twice, by {option} or --covariates")
    return names


Source = Annotated[
    str,
    typer.Argument(
        metavar="IN", help="A folder, a pattern in quotes, a file, a manifest or a store."
    ),
]
Results = Annotated[
    Path, typer.Argument(metavar="OUT", help="A folder that eigengraphs fit has written.")
]
MovedGraphs = Annotated[
    Path | None, typer.Option(help="Where the graphs of the fit are now, if they were moved.")
]
Json = Annotated[bool, typer.Option("--json", help="Print progress and results as JSON lines.")]


def _reading(*names: str, **options: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_OF_FILES, **options)


@dataclass(frozen=True)
class Study:
    """Which files belong to the graphs, and how they are read."""

    participants: Annotated[
        Path | None,
        _reading(help="Table with a column participant_id, which is joined to the graphs."),
    ] = None
    vertices: Annotated[
        Path | None, _reading(help="Table of vertex names, optionally with coordinates x, y, z.")
    ] = None
    format: Annotated[
        str,
        _reading(help="Kind of files; usually detected.", autocompletion=among(FORMATS)),
    ] = "auto"
    key: Annotated[
        str | None, _reading(help="Name of the array to read from a .mat or .npz file.")
    ] = None
    delimiter: Annotated[
        str | None,
        _reading(help="Delimiter of text files.", autocompletion=among(DELIMITERS)),
    ] = None
    decimal: Annotated[
        str | None, _reading(help="Decimal mark in text files and tables: . or ,")
    ] = None
    thousands: Annotated[str | None, _reading(help="Thousands separator, such as , in 12,438.")] = (
        None
    )
    id_pattern: Annotated[
        str | None,
        _reading(
            help="Regular expression with one group: the participant in a file name, such as "
            "_([0-9]+)_"
        ),
    ] = None
    align: Annotated[
        str,
        _reading(
            help="Graphs on different vertices: auto, union, intersection or strict.",
            autocompletion=among(ALIGN),
        ),
    ] = "auto"
    directed: Annotated[bool, _reading("--directed", help="Keep the direction of edges.")] = False
    allow_missing: Annotated[
        bool,
        _reading(
            "--allow-missing",
            help="Leave out entries that are nan, and regions that a matrix lacks.",
        ),
    ] = False
    max_bytes: Annotated[
        str | None,
        _reading(help="Most that one file may unpack to, such as 4G; see SECURITY.md."),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory for work on a store, such as 1G; by default a quarter of all memory.",
            rich_help_panel=OF_STORES,
        ),
    ] = None

    @property
    def marks(self) -> dict[str, Any]:
        """The arguments of readers of tables."""
        thousands = " " if self.thousands == "space" else self.thousands
        return {"decimal": self.decimal, "thousands": thousands}

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `eigengraphs.io.read`."""
        return {
            "format": self.format,
            "key": self.key,
            "delimiter": {"tab": "\t", "space": " "}.get(self.delimiter or "", self.delimiter),
            "vertices": self.align,
            "directed": True if self.directed else "auto",
            "missing": "unobserved" if self.allow_missing else "error",
            "max_bytes": self.max_bytes,
            "id_pattern": self.id_pattern,
            **self.marks,
        }


@dataclass(frozen=True)
class EmbeddingOptions:
    """The settings of an embedding that most analyses need."""

    components: Annotated[
        Any,
        typer.Option(
            "--components",
            "-d",
            help="Number of components, or auto.",
            metavar="N",
            parser=count_or_auto,
            autocompletion=among(COMPONENTS),
        ),
    ] = 8
    transform: Annotated[
        list[str] | None,
        typer.Option(
            help="Transform of the weights: log1p, rank, binarize, ...; several in order.",
            autocompletion=among(TRANSFORMS),
        ),
    ] = None
    center: Annotated[bool, typer.Option("--center", help="Subtract the mean graph.")] = False
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0

    def estimator(self, graphs: GraphStack, **settings: Any) -> JointEmbedding:
        """Return the estimator for these graphs."""
        from eigengraphs.embedding import JointEmbedding

        return JointEmbedding(
            self.components,
            directed=graphs.is_directed,
            center=self.center,
            missing="unobserved" if graphs.has_missing else "error",
            preprocess=self.transform or None,
            random_state=self.seed,
            **settings,
        )


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with options in place of its records.

    A parameter whose type is a dataclass becomes one option per field; those that
    ``Annotated[Record, "name", ...]`` names are left out, and keep their defaults.
    """
    records, parameters = dict[str, tuple[Any, list[str]]](), list[inspect.Parameter]()
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        record, *without = get_args(hints[name]) or (hints[name],)
        if not is_dataclass(record):
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        options = [field for field in fields(record) if field.name not in without]
        records[name] = record, [field.name for field in options]
        kinds = get_type_hints(record, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name, parameter.kind, default=field.default, annotation=kinds[field.name]
            )
            for field in options
        ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: record(**{option: given.pop(option) for option in options})
            for name, (record, options) in records.items()
        }
        command(**given, **made)

    # A signature wants parameters with defaults behind those without.
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
