"""Triplets of objects, from which participants chose a similar pair.

    kind "odd"       (i, j, k): k was the odd one out, so i and j were chosen as similar
    kind "closer"    (i, j, k): i is closer to j than to k

In both cases, the first two objects are the chosen pair. The other pairs of the triplet were
available but not chosen (for "closer", only the pair i, k). The similarities to fit are

    s_ij = number of times i and j were chosen / number of times they were available

in the observed data, where pairs that were never available are missing. By default, the
similarities are expectations of a choice model for all pairs (`manymaps.data.triplet_choice`).

Arrays: values (n, 3) of int32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from manymaps.archive.door import MOST_LABELS
from manymaps.checks import check_choice, check_labels, check_number
from manymaps.data.associations import Associations, ReadReport
from manymaps.data.triplet_choice import choice_utilities, expected_proportions, options_of
from manymaps.errors import DataError
from manymaps.labels import shown
from manymaps.seeds import RandomState, drawn_generator

KINDS = ("odd", "closer")
ESTIMATES = ("choices", "proportions")
#: Maximum number of objects for a table of all pairs.
MOST_OF_MODEL = 10_000


@dataclass(frozen=True)
class NoiseCeiling:
    """Bounds on the accuracy of any model on triplets that were judged more than once.

    Attributes
    ----------
    majority : float
        Proportion of the answers that agree with the majority of their triplet, where ties count
        proportionally. Each answer is part of its own majority. The proportion therefore exceeds
        the true ceiling on average, especially if triplets were judged only a few times (Hebart et
        al. 2020).
    others : float
        Proportion of the answers that agree with the majority of the other answers to the same
        triplet. This proportion is below the true ceiling on average, and approaches the ceiling as
        the number of answers increases.
    n_repeated : int
        Number of triplets that were judged more than once.
    n_answers : int
        Number of answers to these triplets.
    at_least : float
        Lower 97.5 % confidence limit of `others`, but at least chance. Both limits treat questions,
        not answers, as independent.
    at_most : float
        Upper 97.5 % confidence limit of `majority`, but at most 1.
    """

    majority: float
    others: float
    n_repeated: int
    n_answers: int
    at_least: float
    at_most: float


def question_mean(sums: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Compute the mean over answers, and half the width of its 95 % interval over questions.

    Parameters
    ----------
    sums : ndarray of shape (n_questions,)
        Sum of the values of the answers to each question.
    sizes : ndarray of shape (n_questions,)
        Number of answers to each question, at least 1.

    Returns
    -------
    mean : float
        Sum of the values divided by the number of answers.
    margin : float
        Quantile of Student's t distribution times the standard error, or NaN for a single question.

    Notes
    -----
    Answers to the same question are dependent, so questions are the sampling units (the linearized
    variance of a ratio; Cochran 1977, section 6.3):

        error^2 = G / (G - 1) sum_g (sums_g - mean sizes_g)^2 / (sum_g sizes_g)^2

    with G - 1 degrees of freedom for G questions. If each question was asked once, this is the
    ordinary standard error of a mean.

    References
    ----------
    W. G. Cochran, "Sampling Techniques", third edition, Wiley (1977).

    Examples
    --------
    >>> mean, margin = question_mean(np.array([3.0, 0.0, 2.0]), np.array([3, 3, 2]))
    >>> round(mean, 3), round(margin, 3)
    (0.625, 1.523)
    """
    count, total = len(sizes), sizes.sum()
    mean = float(sums.sum() / total)
    if count < 2:
        return mean, np.nan
    error = np.sqrt(count / (count - 1) * ((sums - mean * sizes) ** 2).sum()) / total
    from scipy.special import stdtrit  # every reader imports this module, and few results need t

    return mean, float(stdtrit(count - 1, 0.975) * error)


@dataclass(frozen=True, eq=False, repr=False)
class Triplets:
    """Choices of pairs among three objects.

    Parameters
    ----------
    values : array of int, shape (n, 3)
        Indices of the objects. For "odd", the odd one out is last, as in the data of SPoSE and
        VICE. For "closer", the first object is closer to the second than to the third.
    labels : sequence of str, optional
        Unique labels of all objects. The default is "0", "1", ... up to the largest index.
    kind : {"odd", "closer"}, default "odd"
        Type of the triplets.
    report : ReadReport, optional
        Report on how the data were read.

    Raises
    ------
    DataError
        If the shape is wrong, if there are no triplets, or if an index is invalid or duplicated in
        a triplet. The message contains the row, counted from 0.

    See Also
    --------
    read_triplets, evaluate

    Examples
    --------
    >>> from manymaps import Triplets
    >>> triplets = Triplets([[0, 1, 2], [0, 1, 3], [0, 2, 1]], ["tie", "knot", "suit", "rope"])
    >>> triplets.n_objects, len(triplets)
    (4, 3)
    >>> chosen, together = triplets.counts()
    >>> chosen.toarray()[0].tolist(), together.toarray()[0].tolist()
    ([0, 2, 1, 0], [0, 3, 2, 1])
    """

    values: np.ndarray
    labels: Sequence[str] | None = None
    kind: str = "odd"
    report: ReadReport = field(default_factory=ReadReport)

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        values = np.asarray(self.values)
        source = self.report.source
        if values.ndim != 2 or values.shape[1] != 3 or not len(values):
            raise DataError(
                f"{source}: triplets have shape {values.shape}; expected three objects per row, "
                "(n, 3), and at least one row"
            )
        if values.dtype.kind not in "iuf":
            raise DataError(
                f"{source}: triplets must contain object indices (integers from 0), not "
                f"{values.dtype}"
            )
        whole = _whole(values, source)
        n = int(whole.max()) + 1 if self.labels is None else len(self.labels)
        _check_numbers(whole, n, source, labelled=self.labels is not None)
        names = map(str, range(n)) if self.labels is None else map(str, self.labels)
        labels = tuple(names)
        check_labels(labels, n, "object", source=source)
        object.__setattr__(self, "values", whole.astype(np.int32, copy=False))
        object.__setattr__(self, "labels", labels)
        if self.report.n_read == 0:
            object.__setattr__(self, "report", replace(self.report, n_read=len(whole)))

    def __repr__(self) -> str:
        kind_name = "odd-one-out triplets" if self.kind == "odd" else "triplets of which is closer"
        return (
            f"<{len(self):,} {kind_name} of {self.n_objects:,} objects, from {self.report.source}>"
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_objects(self) -> int:
        """Number of objects, including objects without triplets."""
        return len(self.labels or ())

    @property
    def options(self) -> tuple[tuple[int, int], ...]:
        """Pairs of columns that are the options of each triplet, with the chosen pair first."""
        return options_of(self.kind)

    @property
    def chance(self) -> float:
        """Accuracy of guessing: 1/3 for "odd", and 1/2 for "closer"."""
        return 1 / len(self.options)

    def take(self, places: np.ndarray | Sequence[int]) -> Triplets:
        """Select triplets by index, keeping all objects.

        Parameters
        ----------
        places : array of int
            Indices of the triplets, in the desired order.

        Returns
        -------
        Triplets
            Selected triplets.
        """
        rows = self.values[np.asarray(places)]
        return replace(self, values=rows, report=replace(self.report, n_read=len(rows)))

    def counts(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Count how often each pair was chosen and how often it was available.

        Returns
        -------
        chosen : csr_array of shape (n_objects, n_objects)
            Symmetric counts of choices.
        asked : csr_array of shape (n_objects, n_objects)
            Symmetric counts of triplets in which the pair was available.
        """
        pairs = [(self.values[:, a], self.values[:, b]) for a, b in self.options]
        return self._sums(pairs[:1]), self._sums(pairs)

    def _sums(self, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> sparse.csr_array:
        n = self.n_objects
        first = np.concatenate([a for a, _ in pairs])
        second = np.concatenate([b for _, b in pairs])
        ones = np.ones(len(first), np.int64)
        half = sparse.csr_array(sparse.coo_array((ones, (first, second)), shape=(n, n)))
        return sparse.csr_array(half + half.T)

    def associations(
        self,
        estimate: str = "choices",
        *,
        penalty: float | None = None,
        random_state: RandomState = 0,
    ) -> Associations:
        """Estimate similarities of the objects, which any estimator can fit.

        Parameters
        ----------
        estimate : {"choices", "proportions"}, default "choices"
            "choices" uses a choice model to estimate s_ij for all pairs, including pairs that were
            never available. "proportions" uses the observed proportions, and pairs that were never
            available are missing. Fits with missing pairs are slower and limited to 2,000 objects.
        penalty : float, optional
            Penalty of the choice model, at least 0. The default is the square root of the number of
            triplets per object.
        random_state : int or RandomState, default 0
            Seed of the choice model.

        Returns
        -------
        Associations
            Symmetric similarities between 0 and 1, whose rows are not normalized. Objects without
            triplets have no similarities.

        Raises
        ------
        DataError
            If the choice model is used with more than 10,000 objects.

        Notes
        -----
        On simulated triplets, an atlas of similarities from the choice model predicts held-out
        choices better than an atlas of observed proportions. The advantage is greater for fewer
        triplets (`benchmarks/triplets.py`).

        Examples
        --------
        >>> from manymaps import Triplets
        >>> triplets = Triplets([[0, 1, 2], [0, 1, 3], [2, 3, 0], [2, 1, 3]])
        >>> observed = triplets.associations("proportions")
        >>> observed.strengths.toarray()[0].round(2).tolist(), observed.n_missing
        ([0.0, 1.0, 0.0, 0.0], 0)
        >>> triplets.associations(penalty=1.0).n_pairs
        12
        """
        check_choice("estimate", estimate, ESTIMATES)
        if penalty is not None:
            check_number("penalty", penalty, least=0)
        size = f"{len(self):,} triplets"
        if estimate == "proportions":
            return self._proportions(size)
        n = self.n_objects
        if n > MOST_OF_MODEL:
            raise DataError(
                f"{self.report.source}: {n:,} objects are too many for a table of all pairs (at "
                f"most {MOST_OF_MODEL:,}); omit some of them, or "
                "estimate by proportions"
            )
        seed = int(drawn_generator(random_state).integers(2**31))
        utilities = choice_utilities(self.values, n, self.kind, penalty=penalty, seed=seed)
        table = expected_proportions(utilities, self.kind, seed=seed)
        appears = self._appears
        table[~appears] = 0
        table[:, ~appears] = 0
        note = f"{size}: similarities of all pairs are estimated by a choice model"
        report = replace(self.report, notes=(*self.report.notes, note))
        return Associations(self.labels or (), sparse.csr_array(table), report)

    def _proportions(self, size: str) -> Associations:
        chosen, available = self.counts()
        table = chosen.astype(np.float64).multiply(available.astype(np.float64).power(-1)).tocsr()
        appears = self._appears
        missing = ~available.astype(bool).toarray()
        missing[~appears] = False
        missing[:, ~appears] = False
        note = f"{size}: similarities are proportions of choices when a pair was available"
        report = replace(self.report, notes=(*self.report.notes, note))
        return Associations(
            self.labels or (),
            sparse.csr_array(table),
            report,
            missing=sparse.csr_array(missing),
        )

    @cached_property
    def _appears(self) -> np.ndarray:
        """Mask of objects that are in a triplet, shape (n_objects,)."""
        return np.bincount(self.values.ravel(), minlength=self.n_objects) > 0

    @cached_property
    def _questions(self) -> tuple[np.ndarray, np.ndarray]:
        """Question index of each triplet, (n,), and index of its answer among the options.

        A question is a set of three objects ("odd"), or a first object and a set of two objects
        ("closer").
        """
        first = 0 if self.kind == "odd" else 1
        order = np.argsort(self.values[:, first:], axis=1, kind="stable") + first
        columns = np.concatenate([np.zeros((len(self), first), order.dtype), order], axis=1)
        sets = np.take_along_axis(self.values, columns, axis=1).astype(np.int64)
        n = self.n_objects
        # Two steps avoid indices up to the cube of the number of objects, which may exceed 64 bits.
        pairs = np.unique(sets[:, 0] * n + sets[:, 1], return_inverse=True)[1]
        questions = np.unique(pairs * n + sets[:, 2], return_inverse=True)[1]
        answers = np.argmax(columns == (2 if self.kind == "odd" else 1), axis=1)
        return questions, answers

    @property
    def questions(self) -> np.ndarray:
        """Question index of each triplet, shape (n,), which is equal for repeated questions."""
        return self._questions[0]

    def noise_ceiling(self) -> NoiseCeiling | None:
        """Compute bounds on the accuracy of predictions for repeated triplets.

            majority = sum_t max_c n_tc / sum_t n_t
            others   = sum_t sum_c n_tc [c is the majority without this answer] / sum_t n_t

        The sums are over triplets t with n_t > 1 answers, n_tc of which are c. The first measure
        was introduced by Hebart, Zheng, Pereira & Baker (2020), "Revealing the multidimensional
        mental representations of natural objects underlying human similarity judgements", Nature
        Human Behaviour 4, 1173-1185.

        If p_tc is the probability that a participant gives answer c to t, the expected accuracy of
        any model is at most sum_t n_t max_c p_tc / sum_t n_t. On average, the first measure is at
        least this value, and the second is at most this value.

        Returns
        -------
        NoiseCeiling or None
            Bounds with confidence limits, or None if no triplet was judged more than once.

        Examples
        --------
        >>> from manymaps import Triplets
        >>> triplets = Triplets([[0, 1, 2], [1, 0, 2], [0, 1, 2], [2, 0, 1], [0, 1, 3]])
        >>> ceiling = triplets.noise_ceiling()
        >>> ceiling.majority, ceiling.others, ceiling.n_repeated, ceiling.n_answers
        (0.75, 0.75, 1, 4)
        """
        questions, answers = self._questions
        counts = np.bincount(3 * questions + answers, minlength=3 * (int(questions.max()) + 1))
        table = counts.reshape(-1, 3)
        repeated = table[table.sum(axis=1) > 1].astype(np.float64)
        if not len(repeated):
            return None
        predicted = np.zeros(len(repeated))
        for c in range(3):
            others = repeated.copy()
            others[:, c] -= 1
            most = others == others.max(axis=1, keepdims=True)
            predicted += repeated[:, c] * most[:, c] / most.sum(axis=1)
        sizes = repeated.sum(axis=1)
        majority, above = question_mean(repeated.max(axis=1), sizes)
        by_others, below = question_mean(predicted, sizes)
        # A single question has a margin of NaN, so only the trivial bounds remain (fmax ignores
        # NaN).
        return NoiseCeiling(
            majority=majority,
            others=by_others,
            n_repeated=len(repeated),
            n_answers=int(sizes.sum()),
            at_least=float(np.fmax(by_others - below, self.chance)),
            at_most=float(np.fmin(majority + above, 1.0)),
        )

    def folds(self, n_folds: int, random_state: RandomState = 0) -> np.ndarray:
        """Assign each triplet to a fold, keeping all answers to the same question together.

        Parameters
        ----------
        n_folds : int
            Number of folds, at least 2.
        random_state : int or RandomState, default 0
            Seed of the assignment.

        Returns
        -------
        ndarray of int, shape (n,)
            Fold of each triplet, from 0.

        Examples
        --------
        >>> from manymaps import Triplets
        >>> triplets = Triplets([[0, 1, 2], [1, 2, 0], [0, 1, 3], [1, 3, 0]])
        >>> fold = triplets.folds(2)
        >>> bool(fold[0] == fold[1]), bool(fold[2] == fold[3]), len(set(fold))
        (True, True, 2)
        """
        questions, _ = self._questions
        n = int(questions.max()) + 1
        fold_of_question = drawn_generator(random_state).permutation(n) % n_folds
        return np.asarray(fold_of_question[questions])

    def split(
        self, fraction: float = 0.1, random_state: RandomState = 0
    ) -> tuple[Triplets, Triplets]:
        """Split triplets into a training part and a test part that have no questions in common.

        Parameters
        ----------
        fraction : float, default 0.1
            Proportion of the questions that are held out, strictly between 0 and 1.
        random_state : int or RandomState, default 0
            Seed of the split.

        Returns
        -------
        known : Triplets
            Triplets to fit.
        held_out : Triplets
            Triplets to test.

        Raises
        ------
        DataError
            If one of the two parts is empty.

        Examples
        --------
        >>> from manymaps import Triplets
        >>> known, held_out = Triplets([[0, 1, 2], [1, 2, 3], [0, 3, 1], [0, 2, 3]]).split(0.25)
        >>> len(known), len(held_out)
        (3, 1)
        """
        check_number("fraction", fraction, above=0, below=1)
        questions, _ = self._questions
        n = int(questions.max()) + 1
        is_held_out = drawn_generator(random_state).permutation(n) < round(fraction * n)
        held_out_rows = is_held_out[questions]
        if held_out_rows.all() or not held_out_rows.any():
            raise DataError(
                f"{self.report.source}: {n:,} different triplets are too few to hold out "
                f"{fraction:g} of them"
            )
        return self.take(np.flatnonzero(~held_out_rows)), self.take(np.flatnonzero(held_out_rows))


def _whole(values: np.ndarray, source: str) -> np.ndarray:
    """Convert object indices to integers, or raise an error that contains the invalid value."""
    if values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            values = values.astype(np.float64)
            wrong = ~np.isfinite(values) | (values != np.rint(values)) | (np.abs(values) > 2**31)
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise DataError(
                f"{source}, row {row}: {values[row, column]} is not a valid object index; triplets "
                "contain integers starting at 0"
            )
    elif values.dtype.kind == "u" and values.dtype.itemsize == 8:
        values = np.minimum(values, 2**31)  # the largest 64-bit integers would become negative
    return values.astype(np.int64)


def _check_numbers(values: np.ndarray, n: int, source: str, *, labelled: bool) -> None:
    """Raise an error if indices are negative, too large, or duplicated within a triplet."""
    for wrong, fault in (
        (values < 0, "is negative; indices start at 0"),
        (values >= n, f"exceeds the number of labels, {n:,}; indices start at 0"),
    ):
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise DataError(f"{source}, row {row}: the object {values[row, column]} {fault}")
    if not labelled and n > MOST_LABELS:
        raise DataError(
            f"{source}: the largest object index is {n - 1:,}; expected at most {MOST_LABELS - 1:,}"
        )
    a, b, c = values.T
    twice = (a == b) | (a == c) | (b == c)
    if twice.any():
        row = int(np.argmax(twice))
        triplet = shown(str(values[row].tolist()))
        raise DataError(
            f"{source}, row {row}: duplicate object in the triplet {triplet} "
            f"({int(twice.sum()):,} such rows); a triplet contains three different objects"
        )
