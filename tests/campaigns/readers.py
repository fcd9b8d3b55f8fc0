"""Every reader on files that are damaged, foreign or hostile: it reads, or says what is wrong.

    python -m campaigns.readers [READER ...] [--cases N] [--seed S]     a table, and what was found
    python -m campaigns.readers --by-hand                               `campaigns.families` alone
    python -m campaigns.readers --case SEED:READER:NUMBER               one case, in this process

A case is a seed (`campaigns.seeds`), changed (`campaigns.mutations`) by random numbers that its
seed, reader and number give, and read in a worker (`campaigns.isolation`). It must end in a result
that makes sense, which is put to use, or in a `DataError` or `ParameterError` that names the file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from campaigns.isolation import Ending, apart, isolated
from campaigns.mutations import changed
from campaigns.outcome import Finding, Outcome
from campaigns.seeds import READERS, WORDS, Seed, keep_seeds, resumable, seeds

__all__ = ["check", "run"]


# What is loaded once, and found by every process that is forked from it.
LOADED = ("anndata", "click", "h5py", "pandas", "pyarrow.parquet", "manymaps.analysis.stability",
          "manymaps.cli.view", "manymaps.cooccurrence.code", "manymaps.maps.multiple_maps",
          "manymaps.maps.sne", "manymaps.viewer.page", "manymaps.io.counting", "manymaps.io.counts",
          "manymaps.io.judgements", "manymaps.io.kinds", "manymaps.io.ratings",
          "manymaps.io.similarities",
          "manymaps.io.texts", "manymaps.io.triplets", "manymaps.io.vectors",
          "manymaps.prediction.sweeps")  # fmt: skip


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
    if isinstance(vectors.values, np.memmap):
        # What is mapped is looked at by whoever computes with it.
        vectors.check_finite()
    values = vectors.values.data if sparse.issparse(vectors.values) else vectors.values
    _must(np.isfinite(np.asarray(values, float)).all(), "vectors that are not finite")
    _must(len(vectors.labels) == vectors.values.shape[0] > 0, "labels for other vectors")
    _must(len(set(vectors.labels)) == len(vectors.labels), "labels that repeat")
    repr(vectors)
    if path.suffix not in (".npy", ".h5ad"):
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

    source = Texts(path.parent if path.name.startswith("folder") else path)
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

    each = path.name.startswith("each-")
    beside = sorted(other for other in path.parent.iterdir() if other != path)
    found = read_judgements([path, *beside]) if each else read_judgements(path, judge="judge")
    known = found.values[~np.isnan(found.values)] if hasattr(found, "values") else found.average
    _must(not np.isinf(known).any(), "judgements that are not finite")
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
    try:
        norms = read_associations(table, labels=path)
    except ValueError as error:
        with _naming(table, path):
            raise error from None
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


def _journal(path: Path) -> None:
    found = swept(path)
    _must(len(found.results) == 3, "points that are lost")
    for record in found.records():
        numbers = [value for value in record.values() if isinstance(value, float)]
        _must(not np.isnan(numbers).any(), "measures that are no numbers")
    found.to_frame(), found.best(), found.summary()
    _must(len(swept(path).results) == 3, "a file that cannot be gone on with")


@cache
def _words_atlas(folder: str) -> Path:
    from manymaps import Atlas
    from manymaps.model import T_SNE

    n = len(WORDS)
    path = Path(folder, "words.atlas")
    Atlas(WORDS, np.zeros((1, n, 2)), np.ones((1, n)), T_SNE).save(path)
    return path


def _features(path: Path) -> None:
    from manymaps.cli.view import view

    atlas = path.with_name("words.atlas")
    shutil.copyfile(_words_atlas(tempfile.mkdtemp()), atlas)
    page = path.with_name("page.html")
    view.main(
        [str(atlas), "-o", str(page), "--features", str(path), "--quiet"], standalone_mode=False
    )
    text = page.read_text(encoding="utf-8")
    _must("</html>" in text, "a page that is cut")


class _naming:
    """What is refused later than on reading is known to be of this file; its name is added."""

    def __init__(self, *paths: Path):
        self.paths = paths

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        from manymaps import DataError, ParameterError

        if isinstance(error, DataError | ParameterError):
            error.args = (f"{' and '.join(map(str, self.paths))}: {error}",)
            if isinstance(error, ParameterError):
                error.fault = error.args[0]


def _ratings(path: Path) -> None:
    from manymaps import read_ratings
    from manymaps.io.ratings import looks_like_ratings

    looks_like_ratings(path)
    found = read_ratings(path)
    _must(np.isfinite(found.values).all(), "ratings that are not finite")
    _must(len(found.pairs) == len(found) > 0, "pairs and ratings of different numbers")
    _must(all(a and b and a != b for a, b in found.pairs), "a pair of less than two words")


def _triplets(path: Path) -> None:
    from manymaps import read_triplets
    from manymaps.io.triplets import looks_like_triplets

    looks_like_triplets(path)
    found = read_triplets(path)
    _must(found.values.min() >= 0 and found.values.max() < found.n_objects, "numbers of nobody")
    _must(all(len(set(row)) == 3 for row in found.values.tolist()), "an object twice")
    if found.n_objects < 100:
        chosen, asked = (table.toarray() for table in found.counts())
        _must((chosen <= asked).all(), "pairs chosen more often than asked")


READ: dict[str, Callable[[Path], None]] = {
    "atlas": _atlas,
    "checkpoints": _checkpoint,
    "counts": _counts,
    "vectors": _vectors,
    "associations": _associations,
    "similarities": _similarities,
    "texts": _texts,
    "metadata": _metadata,
    "judgements": _judgements,
    "ratings": _ratings,
    "triplets": _triplets,
    "labels": _labels,
    "journal": _journal,
    "features": _features,
}


def check(reader: str, path: Path, number: int = 0) -> Ending:
    """Read a file and put what it gave to use: "read", "refused", or what is wrong."""
    from click import ClickException

    from manymaps import DataError, DataWarning, ParameterError
    from manymaps.optimizers.descent import DivergedError

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            READ[reader](path)
            ending = Ending(number, "read")
        except (DataError, ParameterError, ClickException) as error:
            told = str(error)
            named = path.name in told or path.parent.name in told
            long = len(told) > 2_000 + len(str(path))
            how = (
                "an endless message"
                if long
                else "refused"
                if named
                else "a message without the file"
            )
            ending = Ending(number, how, "" if named and not long else _place(error), told[:300])
        except DivergedError as error:
            ending = Ending(number, "refused", "", str(error))
        except Exception as error:
            ending = Ending(number, type(error).__name__, _place(error), str(error)[:300])
    loud = [each for each in heard if not issubclass(each.category, DataWarning)]
    if loud and not ending.is_finding:
        first = loud[0]
        where = Path(first.filename)
        place = f"{where.parent.name}/{where.name}"
        return Ending(number, first.category.__name__, place, str(first.message)[:300])
    return ending


def _place(error: BaseException) -> str:
    """The innermost of our functions in a traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/manymaps/" in f.filename]
    if not frames:
        return ""
    return f"{frames[-1].filename.rpartition('/manymaps/')[2]}:{frames[-1].name}"


def planned(plan: str, number: int) -> tuple[str, str, Callable[[], tuple[Seed, str]]]:
    """The reader of a case of a plan, the case's name, and what gives its files.

    A plan is SEED:READER, SEED:all (the readers in turn), "families", "bombs", or SEED:short, which
    is the families and then the readers in turn.
    """
    if plan.endswith(":short"):
        from campaigns.families import FAMILIES

        known = len(FAMILIES)
        plan = "families" if number < known else plan.replace("short", "all")
        return planned(plan, number if number < known else number - known)
    if plan in ("families", "bombs"):
        from campaigns.families import BOMBS, FAMILIES

        chosen = FAMILIES if plan == "families" else BOMBS
        name = list(chosen)[number]
        return chosen[name].reader, f"{plan}:{name}", lambda: (chosen[name].make(), name)
    seed, reader = plan.split(":")
    if reader == "all":
        number, k = divmod(number, len(READERS))
        reader = list(READERS)[k]
    return reader, f"{seed}:{reader}:{number}", lambda: _mutant(int(seed), reader, number)


def _mutant(seed: int, reader: str, number: int) -> tuple[Seed, str]:
    """A seed that random numbers have chosen and changed, and what was done to it."""
    rng = np.random.default_rng([seed, zlib.crc32(reader.encode()), number])
    corpus = seeds(reader)
    chosen = corpus[int(rng.integers(len(corpus)))]
    data, told = changed(chosen.data, [other.data for other in corpus], rng)
    beside = dict(chosen.beside)
    if beside and rng.random() < 0.2:
        name = sorted(beside)[int(rng.integers(len(beside)))]
        beside[name], more = changed(beside[name], [], rng)
        told += f"; beside it {name}: {more}"
    return Seed(chosen.name, data, beside), f"{chosen.name}: {told}"


def _written(found: Seed, folder: Path) -> Path:
    for name, content in {**found.beside, found.name: found.data}.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True, parents=True)
        place.write_bytes(content)
    return folder / found.name


def _serve(plan: str, last: int) -> None:
    """Run the cases of a plan, and print how each ends; before them, its seeds must be read."""
    named = plan.rpartition(":")[2]
    readers = [named] if named in READERS else list(READERS)
    for module in LOADED:
        importlib.import_module(module)
    with tempfile.TemporaryDirectory(prefix="campaign") as name:
        folder = Path(name)

        def begin() -> None:
            for reader in readers:
                keep_seeds(reader, folder)
                for k, each in enumerate(seeds(reader)):
                    ending = check(reader, _written(each, folder / f"{reader}{k}"))
                    if ending.how != "read":
                        raise RuntimeError(f"{reader}: the seed {each.name} is not read: {ending}")

        apart(begin)
        for reader in readers:
            keep_seeds(reader, folder)

        def case(number: int) -> Ending:
            reader, _, make = planned(plan, number)
            place = folder / f"case{number}"
            try:
                return check(reader, _written(make()[0], place), number)
            finally:
                shutil.rmtree(place, ignore_errors=True)

        for ending in isolated(case, 0, last):
            print(json.dumps(asdict(ending)), flush=True)


def endings(plan: str, last: int, until: float = float("inf")) -> Iterator[Ending]:
    """How the first cases of a plan end, as far as one comes until `time.monotonic()` is so late.

    Raises
    ------
    RuntimeError
        Where the process that runs them fails: a seed is not read, for instance.
    """
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "campaigns.readers", "--serve", plan, "--cases", str(last)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, **threads},
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        for line in server.stdout:
            yield Ending(**json.loads(line))
            if time.monotonic() > until:
                server.terminate()
                return
        errors = server.stderr.read()
    if server.returncode:
        raise RuntimeError(f"the cases of {plan} cannot be run:\n{errors[-3000:]}")


def finding(plan: str, ending: Ending) -> Finding:
    """What an ending that is none of those allowed says, and what repeats it."""
    reader, case, _ = planned(plan, ending.number)
    place = f" in {ending.place}" if ending.place else ""
    what = ending.told if ending.how == "Senseless" else ending.how
    return Finding(reader, f"{what}{place}", case)


def run(seconds: float, seed: int) -> Outcome:
    """All readers in turn, each for its part of the time."""
    outcome = Outcome("readers")
    end = time.monotonic() + seconds
    for k, reader in enumerate(READERS):
        now = time.monotonic()
        until = now + max(end - now, 0) / (len(READERS) - k)
        plan = f"{seed}:{reader}"
        for ending in endings(plan, 10**9, until):
            outcome.cases[reader] += 1
            if ending.is_finding:
                outcome.findings.append(finding(plan, ending))
    return outcome


def table(plans: Mapping[str, int]) -> str:
    """So many cases of each plan: a table, and below it what was found, by what and where."""
    rows, lines = [], []
    for plan, cases in plans.items():
        began = time.monotonic()
        ended = list(endings(plan, cases))
        found = [ending for ending in ended if ending.is_finding]
        deaths = sum(ending.how.startswith(("died", "exit")) for ending in found)
        hangs = sum(ending.how == "hang" for ending in found)
        reads = sum(ending.how == "read" for ending in ended)
        name = plan.rpartition(":")[2]
        rows.append(f"{name:13}{len(ended):6,}{reads:7,}{len(found):9,}{deaths:8}{hangs:7}"
                    f"{time.monotonic() - began:9.0f} s")  # fmt: skip
        groups: dict[tuple[str, str], list[tuple[str, Ending]]] = defaultdict(list)
        for ending in found:
            one = finding(plan, ending)
            groups[one.group, one.what].append((one.case, ending))
        for (reader, what), group in sorted(groups.items(), key=lambda item: -len(item[1])):
            case, first = group[0]
            told = " ".join(first.told.split())[:160]
            lines.append(f"{reader}: {len(group)} x {what}\n    {told}\n    --case '{case}'")
            if group[1:]:
                lines.append(f"    also {', '.join(c.rpartition(':')[2] for c, _ in group[1:8])}")
        print(rows[-1], file=sys.stderr, flush=True)
    head = (
        f"{'reader':13}{'cases':>6}{'read':>7}{'findings':>9}{'deaths':>8}{'hangs':>7}{'time':>11}"
    )
    return "\n".join([head, *rows, "", *lines])


def repeat(case: str) -> None:
    """Write the files of a case to a folder, and read them in this process."""
    kind, _, name = case.partition(":")
    if kind in ("families", "bombs"):
        from campaigns.families import BOMBS, FAMILIES

        plan, number = kind, list(BOMBS if kind == "bombs" else FAMILIES).index(name)
    else:
        reader, _, last = name.partition(":")
        plan, number = f"{kind}:{reader}", int(last)
    reader, _, make = planned(plan, number)
    found, told = make()
    path = _written(found, Path(tempfile.mkdtemp(prefix="case")))
    print(f"{path}\n{told}", flush=True)
    try:
        READ[reader](path)
    except Exception:
        traceback.print_exc()
    print(check(reader, path, number))


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="campaigns.readers", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(READERS))
    parser.add_argument("--cases", type=int, default=1_500, help="of each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--by-hand", action="store_true", help="the files made by hand instead")
    parser.add_argument("--case", metavar="SEED:READER:NUMBER")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        _serve(asked.serve, asked.cases)
    elif asked.case:
        repeat(asked.case)
    elif asked.by_hand:
        from campaigns.families import BOMBS, FAMILIES

        print(table({"families": len(FAMILIES), "bombs": len(BOMBS)}))
    else:
        names = asked.readers or list(READERS)
        print(table({f"{asked.seed}:{name}": asked.cases for name in names}))


if __name__ == "__main__":
    # By its own name, for the file of a sweep keeps the name of a predictor's module.
    from campaigns import readers

    readers.main()
