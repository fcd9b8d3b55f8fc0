"""The command `vectors`, which fits variables of the environment to the sites of a map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

import manymaps as mm
from manymaps.cli.contract import note, tell
from manymaps.cli.options import atlas_argument, refuse_given, seed_option
from manymaps.cli.record import argument, chosen, command, flag, option
from manymaps.cli.types import InputFile, Number, Several, Whole, positive
from manymaps.errors import DataError
from manymaps.labels import listed


@dataclass(frozen=True, kw_only=True)
class Arrows:
    """Options of the commands that draw variables as arrows."""

    vectors: Path | None = option(
        InputFile(),
        "Draw the variables of the sites in this table as arrows over each map, as `manymaps "
        "vectors` fits them.",
        metavar="ENV.csv",
    )
    p_max: float = option(
        Number(0, 1), "Omit variables with a larger p-value (with --vectors only).", default=0.05
    )


@dataclass(frozen=True, kw_only=True)
class VectorsOptions:
    """Options of the command `vectors`."""

    atlas: Path = atlas_argument()
    file: Path = argument("ENV.csv", InputFile())
    map: int = option(Whole(0), "Number of the map.", default=0)
    kind: str | None = option(
        "NAME",
        "Kind of the objects in ENV.csv, such as species (bipartite atlases only).  [default: the "
        "rows of the table of counts, such as sites]",
    )
    factors: tuple[str, ...] | None = option(
        Several(click.STRING, "column"), "Numeric columns that contain codes of categories.",
        metavar="COLUMN,...",
    )  # fmt: skip
    strata: str | None = option("COLUMN", "Permute only sites with the same value in this column.")
    weights: Literal["map", "equal"] = option(
        ["map", "equal"], "Weight sites by their weights in the map, or equally.", default="map"
    )
    drop_missing: bool = flag("Omit sites without a row or a value, and rows that match no site.")
    permutations: int = option(
        positive, "Number of permutations.", default=999, sets="n_permutations"
    )
    seed: int = seed_option()
    as_csv: bool = flag("Print a CSV table with a row per variable or level.", "--csv")


@command(VectorsOptions)
def vectors(options: VectorsOptions) -> None:
    """Fit variables in ENV.csv to the positions of sites in a map.

    ENV.csv has one row per site. The column `label` or the first column contains the labels. The
    output lists the direction in which each variable increases, the share of its variance that the
    map explains (r2), and the p-value of a permutation test. Columns of text are factors, for which
    the centroid of each level is listed. The results correspond to the function envfit of vegan.

    `manymaps plot` and `manymaps view` draw the variables as arrows with `--vectors ENV.csv`.

    \b
    Examples:  manymaps vectors dune.atlas dune_env.csv
               manymaps vectors dune.atlas dune_env.csv --factors Moisture --csv > vectors.csv
    """
    settings = chosen(
        options, "map", "kind", "strata", "weights", "drop_missing", "permutations", "seed"
    )
    atlas, factors = mm.load_atlas(options.atlas), options.factors or ()
    found = _fitted(atlas, options.file, factors=factors, **settings)
    if options.as_csv:
        from manymaps.atlas.export import columns_as_csv

        tell(found.record, lambda: columns_as_csv(found.columns))
    else:
        tell(found.record, lambda: str(found))


def _fitted(atlas: mm.Atlas, file: Path, **settings: Any) -> mm.FittedVectors:
    """Read a table, fit its variables to a map, and report omitted sites and rows."""
    from manymaps.io.metadata import read_columns

    table = read_columns(file)
    try:
        found = mm.fit_vectors(atlas, table, **settings)
    except DataError as error:
        raise DataError(f"{file}: {error}") from error
    if found.omitted:
        note(f"{file}: omitted {listed(found.omitted)}")
    return found


def significant_vectors(
    atlas: mm.Atlas, arrows: Arrows, maps: Iterable[int], *, kind: str | None = None
) -> list[mm.FittedVectors] | None:
    """Fit the variables of --vectors to maps, and select and name those with a small p-value."""
    if arrows.vectors is None:
        refuse_given(("p_max",), f"{click.get_current_context().info_name} without --vectors")
        return None
    found = []
    for m in maps:
        fitted = _fitted(atlas, arrows.vectors, map=m, kind=kind, drop_missing=True)
        found.append(fitted.significant(arrows.p_max))
        names = [*found[-1].variables, *(one.name for one in found[-1].factors)]
        where = f"map {m}, " if atlas.n_maps > 1 else ""
        note(f"{where}variables with p <= {arrows.p_max:g}: {listed(names)}")
    return found
