"""Reading associations: layouts of pairs, odd words, the rules for pairs, and refusals."""

import csv

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manymaps.data.associations import Associations
from manymaps.errors import DataError, ParameterError
from manymaps.io.associations import associations_from, read_associations
from trial_samples import pairs_of


def assert_balanced(norms: Associations) -> None:
    """Every pair that was read is accounted for."""
    assert norms.report.n_read == norms.n_pairs + norms.report.merged + norms.report.n_dropped


# --- layouts --------------------------------------------------------------------------------------

EXPECTED = {("tie", "knot"): 0.6, ("tie", "suit"): 0.4, ("knot", "tie"): 1, ("suit", "tie"): 1}
BODY = "tie,knot,0.6\ntie,suit,0.4\nknot,tie,1\nsuit,tie,0.5\n"
EUROPEAN = "tie;knot;0,6\ntie;suit;0,4\nknot;tie;1\nsuit;tie;1,0\n"
HEADERS = [
    "Cue,RESPONSE,Strength", "FROM,TO,Value", "Word_1,Word 2,score", "src,tgt,wt",
    "word,Response.Word,strength", '"cue","response","R123.Strength"',
]  # fmt: skip
USF = (
    "<HTML>\n<BODY>\n<pre>\nCUE, TARGET, NORMED?, #G, #P, FSG, BSG\n"
    "tie, knot, YES, 100, 1, .6, \xa5\ntie, suit, YES, 100, 99, .4, .1\n"
    "knot, tie, YES, 100, 5, 1, .1\nsuit, tie, YES, 100, 5, 1, .1\n</pre>\n</BODY>\n</HTML>\n"
)
SWOW = (
    "cue\tresponse\tR123\tN\tR1.Strength\tR123.Strength\ntie\tknot\t1\t100\t.1\t.6\n"
    "tie\tsuit\t99\t100\t.9\t.4\nknot\ttie\t3\t9\t1\t1\nsuit\ttie\t3\t9\t1\t1\n"
)
SPACED = "cue, response, strength\n tie , knot,.6\ntie,\u00a0suit ,.4\nknot,tie,1\nsuit,tie,1\n"
LAYOUTS = [
    BODY, EUROPEAN, "cue;target;fsg\n" + EUROPEAN, USF.encode("latin-1"), SWOW, SPACED,
    *(f"{header}\n{BODY}" for header in HEADERS),
]  # fmt: skip


def test_pairs_are_the_same_in_every_layout(write):
    """Published norms have columns of counts, too; strengths precede them."""
    for content in LAYOUTS:
        assert pairs_of(read_associations(write("n.csv", content))) == EXPECTED


def test_named_columns_win(write):
    text = "a,b,cue,response,p,strength\ntie,knot,x,y,3,9\ntie,suit,x,y,1,9\nknot,tie,x,y,2,9\n"
    path = write("n.csv", text)
    norms = read_associations(path, cue="a", response="b", strength="P", responses="keep")
    assert pairs_of(norms)["tie", "knot"] == 0.75
    for strength, expected in (("R123", 0.99), ("R1.Strength", 0.9)):
        norms = read_associations(write("n.csv", SWOW), strength=strength)
        assert pairs_of(norms)["tie", "suit"] == pytest.approx(expected)
    # R1 is the first response in a file of answers, and its count in one of norms.
    raw = write("n.csv", "cue,R1,R2\ntie,knot,suit\nknot,tie,rope\n")
    assert read_associations(raw, response="R1").n_pairs == 2


def test_pairs_without_strength_count_one(write):
    norms = read_associations(write("n.csv", "cue,response\na,b\na,b\na,c\nb,a\nc,a\n"))
    assert pairs_of(norms)["a", "b"] == pytest.approx(2 / 3)
    assert norms.report.merged == 1
    assert "every pair counts one" in " ".join(norms.report.notes)
    norms = read_associations(write("n.tsv", "tie\tknot\nknot\ttie\n"))
    assert norms.n_pairs == 2
    assert "no header: the first row, 'tie' and 'knot'" in " ".join(norms.report.notes)
    assert read_associations(write("n.csv", "CUE;TARGET;0,6\nTARGET;CUE;1\n")).n_pairs == 2
    raw = write("n.csv", "subject,stimulus,response\n1,tie,knot\n2,tie,suit\n1,knot,tie\n")
    assert read_associations(raw, responses="keep").n_responses.tolist() == [2, 1, 0]


ODD = [
    "NA", "NAN", "nan", "NULL", "TRUE", "None", "inf", "1", "0.5", "-", "#", "a,b", 'say "hi"', '"',
    "two\nlines", "tab\tbed", "semi;colon", "naïve", "שלום", "مرحبا", "🧵", "👩‍👩‍👧", "e\u0301",
    "=1+1", "'", "a\u2028b", "x" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_odd_words_are_kept_verbatim(tmp_path, delimiter):
    path = tmp_path / "odd.csv"
    for header in ([], [["cue", "response", "strength"]]):
        with path.open("w", newline="", encoding="utf-8") as file:
            pairs = zip(ODD, ODD[1:] + ODD[:1], strict=True)
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerows([*header, *([a, b, 1] for a, b in pairs)])
        norms = read_associations(path)
        assert norms.labels == tuple(ODD)
        assert norms.n_pairs == len(ODD)


label = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=6
).filter(lambda word: word == word.strip())


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    pairs=st.dictionaries(
        st.tuples(label, label).filter(lambda ends: ends[0] != ends[1]),
        st.floats(1e-6, 1e6),
        min_size=1,
        max_size=12,
    ),
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_round_trip(tmp_path_factory, pairs, delimiter):
    path = tmp_path_factory.mktemp("trip") / "edges.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["cue", "response", "strength"])
        writer.writerows([*ends, value] for ends, value in pairs.items())
    norms = read_associations(path, responses="keep")
    totals: dict[str, float] = {}
    for (cue, _), value in pairs.items():
        totals[cue] = totals.get(cue, 0) + value
    want = {ends: value / totals[ends[0]] for ends, value in pairs.items()}
    assert pairs_of(norms) == pytest.approx(want)
    assert_balanced(norms)


# --- rules ----------------------------------------------------------------------------------------

RULES = "cue,response,strength\na,b,0.2\na,c,0.3\na,a,0.1\nb,a,0.5\nb,c,0.6\nb,a,0.1\n"


def test_responses_that_are_never_cues(write):
    path = write("n.csv", RULES)
    dropped = read_associations(path)
    assert dropped.labels == ("a", "b")
    assert pairs_of(dropped) == {("a", "b"): 1, ("b", "a"): 1}
    assert dropped.report.dropped == {"self pair": 1, "response is never a cue": 2}
    assert dropped.report.merged == 1
    kept = read_associations(path, responses="keep")
    assert kept.labels == ("a", "b", "c")
    assert kept.strengths.sum(axis=1).tolist() == pytest.approx([1, 1, 0])
    for norms in (dropped, kept):
        assert_balanced(norms)


FEW_CUES = (
    "cue,response,count\na,b,2\na,x,3\na,y,1\na,z,0\nb,a,4\nb,x,2\nb,x,2\nb,z,5\nc,x,1\nc,y,2\n"
)


def test_responses_are_kept_where_enough_cues_gave_them(write):
    path = write("n.csv", FEW_CUES)
    whole = read_associations(path, responses="keep")
    for least, labels in ((1, "abcxyz"), (2, "abcxy"), (3, "abcx"), (4, "abc")):
        norms = read_associations(path, responses=f"keep:{least}")
        # x has 3 cues and 4 pairs, z has 2 pairs of which one says nothing.
        at = [whole.labels.index(label) for label in norms.labels]
        assert sorted(norms.labels) == list(labels)
        assert norms.labels[:3] == ("a", "b", "c")
        table = whole.strengths.toarray()[np.ix_(at, at)]
        sums = table.sum(axis=1, keepdims=True)
        expected = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0)
        np.testing.assert_allclose(norms.strengths.toarray(), expected)
        assert norms.n_responses[0] == 2 + 3 * ("x" in labels) + ("y" in labels)
        assert_balanced(norms)
    assert norms.report.dropped["response is never a cue and of fewer than 4 cues"] == 7
    assert pairs_of(read_associations(path)) == pairs_of(norms)


def test_pairs_can_be_folded(write):
    text = "cue,response,count\nTie,bow  tie,2\ntie,Bow Tie,2\nbow tie,TIE,1\n"
    norms = read_associations(write("n.csv", text), fold=True)
    assert norms.labels == ("tie", "bow tie")
    assert norms.n_responses.tolist() == [4, 1]


def test_missing_mass_stays_missing(write):
    counts = RULES.replace("0.2", "2").replace("0.3", "3").replace("a,a,0.1", "a,a,5")
    counts = counts.replace("strength", "count").replace("0.5", "5").replace("0.6", "4")
    for text, note in (
        (RULES, "sum to more than 1 for 'b' (1.200)"),
        (counts.replace("b,a,0.1", "b,c,1"), "read as counts"),
    ):
        norms = read_associations(write("n.csv", text), rows="keep")
        assert pairs_of(norms) == pytest.approx({("a", "b"): 0.2, ("b", "a"): 0.5})
        assert note in " ".join(norms.report.notes)


@pytest.mark.parametrize("rows", ["renormalize", "keep"])
def test_the_part_of_the_responses_that_are_objects(write, rows):
    """Self-pairs and dropped responses are not part of it, whatever the unit of the strengths."""
    path = write("n.csv", FEW_CUES + "d,z,3\ne,e,1\ne,a,0\n")
    for responses, expected in (
        ("drop", [2 / 6, 4 / 13, 0, 0, 0]),
        ("keep:3", [5 / 6, 8 / 13, 1 / 3, 0, 0]),
        ("keep", [1, 1, 1, 1, 0]),
    ):
        norms = read_associations(path, responses=responses, rows=rows)
        assert norms.labels[:5] == tuple("abcde")
        np.testing.assert_allclose(norms.covered[:5], expected, rtol=1e-12)
        assert np.isnan(norms.covered[5:]).all()
        halves = associations_from(
            pd.read_csv(path).assign(count=lambda frame: frame["count"] / 64),
            responses=responses, rows=rows,
        )  # fmt: skip
        np.testing.assert_array_equal(halves.covered, norms.covered)
    strengths = read_associations(write("s.csv", RULES), rows=rows)
    np.testing.assert_allclose(strengths.covered, [0.2 / 0.6, 0.6 / 1.2])
    assert associations_from(np.array([[0, 4], [4, 0]]), rows=rows).covered is None


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_it_is_from_0_to_1_and_exactly_1_where_all_are_kept(seed):
    """Repeated pairs are added in another order than the responses of a cue."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 5, (60, 2))
    frame = pd.DataFrame(pairs[pairs[:, 0] != pairs[:, 1]], columns=["cue", "response"])
    frame = frame.assign(strength=rng.random(len(frame)) * 10.0 ** rng.integers(-9, 2, len(frame)))
    norms = associations_from(frame, responses="keep")
    np.testing.assert_allclose(norms.covered[~np.isnan(norms.covered)], 1, rtol=1e-12)
    for one in (norms, norms.most_given(3), associations_from(frame[frame["cue"] > 1])):
        assert not ((one.covered < 0) | (one.covered > 1)).any()


def test_counted_responses_are_known_by_their_number(write):
    path = write("a.csv", "cue,response,count\na,b,2\na,c,3\na,a,5\na,d,1\nb,a,4\nc,d,2\n")
    assert read_associations(path, rows="keep").n_responses.tolist() == [11, 4, 2]
    # The rows are proportions of what is kept, and so many these are.
    assert read_associations(path).n_responses.tolist() == [5, 4, 0]
    assert read_associations(path, responses="keep").n_responses.tolist() == [6, 4, 2, 0]
    for text in ("a,b,0.5\na,c,0.5\nb,a,1\n", "a,b,2.5\na,c,3\nb,a,4\n", "a,b,1\nb,a,1\n"):
        plain = read_associations(write("b.csv", "cue,response,strength\n" + text))
        assert plain.n_responses is None
    huge = read_associations(write("c.csv", "cue,response,count\na,b,1e300\nb,a,4\n"))
    assert huge.n_responses is None
    assert associations_from(np.array([[0, 4], [4, 0]]), rows="keep").n_responses is None


def test_empty_labels_and_zero_strengths_are_reported(write):
    text = "cue,response,strength\na,b,1\n,b,x\na, ,1\nb,a,1\nb,c,0\nd,z,1\n,,\n\n"
    norms = read_associations(write("n.csv", text))
    expected = {"empty label": 2, "zero strength": 1, "response is never a cue": 1}
    assert norms.report.dropped == expected
    assert norms.labels == ("a", "b", "d")
    assert "no responses remain for 1 of 3 cues: 'd'" in norms.report.notes
    assert_balanced(norms)


def test_strengths_of_every_size(write):
    text = "cue,response,strength\na,b,1e300\na,c,1e-300\nb,a,5e-324\nc,a,1\n"
    norms = read_associations(write("n.csv", text))
    assert norms.report.dropped == {"strength too small compared with its row": 1}
    assert pairs_of(norms)["b", "a"] == 1


# --- refusals -------------------------------------------------------------------------------------

FILES = [
    "cue,response,strength\n",
    "cue\ntie\n",
    "cue,reply,strength\na,b,1\n",
    "cue,response,prop\na,b,.1\n",
    "a,b,extra,5\n",
    "cue,response,strength\na,a,1\n",
    "cue,response,strength\na,b,1\n",
    "cue,response,strength\n,b,1\n",
    "cue,response,strength\na,b,1e308\na,b,1e308\nb,a,1\n",
    "Mine, 2024\ncue,response,strength\na,b,1\n",
    "id,n,age,cue,x,y\n1,3,33,a,b,c\n2,7,3,b,a,c\n",
]


def test_files_that_cannot_be_used(write):
    for text in FILES:
        with pytest.raises(DataError) as caught:
            read_associations(write("bad.csv", text))
        assert "bad.csv" in str(caught.value)


REFUSALS = [
    (DataError, None, {"cue": "x"}),
    (DataError, None, {"strength": "n"}),
    (DataError, None, {"response": "cue"}),
    (DataError, None, {"self_pairs": "error"}),
    (ParameterError, "labels", {"labels": ["tie"]}),
    *((ParameterError, "missing", {"missing": x}) for x in ("", "a,,b", [], [3], ["a", ""])),
    *((ParameterError, name, {name: "maybe"}) for name in ("rows", "self_pairs")),
    *((ParameterError, None, {"responses": x}) for x in ("R1", "keep:0", "keep:", "keep:2.5")),
]


def test_refusals(write):
    path = write("n.csv", RULES)
    for error, name, options in REFUSALS:
        with pytest.raises(error) as caught:
            read_associations(path, **options)
        assert name == getattr(caught.value, "name", None)
        assert name is None or caught.value.value == options[name]


def test_strengths_that_are_none(write):
    for value in "abc", "NaN", "inf", "-0.1", "", "45%", "1_0", "1e999", '"0,5"':
        path = write("n.csv", f"cue,response,strength\na,b,1\n\nb,a,{value}\n")
        with pytest.raises(DataError) as caught:
            read_associations(path)
        assert f"{path}, line 4 ('b' - 'a'), column 3 ('strength'): " in str(caught.value)


def test_data_that_cannot_be_used():
    for data in (
        pd.DataFrame({"cue": ["a", "b"], "response": ["b", "a"], "strength": [1, np.nan]}),
        pd.DataFrame({"cue": ["a"], "x": ["b"]}),
        pl.DataFrame({"cue": ["a"], "response": ["b"], "n": [1]}),
        pd.DataFrame(),
        [[0, 1], [1]],
        "norms.csv",
        {"a": 1},
    ):
        with pytest.raises(DataError):
            associations_from(data)


# --- real data ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_free_association_norms(data_folder):
    path = data_folder / "usf" / "usf_free_association.tsv.gz"
    norms = read_associations(path)
    assert norms.n_objects == 5018
    assert norms.report.n_read == 72176
    assert norms.report.dropped == {"self pair": 4, "response is never a cue": 8556}
    assert norms.n_pairs == 63616
    assert_balanced(norms)
    assert "'BARTENDER' (1.082)" in " ".join(norms.report.notes)
    np.testing.assert_allclose(norms.strengths.sum(axis=1), 1)

    kept = read_associations(path, responses="keep", rows="keep")
    assert kept.n_objects == 10617
    assert kept.strengths[kept.index("scissors"), kept.index("cut")] == pytest.approx(0.879)
    assert kept.strengths[[kept.index("bartender")], :].sum() == pytest.approx(1)
    counts = read_associations(path, strength="count", rows="keep")
    assert counts.strengths[counts.index("scissors"), counts.index("cut")] > 0.85
