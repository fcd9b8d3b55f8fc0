"""The command `fit`: the methods, the construction of estimators from options, and the run."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

import manymaps as mm
from manymaps.cli.contract import (
    Interrupted,
    NotConverged,
    elapsed,
    next_step,
    note,
    option_name,
    tell,
)
from manymaps.cli.interruption import Checkpoint, ending_early, partial_name
from manymaps.cli.options import (
    Running,
    refuse_given,
)
from manymaps.cli.record import (
    argument,
    command,
    flag,
    group,
    option,
    output_option,
    settings_of,
)
from manymaps.cli.types import (
    InputFile,
    Number,
    OrFile,
    OutputFile,
    Setting,
    perplexities,
    positive,
    refuse_to_replace,
)
from manymaps.errors import ParameterError
from manymaps.labels import in_words, plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.cli.reading import Loaded, PairData
    from manymaps.maps.restarts import Restart


class Run(NamedTuple):
    """The outcome of a fit: the number of stored pairs, and whether the fit was interrupted."""

    n_pairs: int
    stopped: bool


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
OF_COUNTS = "code"

NOT_OF_COUNTS = ("words", "drop_vectors", "most_given")
STARTS = ("auto", "personas", "random", "pca", "mds", "spectral", "ca")
STARTS_OF_COUNTS = ("auto", "ca", "random")


@dataclass(frozen=True, kw_only=True)
class Model:
    """Options of the model. None represents the default of the method."""

    method: str | None = option(
        list(METHODS), f"Method to fit; code is for counts.  [default: {USUAL_METHOD}]"
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
    set: tuple[tuple[str, Any], ...] = option(
        Setting(),
        "Set any parameter of the estimator of the method; can be repeated.",
        multiple=True,
    )


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Options of the start of a fit, and of repeated runs."""

    dims: int | None = option(
        positive, "Number of dimensions of each map.  [default: 2]", sets="n_components"
    )
    init: str | Path | None = option(
        OrFile("start", STARTS, ".atlas"),
        "Initial positions: auto, personas (several maps), random, pca, mds, spectral (one "
        "map), ca (code), or an atlas.  [default: auto; aspect-maps: random]",
        metavar="START",
    )  # fmt: skip
    restarts: int | None = option(
        positive, "Number of runs from different starts; the best is used.  [default: 1]",
        sets="n_init",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class VectorModel:
    """Options for fitting vectors."""

    perplexity: float | tuple[float, ...] | None = option(
        perplexities,
        "Effective number of neighbours of a vector; several values are averaged (all methods "
        "except code).  [default: 30]",
        metavar="X[,X...]",
    )  # fmt: skip
    metric: str | None = option(
        "NAME",
        "Distance between vectors, or precomputed for distances (all methods except code).  "
        "[default: euclidean]",
    )


@dataclass(frozen=True, kw_only=True)
class VectorReading:
    """Options that determine which vectors are read, and whether vectors are stored."""

    words: Path | None = option(
        InputFile(), "Fit only the words in this file, one per line (vectors only)."
    )
    drop_vectors: bool = flag("Leave the vectors out of the atlas (vectors only).")


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of the command `fit`."""

    file: Path = argument("FILE", InputFile())
    output: Path = output_option(
        "OUT.atlas",
        OutputFile(archive=True, may_replace=("--init",)),
        "Write the atlas to this file.",
    )
    model: Model = group(Model)
    runs: Runs = group(Runs)
    running: Running = group(Running)
    most_given: int | None = option(
        positive,
        "Fit only the N words that are responses to most cues (associations only).  [default: all]",
        metavar="N",
        sets="n_words",
    )
    vector_model: VectorModel = group(VectorModel)
    vectors: VectorReading = group(VectorReading)
    metadata: Path | None = option(
        InputFile(), "Add the columns of this table to the objects, matched by label."
    )
    checkpoint: Path | None = option(
        OutputFile(".atlas", archive=True, may_replace=("--init",)),
        "Save the maps to this atlas every half minute during the fit; --init continues from it.",
    )
    strict: bool = flag("Exit with status 4 if the fit has not converged.")


@command(FitOptions)
def fit(options: FitOptions) -> None:
    """Fit maps to the data in FILE and write them to OUT.atlas.

    FILE is written by `manymaps read`, or a raw file that needs none of its options. It contains
    associations, similarities or vectors. For the method code, it contains counts of rows and
    columns, such as documents and words. The methods tsne, sne, symmetric-sne, uni-sne and
    code fit one map, the others fit several; code fits several maps with --maps.

    \b
    Examples:  manymaps fit norms.csv -o norms.atlas
               manymaps fit norms.csv -o norms.atlas --maps 20 --checkpoint so-far.atlas
               manymaps fit glove.txt -o nouns.atlas --method tsne --words nouns.txt
               manymaps fit digits.npy -o digits.atlas --method tsne --perplexity 10,100
               manymaps fit counts.npz -o posts.atlas --method code --restarts 5
               manymaps fit judged.npz -o judged.atlas --maps 2 --restarts 10
    """
    from manymaps.atlas.representation import model_text

    output, vectors = options.output, options.vectors
    method = options.model.method or USUAL_METHOD
    estimator = build(method, options.model, options.runs, options.running, options.vector_model)
    _check_start(method, options.runs.init)
    loaded = read_for(options.file, method, options.vector_model.metric, vectors.words)
    atlas, run = _fitted(estimator, loaded.fitted, options)
    if run.stopped:
        stopped = options.checkpoint or partial_name(output)
        keep_stopped(estimator, atlas, stopped, vectors=not vectors.drop_vectors)
    note(model_text(atlas))
    _note_restarts(getattr(estimator, "restarts_", ()))
    _save(atlas, output, drop_vectors=vectors.drop_vectors)
    record = fit_record(estimator, run.n_pairs, method, output)
    summary = f"{_summary(record, atlas)}\n{_next_steps(atlas, output)}"
    tell(lambda: record, lambda: summary, summary=True)
    if options.strict and not estimator.converged_:
        raise NotConverged(
            f"not converged after {estimator.n_iter_} iterations; the atlas is in {output}; "
            "use more --iterations"
        )


def _check_start(method: str, init: str | Path | None) -> None:
    """Reject a start that does not apply to the method."""
    others = tuple(name for name in STARTS if name != "ca")
    known = STARTS_OF_COUNTS if method == OF_COUNTS else others
    if isinstance(init, str) and init not in known:
        raise ParameterError(
            f"--init {init} does not apply to --method {method}; use {', '.join(known)}, or an "
            "atlas"
        )


def read_for(file: Path, method: str, metric: str | None, words: Path | None = None) -> Loaded:
    """Read the data for a method, and reject data and options that do not apply to it."""
    from manymaps.cli.reading import load
    from manymaps.cli.report import reading_notes

    if method == OF_COUNTS:
        refuse_given(NOT_OF_COUNTS, f"--method {method}")
    loaded = load(file, counts=method == OF_COUNTS, metric=metric, words=words)
    data = loaded.fitted
    if isinstance(data, mm.Counts) and method != OF_COUNTS:
        raise click.UsageError(
            f"{file} contains counts, such as documents by words; use --method code to fit them, "
            f"or manymaps read {file} --kind associations -o OUT.npz to read associations"
        )
    if method == OF_COUNTS and not isinstance(data, mm.Counts):
        raise click.UsageError(
            f"--method code fits counts of rows and columns, and {file} contains other data; use "
            f"manymaps read {file} --rows COLUMN --columns COLUMN --strength COLUMN -o OUT.npz if "
            "it lists counts"
        )
    note(*reading_notes(data))
    return loaded


def _fitted(
    estimator: Any, data: PairData | mm.Counts, options: FitOptions
) -> tuple[mm.Atlas, Run]:
    """Fit the data; return the atlas with its metadata, and the outcome of the fit."""
    from manymaps.cli.reading import aligned, joined_columns, with_metadata
    from manymaps.io.metadata import read_columns

    if options.most_given is not None:
        if not isinstance(data, mm.Associations):
            raise click.UsageError(f"--most-given applies to associations, not to {options.file}")
        data = data.most_given(options.most_given)
    columns: Mapping[str, Any] | None = None
    if isinstance(data, mm.Counts):
        if options.metadata is not None:
            data = with_metadata(data, options.metadata)
    elif options.metadata is not None:
        columns = read_columns(options.metadata)
        joined_columns(data.labels, options.metadata, columns)
    if options.vector_model.perplexity is not None and isinstance(data, mm.Associations):
        note("--perplexity has no effect on associations")
    if isinstance(options.runs.init, Path):
        start = mm.load_atlas(options.runs.init)
        estimator.set_params(init=start if isinstance(data, mm.Counts) else aligned(start, data))
    run = run_fit(estimator, data, str(options.file), options.checkpoint)
    atlas: mm.Atlas = estimator.atlas_
    return atlas if columns is None else atlas.add_metadata(columns), run


def build(method: str, *records: Any) -> Any:
    """Build the estimator of a method from the options in some records, except those that are None.

    Raises
    ------
    ParameterError
        If the estimator of the method does not have the parameter that an option sets.
    """
    estimator = getattr(mm, METHODS[method])
    known = inspect.signature(estimator).parameters
    parameters: dict[str, Any] = {}
    for one, parameter, value in (setting for record in records for setting in settings_of(record)):
        if parameter == "set":
            # The values are checked by the constraints of the estimator.
            for name, chosen_value in value:
                if name not in known:
                    near = get_close_matches(name, known, 1)
                    hint = f"; did you mean {near[0]}?" if near else ""
                    raise ParameterError(f"--set {name} does not apply to --method {method}{hint}")
                parameters[name] = chosen_value
        elif value is not None and parameter != "method":
            if parameter not in known:
                raise ParameterError(
                    f"{option_name(one, value)} does not apply to --method {method}"
                )
            parameters[parameter] = value
    if isinstance(parameters.get("init"), Path):
        del parameters["init"]  # read later, when the labels are known
    return estimator(**parameters)


def run_fit(
    estimator: Any, data: PairData | mm.Counts, what: str, checkpoint: Path | None = None
) -> Run:
    """Fit, and keep the maps if Ctrl-C (or the signal TERM) stops the fit.

    Raises
    ------
    Interrupted
        If the fit ends without its last maps. The message states whether maps have been saved to
        the checkpoint.
    """
    saving = None if checkpoint is None else Checkpoint(checkpoint)
    try:
        with work(f"fitting {what}"), ending_early() as stop:
            estimator.set_params(callback=stop if saving is None else [saving, stop])
            return Run(_fit(estimator, data), stop.asked)
    except KeyboardInterrupt as error:
        what_remains = "nothing was saved"
        if saving is not None and saving.saved:
            what_remains = f"the last saved maps are in {checkpoint}"
        raise Interrupted(f"interrupted; {what_remains}") from error


def _fit(estimator: Any, data: PairData | mm.Counts) -> int:
    """Fit, and return the number of stored pairs (associations, counts, or neighbours)."""
    if not isinstance(data, mm.Vectors):
        estimator.fit(data)
        return data.n_pairs
    from manymaps.affinity.affinities import Affinity
    from manymaps.cli.reading import WatchedAffinity

    chosen = estimator.affinity
    inside = chosen if isinstance(chosen, Affinity) else None
    watched = WatchedAffinity(
        inside or mm.GaussianAffinity(estimator.perplexity), repr(inside) if inside else str(chosen)
    )
    estimator.set_params(affinity=watched).fit(data)
    return watched.n_pairs


def keep_stopped(estimator: Any, atlas: mm.Atlas, path: Path, *, vectors: bool) -> NoReturn:
    """Write the maps of a stopped fit to a file, and report its name.

    Raises
    ------
    Interrupted
        Always, after the maps are written.
    """
    try:
        refuse_to_replace("the maps so far", path)
    except click.UsageError as error:
        raise Interrupted(f"interrupted; nothing was saved: {error.message}") from error
    atlas.save(path, vectors=vectors)
    n = plural("iteration", int(estimator.n_iter_))
    raise Interrupted(
        f"interrupted; the maps after {n} are in {path}; to continue from them, repeat the "
        f"command with --init {path}"
    )


def fit_record(estimator: Any, n_pairs: int, method: str, output: Path) -> dict[str, Any]:
    """Return the record of `fit --json`; for counts, it includes likelihood and omissions."""
    from manymaps.analysis.reliability import mean_explained

    atlas: mm.Atlas = estimator.atlas_
    restarts: Sequence[Restart] = getattr(estimator, "restarts_", ())
    shares = math.nan, math.nan
    if atlas.associations is not None:
        with work("computing the explained share"):
            shares = mean_explained(atlas)
    names = "explained", "explained_by_even_spread"
    explained = {k: share for k, share in zip(names, shares, strict=True) if math.isfinite(share)}
    of_counts: dict[str, Any] = {}
    if atlas.kinds is not None:
        n_rows = int(atlas.choices.is_row.sum())
        of_counts = {
            "log_likelihood": float(estimator.log_likelihood_),
            "n_rows": n_rows,
            "n_columns": atlas.n_objects - n_rows,
            "empty_rows": len(estimator.empty_rows_),
            "empty_columns": len(estimator.empty_columns_),
        }
    return {
        "method": method,
        "n_objects": atlas.n_objects,
        "n_pairs": n_pairs,
        "n_maps": atlas.n_maps,
        "n_components": atlas.n_components,
        "n_iterations": int(estimator.n_iter_),
        "kl_divergence": float(estimator.kl_divergence_),
        "converged": bool(estimator.converged_),
        **explained,
        **of_counts,
        **({"restarts": [asdict(one) for one in restarts]} if restarts else {}),
        "seconds": elapsed(),
        "output": str(output),
    }


def _note_restarts(restarts: Sequence[Restart]) -> None:
    """Report the differences between several runs, and the seed of the best run."""
    if len(restarts) > 1:
        best, *others = sorted(restarts, key=lambda one: one.cost)
        note(
            f"best of {len(restarts)} runs: cost {best.cost:.4f} (seed {best.seed}); the "
            f"others end at costs of {others[0].cost:.4f} to {others[-1].cost:.4f}"
        )


def _save(atlas: mm.Atlas, output: Path, *, drop_vectors: bool) -> None:
    """Write the atlas, and report the purpose and the size of the stored vectors."""
    with work(f"writing {output}"):
        atlas.save(output, vectors=not drop_vectors)
    if atlas.vectors is not None and not drop_vectors:
        size = atlas.vectors.data.nbytes / 1e6
        note(
            f"the atlas contains the vectors ({size:,.1f} MB), which `manymaps insert` compares "
            "with new objects; use --drop-vectors to leave them out"
        )


def _summary(record: Mapping[str, Any], atlas: mm.Atlas) -> str:
    maps = "1 map" if atlas.n_maps == 1 else f"{atlas.n_maps} maps"
    output = record["output"]
    objects, likelihood = f"{record['n_objects']:,} objects", ""
    explained = f"explained share {record['explained']:.0%}, " if "explained" in record else ""
    if "explained_by_even_spread" in record:
        explained += f"{record['explained_by_even_spread']:.0%} by an even spread, "
    if atlas.kinds is not None:
        objects = in_words([plural(kind, n) for kind, n in Counter(atlas.kinds).items()])
        likelihood = f"log-likelihood {record['log_likelihood']:.4f} per count, "
    return (
        f"{output}: {maps} of {objects}, {likelihood}"
        f"{explained}KL divergence {record['kl_divergence']:.4f} after "
        f"{record['n_iterations']:,} iterations in {record['seconds']:.0f} s"
    )


def _next_steps(atlas: mm.Atlas, output: Path) -> str:
    """Suggest the commands that show the senses of a word, or a figure, and the page."""
    look: list[object] = ["plot", output, "-o", output.with_suffix(".png")]
    if atlas.n_maps > 1:
        look = ["senses", output, atlas.labels[0]]
    page = next_step("manymaps", "view", output, "-o", output.with_suffix(".html"))
    return f"{next_step('manymaps', *look)}\n{page.replace('next:', '     ', 1)}"
