"""The command `read`: hints on spellings, and the clean data that it writes."""

import re

import pytest

from cli_samples import failed, invoke, worked
from manymaps import load_atlas

HINT = "differ from another only in case or spaces; use --fold"


@pytest.mark.parametrize("options", [(), ("--fold",)])
def test_spellings_of_one_word_are_told_of_until_they_are_joined(tmp_path, options):
    norms = tmp_path / "norms.csv"
    norms.write_text(
        "participant,cue,answer\n1,dog,Cat\n1,cat,dog\n2,Dog,cat\n2,Cat,dog\n", "utf-8"
    )
    printed = " ".join(invoke("read", norms, *options).stdout.split())
    assert (HINT in printed) is not bool(options)


def test_a_few_alike_are_words_of_their_own(tmp_path):
    words = ["Polish", "polish", *(f"word{i}" for i in range(200))]
    pairs = [f"{one},{other},1\n" for one, other in zip(words, words[1:] + words[:1], strict=True)]
    (tmp_path / "norms.csv").write_text("cue,response,strength\n" + "".join(pairs), "utf-8")
    assert HINT not in " ".join(invoke("read", tmp_path / "norms.csv").stdout.split())


SITES = '"site","heron","teal","coot"\n"1",2,0,0\n"2",0,5,0\n"3",0,1,4\n'


def test_sites_by_species_are_counts_with_kinds(tmp_path):
    file, clean, atlas = (tmp_path / name for name in ("sites.csv", "clean.npz", "sites.atlas"))
    file.write_text(SITES)
    advice = f"next: manymaps fit {file} -o sites.atlas --method code"
    assert advice in " ".join(worked(invoke("read", file)).stdout.split())
    printed = worked(invoke("read", file, "--set", "kinds=site,species")).stdout
    assert re.search("kinds +site\nkinds +species\n", printed)
    assert "next: add -o OUT.npz, then manymaps fit OUT.npz -o OUT.atlas" in printed
    worked(invoke("read", file, "--set", "kinds=site,species", "-o", clean))
    fitted = invoke("fit", clean, "-o", atlas, "--method", "code", "--penalty", 0.1)
    assert "3 sites and 3 species" in worked(fitted).stdout
    assert set(load_atlas(atlas).kinds) == {"site", "species"}
    failed(invoke("read", file, "--set", "kinds=site"), 2, "must be two different names")
    for content in SITES.replace("site", ""), "heron,teal,coot,gull\n2,0,0,1\n0,5,0,0\n0,1,4,3\n":
        file.write_text(content)
        failed(invoke("read", file), 3, "cannot tell what")
