"""The command `pairs`, which lists similarity, rank, map and observed strength of word pairs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import as_json, emit, emit_json, note, note_case
from manymaps.cli.options import atlas_argument, output_names
from manymaps.cli.record import argument, command, option, output_option
from manymaps.cli.types import InputFile, OutputFile
from manymaps.labels import first_of


@dataclass(frozen=True, kw_only=True)
class PairsOptions:
    """Options of the command `pairs`."""

    atlas: Path = atlas_argument()
    file: Path = argument("PAIRS", InputFile())
    cue: str | None = option("COLUMN", "Column of the first words, if its name is not recognized.")
    response: str | None = option(
        "COLUMN", "Column of the second words, if its name is not recognized."
    )
    output: Path | None = output_option(
        "OUT.csv",
        OutputFile(".csv", ".parquet"),
        "Write the table to this file (.csv, .parquet) instead of stdout.",
        required=False,
    )


@command(PairsOptions)
def pairs(options: PairsOptions) -> None:
    """Print the similarity of pairs of words as a CSV table.

    PAIRS is a table with two columns of words; other columns are ignored. The output has one row
    per pair, in the same order. Cells of a pair with an unknown word are empty.

    \b
    pair             number of the pair, from 1
    word1, word2     the words
    similarity       probability of word2 given word1 under the model
    rank             rank of word2 among all objects by similarity to word1
    map              map that contributes most to the similarity
    map_share        contribution of this map, as a share of the similarity
    map_weight1, 2   weight of this map for word1 and word2
    strength         observed share of word2 in the associations of word1

    similarity_back, rank_back and strength_back are the same from word2 to word1. An atlas stores
    the 30 strongest associations of a word; other strengths are 0.

    \b
    Examples:  manymaps pairs norms.atlas pairs.csv > similarities.csv
               manymaps pairs norms.atlas items.csv --cue Prime --response Target -o items.parquet
    """
    from manymaps.atlas.export import columns_as_csv, write_columns
    from manymaps.io.similarities import read_word_pairs

    listed = read_word_pairs(options.file, cue=options.cue, response=options.response)
    atlas = mm.load_atlas(options.atlas)
    table = mm.pair_table(atlas, listed)
    words = list(dict.fromkeys(chain.from_iterable(listed)))
    note_case(options.file, words, atlas.labels)
    n_known = int(table["similarity"].notna().sum())
    unknown = [word for word in words if word not in atlas]
    if unknown:
        note(
            f"{len(listed) - n_known:,} of {len(listed):,} pairs contain words that are not in the "
            f"atlas: {first_of(unknown)}"
        )
    cells = table.astype(object).where(table.notna(), None)
    columns = {name: cells[name].to_numpy() for name in cells}
    if options.output is not None:
        write_columns(columns, options.output)
    if as_json():
        emit_json(
            {
                "n_pairs": len(listed),
                "n_known": n_known,
                "unknown": unknown,
                "pairs": cells.to_dict("records"),
                **output_names(options, "output"),
            }
        )
    elif options.output is None:
        emit(columns_as_csv(columns))
    else:
        note(f"{options.output}: {n_known:,} pairs with similarities")
