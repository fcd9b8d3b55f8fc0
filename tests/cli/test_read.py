"""The command `read`: hints on spellings, and the clean data that it writes."""

import re

from cli_samples import failed, invoke, worked
from manymaps import load_atlas

HINT = "differ from another only in case or spaces; use --fold"


def test_spellings_of_one_word_are_told_of_until_they_are_joined(tmp_path):
    def told(file, *options):
        return HINT in " ".join(invoke("read", file, *options).stdout.split())

    norms, few = tmp_path / "norms.csv", tmp_path / "few.csv"
    norms.write_text("cue,answer\ndog,Cat\ncat,dog\nDog,cat\nCat,dog\n", "utf-8")
    assert told(norms)
    assert not told(norms, "--fold")
    # A few spellings among many words are words of their own.
    words = ["Polish", "polish", *(f"word{i}" for i in range(200))]
    pairs = [f"{one},{other},1\n" for one, other in zip(words, words[1:] + words[:1], strict=True)]
    few.write_text("cue,response,strength\n" + "".join(pairs), "utf-8")
    assert not told(few)


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
