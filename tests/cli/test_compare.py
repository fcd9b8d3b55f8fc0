"""The command `compare`: what it reads, prints and writes, and what it refuses."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked

CUES = ["tie", "knot", "rope", "suit", "dress", "bow"]
# Of a tie some think of knots, others of suits; what the others recall is the same in both groups.
KNOTS, SUITS = ["knot", "rope"], ["suit", "dress"]
FEW = ("--permutations", 999)
SHORT = ("--maps", 2, "--iterations", 30)


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
def trials(tmp_path: Path) -> Path:
    return write_trials(tmp_path / "trials.csv", [people(0.9, 0), people(0.1, 1)])


def record(*arguments: object) -> dict:
    result = worked(invoke("compare", *arguments, "--json", "--quiet", *FEW))
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_json_has_the_promised_keys(norms, tmp_path):
    table, senses = tmp_path / "t.csv", tmp_path / "s.csv"
    found = record(*norms, "--table", table, "--sense-table", senses)
    here = mm.compare(
        {file.stem: mm.read_associations(file, responses="keep") for file in norms},
        n_permutations=999,
    )
    assert set(found) == {
        "groups", "units", "n_words", "n_changed", "n_words_changed", "n_senses",
        "n_senses_changed", "alpha", "changes", "notes", "seed", "seconds", "output", "table",
        "sense_table", "plot", "atlases", "min_effect", "effect",
        "level",
    }  # fmt: skip
    assert found["level"] == "meaning"
    assert record(*norms, "--fine")["level"] == "fine"
    assert found["groups"][0] == {"name": "young", "n_responses": 480, "median_units": 80.0}
    assert (found["n_words"], found["n_changed"], found["units"]) == (6, 1, "responses")
    (tie,) = found["changes"]
    assert set(tie) == {
        "word", "change", "divergence", "by_chance", "p", "q", "cosine", "senses", "more",
        "effect", "effect_low", "effect_high",
    }  # fmt: skip
    assert tie["word"] == "tie"
    assert tie["q"] == here.q[here.index("tie")] <= 0.05
    assert tie["effect"] == here.effect[here.index("tie")]
    assert 0 < tie["effect_low"] < tie["effect"] < tie["effect_high"] < 1
    assert found["effect"]["median"] == np.median(here.effect)
    assert {sense["change"] for sense in tie["senses"]} == {"grew", "shrank"}
    assert tie["more"]["young"][0]["answer"] in KNOTS
    assert tie["more"]["old"][0]["answer"] in SUITS
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["word"] for row in rows] == [here.words[w] for w in here.order]
    assert (rows[0]["word"], rows[0]["n_young"], rows[0]["n_old"]) == ("tie", "80", "80")
    with senses.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == found["n_senses"] == len(here.senses.p)


def test_a_person_reads_what_changed(norms, tmp_path):
    result = worked(invoke("compare", *norms, "--names", "under 30,over 30", *FEW))
    lines = result.stdout.splitlines()
    assert lines[0].startswith(
        "1 of 6 words differ between under 30 and over 30; the median effect of all words is "
    )
    assert lines[1].split()[:4] == ["word", "change", "effect", "95"]
    assert lines[1].endswith("more of over 30")
    assert lines[2].startswith("tie   senses shifted  0.")
    assert lines[3].startswith("1 word differs in all its responses, 2 of ")
    assert "under 30: 16 pairs of 6 objects" in result.stderr
    same = write_norms(tmp_path / "same.tsv", people(0.9, 7))
    result = invoke("compare", norms[0], same, *FEW)
    assert "no word differs significantly" in result.stdout


def test_the_table_follows_the_result_even_if_most_words_differ(norms, monkeypatch):
    monkeypatch.setattr("manymaps.cli.compare._changed", lambda found: found.order.tolist())
    monkeypatch.setattr("manymaps.cli.compare.LISTED", 2)
    lines = worked(invoke("compare", *norms, *FEW)).stdout.splitlines()
    assert lines[0].startswith("6 of 6 words differ between ")
    assert lines[1].split()[:4] == ["word", "change", "effect", "95"]
    assert lines[4] == "and 4 more; use --table OUT.csv to list all"
    assert lines[5].startswith("most words differ, so the groups or their data differ as a whole")


def test_a_minimum_effect_leaves_out_smaller_differences(norms):
    effect = record(*norms)["changes"][0]["effect_low"]
    assert record(*norms, "--min-effect", effect - 0.01)["n_changed"] == 1
    less = record(*norms, "--min-effect", effect + 0.01)
    assert (less["n_changed"], less["n_words_changed"], less["n_senses_changed"]) == (0, 0, 0)
    failed(invoke("compare", *norms, "--min-effect", 1), 2, "--min-effect")


def test_files_of_another_kind_differ_in_every_word_but_hardly_in_effect(tmp_path):
    """Published norms without responses given once, against complete ones of the same study."""
    rng = np.random.default_rng(0)
    cues = [f"cue{c}" for c in range(30)]
    shares = np.append([0.2, 0.1, 0.1, 0.05, 0.05], np.full(600, 1 / 1200))
    for name, least in (("complete", 1), ("published", 2)):
        lines = [
            f"{cue}\t{cue} a{a}\t{n}"
            for cue in cues
            for a, n in enumerate(rng.multinomial(600, shares))
            if n >= least
        ]
        (tmp_path / f"{name}.tsv").write_text("cue\tresponse\tcount\n" + "\n".join(lines) + "\n")
    files = (tmp_path / "complete.tsv", tmp_path / "published.tsv")
    result = worked(invoke("compare", *files, "--responses", "keep", *FEW))
    lines = result.stdout.splitlines()
    assert lines[0].startswith("30 of 30 words differ between complete and published; the median")
    assert lines[-2].startswith("most words differ, so the groups or their data differ as a whole;")
    found = record(*files, "--responses", "keep")
    assert found["effect"]["median"] < 0.25
    assert record(*files, "--responses", "keep", "--min-effect", 0.3)["n_changed"] == 0


@pytest.mark.parametrize("by", ["age", "age < 30"])
def test_people_of_one_file_are_parted(trials, by):
    found = record(trials, "--by", by)
    assert found["units"] == "participants"
    names = {"age": ["20", "50"], "age < 30": ["age < 30", "age >= 30"]}[by]
    assert [group["name"] for group in found["groups"]] == names
    assert found["groups"][0]["median_units"] == 40
    assert [change["word"] for change in found["changes"]] == ["tie"]


def test_a_condition_chooses_whose_answers_are_compared(trials):
    found = record(trials, "--by", "age", "--where", "gender == Ma", "--responses", "R1")
    assert [group["median_units"] for group in found["groups"]] == [20, 20]
    assert found["groups"][0]["n_responses"] == 120


def test_what_people_are_held_equal_in_is_no_difference(tmp_path):
    """All women think of knots, all men of suits, and most of the young are women."""
    rows = [
        [(p, cue, *((KNOTS if p % 2 else SUITS) if cue == "tie" else answers))
         for p, cue, *answers in people(0.5, g) if p % 4 != 2 * g]
        for g in range(2)
    ]  # fmt: skip
    file = tmp_path / "mixed.csv"
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["participantID", "age", "gender", "cue", "R1", "R2"])
        for g, own in enumerate(rows):
            for person, *answers in own:
                woman = person % 2
                if woman == g and person > 12:
                    continue
                writer.writerow([1000 * g + person, 20 + 30 * g, "FM"[1 - woman], *answers])
    assert [change["word"] for change in record(file, "--by", "age")["changes"]] == ["tie"]
    assert record(file, "--by", "age", "--within", "gender")["n_changed"] == 0


def test_people_in_two_groups_are_told(tmp_path):
    files = [
        write_trials(tmp_path / "young.csv", [people(0.9, 0)]),
        write_trials(tmp_path / "old.csv", [people(0.1, 1)]),
    ]
    result = invoke("compare", *files, *FEW)
    failed(result, 3, "40 participants of 40 are in more than one of the groups 'young', 'old'")
    assert "use --shared-people distinct if these" in result.stderr
    assert record(*files, "--shared-people", "distinct")["n_changed"] == 1
    paired = record(*files, "--shared-people", "paired")
    assert paired["n_changed"] == 1
    assert "40 participants are in more than one group" in paired["notes"][0]


def test_counts_win_over_strengths_where_a_file_has_both(norms, tmp_path):
    files = []
    for norm in norms:
        rows = [line.split("\t") for line in norm.read_text().splitlines()[1:]]
        files.append(tmp_path / f"{norm.stem}.csv.gz")
        with gzip.open(files[-1], "wt") as file:
            file.write("cue,target,FSG,#P\n")
            file.writelines(f"{c},{t},{int(n) / 80:.3f},{n}\n" for c, t, n in rows)
    found = record(*files)
    assert [group["name"] for group in found["groups"]] == ["young", "old"]
    assert found["groups"][0]["n_responses"] == 480
    assert found["notes"] == []
    assumed = record(*files, "--per-cue", 20)
    assert assumed["groups"][0]["n_responses"] < 480 / 3
    assert "20 per cue are assumed" in assumed["notes"][0]


def test_words_of_two_languages_are_paired(norms, tmp_path):
    dutch = tmp_path / "dutch.tsv"
    lines = norms[1].read_text().splitlines()
    dutch.write_text("\n".join([lines[0], *(line.upper() + "" for line in lines[1:])]) + "\n")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("english,dutch\n" + "".join(f"{cue},{cue.upper()}\n" for cue in CUES[:5]))
    found = record(norms[0], dutch, "--pairs", pairs)
    assert [change["word"] for change in found["changes"]] == ["tie"]
    assert found["n_words"] == 5
    result = failed(invoke("compare", norms[0], dutch), 3, "no cue is common to the groups")
    assert "--fold would make 6 cues common" in result.stderr
    pairs.write_text("only\none\n")
    result = failed(invoke("compare", norms[0], dutch, "--pairs", pairs), 3, "--pairs")
    assert "has one column" in result.stderr


@pytest.mark.slow
def test_the_page_and_the_figure_are_written(norms, tmp_path):
    page, plot = tmp_path / "c.html", tmp_path / "c.png"
    found = record(*norms, "-o", page, "--plot", plot, "--word", "tie", "--atlases", *SHORT)
    assert (found["output"], found["plot"]) == (str(page), str(plot))
    text = page.read_text(encoding="utf-8")
    assert "<title>c</title>" in text
    assert plot.read_bytes().startswith(b"\x89PNG")
    names = [Path(path).name for path in found["atlases"]]
    assert names == ["c.young.atlas", "c.old.atlas", "c.all.atlas"]
    young, old, whole = map(mm.load_atlas, found["atlases"])
    assert young.metadata["change"][young.index("tie")] == "senses shifted"
    assert whole.metadata["q"][whole.index("tie")] <= 0.05
    assert set(old.labels) == set(CUES)


@pytest.mark.parametrize("table", [None, "t.csv"])
@pytest.mark.parametrize("at", ["analysis.comparison.fit_groups", "write_page"])
def test_what_the_tests_found_outlives_an_interruption(norms, tmp_path, monkeypatch, table, at):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"manymaps.{at}", interrupted)
    asked = () if table is None else ("--table", tmp_path / table)
    result = invoke("compare", *norms, "-o", tmp_path / "c.html", *asked, *FEW, *SHORT)
    kept = tmp_path / ("c.partial.csv" if table is None else "t.partial.csv")
    failed(result, 130, f"{kept} contains the results of the tests")
    with kept.open(newline="") as file:
        assert next(csv.DictReader(file))["word"] == "tie"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*(path.name for path in norms), kept.name]
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["young.tsv"], 2, "a single FILE requires --by COLUMN"),
        (["young.tsv", "old.tsv", "--by", "age"], 2, "--by splits one file"),
        (["young.tsv", "--by", "age"], 3, "young.tsv does not contain raw trials, so --by"),
        (["trials.csv", "--by", "height"], 2, "--by height"),
        (["trials.csv", "--by", "cue"], 2, "--by cue"),
        (["young.tsv", "old.tsv", "--names", "a"], 2, "--names has 1 names for 2 files"),
        (["young.tsv", "old.tsv", "--names", "a,a"], 2, "a"),
        (["young.tsv", "young.tsv"], 2, "duplicate group name 'young.tsv'"),
        (["young.tsv", "copy.tsv"], 3, "have identical responses"),
        (["young.tsv", "trials.csv"], 3, "contains raw trials, but"),
        (["young.tsv", "old.tsv", "--within", "age"], 2, "--within age requires raw trials"),
        (["young.tsv", "old.tsv", "--maps", 3], 2, "--maps does not apply"),
        (["young.tsv", "old.tsv", "--atlases"], 2, "--atlases does not apply"),
        (["young.tsv", "old.tsv", "--method", "code"], 2, "--method code fits counts"),
        (["young.tsv", "old.tsv", "--word", "tie"], 2, "--word requires --plot OUT.png"),
        (["young.tsv", "old.tsv", "--plot", "p.png", "--word", "tiger"], 3, "--word tiger: "),
        (["young.tsv", "old.tsv", "--min-responses", 500], 3, "common to all groups has 500"),
        (["young.tsv", "old.tsv", "--table", "young.tsv"], 2, "--table"),
        (["young.tsv", "old.tsv", "--table", "t.csv", "--sense-table", "t.csv"], 2, "same file"),
        (["young.tsv", "nowhere.tsv"], 3, "nowhere.tsv: no such file"),
        (["trials.csv", "--by", "age < 30", "--within", "age"], 3, "--within age"),
        (["young.tsv", "old.tsv", "copy.tsv", "--pairs", "copy.tsv"], 2, "--pairs can match"),
    ],
)
def test_what_cannot_be_done_is_refused(
    norms, trials, tmp_path, monkeypatch, arguments, code, message
):
    monkeypatch.chdir(tmp_path)
    Path("copy.tsv").write_text(norms[0].read_text(), encoding="utf-8")
    before = set(tmp_path.iterdir())
    result = failed(invoke("compare", *arguments, *FEW), code, message)
    assert "Traceback" not in result.stderr
    assert set(tmp_path.iterdir()) == before
