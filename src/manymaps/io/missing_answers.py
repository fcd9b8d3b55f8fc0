"""Responses that are not words, such as "n/a" or "?", which participants give instead of an answer.

They are listed in the notes of a report, and are dropped only on request, because "-" and "NA" are
words in some data. Comparisons ignore case, accents and the form of apostrophes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manymaps.data.tables import is_number
from manymaps.errors import ParameterError, setting
from manymaps.labels import listed, unaccented

# Codes in exports from R, Qualtrics and spreadsheets, and the usual ways to write "don't know" in
# the languages of Small World of Words with the most participants.
USUAL = (
    "n/a", "na", "don't know", "dont know", "i don't know", "i dont know", "do not know", "dunno",
    "idk", "no idea", "no answer", "weiss nicht", "keine ahnung", "weet niet", "weet ik niet",
    "no se", "je ne sais pas", "?", "??", "???", "-", "--", "---", ".", "...",
)  # fmt: skip
MOST_NAMED = 8
# Numbers that stand for missing answers in many surveys.
NUMBER_CODES = frozenset(("-9", "-99", "-999", "-9999", "99", "999", "9999"))


def checked_missing(missing: str | Sequence[str] | None) -> frozenset[str] | None:
    """Return the folded answers in a list or a text with commas; "usual" stands for `USUAL`.

    >>> sorted(checked_missing("none,?"))
    ['?', 'none']
    """
    if missing is None:
        return None
    texts = missing.split(",") if isinstance(missing, str) else list(missing)
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise ParameterError(
            "must be 'usual' or a list of answers, such as 'none,?', without empty answers",
            name="missing",
            value=missing,
        )
    named = {_plain(text) for text in texts}
    return frozenset(named - {"usual"} | (set(USUAL) if "usual" in named else set()))


def is_missing(texts: Sequence[str], missing: frozenset[str]) -> np.ndarray:
    """Check which texts are in a list from `checked_missing`, as a mask."""
    return np.array([_plain(text) in missing for text in texts], bool)


def missing_notes(
    texts: Sequence[str], counts: np.ndarray, missing: str | Sequence[str] | None
) -> tuple[str, ...]:
    """Describe the missing answers among distinct answers with their counts.

    Parameters
    ----------
    texts : sequence of str
        The distinct answers.
    counts : ndarray of int, shape (n_texts,)
        Number of cells with each answer.
    missing : str or sequence of str, optional
        List of answers that are dropped. By default, none are dropped, and those in `USUAL` are
        counted.

    Returns
    -------
    tuple of str
        The notes.

    Examples
    --------
    >>> import numpy as np
    >>> missing_notes(["knot", "n/a"], np.array([5, 2]), None)
    ("2 responses look like missing answers ('n/a' 2); use missing='usual' to drop them",)
    """
    unwanted = checked_missing(missing or "usual") or frozenset()
    if missing is None and 2 * sum(map(is_number, texts)) < len(texts):
        unwanted |= NUMBER_CODES
    codes = np.flatnonzero(is_missing(texts, unwanted))
    codes = codes[counts[codes] > 0]
    codes = codes[np.argsort(-counts[codes], kind="stable")]
    named = ", ".join(f"{texts[code][:60]!r} {counts[code]:,}" for code in codes[:MOST_NAMED])
    named += ", ..." if len(codes) > MOST_NAMED else ""
    n = int(counts[codes].sum())
    one = "1 response" if n == 1 else f"{n:,} responses"
    if missing is None:
        verb = "looks like a missing answer" if n == 1 else "look like missing answers"
        named_codes = [texts[code] for code in codes.tolist() if texts[code] in NUMBER_CODES]
        wanted = ",".join(["usual", *named_codes])
        advice = f"use {setting('missing', wanted)} to drop {'it' if n == 1 else 'them'}"
        return (f"{one} {verb} ({named}); {advice}",) if n else ()
    usual = missing == "usual"
    listing = f"; the usual missing answers are {listed(USUAL, len(USUAL))}" if usual else ""
    return (f"{one} dropped as missing answers{f' ({named})' if n else ''}{listing}",)


def _plain(text: str) -> str:
    return unaccented(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
