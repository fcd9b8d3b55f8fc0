"""Figures of atlases, senses and sweeps, drawn with matplotlib."""
