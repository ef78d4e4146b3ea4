"""What graphs are simulated from: a name, a file or a table of keys becomes a `Design`.

The keys are described in ``docs/guide/command-line.md``. Each is read once, and what is wrong is
named with its file and key.
"""

from __future__ import annotations

import difflib
import os
import re
import reprlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from eigengraphs.errors import InputError, ReadError, in_front
from eigengraphs.models import paper
from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs
from eigengraphs.models.graph_models import (
    ErdosRenyi,
    GraphModel,
    InhomogeneousErdosRenyi,
    RandomDotProductGraph,
    StochasticBlockModel,
)
from eigengraphs.models.loading_laws import PointMasses
from eigengraphs.models.validation import Floats, Ints, float_array, number, whole_number
from eigengraphs.system.limits import read_json, read_regular
from eigengraphs.system.tables import short_repr

#: What the command line calls the laws of edges.
WEIGHTS = {"binary": "bernoulli", "counts": "poisson"}
#: Laws of a component's loading: what their two numbers are, and what they must be.
LAWS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "uniform": ("low, high with low <= high", lambda low, high: low <= high),
    "normal": ("mean, sd with sd >= 0", lambda _, sd: sd >= 0),
    "gamma": ("mean, sd with a mean above 0 and sd >= 0", lambda mean, sd: mean > 0 and sd >= 0),
}
_MOST_DOTS = 2_000  # besides those of numbers
_MOST_VERTICES = 10_000_000  # a table of positions then takes 80 MB for each component


# ------------------------------------------------------------------------------- designs


@dataclass(frozen=True)
class Law:
    """Of a component's loading: a key of `LAWS` and its numbers, or "constant"."""

    kind: str
    a: float
    b: float = 0.0

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        """Return ``size`` numbers, as scipy's distributions do; a constant draws nothing."""
        a, b = self.a, self.b
        if self.kind == "uniform":
            return random_state.uniform(a, b, size)
        if self.kind == "normal":
            return random_state.normal(a, b, size)
        if self.kind == "gamma" and b > 0:
            return random_state.gamma((a / b) ** 2, b**2 / a, size)
        return np.full(size, a)


@dataclass(frozen=True, eq=False)
class GraphClass:
    """A class of graphs: its share, and the model of its graphs."""

    name: str
    weight: float
    model: GraphModel


@dataclass(frozen=True, eq=False)
class Design:
    """Classes of graphs on one vertex set.

    Attributes
    ----------
    source : mapping
        What it was made from, as it goes into a record.
    where : str
        What it is called in errors: a file, or the name of a design.
    classes : tuple of GraphClass
        Weights sum to one.
    loops : bool
        Whether self-loops are drawn.
    n_graphs : int
        How many graphs are drawn by default.

    Examples
    --------
    >>> from eigengraphs.models.simulation import read_design
    >>> design = read_design("section5.2")
    >>> design.n_vertices, design.n_components, [kind.name for kind in design.classes]
    (100, 2, ['1', '2'])
    """

    source: Mapping[str, Any]
    where: str
    classes: tuple[GraphClass, ...]
    loops: bool = False
    n_graphs: int = 100

    __repr__ = short_repr

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self.classes[0].model.n_vertices

    @property
    def n_components(self) -> int:
        """Number of loadings of a graph, d; 0 for models without loadings."""
        model = self.classes[0].model
        return model.n_components if isinstance(model, MultipleRandomEigenGraphs) else 0

    @property
    def positions(self) -> Floats | None:
        """True positions (n, d) where all graphs share them."""
        model = self.classes[0].model
        if isinstance(model, MultipleRandomEigenGraphs):
            return model.latent_positions
        if isinstance(model, RandomDotProductGraph) and len(self.classes) == 1:
            return model.positions
        return None


# ------------------------------------------------------------------------------- keys


def load_recipe(path: Path) -> dict[str, Any]:
    """Read a TOML or JSON file that holds a table."""
    if not path.exists():
        names = [*DESIGNS]
        if path.parent.is_dir():
            names += [x.name for x in path.parent.iterdir() if x.suffix in (".toml", ".json")]
        near = difflib.get_close_matches(path.name, names, 1)
        hint = f"is it {near[0]!r}?" if near else "write a recipe, or name a design"
        raise InputError(
            f"there is no design and no file {str(path)!r}; designs are {', '.join(DESIGNS)}, and "
            f"a recipe ends in .toml or .json: {hint}"
        )
    is_toml = path.suffix.lower() == ".toml"
    if not is_toml and path.suffix.lower() != ".json":
        raise ReadError(f"{path}: a recipe must end in .toml or .json, got {path.suffix!r}; rename")
    try:
        text = read_regular(path).decode("utf-8-sig")
        # tomllib keeps every beginning of a.b.c...: the square of its length.
        if is_toml and re.sub(r"[0-9]\.[0-9]", "", text).count(".") > _MOST_DOTS:
            raise ValueError("keys are nested without end")
        found: Any = tomllib.loads(text) if is_toml else read_json(text)
        if not isinstance(found, dict):
            raise ValueError(f"keys and values are expected at the top, not {type(found).__name__}")
    except InputError:
        raise
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}; is the path right?") from None
    except (ValueError, RecursionError) as error:  # of the parsers; they say line and column
        kind = "TOML" if is_toml else "JSON"
        raise ReadError(f"{path} is not a recipe in {kind}: {error}; correct that place") from None
    return found


_SIZES = "a list of whole numbers of at least 1, the vertices of each block"
_LOADINGS = (
    "a list with a number or a law for each component, such as [10.0, {uniform = [0, 2]}], or "
    "{points = [[...], ...], weights = [...]}"
)


class Fields:
    """A table of a recipe.

    Parameters
    ----------
    table
        Keys and values.
    where
        The file, and the place in it.
    """

    def __init__(self, table: Mapping[str, Any], where: str) -> None:
        self.table = table
        self.where = where
        self._asked: set[str] = set()

    def __contains__(self, key: str) -> bool:
        self._asked.add(key)
        return key in self.table

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            self.refuse(f"the key {key!r} is missing; add it")
        return self.table[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value, or a default where the key is absent."""
        return self.table[key] if key in self else default

    def flag(self, key: str) -> bool:
        """Return true or false; false where the key is absent."""
        value = self.get(key, False)
        if not isinstance(value, bool):
            self.wrong(key, "true or false")
        return value

    def refuse(self, text: str) -> NoReturn:
        """Raise with the place in front."""
        raise InputError(f"{self.where}: {text}")

    def wrong(self, key: str, expected: str, what_to_do: str = "correct it") -> NoReturn:
        """Raise at the value of a key."""
        got = reprlib.repr(self.table[key])
        self.refuse(f"the key {key!r} must be {expected}, got {got}; {what_to_do}")

    def finish(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self.table:
            if key not in self._asked:
                near = difflib.get_close_matches(key, sorted(self._asked), 1)
                hint = f"is it {near[0]!r}?" if near else "take it out"
                known = ", ".join(sorted(self._asked))
                self.refuse(f"the key {key!r} has no meaning here, expected {known}; {hint}")


# ------------------------------------------------------------------------------- named designs


def _section_5_1() -> dict[str, Any]:
    loadings = [{"uniform": list(limits)} for limits in paper.LOADINGS_5_1]
    return {"model": "mreg", "positions": paper.SECTION_5_1, "loadings": loadings}


def _section_5_2() -> dict[str, Any]:
    classes = [{"name": str(y), "loadings": list(lam)} for y, lam in paper.LOADINGS_5_2.items()]
    return {"model": "mreg", "positions": paper.SECTION_5_2, "classes": classes}


def _weighted(vertices: int = 70, mean_degree: float = 140.0) -> dict[str, Any]:
    """Return counts: all vertices in their measure, two overlapping parts that differ by class."""
    if vertices < 6:
        raise InputError(f"weighted: vertices must be at least 6, got {vertices}; pass more")
    n = vertices
    # Vertices of very different degree, in no order; the same for every seed.
    measure = 0.4 + 1.2 * (0.6180339887498949 * np.arange(1, n + 1) % 1.0)
    s = np.arange(n)
    inside = np.stack([s >= 0, s < 0.55 * n, s >= 0.45 * n], axis=1)
    H = np.where(inside, measure[:, None], 0.0)
    H /= np.linalg.norm(H, axis=0)
    shares = {"a": np.array([1.0, 0.7, 0.3]), "b": np.array([1.0, 0.3, 0.7])}
    # Sum of weights at a vertex, on average over vertices and classes, is mean_degree.
    reach = (H.sum(axis=0) ** 2 - (H**2).sum(axis=0)) / n
    scale = mean_degree / np.mean([share @ reach for share in shares.values()])
    classes = []
    for name, share in shares.items():
        gammas = [{"gamma": [x, 0.15 * x]} for x in map(float, scale * share)]
        classes.append({"name": name, "loadings": gammas})
    return {"model": "mreg", "positions": H, "law": "poisson", "classes": classes}


def _sparse(vertices: int = 10_000, mean_degree: float = 10.0) -> dict[str, Any]:
    """Return four blocks of equal size; classes differ in which halves hang together."""
    if vertices < 4 * max(1.0, mean_degree):
        raise InputError(
            f"sparse: vertices must be at least 4 and 4 times the mean degree, got {vertices} for "
            f"a mean degree of {mean_degree:g}; pass more vertices, or a smaller degree"
        )
    sizes = [(vertices + k) // 4 for k in range(4)]
    patterns = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]
    # The three together stay below the least first loading: no mean is negative. On average each
    # is above what noise hides in ten graphs of mean degree 10, 2 sqrt(10 / 10) or a share of 0.2.
    shares = {"a": (1.0, 0.40, 0.14, 0.27), "b": (1.0, 0.14, 0.40, 0.27)}
    classes = []
    for name, share in shares.items():
        uniform = [{"uniform": [0.9 * x * mean_degree, 1.1 * x * mean_degree]} for x in share]
        classes.append({"name": name, "loadings": uniform})
    return {"model": "mreg", "sizes": sizes, "patterns": patterns, "classes": classes, "graphs": 10}


#: Recipes by name.
DESIGNS: dict[str, Callable[..., dict[str, Any]]] = {
    "section5.1": _section_5_1,
    "section5.2": _section_5_2,
    "weighted": _weighted,
    "sparse": _sparse,
}


# ------------------------------------------------------------------------------- reading


def read_design(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    vertices: int | None = None,
    mean_degree: float | None = None,
    weights: str = "auto",
    loops: bool = False,
) -> Design:
    """Return what graphs are to be drawn from.

    Parameters
    ----------
    source : str, path or mapping
        The name of a design ("section5.1", "section5.2", "weighted", "sparse"), a TOML or JSON
        file, or a table of keys as such a file holds.
    vertices : int, optional
        Size of "weighted" and "sparse"; the others have theirs.
    mean_degree : float, optional
        Mean degree of the same two.
    weights : {"auto", "binary", "counts"}
        Another law for the edges of a model with loadings, with the same means.
    loops : bool
        Draw self-loops even if the recipe does not ask for them.

    Returns
    -------
    Design

    Examples
    --------
    >>> from eigengraphs.models.simulation import read_design
    >>> read_design("sparse", vertices=200).n_vertices
    200
    >>> read_design({"model": "erdos_renyi", "vertices": 6, "p": 0.5}).n_components
    0
    """
    asked = {"vertices": vertices, "mean_degree": mean_degree}
    sizes: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
    where = "recipe" if isinstance(source, Mapping) else str(source)
    if sizes and where not in ("weighted", "sparse"):
        raise InputError(
            f"{where}: {next(iter(sizes))} belongs to the designs weighted and sparse; the size of "
            "others is fixed, or in the recipe: leave it out"
        )
    if not 0 < sizes.get("mean_degree", 1.0) < np.inf:
        raise InputError(f"{where}: mean_degree must be a number above 0, got {mean_degree}")
    if where in DESIGNS:
        table, record = DESIGNS[where](**sizes), {"design": where, **sizes}
    else:
        table = dict(source) if isinstance(source, Mapping) else load_recipe(Path(source))
        record = {"recipe": dict(table)}
    fields = Fields(table, where)
    name = _model_name(fields)
    if weights != "auto":
        _choose_weights(fields, table, name, weights)
        record["weights"] = weights
    loops = fields.flag("loops") or loops
    with in_front(where, [where]):
        n_graphs = whole_number(fields.get("graphs", 100), "graphs")
    classes = tuple(_classes(fields, name))
    # After all keys were read: what is left over is a mistake.
    fields.finish()
    return Design(record | {"loops": loops}, where, classes, loops, n_graphs)


def _classes(fields: Fields, model: str) -> list[GraphClass]:
    if "classes" not in fields:
        return [GraphClass("all", 1.0, _model(fields, fields, model))]
    tables, varies = fields.table["classes"], _KINDS[model][1]
    if not isinstance(tables, list) or not tables or not all(isinstance(x, dict) for x in tables):
        fields.wrong("classes", "a list of tables, in TOML [[classes]]")
    if varies in fields:
        fields.refuse(
            f"the key {varies!r} stands at the top and classes have their own, expected one of "
            "the two; move it into each class"
        )
    found: list[GraphClass] = []
    for place, table in enumerate(tables):
        own = Fields(table, f"{fields.where}, classes[{place}]")
        name = own["name"]
        if not isinstance(name, str) or not name.strip():
            own.wrong("name", "a text in quotes")
        if name in (each.name for each in found):
            fields.refuse(f"two classes are called {name!r}, expected different names; rename one")
        with in_front(own.where, [fields.where]):
            weight = number(own.get("weight", 1.0), "weight")
        if weight <= 0:
            own.wrong("weight", "a number above 0", "leave out a class that never occurs")
        found.append(GraphClass(name, weight, _model(fields, own, model)))
        own.finish()
    sizes = {each.model.n_vertices for each in found}
    if len(sizes) > 1:
        fields.refuse(
            f"all classes must have the same number of vertices, got {sorted(sizes)}; graphs on "
            "different vertex sets cannot be embedded together"
        )
    total = sum(each.weight for each in found)
    return [replace(each, weight=each.weight / total) for each in found]


def _model(fields: Fields, own: Fields, name: str) -> GraphModel:
    with in_front(own.where, [fields.where]):
        model = _KINDS[name][0](fields, own)
        model._require_symmetric("a recipe", f"a symmetric {model._matrix}")
    return model


def _block_model(fields: Fields, own: Fields) -> GraphModel:
    if "labels" in fields:
        return StochasticBlockModel(own["B"], fields["labels"])
    sizes = _sizes(fields)
    return StochasticBlockModel(own["B"], np.repeat(np.arange(len(sizes)), sizes))


def _dot_product(fields: Fields, own: Fields) -> GraphModel:
    X = float_array(own["positions"], "positions", 2, "(n_vertices or n_blocks, n_components)")
    return RandomDotProductGraph(_spread(fields, own, "positions", X) if "sizes" in fields else X)


def _eigen_graphs(fields: Fields, own: Fields) -> GraphModel:
    if "patterns" in fields:
        X = float_array(fields["patterns"], "patterns", 2, "(n_components, n_blocks)")
        H = _spread(fields, fields, "patterns", X.T)
        norms = np.linalg.norm(H, axis=0)
        if not norms.all():
            fields.wrong("patterns", "rows that are not all zero", "take the row out")
        H = H / norms
    else:
        H = float_array(fields["positions"], "positions", 2, "(n_vertices, n_components)")
    loadings = _loadings(own, H.shape[1])
    law, noise = fields.get("law", "bernoulli"), fields.get("noise_scale")
    clip = fields.flag("clip")
    return MultipleRandomEigenGraphs(H, loadings, law=law, noise_scale=noise, clip=clip)


#: By model, how it is read, and the key that a class may have of its own.
_KINDS: dict[str, tuple[Callable[[Fields, Fields], GraphModel], str]] = {
    "erdos_renyi": (lambda top, own: ErdosRenyi(top["vertices"], own["p"]), "p"),
    "stochastic_block_model": (_block_model, "B"),
    "random_dot_product": (_dot_product, "positions"),
    "inhomogeneous": (lambda _, own: InhomogeneousErdosRenyi(own["P"]), "P"),
    "multiple_random_eigen_graphs": (_eigen_graphs, "loadings"),
}
_SHORT = dict(zip(("er", "sbm", "rdpg", "ier", "mreg"), _KINDS, strict=True))


def _loadings(own: Fields, d: int) -> PointMasses | list[Law]:
    """Return the source of d loadings that a recipe describes."""
    value = own["loadings"]
    if isinstance(value, Mapping):
        fields = Fields(value, f"{own.where}, loadings")
        P = float_array(fields["points"], "points", 2, f"(n_points, {d})")
        weights = float_array(fields.get("weights", np.ones(len(P))), "weights", 1, f"({len(P)},)")
        if not weights.sum() > 0:
            fields.wrong("weights", f"{len(P)} numbers of at least 0, not all of them 0")
        fields.finish()
        return PointMasses(P, weights / weights.sum())
    if not isinstance(value, list | tuple):
        own.wrong("loadings", _LOADINGS)
    return [_law(item, f"loadings[{k}]") for k, item in enumerate(value)]


def _law(item: Any, where: str) -> Law:
    if not isinstance(item, Mapping):
        return Law("constant", number(item, where))
    name = next(iter(item), "")
    if len(item) != 1 or name not in LAWS:
        known = " or ".join(f"{{{name} = [{words}]}}" for name, (words, _) in LAWS.items())
        raise InputError(
            f"{where}: expected a number or {known}, got {reprlib.repr(dict(item))}; correct it"
        )
    words, good = LAWS[name]
    numbers = float_array(item[name], f"{where}, {name}", 1, "(2,)").tolist()
    if len(numbers) != 2 or not good(*numbers):
        raise InputError(f"{where}: {name} must be {words}, got {numbers}; correct it")
    return Law(name, *numbers)


def _sizes(fields: Fields) -> Ints:
    sizes = float_array(fields["sizes"], "sizes", 1, "(n_blocks,)")
    if (sizes < 1).any() or (sizes != np.round(sizes)).any():
        fields.wrong("sizes", _SIZES)
    if sizes.sum() > _MOST_VERTICES:
        fields.wrong("sizes", f"of at most {_MOST_VERTICES} vertices together", "take smaller ones")
    return sizes.astype(np.int64)


def _spread(fields: Fields, own: Fields, key: str, rows: Floats) -> Floats:
    """Return rows of blocks as rows of their vertices."""
    sizes = _sizes(fields)
    if len(rows) != len(sizes):
        own.wrong(key, f"for {len(sizes)} blocks, as 'sizes' has", f"it is for {len(rows)}")
    return np.repeat(rows, sizes, axis=0)


def _model_name(fields: Fields) -> str:
    known = ", ".join(_KINDS)
    given = fields.get("model")
    if given is None:
        fields.refuse(f"the key 'model' is missing, expected one of {known}; add it")
    name = str(given).strip().lower()
    name = _SHORT.get(name, name.replace("-", "_").replace(" ", "_"))
    if name not in _KINDS:
        near = difflib.get_close_matches(name, [*_KINDS, *_SHORT], 1)
        fields.wrong("model", f"one of {known}", f"is it {near[0]!r}?" if near else "choose one")
    return name


def _choose_weights(fields: Fields, table: dict[str, Any], name: str, weights: str) -> None:
    """Put the law that a command asks for into the table that is read."""
    if weights not in WEIGHTS:
        fields.refuse(f"weights must be auto, {' or '.join(WEIGHTS)}, got {weights!r}; choose one")
    if name != "multiple_random_eigen_graphs":
        fields.refuse(
            f"weights {weights!r} needs a model with loadings (multiple_random_eigen_graphs); the "
            "others have unweighted edges only: leave --weights out"
        )
    table["law"] = WEIGHTS[weights]
    table.pop("noise_scale", None)
