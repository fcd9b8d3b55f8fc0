"""Public functions that load the included data sets."""

from __future__ import annotations

from manymaps.data.datasets import (
    CONSONANT_CLUSTERS,
    CONSONANT_CONSTANT,
    INTEGER_CLUSTERS,
    INTEGER_CONSTANT,
    load_consonants,
    load_integers,
    load_word_associations,
    load_word_relations,
)

__all__ = [
    "CONSONANT_CLUSTERS", "CONSONANT_CONSTANT", "INTEGER_CLUSTERS", "INTEGER_CONSTANT",
    "load_consonants", "load_integers", "load_word_associations", "load_word_relations",
]  # fmt: skip
