"""Four words and their vectors, as files of several kinds."""

from pathlib import Path

import numpy as np

from manymaps.data.vectors import Vectors

WORDS = ["cat", "bat", "owl", "elk"]
VALUES = np.array(
    [[0.5, 0.25, -1, 3], [0.375, 2, 0, 1], [7, -0.125, 4, 2], [0, 0, 0, 1]], dtype=np.float32
)


def save(path: Path, content: str | bytes) -> Path:
    """Write a file and give its path."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines_of(words, values, separator=" ", end="\n"):
    """A word and its numbers on each line."""
    rows = zip(words, np.asarray(values), strict=True)
    return "".join(separator.join([w, *map(str, v.tolist())]) + end for w, v in rows)


def text_of(words, values, **form):
    """word2vec's text."""
    return f"{len(words)} {np.shape(values)[1]}\n" + lines_of(words, values, **form)


def binary_of(words, values, end=b"\n"):
    """word2vec's binary form."""
    words = [word if isinstance(word, bytes) else word.encode() for word in words]
    rows = zip(words, np.asarray(values, dtype="<f4"), strict=True)
    head = f"{len(words)} {np.shape(values)[1]}\n".encode()
    return head + b"".join(word + b" " + row.tobytes() + end for word, row in rows)


def assert_same(vectors: Vectors, words=WORDS, values=VALUES) -> None:
    """The vectors have these labels, in this order, and these values."""
    assert vectors.labels == tuple(words)
    np.testing.assert_array_equal(vectors.values, np.asarray(values, dtype=np.float32))
