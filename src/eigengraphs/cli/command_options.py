"""The options of every command, with their help, and the words that a shell completes.

A command is a record: its docstring is the help, its fields are the options, and a field that is
itself a record stands for all options of that. Nothing here imports numpy: a key press and
``--help`` must not wait for it. Tests compare the words with what the library takes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    dataclass_transform,
    get_args,
    get_type_hints,
)

import typer

import eigengraphs as eg

if TYPE_CHECKING:
    from eigengraphs.embedding import JointEmbedding
    from eigengraphs.stack import GraphStack

__all__ = [
    "COMMANDS", "NOBODY", "Changes", "Check", "Cluster", "Command", "Compare", "Contest", "Convert",
    "Demo", "EmbeddingOptions", "Evaluate", "Fit", "HoldingOut", "Info", "Plan", "Read", "Report",
    "Simulate", "Study", "Transform", "Uncertainty", "typer_command",
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
NOBODY = "none"  # instead of a column: treat every graph as a different participant


def _among(words: tuple[str, ...]) -> Any:
    """Return a function that completes the beginning of a word."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def option(text: str, *names: str, words: tuple[str, ...] = (), **more: Any) -> Any:
    """Return an option with its help and its names; a shell completes ``words``."""
    return typer.Option(*names, help=text, autocompletion=_among(words) if words else None, **more)


_reading = functools.partial(option, rich_help_panel="How files are read")
_of_stores = functools.partial(option, rich_help_panel="Graphs in a store")


def _count_or_auto(text: Any) -> int | str:
    if text == "auto":
        return "auto"
    if not str(text).isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"must be a whole number >= 1, or 'auto', got {text!r}")
    return int(text)


Source = Annotated[
    str,
    typer.Argument(
        metavar="IN", help="A folder, a pattern in quotes, a file, a manifest or a store."
    ),
]
Results = Annotated[
    Path, typer.Argument(metavar="OUT", help="A folder that eigengraphs fit has written.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, or its folder.")]
MovedGraphs = Annotated[
    Path | None, option("Where the graphs of the fit are now, if they were moved.")
]
Components = Annotated[
    Any,
    option(
        "Number of components, or auto.", "--components", "-d", metavar="N", parser=_count_or_auto,
        words=COMPONENTS,
    ),
]  # fmt: skip
Methods = Annotated[
    str, option("Methods to compare with, separated by commas: PCA,Omnibus; or all, or none.")
]
Json = Annotated[bool, option("Print progress and results as JSON lines.", "--json")]


# ------------------------------------------------------------ options that several commands take


@dataclass(frozen=True)
class Study:
    """Which files belong to the graphs, and how they are read."""

    participants: Annotated[
        Path | None, _reading("Table with a column participant_id, joined to the graphs.")
    ] = None
    vertices: Annotated[
        Path | None, _reading("Table of vertex names, optionally with coordinates x, y, z.")
    ] = None
    format: Annotated[str, _reading("Kind of files; usually detected.", words=FORMATS)] = "auto"
    key: Annotated[str | None, _reading("Array to read from a .mat or .npz file.")] = None
    delimiter: Annotated[str | None, _reading("Delimiter of text files.", words=DELIMITERS)] = None
    decimal: Annotated[str | None, _reading("Decimal mark of text files: . or ,")] = None
    thousands: Annotated[str | None, _reading("Thousands separator: , in 12,438.")] = None
    id_pattern: Annotated[
        str | None, _reading("Regular expression that finds the participant: _([0-9]+)_")
    ] = None
    align: Annotated[
        str,
        _reading("Graphs on different vertices: auto, union, intersection, strict.", words=ALIGN),
    ] = "auto"
    directed: Annotated[bool, _reading("Keep the direction of edges.", "--directed")] = False
    allow_missing: Annotated[
        bool, _reading("Accept nan entries and absent regions as missing.", "--allow-missing")
    ] = False
    max_bytes: Annotated[
        str | None, _reading("Largest size that a file may unpack to: 4G; see SECURITY.md.")
    ] = None
    memory: Annotated[
        str | None, _of_stores("Memory for the graphs, 1G; by default a quarter of all memory.")
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

    components: Components = 8
    transform: Annotated[
        list[str] | None,
        option(
            "Transform of the weights: log1p, rank, binarize, ...; several in order.",
            words=TRANSFORMS,
        ),
    ] = None
    center: Annotated[bool, option("Subtract the mean graph.", "--center")] = False
    seed: Annotated[int, option("Seed of all random numbers.", min=0)] = 0

    def estimator(self, graphs: GraphStack, **settings: Any) -> JointEmbedding:
        """Return the estimator for these graphs."""
        return eg.JointEmbedding(
            self.components,
            directed=graphs.is_directed,
            center=self.center,
            missing="unobserved" if graphs.has_missing else "error",
            preprocess=self.transform or None,
            random_state=self.seed,
            **settings,
        )


@dataclass(frozen=True)
class HoldingOut:
    """How graphs are held out."""

    cv: Annotated[str, option("Number of folds, or loo: each graph or group alone.")] = "5"
    repeats: Annotated[int, option("How often the graphs are split into folds.", min=1)] = 1
    groups: Annotated[
        str | None,
        option("Column whose graphs stay together; by default the participants. none: no groups."),
    ] = None
    folds: Annotated[str | None, option("Column with the fold of each graph: session.")] = None
    jobs: Annotated[int, option("Number of processes; each takes a fold.", min=1)] = 1


# ----------------------------------------------------------------------------------- the commands


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Command:
    """The options of a command, a record; ``first`` is the step shown before heavy imports."""

    first: ClassVar[tuple[str, str] | None] = None

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    @property
    def first_step(self) -> tuple[str, str] | None:
        """Stage and text of ``first``."""
        return self.first and (self.first[0], self.first[1].format(**vars(self)))


class Check(Command):
    """Read graphs and say what is in them; write nothing.

    Example: eigengraphs check connectomes --participants participants.tsv
    """

    first = ("read", "reading {source}")
    source: Source
    study: Annotated[Study, "memory"]
    label: Annotated[str | None, option("Column of interest; its values are counted.")] = None


class Fit(Command):
    """Embed graphs, and write loadings, positions, the model and a report.

    Example: eigengraphs fit connectomes results --participants participants.tsv --label group
    """

    first = ("read", "reading {source}")
    source: Source
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the results.")]
    embedding: EmbeddingOptions
    label: Annotated[
        str | None, option("Column of interest; it is predicted on held-out graphs.")
    ] = None
    order: Annotated[
        str | None,
        option(
            "Time of each graph, numbers or dates; or input. Adds a time line.", metavar="COLUMN"
        ),
    ] = None
    loadings: Annotated[
        str, option("free, nonnegative, sparse, shared or class.", words=LOADINGS)
    ] = "free"
    max_nonzeros: Annotated[int | None, option("Most nonzero loadings of a graph.", min=1)] = None
    diagonal: Annotated[
        str, option("Self-loops: auto, filled, observed or unobserved.", words=DIAGONALS)
    ] = "auto"
    refine: Annotated[bool, option("Improve all components together.", "--refine")] = False
    n_init: Annotated[int, option("Starts for each component; further ones are random.", min=1)] = 1
    max_iter: Annotated[int, option("Maximum number of iterations.", min=1)] = 1000
    halves: Annotated[
        bool, option("Test the components on halves of the graphs.", "--halves/--no-halves")
    ] = True
    deterministic: Annotated[
        bool, _of_stores("Give the same bits for any number of workers.", "--deterministic")
    ] = False
    study: Study
    title: Annotated[str, option("Heading of the report.")] = ""
    strict: Annotated[
        bool, option("Exit with code 4 if the search did not converge.", "--strict")
    ] = False
    workers: Annotated[
        int | None, _of_stores("Number of worker processes, a cluster on this machine.", min=1)
    ] = None
    cluster: Annotated[
        str | None, _of_stores("Work on this Dask cluster: address of its scheduler, tcp://...")
    ] = None
    # For scripts of earlier versions: a fit of a store continues by itself.
    resume: Annotated[bool, typer.Option("--resume", hidden=True)] = False


class Transform(Command):
    """Project new graphs on the components of a model; nothing is learned from them.

    Example: eigengraphs transform results/model.eg new-connectomes new-loadings.tsv
    """

    first = ("read", "reading {source}")
    model: Model
    source: Source
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Table of loadings to write.")]
    study: Annotated[Study, "memory"]


class Report(Command):
    """Write report.html again from report.json; no graphs are needed.

    Example: eigengraphs report results --title "Thirty people" --output thirty.html
    """

    folder: Annotated[
        Path, typer.Argument(metavar="OUT", help="A folder of results, or its report.json.")
    ]
    title: Annotated[str, option("Another heading of the page.")] = ""
    output: Annotated[Path | None, option("By default OUT/report.html.", metavar="FILE")] = None


class Contest(Command):
    """Compare joint embedding with other methods on your graphs: fit, prediction, time, size.

    Example: eigengraphs contest connectomes --participants participants.tsv --label group
    """

    first = ("read", "reading {source}")
    source: Source
    label: Annotated[str, option("Column to predict: classes, or a quantity.")]
    embedding: EmbeddingOptions
    how: HoldingOut
    study: Annotated[Study, "memory"]
    output: Annotated[Path, option("Folder for contest.tsv and contest.png.", metavar="FOLDER")] = (
        Path("contest")
    )
    methods: Methods = "Multiple ASE,Omnibus,Unfolded ASE,PCA,ASE"


class Compare(Command):
    """Compare the loadings of groups: permutation tests, effect sizes, false discovery rate.

    Example: eigengraphs compare results --group group --covariates age
    """

    folder: Results
    group: Annotated[str, option("Column of the graphs: groups, or a quantity such as age.")]
    covariates: Annotated[str, option("Columns to adjust for: age,sex,site.")] = ""
    subject: Annotated[
        str | None,
        option("Column of participants; or none: treat every graph as a different participant."),
    ] = None
    permutations: Annotated[int, option("Most permutations to draw.", min=99)] = 9999
    seed: Annotated[int, option("Seed of the random permutations.", min=0)] = 0


class Evaluate(Command):
    """Predict a column on held-out graphs: the whole pipeline is learned in every fold.

    Example: eigengraphs evaluate results --target sex --cv 5 --groups participant_id
    """

    first = ("read", "opening {folder}")
    folder: Results
    target: Annotated[str, option("Column to predict: classes, or a quantity.")]
    how: HoldingOut
    covariates: Annotated[str, option("Columns to regress out in each fold: age,site.")] = ""
    learn_from_one: Annotated[
        bool, option("Learn from one fold, hold out all others.", "--learn-from-one")
    ] = False
    methods: Methods = "all"
    components: Components = None
    graphs: MovedGraphs = None
    seed: Annotated[int, option("Seed of the folds.", min=0)] = 0


class Read(Command):
    """Describe the components: their vertices and graphs, and whether they replicate.

    Example: eigengraphs read results
    """

    first = ("read", "reading the graphs of {folder}")
    folder: Results
    graphs: MovedGraphs = None
    splits: Annotated[int, option("Number of random halvings of the graphs.", min=1)] = 6


class Uncertainty(Command):
    """Give every cross-fitted loading an interval and every position a standard error.

    Example: eigengraphs uncertainty results
    """

    first = ("read", "reading the graphs of {folder}")
    folder: Results
    graphs: MovedGraphs = None
    resamples: Annotated[int, option("Number of bootstrap fits.", min=10)] = 100


class Cluster(Command):
    """Cluster vertices by their positions, or graphs by their loadings.

    Example: eigengraphs cluster results --of graphs --truth group
    """

    folder: Results
    of: Annotated[str, option("What to cluster: vertices or graphs.")] = "vertices"
    clusters: Annotated[
        Any, option("Number of clusters, or auto.", metavar="N", parser=_count_or_auto)
    ] = "auto"
    method: Annotated[str, option("mixture or kmeans.")] = "mixture"
    truth: Annotated[str | None, option("Known classes to compare with.", metavar="COLUMN")] = None
    graph: Annotated[str | None, option("Use positions in this graph.", metavar="NAME")] = None
    degree_corrected: Annotated[
        bool, option("Divide positions by their length.", "--degree-corrected")
    ] = False
    seed: Annotated[int, option("Seed of the starts.", min=0)] = 0


class Changes(Command):
    """Find changes of level and anomalous graphs in ordered graphs, from their loadings.

    Example: eigengraphs changes results --order age
    """

    folder: Results
    order: Annotated[
        str | None, option("Time of each graph: a column, or input; by default as in the report.")
    ] = None
    smallest: Annotated[int, option("Fewest graphs between two changes.", min=2)] = 3
    permutations: Annotated[int, option("Number of series without a change.", min=99)] = 999
    seed: Annotated[int, option("Seed of the permutations.", min=0)] = 0


class Convert(Command):
    """Write graphs in another format, with their names and vertices.

    With an OUT that ends in .egs, graphs go into a store, a few at a time, for data that do not
    fit in memory. If it is stopped, the same command continues.

    Example: eigengraphs convert connectomes all.npz
    """

    first = ("read", "reading {source}")
    source: Source
    output: Annotated[str, typer.Argument(metavar="OUT", help="File, folder or store to write.")]
    study: Annotated[Study, "memory", "participants", "id_pattern"]
    to: Annotated[
        str, option("Format of OUT, or store; usually told by its ending.", words=OUTPUT_FORMATS)
    ] = "auto"
    append: Annotated[bool, option("Add the graphs to an existing store.", "--append")] = False
    storage: Annotated[str, option("How a store keeps graphs: auto, dense or sparse.")] = "auto"


class Info(Command):
    """Describe a model in a few lines.

    Example: eigengraphs info results/model.eg
    """

    model: Model


class Plan(Command):
    """Forecast passes, bytes read, peak memory and time of a fit, after a trial on a few blocks.

    Example: eigengraphs plan graphs.egs -d 8 --memory 1G
    """

    store: Annotated[Path, typer.Argument(metavar="STORE", help="A store, made by convert.")]
    components: Annotated[int, option("Number of components.", "--components", "-d", min=1)] = 8
    memory: Annotated[
        str | None, option("Memory of the fit, such as 1G; by default a quarter of all memory.")
    ] = None
    workers: Annotated[int | None, option("Number of blocks at a time.", min=1)] = None
    directed: Annotated[bool, option("Components of directed graphs.", "--directed")] = False
    center: Annotated[bool, option("Subtract the mean graph.", "--center")] = False


class Demo(Command):
    """Embed 32 mouse brains, classify each by its nearest neighbor, write a report.

    Example: eigengraphs demo --output demo-output
    """

    first = ("read", "reading 32 mouse brains")
    output: Annotated[Path, option("Folder for the tables, the picture and the page.")] = Path(
        "demo-output"
    )
    components: Annotated[int, option("Number of components.", min=2)] = 8
    seed: Annotated[int, option("Seed of the random starts.", min=0)] = 0
    files: Annotated[
        Path | None, option("Only write the brains as files into this folder.", metavar="FOLDER")
    ] = None


class Simulate(Command):
    """Draw graphs with a known truth; write them, a table of participants, and the truth.

    Example: eigengraphs simulate section5.2 study --graphs 40
    """

    first = ("draw", "reading {model}")
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help=f"A recipe (.toml or .json), or one of {', '.join(DESIGNS)}.",
            autocompletion=_among(DESIGNS),
        ),
    ]
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File or new folder to write.")]
    graphs: Annotated[int | None, option("Number of graphs, if not the model's.", min=1)] = None
    seed: Annotated[int, option("Seed; graph i depends only on the seed and on i.", min=0)] = 0
    file_format: Annotated[
        str, option("Format of OUT; usually told by its ending.", "--format", words=OUTPUT_FORMATS)
    ] = "auto"
    weights: Annotated[str, option("Edges: auto, binary or counts.", words=WEIGHTS)] = "auto"
    vertices: Annotated[int | None, option("Vertices, for weighted and sparse.", min=1)] = None
    mean_degree: Annotated[float | None, option("Mean degree, for weighted and sparse.")] = None
    loops: Annotated[bool, option("Draw self-loops too.", "--loops")] = False


#: All commands, by their headings in the help. What each does is the function of its name in the
#: file of its name, ``commands/fit.py``.
COMMANDS: dict[str, tuple[type[Command], ...]] = {
    "From files to results": (Check, Fit, Transform, Report, Contest),
    "Analyses of a fit": (Compare, Evaluate, Read, Uncertainty, Cluster, Changes),
    "Files, stores and sizes": (Convert, Info, Plan),
    "Examples and simulations": (Demo, Simulate),
}


# ---------------------------------------------------------------------------- records as commands


def typer_command(command: type[Command], run: Callable[[Any, bool], None]) -> Callable[..., None]:
    """Return a function for typer with an option for each field of a record, and ``--json``.

    Parameters
    ----------
    command
        The record. A field that is itself a record becomes one option per field, except those that
        ``Annotated[Record, "name", ...]`` names, which keep their defaults.
    run
        Takes the record, and whether ``--json`` was given.
    """

    def called(as_json: bool, **given: Any) -> None:
        run(_made(command, given), as_json)

    own = inspect.signature(called).parameters["as_json"]
    parameters = [*_parameters(command), own.replace(default=False, annotation=Json)]
    parameters = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
    called.__doc__, called.__name__ = command.__doc__, command.__name__.lower()
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _kinds(record: Any) -> Iterator[tuple[inspect.Parameter, Any, list[str]]]:
    """Yield each field of a record, its type, and what stands beside the type."""
    hints = get_type_hints(record, include_extras=True)
    for name, parameter in inspect.signature(record).parameters.items():
        kind, *beside = get_args(hints[name]) or (hints[name],)
        yield parameter.replace(annotation=hints[name]), kind, beside


def _parameters(record: Any, without: Sequence[str] = ()) -> Iterator[inspect.Parameter]:
    for parameter, kind, beside in _kinds(record):
        if is_dataclass(kind):
            yield from _parameters(kind, beside)
        elif parameter.name not in without:
            yield parameter


def _made(record: Any, given: dict[str, Any]) -> Any:
    made = {}
    for parameter, kind, _ in _kinds(record):
        if is_dataclass(kind):
            made[parameter.name] = _made(kind, given)
        elif parameter.name in given:
            made[parameter.name] = given[parameter.name]
    return record(**made)
