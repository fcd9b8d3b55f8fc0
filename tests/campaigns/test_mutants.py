"""The changes that are made, and that a test which fails is noticed."""

import ast

import pytest

from campaigns.equivalent import EQUIVALENT
from campaigns.mutants import PACKAGE, ROOMS, ROOT, campaign, covering, modules_of
from campaigns.mutation import changes, mutants

SOURCE = '''
"""A module."""
__all__ = ["clipped"]


class Range:
    """Two numbers."""

    def clipped(self, x: int, least: float = 0) -> float:
        """Not below the least."""
        if x < least and not self.open:
            raise ValueError(f"{x} is below {least + 1}")
        self.seen.append(x)
        return max(x, -least) + 2
'''


def test_every_kind_of_change():
    found = {(one.function, one.line, one.change) for one in mutants(SOURCE)}
    clipped = "Range.clipped"
    assert {(function, line, change) for function, line, change in found if "if" not in change} == {
        (clipped, 9, "0 -> 1"),
        (clipped, 11, "x < least and (not self.open) -> x < least or not self.open"),
        (clipped, 11, "x < least -> x <= least"),
        (clipped, 11, "x < least -> x >= least"),
        (clipped, 11, "not self.open -> self.open"),
        (clipped, 12, "raise ValueError(f'{x} is below {least + 1}') -> pass"),
        (clipped, 13, "self.seen.append(x) -> pass"),
        (clipped, 14, "return max(x, -least) + 2 -> return None"),
        (clipped, 14, "max(x, -least) + 2 -> max(x, -least) - 2"),
        (clipped, 14, "max -> min"),
        (clipped, 14, "-least -> least"),
        (clipped, 14, "2 -> 3"),
    }
    assert any(change.startswith("if x < least") for _, _, change in found)


def test_each_mutant_is_one_change_of_a_module_that_can_be_read():
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant in mutants(SOURCE):
        changed = mutant.source.splitlines()
        assert sum(a != b for a, b in zip(plain, changed, strict=True)) == 1, mutant.change


def test_the_functions_that_are_asked_for():
    assert not list(mutants(SOURCE, frozenset({"clipped"})))
    assert list(mutants(SOURCE, frozenset({"Range.clipped"}))) == list(mutants(SOURCE))


def test_modules_are_tried_by_the_tests_of_their_room():
    assert covering("io/vectors")[0] == "tests/io/test_vectors.py"
    modules = [module for room in ROOMS for module in modules_of(room)]
    assert all((ROOT / test).exists() for module in modules for test in covering(module))


def test_changes_are_those_of_the_mutants():
    assert changes(SOURCE) == {(one.function, one.change) for one in mutants(SOURCE)}


@pytest.mark.slow
def test_equivalent_mutants_are_there():
    """Else the line has changed, and the reason may hold no longer."""
    for module, function, change in EQUIVALENT:
        source = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
        assert (function, change) in changes(source)


@pytest.mark.slow
def test_a_short_campaign():
    penalty = frozenset({"size_penalty"})
    outcome = campaign(["model/parameters"], 300, seed=0, each=3, functions=penalty)
    assert outcome.tried == {"model": 3}
    assert outcome.survivors == []
