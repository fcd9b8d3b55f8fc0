"""
How time and memory grow
========================

An iteration of many maps against objects, maps, dimensions, partners of each object and threads,
from ``python benchmarks/scaling.py``: 5,000 objects of 15 partners in 5 maps of the plane, but for
what varies. Above each panel stand the exponents over the upper half of its axis; 1 is linear.
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
