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
# Numbers that stand for missing answers in many surveys.
NUMBER_CODES = ("-9", "-99", "-999", "-9999", "99", "999", "9999")
MOST_NAMED = 8


def missing_answers(
    texts: Sequence[str], counts: np.ndarray, missing: str | Sequence[str] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Find the answers to drop as missing, and describe them or those that look missing.

    Parameters
    ----------
    texts : sequence of str
        The distinct answers.
    counts : ndarray of int, shape (n_texts,)
        Number of cells with each answer.
    missing : str or sequence of str, optional
        Answers to drop, as a list or a text with commas, where "usual" stands for `USUAL`. By
        default, none are dropped, and those in `USUAL` and numbers among words are counted.

    Returns
    -------
    dropped : ndarray of bool, shape (n_texts,)
        Mask of the answers to drop.
    notes : tuple of str
        The notes.

    Examples
    --------
    >>> import numpy as np
    >>> dropped, notes = missing_answers(["knot", "n/a"], np.array([5, 2]), None)
    >>> dropped.tolist(), notes
    ([False, False], ("2 responses look like missing answers ('n/a' 2); use missing='usual' to \
drop them",))
    """
    if missing is None:
        codes = NUMBER_CODES if 2 * sum(map(is_number, texts)) < len(texts) else ()
        unwanted = {*USUAL, *codes}
    else:
        listing = missing.split(",") if isinstance(missing, str) else list(missing)
        if not listing or not all(isinstance(text, str) and text.strip() for text in listing):
            raise ParameterError(
                "must be 'usual' or a list of answers, such as 'none,?', without empty answers",
                name="missing",
                value=missing,
            )
        unwanted = set(map(_plain, listing))
        unwanted |= set(USUAL) if "usual" in unwanted else set()
    is_unwanted = np.array([_plain(text) in unwanted for text in texts], bool)
    rows = np.flatnonzero(is_unwanted & (counts > 0))
    rows = rows[np.argsort(-counts[rows], kind="stable")].tolist()
    named = ", ".join(f"{texts[k][:60]!r} {counts[k]:,}" for k in rows[:MOST_NAMED])
    named += ", ..." if len(rows) > MOST_NAMED else ""
    n = int(counts[rows].sum())
    one = "1 response" if n == 1 else f"{n:,} responses"
    if missing is not None:
        usual = f"; the usual missing answers are {listed(USUAL, len(USUAL))}"
        note = f"{one} dropped as missing answers{f' ({named})' if n else ''}"
        return is_unwanted, (note + (usual if missing == "usual" else ""),)
    wanted = ",".join(["usual", *(texts[k] for k in rows if texts[k] in NUMBER_CODES)])
    verb, them = (
        ("looks like a missing answer", "it") if n == 1 else ("look like missing answers", "them")
    )
    note = f"{one} {verb} ({named}); use {setting('missing', wanted)} to drop {them}"
    return np.zeros(len(texts), bool), (note,) if n else ()


def _plain(text: str) -> str:
    return unaccented(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
