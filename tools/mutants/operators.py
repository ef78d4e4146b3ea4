"""Small wrongs that a test should notice, each at one place of a file.

The operators: a comparison becomes its neighbor or its opposite (< and <=, == and !=, is and is
not, in and not in); + and -, * and /, // and / change places, ** becomes *, @ is left alone; a
number n becomes n + 1, a float x becomes 2 x, 0.0 becomes 1.0; True and False, ``and`` and ``or``
change places; ``not`` and the minus before a value are taken off; the condition of an if, a while
or a conditional expression is negated; an augmented assignment, or a call whose result nobody
takes, is left out; ``break`` and ``continue`` change places.

Left alone are texts, docstrings, annotations, decorators, what is raised, ``assert``, ``__all__``,
imports, whether a zip is strict, defaults of arguments that are None, and constants in capitals at
the top of a module: these are sizes of blocks and tolerances, by which speed changes and results do
not.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "mutants_of"]

_COMPARED: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt], ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is], ast.In: [ast.NotIn], ast.NotIn: [ast.In],
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One wrong: its place in a file, and the whole changed source with a word on what changed."""

    line: int
    original: str
    place: int  # among the nodes that may be changed
    kind: int  # among what can be done there
    function: str
    was: str  # the statement, or the head of a compound one
    becomes: str  # the same with the wrong in it
    name: str  # of the function, was and becomes: the same whatever else changes in the file

    def made(self) -> tuple[str, str]:
        """Return the changed source, and what was changed."""
        tree = ast.parse(self.original)
        target = _open_nodes(tree)[self.place][0]
        what, change = list(_changes(target))[self.kind]
        before = ast.unparse(target)
        after = change(target)
        if after is not None:
            tree = _Replaced(target, after).visit(tree)
        shown = ast.unparse(after or target)
        ast.fix_missing_locations(tree)
        text = f"{what}: {before.splitlines()[0][:60]} -> {shown.splitlines()[0][:60]}"
        return ast.unparse(tree), text


def mutants_of(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    seen: Counter[str] = Counter()
    for place, (node, statement, function) in enumerate(_open_nodes(ast.parse(source))):
        was = _line(statement)
        for kind, (_, change) in enumerate(_changes(node)):
            copies: dict[int, ast.AST] = {}
            changed: ast.AST = copy.deepcopy(statement, copies)  # type: ignore[arg-type]
            target = copies[id(node)]
            after = change(target)
            if after is not None:
                changed = _Replaced(target, after).visit(changed)
            becomes = _line(changed)
            name = f"{function}: {was} -> {becomes}"
            seen[name] += 1
            line = node.lineno  # type: ignore[attr-defined]
            place_of = (line, source, place, kind, function)
            yield Mutant(*place_of, was, becomes, f"{name} {seen[name]}")


def _line(statement: ast.AST) -> str:
    """Return a statement as one line of code, without its body."""
    head = copy.copy(statement)
    if hasattr(head, "body") and isinstance(head.body, list):
        head.body = [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(head)).splitlines()[0]


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Put the new node where the old one was."""
        return self.new if node is self.old else self.generic_visit(node)


def _open_nodes(tree: ast.Module) -> list[tuple[ast.AST, ast.AST, str]]:
    """Return the nodes that may be changed, in an order that copies share.

    Each with its statement and the name of its function.
    """
    found = list[tuple[ast.AST, ast.AST, str]]()

    def walk(node: ast.AST, top: bool, statement: ast.AST, function: str) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.Assert | ast.JoinedStr):
            return
        if isinstance(node, ast.keyword) and node.arg == "strict":  # what is zipped has one length
            return
        if isinstance(node, ast.stmt):
            statement = node
        if isinstance(node, ast.Assign) and top and all(_is_constant(x) for x in node.targets):
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None and not (top and _is_constant(node.target)):
                walk(node.value, False, statement, function)
            return
        if isinstance(node, ast.FunctionDef):
            function = f"{function}.{node.name}" if function else node.name
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                walk(default, False, statement, function)
            for part in node.body:
                walk(part, False, statement, function)
            return
        if hasattr(node, "lineno"):
            found.append((node, statement, function))
        if isinstance(node, ast.ClassDef):
            function = node.name
        for child in ast.iter_child_nodes(node):
            if isinstance(node, ast.ClassDef) and child in node.decorator_list:
                continue
            walk(child, isinstance(node, ast.Module), statement, function)

    walk(tree, True, tree, "")
    return found


def _is_constant(target: ast.AST) -> bool:
    if isinstance(target, ast.Tuple):
        return all(map(_is_constant, target.elts))
    name = target.id if isinstance(target, ast.Name) else ""
    return name == name.upper() or name.startswith("__") or name.lstrip("_")[:1].isupper()


Change = Callable[[ast.AST], ast.AST | None]


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield what can be done to a node; a change works on the node, or returns another for it."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            for other in _COMPARED.get(type(operator), []):
                yield "comparison", _setting("ops", k, other())
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        if not _is_text(node.left) and not _is_text(node.right):
            yield "arithmetic", _setting("op", None, _COMPUTED[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        other_word = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or", _setting("op", None, other_word)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield "unary", lambda target: target.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield "constant", _setting("value", None, not value)
        elif isinstance(value, int):
            yield "constant", _setting("value", None, value + 1)
        elif isinstance(value, float):
            yield "constant", _setting("value", None, 2 * value if value else 1.0)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "negated", _negated
    elif isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "left out", lambda _: ast.Pass()
    elif isinstance(node, ast.Break):
        yield "loop", lambda _: ast.Continue()
    elif isinstance(node, ast.Continue):
        yield "loop", lambda _: ast.Break()


def _setting(name: str, k: int | None, value: object) -> Change:
    def change(node: ast.AST) -> None:
        if k is None:
            setattr(node, name, value)
        else:
            getattr(node, name)[k] = value

    return change


def _negated(node: ast.AST) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
