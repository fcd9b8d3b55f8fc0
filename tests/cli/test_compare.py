"""The command `compare`: what it reads, prints and writes, and what it refuses."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked
from manymaps.model import MULTIPLE_MAPS_T_SNE

CUES = ["tie", "knot", "rope", "suit", "dress", "bow"]
# Of a tie some think of knots, others of suits; what the others recall is the same in both groups.
KNOTS, SUITS = ["knot", "rope"], ["suit", "dress"]
SHORT = ("--maps", 2)


def people(share, seed, n=40):
    """Rows of a person, a cue and two answers; of ties so many think of knots."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n):
        for cue in CUES:
            near = KNOTS if cue in KNOTS else SUITS
            if cue in ("tie", "bow"):
                near = KNOTS if rng.random() < (share if cue == "tie" else 0.5) else SUITS
            answers = [word for word in (*rng.permutation(near), "tie") if word != cue]
            rows.append((person, cue, *answers[:2]))
    return rows


def write_trials(path: Path, groups, *, shift=0) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["participantID", "age", "gender", "cue", "R1", "R2"])
        for g, rows in enumerate(groups):
            for person, *answers in rows:
                number = shift + 1000 * g + person
                writer.writerow([number, 20 + 30 * g, "Fe" if person % 2 else "Ma", *answers])
    return path


def write_norms(path: Path, rows) -> Path:
    counts: dict[tuple[str, str], int] = {}
    for _, cue, *answers in rows:
        for answer in answers:
            counts[cue, answer] = counts.get((cue, answer), 0) + 1
    lines = [f"{cue}\t{answer}\t{n}" for (cue, answer), n in counts.items()]
    path.write_text("cue\tresponse\tcount\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def norms(tmp_path: Path) -> tuple[Path, Path]:
    young = write_norms(tmp_path / "young.tsv", people(0.9, 0))
    return young, write_norms(tmp_path / "old.tsv", people(0.1, 1))


@pytest.fixture
def atlas(tmp_path: Path) -> Path:
    """Ties and bows are in two maps, knots and suits in one each; nobody has placed a dress."""
    own = np.array([[word in KNOTS, word in SUITS] for word in CUES], float)
    own[[CUES.index("tie"), CUES.index("bow")]] = 0.5
    labels = [cue for cue in CUES if cue != "dress"]
    proportions = own[[cue != "dress" for cue in CUES]].T
    saved = mm.Atlas(labels, np.zeros((2, 5, 2)), proportions, MULTIPLE_MAPS_T_SNE)
    saved.save(tmp_path / "big.atlas")
    return tmp_path / "big.atlas"


@pytest.fixture
def trials(tmp_path: Path) -> Path:
    return write_trials(tmp_path / "trials.csv", [people(0.9, 0), people(0.1, 1)])


def record(*arguments: object) -> dict:
    result = worked(invoke("compare", *arguments, "--json", "--quiet"))
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_json_has_the_promised_keys(norms, atlas, tmp_path):
    table = tmp_path / "t.csv"
    found = record(*norms, "--atlas", atlas, "--table", table)
    here = mm.compare(
        {file.stem: mm.read_associations(file, responses="keep") for file in norms},
        atlas=mm.load_atlas(atlas),
    )
    assert set(found) == {
        "groups", "units", "n_words", "n_changed", "n_words_changed", "n_senses",
        "n_senses_changed", "alpha", "changes", "senses", "notes", "seed", "seconds", "output",
        "table", "min_effect", "effect",
    }  # fmt: skip
    assert found["groups"][0] == {"name": "young", "n_responses": 480, "median_units": 80.0}
    assert (found["n_words"], found["n_changed"], found["units"]) == (6, 1, "responses")
    (tie,) = found["changes"]
    assert {
        "word", "change", "divergence", "by_chance", "p", "q", "effect", "effect_low",
        "effect_high", "least_q", "more_young", "more_old",
    } <= set(tie)  # fmt: skip
    assert tie["word"] == "tie"
    row = here.words.iloc[here.index("tie")]
    assert tie["q"] == row["q"] <= 0.05
    assert tie["effect"] == row["effect"]
    assert 0 < tie["effect_low"] < tie["effect"] < tie["effect_high"] < 1
    assert found["effect"]["median"] == here.words["effect"].median()
    senses = [sense for sense in found["senses"] if sense["word"] == "tie"]
    assert {sense["change"] for sense in senses} == {"grew", "shrank"}
    members = {sense["map"]: sense["members"] for sense in senses}
    assert members == {0: "; ".join(KNOTS), 1: "suit"}
    for name in ("young", "old"):
        assert sum(sense[f"share_{name}"] for sense in senses) == pytest.approx(1)
    assert "are outside the atlas, and are left out" in found["notes"][-1]
    assert tie["more_young"].split("; ")[0] in KNOTS
    assert tie["more_old"].split("; ")[0] in SUITS
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["word"] for row in rows] == here.words["word"].tolist()
    assert (rows[0]["word"], rows[0]["n_young"], rows[0]["n_old"]) == ("tie", "80", "80")
    assert found["n_senses"] == len(here.senses)
    words = record(*norms)
    assert (words["n_changed"], words["n_senses"]) == (1, 0)
    assert words["changes"][0]["change"] == "changed"


def test_a_person_reads_what_changed(norms, atlas, tmp_path):
    result = worked(invoke("compare", *norms, "--atlas", atlas))
    lines = result.stdout.splitlines()
    assert lines[0].startswith(
        "1 of 6 words differ between young and old; the median effect of all words is "
    )
    assert lines[1].split()[:4] == ["word", "change", "effect", "95"]
    assert lines[1].endswith("more of old")
    assert lines[2].split()[:3] == ["tie", "senses", "shifted"]
    # The sense of knots shrank, and the sense of suits grew, in the shares of the two groups.
    assert [line.split()[0] for line in lines[3:5]] == ["knot,", "suit"]
    assert [line.split()[-2:] for line in lines[3:5]] == [["95%", "18%"], ["5%", "82%"]]
    assert lines[5].startswith("differences in all responses of a word: 1; in the response share")
    assert "young: Associations of 6 objects, 16 pairs" in result.stderr
    same = write_norms(tmp_path / "same.tsv", people(0.9, 7))
    result = invoke("compare", norms[0], same)
    assert "no word differs significantly" in result.stdout


@pytest.mark.parametrize("by", ["age", "age < 30"])
def test_people_of_one_file_are_parted(trials, by):
    found = record(trials, "--by", by)
    assert found["units"] == "participants"
    names = {"age": ["20", "50"], "age < 30": ["age < 30", "age >= 30"]}[by]
    assert [group["name"] for group in found["groups"]] == names
    assert found["groups"][0]["median_units"] == 40
    assert [change["word"] for change in found["changes"]] == ["tie"]


@pytest.mark.slow
def test_the_page_is_written(norms, tmp_path):
    page = tmp_path / "c.html"
    assert record(*norms, "-o", page, *SHORT)["output"] == str(page)
    text = page.read_text(encoding="utf-8")
    assert "<title>young and old</title>" in text


def test_the_page_of_an_atlas_needs_no_fit(norms, atlas, tmp_path):
    page = tmp_path / "c.html"
    found = record(*norms, "--atlas", atlas, "-o", page)
    assert found["changes"][0]["change"] == "senses shifted"
    assert "<title>young and old</title>" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["young.tsv"], 2, "a single FILE requires --by COLUMN"),
        (["young.tsv", "old.tsv", "--by", "age"], 2, "--by splits one file"),
        (["young.tsv", "--by", "age"], 3, "young.tsv does not contain raw trials, so --by"),
        (["trials.csv", "--by", "height"], 2, "--by height"),
        (["trials.csv", "--by", "cue"], 2, "--by cue"),
        (["young.tsv", "young.tsv"], 2, "twice"),
        (["young.tsv", "copy.tsv"], 3, "have identical responses"),
        (["young.tsv", "trials.csv"], 3, "contains raw trials, but"),
        (["young.tsv", "old.tsv", "--maps", 3], 2, "--maps does not apply"),
        (["young.tsv", "old.tsv", "--atlas", "big.atlas", "--maps", 3], 2, "--maps does not apply"),
        (["young.tsv", "old.tsv", "--table", "young.tsv"], 2, "--table"),
        (["young.tsv", "old.tsv", "--table", "t.csv", "-o", "t.csv"], 2, "t.csv"),
        (["young.tsv", "nowhere.tsv"], 3, "nowhere.tsv: no such file"),
    ],
)
def test_what_cannot_be_done_is_refused(
    norms, atlas, trials, tmp_path, monkeypatch, arguments, code, message
):
    monkeypatch.chdir(tmp_path)
    Path("copy.tsv").write_text(norms[0].read_text(), encoding="utf-8")
    before = set(tmp_path.iterdir())
    result = failed(invoke("compare", *arguments), code, message)
    assert "Traceback" not in result.stderr
    assert set(tmp_path.iterdir()) == before
