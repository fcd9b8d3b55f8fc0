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

__all__ = [
    "CONSONANT_CLUSTERS",
    "CONSONANT_CONSTANT",
    "INTEGER_CLUSTERS",
    "INTEGER_CONSTANT",
    "AdditiveSimilarities",
    "load_consonants",
    "load_integers",
    "load_word_associations",
    "load_word_relations",
    "make_additive_similarities",
    "sense_names",
]  # fmt: skip
