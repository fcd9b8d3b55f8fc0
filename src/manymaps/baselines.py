"""Public functions for other embeddings of counts, for comparison with CODE."""

from __future__ import annotations

from manymaps.cooccurrence.baselines import (
    NORMALIZATIONS,
    CountEmbedding,
    classical_scaling,
    isomap,
    latent_semantic_analysis,
    normalize_counts,
    singular_value_embedding,
)

__all__ = [
    "NORMALIZATIONS", "CountEmbedding", "classical_scaling", "isomap", "latent_semantic_analysis",
    "normalize_counts", "singular_value_embedding",
]  # fmt: skip
