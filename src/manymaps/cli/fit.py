"""The command `fit`: the methods, the construction of estimators from options, and the run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import manymaps as mm
from manymaps.cli.contract import NotConverged, elapsed, next_step, note, note_case, tell
from manymaps.cli.interruption import run_fit
from manymaps.cli.options import Running, as_in_option, estimator_from, setting_option
from manymaps.cli.record import argument, command, flag, group, option, output_option
from manymaps.cli.types import InputFile, Number, OrFile, OutputFile, perplexities, positive
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.cli.reading import Loaded, PairData

# The public names of the estimators.
METHODS = {
    "mm-tsne": "MultipleMapsTSNE",
    "mm-sne": "MultipleMapsSNE",
    "aspect-maps": "AspectMaps",
    "tsne": "TSNE",
    "sne": "SNE",
    "symmetric-sne": "SymmetricSNE",
    "uni-sne": "UniSNE",
    "code": "CODE",
}
USUAL_METHOD = "mm-tsne"
CODE_FITS = (
    "--method code fits counts of rows and columns; if the file lists counts, use manymaps read {} "
    "--rows COLUMN --columns COLUMN --strength COLUMN -o OUT.npz"
)
STARTS = ("auto", "personas", "random", "pca", "mds", "ca")


@dataclass(frozen=True, kw_only=True)
class Model:
    """Options of the model. None represents the default of the method."""

    method: str | None = option(
        list(METHODS),
        "Method to fit: several maps (mm-tsne, mm-sne, aspect-maps), one map, or counts (code).  "
        f"[default: {USUAL_METHOD}]",
    )
    maps: int | None = option(
        positive, "Number of maps.  [default: 40; aspect-maps: 50; code: 1]", sets="n_maps"
    )
    penalty: float | None = option(
        Number(min=0),
        "Weight of the penalty on the size of maps, or 0 to turn it off.  [default: 0.001; mm-sne: "
        "0.01; aspect-maps: 0.48; code: 0.01]",
    )
    iterations: int | None = option(
        positive,
        "Maximum number of iterations.  [default: 2000; sne, symmetric-sne, code: 1000; tsne: 750; "
        "uni-sne: 2500]",
        sets="max_iter",
    )
    perplexity: float | tuple[float, ...] | None = option(
        perplexities,
        "Effective number of neighbours of a vector; several values are averaged (all methods "
        "except code).  [default: 30]",
        metavar="X[,X...]",
    )
    metric: str | None = option(
        "NAME",
        "Distance between vectors, or precomputed for distances (all methods except code).  "
        "[default: euclidean]",
    )
    set: tuple[tuple[str, Any], ...] = setting_option(
        "Set any parameter of the estimator of the method; can be repeated."
    )


@dataclass(frozen=True, kw_only=True)
class FitModel(Model):
    """Options of the model of a single fit."""

    as_in: str | None = as_in_option()
    dims: int | None = option(
        positive, "Number of dimensions of each map.  [default: 2]", sets="n_components"
    )


@dataclass(frozen=True, kw_only=True)
class Start:
    """Options of the start of a fit, and of repeated runs."""

    init: str | Path | None = option(
        OrFile("start", STARTS, ".atlas"),
        "Initial positions: auto, personas (several maps), random, pca, mds (one map), "
        "ca (code), or an atlas.  [default: auto; aspect-maps: random]",
        metavar="START",
    )  # fmt: skip
    restarts: int | None = option(
        positive, "Number of runs from different starts; the best is used.  [default: 1]",
        sets="n_init",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of the command `fit`."""

    file: Path = argument("FILE", InputFile())
    model: FitModel = group(FitModel, "Model")
    start: Start = group(Start, "Start and run")
    running: Running = group(Running, "Start and run")
    words: Path | None = option(
        InputFile(), "Fit only the words in this file, one per line (vectors only)."
    )
    metadata: Path | None = option(
        InputFile(), "Add the columns of this table to the objects, matched by label."
    )
    output: Path = output_option(
        "OUT.atlas",
        OutputFile(archive=True, may_replace=("--init",)),
        "Write the atlas to this file.",
    )
    checkpoint: Path | None = option(
        OutputFile(".atlas", archive=True, may_replace=("--init",)),
        "Save the maps to this atlas every half minute during the fit; --init continues from it.",
    )
    strict: bool = flag("Exit with status 4 if the fit has not converged.")


@command(FitOptions)
def fit(options: FitOptions) -> None:
    """Fit maps to the data in FILE and write them to OUT.atlas.

    FILE is written by `manymaps read`, or a raw file that needs none of its options: associations,
    similarities, vectors or, for the method code, counts of rows and columns.

    \b
    Examples:  manymaps fit norms.csv -o norms.atlas --maps 20
               manymaps fit norms.csv -o norms.atlas --as-in van_der_maaten_2009
               manymaps fit glove.txt -o nouns.atlas --method tsne --words nouns.txt
               manymaps fit digits.npy -o digits.atlas --method tsne --perplexity 10,100
               manymaps fit counts.npz -o posts.atlas --method code --restarts 5
    """
    method, output, init = options.model.method or USUAL_METHOD, options.output, options.start.init
    estimator = estimator_from(
        METHODS[method], f"--method {method}", options.model, options.start, options.running
    )
    data = read_for(options.file, method, options.model.metric, options.words).fitted
    columns = None if options.metadata is None else _columns(options.metadata, data)
    if isinstance(init, Path):
        estimator.set_params(init=_started(init, data))
    run_fit(estimator, data, str(options.file), output, options.checkpoint)
    atlas: mm.Atlas = estimator.atlas_
    atlas = atlas if columns is None else atlas.add_metadata(columns)
    with work(f"writing {output}"):
        atlas.save(output)
    record = fit_record(estimator, data, method, output)
    tell(lambda: record, lambda: _summary(record, atlas), summary=True)
    if options.strict and not estimator.converged_:
        raise NotConverged(
            f"not converged after {estimator.n_iter_} iterations; the atlas is in {output}; "
            "use more --iterations"
        )


def read_for(file: Path, method: str, metric: str | None, words: Path | None = None) -> Loaded:
    """Read the data for a method, and reject data that it does not fit."""
    from manymaps.cli.reading import PAIRS, opened
    from manymaps.cli.report import reading_notes

    # An array can contain vectors or similarities, which only an option distinguishes.
    kind = "counts" if method == "code" else None if metric is words is None else "vectors"
    loaded = opened(file, kind, takes=(*PAIRS, "vectors", "counts"), words=words)
    data = loaded.fitted
    contents = f"{file} contains {type(data).__name__.lower()}"
    if isinstance(data, mm.Counts) != (method == "code"):
        advice = "use --method code to fit counts" if method != "code" else CODE_FITS.format(file)
        raise click.UsageError(f"{contents}; {advice}")
    for name, value in (("--metric", metric), ("--words", words)):
        if value is not None and not isinstance(data, mm.Vectors):
            raise click.UsageError(f"{name} does not apply: {contents}")
    note(*reading_notes(data))
    return loaded


def _columns(path: Path, data: PairData | mm.Counts) -> Any:
    """Read metadata, and check that it matches the data before a fit that takes long."""
    from manymaps.cli.reading import labels_in
    from manymaps.data.frames import join_columns
    from manymaps.io.frames import read_columns

    columns = read_columns(path)
    join_columns(labels_in(data), columns)
    return columns


def _started(path: Path, data: PairData | mm.Counts) -> mm.Atlas:
    """Read the atlas that a fit starts from, with its objects in the order of the data."""
    atlas = mm.load_atlas(path)
    if isinstance(data, mm.Counts):
        return atlas
    note_case("the initial atlas", data.labels, atlas.labels)
    return atlas.subset(list(data.labels))


def fit_record(estimator: Any, data: Any, method: str, output: Path) -> dict[str, Any]:
    """Return the record of `fit --json`; for counts, it includes likelihood and omissions."""
    from manymaps.analysis.reliability import mean_explained
    from manymaps.atlas.representation import model_text

    atlas: mm.Atlas = estimator.atlas_
    record: dict[str, Any] = {
        "method": method,
        "model": model_text(atlas),
        "n_objects": atlas.n_objects,
        "n_pairs": getattr(data, "n_pairs", None),
        "n_maps": atlas.n_maps,
        "n_components": atlas.n_components,
        "n_iterations": int(estimator.n_iter_),
        "kl_divergence": float(estimator.kl_divergence_),
        "converged": bool(estimator.converged_),
    }
    if atlas.associations is not None:
        with work("computing the explained share"):
            shares = mean_explained(atlas)
        names = ("explained", "explained_by_even_spread")
        record |= {k: v for k, v in zip(names, shares, strict=True) if math.isfinite(v)}
    if atlas.kinds is not None:
        n_rows = int(atlas.choices.is_row.sum())
        record |= {
            "log_likelihood": float(estimator.log_likelihood_),
            "n_rows": n_rows,
            "n_columns": atlas.n_objects - n_rows,
            "empty_rows": len(estimator.empty_rows_),
            "empty_columns": len(estimator.empty_columns_),
        }
    if getattr(estimator, "restarts_", ()):
        record["restarts"] = [asdict(one) for one in estimator.restarts_]
    return record | {"seconds": elapsed(), "output": str(output)}


def _summary(record: Mapping[str, Any], atlas: mm.Atlas) -> str:
    """Format the model, the numbers of the fit, and the next commands."""
    from manymaps.cli.report import record_text

    output, text = Path(record["output"]), [repr(atlas)]
    numbers = ("n_iterations", "kl_divergence", "log_likelihood", "converged", "explained",
               "explained_by_even_spread", "seconds", "output")  # fmt: skip
    text.append(record_text({name: record[name] for name in numbers if name in record}))
    if atlas.n_maps > 1:
        text.append(next_step("senses", output, atlas.labels[0]))
    text.append(next_step("view", output, "-o", output.with_suffix(".html")))
    return "\n".join(text)
