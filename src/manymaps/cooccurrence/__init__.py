"""Euclidean embedding of co-occurrence data (CODE) and related methods."""
