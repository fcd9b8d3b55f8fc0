"""Common names for the rows (observations) and columns (features) of count tables."""

from __future__ import annotations

OBSERVED = """
document text post file article paper page abstract sentence paragraph chapter book author speaker
site plot station quadrat transect location locality sample subject patient participant respondent
user customer buyer client reader viewer listener member cell barcode
basket transaction order invoice session row observation
"""
OBSERVATIONS = frozenset(OBSERVED.split())
FEATURED = """
word term token lemma ngram feature species taxon otu asv genus family
item product good movie film song track artist book author
gene transcript protein tag keyword column variable
"""
FEATURES = frozenset(FEATURED.split())
UNKNOWN_KINDS = ("row", "column")
