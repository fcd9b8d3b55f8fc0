"""OTU tables in text and in BIOM files, against the values that were written."""

import json

import numpy as np
import pytest

from manymaps.io.counts import read_counts
from manymaps.io.kinds import kind_of

VALUES = [[5, 0, 3, 0], [0, 2, 0, 7], [1, 0, 0, 0]]
SAMPLES = ("1", "2", "3", "10")
OTUS = ("101", "102", "7")
TAXA = ["k__Bacteria; p__Firmicutes", "k__Bacteria; p__Bacteroidetes", "k__Archaea"]


def as_text(taxa: bool, comment: str = "# Constructed from biom file\n", number: str = "{:.1f}"):
    lines = ["\t".join(["#OTU ID", *SAMPLES, *(["taxonomy"] if taxa else [])])]
    for otu, row, taxon in zip(OTUS, VALUES, TAXA, strict=True):
        lines.append("\t".join([otu, *map(number.format, row), *([taxon] if taxa else [])]))
    return comment + "\n".join(lines) + "\n"


def as_json() -> str:
    """Table of version 1.0 of the format."""
    return json.dumps(
        {
            "id": "a", "format": "Biological Observation Matrix 1.0.0", "type": "OTU table",
            "format_url": "http://biom-format.org", "generated_by": "a test",
            "date": "2026-01-01T00:00:00", "matrix_type": "dense", "shape": [3, 4],
            "matrix_element_type": "int", "data": VALUES,
            "rows": [{"id": otu, "metadata": {"taxonomy": taxon.split("; ")}}
                     for otu, taxon in zip(OTUS, TAXA, strict=True)],
            "columns": [{"id": sample, "metadata": {"ph": f"{k}"}}
                        for k, sample in enumerate(SAMPLES)],
        }
    )  # fmt: skip


def check(counts):
    assert (counts.row_labels, counts.column_labels) == (OTUS, SAMPLES)
    assert counts.kinds == ("otu", "sample")
    np.testing.assert_array_equal(counts.values.toarray(), VALUES)


@pytest.mark.parametrize("taxa", [False, True])
@pytest.mark.parametrize("comment", ["", "# Constructed from biom file\n"])
def test_numbered_samples_are_a_header(tmp_path, taxa, comment):
    file = tmp_path / "otu.txt"
    file.write_text(as_text(taxa, comment))
    assert kind_of(file) == "counts"
    counts = read_counts(file)
    check(counts)
    assert {k: v.tolist() for k, v in counts.row_metadata.items()} == (
        {"taxonomy": TAXA} if taxa else {}
    )


class TestBiom:
    @pytest.fixture(params=["json", "hdf5"])
    def file(self, request, tmp_path):
        biom = pytest.importorskip("biom", reason="biom-format is not installed")
        file = tmp_path / "otu.biom"
        file.write_text(as_json())
        if request.param == "hdf5":
            table = biom.load_table(str(file))
            with biom.util.biom_open(str(file), "w") as out:
                table.to_hdf5(out, "a test")
        return file

    def test_counts(self, file):
        assert kind_of(file) == "counts"
        check(read_counts(file))
