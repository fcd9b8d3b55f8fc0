"""Comparison of groups with known differences: words with exchanged responses, or none.

    python benchmarks/comparison.py [--swapped 30] [--shares 1 .5 .25 .1] [--repeats 3] [--people]
    python benchmarks/comparison.py --rates 1000
    python benchmarks/comparison.py --coverage

Two groups are drawn from the same norms (`manymaps.resampled`). For some words of the second group,
a share of the responses is exchanged with those of another word, in a cycle. The findings of
`compare` at a false discovery rate of 5 % are compared with the exchanged words. A share of 0 is
the null hypothesis, under which all findings are false and p-values should be uniform. The senses
are maps of one atlas of the norms, without exchanges.

    USF           5,018 words, 100 to 150 responses each, 40 maps (requires the norms in
                  MANYMAPS_DATA)
    relations     the embedded word relations, 100 responses each, 20 maps
    USF, against  USF against the relations, words of both: all words differ, because the two are of
    relations     different kinds, so the exchanged ones can only be found by rank

With --people, raw trials are used: 200 participants in two groups answer 40 of 300 cues with three
related associations each. Permuting participants keeps the error rate, and permuting their
responses as if they were independent does not.

With --rates N, the error rates are counted in N pairs of small groups (20 words of three senses of
four responses, 100 responses per word and group). No word, a quarter or half of the words differ by
a shift of one sense, or by a shift of responses within a sense. "any" is the share of the N
comparisons with any finding. Without differences it must not exceed alpha, 0.05. "false" is the
mean share of unchanged words among the findings, which must not exceed it either.

With --coverage, the intervals of effects are compared with the effects of the populations. A share
of the responses of all USF words is exchanged, and both groups are drawn with the responses of the
norms, or 40 or 15 per word. "below" and "above" are the shares of words whose interval is below or
above the true effect. The last lines are for published norms: responses given once are missing in
one of two groups without differences.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import linalg, sparse

import manymaps as mm
from manymaps.analysis.comparison import NO_CHANGE
from manymaps.analysis.group_effects import agreement_effects
from manymaps.analysis.group_tests import PermutedUnits
from manymaps.data.responses import grouped_responses
from manymaps.data.trials import Trials
from manymaps.model import MULTIPLE_MAPS_T_SNE

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"


def swapped(norms: mm.Associations, words: np.ndarray, share: float) -> mm.Associations:
    """Exchange a share of the responses of each of some words with the next of them."""
    keep = np.ones(norms.n_objects)
    keep[words] = 1 - share
    n = norms.n_objects
    take = sparse.csr_array((np.full(len(words), share), (words, np.roll(words, 1))), shape=(n, n))
    mixed = sparse.csr_array((sparse.diags_array(keep) + take) @ norms.strengths)
    mixed.setdiag(0)
    mixed.eliminate_zeros()
    return replace(norms, strengths=mixed)


def planted(
    norms: mm.Associations, n_swapped: int, share: float, seed: int
) -> tuple[dict[str, mm.Associations], set[str]]:
    """Draw two groups of the same norms, and the words that are exchanged in the second."""
    rng = np.random.default_rng(seed)
    often = np.flatnonzero(np.diff(norms.strengths.indptr) >= 5)
    words = rng.choice(often, n_swapped, replace=False)
    groups = {
        "first": mm.resampled(norms, rng),
        "second": mm.resampled(swapped(norms, words, share), rng),
    }
    return groups, {norms.labels[i] for i in words} if share else set()


def fitted(norms: mm.Associations, n_maps: int) -> mm.Atlas:
    """Fit the maps whose senses are tested."""
    return mm.MultipleMapsTSNE(n_maps, max_iter=500, random_state=0).fit(norms).atlas_


def report(
    name: str, norms: mm.Associations, atlas: mm.Atlas, arguments: argparse.Namespace
) -> None:
    """Format lines of the findings, by the share that was exchanged."""
    for share in [0.0, *arguments.shares]:
        rows = []
        for seed in range(arguments.repeats):
            groups, truth = planted(norms, arguments.swapped, share, seed)
            started = time.perf_counter()
            found = mm.compare(groups, atlas=atlas, random_state=seed)
            seconds = time.perf_counter() - started
            told = set(found.words["word"][found.words["q"] <= found.alpha])
            senses = set(found.words["word"][found.words["change"].str.contains("sense")])
            rows.append([
                len(told & truth), len(told - truth), len(senses & truth), len(senses - truth),
                (found.words["p"] <= 0.05).mean(), (found.words["p"] <= 0.01).mean(),
                (found.senses.p <= 0.05).mean(), seconds,
            ])  # fmt: skip
        mean = np.mean(rows, axis=0)
        print(
            f"{name:<10} {share:5.2f}  {mean[0]:6.1f} {mean[1]:6.1f}  {mean[2]:6.1f} {mean[3]:6.1f}"
            f"    {mean[4]:.4f} {mean[5]:.4f} {mean[6]:.4f}  {mean[7]:6.1f}",
            flush=True,
        )


def of_two_kinds(
    usf: mm.Associations, relations: mm.Associations, arguments: argparse.Namespace
) -> None:
    """Compare USF with the embedded relations, with exchanged words; all words differ."""
    own = {label: label.lower() for label in usf.labels}
    lower = replace(usf, labels=[own[label] for label in usf.labels])
    cues = np.flatnonzero(np.diff(lower.strengths.indptr))
    common = {lower.labels[i] for i in cues} & set(relations.labels)
    rng = np.random.default_rng(0)
    place = {label: i for i, label in enumerate(relations.labels)}
    often = np.diff(relations.strengths.indptr) >= 5
    words = rng.choice(
        [place[label] for label in sorted(common) if often[place[label]]], arguments.swapped, False
    )
    groups = {"USF": lower, "relations": swapped(relations, words, 1.0)}
    found = mm.compare(groups)
    truth = np.isin(found.words["word"], [relations.labels[i] for i in words])
    n = len(found.words)
    share = (found.words["q"] <= found.alpha).mean()
    print(f"\nUSF against relations, {n:,} words of both: {share:.1%} change")
    ranks = n - np.argsort(np.argsort(found.words["divergence"].to_numpy()))[truth]
    area = 1 - (ranks.mean() - (len(ranks) + 1) / 2) / (n - len(ranks))
    top = int((ranks <= 2 * len(ranks)).sum())
    print(
        f"  by divergence  area under the curve {area:.3f}; {top} of {len(ranks)} in the first "
        f"{2 * len(ranks)}"
    )


def trials_of(rng: np.random.Generator, tied: float, shifted: int = 0) -> Trials:
    """Simulate participants of two groups who answer cues of four senses, some in one sense only.

    Of the first `shifted` cues the second group gives the first sense 30 points more.
    """
    n_people, n_cues, n_seen, n_senses, n_answers = 200, 300, 40, 4, 12
    cue = np.concatenate([rng.choice(n_cues, n_seen, replace=False) for _ in range(n_people)])
    person = np.repeat(np.arange(n_people), n_seen)
    group = person % 2
    base = np.array([0.4, 0.3, 0.2, 0.1])
    more = np.array([0.7, 0.15, 0.1, 0.05])
    given = np.empty((len(cue), 3), np.int64)
    for t in range(len(cue)):
        shares = more if group[t] and cue[t] < shifted else base
        first = rng.choice(n_senses, p=shares)
        senses = [first] + [first if rng.random() < tied else rng.choice(n_senses, p=shares)
                            for _ in range(2)]  # fmt: skip
        given[t] = [s * n_answers + min(rng.geometric(0.3), n_answers) - 1 for s in senses]
    answers = [f"c{c} s{s} a{a}" for c in range(n_cues) for s in range(n_senses)
               for a in range(n_answers)]  # fmt: skip
    given += cue[:, None] * n_senses * n_answers
    return Trials(
        [f"cue {c}" for c in range(n_cues)], answers, cue, given, person,
        [f"p{i}" for i in range(n_people)], {"group": np.where(group, "b", "a").astype(object)},
    )  # fmt: skip


def of_senses(differs: np.ndarray, kind: str) -> mm.Associations:
    """Generate norms of words with three senses of four responses, related within a sense.

    Words that differ give the first sense, or the first answer of each sense, more often. Answers
    are cues of nine responses, too few to be tested.
    """
    n_words, n_senses, n_members = len(differs), 3, 4
    shares = np.array([0.5, 0.3, 0.2])
    within = np.array([0.4, 0.3, 0.2, 0.1])
    usual = np.outer(shares, within)
    other = {
        "sense": np.outer([0.75, 0.15, 0.1], within),
        "answers": np.outer(shares, [0.05, 0.3, 0.25, 0.4]),
    }[kind]
    rows = np.where(differs[:, None, None], other, usual).reshape(n_words, -1)
    n_cues = n_words + rows.size
    table = np.zeros((n_cues, n_cues))
    table[:n_words, n_words:] = linalg.block_diag(*rows)
    ties = (1 - np.eye(n_members)) / (n_members - 1)
    table[n_words:, n_words:] = np.kron(np.eye(n_words * n_senses), ties)
    labels = [f"w{w}" for w in range(n_words)]
    labels += [f"w{w}s{s}a{a}" for w in range(n_words) for s in range(n_senses)
               for a in range(n_members)]  # fmt: skip
    numbers = np.repeat([100, 9], [n_words, rows.size])
    return mm.Associations(labels, sparse.csr_array(table), n_responses=numbers)


def atlas_of_senses(norms: mm.Associations, n_words: int) -> mm.Atlas:
    """Place the words in three maps with the responses of one sense each."""
    place = np.arange(norms.n_objects)
    word, sense = np.where(place < n_words, place, (place - n_words) // 12), (place - n_words) // 4
    maps = np.zeros((3, norms.n_objects, 2))
    maps[:, :, 0] = 20 * word + np.where(place < n_words, 0, (place - n_words) % 4 / 4)
    own = (sense % 3 == np.arange(3)[:, None]).astype(float)
    proportions = np.where(place < n_words, 1 / 3, own)
    return mm.Atlas(norms.labels, maps, proportions, MULTIPLE_MAPS_T_SNE)


def of_rates(n_repeats: int) -> None:
    """Count how often anything is found, and how many of the words found differ in truth."""
    print("differ  words        any   words shown   true   false   senses shown")
    for n_differ, kind in ((0, "sense"), (5, "sense"), (5, "answers"), (10, "sense")):
        differs = np.arange(20) < n_differ
        norms, changed = of_senses(np.zeros(20, bool), kind), of_senses(differs, kind)
        atlas = atlas_of_senses(norms, len(differs))
        rows = []
        for seed in range(n_repeats if not n_differ else n_repeats // 5):
            rng = np.random.default_rng(seed)
            groups = {"first": mm.resampled(norms, rng), "second": mm.resampled(changed, rng)}
            found = mm.compare(groups, atlas=atlas, random_state=seed, n_permutations=9_999)
            assert (found.words["n_senses"] == 3).all()
            told = (found.words["change"] != NO_CHANGE).to_numpy()
            truth = np.isin(found.words["word"], [f"w{w}" for w in np.flatnonzero(differs)])
            n_false = int((told & ~truth).sum())
            n_senses = int((found.senses["change"] != "").sum())
            rows.append([told.any(), told.sum(), (told & truth).sum(),
                         n_false / max(told.sum(), 1), n_senses])  # fmt: skip
        mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(len(rows))
        print(
            f"{n_differ:6d}  {kind:<8} {mean[0]:.3f} ± {error[0]:.3f}  {mean[1]:9.2f}  "
            f"{mean[2]:6.2f}   {mean[3]:.3f} ± {error[3]:.3f}  {mean[4]:6.2f}",
            flush=True,
        )


def true_effects(one: sparse.csr_array, other: sparse.csr_array) -> np.ndarray:
    """The effect between two tables of response proportions, whose rows need not sum to 1."""
    one, other = (
        sparse.csr_array(sparse.diags_array(1 / np.maximum(x.sum(axis=1), 1e-9)) @ x)
        for x in (one, other)
    )
    within = one.multiply(one).sum(axis=1) + other.multiply(other).sum(axis=1)
    return 1 - 2 * one.multiply(other).sum(axis=1) / np.where(within > 0, within, 1)


def of_intervals(usf: mm.Associations) -> None:
    """How many intervals of effects contain the effects of the populations."""
    print("exchanged  responses   words  median effect     bias  coverage  below  above")
    rng = np.random.default_rng(0)
    cues = np.flatnonzero(np.diff(usf.strengths.indptr) >= 5)
    for share in (0.0, 0.1, 0.25, 0.5, 1.0):
        for number in (None, 40, 15):
            asked = np.full(usf.n_objects, number) if number else usf.n_responses
            norms = replace(usf, n_responses=asked)
            other = swapped(norms, rng.permutation(cues), share)
            truth = true_effects(norms.strengths, other.strengths)
            groups = {"a": mm.resampled(norms, rng), "b": mm.resampled(other, rng)}
            found = grouped_responses(groups)
            words = np.flatnonzero((found.totals() >= 10).all(axis=0))
            effect, low, high = agreement_effects(PermutedUnits.of(found, words, None), 2)
            place = {label: i for i, label in enumerate(usf.labels)}
            truth = truth[[place[found.labels[i]] for i in words]]
            known = np.isfinite(effect)
            below, above = (high < truth)[known].mean(), (low > truth)[known].mean()
            print(
                f"{share:9.2f}  {number or 'norms':>9}  {len(words):6,}  {np.median(truth):13.3f}  "
                f"{np.nanmean(effect - truth):7.4f}  {1 - below - above:8.3f}  {below:.3f}  "
                f"{above:.3f}",
                flush=True,
            )


def of_single_responses(usf: mm.Associations) -> None:
    """Effects and p-values if one of two groups lacks the responses given once."""
    rng = np.random.default_rng(0)
    groups = {name: mm.resampled(usf, rng) for name in ("first", "second")}
    totals = sparse.diags_array(groups["second"].n_responses.astype(float))
    counts = sparse.csr_array(totals @ groups["second"].strengths)
    counts.data = np.where(np.rint(counts.data) > 1, np.rint(counts.data), 0)
    counts.eliminate_zeros()
    lacking = mm.Associations(usf.labels, counts)
    for name, second in (("all responses", groups["second"]), ("without single ones", lacking)):
        found = mm.compare({"first": groups["first"], "second": second}, responses="keep",
                           n_permutations=9_999)  # fmt: skip
        print(
            f"{name:<20} p<.05 {(found.words['p'] <= 0.05).mean():.3f}  median effect "
            f"{found.words['effect'].median():.3f}  effect of .2 or more "
            f"{(found.words['effect_low'] >= 0.2).mean():.4f}",
            flush=True,
        )


def of_people(arguments: argparse.Namespace) -> None:
    """Count p-values that are small by chance, if participants or responses are permuted."""
    print("tied   people dealt: p<.05 found false   answers dealt: p<.05 found false")
    for tied in (0.0, 0.5, 1.0):
        rows = []
        for seed in range(arguments.repeats):
            trials = trials_of(np.random.default_rng(seed), tied, arguments.swapped)
            groups = trials.groups("group")
            truth = {f"cue {c}" for c in range(arguments.swapped)}
            norms = {name: part.associations("keep", rows="keep") for name, part in groups.items()}
            row = []
            for given in (groups, norms):
                found = mm.compare(given, responses="keep", random_state=seed)
                null = ~found.words["word"].isin(truth)
                told = found.words["q"] <= found.alpha
                row += [
                    (found.words["p"][null] <= 0.05).mean(),
                    told[~null].sum(),
                    told[null].sum(),
                ]
            rows.append(row)
        mean = np.mean(rows, axis=0)
        print(f"{tied:4.1f}   {mean[0]:14.3f} {mean[1]:10.1f} {mean[2]:5.1f}   {mean[3]:16.3f} "
              f"{mean[4]:9.1f} {mean[5]:5.1f}", flush=True)  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Compare groups whose differences are known.")
    parser.add_argument("--swapped", type=int, default=30)
    parser.add_argument("--shares", type=float, nargs="+", default=[1.0, 0.5, 0.25, 0.1])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--people", action="store_true")
    parser.add_argument("--rates", type=int, metavar="N")
    parser.add_argument("--coverage", action="store_true")
    arguments = parser.parse_args()
    if arguments.coverage:
        usf = mm.read_associations(NORMS, strength="count", responses="keep")
        of_intervals(usf)
        of_single_responses(usf)
        return
    if arguments.rates:
        of_rates(arguments.rates)
        return
    if arguments.people:
        of_people(arguments)
        return
    print("                  words changed  senses changed  p<.05  p<.01 senses's p<.05")
    print("norms      share   found  false   found  false   found                            secs")
    relations = mm.load_word_relations()
    if NORMS.exists():
        usf = mm.read_associations(NORMS, strength="count", responses="keep")
        atlas = fitted(mm.read_associations(NORMS, strength="count"), 40)
        report("USF", usf, atlas, arguments)
    report("relations", relations, fitted(relations, 20), arguments)
    if NORMS.exists():
        of_two_kinds(usf, relations, arguments)


if __name__ == "__main__":
    main()
