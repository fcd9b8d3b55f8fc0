"""Texts and binaries of word vectors: odd words, odd ends of line, every lie."""

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from manymaps.data.vectors import Vectors
from manymaps.errors import DataError
from manymaps.io.kinds import kind_of
from manymaps.io.vectors import read_vectors
from manymaps.io.word2vec import HEADER
from vector_samples import VALUES, WORDS, assert_same, binary_of, lines_of, save, text_of

QUICK = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROWS = lines_of(WORDS, VALUES)
LONG = "9" * 5000
CONTENTS = [
    *(
        make(WORDS, VALUES, end=end)
        for make in (text_of, lines_of)
        for end in ("\n", " \n", "\r\n")
    ),
    *(binary_of(WORDS, VALUES, end) for end in (b"\n", b"")),
]


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v"])
def test_the_content_is_the_format_whatever_the_name(write, name):
    for content in CONTENTS:
        if isinstance(content, bytes) and name == "v.txt":
            continue
        path = write(name, content)
        vectors = read_vectors(path)
        assert_same(vectors)
        assert vectors.report.n_read == 4
        assert vectors.report.source == str(path)
        assert kind_of(path) == "vectors"
        assert read_vectors(path, words=["elk", "bat"]).labels == ("elk", "bat")


def test_a_text_of_one_word(write):
    content = text_of(WORDS[:1], VALUES[:1])
    assert_same(read_vectors(write("v.bin", content)), WORDS[:1], VALUES[:1])


def test_words_may_hold_spaces_commas_numbers_and_hashes(write):
    words = [". . .", "at name@domain.com", "1000", ",", "#", '"', "route 66", "the", "\u00a0"]
    values = np.arange(36, dtype=np.float32).reshape(9, 4) / 8
    words, values = ["a", "b", "c", "d", *words], np.vstack([VALUES, values])
    for content in (lines_of(words, values), text_of(words, values)):
        assert_same(read_vectors(write("v.vec", content)), words, values)
    kept = read_vectors(write("v.vec", text_of(words, values)), words=["route 66", ". . ."])
    assert kept.labels == ("route 66", ". . .")


WORD = st.text(
    st.characters(
        exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], include_characters="\u00a0\u2028"
    ),
    min_size=1,
    max_size=6,
)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
TABLES = hnp.arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=FLOATS)


def test_bytes_of_a_number_may_be_a_digit_and_an_end_of_line(write):
    values = np.array([[1.1543274e16]], np.float32)
    assert values.tobytes() == b"0\n$Z"
    assert_same(read_vectors(write("v.bin", binary_of("a", values, b""))), "a", values)


@QUICK
@given(data=st.data(), values=TABLES, end=st.sampled_from([b"", b"\n"]))
def test_odd_words_come_back(tmp_path, data, values, end):
    words = data.draw(st.lists(WORD, min_size=len(values), max_size=len(values), unique=True))
    path = save(tmp_path / "odd.bin", binary_of(words, values, end))
    rows = read_vectors(path)
    assert_same(Vectors(rows.labels, rows.values), words, values)
    path = save(tmp_path / "odd.vec", text_of(words, values))
    assert_same(read_vectors(path), words, values)
    if not HEADER.fullmatch(lines_of(words, values).encode().split(b"\n")[0]):
        save(path, lines_of(words, values))
    chosen = data.draw(st.permutations(words))[:3]
    assert_same(read_vectors(path, words=chosen), chosen, values[[words.index(w) for w in chosen]])


def test_bytes_that_are_not_utf8_are_replaced_and_counted(write):
    words = [b"cat", b"M\xc3", b"owl", "\ufffd".encode()]
    rows = zip(words, VALUES, strict=True)
    text = b"".join(w + b" " + " ".join(map(str, v)).encode() + b"\n" for w, v in rows)
    for content in (binary_of(words, VALUES), text):
        vectors = read_vectors(write("v", content))
        assert vectors.labels == ("cat", "M\ufffd", "owl", "\ufffd")
        note = "invalid UTF-8 in 1 word became U+FFFD, first in 'M\ufffd'"
        assert vectors.report.notes == (note,)


# --- refusals -------------------------------------------------------------------------------------

TEXTS = [
    "5 4\n" + ROWS,
    "4 5\n" + ROWS,
    f"{LONG} 4\n" + ROWS,
    "0 4\n",
    "4 4",
    text_of(WORDS, VALUES)[:-8],
    "a 1 2 3\nb 1 2 3\nc 1 2 3 4.5\n",
    "a 1 2 3\nb 1 2 3\n\nc 1 2\n",
    "a 1 2 3\nb 1 2,5 3\n",
    "a 1 2 3\nb 1 x 3\nc 1 2 3\n",
    "a 1 2 3\nb 1 2_0 3\n",
    "a 1 2 3\nb 1 2 -inf\n",
    "a 1 2 3\nb 1 2 1e39\n",
    "a 1 2 3\nb 1 2 é\n",
    "a 1 2 3\nb 1 2 3\n 1 2 3\n",
    "a 1 2 3\nb 1 \x00 3\n",
    "",
    "word\n",
    "\n" * 100 + "a",
]


def test_texts_that_are_refused(write):
    for content in TEXTS:
        with pytest.raises(DataError, match=r"v\.txt"):
            read_vectors(write("v.txt", content))


def test_binaries_that_are_refused(write):
    values = VALUES + np.float32(0.1)  # no byte of these is a space
    assert b" " not in values.tobytes()
    rows = binary_of(WORDS, values).partition(b"\n")[2]
    heads = "9 4", "3 4", "9" * 40 + " 4", "-4 4", "4 3", "4 5", "4 -4"
    promises = f"{10**12} {10**12}\n".encode() + b"a " + bytes(100)
    for content in (promises, b"\n4 4\n" + rows, *(f"{head}\n".encode() + rows for head in heads)):
        with pytest.raises(DataError, match=r"v\.bin"):
            read_vectors(write("v.bin", content))
    with pytest.raises(DataError):
        read_vectors(write("v.bin.gz", gzip.compress(promises)))


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_binary_cut_anywhere_is_refused(write, end):
    content = binary_of(WORDS, VALUES, end)
    for cut in range(1, len(content) - len(end)):
        with pytest.raises(DataError):
            read_vectors(write("v.bin", content[:cut]))
