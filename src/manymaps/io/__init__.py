"""Readers for all file formats: associations, similarities, vectors, counts, texts, metadata."""
