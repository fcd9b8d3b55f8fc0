"""
The senses of a word
====================

The word *bow* has several senses, such as a knot and a weapon. Each panel shows a part of
one map around *bow*, and each meaning has a colour.
"""

import os

import manymaps as mm

atlas = mm.load_atlas(os.environ["MANYMAPS_DEMO"])  # written by `manymaps demo`
figure = mm.plot_senses(atlas, "bow")
