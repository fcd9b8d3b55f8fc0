"""The check of wording finds phrases of the writing guide and accepts their replacements."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("check_prose", ROOT / "scripts" / "check_prose.py")
check = importlib.util.module_from_spec(SPEC)
sys.modules["check_prose"] = check  # dataclasses and named tuples look their module up
SPEC.loader.exec_module(check)

PAIRS = [
    ("the label CODE stands twice", "duplicate label CODE; labels must be unique"),
    ("CODE is no number of an object", "CODE is not a valid object index"),
    ("cannot be set, for it is on the scale of the sum", "cannot be set, because it is a sum"),
    ("Where the cost does not stay finite.", "If the cost becomes non-finite."),
    ("Of several.", "Map to draw on, if the atlas has more than one."),
    ("At most so many draws of a word.", "Maximum number of permutations per word."),
    ("The default is told in the design.", "The default is explained in the design."),
    (
        "Associations foreseen: .337 nats a cue",
        "Error on held-out associations: 0.337 nats per cue",
    ),
    ("What was observed is beside the model.", "The observed strength is next to the model's."),
    ("Words are dealt by lot, lest groups differ.", "Words are permuted at random."),
]


def phrases(text, kind="Markdown"):
    return [hit.phrase for hit in check.hits(check.Passage("page.md", 1, kind, text))]


@pytest.mark.parametrize(("stilted", "plain"), PAIRS)
def test_a_phrase_is_found_and_its_replacement_is_not(stilted, plain):
    assert phrases(stilted)
    assert phrases(plain) == []


def test_code_is_not_prose():
    text = "Use `stands`, ``beside`` or\n\n```python\nprint('told anew')\n```\n"
    assert [one for part in check.of_markdown("page.md", text) for one in check.hits(part)] == []


def test_long_sentences_and_semicolons():
    assert phrases("word " * 31 + ".") == ["31 words: " + ("word " * 8) + "..."]
    assert phrases("One; two; three.") == ["One; two; three."]
    assert phrases("word " * 30 + ". Another sentence; it is short.") == []


def test_messages_without_period_and_capital():
    assert len(phrases("The file is empty.", "messages")) == 2
    assert phrases("the file is empty", "messages") == []


def test_messages_helps_and_docstrings_are_extracted():
    text = '"""Module."""\ndef f():\n    """Summary."""\n    raise DataError(f"row {1} is bad")\n'
    found = [(one.kind, one.line, one.text) for one in check.of_python("src/x.py", text)]
    assert ("messages", 4, "row CODE is bad") in found
    assert ("docstrings", 3, "Summary.") in found
    helps = check.of_python("src/cli/x.py", 'a = option(kind, "Number of maps.")\n')
    assert [(one.kind, one.text) for one in helps] == [("helps", "Number of maps.")]


def test_the_baseline_may_only_fall(tmp_path, monkeypatch, capsys):
    (tmp_path / "README.md").write_text("It stands beside it.\n", encoding="utf-8")
    baseline = tmp_path / "baseline.json"
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.setattr(check, "BASELINE", baseline)
    assert check.main([]) == 1
    assert check.main(["--update"]) == 0
    assert json.loads(baseline.read_text()) == {"README.md": 2}
    (tmp_path / "README.md").write_text("It is next to it.\n", encoding="utf-8")
    assert check.main([]) == 0  # a better file needs no update
    assert check.main(["--update"]) == 0
    assert json.loads(baseline.read_text()) == {}
    (tmp_path / "README.md").write_text("It stands there.\n", encoding="utf-8")
    capsys.readouterr()
    assert check.main([]) == 1
    assert "README.md:1: 'stands'" in capsys.readouterr().out
