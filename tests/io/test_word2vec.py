"""Texts and binaries of word vectors: odd words, odd ends of line, every lie."""

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


# --- word2vec, GloVe, fastText --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v"])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n"])
def test_text_with_and_without_header_whatever_the_name(tmp_path, name, end):
    for content in (text_of(WORDS, VALUES, end=end), lines_of(WORDS, VALUES, end=end)):
        path = save(tmp_path / name, content)
        vectors = read_vectors(path)
        assert_same(vectors)
        assert vectors.report.n_read == 4
        assert vectors.report.source == str(path)
        assert kind_of(path) == "vectors"


@pytest.mark.parametrize("name", ["v.bin", "v", "v.model"])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_binary_with_and_without_ends_of_line(tmp_path, name, end):
    path = save(tmp_path / name, binary_of(WORDS, VALUES, end))
    assert_same(read_vectors(path))
    assert kind_of(path) == "vectors"
    assert read_vectors(path, words=["elk", "bat"]).labels == ("elk", "bat")


def test_words_may_hold_spaces_commas_numbers_and_hashes(tmp_path):
    words = [". . .", "at name@domain.com", "1000", ",", "#", '"', "route 66", "the", "\u00a0"]
    values = np.arange(36, dtype=np.float32).reshape(9, 4) / 8
    words, values = ["a", "b", "c", "d", *words], np.vstack([VALUES, values])
    assert_same(read_vectors(save(tmp_path / "v.txt", lines_of(words, values))), words, values)
    assert_same(read_vectors(save(tmp_path / "v.vec", text_of(words, values))), words, values)
    kept = read_vectors(
        save(tmp_path / "v.vec", text_of(words, values)), words=["route 66", ". . ."]
    )
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


@pytest.mark.parametrize("form", ["text", "binary"])
def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path, form):
    words = [b"cat", b"M\xc3", b"owl", "\ufffd".encode()]
    content = binary_of(words, VALUES)
    if form == "text":
        rows = zip(words, VALUES, strict=True)
        content = b"".join(w + b" " + " ".join(map(str, v)).encode() + b"\n" for w, v in rows)
    vectors = read_vectors(save(tmp_path / "v", content))
    assert vectors.labels == ("cat", "M\ufffd", "owl", "\ufffd")
    assert vectors.report.notes == ("invalid UTF-8 in 1 word became U+FFFD, first in 'M\ufffd'",)


def test_repeated_words_are_numbered(tmp_path):
    vectors = read_vectors(save(tmp_path / "v.txt", lines_of(["cat", "bat", "cat", "cat"], VALUES)))
    assert_same(vectors, ["cat", "bat", "cat (2)", "cat (3)"])
    assert "2 rows with a repeated label" in vectors.report.notes[0]


# --- what is wrong with texts and binaries --------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
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
    ],
)
def test_texts_that_are_refused(tmp_path, content):
    with pytest.raises(DataError) as caught:
        read_vectors(save(tmp_path / "v.txt", content))
    assert "v.txt" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b"9" + b[1:],
        lambda b: b"3" + b[1:],
        lambda b: b"4 3" + b[3:],
        lambda b: b"4 5" + b[3:],
        lambda b: b"9" * 40 + b[1:],
        lambda b: b"-" + b,
        lambda b: b"4 -" + b[2:],
    ],
)
def test_binaries_that_are_refused(tmp_path, change):
    values = VALUES + np.float32(0.1)  # no byte of these is a space
    assert b" " not in values.tobytes()
    path = save(tmp_path / "v.bin", change(binary_of(WORDS, values)))
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    assert "v.bin" in str(caught.value)


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_binary_cut_anywhere_is_refused(tmp_path, end):
    content = binary_of(WORDS, VALUES, end)
    for cut in range(1, len(content) - len(end)):
        with pytest.raises(DataError):
            read_vectors(save(tmp_path / "v.bin", content[:cut]))
