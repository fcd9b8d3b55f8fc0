"""manymaps: show and model similarities that no single map can hold.

The public names, each loaded when it is first used, so that `import manymaps` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manymaps.additive_clustering import AdditiveClustering as AdditiveClustering
    from manymaps.affinities import GaussianAffinity as GaussianAffinity
    from manymaps.affinities import GlobalGaussian as GlobalGaussian
    from manymaps.affinities import LocalPerplexity as LocalPerplexity
    from manymaps.associations import Associations as Associations
    from manymaps.associations import ReadReport as ReadReport
    from manymaps.atlas import Atlas as Atlas
    from manymaps.atlas import load_atlas as load_atlas
    from manymaps.cluster_paths import cluster_path as cluster_path
    from manymaps.cooccurrence import CODE as CODE
    from manymaps.correspondence import correspondence_analysis as correspondence_analysis
    from manymaps.count_files import read_counts as read_counts
    from manymaps.counting import Words as Words
    from manymaps.counting import count_cooccurrences as count_cooccurrences
    from manymaps.counting import count_texts as count_texts
    from manymaps.counts import Counts as Counts
    from manymaps.counts import counts_from as counts_from
    from manymaps.datasets import load_consonants as load_consonants
    from manymaps.datasets import load_integers as load_integers
    from manymaps.datasets import load_word_relations as load_word_relations
    from manymaps.diagnosis import Diagnosis as Diagnosis
    from manymaps.diagnosis import diagnose as diagnose
    from manymaps.errors import DataError as DataError
    from manymaps.errors import DataWarning as DataWarning
    from manymaps.errors import ParameterError as ParameterError
    from manymaps.feature_plots import plot_features as plot_features
    from manymaps.group_measures import group_lift as group_lift
    from manymaps.group_measures import group_purity as group_purity
    from manymaps.held_out import Split as Split
    from manymaps.held_out import prediction_error as prediction_error
    from manymaps.held_out import split_associations as split_associations
    from manymaps.insertion import Insertion as Insertion
    from manymaps.insertion import Refinement as Refinement
    from manymaps.insertion import insert as insert
    from manymaps.kind_plots import plot_zooms as plot_zooms
    from manymaps.labels import UnknownLabel as UnknownLabel
    from manymaps.model import ChoiceModel as ChoiceModel
    from manymaps.multiple_maps import AspectMaps as AspectMaps
    from manymaps.multiple_maps import MultipleMapsSNE as MultipleMapsSNE
    from manymaps.multiple_maps import MultipleMapsTSNE as MultipleMapsTSNE
    from manymaps.neighbor_weights import ExponentialWeights as ExponentialWeights
    from manymaps.neighbor_weights import PowerWeights as PowerWeights
    from manymaps.neighbors import NeighborGraph as NeighborGraph
    from manymaps.neighbors import NeighborSearch as NeighborSearch
    from manymaps.neighbors import nearest_neighbors as nearest_neighbors
    from manymaps.new_objects import similarity_table as similarity_table
    from manymaps.optimizers import LBFGS as LBFGS
    from manymaps.optimizers import ConjugateGradient as ConjugateGradient
    from manymaps.optimizers import Momentum as Momentum
    from manymaps.plots import plot_atlas as plot_atlas
    from manymaps.plots import plot_map as plot_map
    from manymaps.plots import plot_senses as plot_senses
    from manymaps.plots import save_figure as save_figure
    from manymaps.prediction import AssociationPredictor as AssociationPredictor
    from manymaps.prediction import predict_associations as predict_associations
    from manymaps.readers import associations_from as associations_from
    from manymaps.readers import read_associations as read_associations
    from manymaps.semidefinite import DistanceConstraint as DistanceConstraint
    from manymaps.semidefinite import SemidefiniteCODE as SemidefiniteCODE
    from manymaps.similarity_files import read_similarities as read_similarities
    from manymaps.similarity_maps import similarity_map as similarity_map
    from manymaps.sne import SNE as SNE
    from manymaps.sne import TSNE as TSNE
    from manymaps.sne import SymmetricSNE as SymmetricSNE
    from manymaps.sne import UniSNE as UniSNE
    from manymaps.stability import Stability as Stability
    from manymaps.stability import refit as refit
    from manymaps.stability_plots import plot_stability as plot_stability
    from manymaps.sweep_plots import plot_sweep as plot_sweep
    from manymaps.sweep_points import WorkersLost as WorkersLost
    from manymaps.sweeps import SweepResult as SweepResult
    from manymaps.sweeps import sweep as sweep
    from manymaps.texts import Texts as Texts
    from manymaps.vector_files import read_vectors as read_vectors
    from manymaps.vector_files import vectors_from as vectors_from
    from manymaps.vectors import Vectors as Vectors
    from manymaps.viewer import write_page as write_page
    from manymaps.widget import AtlasWidget as AtlasWidget

__version__ = "0.1.0"

_HOMES = {
    "affinities": ("GaussianAffinity", "GlobalGaussian", "LocalPerplexity"),
    "insertion": ("Insertion", "Refinement", "insert"),
    "neighbor_weights": ("ExponentialWeights", "PowerWeights"),
    "new_objects": ("similarity_table",),
    "neighbors": ("NeighborGraph", "NeighborSearch", "nearest_neighbors"),
    "additive_clustering": ("AdditiveClustering",),
    "cluster_paths": ("cluster_path",),
    "feature_plots": ("plot_features",),
    "similarity_files": ("read_similarities",),
    "similarity_maps": ("similarity_map",),
    "associations": ("Associations", "ReadReport"),
    "cooccurrence": ("CODE",),
    "correspondence": ("correspondence_analysis",),
    "count_files": ("read_counts",),
    "counting": ("Words", "count_cooccurrences", "count_texts"),
    "counts": ("Counts", "counts_from"),
    "group_measures": ("group_lift", "group_purity"),
    "semidefinite": ("DistanceConstraint", "SemidefiniteCODE"),
    "stability": ("Stability", "refit"),
    "stability_plots": ("plot_stability",),
    "sweep_plots": ("plot_sweep",),
    "sweep_points": ("WorkersLost",),
    "sweeps": ("SweepResult", "sweep"),
    "texts": ("Texts",),
    "atlas": ("Atlas", "load_atlas"),
    "datasets": ("load_consonants", "load_integers", "load_word_relations"),
    "diagnosis": ("Diagnosis", "diagnose"),
    "errors": ("DataError", "DataWarning", "ParameterError"),
    "labels": ("UnknownLabel",),
    "model": ("ChoiceModel",),
    "multiple_maps": ("AspectMaps", "MultipleMapsSNE", "MultipleMapsTSNE"),
    "held_out": ("Split", "prediction_error", "split_associations"),
    "prediction": ("AssociationPredictor", "predict_associations"),
    "optimizers": ("LBFGS", "ConjugateGradient", "Momentum"),
    "kind_plots": ("plot_zooms",),
    "plots": ("plot_atlas", "plot_map", "plot_senses", "save_figure"),
    "readers": ("associations_from", "read_associations"),
    "vector_files": ("read_vectors", "vectors_from"),
    "vectors": ("Vectors",),
    "viewer": ("write_page",),
    "widget": ("AtlasWidget",),
    "sne": ("SNE", "TSNE", "SymmetricSNE", "UniSNE"),
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
