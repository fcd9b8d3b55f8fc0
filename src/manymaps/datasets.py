"""Public functions that load the included data sets."""

from __future__ import annotations

from manymaps.data.datasets import (
    CONSONANT_CLUSTERS,
    CONSONANT_CONSTANT,
    INTEGER_CLUSTERS,
    INTEGER_CONSTANT,
    AdditiveSimilarities,
    load_consonants,
    load_integers,
    load_word_associations,
    load_word_relations,
    make_additive_similarities,
    sense_names,
)
from manymaps.data.fluency import GeneratedLists, make_fluency_lists

__all__ = [
    "CONSONANT_CLUSTERS",
    "CONSONANT_CONSTANT",
    "INTEGER_CLUSTERS",
    "INTEGER_CONSTANT",
    "AdditiveSimilarities",
    "GeneratedLists",
    "load_consonants",
    "load_integers",
    "load_word_associations",
    "load_word_relations",
    "make_additive_similarities",
    "make_fluency_lists",
    "sense_names",
]  # fmt: skip
