"""Ways from graphs to features: joint embedding, and all that it is compared with, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sklearn.base import clone

from eigengraphs import baselines
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.stack import GraphStack

__all__ = [
    "JOINT",
    "METHODS",
    "Method",
    "MethodsLike",
    "Setting",
    "choose_methods",
    "not_offered",
    "quiet",
]

JOINT = "joint embedding"
_MANY = 1000  # vertices, beyond which the spectrum is cut


@dataclass(frozen=True)
class Setting:
    """What the methods of a fold share; found by the joint embedding of its training graphs."""

    embedding: JointEmbedding  # settings, not a fit
    d: int
    n_training: int
    n_vertices: int


@dataclass(frozen=True)
class Method:
    """A way to features."""

    name: str
    make: Callable[[Setting], Any]
    """Returns an estimator with ``fit_transform`` and ``transform``."""
    n_parameters: Callable[[int, int, int], int] = lambda *_: 0
    """Numbers that describe m graphs on n vertices in d dimensions, besides a mean graph."""
    gives_distances: bool = False
    """Whether features are distances to the training graphs."""
    one_scale: bool = False
    """Whether columns are of one kind: they keep their relative scales before a linear rule."""
    is_general: bool = False
    """Whether it takes directed graphs and missing entries."""


MethodsLike: TypeAlias = "str | Sequence[str] | Mapping[str, Any]"


def _joint_parameters(m: int, n: int, d: int) -> int:
    return d * (n + m)


#: Every way to features by its name: what ``methods`` of :func:`evaluate` may hold.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(JOINT, lambda s: quiet(s.embedding), _joint_parameters, is_general=True),
        Method(
            "PCA",
            lambda s: baselines.VectorizedPCA(s.d),
            lambda m, n, d: d * (n * (n + 1) // 2 + m),
        ),
        Method(
            "Multiple ASE",
            lambda s: baselines.MultipleASE(s.d),
            lambda m, n, d: n * d + m * d * (d + 1) // 2,
        ),
        Method(
            "Omnibus",
            lambda s: baselines.Omnibus(s.d),
            lambda m, n, d: m * n * d,
            one_scale=True,
        ),
        Method(
            "Unfolded ASE",
            lambda s: baselines.UnfoldedASE(s.d),
            lambda m, n, d: n * d + m * n * d,
            one_scale=True,
        ),
        Method(
            "ASE",
            lambda s: baselines.AdjacencySpectralEmbedding(s.d),
            lambda m, n, d: m * n * d,
            gives_distances=True,
            one_scale=True,
        ),
        Method(
            "Laplacian eigenmap",
            lambda s: baselines.LaplacianEigenmap(s.d),
            lambda m, n, d: m * n * d,
            gives_distances=True,
            one_scale=True,
        ),
        Method(
            "graph statistics",
            lambda _: baselines.GraphStatistics(),
            lambda m, *_: 7 * m,
        ),
        Method(
            "spectra",
            lambda s: baselines.SpectralStatistics(None if s.n_vertices <= _MANY else _MANY),
            lambda m, n, _: min(n, _MANY) * m,
        ),
        # All principal components: distances to training graphs are those of the vectors but for
        # what no training graph has a part in, which is the same for all of them.
        Method(
            "graphs as vectors",
            lambda s: baselines.VectorizedPCA(
                min(s.n_training, s.n_vertices * (s.n_vertices + 1) // 2)
            ),
            lambda m, n, _: m * (n * (n + 1) // 2),
            one_scale=True,
        ),
    )
}


def choose_methods(wanted: MethodsLike) -> tuple[Method, ...]:
    """Return methods by name; joint embedding is always the first.

    Parameters
    ----------
    wanted
        "all", names, or a mapping of names to estimators with ``fit_transform`` and ``transform``
        (None for those that have a name here).
    """
    if isinstance(wanted, str):
        wanted = list(METHODS) if wanted == "all" else [wanted]
    given = dict(wanted) if isinstance(wanted, Mapping) else dict.fromkeys(wanted)
    found = {JOINT: METHODS[JOINT]}
    for name, estimator in given.items():
        if estimator is not None and name == JOINT:
            raise InputError(f"the settings of the {JOINT} are given by embedding=, not methods=")
        if estimator is not None:
            found[name] = Method(name, lambda _, given=estimator: clone(given), is_general=True)  # type: ignore[misc]
        elif name in METHODS:
            found[name] = METHODS[name]
        else:
            raise InputError(
                f"there is no method {name!r}; methods are: {', '.join(METHODS)}; another can be "
                "given with its estimator, methods={'name': estimator}"
            )
    return tuple(found.values())


def not_offered(method: Method, graphs: GraphStack) -> str:
    """Say why a method cannot be had for these graphs; empty if it can."""
    if method.is_general:
        return ""
    if graphs.is_directed:
        return "it takes undirected graphs alone, and these are directed"
    if graphs.has_missing:
        return "it takes complete graphs alone, and entries are missing in these"
    return ""


def quiet(embedding: JointEmbedding) -> JointEmbedding:
    """Return the settings of an embedding, without progress."""
    made: Any = clone(embedding)
    made.set_params(verbose=0, callback=None)
    assert isinstance(made, JointEmbedding)
    return made
