"""Small changes of a module's syntax tree, one at a time: what a slip of the hand would do.

A comparison is flipped or takes its boundary in, a sum becomes a difference, a number is one off, a
condition is negated, a call or a return value is left out. `mutants` lists them all for a source,
always in the same order; what only words a message or a type is left alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "changes", "mutants"]


@dataclass(frozen=True)
class Mutant:
    """A source with one change.

    Parameters
    ----------
    function : str
        Where: "Target.rows", or "" at the level of the module.
    line : int
        Of the source as it was.
    change : str
        "a < b -> a <= b".
    source : str
        The changed module.
    """

    function: str
    line: int
    change: str
    source: str


_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
_PAIRS = (
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"),
    ("floor", "ceil"), ("zeros", "ones"), ("cumsum", "asarray"), ("sorted", "list"),
    ("startswith", "endswith"), ("strip", "lstrip"), ("lower", "upper"),
)  # fmt: skip
_OTHERS = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
# What words a message, gives a type or tells a checker something: no behaviour to hold.
_WORDS = ("annotation", "returns", "decorator_list", "exc", "cause", "type_params")


def mutants(source: str, functions: frozenset[str] | None = None) -> Iterator[Mutant]:
    """Every change of a module, or of the functions that are named, in the order of the source."""
    tree = ast.parse(source)
    for place, change in _applied(tree, functions):
        whole = ast.unparse(ast.fix_missing_locations(tree))
        yield Mutant(place.function, place.node.lineno, change, whole)


def changes(source: str) -> set[tuple[str, str]]:
    """The function and the change of each mutant of a module, without their sources."""
    return {(place.function, change) for place, change in _applied(ast.parse(source), None)}


def _applied(tree: ast.Module, functions: frozenset[str] | None) -> Iterator[tuple[_Place, str]]:
    """Each change, which is in the tree until the next is asked for."""
    for place in _places(tree, ""):
        if functions is not None and place.function not in functions:
            continue
        for other in _changed(place.node):
            change = f"{ast.unparse(place.node)} -> {ast.unparse(other)}"
            _put(place, other)
            try:
                yield place, change
            finally:
                _put(place, place.node)


@dataclass(frozen=True)
class _Place:
    """A node, and where its parent holds it."""

    node: ast.expr | ast.stmt
    parent: ast.AST
    attribute: str
    index: int | None
    function: str


def _put(place: _Place, node: ast.AST) -> None:
    if place.index is None:
        setattr(place.parent, place.attribute, node)
    else:
        getattr(place.parent, place.attribute)[place.index] = node


def _places(parent: ast.AST, function: str) -> Iterator[_Place]:
    if isinstance(parent, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{parent.name}".lstrip(".")
    for attribute, value in ast.iter_fields(parent):
        if attribute in _WORDS:
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or _says_nothing(node):
                continue
            if isinstance(node, ast.expr | ast.stmt):
                at = index if isinstance(value, list) else None
                yield _Place(node, parent, attribute, at, function)
            yield from _places(node, function)


def _says_nothing(node: ast.AST) -> bool:
    """Docstrings, assertions, names that a module gives out, imports, `zip(strict=True)`."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.JoinedStr():
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
    return isinstance(node, ast.Import | ast.ImportFrom)


def _changed(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    """What could stand where a node does."""
    match node:
        case ast.Compare(ops=[operator, *_]):
            for other in _COMPARISONS[type(operator)]:
                yield _with(node, ops=[other(), *node.ops[1:]])
        case ast.BinOp(op=operator) if type(operator) in _OPERATORS:
            if not _is_text(node.left) and not _is_text(node.right):
                yield _with(node, op=_OPERATORS[type(operator)]())
        case ast.AugAssign(op=operator):
            if type(operator) in _OPERATORS:
                yield _with(node, op=_OPERATORS[type(operator)]())
            yield ast.Pass()
        case ast.BoolOp(op=operator):
            yield _with(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.If() | ast.IfExp() | ast.While():
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
            if value == 1 or value > 2:
                yield ast.Constant(value - 1)
        case ast.Return(value=value) if value is not None:
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.Name(id=name) if name in _OTHERS and isinstance(node.ctx, ast.Load):
            yield _with(node, id=_OTHERS[name])
        case ast.Attribute(attr=name) if name in _OTHERS and isinstance(node.ctx, ast.Load):
            yield _with(node, attr=_OTHERS[name])


def _with(node: ast.AST, **parts: object) -> ast.AST:
    other = copy.copy(node)
    for name, part in parts.items():
        setattr(other, name, part)
    return other


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
