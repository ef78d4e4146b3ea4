"""Put graphs on one vertex set: by name where they have names, by place where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.stack.names import some_of, spelling
from eigengraphs.stack.one_graph import Piece

__all__ = [
    "VertexRule",
    "align_pieces",
    "check_vertex_rule",
    "refuse_absent",
    "refuse_nameless",
]

VertexRule: TypeAlias = Literal["same", "intersection", "union"]


def align_pieces(
    pieces: Sequence[Piece],
    vertices: VertexRule,
    order: Sequence[str] | None,
    *,
    hide: bool = False,
) -> tuple[list[Piece], tuple[str, ...] | None, NDArray[np.bool_] | None]:
    """Return the graphs on one vertex set, the names of its vertices, and which graphs have them.

    The last is an array (m, n), or None where every graph has every vertex.

    Parameters
    ----------
    pieces
        The graphs.
    vertices
        ``"same"``: every named graph must have the same names. ``"intersection"``: keep the
        names that all of them have. ``"union"``: keep every name; a vertex that a graph does not
        have gets no edges there, which is refused of a matrix unless such vertices are hidden.
    order
        Names to use: their order for named graphs, the names themselves for unnamed ones.
    hide
        Whether the caller hides the vertices that a graph does not have.
    """
    named = [piece for piece in pieces if piece.names is not None]
    if not named:
        _same_size(pieces, hint="name the vertices and pass vertices='intersection'")
        if vertices != "same":
            refuse_nameless(vertices)
        return list(pieces), None if order is None else tuple(order), None

    _one_kind_of_name(named)
    reference = named[0].names or ()
    if vertices == "intersection":
        common = set(reference).intersection(*(piece.names or () for piece in named))
        target = tuple(name for name in reference if name in common)
        if not target:
            raise AlignmentError("no vertex name is common to all graphs")
    elif vertices == "union":
        target = tuple(dict.fromkeys(name for piece in named for name in piece.names or ()))
        for piece in named:
            if piece.states_all and len(piece.names or ()) < len(target) and not hide:
                refuse_absent(piece.where, piece.names or (), target)
    else:
        for piece in named[1:]:
            _same_names(piece, named[0])
        target = reference
    if order is not None:
        if set(order) != set(target):
            differ = sorted(set(order) ^ set(target))
            raise AlignmentError(
                "vertex_names must hold the names that the graphs have; "
                f"only in one of the two: {some_of(differ)}{spelling(differ, differ)}"
            )
        target = tuple(order)

    if len(named) < len(pieces):
        # An unnamed matrix can only be meant in the order of the named ones.
        if vertices != "same":
            raise AlignmentError(
                f"vertices={vertices!r} aligns by vertex names, but some graphs have none; "
                "name them all, or use vertices='same'"
            )
        _same_size(pieces, hint="name the vertices of all graphs")
    present = None
    if vertices == "union":
        sets = [set(piece.names or ()) for piece in pieces]
        present = np.array([[name in names for name in target] for names in sets])
    return [_place(piece, target, reference) for piece in pieces], target, present


def check_vertex_rule(vertices: Any) -> None:
    """Raise an error for a rule that does not exist."""
    if vertices not in ("same", "intersection", "union"):
        raise InputError(
            f"vertices must be 'same', 'intersection' or 'union', got vertices={vertices!r}"
        )


def refuse_absent(
    where: str,
    names: Iterable[str],
    target: Sequence[str],
    way_out: str = "pass missing='unobserved' to hide them there",
) -> NoReturn:
    """Say that vertices which a matrix lacks were not measured: zeros would be taken for data."""
    have = set(names)
    lacking = [name for name in target if name not in have]
    raise AlignmentError(
        f"{where} is a matrix that lacks {len(lacking)} of the {len(target)} vertices "
        f"({some_of(lacking)}): they were not measured, and zeros would say that they have no "
        f"edges; {way_out}, or vertices='intersection' for the vertices that all graphs have"
    )


def refuse_nameless(vertices: VertexRule) -> NoReturn:
    """Say that graphs without names cannot be aligned by name."""
    raise AlignmentError(
        f"vertices={vertices!r} aligns by vertex names, and these graphs have none; "
        "use pandas DataFrames or networkx graphs, or leave vertices='same'"
    )


def _place(piece: Piece, target: tuple[str, ...], reference: tuple[str, ...]) -> Piece:
    names = piece.names
    if names is None:
        # Vertices called 0, 1, ... in whatever order are the rows 0, 1, ... of an array.
        numbers = tuple(map(str, range(piece.n_vertices)))
        names = numbers if set(numbers) == set(reference) else reference
    where = {name: s for s, name in enumerate(names)}
    if all(name in where for name in target):
        return piece.take(np.array([where[name] for name in target], dtype=np.intp))
    # Union: a vertex that this graph does not have gets no edges, or is hidden by the caller.
    place = {name: s for s, name in enumerate(target)}
    move = np.array([place[name] for name in names])
    entries = sparse.coo_array(piece.matrix)
    s, t = entries.coords
    size = (len(target), len(target))
    matrix = sparse.csr_array(sparse.coo_array((entries.data, (move[s], move[t])), shape=size))
    spread = matrix.toarray() if isinstance(piece.matrix, np.ndarray) else matrix
    return Piece(spread, target, piece.keep_sparse, piece.where)


def _one_kind_of_name(named: Sequence[Piece]) -> None:
    """Refuse the number 0 in one graph and the text "0" in another: they may be two vertices."""
    first: dict[str, tuple[bool, Piece]] = {}
    for piece in named:
        given = (piece.names or ()) if piece.given is None else piece.given
        for name, own in zip(piece.names or (), given, strict=True):
            is_text, other = first.setdefault(name, (isinstance(own, str), piece))
            if is_text != isinstance(own, str):
                raise AlignmentError(
                    f"{other.where} calls a vertex {name if not is_text else repr(name)} and "
                    f"{piece.where} calls one {own!r}: a number and a text with the same digits; "
                    "use one kind of name in all graphs, as networkx.relabel_nodes(graph, str) does"
                )


def _same_size(pieces: Sequence[Piece], hint: str) -> None:
    n = pieces[0].n_vertices
    for piece in pieces:
        if piece.n_vertices != n:
            raise AlignmentError(
                f"{piece.where} has {piece.n_vertices} vertices, expected {n} as in "
                f"{pieces[0].where}; all graphs must be on one vertex set: {hint}"
            )


def _same_names(piece: Piece, first: Piece) -> None:
    mine, theirs = set(piece.names or ()), set(first.names or ())
    if mine == theirs:
        return
    lacks, has = sorted(theirs - mine), sorted(mine - theirs)
    parts = []
    if lacks:
        parts.append(f"it lacks {some_of(lacks)}")
    if has:
        parts.append(f"only it has {some_of(has)}")
    raise AlignmentError(
        f"{piece.where} has {piece.n_vertices} vertices whose names differ from those of "
        f"{first.where} ({first.n_vertices} vertices): {'; '.join(parts)}{spelling(lacks, has)}; "
        "align by name with vertices='intersection' or vertices='union'"
    )
