"""The docstrings of public names, as numpydoc checks them, and their examples.

A method is held to its sections, where it has them, and to telling its parameters and what it
returns; a public name also to having an example that runs as it is copied, and to naming others.
"""

import ast
import builtins
import doctest
import functools
import importlib
import inspect
from collections.abc import Iterator

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import manymaps
from test_public_names import FACES

#: Sections and their order, a summary of one line that ends, parameters as the signature has them,
#: and what is returned or yielded.
OF_ALL = {
    *("GL01", "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10", "SS03", "SS04", "SS06"),
    *("PR02", "PR03", "PR05", "PR06", "PR10", "RT01", "RT02", "YD01", "SA02", "SA03"),
}
OF_NAMES = OF_ALL | {"PR01", "EX01", "SA01"}


def public() -> dict[str, object]:
    """What users import, each once, by the name they import it by; constants aside."""
    names = [f"manymaps.{name}" for name in manymaps.__all__ if name != "__version__"]
    for face in FACES:
        module = importlib.import_module(f"manymaps.{face}")
        names += [f"manymaps.{face}.{name}" for name in module.__all__]
    found: dict[int, tuple[str, object]] = {}
    for name in names:
        module_name, _, attribute = name.rpartition(".")
        value = getattr(importlib.import_module(module_name), attribute)
        if inspect.isclass(value) or inspect.isfunction(value):
            found.setdefault(id(value), (name, value))
    return dict(found.values())


PUBLIC = public()


def methods() -> Iterator[str]:
    """The public methods and properties that a public class has of its own."""
    for name, value in PUBLIC.items():
        if inspect.isclass(value):
            for attribute, member in vars(value).items():
                kinds = (property, classmethod, staticmethod, functools.cached_property)
                documented = inspect.isfunction(member) or isinstance(member, kinds)
                if documented and not attribute.startswith("_"):
                    yield f"{name}.{attribute}"


def faults(name: str, chosen: set[str]) -> list[str]:
    """What numpydoc finds, of the chosen kinds."""
    return [f"{code} {said}" for code, said in validate(name)["errors"] if code in chosen]


@pytest.mark.filterwarnings("ignore:Widget.:DeprecationWarning")  # asked for by inspect
@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_of_a_public_name(name):
    found = faults(name, OF_NAMES)
    if _has_fields_alone(PUBLIC[name]) or _takes_anything(PUBLIC[name]):
        found = [fault for fault in found if not fault.startswith("PR01")]
    assert not found


def _has_fields_alone(value: object) -> bool:
    """Whether it is what users are given and never make: its fields are attributes."""
    document = NumpyDocString(inspect.getdoc(value) or "")
    if not document["Attributes"] or document["Parameters"]:
        return False
    said = {one for field in document["Attributes"] for one in field.name.split(", ")}
    return {field for field in inspect.signature(value).parameters if field[0] != "_"} <= said


def _takes_anything(value: object) -> bool:
    """Whether it takes what its base does, as a protocol and most errors do."""
    try:
        kinds = {one.kind for one in inspect.signature(value).parameters.values()}
    except ValueError:  # built in
        return True
    return kinds <= {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


@pytest.mark.parametrize("name", list(methods()))
def test_docstring_of_a_method(name):
    assert not faults(name, OF_ALL | {"PR01"})


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_imports_what_it_uses(name):
    """Doctests see the names of their module; who copies an example has what it shows."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(PUBLIC[name]) or "")
    tree = ast.parse("".join(example.source for example in examples))
    nodes = list(ast.walk(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    given = {node.id for node in nodes if isinstance(node, ast.Name)
             and isinstance(node.ctx, ast.Store)}  # fmt: skip
    given |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    given |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    given |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            given |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    assert used <= given | set(dir(builtins))
