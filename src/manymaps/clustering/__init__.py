"""Additive clustering of judged similarities (ADCLUS)."""
