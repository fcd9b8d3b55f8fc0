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


def write_norms(path: Path, rows) -> Path:
    counts: dict[tuple[str, str], int] = {}
    for _, cue, *answers in rows:
        for answer in answers:
            counts[cue, answer] = counts.get((cue, answer), 0) + 1
    lines = [f"{cue}\t{answer}\t{n}" for (cue, answer), n in counts.items()]
    path.write_text("cue\tresponse\tcount\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Norms and trials of two groups; ties and bows are in both maps of the atlas."""
    monkeypatch.chdir(tmp_path)
    groups = [people(0.9, 0), people(0.1, 1)]
    for name, rows in zip(("young", "old"), groups, strict=True):
        write_norms(tmp_path / f"{name}.tsv", rows)
    lines = ["participantID,age,cue,R1,R2\n"]
    for g, rows in enumerate(groups):
        lines += [f"{1000 * g + n},{20 + 30 * g},{','.join(row)}\n" for n, *row in rows]
    (tmp_path / "trials.csv").write_text("".join(lines), encoding="utf-8")
    own = np.array([[word in KNOTS, word in SUITS] for word in CUES], float)
    own[[CUES.index("tie"), CUES.index("bow")]] = 0.5
    labels = [cue for cue in CUES if cue != "dress"]
    proportions = own[[cue != "dress" for cue in CUES]].T
    mm.Atlas(labels, np.zeros((2, 5, 2)), proportions, MULTIPLE_MAPS_T_SNE).save("big.atlas")
    return tmp_path


def record(*arguments: object) -> dict:
    result = worked(invoke("compare", *arguments, "--json", "--quiet"))
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.mark.usefixtures("folder")
def test_the_record_the_table_and_the_page_of_an_atlas():
    files = ("young.tsv", "old.tsv")
    found = record(*files, "--atlas", "big.atlas", "--table", "t.csv", "-o", "c.html")
    here = mm.compare(
        {file[:-4]: mm.read_associations(file, responses="keep") for file in files},
        atlas=mm.load_atlas("big.atlas"),
    )
    assert found["groups"][0] == {"name": "young", "n_responses": 480, "median_units": 80.0}
    assert (found["n_words"], found["n_changed"], found["units"]) == (6, 1, "responses")
    (tie,) = found["changes"]
    row = here.words.iloc[here.index("tie")]
    assert (tie["word"], tie["change"], tie["q"]) == ("tie", "senses shifted", row["q"])
    assert 0 < tie["effect_low"] < tie["effect"] == row["effect"] < tie["effect_high"] < 1
    assert tie["more_young"].split("; ")[0] in KNOTS
    assert tie["more_old"].split("; ")[0] in SUITS
    senses = {sense["map"]: sense for sense in found["senses"] if sense["word"] == "tie"}
    members = {k: (one["members"], one["change"]) for k, one in senses.items()}
    assert members == {0: ("; ".join(KNOTS), "shrank"), 1: ("suit", "grew")}
    assert "are outside the atlas, and are left out" in found["notes"][-1]
    with Path("t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["word"] for row in rows] == here.words["word"].tolist()
    assert "<title>young and old</title>" in Path("c.html").read_text(encoding="utf-8")
    assert record(*files, "-o", "c.html", "--maps", 2)["n_senses"] > 0
    words = record(*files)
    assert (words["n_changed"], words["n_senses"]) == (1, 0)


def test_a_person_reads_what_changed(folder):
    result = worked(invoke("compare", "young.tsv", "old.tsv", "--atlas", "big.atlas"))
    lines = result.stdout.splitlines()
    assert lines[0].startswith("1 of 6 words differ between young and old; the median effect")
    assert lines[2].split()[:3] == ["tie", "senses", "shifted"]
    # The sense of knots shrank, and the sense of suits grew, in the shares of the two groups.
    assert [line.split()[0] for line in lines[3:5]] == ["knot,", "suit"]
    assert [line.split()[-2:] for line in lines[3:5]] == [["95%", "18%"], ["5%", "82%"]]
    assert "young: Associations of 6 objects, 16 pairs" in result.stderr
    write_norms(folder / "same.tsv", people(0.9, 7))
    result = invoke("compare", "young.tsv", "same.tsv")
    assert "no word differs significantly" in result.stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("by", "names"), [("age", ["20", "50"]), ("age < 30", ["age < 30", "age >= 30"])]
)
def test_participants_of_one_file_are_split(by, names):
    found = record("trials.csv", "--by", by)
    assert found["units"] == "participants"
    assert [group["name"] for group in found["groups"]] == names
    assert found["groups"][0]["median_units"] == 40
    assert [change["word"] for change in found["changes"]] == ["tie"]


REFUSALS = [
    ("young.tsv", 2, "a single FILE requires --by COLUMN"),
    ("young.tsv old.tsv --by age", 2, "--by splits one file"),
    ("young.tsv --by age", 3, "young.tsv does not contain raw trials, so --by"),
    ("trials.csv --by height", 2, "--by height"),
    ("young.tsv copy.tsv", 3, "have identical responses"),
    ("young.tsv trials.csv", 3, "contains raw trials, but"),
    ("young.tsv old.tsv --maps 3", 2, "--maps does not apply"),
    ("young.tsv old.tsv --table t.csv -o t.csv", 2, "t.csv"),
]


def test_refusals(folder):
    Path("copy.tsv").write_text(Path("young.tsv").read_text(), encoding="utf-8")
    before = set(folder.iterdir())
    for arguments, code, message in REFUSALS:
        failed(invoke("compare", *arguments.split()), code, message)
    assert set(folder.iterdir()) == before
