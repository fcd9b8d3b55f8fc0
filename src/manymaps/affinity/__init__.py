"""Distances, neighbours and P computed from vectors."""
