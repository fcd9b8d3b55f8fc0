"""Evaluation of an atlas with data about the same objects, matched by label.

KL divergence   divergence of P from the model's q with its background; P is computed as in the fit,
                over the objects in both atlas and data, and over the judged pairs
local, global, trustworthiness, continuity       `manymaps.metrics`, with standard errors
nearest among 10   share of the objects whose strongest associate, or nearest neighbour, is one of
                the ten most similar objects under the model

The module `manymaps.analysis.count_evaluation` measures counts, and `rating_evaluation` measures
ratings of word pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.analysis.count_evaluation import (
    MOST_IN_FULL,
    SAMPLE,
    evaluate_counts,
    map_space,
    mean_of,
)
from manymaps.analysis.object_order import warn_of_unshared
from manymaps.analysis.rating_evaluation import evaluate_ratings
from manymaps.analysis.record import Record
from manymaps.atlas.atlas import Atlas
from manymaps.cooccurrence.matching import sides, two_kinds
from manymaps.data.associations import Associations
from manymaps.data.counts import Counts
from manymaps.data.frame_labels import is_frame, labelled_values
from manymaps.data.trials import as_associations
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.io.counts import counts_from
from manymaps.io.similarities import has_ratings, ratings_from
from manymaps.labels import case_note, case_variants, first_of, only_count, plural
from manymaps.metrics import continuity, mu_global, mu_local, strongest_recall, trustworthiness
from manymaps.metrics.neighborhoods import memberships
from manymaps.metrics.spaces import DistanceSpace, SimilaritySpace, Space, VectorSpace
from manymaps.model.dense import objective_of
from manymaps.model.parameters import Parameters, weights_from_proportions
from manymaps.model.target import Target, conditional_target, joint_target

# With fewer than three objects, neighbourhoods cannot differ.
LEAST = 3
# Number of most similar objects in `nearest_among_10`, and the default for the local measures.
RECALLED = 10
USUAL_NEIGHBORS = 10
# For more than 5,000 objects, the fast engine sums probabilities with the usual tolerance of a fit.
TOLERANCE = 5e-3


def evaluate(
    atlas: Atlas,
    data: Associations | Vectors | Counts | np.ndarray | sparse.sparray | Any,
    *,
    metric: str | None = None,
    n_neighbors: int | None = None,
    groups: str | None = None,
    sample: int | None = None,
    random_state: int = 0,
) -> Record:
    """Measure how well an atlas represents data.

    Objects of the atlas and the data are matched by label, if necessary regardless of upper and
    lower case.

    Parameters
    ----------
    atlas : Atlas
        The atlas to evaluate.
    data : Associations, Vectors, Counts, array or frame (n_objects, n_features)
        Data of one of these kinds. A frame with the columns of `read_ratings` contains ratings of
        word pairs, which are correlated with the relatedness of the pairs in the atlas
        (`manymaps.analysis.rating_evaluation`). A bipartite atlas requires counts, and any other
        atlas requires associations or vectors. Data without labels must contain the objects of the
        atlas in the same order.
    metric : str, optional
        Metric of vectors. The default is the metric of the fit. Use "precomputed" if the data are
        distances.
    n_neighbors : int, optional
        Number of neighbours in the local measures. The default is 10, reduced if necessary to less
        than half the number of objects.
    groups : str, optional
        Row metadata column, in the data or the atlas, that contains the groups (counts only).
    sample : int, optional
        Number of objects to draw at random for all measures except the divergence. By default, all
        objects are used if there are at most 5,000; otherwise, 2,000 objects are drawn.
    random_state : int, default=0
        Seed of random draws.

    Returns
    -------
    Record
        The measures by name; "_se" marks a standard error. Associations and vectors have
        `kl_divergence`, `mu_local`, `mu_global`, `trustworthiness`, `continuity` and
        `nearest_among_10`, and a table with one row per measured object. Counts have
        `log_likelihood` and `kl_divergence` in nats per count and, with `groups`,
        `purity`, `lift` and `purity_by_chance` (the purity of a random embedding). Ratings have
        `spearman` with `spearman_interval`, and a table with one row per pair.

    Raises
    ------
    DataError
        If the atlas and the data have fewer than three objects in common, if they are of different
        kinds, or if a table of distances is not square.
    ParameterError
        If a parameter does not apply to data of this kind, or is invalid for these objects.

    Warns
    -----
    DataWarning
        If some objects occur only in the atlas or only in the data. These objects are omitted.
        If labels match only regardless of upper and lower case.

    See Also
    --------
    reliability

    Examples
    --------
    >>> import manymaps as mm
    >>> norms = mm.load_word_relations()
    >>> fit = mm.MultipleMapsTSNE(n_maps=2, max_iter=60, random_state=0).fit(norms)
    >>> evaluation = mm.evaluate(fit.atlas_, norms, sample=50)
    >>> evaluation.n_objects == norms.n_objects, evaluation.n_measured
    (True, 50)
    >>> abs(evaluation.kl_divergence - fit.kl_divergence_) < 0.01
    True
    >>> rated = mm.ratings_from([("coat", "jacket", 8), ("coat", "river", 1), ("lake", "river", 7)])
    >>> mm.evaluate(fit.atlas_, rated).spearman > 0
    True
    """
    data = _read(atlas, data, metric)
    options = {"metric": metric, "n_neighbors": n_neighbors, "groups": groups, "sample": sample}
    given = {name: value for name, value in options.items() if value is not None}
    kind = "ratings" if has_ratings(data) else type(data).__name__.lower()
    measure, allowed = _MEASURES[kind]
    for name in given.keys() - set(allowed):
        raise ParameterError(f"does not apply to {kind}", name=name, value=given[name])
    if "sample" in allowed:
        given["random_state"] = random_state
    return measure(atlas, data, **given)


def _read(atlas: Atlas, data: Any, metric: str | None) -> Any:
    """Return ratings, counts, associations or vectors, with the labels of the atlas by default."""
    if has_ratings(data):
        return data if "merged" in getattr(data, "attrs", ()) else ratings_from(data)
    if atlas.kinds is not None:
        if isinstance(data, Associations | Vectors):
            raise DataError("the atlas has separate rows and columns; evaluate it with counts")
        if isinstance(data, Counts):
            return data
        if is_frame(data):
            return counts_from(data, kinds=two_kinds(atlas))
        rows, columns = ([atlas.labels[i] for i in side.tolist()] for side in sides(atlas))
        return Counts(data, rows, columns, two_kinds(atlas))
    data = as_associations(data)
    if isinstance(data, Counts):
        raise DataError("counts need a bipartite atlas, such as one fitted by CODE")
    if isinstance(data, Associations | Vectors):
        return data
    labels, values = labelled_values(data, square=metric == "precomputed")
    names = labels if labels is not None and not only_count(atlas.labels) else atlas.labels
    return Vectors(names, values)


def _of_associations(atlas: Atlas, data: Associations, **drawn: Any) -> Record:
    """Measure the similarities of an atlas by associations."""
    atlas, rows = _shared_objects(atlas, data)
    strengths = data.strengths[rows][:, rows]
    observed = None if data.observed is None else data.observed[np.ix_(rows, rows)]
    if atlas.model.normalization == "joint":
        target = joint_target(strengths, observed=observed)
    else:
        target = conditional_target(strengths, observed=observed)
    return _measured(atlas, target, SimilaritySpace(strengths), **drawn)


def _of_vectors(atlas: Atlas, data: Vectors, *, metric: str | None = None, **drawn: Any) -> Record:
    """Measure the similarities of an atlas by vectors, or by a square table of distances."""
    atlas, rows = _shared_objects(atlas, data)
    metric = metric or atlas.settings.metric or "euclidean"
    values: Any = data.values[rows]
    if metric == "precomputed":
        if data.values.shape[0] != data.values.shape[1]:
            raise DataError(
                f"{data.report.source} has {data.values.shape[0]} rows and {data.values.shape[1]} "
                "columns; pass a square table of distances"
            )
        values = values[:, rows]
    affinity = atlas.settings.similarities_by()
    near = affinity.similarities(values, metric=metric)
    is_joint = atlas.model.normalization == "joint"
    target = (
        joint_target(near, average=not affinity.joint) if is_joint else conditional_target(near)
    )
    space = DistanceSpace(values) if metric == "precomputed" else VectorSpace(values, metric)
    return _measured(atlas, target, space, **drawn)


def _shared_objects(atlas: Atlas, data: Associations | Vectors) -> tuple[Atlas, list[int]]:
    """Return the atlas of the objects that are also in the data, and their rows in the data."""
    source = data.report.source
    variants = case_variants(data.labels, atlas.labels)
    if variants:
        warnings.warn(case_note(source, variants), DataWarning, stacklevel=4)
    labels = [variants.get(label, label) for label in data.labels]
    position = {label: row for row, label in enumerate(labels)}
    ours = [i for i, label in enumerate(atlas.labels) if label in position]
    if len(ours) < LEAST:
        raise DataError(
            f"the atlas and {source} share {len(ours)} labels, but at least {LEAST} are "
            f"needed; the atlas begins with {first_of(atlas.labels)}, the data with "
            f"{first_of(labels)}"
        )
    shared_labels = {atlas.labels[i] for i in ours}
    spare = [label for label in labels if label not in shared_labels]
    missing = [label for label in atlas.labels if label not in shared_labels]
    # Vectors of objects that are not in the atlas were not stored.
    n_dropped = 0 if isinstance(data, Associations) else data.report.n_dropped
    warn_of_unshared(source, atlas.noun, spare, missing, n_dropped)
    part = replace(atlas, vectors=None).subset(ours)  # avoids a copy of unused vectors
    return part, [position[label] for label in part.labels]


def _measured(
    atlas: Atlas,
    target: Target,
    data: Space,
    *,
    n_neighbors: int | None = None,
    sample: int | None = None,
    random_state: int = 0,
) -> Record:
    """Compute all measures of an atlas and data with the same objects in the same order."""
    n = atlas.n_objects
    k = n_neighbors or min(USUAL_NEIGHBORS, (n - 1) // 2)
    if sample is None and n > MOST_IN_FULL:
        sample = SAMPLE
    maps = map_space(atlas)
    drawn: dict[str, Any] = {"sample": sample, "random_state": random_state}
    measures = {
        "mu_local": mu_local(data, maps, k=k, **drawn),
        "mu_global": mu_global(data, maps, **drawn),
        "trustworthiness": trustworthiness(data, maps, k=k, **drawn),
        "continuity": continuity(data, maps, k=k, **drawn),
    }
    rows = measures["mu_local"].rows
    # The divergence is summed exactly if that is fast.
    tolerance = 0.0 if n <= MOST_IN_FULL else TOLERANCE
    weights = weights_from_proportions(atlas.proportions)
    there = Parameters((atlas.maps.astype(np.float32),), (weights.astype(np.float32),))
    objective = objective_of(target, atlas.model, tolerance=tolerance, column_factors=atlas.factors)
    # Equally near neighbours have equal values.
    near = memberships(data, rows, np.arange(n), np.ones(len(rows), np.int64)).tocoo()
    nearest = sparse.csr_array((near.data, (rows[near.row], near.col)), (n, n))
    values = {
        "kl_divergence": float(objective.evaluate(there).kl),
        **mean_of(measures),
        "nearest_among_10": strongest_recall(nearest, maps, k=RECALLED),
        "n_objects": n,
        "n_measured": len(rows),
        "neighbors": k,
    }
    means = ", ".join(f"{name} {measure.mean:.3f}" for name, measure in measures.items())
    columns = {"label": np.array(atlas.labels, dtype=object)[rows]}
    columns |= {name: measure.values for name, measure in measures.items()}
    return Record(f"Evaluation of {plural(atlas.noun, n)}: {means}", values, columns)


# The function that measures each kind of data, and the parameters of `evaluate` that it has.
_MEASURES: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "ratings": (evaluate_ratings, ()),
    "counts": (evaluate_counts, ("groups", "sample")),
    "associations": (_of_associations, ("n_neighbors", "sample")),
    "vectors": (_of_vectors, ("metric", "n_neighbors", "sample")),
}
