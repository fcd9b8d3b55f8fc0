"""The command `fit`: the methods it offers, how one is built from options, and its run."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from manymaps.cli.contract import (
    Command,
    Interrupted,
    NotConverged,
    elapsed,
    note,
    quiet_option,
    refuse_overwriting,
    refuse_to_replace,
    shown,
    tell,
)
from manymaps.cli.interruption import (
    ending_early,
    modified,
    partial_name,
)
from manymaps.cli.options import (
    OF_TRIALS,
    ROW_SUMS,
    combined,
    jobs_option,
    json_option,
    reading_options,
    refuse_given,
    seed_option,
)
from manymaps.cli.types import InputFile, Number, OrFile, OrWord, OutputFile, perplexities, positive
from manymaps.cli.workers import check_workers, on_workers, worker_options
from manymaps.errors import ParameterError
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.atlas.atlas import Atlas
    from manymaps.cli.reading import PairData
    from manymaps.data.counts import Counts
    from manymaps.data.judgements import Judgements
    from manymaps.maps.restarts import Restart

__all__ = [
    "METHODS",
    "OF_COUNTS",
    "USUAL_METHOD",
    "Method",
    "Run",
    "build",
    "check_method",
    "count_options",
    "fit",
    "fit_record",
    "keep_stopped",
    "model_options",
    "run_fit",
    "vector_options",
]


@dataclass(frozen=True)
class Method:
    """A method of `fit`: its estimator's public name, and the defaults that the command changes."""

    estimator: str
    defaults: Mapping[str, Any] = field(default_factory=dict)


class Run(NamedTuple):
    """How a fit ended: its stored pairs, and whether somebody stopped it."""

    n_pairs: int
    stopped: bool


METHODS = {
    "mm-tsne": Method("MultipleMapsTSNE", {"n_maps": 40}),
    "mm-sne": Method("MultipleMapsSNE", {"n_maps": 40}),
    "aspect-maps": Method("AspectMaps"),
    "tsne": Method("TSNE"),
    "sne": Method("SNE"),
    "symmetric-sne": Method("SymmetricSNE"),
    "uni-sne": Method("UniSNE"),
    "code": Method("CODE"),
}
USUAL_METHOD = "mm-tsne"
OF_COUNTS = "code"

PARAMETERS = {
    "maps": "n_maps",
    "dims": "n_components",
    "normalization": "normalization",
    "given": "given",
    "no-marginals": "marginals",
    "penalty": "penalty",
    "background": "background",
    "divergence": "divergence",
    "smoothing": "smoothing",
    "perplexity": "perplexity",
    "local-perplexity": "affinity",
    "metric": "metric",
    "recall": "neighbors",
    "init": "init",
    "early-exaggeration": "early_exaggeration",
    "late-exaggeration": "late_exaggeration",
    "learning-rate": "learning_rate",
    "iterations": "max_iter",
    "restarts": "n_init",
    "tolerance": "tolerance",
    "seed": "random_state",
    "jobs": "n_jobs",
}

FOR_VECTORS = ("perplexity", "local-perplexity", "recall")
NOT_OF_COUNTS = (
    "cue", "response", "strength", "labels", "responses", "words", "drop_vectors", "node_measures",
    *OF_TRIALS,
)  # fmt: skip
STARTS = ("auto", "personas", "random", "pca", "mds", "spectral", "ca")
STARTS_OF_COUNTS = ("auto", "ca", "random")

model_options = combined(
    click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        help=f"The model; code is of counts.  [default: {USUAL_METHOD}]",
    ),
    click.option(
        "--maps",
        type=positive,
        metavar="N",
        help="Number of maps.  [default: 40; aspect-maps: 50; code: 1]",
    ),
    click.option(
        "--dims", type=positive, metavar="N", help="Dimensions of each map.  [default: 2]"
    ),
    click.option(
        "--normalization",
        type=click.Choice(["conditional", "joint"]),
        help="Over each row, or over all pairs.  [default: conditional]",
    ),
    click.option(
        "--penalty",
        type=Number(min=0),
        metavar="X",
        help="Weight of the maps' size; 0 lets them spread.  [default: 0.001; mm-sne: 0.01; "
        "aspect-maps: 0.48; code: 0]",
    ),
    click.option(
        "--background",
        type=Number(min=0, max=1, max_open=True),
        metavar="X",
        help="Share of similarity spread evenly.  [default: 0; uni-sne: 0.2]",
    ),
    click.option(
        "--divergence",
        type=click.Choice(["forward", "inverse"]),
        help="KL(P||Q), or KL(Q||P), against unrelated words put together.  [default: forward]",
    ),
    click.option(
        "--smoothing",
        type=Number(0, 1, min_open=True, max_open=True),
        metavar="X",
        help="Share of P spread evenly, for the inverse divergence.  [default: 0.01]",
    ),
    click.option(
        "--iterations",
        type=positive,
        metavar="N",
        help="At most so many.  [default: 2000; sne, symmetric-sne, code: 1000; tsne: 750; "
        "uni-sne: 2500]",
    ),
    click.option(
        "--early-exaggeration",
        type=Number(min=1),
        metavar="X",
        help="Factor of the attraction at first, of tsne.  [default: 12]",
    ),
    click.option(
        "--late-exaggeration",
        type=Number(min=1),
        metavar="X",
        help="Factor of the attraction at the end, of tsne.  [default: 1]",
    ),
    click.option(
        "--learning-rate",
        type=OrWord("auto", Number(min=0, min_open=True), "a number above 0"),
        metavar="X",
        help="Of tsne.  [default: auto]",
    ),
    click.option(
        "--init",
        type=OrFile("start", STARTS, ".atlas"),
        metavar="START",
        help="auto, personas (of many maps), random, pca, mds, spectral (of one), ca (of code), or "
        "an atlas.  [default: auto; aspect-maps: random]",
    ),
    click.option(
        "--restarts",
        type=positive,
        metavar="N",
        help="Runs from different starts, the best of which is kept.  [default: 1]",
    ),
    click.option(
        "--tolerance",
        type=Number(min=0, min_open=True),
        metavar="X",
        help="Relative error allowed in the sums.  [default: 0.005]",
    ),
    seed_option,
    jobs_option,
)

vector_options = combined(
    click.option(
        "--perplexity",
        type=perplexities,
        metavar="X[,X...]",
        help="Neighbours of a vector, of all methods but code; several are averaged.  [default: "
        "30]",
    ),
    click.option(
        "--local-perplexity",
        is_flag=False,
        flag_value="2",
        type=Number(),
        metavar="[SD]",
        help="Add the neighbours so many deviations above the mean (2 where SD is left out).",
    ),
    click.option(
        "--metric",
        metavar="NAME",
        help="Distance of vectors, of all methods but code; precomputed where FILE holds "
        "distances.  [default: euclidean]",
    ),
    click.option(
        "--recall",
        type=Number(min=0, max=1, min_open=True),
        metavar="X",
        help="Share of the true neighbours to find at least.  [default: 0.95]",
    ),
    click.option("--words", type=InputFile(), help="Fit these words' vectors alone, one a line."),
    click.option("--drop-vectors", is_flag=True, help="Keep no vectors in the atlas."),
)


count_options = combined(
    click.option(
        "--max-words",
        type=positive,
        metavar="N",
        help="Of code: fit the columns of most counts alone.  [default: all]",
    ),
    click.option(
        "--given",
        type=click.Choice(["rows", "columns"]),
        help="Of code, conditional: which of them choose.  [default: rows]",
    ),
    click.option(
        "--no-marginals",
        is_flag=True,
        callback=lambda ctx, param, value: False if value else None,
        help="Of code: leave the frequencies of rows and columns out of the model.",
    ),
)


@click.command(cls=Command)
@click.argument("files", type=InputFile(), metavar="FILE...", nargs=-1, required=True)
@click.option("-o", "--output", type=OutputFile(), required=True, metavar="OUT.atlas")
@click.option(
    "--judge",
    metavar="COLUMN",
    help="Of a long table of judgements: who judged. The judges' average is fitted.",
)
@model_options
@count_options
@vector_options
@reading_options
@click.option(
    "--pin",
    type=InputFile(),
    metavar="ATLAS",
    help="Hold the objects of an atlas where they are, and arrange the others around them; method, "
    "maps and dims are by default the atlas's.",
)
@click.option("--metadata", type=InputFile(), help="Table whose columns are joined by label.")
@click.option(
    "--node-measures",
    is_flag=True,
    help="Of associations: strength, degree, clustering and PageRank of each word as columns too.",
)
@click.option(
    "--trust",
    is_flag=True,
    help='Add the column "share explained": how much of what was fitted of an object its place '
    "gives as well.",
)
@worker_options
@click.option("--checkpoint", type=OutputFile(), help="Keep the state of the fit in this file.")
@click.option("--resume", type=InputFile(), help="Go on from a checkpoint.")
@click.option("--strict", is_flag=True, help="Exit with 4 where the fit has not converged.")
@quiet_option
@json_option
@click.pass_context
def fit(
    ctx: click.Context, files: Sequence[Path], output: Path, as_json: bool, **options: Any
) -> None:
    """Fit maps to FILE and write them to OUT.atlas.

    FILE holds associations, similarities or vectors; or counts of two kinds of object, such as
    documents and words, for the method code. The methods tsne, sne, symmetric-sne, uni-sne and code
    make one map, the others many; code makes several with --maps.

    Several FILEs are judgements of the same objects, a table of each judge (or one long table with
    --judge): their average is fitted, and each judge compared with the others and with the fit.
    Cells of a table that are empty were not judged, and do not count.

    \b
    Examples:  manymaps fit norms.csv -o norms.atlas
               manymaps fit norms.csv -o norms.atlas --maps 20 --checkpoint norms.state
               manymaps fit glove.txt -o nouns.atlas --method tsne --words nouns.txt
               manymaps fit digits.npy -o digits.atlas --method tsne --perplexity 10,100
               manymaps fit counts.npz -o posts.atlas --method code --restarts 5
               manymaps fit more.csv -o more.atlas --pin norms.atlas
               manymaps fit ann.csv ben.csv eve.csv -o judged.atlas --maps 2 --restarts 10
    """
    refuse_overwriting(
        {"-o": output, "--checkpoint": options["checkpoint"]},
        {
            **{"FILE" if k == 0 else f"FILE {k + 1}": file for k, file in enumerate(files)},
            **{f"--{name}": options[name] for name in ("pin", "metadata", "words", "labels")},
        },
    )
    refuse_to_replace("-o", output)
    refuse_to_replace("--checkpoint", options["checkpoint"])
    _check_spread(ctx, options)
    judged = len(files) > 1 or options["judge"] is not None
    if options["pin"] is not None:
        options["pin"] = _taken_from(options["pin"], options)
    if judged:
        _check_judged(ctx, options)
    else:
        check_method(ctx, files[0], options)
    method = options["method"] = options["method"] or USUAL_METHOD
    estimator = build(method, options)
    judgements = _read_judged(files, options) if judged else None
    fitted: tuple[Atlas, PairData | Counts, Run] = (
        _fit_counts(ctx, estimator, files[0], options)
        if method == OF_COUNTS
        else _fit_pairs(ctx, estimator, files[0], options, judgements)
    )
    atlas, data, run = fitted
    if run.stopped:
        keep_stopped(estimator, atlas, output, vectors=not options["drop_vectors"])
    _note_restarts(getattr(estimator, "restarts_", ()))
    if options["trust"]:
        atlas = _with_trust(atlas)
    _save(atlas, output, drop_vectors=options["drop_vectors"])
    record = fit_record(estimator, run.n_pairs, method, output)
    summary = _summary(record, atlas, data)
    if judgements is not None:
        from manymaps.analysis.agreement import judge_agreement
        from manymaps.cli.report import agreement_table

        agreement = judge_agreement(judgements, atlas)
        record["judges"] = agreement.records()
        summary = f"{agreement_table(agreement)}\n{summary}"
    tell(lambda: record, lambda: summary, as_json=as_json, summary=True)
    if options["strict"] and not estimator.converged_:
        raise NotConverged(
            f"not converged after {estimator.n_iter_} iterations; the atlas is in {output}; "
            "give more --iterations"
        )


def check_method(ctx: click.Context, file: Path, options: Mapping[str, Any]) -> None:
    """Refuse options that do not go with the method, and counts where none is chosen."""
    method = options["method"]
    if method == OF_COUNTS:
        refuse_given(ctx, NOT_OF_COUNTS, f"--method {method}")
        start = options["init"]
        if isinstance(start, str) and start not in STARTS_OF_COUNTS:
            raise ParameterError(
                f"--init {start} does not apply to --method {method}; give "
                f"{', '.join(STARTS_OF_COUNTS)}, or an atlas"
            )
        return
    if method is None:
        from manymaps.cli.reading import holds_counts

        if holds_counts(file, options):
            named = [name for name in ("rows", "columns", "count") if options[name] is not None]
            why = f" (--{named[0]} {options[named[0]]} names a column of them)" if named else ""
            raise click.UsageError(
                f"{file} reads as counts of two kinds of object, such as documents and words{why}; "
                "fit them with --method code (--method with another name, such as "
                f"{USUAL_METHOD}, reads it as associations or vectors, whose columns --cue, "
                "--response and --strength name)",
                ctx,
            )
    refuse_given(ctx, ("columns", "count", "max_words"), f"--method {method or USUAL_METHOD}")
    if options["init"] == "ca":
        raise ParameterError(f"--init ca does not apply to --method {method or USUAL_METHOD}")


def _check_spread(ctx: click.Context, options: Mapping[str, Any]) -> None:
    """Refuse workers where there is one run, or a checkpoint, which is of runs in their order."""
    check_workers(ctx, options)
    spread = [name for name in ("backend", "scheduler") if options[name] is not None]
    if not spread:
        return
    if (options["restarts"] or 1) == 1:
        raise click.UsageError(f"--{spread[0]} needs --restarts N; one run is of one machine", ctx)
    refuse_given(ctx, ("checkpoint", "resume"), f"runs beside one another (--{spread[0]})")


def _check_judged(ctx: click.Context, options: Mapping[str, Any]) -> None:
    """Refuse what does not go with the judgements of several people."""
    if options["method"] == OF_COUNTS:
        raise click.UsageError(
            f"--method {OF_COUNTS} is of counts, and takes one FILE without --judge", ctx
        )
    refuse_given(
        ctx,
        ("responses", "columns", "count", "metric", "words", "perplexity", "recall", *OF_TRIALS),
        "the judgements of several people (--judge, or several files)",
    )


def _read_judged(files: Sequence[Path], options: Mapping[str, Any]) -> Judgements:
    """The judgements of several people."""
    from manymaps.io.judgements import read_judgements

    names = ("judge", "cue", "response", "strength", "format", "labels")
    with work("reading judgements"):
        judgements = read_judgements(files, **{name: options[name] for name in names})
    pairs = judgements.n_pairs
    spread = f"{pairs.min():,}" + (f" to {pairs.max():,}" if pairs.min() < pairs.max() else "")
    note(f"{judgements.n_judges:,} judges of {spread} pairs each; their average is fitted")
    return judgements


def _fit_pairs(
    ctx: click.Context,
    estimator: Any,
    file: Path,
    options: Mapping[str, Any],
    judgements: Judgements | None = None,
) -> tuple[Atlas, PairData, Run]:
    """The fitted atlas of associations or vectors, these, and how the fit ended."""
    from manymaps.cli.reading import aligned, read_data
    from manymaps.cli.report import reading_notes
    from manymaps.io.associations import associations_from

    if judgements is None:
        data = read_data(file, options)
    else:
        rows = options["rows"] or ROW_SUMS[0]
        data = associations_from(judgements.average, labels=judgements.labels, rows=rows)
    for line in reading_notes(data):
        note(line)
    metadata = _matching_metadata(options["metadata"], data)
    nodes = _node_measures(ctx, data, file) if options["node_measures"] else None
    _note_unused(options, data)
    if isinstance(options["init"], Path):
        estimator.set_params(init=aligned(_load(options["init"]), data))
    if options["pin"] is not None:
        _pin(estimator, options["pin"], data.labels)
    run = _run(estimator, data, str(file), options)
    atlas: Atlas = estimator.atlas_
    for columns in (nodes, metadata):
        atlas = atlas if columns is None else atlas.add_metadata(columns)
    return atlas, data, run


def _node_measures(ctx: click.Context, data: PairData, file: Path) -> dict[str, Any]:
    """How each word stands in the network; a usage error where there is none."""
    from manymaps.analysis.network import node_measures
    from manymaps.data.associations import Associations

    if not isinstance(data, Associations):
        raise click.UsageError(f"--node-measures does not apply to the vectors of {file}", ctx)
    return {name: column.tolist() for name, column in node_measures(data).items()}


def _fit_counts(
    ctx: click.Context, estimator: Any, file: Path, options: Mapping[str, Any]
) -> tuple[Atlas, Counts, Run]:
    """The fitted atlas of two kinds of object, their counts, and how the fit ended."""
    from manymaps.cli.reading import read_count_table, with_metadata
    from manymaps.cli.report import reading_notes

    counts = read_count_table(file, options)
    for line in reading_notes(counts):
        note(line)
    if options["metadata"] is not None:
        counts = with_metadata(counts, options["metadata"])
    if isinstance(options["init"], Path):
        estimator.set_params(init=_load(options["init"]))
    if options["pin"] is not None:
        from manymaps.cooccurrence.matching import objects_of

        _pin(estimator, options["pin"], *objects_of(counts.without_empty()))
    run = _run(estimator, counts, str(file), options)
    return estimator.atlas_, counts, run


class Pinned(NamedTuple):
    """The atlas that is pinned, and its file."""

    atlas: Atlas
    path: Path


def _taken_from(path: Path, options: dict[str, Any]) -> Pinned:
    """The atlas to pin, whose method and numbers of maps and dimensions stand where none is given.

    Raises
    ------
    DataError
        For a file that holds no atlas.
    """
    atlas = _load(path)
    method = options["method"] or (atlas.method if atlas.method in METHODS else USUAL_METHOD)
    usual = {"method": method, "maps": atlas.n_maps, "dims": atlas.n_components}
    if "n_maps" not in inspect.signature(_estimator(method)).parameters:
        del usual["maps"]
    taken = {name: value for name, value in usual.items() if options[name] is None}
    options.update(taken)
    if taken:
        note(f"as in {path}: {', '.join(f'--{name} {value}' for name, value in taken.items())}")
    return Pinned(atlas, path)


def _pin(
    estimator: Any, pin: Pinned, labels: Sequence[str], kinds: Sequence[str] | None = None
) -> None:
    """Let an estimator hold the objects of an atlas, once it is known that it can, and say whom.

    Raises
    ------
    DataError
        Where it cannot.
    """
    from manymaps.errors import DataError
    from manymaps.maps.pins import pins_of

    n_maps = getattr(estimator, "n_maps", 1)
    try:
        pins = pins_of(pin.atlas, labels, n_maps, estimator.n_components, kinds)
    except (DataError, ParameterError) as error:
        raise DataError(f"{pin.path}: {error}") from error
    n_pinned = int(pins.objects.sum())
    others = pin.atlas.n_objects - n_pinned
    note(
        f"{n_pinned:,} of {len(labels):,} objects are held where they are in {pin.path}"
        + (f"; {others:,} more of that atlas are not in the data" if others else "")
    )
    estimator.set_params(pin=pin.atlas)


def _with_trust(atlas: Atlas) -> Atlas:
    """The atlas with the shares that its places explain, if these can be known."""
    from manymaps.analysis.trust import trust

    with work("comparing with what was fitted"):
        found = trust(atlas)
    if not found.metadata:
        note("--trust: of distances and of counts it is not known what places explain")
    return found.attach(atlas)


def _files(options: Mapping[str, Any]) -> dict[str, Path | None]:
    return {name: options[name] for name in ("checkpoint", "resume")}


def build(method: str, options: Mapping[str, Any]) -> Any:
    """The estimator of a method with the options that were given (the others are None).

    Raises
    ------
    ParameterError
        For an option that the method's estimator does not know.
    """
    estimator = _estimator(method)
    known = inspect.signature(estimator).parameters
    parameters = dict(METHODS[method].defaults)
    for option, name in PARAMETERS.items():
        value = options.get(option.replace("-", "_"))
        if value is None:
            continue
        if name not in known:
            raise ParameterError(f"--{option} does not apply to --method {method}")
        parameters[name] = value
    if "affinity" in parameters:
        from manymaps.affinity.affinities import LocalPerplexity

        perplexity = parameters.get("perplexity", known["perplexity"].default)
        parameters["affinity"] = LocalPerplexity(perplexity, sd=parameters["affinity"])
    if "neighbors" in parameters:
        from manymaps.affinity.neighbors import NeighborSearch

        parameters["neighbors"] = NeighborSearch(recall=parameters["neighbors"])
    if isinstance(parameters.get("init"), Path):
        del parameters["init"]  # read once the labels are known
    return estimator(**parameters)


def _estimator(method: str) -> Any:
    """The class of a method's estimator."""
    import manymaps

    return getattr(manymaps, METHODS[method].estimator)


def _run(estimator: Any, data: PairData | Counts, what: str, options: Mapping[str, Any]) -> Run:
    """A fit here, or its restarts beside one another, of which Ctrl-C leaves nothing."""
    if options["backend"] is None and options["scheduler"] is None:
        return run_fit(estimator, data, what, **_files(options))
    with on_workers(options), work(f"fitting {what}"):
        return Run(_fit(estimator, data), stopped=False)


def run_fit(
    estimator: Any,
    data: PairData | Counts,
    what: str,
    *,
    checkpoint: Path | None = None,
    resume: Path | None = None,
) -> Run:
    """Fit, and let Ctrl-C (or the signal TERM) end it with what there is.

    Raises
    ------
    Interrupted
        For an interruption that leaves no maps, but may leave a checkpoint, which is told.
    """
    before = modified(checkpoint)
    try:
        with work(f"fitting {what}"):
            if checkpoint is not None:
                n_pairs = _fit(estimator, data, checkpoint=checkpoint, resume=resume)
                return Run(n_pairs, stopped=False)
            with ending_early() as stop:
                estimator.set_params(callback=stop)
                n_pairs = _fit(estimator, data, resume=resume)
            return Run(n_pairs, stop.asked)
    except KeyboardInterrupt as error:
        raise Interrupted(_interruption(checkpoint, modified(checkpoint) != before)) from error


def _fit(estimator: Any, data: PairData | Counts, **files: Path | None) -> int:
    """Fit; the stored pairs of associations or counts, or of vectors and their neighbours."""
    from manymaps.data.vectors import Vectors

    if not isinstance(data, Vectors):
        estimator.fit(data, **files)
        return data.n_pairs
    from manymaps.affinity.affinities import Affinity, GaussianAffinity
    from manymaps.cli.reading import WatchedAffinity

    chosen = estimator.affinity
    inside = chosen if isinstance(chosen, Affinity) else None
    watched = WatchedAffinity(
        inside or GaussianAffinity(estimator.perplexity), repr(inside) if inside else str(chosen)
    )
    estimator.set_params(affinity=watched).fit(data, **files)
    return watched.n_pairs


def keep_stopped(estimator: Any, atlas: Atlas, output: Path, *, vectors: bool) -> NoReturn:
    """Write the maps of a fit that was stopped beside its output, and say so.

    Raises
    ------
    Interrupted
        Always.
    """
    partial = partial_name(output)
    try:
        refuse_to_replace("the maps so far", partial)
    except click.UsageError as error:
        raise Interrupted(f"interrupted; nothing was saved: {error.message}") from error
    atlas.save(partial, vectors=vectors)
    n = plural("iteration", int(estimator.n_iter_))
    raise Interrupted(
        f"interrupted; the maps after {n} are in {partial}, and --init {partial} starts another "
        "fit from them (with --checkpoint FILE a fit can go on where it was)"
    )


def fit_record(estimator: Any, n_pairs: int, method: str, output: Path) -> dict[str, Any]:
    """What `fit --json` prints; of counts, also their likelihood and what was left out."""
    atlas: Atlas = estimator.atlas_
    restarts: Sequence[Restart] = getattr(estimator, "restarts_", ())
    of_counts = {}
    if atlas.kinds is not None:
        n_rows = atlas.kinds.count(atlas.kinds[0])
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
        **({"n_pinned": int(atlas.metadata["pinned"].sum())} if estimator.pin is not None else {}),
        **of_counts,
        **({"restarts": [asdict(one) for one in restarts]} if restarts else {}),
        "seconds": elapsed(),
        "output": str(output),
    }


def _note_restarts(restarts: Sequence[Restart]) -> None:
    """Say how far several runs differ, and from which seed the best comes."""
    if len(restarts) > 1:
        best, *others = sorted(restarts, key=lambda one: one.cost)
        note(
            f"best of {len(restarts)} runs: cost {best.cost:.4f}, from the seed {best.seed}; the "
            f"others end at {others[0].cost:.4f} to {others[-1].cost:.4f}"
        )


def _note_unused(options: Mapping[str, Any], data: PairData) -> None:
    from manymaps.data.associations import Associations

    if isinstance(data, Associations):
        for option in FOR_VECTORS:
            if options[option.replace("-", "_")] is not None:
                note(f"--{option} has no effect on associations")


def _matching_metadata(path: Path | None, data: PairData) -> Any:
    """The table of a metadata file, once some of its labels are known to match."""
    if path is None:
        return None
    from manymaps.data.frames import join_columns
    from manymaps.errors import DataError
    from manymaps.io.metadata import read_columns

    columns = read_columns(path)
    try:
        _, _, n_without = join_columns(data.labels, columns)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if n_without:
        note(f"{path}: {n_without:,} of {len(data.labels):,} objects have no row")
    return columns


def _load(path: Path) -> Atlas:
    from manymaps.atlas.atlas import load_atlas

    return load_atlas(path)


def _save(atlas: Atlas, output: Path, *, drop_vectors: bool) -> None:
    """Write the atlas, saying what the vectors in it are for and how large they are."""
    atlas.save(output, vectors=not drop_vectors)
    if atlas.vectors is not None and not drop_vectors:
        size = atlas.vectors.data.nbytes / 1e6
        note(
            f"the atlas keeps the vectors ({size:,.1f} MB), with which `manymaps insert` compares "
            "new objects; --drop-vectors leaves them out"
        )


def _interruption(checkpoint: Path | None, saved: bool) -> str:
    if checkpoint is None:
        return "interrupted; nothing was saved"
    if not saved:
        return "interrupted before there was a state to save"
    return (
        f"interrupted; the last state is in {checkpoint}; to go on, give the same command "
        f"with --resume {checkpoint}"
    )


def _summary(record: Mapping[str, Any], atlas: Atlas, data: PairData | Counts) -> str:
    maps = "1 map" if atlas.n_maps == 1 else f"{atlas.n_maps} maps"
    output = record["output"]
    further = ["manymaps", "plot", output, "-o", str(Path(output).with_suffix(".png"))]
    if atlas.n_maps > 1:
        further = ["manymaps", "senses", output, _telling_word(atlas, data)]
    objects, likelihood = f"{record['n_objects']:,} objects", ""
    if atlas.kinds is not None:
        sizes = (record["n_rows"], record["n_columns"])
        objects = " and ".join(map(plural, dict.fromkeys(atlas.kinds), sizes))
        likelihood = f"log-likelihood {record['log_likelihood']:.4f} per count, "
    return (
        f"{output}: {maps} of {objects}, {likelihood}"
        f"KL divergence {record['kl_divergence']:.4f} after {record['n_iterations']:,} iterations "
        f"in {record['seconds']:.0f} s\nnext: {shlex.join(further)}"
    )


def _telling_word(atlas: Atlas, data: PairData | Counts) -> str:
    """Of the words that are recalled or counted most, the one that lives in most maps."""
    from manymaps.data.associations import Associations
    from manymaps.data.vectors import Vectors

    recalled: Any = range(atlas.n_objects)
    if isinstance(data, Associations):
        recalled = (-data.strengths.sum(axis=0)).argsort(kind="stable")[:50]
    elif not isinstance(data, Vectors):
        # The columns of the atlas are those that have counts, in the order of the table.
        totals = data.column_totals[data.column_totals > 0]
        recalled = (-totals).argsort(kind="stable")[:50] + atlas.n_objects - len(totals)
    plain = [i for i in recalled if shown(atlas.labels[i]) == atlas.labels[i]]
    n_maps = (atlas.proportions >= 0.1).sum(axis=0)
    return atlas.labels[max(plain or recalled, key=lambda i: n_maps[i])]
