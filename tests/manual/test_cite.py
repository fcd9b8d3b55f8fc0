"""The BibTeX entries of the manual agree with CITATION.cff and the version of the package."""

import re
from pathlib import Path

import yaml

import manymaps as mm

ROOT = Path(__file__).resolve().parents[2]


def test_bibtex_agrees_with_the_citation_file():
    page = (ROOT / "docs" / "how-to" / "cite.md").read_text("utf-8")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    software, *papers = re.findall(r"^@\w+\{\w+,$(.*?)^\}$", page, re.MULTILINE | re.DOTALL)
    assert citation["title"] in software
    assert f"{{{mm.__version__}}}" in software
    for reference in citation["references"]:
        same = [entry for entry in papers if reference["title"] in entry]
        assert len(same) == 1
        if reference.get("notes") == "CODE, as first published":
            continue
        for name in ("journal", "volume", "number", "year", "doi"):
            assert str(reference.get(name, "")) in same[0]
        for author in reference["authors"]:
            assert author["family-names"] in same[0]
