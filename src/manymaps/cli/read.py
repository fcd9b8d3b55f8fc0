"""The command `read`, which reports what files contain and writes clean data."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import elapsed, note, tell
from manymaps.cli.options import (
    OF_PAIRS,
    OF_TRIALS,
    Reading,
    refuse,
    refuse_given,
)
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import InputFile, OrFile, OutputFile, Setting, positive
from manymaps.errors import ParameterError
from manymaps.progress import work

# Further settings of reading, and of counting texts.
OF_READING = ("participant", "missing", "kinds")
OF_TEXTS = (
    "column", "label_column", "skip_words", "min_documents", "token_pattern", "lowercase",
    "vocabulary", "window", "weighting", "weights",
)  # fmt: skip
# Number of occurrences below which the mutual information of a word is large by chance.
RARE = 5


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options of the command `read`."""

    files: tuple[Path, ...] = argument("FILE...", InputFile(folders=True), nargs=-1, required=True)
    output: Path | None = output_option(
        "OUT.npz",
        OutputFile(".npz", archive=True),
        "Write clean data to this file, which all commands that take data read.",
        required=False,
    )
    judge: str | None = option("COLUMN", "Column of the judges (long tables of judgements only).")
    stop_words: str | Path | None = option(
        OrFile("words", ("english", "none")),
        "Leave out English function words, no words, or the words in a file, one per line (texts "
        "only).  [default: english]",
        metavar="english|none|FILE",
    )  # fmt: skip
    max_words: int | None = option(
        positive, "Count only the N most frequent words (texts only).  [default: all]"
    )
    set: tuple[tuple[str, Any], ...] = option(
        Setting(),
        f"Set {', '.join(OF_READING)} or, for texts, {', '.join(OF_TEXTS)}; can be repeated.",
        multiple=True,
    )
    reading: Reading = group(Reading)


@command(ReadOptions)
def read(options: ReadOptions) -> None:
    """Report what FILE contains, and write clean data.

    FILE can contain associations as a table (CSV, TSV, Parquet, also gzipped) with the columns cue,
    response and strength. It can contain raw trials, with a cue and its responses R1, R2, R3 in
    each row, or a square matrix of similarities. Vectors are read from word2vec, GloVe, fastText,
    NPY, NPZ and .h5ad files, and from tables with a column of labels. Counts are read from lists of
    document, word and count, tables of sites and species, OTU tables, NPZ, MatrixMarket, .h5ad
    and .biom files.

    FILE can also be a folder of texts, or a table of texts (JSONL, or --kind texts). Their words
    are counted, with one row per document. With --set window=N, pairs of words that are at most N
    positions apart are counted; --set weights=ppmi converts these counts to associations.

    Several FILEs are judgements of the same objects, with one table per judge (or one long table
    with --judge). Fits use their average. Empty cells are missing judgements and do not count.

    \b
    Examples:  manymaps read norms.tsv.gz
               manymaps read SWOW-EN.R100.csv --responses R1 --where 'age < 30' -o young.npz
               manymaps read visits.csv --rows site --columns bird --strength seen -o visits.npz
               manymaps read ann.csv ben.csv eve.csv -o judged.npz
               manymaps read letters/ -o counts.npz --max-words 2000 --set skip_words=100
               manymaps read novels/ -o near.npz --set window=5 --set weights=ppmi
    """
    from manymaps.cli.reading import Loaded, load, load_raw
    from manymaps.cli.report import report_of
    from manymaps.data.clean import is_clean, write_data

    file, settings = options.files[0], dict(options.set)
    of_texts = file.is_dir() or options.reading.kind == "texts" or _holds_texts(file)
    known = OF_TEXTS if of_texts else OF_READING
    for name in settings:
        if name not in known:
            raise ParameterError(f"--set {name} is not one of {', '.join(known)}")
    # "site,species" is not a Python literal, so it arrives as a text.
    if isinstance(settings.get("kinds"), str):
        settings["kinds"] = tuple(settings["kinds"].split(","))
    if of_texts:
        _check_texts(options)
        reading = options.reading
    else:
        refuse_given(("stop_words", "max_words"), f"{file}, which does not contain texts")
        reading = replace(options.reading, **settings)
    if of_texts:
        loaded = Loaded(_counted(file, settings, options), {})
    elif len(options.files) > 1 or options.judge is not None:
        loaded = Loaded(_judgements(options, reading), {})
    elif is_clean(file):
        refuse_given(tuple(vars(reading)), f"{file}, which contains clean data")
        loaded = load(file)
    else:
        loaded = load_raw(file, reading)
    as_written: Any = None
    if isinstance(loaded.data, mm.Judgements):
        as_written = loaded.data.associations()
    # The sums of the rows are known only before the rows are renormalized.
    elif isinstance(loaded.fitted, mm.Associations) and not of_texts and not is_clean(file):
        as_written = load_raw(file, replace(reading, rows="keep")).fitted
    source = file if options.output is None else options.output
    record, text = report_of(loaded, source, as_written)
    if options.output is not None:
        with work(f"writing {options.output}"):
            write_data(loaded.data, options.output, loaded.settings)
        record |= {"seconds": elapsed(), "output": str(options.output)}
    tell(lambda: record, lambda: text)


def _judgements(options: ReadOptions, reading: Reading) -> mm.Judgements:
    """Read judgements by several judges, and note the judges who disagree with the others."""
    others = ("responses", "columns", "kinds", *OF_TRIALS)
    refuse_given(others, "several judges (--judge, or several FILEs)")
    with work("reading judgements"):
        settings = chosen(reading, *OF_PAIRS)
        judgements = mm.read_judgements(options.files, judge=options.judge, **settings)
    for judge, correlation in zip(judgements.judges or (), judgements.with_others, strict=True):
        if correlation < 0:
            note(f"judge {judge} correlates by {correlation:.2f} with the average of the others")
    return judgements


def _holds_texts(file: Path) -> bool:
    return any(suffix in (".jsonl", ".json") for suffix in file.suffixes[-2:])


def _check_texts(options: ReadOptions) -> None:
    """Reject options that do not apply to texts."""
    names = {one.name for one in fields(options.reading)} - {"kind"}
    refuse_given((*sorted(names), "judge"), f"the texts in {options.files[0]}")
    refuse((len(options.files) > 1, "pass one folder or table of texts"))


def _counted(
    file: Path, settings: dict[str, Any], options: ReadOptions
) -> mm.Counts | mm.Associations:
    """Count the words of texts, or the pairs of words that are near one another."""
    from manymaps.checks import check_choice
    from manymaps.io.matrices import read_labels

    near = {name: settings.pop(name) for name in ("window", "weighting") if name in settings}
    weights = settings.pop("weights", "counts")
    check_choice("weights", weights, ("counts", "ppmi"))
    refuse(("window" not in near and (near or weights != "counts"), "--set window=N is missing"))
    columns = {name: settings.pop(name, None) for name in ("column", "label_column")}
    stop_words: Any = options.stop_words or "english"
    if isinstance(stop_words, Path):
        stop_words = read_labels(stop_words)
    words = mm.Words(
        max_words=options.max_words,
        stop_words=None if stop_words == "none" else stop_words,
        **settings,
    )
    with work(f"counting {file}"):
        if not near:
            return mm.count_texts(file, words, **columns)
        counts = mm.count_cooccurrences(file, words, **near, **columns)
    if weights == "counts":
        return counts
    # A word has up to 2 * window neighbours at each occurrence.
    n_rare = int((counts.row_totals < 2 * near["window"] * RARE).sum())
    if 2 * n_rare > counts.n_rows:
        note(
            f"{n_rare:,} of {counts.n_rows:,} words occur fewer than about {RARE} times, and their "
            f"associations are strong by chance; use --set min_documents={RARE} to exclude them"
        )
    return mm.ppmi(counts, rows="keep")
