"""
Documents with words, and authors with words
============================================

Globerson et al. 2004, figures 2 and 3: one two-dimensional map of papers of the NIPS conference and
the 2,000 most frequent words, in which regions correspond to sections of the proceedings, and a map
of 250 authors and words. These are our results for volumes 0 to 12:

.. include:: /results/globerson_nips.txt
   :parser: myst_parser.sphinx_

Differences: the authors used more volumes and removed the 100 most frequent words, which are
missing from our copy. The paper's figures contain no numbers; the purity is our addition. The
picture shows another set of texts, the docstrings of this package: each module is a document,
coloured by subpackage. Command: ``python examples/code_nips_2004.py``
"""

import ast
from pathlib import Path

import numpy as np

import manymaps as mm

source = Path(mm.__file__).parent
texts, rooms = {}, []
for path in sorted(source.glob("*/*.py")):
    tree = ast.parse(path.read_text("utf-8"))
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, nodes)]
    if len(" ".join(found)) > 1500:
        texts[f"{path.parent.name}/{path.stem}"] = " ".join(found)
        rooms.append(path.parent.name)

counts = mm.count_texts(texts, min_df=5, token_pattern=r"[A-Za-z]{3,}")
fit = mm.CODE(penalty=0.01, random_state=0).fit(counts)
atlas = fit.atlas_.add_metadata(
    np.array([*rooms, *[""] * (fit.atlas_.n_objects - len(rooms))]), name="subpackage"
)
figure = mm.plot_map(atlas, 0, color="subpackage")
