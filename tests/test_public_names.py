"""The names that people import, which stay where they are whatever moves below them."""

from importlib import import_module
from pathlib import Path

import pytest

import manymaps

CLASSES = """
AdditiveClustering AspectMaps AssociationPredictor Associations Atlas AtlasWidget CODE Counts
DataError DataWarning DivergedError ExponentialWeights MultipleMapsSNE MultipleMapsTSNE
ParameterError PowerWeights SNE SemidefiniteCODE SymmetricSNE TSNE Trials UniSNE UnknownLabelError
Vectors
"""
FUNCTIONS = """
align associations_from cluster_path cluster_stability compare correspondence_analysis
count_cooccurrences count_texts counts_from diagnose evaluate fit_vectors insert insert_rows
intervals judgements_from load_atlas load_consonants load_integers load_word_associations
load_word_relations noise_scan pair_table plot_atlas plot_comparison plot_features plot_map
plot_senses plot_stability ppmi ratings_from read_associations read_counts read_judgements
read_ratings read_similarities read_trials read_vectors reliability repeat_fits resampled
save_figure show_progress similarity_map split_associations sweep trials_from vectors_from
write_page
"""
FACES = {
    "affinity": "Affinity GaussianAffinity GlobalGaussian LocalPerplexity NeighborGraph "
    "NeighborSearch nearest_neighbors",
    "anndata": "multiple_maps to_atlas tsne",
    "atlas": "Atlas Neighbor Sense load_atlas",
    "datasets": "load_consonants load_integers load_word_associations load_word_relations",
    "metrics": "continuity kl_divergence mu_global mu_local nearest_neighbor_error "
    "strongest_recall trustworthiness",
    "model": "CODE MULTIPLE_MAPS_SNE MULTIPLE_MAPS_T_SNE SNE SYMMETRIC_SNE T_SNE UNI_SNE "
    "ChoiceModel",
    "optimizers": "ConjugateGradient LBFGS Momentum Schedule",
    "prediction": "AssociationPredictor score_predictor",
}


def test_all_public_names_are_there_and_no_other():
    names = (CLASSES + FUNCTIONS).split()
    assert sorted({"__version__", *names}) == sorted(manymaps.__all__)
    for name in names:
        assert callable(getattr(manymaps, name))


@pytest.mark.parametrize("face", FACES)
def test_faces_of_rooms(face):
    module = import_module(f"manymaps.{face}")
    assert set(FACES[face].split()) <= set(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_no_room_bears_the_name_of_a_public_function():
    rooms = {path.parent.name for path in Path(manymaps.__file__).parent.glob("*/__init__.py")}
    assert len(rooms) == 17
    assert not rooms & set(FUNCTIONS.split())
