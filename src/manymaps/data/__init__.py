"""Validated data: associations, vectors, counts and judged similarities."""
