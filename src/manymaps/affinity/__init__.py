"""Distances, neighbours, and P from vectors."""
