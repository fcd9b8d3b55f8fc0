"""Distances, neighbours and similarities P computed from vectors."""
