"""The page, the library, the command and the figure list the same senses of a word."""

import importlib.util
from pathlib import Path

import pytest

from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "senses.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("senses", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_random_words_have_the_same_senses_everywhere(open_page, relations, tmp_path, script):
    file = tmp_path / "relations.atlas"
    relations.save(file)
    write_page(relations, tmp_path / "page.html")
    at = open_page(tmp_path / "page.html", viewport=script.VIEWPORT)
    words = script.sample(relations, 6, 0)
    found = script.agreement(at.page, relations, file, words)
    assert found["names"] > 6
    assert found["undrawn"] == found["not close"] == 0
    for name in (*script.COUNTED, "maps"):
        assert found[name] == len(words), name
