"""The command `stability`: what it fits, compares, prints and writes, and how it ends."""

import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import WORDS, failed, invoke, worked
from manymaps.analysis.stability import EXPLAINED, RECURRING, repeat_fits, stability
from trial_samples import write_swow

SHORT = ("--maps", 2, "--iterations", 40, "--jobs", 1)


@pytest.fixture
def fits(tmp_path: Path, norms: Path) -> list[Path]:
    data = mm.read_associations(norms)
    estimator = mm.MultipleMapsTSNE(n_maps=2, max_iter=40)
    files = []
    for k, atlas in enumerate(repeat_fits(estimator, data, 3, random_state=0)):
        files.append(tmp_path / f"fit{k}.atlas")
        atlas.save(files[-1])
    return files


def record(*arguments: object) -> dict:
    result = worked(invoke("stability", *arguments, "--json", "--quiet"))
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_the_record_and_the_atlas_are_those_of_the_library(norms, fits, tmp_path):
    output = tmp_path / "out.atlas"
    found = record(norms, "-o", output, "--fits", 3, *SHORT)
    here = stability([mm.load_atlas(file) for file in fits])
    assert list(found["words"]) == WORDS
    assert found["recurrence"] == {
        "observed": pytest.approx(here.observed.recurrence),
        "by_other_words": pytest.approx(here.by_other_words.recurrence),
        "by_dealing": pytest.approx(here.by_dealing.recurrence),
    }
    assert found["explained"] == pytest.approx(np.nanmean(here.reliability.explained))
    assert found["map_similarity"] == pytest.approx(here.map_similarity)
    assert (found["n_fits"], found["reference"], found["output"]) == (
        3, here.reference, str(output),
    )  # fmt: skip
    np.testing.assert_array_equal(mm.load_atlas(output).maps, here.attach().maps)


def test_a_person_reads_what_recurs_beside_chance(fits, tmp_path):
    output = tmp_path / "out.atlas"
    lines = invoke("stability", *fits, "-o", output).stdout.splitlines()
    assert lines[0].startswith("3 fits of 6 words in ")
    assert lines[2].startswith("senses that recur ")
    assert lines[6].startswith("neighbours that recur ")
    assert lines[-1].startswith(f"next: manymaps senses {output} ")
    assert invoke("stability", *fits, "--quiet").output == ""


def test_usage_errors(fits, norms, tmp_path):
    output = ("-o", tmp_path / "out.atlas")
    for arguments, code, message in (
        ((fits[0], norms, *output), 2, "one file of data, or only .atlas files"),
        ((fits[0], fits[1], "--fits", 3), 2, "--fits does not apply to finished atlases"),
        ((norms, *output, "--perplexity", 5, "--method", "code"), 2, "--perplexity"),
        ((norms,), 2, "use -o OUT.atlas"),
        ((fits[0],), 3, "at least two"),
    ):
        failed(invoke("stability", *arguments), code, message)
    assert not output[1].exists()


def test_a_bootstrap_of_participants_whose_scores_are_columns_of_the_atlas(tmp_path):
    trials, output = write_swow(tmp_path / "raw.csv", 60, 20), tmp_path / "stable.atlas"
    found = record(trials, "-o", output, "--fits", 3, "--bootstrap", "participants", *SHORT)
    metadata = mm.load_atlas(output).metadata
    assert (found["bootstrap"], found["reference"]) == ("participants", 0)
    for name, column in (("explained", EXPLAINED), ("recurring", RECURRING)):
        assert found[name] == pytest.approx(np.nanmean(metadata[column]), abs=6e-4)
