"""
The senses of a word
====================

The word *bow* has several senses, such as a knot and a weapon. Each panel shows the part of one map
around *bow*, the share of its associations that belong to the map, and the members of the sense.
"""

import os

import manymaps as mm

atlas = mm.load_atlas(os.environ["MANYMAPS_DEMO"])  # written by `manymaps demo`
figure = mm.plot_senses(atlas, "bow")
