"""
Scaling of time and memory
==========================

Time per iteration and memory by the number of objects, maps, dimensions, neighbours per object and
threads. All parameters except the one that varies are fixed: 5,000 objects with 15 neighbours each,
in 5 two-dimensional maps. The exponents above the panels are for the upper half of the horizontal
axis; an exponent of 1 is linear. Command: ``python benchmarks/scaling.py``
"""

import sys

from stored import DOCS, read

sys.path.insert(0, str(DOCS.parent / "benchmarks"))

from scaling import AXES, draw

found = {}
for axis in AXES:
    table = read("results/scaling.txt", axis, "ms", "MB")
    found[axis] = ([int(size) for size in table[axis]], table["ms"], table["MB"])
_ = draw(found)
