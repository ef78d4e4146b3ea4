"""What graphs are simulated from: a name, a file or a table of keys becomes a `Design`.

The keys are described in ``docs/guide/command-line.md``. Each is read once, and what is wrong is
named with its file and key.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import reprlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from eigengraphs.errors import InputError, ReadError
from eigengraphs.models import paper
from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs
from eigengraphs.models.graph_models import (
    ErdosRenyi,
    InhomogeneousErdosRenyi,
    RandomDotProductGraph,
    StochasticBlockModel,
)
from eigengraphs.models.model import GraphModel
from eigengraphs.models.validation import Floats, Ints
from eigengraphs.system.limits import read_json, read_regular
from eigengraphs.system.tables import short_repr

__all__ = ["DESIGNS", "WEIGHTS", "Design", "load_recipe", "read_design"]

#: What the command line calls the laws of edges.
WEIGHTS = {"binary": "bernoulli", "counts": "poisson"}
#: Laws of a component's loading, and what their two numbers are.
LAWS = {"uniform": "low, high", "normal": "mean, sd", "gamma": "mean, sd"}
_MOST_DOTS = 2_000  # besides those of numbers
_MOST_VERTICES = 10_000_000  # a table of positions then takes 80 MB for each component


# ------------------------------------------------------------------------------- designs


@dataclass(frozen=True)
class ComponentLaw:
    """Of the loading on one component: ``kind`` is "constant" or a name of `LAWS`."""

    kind: str
    a: float
    b: float = 0.0

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Return ``size`` numbers; a constant takes none from the stream."""
        if self.kind == "uniform":
            return rng.uniform(self.a, self.b, size)
        if self.kind == "normal":
            return rng.normal(self.a, self.b, size)
        if self.kind == "gamma" and self.b > 0:
            return rng.gamma((self.a / self.b) ** 2, self.b**2 / self.a, size)
        return np.full(size, self.a)


@dataclass(frozen=True, eq=False)
class Loadings:
    """A source of loadings, which a model takes as its ``loadings``.

    Either each component has a law of its own, or the loadings are one of several points, (k, d),
    with cumulative probabilities ``upto``, (k - 1,).
    """

    n_components: int
    laws: tuple[ComponentLaw, ...] = ()
    points: Floats | None = None
    upto: Floats | None = None

    def __call__(self, rng: np.random.Generator, size: int) -> Floats:
        """Return ``size`` vectors, (size, n_components)."""
        if self.points is None or self.upto is None:
            return np.stack([law.draw(rng, size) for law in self.laws], axis=1)
        return self.points[np.searchsorted(self.upto, rng.random(size), side="right")]


@dataclass(frozen=True, eq=False)
class GraphClass:
    """A class of graphs: its share, and the model of its graphs."""

    name: str
    weight: float
    model: GraphModel
    loadings: Loadings | None = None


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs s < t (s <= t with loops) of a small graph, and their means in each class.

    ``means`` are (n_pairs,) for a class without loadings and (d, n_pairs), h_k[s] h_k[t], else.
    ``place`` (n * n,) says which pair an entry of the matrix is; n_pairs for a zero diagonal.
    """

    s: Ints
    t: Ints
    place: Ints
    means: tuple[Floats, ...]


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
        loadings = self.classes[0].loadings
        return 0 if loadings is None else loadings.n_components

    @property
    def positions(self) -> Floats | None:
        """True positions (n, d) where all graphs share them."""
        model = self.classes[0].model
        if isinstance(model, MultipleRandomEigenGraphs):
            return model.latent_positions
        if isinstance(model, RandomDotProductGraph) and len(self.classes) == 1:
            return model.positions
        return None

    @cached_property
    def upto(self) -> Floats:
        """Cumulative weights of the classes but the last."""
        sums: Floats = np.cumsum([kind.weight for kind in self.classes])[:-1]
        return sums

    @cached_property
    def pairs(self) -> Pairs:
        """Pairs and their means; for small graphs alone, as it takes d n^2 / 2 numbers."""
        n = self.n_vertices
        s, t = np.triu_indices(n, 0 if self.loops else 1)
        place = np.full((n, n), len(s), dtype=np.int64)
        place[s, t] = place[t, s] = np.arange(len(s))
        means = []
        for model in (kind.model for kind in self.classes):
            if isinstance(model, MultipleRandomEigenGraphs):
                H = model.latent_positions.T
                means.append(np.ascontiguousarray(H[:, s] * H[:, t]))
            else:
                means.append(model.edge_probabilities()[s, t])
        return Pairs(s, t, place.ravel(), tuple(means))


# ------------------------------------------------------------------------------- keys


def load_recipe(path: Path) -> dict[str, Any]:
    """Read a TOML or JSON file that holds a table."""
    if path.suffix.lower() not in (".toml", ".json"):
        raise ReadError(f"{path}: a recipe must end in .toml or .json, got {path.suffix!r}; rename")
    try:
        text = read_regular(path).decode("utf-8-sig")
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}; is the path right?") from None
    except UnicodeDecodeError as error:
        raise ReadError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8") from None
    is_toml = path.suffix.lower() == ".toml"
    # tomllib keeps every beginning of a.b.c...: the square of its length.
    if is_toml and re.sub(r"[0-9]\.[0-9]", "", text).count(".") > _MOST_DOTS:
        raise ReadError(f"{path} is not a recipe: keys are nested without end; correct them")
    try:
        found: Any = tomllib.loads(text) if is_toml else read_json(text)
    except (ValueError, RecursionError) as error:  # of both parsers; they say line and column
        kind = "TOML" if is_toml else "JSON"
        raise ReadError(f"{path} is not {kind}: {error}; correct that place") from None
    if not isinstance(found, dict):
        raise ReadError(
            f"{path}: expected keys and values at the top, got {type(found).__name__}; put the "
            'recipe into { "model": ..., ... }'
        )
    return found


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

    def get(self, key: str, expected: str) -> Any:
        """Return a value that must be there; ``expected`` says in words what it is."""
        if key not in self:
            self.refuse(f"the key {key!r} is missing, expected {expected}; add it")
        return self.table[key]

    def refuse(self, text: str) -> NoReturn:
        """Raise with the place in front."""
        raise InputError(f"{self.where}: {text}")

    def wrong(self, key: str, expected: str, what_to_do: str = "correct it") -> NoReturn:
        """Raise at the value of a key."""
        got = reprlib.repr(self.table[key])
        self.refuse(f"the key {key!r} must be {expected}, got {got}; {what_to_do}")

    def checked(
        self, key: str, expected: str, good: Callable[[Any], bool], default: Any = None
    ) -> Any:
        """Return a value that is ``good``, or a default where the key is absent."""
        if default is not None and key not in self:
            return default
        value = self.get(key, expected)
        if not good(value):
            self.wrong(key, expected)
        return value

    def whole(self, key: str, default: int | None = None) -> int:
        """Return a whole number of at least 1."""

        def good(x: Any) -> bool:
            return isinstance(x, int | np.integer) and not isinstance(x, bool) and bool(x >= 1)

        return int(self.checked(key, "a whole number of at least 1", good, default))

    def number(self, key: str, default: float | None = None) -> float:
        """Return a finite number."""
        return float(self.checked(key, "a finite number", _is_number, default))

    def flag(self, key: str) -> bool:
        """Return true or false; false where the key is absent."""
        found: bool = self.checked(key, "true or false", lambda x: isinstance(x, bool), False)
        return found

    def text(self, key: str) -> str:
        """Return a text that is not empty."""

        def good(x: Any) -> bool:
            return isinstance(x, str) and not x.isspace() and x != ""

        return str(self.checked(key, "a text in quotes", good))

    def array(self, key: str, n_dims: int, expected: str) -> Floats:
        """Return numbers as an array of ``n_dims``."""
        value = self.get(key, expected)
        try:
            raw = np.asarray(value)
            array = raw.astype(np.float64) if raw.dtype.kind in "iuf" else None
        except ValueError:
            array = None
        if array is None or array.ndim != n_dims or not array.size or not np.isfinite(array).all():
            self.wrong(key, expected, "give rows of numbers, all of one length")
        return array

    def sizes(self, key: str) -> Ints:
        """Return numbers of vertices, one for each block."""
        array = self.array(key, 1, "a list of whole numbers, the vertices of each block")
        if (array < 1).any() or (array != np.round(array)).any():
            self.wrong(key, "a list of whole numbers of at least 1, the vertices of each block")
        if array.sum() > _MOST_VERTICES:
            self.wrong(key, f"of at most {_MOST_VERTICES} vertices together", "take smaller blocks")
        return array.astype(np.int64)

    def tables(self, key: str) -> Sequence[Mapping[str, Any]]:
        """Return a list of tables; none where the key is absent."""
        if key not in self:
            return []
        value = self.table[key]
        if not isinstance(value, list) or not value or not all(isinstance(x, dict) for x in value):
            self.wrong(key, f"a list of tables, in TOML [[{key}]]")
        return value

    def finish(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self.table:
            if key not in self._asked:
                near = difflib.get_close_matches(key, sorted(self._asked), 1)
                hint = f"is it {near[0]!r}?" if near else "take it out"
                known = ", ".join(sorted(self._asked))
                self.refuse(f"the key {key!r} has no meaning here, expected {known}; {hint}")


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:  # a whole number of hundreds of digits
        return False


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


def _named(name: str, sizes: dict[str, Any]) -> dict[str, Any]:
    """Return the recipe of a design, of a given size or its own."""
    if sizes and name not in ("weighted", "sparse"):
        raise InputError(
            f"{name}: {next(iter(sizes))} belongs to the designs weighted and sparse; the size of "
            f"{name} is fixed, leave it out"
        )
    degree = sizes.get("mean_degree", 1.0)
    if not 0 < degree < np.inf:
        raise InputError(f"{name}: mean_degree must be a number above 0, got {degree}")
    return DESIGNS[name](**sizes)


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
        For the same two.
    weights : {"auto", "binary", "counts"}
        Another law for the edges of a model with loadings, around the same means.
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
    sizes = {key: value for key, value in asked.items() if value is not None}
    record: dict[str, Any]
    if isinstance(source, Mapping):
        table, where, record = dict(source), "recipe", {"recipe": dict(source)}
    elif str(source) in DESIGNS:
        where = str(source)
        table, record = _named(where, sizes), {"design": where, **sizes}
    else:
        path, where = Path(source), str(source)
        if not path.is_file():
            _refuse_absent(path)
        table = load_recipe(path)
        record = {"recipe": table}
    if sizes and "design" not in record:
        raise InputError(
            f"{where}: vertices and mean_degree belong to the designs weighted and sparse; write "
            "the size into the recipe"
        )
    fields = Fields(table, where)
    name = _model_name(fields)
    if weights != "auto":
        _choose_weights(fields, table, name, weights)
        record["weights"] = weights
    loops = fields.flag("loops") or loops
    n_graphs = fields.whole("graphs", 100)
    classes = tuple(_classes(fields, name))
    # After all keys were read: what is left over is a mistake.
    fields.finish()
    return Design(record | {"loops": loops}, where, classes, loops, n_graphs)


def _classes(fields: Fields, model: str) -> list[GraphClass]:
    tables, varies = fields.tables("classes"), _KINDS[model][1]
    if not tables:
        return [_one_class(fields, fields, model, "all", 1.0)]
    if varies in fields:
        fields.refuse(
            f"the key {varies!r} stands at the top and classes have their own, expected one of "
            "the two; move it into each class"
        )
    found: list[GraphClass] = []
    for place, table in enumerate(tables):
        own = Fields(table, f"{fields.where}, classes[{place}]")
        name, weight = own.text("name"), own.number("weight", 1.0)
        if weight <= 0:
            own.wrong("weight", "a number above 0", "leave out a class that never comes")
        if name in (each.name for each in found):
            fields.refuse(f"two classes are called {name!r}, expected different names; rename one")
        found.append(_one_class(fields, own, model, name, weight))
        own.finish()
    sizes = {each.model.n_vertices for each in found}
    if len(sizes) > 1:
        fields.refuse(
            f"all classes must have the same number of vertices, got {sorted(sizes)}; graphs on "
            "different vertex sets cannot be embedded together"
        )
    total = sum(each.weight for each in found)
    return [replace(each, weight=each.weight / total) for each in found]


def _one_class(fields: Fields, own: Fields, model: str, name: str, weight: float) -> GraphClass:
    try:
        return GraphClass(name, weight, *_KINDS[model][0](fields, own))
    except InputError as error:
        if str(error).startswith(fields.where):
            raise
        raise InputError(f"{own.where}: {error}") from None


def _erdos_renyi(fields: Fields, own: Fields) -> tuple[GraphModel, None]:
    return ErdosRenyi(fields.whole("vertices"), own.number("p")), None


def _block_model(fields: Fields, own: Fields) -> tuple[GraphModel, None]:
    if "labels" in fields:
        labels: Any = fields.get("labels", "the block of each vertex")
    else:
        sizes = fields.sizes("sizes")
        labels = np.repeat(np.arange(len(sizes)), sizes)
    B = own.array("B", 2, "a matrix of edge probabilities between blocks")
    return StochasticBlockModel(_symmetric(own, "B", B), labels), None


def _dot_product(fields: Fields, own: Fields) -> tuple[GraphModel, None]:
    X = own.array("positions", 2, "a row of numbers for each block, or for each vertex")
    return RandomDotProductGraph(_spread(fields, own, "positions", X)), None


def _inhomogeneous(_: Fields, own: Fields) -> tuple[GraphModel, None]:
    P = own.array("P", 2, "a matrix of edge probabilities")
    return InhomogeneousErdosRenyi(_symmetric(own, "P", P)), None


def _eigen_graphs(fields: Fields, own: Fields) -> tuple[GraphModel, Loadings]:
    if "patterns" in fields:
        X = fields.array("patterns", 2, "a row for each component: its value in every block").T
        H = _spread(fields, fields, "patterns", X)
        norms = np.linalg.norm(H, axis=0)
        if not norms.all():
            fields.wrong("patterns", "rows that are not all zero", "take the row out")
        H = H / norms
    else:
        H = fields.array("positions", 2, "a row for each vertex, with columns of length 1")
    loadings = _loadings(own)
    if loadings.n_components != H.shape[1]:
        own.wrong("loadings", f"of {H.shape[1]} components, as the positions are")
    law: Any = fields.text("law") if "law" in fields else "bernoulli"
    if law not in ("bernoulli", "poisson", "gaussian"):
        fields.wrong("law", "one of bernoulli, poisson, gaussian", "choose one")
    noise = fields.number("noise_scale") if "noise_scale" in fields else None
    clip = fields.flag("clip")
    model = MultipleRandomEigenGraphs(H, loadings, law=law, noise_scale=noise, clip=clip)
    return model, loadings


#: By model, how it is read, and the key that a class may have of its own.
_KINDS: dict[str, tuple[Callable[..., tuple[GraphModel, Loadings | None]], str]] = {
    "erdos_renyi": (_erdos_renyi, "p"),
    "stochastic_block_model": (_block_model, "B"),
    "random_dot_product": (_dot_product, "positions"),
    "inhomogeneous": (_inhomogeneous, "P"),
    "multiple_random_eigen_graphs": (_eigen_graphs, "loadings"),
}
_SHORT = dict(zip(("er", "sbm", "rdpg", "ier", "mreg"), _KINDS, strict=True))


def _loadings(own: Fields) -> Loadings:
    expected = (
        "a list with a number or a law for each component, such as [10.0, {uniform = [0, 2]}], or "
        "{points = [[...], ...], weights = [...]}"
    )
    value = own.get("loadings", expected)
    if isinstance(value, Mapping):
        fields = Fields(value, f"{own.where}, loadings")
        P = fields.array("points", 2, "a list of loadings, each with a number for each component")
        weights = np.ones(len(P))
        if "weights" in fields:
            weights = fields.array("weights", 1, "a number for each point")
        if len(weights) != len(P) or (weights < 0).any() or not weights.sum() > 0:
            fields.wrong("weights", f"{len(P)} numbers of at least 0, one for each point")
        fields.finish()
        return Loadings(P.shape[1], points=P, upto=np.cumsum(weights / weights.sum())[:-1])
    if not isinstance(value, list | tuple) or not value:
        own.wrong("loadings", expected)
    return Loadings(len(value), tuple(_law(own, k, item) for k, item in enumerate(value)))


def _law(own: Fields, k: int, item: Any) -> ComponentLaw:
    entry = Fields({"value": item}, f"{own.where}, loadings[{k}]")
    if not isinstance(item, Mapping):
        return ComponentLaw("constant", entry.number("value"))
    known = " or ".join(f"{{{name} = [{words}]}}" for name, words in LAWS.items())
    if len(item) != 1 or next(iter(item)) not in LAWS:
        entry.refuse(f"expected a number or {known}, got {reprlib.repr(dict(item))}; correct it")
    law = Fields(item, entry.where)
    name = next(iter(item))
    numbers = law.array(name, 1, f"two numbers: {LAWS[name]}")
    if len(numbers) != 2:
        law.wrong(name, f"two numbers: {LAWS[name]}")
    a, b = numbers.tolist()
    if name == "uniform" and a > b:
        law.wrong(name, "low, high with low <= high", "swap them")
    if name != "uniform" and b < 0:
        law.wrong(name, "mean, sd with sd >= 0")
    if name == "gamma" and a <= 0:
        law.wrong(name, "mean, sd with a mean above 0", "or use normal")
    return ComponentLaw(name, a, b)


def _spread(fields: Fields, own: Fields, key: str, rows: Floats) -> Floats:
    """Return rows of blocks as rows of their vertices, where there are blocks."""
    if "sizes" not in fields:
        if key == "patterns":
            fields.get("sizes", "the vertices of each block, to which patterns belong")
        return rows
    sizes = fields.sizes("sizes")
    if len(rows) != len(sizes):
        own.wrong(key, f"for {len(sizes)} blocks, as 'sizes' has", f"it is for {len(rows)}")
    return np.repeat(rows, sizes, axis=0)


def _symmetric(own: Fields, key: str, matrix: Floats) -> Floats:
    if matrix.shape[0] != matrix.shape[1]:
        own.wrong(key, f"a square matrix and not {matrix.shape[0]} x {matrix.shape[1]}")
    if not np.array_equal(matrix, matrix.T):
        s, t = np.argwhere(matrix != matrix.T)[0]
        own.wrong(key, f"symmetric, and its entries ({s}, {t}) and ({t}, {s}) differ")
    return matrix


def _model_name(fields: Fields) -> str:
    known = ", ".join(_KINDS)
    name = str(fields.get("model", f"one of {known}")).strip().lower()
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
            "edges of the others are there or not: leave --weights out"
        )
    table["law"] = WEIGHTS[weights]
    table.pop("noise_scale", None)


def _refuse_absent(path: Path) -> NoReturn:
    names = [*DESIGNS]
    if path.parent.is_dir():
        names += [item.name for item in path.parent.iterdir() if item.suffix in (".toml", ".json")]
    near = difflib.get_close_matches(path.name, names, 1)
    hint = f"is it {near[0]!r}?" if near else "write a recipe, or name a design"
    raise InputError(
        f"there is no design and no file {str(path)!r}; designs are {', '.join(DESIGNS)}, and a "
        f"recipe ends in .toml or .json: {hint}"
    )
