"""
The senses of a word
====================

*play* is drama, sport, make-believe and more; each map that holds one shows what is near it there.
"""

import os

import manymaps as mm

atlas = mm.load_atlas(os.environ["MANYMAPS_DEMO"])  # what `manymaps demo` makes
figure = mm.plot_senses(atlas, "play")
