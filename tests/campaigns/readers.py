"""Readers of our own formats and of text tables, on damaged files: they read, or say what is wrong.

    python -m campaigns.readers [READER ...] [--cases N] [--seed S]
    python -m campaigns.readers [READER ...] --seed S --case NUMBER      one case, in this process

A case is a seed (`campaigns.seeds`), changed (`campaigns.mutations`) by random numbers that the
seed and its number give. It must end in a result that makes sense, which is put to use, or in a
`DataError` or `ParameterError` that names the file. Formats of others are left to their libraries.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from campaigns.mutations import changed
from campaigns.outcome import Finding, Outcome
from campaigns.seeds import READERS, WORDS, resumable, seeds
from campaigns.worker import ProcessLost, Worker

__all__ = ["case", "check", "run"]

# A hang; a case takes a second at most, and the first one compiles.
_LONGEST = 240.0
_LONGEST_MESSAGE = 2_000


class Senseless(Exception):
    """A reader has taken a file, and what it gave makes no sense."""


def _must(true: object, what: str) -> None:
    if not true:
        raise Senseless(what)


# What each reader does with a file, and what is done with what it gave.


def _atlas(path: Path) -> None:
    from manymaps import load_atlas

    _use_atlas(load_atlas(path), path)


def _use_atlas(atlas: Any, path: Path) -> None:
    from manymaps import load_atlas
    from manymaps.viewer.page import write_page

    sums = np.asarray(atlas.proportions, float).sum(axis=0)
    _must(np.isfinite(atlas.maps).all(), "points that are not finite")
    _must((atlas.proportions >= 0).all(), "proportions below 0")
    _must(np.allclose(sums, 1, atol=1e-3), "proportions that do not sum to 1")
    _must(all(len(column) == len(atlas) for column in atlas.metadata.values()), "short metadata")
    repr(atlas), atlas.captions(), atlas.settings, atlas.columns, atlas.log_whole
    for label in (atlas.labels[0], atlas.labels[-1]):
        for kind in (None, *dict.fromkeys(atlas.kinds or ())):
            if kind is None or atlas.kinds[atlas.labels.index(label)] == kind:
                atlas.senses(label, kind=kind)
        shares = [near.similarity for near in atlas.neighbors(label, n_neighbors=3)]
        _must(np.isfinite(shares).all(), "similarities that are not finite")
        atlas.senses_elsewhere(label)
        repr(atlas[label])
    atlas.to_frame()
    atlas.subset(np.arange(len(atlas))[::-1])
    write_page(atlas, path.with_name("page.html"))
    again = path.with_name("again.atlas")
    atlas.save(again)
    _must(load_atlas(again) == atlas, "saved and loaded, it is another")


def _checkpoint(path: Path) -> None:
    estimator, data = resumable(path.name)
    atlas = estimator.fit(data, resume=str(path)).atlas_
    sums = np.asarray(atlas.proportions, float).sum(axis=0)
    _must(np.isfinite(atlas.maps).all(), "points that are not finite")
    _must(np.allclose(sums, 1, atol=1e-3), "proportions that do not sum to 1")
    _must(np.isfinite(estimator.kl_divergence_), "a divergence that is not finite")
    _must(
        all(np.isfinite(column).all() for column in atlas.history.values()),
        "a history of no numbers",
    )
    again = path.with_name("again.atlas")
    atlas.save(again)


def _counts(path: Path) -> None:
    from manymaps import read_counts
    from manymaps.io.kinds import looks_like_counts, looks_like_vectors

    looks_like_counts(path), looks_like_vectors(path)
    counts = read_counts(path)
    data = counts.values.data
    _must(np.isfinite(data).all() and (data >= 0).all(), "counts that are negative or not finite")
    _must(np.isclose(counts.row_totals.sum(), counts.column_totals.sum()), "totals that differ")
    _must(counts.row_labels is None or len(counts.row_labels) == counts.shape[0], "labels")
    _must(all(len(c) == counts.shape[0] for c in counts.row_metadata.values()), "short metadata")
    _must(all(len(c) == counts.shape[1] for c in counts.column_metadata.values()), "short metadata")
    repr(counts)
    again = path.with_name("again.npz")
    counts.save(again)
    same = read_counts(again)
    _must(same.shape == counts.shape and (same.values != counts.values).nnz == 0, "saved, another")


def _vectors(path: Path) -> None:
    from manymaps import read_vectors
    from manymaps.io.kinds import looks_like_vectors

    looks_like_vectors(path)
    vectors = read_vectors(path)
    _must(np.isfinite(vectors.values).all(), "vectors that are not finite")
    _must(len(vectors.labels) == vectors.values.shape[0] > 0, "labels for other vectors")
    _must(len(set(vectors.labels)) == len(vectors.labels), "labels that repeat")
    repr(vectors)
    words = read_vectors(path, words=[vectors.labels[0]])
    _must(words.labels[0] == vectors.labels[0], "words that were not asked for")


def _associations(path: Path) -> None:
    from manymaps import read_associations
    from manymaps.io.kinds import looks_like_counts

    looks_like_counts(path)
    for rows in ("renormalize", "keep"):
        norms = read_associations(path, rows=rows, responses="keep")
        data = norms.strengths.data
        _must(np.isfinite(data).all() and (data >= 0).all(), "strengths negative or not finite")
        _must(len(norms.labels) == norms.strengths.shape[0] > 0, "labels for another table")
        _must(all(norms.labels), "an empty label")
        _must(len(set(norms.labels)) == len(norms.labels), "labels that repeat")
        repr(norms), norms.is_symmetric, norms.missing
    sums = read_associations(path, responses="keep").strengths.sum(axis=1)
    _must(np.all(np.isclose(sums, 1, atol=1e-6) | (sums == 0)), "rows that do not sum to 1")


def _similarities(path: Path) -> None:
    from manymaps.io.similarities import read_similarities

    judged = read_similarities(path)
    values = judged.values
    _must(values.shape == (judged.n_objects,) * 2, "labels for another table")
    _must(np.isfinite(values[~np.isnan(values)]).all(), "similarities that are not finite")
    _must(all(judged.labels), "an empty label")
    _must(len(set(judged.labels)) == len(judged.labels), "labels that repeat")
    _must(judged.n_pairs >= 0, "pairs")


def _texts(path: Path) -> None:
    from manymaps import count_cooccurrences, count_texts
    from manymaps.io.texts import Texts

    source = Texts(path)
    reading = iter(source)
    documents = list(reading)
    _must(all(isinstance(each.text, str) for each in documents), "texts that are no text")
    repr(reading.report)
    with _naming(path):
        counts = count_texts(source)
    _must(counts.shape[0] == len(documents), "documents that are lost")
    _must((counts.values.data > 0).all(), "counts of 0")
    near = count_cooccurrences(source, window=2)
    _must((near.values != near.values.T).nnz == 0, "a table that is not symmetric")
    counts.save(path.with_name("again.npz"))


def _metadata(path: Path) -> None:
    from manymaps import Atlas
    from manymaps.io.metadata import read_columns
    from manymaps.model import T_SNE

    table = read_columns(path)
    _must(len({len(column) for column in table.values()}) <= 1, "columns of several lengths")
    n = len(WORDS)
    atlas = Atlas(WORDS, np.zeros((1, n, 2)), np.ones((1, n)), T_SNE)
    with _naming(path):
        joined = atlas.add_metadata(table)
    _use_atlas(joined, path)


def _judgements(path: Path) -> None:
    from manymaps import read_judgements

    found = read_judgements(path, judge="judge")
    _must(not np.isinf(found.average).any(), "judgements that are not finite")
    _must(len(set(found.labels)) == found.n_objects, "labels that repeat")
    _must(all(found.labels), "an empty label")
    _must(found.average.shape == (found.n_objects,) * 2, "an average of others")


def _labels(path: Path) -> None:
    from manymaps import read_associations
    from manymaps.io.matrices import read_labels

    labels = read_labels(path)
    _must(labels and all(isinstance(label, str) and label for label in labels), "an empty label")
    table = path.with_name("table.npy")
    np.save(table, np.ones((len(WORDS), len(WORDS))))
    with _naming(path):
        norms = read_associations(table, labels=path)
    _must(len(set(norms.labels)) == len(norms.labels), "labels that repeat")


class Uniform:
    """A predictor without any knowledge, to fill the file of a sweep."""

    def __init__(self, n_maps: int = 1):
        self.n_maps = n_maps

    def fit(self, train: Any, random_state: int = 0) -> Uniform:
        """Note how many objects there are."""
        self.n = train.shape[0]
        return self

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """All other objects alike."""
        q = np.full((len(rows), self.n), 1 / (self.n - 1))
        q[np.arange(len(rows)), rows] = 0
        return q


def swept(path: Path) -> Any:
    """A sweep whose points are kept in a file."""
    from manymaps import sweep

    ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    return sweep(ring, {"n_maps": [1, 2, 3]}, predictor=Uniform, resume=path)


def _sweep(path: Path) -> None:
    found = swept(path)
    _must(len(found.results) == 3, "points that are lost")
    for record in found.records():
        numbers = [value for value in record.values() if isinstance(value, float)]
        _must(not np.isnan(numbers).any(), "measures that are no numbers")
    found.to_frame(), found.best(), found.summary()
    _must(len(swept(path).results) == 3, "a file that cannot be continued")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add the name of the file to an error that arises after reading."""
    from manymaps import DataError, ParameterError

    try:
        yield
    except (DataError, ParameterError) as error:
        raise DataError(f"{path}: {error}") from error


def _ratings(path: Path) -> None:
    from manymaps import read_ratings
    from manymaps.io.ratings import looks_like_ratings

    looks_like_ratings(path)
    found = read_ratings(path)
    _must(np.isfinite(found.values).all(), "ratings that are not finite")
    _must(len(found.pairs) == len(found) > 0, "pairs and ratings of different numbers")
    _must(all(a and b and a != b for a, b in found.pairs), "a pair of less than two words")


READ: dict[str, Callable[[Path], None]] = {
    "atlas": _atlas, "checkpoints": _checkpoint, "counts": _counts, "sweep": _sweep,
    "vectors": _vectors, "associations": _associations, "similarities": _similarities,
    "texts": _texts, "metadata": _metadata, "judgements": _judgements, "ratings": _ratings,
    "labels": _labels,
}  # fmt: skip


def check(reader: str, path: Path) -> str:
    """Read a file and use the result: "read", "refused", or what is wrong."""
    from manymaps import DataError, DataWarning, ParameterError
    from manymaps.optimizers.descent import DivergedError

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            READ[reader](path)
            ending = "read"
        except DivergedError:
            ending = "refused"
        except (DataError, ParameterError) as error:
            if path.name not in str(error):
                return f"a message without the file: {error!s:.200}"
            if len(str(error)) > _LONGEST_MESSAGE + len(str(path)):
                return "an endless message"
            ending = "refused"
        except Exception as error:
            ours = [
                f for f in traceback.extract_tb(error.__traceback__) if "manymaps" in f.filename
            ]
            place = f" in {Path(ours[-1].filename).name}:{ours[-1].name}" if ours else ""
            return f"{type(error).__name__}: {error!s:.200}{place}"
    loud = [each for each in heard if not issubclass(each.category, DataWarning)]
    return f"{loud[0].category.__name__}: {loud[0].message!s:.200}" if loud else ending


def planned(seed: int, number: int, readers: Sequence[str]) -> tuple[str, str, bytes, str]:
    """The reader of a case, the name and the content of its file, and what was changed."""
    reader = readers[number % len(readers)]
    rng = np.random.default_rng([seed, zlib.crc32(reader.encode()), number])
    corpus = seeds(reader)
    chosen = corpus[int(rng.integers(len(corpus)))]
    data, changes = changed(chosen.data, rng)
    return reader, chosen.name, data, changes


def case(seed: int, number: int, readers: Sequence[str] = tuple(READERS)) -> tuple[str, str]:
    """How a case ends."""
    reader, name, data, _ = planned(seed, number, readers)
    with tempfile.TemporaryDirectory(prefix="campaign") as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return reader, check(reader, path)


def endings(
    seed: int, until: float, last: int, readers: Sequence[str] = tuple(READERS)
) -> Iterator[tuple[str, str, str]]:
    """Reader, ending and name of each case, in a process that may die of one."""
    worker = Worker(case, _LONGEST)
    for number in range(last):
        try:
            reader, ending = worker(seed, number, readers)
        except ProcessLost as lost:
            reader, ending = readers[number % len(readers)], str(lost)
        yield reader, ending, f"{seed}:{number}"
        if time.monotonic() > until:
            break
    worker.close()


def run(seconds: float, seed: int, last: int = 10**9, readers: Sequence[str] = ()) -> Outcome:
    """Cases of all readers in turn, for so long."""
    outcome = Outcome("readers")
    until = time.monotonic() + seconds
    for reader, ending, name in endings(seed, until, last, readers or tuple(READERS)):
        outcome.cases[reader] += 1
        if ending not in ("read", "refused"):
            outcome.findings.append(Finding(reader, ending, name))
    return outcome


def main() -> None:
    """Run so many cases of each reader, or repeat one."""
    parser = argparse.ArgumentParser(prog="campaigns.readers", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(READERS))
    parser.add_argument("--cases", type=int, default=500, help="of each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="repeat the case of this number")
    asked = parser.parse_args()
    names = tuple(asked.readers or READERS)
    if asked.case is None:
        outcome = run(float("inf"), asked.seed, asked.cases * len(names), names)
        for finding in outcome.findings:
            print(f"{finding.group}: {finding.what} [{finding.case}]")
        print(outcome.summary())
        return
    reader, name, data, changes = planned(asked.seed, asked.case, names)
    path = Path(tempfile.mkdtemp(prefix="case"), name)
    path.write_bytes(data)
    print(f"{path}\n{reader}: {changes}", flush=True)
    READ[reader](path)


if __name__ == "__main__":
    # By its own name, because the file of a sweep contains the name of a predictor's module.
    from campaigns import readers

    readers.main()
