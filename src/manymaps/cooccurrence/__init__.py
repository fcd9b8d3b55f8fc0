"""Euclidean embedding of co-occurrence data (CODE), and the methods beside it."""
