"""Comparison of the README's output with that of a demo that was compiled elsewhere."""

import importlib.util
import re
from pathlib import Path

import pytest

import manymaps as mm
from manymaps.cli.demo import DEMO_WORD, EXAMPLES

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "update_readme.py"
SPEC = importlib.util.spec_from_file_location("update_readme", SCRIPT)
update_readme = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(update_readme)

SHOWN = "   77%  map 1   ribbon, tie\n   20%  map 11  arrow\nnot close, 3%: music"


@pytest.mark.parametrize(
    ("old", "new", "agree"),
    [
        ("77%", "75%", True),
        ("77%", "81%", False),
        ("map 1 ", "map 19", True),
        ("ribbon, tie", "ribbon, string", False),
        (", tie", "", False),
        ("music", "violin", False),
    ],
)
def test_words_agree_exactly_and_numbers_nearly(old, new, agree):
    assert SHOWN.count(old) == 1
    assert update_readme.agree(SHOWN, SHOWN.replace(old, new)) is agree


def test_words_of_claims_are_in_the_demo():
    text = update_readme.README.read_text(encoding="utf-8")
    claimed = {"bank", "money", "river", DEMO_WORD, *EXAMPLES}
    assert {"*bank*", "*money*", "*river*"} <= set(re.findall(r"\*[a-z]+\*", text))
    assert claimed <= set(mm.load_word_associations().labels)
