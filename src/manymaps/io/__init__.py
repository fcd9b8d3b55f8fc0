"""Every file format: associations, similarities, vectors, counts, texts, metadata."""
