"""What `inspect` notes of norms before they are fitted."""

import pytest

from cli_samples import invoke

HINT = "differ from another only in case or spaces; use --fold"


@pytest.mark.parametrize("options", [(), ("--fold",)])
def test_spellings_of_one_word_are_told_of_until_they_are_joined(tmp_path, options):
    norms = tmp_path / "norms.csv"
    norms.write_text(
        "participant,cue,answer\n1,dog,Cat\n1,cat,dog\n2,Dog,cat\n2,Cat,dog\n", "utf-8"
    )
    printed = " ".join(invoke("inspect", norms, *options).stdout.split())
    assert (HINT in printed) is not bool(options)


def test_a_few_alike_are_words_of_their_own(tmp_path):
    words = ["Polish", "polish", *(f"word{i}" for i in range(200))]
    pairs = [f"{one},{other},1\n" for one, other in zip(words, words[1:] + words[:1], strict=True)]
    (tmp_path / "norms.csv").write_text("cue,response,strength\n" + "".join(pairs), "utf-8")
    assert HINT not in " ".join(invoke("inspect", tmp_path / "norms.csv").stdout.split())
