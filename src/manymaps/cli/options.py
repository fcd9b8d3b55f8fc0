"""Options that several commands have in common, and estimators that are built from options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click
from click.core import ParameterSource

import manymaps as mm
from manymaps.cli.record import argument, chosen, option
from manymaps.cli.types import InputFile, Setting, Whole, positive
from manymaps.errors import ParameterError

Width: TypeAlias = Literal["column", "page"]


def atlas_argument() -> Any:
    """Return the field for the atlas that a command reads."""
    return argument("ATLAS", InputFile())


def opened_atlas(options: Any) -> mm.Atlas:
    """Read the atlas with the columns of --metadata, and the gene that --color names."""
    atlas = mm.load_atlas(options.atlas)
    if options.metadata is None:
        return atlas
    from manymaps.io.frames import read_columns

    genes = [] if options.color is None else [options.color]
    return atlas.add_metadata(read_columns(options.metadata, genes))


def setting_option(help: str) -> Any:
    """Return the field for settings of the library that have no option."""
    return option(Setting(), help, "--set", multiple=True)


def as_in_option() -> Any:
    """Return the field for the paper whose settings are used."""
    return option(
        "PAPER",
        "Use all settings of a paper, such as van_der_maaten_2009; other options replace them.",
    )


def seed_option() -> Any:
    """Return the field for the seed."""
    return option(Whole(0), "Seed of the random number generator.", default=0, sets="random_state")


def jobs_option(help: str = "Number of threads.  [default: all cores]") -> Any:
    """Return the field for the number of threads or processes."""
    return option(positive, help, sets="n_jobs")


@dataclass(frozen=True, kw_only=True)
class Running:
    """The seed and the number of threads of a command."""

    seed: int = seed_option()
    jobs: int | None = jobs_option()


def width_option() -> Any:
    """Return the field for the width of a figure."""
    return option(
        ("column", "page"),
        "Draw the figure for a paper, 89 mm (column) or 183 mm (page) wide, with text of at least "
        "6 points.",
    )


def refuse(*faults: tuple[object, str]) -> None:
    """Raise a usage error with the message of the first fault that applies."""
    for applies, message in faults:
        if applies:
            raise click.UsageError(message)


def given_options() -> list[click.Option]:
    """Return the options that the user passed."""
    context = click.get_current_context()
    options = (one for one in context.command.params if isinstance(one, click.Option))
    sources = ((one, context.get_parameter_source(one.name or "")) for one in options)
    return [one for one, source in sources if source is ParameterSource.COMMANDLINE]


def refuse_given(names: Iterable[str], where: str) -> None:
    """Reject options that the user passed, but that do not apply."""
    for one in given_options():
        if one.name in names:
            raise click.UsageError(f"{max(one.opts, key=len)} does not apply to {where}")


def estimator_from(name: str, method: str, *records: Any, **more: Any) -> Any:
    """Build an estimator from the options that are not None, or a preset that they change.

    Parameters
    ----------
    name : str
        The public name of the estimator.
    method : str
        The part of the command that selected the estimator, for messages.
    *records : record of options
        Options that set its parameters.
    **more
        Further parameters, and the options `as_in` and `set`, which replaces all others.
    """
    settings: dict[str, Any] = {}
    for part in (*map(chosen, records), more):
        settings |= part
    settings |= dict(settings.pop("set", ()))
    settings.pop("method", None)
    as_in, estimator = settings.pop("as_in", None), getattr(mm, name)
    known = inspect.signature(estimator).parameters
    # The atlas of --init is read later, when the labels are known.
    values = {key: value for key, value in settings.items()
              if value is not None and not isinstance(value, Path)}  # fmt: skip
    for key, value in values.items():
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ParameterError(f"does not apply to {method}{hint}", name=key, value=value)
    if as_in is None:
        return estimator(**values)
    presets = [one for one in dir(estimator) if re.fullmatch(r"\w+_\d{4}", one)]
    if as_in not in presets:
        listed = f"; use {' or '.join(presets)}" if presets else ", which has none"
        raise click.UsageError(f"--as-in {as_in} is not a preset of {method}{listed}")
    preset = getattr(estimator, as_in)
    sizes = {key: values.pop(key) for key in inspect.signature(preset).parameters
             if key in values}  # fmt: skip
    return preset(**sizes).set_params(**values)


def output_names(record: Any, *names: str) -> dict[str, str | None]:
    """Return the names of output files for a record, or None for missing outputs."""
    paths = chosen(record, *names).items()
    return {name: None if path is None else str(path) for name, path in paths}
