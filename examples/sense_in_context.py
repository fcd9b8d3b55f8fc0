"""Meanings in context and the gist of a list, compared with other models of association.

    python examples/sense_in_context.py [--maps 20] [--iterations 300] [--seed 0] [--quick]

**Disambiguation.** A context word is a known associate of a word in one of its senses. The pairs of
the word and its context words are hidden in both directions, and all models are fitted to the other
pairs. Each method weighs the fine senses of the word (`Atlas.senses`), and the most probable one is
correct if most of its strength belongs to the true sense.

    word relations    WordNet's sense of each pair; words with at least two senses of at least three
                      associates; one context word per sense
    pseudowords       merged pairs of unrelated words (`manymaps.pseudowords`), whose halves are the
                      senses; one and three context words per half

    largest sense     the sense with the largest share, without context
    chance            a sense drawn at random
    maps              the map that `Atlas.disambiguate` finds most probable; correct if it explains
                      more of the true sense than of any other
    spreading         activation from the context words to the members of a sense
    LDA               sum_j p_ij p(c|j) over the members, multiplied over context words

**Gist.** The rank of the critical word of twelve lists of Deese, Roediger and McDermott among all
words that are not listed, and that of 150 words for lists of their ten strongest associates. "As
observed" uses all associations. "Hidden" hides those between the listed words and the critical
word, in both directions.

The free-association norms are read from MANYMAPS_DATA; without them, the word relations are used.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy import sparse

import manymaps as mm
from lib.models import SpreadingActivation
from lib.topics import TopicModel
from word_sense_induction import NORMS

# Roediger & McDermott (1995) and Stadler, Roediger & McDermott (1999).
LISTS = """
sleep: bed rest awake tired dream wake snooze blanket doze slumber snore nap peace yawn drowsy
needle: thread pin eye sewing sharp point prick thimble haystack thorn hurt injection syringe cloth
chair: table sit legs seat couch desk recliner sofa wood cushion swivel stool sitting rocking bench
doctor: nurse sick lawyer medicine health hospital dentist physician ill patient office surgeon cure
sweet: sour candy sugar bitter good taste tooth nice honey soda chocolate heart cake tart pie
cold: hot snow warm winter ice wet frigid chilly heat weather freeze air shiver arctic frost
mountain: hill valley climb summit top molehill peak plain glacier goat bike climber range steep ski
music: note sound piano sing radio band melody horn concert instrument symphony jazz orchestra art
bread: butter food eat sandwich rye jam milk flour jelly dough crust slice wine loaf toast
king: queen england crown prince george dictator palace throne chess rule subjects monarch royal
window: door glass pane shade ledge sill house open curtain frame view breeze sash screen shutter
thief: steal robber crook burglar money cop bad rob jail gun villain crime bank bandit criminal
"""
LISTED = 10


class Question(NamedTuple):
    """A word, its true sense, and the context words, as indices."""

    word: int
    sense: int
    context: tuple[int, ...]


class Fits(NamedTuple):
    """Models of the same associations."""

    atlas: mm.Atlas
    spreading: SpreadingActivation
    topics: TopicModel


def without(norms: mm.Associations, pairs: Iterable[tuple[int, int]]) -> mm.Associations:
    """Return the norms without some pairs, in both directions."""
    hidden = np.array([*pairs], np.int64).reshape(-1, 2)
    n = norms.n_objects
    keys = np.concatenate([hidden @ [n, 1], hidden @ [1, n]])
    table = norms.strengths.tocoo()
    kept = ~np.isin(table.row.astype(np.int64) * n + table.col, keys)
    ends = table.row[kept], table.col[kept]
    rest = sparse.csr_array((table.data[kept], ends), shape=(n, n))
    return mm.Associations(norms.labels, rest, norms.report)


def fitted(norms: mm.Associations, arguments: argparse.Namespace) -> Fits:
    """Fit all models."""
    seed, n_maps = arguments.seed, arguments.maps
    model = mm.MultipleMapsTSNE(
        n_maps,
        popularity=0,
        degrees_of_freedom=1,
        max_iter=arguments.iterations,
        random_state=seed,
    )
    topics = TopicModel(n_topics=arguments.topics).fit(norms.strengths, random_state=seed)
    return Fits(model.fit(norms).atlas_, SpreadingActivation().fit(norms.strengths), topics)


def questions(
    senses: sparse.csr_array, words: np.ndarray, n_context: int, least: int, seed: int
) -> list[Question]:
    """Draw context words for each sense with enough associates.

    `senses` contains the sense of each pair plus 1.
    """
    rng, asked = np.random.default_rng(seed), []
    for i in words.tolist():
        own = slice(senses.indptr[i], senses.indptr[i + 1])
        of_pair, partners = senses.data[own] - 1, senses.indices[own]
        numbers, counts = np.unique(of_pair, return_counts=True)
        if (counts >= least).sum() < 2:
            continue
        for k in numbers[counts >= least].tolist():
            context = rng.choice(partners[of_pair == k], n_context, replace=False)
            asked.append(Question(i, k, tuple(context.tolist())))
    return asked


def scores(fits: Fits, senses: sparse.csr_array, one: Question, n: int) -> dict[str, float] | None:
    """Return whether each method finds the true sense with the first n context words."""
    atlas, i, context = fits.atlas, one.word, one.context[:n]
    assert atlas.associations is not None
    strengths = atlas.associations[[i]].toarray()[0]
    truth = senses[[i]].toarray()[0] - 1
    listed = atlas.senses(atlas.labels[i], min_share=0, n_neighbors=len(atlas), level="fine")
    members = [np.array([j for j in sense.members if strengths[j] > 0]) for sense in listed]
    groups = [own for own, sense in zip(members, listed, strict=True) if sense.share > 0]
    if not groups:
        return None
    majority = [np.bincount(truth[own], strengths[own]).argmax() for own in groups]
    correct = np.array(majority) == one.sense
    shares = np.array([strengths[own].sum() for own in groups])
    found = atlas.disambiguate(atlas.labels[i], [atlas.labels[c] for c in context])
    chances = {
        part.name: part.probability for sense in found.senses for part in (sense.parts or [sense])
    }
    names = [sense.name for sense in listed if sense.share > 0]
    topics = fits.topics
    by_topic = topics.topics_given_cue_ @ topics.words_given_topic_[:, list(context)]
    activation = fits.spreading._activation(np.array(context)).mean(axis=0)
    known = np.flatnonzero(strengths)
    votes = atlas.choices.votes(np.full(len(known), i), known)
    support = np.zeros((truth.max() + 1, atlas.n_maps))
    np.add.at(support, truth[known], strengths[known, None] * votes)

    def right(amounts: Iterable[float]) -> float:
        values = np.array([*amounts])
        return float(correct[np.where(values.any(), values, shares).argmax()])

    return {
        "context": right(chances[name] for name in names),
        "maps": float(support[:, found.maps[0].map].argmax() == one.sense),
        "largest sense": right(shares),
        "chance": float(correct.mean()),
        "spreading": right(activation[own].sum() for own in groups),
        "LDA": right(
            np.prod(strengths[own] @ by_topic[own] / strengths[own].sum()) * share
            for own, share in zip(groups, shares, strict=True)
        ),
        "best possible": float(correct.any()),
    }


def show_senses(title: str, columns: dict[str, list[dict[str, float] | None]]) -> None:
    """Print the share of correct senses per method, with standard errors."""
    answered = {name: [row for row in rows if row] for name, rows in columns.items()}
    print(f"\n{title}")
    print("method          " + "".join(f"{name:>22s}" for name in answered))
    for method in next(iter(answered.values()))[0]:
        cells = []
        for rows in answered.values():
            values = np.array([row[method] for row in rows])
            cells.append(f"{values.mean():14.3f} ({values.std() / len(values) ** 0.5:.3f})")
        print(f"{method:16s}" + "".join(cells))
    print("questions       " + "".join(f"{len(rows):22d}" for rows in answered.values()))


def disambiguation(arguments: argparse.Namespace, norms: mm.Associations) -> None:
    """Print the tables of the word relations and of the pseudowords."""
    relations, seed = mm.load_word_relations(), arguments.seed
    table = relations.strengths
    assert relations.pair_senses is not None
    senses = sparse.csr_array((relations.pair_senses + 1, table.indices, table.indptr))
    rng = np.random.default_rng(seed)
    words = rng.permutation(relations.n_objects)[: arguments.words]
    asked = questions(senses, words, 1, 3, seed)
    fits = fitted(without(relations, ((q.word, c) for q in asked for c in q.context)), arguments)
    show_senses("word relations", {"1 word": [scores(fits, senses, q, 1) for q in asked]})

    made = mm.pseudowords(norms, arguments.pseudowords, seed)
    table = made.associations.strengths
    halves = sparse.csr_array((made.cue_halves.astype(int) + 1, table.indices, table.indptr))
    asked = questions(halves, made.words, 3, 6, seed)
    merged = without(made.associations, ((q.word, c) for q in asked for c in q.context))
    fits = fitted(merged, arguments)
    show_senses("pseudowords", {
        f"{n} word{'s' * (n > 1)}": [scores(fits, halves, q, n) for q in asked] for n in (1, 3)
    })  # fmt: skip


def critical_lists(
    norms: mm.Associations, n_made: int, seed: int
) -> dict[str, list[tuple[int, list[int]]]]:
    """Return the critical word and the listed words of published and of made lists."""
    index = {label.lower(): i for i, label in enumerate(norms.labels)}
    published = []
    for line in LISTS.split("\n"):
        critical, _, words = line.partition(": ")
        listed = [index[word] for word in words.split() if word in index]
        if critical in index and listed:
            published.append((index[critical], listed))
    both = sparse.csr_array(norms.strengths + norms.strengths.T)
    used = {critical for critical, _ in published}
    many = np.flatnonzero(np.diff(both.indptr) >= 2 * LISTED)
    drawn = [i for i in np.random.default_rng(seed).permutation(many).tolist() if i not in used]
    made = [
        (i, np.argsort(-both[[i]].toarray()[0], kind="stable")[:LISTED].tolist())
        for i in drawn[:n_made]
    ]
    return {"Deese, Roediger & McDermott": published, "made from associates": made}


def ranks(
    lists: list[tuple[int, list[int]]], activate: Callable[[list[int]], np.ndarray]
) -> np.ndarray:
    """Return the rank of each critical word among the words that are not listed."""
    found = []
    for critical, listed in lists:
        values = np.asarray(activate(listed), np.float64).copy()
        values[listed] = -np.inf
        found.append(1 + int((values > values[critical]).sum()))
    return np.array(found)


def gists(fits: Fits, norms: mm.Associations) -> dict[str, Callable[[list[int]], np.ndarray]]:
    """Return the methods that give each word an amount for a list."""
    atlas, topics = fits.atlas, fits.topics
    place = {label: i for i, label in enumerate(atlas.labels)}

    def gist(listed: list[int]) -> np.ndarray:
        found = atlas.gist([atlas.labels[i] for i in listed])
        values = np.zeros(len(atlas))
        values[[place[label] for label in found.labels]] = found.probabilities
        return values

    def spread(listed: list[int]) -> np.ndarray:
        return mm.spread(norms, [norms.labels[i] for i in listed]).total

    return {
        "gist": gist,
        "spreading": spread,
        "spreading, tuned": lambda listed: fits.spreading._activation(np.array(listed)).sum(axis=0),
        "LDA": lambda listed: (
            topics.topics_given_cue_[listed].sum(axis=0) @ topics.words_given_topic_
        ),
        "frequency": lambda _: np.asarray(norms.strengths.sum(axis=0)).ravel(),
    }


def show_gists(arguments: argparse.Namespace, norms: mm.Associations) -> None:
    """Print the ranks of the critical words, with and without their associations to the list."""
    lists = critical_lists(norms, arguments.lists, arguments.seed)
    pairs = [(word, i) for part in lists.values() for word, listed in part for i in listed]
    for title, known in (("as observed", norms), ("hidden", without(norms, pairs))):
        fits = fitted(known, arguments)
        print(f"\ncritical words, {title}")
        print(f"{'method':18s}" + "".join(f"{name:>30s}" for name in lists))
        print(f"{'':18s}" + f"{'first  top 10  median rank':>30s}" * len(lists))
        for method, activate in gists(fits, known).items():
            cells = []
            for part in lists.values():
                found = ranks(part, activate)
                first, ten = (found == 1).mean(), (found <= 10).mean()
                cells.append(f"{first:11.2f}  {ten:6.2f}  {np.median(found):9.1f}")
            print(f"{method:18s}" + "".join(cells), flush=True)
        print(f"{'lists':18s}" + "".join(f"{len(part):30d}" for part in lists.values()))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="Score meanings in context and gist.")
    parser.add_argument("--maps", type=int, default=20, metavar="M")
    parser.add_argument("--topics", type=int, default=150, metavar="Z")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--words", type=int, default=1000, help="words of the relations to ask")
    parser.add_argument("--pseudowords", type=int, default=200, metavar="N")
    parser.add_argument("--lists", type=int, default=150, help="lists made from associates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few maps, topics and iterations")
    arguments = parser.parse_args()
    norms = mm.read_associations(NORMS) if NORMS.exists() else mm.load_word_relations()
    if arguments.quick:
        norms = mm.load_word_relations()
        arguments.maps, arguments.topics, arguments.iterations = 5, 10, 30
        arguments.words, arguments.pseudowords, arguments.lists = 60, 8, 10
    print(f"{arguments.maps} maps; the norms have {norms.n_objects:,} words")
    disambiguation(arguments, norms)
    show_gists(arguments, norms)


if __name__ == "__main__":
    main()
