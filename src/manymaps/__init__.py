"""manymaps: show and model similarities that no single map can hold.

The public names, each loaded when it is first used, so that `import manymaps` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manymaps.affinity.affinities import GaussianAffinity as GaussianAffinity
    from manymaps.affinity.affinities import GlobalGaussian as GlobalGaussian
    from manymaps.affinity.affinities import LocalPerplexity as LocalPerplexity
    from manymaps.affinity.neighbors import NeighborGraph as NeighborGraph
    from manymaps.affinity.neighbors import NeighborSearch as NeighborSearch
    from manymaps.affinity.neighbors import nearest_neighbors as nearest_neighbors
    from manymaps.analysis.agreement import Agreement as Agreement
    from manymaps.analysis.agreement import judge_agreement as judge_agreement
    from manymaps.analysis.alignment import Alignment as Alignment
    from manymaps.analysis.alignment import align as align
    from manymaps.analysis.ambiguity import Ambiguity as Ambiguity
    from manymaps.analysis.ambiguity import ambiguity as ambiguity
    from manymaps.analysis.comparison import Comparison as Comparison
    from manymaps.analysis.comparison import compare as compare
    from manymaps.analysis.count_evaluation import CountEvaluation as CountEvaluation
    from manymaps.analysis.diagnosis import Diagnosis as Diagnosis
    from manymaps.analysis.diagnosis import diagnose as diagnose
    from manymaps.analysis.evaluation import Evaluation as Evaluation
    from manymaps.analysis.evaluation import evaluate as evaluate
    from manymaps.analysis.intervals import Interval as Interval
    from manymaps.analysis.intervals import Intervals as Intervals
    from manymaps.analysis.intervals import intervals as intervals
    from manymaps.analysis.network import node_measures as node_measures
    from manymaps.analysis.pseudowords import Pseudowords as Pseudowords
    from manymaps.analysis.pseudowords import pseudowords as pseudowords
    from manymaps.analysis.rating_evaluation import RatingEvaluation as RatingEvaluation
    from manymaps.analysis.stability import Stability as Stability
    from manymaps.analysis.stability import refit as refit
    from manymaps.analysis.triplet_evaluation import TripletEvaluation as TripletEvaluation
    from manymaps.analysis.trust import Trust as Trust
    from manymaps.analysis.trust import trust as trust
    from manymaps.atlas.atlas import Atlas as Atlas
    from manymaps.atlas.atlas import load_atlas as load_atlas
    from manymaps.clustering.additive import AdditiveClustering as AdditiveClustering
    from manymaps.clustering.paths import cluster_path as cluster_path
    from manymaps.clustering.scaling import similarity_map as similarity_map
    from manymaps.clustering.stability import cluster_stability as cluster_stability
    from manymaps.compute.tasks import WorkersLost as WorkersLost
    from manymaps.cooccurrence.code import CODE as CODE
    from manymaps.cooccurrence.correspondence import (
        correspondence_analysis as correspondence_analysis,
    )
    from manymaps.cooccurrence.insertion import RowInsertion as RowInsertion
    from manymaps.cooccurrence.insertion import insert_rows as insert_rows
    from manymaps.cooccurrence.semidefinite import DistanceConstraint as DistanceConstraint
    from manymaps.cooccurrence.semidefinite import SemidefiniteCODE as SemidefiniteCODE
    from manymaps.data.associations import Associations as Associations
    from manymaps.data.associations import ReadReport as ReadReport
    from manymaps.data.counts import Counts as Counts
    from manymaps.data.datasets import load_consonants as load_consonants
    from manymaps.data.datasets import load_integers as load_integers
    from manymaps.data.datasets import load_word_relations as load_word_relations
    from manymaps.data.judgements import Judgements as Judgements
    from manymaps.data.ratings import Ratings as Ratings
    from manymaps.data.resampling import resampled as resampled
    from manymaps.data.trials import Trials as Trials
    from manymaps.data.triplets import Triplets as Triplets
    from manymaps.data.vectors import Vectors as Vectors
    from manymaps.errors import DataError as DataError
    from manymaps.errors import DataWarning as DataWarning
    from manymaps.errors import DivergedError as DivergedError
    from manymaps.errors import ParameterError as ParameterError
    from manymaps.figures.comparison import plot_comparison as plot_comparison
    from manymaps.figures.features import plot_features as plot_features
    from manymaps.figures.maps import plot_atlas as plot_atlas
    from manymaps.figures.maps import plot_map as plot_map
    from manymaps.figures.maps import plot_senses as plot_senses
    from manymaps.figures.maps import save_figure as save_figure
    from manymaps.figures.shepard import plot_shepard as plot_shepard
    from manymaps.figures.stability import plot_stability as plot_stability
    from manymaps.figures.sweep import plot_sweep as plot_sweep
    from manymaps.figures.zooms import plot_zooms as plot_zooms
    from manymaps.io.associations import associations_from as associations_from
    from manymaps.io.associations import read_associations as read_associations
    from manymaps.io.counting import Words as Words
    from manymaps.io.counting import count_cooccurrences as count_cooccurrences
    from manymaps.io.counting import count_texts as count_texts
    from manymaps.io.counts import counts_from as counts_from
    from manymaps.io.counts import read_counts as read_counts
    from manymaps.io.judgements import judgements_from as judgements_from
    from manymaps.io.judgements import read_judgements as read_judgements
    from manymaps.io.ratings import ratings_from as ratings_from
    from manymaps.io.ratings import read_ratings as read_ratings
    from manymaps.io.similarities import read_similarities as read_similarities
    from manymaps.io.texts import Texts as Texts
    from manymaps.io.trials import read_trials as read_trials
    from manymaps.io.trials import trials_from as trials_from
    from manymaps.io.triplets import read_triplets as read_triplets
    from manymaps.io.vectors import read_vectors as read_vectors
    from manymaps.io.vectors import vectors_from as vectors_from
    from manymaps.labels import UnknownLabel as UnknownLabel
    from manymaps.maps.insertion import Insertion as Insertion
    from manymaps.maps.insertion import Refinement as Refinement
    from manymaps.maps.insertion import insert as insert
    from manymaps.maps.multiple_maps import AspectMaps as AspectMaps
    from manymaps.maps.multiple_maps import MultipleMapsSNE as MultipleMapsSNE
    from manymaps.maps.multiple_maps import MultipleMapsTSNE as MultipleMapsTSNE
    from manymaps.maps.neighbor_weights import ExponentialWeights as ExponentialWeights
    from manymaps.maps.neighbor_weights import PowerWeights as PowerWeights
    from manymaps.maps.new_objects import similarity_table as similarity_table
    from manymaps.maps.sne import SNE as SNE
    from manymaps.maps.sne import TSNE as TSNE
    from manymaps.maps.sne import SymmetricSNE as SymmetricSNE
    from manymaps.maps.sne import UniSNE as UniSNE
    from manymaps.metrics.groups import group_lift as group_lift
    from manymaps.metrics.groups import group_purity as group_purity
    from manymaps.model.choice import ChoiceModel as ChoiceModel
    from manymaps.optimizers.descent import LBFGS as LBFGS
    from manymaps.optimizers.descent import ConjugateGradient as ConjugateGradient
    from manymaps.optimizers.descent import Momentum as Momentum
    from manymaps.prediction.held_out import Split as Split
    from manymaps.prediction.held_out import prediction_error as prediction_error
    from manymaps.prediction.held_out import split_associations as split_associations
    from manymaps.prediction.predictor import AssociationPredictor as AssociationPredictor
    from manymaps.prediction.predictor import predict_associations as predict_associations
    from manymaps.prediction.spreading import Activation as Activation
    from manymaps.prediction.spreading import spread as spread
    from manymaps.prediction.sweeps import SweepResult as SweepResult
    from manymaps.prediction.sweeps import sweep as sweep
    from manymaps.progress import show_progress as show_progress
    from manymaps.viewer.page import write_page as write_page
    from manymaps.viewer.widget import AtlasWidget as AtlasWidget

__version__ = "0.1.0"

_HOMES = {
    "affinity.affinities": ("GaussianAffinity", "GlobalGaussian", "LocalPerplexity"),
    "maps.insertion": ("Insertion", "Refinement", "insert"),
    "maps.neighbor_weights": ("ExponentialWeights", "PowerWeights"),
    "maps.new_objects": ("similarity_table",),
    "affinity.neighbors": ("NeighborGraph", "NeighborSearch", "nearest_neighbors"),
    "clustering.additive": ("AdditiveClustering",),
    "clustering.paths": ("cluster_path",),
    "clustering.stability": ("cluster_stability",),
    "figures.comparison": ("plot_comparison",),
    "figures.features": ("plot_features",),
    "io.similarities": ("read_similarities",),
    "clustering.scaling": ("similarity_map",),
    "data.associations": ("Associations", "ReadReport"),
    "cooccurrence.code": ("CODE",),
    "cooccurrence.correspondence": ("correspondence_analysis",),
    "io.counts": ("counts_from", "read_counts"),
    "io.counting": ("Words", "count_cooccurrences", "count_texts"),
    "data.counts": ("Counts",),
    "data.trials": ("Trials",),
    "metrics.groups": ("group_lift", "group_purity"),
    "cooccurrence.semidefinite": ("DistanceConstraint", "SemidefiniteCODE"),
    "analysis.network": ("node_measures",),
    "analysis.pseudowords": ("Pseudowords", "pseudowords"),
    "analysis.agreement": ("Agreement", "judge_agreement"),
    "analysis.alignment": ("Alignment", "align"),
    "analysis.ambiguity": ("Ambiguity", "ambiguity"),
    "analysis.stability": ("Stability", "refit"),
    "analysis.intervals": ("Interval", "Intervals", "intervals"),
    "analysis.trust": ("Trust", "trust"),
    "figures.shepard": ("plot_shepard",),
    "figures.stability": ("plot_stability",),
    "figures.sweep": ("plot_sweep",),
    "compute.tasks": ("WorkersLost",),
    "prediction.spreading": ("Activation", "spread"),
    "prediction.sweeps": ("SweepResult", "sweep"),
    "io.texts": ("Texts",),
    "io.trials": ("read_trials", "trials_from"),
    "atlas.atlas": ("Atlas", "load_atlas"),
    "data.datasets": ("load_consonants", "load_integers", "load_word_relations"),
    "analysis.comparison": ("Comparison", "compare"),
    "analysis.count_evaluation": ("CountEvaluation",),
    "analysis.evaluation": ("Evaluation", "evaluate"),
    "analysis.rating_evaluation": ("RatingEvaluation",),
    "cooccurrence.insertion": ("RowInsertion", "insert_rows"),
    "analysis.diagnosis": ("Diagnosis", "diagnose"),
    "errors": ("DataError", "DataWarning", "DivergedError", "ParameterError"),
    "labels": ("UnknownLabel",),
    "model.choice": ("ChoiceModel",),
    "maps.multiple_maps": ("AspectMaps", "MultipleMapsSNE", "MultipleMapsTSNE"),
    "prediction.held_out": ("Split", "prediction_error", "split_associations"),
    "prediction.predictor": ("AssociationPredictor", "predict_associations"),
    "optimizers.descent": ("LBFGS", "ConjugateGradient", "Momentum"),
    "figures.zooms": ("plot_zooms",),
    "figures.maps": ("plot_atlas", "plot_map", "plot_senses", "save_figure"),
    "io.associations": ("associations_from", "read_associations"),
    "io.vectors": ("read_vectors", "vectors_from"),
    "data.judgements": ("Judgements",),
    "data.ratings": ("Ratings",),
    "data.resampling": ("resampled",),
    "io.judgements": ("judgements_from", "read_judgements"),
    "io.ratings": ("ratings_from", "read_ratings"),
    "data.triplets": ("Triplets",),
    "io.triplets": ("read_triplets",),
    "analysis.triplet_evaluation": ("TripletEvaluation",),
    "data.vectors": ("Vectors",),
    "progress": ("show_progress",),
    "viewer.page": ("write_page",),
    "viewer.widget": ("AtlasWidget",),
    "maps.sne": ("SNE", "TSNE", "SymmetricSNE", "UniSNE"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'manymaps' has no attribute {name!r}")
    value = getattr(import_module(f"manymaps.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
