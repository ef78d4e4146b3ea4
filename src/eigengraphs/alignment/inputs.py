"""What users may give as reference and as seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import AlignmentError, InputError, SelectionError
from eigengraphs.stack import GraphStack
from eigengraphs.stack.names import one_place, places
from eigengraphs.stack.one_graph import is_one_graph

__all__ = ["as_reference", "as_seeds"]

NO_SEEDS = np.empty((0, 2), dtype=np.intp)


def as_reference(reference: Any, stack: GraphStack) -> int | GraphStack | None:
    """Return the place of a graph of the stack, another graph as a stack of one, or None: the mean.

    A graph that names the same vertices as the stack is put into the stack's order.
    """
    if isinstance(reference, str) and reference == "mean":
        if "mean" in stack.graph_names:
            raise InputError(
                "reference='mean' is the mean of the graphs, but one graph has that name; give "
                "the graph by its place, or other names by with_names"
            )
        return None
    if isinstance(reference, str | int | np.integer) and not isinstance(reference, bool):
        try:
            return one_place(reference, stack.graph_names, "graph")
        except SelectionError as error:
            raise SelectionError(
                f"{error}; reference must be the place or name of a graph, 'mean', or a graph"
            ) from None
    if isinstance(reference, GraphStack):
        if len(reference) != 1:
            raise InputError(
                f"reference must be one graph, got a stack of {len(reference)}; "
                "take one of them: stack[i : i + 1]"
            )
        other = reference
    elif isinstance(reference, list | tuple) or is_one_graph(reference):
        other = GraphStack([reference])
    else:
        raise InputError(
            "reference must be the place or name of a graph of the stack, 'mean', or one graph "
            f"(array, scipy sparse, networkx, igraph, pandas), got {type(reference).__name__}"
        )
    if other.n_vertices != stack.n_vertices:
        raise AlignmentError(
            f"the reference has {other.n_vertices} vertices, the graphs have {stack.n_vertices}; "
            "matching needs as many: add isolated vertices to the smaller, or select vertices"
        )
    both_named = other.has_vertex_names and stack.has_vertex_names
    if both_named and set(other.vertex_names) == set(stack.vertex_names):
        other = other.in_order_of(stack.vertex_names)
    return other


def as_seeds(
    seeds: Any, stack: GraphStack, reference_names: tuple[str, ...]
) -> list[NDArray[np.intp]]:
    """Return pairs (vertex of the reference, vertex of the graph), (k, 2), for each graph."""
    m = len(stack)
    if seeds is None:
        return [NO_SEEDS] * m
    if isinstance(seeds, Mapping):
        each = [NO_SEEDS] * m
        for graph, own in seeds.items():
            each[one_place(graph, stack.graph_names, "graph")] = _pairs(
                own, stack.vertex_names, reference_names
            )
        return each
    return [_pairs(seeds, stack.vertex_names, reference_names)] * m


def _pairs(
    seeds: Any, names: tuple[str, ...], reference_names: tuple[str, ...]
) -> NDArray[np.intp]:
    given = np.asarray(seeds if hasattr(seeds, "__array__") else _listed(seeds))
    if given.size == 0:
        return NO_SEEDS
    if given.ndim == 2 and given.shape[1] == 2:
        columns = [
            _column(given[:, 0], reference_names, "vertex of the reference"),
            _column(given[:, 1], names, "vertex"),
        ]
    elif given.ndim == 1:
        columns = [
            _column(given, reference_names, "vertex of the reference"),
            _column(given, names, "vertex"),
        ]
    else:
        raise InputError(
            "seeds must be a list of vertices that are in their places, or pairs (k, 2) of a "
            "vertex of the reference and a vertex of the graph; got an array of shape "
            f"{given.shape}"
        )
    return np.stack(columns, axis=1)


def _listed(seeds: Any) -> list[Any]:
    if isinstance(seeds, str) or not hasattr(seeds, "__iter__"):
        raise InputError(
            "seeds must be None, a list of vertices, pairs (k, 2) of vertices, or a dictionary "
            f"from graphs to these; got {seeds!r}"
        )
    return list(seeds)


def _column(which: NDArray[Any], names: tuple[str, ...], noun: str) -> NDArray[np.intp]:
    if which.dtype == bool and len(which) != len(names):
        raise SelectionError(f"a mask must have one entry a vertex, {len(names)}")
    chosen = places(which, names, noun)
    values, counts = np.unique(chosen, return_counts=True)
    if len(values) < len(chosen):
        twice = names[int(values[counts > 1][0])]
        raise InputError(f"seeds name the {noun} {twice!r} more than once; each has one partner")
    return chosen
