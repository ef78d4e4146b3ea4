"""The options of every command, with their help, and the words that a shell completes.

A command is a record: its docstring is the help, and its fields are the options, each with its help
and its default. A field that is itself a record adds all options of that record. Nothing here
imports numpy: completion and ``--help`` must not wait for it. Tests compare the words with those
that the library accepts.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_type_hints

import typer

import eigengraphs as eg

if TYPE_CHECKING:
    from eigengraphs.embedding import JointEmbedding
    from eigengraphs.stack import GraphStack

ALIGN = ("auto", "union", "intersection", "strict")
COMPONENTS = ("auto", "cv", "2", "4", "8", "16")
DELIMITERS = ("tab", "space", ",", ";")
DESIGNS = ("section5.1", "section5.2", "weighted", "sparse")
DIAGONALS = ("auto", "filled", "observed", "unobserved")
FORMATS = ("auto", "matrix", "edgelist", "graphml", "numpy", "matlab", "parquet", "bids")
LOADINGS = ("free", "shared", "class", "nonnegative", "sparse")
OUTPUT_FORMATS = ("auto", "csv", "tsv", "edgelist", "graphml", "npy", "npz", "mat", "parquet")
TRANSFORMS = (
    "log1p", "signed_log1p", "binarize", "rank", "signed_rank", "fisher_z", "unit_norm",
    "laplacian", "drop_loops",
)  # fmt: skip
UNSEEN = ("error", "estimate")
WEIGHTS = ("auto", "binary", "counts")
NOBODY = "none"  # instead of a column: treat every graph as a different participant, or no sites


def _among(words: tuple[str, ...]) -> Any:
    """Return a function that completes the beginning of a word."""
    return (lambda incomplete: [x for x in words if x.startswith(incomplete)]) if words else None


def option(
    text: str, default: Any = None, *names: str, words: tuple[str, ...] = (), **more: Any
) -> Any:
    """Return a field that is an option: its help, its default, its names if it has others.

    A shell completes ``words``; the default ``...`` means that the option is required.
    """
    made = typer.Option(..., *names, help=text, autocompletion=_among(words), **more)
    return field(default=MISSING if default is ... else default, metadata={"option": made})


def argument(metavar: str, text: str, words: tuple[str, ...] = ()) -> Any:
    """Return a field that is an argument."""
    made = typer.Argument(metavar=metavar, help=text, autocompletion=_among(words))
    return field(metadata={"option": made})


def _count_or(*words: str) -> Callable[[Any], int | str]:
    def parse(text: Any) -> int | str:
        if text in words:
            return str(text)
        if not str(text).isdecimal() or int(text) < 1:
            other = " or ".join(map(repr, words))
            raise typer.BadParameter(f"must be a whole number >= 1, or {other}, got {text!r}")
        return int(text)

    return parse


_reading = partial(option, rich_help_panel="How files are read")
_of_stores = partial(option, rich_help_panel="Graphs in a store")
_of_sites = partial(option, rich_help_panel="Several sites")
_source = partial(argument, "IN", "A folder, a pattern in quotes, a file, a manifest or a store.")
_results = partial(argument, "OUT", "A folder that eigengraphs fit has written.")
_model = partial(argument, "MODEL", "A model file, or its folder.")
_moved_graphs = partial(option, "Where the graphs of the fit are now, if they were moved.")
_count = partial(option, metavar="N", parser=_count_or("auto"))
_methods = partial(
    option, "Methods to compare with, separated by commas: PCA,Omnibus; or all, or none."
)
_target = partial(option, "Column to predict: classes, or a quantity.", ...)


def _components(default: Any) -> Any:
    text = "Number of components, or auto; in evaluate and contest also cv, chosen in inner folds."
    names = ("--components", "-d")
    return _count(text, default, *names, words=COMPONENTS, parser=_count_or("auto", "cv"))


# ------------------------------------------------------------ options that several commands take


@dataclass(frozen=True)
class Study:
    """Which files belong to the graphs, and how they are read."""

    participants: Path | None = _reading(
        "Table with a column participant_id, joined to the graphs."
    )
    vertices: Path | None = _reading("Table of vertex names, optionally with coordinates x, y, z.")
    format: str = _reading("Kind of files; usually detected.", "auto", words=FORMATS)
    key: str | None = _reading("Array to read from a .mat or .npz file.")
    delimiter: str | None = _reading("Delimiter of text files.", words=DELIMITERS)
    decimal: str | None = _reading("Decimal mark of text files: . or ,")
    thousands: str | None = _reading("Thousands separator: , in 12,438.")
    id_pattern: str | None = _reading("Regular expression that finds the participant: _([0-9]+)_")
    align: str = _reading(
        "Graphs on different vertices: auto, union, intersection, strict.", "auto", words=ALIGN
    )
    directed: bool = _reading("Keep the direction of edges.", False)
    allow_missing: bool = _reading("Accept nan entries and absent regions as missing.", False)
    max_bytes: str | None = _reading("Largest size that a file may unpack to: 4G; see SECURITY.md.")
    memory: str | None = _of_stores(
        "Memory for the graphs, 1G; by default a quarter of all memory."
    )

    @property
    def marks(self) -> dict[str, Any]:
        """The arguments of readers of tables."""
        thousands = " " if self.thousands == "space" else self.thousands
        return {"decimal": self.decimal, "thousands": thousands}

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `eigengraphs.io.read`."""
        same = ("format", "key", "max_bytes", "id_pattern")
        return self.marks | {name: getattr(self, name) for name in same} | {
            "delimiter": {"tab": "\t", "space": " "}.get(self.delimiter or "", self.delimiter),
            "vertices": self.align,
            "directed": True if self.directed else "auto",
            "missing": "unobserved" if self.allow_missing else "error",
        }  # fmt: skip


@dataclass(frozen=True)
class EmbeddingOptions:
    """The settings of an embedding that most analyses need."""

    components: Any = _components(8)
    transform: list[str] | None = option(
        "Transform of the weights: log1p, rank, binarize, ...; several in order.", words=TRANSFORMS
    )
    center: bool = option("Subtract the mean graph.", False)
    seed: int = option("Seed of all random numbers.", 0, min=0)

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
class FitSettings:
    """Further settings of an embedding, by their names in Python."""

    loadings: str = option("free, nonnegative, sparse, shared or class.", "free", words=LOADINGS)
    max_nonzeros: int | None = option("Largest number of nonzero loadings per graph.", min=1)
    diagonal: str = option(
        "Self-loops: auto, filled, observed or unobserved.", "auto", words=DIAGONALS
    )
    degree_corrected: bool = option("For hubs that differ from graph to graph.", False)
    refine: bool = option("Improve all components together.", False)
    n_init: int = option("Starts for each component; further ones are random.", 1, min=1)
    max_iter: int = option("Maximum number of iterations.", 1000, min=1)
    deterministic: bool = _of_stores("Give the same bits for any number of workers.", False)


@dataclass(frozen=True)
class HoldingOut:
    """How graphs are held out."""

    cv: str = option("Number of folds, or loo: each graph or group alone.", "5")
    repeats: int = option("How often the graphs are split into folds.", 1, min=1)
    groups: str | None = option(
        "Column whose graphs stay together; by default the participants. none: no groups."
    )
    folds: str | None = option("Column with the fold of each graph: session.")
    jobs: int = option("Number of processes; each takes a fold.", 1, min=1)


@dataclass(frozen=True)
class Harmonizing:
    """How what sites add to loadings is taken out (ComBat)."""

    harmonize: str | None = _of_sites(
        "Column of sites: loadings are harmonized over them (ComBat). none: not, whatever the fit."
    )
    controls: str | None = _of_sites(
        "Learn the harmonization from these graphs alone: diagnosis=control.",
        metavar="COLUMN=VALUE",
    )
    unseen_sites: str = _of_sites(
        "Held-out sites that were not learned from: error, or estimate from their graphs, without "
        "labels.", "error", words=UNSEEN,
    )  # fmt: skip
    location_only: bool = _of_sites("Take out locations of sites, and keep their scales.", False)


# ----------------------------------------------------------------------------------- the commands


@typing.dataclass_transform(kw_only_default=True, frozen_default=True)
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
    source: str = _source()
    study: Annotated[Study, "memory"]
    label: str | None = option("Column of interest; its values are counted.")


class Fit(Command):
    """Embed graphs, and write loadings, positions, the model and a report.

    Example: eigengraphs fit connectomes results --participants participants.tsv --label group
    """

    first = ("read", "reading {source}")
    source: str = _source()
    output: Path = argument("OUT", "Folder for the results.")
    embedding: EmbeddingOptions
    label: str | None = option("Column of interest; it is predicted on held-out graphs.")
    order: str | None = option(
        "Time of each graph, numbers or dates; or input. Adds a time line.", metavar="COLUMN"
    )
    settings: FitSettings
    sites: Annotated[Harmonizing, "unseen_sites"]
    keep: str = _of_sites("Columns whose effects on loadings harmonization keeps: age,sex.", "")
    halves: bool = option(
        "Test the components on halves of the graphs.", True, "--halves/--no-halves"
    )
    study: Study
    title: str = option("Heading of the report.", "")
    strict: bool = option("Exit with code 4 if the search did not converge.", False)
    workers: int | None = _of_stores(
        "Number of worker processes, a cluster on this machine.", min=1
    )
    cluster: str | None = _of_stores(
        "Work on this Dask cluster: address of its scheduler, tcp://..."
    )
    # For scripts of earlier versions: a fit of a store continues by itself.
    resume: bool = option("", False, hidden=True)


class Transform(Command):
    """Project new graphs on the components of a model; nothing is learned from them.

    Example: eigengraphs transform results/model.eg new-connectomes new-loadings.tsv
    """

    first = ("read", "reading {source}")
    model: Path = _model()
    source: str = _source()
    output: Path = argument("OUT", "Table of loadings to write.")
    study: Annotated[Study, "memory"]


class Report(Command):
    """Write report.html again from report.json; no graphs are needed.

    Example: eigengraphs report results --title "Thirty people" --output thirty.html
    """

    folder: Path = argument("OUT", "A folder of results, or its report.json.")
    title: str = option("Another heading of the page.", "")
    output: Path | None = option("By default OUT/report.html.", metavar="FILE")


class Contest(Command):
    """Compare joint embedding with other methods on your graphs: fit, prediction, time, size.

    Example: eigengraphs contest connectomes --participants participants.tsv --label group
    """

    first = ("read", "reading {source}")
    source: str = _source()
    label: str = _target()
    embedding: EmbeddingOptions
    how: HoldingOut
    sites: Harmonizing
    study: Annotated[Study, "memory"]
    output: Path = option(
        "Folder for contest.tsv and contest.png.", Path("contest"), metavar="FOLDER"
    )
    methods: str = _methods("Multiple ASE,Omnibus,Unfolded ASE,PCA,ASE")


class Links(Command):
    """Rank the pairs that have no edge, or are missing, by how likely they have one.

    Example: eigengraphs links layers --top 50
    """

    first = ("read", "reading {source}")
    source: str = _source()
    components: int = option("Largest number of components.", 8, "--components", "-d", min=1)
    hidden: float = option("Share of the pairs that are held out, to try the scores on.", 0.1)
    repeats: int = option("How often pairs are held out; 0 to try nothing.", 5, min=0)
    top: int = option("Number of pairs to list.", 100, min=1)
    embedding: Annotated[EmbeddingOptions, "center", "components"]
    study: Annotated[Study, "memory"]
    output: Path = option("Folder for pairs.tsv and accuracy.tsv.", Path("links"), metavar="FOLDER")


class Compare(Command):
    """Compare the loadings of groups: permutation tests, effect sizes, false discovery rate.

    Example: eigengraphs compare results --group group --covariates age
    """

    folder: Path = _results()
    group: str | None = option("Column of the graphs: groups, or a quantity such as age.")
    covariates: str = option("Columns to adjust for: age,sex,site.", "")
    formula: str | None = option("Instead of both, a linear model: '~ diagnosis * age + sex'.")
    test: list[str] | None = option(
        "What of the formula is tested: a term, diagnosis:age, or a contrast of coefficients, "
        "'diagnosis[T.b] - diagnosis[T.c]'; several are tested together."
    )
    sites: Annotated[Harmonizing, "controls", "unseen_sites"]
    subject: str | None = option(
        "Column of participants; or none: treat every graph as a different participant."
    )
    permutations: int = option("Largest number of permutations.", 9999, min=99)
    seed: int = option("Seed of the random permutations.", 0, min=0)


class Effects(Compare):
    """Find the edges, regions and networks that differ: of the pattern, and of the weights.

    Example: eigengraphs effects results --group group --covariates age
    """

    first = ("read", "opening {folder}")
    by: str | None = option("Column of the vertices, networks: tests of pairs of them.")
    pattern_only: bool = option("Do not read the graphs again: test the pattern alone.", False)
    level: float = option("Family-wise level at which edges are named.", 0.05, min=0.0001, max=0.5)
    permutations: int = option("Largest number of permutations.", 4999, min=99)
    graphs: Path | None = _moved_graphs()


class Trajectories(Command):
    """Estimate slopes of loadings over time within people, and compare them between groups.

    Example: eigengraphs trajectories results --time age --group diagnosis
    """

    folder: Path = _results()
    time: str = option("Column of the graphs with numbers: age, or years since baseline.", ...)
    subject: str | None = option("Column of participants; by default that of the table.")
    group: str | None = option("Column of groups of participants, whose slopes are compared.")
    covariates: str = option("Columns to adjust for: sex,site.", "")


class Evaluate(Command):
    """Predict a column on held-out graphs: the whole pipeline is learned in every fold.

    Example: eigengraphs evaluate results --target sex --cv 5 --groups participant_id
    """

    first = ("read", "opening {folder}")
    folder: Path = _results()
    target: str = _target()
    how: HoldingOut
    covariates: str = option(
        "Columns to adjust the features of graphs for, in each fold: age,site.", ""
    )
    beyond: str = option(
        "Does the embedding add to these columns? Predicts from them alone, and with it: age,sex.",
        "",
    )
    by: str | None = option(
        "Column whose values are measured one by one, such as site; by default the folds."
    )
    positive: str | None = option(
        "Of two classes, the one that sensitivity is about; by default the last by name."
    )
    permutations: int = option(
        "How often labels are permuted and all is learned anew, for a p value.", 0, min=0
    )
    sites: Harmonizing
    learn_from_one: bool = option("Learn from one fold, hold out all others.", False)
    methods: str = _methods("all")
    components: Any = _components(None)
    graphs: Path | None = _moved_graphs()
    seed: int = option("Seed of the folds.", 0, min=0)


class Power(Command):
    """Say how many participants a study of two groups needs, by simulation from a pilot fit.

    Example: eigengraphs power results --group group --effect 0.5 --sizes 20,40,80
    """

    first = ("simulate", "opening {folder}")
    folder: Path = _results()
    group: str = option("Column of groups: their graphs tell the spread within a group.", ...)
    effect: str = option(
        "Difference of two groups in standard deviations within groups; or pilot: their own, "
        "shrunk.",
        "0.5",
    )
    component: int | None = option(
        "Component with the effect; by default the one on which the groups differ most.", min=1
    )
    sizes: str = option("Participants per group, separated by commas.", "20,40,80")
    test: str = option(
        "Test that the answer is about: alone (one component), fdr or family (of all), or joint.",
        "family",
        words=("alone", "fdr", "family", "joint"),
    )
    covariates: str = option("Columns to adjust the pilot for: age,sex.", "")
    level: float = option("Level of the tests.", 0.05, min=0.0001, max=0.5)
    studies: int = option("Number of simulated studies of each size.", 500, min=10)
    permutations: int = option("Number of permutations of each test.", 999, min=19)
    seed: int = option("Seed of the simulation.", 0, min=0)


class Read(Command):
    """Describe the components: their vertices and graphs, and whether they replicate.

    Example: eigengraphs read results
    """

    first = ("read", "reading the graphs of {folder}")
    folder: Path = _results()
    graphs: Path | None = _moved_graphs()
    splits: int = option("Number of random halvings of the graphs.", 6, min=1)


class Uncertainty(Command):
    """Compute intervals of cross-fitted loadings, and standard errors of positions.

    Example: eigengraphs uncertainty results
    """

    first = ("read", "reading the graphs of {folder}")
    folder: Path = _results()
    graphs: Path | None = _moved_graphs()
    resamples: int = option("Number of bootstrap fits.", 100, min=10)


class Cluster(Command):
    """Cluster vertices by their positions, or graphs by their loadings.

    Example: eigengraphs cluster results --of graphs --truth group
    """

    folder: Path = _results()
    of: str = option("What to cluster: vertices or graphs.", "vertices")
    clusters: Any = _count("Number of clusters, or auto.", "auto")
    method: str = option("mixture or kmeans.", "mixture")
    truth: str | None = option("Known classes to compare with.", metavar="COLUMN")
    graph: str | None = option("Use positions in this graph.", metavar="NAME")
    normalize_rows: bool = option("Divide positions by their length.", False)
    stability: int = option("Fits to resampled graphs that clusters are compared with.", 0, min=0)
    graphs: Path | None = _moved_graphs()
    seed: int = option("Seed of the starts.", 0, min=0)


class Changes(Command):
    """Find changes of level and anomalous graphs in ordered graphs, from their loadings.

    Example: eigengraphs changes results --order age
    """

    folder: Path = _results()
    order: str | None = option(
        "Time of each graph: a column, or input; by default as in the report."
    )
    smallest: int = option("Fewest graphs between two changes.", 3, min=2)
    permutations: int = option("Number of series without a change.", 999, min=99)
    seed: int = option("Seed of the permutations.", 0, min=0)


class Convert(Command):
    """Write graphs in another format, with their names and vertices.

    With an OUT that ends in .egs, graphs go into a store, a few at a time, for data that do not
    fit in memory. If it is stopped, the same command continues.

    Example: eigengraphs convert connectomes all.npz
    """

    first = ("read", "reading {source}")
    source: str = _source()
    output: str = argument("OUT", "File, folder or store to write.")
    study: Annotated[Study, "memory", "participants", "id_pattern"]
    to: str = option(
        "Format of OUT, or store; usually told by its ending.", "auto", words=OUTPUT_FORMATS
    )
    append: bool = option("Add the graphs to an existing store.", False)
    storage: str = option("How a store keeps graphs: auto, dense or sparse.", "auto")


class Info(Command):
    """Describe a model in a few lines.

    Example: eigengraphs info results/model.eg
    """

    model: Path = _model()


class Plan(Command):
    """Forecast passes, bytes read, peak memory and time of a fit, after a trial on a few blocks.

    Example: eigengraphs plan graphs.egs -d 8 --memory 1G
    """

    store: Path = argument("STORE", "A store, made by convert.")
    components: int = option("Number of components.", 8, "--components", "-d", min=1)
    memory: str | None = option(
        "Memory of the fit, such as 1G; by default a quarter of all memory."
    )
    workers: int | None = option("Number of blocks at a time.", min=1)
    directed: bool = option("Components of directed graphs.", False)
    center: bool = option("Subtract the mean graph.", False)


class Demo(Command):
    """Embed 32 mouse brains, classify each by its nearest neighbor, write a report.

    Example: eigengraphs demo --output demo-output
    """

    first = ("read", "reading 32 mouse brains")
    output: Path = option("Folder for the tables, the picture and the page.", Path("demo-output"))
    components: int = option("Number of components.", 8, min=2)
    seed: int = option("Seed of the random starts.", 0, min=0)
    files: Path | None = option(
        "Only write the brains as files into this folder.", metavar="FOLDER"
    )


class Simulate(Command):
    """Simulate graphs with known parameters; write graphs, participants and parameters.

    Example: eigengraphs simulate section5.2 study --graphs 40
    """

    first = ("draw", "reading {model}")
    model: str = argument(
        "MODEL", f"A recipe (.toml or .json), or one of {', '.join(DESIGNS)}.", DESIGNS
    )
    output: Path = argument("OUT", "File or new folder to write.")
    graphs: int | None = option("Number of graphs, if not the model's.", min=1)
    seed: int = option("Seed; graph i depends only on the seed and on i.", 0, min=0)
    file_format: str = option(
        "Format of OUT; usually told by its ending.", "auto", "--format", words=OUTPUT_FORMATS
    )
    weights: str = option("Edges: auto, binary or counts.", "auto", words=WEIGHTS)
    vertices: int | None = option("Vertices, for weighted and sparse.", min=1)
    mean_degree: float | None = option("Mean degree, for weighted and sparse.")
    loops: bool = option("Draw self-loops too.", False)


#: All commands, by their headings in the help. What each does is the function of its name in the
#: file of its name, ``commands/fit.py``.
COMMANDS: dict[str, tuple[type[Command], ...]] = {
    "From files to results": (Check, Fit, Transform, Report, Contest, Links),
    "Analyses of a fit": (
        *(Compare, Effects, Trajectories, Power, Evaluate),
        *(Read, Uncertainty, Cluster, Changes),
    ),
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

    json = option("Print progress and results as JSON lines.", False, "--json")
    parameters = [*_parameters(command), _parameter("as_json", bool, json)]
    called.__doc__, called.__name__ = command.__doc__, command.__name__.lower()
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _parameter(name: str, kind: Any, declared: Any) -> inspect.Parameter:
    made, default = declared.metadata["option"], declared.default
    if kind is bool and not made.param_decls:  # a flag, without its opposite
        made.param_decls = (f"--{name.replace('_', '-')}",)
    default = inspect.Parameter.empty if default is MISSING else default
    only = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, only, default=default, annotation=Annotated[kind, made])


def _kinds(record: Any) -> Iterator[tuple[Any, Any, list[str]]]:
    """Yield each field of a record, its type, and what stands beside the type."""
    hints = get_type_hints(record, include_extras=True)
    for declared in fields(record):
        hint = hints[declared.name]
        nested, *without = get_args(hint) or (hint,)
        yield declared, nested if is_dataclass(nested) else hint, without


def _parameters(record: Any, without: Sequence[str] = ()) -> Iterator[inspect.Parameter]:
    for declared, kind, beside in _kinds(record):
        if is_dataclass(kind):
            yield from _parameters(kind, beside)
        elif declared.name not in without:
            yield _parameter(declared.name, kind, declared)


def _made(record: Any, given: dict[str, Any]) -> Any:
    made = {}
    for declared, kind, _ in _kinds(record):
        if is_dataclass(kind):
            made[declared.name] = _made(kind, given)
        elif declared.name in given:
            made[declared.name] = given[declared.name]
    return record(**made)
