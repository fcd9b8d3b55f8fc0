"""The objects that commands print with --json, as types from which their JSON Schema is derived.

Each command in `RESULTS` has a type, or a union of types of which the input determines one. The
function `schema_of` converts the types to JSON Schema, which `--json-schema` prints and the manual
lists. Tests check each output of --json against its schema. Unknown and infinite numbers are
printed as null, so a number that can be unknown has the type `float | None`.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Literal, NotRequired, TypedDict

__all__ = ["RESULTS"]

Seconds = Annotated[float, "Duration of the command in seconds."]
Seed = Annotated[int, "Seed of the random number generator."]
Output = Annotated[str | None, "File that --output named, or null."]
Plot = Annotated[str | None, "File that --plot named, or null."]
Notes = Annotated[list[str], "Notes on the data and the method."]
Objects = Annotated[int, "Number of objects."]
Map = Annotated[int, "Number of the map, starting at 0."]


class Bounds(TypedDict):
    """A value with its confidence limits."""

    value: Annotated[float | None, "Estimate."]
    low: Annotated[float | None, "Lower limit."]
    high: Annotated[float | None, "Upper limit."]


class Run(TypedDict):
    """One of several runs of a fit."""

    seed: Annotated[int, "Seed of the run."]
    cost: Annotated[float | None, "Minimized cost, or null if the run diverged."]
    kl_divergence: Annotated[float | None, "KL divergence at the end in nats."]
    n_iter: Annotated[int, "Number of iterations."]
    converged: Annotated[bool, "Whether the cost stopped decreasing."]


class Judge(TypedDict):
    """Agreement of a judge with the other judges and with the fit."""

    judge: Annotated[str, "Name of the judge."]
    n_pairs: Annotated[int, "Number of judged pairs."]
    with_others: Annotated[float | None, "Correlation with the mean of the others, from -1 to 1."]
    with_fit: Annotated[float | None, "Correlation with the fit, from -1 to 1."]
    shares: Annotated[list[float] | None, "Share of the judge's similarities explained per map."]


class Fit(TypedDict):
    """The fitted atlas."""

    method: Annotated[str, "Value of --method."]
    n_objects: Objects
    n_pairs: Annotated[int, "Number of stored pairs."]
    n_maps: Annotated[int, "Number of maps."]
    n_components: Annotated[int, "Number of dimensions of each map."]
    n_iterations: Annotated[int, "Number of iterations."]
    kl_divergence: Annotated[float | None, "KL divergence in nats, without the penalty."]
    converged: Annotated[bool, "Whether the cost stopped decreasing."]
    explained: NotRequired[Annotated[float, "Mean explained share of the objects, from 0 to 1."]]
    n_pinned: NotRequired[Annotated[int, "Number of pinned objects (with --pin)."]]
    log_likelihood: NotRequired[Annotated[float | None, "Nats per count (counts only)."]]
    n_rows: NotRequired[Annotated[int, "Number of rows (counts only)."]]
    n_columns: NotRequired[Annotated[int, "Number of columns (counts only)."]]
    empty_rows: NotRequired[Annotated[int, "Number of rows without counts (counts only)."]]
    empty_columns: NotRequired[Annotated[int, "Number of columns without counts (counts only)."]]
    kinds: NotRequired[Annotated[dict[str, int], "Number of objects by kind (several tables)."]]
    log_likelihoods: NotRequired[
        Annotated[dict[str, float | None], "Nats per count by kinds of a table (several tables)."]
    ]
    restarts: NotRequired[Annotated[list[Run], "Runs, if there were several."]]
    judges: NotRequired[Annotated[list[Judge], "Judges (with several files of judgements)."]]
    seconds: Seconds
    output: Annotated[str, "File of the atlas."]


class Demo(Fit):
    """The fitted atlas of the demo, with its page and figure."""

    page: Annotated[str, "File of the page."]
    figure: Annotated[str, "File of the figure."]


class Inspected(TypedDict):
    """Values that `inspect` prints for every table."""

    n_objects: Objects
    n_features: Annotated[int | None, "Number of dimensions of the vectors."]
    n_pairs: Annotated[int | None, "Number of stored pairs."]
    symmetric: Annotated[bool | None, "Whether all strengths are symmetric."]
    n_components: Annotated[int | None, "Number of connected components."]
    merged: Annotated[int, "Number of repeated pairs that were merged."]
    dropped: Annotated[int, "Number of rows that were dropped."]
    dropped_by_reason: Annotated[dict[str, int], "Number of dropped rows by reason."]
    notes: Notes


class InspectedPairs(Inspected):
    """Associations, similarities or trials."""

    kind: Annotated[Literal["associations"], "Kind of the data."]
    n_missing: Annotated[int, "Number of pairs with a missing value."]
    largest_component: Annotated[int, "Number of objects in the largest component."]
    nodes: Annotated[str | None, "File that --nodes named, or null."]
    n_trials: NotRequired[Annotated[int, "Number of trials (trials only)."]]
    n_participants: NotRequired[Annotated[int | None, "Number of participants (trials only)."]]
    n_cues: NotRequired[Annotated[int, "Number of cues (trials only)."]]
    answers_of_a_trial: NotRequired[Annotated[int, "Maximum responses per trial (trials only)."]]
    n_answers: NotRequired[Annotated[int, "Number of responses (trials only)."]]
    answers_lacking: NotRequired[Annotated[dict[str, int], "Missing responses by reason."]]
    trials_left_out: NotRequired[Annotated[dict[str, int], "Excluded trials by reason."]]
    columns: NotRequired[Annotated[list[str], "Names of the columns (trials only)."]]


class InspectedVectors(Inspected):
    """Vectors."""

    kind: Annotated[Literal["vectors"], "Kind of the data."]
    sparse: Annotated[bool, "Whether the vectors are stored as a sparse table."]
    zero_vectors: Annotated[int, "Number of vectors whose numbers are all 0."]


class InspectedCounts(Inspected):
    """Counts of rows and columns."""

    kind: Annotated[Literal["counts"], "Kind of the data."]
    n_rows: Annotated[int, "Number of rows."]
    n_columns: Annotated[int, "Number of columns."]
    kinds: Annotated[list[str], "Names of the objects in rows and in columns."]
    n_counts: Annotated[float, "Sum of all counts."]
    fractional: Annotated[int, "Number of counts that are not whole numbers."]
    empty_rows: Annotated[int, "Number of rows without counts."]
    empty_columns: Annotated[int, "Number of columns without counts."]
    row_metadata: Annotated[list[str], "Names of the metadata columns of rows."]
    column_metadata: Annotated[list[str], "Names of the metadata columns of columns."]
    looks_transposed: Annotated[bool, "Whether rows and columns seem to be swapped."]


class InspectedFolder(TypedDict):
    """A folder of files."""

    kind: Annotated[Literal["folder"], "Kind of the data."]
    n_files: Annotated[int, "Number of visible files."]
    n_bytes: Annotated[int, "Size of these files in bytes."]


class InspectedLists(TypedDict):
    """Fluency lists."""

    kind: Annotated[Literal["fluency lists"], "Kind of the data."]
    n_lists: Annotated[int, "Number of lists."]
    n_participants: Annotated[int, "Number of participants."]
    n_words: Annotated[int, "Number of different answers."]
    categories: Annotated[dict[str, int], "Number of lists by category."]
    columns: Annotated[list[str], "Names of further columns."]


class TriedMaps(TypedDict):
    """Share of the data that a number of planar maps represents."""

    maps: Annotated[int, "Number of maps."]
    held: Annotated[float | None, "Represented share of the strength by probability, 0 to 1."]
    kept: Annotated[float | None, "Represented share of the strength by rank, 0 to 1."]


class Diagnose(TypedDict):
    """Deviations of the data from a metric space, and a recommended fit."""

    n_objects: Annotated[int, "Number of objects with at least one pair."]
    n_pairs: Annotated[int, "Number of stored pairs or distances."]
    n_components: Annotated[int, "Number of connected components."]
    kind: Annotated[Literal["similarities", "distances"], "Kind of the data."]
    asymmetry: Annotated[float | None, "Share of the strength that is not reciprocated."]
    intransitivity: Annotated[float | None, "Share of strong paths A-B-C without a link A-C."]
    intransitivity_error: Annotated[float | None, "Standard error if paths were sampled, or 0."]
    clustering: Annotated[float | None, "Share of these paths with a strong link A-C."]
    clustering_by_chance: Annotated[float | None, "Expected share in a random graph."]
    centrality: Annotated[float | None, "Mean squared number of objects per nearest neighbour."]
    reciprocity: Annotated[float | None, "Mean rank of an object for its nearest neighbour."]
    not_returned: Annotated[float | None, "Share of objects to which their nearest is not similar."]
    max_shared_nearest_neighbor: Annotated[float, "Maximum number with the same nearest neighbour."]
    most_shared: Annotated[str, "Label of this nearest neighbour."]
    dimensions_for_sharing: Annotated[int | None, "Minimum number of dimensions for this number."]
    triangle_violations: Annotated[float | None, "Share that violates the triangle inequality."]
    triangle_error: Annotated[float | None, "Standard error of this share."]
    n_triangles: Annotated[int, "Number of triangles that were checked."]
    negative_share: Annotated[float | None, "Negative part of the spectrum, from 0 to 1."]
    negative_error: Annotated[float | None, "Standard error of the negative part."]
    n_fitted: Annotated[int, "Number of objects in the fits."]
    suggested_maps: Annotated[int, "Suggested number of maps."]
    reason: Annotated[str, "Reason for the suggestion."]
    explained: Annotated[float | None, "Mean explained share in the recommended fit, 0 to 1."]
    normalization: Annotated[Literal["conditional", "joint"], "Normalization of the fits."]
    held_in_four: Annotated[float | None, "Value of `held` for one map of four dimensions."]
    kept_in_four: Annotated[float | None, "Value of `kept` for one map of four dimensions."]
    serves: Annotated[Literal["plane", "dimensions", "maps"], "Recommended kind of maps."]
    suggested_dimensions: Annotated[int, "Suggested number of dimensions per map."]
    stress: Annotated[float | None, "Stress of nonmetric scaling in the plane."]
    stress_in_four: Annotated[float | None, "Stress of nonmetric scaling in four dimensions."]
    stress_by_chance: Annotated[float | None, "Stress in the plane after a permutation."]
    maps: Annotated[list[TriedMaps], "Numbers of maps that were fitted."]
    notes: Notes
    seconds: Seconds
    plot: Plot


class Activated(TypedDict):
    """A word that activation reached."""

    label: Annotated[str, "Word."]
    total: Annotated[float, "Activation summed over all steps."]
    by_step: Annotated[list[float], "Activation at the start and after each step."]


class Spread(TypedDict):
    """Activation that spread from the start words."""

    words: Annotated[list[str], "Start words."]
    steps: Annotated[int, "Number of steps."]
    decay: Annotated[float, "Value of --decay."]
    retention: Annotated[float, "Value of --retention."]
    backward: Annotated[float, "Value of --backward."]
    power: Annotated[float, "Value of --power."]
    n_objects: Objects
    n_reached: Annotated[int, "Number of words with activation."]
    returned: Annotated[float, "Activation that returned to the start words."]
    activated: Annotated[list[Activated], "Most activated words, strongest first."]
    output: Output
    seconds: Seconds


class Parts(TypedDict):
    """A value for each part of the split associations."""

    train: Annotated[float | None, "Training part."]
    valid: Annotated[float | None, "Validation part."]
    test: Annotated[float | None, "Test part."]


class Predict(TypedDict):
    """Errors on held-out associations, in nats per cue unless stated otherwise."""

    train: Annotated[float | None, "Error on the training part."]
    valid: Annotated[float | None, "Error on the validation part."]
    test: Annotated[float | None, "Error on the test part."]
    n_iterations: Annotated[int, "Number of iterations."]
    seconds: Seconds
    recall_at_1: Annotated[float | None, "Share of test associates that are the most probable."]
    recall_at_10: Annotated[float | None, "Share among the 10 most probable."]
    recall_at_100: Annotated[float | None, "Share among the 100 most probable."]
    mean_reciprocal_rank: Annotated[float | None, "Mean reciprocal rank, from 0 to 1."]
    uniform: Annotated[Parts, "Errors of the uniform model."]
    shares: Annotated[Parts, "Share of the responses in each part, from 0 to 1."]
    per_response: Annotated[Parts, "Errors in nats per response."]
    best_iteration: Annotated[int, "Iteration with the smallest validation error."]
    n_objects: Objects
    n_pairs: Annotated[int, "Number of stored pairs."]
    n_cues: Annotated[int, "Number of cues."]
    n_without_training: Annotated[int, "Number of cues without training responses."]
    n_maps: Annotated[int, "Number of maps."]
    n_components: Annotated[int, "Number of dimensions of each map."]
    kernel: Annotated[str, "Value of --kernel."]
    penalty: Annotated[float, "Value of --penalty."]
    by: Annotated[Literal["pair", "row"], "Held-out units (--by)."]
    stratified: Annotated[bool, "Whether --stratified was set."]
    seed: Seed
    output: Output


class Varied(TypedDict):
    """Parameters that a sweep varies."""

    n_maps: Annotated[int, "Number of maps."]
    n_components: Annotated[int, "Number of dimensions of each map."]
    penalty: Annotated[float, "Penalty."]
    kernel: Annotated[str, "Kernel."]
    max_iter: Annotated[int, "Maximum number of passes over the cues."]
    patience: Annotated[int, "Passes without a lower validation error that end a fit."]


class Setting(Varied):
    """A setting of a sweep, with means over its points and standard deviations (`_spread`)."""

    n_points: Annotated[int, "Number of fits."]
    n_failed: Annotated[int, "Number of fits that failed."]
    train: Annotated[float | None, "Training error in nats per cue."]
    train_spread: Annotated[float | None, "Standard deviation."]
    valid: Annotated[float | None, "Validation error in nats per cue."]
    valid_spread: Annotated[float | None, "Standard deviation."]
    test: Annotated[float | None, "Test error in nats per cue."]
    test_spread: Annotated[float | None, "Standard deviation."]
    recall_at_1: Annotated[float | None, "Share of test associates that are the most probable."]
    recall_at_1_spread: Annotated[float | None, "Standard deviation."]
    recall_at_10: Annotated[float | None, "Share among the 10 most probable."]
    recall_at_10_spread: Annotated[float | None, "Standard deviation."]
    recall_at_100: Annotated[float | None, "Share among the 100 most probable."]
    recall_at_100_spread: Annotated[float | None, "Standard deviation."]
    mean_reciprocal_rank: Annotated[float | None, "Mean reciprocal rank, from 0 to 1."]
    mean_reciprocal_rank_spread: Annotated[float | None, "Standard deviation."]
    n_iterations: Annotated[float | None, "Mean number of iterations."]
    seconds: Annotated[float | None, "Mean duration of a fit in seconds."]


class Failure(Varied):
    """A fit of a sweep that failed."""

    split: Annotated[int, "Number of the split, starting at 0."]
    seed: Annotated[int, "Seed of the fit."]
    failure: Annotated[str, "Reason."]


class Sweep(TypedDict):
    """Results of all settings."""

    n_points: Annotated[int, "Number of fits."]
    n_failed: Annotated[int, "Number of fits that failed."]
    best: Annotated[Setting, "Setting with the smallest validation error."]
    settings: Annotated[list[Setting], "All settings, in the order of the grid."]
    failures: Annotated[list[Failure], "Fits that failed."]
    seconds: Seconds
    seed: Seed
    output: Output
    plot: Plot
    resume: Annotated[str | None, "File that --resume named, or null."]


class Count(TypedDict):
    """The table of counts."""

    n_rows: Annotated[int, "Number of rows."]
    n_columns: Annotated[int, "Number of columns."]
    n_counts: Annotated[float, "Sum of all counts."]
    n_stored: Annotated[int, "Number of pairs with a count."]
    skipped: Annotated[int, "Number of texts that were skipped."]
    seconds: Seconds
    output: Annotated[str, "File of the counts."]


class AnswerVariant(TypedDict):
    """Two answers that may be the same word."""

    word: Annotated[str, "More frequent answer."]
    variant: Annotated[str, "Less frequent answer."]
    difference: Annotated[Literal["case or spaces", "plural"], "Difference of the spellings."]


class NetworkStatistics(TypedDict):
    """Statistics of a network; those after `n_links` refer to its largest component."""

    n_words: Annotated[int, "Number of words."]
    n_links: Annotated[int, "Number of linked pairs."]
    n_connected: Annotated[int, "Number of words in the largest component."]
    mean_degree: Annotated[float, "Mean number of neighbours."]
    path_length: Annotated[float, "Mean length of the shortest paths."]
    clustering: Annotated[float, "Mean clustering coefficient, 0 to 1."]
    modularity: Annotated[float, "Modularity of the communities."]
    n_communities: Annotated[int, "Number of communities."]
    small_worldness: Annotated[float | None, "Small-worldness."]


class Fluency(TypedDict):
    """The cleaned fluency lists and their network."""

    n_lists: Annotated[int, "Number of lists after cleaning."]
    n_participants: Annotated[int, "Number of participants after cleaning."]
    n_words: Annotated[int, "Number of different words after cleaning."]
    n_answers: Annotated[int, "Number of answers after cleaning."]
    dropped: Annotated[dict[str, int], "Dropped rows and lists by reason."]
    findings: Annotated[dict[str, int], "Number of findings by problem."]
    variants: Annotated[list[AnswerVariant], "Answers that may be the same word."]
    network: Annotated[str | None, "Value of --network, or null without a network."]
    n_pairs: Annotated[int | None, "Number of linked pairs, or null without a network."]
    n_trials: Annotated[int | None, "Number of trials in OUT.csv, or null."]
    statistics: Annotated[NetworkStatistics | None, "Statistics of the network, or null."]
    seconds: Seconds
    output: Output
    cleaning: Annotated[str | None, "File that --cleaning named, or null."]


class Near(TypedDict):
    """A neighbour of a word."""

    label: Annotated[str, "Neighbour."]
    similarity: Annotated[float, "Similarity in the model, or the contribution of one map."]
    observed: Annotated[float | None, "Observed share of the word's associations, 0 to 1."]
    interval: NotRequired[Annotated[Bounds | None, "Interval of this share (with --data)."]]


class WordSense(TypedDict):
    """A meaning or fine sense of a word, or the neighbours on a map."""

    map: Map
    proportion: Annotated[float, "Mixing proportion of the word in the map, from 0 to 1."]
    neighbors: Annotated[list[Near], "Members of the sense, observed associates first."]
    n_fits: Annotated[int | None, "Number of fits with this sense, if several were compared."]
    share: Annotated[float, "Share of the word's associations, from 0 to 1."]
    weight: Annotated[float, "Map weight, from 0 to 1."]
    unsupported: Annotated[bool, "Whether the map explains almost none of the associations."]
    name: Annotated[list[str], "Labels of the most typical associates, at most three."]
    parts: Annotated[list[WordSense], "Fine senses of a meaning."]
    explained: Annotated[float, "Share of the sense that the map explains, from 0 to 1."]
    close: Annotated[list[str], "Members that are close to the word on the map."]
    caption: NotRequired[Annotated[list[str], "Caption of the map (not in parts)."]]
    interval: NotRequired[Annotated[Bounds | None, "Interval of the share (with --data)."]]


class Member(TypedDict):
    """A member of a sense in several fits."""

    label: Annotated[str, "Member."]
    weight: Annotated[float, "Share of the total weight of the members, from 0 to 1."]


class Elsewhere(TypedDict):
    """A sense that only other fits contain."""

    share: Annotated[float, "Share of the word's associations, from 0 to 1."]
    n_fits: Annotated[int | None, "Number of fits with this sense."]
    neighbors: Annotated[list[Member], "Members of the sense."]


class Unlisted(TypedDict):
    """Senses and maps that are not listed."""

    n_groups: Annotated[int, "Number of senses."]
    share: Annotated[float, "Share of the associations in no listed sense, from 0 to 1."]
    n_maps: Annotated[int, "Number of maps with some weight."]
    weight: Annotated[float, "Sum of the weights of these maps, from 0 to 1."]


class Senses(TypedDict):
    """The senses of a word."""

    word: Annotated[str, "Label of the word."]
    kind: Annotated[str | None, "Kind of the word in a bipartite atlas."]
    n_fits: Annotated[int | None, "Number of fits that were compared (after stability)."]
    senses: Annotated[list[WordSense], "Senses."]
    left_out: Annotated[Unlisted, "Omitted senses and maps."]
    elsewhere: Annotated[list[Elsewhere], "Senses that only other fits contain."]
    not_close: Annotated[list[str], "Strong associates that are not close on any map."]
    explained: Annotated[float | None, "Share of the associations that the maps explain, 0 to 1."]
    recurring: Annotated[float | None, "Share of neighbours that recur in other fits, 0 to 1."]
    ambiguity: NotRequired[Annotated[Bounds | None, "Effective number of senses (--data)."]]
    n_responses: NotRequired[Annotated[float | None, "Number of responses (with --data)."]]
    level: NotRequired[Annotated[float, "Level of the intervals (with --data)."]]
    by: NotRequired[Annotated[str, "Resampled units (with --data)."]]
    notes: NotRequired[Notes]


class ListedSenses(TypedDict):
    """The senses of several words."""

    words: Annotated[list[Senses], "Words, in the order of the command line."]


class Pair(TypedDict):
    """A pair of words; values are null if they are unknown."""

    pair: Annotated[int, "Number of the pair, starting at 1."]
    word1: Annotated[str, "First word."]
    word2: Annotated[str, "Second word."]
    similarity: Annotated[float | None, "Probability of word2 given word1 under the model."]
    similarity_back: Annotated[float | None, "Probability of word1 given word2."]
    rank: Annotated[int | None, "Rank of word2 by similarity to word1, starting at 1."]
    rank_back: Annotated[int | None, "Rank of word1 by similarity to word2."]
    map: Annotated[int | None, "Map that contributes most to the similarity."]
    map_share: Annotated[float | None, "Contribution of this map, from 0 to 1."]
    map_weight1: Annotated[float | None, "Weight of this map for word1, from 0 to 1."]
    map_weight2: Annotated[float | None, "Weight of this map for word2, from 0 to 1."]
    strength: Annotated[float | None, "Observed share of word2 in the associations of word1."]
    strength_back: Annotated[float | None, "Observed share of word1 among those of word2."]


class UnknownWord(TypedDict):
    """A word that is not in the atlas."""

    word: Annotated[str, "Word."]
    pair: Annotated[int, "Number of its first pair, starting at 1."]


class Pairs(TypedDict):
    """Values from an atlas for a list of pairs."""

    n_pairs: Annotated[int, "Number of pairs."]
    n_known: Annotated[int, "Number of pairs whose words are both in the atlas."]
    unknown: Annotated[list[UnknownWord], "Words that are not in the atlas."]
    pairs: Annotated[list[Pair], "Pairs, in the order of the file."]
    output: Output


class SenseProbability(TypedDict):
    """Probability of a meaning or a fine sense."""

    name: Annotated[list[str], "Labels of the most typical associates, at most three."]
    map: Map
    prior: Annotated[float, "Probability without context, from 0 to 1."]
    probability: Annotated[float, "Probability in the context, from 0 to 1."]
    parts: Annotated[list[SenseProbability], "Fine senses of a meaning."]


class MapProbability(TypedDict):
    """Probability of a map."""

    map: Map
    prior: Annotated[float, "Probability without context, from 0 to 1."]
    probability: Annotated[float, "Probability in the context, from 0 to 1."]


class Disambiguate(TypedDict):
    """Probabilities of the meanings of a word in a context."""

    word: Annotated[str, "Label of the word."]
    context: Annotated[list[str], "Context words that were used."]
    unknown: Annotated[list[str], "Context words that are not in the atlas."]
    senses: Annotated[list[SenseProbability], "Meanings, most probable first."]
    maps: Annotated[list[MapProbability], "Maps, most probable first."]


class WordProbability(TypedDict):
    """A word with its probability."""

    label: Annotated[str, "Word."]
    probability: Annotated[float, "Probability, from 0 to 1."]


class Gist(TypedDict):
    """Words that a list of words has in common."""

    words: Annotated[list[str], "Listed words that were used."]
    unknown: Annotated[list[str], "Listed words that are not in the atlas."]
    gist: Annotated[list[WordProbability], "Other words, most probable first."]
    maps: Annotated[list[MapProbability], "Maps, most probable first."]


class Insert(TypedDict):
    """The atlas with new objects."""

    inserted: Annotated[int, "Number of inserted objects."]
    dissimilar: Annotated[list[str], "Inserted objects that are similar to no other object."]
    n_objects: Objects
    seconds: Seconds
    output: Annotated[str, "File of the atlas."]


class InsertedRows(TypedDict):
    """Positions that `--batch` writes."""

    inserted: Annotated[int, "Number of inserted rows."]
    known: Annotated[int, "Number of rows that are equal to rows of the atlas."]
    seconds: Seconds
    output: Annotated[str, "File of the positions."]


class EvaluatedMaps(TypedDict):
    """Agreement with associations or vectors; `_se` marks standard errors."""

    kl_divergence: Annotated[float | None, "KL divergence in nats."]
    mu_local: Annotated[float | None, "Share of the nearest neighbours that are near in the maps."]
    mu_local_se: Annotated[float | None, "Standard error."]
    mu_global: Annotated[float | None, "Rank correlation of all distances, from -1 to 1."]
    mu_global_se: Annotated[float | None, "Standard error."]
    recall_at_10: Annotated[float | None, "Share of strongest associates among the 10 nearest."]
    trustworthiness: Annotated[float | None, "Trustworthiness, from 0 to 1."]
    trustworthiness_se: Annotated[float | None, "Standard error."]
    continuity: Annotated[float | None, "Continuity, from 0 to 1."]
    continuity_se: Annotated[float | None, "Standard error."]
    n_objects: Annotated[int, "Number of objects in both the atlas and the data."]
    n_measured: Annotated[int, "Number of objects whose neighbourhoods were measured."]
    neighbors: Annotated[int, "Number of neighbours in local measures."]
    seconds: Seconds


class EvaluatedCounts(TypedDict):
    """Agreement with counts; measures of other data are null."""

    log_likelihood: Annotated[float | None, "Log-likelihood in nats per count."]
    kl_divergence: Annotated[float | None, "KL divergence in nats per count."]
    mu_local: None
    mu_local_se: None
    mu_global: None
    mu_global_se: None
    recall_at_10: None
    trustworthiness: None
    continuity: None
    neighbors: None
    groups: Annotated[str | None, "Metadata column with the groups of rows."]
    n_groups: Annotated[int | None, "Number of groups."]
    purity: Annotated[float | None, "Share of nearest rows in the same group, from 0 to 1."]
    purity_se: Annotated[float | None, "Standard error."]
    lift: Annotated[float | None, "Ratio of probabilities that near columns are in the group."]
    lift_se: Annotated[float | None, "Standard error."]
    purity_by_lot: Annotated[float | None, "Purity of a random embedding."]
    n_objects: Annotated[int, "Number of rows and columns with counts."]
    n_rows: Annotated[int, "Number of rows with counts."]
    n_columns: Annotated[int, "Number of columns with counts."]
    n_counts: Annotated[float, "Sum of the counts."]
    n_counts_left_out: Annotated[float, "Sum of the counts with unknown rows or columns."]
    n_measured: Annotated[int, "Number of rows that were measured by group."]
    seconds: Seconds


class MeasuredRatings(TypedDict):
    """Correlations of one measure with ratings."""

    pearson: Annotated[Bounds, "Pearson correlation."]
    spearman: Annotated[Bounds, "Spearman correlation."]
    pearson_gain: Annotated[Bounds | None, "Correlation of the atlas minus this one."]
    spearman_gain: Annotated[Bounds | None, "Correlation of the atlas minus this one."]


class EvaluatedRatings(TypedDict):
    """Agreement with ratings; measures of other data are null."""

    kl_divergence: None
    mu_local: None
    mu_global: None
    recall_at_10: None
    pearson: Annotated[float | None, "Pearson correlation of the atlas."]
    spearman: Annotated[float | None, "Spearman correlation of the atlas."]
    pearson_interval: Annotated[list[float | None], "95 % confidence limits of `pearson`."]
    spearman_interval: Annotated[list[float | None], "95 % confidence limits of `spearman`."]
    measures: Annotated[dict[str, MeasuredRatings], "Correlations of each measure by name."]
    n_pairs: Annotated[int, "Number of rated pairs."]
    n_known: Annotated[int, "Number of pairs whose words are both in the atlas."]
    n_compared: Annotated[int, "Number of pairs that every measure contains."]
    coverage: Annotated[float, "Share of rated pairs in the atlas, from 0 to 1."]
    unknown: Annotated[list[str], "Words that are not in the atlas."]
    seconds: Seconds


class MeasuredTriplets(TypedDict):
    """Accuracy of one measure on triplets."""

    accuracy: Annotated[Bounds, "Share of predicted choices, from 0 to 1."]
    gain: Annotated[Bounds | None, "Accuracy of the atlas minus this one."]


class EvaluatedTriplets(TypedDict):
    """Agreement with triplets; measures of other data are null."""

    kl_divergence: None
    mu_local: None
    mu_global: None
    recall_at_10: None
    accuracy: Annotated[float | None, "Share of the choices that the atlas predicts, 0 to 1."]
    accuracy_interval: Annotated[list[float | None], "95 % confidence limits of `accuracy`."]
    chance: Annotated[float, "Accuracy by chance."]
    ceiling: Annotated[float | None, "Accuracy of the majority answer."]
    ceiling_by_others: Annotated[float | None, "Accuracy of the majority of the other answers."]
    ceiling_at_least: Annotated[float | None, "Lower bound on the accuracy of any model."]
    ceiling_at_most: Annotated[float | None, "Upper bound on the accuracy of any model."]
    n_repeated: Annotated[int, "Number of triplets that were judged more than once."]
    measures: Annotated[dict[str, MeasuredTriplets], "Accuracy of each measure by name."]
    kind: Annotated[Literal["odd", "closer"], "Kind of the triplets."]
    n_triplets: Annotated[int, "Number of triplets."]
    n_known: Annotated[int, "Number of triplets whose objects are all in the atlas."]
    unknown: Annotated[list[str], "Objects that are not in the atlas or the vectors."]
    seconds: Seconds


class Cluster(TypedDict):
    """A cluster of objects; stability is listed with --bootstraps."""

    weight: Annotated[float, "Weight of the cluster, in units of the similarities."]
    members: Annotated[list[str], "Labels of the objects."]
    jaccard: NotRequired[Annotated[float | None, "Mean Jaccard index with refits, 0 to 1."]]
    recurrence: NotRequired[Annotated[float | None, "Share of refits with this cluster."]]
    jaccard_by_chance: NotRequired[Annotated[float | None, "Index after a permutation."]]


class Clustered(TypedDict):
    """Clusters of a given number (--clusters)."""

    variance_accounted_for: Annotated[float | None, "Explained variance, at most 1."]
    constant: Annotated[float, "Additive constant, in units of the similarities."]
    clusters: Annotated[list[Cluster], "Clusters."]
    n_bootstraps: Annotated[int | None, "Number of refits, or null."]
    n_objects: Objects
    n_pairs: Annotated[int, "Number of known pairs."]
    n_missing: Annotated[int, "Number of pairs without a similarity."]
    log_likelihood: Annotated[float | None, "Log-likelihood in nats, or null for a perfect fit."]
    solver: Annotated[str, "Value of --solver."]
    seed: Seed
    solutions: Annotated[list[float | None], "Explained variance of each start."]
    iterations: Annotated[int, "Number of iterations."]
    converged: Annotated[bool, "Whether the run converged."]
    seconds: Seconds
    output: Output
    plot: Plot


class ClusterNumbers(TypedDict):
    """Comparison of several numbers of clusters (--choose)."""

    n_clusters: Annotated[list[int], "Numbers of clusters."]
    variance_accounted_for: Annotated[list[float | None], "Explained variance of each number."]
    bic: Annotated[list[float | None], "Bayesian information criterion of each number."]
    description_length: Annotated[list[float | None], "Description length in nats."]
    held_out: Annotated[list[float | None] | None, "Mean error on hidden pairs of each number."]
    held_out_error: Annotated[list[float | None] | None, "Error over all hidden pairs."]
    held_out_standard_error: Annotated[list[float | None] | None, "Standard error over pairs."]
    fewest_by_held_out: Annotated[int | None, "Smallest number within one standard error."]
    recurrence: Annotated[
        list[list[float | None]], "Share of refits in which each cluster recurs, by number."
    ]
    solutions: Annotated[list[list[float | None]], "Explained variance of each start, by number."]
    suggestion: Annotated[int, "Suggested number, or 0 without structure."]
    structure_found: Annotated[bool, "Whether any number is better than the constant."]
    constant_description_length: Annotated[float | None, "Description length without clusters."]
    reasons: Annotated[list[str], "Reasons for and against the suggestion."]
    seconds: Seconds


class Levels(TypedDict):
    """Observed agreement of senses, and two levels by chance, from 0 to 1."""

    observed: Annotated[float | None, "Observed agreement."]
    by_other_words: Annotated[float | None, "Agreement with senses of other words."]
    by_dealing: Annotated[float | None, "Agreement if neighbours are permuted within a word."]


class Stability(TypedDict):
    """Agreement of several fits."""

    n_fits: Annotated[int, "Number of fits."]
    n_objects: Objects
    n_senses: Annotated[int, "Number of senses in all fits."]
    reference: Annotated[int, "Number of the reference fit, starting at 0."]
    bootstrap: Annotated[str | None, "Resampled units, or null."]
    recurrence: Annotated[Levels, "Share of senses that recur in another fit."]
    overlap: Annotated[Levels, "Overlap with the most similar sense of another fit."]
    map_similarity: Annotated[float | None, "Mean similarity of matched maps, from 0 to 1."]
    map_similarity_by_chance: Annotated[float | None, "Similarity after a permutation."]
    explained: Annotated[float | None, "Mean explained share of the objects, from 0 to 1."]
    recurring: Annotated[float | None, "Mean share of neighbours that recur, from 0 to 1."]
    words: Annotated[dict[str, float | None], "Mean recurrence of the senses by word."]
    threshold: Annotated[float, "Minimum overlap of a sense that recurs."]
    level: Annotated[Literal["meaning", "fine"], "Level of the senses."]
    seed: Seed
    seconds: Seconds
    output: Output
    plot: Plot


class Group(TypedDict):
    """A compared group."""

    name: Annotated[str, "Name of the group."]
    n_responses: Annotated[int, "Number of responses."]
    median_units: Annotated[float, "Median number of participants or other units per word."]


class Quartiles(TypedDict):
    """Quartiles of the effects of all words."""

    low: Annotated[float | None, "First quartile."]
    median: Annotated[float | None, "Median."]
    high: Annotated[float | None, "Third quartile."]


class Variant(TypedDict):
    """Two spellings that different groups prefer."""

    spellings: Annotated[list[str], "Both spellings."]
    uses: Annotated[int, "Number of uses of both."]


class ComparedSense(TypedDict):
    """A sense of a changed word."""

    members: Annotated[list[str], "Responses of the sense."]
    shares: Annotated[dict[str, float | None], "Response share of the sense by group, 0 to 1."]
    shift: Annotated[Bounds | None, "Difference of the shares of two groups."]
    p: Annotated[float | None, "Probability under permutation."]
    q: Annotated[float | None, "False discovery rate."]
    change: Annotated[str, "Change, or an empty text."]


class Gap(TypedDict):
    """A response that is more frequent in one group."""

    answer: Annotated[str, "Response."]
    more: Annotated[float, "Difference of the response shares, from 0 to 1."]


class Change(TypedDict):
    """A word that changed."""

    word: Annotated[str, "Word."]
    change: Annotated[str, "Kind of the change."]
    effect: Annotated[float | None, "Size of the difference, from 0 to 1."]
    effect_low: Annotated[float | None, "Lower 95 % confidence limit."]
    effect_high: Annotated[float | None, "Upper 95 % confidence limit."]
    divergence: Annotated[float | None, "Jensen-Shannon divergence in bits."]
    by_chance: Annotated[float | None, "Mean divergence under permutation."]
    p: Annotated[float | None, "Probability under permutation."]
    q: Annotated[float | None, "False discovery rate."]
    cosine: Annotated[float | None, "Cosine of the response counts, from 0 to 1."]
    senses: Annotated[list[ComparedSense], "Senses of the word."]
    more: Annotated[dict[str, list[Gap]], "Responses that are more frequent, by group."]


class Compare(TypedDict):
    """Differences between the responses of groups."""

    groups: Annotated[list[Group], "Groups."]
    units: Annotated[str, "Permuted units: participants, trials or responses."]
    n_words: Annotated[int, "Number of tested words."]
    n_changed: Annotated[int, "Number of words with a change."]
    n_words_changed: Annotated[int, "Number of words whose responses changed."]
    n_senses: Annotated[int, "Number of tested senses."]
    n_senses_changed: Annotated[int, "Number of senses that changed."]
    alpha: Annotated[float, "Maximum false discovery rate of a listed change."]
    min_effect: Annotated[float, "Minimum lower limit of the effect of a listed word."]
    level: Annotated[Literal["meaning", "fine"], "Level of the senses."]
    effect: Annotated[Quartiles, "Quartiles of the effects."]
    spelling_variants: Annotated[list[Variant], "Spelling variants."]
    changes: Annotated[list[Change], "Words that changed."]
    notes: Notes
    seed: Seed
    seconds: Seconds
    output: Output
    table: Annotated[str | None, "File that --table named, or null."]
    sense_table: Annotated[str | None, "File that --sense-table named, or null."]
    plot: Plot
    atlases: Annotated[list[str], "Files of the atlases of the groups."]


class Align(TypedDict):
    """The aligned atlas."""

    matched: Annotated[list[int], "Map of the reference for each map, or -1."]
    similarities: Annotated[list[float], "Overlap of the members of matched maps, from 0 to 1."]
    shared: Annotated[int, "Number of objects in both atlases."]
    output: Annotated[str, "File of the atlas."]


class VectorFit(TypedDict):
    """Direction of a numeric variable; null if the variable is constant."""

    variable: Annotated[str, "Name of the column."]
    direction: Annotated[list[float | None], "Unit vector in which the variable increases most."]
    r2: Annotated[float | None, "Explained share of the variance, from 0 to 1."]
    p: Annotated[float | None, "Probability under permutation."]


class Centroid(TypedDict):
    """Centroid of a level of a factor."""

    level: Annotated[str, "Level."]
    position: Annotated[list[float | None], "Coordinates in the map."]
    n_sites: Annotated[int, "Number of sites with this level."]


class FactorFit(TypedDict):
    """Centroids of the levels of a factor."""

    variable: Annotated[str, "Name of the column."]
    r2: Annotated[float | None, "Explained share of the variance of the sites, from 0 to 1."]
    p: Annotated[float | None, "Probability under permutation."]
    centroids: Annotated[list[Centroid], "Levels."]


class Vectors(TypedDict):
    """Variables that were fitted to the positions of sites in a map."""

    map: Map
    n_sites: Annotated[int, "Number of sites that were used."]
    n_permutations: Annotated[int, "Number of permutations."]
    seed: Seed
    omitted: Annotated[list[str], "Omitted sites and rows."]
    vectors: Annotated[list[VectorFit], "Numeric variables."]
    factors: Annotated[list[FactorFit], "Factors."]


class Size(TypedDict):
    """Size of an atlas."""

    n_objects: Objects
    n_maps: Annotated[int, "Number of maps."]


class View(Size):
    """The written page."""

    output: Annotated[str, "File of the page."]
    bytes: Annotated[int, "Size of the page in bytes."]
    beside: NotRequired[Annotated[Size, "Size of the second atlas, if there is one."]]


class Export(TypedDict):
    """The written tables."""

    output: Output
    ambiguity: Annotated[str | None, "File that --ambiguity named, or null."]
    n_objects: Objects
    n_fits: Annotated[int | None, "Number of averaged fits (with --ambiguity)."]
    left_out: Annotated[int | None, "Number of omitted rows (tables only)."]


#: The types of the output of each command. In a union, the input determines the type.
RESULTS: dict[str, type | UnionType] = {
    "demo": Demo,
    "inspect": (
        InspectedPairs | InspectedVectors | InspectedCounts | InspectedFolder | InspectedLists
    ),
    "diagnose": Diagnose,
    "spread": Spread,
    "predict": Predict,
    "sweep": Sweep,
    "count": Count,
    "fluency": Fluency,
    "fit": Fit,
    "senses": Senses | ListedSenses,
    "pairs": Pairs,
    "disambiguate": Disambiguate,
    "gist": Gist,
    "insert": Insert | InsertedRows,
    "evaluate": EvaluatedMaps | EvaluatedCounts | EvaluatedRatings | EvaluatedTriplets,
    "cluster": Clustered | ClusterNumbers,
    "stability": Stability,
    "compare": Compare,
    "align": Align,
    "vectors": Vectors,
    "view": View,
    "export": Export,
}
