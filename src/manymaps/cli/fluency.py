"""The command `fluency`, which cleans fluency lists and computes networks of their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import cell, elapsed, grid, next_step, note, shown, tell
from manymaps.cli.options import carried, output_names, refuse_given
from manymaps.cli.record import argument, chosen, command, flag, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile, positive
from manymaps.progress import work

# Number of words and spellings named in the report.
LISTED = 8
VARIANT = ("word", "variant", "difference")
STATISTICS = {
    "n_words": "words", "n_links": "links", "n_connected": "words in the largest component",
    "mean_degree": "mean number of neighbours", "path_length": "mean shortest path",
    "clustering": "clustering coefficient", "modularity": "modularity",
    "n_communities": "communities", "small_worldness": "small-worldness",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FluencyOptions:
    """Options of the command `fluency`."""

    file: Path = argument("LISTS", InputFile())
    output: Path | None = output_option(
        "OUT.npz|OUT.csv",
        OutputFile(".npz", ".csv"),
        "Write the network to OUT.npz, or each participant's pairs of neighbours to OUT.csv.",
        required=False,
    )
    network: str = option(
        ["window", "walk", "pearson", "cosine"],
        "Link words that are close in more lists than by chance (window), neighbours (walk), or "
        "words in the same lists (pearson, cosine). Applies to OUT.npz only.",
        default="window",
    )
    window: int = option(positive, "Maximum distance of two words in a list.", default=2)
    alpha: float = option(
        Number(min=0, min_open=True, max=1),
        "Significance level; with 1, pairs are not tested (--network window only).",
        default=0.05,
    )
    min_lists: int = option(
        positive,
        "Minimum number of lists with a pair, or with a word (pearson and cosine).",
        default=2,
    )
    accepted: Path | None = option(
        InputFile(), "Drop answers that are not in this file, which has one word per line."
    )
    corrections: Path | None = option(
        InputFile(), "Correct answers by a table with the columns correct and incorrect."
    )
    missing: str = option(
        "usual|none|TEXT,...",
        "Drop these answers. The value usual stands for n/a, don't know, ? and others.",
        default="usual",
    )
    fold: bool = flag("Merge answers that differ only in case or spaces.")
    min_words: int | None = option(positive, "Drop lists with fewer different words.  [default: 1]")
    cleaning: Path | None = option(
        OutputFile(".csv", ".parquet"),
        "Write a table of all repetitions, intrusions, missing answers and short lists.",
        metavar="OUT.csv",
    )
    statistics: bool = flag("Compute path length, clustering, modularity and small-worldness.")
    participant: str | None = option(
        "COLUMN", "Column of participants, if its name is not recognized."
    )
    item: str | None = option(
        "COLUMN", "Column of answers, or the common beginning of several, such as Response."
    )
    category: str | None = option("COLUMN", "Column of categories, if its name is not recognized.")
    format: str | None = option("NAME", "Read LISTS in this format, regardless of its suffix.")
    where: str | None = option(
        "CONDITION", "Use only lists that meet a condition, such as 'category = animals'."
    )


@command(FluencyOptions)
def fluency(options: FluencyOptions) -> None:
    """Clean fluency lists, and compute a network of their words.

    In a fluency task, participants name words of a category, such as animals, in a given time.
    LISTS is a table with one answer per row (id, listnum, category, item, as for SNAFU), or with
    one list per row (Response_01, Response_02 and so on, as for SemNA).

    The report lists repetitions, intrusions, missing answers, short lists and spellings that may
    be the same word. OUT.npz contains the network, which `manymaps fit` reads. OUT.csv contains
    trials, in which neighbours in a list are responses to a word. Use it to compare groups
    with `manymaps compare`, or to resample participants with `manymaps stability`.

    \b
    Examples:  manymaps fluency lists.csv --where 'category = animals' --statistics
               manymaps fluency lists.csv --accepted animals.txt -o net.npz
               manymaps fluency lists.csv -o pairs.csv
    """
    from manymaps.atlas.export import write_columns

    is_table = options.output is not None and options.output.suffix.lower() == ".csv"
    if is_table:
        refuse_given(("network", "alpha", "min_lists", "statistics"), f"{options.output}")
    elif options.network != "window":
        refuse_given(("window", "alpha"), f"--network {options.network}")
    cleaned = _cleaned(options)
    if options.cleaning is not None:
        write_columns(cleaned.findings, options.cleaning)
    lists = cleaned.lists
    note(*lists.report.notes)
    network, statistics, trials = None, None, None
    if is_table:
        trials = mm.fluency_trials(lists, options.window)
        _write_trials(trials, options)
    elif options.output is not None or options.statistics:
        network = _network(lists, options)
        statistics = mm.network_statistics(network) if options.statistics else None
    record = {
        "n_lists": lists.n_trials,
        "n_participants": lists.n_participants,
        "n_words": len(lists.answers),
        "n_answers": int((lists.given >= 0).sum()),
        "dropped": dict(lists.report.dropped),
        "findings": cleaned.counts(),
        "variants": [
            dict(zip(VARIANT, row, strict=True))
            for row in zip(*(cleaned.variants[name] for name in VARIANT), strict=True)
        ],
        "network": None if network is None else options.network,
        "n_pairs": None if network is None else network.n_pairs // 2,
        "n_trials": None if trials is None else trials.n_trials,
        "statistics": statistics,
        "seconds": elapsed(),
        **output_names(options, "output", "cleaning"),
    }
    tell(
        lambda: record,
        lambda: _report(cleaned, record, options),
        files=[options.cleaning, options.output],
        summary=options.output is not None,
    )


def _cleaned(options: FluencyOptions) -> mm.CleanedLists:
    from manymaps.io.matrices import read_labels
    from manymaps.io.ratings import read_word_pairs

    reading = chosen(options, "participant", "item", "category", "format", "where")
    with work(f"reading {options.file}"):
        lists = mm.read_fluency(options.file, **reading)
    pairs = [] if options.corrections is None else read_word_pairs(options.corrections)
    return mm.clean_fluency(
        lists,
        accepted=None if options.accepted is None else read_labels(options.accepted),
        corrections={incorrect: correct for correct, incorrect in pairs},
        missing=None if options.missing == "none" else options.missing,
        **chosen(options, "fold", "min_words"),
    )


def _network(lists: mm.Trials, options: FluencyOptions) -> mm.Associations:
    """Compute the network, and write it if an output is requested."""
    from manymaps.cli.count import save_associations

    kind: Any = options.network
    network = mm.fluency_network(
        lists, kind, rows="keep", **chosen(options, "window", "alpha", "min_lists")
    )
    lost = [f"{count:,} {why}" for why, count in network.report.dropped.items()]
    if lost:
        note(f"pairs dropped: {', '.join(lost)}")
    if options.output is not None:
        save_associations(network, options.output)
    return network


def _write_trials(trials: mm.Trials, options: FluencyOptions) -> None:
    import numpy as np

    from manymaps.atlas.export import write_columns

    assert options.output is not None
    assert trials.participant is not None
    words = np.array(trials.answers, dtype=object)
    participants = np.array(trials.participants, dtype=object)
    columns = {
        "participantID": participants[trials.participant],
        **trials.columns,
        "cue": words[trials.cue],
        "response": words[trials.given[:, 0]],
    }
    write_columns(columns, options.output)


def _report(cleaned: mm.CleanedLists, record: dict[str, Any], options: FluencyOptions) -> str:
    """Format the numbers of the lists, the findings, the network and its statistics."""
    lists, counts = cleaned.lists, record["findings"]
    rows = [
        ("lists", f"{lists.n_trials:,} by {lists.n_participants:,} participants"),
        ("words", f"{len(lists.answers):,} different, {record['n_answers']:,} in all"),
        *((f"{problem}s", _named(cleaned, problem, counts[problem])) for problem in counts
          if problem != "variants"),
        ("variants", _with_examples(counts["variants"], [
            f"{shown(one['word'])} / {shown(one['variant'])}" for one in record["variants"]
        ])),
    ]  # fmt: skip
    rows += _sizes(record)
    if options.output is None:
        words = ["manymaps", "fluency", options.file, "-o", "net.npz"]
        further = next_step(*words, *carried(fluency, but=("cleaning", "statistics")))
    elif record["n_trials"] is None:
        atlas = options.output.with_suffix(".atlas")
        further = next_step("manymaps", "fit", options.output, "-o", atlas, "--maps", "10")
    else:
        further = next_step("manymaps", "compare", options.output, "--by", "COLUMN")
    return f"{grid(rows)}\n{further}"


def _sizes(record: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if record["n_pairs"] is not None:
        rows.append(("network", f"{record['n_pairs']:,} linked pairs ({record['network']})"))
    if record["n_trials"] is not None:
        rows.append(("neighbours", f"{record['n_trials']:,} responses"))
    statistics = record["statistics"] or {}
    return rows + [(title, cell(statistics[name])) for name, title in STATISTICS.items()
                   if name in statistics]  # fmt: skip


def _named(cleaned: mm.CleanedLists, problem: str, count: int) -> str:
    """Return the number of findings with the most frequent answers or the participants."""
    import numpy as np

    is_problem = cleaned.findings["problem"] == problem
    column = "participant" if problem == "short list" else "answer"
    names, counts = np.unique(cleaned.findings[column][is_problem].astype(str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return _with_examples(count, [shown(str(name)) for name in names[order]])


def _with_examples(count: int, examples: Sequence[str]) -> str:
    """Format a number with the first of its examples."""
    more = ", ..." if len(examples) > LISTED else ""
    return f"{count:,}" + (f" ({', '.join(examples[:LISTED])}{more})" if examples else "")
