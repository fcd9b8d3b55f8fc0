"""Build the word relations that the package ships, from the WordNet 3.0 database.

    python scripts/build_word_relations.py [--wordnet DIR] [-o FILE]

Vocabulary. The `N_WORDS` most common single words among the nouns and verbs of WordNet, by

    commonness(w) = sqrt((tags(w) + 1) (mentions(w) + 1))

where tags(w) is the number of times that a sense of w was tagged in the concordances
(`cntlist.rev`). The number mentions(w) counts w in the definitions and examples of WordNet, times
the share of its tags that are tags of a noun or verb. The tags come from news and essays and rank
"orthography" above "rope"; the definitions mention everyday objects. A word that is noun and verb
is one object. Omitted are senses spelled with a capital (Crane, Bush and Spring would relate
persons and places to common words), words that are mostly adjectives or adverbs (in, down, first)
and abbreviations without a vowel.

Pairs. Every sense s of a word has the weight p(s), proportional to (tags(s) + 1/2)^(1/2), so that
rare senses still count. It evokes the words of the synsets to which it is related:

    recall(s, t)   = sum over relations  weight(relation) * share(synset | t)
    strength(s, t) = p(s) * recall(s, t) / (sum over u  recall(s, u))^(1/2)

with share(synset | t) the part of the word t that this synset is, by the same p. A relation is a
path in WordNet: synonym, antonym, hypernyms, hyponyms, sister terms (what else falls under a
hypernym of at most `MAX_FAMILY` words), parts, members and substances and their wholes, derived
forms, entailments, causes, topics, and the words of the sense's own definition (their senses are
not known; a word weighs the less the more often glosses use it, and a verb less than a noun).
Longer paths and larger families weigh less.

Senses. WordNet's senses are finer than any map. Senses of one word that evoke similar words are
merged and named after the most common of them, as in "bank.n.1". A row contains the `MAX_SENSES`
most common senses with at least `MIN_SENSE` of its strength, and at most `MAX_PAIRS` pairs,
including some of every sense. A pair of several senses is stored once, with their summed strength
and the sense that contributes most.

The file is an uncompressed `.npz` without pickles or dates. The same database gives the same
arrays.

    labels     uint8    the words, alphabetically, as UTF-8 joined by newlines
    indptr, indices     the pairs in compressed sparse rows
    weights    uint8    strengths, 255 for the strongest pair of each row
    senses     uint8    for each pair the sense of the cue that it comes from, 0 the commonest
    sense_counts uint8  senses per word
    sense_codes  uint8  for each sense of each word its number in WordNet, + 100 for a verb
"""

from __future__ import annotations

import argparse
import io
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

N_WORDS = 3200
MAX_PAIRS = 24
MAX_SENSES = 6
PAIRS_PER_SENSE = 3
MIN_SENSE = 0.04
MIN_PAIR = 0.004
MIN_ROW = 8
MERGE_OVERLAP = 0.3

MAX_FAMILY = 30
MAX_SUBTREE = 400
MAX_DEPTH = 3
MAX_STEPS = 4
MIN_NOUN_OR_VERB = 1 / 8
RARE = 100

SYNONYM, HYPERNYM, HYPONYM, SISTER, DEFINITION = 1.0, 0.6, 0.5, 0.45, 0.25
DECAY = 0.6
LINKS = {
    "!": 1.0,  # antonym
    "#p": 0.6,  # part of
    "%p": 0.6,  # has part
    "#m": 0.5,  # member of
    "%m": 0.5,  # has member
    "#s": 0.5,  # substance of
    "%s": 0.5,  # has substance
    "+": 0.5,  # derived form
    "*": 0.5,  # entails
    ">": 0.5,  # causes
    "$": 0.5,  # verb group
    ";c": 0.4,  # belongs to the topic
    "-c": 0.25,  # topic of
}

PART_OF_SPEECH = {"n": "noun", "v": "verb"}
SENSE_TYPE = {"n": 1, "v": 2}
VERB_CODE = 100
TOKEN = re.compile(r"\b[a-z]+\b")

DEFAULT_WORDNET = Path(os.environ.get("WORDNET_HOME", "/usr/share/wordnet"))
DEFAULT_OUTPUT = Path(__file__).parents[1] / "src" / "manymaps" / "data" / "word_relations.npz"

Key = tuple[str, int]


@dataclass(frozen=True)
class Synset:
    """A line of a data file: words with their capitals, sense keys, pointers, gloss.

    A pointer is (symbol, target, source word, target word); the words count from 1, and 0 means
    that the pointer holds for the synsets as wholes.
    """

    words: list[str]
    sense_keys: list[str]
    pointers: list[tuple[str, Key, int, int]]
    gloss: str


@dataclass(frozen=True)
class Lexicon:
    """The nouns and verbs of WordNet.

    `senses` holds for each word its (name, synset) in the order of the index, `tags` how often each
    was tagged, `other_tags` how often the word was tagged as adjective or adverb.
    """

    synsets: dict[Key, Synset] = field(default_factory=dict)
    senses: dict[str, list[tuple[str, Key]]] = field(default_factory=dict)
    tags: dict[str, dict[Key, int]] = field(default_factory=dict)
    other_tags: dict[str, int] = field(default_factory=dict)


def read_lexicon(folder: Path) -> Lexicon:
    """Read data, index and counts of nouns and verbs (wndb(5), cntlist(5))."""
    lexicon = Lexicon()
    counts = {}
    for line in read_lines(folder / "cntlist.rev"):
        sense_key, _, count = line.split()
        counts[sense_key] = int(count)
        word, _, kind = sense_key.partition("%")
        if int(kind[0]) not in SENSE_TYPE.values():
            lexicon.other_tags[word] = lexicon.other_tags.get(word, 0) + int(count)
    for pos, name in PART_OF_SPEECH.items():
        for line in read_lines(folder / f"data.{name}"):
            offset, synset = parse_synset(line, pos)
            lexicon.synsets[pos, offset] = synset
        for line in read_lines(folder / f"index.{name}"):
            word, _, n_senses, *rest = line.split()
            if re.fullmatch("[a-z]{2,}", word):
                keys = [(pos, int(offset)) for offset in rest[-int(n_senses) :]]
                add_senses(lexicon, word, keys, counts)
    return lexicon


def add_senses(lexicon: Lexicon, word: str, keys: list[Key], counts: dict[str, int]) -> None:
    """Add the senses that the index lists for a word, without those spelled with a capital."""
    for number, key in enumerate(keys, start=1):
        synset = lexicon.synsets[key]
        if word in synset.words:
            sense_key = synset.sense_keys[synset.words.index(word)]
            lexicon.senses.setdefault(word, []).append((f"{word}.{key[0]}.{number}", key))
            lexicon.tags.setdefault(word, {})[key] = counts.get(sense_key, 0)


def read_lines(path: Path) -> Iterator[str]:
    """Read the lines of a database file without its licence, which is indented by two spaces."""
    with path.open(encoding="ascii") as file:
        for line in file:
            if not line.startswith("  "):
                yield line


def parse_synset(line: str, pos: str) -> tuple[int, Synset]:
    """Parse offset and content of one line of a data file."""
    facts, _, gloss = line.partition(" | ")
    fields = facts.split()
    pointers_at = 4 + 2 * int(fields[3], 16)
    words = fields[4:pointers_at:2]
    keys = [
        f"{word.lower()}%{SENSE_TYPE[pos]}:{fields[1]}:{int(lex_id, 16):02d}::"
        for word, lex_id in zip(words, fields[5:pointers_at:2], strict=True)
    ]
    pointers = []
    for i in range(pointers_at + 1, pointers_at + 1 + 4 * int(fields[pointers_at]), 4):
        symbol, offset, target_pos, ends = fields[i : i + 4]
        if target_pos in PART_OF_SPEECH:
            target = target_pos, int(offset)
            pointers.append((symbol, target, int(ends[:2], 16), int(ends[2:], 16)))
    return int(fields[0]), Synset(words, keys, pointers, gloss)


class Lemmatizer:
    """A map from a token of a gloss to the most common noun or verb that it can be a form of."""

    ENDINGS = (
        ("", ""), ("s", ""), ("ies", "y"), ("es", ""),
        ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    )  # fmt: skip

    def __init__(self, folder: Path, lexicon: Lexicon):
        self.tags = {word: sum(tags.values()) for word, tags in lexicon.tags.items()}
        self._irregular: dict[str, list[str]] = defaultdict(list)
        for name in PART_OF_SPEECH.values():
            for line in read_lines(folder / f"{name}.exc"):
                form, *lemmas = line.split()
                self._irregular[form] += lemmas
        self._found: dict[str, str | None] = {}

    def __call__(self, token: str) -> str | None:
        if token not in self._found:
            candidates = list(self._irregular.get(token, ()))
            for ending, replacement in self.ENDINGS:
                stem = token.removesuffix(ending)
                if token.endswith(ending) and (len(stem) > 2 or stem in ("be", "do", "go")):
                    candidates.append(stem + replacement)
            tagged = [word for word in candidates if self.tags.get(word)]
            best = max(tagged, key=lambda word: (self.tags[word], word), default=None)
            self._found[token] = best
        return self._found[token]


def count_mentions(folder: Path, lemma_of: Lemmatizer) -> dict[str, int]:
    """Count how often each word is in the glosses of WordNet, including inflected forms."""
    mentions: dict[str, int] = defaultdict(int)
    for name in ("noun", "verb", "adj", "adv"):
        for line in read_lines(folder / f"data.{name}"):
            for token in TOKEN.findall(line.partition(" | ")[2]):
                lemma = lemma_of(token)
                if lemma is not None:
                    mentions[lemma] += 1
    return mentions


def choose_words(lexicon: Lexicon, mentions: dict[str, int], n_words: int) -> list[str]:
    """Choose the most common words, in alphabetical order."""
    commonness = {}
    for word, tags in lexicon.tags.items():
        tagged = sum(tags.values())
        share = tagged / max(1, tagged + lexicon.other_tags.get(word, 0))
        if tagged and share >= MIN_NOUN_OR_VERB and set(word) & set("aeiouy"):
            commonness[word] = (tagged + 1) * (share * mentions.get(word, 0) + 1)
    ranked = sorted(commonness, key=lambda word: (-commonness[word], word))
    return sorted(ranked[:n_words])


class Relations:
    """The words of a vocabulary that each sense evokes, and their strengths."""

    def __init__(self, lexicon: Lexicon, words: Sequence[str]):
        self.synsets = lexicon.synsets
        self.senses = {word: lexicon.senses[word] for word in words}
        self.weights: dict[str, list[float]] = {}
        self.shares: dict[Key, dict[str, float]] = defaultdict(dict)
        self.noun_shares: dict[str, float] = {}
        for word in words:
            raw = [(lexicon.tags[word][key] + 0.5) ** 0.5 for _, key in self.senses[word]]
            self.weights[word] = [weight / sum(raw) for weight in raw]
            self.noun_shares[word] = 0.0
            for (_, key), weight in zip(self.senses[word], self.weights[word], strict=True):
                self.shares[key][word] = weight
                self.noun_shares[word] += weight * (key[0] == "n")
        self._below: dict[Key, dict[Key, int]] = {}
        self._sizes: dict[Key, int] = {}

    def recall(self, key: Key, word: str) -> dict[str, float]:
        """Return the words that a sense of a word evokes by the links of WordNet."""
        strengths: dict[str, float] = defaultdict(float)
        for target, weight in self._linked(key, word):
            for other, share in self.shares.get(target, {}).items():
                strengths[other] += weight * share
        for other, weight in self._linked_words(key, word):
            strengths[other] += weight
        strengths.pop(word, None)
        return strengths

    def _linked(self, key: Key, word: str) -> Iterator[tuple[Key, float]]:
        yield key, SYNONYM
        for symbol, targets in self._pointers(key, word).items():
            whole = [target for target, at in targets if at == 0]
            for target in whole:
                yield target, LINKS[symbol] / crowding(len(whole), 4)
        for target, depth in self._under(key).items():
            if 0 < depth <= MAX_DEPTH:
                yield target, HYPONYM * DECAY ** (depth - 1) / crowding(self._size(key), 6)
        yield from self._above(key)

    def _linked_words(self, key: Key, word: str) -> Iterator[tuple[str, float]]:
        for symbol, targets in self._pointers(key, word).items():
            for target, at in targets:
                other = self.synsets[target].words[at - 1]
                if at > 0 and other in self.shares.get(target, {}):
                    share = self.shares[target][other]
                    yield other, LINKS[symbol] * share / crowding(len(targets), 4)

    def _pointers(self, key: Key, word: str) -> dict[str, list[tuple[Key, int]]]:
        """Return targets by symbol, for the pointers that apply to this word of the synset."""
        synset = self.synsets[key]
        found: dict[str, list[tuple[Key, int]]] = defaultdict(list)
        for symbol, target, source_at, target_at in synset.pointers:
            if symbol in LINKS and (source_at == 0 or synset.words[source_at - 1] == word):
                found[symbol].append((target, target_at))
        return found

    def _above(self, key: Key) -> Iterator[tuple[Key, float]]:
        seen, front = {key}, [key]
        for steps in range(1, MAX_STEPS + 1):
            front = sorted({above for s in front for above in self._targets(s, "@")} - seen)
            seen.update(front)
            for ancestor in front:
                size = self._size(ancestor)
                if size < MAX_SUBTREE or steps == 1:
                    yield ancestor, HYPERNYM * DECAY ** (steps - 1) / crowding(size, 20)
                if size <= MAX_FAMILY:
                    for sister, depth in self._under(ancestor).items():
                        if sister not in seen and depth <= MAX_DEPTH:
                            decay = DECAY ** ((steps + depth - 2) / 2)
                            yield sister, SISTER * decay / crowding(size, 6)

    def _targets(self, key: Key, symbol: str) -> list[Key]:
        return [target for kind, target, _, _ in self.synsets[key].pointers if kind == symbol]

    def _under(self, key: Key) -> dict[Key, int]:
        """Return the synsets with words at and below a synset, by depth, up to a maximum."""
        if key not in self._below:
            depths, front, depth, words = {key: 0}, [key], 0, set(self.shares.get(key, {}))
            while front and len(words) < MAX_SUBTREE:
                depth += 1
                front = [t for s in front for t in self._targets(s, "~") if t not in depths]
                depths.update((t, depth) for t in front)
                words.update(word for t in front for word in self.shares.get(t, {}))
            self._below[key] = {s: d for s, d in depths.items() if s in self.shares}
            self._sizes[key] = min(len(words), MAX_SUBTREE)
        return self._below[key]

    def _size(self, key: Key) -> int:
        self._under(key)
        return self._sizes[key]


def crowding(count: int, usual: int) -> float:
    """Compute how much less each of `count` relations of one kind weighs than each of a few."""
    return max(1.0, count / usual) ** 0.5


class Definitions:
    """The words of a vocabulary in the definition of a sense."""

    def __init__(self, relations: Relations, lemma_of: Lemmatizer, mentions: dict[str, int]):
        self.relations = relations
        self.lemma_of = lemma_of
        self.mentions = mentions

    def recall(self, key: Key) -> dict[str, float]:
        """Return words with their strengths; examples, which are quoted, are omitted."""
        definition = self.relations.synsets[key].gloss.partition('"')[0]
        lemmas = {self.lemma_of(token) for token in TOKEN.findall(definition)}
        strengths = {}
        for lemma in sorted(lemma for lemma in lemmas if lemma in self.relations.senses):
            rarity = min(1.0, RARE / self.mentions[lemma]) ** 0.5
            strengths[lemma] = DEFINITION * rarity * (1 + self.relations.noun_shares[lemma]) / 2
        return strengths


@dataclass(frozen=True)
class Row:
    """The pairs of one word, other word -> (strength, sense), and the names of its senses."""

    pairs: dict[str, tuple[float, int]]
    senses: list[str]


@dataclass
class MergedSense:
    """One or more senses of a word that evoke similar words."""

    name: str
    weight: float
    strengths: dict[str, float]

    @property
    def total(self) -> float:
        return sum(self.strengths.values())

    def overlap(self, strengths: dict[str, float]) -> float:
        """Compute the overlap of two distributions over words, between 0 and 1."""
        mine, other = self.total, sum(strengths.values())
        common = (word for word in strengths if word in self.strengths)
        return sum(min(strengths[w] / other, self.strengths[w] / mine) for w in common)


def merge_senses(relations: Relations, definitions: Definitions, word: str) -> list[MergedSense]:
    """Merge the senses of a word, the most common first."""
    merged: list[MergedSense] = []
    weights = relations.weights[word]
    for s in sorted(range(len(weights)), key=lambda s: (-weights[s], s)):
        name, key = relations.senses[word][s]
        recalled = relations.recall(key, word)
        for other, strength in definitions.recall(key).items():
            if other != word:
                recalled[other] = recalled.get(other, 0.0) + strength
        if not recalled:
            continue
        scale = weights[s] / sum(recalled.values()) ** 0.5
        strengths = {other: scale * strength for other, strength in recalled.items()}
        alike = (sense for sense in merged if sense.overlap(strengths) >= MERGE_OVERLAP)
        sense = next(alike, None)
        if sense is None:
            merged.append(MergedSense(name, weights[s], strengths))
        else:
            sense.weight += weights[s]
            for other, strength in strengths.items():
                sense.strengths[other] = sense.strengths.get(other, 0.0) + strength
    return sorted(merged, key=lambda sense: -sense.weight)


def cap_row(merged: Sequence[MergedSense]) -> Row:
    """Select the strongest pairs, but some of every sense with enough strength."""
    everything = sum(sense.total for sense in merged)
    main = [sense for sense in merged if sense.total >= MIN_SENSE * everything][:MAX_SENSES]
    summed: dict[str, float] = defaultdict(float)
    origin: dict[str, int] = {}
    for i, sense in enumerate(main):
        for other, strength in sense.strengths.items():
            summed[other] += strength
            rival = main[origin.setdefault(other, i)].strengths[other]
            if strength > rival:
                origin[other] = i
    ranked = sorted(summed, key=lambda other: (-summed[other], other))
    kept: list[str] = []
    for i in range(len(main)):
        kept += [other for other in ranked if origin[other] == i][:PAIRS_PER_SENSE]
    enough = MIN_PAIR * sum(summed.values())
    for other in ranked:
        if other not in kept and len(kept) < MAX_PAIRS:
            if summed[other] < enough and len(kept) >= MIN_ROW:
                break
            kept.append(other)
    used = sorted({origin[other] for other in kept})
    pairs = {other: (summed[other], used.index(origin[other])) for other in sorted(kept)}
    return Row(pairs, [main[i].name for i in used])


def build_rows(folder: Path) -> dict[str, Row]:
    """Build the rows of the vocabulary; a word without any pair in either direction is omitted."""
    lexicon = read_lexicon(folder)
    lemma_of = Lemmatizer(folder, lexicon)
    mentions = count_mentions(folder, lemma_of)
    words = choose_words(lexicon, mentions, N_WORDS)
    relations = Relations(lexicon, words)
    definitions = Definitions(relations, lemma_of, mentions)
    rows = {word: cap_row(merge_senses(relations, definitions, word)) for word in words}
    recalled = {other for row in rows.values() for other in row.pairs}
    return {word: row for word, row in rows.items() if row.pairs or word in recalled}


def pack(rows: dict[str, Row]) -> dict[str, np.ndarray]:
    """Pack the rows as the arrays that the module docstring lists."""
    position = {word: i for i, word in enumerate(rows)}
    weights: list[int] = []
    for row in rows.values():
        peak = max((strength for strength, _ in row.pairs.values()), default=1.0)
        weights += [max(1, round(255 * strength / peak)) for strength, _ in row.pairs.values()]
    codes = []
    for name in (name for row in rows.values() for name in row.senses):
        _, pos, number = name.split(".")
        codes.append(int(number) + VERB_CODE * (pos == "v"))
    lengths = [len(row.pairs) for row in rows.values()]
    partners = [position[other] for row in rows.values() for other in row.pairs]
    senses = [sense for row in rows.values() for _, sense in row.pairs.values()]
    return {
        "labels": np.frombuffer("\n".join(rows).encode(), dtype=np.uint8),
        "indptr": np.concatenate([[0], np.cumsum(lengths)]).astype("<i4"),
        "indices": np.array(partners, dtype="<u2"),
        "weights": np.array(weights, dtype=np.uint8),
        "senses": np.array(senses, dtype=np.uint8),
        "sense_counts": np.array([len(row.senses) for row in rows.values()], dtype=np.uint8),
        "sense_codes": np.array(codes, dtype=np.uint8),
    }


def write_archive(arrays: dict[str, np.ndarray]) -> bytes:
    """Write the content of the file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def main() -> None:
    """Write the file and print a summary."""
    parser = argparse.ArgumentParser(description="Build the word relations from WordNet 3.0.")
    parser.add_argument("--wordnet", type=Path, default=DEFAULT_WORDNET, metavar="DIR")
    parser.add_argument("-o", "--output", type=Path, default=DEFAULT_OUTPUT, metavar="FILE")
    arguments = parser.parse_args()
    if not (arguments.wordnet / "data.noun").is_file():
        parser.error(
            f"{arguments.wordnet} holds no data.noun; install Debian's wordnet-base, "
            "or give the folder of the WordNet 3.0 database with --wordnet"
        )
    content = write_archive(pack(build_rows(arguments.wordnet)))
    arguments.output.write_bytes(content)
    print(f"{arguments.output}: {len(content)} bytes")


if __name__ == "__main__":
    main()
