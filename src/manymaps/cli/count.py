"""The command `count`: raw texts to a table of counts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, elapsed, note, quiet_option, refuse_overwriting, tell
from manymaps.cli.options import combined, json_option, some_jobs
from manymaps.cli.types import InputFile, OrFile, OutputFile, positive
from manymaps.cli.workers import check_workers, on_workers, worker_options
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.data.counts import Counts
    from manymaps.io.counting import Words

__all__ = ["count"]


reading_texts = combined(
    click.option("--column", metavar="NAME", help="Field or column of the texts."),
    click.option("--label-column", metavar="NAME", help="That of the documents' labels."),
    click.option("--encoding", metavar="E", help="Encoding of the texts, if it is not UTF-8."),
    click.option(
        "--format",
        metavar="NAME",
        help="folder, jsonl, csv, tsv, parquet or lines, if not by the name.",
    ),
)

choosing_words = combined(
    click.option("--max-words", type=positive, metavar="N", help="The most frequent alone."),
    click.option(
        "--skip-words",
        type=click.IntRange(min=0),
        metavar="N",
        default=0,
        show_default=True,
        help="Before that, leave out the most frequent.",
    ),
    click.option(
        "--min-documents",
        type=positive,
        metavar="N",
        default=1,
        show_default=True,
        help="Leave out words of fewer documents.",
    ),
    click.option(
        "--stop-words",
        type=OrFile("words", ("english",)),
        metavar="english|FILE",
        help="Leave out these, one a line.",
    ),
    click.option("--words", type=InputFile(), help="Count these words alone, one a line."),
    click.option("--token-pattern", metavar="REGEX", help="What a word is."),
    click.option("--keep-case", is_flag=True, help="Tie is not tie."),
)


@click.command(cls=Command)
@click.argument("texts", type=InputFile(folders=True), metavar="TEXTS")
@click.option("-o", "--output", type=OutputFile(".npz"), required=True, metavar="OUT.npz")
@reading_texts
@choosing_words
@click.option(
    "--window",
    type=positive,
    metavar="N",
    help="Count words near words, at most so many places apart.",
)
@click.option(
    "--weighting",
    type=click.Choice(["flat", "harmonic"]),
    help="With --window: a pair k apart counts 1, or 1 / k.  [default: flat]",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=-1),
    callback=some_jobs,
    metavar="N",
    help="Take texts apart in so many processes; -1 for all.  [default: 1]",
)
@worker_options
@quiet_option
@json_option
@click.pass_context
def count(ctx: click.Context, texts: Path, output: Path, as_json: bool, **options: Any) -> None:
    """Count the words of TEXTS and write the table to OUT.npz.

    TEXTS is a folder of files, a table (JSONL, CSV, TSV, Parquet), or a text of one document a
    line; it may be larger than memory. The table has a row for each document and a column for each
    word; with --window, a row and a column for each word.

    \b
    Examples:  manymaps count posts.jsonl.gz -o counts.npz --max-words 2000 --skip-words 100
               manymaps count letters/ -o counts.npz --min-documents 5 --stop-words english
               manymaps count novel.txt -o near.npz --window 5 --min-documents 5
               manymaps count library/ -o near.npz --window 5 --max-words 20000 --jobs -1
    """
    given = {"TEXTS": texts, "--words": options["words"], "--stop-words": options["stop_words"]}
    refuse_overwriting(
        {"-o": output},
        {name: path if isinstance(path, Path) else None for name, path in given.items()},
    )
    if options["weighting"] is not None and options["window"] is None:
        raise click.UsageError("--weighting needs --window")
    check_workers(ctx, options)
    spread = options["backend"] or ("loky" if options["jobs"] not in (None, 1) else None)
    with on_workers({**options, "backend": spread}):
        counts = _counted(texts, options)
    for line in counts.report.notes:
        note(line)
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
    tell(lambda: record, lambda: _summary(record, counts), as_json=as_json, summary=True)


def _counted(texts: Path, options: Mapping[str, Any]) -> Counts:
    from manymaps.io.texts import Texts

    source = Texts(
        texts,
        column=options["column"],
        label_column=options["label_column"],
        format=options["format"],
        encoding=options["encoding"],
    )
    words = _words(options)
    from manymaps.io.counting import count_cooccurrences, count_texts

    with work(f"counting {texts}"):
        if options["window"] is None:
            return count_texts(source, words)
        return count_cooccurrences(
            source,
            words,
            window=options["window"],
            weighting=options["weighting"] or "flat",
        )


def _words(options: Mapping[str, Any]) -> Words:
    """Which words are counted, by the options of the command."""
    from manymaps.io.counting import Words
    from manymaps.io.matrices import read_labels

    stop_words, chosen = options["stop_words"], options["words"]
    given: dict[str, Any] = {name: options[name] for name in ("max_words", "skip_words")}
    if isinstance(stop_words, Path):
        stop_words = read_labels(stop_words)
    if options["token_pattern"] is not None:
        given["token_pattern"] = options["token_pattern"]
    return Words(
        **given,
        min_documents=options["min_documents"],
        stop_words=stop_words,
        lowercase=not options["keep_case"],
        vocabulary=None if chosen is None else list(dict.fromkeys(read_labels(chosen))),
    )


def _summary(record: Mapping[str, Any], counts: Counts) -> str:
    output = record["output"]
    rows, columns = counts.kinds
    further = ["manymaps", "fit", output, "-o", str(Path(output).with_suffix(".atlas"))]
    return (
        f"{output}: {record['n_rows']:,} {rows}s by {record['n_columns']:,} {columns}s, "
        f"{counts.n_counts:,.10g} counts in {record['seconds']:.1f} s\n"
        f"next: {shlex.join([*further, '--method', 'code'])}"
    )
