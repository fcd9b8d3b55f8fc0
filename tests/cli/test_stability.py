"""The command `stability`: what it fits, compares, prints and writes, and how it ends."""

import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import WORDS, failed, invoke, worked
from manymaps.analysis.stability import repeat_fits, stability

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


def test_json_has_the_promised_keys(norms, tmp_path):
    output = tmp_path / "out.atlas"
    found = record(norms, "-o", output, "--fits", 3, *SHORT)
    here = stability(
        repeat_fits(mm.MultipleMapsTSNE(n_maps=2, max_iter=40), mm.read_associations(norms), 3,
              random_state=0)
    )  # fmt: skip
    assert found.pop("seconds") > 0
    assert list(found.pop("words")) == WORDS
    assert found.pop("recurrence") == {
        "observed": pytest.approx(here.observed.recurrence),
        "by_other_words": pytest.approx(here.by_other_words.recurrence),
        "by_dealing": pytest.approx(here.by_dealing.recurrence),
    }
    assert found.pop("overlap")["observed"] == pytest.approx(here.observed.overlap)
    assert found.pop("explained") == pytest.approx(np.nanmean(here.reliability.explained))
    assert found.pop("recurring") == pytest.approx(np.nanmean(here.reliability.recurring))
    even = here.reliability.explained_by_even_spread.mean()
    assert found.pop("explained_by_even_spread") == pytest.approx(even)
    assert found.pop("map_similarity") == pytest.approx(here.map_similarity)
    assert found.pop("map_similarity_by_chance") == pytest.approx(here.map_similarity_by_chance)
    assert found == {
        "n_fits": 3, "n_objects": 6, "n_senses": sum(len(one.maps) for one in here.senses),
        "reference": here.reference, "threshold": 0.5, "seed": 0, "output": str(output),
        "bootstrap": None,
    }  # fmt: skip
    atlas = mm.load_atlas(output)
    np.testing.assert_array_equal(atlas.maps, here.attach().maps)
    assert {"share explained", "share recurring"} <= set(atlas.metadata)


def test_only_dense_data_are_compared_with_an_even_spread(tmp_path):
    words = [f"w{i}" for i in range(8)]
    dense = [f"{a},{b},{1 + (i * j) % 3}" for i, a in enumerate(words)
             for j, b in enumerate(words) if i != j]  # fmt: skip
    ring = [f"{a},{words[(i + k) % 8]},1" for i, a in enumerate(words) for k in (1, 2)]
    for name, lines in (("dense", dense), ("ring", ring)):
        file = tmp_path / f"{name}.csv"
        file.write_text("\n".join(["cue,response,strength", *lines]), encoding="utf-8")
        options = (file, "-o", tmp_path / "o.atlas", "--fits", 2, *SHORT)
        even = record(*options)["explained_by_even_spread"]
        printed = "explained by an even spread" in invoke("stability", *options).stdout
        assert (even is not None) is printed is (name == "dense")


def test_a_person_reads_what_recurs_beside_chance(fits, tmp_path):
    output = tmp_path / "out.atlas"
    result = invoke("stability", *fits, "-o", output)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("3 fits of 6 words in ")
    assert "is the one most similar to the others" in lines[0]
    assert lines[2].startswith("senses that recur ")
    assert "by chance" in lines[4]
    assert lines[6].startswith("neighbours that recur ")
    assert lines[7].startswith("explained share ")
    assert lines[-1].startswith(f"next: manymaps senses {output} ")
    assert invoke("stability", *fits, "-o", output, "--quiet").output == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit0", "norms"), "one file of data, or only .atlas files"),
        (("norms", "norms"), "only .atlas files"),
        (("fit0", "fit1", "--fits", 3), "--fits does not apply to finished atlases"),
        (("fit0", "fit1", "--maps", 3), "--maps does not apply to finished atlases"),
        (("norms", "--perplexity", 5, "--method", "code"), "--perplexity"),
        (("fit0", "fit1", "--set", "normalization=joint"), "--set"),
    ],
)
def test_usage_errors(fits, norms, tmp_path, arguments, words):
    files = {"norms": norms, "fit0": fits[0], "fit1": fits[1]}
    given = [files.get(argument, argument) for argument in arguments]
    failed(invoke("stability", "-o", tmp_path / "out.atlas", *given), 2, words)
    failed(invoke("stability", norms), 2, "use -o OUT.atlas")
    failed(invoke("stability", fits[0]), 3, "at least two")
    assert not (tmp_path / "out.atlas").exists()


def test_two_atlases_are_compared_without_writing_one(fits):
    found = record(*fits[:2])
    assert found["output"] is None
    assert 0 <= found["recurrence"]["observed"] <= 1
    lines = invoke("stability", *fits[:2]).stdout.splitlines()
    assert lines[0].startswith("2 fits of 6 words in ")
    assert not any(line.startswith("next:") for line in lines)


def test_responses_are_drawn_again_for_all_fits_but_the_first(norms, tmp_path):
    output = tmp_path / "out.atlas"
    options = (norms, "-o", output, "--bootstrap", "responses", *SHORT)
    found = record(*options, "--fits", 3)
    assert (found["bootstrap"], found["reference"], found["n_fits"]) == ("responses", 0, 3)
    estimator = mm.MultipleMapsTSNE(n_maps=2, max_iter=40)
    whole = repeat_fits(estimator, mm.read_associations(norms), 1, random_state=0)[0]
    np.testing.assert_array_equal(mm.load_atlas(output).maps, whole.maps)
    result = invoke("stability", *options, "--fits", 2)
    assert "the others are those of resampled responses" in result.stdout
