"""
The senses of a word
====================

The word *play* has several senses, such as children's games and make-believe. Each panel shows one
map in which *play* has weight, and the nearest words there.
"""

import os

import manymaps as mm

atlas = mm.load_atlas(os.environ["MANYMAPS_DEMO"])  # written by `manymaps demo`
figure = mm.plot_senses(atlas, "play")
