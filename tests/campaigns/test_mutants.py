"""Each module has tests, and a test which fails is noticed."""

import pytest

from campaigns.equivalent import EQUIVALENT
from campaigns.mutants import PACKAGE, ROOMS, ROOT, campaign, covering, modules_of
from campaigns.mutation import changes


def test_modules_are_tried_by_the_tests_of_their_room():
    assert covering("io/vectors")[0] == "tests/io/test_vectors.py"
    modules = [module for room in ROOMS for module in modules_of(room)]
    assert all((ROOT / test).exists() for module in modules for test in covering(module))


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
