"""
The senses that the papers print
================================

Van der Maaten & Hinton 2009, section 4 and its figures of single maps: of the USF norms in forty
maps *tie* is with tuxedo and suit in one, with rope and knot in another, with ribbon and bow in a
third; *cheerleader*, *monarchy*, *bank*, *fire* and *death* likewise, and Cook et al. 2007 *can*
and *field*. Words that belong together, such as popeye, spinach and cartoon, stay so.

.. include:: /results/maaten_senses.txt
   :parser: myst_parser.sphinx_

A sense has a map of its own where no other sense's words are as much in it, and it has a tenth of
the word; 13 of 21 do, and 8 would be none told apart. Over seeds it is 10 to 12, from random
positions 10 to 11. What differs: the papers show words that came out well in one fit. Proportions
are not what a word recalls, and one map can hold two senses: so `Atlas.senses` lists groups of
what a word recalls, each beside its map. The picture is of the embedded word relations in twenty
maps. ``python examples/printed_senses.py``.
"""

import os

import manymaps as mm

atlas = mm.load_atlas(os.environ["MANYMAPS_DEMO"])  # what `manymaps demo` makes
figure = mm.plot_senses(atlas, "bow")
