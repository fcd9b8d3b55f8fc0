"""The command `count`, which turns raw texts into a table of counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import elapsed, next_step, note, tell
from manymaps.cli.options import refuse
from manymaps.cli.record import argument, chosen, command, flag, option, output_option
from manymaps.cli.types import InputFile, OrFile, OutputFile, Whole, positive
from manymaps.progress import work

# Number of occurrences below which `--weights ppmi` warns, as in the examples of --min-documents.
RARE = 5


@dataclass(frozen=True, kw_only=True)
class CountOptions:
    """Options of the command `count`."""

    texts: Path = argument("TEXTS", InputFile(folders=True))
    output: Path = output_option(
        "OUT.npz", OutputFile(".npz"), "Write the table of counts to this file."
    )
    column: str | None = option("NAME", "Field or column that contains the texts (tables only).")
    label_column: str | None = option(
        "NAME", "Field or column that contains the document labels (tables only)."
    )
    max_words: int | None = option(
        positive, "Maximum number of words; the most frequent are counted."
    )
    skip_words: int = option(
        Whole(0), "Leave out the N most frequent words before --max-words applies.", default=0
    )
    min_documents: int = option(
        positive, "Minimum number of documents that contain a word.", default=1
    )
    stop_words: str | Path = option(
        OrFile("words", ("english", "none")),
        "Leave out English function words, no words, or the words in a file, one per line.",
        metavar="english|none|FILE", default="english",
    )  # fmt: skip
    words: Path | None = option(
        InputFile(), "Count only the words in this file, one per line.", sets="vocabulary"
    )
    token_pattern: str | None = option("REGEX", "Regular expression that matches a word.")
    keep_case: bool = flag("Distinguish upper and lower case.")
    window: int | None = option(
        positive, "Count pairs of words that are at most N positions apart."
    )
    weighting: str | None = option(
        ["flat", "harmonic"],
        "Count a pair k positions apart as 1, or as 1 / k (with --window only).  [default: flat]",
    )
    weights: str | None = option(
        ["counts", "ppmi"],
        "Write counts, or associations whose strengths are the positive pointwise mutual "
        "information (with --window only).  [default: counts]",
    )


@command(CountOptions)
def count(options: CountOptions) -> None:
    """Count the words of TEXTS and write the table to OUT.npz.

    TEXTS is a folder of files, a table (JSONL, CSV, TSV, Parquet), or a text with one document per
    line. The counts have one row per document and one column per word, except English function
    words. With --window, they have one row and one column per word. With --weights ppmi, the file
    contains associations of these words, to which `manymaps fit OUT.npz` fits many maps.

    \b
    Examples:  manymaps count posts.jsonl.gz -o counts.npz --max-words 2000 --skip-words 100
               manymaps count letters/ -o counts.npz --min-documents 5 --stop-words none
               manymaps count novels/ -o near.npz --window 5 --min-documents 5 --weights ppmi
    """
    for name in ("weighting", "weights"):
        refuse((getattr(options, name) and options.window is None, f"--{name} requires --window"))
    output, counts = options.output, _counted(options)
    note(*counts.report.notes)
    method = ["--method", "code"]
    if options.weights == "ppmi":
        method = []
        _note_rare_words(counts, options.window or 1)
        _save_associations(mm.ppmi(counts, rows="keep"), output)
    else:
        counts.save(output)
    record = {
        "n_rows": counts.n_rows,
        "n_columns": counts.n_columns,
        "n_counts": int(counts.n_counts) if counts.n_counts.is_integer() else counts.n_counts,
        "n_stored": int(counts.values.nnz),
        "skipped": counts.report.n_dropped,
        "seconds": elapsed(),
        "output": str(output),
    }
    rows, columns = counts.kinds
    further = ["manymaps", "fit", str(output), "-o", str(output.with_suffix(".atlas"))]
    text = (
        f"{output}: {counts.n_rows:,} {rows}s by {counts.n_columns:,} {columns}s, "
        f"{counts.n_counts:,.10g} counts in {record['seconds']:.1f} s\n"
        f"{next_step(*further, *method)}"
    )
    tell(lambda: record, lambda: text, summary=True)


def _save_associations(associations: mm.Associations, path: Path) -> None:
    """Write associations as a sparse table with labels, which `read_associations` reads."""
    import numpy as np

    from manymaps.archive import write_arrays
    from manymaps.archive.arrays import csr_parts
    from manymaps.data.count_values import text_array

    note(*associations.report.notes)
    strengths = associations.strengths
    write_arrays(path, csr_parts(strengths) | {
        "format": np.array(b"csr"), "_is_array": np.array(True),
        "shape": np.array(strengths.shape), "labels": text_array(associations.labels),
    })  # fmt: skip


def _note_rare_words(counts: mm.Counts, window: int) -> None:
    """Print a note if most words are rare, because their mutual information is large by chance."""
    # A word has up to 2 * window neighbours at each occurrence.
    n_rare = int((counts.row_totals < 2 * window * RARE).sum())
    if 2 * n_rare > counts.n_rows:
        note(
            f"{n_rare:,} of {counts.n_rows:,} words occur fewer than about {RARE} times, and their "
            f"associations are strong by chance; use --min-documents {RARE} to exclude such words"
        )


def _counted(options: CountOptions) -> mm.Counts:
    columns, words = chosen(options, "column", "label_column"), _words(options)
    with work(f"counting {options.texts}"):
        if options.window is None:
            return mm.count_texts(options.texts, words, **columns)
        near: dict[str, Any] = {"window": options.window, "weighting": options.weighting or "flat"}
        return mm.count_cooccurrences(options.texts, words, **near, **columns)


def _words(options: CountOptions) -> mm.Words:
    """Return the rules that select the words to count."""
    from manymaps.io.matrices import read_labels

    stop_words: Any = options.stop_words
    if isinstance(stop_words, Path):
        stop_words = read_labels(stop_words)
    return mm.Words(
        **chosen(options, "max_words", "skip_words", "min_documents", "token_pattern"),
        stop_words=None if stop_words == "none" else stop_words,
        lowercase=not options.keep_case,
        vocabulary=(
            None if options.words is None else list(dict.fromkeys(read_labels(options.words)))
        ),
    )
