"""From a name, a file or a table of keys to a design; see ``docs/guide/command-line.md``."""

from __future__ import annotations

import difflib
import os
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models import (
    ErdosRenyi,
    GraphModel,
    InhomogeneousErdosRenyi,
    MultipleRandomEigenGraphs,
    RandomDotProductGraph,
    StochasticBlockModel,
)
from eigengraphs.models.validation import Floats
from eigengraphs.simulation.design import Design, GraphClass
from eigengraphs.simulation.fields import Fields, load_recipe
from eigengraphs.simulation.loadings import (
    LAWS,
    ComponentLaw,
    IndependentLoadings,
    Loadings,
    PointLoadings,
)
from eigengraphs.simulation.named import DESIGNS, named_recipe

__all__ = ["WEIGHTS", "read_design"]

#: What a command calls the laws of edges.
WEIGHTS = {"binary": "bernoulli", "counts": "poisson"}
_LAWS = ("bernoulli", "poisson", "gaussian")
_SHORT = {
    "er": "erdos_renyi",
    "sbm": "stochastic_block_model",
    "rdpg": "random_dot_product",
    "ier": "inhomogeneous",
    "mreg": "multiple_random_eigen_graphs",
}


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
        Of the same two.
    weights : {"auto", "binary", "counts"}
        Another law for the edges of a model with loadings, around the same means.
    loops : bool
        Draw self-loops even if the recipe does not say so.

    Returns
    -------
    Design

    Examples
    --------
    >>> from eigengraphs.simulation import read_design
    >>> read_design("sparse", vertices=200).n_vertices
    200
    >>> read_design({"model": "erdos_renyi", "vertices": 6, "p": 0.5}).n_components
    0
    """
    record: dict[str, Any]
    if isinstance(source, Mapping):
        table, where, record = dict(source), "recipe", {"recipe": dict(source)}
    elif str(source) in DESIGNS:
        where = str(source)
        table = named_recipe(where, vertices, mean_degree)
        sizes = {"vertices": vertices, "mean_degree": mean_degree}
        record = {"design": where} | {k: v for k, v in sizes.items() if v is not None}
    else:
        path = Path(source)
        if not path.is_file():
            _refuse_absent(path)
        table, where = load_recipe(path), str(path)
        record = {"recipe": table}
    if (vertices is not None or mean_degree is not None) and "design" not in record:
        raise InputError(
            f"{where}: vertices and mean_degree belong to the designs weighted and sparse; write "
            "the size into the recipe"
        )
    fields = Fields(table, where)
    kind = _KINDS[_model_name(fields)]
    _choose_weights(fields, table, kind, weights)
    loops = fields.flag("loops") or loops
    n_graphs = fields.whole("graphs", 100)
    classes = tuple(_classes(fields, kind))
    # After all keys were read: what is left over is a mistake.
    fields.finish()
    if weights != "auto":
        record["weights"] = weights
    return Design(record | {"loops": loops}, where, classes, loops, n_graphs)


@dataclass(frozen=True)
class _Kind:
    """How one model is read; ``varies`` is the key that a class may have of its own."""

    build: Callable[[Fields, Fields], tuple[GraphModel, Loadings | None]]
    varies: str
    has_law: bool = False


def _classes(fields: Fields, kind: _Kind) -> list[GraphClass]:
    tables = fields.tables("classes")
    if not tables:
        return [_one_class(fields, fields, kind, "all", 1.0)]
    if kind.varies in fields:
        fields.refuse(
            f"the key {kind.varies!r} stands at the top and classes have their own, expected one "
            "of the two; move it into each class"
        )
    found = []
    for place, table in enumerate(tables):
        own = Fields(table, f"{fields.where}, classes[{place}]")
        name, weight = own.text("name"), own.number("weight", 1.0)
        if weight <= 0:
            own.wrong("weight", "a number above 0", "leave out a class that never comes")
        found.append(_one_class(fields, own, kind, name, weight))
        own.finish()
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            fields.refuse(f"two classes are called {name!r}, expected different names; rename one")
    sizes = {each.model.n_vertices for each in found}
    if len(sizes) > 1:
        fields.refuse(
            f"all classes must have the same number of vertices, got {sorted(sizes)}; graphs on "
            "different vertex sets cannot be embedded together"
        )
    total = sum(each.weight for each in found)
    return [GraphClass(each.name, each.weight / total, each.model, each.loadings) for each in found]


def _one_class(fields: Fields, own: Fields, kind: _Kind, name: str, weight: float) -> GraphClass:
    try:
        model, loadings = kind.build(fields, own)
    except InputError as error:
        if str(error).startswith(fields.where):
            raise
        raise InputError(f"{own.where}: {error}") from None
    return GraphClass(name, weight, model, loadings)


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
    if law not in _LAWS:
        fields.wrong("law", f"one of {', '.join(_LAWS)}", "choose one")
    noise = fields.number("noise_scale") if "noise_scale" in fields else None
    model = MultipleRandomEigenGraphs(
        H, loadings, law=law, noise_scale=noise, clip=fields.flag("clip")
    )
    return model, loadings


_KINDS = {
    "erdos_renyi": _Kind(_erdos_renyi, "p"),
    "stochastic_block_model": _Kind(_block_model, "B"),
    "random_dot_product": _Kind(_dot_product, "positions"),
    "inhomogeneous": _Kind(_inhomogeneous, "P"),
    "multiple_random_eigen_graphs": _Kind(_eigen_graphs, "loadings", has_law=True),
}


def _loadings(own: Fields) -> Loadings:
    expected = (
        "a list with a number or a law for each component, such as [10.0, {uniform = [0, 2]}], or "
        "{points = [[...], ...], weights = [...]}"
    )
    value = own.get("loadings", expected)
    if isinstance(value, Mapping):
        points = Fields(value, f"{own.where}, loadings")
        P = points.array("points", 2, "a list of loadings, each with a number for each component")
        weights = np.ones(len(P))
        if "weights" in points:
            weights = points.array("weights", 1, "a number for each point")
        if len(weights) != len(P) or (weights < 0).any() or not weights.sum() > 0:
            points.wrong("weights", f"{len(P)} numbers of at least 0, one for each point")
        points.finish()
        return PointLoadings(P, weights / weights.sum())
    if not isinstance(value, list | tuple) or not value:
        own.wrong("loadings", expected)
    return IndependentLoadings(tuple(_law(own, k, item) for k, item in enumerate(value)))


def _law(own: Fields, k: int, item: Any) -> ComponentLaw:
    entry = Fields({"value": item}, f"{own.where}, loadings[{k}]")
    if not isinstance(item, Mapping):
        return ComponentLaw("constant", entry.number("value"))
    known = " or ".join(f"{{{name} = [{words}]}}" for name, words in LAWS.items())
    if len(item) != 1 or next(iter(item)) not in LAWS:
        entry.refuse(f"expected a number or {known}, got {reprlib.repr(dict(item))}; mend it")
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
    asked = fields.get("model", f"one of {known}")
    name = str(asked).strip().lower().replace("-", "_").replace(" ", "_")
    name = _SHORT.get(name, name)
    if name not in _KINDS:
        near = difflib.get_close_matches(name, [*_KINDS, *_SHORT], 1)
        fields.wrong("model", f"one of {known}", f"is it {near[0]!r}?" if near else "choose one")
    return name


def _choose_weights(fields: Fields, table: dict[str, Any], kind: _Kind, weights: str) -> None:
    """Put the law that a command asks for into the table that is read."""
    if weights == "auto":
        return
    if weights not in WEIGHTS:
        fields.refuse(f"weights must be auto, {' or '.join(WEIGHTS)}, got {weights!r}; choose one")
    if not kind.has_law:
        fields.refuse(
            f"weights {weights!r} needs a model with loadings (multiple_random_eigen_graphs); the "
            "edges of the others are there or not: leave --weights out"
        )
    table["law"] = WEIGHTS[weights]
    table.pop("noise_scale", None)


def _refuse_absent(path: Path) -> None:
    names = [*DESIGNS]
    if path.parent.is_dir():
        names += [item.name for item in path.parent.iterdir() if item.suffix in (".toml", ".json")]
    near = difflib.get_close_matches(path.name, names, 1)
    hint = f"is it {near[0]!r}?" if near else "write a recipe, or name a design"
    raise InputError(
        f"there is no design and no file {str(path)!r}; designs are {', '.join(DESIGNS)}, and a "
        f"recipe ends in .toml or .json: {hint}"
    )
