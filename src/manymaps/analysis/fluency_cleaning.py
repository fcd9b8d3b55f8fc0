"""Cleaning of fluency lists, with a table of everything that is dropped, replaced or questionable.

The steps are applied in this order. Each is counted in the report of the cleaned lists:

    corrections    answers in a list of corrections are replaced
    fold           answers that differ only in case or spaces are merged (on request)
    missing        answers such as "?" and "don't know" are dropped
    intrusions     answers that are not in a list of accepted words are dropped
    repetitions    an answer that was given before in the same list (a perseveration) is dropped
    short lists    lists with too few different words are dropped, or only reported

Possible variants of a word are listed but not merged. Their spellings differ in case, spaces or
hyphens, or by a plural ending (dog and dogs, fox and foxes, pony and ponies).
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from manymaps.analysis.fluency import check_lists
from manymaps.checks import check_whole
from manymaps.data.results import TabularResult
from manymaps.data.trials import MISSING, REPEATED, Trials, recoded, without_repeats
from manymaps.errors import DataError
from manymaps.io.missing_answers import checked_missing, is_missing
from manymaps.labels import plain_spelling

_Masks: TypeAlias = Mapping[str, np.ndarray]

_FINDINGS = {
    "problem": object, "participant": object, "list": int, "position": int, "answer": object,
    "instead": object, "action": object,
}  # fmt: skip
_VARIANTS = {
    "word": object, "n_lists": int, "variant": object, "n_variant_lists": int, "difference": object,
}  # fmt: skip
# Notes in the report on each problem of answers.
_ACTIONS = {
    "correction": "answers replaced by corrections: {:,}",
    "missing answer": "missing answers dropped: {:,}",
    "intrusion": "intrusions dropped: {:,}",
    "repetition": "repetitions dropped: {:,}",
}
# Least similarity of a suggested word to an intrusion (difflib). At 0.8, "girafe" suggests giraffe,
# but "goat" does not suggest boat (0.75).
_SIMILAR = 0.8
# Lists with less than a third of the median number of words are reported as short. In the five
# animal lists of the first two participants in SNAFU's sample, the shortest has 64 % of the median.
_SHORT = 3


@dataclass(frozen=True, eq=False)
class CleanedLists(TabularResult):
    """Cleaned fluency lists with a table of findings.

    Attributes
    ----------
    lists : Trials
        The cleaned lists. The report contains the number of dropped lists and, as notes, the number
        of dropped and replaced answers.
    findings : dict of str to ndarray, shape (n_findings,)
        Table with one row per answer or list, as described in the notes.
    variants : dict of str to ndarray, shape (n_variants,)
        Table of pairs of answers that may be the same word, as described in the notes.

    See Also
    --------
    clean_fluency

    Notes
    -----
    The columns of `findings` are::

        problem                 correction, missing answer, intrusion, repetition or short list
        participant             name of the participant, or an empty text
        list, position          numbers from 1; the position of a short list is 0
        answer                  answer as written
        instead                 correction, or accepted word that is most similar to an intrusion
        action                  replaced, dropped or kept

    The columns of `variants` are::

        word, n_lists           more frequent answer, and number of lists with it
        variant                 less frequent answer
        n_variant_lists         number of lists with the less frequent answer
        difference              case or spaces, or plural

    Examples
    --------
    >>> from manymaps import clean_fluency
    >>> from manymaps.datasets import make_fluency_lists
    >>> cleaned = clean_fluency(make_fluency_lists(9, 2, 5, length=5, random_state=0).lists)
    >>> cleaned.counts()["repetition"], cleaned.lists.n_trials
    (0, 9)
    """

    lists: Trials
    findings: dict[str, np.ndarray]
    variants: dict[str, np.ndarray]

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The findings."""
        return self.findings

    def counts(self) -> dict[str, int]:
        """Count the findings.

        Returns
        -------
        dict of str to int
            Number of findings by problem, and the number of "variants".
        """
        found = Counter(self.findings["problem"])
        counts = {problem: found[problem] for problem in (*_ACTIONS, "short list")}
        return counts | {"variants": len(self.variants["word"])}


def clean_fluency(
    lists: Trials,
    *,
    accepted: Sequence[str] | None = None,
    corrections: Mapping[str, str] | None = None,
    missing: str | Sequence[str] | None = "usual",
    fold: bool = False,
    min_words: int | None = None,
) -> CleanedLists:
    """Clean fluency lists, and list repetitions, intrusions, variants and short lists.

    Parameters
    ----------
    lists : Trials
        Fluency lists of one category (`read_fluency`).
    accepted : sequence of str, optional
        Accepted words, in upper or lower case. Other answers are intrusions and are dropped. By
        default, all answers are accepted.
    corrections : mapping of str to str, optional
        Corrected spelling of answers, which may be in upper or lower case.
    missing : str or sequence of str, optional
        Answers that are dropped because they are not words, as in `read_trials`. The default,
        "usual", drops "n/a", "don't know", "?" and others. With None, no answers are
        dropped.
    fold : bool
        Whether to convert answers to lower case with single spaces, which merges answers that
        differ only in this respect.
    min_words : int, optional
        Minimum number of different words per list. Shorter lists are dropped. By default, only
        empty lists are dropped, and lists with less than a third of the median number of words are
        reported.

    Returns
    -------
    CleanedLists
        Cleaned lists, findings and variants.

    Raises
    ------
    DataError
        If the lists have several categories, or if no list remains.
    ParameterError
        If a parameter is invalid.

    See Also
    --------
    read_fluency, fluency_network

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Trials, clean_fluency
    >>> words = ["cat", "dog", "dogs", "table", "?"]
    >>> given = np.array([[0, 1, 0, 4], [2, 3, 0, -1]])
    >>> cleaned = clean_fluency(
    ...     Trials(["animals"], words, [0, 0], given), accepted=["Cat", "Dog", "Dogs"])
    >>> cleaned.findings["problem"].tolist(), cleaned.findings["answer"].tolist()
    (['missing answer', 'intrusion', 'repetition'], ['?', 'table', 'cat'])
    >>> cleaned.lists.answers, cleaned.lists.given.tolist()
    (('cat', 'dog', 'dogs'), [[0, 1, -3, -1], [2, -1, 0, -1]])
    >>> cleaned.variants["word"].tolist(), cleaned.variants["variant"].tolist()
    (['dog'], ['dogs'])
    """
    check_lists(lists)
    least = 1 if min_words is None else min_words
    check_whole("min_words", least)
    spelled, corrected = _spelled(lists.answers, corrections or {}, fold)
    words = list(dict.fromkeys(spelled))
    index = {word: k for k, word in enumerate(words)}
    # In the following arrays, the last element, to which -1 refers, represents a missing answer.
    answered = np.maximum(lists.given, MISSING)
    given = np.array([*map(index.__getitem__, spelled), MISSING], np.int32)[answered]
    is_none, is_intrusion = np.zeros((2, len(words) + 1), bool)
    if (usual := checked_missing(missing)) is not None:
        is_none[:-1] = is_missing(words, usual)
    if accepted is not None:
        known = set(map(plain_spelling, accepted))
        is_intrusion[:-1] = [plain_spelling(word) not in known for word in words] & ~is_none[:-1]
    kept = without_repeats(np.where((is_none | is_intrusion)[given], MISSING, given))
    masks = {
        "correction": np.append(corrected, False)[answered],
        "missing answer": is_none[given],
        "intrusion": is_intrusion[given],
        "repetition": kept == REPEATED,
    }
    sizes = (kept >= 0).sum(axis=1)
    is_short = sizes < max(least, np.median(sizes) / _SHORT)
    if not (sizes >= least).any():
        raise DataError(
            f"{lists.report.source}: none of {lists.n_trials:,} lists has {least:,} or more words; "
            "use a lower min_words, or check the accepted words"
        )
    cleaned = _selected(replace(lists, answers=words, given=kept), masks, sizes >= least, least)
    instead = _instead(words, is_intrusion[:-1], accepted or ())
    rows = _answer_rows(lists, masks, words, given, instead)
    rows += [
        ("short list", _participant(lists, k), k + 1, 0, "", "",
         "kept" if sizes[k] >= least else "dropped")
        for k in np.flatnonzero(is_short).tolist()
    ]  # fmt: skip
    return CleanedLists(cleaned, _table(_FINDINGS, rows), _table(_VARIANTS, _variants(cleaned)))


def _spelled(
    answers: Sequence[str], corrections: Mapping[str, str], fold: bool
) -> tuple[list[str], np.ndarray]:
    """Return the corrected spelling of each answer, and a mask of the answers in `corrections`."""
    plain = {plain_spelling(wrong): right for wrong, right in corrections.items()}
    right = [corrections.get(answer, plain.get(plain_spelling(answer))) for answer in answers]
    spelled = [
        answer if word is None else word for answer, word in zip(answers, right, strict=True)
    ]
    corrected = np.array([word is not None for word in right], bool)
    return [plain_spelling(word) for word in spelled] if fold else spelled, corrected


def _selected(lists: Trials, masks: _Masks, is_kept: np.ndarray, least: int) -> Trials:
    """Select lists, omit words that no longer occur, and add the numbers of findings as notes."""
    used = np.unique(lists.given[is_kept])
    used = used[used >= 0]
    number = np.full(len(lists.answers), MISSING, np.int32)
    number[used] = np.arange(used.size)
    notes = [_ACTIONS[why].format(int(mask.sum())) for why, mask in masks.items() if mask.any()]
    n_short = int((~is_kept).sum())
    why = "empty list" if least == 1 else f"fewer than {least} words"
    reason = {why: n_short} if n_short else {}
    report = replace(
        lists.report,
        dropped={**lists.report.dropped, **reason},
        notes=(*lists.report.notes, *notes),
    )
    words = [lists.answers[word] for word in used.tolist()]
    given = recoded(lists.given, number)
    return replace(lists, answers=words, given=given, report=report).take(is_kept)


def _instead(words: Sequence[str], asked: np.ndarray, accepted: Sequence[str]) -> dict[int, str]:
    """Return the most similar accepted word of each intrusion that has one."""
    plain = {plain_spelling(word): word for word in accepted}
    similar = {}
    for k in np.flatnonzero(asked).tolist():
        near = difflib.get_close_matches(plain_spelling(words[k]), plain, n=1, cutoff=_SIMILAR)
        if near:
            similar[k] = plain[near[0]]
    return similar


def _answer_rows(
    lists: Trials,
    masks: _Masks,
    words: Sequence[str],
    given: np.ndarray,
    instead: Mapping[int, str],
) -> list[tuple[object, ...]]:
    """Return the rows of the findings on answers, by problem, list and position."""
    rows: list[tuple[object, ...]] = []
    for problem, mask in masks.items():
        for k, column in np.argwhere(mask).tolist():
            answer, word = lists.answers[lists.given[k, column]], int(given[k, column])
            is_corrected = problem == "correction"
            other = words[word] if is_corrected else ""
            if problem == "intrusion":
                other = instead.get(word, "")
            action = "replaced" if is_corrected else "dropped"
            rows.append((problem, _participant(lists, k), k + 1, column + 1, answer, other, action))
    return rows


def _participant(lists: Trials, row: int) -> str:
    return "" if lists.participant is None else lists.participants[lists.participant[row]]


def _variants(lists: Trials) -> list[tuple[object, ...]]:
    """Return the pairs of answers that may be the same word, the more frequent one first."""
    counts = np.bincount(lists.given[lists.given >= 0], minlength=len(lists.answers))
    spellings: dict[str, list[int]] = {}
    for k, word in enumerate(lists.answers):
        spellings.setdefault(_joined(word), []).append(k)
    pairs: dict[tuple[int, int], str] = {}
    for key, places in spellings.items():
        pairs |= {(places[0], other): "case or spaces" for other in places[1:]}
        for plural in _plurals(key):
            pairs |= {(places[0], other): "plural" for other in spellings.get(plural, ())[:1]}
    rows: list[tuple[object, ...]] = []
    for pair, difference in sorted(pairs.items()):
        often, rarely = sorted(pair, key=lambda k: -counts[k])
        rows.append((lists.answers[often], counts[often], lists.answers[rarely], counts[rarely],
                     difference))  # fmt: skip
    return rows


def _joined(word: str) -> str:
    return "".join(c for c in word.casefold() if not c.isspace() and c not in "-_'.")


def _plurals(word: str) -> tuple[str, ...]:
    """Return possible plurals of an English word.

    >>> _plurals("pony"), _plurals("fox")
    (('ponys', 'ponyes', 'ponies'), ('foxs', 'foxes'))
    """
    usual = (f"{word}s", f"{word}es")
    return (*usual, f"{word[:-1]}ies") if word.endswith("y") else usual


def _table(types: Mapping[str, type], rows: Sequence[tuple[object, ...]]) -> dict[str, np.ndarray]:
    cells = zip(*rows, strict=True) if rows else [()] * len(types)
    return {
        name: np.array(column, dtype=kind)
        for (name, kind), column in zip(types.items(), cells, strict=True)
    }
