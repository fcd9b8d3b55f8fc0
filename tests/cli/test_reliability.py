"""How sure the command line is: intervals beside senses, people drawn again, scores of places."""

import json

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms, write_vectors
from manymaps.analysis.reliability import EXPLAINED, RECURRING
from trial_samples import write_swow

QUICK = ("--maps", 2, "--iterations", 20, "--jobs", 1)


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    return write_swow(tmp_path_factory.mktemp("trials") / "raw.csv", 60, 20)


@pytest.fixture(scope="module")
def atlas(trials):
    """The fit of the people, beside two of people drawn again."""
    output = trials.with_name("stable.atlas")
    options = ("-o", output, "--fits", 3, "--bootstrap", "participants", *QUICK)
    result = worked(invoke("stability", trials, *options, "--json", "--quiet"))
    record = json.loads(result.stdout)
    loaded = mm.load_atlas(output)
    assert (record["bootstrap"], record["reference"]) == ("participants", 0)
    for name, column in (("explained", EXPLAINED), ("recurring", RECURRING)):
        assert record[name] == pytest.approx(np.nanmean(loaded.metadata[column]), abs=6e-4)
    return output


@pytest.fixture(scope="module")
def word(atlas):
    """One that people answered."""
    loaded = mm.load_atlas(atlas)
    return loaded.labels[int(np.nanargmax(loaded.metadata[EXPLAINED]))]


def told(*arguments):
    result = worked(invoke("senses", *arguments, "--json", "--quiet"))
    return json.loads(result.stdout)


class TestSenses:
    def test_places_have_their_scores(self, atlas, word):
        loaded = mm.load_atlas(atlas)
        i, found = loaded.index(word), told(atlas, word)
        assert found["explained"] == pytest.approx(loaded.metadata[EXPLAINED][i])
        assert found["recurring"] == pytest.approx(loaded.metadata[RECURRING][i])
        assert "ambiguity" not in found
        assert "interval" not in found["senses"][0]
        last = invoke("senses", atlas, word).stdout.splitlines()[-1]
        assert last == (
            f"its positions explain {found['explained']:.0%} of the observed responses; "
            f"{found['recurring']:.0%} of its neighbours recur in other fits"
        )

    def test_trials_give_intervals_by_people(self, atlas, trials, word):
        loaded = mm.load_atlas(atlas)
        found = told(atlas, word, "--data", trials)
        here = mm.intervals(mm.read_trials(trials), loaded, words=[word], responses="drop")
        assert (found["by"], found["level"]) == ("participants", 0.95)
        assert found["ambiguity"] == here.ambiguity(word)._asdict()
        assert found["n_responses"] == here.n_responses(word)
        for sense in found["senses"]:
            if sense["share"] > 0:
                first = sense["neighbors"][0]
                assert sense["interval"] == here.share(word, first["label"])._asdict()
                assert sense["interval"]["value"] == pytest.approx(sense["share"], abs=1e-6)
                strength = first["interval"]
                assert strength["value"] == pytest.approx(first["observed"], abs=1e-6)
                assert strength["low"] < strength["value"] <= strength["high"]
        wide = told(atlas, word, "--data", trials, "--level", 0.99, "--by", "responses")
        assert wide["by"] == "responses"
        ends = [each["senses"][0]["neighbors"][0]["interval"]["low"] for each in (wide, found)]
        assert ends[0] < ends[1]
        lines = invoke("senses", atlas, word, "--data", trials).stdout.splitlines()
        share = found["senses"][0]["interval"]
        ends = f"{share['value']:.0%} ({100 * share['low']:.0f}-{share['high']:.0%})"
        assert ends in lines[2]
        assert lines[-1].endswith(f"95%) of {found['n_responses']} responses, by participants")

    @pytest.mark.parametrize(
        ("columns", "options", "number", "strength"),
        [
            # All of 144 participants, or only the 120 whose response is in the file.
            ((0, 1, 2, 3, 4), ("--rows", "keep"), 120, 90 / 144),
            ((0, 1, 2, 3, 4), (), 120, 90 / 120),
            ((0, 1, 2, 4), ("--rows", "keep"), 120, 90 / 144),
            ((0, 1, 2, 4), (), 120, 90 / 120),
            ((0, 1, 2, 4), ("--strength", "FSG"), 120, 90 / 120),
            ((0, 1, 2, 4), ("--per-cue", "50"), 50, 90 / 120),
            ((0, 1, 3, 4), ("--rows", "keep"), 120, 90 / 144),
        ],
    )
    def test_group_sizes_in_the_layout_of_usf(self, tmp_path, columns, options, number, strength):
        norms = write_norms(tmp_path)
        fitted = tmp_path / "norms.atlas"
        assert invoke("fit", norms, "-o", fitted, *QUICK).exit_code == 0
        file = tmp_path / "usf.tsv"
        rows = [
            ("CUE", "TARGET", "FSG", "#P", "#G"),
            ("tie", "knot", "0.625", "90", "144"),
            ("tie", "suit", "0.20833333", "30", "144"),
            ("knot", "tie", "0.5", "75", "150"),
            ("suit", "tie", "0.25", "40", "160"),
        ]
        file.write_text("".join("\t".join(row[c] for c in columns) + "\n" for row in rows))
        result = invoke("senses", fitted, "tie", "--data", file, *options)
        stated = f"{file}: group sizes of 144 to 160 (column '#G')"
        assert (stated in result.stderr) == ("--per-cue" not in options)
        assert "assumed" not in result.stderr
        found = told(fitted, "tie", "--data", file, *options)
        assert found["n_responses"] == number
        near = {one["label"]: one for s in found["senses"] for one in s["neighbors"]}
        assert near["knot"]["interval"]["value"] == pytest.approx(strength)

    @pytest.mark.parametrize(
        ("options", "code", "said"),
        [
            (("--by", "responses"), 2, "--by does not apply to senses without --data"),
            (("--cue", "cue"), 2, "--cue does not apply to senses without --data"),
            (
                ("--data", "norms.csv", "--by", "participants"),
                2,
                "--by participants requires trials",
            ),
            (("--data", "raw.csv", "--per-cue", 7), 2, "--per-cue applies to norms"),
            (("--data", "words.vec"), 3, "reads as vectors"),
            (("--data", "counts.npz"), 3, "counts.npz reads as counts; expected associations"),
            (("--data", "counts.csv"), 3, "has no column of responses"),
            (("--data", "judged.csv", "--rows", "keep"), 3, "not whole numbers"),
            (("--data", "others.csv"), 3, "the data and the atlas have no words in common"),
        ],
    )
    def test_what_is_refused(self, atlas, word, trials, tmp_path, monkeypatch, options, code, said):
        monkeypatch.chdir(tmp_path)
        write_norms(tmp_path)
        write_vectors(tmp_path / "words.vec")
        mm.Counts(np.eye(4) + 1).save(tmp_path / "counts.npz")
        (tmp_path / "counts.csv").write_text("document,word,count\na,tie,3\nb,knot,2\n")
        (tmp_path / "raw.csv").write_bytes(trials.read_bytes())
        (tmp_path / "judged.csv").write_text(",a,b,c\na,0,7.5,2\nb,7.5,0,3\nc,2,3,0\n")
        (tmp_path / "others.csv").write_text("cue,response,count\nzza,zzb,3\nzzb,zza,4\n")
        result = failed(invoke("senses", atlas, word, *options), code, said)
        assert result.stdout == ""


class TestPeopleDrawnAgain:
    def test_they_need_a_name(self, tmp_path):
        raw = tmp_path / "raw.csv"
        raw.write_text("cue,R1,R2\n" + "a,b,c\nb,a,c\nc,a,b\n" * 5)
        options = ("-o", tmp_path / "o.atlas", "--fits", 2, *QUICK)
        result = invoke("stability", raw, *options, "--bootstrap", "participants")
        failed(result, 2, "requires trials with participants")
        assert not (tmp_path / "o.atlas").exists()
        worked(invoke("stability", raw, *options, "--bootstrap", "responses"))


class TestFit:
    def test_the_share_explained_is_a_column_where_it_is_asked_for(self, tmp_path):
        norms, fitted = write_norms(tmp_path), tmp_path / "o.atlas"
        assert invoke("fit", norms, "-o", fitted, *QUICK).exit_code == 0
        assert EXPLAINED not in mm.load_atlas(fitted).metadata
        assert invoke("fit", norms, "-o", fitted, "--reliability", *QUICK).exit_code == 0
        atlas = mm.load_atlas(fitted)
        explained = mm.reliability(atlas).explained
        np.testing.assert_allclose(atlas.metadata[EXPLAINED], explained, atol=6e-4)
        page = tmp_path / "o.html"
        assert invoke("view", fitted, "-o", page, "--color", EXPLAINED).exit_code == 0
        vectors = write_vectors(tmp_path / "words.vec")
        options = ("--method", "tsne", "--perplexity", 5, "--iterations", 30, "--reliability")
        assert invoke("fit", vectors, "-o", fitted, *options).exit_code == 0
        assert 0 < np.mean(mm.load_atlas(fitted).metadata[EXPLAINED]) < 1
