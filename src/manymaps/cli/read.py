"""The command `read`, which reports what files contain and writes clean data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import manymaps as mm
from manymaps.cli.contract import elapsed, note, tell
from manymaps.cli.options import given_options, refuse, refuse_given, setting_option
from manymaps.cli.record import argument, command, flag, option, output_option
from manymaps.cli.types import InputFile, OrFile, OutputFile, positive
from manymaps.errors import ParameterError
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.cli.reading import Loaded

# The options and the names of --set that apply to each kind of data.
_OF_PAIRS = "cue response strength labels"
_OF_RESPONSES = "fold missing responses rows"
APPLICABLE = {
    "associations": f"{_OF_PAIRS} {_OF_RESPONSES}",
    "trials": f"cue response where participant {_OF_RESPONSES}",
    "vectors": "labels",
    "counts": "strength rows columns kinds",
    "texts": "stop_words max_features column min_df max_df token_pattern window",
    "judgements": f"judge {_OF_PAIRS}",
    "clean data": "",
}
SETTABLE = {"count", *" ".join(APPLICABLE.values()).split()}
ROW_SUMS = ("renormalize", "keep")
NOTED = "noted by read: "


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
    kind: str | None = option(
        ("associations", "trials", "vectors", "counts", "texts"),
        "Kind of data in FILE; similarities are associations.  [default: recognized by its suffix "
        "and its column names]",
    )
    cue: str | None = option("COLUMN", "Column of cues, if its name is not recognized.")
    response: str | None = option(
        "COLUMN", "Column of responses, or several such as R1,R2,R3 (raw trials only)."
    )
    strength: str | None = option(
        "COLUMN",
        "Column of strengths or counts, if its name is not recognized.",
        sets="strength count",
    )
    rows: str | None = option(
        "renormalize|keep|COLUMN",
        "Renormalize or keep rows that do not sum to 1; or the column of row labels (lists of "
        "counts only).  [default: renormalize]",
    )
    columns: str | None = option("COLUMN", "Column of column labels (lists of counts only).")
    labels: Path | None = option(
        InputFile(),
        "Read labels from this file, one per line (matrices, arrays and pairs of integers only).",
    )
    responses: str | None = option(
        "drop|keep|keep:N",
        "Drop or keep responses that are never cues; keep:5 keeps those given to at least 5 cues. "
        "R1, R12 or R123 counts the first 1, 2 or 3 responses, as in R1,keep:5 (raw trials "
        "only).  [default: drop]",
    )
    where: str | None = option(
        "CONDITION",
        "Use only trials that meet a condition, such as 'age < 30 and gender == \"Fe\"' (raw "
        "trials only).",
    )
    fold: bool = flag("Ignore case and spacing in labels.")
    judge: str | None = option("COLUMN", "Column of the judges (long tables of judgements only).")
    stop_words: str | Path | None = option(
        OrFile("words", ("english", "none")),
        "Leave out English function words, no words, or the words in a file, one per line (texts "
        "only).  [default: english]",
        metavar="english|none|FILE",
    )  # fmt: skip
    max_features: int | None = option(
        positive, "Count only the N most frequent words (texts only).  [default: all]"
    )
    set: tuple[tuple[str, Any], ...] = setting_option(
        "Set participant, missing or kinds or, for texts, column, min_df, max_df, token_pattern "
        "or window; can be repeated."
    )


@command(ReadOptions)
def read(options: ReadOptions) -> None:
    """Report what FILE contains, and write clean data.

    FILE can contain associations as a table (CSV, TSV, Parquet, also gzipped) with the columns cue,
    response and strength. It can contain raw trials, with a cue and its responses R1, R2, R3 in
    each row, or a square matrix of similarities. Vectors are read from word2vec, GloVe, fastText,
    NPY, NPZ and .h5ad files, and from tables with a column of labels. Counts are read from lists of
    document, word and count, tables of sites and species, OTU tables, NPZ, MatrixMarket and
    .biom files.

    FILE can also be a folder of texts, or with --kind texts a table of texts. Their words are
    counted, with one row per document. With --set window=N, words that are at most N positions
    apart are associations, by their positive pointwise mutual information.

    Several FILEs are judgements of the same objects, with one table per judge (or one long table
    with --judge). Fits use their average. Empty cells are missing judgements and do not count.

    \b
    Examples:  manymaps read norms.tsv.gz
               manymaps read SWOW-EN.R100.csv --responses R1 --where 'age < 30' -o young.npz
               manymaps read visits.csv --rows site --columns bird --strength seen -o visits.npz
               manymaps read ann.csv ben.csv eve.csv -o judged.npz
               manymaps read letters/ -o counts.npz --max-features 2000 --set max_df=0.5
               manymaps read novels/ -o near.npz --set window=5
    """
    from manymaps.cli.report import report_of
    from manymaps.data.clean import write_data

    (kind, data), file = _kind(options), options.files[0]
    applicable = APPLICABLE[kind].split()
    settable = [name for name in applicable if not hasattr(options, name)]
    for name, _ in options.set:
        if name not in settable:
            raise ParameterError(
                f"--set {name} does not apply to {kind}"
                + (f"; use {', '.join(settable)}" if settable else "")
            )
    others = vars(options).keys() - {"files", "output", "kind", "set", *applicable}
    refuse_given(others, f"{file}, which contains {kind}")
    values = {name: getattr(options, name, None) for name in applicable} | dict(options.set)
    settings = {name: value for name, value in values.items() if value is not None}
    with work(f"reading {file}"):
        loaded = _loaded(kind, data, options, settings)
    # The next command can read one raw file that needs no option.
    passed = vars(options).keys() & {one.name for one in given_options()}
    is_ready = not (options.files[1:] or file.is_dir() or passed)
    ready = options.output or (file if is_ready else Path("OUT.npz"))
    record, text = report_of(loaded, ready)
    if options.output is None and not is_ready:
        text = text.replace("next: ", "next: add -o OUT.npz, then ")
    if options.output is not None:
        with work(f"writing {options.output}"):
            write_data(_marked(loaded.data), options.output, loaded.settings)
        record |= {"seconds": elapsed(), "output": str(options.output)}
    tell(lambda: record, lambda: text)


def _marked(data: Any) -> Any:
    """Mark the notes of data as notes of `read`, whose options they name."""
    report = getattr(data, "report", None)
    if report is None:
        return data
    notes = (note if note.startswith(NOTED) else f"{NOTED}{note}" for note in report.notes)
    return replace(data, report=replace(report, notes=tuple(notes)))


def _kind(options: ReadOptions) -> tuple[str, Any]:
    """Return the kind of data in the files, and the contents of a raw file."""
    from manymaps.data.clean import is_clean
    from manymaps.io.kinds import kind_of, opened

    file = options.files[0]
    if file.is_dir() or options.kind == "texts":
        refuse((len(options.files) > 1, "pass one folder or table of texts"))
        return "texts", None
    if len(options.files) > 1 or options.judge is not None:
        return "judgements", None
    if is_clean(file):
        return "clean data", None
    if options.kind is not None:
        return options.kind, opened(file, options.kind)
    if options.columns or (options.rows or "keep") not in ROW_SUMS:
        return "counts", opened(file, "counts")
    if "participant" in dict(options.set) or "," in (options.response or ""):
        return "trials", opened(file, "trials")
    if options.strength is not None:  # trials have no strengths
        return "associations", opened(file, "associations")
    named = options.cue or options.response or options.where
    data = opened(file, "associations" if named else None)
    kind = kind_of(data, cue=options.cue, response=options.response)
    # Labels and sums of rows are settings of tables of associations, or of vectors.
    is_table = kind == "ratings" or (kind == "counts" and (options.rows or options.labels))
    return "associations" if is_table or (named and kind != "trials") else kind, data


def _loaded(kind: str, data: Any, options: ReadOptions, settings: dict[str, Any]) -> Loaded:
    """Read files with the settings of their kind."""
    from manymaps.cli.reading import Loaded, column_of_counts
    from manymaps.data.clean import read_clean

    file = options.files[0]
    match kind:
        case "clean data":
            return Loaded(*read_clean(file))
        case "texts":
            return Loaded(_counted(file, settings), {})
        case "judgements":
            average = mm.read_judgements(options.files, **settings)
            note(*average.report.notes[1:])  # on judges who disagree with the others
            return Loaded(average, {})
        case "vectors":
            return Loaded(mm.vectors_from(data, **settings), {})
        case "counts":
            # "site,species" is not a Python literal, so it arrives as a text.
            if isinstance(settings.get("kinds"), str):
                settings["kinds"] = tuple(settings["kinds"].split(","))
            count = settings.pop("strength", None)
            return Loaded(mm.counts_from(data, count=count, **settings), {})
        case "trials":
            counting = {"responses": settings.pop("responses", "drop"),
                        "rows": settings.pop("rows", ROW_SUMS[0])}  # fmt: skip
            return Loaded(mm.trials_from(data, **settings), counting)
    norms, column = mm.associations_from(data, **settings), column_of_counts(data)
    if norms.n_responses is None and column is not None and "strength" not in settings:
        # Strengths do not contain the number of responses, which comparisons need.
        counted = mm.associations_from(data, **settings | {"strength": column})
        if counted.labels == norms.labels:
            norms = replace(norms, n_responses=counted.n_responses)
    return Loaded(norms, {})


def _counted(file: Path, settings: dict[str, Any]) -> mm.Counts | mm.Associations:
    """Count the words of texts, or relate the words that are near one another."""
    from manymaps.io.frames import read_labels

    window = settings.pop("window", None)
    stop_words: Any = settings.pop("stop_words", "english")
    if isinstance(stop_words, Path):
        stop_words = read_labels(stop_words)
    settings["stop_words"] = None if stop_words == "none" else stop_words
    if window is None:
        return mm.count_texts(file, **settings)
    return mm.ppmi(mm.count_cooccurrences(file, window=window, **settings), rows="keep")
